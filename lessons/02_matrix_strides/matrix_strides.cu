// Lesson 02: a copy between any two strided matrices, and a transpose that is fast on both of its sides.

#include "matrix_strides.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "device/cuda_check.hpp"

namespace course {

/// dst = src. Shapes: both (rows, cols), any strides. Correct for every number of blocks along y.
__global__ void copy_strided_kernel(View<const float, 2> src, View<float, 2> dst) {
  // TODO 1: which column is this thread's? What if the matrix has no such column?
  // TODO 2: which row does it copy first, and how far is it to its next one? Copy them, each by its strides.
}

/// out[c][r] = in[r][c]. Shapes: in (rows, cols), out (cols, rows). A block moves one tile; `in` is
/// tiles_across tiles wide, and blocks count them row by row.
__global__ void transpose_kernel(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                                 unsigned tiles_across) {
  // TODO 6: a tile in shared memory. How long a row of it is, and why, the notes say.
  // TODO 7: which tile is this block's, and where in `in` does it begin?
  // TODO 8: read it, 8 rows at a time, a warp along a row of `in`. Which of its elements exist?
  // TODO 9: what must have happened before a thread may read what others wrote?
  // TODO 10: write it, 8 rows at a time, a warp along a row of `out`. Which of these elements exist?
}

std::int64_t tiles_along(std::int64_t size) { return (size - 1) / kTile + 1; }  // rounded up; size > 0

/// The same elements with the axes exchanged: element (r, c) becomes element (c, r), and nothing moves.
template <class T>
View<T, 2> transposed(View<T, 2> x) {
  // TODO 4: what has to change in a view, and what may stay?
  return x;
}

void require_same_shape(const View<const float, 2>& src, const View<float, 2>& dst) {
  if (src.shape[0] == dst.shape[0] && src.shape[1] == dst.shape[1]) return;
  throw std::invalid_argument("dst must have the shape of src, (" + std::to_string(src.shape[0]) + ", " +
                              std::to_string(src.shape[1]) + "), but it has (" +
                              std::to_string(dst.shape[0]) + ", " + std::to_string(dst.shape[1]) + ").");
}

void require_size(const char* name, std::int64_t size) {
  if (size < 0) {
    throw std::invalid_argument(std::string(name) + " must be 0 or more, but it is " + std::to_string(size) +
                                ".");
  }
}

void copy_strided(View<const float, 2> src, View<float, 2> dst) {
  require_same_shape(src, dst);
  // TODO 5: along which axis of dst do neighbours lie closer together? Do the threads walk along that one?
  // TODO 3: launch it with blocks of kTile x kBlockRows threads, and check the launch. And an empty matrix?
}

void transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  require_size("rows", rows);
  require_size("cols", cols);
  // TODO 11: launch the kernel with one block for every tile, and check the launch. And an empty matrix?
}

}  // namespace course
