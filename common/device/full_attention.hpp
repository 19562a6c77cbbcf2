#pragma once
/// @file
/// Lesson 17, taken apart for the lessons after it: its masks, which say what tiles meet, the arguments of
/// its kernels, and the ways past the tiles.
///
///     attend_keys(block, K_head, V_head, mask, first_query);         // a ForwardBlock or a QueryBlock
///     attend_queries(block, arg, batch, head, first_key);            // a KeyBlock
///     const ForwardArguments arg = forward_arguments(Q, K, ..., max_dim);   // on the host; throws
///     launch(forward_kernel<Shape>, blocks_for(Nq, kAttentionTile), H, B, threads, shared_bytes, arg);

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "device/flash_forward.hpp"
#include "device/reduce.hpp"
#include "tensor/view.hpp"

namespace course::device {

inline constexpr std::int64_t kAttentionTile = 64;  ///< queries, and keys, of a tile; in both passes

/// Rows of Q or of K: begin to end - 1; none if end is not past begin.
struct RowRange {
  std::int64_t begin, end;
};

/// Which keys a query sees, and which tiles have to meet: the three kernels ask nobody else. Query i stands
/// at key i + offset(). The window is at most Nq + Nk, so that no sum overflows; sinks may be as many as they
/// like.
struct AttentionMask {
  bool causal;
  std::int64_t window, sinks, Nq, Nk;

  __device__ std::int64_t offset() const { return Nk - Nq; }

  /// Whether the query does not see the key.
  __device__ bool hides(std::int64_t query, std::int64_t key) const {
    const std::int64_t position = query + offset();
    return (causal && key > position) || (position - key >= window && key >= sinks);
  }

  /// Whether every query of a tile sees every key of a tile. To say no costs time, and nothing else.
  __device__ bool hides_nothing(std::int64_t first_query, std::int64_t first_key) const {
    const std::int64_t first_position = first_query + offset(),
                       last_position = first_position + kAttentionTile - 1;
    const std::int64_t last_key = first_key + kAttentionTile - 1;
    return (!causal || last_key <= first_position) &&
           (last_position - first_key < window || last_key < sinks);
  }

  /// From the tile in which the window of a tile's first query begins to the last key that a query of the
  /// tile sees. Sinks may lie before that.
  __device__ RowRange keys_of(std::int64_t first_query) const {
    RowRange keys{0, Nk};
    const std::int64_t first_position = first_query + offset();
    keys.begin = max(first_position - window + 1, std::int64_t{0}) / kAttentionTile * kAttentionTile;
    if (causal)
      keys.end = min(first_query + kAttentionTile, Nq) + offset();  // past the last query's position
    return keys;
  }

  __device__ std::int64_t first_tile(const RowRange& keys) const { return sinks > 0 ? 0 : keys.begin; }

  /// The tile of keys that comes after one: the next of the sinks, or of keys_of(). None comes twice.
  __device__ std::int64_t next_tile(const RowRange& keys, std::int64_t first_key) const {
    std::int64_t next = first_key + kAttentionTile;
    if (next >= sinks) next = max(next, keys.begin);  // past the sinks; never back
    return next;
  }

  /// From the first to the last tile of queries in which some query sees a key of the tile.
  __device__ RowRange queries_of(std::int64_t first_key) const {
    RowRange queries{0, Nq};
    const std::int64_t last_key = min(first_key + kAttentionTile, Nk) - 1;
    if (causal) queries.begin = max(first_key - offset(), std::int64_t{0}) / kAttentionTile * kAttentionTile;
    if (first_key >= sinks) queries.end = min(last_key + window - offset(), Nq);  // nobody loses a sink
    return queries;
  }
};

/// For the tiles in which something is hidden.
struct Hides {
  AttentionMask mask;
  __device__ bool operator()(std::int64_t query, std::int64_t key) const { return mask.hides(query, key); }
};

/// What the forward kernel takes. Shapes: as lesson 17's contract.
struct ForwardArguments {
  View<const float, 4> Q, K, V;
  const float* sink;
  View<float, 4> O;
  View<float, 3> lse;
  float scale;
  AttentionMask mask;
};

/// What the kernels of dQ, dK and dV take. Shapes: as lesson 17's contract.
struct BackwardArguments {
  View<const float, 4> Q, K, V;
  View<const float, 3> lse;
  View<const float, 4> dO;
  View<const float, 3> delta;
  View<float, 4> dQ, dK, dV;
  float scale;
  AttentionMask mask;
};

/// @brief All tiles of keys in which some query of the block's tile sees a key, each once.
/// Shapes: K, V are (Nk, D). `weights`: as PlainWeights.
template <class Block, class Weights = PlainWeights>  // a ForwardBlock or a QueryBlock
__device__ void attend_keys(Block& block, const View<const float, 2>& K, const View<const float, 2>& V,
                            const AttentionMask& mask, std::int64_t first_query, Weights weights = {}) {
  const RowRange keys = mask.keys_of(first_query);
  for (std::int64_t first_key = mask.first_tile(keys); first_key < keys.end;
       first_key = mask.next_tile(keys, first_key)) {
    if (mask.hides_nothing(first_query, first_key))
      block.attend(K, V, first_key, AllSeen{}, weights);
    else
      block.attend(K, V, first_key, Hides{mask}, weights);
  }
}

/// @brief All tiles of queries of one head of Q in which some query sees a key of the block's tile.
template <class Block, class Weights = PlainWeights>  // a KeyBlock
__device__ void attend_queries(Block& block, const BackwardArguments& arg, std::int64_t batch,
                               std::int64_t head, std::int64_t first_key, Weights weights = {}) {
  const View<const float, 2> Q = matrix_of(arg.Q, batch, head), dO = matrix_of(arg.dO, batch, head);
  const View<const float, 1> lse = row_of(arg.lse, batch, head), delta = row_of(arg.delta, batch, head);
  const RowRange queries = arg.mask.queries_of(first_key);
  for (std::int64_t first_query = queries.begin; first_query < queries.end; first_query += kAttentionTile) {
    if (arg.mask.hides_nothing(first_query, first_key))
      block.attend(Q, dO, lse, delta, first_query, AllSeen{}, weights);
    else
      block.attend(Q, dO, lse, delta, first_query, Hides{arg.mask}, weights);
  }
}

/// @brief dsink of one head: minus the sum of (the sink's weight in a row) · delta over the rows of all
/// batches, by a block of kBlockThreads threads along x; in every thread, and with the same bits every time.
/// warp_sums_smem: as sum_block().
template <int kBlockThreads>
__device__ float sink_gradient(float sink, const View<const float, 3>& lse, const View<const float, 3>& delta,
                               std::int64_t head, float* warp_sums_smem) {
  float sum = 0.0f;
  for (std::int64_t batch = 0; batch < lse.shape[0]; ++batch) {
    for (std::int64_t row = threadIdx.x; row < lse.shape[2]; row += kBlockThreads)
      sum -= weight_of(sink, lse(batch, head, row)) * delta(batch, head, row);
  }
  return sum_block<kBlockThreads>(sum, warp_sums_smem);
}

inline unsigned blocks_for(std::int64_t rows, std::int64_t rows_of_a_block) {
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
inline AttentionMask mask_of(const View<const float, 4>& Q, const View<const float, 4>& K, bool causal,
                             std::int64_t window, std::int64_t sinks) {
  if (window < 1)
    throw std::invalid_argument("window must be at least 1, but it is " + std::to_string(window) + ".");
  if (sinks < 0)
    throw std::invalid_argument("sinks must not be negative, but it is " + std::to_string(sinks) + ".");
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2];
  window = std::min(window, Nq + Nk);  // more changes nothing, but could overflow
  return {causal, window, sinks, Nq, Nk};
}

/// @brief Checks what the forward entry takes, and puts it together.
/// @throws std::invalid_argument as lesson 17's contract.
inline ForwardArguments forward_arguments(const View<const float, 4>& Q, const View<const float, 4>& K,
                                          const View<const float, 4>& V, const float* sink,
                                          const View<float, 4>& O, const View<float, 3>& lse, float scale,
                                          bool causal, std::int64_t window, std::int64_t sinks,
                                          std::int64_t max_dim) {
  require_groups(Q.shape[1], K.shape[1]);
  require_attention_arguments(Q, K, V, O, K.shape[1], max_dim);
  require_shape("lse", lse, {Q.shape[0], Q.shape[1], Q.shape[2]});
  return {Q, K, V, sink, O, lse, scale, mask_of(Q, K, causal, window, sinks)};
}

/// @brief The same for the backward entry.
inline BackwardArguments backward_arguments(const View<const float, 4>& Q, const View<const float, 4>& K,
                                            const View<const float, 4>& V, const View<const float, 4>& O,
                                            const View<const float, 3>& lse, const View<const float, 4>& dO,
                                            const View<float, 3>& delta, const View<float, 4>& dQ,
                                            const View<float, 4>& dK, const View<float, 4>& dV, float scale,
                                            bool causal, std::int64_t window, std::int64_t sinks,
                                            std::int64_t max_dim) {
  require_groups(Q.shape[1], K.shape[1]);
  require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, K.shape[1], max_dim);
  return {Q, K, V, lse, dO, read_only(delta), dQ, dK, dV, scale, mask_of(Q, K, causal, window, sinks)};
}

}  // namespace course::device
