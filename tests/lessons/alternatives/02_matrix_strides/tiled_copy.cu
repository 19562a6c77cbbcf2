// Alternative for lesson 02: one tiled kernel for any two layouts. The tile is read along the axis on which
// src has its neighbours and written along that of dst, and transposing is copying to exchanged strides.

#include "matrix_strides.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {
namespace {

/// dst = src, with tile number blockIdx.x for each block. src_by_rows: neighbours of src lie along axis 1.
__global__ void copy_tiles_kernel(View<const float, 2> src, View<float, 2> dst, std::int64_t tiles_across,
                                  bool src_by_rows, bool dst_by_rows) {
  __shared__ float tile_smem[kTile * (kTile + 1)];
  const std::int64_t tiles = (src.shape[0] + kTile - 1) / kTile * tiles_across;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t first_row = tile / tiles_across * kTile, first_col = tile % tiles_across * kTile;
    for (unsigned slow = threadIdx.y; slow < kTile; slow += kBlockRows) {
      const unsigned r = src_by_rows ? slow : threadIdx.x, c = src_by_rows ? threadIdx.x : slow;
      const std::int64_t row = first_row + r, col = first_col + c;
      if (row < src.shape[0] && col < src.shape[1])
        tile_smem[r * (kTile + 1) + c] = src.data[row * src.strides[0] + col * src.strides[1]];
    }
    __syncthreads();
    for (unsigned slow = threadIdx.y; slow < kTile; slow += kBlockRows) {
      const unsigned r = dst_by_rows ? slow : threadIdx.x, c = dst_by_rows ? threadIdx.x : slow;
      const std::int64_t row = first_row + r, col = first_col + c;
      if (row < dst.shape[0] && col < dst.shape[1])
        dst.data[row * dst.strides[0] + col * dst.strides[1]] = tile_smem[r * (kTile + 1) + c];
    }
    __syncthreads();
  }
}

bool by_rows(const std::int64_t (&strides)[2]) { return strides[1] <= strides[0]; }

void launch(View<const float, 2> src, View<float, 2> dst, std::int64_t max_blocks) {
  if (src.shape[0] == 0 || src.shape[1] == 0) return;
  const std::int64_t tiles_across = (src.shape[1] + kTile - 1) / kTile;
  const std::int64_t tiles = (src.shape[0] + kTile - 1) / kTile * tiles_across;
  copy_tiles_kernel<<<static_cast<unsigned>(std::min(tiles, max_blocks)), dim3(kTile, kBlockRows)>>>(
      src, dst, tiles_across, by_rows(src.strides), by_rows(dst.strides));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void copy_strided(View<const float, 2> src, View<float, 2> dst) {
  if (src.shape[0] != dst.shape[0] || src.shape[1] != dst.shape[1])
    throw std::invalid_argument("the shape of dst is not that of src");
  launch(src, dst, kMaxGridY);
}

void transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols) {
  if (rows < 0) throw std::invalid_argument("rows is " + std::to_string(rows));
  if (cols < 0) throw std::invalid_argument("cols is " + std::to_string(cols));
  launch({in, {rows, cols}, {cols, 1}}, {out, {rows, cols}, {1, rows}}, INT32_MAX);
}

}  // namespace course
