#pragma once
/// @file
/// Which element of a matrix lies in which register of which lane, and the way between registers and matrices
/// whose packed elements lie line by line. Source: PTX ISA, "Matrix Fragments for mma".

#include <cstddef>

namespace simt::matrix {

constexpr int kTile = 8;  ///< rows and columns of what all products are made of

/// The registers of the 32 lanes for one operand, one after the other. Null for a lane that takes no part:
/// its elements are poison (all bits set: NaN), and it gets none.
struct Registers {
  std::byte* of_lane[32];
};

/// An operand of mma.sync: the m rows of A, or the n columns of B, of `length` = k elements each. With g =
/// lane / 4 and t = lane % 4, a register holds neighbours of one line: the first lies in line g at the t-th
/// place, the next ones 8 lines further, then 4 places.
void collect_lines(const Registers& from, int lines, int length, int element_bytes, std::byte* to);

/// C or D, of m rows, in tiles of 8 x 8, those of a column of tiles first: of each, lane 4 g + t has the
/// elements (g, 2 t) and (g, 2 t + 1).
void collect_sums(const Registers& from, int rows, int cols, int element_bytes, std::byte* to);
void hand_back_sums(const std::byte* from, int rows, int cols, int element_bytes, const Registers& to);

/// An operand of wmma, where the layout is the implementation's choice: the lines are rows or columns,
/// whichever lie in a row in memory, and lane i has the (i / lines)-th piece of line i % lines. So eight
/// neighbouring lanes load pieces of eight lines, as ldmatrix does.
void collect_pieces(const Registers& from, int lines, int length, int element_bytes, std::byte* to);

}  // namespace simt::matrix
