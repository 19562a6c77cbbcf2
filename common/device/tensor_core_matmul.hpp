#pragma once
/// @file
/// The product of lesson 21 for any tile, any number of warps and any number of stages, of the parts in
/// swizzled_tile.hpp. Lesson 23 chooses among such kernels.

#include <cuda_runtime.h>

#include <cstdint>

#include "device/async_copy.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"
#include "device/views.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @brief A block's tile of C, and the piece of it that each warp has: 64 x 64, 64 x 32 or 32 x 32.
template <int kRows_, int kCols_, int kDepth_, int kWarps>
struct TensorCoreShape {
  static constexpr int kRows = kRows_, kCols = kCols_, kDepth = kDepth_, kThreads = 32 * kWarps;
  static constexpr int kSums = kRows * kCols / kThreads;  ///< elements of C that a thread holds
  static constexpr int kWarpRows = kSums == 32 ? 32 : 64, kWarpCols = kSums == 128 ? 64 : 32;
  static constexpr int kWarpsDown = kRows / kWarpRows;
  static constexpr int kDown = kWarpRows / 16, kAcross = kWarpCols / 8;  ///< products in a warp's piece
  static constexpr int kSteps = kDepth / 16;                             ///< products along k, in a stage
  static_assert(kSums == 128 || kSums == 64 || kSums == 32, "a thread holds 128, 64 or 32 elements of C");
  static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0, "warps share the tile evenly");
  static_assert(kSteps >= 2 && kSteps % 2 == 0, "steps of k go through two sets of registers in turn");
  using Accumulator = FragmentC[kDown][kAcross];
};

/// @brief A slab of A and one of B in shared memory, and how a warp reads them.
template <class Shape, class T, Major kMajorA, Major kMajorB>
struct OperandStage {
  template <int kLength, Major kMajor>
  using Slab = SwizzledTile<T, kMajor == Major::k ? kLength : Shape::kDepth,
                            kMajor == Major::k ? Shape::kDepth : kLength>;
  using TileA = Slab<Shape::kRows, kMajorA>;
  using TileB = Slab<Shape::kCols, kMajorB>;
  using ReadA = OperandA<TileA, kMajorA>;
  using ReadB = OperandB<TileB, kMajorB>;
  TileA A;
  TileB B;
};

/// @brief What a warp holds of A and B for 16 steps of k.
template <class Shape, class T>
struct OperandStep {
  FragmentA<T> a[Shape::kDown];
  FragmentB<T> b[Shape::kAcross];

  template <class Stage>
  __device__ void read(const Stage& stage, const typename Stage::ReadA& A, const typename Stage::ReadB& B,
                       int k) {
#pragma unroll
    for (int i = 0; i < Shape::kDown; ++i) a[i] = A.read(stage.A, 16 * i, k);
#pragma unroll
    for (int j = 0; j < Shape::kAcross; j += 2) B.read(stage.B, 8 * j, k, b[j], b[j + 1]);
  }

  __device__ void multiply(typename Shape::Accumulator& acc) const {
#pragma unroll
    for (int i = 0; i < Shape::kDown; ++i) {
#pragma unroll
      for (int e = 0; e < Shape::kAcross; ++e) {
        const int j = i % 2 == 0 ? e : Shape::kAcross - 1 - e;  // there and back: at the turn, b stays
        multiply_add(a[i], b[j], acc[i][j]);
      }
    }
  }
};

/// Registers that a thread of tensor_core_matmul_kernel may have, with that many elements of C: 255 is all
/// that there are; with 168 and 128, a multiprocessor has room for 12 and 16 warps.
constexpr int tensor_core_matmul_registers(int sums) { return sums == 128 ? 255 : sums == 64 ? 168 : 128; }

/// @brief C = A·B; each block computes a tile of C, and C is tiles_across tiles wide. Eight tiles below each
/// other follow each other: they share B in the L2 cache.
///
/// Shapes: A is (M, K), B is (K, N), C is (M, N). A and B pass require_chunks() of views.hpp; kMajorA and
///         kMajorB say along which axis their chunks lie: k, or the other one. C has any strides.
/// Launch: 32 * kWarps threads, and kStages * sizeof(OperandStage<...>) bytes of dynamic shared memory. The
///         launch bounds keep a thread to tensor_core_matmul_registers() registers, as many blocks as these
///         leave room for.
template <int kRows, int kCols, int kDepth, int kWarps, int kStages, Major kMajorA, Major kMajorB, class T,
          class Result>
__global__ void __launch_bounds__(32 * kWarps,
                                  65536 / (32 * kWarps *
                                           tensor_core_matmul_registers(kRows * kCols / (32 * kWarps))))
    tensor_core_matmul_kernel(View<const T, 2> A, View<const T, 2> B, View<Result, 2> C,
                              unsigned tiles_across) {
  static_assert(kStages >= 2, "one stage is multiplied while others are filled");
  using Shape = TensorCoreShape<kRows, kCols, kDepth, kWarps>;
  using Stage = OperandStage<Shape, T, kMajorA, kMajorB>;
  constexpr unsigned kGroup = 8;
  extern __shared__ __align__(1024) uint4 operand_memory[];
  auto* const stages = reinterpret_cast<Stage*>(operand_memory);

  const unsigned group = blockIdx.x / (kGroup * tiles_across), place = blockIdx.x % (kGroup * tiles_across);
  const unsigned group_rows = min(gridDim.x / tiles_across - group * kGroup, kGroup);
  const std::int64_t first_row = std::int64_t{group * kGroup + place % group_rows} * kRows;
  const std::int64_t first_col = std::int64_t{place / group_rows} * kCols;

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % Shape::kWarpsDown * Shape::kWarpRows;
  const int warp_col = warp / Shape::kWarpsDown * Shape::kWarpCols;
  const typename Stage::ReadA A_smem(warp_row);
  const typename Stage::ReadB B_smem(warp_col);
  const View<const T, 2> A_lines = kMajorA == Major::k ? A : transposed(A);
  const View<const T, 2> B_lines = kMajorB == Major::k ? transposed(B) : B;

  const auto fetch = [&](int slab) {  // past the end of K, zeros
    Stage& stage = stages[slab % kStages];
    const std::int64_t k = std::int64_t{slab} * kDepth;
    send_tile<Shape::kThreads>(stage.A, A_lines, kMajorA == Major::k ? first_row : k,
                               kMajorA == Major::k ? k : first_row);
    send_tile<Shape::kThreads>(stage.B, B_lines, kMajorB == Major::k ? first_col : k,
                               kMajorB == Major::k ? k : first_col);
    commit_copies();
  };

  const int slabs = static_cast<int>((A.shape[1] + kDepth - 1) / kDepth);
  typename Shape::Accumulator acc = {};
  OperandStep<Shape, T> steps[2] = {};  // one is multiplied while the next is read
  for (int slab = 0; slab < kStages - 1; ++slab) fetch(slab);
  wait_for_copies<kStages - 2>();
  __syncthreads();  // slab 0 is complete
  steps[0].read(stages[0], A_smem, B_smem, 0);
  for (int slab = 0; slab < slabs; ++slab) {
#pragma unroll
    for (int s = 0; s < Shape::kSteps; ++s) {
      const bool last = s == Shape::kSteps - 1;
      if (last) {
        wait_for_copies<kStages - 2>();
        __syncthreads();  // the next slab is complete, and everybody has read all of this one
      }
      const Stage& next = stages[(last ? slab + 1 : slab) % kStages];
      steps[(s + 1) % 2].read(next, A_smem, B_smem, last ? 0 : 16 * (s + 1));
      if (s == 0) fetch(slab + kStages - 1);  // to the stage of the slab before, which everybody has read
      steps[s % 2].multiply(acc);
    }
  }

#pragma unroll
  for (int i = 0; i < Shape::kDown; ++i) {
#pragma unroll
    for (int j = 0; j < Shape::kAcross; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t row = first_row + warp_row + 16 * i + FragmentC::row(2 * half);
        const std::int64_t col = first_col + warp_col + 8 * j + FragmentC::col(0);
        if (row < C.shape[0]) write_two(acc[i][j].at[2 * half], acc[i][j].at[2 * half + 1], C, row, col);
      }
    }
  }
}

}  // namespace course::device
