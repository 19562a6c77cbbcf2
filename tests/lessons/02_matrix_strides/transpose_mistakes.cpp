#include "02_matrix_strides/mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "02_matrix_strides/launches.hpp"
#include "02_matrix_strides/matrix_strides.hpp"
#include "02_matrix_strides/patterns.hpp"

namespace course::lesson_02 {

using namespace grading;

namespace {

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

}  // namespace

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

}  // namespace course::lesson_02
