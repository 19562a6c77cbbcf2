#pragma once
/// @file
/// Mistakes of threads that share a row of scores: 16 neighbours of a warp hold it, so that a warp has two
/// rows at a time, 4 apart in a tile of 128.

#include "attention/baseline.hpp"
#include "attention/mistakes.hpp"
#include "attention/problem.hpp"

namespace course::attention_tests {

/// What a shuffle over all 32 lanes makes one of.
enum class TwoRows {
  maximum,       ///< the maxima
  sum_of_tiles,  ///< the sums over each tile of 64 keys
  sum_at_end,    ///< the sums over all keys
};

/// @brief The results of a kernel, without mask and sink, that shuffles over two rows.
Forward64 with_two_rows(const Problem& p, TwoRows what);

/// @brief The mistakes "maximum_of_two_rows" and "sum_of_two_rows". `sums`: sum_of_tiles or sum_at_end.
void add_two_rows(grading::Mistakes& to, const Problem& p, Which which, TwoRows sums);

}  // namespace course::attention_tests
