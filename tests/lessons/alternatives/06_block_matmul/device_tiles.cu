// Alternative for lesson 06: the tiles of common/device, to which this lesson's own grew: the whole product,
// and the tiles alone.

#include "block_matmul.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

#include "device/cuda_check.hpp"
#include "device/tile_matmul.hpp"

namespace course {
namespace {

using Large = device::TileShape<128, 128, 16, 8, 8>;

__global__ void __launch_bounds__(Large::kThreads, 2)
    matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, unsigned tiles_across) {
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * Large::kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * Large::kCols;
  Large::Accumulator acc = {};
  device::matmul_tile<Large>(A, B, first_row, first_col, acc);
  device::store_tile<Large>(acc, C, first_row, first_col);
}

/// The same tiles, smaller, for one element of C a thread.
__global__ void __launch_bounds__(kTile* kTile)
    matmul_tiled_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                        unsigned tiles_across) {
  __shared__ device::SharedTile<kTile, kTile> A_smem, B_smem;
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * kTile;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * kTile;
  float sum = 0.0f;
  for (std::int64_t first_k = 0; first_k < A.shape[1]; first_k += kTile) {
    device::load_tile<kTile * kTile>(A, first_row, first_k, A_smem);
    device::load_tile<kTile * kTile>(device::transposed(B), first_col, first_k, B_smem);
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < kTile; ++k) sum += A_smem.at[k][y] * B_smem.at[k][x];
    __syncthreads();  // all threads have read them
  }
  const std::int64_t row = first_row + y, col = first_col + x;
  if (row < C.shape[0] && col < C.shape[1]) C.data[row * C.strides[0] + col * C.strides[1]] = sum;
}

void require_product(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C) {
  if (B.shape[0] != A.shape[1]) throw std::invalid_argument("B has not as many rows as A has columns");
  if (C.shape[0] != A.shape[0] || C.shape[1] != B.shape[1])
    throw std::invalid_argument("C has not the shape of the product");
}

}  // namespace

void matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  require_product(A, B, C);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  const std::int64_t across = (C.shape[1] - 1) / Large::kCols + 1, down = (C.shape[0] - 1) / Large::kRows + 1;
  matmul_kernel<<<static_cast<unsigned>(across * down), Large::kThreads>>>(A, B, C,
                                                                           static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

void matmul_tiled(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  require_product(A, B, C);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  const std::int64_t across = (C.shape[1] - 1) / kTile + 1, down = (C.shape[0] - 1) / kTile + 1;
  matmul_tiled_kernel<<<static_cast<unsigned>(across * down), kTile * kTile>>>(A, B, C,
                                                                               static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
