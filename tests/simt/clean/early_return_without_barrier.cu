// Looks wrong: half a warp returns from the middle of a loop while the other half goes on.
// It is right: nothing after that needs all threads: no barrier, no warp operation.

#include <cuda_runtime.h>

__global__ void collatz_kernel(int* steps, int n, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = i + 1;
  for (int step = 0; step < limit; ++step) {
    if (value == 1) {
      steps[i] = step;
      return;
    }
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  }
  steps[i] = -1;
}

int main() {
  constexpr int kN = 75, kLimit = 60;
  int steps[kN] = {}, *d_steps;
  cudaMalloc(&d_steps, sizeof steps);
  collatz_kernel<<<2, 64>>>(d_steps, kN, kLimit);
  cudaMemcpy(steps, d_steps, sizeof steps, cudaMemcpyDeviceToHost);
  cudaFree(d_steps);
  for (int i = 0; i < kN; ++i) {
    unsigned value = i + 1;
    int step = 0;
    for (; value != 1; ++step) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    if (steps[i] != (step < kLimit ? step : -1)) return 1;
  }
  return 0;
}
