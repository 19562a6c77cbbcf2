// Looks wrong: nothing. Half of the lanes take one branch for thousands of rounds while the others wait ahead
// of them, and lanes spin for what another lane does only after thousands of steps. It is right: each lane
// uses its own element, and the flag is passed on behind a fence.

#include <cuda_runtime.h>

__global__ void rounds_kernel(int* data, int rounds) {
  const int lane = threadIdx.x;
  int sum = 0;
  if (lane % 2 == 0) {
    for (int i = 0; i < rounds; ++i) sum += data[lane] + i;
  } else {
    for (int i = 0; i < rounds; ++i) sum ^= data[lane] + i;
  }
  data[lane] = sum;
}

__global__ void spin_kernel(volatile int* flag, int* data, int steps) {
  if (threadIdx.x < 16) {
    while (*flag == 0) {
    }
    data[threadIdx.x] += 1;
  } else if (threadIdx.x == 16) {
    int sum = 0;
    for (int i = 0; i < steps; ++i) sum += data[16] + i;
    data[16] = sum;
    __threadfence();
    *flag = 1;
  }
}

int main() {
  constexpr int kRounds = 5000, kSteps = 3000;
  int* device = nullptr;
  int host[65];
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  rounds_kernel<<<1, 64>>>(device, kRounds);
  spin_kernel<<<1, 32>>>(device + 64, device, kSteps);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  int odd = 0;
  for (int i = 0; i < kRounds; ++i) odd ^= i;
  const int even = kRounds * (kRounds - 1) / 2;
  return host[0] == even + 1 && host[1] == odd + 1 && host[63] == odd && host[64] == 1 ? 0 : 1;
}
