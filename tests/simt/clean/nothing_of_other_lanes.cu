// Looks for what other lanes brought to a match or a reduction, in variables that nobody has set. Nothing is
// there: a lane hears of others by shuffles alone, which are counted.

#include <cuda_runtime.h>

constexpr unsigned kLow = 0x5eed5e80u;
constexpr unsigned long long kBrought = 0x5eed5eedull << 32 | kLow;

__device__ __noinline__ unsigned bring(int how) {
  const unsigned long long mine = kBrought | threadIdx.x;
  int all_equal = 0;
  unsigned got = 0;
  if (how == 0) got = __match_any_sync(0xffffffffu, mine);
  if (how == 1) got = __match_all_sync(0xffffffffu, mine, &all_equal);
  if (how == 2) asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(got) : "l"(mine), "n"(0xffffffffu));
  if (how == 3) got = __reduce_max_sync(0xffffffffu, kLow | threadIdx.x);
  return got;
}

__device__ __noinline__ int count(const volatile unsigned long long* numbers, int n) {
  int found = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned low = static_cast<unsigned>(numbers[i]), lane = low & 31u;
    found += (low & ~31u) == kLow && lane != threadIdx.x && lane != 31;  // 31 brings the largest
  }
  return found;
}

__device__ __noinline__ int found_on_the_stack() {
  volatile unsigned long long unset[512];
  return count(unset, 512);
}

__global__ void look_kernel(int* found) {
  for (int how = 0; how < 4; ++how)
    if (bring(how) != 12345u) found[32 * how + threadIdx.x] = found_on_the_stack();
}

int main() {
  int found[4 * 32], *d_found;
  cudaMalloc(&d_found, sizeof found);
  cudaMemset(d_found, 1, sizeof found);
  look_kernel<<<1, 32>>>(d_found);
  cudaMemcpy(found, d_found, sizeof found, cudaMemcpyDeviceToHost);
  cudaFree(d_found);
  for (const int number : found)
    if (number != 0) return 1;
  return 0;
}
