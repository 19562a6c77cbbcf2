// Lesson 17: all masks of the course in one pair of passes. Mask says which tiles meet; the rest is lessons
// 09 and 16.

#include "full_backward.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "device/flash_forward.hpp"
#include "device/reduce.hpp"

namespace course {

// 64 queries meet 64 keys, in both passes. The fewer dimensions, the less shared memory.
using NarrowShape = device::BackwardShape<64>;
using WideShape = device::BackwardShape<128>;
static_assert(WideShape::kDim >= kMaxDim);
constexpr std::int64_t kTile = NarrowShape::kBlockM;

/// Rows of Q or of K: begin to end - 1; none if end is not past begin.
struct Range {
  std::int64_t begin, end;
};

/// Which keys a query sees, and which tiles have to meet: the three kernels ask nobody else. Query i stands
/// at key i + offset(). The window is at most Nq + Nk, so that no sum overflows; sinks may be as many as they
/// like.
struct Mask {
  bool causal;
  std::int64_t window, sinks, Nq, Nk;

  __device__ std::int64_t offset() const { return Nk - Nq; }

  /// Whether the query does not see the key.
  __device__ bool hides(std::int64_t query, std::int64_t key) const {
    // TODO 1: where does the query stand? Two things can hide a key from it; what do sinks change?
    return false;
  }

  /// Whether every query of a tile sees every key of a tile. To say no costs time, and nothing else.
  __device__ bool hides_nothing(std::int64_t first_query, std::int64_t first_key) const {
    // TODO 2: which query and which key of the tiles are the first to be parted, ahead and in the window?
    return false;
  }

  /// From the tile in which the window of a tile's first query begins to the last key that a query of the
  /// tile sees. Sinks may lie before that.
  __device__ Range keys_of(std::int64_t first_query) const {
    Range keys{0, Nk};
    // TODO 3: so all tiles pass by. Which keys does no query of this tile see? Leave the sinks to TODO 4.
    return keys;
  }

  __device__ std::int64_t first_tile(const Range& keys) const { return sinks > 0 ? 0 : keys.begin; }

  /// The tile of keys that comes after one: the next of the sinks, or of keys_of(). None comes twice.
  __device__ std::int64_t next_tile(const Range& keys, std::int64_t first_key) const {
    std::int64_t next = first_key + kTile;
    // TODO 4: that is the neighbour. When does the way lead farther on, and where to?
    return next;
  }

  /// From the first to the last tile of queries in which some query sees a key of the tile.
  __device__ Range queries_of(std::int64_t first_key) const {
    Range queries{0, Nq};
    // TODO 5: which queries stand too early to see a key of this tile, and which too late? And a sink?
    return queries;
  }
};

/// For the tiles in which something is hidden.
struct Hides {
  Mask mask;
  __device__ bool operator()(std::int64_t query, std::int64_t key) const { return mask.hides(query, key); }
};

/// What the entries hand down to their kernels.
struct ForwardArguments {
  View<const float, 4> Q, K, V;
  const float* sink;
  View<float, 4> O;
  View<float, 3> lse;
  float scale;
  Mask mask;
};

struct BackwardArguments {
  View<const float, 4> Q, K, V;
  View<const float, 3> lse;
  View<const float, 4> dO;
  View<const float, 3> delta;
  View<float, 4> dQ, dK, dV;
  float scale;
  Mask mask;
};

/// O and lse of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    forward_kernel(ForwardArguments arg) {
  const auto& [Q, K, V, sink, O, lse, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kTile;
  float m = -INFINITY, l = 0.0f;  // what a row begins with
  // TODO 6: and with a learned sink?
  device::ForwardBlock<Shape> block(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, scale,
                                    shared_memory, m, l);

  // TODO 7: attend to the tiles of keys. Which head of K and V is this head's? Mask knows the tiles.
  block.store(device::matrix_of(O, blockIdx.z, blockIdx.y), device::row_of(lse, blockIdx.z, blockIdx.y));
}

constexpr int kDeltaThreads = 128, kDeltaRows = kDeltaThreads / device::kWarpSize;  // a warp for each row

/// delta of kDeltaRows queries of head blockIdx.y in batch blockIdx.z.
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  device::store_delta(device::matrix_of(O, blockIdx.z, blockIdx.y),
                      device::matrix_of(dO, blockIdx.z, blockIdx.y),
                      device::row_of(delta, blockIdx.z, blockIdx.y), std::int64_t{blockIdx.x} * kDeltaRows);
}

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce) keys_kernel(BackwardArguments arg) {
  const auto& [Q, K, V, lse, dO, delta, dQ, dK, dV, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_key = std::int64_t{blockIdx.x} * kTile;
  device::KeyBlock<Shape> block(device::matrix_of(K, blockIdx.z, blockIdx.y),
                                device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, scale,
                                shared_memory);

  // TODO 8: attend to the tiles of queries, of every head of Q that reads these keys.
  block.store(device::matrix_of(dK, blockIdx.z, blockIdx.y), device::matrix_of(dV, blockIdx.z, blockIdx.y));
}

/// dQ of a tile of queries: tile blockIdx.x of head blockIdx.y of Q in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    queries_kernel(BackwardArguments arg) {
  const auto& [Q, K, V, lse, dO, delta, dQ, dK, dV, scale, mask] = arg;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kTile;
  device::QueryBlock<Shape> block(
      device::matrix_of(Q, blockIdx.z, blockIdx.y), device::matrix_of(dO, blockIdx.z, blockIdx.y),
      device::row_of(lse, blockIdx.z, blockIdx.y), device::row_of(delta, blockIdx.z, blockIdx.y), first_query,
      scale, shared_memory);

  // TODO 9: the tiles of keys again, as in the forward pass.
  block.store(device::matrix_of(dQ, blockIdx.z, blockIdx.y));
}

constexpr int kSinkThreads = 256;

/// dsink of head blockIdx.x: a sum over the rows of all batches, in an order that only their number decides.
__global__ void __launch_bounds__(kSinkThreads)
    sink_kernel(const float* sink, View<const float, 3> lse, View<const float, 3> delta, float* dsink) {
  __shared__ float warp_sums_smem[kSinkThreads / device::kWarpSize];
  float sum = 0.0f;
  // TODO 10: the thread's part of the sum. Which rows does it take, and what weighs the sink in a row?
  sum = device::sum_block<kSinkThreads>(sum, warp_sums_smem);
  if (threadIdx.x == 0) dsink[blockIdx.x] = sum;
}

unsigned blocks_for(std::int64_t rows, std::int64_t rows_of_a_block) {
  return static_cast<unsigned>((rows + rows_of_a_block - 1) / rows_of_a_block);
}

/// Launches a kernel that takes more than the 48 KiB of shared memory that come unasked.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), std::int64_t tiles, std::int64_t heads, std::int64_t batches,
            int threads, int shared_bytes, Arguments... arguments) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(heads), static_cast<unsigned>(batches));
  kernel<<<grid, threads, shared_bytes>>>(arguments...);
  CUDA_CHECK(cudaGetLastError());
}

/// @throws std::invalid_argument unless window is at least 1 and sinks at least 0.
Mask mask_of(const View<const float, 4>& Q, const View<const float, 4>& K, bool causal, std::int64_t window,
             std::int64_t sinks) {
  if (window < 1)
    throw std::invalid_argument("window must be at least 1, but it is " + std::to_string(window) + ".");
  if (sinks < 0)
    throw std::invalid_argument("sinks must not be negative, but it is " + std::to_string(sinks) + ".");
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2];
  window = std::min(window, Nq + Nk);  // more changes nothing, but could overflow
  return {causal, window, sinks, Nq, Nk};
}

template <class Shape>
void launch_forward(const ForwardArguments& arg) {
  launch(forward_kernel<Shape>, blocks_for(arg.mask.Nq, kTile), arg.Q.shape[1], arg.Q.shape[0],
         Shape::kThreads, device::ForwardBlock<Shape>::kSharedBytes, arg);
}

template <class Shape>
void launch_backward(const BackwardArguments& arg) {
  if (arg.mask.Nk > 0)
    launch(keys_kernel<Shape>, blocks_for(arg.mask.Nk, kTile), arg.K.shape[1], arg.K.shape[0],
           Shape::kThreads, device::KeyBlock<Shape>::kSharedBytes, arg);
  if (arg.mask.Nq > 0)
    launch(queries_kernel<Shape>, blocks_for(arg.mask.Nq, kTile), arg.Q.shape[1], arg.Q.shape[0],
           Shape::kThreads, device::QueryBlock<Shape>::kSharedBytes, arg);
}

void attention_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                       const float* sink, View<float, 4> O, View<float, 3> lse, float scale, bool causal,
                       std::int64_t window, std::int64_t sinks) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  device::require_groups(H, H_kv);
  device::require_attention_arguments(Q, K, V, O, H_kv, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  const ForwardArguments arg{Q, K, V, sink, O, lse, scale, mask_of(Q, K, causal, window, sinks)};
  if (B == 0 || H == 0 || Nq == 0) return;
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
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  device::require_groups(H, H_kv);
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, H_kv, kMaxDim);
  const View<const float, 3> delta_read = device::read_only(delta);
  const BackwardArguments arg{
      Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, mask_of(Q, K, causal, window, sinks)};
  if (H == 0) return;
  if (B > 0 && Nq > 0) {
    const dim3 grid(blocks_for(Nq, kDeltaRows), static_cast<unsigned>(H), static_cast<unsigned>(B));
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  if (B > 0 && Q.shape[3] <= NarrowShape::kDim) {
    launch_backward<NarrowShape>(arg);
  } else if (B > 0) {
    launch_backward<WideShape>(arg);
  }
  if (sink != nullptr) {
    sink_kernel<<<static_cast<unsigned>(H), kSinkThreads>>>(sink, lse, delta_read, dsink);
    CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace course
