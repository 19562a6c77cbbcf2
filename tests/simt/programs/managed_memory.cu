// Memory that host and device share, as allocations, as a global variable, and under a class with new.

#include <cstdio>
#include <new>

__device__ __managed__ int total = 100;
__device__ __managed__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};

struct Managed {
  void* operator new(size_t bytes) {
    void* pointer;
    if (cudaMallocManaged(&pointer, bytes) != cudaSuccess) throw std::bad_alloc();
    return pointer;
  }
  void operator delete(void* pointer) {
    cudaDeviceSynchronize();
    cudaFree(pointer);
  }
};

struct Series : public Managed {
  int count = 0;
  float values[256];
  __host__ __device__ float& operator[](int i) { return values[i]; }
};

__global__ void scale(Series* series, float factor) {
  const int i = threadIdx.x;
  if (i < series->count) (*series)[i] *= factor * table[i % 4];
  if (i == 0) total += series->count;
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = a * x[i] + y[i];
}

int main() {
  Series* series = new Series;
  series->count = 200;
  for (int i = 0; i < 200; ++i) series->values[i] = (float)i;
  scale<<<1, 256>>>(series, 0.5f);
  cudaDeviceSynchronize();
  bool ok = total == 300;
  for (int i = 0; i < 200; ++i) ok &= series->values[i] == (float)i * 0.5f * (float)(1 << i % 4);
  delete series;

  const int n = 1 << 14;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float), cudaMemAttachGlobal);
  for (int i = 0; i < n; ++i) x[i] = 1.0f, y[i] = 2.0f;
  int device = -1;
  cudaGetDevice(&device);
  cudaMemLocation where = {cudaMemLocationTypeDevice, device};
  cudaMemPrefetchAsync(x, n * sizeof(float), where, 0);
  cudaMemAdvise(y, n * sizeof(float), cudaMemAdviseSetPreferredLocation, where);
  saxpy<<<8, 256>>>(n, 3.0f, x, y);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) ok &= y[i] == 5.0f;
  cudaFree(x);
  cudaFree(y);
  puts(ok ? "PASSED" : "FAILED");
  return ok ? 0 : 1;
}
