// Two products with less reuse than those of lesson 06, for its figure: matmul without tiles, matmul_tiled
// with tiles of 16 x 16. Both for row-major matrices. scripts/figure_block_matmul.py counts what they read,
// and draws.

#include <cuda_runtime.h>

#include "block_matmul.hpp"
#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kSide = 16;

__global__ void no_tiles_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  const std::int64_t row = std::int64_t{blockIdx.y} * kSide + threadIdx.y;
  const std::int64_t col = std::int64_t{blockIdx.x} * kSide + threadIdx.x;
  if (row >= C.shape[0] || col >= C.shape[1]) return;
  float sum = 0.0f;
  for (std::int64_t k = 0; k < A.shape[1]; ++k)
    sum += A.data[row * A.strides[0] + k] * B.data[k * B.strides[0] + col];
  C.data[row * C.strides[0] + col] = sum;
}

__global__ void tiles_of_16_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  __shared__ float A_smem[kSide][kSide], B_smem[kSide][kSide];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row = std::int64_t{blockIdx.y} * kSide + y, col = std::int64_t{blockIdx.x} * kSide + x;
  float sum = 0.0f;
  for (std::int64_t k = 0; k < A.shape[1]; k += kSide) {
    A_smem[y][x] = row < A.shape[0] && k + x < A.shape[1] ? A.data[row * A.strides[0] + k + x] : 0.0f;
    B_smem[y][x] = k + y < B.shape[0] && col < B.shape[1] ? B.data[(k + y) * B.strides[0] + col] : 0.0f;
    __syncthreads();  // both tiles are complete
    for (int i = 0; i < kSide; ++i) sum += A_smem[y][i] * B_smem[i][x];
    __syncthreads();  // all threads have read them
  }
  if (row < C.shape[0] && col < C.shape[1]) C.data[row * C.strides[0] + col] = sum;
}

template <class Kernel>
void launch(Kernel kernel, const View<const float, 2>& A, const View<const float, 2>& B,
            const View<float, 2>& C) {
  const auto tiles = [](std::int64_t size) { return static_cast<unsigned>((size - 1) / kSide + 1); };
  kernel<<<dim3(tiles(C.shape[1]), tiles(C.shape[0])), dim3(kSide, kSide)>>>(A, B, C);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  launch(no_tiles_kernel, A, B, C);
}

void matmul_tiled(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  launch(tiles_of_16_kernel, A, B, C);
}

}  // namespace course
