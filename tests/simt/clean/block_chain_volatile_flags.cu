// Looks wrong: a block spins until another block of the same launch has written its result.
// It is right: it waits only for a smaller ticket, whose block has started, and fences order result and flag.

#include <cuda_runtime.h>

constexpr int kThreads = 32;

__global__ void running_totals_kernel(const int* in, int* totals, volatile int* ready, int* next_ticket) {
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(next_ticket, 1);
  __syncthreads();
  int sum = in[ticket * kThreads + threadIdx.x];
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, delta);
  if (threadIdx.x == 0) {
    if (ticket > 0) {
      while (ready[ticket - 1] == 0) {
      }
      __threadfence();
      sum += totals[ticket - 1];
    }
    totals[ticket] = sum;
    __threadfence();
    ready[ticket] = 1;
  }
}

int main() {
  constexpr int kBlocks = 8, kN = kBlocks * kThreads;
  int in[kN], totals[kBlocks] = {}, *d_in, *d_totals, *d_ready, *d_ticket;
  for (int i = 0; i < kN; ++i) in[i] = i % 19;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_totals, sizeof totals);
  cudaMalloc(&d_ready, kBlocks * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(int));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_ready, 0, kBlocks * sizeof(int));
  cudaMemset(d_ticket, 0, sizeof(int));
  running_totals_kernel<<<kBlocks, kThreads>>>(d_in, d_totals, d_ready, d_ticket);
  cudaMemcpy(totals, d_totals, sizeof totals, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_totals);
  cudaFree(d_ready);
  cudaFree(d_ticket);
  int expected = 0;
  for (int i = 0; i < kN; ++i) {
    expected += in[i];
    if (i % kThreads == kThreads - 1 && totals[i / kThreads] != expected) return 1;
  }
  return 0;
}
