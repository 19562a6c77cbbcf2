// Looks wrong: some threads load a counter atomically and others as an ordinary variable, with no barrier.
//
// Right: nobody writes it meanwhile.
#include <cuda/atomic>

__global__ void kernel(int* counter, int* y) {
  __shared__ int kept;
  if (threadIdx.x == 0) kept = 7;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> shared(kept);
  cuda::atomic_ref<int, cuda::thread_scope_device> global(*counter);
  int sum = 0;
  if (threadIdx.x < 32)
    sum = shared.load(cuda::memory_order_relaxed) + global.load(cuda::memory_order_relaxed);
  else
    sum = kept + *counter;
  y[threadIdx.x] = sum;
}

int main() {
  int* numbers = nullptr;
  cudaMalloc(&numbers, 65 * sizeof(int));
  cudaMemset(numbers, 0, sizeof(int));
  kernel<<<1, 64>>>(numbers, numbers + 1);
  int got[65];
  cudaMemcpy(got, numbers, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(numbers);
  for (int i = 1; i < 65; ++i)
    if (got[i] != 7) return 1;
  return 0;
}
