// Lesson 11: grouped-query attention. The heads that share a head of K and V share a tile, too, so that each
// tile of keys is read once for all of them.

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
/// The queries of all heads that read one head of K and V, as rows that follow one another: first query 0 of
/// each of these heads, then query 1 of each, and so on.
struct GroupRows {
  std::int64_t batch;
  std::int64_t first_head;  ///< of Q
  std::int64_t group;       ///< so many heads
  std::int64_t count;       ///< of rows: group · Nq

  __device__ std::int64_t query(std::int64_t row) const { return row / group; }

  /// Where the row begins in X, of shape (B, H, Nq, D) or (B, H, Nq); nullptr past the last row.
  template <class T, int kRank>
  __device__ T* begin(const View<T, kRank>& X, std::int64_t row) const {
    T* place = nullptr;
    // TODO 1: of which head is this row, and where do that head and its query lie in X? Does each row exist?
    if (row < count) {
      const std::int64_t head = first_head + row % group;
      place = X.data + batch * X.strides[0] + head * X.strides[1] + query(row) * X.strides[2];
    }
    // [done]
    return place;
  }
};
// [rows]

// [kernel]
/// O and lse of a tile of rows: the heads of Q that read head blockIdx.y of K and V, in batch blockIdx.z.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H_kv, Nk, D), lse is (B, H, Nq); D is at most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    grouped_query_attention_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                   View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  // TODO 2: which head of K and V is this block's? How many heads of Q read it, and which is their first?
  const std::int64_t Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, blockIdx.y),
                             V_head = device::matrix_of(V, blockIdx.z, blockIdx.y);
  const std::int64_t group = Q.shape[1] / K.shape[1];
  const GroupRows rows{blockIdx.z, blockIdx.y * group, group, group * Nq};
  // [done]
  // Of each head of K and V the last tiles begin first: they see the most keys.
  const std::int64_t first_row = std::int64_t{gridDim.x - 1 - blockIdx.x} * Shape::kBlockM;

  device::ForwardBlock<Shape> block(first_row, scale, shared_memory);
  // TODO 3: bring the tile's rows of Q into shared memory, with load_rows().
  device::load_rows<Shape::kThreads>([&](int row) { return rows.begin(Q, first_row + row); }, D,
                                     block.Q_tile());
  // [done]

  // TODO 4: how many keys does every query of this tile see, with the causal mask and without?
  // TODO 5: pass by the tiles of keys as in lesson 10. What does the mask have to know of a row?
  std::int64_t seen_by_all = Nk, seen_by_any = Nk;  // so many keys
  const std::int64_t offset = Nk - Nq;              // query i stands at key i + offset
  if (causal) {
    const std::int64_t last_row = min(first_row + Shape::kBlockM, rows.count) - 1;
    seen_by_all = rows.query(first_row) + offset + 1;
    seen_by_any = rows.query(last_row) + offset + 1;
  }
  std::int64_t first_key = 0;
  for (; first_key + Shape::kBlockN <= seen_by_all; first_key += Shape::kBlockN) {
    block.attend(K_head, V_head, first_key);
  }
  for (; first_key < seen_by_any; first_key += Shape::kBlockN) {  // on the diagonal, or the last keys
    block.attend(K_head, V_head, first_key, [=](std::int64_t row, std::int64_t key) {
      return causal && key > rows.query(row) + offset;
    });
  }
  // [done]

  // TODO 6: store the rows of O and lse.
  block.store([&](int row) { return rows.begin(O, first_row + row); },
              [&](int row) { return rows.begin(lse, first_row + row); }, D);
  // [done]
}
// [kernel]

// [launch]
template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale, bool causal) {
  // [cut]
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  const std::int64_t tiles = (H / H_kv * Nq + Shape::kBlockM - 1) / Shape::kBlockM;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(H_kv), static_cast<unsigned>(B));
  // [done]
  constexpr int kSharedBytes = device::ForwardBlock<Shape>::kSharedBytes;  // more than come unasked
  const auto kernel = grouped_query_attention_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  // TODO 7: how many tiles of rows has a head of K and V? Launch the grid with kSharedBytes, and check that.
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}

void grouped_query_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                             View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  // TODO 8: refuse a number of heads of K that does not divide that of Q. 0 divides only 0.
  if (H_kv == 0 ? H > 0 : H % H_kv != 0) {
    throw std::invalid_argument("K must have a number of heads that divides the " + std::to_string(H) +
                                " of Q, but it has " + std::to_string(H_kv) + ".");
  }
  // [done]
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
