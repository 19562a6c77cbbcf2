#include "02_matrix_strides/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "02_matrix_strides/matrix_strides.hpp"
#include "grading/facts/poison.hpp"

namespace course::lesson_02 {

using namespace grading;

Tensor<double> read_with_strides(const Tensor<float>& x, const Shape& shape, std::int64_t row_stride,
                                 std::int64_t col_stride) {
  Tensor<double> y(shape, std::numeric_limits<double>::quiet_NaN());
  const auto memory = x.storage();
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      const auto at = static_cast<std::size_t>(row * row_stride + col * col_stride);
      if (at < memory.size()) y(row, col) = memory[at];
    }
  }
  return y;
}

bool written_with_strides(const Tensor<float>& dst, const Strides& strides, const Tensor<float>& src,
                          const Strides& used) {
  const auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  const std::int64_t rows = src.shape()[0], cols = src.shape()[1];
  bool differs = false;
  for (std::int64_t row = 0; row < rows && !differs; ++row)
    for (std::int64_t col = 0; col < cols && !differs; ++col) differs = !same(src(row, col), dst(row, col));
  if (!differs) return false;                           // most results are right, and need no list
  std::vector<std::pair<std::int64_t, float>> written;  // place and number
  written.reserve(static_cast<std::size_t>(rows * cols));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col)
      written.emplace_back(row * used[0] + col * used[1], src(row, col));
  const auto by_place = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(written.begin(), written.end(), by_place);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      const float value = dst(row, col);
      const std::pair here{row * strides[0] + col * strides[1], value};
      const auto [begin, end] = std::equal_range(written.begin(), written.end(), here, by_place);
      if (begin == end ? !is_poison(value)
                       : std::none_of(begin, end, [&](const auto& one) { return same(one.second, value); }))
        return false;
    }
  }
  return true;
}

Mistakes elements_left_out(std::int64_t rows, std::int64_t cols) {
  const auto is_in_the_last_rows = [rows](const Index& i) { return i[0] >= rows - rows % kTile; };
  const auto is_in_the_last_cols = [cols](const Index& i) { return i[1] >= cols - cols % kTile; };
  const auto is_in_either = [=](const Index& i) { return is_in_the_last_rows(i) || is_in_the_last_cols(i); };
  return {
      unwritten_where(
          "last_rows_missing", is_in_the_last_rows,
          "The last rows, which do not fill a tile, are missing: the number of tiles has to be rounded up."),
      unwritten_where(
          "last_cols_missing", is_in_the_last_cols,
          "The last columns, which do not fill a tile, are missing: the number of tiles has to be "
          "rounded up."),
      unwritten_where(
          "tails_missing", is_in_either,
          "The last rows and columns, which do not fill a tile, are missing: the number of tiles has "
          "to be rounded up.")};
}

}  // namespace course::lesson_02
