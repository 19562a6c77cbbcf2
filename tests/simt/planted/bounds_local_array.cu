// A thread keeps the best four values in a local array and looks at a fifth. A local array ends where its
// type says, like any other.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

#include <cmath>

__global__ void top_four(const float* x, int n, float* smallest) {
  float best[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int worst = 0;
    for (int k = 1; k <= 4; ++k)
      if (best[k] < best[worst]) worst = k;  // A
    if (worst < 4 && x[i] > best[worst]) best[worst] = x[i];
  }
  smallest[threadIdx.x] = fminf(fminf(best[0], best[1]), fminf(best[2], best[3]));
}

int main() {
  const int n = 256;
  float values[n], *x, *smallest;
  for (int i = 0; i < n; ++i) values[i] = i * 37 % n;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&smallest, 32 * sizeof(float));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  top_four<<<1, 32>>>(x, n, smallest);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(smallest);
  return 0;
}
