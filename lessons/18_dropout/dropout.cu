// Lesson 18: lesson 17 with dropout. Three kernels ask Dropout which weights are dropped, each in its own
// order, and get the same answers.

#include "dropout.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "device/flash_forward.hpp"
#include "device/full_attention.hpp"
#include "device/philox.hpp"
#include "device/reduce.hpp"

namespace course {

// 64 queries meet 64 keys, in both passes. The fewer dimensions, the less shared memory.
using NarrowShape = device::BackwardShape<64>;
using WideShape = device::BackwardShape<128>;
static_assert(WideShape::kDim >= kMaxDim);
constexpr std::int64_t kTile = device::kAttentionTile;
static_assert(NarrowShape::kBlockM == kTile);

/// What becomes of the weights of a head: the `weights` that the blocks of device:: ask, as PlainWeights
/// says. Nothing is stored: what needs Z computes it again.
struct Dropout {
  std::uint32_t threshold;  ///< a weight is dropped if its word is less; 0: none is
  float factor;             ///< what those that are kept are multiplied by
  std::uint64_t seed;
  std::uint32_t head = 0, batch = 0;  ///< of Q

  /// Z for the weights that the query gives to the keys key, key + 1, key + 2 and key + 3.
  __device__ void factors(std::int64_t query, std::int64_t key, float (&Z)[4]) const {
    for (float& z : Z) z = factor;
    if (threshold == 0) return;
    // TODO 1: which counter do these four weights share? Which of its words decides about which?
  }

  /// Forward, line 10: P = exp(S - m) becomes what V is multiplied with. l has taken in P already.
  __device__ void keep(std::int64_t query, std::int64_t key, float (&P)[4]) const {
    // TODO 2: which weights does V meet?
  }

  /// Backward, lines 12 to 14: from P = exp(S - lse) and dA = dO·Vᵀ to dS, in place of dA, and to what V was
  /// multiplied with, in place of P.
  __device__ void differentiate(std::int64_t query, std::int64_t key, float delta, float (&P)[4],
                                float (&dA)[4]) const {
    // TODO 3: dP is what the softmax is to pass on: what has become of dA on the way? Then dS.
    // TODO 4: and which weights are in dV?
  }
};

/// O and lse of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    forward_kernel(device::ForwardArguments arg, Dropout dropout) {
  const auto& [Q, K, V, sink, O, lse, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kTile;
  const float m = sink == nullptr ? -INFINITY : sink[blockIdx.y], l = sink == nullptr ? 0.0f : 1.0f;
  device::ForwardBlock<Shape> block(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, scale,
                                    shared_memory, m, l);

  const std::int64_t head_kv = blockIdx.y / (Q.shape[1] / K.shape[1]);
  // TODO 5: tell dropout whose weights these are.
  device::attend_keys(block, device::matrix_of(K, blockIdx.z, head_kv),
                      device::matrix_of(V, blockIdx.z, head_kv), mask, first_query, dropout);
  block.store(device::matrix_of(O, blockIdx.z, blockIdx.y), device::row_of(lse, blockIdx.z, blockIdx.y));
}

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    keys_kernel(device::BackwardArguments arg, Dropout dropout) {
  const auto& [Q, K, V, lse, dO, delta, dQ, dK, dV, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_key = std::int64_t{blockIdx.x} * kTile;
  device::KeyBlock<Shape> block(device::matrix_of(K, blockIdx.z, blockIdx.y),
                                device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, scale,
                                shared_memory);

  const std::int64_t group = Q.shape[1] / K.shape[1];
  for (std::int64_t head = blockIdx.y * group; head < (blockIdx.y + 1) * group; ++head) {
    // TODO 6: and whose are these? The block stands for a head of K.
    device::attend_queries(block, arg, blockIdx.z, head, first_key, dropout);
  }
  block.store(device::matrix_of(dK, blockIdx.z, blockIdx.y), device::matrix_of(dV, blockIdx.z, blockIdx.y));
}

/// dQ of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    queries_kernel(device::BackwardArguments arg, Dropout dropout) {
  const auto& [Q, K, V, lse, dO, delta, dQ, dK, dV, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kTile;
  device::QueryBlock<Shape> block(
      device::matrix_of(Q, blockIdx.z, blockIdx.y), device::matrix_of(dO, blockIdx.z, blockIdx.y),
      device::row_of(lse, blockIdx.z, blockIdx.y), device::row_of(delta, blockIdx.z, blockIdx.y), first_query,
      scale, shared_memory);

  const std::int64_t head_kv = blockIdx.y / (Q.shape[1] / K.shape[1]);
  // TODO 7: once more: do all kernels agree on the same weight?
  device::attend_keys(block, device::matrix_of(K, blockIdx.z, head_kv),
                      device::matrix_of(V, blockIdx.z, head_kv), mask, first_query, dropout);
  block.store(device::matrix_of(dQ, blockIdx.z, blockIdx.y));
}

// delta and dsink are lesson 17's: neither knows of dropout.
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

/// @throws std::invalid_argument unless dropout is at least 0 and less than 1.
Dropout dropout_of(float dropout, std::uint64_t seed) {
  if (!(dropout >= 0.0f && dropout < 1.0f))  // so that NaN is refused, too
    throw std::invalid_argument("dropout must be at least 0 and less than 1, but it is " +
                                std::to_string(dropout) + ".");
  Dropout decision{0, 1.0f, seed};
  // TODO 8: how many of the 2³² words drop a weight? What makes up for it?
  return decision;
}

template <class Shape>
void launch_forward(const device::ForwardArguments& arg, const Dropout& dropout) {
  device::launch(forward_kernel<Shape>, device::blocks_for(arg.mask.Nq, kTile), arg.Q.shape[1],
                 arg.Q.shape[0], Shape::kThreads, device::ForwardBlock<Shape>::kSharedBytes, arg, dropout);
}

template <class Shape>
void launch_backward(const device::BackwardArguments& arg, const Dropout& dropout) {
  if (arg.mask.Nk > 0)
    device::launch(keys_kernel<Shape>, device::blocks_for(arg.mask.Nk, kTile), arg.K.shape[1], arg.K.shape[0],
                   Shape::kThreads, device::KeyBlock<Shape>::kSharedBytes, arg, dropout);
  if (arg.mask.Nq > 0)
    device::launch(queries_kernel<Shape>, device::blocks_for(arg.mask.Nq, kTile), arg.Q.shape[1],
                   arg.Q.shape[0], Shape::kThreads, device::QueryBlock<Shape>::kSharedBytes, arg, dropout);
}

void attention_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                       const float* sink, View<float, 4> O, View<float, 3> lse, float scale, bool causal,
                       std::int64_t window, std::int64_t sinks, float dropout, std::uint64_t seed) {
  const device::ForwardArguments arg =
      device::forward_arguments(Q, K, V, sink, O, lse, scale, causal, window, sinks, kMaxDim);
  const Dropout decision = dropout_of(dropout, seed);
  if (Q.shape[0] == 0 || Q.shape[1] == 0 || Q.shape[2] == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch_forward<NarrowShape>(arg, decision);
  } else {
    launch_forward<WideShape>(arg, decision);
  }
}

void attention_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                        const float* sink, View<const float, 4> O, View<const float, 3> lse,
                        View<const float, 4> dO, View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
                        View<float, 4> dV, float* dsink, float scale, bool causal, std::int64_t window,
                        std::int64_t sinks, float dropout, std::uint64_t seed) {
  const device::BackwardArguments arg = device::backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV,
                                                                   scale, causal, window, sinks, kMaxDim);
  const Dropout decision = dropout_of(dropout, seed);
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  if (H == 0) return;
  if (B > 0 && Nq > 0) {
    const dim3 grid(device::blocks_for(Nq, kDeltaRows), static_cast<unsigned>(H), static_cast<unsigned>(B));
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  if (B > 0 && Q.shape[3] <= NarrowShape::kDim) {
    launch_backward<NarrowShape>(arg, decision);
  } else if (B > 0) {
    launch_backward<WideShape>(arg, decision);
  }
  if (sink != nullptr) {
    sink_kernel<<<static_cast<unsigned>(H), kSinkThreads>>>(sink, lse, arg.delta, dsink);
    CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace course
