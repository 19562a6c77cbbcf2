#pragma once
/// @file
/// Fragments in rows and columns, as a warp holds them: products with a tile, and the way to global memory.
///
///     FragmentC S[kDown][kAcross] = {};                    // (16·kDown, 8·kAcross)
///     for (int k = 0; k < 64; k += 16) {
///       ...                                                // a[i]: rows 16·i to 16·i + 15 of Q, from k on
///       multiply_add(a, OperandB<Tile, Major::k>(), K_smem, 0, k, S);   // S += Q·Kᵀ
///     }

#include <cuda_runtime.h>

#include <cstdint>

#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @brief C += A·B for the 16 steps from k on: fragments a[i] of A lie below each other, and B's columns are
/// those of the tile from first_col on, as many as C has.
///
/// Cost: 2 · kDown products for each square of B, which is read once.
template <class T, int kDown, int kAcross, class Tile, Major kMajor>
__device__ void multiply_add(const FragmentA<T> (&a)[kDown], const OperandB<Tile, kMajor>& b_of,
                             const Tile& B, int first_col, int k, FragmentC (&C)[kDown][kAcross]) {
  static_assert(kAcross % 2 == 0, "a square has two fragments of B");
#pragma unroll
  for (int j = 0; j < kAcross; j += 2) {
    FragmentB<T> left, right;
    b_of.read(B, first_col + 8 * j, k, left, right);
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      multiply_add(a[i], left, C[i][j]);
      multiply_add(a[i], right, C[i][j + 1]);
    }
  }
}

/// @brief X[first_row + i] = row i of C · factor, rounded to T, for those rows and columns that X has.
template <class T, int kDown, int kAcross>
__device__ void store_fragments(const FragmentC (&C)[kDown][kAcross], float factor, const View<T, 2>& X,
                                std::int64_t first_row) {
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = first_row + 16 * i + FragmentC::row(2 * half);
      if (row >= X.shape[0]) continue;
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        write_two(C[i][j].at[2 * half] * factor, C[i][j].at[2 * half + 1] * factor, X, row,
                  8 * j + FragmentC::col(0));
    }
  }
}

}  // namespace course::device
