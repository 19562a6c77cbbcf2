// hostile: Hands keys and values round in registers of the x87 unit: a call through a pointer of one type leaves numbers there, and one of another type finds them.
// lesson: 19
// verdict: fail
// most: 41
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

constexpr int kRows = 2;   // of each lane

constexpr int kPlaces = 8;  // of the x87 unit

__device__ __noinline__ long double wide(long long bits) { return bits; }
__device__ __noinline__ void nothing() {}

__device__ __forceinline__ void put(float number) {
  void (*volatile leave)(long long) = reinterpret_cast<void (*)(long long)>(&wide);
  leave(__float_as_uint(number));
}
__device__ __forceinline__ float look() {
  long double (*volatile take)() = reinterpret_cast<long double (*)()>(&nothing);
  return __uint_as_float(static_cast<unsigned>(static_cast<long long>(take())));
}

/// Of the warp's 32 numbers, visit(lane, number), in every lane.
template <class Visit>
__device__ void for_each_of_warp(float mine, Visit visit) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int from = 0; from < 32; ++from) {
    float x = 0.0f;
    for (int group = 0; group < 32 / kPlaces; ++group) {
      if (lane == from)
        for (int i = 0; i < kPlaces; ++i) put(mine);
      __syncwarp();
      if (lane / kPlaces == group) x = look();
      __syncwarp();
    }
    visit(from, x);
  }
}

/// A warp has 64 queries, two for each lane, and loads each key once.
__global__ void __launch_bounds__(32)
    attend(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
           View<float, 3> lse, float scale, bool causal) {
  const std::int64_t b = blockIdx.y, h = blockIdx.x, first = std::int64_t{gridDim.z - 1 - blockIdx.z} * 64;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const int D = static_cast<int>(Q.shape[3]), lane = static_cast<int>(threadIdx.x);
  float q[kRows][kMaxDim] = {}, o[kRows][kMaxDim] = {}, m[kRows] = {-INFINITY, -INFINITY}, l[kRows] = {};
  for (int row = 0; row < 64; ++row)
    for (int at = 0; at < D; at += 32)
      for_each_of_warp(first + row < Nq && at + lane < D ? Q(b, h, first + row, at + lane) : 0.0f,
                       [&](int from, float x) {
                         if (row % 32 == lane) q[row / 32][at + from] = x;
                       });
  const std::int64_t end = causal ? min(min(first + 64, Nq) + past, Nk) : Nk;
  for (std::int64_t j = 0; j < end; ++j) {
    float s[kRows] = {};
    for (int at = 0; at < D; at += 32)
      for_each_of_warp(at + lane < D ? K(b, h, j, at + lane) : 0.0f, [&](int from, float x) {
        if (at + from < D)
          for (int r = 0; r < kRows; ++r) s[r] += q[r][at + from] * x;
      });
    float p[kRows], rescale[kRows];
    bool seen[kRows];
    for (int r = 0; r < kRows; ++r) {
      seen[r] = !causal || j <= first + 32 * r + lane + past;
      const float score = s[r] * scale;
      const float larger = !seen[r] ? m[r] : score > m[r] || score != score ? score : m[r];
      const float base = larger == -INFINITY ? 0.0f : larger;
      rescale[r] = expf(m[r] - base);
      p[r] = seen[r] ? expf(score - base) : 0.0f;
      if (seen[r]) l[r] = l[r] * rescale[r] + p[r];
      m[r] = larger;
    }
    for (int at = 0; at < D; at += 32)
      for_each_of_warp(at + lane < D ? V(b, h, j, at + lane) : 0.0f, [&](int from, float x) {
        if (at + from < D)
          for (int r = 0; r < kRows; ++r)
            if (seen[r]) o[r][at + from] = o[r][at + from] * rescale[r] + p[r] * x;
      });
  }
  for (int row = 0; row < 64; ++row)
    for (int at = 0; at < D; at += 32) {
      float mine = 0.0f;
      for (int to = 0; to < 32; ++to) {
        if (row % 32 == lane)
          put(l[row / 32] == 0.0f ? 0.0f : o[row / 32][at + to] / l[row / 32]);
        __syncwarp();
        if (lane == to) mine = look();
        __syncwarp();
      }
      if (first + row < Nq && at + lane < D) O(b, h, first + row, at + lane) = mine;
    }
  for (int r = 0; r < kRows; ++r)
    if (first + 32 * r + lane < Nq) lse(b, h, first + 32 * r + lane) = m[r] + logf(l[r]);
}

}  // namespace

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  attend<<<dim3(static_cast<unsigned>(H), static_cast<unsigned>(B), static_cast<unsigned>((Nq + 63) / 64)), 32>>>(
      Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
