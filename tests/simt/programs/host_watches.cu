// The host waits without a call: for a flag in mapped memory, and for what a host function does. What it can
// see at once is there at once: cudaMemset of page-locked and managed memory, a copy to pageable memory.

#include <cstdio>

__global__ void raise_flag(volatile int* flag) { *flag = 7; }
__global__ void fill(int* data) { data[threadIdx.x] = 5; }

void CUDART_CB note(void* done) { *static_cast<volatile int*>(done) = 1; }

int main() {
  volatile int* flag = nullptr;
  int* mapped = nullptr;
  cudaHostAlloc((void**)&flag, sizeof(int), cudaHostAllocMapped);
  *flag = 0;
  cudaHostGetDevicePointer(&mapped, (void*)flag, 0);
  raise_flag<<<1, 1>>>(mapped);
  while (*flag == 0) {
  }

  volatile int done = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaLaunchHostFunc(stream, note, (void*)&done);
  while (done == 0) {
  }

  int *pinned, *managed, *device, pageable[16] = {};
  cudaMallocHost(&pinned, 64);
  cudaMallocManaged(&managed, 64);
  cudaMalloc(&device, 64);
  cudaMemset(pinned, 0, 64);
  cudaMemset(managed, 0, 64);
  pinned[0] = 1, managed[0] = 2;
  fill<<<1, 16>>>(device);
  cudaMemcpyAsync(pageable, device, 64, cudaMemcpyDeviceToHost);
  const int copied = pageable[0];
  pageable[0] = 9;
  cudaDeviceSynchronize();
  printf("%d %d %d %d %d\n", *flag, pinned[0], managed[0], copied, pageable[0]);
  const bool right = *flag == 7 && pinned[0] == 1 && managed[0] == 2 && copied == 5 && pageable[0] == 9;
  cudaStreamDestroy(stream);
  cudaFreeHost((void*)flag);
  cudaFreeHost(pinned);
  cudaFree(managed);
  cudaFree(device);
  return right && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
