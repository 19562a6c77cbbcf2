// Lesson 14: gradients. dX = dY·Wᵀ and dW = Xᵀ·dY by the tiles of lesson 06; dS = P ∘ (dP - rowsum(P ∘ dP)),
// a block a row; and the backward pass of attention, made of these.

#include "gradients.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

// --- The product of two matrices ---

using Tile = device::TileShape<128, 128, 16, 8, 8>;
static_assert(Tile::kRows >= kBlockTile && Tile::kCols >= kBlockTile);

/// C = A·B·factor. Each block of Tile::kThreads threads computes a tile of C, row by row; C is tiles_across
/// tiles wide.
__global__ void __launch_bounds__(Tile::kThreads, 2)
    matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, unsigned tiles_across,
                  float factor) {
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * Tile::kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * Tile::kCols;
  Tile::Accumulator acc = {};
  device::matmul_tile<Tile>(A, B, first_row, first_col, acc);
  for (auto& row : acc)
    for (float& x : row) x *= factor;
  device::store_tile<Tile>(acc, C, first_row, first_col);
}

/// Rounded up. size > 0.
std::int64_t tiles_along(std::int64_t size, int tile) { return (size - 1) / tile + 1; }

/// @brief C = A·B·factor, on matrices in device memory, any strides. An empty C launches nothing.
/// @throws std::logic_error, with the shapes, unless A is (m, k), B is (k, n) and C is (m, n).
void multiply(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C,
              float factor = 1.0f) {
  if (A.shape[1] != B.shape[0] || C.shape[0] != A.shape[0] || C.shape[1] != B.shape[1])
    throw std::logic_error("multiply(A, B, C) does not fit together: A is " + device::text_of_shape(A.shape) +
                           ", B is " + device::text_of_shape(B.shape) + ", C is " +
                           device::text_of_shape(C.shape) + ".");
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  const std::int64_t tiles_across = tiles_along(C.shape[1], Tile::kCols),
                     tiles_down = tiles_along(C.shape[0], Tile::kRows);
  matmul_kernel<<<static_cast<unsigned>(tiles_across * tiles_down), Tile::kThreads>>>(
      A, B, C, static_cast<unsigned>(tiles_across), factor);
  CUDA_CHECK(cudaGetLastError());
}

// [matmul backward]
void matmul_backward(View<const float, 2> X, View<const float, 2> W, View<const float, 2> dY,
                     View<float, 2> dX, View<float, 2> dW) {
  const std::int64_t M = X.shape[0], K = X.shape[1], N = W.shape[1];
  device::require_shape("W", W, {K, N});
  device::require_shape("dY", dY, {M, N});
  device::require_shape("dX", dX, {M, K});
  device::require_shape("dW", dW, {K, N});
  // TODO 1: dX, by multiply() and device::transposed(). Which two of the three inputs make its shape?
  // TODO 2: dW, likewise. Over which axis is summed?
  multiply(dY, device::transposed(W), dX);  // (M, N) times (N, K)
  multiply(device::transposed(X), dY, dW);  // (K, M) times (M, N)
  // [done]
}
// [matmul backward]

// --- The softmax ---

constexpr int kBlockWarps = kBlockThreads / device::kWarpSize;

// [sum]
/// Σ P_j · dP_j over this thread's columns, which are threadIdx.x, threadIdx.x + kBlockThreads, ... below
/// cols. Where P_j is 0, dP_j does not count, whatever it is.
/// Shapes: P_row and dP_row are (cols).
__device__ float sum_own_columns(const float* P_row, const float* dP_row, std::int64_t cols) {
  float sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) {
    // TODO 3: what does this column add to the sum? And where P is 0?
    const float p = P_row[col], dp = dP_row[col];
    sum += p == 0.0f ? 0.0f : p * dp;  // 0 times NaN or an infinity would be NaN
    // [done]
  }
  return sum;
}
// [sum]

// [output]
/// dS_j = P_j · (dP_j - sum) for this thread's columns, and 0 where P_j is 0.
__device__ void write_own_columns(const float* __restrict__ P_row, const float* __restrict__ dP_row,
                                  float* __restrict__ dS_row, float sum, std::int64_t cols) {
  for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) {
    // TODO 4: dS of this column. And where P is 0?
    const float p = P_row[col], dp = dP_row[col];
    dS_row[col] = p == 0.0f ? 0.0f : p * (dp - sum);
    // [done]
  }
}
// [output]

// [kernel]
/// Row blockIdx.x of dS. Correct for blocks of kBlockThreads threads.
__global__ void __launch_bounds__(kBlockThreads)
    softmax_backward_kernel(View<const float, 2> P, View<const float, 2> dP, View<float, 2> dS) {
  // TODO 5: where does this block's row begin in P, in dP and in dS?
  // TODO 6: the sum of the row, in every thread, by device::sum_block. Then its output.
  __shared__ float warp_values_smem[kBlockWarps];
  const std::int64_t row = blockIdx.x, cols = P.shape[1];
  const float* P_row = P.data + row * P.strides[0];
  const float* dP_row = dP.data + row * dP.strides[0];
  float* dS_row = dS.data + row * dS.strides[0];
  const float own_sum = sum_own_columns(P_row, dP_row, cols);
  const float sum = device::sum_block<kBlockThreads>(own_sum, warp_values_smem);
  write_own_columns(P_row, dP_row, dS_row, sum, cols);
  // [done]
}
// [kernel]

// [launch]
void softmax_backward(View<const float, 2> P, View<const float, 2> dP, View<float, 2> dS) {
  const std::int64_t rows = P.shape[0], cols = P.shape[1];
  if (rows > kMaxRows)
    throw std::invalid_argument("P must have at most " + std::to_string(kMaxRows) + " rows, but it has " +
                                std::to_string(rows) + ".");
  device::require_shape("dP", dP, {rows, cols});
  device::require_shape("dS", dS, {rows, cols});
  device::require_dense_rows("P", P);
  device::require_dense_rows("dP", dP);
  device::require_dense_rows("dS", dS);
  // TODO 7: launch a block for each row, and check the launch. When is there nothing to launch?
  if (rows == 0 || cols == 0) return;
  softmax_backward_kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(P, dP, dS);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [launch]

// --- Attention ---

/// The same elements, to be read.
View<const float, 2> read_only(const View<float, 2>& X) {
  return {X.data, {X.shape[0], X.shape[1]}, {X.strides[0], X.strides[1]}};
}

// [attention]
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
  // TODO 8: dP and dV, which belong to the factors of O = P·V.
  // TODO 9: dS, which belongs to what P is the softmax of.
  // TODO 10: dQ and dK, by multiply(). S = Q·Kᵀ·scale: what does each factor of a product get?
  matmul_backward(P, V, dO, dP, dV);
  softmax_backward(P, read_only(dP), dS);
  multiply(read_only(dS), K, dQ, scale);                      // (Nq, Nk) times (Nk, D)
  multiply(device::transposed(read_only(dS)), Q, dK, scale);  // (Nk, Nq) times (Nq, D)
  // [done]
}
// [attention]

}  // namespace course
