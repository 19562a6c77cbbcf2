#pragma once
/// @file
/// Products of tiles, float32: what a block needs to compute a tile of A·B out of matrices in global memory,
/// or out of tiles that it holds in shared memory already. Lesson 06 explains how it comes about.
///
///     using Shape = TileShape<128, 128, 16, 8, 8>;              // 256 threads, 8 x 8 elements each
///     Shape::Accumulator acc = {};
///     matmul_tile<Shape>(A, B, first_row, first_col, acc);      // acc += this block's tile of A·B
///     store_tile<Shape>(acc, C, first_row, first_col);
///
/// An attention kernel works one layer lower: load_tile() brings Q, K and V into shared memory,
/// multiply_add() makes S = Q·Kᵀ and O += P·V of them.

#include <cuda_runtime.h>

#include <cstdint>

#include "device/views.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @brief A (kLength, kDepth) piece of a matrix in shared memory; `depth` is the axis that a product sums
/// over. Element (i, k) is at[k][i]: the elements that one step of a product needs lie side by side, ready to
/// be read four at a time. The 4 floats that are left over turn each step by 4 banks, so that 8 steps of 4
/// elements, too, lie in 32 different banks.
template <int kLength, int kDepth>
struct alignas(16) SharedTile {
  static_assert(kLength % 32 == 0 && kDepth % 8 == 0);
  float at[kDepth][kLength + 4];
};

/// @brief The tile of C that a block computes, and which of its elements each thread holds.
/// kRows x kCols elements, in steps of kDepth; kThreadRows x kThreadCols elements a thread, in groups of 4 x
/// 4, which lie kRows / (kThreadRows / 4) rows and kCols / (kThreadCols / 4) columns apart. The 32 threads of
/// a warp hold 32 neighbours in each such part: kLaneCols of them side by side, 32 / kLaneCols below each
/// other. The more a warp's piece is like a square, the fewer different numbers it reads. With kLaneCols ==
/// kThreadsAcross it holds whole rows of the tile, and shuffles can find a row's maximum.
template <int kRows_, int kCols_, int kDepth_, int kThreadRows_, int kThreadCols_, int kLaneCols = 8>
struct TileShape {
  static constexpr int kRows = kRows_, kCols = kCols_, kDepth = kDepth_;
  static constexpr int kThreadRows = kThreadRows_, kThreadCols = kThreadCols_;
  static constexpr int kThreadsDown = kRows / kThreadRows, kThreadsAcross = kCols / kThreadCols;
  static constexpr int kThreads = kThreadsDown * kThreadsAcross;  ///< of the block
  static_assert(kThreadRows % 4 == 0 && kThreadCols % 4 == 0, "a thread reads four numbers at a time");
  static_assert(kRows % kThreadRows == 0 && kCols % kThreadCols == 0, "threads share the tile evenly");
  static_assert(32 % kLaneCols == 0 && kThreadsAcross % kLaneCols == 0 &&
                    kThreadsDown % (32 / kLaneCols) == 0,
                "warps share the tile evenly");

  using Accumulator = float[kThreadRows][kThreadCols];  ///< a thread's elements, in registers
  using ATile = SharedTile<kRows, kDepth>;
  using BTile = SharedTile<kCols, kDepth>;

  /// The row of the tile that holds the thread's acc[i][...].
  __device__ static int row(int i) { return i / 4 * (4 * kThreadsDown) + 4 * thread_down() + i % 4; }
  /// The column of the tile that holds the thread's acc[...][j].
  __device__ static int col(int j) { return j / 4 * (4 * kThreadsAcross) + 4 * thread_across() + j % 4; }

  /// The thread's place among kThreadsDown x kThreadsAcross. Threads with one thread_down() hold the same
  /// rows.
  __device__ static int thread_down() {
    return warp() / kWarpsAcross * (32 / kLaneCols) + lane() / kLaneCols;
  }
  __device__ static int thread_across() { return warp() % kWarpsAcross * kLaneCols + lane() % kLaneCols; }

 private:
  static constexpr int kWarpsAcross = kThreadsAcross / kLaneCols;
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
};

/// @brief The elements of a (kLength, kDepth) tile that kThreads threads move with one load each: kRows x
/// kDeep neighbours. Along depth, 8 lanes follow each other in a row; otherwise all lanes of a warp lie in
/// different rows. Either way, lanes write to 32 different banks of a SharedTile.
template <int kLength, int kDepth, int kThreads, bool kAlongDepth>
struct TilePatch {
  static constexpr int kElements = kLength * kDepth / kThreads;  ///< patches in the tile
  static constexpr int kFit = kAlongDepth ? kThreads / 8 : kThreads;
  static constexpr int kRows = kFit < kLength ? kFit : kLength;
  static constexpr int kDeep = kThreads / kRows;
  static_assert(kLength * kDepth % kThreads == 0, "threads share the tile evenly");
  static_assert(kLength % kRows == 0 && kThreads % kRows == 0 && kDepth % kDeep == 0,
                "patches tile the tile");

  __device__ static int row() {
    return static_cast<int>((kAlongDepth ? threadIdx.x / 8 : threadIdx.x) % kRows);
  }
  __device__ static int depth() {
    return static_cast<int>(kAlongDepth ? threadIdx.x % 8 + threadIdx.x / 8 / kRows * 8
                                        : threadIdx.x / kRows);
  }
  /// How far patch number e lies from the first.
  __device__ static constexpr int rows_to(int e) { return e % (kLength / kRows) * kRows; }
  __device__ static constexpr int depth_to(int e) { return e / (kLength / kRows) * kDeep; }
};

/// @brief The tiles of kLength rows of a matrix, one after the other along depth, on their way from global
/// memory to shared memory: in the registers of kThreads threads. Between fetch() and put() a kernel can do
/// other work, while the loads are under way.
template <int kLength, int kDepth, int kThreads>
class TileStream {
 public:
  /// @brief The first tile begins at (first_row, first_depth).
  /// Shapes: X is (rows, depth). Neighbouring lanes read along the axis on which X has the smaller stride:
  ///         32 elements of it, or 8 of depth in each of 4 rows, which is a whole sector each.
  __device__ TileStream(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_depth)
      : along_depth_(X.strides[1] < X.strides[0]), row_stride_(X.strides[0]), depth_stride_(X.strides[1]) {
    const int own_row = along_depth_ ? Patch<true>::row() : Patch<false>::row();
    const int own_depth = along_depth_ ? Patch<true>::depth() : Patch<false>::depth();
    next_ = X.data + (first_row + own_row) * row_stride_ + (first_depth + own_depth) * depth_stride_;
    rows_left_ = at_most(X.shape[0] - first_row, kLength) - own_row;
    depth_left_ = X.shape[1] - first_depth;
  }

  /// Loads a tile, with zeros for what lies outside X, and moves on to the next.
  __device__ void fetch() {
    if (along_depth_) {
      fetch_along<true>();
    } else {
      fetch_along<false>();
    }
    next_ += kDepth * depth_stride_;
    depth_left_ -= kDepth;
  }

  /// Stores what fetch() loaded. The 32 lanes of a warp write to 32 different banks.
  __device__ void put(SharedTile<kLength, kDepth>& tile_smem) const {
    if (along_depth_) {
      put_along<true>(tile_smem);
    } else {
      put_along<false>(tile_smem);
    }
  }

 private:
  static constexpr int kElements = kLength * kDepth / kThreads;

  template <bool kAlongDepth>
  using Patch = TilePatch<kLength, kDepth, kThreads, kAlongDepth>;

  __device__ static int at_most(std::int64_t x, int limit) { return x < limit ? static_cast<int>(x) : limit; }

  template <bool kAlongDepth>
  __device__ void fetch_along() {
    using P = Patch<kAlongDepth>;
    const int depth_left = at_most(depth_left_, kDepth) - P::depth();
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      const bool inside = P::rows_to(e) < rows_left_ && P::depth_to(e) < depth_left;
      values_[e] = inside ? next_[P::rows_to(e) * row_stride_ + P::depth_to(e) * depth_stride_] : 0.0f;
    }
  }

  template <bool kAlongDepth>
  __device__ void put_along(SharedTile<kLength, kDepth>& tile_smem) const {
    using P = Patch<kAlongDepth>;
#pragma unroll
    for (int e = 0; e < kElements; ++e)
      tile_smem.at[P::depth() + P::depth_to(e)][P::row() + P::rows_to(e)] = values_[e];
  }

  const bool along_depth_;
  const std::int64_t row_stride_, depth_stride_;
  const float* next_;        ///< the thread's first element of the next tile
  int rows_left_;            ///< from the thread's first row to the end of X or of the tile
  std::int64_t depth_left_;  ///< from the next tile's beginning to the end of X
  float values_[kElements];
};

/// @brief tile_smem = the piece of X that begins at (first_row, first_depth), with zeros outside X, by all
/// kThreads threads of the block.
///
/// Shapes: X is (rows, depth), any strides; for B of a product A·B, give transposed(B).
///
/// Barriers: none. Before the call, all threads must have finished with what the tile held; after it, a
/// barrier makes the tile readable. Several tiles can share both.
///
/// Cost:   reads each element once, in whole sectors where either stride is 1; no bank conflicts.
template <int kThreads, int kLength, int kDepth>
__device__ void load_tile(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_depth,
                          SharedTile<kLength, kDepth>& tile_smem) {
  TileStream<kLength, kDepth, kThreads> tile(X, first_row, first_depth);
  tile.fetch();
  tile.put(tile_smem);
}

/// Four neighbours with one 16-byte read.
__device__ inline void read_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

/// @brief acc += the thread's part of A·B, in the order of depth.
/// Shapes: A_smem holds (kRows, kDepth) of A, B_smem (kCols, kDepth) of Bᵀ; kDepth need not be Shape::kDepth.
///
/// Cost:   for each step of depth, (kThreadRows + kThreadCols) / 4 reads of shared memory, without bank
///         conflicts, for kThreadRows * kThreadCols multiply-adds.
template <class Shape, int kDepth>
__device__ void multiply_add(const SharedTile<Shape::kRows, kDepth>& A_smem,
                             const SharedTile<Shape::kCols, kDepth>& B_smem,
                             typename Shape::Accumulator& acc) {
#pragma unroll 16
  for (int k = 0; k < kDepth; ++k) {
    float a[Shape::kThreadRows], b[Shape::kThreadCols];  // column k of A and row k of B, the thread's part
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; i += 4) read_four(&A_smem.at[k][Shape::row(i)], &a[i]);
#pragma unroll
    for (int j = 0; j < Shape::kThreadCols; j += 4) read_four(&B_smem.at[k][Shape::col(j)], &b[j]);
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
      for (int j = 0; j < Shape::kThreadCols; ++j) acc[i][j] += a[i] * b[j];
    }
  }
}

/// @brief acc += the tile of A·B that begins at (first_row, first_col), by a block of Shape::kThreads threads
/// along x.
///
/// Shapes: A is (M, K), B is (K, N), any strides. Elements of the tile outside (M, N) are 0, or NaN where
///         they meet one.
///
/// Shared: two pairs of tiles, so that one can be filled while the other is read, with one barrier a step.
/// Barriers: ⌈K / kDepth⌉ + 1; all threads must come. On return all of them have read what they need.
template <class Shape>
__device__ void matmul_tile(const View<const float, 2>& A, const View<const float, 2>& B,
                            std::int64_t first_row, std::int64_t first_col,
                            typename Shape::Accumulator& acc) {
  __shared__ typename Shape::ATile A_smem[2];
  __shared__ typename Shape::BTile B_smem[2];
  TileStream<Shape::kRows, Shape::kDepth, Shape::kThreads> A_next(A, first_row, 0);
  TileStream<Shape::kCols, Shape::kDepth, Shape::kThreads> B_next(transposed(B), first_col, 0);
  const std::int64_t K = A.shape[1];

  A_next.fetch();
  B_next.fetch();
  A_next.put(A_smem[0]);
  B_next.put(B_smem[0]);
  __syncthreads();  // pair 0 is complete

  int now = 0;
  for (std::int64_t k = 0; k < K; k += Shape::kDepth) {
    const bool more = k + Shape::kDepth < K;
    if (more) {  // these loads take their time while the threads multiply
      A_next.fetch();
      B_next.fetch();
    }
    multiply_add<Shape>(A_smem[now], B_smem[now], acc);
    now = 1 - now;
    if (more) {  // nobody reads this pair: all have passed the barrier after its last use
      A_next.put(A_smem[now]);
      B_next.put(B_smem[now]);
    }
    __syncthreads();  // the next pair is complete, and all have read the present one: it may be overwritten
  }
}

/// Whether four neighbours in a row of X can be moved at once: from column 0 on, and from every fourth.
template <class T>
__device__ bool rows_in_fours(const View<T, 2>& X) {
  return X.strides[1] == 1 && X.strides[0] % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(X.data) % sizeof(float4) == 0;
}

/// @brief acc = the tile of C that begins at (first_row, first_col), with zeros outside C: what store_tile()
/// stored.
///
/// Shapes: C is (M, N), any strides. Four columns at a time where rows are contiguous and aligned to 16
/// bytes.
template <class Shape>
__device__ void fetch_tile(const View<const float, 2>& C, std::int64_t first_row, std::int64_t first_col,
                           typename Shape::Accumulator& acc) {
  const bool in_fours = rows_in_fours(C) && first_col % 4 == 0;
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    const std::int64_t row = first_row + Shape::row(i);
    const std::int64_t cols = row < C.shape[0] ? C.shape[1] : 0;
#pragma unroll
    for (int j = 0; j < Shape::kThreadCols; j += 4) {
      const std::int64_t col = first_col + Shape::col(j);
      const float* from = C.data + row * C.strides[0] + col * C.strides[1];
      if (in_fours && col + 4 <= cols) {
        read_four(from, &acc[i][j]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[i][j + e] = col + e < cols ? from[e * C.strides[1]] : 0.0f;
      }
    }
  }
}

/// Writes four neighbours in a row, `step` elements apart, as far as `left` of them belong to it; at once if
/// they may be.
__device__ inline void write_four(const float* from, float* to, std::int64_t step, std::int64_t left,
                                  bool at_once) {
  if (at_once && left >= 4) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (e < left) to[e * step] = from[e];
  }
}

/// @brief C[first_row + r][first_col + c] = acc, for those elements of the tile that lie in C.
///
/// Shapes: C is (M, N), any strides. Four columns at a time where rows are contiguous and aligned to 16
/// bytes.
template <class Shape>
__device__ void store_tile(const typename Shape::Accumulator& acc, const View<float, 2>& C,
                           std::int64_t first_row, std::int64_t first_col) {
  const bool in_fours = rows_in_fours(C) && first_col % 4 == 0;
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    const std::int64_t row = first_row + Shape::row(i);
    if (row >= C.shape[0]) continue;
#pragma unroll
    for (int j = 0; j < Shape::kThreadCols; j += 4) {
      const std::int64_t col = first_col + Shape::col(j);
      float* to = C.data + row * C.strides[0] + col * C.strides[1];
      write_four(&acc[i][j], to, C.strides[1], C.shape[1] - col, in_fours);
    }
  }
}

}  // namespace course::device
