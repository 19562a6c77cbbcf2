// hostile: Has no tiles: the lanes of a warp read the same numbers of a key at the same time, which costs one sector.
// lesson: 19
// verdict: fail
// most: 31
// says: share a sector, but each of them loads it for itself
// trick: output
// naive: no

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "register_tiling.hpp"

namespace course {
namespace {

/// A warp has 64 queries. Its lanes stand in kParts groups, which have other dimensions of the same queries.
template <int kParts, int kVec>
__global__ void __launch_bounds__(32)
    attend(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
           View<float, 3> lse, float scale, bool causal) {
  constexpr int kGroup = 32 / kParts, kRows = 64 / kGroup, kChunks = kMaxDim / (kParts * kVec);
  struct alignas(4 * kVec) Vec {
    float at[kVec];
  };
  const std::int64_t b = blockIdx.y, h = blockIdx.x, first = std::int64_t{gridDim.z - 1 - blockIdx.z} * 64;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const int D = static_cast<int>(Q.shape[3]), lane = static_cast<int>(threadIdx.x);
  const int part = lane / kGroup, own = lane % kGroup, step = kParts * kVec;
  Vec q[kRows][kChunks] = {}, o[kRows][kChunks] = {};
  float m[kRows], l[kRows] = {};
  for (float& x : m) x = -INFINITY;
  for (int c = 0; c < kChunks; ++c) {
    const int d = c * step + part * kVec;
    for (int r = 0; r < kRows; ++r)
      if (d < D && first + r * kGroup + own < Nq)
        q[r][c] = *reinterpret_cast<const Vec*>(&Q(b, h, first + r * kGroup + own, d));
  }
  const std::int64_t end = causal ? min(min(first + 64, Nq) + past, Nk) : Nk;
  for (std::int64_t j = 0; j < end; ++j) {
    float s[kRows] = {};
    for (int c = 0; c < kChunks; ++c) {
      const int d = c * step + part * kVec;
      if (d >= D) break;
      const Vec x = *reinterpret_cast<const Vec*>(&K(b, h, j, d));
      for (int r = 0; r < kRows; ++r)
        for (int e = 0; e < kVec; ++e) s[r] += q[r][c].at[e] * x.at[e];
    }
    __syncwarp();
    float p[kRows], rescale[kRows];
    bool seen[kRows];
    for (int r = 0; r < kRows; ++r) {
      for (int apart = kGroup; apart < 32; apart *= 2) s[r] += __shfl_xor_sync(0xffffffffu, s[r], apart);
      seen[r] = !causal || j <= first + r * kGroup + own + past;
      const float score = s[r] * scale;
      const float larger = !seen[r] ? m[r] : score > m[r] || score != score ? score : m[r];
      const float base = larger == -INFINITY ? 0.0f : larger;
      rescale[r] = expf(m[r] - base);
      p[r] = seen[r] ? expf(score - base) : 0.0f;
      if (seen[r]) l[r] = l[r] * rescale[r] + p[r];
      m[r] = larger;
    }
    __syncwarp();
    for (int c = 0; c < kChunks; ++c) {
      const int d = c * step + part * kVec;
      if (d >= D) break;
      const Vec x = *reinterpret_cast<const Vec*>(&V(b, h, j, d));
      for (int r = 0; r < kRows; ++r)
        for (int e = 0; e < kVec; ++e) {
          const float more = o[r][c].at[e] * rescale[r] + p[r] * x.at[e];
          o[r][c].at[e] = seen[r] ? more : o[r][c].at[e];
        }
    }
    __syncwarp();
  }
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t i = first + r * kGroup + own;
    if (i >= Nq) continue;
    for (int c = 0; c < kChunks; ++c) {
      const int d = c * step + part * kVec;
      if (d >= D) break;
      Vec x = o[r][c];
      for (float& one : x.at) one = l[r] == 0.0f ? 0.0f : one / l[r];
      *reinterpret_cast<Vec*>(&O(b, h, i, d)) = x;
    }
    if (part == 0) lse(b, h, i) = m[r] + logf(l[r]);
  }
}

template <class X>
bool in_fours(const X& x) {
  return x.shape[3] % 4 == 0 && x.strides[0] % 4 == 0 && x.strides[1] % 4 == 0 && x.strides[2] % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

}  // namespace

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  const dim3 grid(static_cast<unsigned>(H), static_cast<unsigned>(B), static_cast<unsigned>((Nq + 63) / 64));
  if (in_fours(Q) && in_fours(K) && in_fours(V) && in_fours(O))
    attend<2, 4><<<grid, 32>>>(Q, K, V, O, lse, scale, causal);
  else
    attend<8, 1><<<grid, 32>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
