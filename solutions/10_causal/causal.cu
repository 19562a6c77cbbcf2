// Lesson 10: causal attention. Tiles of keys in the future are never loaded.
// Dao 2023 (arXiv:2307.08691), Algorithm 1 with the causal mask of section 3.1.1.

#include "causal.hpp"

#include <cuda_runtime.h>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"

namespace course {

// 128 queries meet 64 keys at a time. The fewer dimensions, the less shared memory.
using NarrowShape = device::AttentionShape<128, 64, 64>;
using WideShape = device::AttentionShape<128, 64, 128>;
static_assert(WideShape::kDim >= kMaxDim);

// [kernel]
/// O and lse of a tile of queries of head blockIdx.x in batch blockIdx.y; blockIdx.z counts the tiles.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq); D is at most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    causal_attention_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<float, 4> O, View<float, 3> lse, float scale) {
  extern __shared__ float4 shared_memory[];
  // TODO 1: which matrices of Q, K and V are this block's?
  // TODO 2: which is its first query, if the tiles with the most keys are to begin first?
  // TODO 3: make a device::ForwardBlock for these queries.
  // TODO 4: beside which key does query i stand? How many keys do all queries of the tile see? How many any?
  // TODO 5: let those tiles of keys pass by that all queries see whole.
  // TODO 6: then the tiles that the diagonal crosses. What is hidden in them, and where do they end?
  // TODO 7: store O and lse.
  const unsigned head = blockIdx.x, batch = blockIdx.y;
  const View<const float, 2> Q_head = device::matrix_of(Q, batch, head),
                             K_head = device::matrix_of(K, batch, head),
                             V_head = device::matrix_of(V, batch, head);

  // The last tiles see the most keys: they begin first, so that no block is left with much to do at the end.
  const std::int64_t first_query = std::int64_t{gridDim.z - 1 - blockIdx.z} * Shape::kBlockM;
  device::ForwardBlock<Shape> block(Q_head, first_query, scale, shared_memory);

  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], offset = Nk - Nq;  // query i stands at key i + offset
  const std::int64_t last_query = min(first_query + Shape::kBlockM, Nq) - 1;
  const std::int64_t seen_by_all = first_query + offset + 1;  // so many keys; 0 or less: none
  const std::int64_t seen_by_any = last_query + offset + 1;

  std::int64_t first_key = 0;
  for (; first_key + Shape::kBlockN <= seen_by_all; first_key += Shape::kBlockN) {
    block.attend(K_head, V_head, first_key);
  }
  for (; first_key < seen_by_any; first_key += Shape::kBlockN) {  // on the diagonal
    block.attend(K_head, V_head, first_key,
                 [=](std::int64_t query, std::int64_t key) { return key > query + offset; });
  }

  block.store(device::matrix_of(O, batch, head), device::row_of(lse, batch, head));
  // [done]
}
// [kernel]

// [launch]
template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale) {
  const std::int64_t tiles = (Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  // Blocks begin in the order of x, then y, then z: those with z = 0, of all heads and batches, come first.
  const dim3 grid(static_cast<unsigned>(Q.shape[1]), static_cast<unsigned>(Q.shape[0]),
                  static_cast<unsigned>(tiles));
  constexpr int kSharedBytes = device::ForwardBlock<Shape>::kSharedBytes;  // more than come unasked
  const auto kernel = causal_attention_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

void causal_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                      View<float, 4> O, View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, O, lse, scale);
  } else {
    launch<WideShape>(Q, K, V, O, lse, scale);
  }
}
// [launch]

}  // namespace course
