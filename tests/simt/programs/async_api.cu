// The host works on while the device copies, computes and copies back; an event tells when all is done.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void increment_kernel(int* g_data, int inc_value) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  g_data[idx] = g_data[idx] + inc_value;
}

int main() {
  cudaDeviceProp deviceProps;
  int devID = 0;
  cudaGetDevice(&devID);
  if (cudaGetDeviceProperties(&deviceProps, devID) != cudaSuccess) return 1;
  printf("CUDA device [%s], %d.%d\n", deviceProps.name, deviceProps.major, deviceProps.minor);

  const int n = 64 * 1024, value = 26;
  const size_t nbytes = n * sizeof(int);
  int *a = 0, *d_a = 0;
  cudaMallocHost((void**)&a, nbytes);
  memset(a, 0, nbytes);
  cudaMalloc((void**)&d_a, nbytes);
  cudaMemset(d_a, 255, nbytes);

  dim3 threads = dim3(512, 1), blocks = dim3(n / threads.x, 1);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaDeviceSynchronize();

  cudaEventRecord(start, 0);
  cudaMemcpyAsync(d_a, a, nbytes, cudaMemcpyHostToDevice, 0);
  increment_kernel<<<blocks, threads, 0, 0>>>(d_a, value);
  cudaMemcpyAsync(a, d_a, nbytes, cudaMemcpyDeviceToHost, 0);
  cudaEventRecord(stop, 0);

  unsigned long int counter = 0;
  while (cudaEventQuery(stop) == cudaErrorNotReady) counter++;
  float gpu_time = 0.0f;
  cudaEventElapsedTime(&gpu_time, start, stop);
  printf("%.2f ms on the device, %lu rounds of waiting\n", gpu_time, counter);

  bool ok = cudaGetLastError() == cudaSuccess;
  for (int i = 0; i < n; i++) ok &= a[i] == value;
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFreeHost(a);
  cudaFree(d_a);
  return ok ? 0 : 1;
}
