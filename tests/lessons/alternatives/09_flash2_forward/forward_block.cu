// Alternative for lesson 09: the course's own ForwardBlock, with which the lessons after this one begin, and
// tiles of 64 queries and 128 keys; all blocks along x, the last tile of queries first.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"
#include "flash2_forward.hpp"

namespace course {
namespace {

using Shape = device::AttentionShape<64, 128, 128>;
using Block = device::ForwardBlock<Shape>;

__global__ void __launch_bounds__(Shape::kThreads)
    attend_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                  View<float, 3> lse, float scale) {
  extern __shared__ float4 shared_memory[];
  const unsigned H = static_cast<unsigned>(Q.shape[1]), heads = H * static_cast<unsigned>(Q.shape[0]);
  const unsigned b = blockIdx.x % heads / H, h = blockIdx.x % H;
  const std::int64_t tile = gridDim.x / heads - 1 - blockIdx.x / heads;
  Block block(device::matrix_of(Q, b, h), tile * Shape::kBlockM, scale, shared_memory);
  for (std::int64_t first_key = 0; first_key < K.shape[2]; first_key += Shape::kBlockN)
    block.attend(device::matrix_of(K, b, h), device::matrix_of(V, b, h), first_key);
  block.store(device::matrix_of(O, b, h), device::row_of(lse, b, h));
}

/// O and lse of one query for each thread, all queries of all heads and batches in a row.
__global__ void rows_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<float, 4> O, View<float, 3> lse, float scale) {
  const std::int64_t H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3];
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t b = row / (H * Nq), h = row / Nq % H, i = row % Nq;
  if (b >= Q.shape[0]) return;
  float m = -INFINITY, l = 0.0f, O_row[kMaxDim] = {};
  for (std::int64_t j = 0; j < K.shape[2]; ++j) {
    float S = 0.0f;
    for (std::int64_t d = 0; d < D; ++d) S += Q(b, h, i, d) * K(b, h, j, d);
    const float m_new = fmaxf(m, S * scale), base = m_new == -INFINITY ? 0.0f : m_new;
    const float rescale = expf(m - base), P = expf(S * scale - base);
    m = m_new;
    l = l * rescale + P;
    for (std::int64_t d = 0; d < D; ++d) O_row[d] = O_row[d] * rescale + P * V(b, h, j, d);
  }
  lse(b, h, i) = m + logf(l);
  for (std::int64_t d = 0; d < D; ++d) O(b, h, i, d) = l == 0.0f ? 0.0f : O_row[d] / l;
}

}  // namespace

void flash2_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  const std::int64_t blocks = B * H * ((Nq + Shape::kBlockM - 1) / Shape::kBlockM);
  if (blocks == 0) return;
  CUDA_CHECK(
      cudaFuncSetAttribute(attend_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kSharedBytes));
  attend_kernel<<<static_cast<unsigned>(blocks), Shape::kThreads, Block::kSharedBytes>>>(Q, K, V, O, lse,
                                                                                         scale);
  CUDA_CHECK(cudaGetLastError());
}

void flash2_forward_rows(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale) {
  device::require_attention_arguments(Q, K, V, O, Q.shape[1], kMaxDim);
  device::require_shape("lse", lse, {Q.shape[0], Q.shape[1], Q.shape[2]});
  const std::int64_t rows = Q.shape[0] * Q.shape[1] * Q.shape[2];
  if (rows == 0) return;
  rows_kernel<<<static_cast<unsigned>((rows + 31) / 32), 32>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
