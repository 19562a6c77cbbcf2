// Tests of lesson 02: copy_strided and transpose, which move elements and must keep every bit of them.

#include "02_matrix_strides/matrix_strides.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/transpose.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const Bound kExact{.floor = 0};   // nothing is computed
constexpr float kGap = -1.0f;     // what lies between the elements of src,
constexpr float kDstGap = -2.0f;  // and of dst

/// More rows than kMaxGridY blocks of copy_strided cover in one pass, even with kTile rows a block.
constexpr std::int64_t kBeyondOneGrid = std::int64_t{kMaxGridY} * kTile + kTile + 1;

/// More rows of tiles than a grid may have blocks along y, on the simulator and on every GPU.
constexpr std::int64_t kBeyondGridY = std::int64_t{65535} * kTile + 1;

// ---- data ----

/// Element (r, c) is 1000 r + c, so that a wrong element says where it came from.
Tensor<float> numbered(std::int64_t rows, std::int64_t cols, Strides strides = {}) {
  if (strides.empty()) strides = row_major_strides({rows, cols});
  Tensor<float> x({rows, cols}, strides, kGap);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) x(row, col) = static_cast<float>(1000 * row + col);
  return x;
}

/// Every element is another number, also in matrices with many rows.
Tensor<float> counted(std::int64_t rows, std::int64_t cols) {
  Tensor<float> x({rows, cols});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = static_cast<float>(i);
  return x;
}

/// No kernel knows these numbers beforehand, as it may those of numbered().
Tensor<float> with_random_numbers(const Tensor<float>& like) {
  Tensor<float> x = like;
  const Tensor<float> numbers = uniform(like.shape(), -1.0f, 1.0f, case_seed());
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = numbers.at_linear(i);
  return x;
}

/// Rows one after the other, or columns one after the other.
Strides row_major(std::int64_t, std::int64_t cols) { return {cols, 1}; }
Strides column_major(std::int64_t rows, std::int64_t) { return {1, rows}; }

// ---- what a copy must be ----

/// The elements of a matrix as they come out if row r begins r * row_stride elements into its memory, and
/// column c lies c * col_stride further. NaN where that is past its end.
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

/// Whether dst, which has these strides, holds what a kernel writes that takes `used` for them. Elements may
/// get several numbers, of which any may stay.
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

/// Tiles of kTile x kTile, each transposed where it stands or moved without being transposed; only where all
/// tiles are whole.
enum class Half { tiles_stay, elements_stay };
Tensor<double> half_transposed(const Tensor<float>& x, Half half) {
  Tensor<double> y({x.shape()[1], x.shape()[0]}, std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t row = 0; row < x.shape()[0]; ++row) {
    for (std::int64_t col = 0; col < x.shape()[1]; ++col) {
      const std::int64_t tile_row = row / kTile * kTile, tile_col = col / kTile * kTile;
      const std::int64_t y_row = half == Half::tiles_stay ? tile_row + col % kTile : tile_col + row % kTile;
      const std::int64_t y_col = half == Half::tiles_stay ? tile_col + row % kTile : tile_row + col % kTile;
      if (y_row < y.shape()[0] && y_col < y.shape()[1]) y(y_row, y_col) = x(row, col);
    }
  }
  return y;
}

/// Each row of a tile as the thread of its row begins: all the rows of a thread are its first.
Tensor<double> rows_of_threads(const Tensor<float>& x) {
  Tensor<double> y({x.shape()[1], x.shape()[0]});
  for (std::int64_t row = 0; row < y.shape()[0]; ++row)
    for (std::int64_t col = 0; col < y.shape()[1]; ++col)
      y(row, col) = x(col, row / kTile * kTile + row % kBlockRows);
  return y;
}

/// Mistakes that leave elements out, of a matrix with these rows and columns. Tile numbers are those of dst
/// or out.
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

/// The one launch of a call, if check mode has seen it.
const simt::LaunchProfile* launch_of(const Outcome& outcome) {
  return outcome.profile && outcome.profile->launches.size() == 1 ? &outcome.profile->launches.front()
                                                                  : nullptr;
}

/// The matrix must outlive the mistakes. Strides are those of dst.
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

/// How many tiles the shorter side of a matrix has.
std::int64_t tiles_in_both(std::int64_t rows, std::int64_t cols) {
  return (std::min(rows, cols) + kTile - 1) / kTile;
}

/// Whether out holds what a kernel moves that takes the rows of x for its columns, and the other way round.
/// `tiles_too`: its tiles are those of a matrix of that shape; else those of x.
bool moved_with_sizes_exchanged(const Tensor<float>& out, const Tensor<float>& x, bool tiles_too) {
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  const auto reached = [tiles_too](std::int64_t size, std::int64_t other) {
    return tiles_too ? size : std::min(size, (other + kTile - 1) / kTile * kTile);
  };
  Tensor<float> moved({cols, rows}, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t row = 0; row < reached(cols, rows); ++row)
    for (std::int64_t col = 0; col < reached(rows, cols); ++col)
      moved.at_linear(col * cols + row) = x.at_linear(row * rows + col);
  bool differs = false;
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const float value = out.at_linear(i), want = moved.at_linear(i);
    if (std::isnan(want) ? !std::isnan(value) : value != want) return false;
    differs = differs || value != x(i % rows, i / rows);
  }
  return differs;
}

/// Tiles that no block moves, or that all blocks but those of the first row of tiles miss.
Mistakes tiles_left_out(std::int64_t rows, std::int64_t cols, const Outcome& outcome) {
  const simt::LaunchProfile* const launch = launch_of(outcome);
  if (!launch || rows == 0 || cols == 0) return {};
  const std::int64_t across = (cols - 1) / kTile + 1, tiles = across * ((rows - 1) / kTile + 1);
  const std::int64_t blocks = std::int64_t{launch->grid[0]} * launch->grid[1] * launch->grid[2];
  if (blocks < tiles)
    return {unwritten_where(
        "too_few_blocks", [=](const Index& i) { return i[1] / kTile * across + i[0] / kTile >= blocks; },
        "The launch has " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks") + " for " +
            std::to_string(tiles) + " tiles, and the tiles without a block are missing.")};
  if (rows <= kTile) return {};
  if (launch->grid[1] > 1 || launch->grid[2] > 1)
    return {unwritten_where(
        "first_row_of_tiles_alone", [](const Index& i) { return i[1] >= kTile; },
        "Only the first row of tiles of in is moved: blockIdx.x counts the blocks along x alone, and the "
        "grid has " +
            std::to_string(launch->grid[0]) + " x " + std::to_string(launch->grid[1]) +
            " blocks. The contract has all tiles along x.")};
  return {unwritten_where(
      "first_row_of_tiles_alone", [](const Index& i) { return i[1] >= kTile; },
      "Only the first row of tiles of in is moved, though there are blocks for all. tile_row is blockIdx.x / "
      "tiles_across, tile_col the remainder, and tiles_across is tiles_along(cols).")};
}

/// The matrix must outlive the mistakes.
Mistakes mistakes_of_transpose(const Tensor<float>& x, const Outcome& outcome) {
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  Mistakes mistakes{
      gives(
          "not_transposed",
          [&x, rows, cols] {
            return read_with_strides(x, {cols, rows}, rows, 1);
          },
          "out holds the elements of in in the same order: nothing was transposed."),
      gives(
          "tiles_stay", [&x] { return half_transposed(x, Half::tiles_stay); },
          "Each tile is transposed, but where it stands: tile (i, j) of in becomes tile (j, i) of out."),
      gives(
          "elements_stay", [&x] { return half_transposed(x, Half::elements_stay); },
          "The tiles have changed places, but inside each the elements stand as in in: read the tile from "
          "shared memory with its two indices exchanged."),
      gives(
          "row_length_of_out",
          [&x, rows, cols] {
            return read_with_strides(x, {cols, rows}, 1, rows);
          },
          "in is read with the row length of out: a row of in has cols elements."),
      unwritten_where(
          "square_of_tiles",
          [=](const Index& i) { return std::max(i[0], i[1]) >= tiles_in_both(rows, cols) * kTile; },
          std::string(
              "Only a square of tiles is there, as many across as down. Perhaps a block does not find "
              "its tile: tile_row is blockIdx.x / tiles_across, tile_col the remainder, and "
              "tiles_across is tiles_along(cols). Perhaps the guard of out holds its rows against "
              "rows: out has cols rows and rows columns.") +
              (launch_of(outcome) ? "" : " Perhaps the launch has blocks for the square alone.")),
      unwritten_where(
          "quarter_of_a_tile", [](const Index& i) { return i[0] % kTile >= kBlockRows; },
          "Of every 32 rows only the first 8 are there: a block has kTile x kBlockRows threads, so each of "
          "them has kTile / kBlockRows rows of the tile to do."),
      shows(
          "rows_and_cols_exchanged",
          [&x](const Tensor<float>& got) {
            return moved_with_sizes_exchanged(got, x, false) || moved_with_sizes_exchanged(got, x, true);
          },
          "The kernel takes rows for cols and cols for rows. The launch has to give them in the order of the "
          "kernel's parameters."),
      gives(
          "rows_repeat", [&x] { return rows_of_threads(x); },
          "Of every 32 rows, each 8 hold the same elements: the tile is read with threadIdx.y, where the row "
          "that the thread has come to belongs.")};
  for (Mistake& mistake : elements_left_out(cols, rows)) mistakes.push_back(std::move(mistake));
  for (Mistake& mistake : tiles_left_out(rows, cols, outcome)) {
    if (mistake.name == "too_few_blocks")  // says why it is a square, where it is one
      std::erase_if(mistakes, [](const Mistake& one) { return one.name == "square_of_tiles"; });
    mistakes.push_back(std::move(mistake));
  }
  const std::int64_t tiles_down = (cols + kTile - 1) / kTile,
                     tiles_across = (rows + kTile - 1) / kTile;  // of out
  if (tiles_down > 1)
    mistakes.push_back(unwritten_where(
        "tile_for_element", [=](const Index& i) { return i[0] >= tiles_down - 1 + kTile; },
        "Tiles begin one column of in apart: tile_col counts tiles, and each is kTile columns wide."));
  if (tiles_across > 1)
    mistakes.push_back(unwritten_where(
        "tile_for_element", [=](const Index& i) { return i[1] >= tiles_across - 1 + kTile; },
        "Tiles begin one row of in apart: tile_row counts tiles, and each is kTile rows high."));
  mistakes.push_back(shows(
      "truncated",
      [&x](const Tensor<float>& out) {
        for (std::int64_t row = 0; row < out.shape()[0]; ++row)
          for (std::int64_t col = 0; col < out.shape()[1]; ++col)
            if (out(row, col) != std::trunc(x(col, row))) return false;
        return true;
      },
      "What stands after the point is lost: an element is held by an integer on its way. The tile has to be "
      "one of float."));
  return mistakes;
}

/// First the comparison that describes the pattern of what is wrong, then the strict one.
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

/// "1 block", "2 blocks".
std::string count_of(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Before the results: with another block, indices mean something else, and lead anywhere.
void require_block(const Outcome& outcome, TestLine where = TestLine::here()) {
  const simt::LaunchProfile* const launch = launch_of(outcome);
  if (!launch) return;
  const auto& block = launch->block;
  if (block[0] == kTile && block[1] == kBlockRows && block[2] == 1) return;
  const std::string sentence = "Blocks have " + std::to_string(block[0]) + " x " + std::to_string(block[1]) +
                               (block[2] == 1 ? "" : " x " + std::to_string(block[2])) +
                               " threads. The contract asks for kTile x kBlockRows, 32 along x and 8 along "
                               "y: dim3(kTile, kBlockRows).";
  grading::detail::report({{.kind = Failure::Kind::check, .sentence = sentence, .explains_findings = true}},
                          where);
}

/// The launch that the contract asks for. The simulator counts; a GPU does not tell.
void require_launch(const Outcome& outcome, std::string_view entry, std::int64_t elements) {
  const std::int64_t launches = outcome.counters.at("launches");
  if (elements == 0) {
    require(launches == 0, "An empty matrix launches nothing, but " + std::string(entry) + " launched " +
                               count_of(launches, "kernel") + ".");
    return;
  }
  const std::int64_t blocks = outcome.counters.at("blocks"), threads = outcome.counters.at("threads");
  require(launches == 1,
          std::string(entry) + " launched " + count_of(launches, "kernel") + "; it should launch one.");
  require(threads == blocks * kTile * kBlockRows,
          "The launch had " + count_of(blocks, "block") + " of " + std::to_string(threads / blocks) +
              " threads. The contract asks for blocks of kTile x kBlockRows = " +
              std::to_string(kTile * kBlockRows) + ".");
}

/// How many blocks copy_strided may and must have for rows that lie one after the other. `narrow`: the same
/// call, where CUDA takes no more blocks along x than the columns need.
void require_copy_grid(const Outcome& outcome, std::int64_t rows, std::int64_t cols,
                       const std::function<Outcome()>& narrow) {
  const std::int64_t blocks = outcome.counters.at("blocks");
  const std::int64_t tiles_across = (cols - 1) / kTile + 1, tiles_down = (rows - 1) / kTile + 1;
  const auto why = [&]() -> std::string {
    if (narrow().status == Status::returned) return "";
    return " The blocks along x are those for the rows: the grid has its axes exchanged, or rows and columns "
           "are, though the smaller stride of dst is strides[1] here.";
  };
  if (blocks > tiles_across * kMaxGridY)
    require(false, "The launch had " + count_of(blocks, "block") + ". " + std::to_string(cols) +
                       " columns need " + std::to_string(tiles_across) +
                       " along x, and the contract allows kMaxGridY = " + std::to_string(kMaxGridY) +
                       " along y." + why());
  if (blocks < std::min<std::int64_t>(tiles_across * tiles_down, kMaxGridY))
    require(false, "The launch had only " + count_of(blocks, "block") + ", though the matrix has " +
                       std::to_string(tiles_across * tiles_down) +
                       " tiles. With more of them, more of a GPU works at once." + why());
}

void require_block_per_tile(const Outcome& outcome, std::int64_t rows, std::int64_t cols) {
  const std::int64_t tiles = ((rows - 1) / kTile + 1) * ((cols - 1) / kTile + 1);
  require(outcome.counters.at("blocks") == tiles,
          "The launch had " + std::to_string(outcome.counters.at("blocks")) + " blocks for " +
              std::to_string(tiles) + " tiles. The contract asks for one block a tile.");
}

// ---- what check mode counts ----

/// "32.0": how many sectors a warp's access touches on average.
std::string per_request(std::uint64_t count, std::uint64_t requests) {
  const std::uint64_t tenths = requests == 0 ? 0 : (10 * count + requests / 2) / requests;
  return tenths % 10 == 0 ? std::to_string(tenths / 10)
                          : std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

/// Why so many rows are copied, if it is that the loop over rows steps by those of one block.
std::string rows_again(const Profile& profile, std::int64_t elements, std::string_view to) {
  if (to != "dst" || profile.launches.empty()) return "";
  const simt::LaunchProfile& launch = profile.launches[0];
  const std::int64_t across = std::int64_t{launch.grid[0]} * kTile;
  for (std::int64_t rows = 1; rows <= elements; ++rows) {
    const std::int64_t cols = elements / rows;
    if (elements % rows != 0 || cols > across || cols <= across - kTile) continue;
    std::int64_t copied = 0;
    for (std::int64_t first = 0; first < std::min(rows, std::int64_t{launch.grid[1]} * kBlockRows); ++first)
      copied += (rows - first - 1) / kBlockRows + 1;
    if (copied > rows && static_cast<std::uint64_t>(4 * copied * cols) == profile.global_store.bytes_asked)
      return " Rows are copied more than once: so many if each thread goes on by kBlockRows rows, those of "
             "one block. It has to go on by the rows of all blocks along y, gridDim.y * kBlockRows.";
  }
  return "";
}

/// Each element read once and written once.
void require_one_pass(const Outcome& outcome, std::int64_t elements, std::string_view from,
                      std::string_view to) {
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  const auto bytes = static_cast<std::uint64_t>(4 * elements);
  require(profile->global_load.bytes_asked == bytes,
          "The threads read " + std::to_string(profile->global_load.bytes_asked) +
              " bytes in all. To read each element of " + std::string(from) + " once takes " +
              std::to_string(bytes) + " bytes." + rows_again(*profile, elements, to));
  require(profile->global_store.bytes_asked == bytes,
          "The threads wrote " + std::to_string(profile->global_store.bytes_asked) +
              " bytes in all. To write each element of " + std::string(to) + " once takes " +
              std::to_string(bytes) + " bytes.");
}

/// No access touches more than 1.1 times the sectors that its bytes fill, where neighbours lie `apart`
/// elements from each other.
void require_coalesced(const simt::GlobalTraffic& traffic, const std::string& verb, const std::string& array,
                       const std::string& remedy, std::uint64_t apart = 1) {
  const std::uint64_t ideal = apart * traffic.ideal_sectors;
  require(10 * traffic.sectors <= 11 * ideal,
          "When a warp " + verb + " " + array + ", it touches " +
              per_request(traffic.sectors, traffic.requests) + " sectors of 32 bytes where " +
              per_request(ideal, traffic.requests) + " would do. " + remedy);
  require_full_sectors(traffic, verb == "reads" ? "load" : "store");
}

/// No block moves more than a tile, and no warp most of it.
void require_busy(const Profile& profile, std::int64_t elements) {
  require_busy_blocks(profile, static_cast<double>(kTile * kTile) / static_cast<double>(elements));
  require_busy_warps(profile);
}

void require_no_conflicts(const simt::SharedTraffic& traffic, const std::string& verb) {
  require(traffic.conflicts() == 0,
          "When a warp " + verb + " shared memory, it takes " +
              per_request(traffic.wavefronts, traffic.requests) + " passes through the banks where " +
              per_request(traffic.ideal_wavefronts, traffic.requests) +
              " would do: several of its lanes want different words of the same bank. Elements whose "
              "addresses differ by a multiple of 32 words share a bank.");
}

/// The elements go through shared memory: where none does, nothing has a bank conflict either.
void require_tiles(const Profile& profile, std::int64_t elements) {
  const auto bytes = static_cast<std::uint64_t>(4 * elements);
  const std::uint64_t stored = profile.shared_store.bytes_asked, loaded = profile.shared_load.bytes_asked;
  require(stored >= bytes && loaded >= bytes,
          "The threads wrote " + std::to_string(stored) + " bytes to shared memory and read " +
              std::to_string(loaded) + " from there. Each element of in goes through a tile, which takes " +
              std::to_string(bytes) + " bytes of both.");
}

// ---- calls ----

/// Copies src into a matrix with these strides.
Outcome copy_into(const Tensor<float>& src, Tensor<float>& dst, const CallOptions& options = {}) {
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
                   const CallOptions& options = {}) {
  const Tensor<float> src = numbered(rows, cols, std::move(src_strides));
  Tensor<float> dst({rows, cols}, std::move(dst_strides), kDstGap);
  INFO("src[r, c] = 1000 r + c");
  return copy_into(src, dst, options);
}

/// The same, and then once more with numbers that no kernel knows: that call is the one whose accesses count.
Outcome check_unknown_copy(std::int64_t rows, std::int64_t cols, const Strides& src_strides,
                           const Strides& dst_strides, const CallOptions& options = {}) {
  check_copy(rows, cols, src_strides, dst_strides, options);
  Tensor<float> dst({rows, cols}, dst_strides, kDstGap);
  return copy_into(with_random_numbers(numbered(rows, cols, src_strides)), dst, options);
}

Outcome transpose_into(const Tensor<float>& x, Tensor<float>& out_tensor, const CallOptions& options = {}) {
  INFO("in: shape " << format_shape(x.shape()));
  const Outcome outcome =
      call_with(options, ENTRY(transpose), in(x, "in"), out(out_tensor, "out"), x.shape()[0], x.shape()[1]);
  require_ran(outcome);
  require_block(outcome);
  require_transpose(out_tensor, x, outcome);
  require_launch(outcome, "transpose", x.numel());
  return outcome;
}

Outcome check_transpose(std::int64_t rows, std::int64_t cols, const CallOptions& options = {}) {
  const Tensor<float> x = numbered(rows, cols);
  Tensor<float> y({cols, rows});
  INFO("in[r, c] = 1000 r + c");
  return transpose_into(x, y, options);
}

/// The same, and then once more with numbers that no kernel knows: that call is the one whose accesses count.
Outcome check_unknown_transpose(std::int64_t rows, std::int64_t cols) {
  check_transpose(rows, cols);
  Tensor<float> y({cols, rows});
  return transpose_into(with_random_numbers(numbered(rows, cols)), y);
}

/// Of matrices in whose transpose accesses count: rows and columns begin with sectors. The cases about
/// sectors and about bank conflicts share all but the last, which no kernel knows beforehand: else a kernel
/// could have a tile for the ones, and none for the others.
std::vector<Shape> counted_shapes() {
  Random random(case_seed());
  return {{96, 160}, {136, 72}, {8 * random.integer(5, 20), 8 * random.integer(5, 20)}};
}

/// The same for copies. No kernel knows the second beforehand.
std::vector<Shape> counted_shapes_of_copies() {
  Random random(case_seed());
  return {{72, 136}, {8 * random.integer(5, 16), 8 * random.integer(5, 16)}};
}

/// Comes before other sizes, where exchanged strides or guards leave the arrays and nothing else can be told
/// of them. These stay within, and where one of the two strides is wrong, tell which. dst has its rows side
/// by side, or its columns.
void require_strides_and_guard(bool rows_side_by_side) {
  if (rows_side_by_side) {
    check_copy(3 * kTile, 2 * kTile, {3 * kTile + 6, 1}, {3 * kTile + 3, 1});
    check_copy(33, 40, row_major(33, 40), row_major(33, 40));
  } else {
    check_copy(2 * kTile, 3 * kTile, {1, 3 * kTile + 3}, {1, 3 * kTile + 6});
    check_copy(40, 33, row_major(40, 33), column_major(40, 33));
  }
}

/// Comes before other sizes: where all tiles are whole, wrong indices stay within the matrix and within what
/// was written.
void require_whole_tiles() {
  check_transpose(2 * kTile, 2 * kTile);
  check_transpose(kTile, 2 * kTile);
}

CallOptions with_grid_limit(std::int64_t blocks) {
  CallOptions options;
  options.max_grid_x = static_cast<std::uint32_t>(blocks);
  return options;
}

/// A copy of rows where CUDA takes no more blocks along x than their columns need.
Outcome copy_narrow(std::int64_t rows, std::int64_t cols) {
  const Tensor<float> src({rows, cols}, 0.0f);
  Tensor<float> dst({rows, cols});
  return call_with(with_grid_limit((cols - 1) / kTile + 1), ENTRY(copy_strided), in(src, "src"),
                   out(dst, "dst"));
}

}  // namespace

// ---- copy_strided ----

TEST_CASE("copies a square and the matrix of the notes both ways", "[l02][copy_strided][points:1]") {
  check_copy(3, 3, row_major(3, 3), row_major(3, 3));  // first a square: wrong strides stay within it
  const auto src = Tensor<float>::from({2, 3}, {1, 2, 3, 5, 8, 13});
  Tensor<float> dst({2, 3});
  copy_into(src, dst);
  Tensor<float> dst_transposed({3, 2});
  copy_into(src.transposed(0, 1), dst_transposed);
}

TEST_CASE("copies matrices of 0, 1, 31, 32, 33 and 100 rows and columns", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  for (const std::int64_t rows : {0, 1, 31, 32, 33, 100})
    for (const std::int64_t cols : {100, 33, 32, 31, 1, 0})
      check_copy(rows, cols, row_major(rows, cols), row_major(rows, cols));
  check_copy(5, 0, {7, 1}, {7, 1});
}

TEST_CASE("copies between rows and columns that lie one after the other", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  require_strides_and_guard(false);
  for (const auto& [rows, cols] :
       {std::pair<std::int64_t, std::int64_t>{5, 3}, {33, 97}, {100, 31}, {1, 40}, {40, 1}}) {
    check_copy(rows, cols, column_major(rows, cols), row_major(rows, cols));
    check_copy(rows, cols, row_major(rows, cols), column_major(rows, cols));
    check_copy(rows, cols, column_major(rows, cols), column_major(rows, cols));
  }
  // Nobody steps along an axis of length 1: its stride may be anything, and so 0.
  check_copy(1, 40, {0, 1}, {0, 1});
  check_copy(40, 1, {1, 0}, {1, 0});
}

TEST_CASE("copies a slice, and leaves the gaps of dst as they are", "[l02][copy_strided][points:3]") {
  require_strides_and_guard(true);
  // The left 40 columns of a matrix with 70; every second column; every third row and second column.
  check_copy(50, 40, {70, 1}, {40, 1});
  check_copy(50, 40, {40, 1}, {70, 1});
  check_copy(37, 20, {40, 2}, {45, 2});
  check_copy(37, 20, {3 * 41, 2}, {2, 2 * 37});
  check_copy(37, 20, {3, 3 * 40}, {20, 1});
  // The same gaps on both sides.
  check_copy(50, 40, {70, 1}, {70, 1});
  check_copy(37, 20, {2, 2 * 40}, {2, 2 * 40});
  for (const CallOptions& shifted : with_shifted_arrays(2)) {
    INFO("One of the matrices begins at no multiple of 16 bytes");
    check_copy(40, 48, {48, 1}, {64, 1}, shifted);
  }
  Random random(case_seed());  // for sizes and strides that no kernel knows beforehand
  for (const CallOptions& shifted : {CallOptions{}, with_shifted_arrays(2)[0], with_shifted_arrays(2)[1]}) {
    const std::int64_t rows = drawn::length(random, 200), cols = drawn::length(random, 200);
    check_unknown_copy(rows, cols, drawn::strides(rows, cols, random), drawn::strides(rows, cols, random),
                       shifted);
  }
  // Whole tiles, which may have a fast path: from rows or columns to rows or columns.
  const std::int64_t rows = 64 * random.integer(1, 3), cols = 64 * random.integer(1, 3);
  const Strides by_rows{cols + random.integer(1, 9), 1}, by_columns{1, rows + random.integer(1, 9)};
  const auto wider = [&] { return random.integer(10, 19); };
  check_unknown_copy(rows, cols, by_rows, by_columns);
  check_unknown_copy(rows, cols, by_columns, by_rows);
  check_unknown_copy(rows, cols, by_rows, {cols + wider(), 1});
  check_unknown_copy(rows, cols, by_columns, {1, rows + wider()});
}

TEST_CASE("lets neighbouring threads copy neighbours along a row", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  for (const Shape& shape : counted_shapes_of_copies()) {
    const std::int64_t rows = shape[0], cols = shape[1];
    const Outcome outcome = check_unknown_copy(rows, cols, row_major(rows, cols), row_major(rows, cols));
    require_copy_grid(outcome, rows, cols, [&] { return copy_narrow(rows, cols); });
    require_one_pass(outcome, rows * cols, "src", "dst");
    if (const Profile* profile = profile_of(outcome)) {
      const std::string remedy =
          "The elements of a row lie side by side: let threads with consecutive threadIdx.x take them.";
      require_coalesced(profile->global_load, "reads", "src", remedy);
      require_coalesced(profile->global_store, "writes", "dst", remedy);
      require_busy(*profile, rows * cols);
    }
  }
}

TEST_CASE("copies more rows than one grid reaches", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  require_strides_and_guard(false);
  const std::int64_t rows = kBeyondOneGrid, cols = Random(case_seed()).integer(2, 7);
  const Tensor<float> src = counted(rows, cols);
  Tensor<float> dst({rows, cols});
  const Outcome outcome = copy_into(src, dst);
  require_copy_grid(outcome, rows, cols, [&] { return copy_narrow(rows, cols); });

  const Tensor<float> wide = counted(cols, rows);
  Tensor<float> wide_dst({cols, rows});
  copy_into(wide, wide_dst);

  Tensor<float> columns({cols, rows}, {1, cols}, 0.0f);
  copy_into(wide, columns);

  // Along x a grid has as many blocks as it takes, and more than it may have along y.
  const Tensor<float> tall = counted(kBeyondGridY, 1);
  Tensor<float> tall_dst({kBeyondGridY, 1}, {1, kBeyondGridY}, 0.0f);
  copy_into(tall, tall_dst);
}

TEST_CASE("keeps every bit of NaN, infinities, zeros of both signs and tiny numbers",
          "[l02][copy_strided][points:1]") {
  require_strides_and_guard(false);
  for (const Pattern pattern :
       {Pattern::subnormal, Pattern::signed_zeros, Pattern::infinities, Pattern::one_nan}) {
    INFO("data: " << pattern_name(pattern));
    const Tensor<float> src = adversarial(pattern, {35, 37}, case_seed());
    Tensor<float> dst({35, 37}, {1, 35}, 0.0f);
    copy_into(src, dst);
  }
  const Tensor<float> src = drawn::nans_of_all_kinds({35, 37});
  INFO("data: NaN, each with other bits");
  Tensor<float> dst({35, 37}, {1, 35}, 0.0f);
  copy_into(src, dst);
}

TEST_CASE("copies in every order of blocks and threads", "[l02][copy_strided][points:1]") {
  require_strides_and_guard(true);
  const Tensor<float> src = numbered(70, 130, {1, 71});
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::forward, Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.order = order;
    options.seed = seed++;
    Tensor<float> dst({70, 130});
    copy_into(src, dst, options);
  }
}

TEST_CASE("lets neighbouring threads copy neighbours down a column where the columns lie one after the other",
          "[l02][copy_strided][points:3]") {
  require_strides_and_guard(false);
  const std::string remedy =
      "Here the smaller stride is strides[0]: the elements of a column lie side by side, and threads with "
      "consecutive threadIdx.x should take them.";
  for (const Shape& shape : counted_shapes_of_copies()) {
    const std::int64_t rows = shape[1], cols = shape[0];
    const Outcome both = check_unknown_copy(rows, cols, column_major(rows, cols), column_major(rows, cols));
    require_one_pass(both, rows * cols, "src", "dst");
    if (const Profile* profile = profile_of(both)) {
      require_coalesced(profile->global_load, "reads", "src", remedy);
      require_coalesced(profile->global_store, "writes", "dst", remedy);
      require_busy(*profile, rows * cols);
    }
    // From rows to columns only one side can have its neighbours side by side. The contract says which.
    const Outcome mixed = check_unknown_copy(rows, cols, row_major(rows, cols), column_major(rows, cols));
    require_one_pass(mixed, rows * cols, "src", "dst");
    if (const Profile* profile = profile_of(mixed)) {
      require_coalesced(profile->global_store, "writes", "dst", remedy);
    }
    const Outcome wide = check_unknown_copy(cols, rows, row_major(cols, rows), column_major(cols, rows));
    if (const Profile* profile = profile_of(wide)) {
      require_coalesced(profile->global_store, "writes", "dst", remedy);
    }
    const Outcome other = check_unknown_copy(rows, cols, column_major(rows, cols), row_major(rows, cols));
    if (const Profile* profile = profile_of(other)) {
      require_coalesced(profile->global_store, "writes", "dst",
                        "Here the smaller stride of dst is strides[1], whatever the strides of src.");
    }
    // Neighbours along the smaller stride need not touch: here they lie two elements apart.
    const Outcome apart = check_unknown_copy(rows, cols, row_major(rows, cols), {2, 2 * rows + 8});
    if (const Profile* profile = profile_of(apart))
      require_coalesced(profile->global_store, "writes", "dst",
                        "Here the smaller stride of dst is strides[0], which is 2.", 2);
    const Outcome along = check_unknown_copy(cols, rows, column_major(cols, rows), {2 * rows + 8, 2});
    if (const Profile* profile = profile_of(along))
      require_coalesced(profile->global_store, "writes", "dst",
                        "Here the smaller stride of dst is strides[1], which is 2.", 2);
  }
}

TEST_CASE("copies (3, 4) into (3, 4), but refuses to copy it into (4, 3) or (3, 5)",
          "[l02][copy_strided][points:1]") {
  require_strides_and_guard(true);
  check_copy(3, 4, row_major(3, 4), row_major(3, 4));
  const Tensor<float> src = numbered(3, 4);
  for (const Shape& shape : {Shape{4, 3}, Shape{3, 5}, Shape{2, 4}}) {
    INFO("src: shape (3, 4); dst: shape " << format_shape(shape));
    Tensor<float> dst(shape);
    require_throws<std::invalid_argument>(call(ENTRY(copy_strided), in(src, "src"), out(dst, "dst")), "dst");
  }
  Random random(case_seed());  // for shapes that no kernel knows beforehand
  const std::int64_t rows = random.integer(4, 50), cols = random.integer(4, 50);
  const Tensor<float> drawn = numbered(rows, cols);
  for (const Shape& shape : drawn::misfits(drawn.shape(), random)) {
    INFO("src: shape " << format_shape(drawn.shape()) << "; dst: shape " << format_shape(shape));
    Tensor<float> dst(shape);
    require_throws<std::invalid_argument>(call(ENTRY(copy_strided), in(drawn, "src"), out(dst, "dst")),
                                          "dst");
  }
  const Tensor<float> empty({rows, 0});
  INFO("src: shape " << format_shape(empty.shape()) << "; dst: shape " << format_shape(drawn.shape()));
  Tensor<float> dst(drawn.shape());
  require_throws<std::invalid_argument>(call(ENTRY(copy_strided), in(empty, "src"), out(dst, "dst")), "dst");
}

TEST_CASE("copy: reports a launch that CUDA refuses", "[l02][copy_strided][points:1]") {
  // A grid limit of one block along x: CUDA refuses any sensible launch. A GPU has no such switch and accepts
  // it; then the copy must be right.
  require_strides_and_guard(true);
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Tensor<float> src = numbered(random.integer(5, 9), random.integer(1000, 1300));
  Tensor<float> dst(src.shape());
  const Outcome unlimited = call(ENTRY(copy_strided), in(src, "src"), out(dst, "dst"));
  require_ran(unlimited);
  const Outcome outcome = call_with(with_grid_limit(1), ENTRY(copy_strided), in(src, "src"), out(dst, "dst"));
  if (!require_refused_launch(outcome, unlimited)) require_copy(dst, src, outcome);
}

// ---- transpose ----

TEST_CASE("transposes squares and the matrix of the notes", "[l02][transpose][points:1]") {
  check_transpose(3, 3);  // first a square: wrong indices stay within it
  require_whole_tiles();
  const auto x = Tensor<float>::from({2, 3}, {1, 2, 3, 5, 8, 13});
  Tensor<float> y({3, 2});
  transpose_into(x, y);
}

TEST_CASE("transposes matrices of 0, 1, 31, 32, 33 and 100 rows and columns", "[l02][transpose][points:2]") {
  require_whole_tiles();
  check_transpose(5, 100);  // first a flat one: a tile with few rows tells most about who moves which
  for (const std::int64_t rows : {32, 100, 33, 31, 1, 0})
    for (const std::int64_t cols : {32, 100, 33, 31, 1, 0}) check_transpose(rows, cols);
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (int i = 0; i < 3; ++i) check_unknown_transpose(drawn::length(random, 200), drawn::length(random, 200));
  const std::int64_t whole = 64 * random.integer(1, 2);
  check_unknown_transpose(whole, 192);
  check_unknown_transpose(192, whole);
  for (const CallOptions& shifted : with_shifted_arrays(2)) {
    INFO("One or both of the matrices begin at no multiple of 16 bytes");
    check_transpose(64, 96, shifted);
  }
}

TEST_CASE("transposes more rows than blocks fit along one axis of a grid, and as many columns",
          "[l02][transpose][points:2]") {
  require_whole_tiles();
  const Tensor<float> tall = counted(kBeyondGridY, 1), wide = counted(1, kBeyondGridY);
  Tensor<float> tall_out({1, kBeyondGridY}), wide_out({kBeyondGridY, 1});
  transpose_into(tall, tall_out);
  transpose_into(wide, wide_out);
}

TEST_CASE("transposes NaN, infinities, zeros of both signs and tiny numbers to the last bit",
          "[l02][transpose][points:1]") {
  require_whole_tiles();
  for (const Pattern pattern :
       {Pattern::subnormal, Pattern::signed_zeros, Pattern::infinities, Pattern::one_nan}) {
    INFO("data: " << pattern_name(pattern));
    const Tensor<float> x = adversarial(pattern, {35, 37}, case_seed());
    Tensor<float> y({37, 35});
    transpose_into(x, y);
  }
  const Tensor<float> x = drawn::nans_of_all_kinds({35, 37});
  INFO("data: NaN, each with other bits");
  Tensor<float> y({37, 35});
  transpose_into(x, y);
}

TEST_CASE("transposes in every order of blocks and threads", "[l02][transpose][points:1]") {
  require_whole_tiles();
  const Tensor<float> x = numbered(70, 130);
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::forward, Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.order = order;
    options.seed = seed++;
    Tensor<float> y({130, 70});
    transpose_into(x, y, options);
  }
}

TEST_CASE("transposes with reads and writes that both lie side by side", "[l02][transpose][points:2]") {
  require_whole_tiles();
  for (const Shape& shape : counted_shapes()) {
    const std::int64_t rows = shape[0], cols = shape[1];
    const Outcome outcome = check_unknown_transpose(rows, cols);
    require_block_per_tile(outcome, rows, cols);
    require_one_pass(outcome, rows * cols, "in", "out");
    if (const Profile* profile = profile_of(outcome)) {
      require_coalesced(profile->global_load, "reads", "in",
                        "The elements of a row of in lie side by side: let threads with consecutive "
                        "threadIdx.x read them.");
      require_coalesced(
          profile->global_store, "writes", "out",
          "The elements of a row of out lie side by side: let threads with consecutive "
          "threadIdx.x write them, and take them from the tile, where the order costs nothing.");
      require_busy(*profile, rows * cols);
    }
  }
}

TEST_CASE("transposes without bank conflicts", "[l02][transpose][points:2]") {
  require_whole_tiles();
  std::vector<Shape> shapes = counted_shapes();
  shapes.push_back({75, 53});
  for (const Shape& shape : shapes) {
    const Outcome outcome = check_unknown_transpose(shape[0], shape[1]);
    if (const Profile* profile = profile_of(outcome)) {
      require_no_conflicts(profile->shared_load, "reads");
      require_no_conflicts(profile->shared_store, "writes");
      require_tiles(*profile, shape[0] * shape[1]);
    }
  }
}

TEST_CASE("transposes (3, 4), but refuses -3 rows and -4 columns", "[l02][transpose][points:1]") {
  require_whole_tiles();
  check_transpose(3, 4);
  const Tensor<float> x = numbered(3, 4);
  Tensor<float> y({4, 3});
  const auto require_refused = [&](std::int64_t rows, std::int64_t cols, const char* argument) {
    INFO("rows = " << rows << ", cols = " << cols);
    require_throws<std::invalid_argument>(call(ENTRY(transpose), in(x, "in"), out(y, "out"), rows, cols),
                                          argument);
  };
  require_refused(-3, 4, "rows");
  require_refused(3, -4, "cols");
  require_refused(-3, 0, "rows");
  require_refused(0, -4, "cols");
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const std::int64_t most : {std::int64_t{1000}, std::int64_t{1} << 40}) {
    require_refused(-random.integer(1, most), 4, "rows");
    require_refused(3, -random.integer(1, most), "cols");
  }
}

TEST_CASE("transpose: reports a launch that CUDA refuses", "[l02][transpose][points:1]") {
  require_whole_tiles();
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t few = random.integer(5, 9), many = random.integer(1000, 1300);
  const Tensor<float> x = numbered(few, many);
  Tensor<float> y({many, few});
  const Outcome unlimited = call(ENTRY(transpose), in(x, "in"), out(y, "out"), few, many);
  require_ran(unlimited);
  const Outcome outcome =
      call_with(with_grid_limit(1), ENTRY(transpose), in(x, "in"), out(y, "out"), few, many);
  if (!require_refused_launch(outcome, unlimited)) {
    require_transpose(y, x, outcome);
    return;
  }
  // Nothing runs here, so that the matrices need no memory. In 32 bits these sizes are negative and 0.
  for (const std::int64_t size : {std::int64_t{1} << 31, std::int64_t{1} << 32}) {
    INFO("With rows = " << size << " and cols = 1, too, it is CUDA that refuses, and with the two exchanged");
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{size, 1}, {1, size}})
      require_throws<std::runtime_error>(
          call_with(with_grid_limit(1), ENTRY(transpose), in(x, "in"), out(y, "out"), rows, cols));
  }
}

COURSE_RUN(RunContext& run) {
  const auto x = run.input<float>("x", {"rows", "cols"});
  Tensor<float> y({x.shape()[1], x.shape()[0]});
  run.call(ENTRY(transpose), in(x, "in"), out(y, "out"), x.shape()[0], x.shape()[1]);
  run.output("y", y);
}
