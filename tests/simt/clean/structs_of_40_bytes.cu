// Looks wrong: a part of 16 bytes lies at a multiple of 8, and not even all its members are named when it is
// cleared. It is right: that is its alignment, and every byte is written, also where a part goes over the end
// of one of the pages in which check mode remembers accesses.

#include <cuda_runtime.h>

struct Spare {
  double twice;
  float single;
  bool flags[4];
};
struct State {
  unsigned words[6];
  Spare spare;
};

__global__ void init_kernel(State* states) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned word = 0; word < 6; ++word) states[i].words[word] = 6 * i + word;
  states[i].spare = {};
}
__global__ void use_kernel(const State* states, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  State state = states[i];
  double sum = state.spare.twice + state.spare.single;
  for (unsigned word : state.words) sum += word;
  out[i] = state.spare.flags[i % 4] ? -1 : sum;
}

int main() {
  constexpr int kBlocks = 20, kThreads = 128, kCount = kBlocks * kThreads;
  static double host[kCount];
  State* states;
  double* out;
  cudaMalloc(&states, kCount * sizeof(State));
  cudaMalloc(&out, sizeof host);
  init_kernel<<<kBlocks, kThreads>>>(states);
  use_kernel<<<kBlocks, kThreads>>>(states, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(states);
  cudaFree(out);
  for (int i = 0; i < kCount; ++i)
    if (host[i] != 36.0 * i + 15) return 1;
  return 0;
}
