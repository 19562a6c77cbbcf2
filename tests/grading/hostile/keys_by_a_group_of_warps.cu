// hostile: Hands keys and values round within a group of two warps by a function of the simulator's tiles that no CUDA has.
// lesson: 19
// verdict: not_compiled
// says: has no member named
// trick: output
// naive: no

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "register_tiling.hpp"

namespace course {
namespace {

namespace cg = cooperative_groups;
constexpr int kThreads = 64;  // as many queries

/// A thread has a query, and the threads of a block load each key together.
__global__ void __launch_bounds__(kThreads)
    attend(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
           View<float, 3> lse, float scale, bool causal) {
  const auto all = cg::tiled_partition<kThreads>(cg::this_thread_block());
  const std::int64_t b = blockIdx.y, h = blockIdx.x, first = std::int64_t{gridDim.z - 1 - blockIdx.z} * kThreads;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const int D = static_cast<int>(Q.shape[3]), thread = static_cast<int>(threadIdx.x);
  float q[kMaxDim] = {}, o[kMaxDim] = {}, m = -INFINITY, l = 0.0f, x[kThreads];
  for (int row = 0; row < kThreads; ++row)
    for (int at = 0; at < D; at += kThreads) {
      all.gather(first + row < Nq && at + thread < D ? Q(b, h, first + row, at + thread) : 0.0f, x);
      if (row == thread)
        for (int d = 0; d < kThreads; ++d) q[at + d] = x[d];
    }
  const std::int64_t end = causal ? min(min(first + kThreads, Nq) + past, Nk) : Nk;
  for (std::int64_t j = 0; j < end; ++j) {
    float s = 0.0f;
    for (int at = 0; at < D; at += kThreads) {
      all.gather(at + thread < D ? K(b, h, j, at + thread) : 0.0f, x);
      for (int d = 0; d < kThreads && at + d < D; ++d) s += q[at + d] * x[d];
    }
    const bool seen = !causal || j <= first + thread + past;
    const float score = s * scale;
    const float larger = !seen ? m : score > m || score != score ? score : m;
    const float base = larger == -INFINITY ? 0.0f : larger, rescale = expf(m - base);
    const float p = seen ? expf(score - base) : 0.0f;
    if (seen) l = l * rescale + p;
    m = larger;
    for (int at = 0; at < D; at += kThreads) {
      all.gather(at + thread < D ? V(b, h, j, at + thread) : 0.0f, x);
      if (seen)
        for (int d = 0; d < kThreads && at + d < D; ++d) o[at + d] = o[at + d] * rescale + p * x[d];
    }
  }
  for (int row = 0; row < kThreads; ++row) {
    all.gather(l, x);
    const float sum = x[row];
    for (int at = 0; at < D; at += kThreads)
      for (int d = 0; d < kThreads && at + d < D; ++d) {
        all.gather(o[at + d], x);
        if (thread == d && first + row < Nq) O(b, h, first + row, at + d) = sum == 0.0f ? 0.0f : x[row] / sum;
      }
  }
  if (first + thread < Nq) lse(b, h, first + thread) = m + logf(l);
}

}  // namespace

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  attend<<<dim3(static_cast<unsigned>(H), static_cast<unsigned>(B), static_cast<unsigned>((Nq + 63) / 64)), kThreads>>>(
      Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
