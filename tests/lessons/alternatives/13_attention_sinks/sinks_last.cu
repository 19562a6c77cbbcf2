// Alternative for lesson 13: tiles of 64 queries, all blocks along x; the tiles of the window come from the
// last to the first, then those of the sinks that are not the window's; every tile is masked, in two
// different ways.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "attention_sinks.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"

namespace course {

using Shape = device::AttentionShape<64, 64, 128>;

__global__ void __launch_bounds__(Shape::kThreads)
    sinks_last_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                      const float* sink, View<float, 4> O, View<float, 3> lse, float scale,
                      std::int64_t window, std::int64_t sinks) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t H = Q.shape[1], Nq = Q.shape[2], tiles = (Nq + Shape::kBlockM - 1) / Shape::kBlockM;
  const std::int64_t batch = blockIdx.x / tiles / H, head = blockIdx.x / tiles % H;
  const std::int64_t first = blockIdx.x % tiles * Shape::kBlockM, offset = K.shape[2] - Nq;
  const View<const float, 2> K_head = device::matrix_of(K, batch, head),
                             V_head = device::matrix_of(V, batch, head);
  const float m = sink == nullptr ? -INFINITY : sink[head];
  device::ForwardBlock<Shape> block(device::matrix_of(Q, batch, head), first, scale, shared_memory, m,
                                    m == -INFINITY ? 0.0f : 1.0f);

  const std::int64_t last_position = min(first + Shape::kBlockM, Nq) - 1 + offset;
  const std::int64_t window_tile = max(first + offset - window + 1, std::int64_t{0}) / Shape::kBlockN;
  for (std::int64_t tile = last_position < 0 ? -1 : last_position / Shape::kBlockN; tile >= window_tile;
       --tile)
    block.attend(K_head, V_head, tile * Shape::kBlockN, [=](std::int64_t i, std::int64_t j) {
      return j > i + offset || !(i + offset - j < window || j < sinks);
    });
  for (std::int64_t tile = 0; tile < window_tile && tile * Shape::kBlockN < sinks; ++tile)
    block.attend(K_head, V_head, tile * Shape::kBlockN,
                 [=](std::int64_t, std::int64_t j) { return j >= sinks; });  // these lie before every window
  block.store(device::matrix_of(O, batch, head), device::row_of(lse, batch, head));
}

void attention_with_sinks(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          const float* sink, View<float, 4> O, View<float, 3> lse, float scale,
                          std::int64_t window, std::int64_t sinks) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (window < 1)
    throw std::invalid_argument("window is " + std::to_string(window) + "; it must be positive.");
  if (sinks < 0) throw std::invalid_argument("sinks is " + std::to_string(sinks) + "; it must not be.");
  const std::int64_t blocks = B * H * ((Nq + Shape::kBlockM - 1) / Shape::kBlockM);
  if (blocks == 0) return;
  constexpr int kSharedBytes = device::ForwardBlock<Shape>::kSharedBytes;
  CUDA_CHECK(
      cudaFuncSetAttribute(sinks_last_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  sinks_last_kernel<<<static_cast<unsigned>(blocks), Shape::kThreads, kSharedBytes>>>(
      Q, K, V, sink, O, lse, scale, std::min(window, K.shape[2] + 1), sinks);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
