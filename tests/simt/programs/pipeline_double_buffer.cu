// Double and triple buffering with asynchronous copies: tile k+1 is on its way while tile k is used.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

template <int kStages, int kTile>
__global__ void staged_sum(const float4* in, float* out, int tiles) {
  __shared__ float4 buffer[kStages][kTile];
  const float4* mine = in + (size_t)blockIdx.x * tiles * kTile;
  const int t = threadIdx.x;
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) __pipeline_memcpy_async(&buffer[s][t], &mine[s * kTile + t], sizeof(float4));
    __pipeline_commit();
  }
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int ahead = tile + kStages - 1;
    if (ahead < tiles)
      __pipeline_memcpy_async(&buffer[ahead % kStages][t], &mine[ahead * kTile + t], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    const float4 v = buffer[tile % kStages][kTile - 1 - t];  // a neighbour's copy
    sum += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    __syncthreads();
  }
  out[blockIdx.x * kTile + t] = sum;
}

// The last bytes of a copy can be zeros: the edge of a matrix needs no branch.
__global__ void zero_filled(const float* in, float* out, int n) {
  __shared__ float4 tile[32];
  const int first = threadIdx.x * 4, left = n - first, valid = left >= 4 ? 16 : left > 0 ? left * 4 : 0;
  __pipeline_memcpy_async(&tile[threadIdx.x], in + (valid ? first : 0), 16, 16 - valid);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  reinterpret_cast<float4*>(out)[threadIdx.x] = tile[threadIdx.x];
}

// Without a wait the block reads what was there before the copy.
__global__ void forgotten_wait(const int* in, int* before, int* after) {
  __shared__ int box[64];
  box[threadIdx.x] = -1;
  __syncthreads();
  __pipeline_memcpy_async(&box[threadIdx.x], in + threadIdx.x, sizeof(int));
  __pipeline_commit();
  before[threadIdx.x] = *(volatile int*)&box[threadIdx.x];
  __pipeline_wait_prior(0);
  after[threadIdx.x] = box[threadIdx.x];
}

template <int kStages>
int check_stages() {
  constexpr int kTile = 64, tiles = 5, blocks = 3;
  std::vector<float> in(blocks * tiles * kTile * 4), out(blocks * kTile);
  for (size_t i = 0; i < in.size(); ++i) in[i] = (float)(i % 101);
  float *d_in, *d_out;
  cudaMalloc(&d_in, in.size() * sizeof(float));
  cudaMalloc(&d_out, out.size() * sizeof(float));
  cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  staged_sum<kStages, kTile><<<blocks, kTile>>>(reinterpret_cast<const float4*>(d_in), d_out, tiles);
  cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_in), cudaFree(d_out);
  int wrong = 0;
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < kTile; ++t) {
      float sum = 0;
      for (int tile = 0; tile < tiles; ++tile)
        for (int k = 0; k < 4; ++k) sum += (k + 1) * in[((b * tiles + tile) * kTile + kTile - 1 - t) * 4 + k];
      wrong += sum != out[b * kTile + t];
    }
  return wrong;
}

int main() {
  int wrong = check_stages<2>() + check_stages<3>();
  printf("staged: %d wrong\n", wrong);

  float h[128], *d_f, *d_g;
  for (int i = 0; i < 128; ++i) h[i] = i + 1.0f;
  cudaMalloc(&d_f, sizeof(h));
  cudaMalloc(&d_g, sizeof(h));
  cudaMemcpy(d_f, h, sizeof(h), cudaMemcpyHostToDevice);
  zero_filled<<<1, 32>>>(d_f, d_g, 101);
  cudaMemcpy(h, d_g, sizeof(h), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 128; ++i) wrong += h[i] != (i < 101 ? i + 1.0f : 0.0f);
  printf("zero-filled: %d wrong\n", wrong);

  int *d_in, *d_before, *d_after, before[64], after[64], in[64];
  for (int i = 0; i < 64; ++i) in[i] = i * i;
  cudaMalloc(&d_in, sizeof(in));
  cudaMalloc(&d_before, sizeof(in));
  cudaMalloc(&d_after, sizeof(in));
  cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
  forgotten_wait<<<1, 64>>>(d_in, d_before, d_after);
  cudaMemcpy(before, d_before, sizeof(in), cudaMemcpyDeviceToHost);
  cudaMemcpy(after, d_after, sizeof(in), cudaMemcpyDeviceToHost);
  int early = 0;
  for (int i = 0; i < 64; ++i) {
    wrong += after[i] != i * i;
    early += before[i] == i * i;
  }
  printf("%d of 64 values arrived before anybody waited\n", early);
  cudaFree(d_in), cudaFree(d_before), cudaFree(d_after), cudaFree(d_f), cudaFree(d_g);
  return wrong || cudaGetLastError() != cudaSuccess ? 1 : 0;
}
