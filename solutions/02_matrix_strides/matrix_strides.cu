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
  const std::int64_t rows = dst.shape[0], cols = dst.shape[1];
  const std::int64_t col = std::int64_t{blockIdx.x} * kTile + threadIdx.x;
  if (col >= cols) return;  // nobody waits for this thread: there is no barrier below

  // [no overlap]
  const float* __restrict__ from = src.data;  // no overlap: loads of later rows may overtake stores
  float* __restrict__ to = dst.data;          // 3.94 TB/s on an H200, 2.90 without (2026-11-21)
  // [no overlap]
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kBlockRows + threadIdx.y;
  const std::int64_t row_step = std::int64_t{gridDim.y} * kBlockRows;  // rows of threads in the grid
#pragma unroll 4
  for (std::int64_t row = first_row; row < rows; row += row_step) {
    to[row * dst.strides[0] + col * dst.strides[1]] = from[row * src.strides[0] + col * src.strides[1]];
  }
  // [done]
}

// [transpose kernel]
/// out[c][r] = in[r][c]. Shapes: in (rows, cols), out (cols, rows). A block moves one tile; `in` is
/// tiles_across tiles wide, and blocks count them row by row.
__global__ void transpose_kernel(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                                 unsigned tiles_across) {
  // TODO 6: a tile in shared memory. How long a row of it is, and why, the notes say.
  // TODO 7: which tile is this block's, and where in `in` does it begin?
  // TODO 8: read it, 8 rows at a time, a warp along a row of `in`. Which of its elements exist?
  // TODO 9: what must have happened before a thread may read what others wrote?
  // TODO 10: write it, 8 rows at a time, a warp along a row of `out`. Which of these elements exist?
  __shared__ float tile_smem[kTile][kTile + 1];  // + 1: the elements of a column lie in 32 different banks

  const std::int64_t tile_row = std::int64_t{blockIdx.x / tiles_across} * kTile;  // the tile's first row,
  const std::int64_t tile_col = std::int64_t{blockIdx.x % tiles_across} * kTile;  // and first column, in `in`
  const int x = static_cast<int>(threadIdx.x);  // the lane: the 32 threads with one threadIdx.y are a warp

#pragma unroll
  for (int i = 0; i < kTile; i += kBlockRows) {
    const int y = static_cast<int>(threadIdx.y) + i;
    const std::int64_t row = tile_row + y, col = tile_col + x;  // a warp reads along a row of `in`
    if (row < rows && col < cols) tile_smem[y][x] = in[row * cols + col];
  }
  __syncthreads();  // the tile is complete: a thread may read what others wrote

#pragma unroll
  for (int i = 0; i < kTile; i += kBlockRows) {
    const int y = static_cast<int>(threadIdx.y) + i;
    const std::int64_t row = tile_col + y, col = tile_row + x;  // a warp writes along a row of `out`
    if (row < cols && col < rows) out[row * rows + col] = tile_smem[x][y];
  }
  // [done]
}
// [transpose kernel]

std::int64_t tiles_along(std::int64_t size) { return (size - 1) / kTile + 1; }  // rounded up; size > 0

// [transposed]
/// The same elements with the axes exchanged: element (r, c) becomes element (c, r), and nothing moves.
template <class T>
View<T, 2> transposed(View<T, 2> x) {
  // TODO 4: what has to change in a view, and what may stay?
  std::swap(x.shape[0], x.shape[1]);
  std::swap(x.strides[0], x.strides[1]);
  // [done]
  return x;
}
// [transposed]

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

// [copy]
void copy_strided(View<const float, 2> src, View<float, 2> dst) {
  require_same_shape(src, dst);
  // TODO 5: along which axis of dst do neighbours lie closer together? Do the threads walk along that one?
  // TODO 3: launch it with blocks of kTile x kBlockRows threads, and check the launch. And an empty matrix?
  if (dst.shape[0] == 0 || dst.shape[1] == 0) return;

  // Neighbouring threads walk along axis 1. Where the elements of dst lie closer together along axis 0, the
  // copy of both transposes is the same copy, and a faster one.
  if (dst.strides[0] < dst.strides[1]) {
    src = transposed(src);
    dst = transposed(dst);
  }
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(static_cast<unsigned>(tiles_along(dst.shape[1])),
                  static_cast<unsigned>(std::min<std::int64_t>(tiles_along(dst.shape[0]), kMaxGridY)));
  copy_strided_kernel<<<grid, block>>>(src, dst);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [copy]

// [transpose]
void transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  require_size("rows", rows);
  require_size("cols", cols);
  // TODO 11: launch the kernel with one block for every tile, and check the launch. And an empty matrix?
  if (rows == 0 || cols == 0) return;

  const std::int64_t tiles_across = tiles_along(cols), tiles = tiles_across * tiles_along(rows);
  const dim3 block(kTile, kBlockRows);
  transpose_kernel<<<static_cast<unsigned>(tiles), block>>>(in, out, rows, cols,
                                                            static_cast<unsigned>(tiles_across));
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [transpose]

}  // namespace course
