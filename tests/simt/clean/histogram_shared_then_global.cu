// Looks wrong: many threads and blocks add to the same counters, and plain reads follow.
// It is right: the additions are atomic, and a barrier separates them from the plain first write and the
// plain read.

#include <cuda_runtime.h>

constexpr int kBins = 10;

__global__ void histogram_kernel(const unsigned char* in, int n, int* bins) {
  __shared__ int local[kBins];
  if (threadIdx.x < kBins) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1);
  __syncthreads();
  if (threadIdx.x < kBins && local[threadIdx.x] > 0) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  constexpr int kN = 777;
  unsigned char in[kN], *d_in;
  int bins[kBins] = {}, expected[kBins] = {}, *d_bins;
  for (int i = 0; i < kN; ++i) ++expected[in[i] = i * i % kBins];
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_bins, sizeof bins);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, sizeof bins);
  histogram_kernel<<<3, 96>>>(d_in, kN, d_bins);
  cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_bins);
  for (int bin = 0; bin < kBins; ++bin)
    if (bins[bin] != expected[bin]) return 1;
  return 0;
}
