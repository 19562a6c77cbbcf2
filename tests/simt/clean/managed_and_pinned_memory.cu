// Looks wrong: host and device use the same pointers, and nothing is copied.
// It is right: the memory is managed or pinned, and the host waits before it looks.

#include <cuda_runtime.h>

__global__ void add_kernel(const int* a, const int* b, int* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}

int main() {
  constexpr int kN = 128;
  int *managed, *pinned, *pinned_on_device, *sum;
  cudaMallocManaged(&managed, kN * sizeof(int));
  cudaMallocManaged(&sum, kN * sizeof(int));
  cudaHostAlloc(&pinned, kN * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&pinned_on_device, pinned, 0);
  for (int i = 0; i < kN; ++i) {
    managed[i] = i;
    pinned[i] = 1000 * i;
  }
  add_kernel<<<2, 64>>>(managed, pinned_on_device, sum);
  add_kernel<<<2, 64>>>(sum, sum, sum);  // each thread reads its element twice and then overwrites it
  cudaDeviceSynchronize();
  bool right = true;
  for (int i = 0; i < kN; ++i) right = right && sum[i] == 2002 * i;
  cudaFree(managed);
  cudaFree(sum);
  cudaFreeHost(pinned);
  return right ? 0 : 1;
}
