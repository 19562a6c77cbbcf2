// One launch sums everything: the last block to finish adds up what the others left behind.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

__device__ unsigned int retirementCount = 0;

template <unsigned int blockSize>
__device__ void reduceBlock(volatile float* sdata, float mySum, const unsigned int tid,
                            cg::thread_block cta) {
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  sdata[tid] = mySum;
  cg::sync(tile32);
  const int VEC = 32;
  const int vid = tid & (VEC - 1);
  float beta = mySum, temp;
  for (int i = VEC / 2; i > 0; i >>= 1) {
    if (vid < i) {
      temp = sdata[tid + i];
      beta += temp;
      sdata[tid] = beta;
    }
    cg::sync(tile32);
  }
  cg::sync(cta);
  if (cta.thread_rank() == 0) {
    beta = 0;
    for (int i = 0; i < blockDim.x; i += VEC) beta += sdata[i];
    sdata[0] = beta;
  }
  cg::sync(cta);
}

template <unsigned int blockSize>
__global__ void reduceSinglePass(const float* g_idata, volatile float* g_odata, unsigned int n) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float smem[blockSize];
  unsigned int i = blockIdx.x * (blockSize * 2) + threadIdx.x, gridSize = blockSize * 2 * gridDim.x;
  float mySum = 0.0f;
  while (i < n) {
    mySum += g_idata[i];
    if (i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  reduceBlock<blockSize>(smem, mySum, threadIdx.x, cta);
  if (threadIdx.x == 0) g_odata[blockIdx.x] = smem[0];

  if (gridDim.x > 1) {
    const unsigned int tid = threadIdx.x;
    __shared__ bool amLast;
    __threadfence();
    if (tid == 0) {
      unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
      amLast = (ticket == gridDim.x - 1);
    }
    cg::sync(cta);
    if (amLast) {
      float sum = 0;
      for (unsigned int j = tid; j < gridDim.x; j += blockSize) sum += g_odata[j];
      reduceBlock<blockSize>(smem, sum, tid, cta);
      if (tid == 0) {
        g_odata[0] = smem[0];
        retirementCount = 0;
      }
    }
  }
}

int main() {
  const unsigned int n = 100003;
  const int blocks = 64;
  float* h = (float*)malloc(n * sizeof(float));
  double expected = 0;
  for (unsigned int i = 0; i < n; ++i) expected += h[i] = (float)(rand() & 0xff) / 256.0f;
  float *d_in, *d_out, result = 0;
  cudaMalloc((void**)&d_in, n * sizeof(float));
  cudaMalloc((void**)&d_out, blocks * sizeof(float));
  cudaMemcpy(d_in, h, n * sizeof(float), cudaMemcpyHostToDevice);
  bool ok = true;
  for (int repeat = 0; repeat < 3; ++repeat) {
    reduceSinglePass<128><<<blocks, 128>>>(d_in, d_out, n);
    cudaMemcpy(&result, d_out, sizeof(float), cudaMemcpyDeviceToHost);
    ok &= fabs(result - expected) < 1e-5 * expected;
  }
  unsigned int count = 1;
  cudaMemcpyFromSymbol(&count, retirementCount, sizeof(count));
  cudaFree(d_in);
  cudaFree(d_out);
  free(h);
  printf("%f, expected %f\n", result, expected);
  return ok && count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
