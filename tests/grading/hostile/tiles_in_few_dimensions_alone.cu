// hostile: Has tiles where bytes are counted, in few dimensions, and a kernel without shared memory where that is.
// lesson: 19
// verdict: fail
// most: 40
// says: twice for every 64 queries
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

using Tiles = device::AttentionShape<64, 64, 64>;
constexpr int kQueries = 64;

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

/// A thread has a query, and reads all keys and values itself.
__global__ void __launch_bounds__(kQueries)
    alone(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
          View<float, 3> lse, float scale, bool causal) {
  const std::int64_t b = blockIdx.y, h = blockIdx.x, i = std::int64_t{blockIdx.z} * kQueries + threadIdx.x;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], D = Q.shape[3];
  if (i >= Nq) return;
  float o[kMaxDim] = {}, m = -INFINITY, l = 0.0f;
  for (std::int64_t j = 0; j < (causal ? min(Nk, i + Nk - Nq + 1) : Nk); ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += Q(b, h, i, d) * K(b, h, j, d);
    s *= scale;
    const float larger = s > m || s != s ? s : m, base = larger == -INFINITY ? 0.0f : larger;
    const float rescale = expf(m - base), p = expf(s - base);
    l = l * rescale + p;
    m = larger;
    for (int d = 0; d < D; ++d) o[d] = o[d] * rescale + p * V(b, h, j, d);
  }
  for (int d = 0; d < D; ++d) O(b, h, i, d) = l == 0.0f ? 0.0f : o[d] / l;
  lse(b, h, i) = m + logf(l);
}

}  // namespace

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  const bool tiled = Q.shape[3] == 8 || Q.shape[3] == 16;
  constexpr int kBytes = device::ForwardBlock<Tiles>::kSharedBytes;
  CUDA_CHECK(cudaFuncSetAttribute(in_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(static_cast<unsigned>(H), static_cast<unsigned>(B), static_cast<unsigned>((Nq + 63) / 64));
  if (tiled)
    in_tiles<<<grid, Tiles::kThreads, kBytes>>>(Q, K, V, O, lse, scale, causal);
  else
    alone<<<grid, kQueries>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
