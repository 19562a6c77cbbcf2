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

/// nvcc compiles the host's functions for the device as well; it is the other half that runs.
int for_the_device() {
#ifdef __CUDA_ARCH__
  return 1;
#else
  return 0;
#endif
}

int main() {
  int *device, host = 0;
  cudaMalloc(&device, 32 * sizeof(int));
  guarded<<<1, 32>>>(device);
  not_guarded<<<1, 32>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  printf("%d\n", host);
  return host >= 701 + 22 && for_the_device() == 0 ? 0 : 1;
}
