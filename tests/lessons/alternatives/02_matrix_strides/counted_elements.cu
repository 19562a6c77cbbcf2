// Alternative for lesson 02: the copy counts elements in one sequence and divides to find row and column; the
// transpose exchanges its elements between the lanes of a warp and needs a tile for no more than that.

#include "matrix_strides.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

/// Axis `fast` is the one along which neighbouring threads walk.
__global__ void copy_elements_kernel(View<const float, 2> src, View<float, 2> dst, int fast) {
  const int slow = 1 - fast;
  const std::int64_t count = dst.shape[0] * dst.shape[1];
  const std::int64_t thread = threadIdx.y * std::int64_t{kTile} + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * kTile * kBlockRows;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kTile * kBlockRows + thread; i < count; i += step) {
    const std::int64_t along = i % dst.shape[fast], across = i / dst.shape[fast];
    dst.data[across * dst.strides[slow] + along * dst.strides[fast]] =
        src.data[across * src.strides[slow] + along * src.strides[fast]];
  }
}

/// A warp moves four rows of a tile at a time into dynamic shared memory whose rows are 33 words apart.
__global__ void transpose_dynamic_kernel(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  extern __shared__ float tile_smem[];
  const int pitch = kTile + 1;
  const std::int64_t tiles_down = (rows + kTile - 1) / kTile;  // numbered column by column
  const std::int64_t first_row = blockIdx.x % tiles_down * kTile, first_col = blockIdx.x / tiles_down * kTile;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int per_warp = kTile / kBlockRows;
  for (int k = 0; k < per_warp; ++k) {
    const int r = warp * per_warp + k;
    if (first_row + r < rows && first_col + lane < cols)
      tile_smem[lane * pitch + r] = in[(first_row + r) * cols + first_col + lane];
  }
  __syncthreads();
  for (int k = 0; k < per_warp; ++k) {
    const int c = warp * per_warp + k;
    if (first_col + c < cols && first_row + lane < rows)
      out[(first_col + c) * rows + first_row + lane] = tile_smem[c * pitch + lane];
  }
}

std::int64_t tiles_of(std::int64_t rows, std::int64_t cols) {
  return ((rows + kTile - 1) / kTile) * ((cols + kTile - 1) / kTile);
}

}  // namespace

void copy_strided(View<const float, 2> src, View<float, 2> dst) {
  if (src.shape[0] != dst.shape[0] || src.shape[1] != dst.shape[1])
    throw std::invalid_argument("dst differs from src in shape");
  const std::int64_t tiles = tiles_of(dst.shape[0], dst.shape[1]);
  if (tiles == 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(tiles, kMaxGridY));
  copy_elements_kernel<<<blocks, dim3(kTile, kBlockRows)>>>(src, dst,
                                                            dst.strides[0] < dst.strides[1] ? 0 : 1);
  CUDA_CHECK(cudaGetLastError());
}

void transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  if (rows < 0) throw std::invalid_argument("rows must not be negative");
  if (cols < 0) throw std::invalid_argument("cols must not be negative");
  const std::int64_t tiles = tiles_of(rows, cols);
  if (tiles == 0) return;
  transpose_dynamic_kernel<<<static_cast<unsigned>(tiles), dim3(kTile, kBlockRows),
                             kTile*(kTile + 1) * sizeof(float)>>>(in, out, rows, cols);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
