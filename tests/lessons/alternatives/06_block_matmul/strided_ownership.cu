// Alternative for lesson 06: tiles of 64 x 64, in which a thread's 4 x 4 elements lie 16 rows and columns
// apart and are read one by one; two pairs of tiles in shared memory, with one barrier a step; a grid of two
// dimensions. The tiled version waits only before it overwrites.

#include "block_matmul.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kSide = 64, kDepth = 16, kThreads = 256, kApart = 16;

/// + 2: 16 steps of k for 2 rows lie in 32 different banks.
using Tile = float[kDepth][kSide + 2];

__device__ void load(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_k,
                     Tile& tile_smem) {
  const bool along_k = X.strides[1] < X.strides[0];
  for (int place = static_cast<int>(threadIdx.x); place < kSide * kDepth; place += kThreads) {
    const int i = along_k ? place / kDepth : place % kSide, k = along_k ? place % kDepth : place / kSide;
    float value = 0.0f;
    if (first_row + i < X.shape[0] && first_k + k < X.shape[1])
      value = X.data[(first_row + i) * X.strides[0] + (first_k + k) * X.strides[1]];
    tile_smem[k][i] = value;
  }
}

__global__ void matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  __shared__ Tile A_smem[2], B_smem[2];
  const int x = static_cast<int>(threadIdx.x) % kApart, y = static_cast<int>(threadIdx.x) / kApart;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kSide,
                     first_col = std::int64_t{blockIdx.x} * kSide;
  const View<const float, 2> Bt{B.data, {B.shape[1], B.shape[0]}, {B.strides[1], B.strides[0]}};

  float acc[4][4] = {};
  int side = 0;
  for (std::int64_t first_k = 0; first_k < A.shape[1]; first_k += kDepth, side = 1 - side) {
    load(A, first_row, first_k, A_smem[side]);
    load(Bt, first_col, first_k, B_smem[side]);
    __syncthreads();  // this pair is complete, and all have read the other one
    for (int k = 0; k < kDepth; ++k) {
      float a[4], b[4];
      for (int i = 0; i < 4; ++i) a[i] = A_smem[side][k][y + i * kApart];
      for (int j = 0; j < 4; ++j) b[j] = B_smem[side][k][x + j * kApart];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const std::int64_t row = first_row + y + i * kApart, col = first_col + x + j * kApart;
      if (row < C.shape[0] && col < C.shape[1]) C.data[row * C.strides[0] + col * C.strides[1]] = acc[i][j];
    }
  }
}

__global__ void matmul_tiled_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  __shared__ float A_smem[kTile][kTile + 1], B_smem[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kTile,
                     first_col = std::int64_t{blockIdx.x} * kTile;
  const auto load_square = [=](const View<const float, 2>& X, std::int64_t row, std::int64_t col,
                               float(&X_smem)[kTile][kTile + 1]) {
    const bool along_row = X.strides[1] <= X.strides[0];
    const int r = along_row ? y : x, c = along_row ? x : y;
    X_smem[r][c] = row + r < X.shape[0] && col + c < X.shape[1]
                       ? X.data[(row + r) * X.strides[0] + (col + c) * X.strides[1]]
                       : 0.0f;
  };
  float sum = 0.0f;
  for (std::int64_t first_k = 0; first_k < A.shape[1]; first_k += kTile) {
    if (first_k > 0) __syncthreads();  // all threads have read the squares of the step before
    load_square(A, first_row, first_k, A_smem);
    load_square(B, first_k, first_col, B_smem);
    __syncthreads();  // both squares are complete
    for (int k = 0; k < kTile; ++k) sum += A_smem[y][k] * B_smem[k][x];
  }
  const std::int64_t row = first_row + y, col = first_col + x;
  if (row < C.shape[0] && col < C.shape[1]) C.data[row * C.strides[0] + col * C.strides[1]] = sum;
}

void require_product(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C) {
  if (B.shape[0] != A.shape[1]) throw std::invalid_argument("B does not fit A");
  if (C.shape[0] != A.shape[0] || C.shape[1] != B.shape[1])
    throw std::invalid_argument("C does not fit A and B");
}

dim3 tiles_of(const View<float, 2>& C, int side) {
  return {static_cast<unsigned>((C.shape[1] - 1) / side + 1),
          static_cast<unsigned>((C.shape[0] - 1) / side + 1)};
}

}  // namespace

void matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  require_product(A, B, C);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  matmul_kernel<<<tiles_of(C, kSide), kThreads>>>(A, B, C);
  CUDA_CHECK(cudaGetLastError());
}

void matmul_tiled(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  require_product(A, B, C);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  matmul_tiled_kernel<<<tiles_of(C, kTile), dim3(kTile, kTile)>>>(A, B, C);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
