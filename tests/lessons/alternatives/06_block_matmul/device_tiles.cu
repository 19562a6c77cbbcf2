// Alternative for lesson 06: the tiles of common/device, to which this lesson's own grew. The whole product,
// and its parts one by one.

#include "block_matmul.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

#include "device/cuda_check.hpp"
#include "device/tile_matmul.hpp"

namespace course {
namespace {

using Large = device::TileShape<128, 128, 16, 8, 8>;
using Small = device::TileShape<64, 64, 32, 4, 4, 16>;

__global__ void __launch_bounds__(Large::kThreads, 2)
    matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, unsigned tiles_across) {
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * Large::kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * Large::kCols;
  Large::Accumulator acc = {};
  device::matmul_tile<Large>(A, B, first_row, first_col, acc);
  device::store_tile<Large>(acc, C, first_row, first_col);
}

__global__ void matmul_by_parts_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                                       unsigned tiles_across) {
  __shared__ Small::ATile A_smem;
  __shared__ Small::BTile B_smem;
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * Small::kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * Small::kCols;
  Small::Accumulator acc = {};
  for (std::int64_t k = 0; k < A.shape[1]; k += Small::kDepth) {
    device::load_tile<Small::kThreads>(A, first_row, k, A_smem);
    device::load_tile<Small::kThreads>(device::transposed(B), first_col, k, B_smem);
    __syncthreads();  // both tiles are complete
    device::multiply_add<Small>(A_smem, B_smem, acc);
    __syncthreads();  // all threads have read them
  }
  device::store_tile<Small>(acc, C, first_row, first_col);
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
  const std::int64_t across = (C.shape[1] - 1) / Small::kCols + 1, down = (C.shape[0] - 1) / Small::kRows + 1;
  matmul_by_parts_kernel<<<static_cast<unsigned>(across * down), Small::kThreads>>>(
      A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
