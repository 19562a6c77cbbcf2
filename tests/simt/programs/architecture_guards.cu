// Code that asks for the architecture: in kernels, around functions for the device, and in what the host
// compiles.

#include <cstdio>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) { return *address += value; }
#endif

#if __CUDA_ARCH__ >= 700
__device__ int one_more(int x) { return x + 1; }
#endif

__global__ void guarded(int* out) {
#if __CUDA_ARCH__ >= 700
  out[threadIdx.x] = one_more(__CUDA_ARCH__);
#else
  out[threadIdx.x] = -1;
#endif
}

__global__ void not_guarded(int* out) { out[threadIdx.x] += __LINE__; }

#ifdef __CUDA_ARCH__
#error "this line is for the host"
#endif

int main() {
  int *device, host = 0;
  cudaMalloc(&device, 32 * sizeof(int));
  guarded<<<1, 32>>>(device);
  not_guarded<<<1, 32>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  printf("%d\n", host);
  return host == 901 + 22 ? 0 : 1;
}
