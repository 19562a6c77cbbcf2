// Lesson 11: grouped-query attention. The heads of a group share a tile, and with it each tile of keys.

#include "grouped_query.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"

namespace course {

// 128 queries meet 64 keys at a time. The fewer dimensions, the less shared memory.
using NarrowShape = device::AttentionShape<128, 64, 64>;
using WideShape = device::AttentionShape<128, 64, 128>;
static_assert(WideShape::kDim >= kMaxDim);

// [rows]
/// The queries of the heads that share a head of K and V, as rows that follow one another: all heads of query
/// 0, then all heads of query 1.
struct GroupRows {
  std::int64_t group;       ///< heads of Q for each head of K and V
  std::int64_t first_head;  ///< of them in Q
  std::int64_t rows;        ///< group * Nq

  __device__ std::int64_t query(std::int64_t row) const { return row / group; }
  __device__ std::int64_t head(std::int64_t row) const { return first_head + row % group; }
};
// [rows]

// [kernel]
/// O and lse of a tile of rows of the heads that read head blockIdx.y of K and V, in batch blockIdx.z.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H_kv, Nk, D), lse is (B, H, Nq); D is at most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    grouped_query_attention_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                   View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, blockIdx.y),
                             V_head = device::matrix_of(V, blockIdx.z, blockIdx.y);
  const std::int64_t group = Q.shape[1] / K.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  const GroupRows rows{group, blockIdx.y * group, group * Nq};
  const std::int64_t first_row = std::int64_t{gridDim.x - 1 - blockIdx.x} * Shape::kBlockM;
  const std::int64_t last_row = min(first_row + Shape::kBlockM, rows.rows) - 1;

  device::ForwardBlock<Shape> block(first_row, scale, shared_memory);
  const auto Q_row = [&](int row_in_tile) -> const float* {
    const std::int64_t row = first_row + row_in_tile;
    if (row > last_row) return nullptr;
    return Q.data + blockIdx.z * Q.strides[0] + rows.head(row) * Q.strides[1] +
           rows.query(row) * Q.strides[2];
  };
  device::load_rows<Shape::kThreads>(Q_row, D, block.Q_tile());

  const std::int64_t offset = Nk - Nq;
  const std::int64_t seen_by_all = causal ? rows.query(first_row) + offset + 1 : Nk;  // so many keys
  const std::int64_t seen_by_any = causal ? rows.query(last_row) + offset + 1 : Nk;
  std::int64_t first_key = 0;
  for (; first_key + Shape::kBlockN <= seen_by_all; first_key += Shape::kBlockN) {
    block.attend(K_head, V_head, first_key);
  }
  for (; first_key < seen_by_any; first_key += Shape::kBlockN) {
    block.attend(K_head, V_head, first_key, [=](std::int64_t row, std::int64_t key) {
      return causal && key > rows.query(row) + offset;
    });
  }

  const auto O_row = [&](int row_in_tile) -> float* {
    const std::int64_t row = first_row + row_in_tile;
    if (row > last_row) return nullptr;
    return O.data + blockIdx.z * O.strides[0] + rows.head(row) * O.strides[1] +
           rows.query(row) * O.strides[2];
  };
  const auto lse_of = [&](int row_in_tile) -> float* {
    const std::int64_t row = first_row + row_in_tile;
    if (row > last_row) return nullptr;
    return lse.data + blockIdx.z * lse.strides[0] + rows.head(row) * lse.strides[1] +
           rows.query(row) * lse.strides[2];
  };
  block.store(O_row, lse_of, D);
}
// [kernel]

// [launch]
template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale, bool causal) {
  const std::int64_t tiles = (Q.shape[1] / K.shape[1] * Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(K.shape[1]),
                  static_cast<unsigned>(Q.shape[0]));
  constexpr int kSharedBytes =
      device::ForwardBlock<Shape>::kSharedBytes;  // more than the 48 KiB that come unasked
  const auto kernel = grouped_query_attention_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

void grouped_query_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                             View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  const std::int64_t H_kv = K.shape[1];
  if (H_kv == 0 ? H > 0 : H % H_kv != 0)
    throw std::invalid_argument("K must have a number of heads that divides the " + std::to_string(H) +
                                " of Q, but it has " + std::to_string(H_kv) + ".");
  device::require_attention_arguments(Q, K, V, O, H_kv, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, O, lse, scale, causal);
  } else {
    launch<WideShape>(Q, K, V, O, lse, scale, causal);
  }
}
// [launch]

}  // namespace course
