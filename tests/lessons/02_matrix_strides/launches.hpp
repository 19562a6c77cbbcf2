#pragma once
/// @file
/// The launches that lesson 02's contract asks for.

#include <cstdint>
#include <functional>
#include <string_view>

#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_02 {

/// The one launch of a call, if check mode has seen it.
const simt::LaunchProfile* launch_of(const grading::Outcome& outcome);

/// Before the results: with another block, indices mean something else, and lead anywhere.
void require_block(const grading::Outcome& outcome, grading::TestLine where = grading::TestLine::here());

/// The launch that the contract asks for. The simulator counts; a GPU does not tell.
void require_launch(const grading::Outcome& outcome, std::string_view entry, std::int64_t elements);

/// How many blocks copy_strided may and must have for rows that lie one after the other. `narrow`: the same
/// call, where CUDA takes no more blocks along x than the columns need.
void require_copy_grid(const grading::Outcome& outcome, std::int64_t rows, std::int64_t cols,
                       const std::function<grading::Outcome()>& narrow);

void require_block_per_tile(const grading::Outcome& outcome, std::int64_t rows, std::int64_t cols);

}  // namespace course::lesson_02
