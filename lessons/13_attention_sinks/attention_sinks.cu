// Lesson 13: attention sinks. First the tiles of the sinks, then those of the window, none of them twice.

#include "attention_sinks.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/attention_window.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"

namespace course {

// 128 queries meet 64 keys at a time. The fewer dimensions, the less shared memory.
using NarrowShape = device::AttentionShape<128, 64, 64>;
using WideShape = device::AttentionShape<128, 64, 128>;
static_assert(WideShape::kDim >= kMaxDim);

/// O and lse of a tile of queries of head blockIdx.y in batch blockIdx.z. The window is at most Nk.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), sink is (H) or nullptr, lse is (B, H, Nq); D is at
/// most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    attention_with_sinks_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                const float* sink, View<float, 4> O, View<float, 3> lse, float scale,
                                std::int64_t window, std::int64_t sinks) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * Shape::kBlockM;
  float m = -INFINITY, l = 0.0f;  // what a row begins with
  // TODO 1: what does it begin with if its head has a learned sink? Which sink is this block's?
  device::ForwardBlock<Shape> block(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, scale,
                                    shared_memory, m, l);

  // TODO 2: as in lesson 12: at which keys do these queries stand? In which tile does their window begin?
  // TODO 3: which keys does a query not see? attend() takes it as hidden(query, key).
  // TODO 4: attend to the tiles of the sinks and of the window. Which could come twice, or never?
  block.store(device::matrix_of(O, blockIdx.z, blockIdx.y), device::row_of(lse, blockIdx.z, blockIdx.y));
}

template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, const float* sink,
            View<float, 4> O, View<float, 3> lse, float scale, std::int64_t window, std::int64_t sinks) {
  const std::int64_t tiles = (Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(Q.shape[1]),
                  static_cast<unsigned>(Q.shape[0]));
  constexpr int kSharedBytes =
      device::ForwardBlock<Shape>::kSharedBytes;  // more than the 48 KiB that come unasked
  const auto kernel = attention_with_sinks_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, sink, O, lse, scale, window, sinks);
  CUDA_CHECK(cudaGetLastError());
}

void attention_with_sinks(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          const float* sink, View<float, 4> O, View<float, 3> lse, float scale,
                          std::int64_t window, std::int64_t sinks) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  if (window < 1)
    throw std::invalid_argument("window must be at least 1, but it is " + std::to_string(window) + ".");
  if (sinks < 0)
    throw std::invalid_argument("sinks must not be negative, but it is " + std::to_string(sinks) + ".");
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  window = std::min(window, K.shape[2]);  // more changes nothing, but could overflow
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, sink, O, lse, scale, window, sinks);
  } else {
    launch<WideShape>(Q, K, V, sink, O, lse, scale, window, sinks);
  }
}

}  // namespace course
