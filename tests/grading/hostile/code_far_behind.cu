// hostile: Has a thread for each query, which reads all rows, in code that begins 16 MB behind the first, where check mode finds no lines.
// lesson: 11
// word: A lesson's file has no __attribute__
// verdict: fail
// trick: other
// naive: no

#include "grouped_query.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"

namespace course {

constexpr int kThreads = 64;

/// What is to be counted lies in front.
__attribute__((noinline)) __device__ void store(float* to, float x) { *to = x; }

// 16 MB, in steps of 4.
__attribute__((aligned(1 << 22), used, noinline)) void far_away_1() {}
__attribute__((aligned(1 << 22), used, noinline)) void far_away_2() {}
__attribute__((aligned(1 << 22), used, noinline)) void far_away_3() {}

/// A thread has a query of head blockIdx.y in batch blockIdx.z.
__attribute__((aligned(1 << 16), noinline)) __global__ void plain_kernel(View<const float, 4> Q, View<const float, 4> K,
                                                                         View<const float, 4> V, View<float, 4> O,
                                                                         View<float, 3> lse, float scale, bool causal) {
  __shared__ float O_smem[kThreads * kMaxDim];
  const int Nq = static_cast<int>(Q.shape[2]), Nk = static_cast<int>(K.shape[2]), D = static_cast<int>(Q.shape[3]);
  const std::int64_t b = blockIdx.z, h = blockIdx.y, h_kv = h / (Q.shape[1] / K.shape[1]);
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kThreads, i = first + static_cast<int>(threadIdx.x);
  float o[kMaxDim] = {}, largest = -INFINITY, sum = 0.0f;
  const int end = i >= Nq ? 0 : causal ? min(Nk, i + Nk - Nq + 1) : Nk;
  for (int j = 0; j < end; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += Q(b, h, i, d) * K(b, h_kv, j, d);
    s *= scale;
    const float larger = s > largest || s != s ? s : largest, base = larger == -INFINITY ? 0.0f : larger;
    const float rescale = expf(largest - base), weight = expf(s - base);
    sum = sum * rescale + weight;
    for (int d = 0; d < D; ++d) o[d] = o[d] * rescale + weight * V(b, h_kv, j, d);
    largest = larger;
  }
  for (int d = 0; d < D; ++d) O_smem[static_cast<int>(threadIdx.x) * D + d] = sum == 0.0f ? 0.0f : o[d] / sum;
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < kThreads * D; e += kThreads)
    if (first + e / D < Nq) store(&O(b, h, first + e / D, e % D), O_smem[e]);
  if (i < Nq) store(&lse(b, h, i), largest + logf(sum));
}

__attribute__((aligned(1 << 16)))
void grouped_query_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                             View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  if (H_kv == 0 ? H > 0 : H % H_kv != 0) {
    throw std::invalid_argument("K must have a number of heads that divides the " + std::to_string(H) +
                                " of Q, but it has " + std::to_string(H_kv) + ".");
  }
  device::require_attention_arguments(Q, K, V, O, H_kv, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  plain_kernel<<<dim3(static_cast<unsigned>((Nq - 1) / kThreads + 1), static_cast<unsigned>(H), static_cast<unsigned>(B)),
                 kThreads>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
