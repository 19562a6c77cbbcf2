// Looks like races of the host with kernels: it reads what a kernel only reads, uses the half that no kernel
// touches, writes a file from memory that a launch has a pointer to, waits by an event or a copy, and a later
// launch changes what it has read before.

#include <cstdio>

__global__ void scale(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];
}

int main() {
  const int n = 64, page = 4096 / sizeof(float);
  float *x, *y, *z, *large, sum = 0, first = 0;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  cudaMallocManaged(&z, n * sizeof(float));
  cudaMallocManaged(&large, 8 * page * sizeof(float));
  cudaEvent_t done;
  cudaEventCreate(&done);
  for (int i = 0; i < n; ++i) x[i] = i;
  for (int i = 0; i < 8 * page; ++i) large[i] = 1;

  scale<<<1, n>>>(x, y, n);
  for (int i = 0; i < n; ++i) sum += x[i];  // both read it
  for (int i = 0; i < n; ++i) z[i] = i;     // no launch knows it
  scale<<<1, n>>>(large, z, n);             // reads the start of large
  for (int i = n; i < 8 * page; ++i) large[i] = 3;
  scale<<<1, n>>>(y, x, n);  // behind the reads of x above
  std::FILE* const file = std::tmpfile();
  if (std::fwrite(large, sizeof(float), 8 * page, file) != 8 * page) return 1;
  std::fclose(file);
  cudaEventRecord(done);
  cudaEventSynchronize(done);
  for (int i = 0; i < n; ++i) sum += x[i] + y[i] + z[i];

  scale<<<1, n>>>(x, y, n);
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDefault);
  sum += y[n - 1];
  std::printf("%g\n", sum + first);
  cudaEventDestroy(done);
  cudaFree(x), cudaFree(y), cudaFree(z), cudaFree(large);
  return cudaGetLastError();
}
