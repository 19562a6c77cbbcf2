// Alternative for lesson 14: both products in one launch, from smaller tiles; a warp for each row of the
// softmax, whose sum is multiplied with P before it is subtracted.

#include "gradients.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {
namespace {

using Tile = device::TileShape<64, 64, 32, 4, 4, 16>;

__device__ void multiply_tile(const View<const float, 2>& A, const View<const float, 2>& B,
                              const View<float, 2>& C, float factor, std::int64_t tile) {
  const std::int64_t tiles_across = (C.shape[1] - 1) / Tile::kCols + 1;
  const std::int64_t first_row = tile / tiles_across * Tile::kRows,
                     first_col = tile % tiles_across * Tile::kCols;
  Tile::Accumulator acc = {};
  device::matmul_tile<Tile>(A, B, first_row, first_col, acc);
  for (auto& row : acc)
    for (float& x : row) x *= factor;
  device::store_tile<Tile>(acc, C, first_row, first_col);
}

std::int64_t tiles_of(const View<float, 2>& C) {
  if (C.shape[0] == 0 || C.shape[1] == 0) return 0;
  return ((C.shape[0] - 1) / Tile::kRows + 1) * ((C.shape[1] - 1) / Tile::kCols + 1);
}

/// The first tiles_of_dx blocks compute dX, the others dW.
__global__ void __launch_bounds__(Tile::kThreads)
    matmul_backward_kernel(View<const float, 2> X, View<const float, 2> W, View<const float, 2> dY,
                           View<float, 2> dX, View<float, 2> dW, float factor, std::int64_t tiles_of_dx) {
  if (blockIdx.x < tiles_of_dx) {
    multiply_tile(dY, device::transposed(W), dX, factor, blockIdx.x);
  } else {
    multiply_tile(device::transposed(X), dY, dW, factor, blockIdx.x - tiles_of_dx);
  }
}

constexpr int kRowsPerBlock = 32;

__global__ void softmax_backward_kernel(View<const float, 2> P, View<const float, 2> dP, View<float, 2> dS) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y, cols = P.shape[1];
  if (row >= P.shape[0]) return;  // whole warps leave together
  const float* P_row = P.data + row * P.strides[0];
  const float* dP_row = dP.data + row * dP.strides[0];
  float sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += 32)
    if (P_row[col] != 0.0f) sum = fmaf(P_row[col], dP_row[col], sum);
  sum = device::sum_warp(sum);
  for (std::int64_t col = threadIdx.x; col < cols; col += 32) {
    const float p = P_row[col], dp = dP_row[col];
    dS.data[row * dS.strides[0] + col] = p != 0.0f ? p * dp - p * sum : 0.0f;
  }
}

/// The gradients of Y = X·W·factor.
void scaled_matmul_backward(View<const float, 2> X, View<const float, 2> W, View<const float, 2> dY,
                            View<float, 2> dX, View<float, 2> dW, float factor) {
  const std::int64_t of_dx = tiles_of(dX), of_dw = tiles_of(dW);
  if (of_dx + of_dw == 0) return;
  matmul_backward_kernel<<<static_cast<unsigned>(of_dx + of_dw), Tile::kThreads>>>(X, W, dY, dX, dW, factor,
                                                                                   of_dx);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void matmul_backward(View<const float, 2> X, View<const float, 2> W, View<const float, 2> dY,
                     View<float, 2> dX, View<float, 2> dW) {
  device::require_shape("W", W, {X.shape[1], W.shape[1]});
  device::require_shape("dY", dY, {X.shape[0], W.shape[1]});
  device::require_shape("dX", dX, {X.shape[0], X.shape[1]});
  device::require_shape("dW", dW, {W.shape[0], W.shape[1]});
  scaled_matmul_backward(X, W, dY, dX, dW, 1.0f);
}

void softmax_backward(View<const float, 2> P, View<const float, 2> dP, View<float, 2> dS) {
  const std::int64_t rows = P.shape[0], cols = P.shape[1];
  if (rows > kMaxRows) throw std::invalid_argument("P has too many rows: " + std::to_string(rows));
  device::require_shape("dP", dP, {rows, cols});
  device::require_shape("dS", dS, {rows, cols});
  device::require_dense_rows("P", P);
  device::require_dense_rows("dP", dP);
  device::require_dense_rows("dS", dS);
  if (rows == 0 || cols == 0) return;
  const auto blocks = static_cast<unsigned>((rows - 1) / kRowsPerBlock + 1);
  softmax_backward_kernel<<<blocks, dim3(32, kRowsPerBlock)>>>(P, dP, dS);
  CUDA_CHECK(cudaGetLastError());
}

void attention_backward(View<const float, 2> Q, View<const float, 2> K, View<const float, 2> V,
                        View<const float, 2> P, View<const float, 2> dO, View<float, 2> dP, View<float, 2> dS,
                        View<float, 2> dQ, View<float, 2> dK, View<float, 2> dV, float scale) {
  const std::int64_t Nq = Q.shape[0], Nk = K.shape[0], D = Q.shape[1];
  device::require_shape("K", K, {Nk, D});
  device::require_shape("V", V, {Nk, D});
  device::require_shape("P", P, {Nq, Nk});
  device::require_shape("dO", dO, {Nq, D});
  device::require_shape("dP", dP, {Nq, Nk});
  device::require_shape("dS", dS, {Nq, Nk});
  device::require_shape("dQ", dQ, {Nq, D});
  device::require_shape("dK", dK, {Nk, D});
  device::require_shape("dV", dV, {Nk, D});
  const View<const float, 2> dP_ready{dP.data, {Nq, Nk}, {dP.strides[0], dP.strides[1]}};
  const View<const float, 2> dS_ready{dS.data, {Nq, Nk}, {dS.strides[0], dS.strides[1]}};
  matmul_backward(P, V, dO, dP, dV);
  softmax_backward(P, dP_ready, dS);
  // The rule for S = Q·Kᵀ·scale, whose second factor is a transpose, and so is its gradient.
  scaled_matmul_backward(Q, device::transposed(K), dS_ready, dQ, device::transposed(dK), scale);
}

}  // namespace course
