// Looks wrong: index and value of the minimum must be changed together, and every thread of every block
// tries. It is right: both sit in one 64-bit word, which a single atomic changes.

#include <cuda_runtime.h>

__global__ void argmin_kernel(const unsigned* in, int n, unsigned long long* best) {
  unsigned long long mine = ~0ull;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine = min(mine, static_cast<unsigned long long>(in[i]) << 32 | i);
  for (int step = 16; step > 0; step /= 2) mine = min(mine, __shfl_xor_sync(0xffffffffu, mine, step));
  if (threadIdx.x % 32 == 0) atomicMin(best, mine);
}

int main() {
  constexpr int kN = 500;
  unsigned in[kN], *d_in;
  unsigned long long best = ~0ull, *d_best;
  int expected = 0;
  for (int i = 0; i < kN; ++i) {
    in[i] = (i * 7919u + 100u) % 1009u;
    if (in[i] < in[expected]) expected = i;
  }
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_best, sizeof best);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemcpy(d_best, &best, sizeof best, cudaMemcpyHostToDevice);
  argmin_kernel<<<3, 64>>>(d_in, kN, d_best);
  cudaMemcpy(&best, d_best, sizeof best, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_best);
  return static_cast<int>(best & 0xffffffffu) == expected && best >> 32 == in[expected] ? 0 : 1;
}
