#pragma once
/// @file
/// Calls of copy_strided and transpose whose results are compared.

#include <cstdint>

#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_02 {

/// First the comparison that describes the pattern of what is wrong, then the strict one.
void require_copy(const Tensor<float>& dst, const Tensor<float>& src, const grading::Outcome& outcome);
void require_transpose(const Tensor<float>& out, const Tensor<float>& in, const grading::Outcome& outcome);

/// Copies src into a matrix with these strides.
grading::Outcome copy_into(const Tensor<float>& src, Tensor<float>& dst,
                           const grading::CallOptions& options = {});
grading::Outcome check_copy(std::int64_t rows, std::int64_t cols, Strides src_strides, Strides dst_strides,
                            const grading::CallOptions& options = {});

/// The same, and then once more with numbers that no kernel knows: that call is the one whose accesses count.
grading::Outcome check_unknown_copy(std::int64_t rows, std::int64_t cols, const Strides& src_strides,
                                    const Strides& dst_strides, const grading::CallOptions& options = {});

grading::Outcome transpose_into(const Tensor<float>& x, Tensor<float>& out_tensor,
                                const grading::CallOptions& options = {});
grading::Outcome check_transpose(std::int64_t rows, std::int64_t cols,
                                 const grading::CallOptions& options = {});

/// The same, and then once more with numbers that no kernel knows: that call is the one whose accesses count.
grading::Outcome check_unknown_transpose(std::int64_t rows, std::int64_t cols);

/// Comes before other sizes, where exchanged strides or guards leave the arrays and nothing else can be told
/// of them. These stay within, and where one of the two strides is wrong, tell which. dst has its rows side
/// by side, or its columns.
void require_strides_and_guard(bool rows_side_by_side);

/// Comes before other sizes: where all tiles are whole, wrong indices stay within the matrix and within what
/// was written.
void require_whole_tiles();

grading::CallOptions with_grid_limit(std::int64_t blocks);

/// A copy of rows where CUDA takes no more blocks along x than their columns need.
grading::Outcome copy_narrow(std::int64_t rows, std::int64_t cols);

}  // namespace course::lesson_02
