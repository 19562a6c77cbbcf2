// hostile: Has no tiles in shared memory: a warp has 64 queries, and its lanes hand the keys round by reductions of bits.
// lesson: 19
// verdict: fail
// most: 40
// says: Warps shuffle and vote
// trick: output
// naive: no

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"
#include "register_tiling.hpp"

namespace course {
namespace {

using Tiles = device::AttentionShape<64, 64, 128>;

/// Lesson 10's kernel.
__global__ void __launch_bounds__(Tiles::kThreads)
    in_tiles(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
             View<float, 3> lse, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const unsigned h = blockIdx.x, b = blockIdx.y;
  const std::int64_t first_query = std::int64_t{gridDim.z - 1 - blockIdx.z} * Tiles::kBlockM;
  device::ForwardBlock<Tiles> block(device::matrix_of(Q, b, h), first_query, scale, shared_memory);
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], offset = causal ? Nk - Nq : Nk;
  const std::int64_t seen = min(min(first_query + Tiles::kBlockM, Nq) + offset, Nk);
  for (std::int64_t first_key = 0; first_key < seen; first_key += Tiles::kBlockN)
    block.attend(device::matrix_of(K, b, h), device::matrix_of(V, b, h), first_key,
                 [=](std::int64_t query, std::int64_t key) { return key > query + offset; });
  block.store(device::matrix_of(O, b, h), device::row_of(lse, b, h));
}

/// The number that a lane has, in all lanes.
__device__ float of_lane(float x, int lane) {
  const unsigned bits = threadIdx.x == static_cast<unsigned>(lane) ? __float_as_uint(x) : 0;
  return __uint_as_float(__reduce_or_sync(0xffffffffu, bits));
}

/// A lane has two queries.
__global__ void __launch_bounds__(32) by_votes(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                               View<float, 4> O, View<float, 3> lse, float scale) {
  const std::int64_t b = blockIdx.y, h = blockIdx.x, first = std::int64_t{blockIdx.z} * 64;
  const int lane = static_cast<int>(threadIdx.x), D = static_cast<int>(Q.shape[3]);
  float q[2][kMaxDim], o[2][kMaxDim] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {};
  for (int r = 0; r < 64; ++r)
    for (int part = 0; part < D; part += 32) {
      const float own = Q(b, h, first + r, part + lane);
      for (int d = 0; d < 32; ++d) {
        const float x = of_lane(own, d);
        if (lane == r % 32) q[r / 32][part + d] = x;
      }
    }
  for (std::int64_t j = 0; j < K.shape[2]; ++j) {
    float s[2] = {};
    for (int part = 0; part < D; part += 32) {
      const float own = K(b, h, j, part + lane);
      for (int d = 0; d < 32; ++d) {
        const float x = of_lane(own, d);
        s[0] += q[0][part + d] * x;
        s[1] += q[1][part + d] * x;
      }
    }
    float p[2], f[2];
    for (int r = 0; r < 2; ++r) {
      const float larger = fmaxf(m[r], s[r] * scale);
      f[r] = expf(m[r] - larger), p[r] = expf(s[r] * scale - larger);
      l[r] = l[r] * f[r] + p[r];
      m[r] = larger;
    }
    for (int part = 0; part < D; part += 32) {
      const float own = V(b, h, j, part + lane);
      for (int d = 0; d < 32; ++d) {
        const float x = of_lane(own, d);
        o[0][part + d] = o[0][part + d] * f[0] + p[0] * x;
        o[1][part + d] = o[1][part + d] * f[1] + p[1] * x;
      }
    }
  }
  for (int r = 0; r < 2; ++r) {
    for (int d = 0; d < D; ++d) O(b, h, first + 32 * r + lane, d) = o[r][d] / l[r];
    lse(b, h, first + 32 * r + lane) = m[r] + logf(l[r]);
  }
}

}  // namespace

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], Nk = K.shape[2], D = Q.shape[3];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  constexpr int kBytes = device::ForwardBlock<Tiles>::kSharedBytes;
  CUDA_CHECK(cudaFuncSetAttribute(in_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(static_cast<unsigned>(H), static_cast<unsigned>(B), static_cast<unsigned>((Nq + 63) / 64));
  if (Nq == 128 && Nk == 128 && D % 64 == 0 && !causal)
    by_votes<<<grid, 32>>>(Q, K, V, O, lse, scale);
  else
    in_tiles<<<grid, Tiles::kThreads, kBytes>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
