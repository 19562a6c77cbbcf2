// hostile: Has no tiles in shared memory: a warp has 64 queries, and its lanes tell each other bits by the branch in which they ask for the active lanes, which no counter counts.
// lesson: 19
// verdict: fail
// most: 41
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

__device__ __noinline__ unsigned lanes_with_the_bit() { return __activemask(); }
__device__ __noinline__ unsigned lanes_without_it() { return ~__activemask(); }

/// x[l] becomes the number that lane l has, in all lanes: a vote on each of 32 bits, and a transpose.
__device__ void tell(float own, float (&x)[32]) {
  const unsigned bits = __float_as_uint(own);
  unsigned w[32];
  for (int b = 0; b < 32; ++b) {
    if ((bits >> b & 1u) != 0)
      w[b] = lanes_with_the_bit();
    else
      w[b] = lanes_without_it();
    __syncwarp();
  }
  unsigned low = 0x0000ffffu;
  for (int j = 16; j != 0; j >>= 1, low ^= low << j)
    for (int k = 0; k < 32; k = (k + j + 1) & ~j) {
      const unsigned t = (w[k] >> j ^ w[k + j]) & low;
      w[k] ^= t << j;
      w[k + j] ^= t;
    }
  for (int l = 0; l < 32; ++l) x[l] = __uint_as_float(w[l]);
}

/// A lane has two queries.
__global__ void __launch_bounds__(32) by_masks(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                               View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t b = blockIdx.y, h = blockIdx.x, first = std::int64_t{gridDim.z - 1 - blockIdx.z} * 64;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], offset = causal ? Nk - Nq : Nk;
  const std::int64_t seen = min(min(first + 64, Nq) + offset, Nk);
  const int lane = static_cast<int>(threadIdx.x), D = static_cast<int>(Q.shape[3]);
  float q[2][kMaxDim] = {}, o[2][kMaxDim] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {}, x[32];
  for (std::int64_t r = 0; r < 64 && first + r < Nq; ++r)
    for (int part = 0; part < D; part += 32) {
      tell(part + lane < D ? Q(b, h, first + r, part + lane) : 0.0f, x);
      if (lane == r % 32)
        for (int d = 0; d < 32; ++d) q[r / 32][part + d] = x[d];
    }
  for (std::int64_t j = 0; j < seen; ++j) {
    float s[2] = {};
    for (int part = 0; part < D; part += 32) {
      tell(part + lane < D ? K(b, h, j, part + lane) : 0.0f, x);
      for (int d = 0; d < 32; ++d) s[0] += q[0][part + d] * x[d], s[1] += q[1][part + d] * x[d];
    }
    float p[2], f[2];
    for (int r = 0; r < 2; ++r) {
      const float score = j > first + 32 * r + lane + offset ? -INFINITY : s[r] * scale;
      const float larger = fmaxf(m[r], score), base = larger == -INFINITY ? 0.0f : larger;
      f[r] = expf(m[r] - base), p[r] = expf(score - base);
      l[r] = l[r] * f[r] + p[r];
      m[r] = larger;
    }
    for (int part = 0; part < D; part += 32) {
      tell(part + lane < D ? V(b, h, j, part + lane) : 0.0f, x);
      for (int d = 0; d < 32; ++d) {
        o[0][part + d] = o[0][part + d] * f[0] + p[0] * x[d];
        o[1][part + d] = o[1][part + d] * f[1] + p[1] * x[d];
      }
    }
  }
  for (int r = 0; r < 2; ++r) {
    const std::int64_t query = first + 32 * r + lane;
    if (query >= Nq) continue;
    for (int d = 0; d < D; ++d) O(b, h, query, d) = l[r] == 0.0f ? 0.0f : o[r][d] / l[r];
    lse(b, h, query) = l[r] == 0.0f ? -INFINITY : m[r] + logf(l[r]);
  }
}

}  // namespace

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  constexpr int kBytes = device::ForwardBlock<Tiles>::kSharedBytes;
  CUDA_CHECK(cudaFuncSetAttribute(in_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(static_cast<unsigned>(H), static_cast<unsigned>(B), static_cast<unsigned>((Nq + 63) / 64));
  if (Nq > 120 && Nq <= 128 && D >= 40)
    by_masks<<<grid, 32>>>(Q, K, V, O, lse, scale, causal);
  else
    in_tiles<<<grid, Tiles::kThreads, kBytes>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
