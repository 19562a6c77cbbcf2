#pragma once
/// @file
/// FlashAttention-2's backward pass, float32: lesson 15's kernels, taken apart so that the lessons after it
/// can choose which tiles meet, which heads add up, and what is hidden.
///
///     KeyBlock<Shape> block(K, V, first_key, scale, shared_memory);
///     for (each tile of queries) block.attend(Q, dO, lse, delta, first_query);
///     block.store(dK, dV);
///
///     QueryBlock<Shape> block(Q, dO, lse, delta, first_query, scale, shared_memory);
///     for (each tile of keys) block.attend(K, V, first_key);
///     block.store(dQ);
///
/// The lines are those of Dao 2023 (arXiv:2307.08691), Algorithm 2. There one kernel makes all three
/// gradients, and blocks add to dQ in whatever order they come; here dQ has a kernel of its own, which
/// computes P and dS once more, and every sum has its order.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_tile.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// 64 queries meet 64 keys, whichever of them stay: what stays are the tile's rows. A thread has registers
/// for 8 rows of up to 64 dimensions, and for 4 of more.
template <int kDim>
using BackwardShape = AttentionShape<64, 64, kDim, kDim <= 64 ? 8 : 4>;

/// @brief Line 4: delta = rowsum(dO ∘ O) for the rows from first_row on, a row for each warp of the block.
/// Shapes: O, dO are (Nq, D), rows without gaps; delta is (Nq). Rows from Nq on are left out. The warps are
/// along x.
inline __device__ void store_delta(const View<const float, 2>& O, const View<const float, 2>& dO,
                                   const View<float, 1>& delta, std::int64_t first_row) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpSize;
  const std::int64_t row = first_row + thread / kWarpSize;
  const std::int64_t D = row < O.shape[0] ? O.shape[1] : 0;
  float sum = 0.0f;
  for (std::int64_t d = lane; d < D; d += kWarpSize) sum += dO(row, d) * O(row, d);
  sum = sum_warp(sum);
  if (lane == 0 && row < O.shape[0]) delta(row) = sum;
}

/// What a KeyBlock has in shared memory: 87 KB for 64 dimensions, 157 KB for 128. Once S and dP are there, Q
/// and dO are needed once more, with the axes exchanged, and take each other's place.
template <class Shape>
struct KeyBlockTiles {
  typename Shape::KTile K, V;
  union {
    typename Shape::QTile Q;
    typename Shape::VTile dO_transposed;
  };
  union {
    typename Shape::QTile dO;
    typename Shape::VTile Q_transposed;
  };
  typename Shape::PTile P;  ///< transposed; then dS, transposed
};

/// @brief A block's tile of dK and dV, past which the tiles of queries go. All Shape::kThreads threads (along
/// x) call the members together, with the same arguments.
template <class Shape>
class KeyBlock {
 public:
  static constexpr int kSharedBytes = sizeof(KeyBlockTiles<Shape>);

  /// @brief Lines 6 and 7: the tiles of K and V that begin at first_key; dK = dV = 0.
  /// Shapes: K, V are (Nk, D), D at most Shape::kDim. shared_memory: kSharedBytes of it.
  __device__ KeyBlock(const View<const float, 2>& K, const View<const float, 2>& V, std::int64_t first_key,
                      float scale, void* shared_memory)
      : smem_(*static_cast<KeyBlockTiles<Shape>*>(shared_memory)), first_key_(first_key), scale_(scale) {
    load_tile<Shape::kThreads>(K, first_key, 0, smem_.K);
    load_tile<Shape::kThreads>(V, first_key, 0, smem_.V);
  }

  // [attend]
  /// @brief Lines 9 to 16, without dQ, for the tile of queries that begins at first_query.
  /// Shapes: Q, dO are (Nq, D), lse, delta are (Nq). Queries from Nq on are left out.
  /// `hidden(query, key)`: whether that query does not see that key; `weights`: as PlainWeights. Rows of Q
  /// and K, counted from their beginnings.
  template <class Hidden = AllSeen, class Weights = PlainWeights>
  __device__ void attend(const View<const float, 2>& Q, const View<const float, 2>& dO,
                         const View<const float, 1>& lse, const View<const float, 1>& delta,
                         std::int64_t first_query, Hidden hidden = {}, Weights weights = {}) {
    __syncthreads();  // every warp has multiplied with the last Q and dO: they may be overwritten
    load_tile<Shape::kThreads>(Q, first_query, 0, smem_.Q);
    load_tile<Shape::kThreads>(dO, first_query, 0, smem_.dO);
    __syncthreads();  // K, V, Q and dO are complete

    typename Scores::Accumulator P_rmem = {}, dS_rmem = {};  // transposed: a row for each key
    multiply_add<Scores>(smem_.K, smem_.Q, P_rmem);          // line 10: Sᵀ = K·Qᵀ
    multiply_add<Scores>(smem_.V, smem_.dO, dS_rmem);        // line 13: dPᵀ = V·dOᵀ
#pragma unroll
    for (int j = 0; j < Shape::Scores::kThreadCols; ++j) {
      const std::int64_t query = first_query + Scores::col(j);
      const bool there = query < lse.shape[0];
      const float lse_j = there ? lse(query) : -INFINITY;  // a weight of 0
      const float delta_j = there ? delta(query) : 0.0f;
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; i += 4) {  // four neighbouring keys
        const std::int64_t key = first_key_ + Scores::row(i);
        float P[4], dS[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          P[e] = hidden(query, key + e) ? 0.0f : weight_of(P_rmem[i + e][j] * scale_, lse_j);  // line 11
          dS[e] = dS_rmem[i + e][j];
        }
        weights.differentiate(query, key, delta_j, P, dS);  // line 14
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          P_rmem[i + e][j] = P[e];
          dS_rmem[i + e][j] = dS[e];
        }
      }
    }

    __syncthreads();  // every warp has multiplied with Q and dO: each may take the other's place
    load_tile<Shape::kThreads>(transposed(dO), 0, first_query, smem_.dO_transposed);
    load_tile<Shape::kThreads>(transposed(Q), 0, first_query, smem_.Q_transposed);
    put_tile<Scores>(P_rmem, smem_.P);
    __syncthreads();                                               // both are complete, and P
    multiply_add<Output>(smem_.P, smem_.dO_transposed, dV_rmem_);  // line 12: dV += Pᵀ·dO
    __syncwarp();                                                  // a warp reads the rows that it writes
    put_tile<Scores>(dS_rmem, smem_.P);
    __syncwarp();
    multiply_add<Output>(smem_.P, smem_.Q_transposed, dK_rmem_);  // line 16: dK += dSᵀ·Q
  }
  // [attend]

  /// @brief Line 18. Shapes: dK, dV are (Nk, D).
  __device__ void store(const View<float, 2>& dK, const View<float, 2>& dV) {
    for (auto& row : dK_rmem_) {
      for (float& x : row) x *= scale_;
    }
    store_tile<Output>(dK_rmem_, dK, first_key_, 0);
    store_tile<Output>(dV_rmem_, dV, first_key_, 0);
  }

 private:
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;

  KeyBlockTiles<Shape>& smem_;
  const std::int64_t first_key_;
  const float scale_;
  typename Output::Accumulator dK_rmem_ = {}, dV_rmem_ = {};
};

/// What a QueryBlock has in shared memory: 70 KB for 64 dimensions, 139 KB for 128. Once S and dP are there,
/// K is needed once more, with the axes exchanged, and V no longer.
template <class Shape>
struct QueryBlockTiles {
  typename Shape::QTile Q, dO;
  union {
    typename Shape::KTile K;
    typename Shape::VTile K_transposed;
  };
  union {
    typename Shape::KTile V;
    typename Shape::PTile dS;
  };
};

/// @brief A block's tile of dQ, past which the tiles of keys go. All Shape::kThreads threads (along x) call
/// the members together, with the same arguments.
template <class Shape>
class QueryBlock {
 public:
  static constexpr int kSharedBytes = sizeof(QueryBlockTiles<Shape>);

  /// @brief The tiles of Q and dO that begin at first_query, with their lse and delta; dQ = 0.
  /// Shapes: Q, dO are (Nq, D), D at most Shape::kDim; lse, delta are (Nq). shared_memory: kSharedBytes of
  /// it.
  __device__ QueryBlock(const View<const float, 2>& Q, const View<const float, 2>& dO,
                        const View<const float, 1>& lse, const View<const float, 1>& delta,
                        std::int64_t first_query, float scale, void* shared_memory)
      : smem_(*static_cast<QueryBlockTiles<Shape>*>(shared_memory)),
        first_query_(first_query),
        scale_(scale) {
    load_tile<Shape::kThreads>(Q, first_query, 0, smem_.Q);
    load_tile<Shape::kThreads>(dO, first_query, 0, smem_.dO);
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
      const std::int64_t query = first_query + Scores::row(i);
      const bool there = query < lse.shape[0];
      lse_[i] = there ? lse(query) : -INFINITY;  // a weight of 0
      delta_[i] = there ? delta(query) : 0.0f;
    }
  }

  // [attend_keys]
  /// @brief Lines 10, 11 and 13 to 15 for the tile of keys that begins at first_key.
  /// Shapes: K, V are (Nk, D). Keys from Nk on are left out. `hidden`, `weights`: as KeyBlock::attend().
  template <class Hidden = AllSeen, class Weights = PlainWeights>
  __device__ void attend(const View<const float, 2>& K, const View<const float, 2>& V, std::int64_t first_key,
                         Hidden hidden = {}, Weights weights = {}) {
    __syncthreads();  // every warp has multiplied with the last K and dS: they may be overwritten
    load_tile<Shape::kThreads>(K, first_key, 0, smem_.K);
    load_tile<Shape::kThreads>(V, first_key, 0, smem_.V);
    __syncthreads();  // Q, dO, K and V are complete

    typename Scores::Accumulator S_rmem = {}, dS_rmem = {};
    multiply_add<Scores>(smem_.Q, smem_.K, S_rmem);    // line 10: S = Q·Kᵀ
    multiply_add<Scores>(smem_.dO, smem_.V, dS_rmem);  // line 13: dP = dO·Vᵀ
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < Shape::Scores::kThreadCols; j += 4) {  // four neighbouring keys
        const std::int64_t query = first_query_ + Scores::row(i), key = first_key + Scores::col(j);
        float P[4], dS[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const bool seen = key + e < K.shape[0] && !hidden(query, key + e);
          P[e] = seen ? weight_of(S_rmem[i][j + e] * scale_, lse_[i]) : 0.0f;  // line 11
          dS[e] = dS_rmem[i][j + e];
        }
        weights.differentiate(query, key, delta_[i], P, dS);  // line 14
#pragma unroll
        for (int e = 0; e < 4; ++e) dS_rmem[i][j + e] = dS[e];
      }
    }

    __syncthreads();  // every warp has multiplied with K and V: their places are free
    load_tile<Shape::kThreads>(transposed(K), 0, first_key, smem_.K_transposed);
    put_tile<Scores>(dS_rmem, smem_.dS);
    __syncthreads();                                               // both are complete
    multiply_add<Output>(smem_.dS, smem_.K_transposed, dQ_rmem_);  // line 15: dQ += dS·K
  }
  // [attend_keys]

  /// @brief Shapes: dQ is (Nq, D).
  __device__ void store(const View<float, 2>& dQ) {
    for (auto& row : dQ_rmem_) {
      for (float& x : row) x *= scale_;
    }
    store_tile<Output>(dQ_rmem_, dQ, first_query_, 0);
  }

 private:
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;

  QueryBlockTiles<Shape>& smem_;
  const std::int64_t first_query_;
  const float scale_;
  typename Output::Accumulator dQ_rmem_ = {};
  float lse_[Shape::kThreadRows], delta_[Shape::kThreadRows];
};

}  // namespace course::device
