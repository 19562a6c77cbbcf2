// A histogram of bytes: one sub-histogram for each warp in shared memory, merged by a second kernel.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

typedef unsigned int uint;
constexpr int kBins = 256, kWarps = 4, kPartialBlocks = 24;

inline __device__ void addByte(uint* s_WarpHist, uint data) { atomicAdd(s_WarpHist + data, 1); }

inline __device__ void addWord(uint* s_WarpHist, uint data) {
  addByte(s_WarpHist, (data >> 0) & 0xFFU);
  addByte(s_WarpHist, (data >> 8) & 0xFFU);
  addByte(s_WarpHist, (data >> 16) & 0xFFU);
  addByte(s_WarpHist, (data >> 24) & 0xFFU);
}

__global__ void histogramPartial(uint* partial, const uint* data, uint words) {
  __shared__ uint s_Hist[kWarps * kBins];
  uint* s_WarpHist = s_Hist + (threadIdx.x >> 5) * kBins;
#pragma unroll
  for (uint i = 0; i < kWarps * kBins / (kWarps * 32); i++) s_Hist[threadIdx.x + i * kWarps * 32] = 0;
  __syncthreads();
  for (uint pos = blockIdx.x * blockDim.x + threadIdx.x; pos < words; pos += blockDim.x * gridDim.x)
    addWord(s_WarpHist, __ldg(&data[pos]));
  __syncthreads();
  for (uint bin = threadIdx.x; bin < kBins; bin += kWarps * 32) {
    uint sum = 0;
    for (uint i = 0; i < kWarps; i++) sum += s_Hist[bin + i * kBins] & 0xFFFFFFFFU;
    partial[blockIdx.x * kBins + bin] = sum;
  }
}

__global__ void mergeHistogram(uint* histogram, const uint* partial, uint count) {
  uint sum = 0;
  for (uint i = threadIdx.x; i < count; i += blockDim.x) sum += partial[blockIdx.x + i * kBins];
  __shared__ uint data[64];
  data[threadIdx.x] = sum;
  for (uint stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) histogram[blockIdx.x] = data[0];
}

int main() {
  const uint bytes = 1 << 16;
  std::vector<uint8_t> h_data(bytes);
  uint state = 1;
  for (auto& byte : h_data) byte = (state = state * 1664525u + 1013904223u) >> 24;
  uint *d_data, *d_partial, *d_histogram;
  cudaMalloc(&d_data, bytes);
  cudaMalloc(&d_partial, kPartialBlocks * kBins * sizeof(uint));
  cudaMalloc(&d_histogram, kBins * sizeof(uint));
  cudaMemcpy(d_data, h_data.data(), bytes, cudaMemcpyHostToDevice);
  histogramPartial<<<kPartialBlocks, kWarps * 32>>>(d_partial, d_data, bytes / sizeof(uint));
  mergeHistogram<<<kBins, 64>>>(d_histogram, d_partial, kPartialBlocks);
  uint histogram[kBins], expected[kBins] = {};
  cudaMemcpy(histogram, d_histogram, sizeof(histogram), cudaMemcpyDeviceToHost);
  for (auto byte : h_data) expected[byte]++;
  int wrong = 0;
  for (int bin = 0; bin < kBins; ++bin) wrong += histogram[bin] != expected[bin];
  cudaFree(d_data);
  cudaFree(d_partial);
  cudaFree(d_histogram);
  printf("%d wrong bins, %s\n", wrong, cudaGetErrorString(cudaDeviceSynchronize()));
  return wrong ? 1 : 0;
}
