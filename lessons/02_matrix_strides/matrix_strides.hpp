#pragma once
/// @file
/// Contract of lesson 02: copying between matrices with any strides, and a transpose through shared memory.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr int kTile = 32;        ///< rows and columns of a tile
inline constexpr int kBlockRows = 8;    ///< a block has kTile x kBlockRows threads
inline constexpr int kMaxGridY = 4096;  ///< blocks along y in the grid of copy_strided, at most

/// @brief dst = src, element by element, whatever the strides.
/// Shapes: src and dst are (rows, cols). Element (r, c) of x is x.data[r * x.strides[0] + c * x.strides[1]].
///         Strides are in elements, and not negative. The elements of dst lie apart from one another and from
///         src; what lies in the gaps between them stays as it is. An empty matrix launches nothing.
/// Launch: one kernel with blocks of kTile x kBlockRows threads, one or more for every tile of kTile x kTile
///         elements, but at most kMaxGridY of them along y. Neighbouring threads write along the axis of dst
///         that has the smaller stride.
/// Error:  none: every element keeps its bits.
/// Cost:   reads 4 * rows * cols bytes, writes as many.
/// @throws std::invalid_argument if the shapes of src and dst differ.
/// @throws std::runtime_error if CUDA refuses the launch.
void copy_strided(View<const float, 2> src, View<float, 2> dst);

/// @brief out[c][r] = in[r][c]: the transpose, moved in tiles through shared memory.
/// Shapes: in is (rows, cols), out is (cols, rows), both row-major without gaps; they do not overlap.
///         An empty matrix launches nothing.
/// Launch: one kernel, in which every tile of kTile x kTile elements has a block of kTile x kBlockRows
///         threads. The blocks are numbered along x, since CUDA has at most 65,535 of them along y.
/// Error:  none: every element keeps its bits.
/// Cost:   reads 4 * rows * cols bytes, writes as many. Where rows and cols are multiples of 8, neither reads
///         nor writes touch more sectors than these bytes fill. No access to shared memory has a bank
///         conflict.
/// @throws std::invalid_argument if rows or cols is negative.
/// @throws std::runtime_error if CUDA refuses the launch.
void transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols);
// [contract]

}  // namespace course
