// Looks wrong: the host adds to counters in managed memory while a kernel does, and has not waited for it.
// It is right: both add atomically, the kernel with the scope of the whole system, and the host waits before
// it looks.

#include <cuda_runtime.h>

__global__ void add_kernel(int* counters, int count) {
  for (int i = 0; i < count; ++i) atomicAdd_system(&counters[i], 1);
}

int main() {
  constexpr int kCounters = 3, kThreads = 64, kHostRounds = 10;
  int* counters;
  cudaMallocManaged(&counters, kCounters * sizeof(int));
  for (int i = 0; i < kCounters; ++i) counters[i] = 0;
  add_kernel<<<1, kThreads>>>(counters, kCounters);
  for (int i = 0; i < kHostRounds; ++i) __sync_fetch_and_add(&counters[0], 1);
  add_kernel<<<1, kThreads>>>(counters, kCounters);
  for (int i = 0; i < kHostRounds; ++i) __atomic_exchange_n(&counters[1], 0, __ATOMIC_SEQ_CST);
  cudaDeviceSynchronize();
  const bool right =
      counters[0] == 2 * kThreads + kHostRounds && counters[1] <= 2 * kThreads && counters[2] == 2 * kThreads;
  cudaFree(counters);
  return right ? 0 : 1;
}
