// Looks wrong: a block takes a value from another block without any fence.
// It is right: value and flag travel in the same 64-bit word, which is written and read whole by atomics.

#include <cuda_runtime.h>

using Word = unsigned long long;

__global__ void prefix_kernel(const int* in, int* out, Word* words, unsigned* next_ticket) {
  const unsigned ticket = atomicAdd(next_ticket, 1u);
  Word before = Word{ticket == 0} << 32;
  while (before >> 32 == 0)
    before = atomicAdd(&words[ticket - 1], Word{0});  // upper half: the lower is there
  const unsigned sum = unsigned(before) + in[ticket];
  out[ticket] = sum;
  atomicExch(&words[ticket], Word{1} << 32 | sum);
}

int main() {
  constexpr int kN = 20;
  int in[kN], out[kN] = {}, *d_in, *d_out;
  Word* d_words;
  unsigned* d_ticket;
  for (int i = 0; i < kN; ++i) in[i] = i * i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMalloc(&d_words, kN * sizeof(Word));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_words, 0, kN * sizeof(Word));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  prefix_kernel<<<kN, 1>>>(d_in, d_out, d_words, d_ticket);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_words);
  cudaFree(d_ticket);
  int expected = 0;
  for (int i = 0; i < kN; ++i)
    if (out[i] != (expected += in[i])) return 1;
  return 0;
}
