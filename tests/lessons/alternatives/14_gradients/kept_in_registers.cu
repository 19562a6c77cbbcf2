// Alternative for lesson 14: a block of 1024 threads keeps its row of P and dP in registers and reads it
// once, as long as it fits; dW is computed as the transpose of dYᵀ·X.

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

using Tile = device::TileShape<64, 128, 16, 8, 4>;

__global__ void __launch_bounds__(Tile::kThreads)
    matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, float factor) {
  const std::int64_t tiles_down = (C.shape[0] - 1) / Tile::kRows + 1;  // down first, then across
  const std::int64_t first_row = blockIdx.x % tiles_down * Tile::kRows;
  const std::int64_t first_col = blockIdx.x / tiles_down * Tile::kCols;
  Tile::Accumulator acc = {};
  device::matmul_tile<Tile>(A, B, first_row, first_col, acc);
  for (auto& row : acc)
    for (float& x : row) x = factor * x;
  device::store_tile<Tile>(acc, C, first_row, first_col);
}

void multiply(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C,
              float factor = 1.0f) {
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  const std::int64_t down = (C.shape[0] - 1) / Tile::kRows + 1, across = (C.shape[1] - 1) / Tile::kCols + 1;
  matmul_kernel<<<static_cast<unsigned>(down * across), Tile::kThreads>>>(A, B, C, factor);
  CUDA_CHECK(cudaGetLastError());
}

constexpr int kThreads = 1024, kKept = 4;  // threads of a block, and columns of each in registers

__global__ void __launch_bounds__(kThreads)
    softmax_backward_kernel(View<const float, 2> P, View<const float, 2> dP, View<float, 2> dS) {
  __shared__ float warp_values_smem[kThreads / device::kWarpSize];
  const std::int64_t row = blockIdx.x, cols = P.shape[1];
  const float* P_row = P.data + row * P.strides[0];
  const float* dP_row = dP.data + row * dP.strides[0];
  float* dS_row = dS.data + row * dS.strides[0];
  float p_rmem[kKept], dp_rmem[kKept], sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const std::int64_t col = threadIdx.x + std::int64_t{k} * kThreads;
    p_rmem[k] = col < cols ? P_row[col] : 0.0f;
    dp_rmem[k] = p_rmem[k] != 0.0f ? dP_row[col] : 0.0f;  // without a weight it is not even read
    sum += p_rmem[k] * dp_rmem[k];
  }
  for (std::int64_t col = threadIdx.x + std::int64_t{kKept} * kThreads; col < cols; col += kThreads)
    sum += P_row[col] == 0.0f ? 0.0f : P_row[col] * dP_row[col];
  sum = device::sum_block<kThreads>(sum, warp_values_smem);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const std::int64_t col = threadIdx.x + std::int64_t{k} * kThreads;
    if (col < cols) dS_row[col] = p_rmem[k] == 0.0f ? 0.0f : p_rmem[k] * (dp_rmem[k] - sum);
  }
  for (std::int64_t col = threadIdx.x + std::int64_t{kKept} * kThreads; col < cols; col += kThreads)
    dS_row[col] = P_row[col] == 0.0f ? 0.0f : P_row[col] * (dP_row[col] - sum);
}

}  // namespace

void matmul_backward(View<const float, 2> X, View<const float, 2> W, View<const float, 2> dY,
                     View<float, 2> dX, View<float, 2> dW) {
  device::require_shape("W", W, {X.shape[1], W.shape[1]});
  device::require_shape("dY", dY, {X.shape[0], W.shape[1]});
  device::require_shape("dX", dX, {X.shape[0], X.shape[1]});
  device::require_shape("dW", dW, {W.shape[0], W.shape[1]});
  multiply(dY, device::transposed(W), dX);
  multiply(device::transposed(dY), X, device::transposed(dW));
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
  softmax_backward_kernel<<<static_cast<unsigned>(rows), kThreads>>>(P, dP, dS);
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
  multiply(dO, device::transposed(V), dP);
  softmax_backward(P, dP_ready, dS);
  multiply(device::transposed(P), dO, dV);
  // Both as transposes: dQᵀ = Kᵀ·dSᵀ and dKᵀ = Qᵀ·dS.
  multiply(device::transposed(K), device::transposed(dS_ready), device::transposed(dQ), scale);
  multiply(device::transposed(Q), dS_ready, device::transposed(dK), scale);
}

}  // namespace course
