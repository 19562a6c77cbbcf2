#include "02_matrix_strides/mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "02_matrix_strides/launches.hpp"
#include "02_matrix_strides/matrix_strides.hpp"
#include "02_matrix_strides/patterns.hpp"
#include "grading/facts/poison.hpp"

namespace course::lesson_02 {

using namespace grading;

namespace {

/// Whether dst, which has these strides, holds what a kernel writes that takes both matrices for rows one
/// after the other, without gaps.
bool copied_without_strides(const Tensor<float>& dst, const Strides& strides, const Tensor<float>& src) {
  const auto memory = src.storage();
  bool differs = false;
  for (std::int64_t row = 0; row < dst.shape()[0]; ++row) {
    for (std::int64_t col = 0; col < dst.shape()[1]; ++col) {
      const std::int64_t at = row * strides[0] + col * strides[1];
      const float value = dst(row, col),
                  read = memory[static_cast<std::size_t>(std::min(at, src.numel() - 1))];
      if (at >= src.numel() ? !is_poison(value) : value != read && !(std::isnan(value) && std::isnan(read)))
        return false;
      differs = differs || value != src(row, col);
    }
  }
  return differs;
}

/// Which rows are copied by blocks that begin kTile rows apart, but go on as if kBlockRows lay between them.
std::vector<bool> rows_of_far_blocks(std::int64_t rows) {
  const std::int64_t blocks = std::min<std::int64_t>((rows - 1) / kTile + 1, kMaxGridY);
  std::vector<bool> copied(static_cast<std::size_t>(rows), false);
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t thread = 0; thread < kBlockRows; ++thread)
      for (std::int64_t row = block * kTile + thread; row < rows; row += blocks * kBlockRows)
        copied[static_cast<std::size_t>(row)] = true;
  return copied;
}

/// Whether dst holds what a kernel reads that takes `used` for the strides of src. What it reads past the end
/// of src may be anything.
bool read_with(const Strides& used, const Tensor<float>& dst, const Tensor<float>& src) {
  const Tensor<double> read = read_with_strides(src, src.shape(), used[0], used[1]);
  bool differs = false;
  for (std::int64_t i = 0; i < dst.numel(); ++i) {
    const double value = read.at_linear(i);
    if (std::isnan(value)) continue;
    if (value != static_cast<double>(dst.at_linear(i))) return false;
    differs = differs || value != static_cast<double>(src.at_linear(i));
  }
  return differs;
}

/// The same with 1 in the place of this stride of src.
bool read_with_1_for(std::size_t axis, const Tensor<float>& dst, const Tensor<float>& src) {
  Strides used = src.strides();
  return std::exchange(used[axis], 1) != 1 && read_with(used, dst, src);
}

}  // namespace

Mistakes mistakes_of_copy(const Tensor<float>& src, const Strides& strides, const Outcome& outcome) {
  const std::int64_t rows = src.shape()[0], cols = src.shape()[1];
  const bool along_columns = strides[0] < strides[1];  // then the copy is that of both transposes
  Mistakes mistakes{
      shows(
          "strides_exchanged",
          [&src](const Tensor<float>& dst) {
            return read_with({src.strides()[1], src.strides()[0]}, dst, src);
          },
          "dst[r, c] holds what lies where the two strides of src are exchanged: strides[0] steps from row "
          "to row, strides[1] from column to column. If you transpose one of the two views, transpose the "
          "other, too."),
      shows(
          "strides_of_dst_exchanged",
          [&src, strides](const Tensor<float>& dst) {
            return written_with_strides(dst, strides, src, {strides[1], strides[0]});
          },
          "src[r, c] was written to where the two strides of dst are exchanged: strides[0] steps from row to "
          "row, strides[1] from column to column."),
      shows(
          "strides_of_src_for_dst",
          [&src, strides](const Tensor<float>& dst) {
            return written_with_strides(dst, strides, src, src.strides());
          },
          "src[r, c] was written to where the strides of src lead. dst has strides of its own."),
      shows(
          "strides_of_dst_for_src",
          [&src, strides](const Tensor<float>& dst) { return read_with(strides, dst, src); },
          "dst[r, c] holds what lies where the strides of dst lead in src. src has strides of its own."),
      shows(
          "strides_of_src_ignored",
          [&src, along_columns](const Tensor<float>& dst) {
            const std::int64_t n = src.shape()[0], m = src.shape()[1];
            return read_with({m, 1}, dst, src) || (along_columns && read_with({1, n}, dst, src));
          },
          "src is read as if its rows lay one after the other, without gaps. Its strides say where element "
          "(r, c) lies: at r * strides[0] + c * strides[1]."),
      shows(
          "column_stride_of_src_ignored",
          [&src, along_columns](const Tensor<float>& dst) {
            return read_with_1_for(1, dst, src) || (along_columns && read_with_1_for(0, dst, src));
          },
          "src is read as if its strides[1] were 1. Element (r, c) lies at r * strides[0] + c * strides[1]."),
      shows(
          "row_stride_of_src_ignored",
          [&src, along_columns](const Tensor<float>& dst) {
            return read_with_1_for(0, dst, src) || (along_columns && read_with_1_for(1, dst, src));
          },
          "src is read as if its strides[0] were 1. Element (r, c) lies at r * strides[0] + c * strides[1]."),
      shows(
          "strides_ignored",
          [&src, strides](const Tensor<float>& dst) { return copied_without_strides(dst, strides, src); },
          "dst holds the elements of src in the order in which they lie in memory: each of the two matrices "
          "has strides of its own, and they say where its element (r, c) lies."),
      unwritten_where(
          "guard_of_the_other_axis",
          [=](const Index& i) { return (along_columns && i[0] >= cols) || i[1] >= rows; },
          along_columns
              ? "Only a square is there, as many rows as columns: an index is held against the size of the "
                "other axis, or transposed() exchanges only one of shape and strides."
              : "All columns from the number of rows on are missing: an index is held against the size of "
                "the other axis. A column has to be less than shape[1], a row less than shape[0]."),
      unwritten_where(
          "quarter_of_a_tile", [=](const Index& i) { return i[along_columns ? 1 : 0] % kTile >= kBlockRows; },
          std::string("Of every 32 ") + (along_columns ? "columns" : "rows") +
              " only the first 8 are there. A block has kBlockRows rows of threads: either blocks begin "
              "kBlockRows rows apart, or each thread goes on to the other rows of its tile."),
      unwritten_where(
          "threads_exchanged", [=](const Index& i) { return i[along_columns ? 0 : 1] % kTile >= kBlockRows; },
          std::string("Of every 32 ") + (along_columns ? "rows" : "columns") +
              " only the first 8 are there: threadIdx.x, which is less than kTile, and threadIdx.y, which is "
              "less than kBlockRows, have changed places.")};
  if (std::min(rows, cols) > 0) {
    const std::size_t axis = along_columns ? 1 : 0;
    const std::string lines = along_columns ? "columns" : "rows", others = along_columns ? "rows" : "columns";
    const std::int64_t across = along_columns ? rows : cols;
    if (const simt::LaunchProfile* launch = launch_of(outcome)) {
      const std::int64_t reached = std::int64_t{launch->grid[0]} * kTile;
      if (reached <= across - kTile)  // else it is the tail
        mistakes.push_back(unwritten_where(
            "too_few_blocks_across", [=](const Index& i) { return i[1 - axis] >= reached; },
            "The grid has " + std::to_string(launch->grid[0]) + " x " + std::to_string(launch->grid[1]) +
                " blocks: along x enough for " + std::to_string(reached) + " " + others + ", and there are " +
                std::to_string(across) + ". Along x it needs tiles_along(shape[1])" +
                (along_columns ? ", once the axes are exchanged." : ".")));
    }
    const std::vector<bool> copied = rows_of_far_blocks(along_columns ? cols : rows);
    mistakes.push_back(unwritten_where(
        "blocks_too_far_apart", [=](const Index& i) { return !copied[static_cast<std::size_t>(i[axis])]; },
        "These " + lines + " are left out if blocks begin kTile " + lines +
            " apart, but each thread goes on by gridDim.y * kBlockRows. With such a step, blocks begin "
            "kBlockRows " +
            lines + " apart: a thread's first is blockIdx.y * kBlockRows + threadIdx.y."));
    const std::int64_t blocks =
        std::min<std::int64_t>(((along_columns ? cols : rows) - 1) / kTile + 1, kMaxGridY);
    mistakes.push_back(unwritten_where(
        "one_pass", [=](const Index& i) { return i[axis] >= blocks * kBlockRows; },
        "Only as many " + lines +
            " are there as the grid has rows of threads: each thread has to go on to its "
            "next, gridDim.y * kBlockRows further, as long as there are some."));
  }
  for (Mistake& mistake : elements_left_out(rows, cols)) mistakes.push_back(std::move(mistake));
  return mistakes;
}

}  // namespace course::lesson_02
