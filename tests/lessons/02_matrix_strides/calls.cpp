#include "02_matrix_strides/calls.hpp"

#include <utility>

#include "02_matrix_strides/launches.hpp"
#include "02_matrix_strides/matrices.hpp"
#include "02_matrix_strides/matrix_strides.hpp"
#include "02_matrix_strides/mistakes.hpp"
#include "02_matrix_strides/patterns.hpp"
#include "reference/transpose.hpp"
#include "tensor/format.hpp"

namespace course::lesson_02 {

using namespace grading;

namespace {

const Bound kExact{.floor = 0};   // nothing is computed
constexpr float kDstGap = -2.0f;  // what lies between the elements of dst

}  // namespace

void require_copy(const Tensor<float>& dst, const Tensor<float>& src, const Outcome& outcome) {
  const Tensor<float> expected = src.contiguous(), got = dst.contiguous();
  require_matches(got, "dst", expected.to<double>(), expected, mistakes_of_copy(src, dst.strides(), outcome),
                  kExact);
  require_same_bits(got, expected, "dst");
}

void require_transpose(const Tensor<float>& out, const Tensor<float>& in, const Outcome& outcome) {
  const Tensor<float> expected = in.transposed(0, 1).contiguous();
  // No mistake of mistakes_of_transpose(): it leaves the array, or writes elements twice, wherever it shows.
  require(!written_with_strides(out, out.strides(), expected, {in.shape()[1], 1}),
          "out is written with the row length of in: a row of out has rows elements.");
  require_matches(out, "out", reference::transpose(in), expected, mistakes_of_transpose(in, outcome), kExact);
  require_same_bits(out, expected, "out");
}

Outcome copy_into(const Tensor<float>& src, Tensor<float>& dst, const CallOptions& options) {
  INFO("src: shape " << format_shape(src.shape()) << ", strides " << format_shape(src.strides())
                     << "; dst: strides " << format_shape(dst.strides()));
  const Outcome outcome = call_with(options, ENTRY(copy_strided), in(src, "src"), out(dst, "dst"));
  require_ran(outcome);
  require_block(outcome);
  require_copy(dst, src, outcome);
  require_launch(outcome, "copy_strided", src.numel());
  return outcome;
}

Outcome check_copy(std::int64_t rows, std::int64_t cols, Strides src_strides, Strides dst_strides,
                   const CallOptions& options) {
  const Tensor<float> src = numbered(rows, cols, std::move(src_strides));
  Tensor<float> dst({rows, cols}, std::move(dst_strides), kDstGap);
  INFO("src[r, c] = 1000 r + c");
  return copy_into(src, dst, options);
}

Outcome check_unknown_copy(std::int64_t rows, std::int64_t cols, const Strides& src_strides,
                           const Strides& dst_strides, const CallOptions& options) {
  check_copy(rows, cols, src_strides, dst_strides, options);
  Tensor<float> dst({rows, cols}, dst_strides, kDstGap);
  return copy_into(with_random_numbers(numbered(rows, cols, src_strides)), dst, options);
}

Outcome transpose_into(const Tensor<float>& x, Tensor<float>& out_tensor, const CallOptions& options) {
  INFO("in: shape " << format_shape(x.shape()));
  const Outcome outcome =
      call_with(options, ENTRY(transpose), in(x, "in"), out(out_tensor, "out"), x.shape()[0], x.shape()[1]);
  require_ran(outcome);
  require_block(outcome);
  require_transpose(out_tensor, x, outcome);
  require_launch(outcome, "transpose", x.numel());
  return outcome;
}

Outcome check_transpose(std::int64_t rows, std::int64_t cols, const CallOptions& options) {
  const Tensor<float> x = numbered(rows, cols);
  Tensor<float> y({cols, rows});
  INFO("in[r, c] = 1000 r + c");
  return transpose_into(x, y, options);
}

Outcome check_unknown_transpose(std::int64_t rows, std::int64_t cols) {
  check_transpose(rows, cols);
  Tensor<float> y({cols, rows});
  return transpose_into(with_random_numbers(numbered(rows, cols)), y);
}

void require_strides_and_guard(bool rows_side_by_side) {
  if (rows_side_by_side) {
    check_copy(3 * kTile, 2 * kTile, {3 * kTile + 6, 1}, {3 * kTile + 3, 1});
    check_copy(33, 40, row_major(33, 40), row_major(33, 40));
  } else {
    check_copy(2 * kTile, 3 * kTile, {1, 3 * kTile + 3}, {1, 3 * kTile + 6});
    check_copy(40, 33, row_major(40, 33), column_major(40, 33));
  }
}

void require_whole_tiles() {
  check_transpose(2 * kTile, 2 * kTile);
  check_transpose(kTile, 2 * kTile);
}

CallOptions with_grid_limit(std::int64_t blocks) {
  CallOptions options;
  options.max_grid_x = static_cast<std::uint32_t>(blocks);
  return options;
}

Outcome copy_narrow(std::int64_t rows, std::int64_t cols) {
  const Tensor<float> src({rows, cols}, 0.0f);
  Tensor<float> dst({rows, cols});
  return call_with(with_grid_limit((cols - 1) / kTile + 1), ENTRY(copy_strided), in(src, "src"),
                   out(dst, "dst"));
}

}  // namespace course::lesson_02
