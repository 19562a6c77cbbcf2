// Looks wrong: each block reads what the first block wrote, but waits only for the block right before it.
// It is right: order is passed on: each block acquires before it releases.

#include <cuda_runtime.h>

__global__ void pass_on_kernel(int* table, int* out, unsigned* turn, unsigned* next_ticket) {
  const int thread = threadIdx.x;
  __shared__ unsigned ticket;
  if (thread == 0) ticket = atomicAdd(next_ticket, 1u);
  __syncthreads();
  while (*reinterpret_cast<volatile unsigned*>(turn) != ticket) {  // each thread waits for itself
  }
  __threadfence();
  if (ticket == 0)
    table[thread] = thread * thread;
  else
    out[(ticket - 1) * 32 + thread] = table[31 - thread] + ticket;
  __threadfence();
  __syncthreads();
  if (thread == 0) atomicAdd(turn, 1u);
}

int main() {
  int out[5 * 32] = {}, *d_table, *d_out;
  unsigned* d_turns;
  cudaMalloc(&d_table, 32 * sizeof(int));
  cudaMalloc(&d_out, sizeof out);
  cudaMalloc(&d_turns, 2 * sizeof(unsigned));
  cudaMemset(d_turns, 0, 2 * sizeof(unsigned));
  pass_on_kernel<<<6, 32>>>(d_table, d_out, d_turns, d_turns + 1);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_table);
  cudaFree(d_out);
  cudaFree(d_turns);
  for (int i = 0; i < 5 * 32; ++i)
    if (out[i] != (31 - i % 32) * (31 - i % 32) + i / 32 + 1) return 1;
  return 0;
}
