// The second stream waits for an event of the first, but the event is recorded in front of the kernel that it
// should stand for.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void add_one(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;  // B
}

__global__ void negate(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = -x[i];  // A
}

int main() {
  const int n = 64;
  int* x;
  cudaMalloc(&x, n * sizeof(int));
  cudaMemset(x, 0, n * sizeof(int));
  cudaDeviceSynchronize();
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaEventRecord(done, first);
  add_one<<<2, 32, 0, first>>>(x, n);
  cudaStreamWaitEvent(second, done, 0);
  negate<<<2, 32, 0, second>>>(x, n);
  cudaStreamSynchronize(first);
  cudaStreamSynchronize(second);
  cudaEventDestroy(done);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(x);
  return 0;
}
