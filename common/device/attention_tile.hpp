#pragma once
/// @file
/// The tiles of an attention kernel, float32: their shapes, and what is done with them beside the products of
/// tile_matmul.hpp.
///
///     using Shape = AttentionShape<128, 64, 64>;           // 128 queries x 64 keys, 64 dimensions
///     typename Shape::Scores::Accumulator S_rmem = {};     // a thread's 8 x 4 elements of S
///     multiply_add<typename Shape::Scores>(Q_smem, K_smem, S_rmem);

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @brief A tile of kBlockM queries, which meets tiles of kBlockN keys; up to kDim dimensions.
/// 16 lanes that are neighbours share kThreadRows rows, of S as well as of O: what belongs to a row (its
/// maximum, its sum) stays within half a warp, and a thread's rows of S are its rows of O. Fewer rows a
/// thread take fewer registers, and more warps for the tile.
template <int kBlockM_, int kBlockN_, int kDim_, int kThreadRows_ = 8>
struct AttentionShape {
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kDim = kDim_;
  static constexpr int kThreadRows = kThreadRows_, kThreadsAcross = 16;
  using Scores = TileShape<kBlockM, kBlockN, kDim, kThreadRows, kBlockN / kThreadsAcross, kThreadsAcross>;
  using Output = TileShape<kBlockM, kDim, kBlockN, kThreadRows, kDim / kThreadsAcross, kThreadsAcross>;
  static constexpr int kThreads = Scores::kThreads;  ///< of the block
  static_assert(Output::kThreads == kThreads);
  /// For __launch_bounds__: where shared memory has room for two blocks, registers should have it, too.
  static constexpr int kBlocksAtOnce = kDim <= 64 ? 2 : 1;

  using QTile = SharedTile<kBlockM, kDim>;
  using KTile = SharedTile<kBlockN, kDim>;
  using VTile = SharedTile<kDim, kBlockN>;  ///< transposed(V): the product P·V sums over keys
  using PTile = SharedTile<kBlockM, kBlockN>;
};

/// @brief The matrix of one head of one batch, without moving anything.
/// Shapes: X is (B, H, rows, cols), the result (rows, cols).
template <class T>
__device__ View<T, 2> matrix_of(const View<T, 4>& X, std::int64_t batch, std::int64_t head) {
  return {X.data + batch * X.strides[0] + head * X.strides[1],
          {X.shape[2], X.shape[3]},
          {X.strides[2], X.strides[3]}};
}

/// @brief The same for what has one number a row. Shapes: x is (B, H, rows), the result (rows).
template <class T>
__device__ View<T, 1> row_of(const View<T, 3>& x, std::int64_t batch, std::int64_t head) {
  return {x.data + batch * x.strides[0] + head * x.strides[1], {x.shape[2]}, {x.strides[2]}};
}

/// The same elements, not to be written.
template <int kRank>
__host__ __device__ View<const float, kRank> read_only(const View<float, kRank>& X) {
  View<const float, kRank> view{X.data, {}, {}};
  for (int axis = 0; axis < kRank; ++axis) {
    view.shape[axis] = X.shape[axis];
    view.strides[axis] = X.strides[axis];
  }
  return view;
}

/// Hides nothing: what `hidden` is without a mask.
struct AllSeen {
  __device__ bool operator()(std::int64_t, std::int64_t) const { return false; }
};

/// P = exp(S - lse): the weight of a score, scaled already. 0 where lse is -inf.
inline __device__ float weight_of(float score, float lse) {
  return lse == -INFINITY ? 0.0f : expf(score - lse);
}

/// dS = P·(dP - delta); 0 where the weight is, whatever dP holds.
inline __device__ float score_gradient(float P, float dP, float delta) {
  return P == 0.0f ? 0.0f : P * (dP - delta);
}

/// Weights as they are: what `weights` is where nothing comes between them and V. In its place may stand any
/// type with these two members. Each is called for a query and four neighbouring keys, the first of which is
/// `key`, a multiple of 4.
struct PlainWeights {
  /// Forward, before line 10 makes P·V: what becomes of P.
  __device__ void keep(std::int64_t /*query*/, std::int64_t /*key*/, float (&/*P*/)[4]) const {}

  /// Backward: with P = exp(S - lse) and dS = dO·Vᵀ at first, P becomes what dV is made of in line 12, and dS
  /// what it is in line 14.
  __device__ void differentiate(std::int64_t /*query*/, std::int64_t /*key*/, float delta, float (&P)[4],
                                float (&dS)[4]) const {
#pragma unroll
    for (int e = 0; e < 4; ++e) dS[e] = score_gradient(P[e], dS[e], delta);
  }
};

/// @brief S = -inf at the scores that are hidden, so that their weight is 0.
/// `hidden(row, col)`: row and column within the tile.
template <class ScoreShape, class Hidden>
__device__ void hide_scores(typename ScoreShape::Accumulator& S_rmem, Hidden hidden) {
#pragma unroll
  for (int i = 0; i < ScoreShape::kThreadRows; ++i) {
#pragma unroll
    for (int j = 0; j < ScoreShape::kThreadCols; ++j)
      if (hidden(ScoreShape::row(i), ScoreShape::col(j))) S_rmem[i][j] = -INFINITY;
  }
}

/// @brief The largest score of the thread's row number i, over the whole tile: 16 lanes find it together.
/// Ignores NaN, as max_warp() does.
template <class ScoreShape>
__device__ float max_of_row(const typename ScoreShape::Accumulator& S_rmem, int i) {
  float max = -INFINITY;
#pragma unroll
  for (int j = 0; j < ScoreShape::kThreadCols; ++j) max = fmaxf(max, S_rmem[i][j]);
  return max_warp<ScoreShape::kThreadsAcross>(max);
}

/// @brief P_smem = the tile of which each thread holds a part, as A of the next product needs it.
/// Barriers: none. Half a warp writes the rows that it alone reads in multiply_add(), so that __syncwarp() is
///           enough before it; before the call, all threads must have finished with what lay there.
template <class ScoreShape>
__device__ void put_tile(const typename ScoreShape::Accumulator& P_rmem,
                         SharedTile<ScoreShape::kRows, ScoreShape::kCols>& P_smem) {
#pragma unroll
  for (int i = 0; i < ScoreShape::kThreadRows; i += 4) {
#pragma unroll
    for (int j = 0; j < ScoreShape::kThreadCols; ++j)
      *reinterpret_cast<float4*>(&P_smem.at[ScoreShape::col(j)][ScoreShape::row(i)]) =
          make_float4(P_rmem[i][j], P_rmem[i + 1][j], P_rmem[i + 2][j], P_rmem[i + 3][j]);
  }
}

/// @brief tile_smem = kRows rows that lie anywhere: `row_begin(row)` is where the D numbers of a row begin,
/// or nullptr for a row of zeros. Otherwise as load_tile(): the same lanes read the same elements.
template <int kThreads, int kRows, int kDim, class RowBegin>
__device__ void load_rows(RowBegin row_begin, std::int64_t D, SharedTile<kRows, kDim>& tile_smem) {
  static_assert(kThreads % 8 == 0);
  for (int row = static_cast<int>(threadIdx.x) / 8; row < kRows; row += kThreads / 8) {
    const float* from = row_begin(row);
#pragma unroll
    for (int step = 0; step < kDim; step += 8) {  // 8 lanes read a sector of a row together
      const int d = step + static_cast<int>(threadIdx.x) % 8;
      tile_smem.at[d][row] = from != nullptr && d < D ? from[d] : 0.0f;
    }
  }
}

/// @brief Row `row` of the tile goes to `row_begin(row)`, D numbers of it; nowhere if that is nullptr.
template <class Shape, class RowBegin>
__device__ void store_rows(const typename Shape::Accumulator& acc, RowBegin row_begin, std::int64_t D) {
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    float* to = row_begin(Shape::row(i));
    if (to == nullptr) continue;
    const bool in_fours = reinterpret_cast<std::uintptr_t>(to) % sizeof(float4) == 0;
#pragma unroll
    for (int j = 0; j < Shape::kThreadCols; j += 4) {
      const int col = Shape::col(j);
      write_four(&acc[i][j], to + col, 1, D - col, in_fours);
    }
  }
}

}  // namespace course::device
