// Alternative for lesson 17: its masks, and its ways past the tiles, as the course gives them to later
// lessons. So the tests hold device/full_attention.hpp against what lesson 17 asks for.

#include "full_backward.hpp"

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "device/flash_forward.hpp"
#include "device/full_attention.hpp"
#include "device/reduce.hpp"

namespace course {

// 64 queries meet 64 keys, in both passes. The fewer dimensions, the less shared memory.
using NarrowShape = device::BackwardShape<64>;
using WideShape = device::BackwardShape<128>;
static_assert(WideShape::kDim >= kMaxDim);
constexpr std::int64_t kTile = device::kAttentionTile;
static_assert(NarrowShape::kBlockM == kTile);

/// O and lse of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    forward_kernel(device::ForwardArguments arg) {
  const auto& [Q, K, V, sink, O, lse, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kTile;
  const float m = sink == nullptr ? -INFINITY : sink[blockIdx.y], l = sink == nullptr ? 0.0f : 1.0f;
  device::ForwardBlock<Shape> block(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, scale,
                                    shared_memory, m, l);

  const std::int64_t head_kv = blockIdx.y / (Q.shape[1] / K.shape[1]);
  device::attend_keys(block, device::matrix_of(K, blockIdx.z, head_kv),
                      device::matrix_of(V, blockIdx.z, head_kv), mask, first_query);
  block.store(device::matrix_of(O, blockIdx.z, blockIdx.y), device::row_of(lse, blockIdx.z, blockIdx.y));
}

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    keys_kernel(device::BackwardArguments arg) {
  const auto& [Q, K, V, lse, dO, delta, dQ, dK, dV, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_key = std::int64_t{blockIdx.x} * kTile;
  device::KeyBlock<Shape> block(device::matrix_of(K, blockIdx.z, blockIdx.y),
                                device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, scale,
                                shared_memory);

  const std::int64_t group = Q.shape[1] / K.shape[1];
  for (std::int64_t head = blockIdx.y * group; head < (blockIdx.y + 1) * group; ++head) {
    device::attend_queries(block, arg, blockIdx.z, head, first_key);
  }
  block.store(device::matrix_of(dK, blockIdx.z, blockIdx.y), device::matrix_of(dV, blockIdx.z, blockIdx.y));
}

/// dQ of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    queries_kernel(device::BackwardArguments arg) {
  const auto& [Q, K, V, lse, dO, delta, dQ, dK, dV, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kTile;
  device::QueryBlock<Shape> block(
      device::matrix_of(Q, blockIdx.z, blockIdx.y), device::matrix_of(dO, blockIdx.z, blockIdx.y),
      device::row_of(lse, blockIdx.z, blockIdx.y), device::row_of(delta, blockIdx.z, blockIdx.y), first_query,
      scale, shared_memory);

  const std::int64_t head_kv = blockIdx.y / (Q.shape[1] / K.shape[1]);
  device::attend_keys(block, device::matrix_of(K, blockIdx.z, head_kv),
                      device::matrix_of(V, blockIdx.z, head_kv), mask, first_query);
  block.store(device::matrix_of(dQ, blockIdx.z, blockIdx.y));
}

constexpr int kDeltaThreads = 128, kDeltaRows = kDeltaThreads / device::kWarpSize;  // a warp for each row
constexpr int kSinkThreads = 256;

/// delta of kDeltaRows queries of head blockIdx.y in batch blockIdx.z.
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  device::store_delta(device::matrix_of(O, blockIdx.z, blockIdx.y),
                      device::matrix_of(dO, blockIdx.z, blockIdx.y),
                      device::row_of(delta, blockIdx.z, blockIdx.y), std::int64_t{blockIdx.x} * kDeltaRows);
}

/// dsink of head blockIdx.x.
__global__ void __launch_bounds__(kSinkThreads)
    sink_kernel(const float* sink, View<const float, 3> lse, View<const float, 3> delta, float* dsink) {
  __shared__ float warp_sums_smem[kSinkThreads / device::kWarpSize];
  const float sum =
      device::sink_gradient<kSinkThreads>(sink[blockIdx.x], lse, delta, blockIdx.x, warp_sums_smem);
  if (threadIdx.x == 0) dsink[blockIdx.x] = sum;
}

template <class Shape>
void launch_forward(const device::ForwardArguments& arg) {
  device::launch(forward_kernel<Shape>, device::blocks_for(arg.mask.Nq, kTile), arg.Q.shape[1],
                 arg.Q.shape[0], Shape::kThreads, device::ForwardBlock<Shape>::kSharedBytes, arg);
}

template <class Shape>
void launch_backward(const device::BackwardArguments& arg) {
  if (arg.mask.Nk > 0)
    device::launch(keys_kernel<Shape>, device::blocks_for(arg.mask.Nk, kTile), arg.K.shape[1], arg.K.shape[0],
                   Shape::kThreads, device::KeyBlock<Shape>::kSharedBytes, arg);
  if (arg.mask.Nq > 0)
    device::launch(queries_kernel<Shape>, device::blocks_for(arg.mask.Nq, kTile), arg.Q.shape[1],
                   arg.Q.shape[0], Shape::kThreads, device::QueryBlock<Shape>::kSharedBytes, arg);
}

void attention_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                       const float* sink, View<float, 4> O, View<float, 3> lse, float scale, bool causal,
                       std::int64_t window, std::int64_t sinks) {
  const device::ForwardArguments arg =
      device::forward_arguments(Q, K, V, sink, O, lse, scale, causal, window, sinks, kMaxDim);
  if (Q.shape[0] == 0 || Q.shape[1] == 0 || Q.shape[2] == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch_forward<NarrowShape>(arg);
  } else {
    launch_forward<WideShape>(arg);
  }
}

void attention_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                        const float* sink, View<const float, 4> O, View<const float, 3> lse,
                        View<const float, 4> dO, View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
                        View<float, 4> dV, float* dsink, float scale, bool causal, std::int64_t window,
                        std::int64_t sinks) {
  const device::BackwardArguments arg = device::backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV,
                                                                   scale, causal, window, sinks, kMaxDim);
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  if (H == 0) return;
  if (B > 0 && Nq > 0) {
    const dim3 grid(device::blocks_for(Nq, kDeltaRows), static_cast<unsigned>(H), static_cast<unsigned>(B));
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  if (B > 0 && Q.shape[3] <= NarrowShape::kDim) {
    launch_backward<NarrowShape>(arg);
  } else if (B > 0) {
    launch_backward<WideShape>(arg);
  }
  if (sink != nullptr) {
    sink_kernel<<<static_cast<unsigned>(H), kSinkThreads>>>(sink, lse, arg.delta, dsink);
    CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace course
