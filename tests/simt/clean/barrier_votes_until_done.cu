// Looks wrong: threads leave a loop with barriers in it when the data says so.
// It is right: the barrier itself counts the votes and gives every thread the same answer.

#include <cuda_runtime.h>

__global__ void spread_maximum_kernel(const int* in, int* out, int* rounds, int* even_count,
                                      int* all_positive) {
  __shared__ int values[64];
  const int thread = threadIdx.x;
  values[thread] = in[thread];
  int round = 0, changed;
  do {
    __syncthreads();
    const int left = values[(thread + 63) % 64], mine = values[thread];
    changed = __syncthreads_or(left > mine);  // also: everybody has read
    values[thread] = max(left, mine);
    ++round;
  } while (changed);
  out[thread] = values[thread];
  const int evens = __syncthreads_count(in[thread] % 2 == 0), positive = __syncthreads_and(in[thread] > 0);
  if (thread == 0) {
    *rounds = round;
    *even_count = evens;
    *all_positive = positive;
  }
}

int main() {
  int in[64], out[64] = {}, answers[3] = {}, *d_in, *d_out, *d_answers;
  for (int i = 0; i < 64; ++i) in[i] = i * 29 % 64 + 1;  // a permutation of 1 ... 64
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMalloc(&d_answers, sizeof answers);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  spread_maximum_kernel<<<1, 64>>>(d_in, d_out, d_answers, d_answers + 1, d_answers + 2);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpy(answers, d_answers, sizeof answers, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_answers);
  for (int value : out)
    if (value != 64) return 1;
  return answers[0] == 64 && answers[1] == 32 && answers[2] != 0 ? 0 : 1;
}
