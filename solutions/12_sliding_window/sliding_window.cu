// Lesson 12: sliding-window attention. Tiles of keys that no query's window reaches are never loaded.

#include "sliding_window.hpp"

#include <cuda_runtime.h>

// [cut]
#include <algorithm>
// [done]
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

// [kernel]
/// O and lse of a tile of queries of head blockIdx.y in batch blockIdx.z.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq); D is at most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    sliding_window_attention_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                    View<float, 4> O, View<float, 3> lse, float scale, std::int64_t window) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * Shape::kBlockM;
  device::ForwardBlock<Shape> block(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, scale,
                                    shared_memory);

  // TODO 1: which keys does some query of this tile see, and which do all of them see?
  // TODO 2: at which key does the first tile begin, so that no key is missing and no tile is superfluous?
  // TODO 3: let the tiles of keys pass by. Which of them need no mask?
  // TODO 4: which keys of the others are hidden from a query?
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], offset = Nk - Nq;  // query i stands at key i + offset
  const std::int64_t last_query = min(first_query + Shape::kBlockM, Nq) - 1;
  // Some query of the tile sees keys [begin, end), and all of them see keys [all_begin, all_end).
  const std::int64_t begin = max(first_query + offset - window + 1, std::int64_t{0});
  const std::int64_t end = last_query + offset + 1;
  const std::int64_t all_begin = last_query + offset - window + 1;
  const std::int64_t all_end = first_query + offset + 1;

  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, blockIdx.y),
                             V_head = device::matrix_of(V, blockIdx.z, blockIdx.y);
  const std::int64_t first_tile = begin / Shape::kBlockN * Shape::kBlockN;  // the tile that holds key begin
  for (std::int64_t first_key = first_tile; first_key < end; first_key += Shape::kBlockN) {
    if (all_begin <= first_key && first_key + Shape::kBlockN <= all_end) {
      block.attend(K_head, V_head, first_key);
    } else {  // an edge of the window runs through the tile
      block.attend(K_head, V_head, first_key, [=](std::int64_t query, std::int64_t key) {
        const std::int64_t position = query + offset;
        return key > position || key <= position - window;
      });
    }
  }
  // [done]
  block.store(device::matrix_of(O, blockIdx.z, blockIdx.y), device::row_of(lse, blockIdx.z, blockIdx.y));
}
// [kernel]

// [launch]
template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale, std::int64_t window) {
  const std::int64_t tiles = (Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(Q.shape[1]),
                  static_cast<unsigned>(Q.shape[0]));
  constexpr int kSharedBytes = device::ForwardBlock<Shape>::kSharedBytes;
  const auto kernel = sliding_window_attention_kernel<Shape>;
  // More than the 48 KiB that a kernel may have unasked.
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale, window);
  CUDA_CHECK(cudaGetLastError());
}

void sliding_window_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                              View<float, 4> O, View<float, 3> lse, float scale, std::int64_t window) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  if (window < 1)
    throw std::invalid_argument("window must be at least 1, but it is " + std::to_string(window) + ".");
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  // TODO 5: a window may be longer than any sequence, 2^63 - 1. What does that do to your sums?
  window = std::min(window, K.shape[2]);  // a longer one sees no more keys, but sums with it can overflow
  // [done]
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, O, lse, scale, window);
  } else {
    launch<WideShape>(Q, K, V, O, lse, scale, window);
  }
}
// [launch]

}  // namespace course
