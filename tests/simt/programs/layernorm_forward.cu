// Layer normalisation with a warp per row (a cooperative-groups tile) and with a block per row.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

namespace cg = cooperative_groups;

__global__ void layernorm_forward_kernel3(float* __restrict__ out, float* __restrict__ mean,
                                          float* __restrict__ rstd, const float* __restrict__ inp,
                                          const float* __restrict__ weight, const float* __restrict__ bias,
                                          int N, int C) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (idx >= N) return;
  const float* x = inp + idx * C;
  float sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += x[i];
  sum = cg::reduce(warp, sum, cg::plus<float>{});
  float m = sum / C;
  if (warp.thread_rank() == 0 && mean != nullptr) __stcs(mean + idx, m);
  sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size()) {
    float diff = x[i] - m;
    sum += diff * diff;
  }
  sum = cg::reduce(warp, sum, cg::plus<float>{});
  float s = rsqrtf(sum / C + 1e-5f);
  if (warp.thread_rank() == 0 && rstd != nullptr) __stcs(rstd + idx, s);
  float* o = out + idx * C;
  for (int c = warp.thread_rank(); c < C; c += warp.size()) {
    float n = s * (__ldcs(x + c) - m);
    __stcs(o + c, n * weight[c] + bias[c]);
  }
}

__global__ void layernorm_forward_kernel4(float* __restrict__ out, float* __restrict__ mean,
                                          float* __restrict__ rstd, const float* __restrict__ inp,
                                          const float* __restrict__ weight, const float* __restrict__ bias,
                                          int N, int C) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  __shared__ float shared_sum[32];
  __shared__ float shared_sum2[32];
  int num_warps = blockDim.x / 32, warp_id = threadIdx.x / 32, lane_id = threadIdx.x % 32;
  int idx = blockIdx.x;
  const float* x = inp + idx * C;
  float thread_sum = 0.0, thread_sum2 = 0.0;
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    float xi = x[i];
    thread_sum += xi;
    thread_sum2 += xi * xi;
  }
  float warp_sum = cg::reduce(warp, thread_sum, cg::plus<float>{});
  float warp_sum2 = cg::reduce(warp, thread_sum2, cg::plus<float>{});
  shared_sum[warp_id] = warp_sum;
  shared_sum2[warp_id] = warp_sum2;
  __syncthreads();
  warp_sum = (lane_id < num_warps) ? shared_sum[lane_id] : 0.0f;
  warp_sum2 = (lane_id < num_warps) ? shared_sum2[lane_id] : 0.0f;
  float block_sum = cg::reduce(warp, warp_sum, cg::plus<float>{});
  float block_sum2 = cg::reduce(warp, warp_sum2, cg::plus<float>{});
  block_sum /= C;
  block_sum2 /= C;
  float m = block_sum, var = block_sum2 - m * m, s = rsqrtf(var + 1e-5f);
  if (threadIdx.x == 0 && mean != nullptr) __stcs(mean + idx, m);
  if (threadIdx.x == 0 && rstd != nullptr) __stcs(rstd + idx, s);
  float* o = out + idx * C;
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    float n = s * (__ldcs(x + i) - m);
    __stcs(o + i, n * weight[i] + bias[i]);
  }
}

int main() {
  const int N = 37, C = 768;
  float *inp, *weight, *bias, *out, *mean, *rstd;
  cudaMallocManaged(&inp, N * C * sizeof(float));
  cudaMallocManaged(&out, N * C * sizeof(float));
  cudaMallocManaged(&weight, C * sizeof(float));
  cudaMallocManaged(&bias, C * sizeof(float));
  cudaMallocManaged(&mean, N * sizeof(float));
  cudaMallocManaged(&rstd, N * sizeof(float));
  for (int i = 0; i < N * C; ++i) inp[i] = sinf(0.37f * i) + 0.1f * (i % 11);
  for (int c = 0; c < C; ++c) weight[c] = 1.0f + 0.001f * c, bias[c] = 0.01f * c;

  int failures = 0;
  for (int kernel = 3; kernel <= 4; ++kernel) {
    const int block_size = 256;
    if (kernel == 3)
      layernorm_forward_kernel3<<<(N * 32 + block_size - 1) / block_size, block_size>>>(out, mean, rstd, inp,
                                                                                        weight, bias, N, C);
    else
      layernorm_forward_kernel4<<<N, block_size>>>(out, mean, rstd, inp, weight, bias, N, C);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    double worst = 0;
    for (int row = 0; row < N; ++row) {
      double m = 0, v = 0;
      for (int c = 0; c < C; ++c) m += inp[row * C + c];
      m /= C;
      for (int c = 0; c < C; ++c) v += (inp[row * C + c] - m) * (inp[row * C + c] - m);
      const double s = 1 / sqrt(v / C + 1e-5);
      for (int c = 0; c < C; ++c)
        worst = fmax(worst, fabs((inp[row * C + c] - m) * s * weight[c] + bias[c] - out[row * C + c]));
      worst = fmax(worst, fmax(fabs(m - mean[row]), fabs(s - rstd[row])));
    }
    printf("kernel %d: largest error %g\n", kernel, worst);
    failures += !(worst < 1e-4);
  }
  cudaFree(inp), cudaFree(out), cudaFree(weight), cudaFree(bias), cudaFree(mean), cudaFree(rstd);
  return failures;
}
