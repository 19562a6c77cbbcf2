// Nothing stands between init() of a cuda::barrier and its use by the other threads, for which it may not
// have begun.
//
// expect: uninitialised_read at A, other side B
#include <cuda/barrier>

__global__ void meet(int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> met;
  const int t = threadIdx.x;
  if (t == 0) init(&met, 64);  // B
  met.arrive_and_wait();       // A
  y[t] = t;
}

int main() {
  int* y;
  cudaMalloc(&y, 64 * sizeof(int));
  meet<<<1, 64>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
