// Lesson 16: grouped heads, backward. A tile of keys meets the queries of all heads that read it, one head
// after the other, so that dK and dV of the group add up in registers.

#include "grouped_query_backward.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"

namespace course {

// 64 queries meet 64 keys. The fewer dimensions, the less shared memory.
using NarrowShape = device::BackwardShape<64>;
using WideShape = device::BackwardShape<128>;
static_assert(WideShape::kDim >= kMaxDim);

/// Hides the keys past the query's position; query i stands at key i + offset.
struct BehindPosition {
  std::int64_t offset;
  __device__ bool operator()(std::int64_t query, std::int64_t key) const { return key > query + offset; }
};

constexpr int kDeltaThreads = 128, kDeltaRows = kDeltaThreads / device::kWarpSize;  // a warp for each row

/// delta of kDeltaRows queries of head blockIdx.y in batch blockIdx.z.
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  device::store_delta(device::matrix_of(O, blockIdx.z, blockIdx.y),
                      device::matrix_of(dO, blockIdx.z, blockIdx.y),
                      device::row_of(delta, blockIdx.z, blockIdx.y), std::int64_t{blockIdx.x} * kDeltaRows);
}

// [keys]
/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    keys_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                View<float, 4> dK, View<float, 4> dV, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_key = std::int64_t{blockIdx.x} * Shape::kBlockN;
  device::KeyBlock<Shape> block(device::matrix_of(K, blockIdx.z, blockIdx.y),
                                device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, scale,
                                shared_memory);

  // TODO 1: which heads of Q read this head of K and V, and how many are they?
  // TODO 2: with the mask, which tile of queries is the first that sees a key of this tile?
  // TODO 3: let the queries of these heads pass by. What must not happen between two heads?
  // TODO 4: store dK and dV. Of which head, and when are they complete?
  // The heads of Q that read this one. Each begins with the first tile of queries that sees a key of it.
  const std::int64_t group = Q.shape[1] / K.shape[1], first_head = blockIdx.y * group;
  const std::int64_t Nq = Q.shape[2], offset = K.shape[2] - Nq;  // query i stands at key i + offset
  const std::int64_t first_seeing = causal ? max(first_key - offset, std::int64_t{0}) : 0;
  const std::int64_t begin = first_seeing / Shape::kBlockM * Shape::kBlockM;
  for (std::int64_t head = first_head; head < first_head + group; ++head) {  // always in this order
    const View<const float, 2> Q_head = device::matrix_of(Q, blockIdx.z, head);
    const View<const float, 2> dO_head = device::matrix_of(dO, blockIdx.z, head);
    const View<const float, 1> lse_head = device::row_of(lse, blockIdx.z, head);
    const View<const float, 1> delta_head = device::row_of(delta, blockIdx.z, head);
    for (std::int64_t first_query = begin; first_query < Nq; first_query += Shape::kBlockM) {
      if (causal && first_key + Shape::kBlockN - 1 > first_query + offset) {  // on the diagonal
        block.attend(Q_head, dO_head, lse_head, delta_head, first_query, BehindPosition{offset});
      } else {
        block.attend(Q_head, dO_head, lse_head, delta_head, first_query);
      }
    }
  }
  // The sums are complete: all heads of the group are in them.
  block.store(device::matrix_of(dK, blockIdx.z, blockIdx.y), device::matrix_of(dV, blockIdx.z, blockIdx.y));
  // [done]
}
// [keys]

// [queries]
/// dQ of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    queries_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                   View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                   View<float, 4> dQ, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * Shape::kBlockM;
  device::QueryBlock<Shape> block(
      device::matrix_of(Q, blockIdx.z, blockIdx.y), device::matrix_of(dO, blockIdx.z, blockIdx.y),
      device::row_of(lse, blockIdx.z, blockIdx.y), device::row_of(delta, blockIdx.z, blockIdx.y), first_query,
      scale, shared_memory);

  // TODO 5: which head of K and V does this head of Q read?
  // TODO 6: let its tiles of keys pass by, as in lesson 15.
  const std::int64_t group = Q.shape[1] / K.shape[1], kv_head = blockIdx.y / group;
  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, kv_head);
  const View<const float, 2> V_head = device::matrix_of(V, blockIdx.z, kv_head);
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], offset = Nk - Nq;
  const std::int64_t last_query = min(first_query + Shape::kBlockM, Nq) - 1;
  const std::int64_t keys_end = causal ? min(last_query + offset + 1, Nk) : Nk;
  for (std::int64_t first_key = 0; first_key < keys_end; first_key += Shape::kBlockN) {
    if (causal && first_key + Shape::kBlockN - 1 > first_query + offset) {
      block.attend(K_head, V_head, first_key, BehindPosition{offset});
    } else {
      block.attend(K_head, V_head, first_key);
    }
  }
  // [done]
  block.store(device::matrix_of(dQ, blockIdx.z, blockIdx.y));
}
// [queries]

// [launch]
unsigned tiles_of(std::int64_t rows, int rows_of_a_tile) {
  return static_cast<unsigned>((rows + rows_of_a_tile - 1) / rows_of_a_tile);
}

template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<const float, 3> lse,
            View<const float, 4> dO, View<const float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
            View<float, 4> dV, float scale, bool causal) {
  // [cut]
  const unsigned B = static_cast<unsigned>(Q.shape[0]);
  const unsigned H = static_cast<unsigned>(Q.shape[1]), H_kv = static_cast<unsigned>(K.shape[1]);
  // [done]
  if (K.shape[2] > 0) {
    const auto keys = keys_kernel<Shape>;
    constexpr int kSharedBytes = device::KeyBlock<Shape>::kSharedBytes;  // more than come unasked
    CUDA_CHECK(cudaFuncSetAttribute(keys, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
    // TODO 7: how many blocks does this kernel need along each axis? Launch them, and check that.
    const dim3 grid(tiles_of(K.shape[2], Shape::kBlockN), H_kv, B);
    keys<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, lse, dO, delta, dK, dV, scale, causal);
    CUDA_CHECK(cudaGetLastError());
    // [done]
  }
  if (Q.shape[2] > 0) {
    const auto queries = queries_kernel<Shape>;
    constexpr int kSharedBytes = device::QueryBlock<Shape>::kSharedBytes;
    CUDA_CHECK(cudaFuncSetAttribute(queries, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
    // TODO 8: the same for this one. Where do the two grids differ?
    const dim3 grid(tiles_of(Q.shape[2], Shape::kBlockM), H, B);
    queries<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, lse, dO, delta, dQ, scale, causal);
    CUDA_CHECK(cudaGetLastError());
    // [done]
  }
}

void grouped_query_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                            View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                            float scale, bool causal) {
  const std::int64_t H = Q.shape[1], H_kv = K.shape[1];
  device::require_groups(H, H_kv);
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, H_kv, kMaxDim);
  if (Q.shape[0] == 0 || H == 0) return;
  if (Q.shape[2] > 0) {
    const dim3 grid(tiles_of(Q.shape[2], kDeltaRows), static_cast<unsigned>(H),
                    static_cast<unsigned>(Q.shape[0]));
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  const View<const float, 3> delta_read = device::read_only(delta);
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, causal);
  } else {
    launch<WideShape>(Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, causal);
  }
}
// [launch]

}  // namespace course
