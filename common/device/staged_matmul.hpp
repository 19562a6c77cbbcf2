#pragma once
/// @file
/// The product of lesson 20 for any tile, any number of warps and any number of stages: the next slabs of A
/// and B are on their way to shared memory while one is multiplied. Lesson 23 chooses among such kernels.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "device/tile_matmul.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @brief The slabs of kLength rows of a matrix, one after the other along k: which of their elements a
/// thread of kThreads sends for.
template <int kLength, int kDepth, int kThreads>
class SlabStream {
 public:
  /// Shapes: X is (rows, K), any strides. Four rows with one copy of 16 bytes where they lie side by side;
  ///         else one element a copy, along the axis on which X has the smaller stride.
  __device__ SlabStream(const View<const float, 2>& X, std::int64_t first_row) : X_(X) {
    const int thread = static_cast<int>(threadIdx.x);
    in_fours_ = X.strides[0] == 1 && X.strides[1] % 4 == 0 && X.shape[0] % 4 == 0 &&
                reinterpret_cast<std::uintptr_t>(X.data) % sizeof(float4) == 0;
    along_k_ = X.strides[1] < X.strides[0];
    row_ = in_fours_ ? 4 * thread % kLength : along_k_ ? Patch<true>::row() : Patch<false>::row();
    k_ = in_fours_ ? 4 * thread / kLength : along_k_ ? Patch<true>::depth() : Patch<false>::depth();
    next_ = X.data + (first_row + row_) * X.strides[0] + k_ * X.strides[1];
    rows_left_ = static_cast<int>(min(X.shape[0] - first_row, std::int64_t{kLength})) - row_;
  }

  /// Sends for the next slab, of which X has k_left columns: element (i, k) goes to X_smem.at[k][i], and
  /// zeros where X has ended.
  __device__ void send(SharedTile<kLength, kDepth>& X_smem, int k_left) {
    if (in_fours_) {
      send_fours(X_smem, k_left);
    } else if (along_k_) {
      send_along<true>(X_smem, k_left);
    } else {
      send_along<false>(X_smem, k_left);
    }
    next_ += kDepth * X_.strides[1];
  }

 private:
  template <bool kAlongK>
  using Patch = TilePatch<kLength, kDepth, kThreads, kAlongK>;
  static constexpr int kFours = kLength * kDepth / 4 / kThreads;  ///< copies of 16 bytes a thread
  static_assert(kLength * kDepth % (4 * kThreads) == 0 && 4 * kThreads % kLength == 0,
                "threads share the copies of 16 bytes evenly");

  __device__ void send_fours(SharedTile<kLength, kDepth>& X_smem, int k_left) {
#pragma unroll 1  // unrolled, the addresses would take registers that the sums need
    for (int e = 0; e < kFours; ++e) {
      const int k = k_ + e * (4 * kThreads / kLength);
      const bool inside = rows_left_ > 0 && k < k_left;
      __pipeline_memcpy_async(&X_smem.at[k][row_],
                              inside ? next_ + e * (4 * kThreads / kLength) * X_.strides[1] : X_.data,
                              sizeof(float4), inside ? 0 : sizeof(float4));
    }
  }

  template <bool kAlongK>
  __device__ void send_along(SharedTile<kLength, kDepth>& X_smem, int k_left) {
    using P = Patch<kAlongK>;
#pragma unroll 1
    for (int e = 0; e < P::kElements; ++e) {
      const int row = P::rows_to(e), k = P::depth_to(e);
      const bool inside = row < rows_left_ && k_ + k < k_left;
      __pipeline_memcpy_async(&X_smem.at[k_ + k][row_ + row],
                              inside ? next_ + row * X_.strides[0] + k * X_.strides[1] : X_.data,
                              sizeof(float), inside ? 0 : sizeof(float));
    }
  }

  const View<const float, 2>& X_;
  bool in_fours_, along_k_;
  int row_, k_;        ///< the thread's first element of a slab
  const float* next_;  ///< that element, of the next slab
  int rows_left_;      ///< from it to the end of X or of the tile
};

/// What a block of matmul_tile_staged() keeps in shared memory.
template <class Shape, int kStages>
struct Stages {
  typename Shape::ATile A[kStages];
  typename Shape::BTile B[kStages];
};

/// @brief acc += the tile of A·B that begins at (first_row, first_col), by a block of Shape::kThreads threads
/// along x. Slab s of the sum over k uses stage s % kStages.
///
/// Shapes: A is (M, K), B is (K, N), any strides. Elements of the tile outside (M, N) are 0, or NaN where
///         they meet one.
///
/// Barriers: ⌈K / kDepth⌉; all threads must come. Afterwards others may still read the last stage.
template <class Shape, int kStages>
__device__ void matmul_tile_staged(const View<const float, 2>& A, const View<const float, 2>& B,
                                   std::int64_t first_row, std::int64_t first_col,
                                   Stages<Shape, kStages>& smem, typename Shape::Accumulator& acc) {
  static_assert(kStages >= 2, "one stage is multiplied while others are filled");
  constexpr int kDepth = Shape::kDepth;
  const View<const float, 2> Bt = transposed(B);
  SlabStream<Shape::kRows, kDepth, Shape::kThreads> A_slabs(A, first_row);
  SlabStream<Shape::kCols, kDepth, Shape::kThreads> B_slabs(Bt, first_col);
  const int slabs = static_cast<int>((A.shape[1] + kDepth - 1) / kDepth);

  const auto fetch = [&](int slab) {
    if (slab < slabs) {
      const int k_left =
          static_cast<int>(min(A.shape[1] - std::int64_t{slab} * kDepth, std::int64_t{kDepth}));
      A_slabs.send(smem.A[slab % kStages], k_left);
      B_slabs.send(smem.B[slab % kStages], k_left);
    }
    __pipeline_commit();  // also an empty batch: the number of batches says which slab has landed
  };

  for (int slab = 0; slab < kStages - 1; ++slab) fetch(slab);
  for (int slab = 0; slab < slabs; ++slab) {
    __pipeline_wait_prior(kStages - 2);  // this thread's part of the slab has landed
    __syncthreads();  // everybody's has; and all are done with the slab before: its stage is free
    fetch(slab + kStages - 1);
    multiply_add<Shape>(smem.A[slab % kStages], smem.B[slab % kStages], acc);
  }
}

/// The elements that each thread of such a block holds: 8 x 8, 8 x 4 or 4 x 4.
template <int kRows, int kCols, int kDepth, int kWarps>
struct StagedShape {
  static constexpr int kSums = kRows * kCols / (32 * kWarps);
  static_assert(kSums == 64 || kSums == 32 || kSums == 16, "a thread holds 64, 32 or 16 elements of C");
  using Type = TileShape<kRows, kCols, kDepth, kSums == 16 ? 4 : 8, kSums == 64 ? 8 : 4>;
};

/// Registers that a thread of staged_matmul_kernel may have, with that many elements of C.
constexpr int staged_matmul_registers(int sums) { return 64 + sums; }

/// @brief C = A·B; each block computes a tile of C, row by row, and C is tiles_across tiles wide.
/// Launch: 32 * kWarps threads, and sizeof(Stages<...>) bytes of dynamic shared memory. The launch bounds
/// keep a thread to staged_matmul_registers() registers: they promise as many blocks as these leave room for.
template <int kRows, int kCols, int kDepth, int kWarps, int kStages>
__global__ void __launch_bounds__(32 * kWarps,
                                  65536 /
                                      (32 * kWarps * staged_matmul_registers(kRows * kCols / (32 * kWarps))))
    staged_matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                         unsigned tiles_across) {
  using Shape = typename StagedShape<kRows, kCols, kDepth, kWarps>::Type;
  extern __shared__ float4 shared_memory[];
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * kCols;
  typename Shape::Accumulator acc = {};
  matmul_tile_staged<Shape, kStages>(A, B, first_row, first_col,
                                     *reinterpret_cast<Stages<Shape, kStages>*>(shared_memory), acc);
  store_tile<Shape>(acc, C, first_row, first_col);
}

}  // namespace course::device
