// Copies that a whole block shares: cooperative_groups::memcpy_async, with one and with two stages.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void reverse_subsets(const int* in, int* out, int n, int subset) {
  extern __shared__ int local_smem[];
  auto block = cg::this_thread_block();
  for (int index = blockIdx.x * subset; index < n; index += gridDim.x * subset) {
    const int count = min(subset, n - index);
    cg::memcpy_async(block, local_smem, in + index, sizeof(int) * count);
    cg::wait(block);
    for (int i = block.thread_rank(); i < count; i += block.size())
      out[index + i] = local_smem[count - 1 - i];
    block.sync();
  }
}

template <unsigned kElements>
__global__ void staged(const float* in, float* sums, int subsets) {
  __shared__ alignas(16) float smem[2][kElements];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, smem[0], kElements, in, kElements);
  float sum = 0;
  int stage = 0;
  for (int subset = 1; subset < subsets; ++subset, stage ^= 1) {
    cg::memcpy_async(block, smem[stage ^ 1], in + subset * kElements, sizeof(float) * kElements);
    cg::wait_prior<1>(block);
    for (unsigned i = 0; i < kElements; ++i) sum += smem[stage][i] * (threadIdx.x + 1);
    block.sync();
  }
  cg::wait(block);
  for (unsigned i = 0; i < kElements; ++i) sum += smem[stage][i] * (threadIdx.x + 1);
  sums[threadIdx.x] = sum;
}

int main() {
  const int n = 1001, subset = 96;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reverse_subsets<<<4, 64, subset * sizeof(int)>>>(d_in, d_out, n, subset);
  cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const int first = i / subset * subset, last = first + subset < n ? first + subset - 1 : n - 1;
    wrong += out[i] != first + last - i;
  }

  constexpr unsigned kElements = 128;
  const int subsets = 6;
  std::vector<float> x(kElements * subsets), sums(32);
  float total = 0, *d_x, *d_sums;
  for (size_t i = 0; i < x.size(); ++i) total += x[i] = (float)(i % 4);
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_sums, 32 * sizeof(float));
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  staged<kElements><<<1, 32>>>(d_x, d_sums, subsets);
  cudaMemcpy(sums.data(), d_sums, 32 * sizeof(float), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 32; ++t) wrong += sums[t] != total * (t + 1);
  cudaFree(d_in), cudaFree(d_out), cudaFree(d_x), cudaFree(d_sums);
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  return wrong ? 1 : 0;
}
