// Alternative for lesson 07: all blocks along x; tiles of 64 x 64 from the course's own header, with the
// columns of O in two halves; a softmax that keeps its row in registers where it fits, and so reads S once.

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"
#include "naive_attention.hpp"

namespace course {
namespace {

using Tile = device::TileShape<64, 64, 8, 4, 4>;
constexpr int kThreads = 256, kKept = 4;  // keys that a thread keeps in registers

template <class T>
__device__ View<T, 2> matrix(const View<T, 4>& X, std::int64_t head) {
  T* data = X.data + head / X.shape[1] * X.strides[0] + head % X.shape[1] * X.strides[1];
  return {data, {X.shape[2], X.shape[3]}, {X.strides[2], X.strides[3]}};
}

/// This block's place: the head, then the tile's row, then its column.
struct Place {
  std::int64_t head, row, col;
  __device__ Place(std::int64_t rows, std::int64_t cols) {
    const std::int64_t down = (rows + Tile::kRows - 1) / Tile::kRows,
                       across = (cols + Tile::kCols - 1) / Tile::kCols;
    col = blockIdx.x % across * Tile::kCols;
    row = blockIdx.x / across % down * Tile::kRows;
    head = blockIdx.x / across / down;
  }
};

__global__ void scores_kernel(View<const float, 4> Q, View<const float, 4> K, View<float, 4> S, float scale) {
  const Place at(S.shape[2], S.shape[3]);
  Tile::Accumulator acc = {};
  device::matmul_tile<Tile>(matrix(Q, at.head), device::transposed(matrix(K, at.head)), at.row, at.col, acc);
  for (int i = 0; i < Tile::kThreadRows; ++i)
    for (int j = 0; j < Tile::kThreadCols; ++j) acc[i][j] *= scale;
  device::store_tile<Tile>(acc, matrix(S, at.head), at.row, at.col);
}

__global__ void softmax_kernel(View<const float, 4> S, View<float, 4> P) {
  __shared__ float values_smem[kThreads / 32];
  const std::int64_t row = blockIdx.x % S.shape[2], head = blockIdx.x / S.shape[2], Nk = S.shape[3];
  const float* s = matrix(S, head).data + row * S.strides[2];
  float* p = matrix(P, head).data + row * P.strides[2];
  float kept[kKept];
  float max = -INFINITY;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const std::int64_t j = threadIdx.x + k * kThreads;
    kept[k] = j < Nk ? s[j] : -INFINITY;
    max = fmaxf(max, kept[k]);
  }
  for (std::int64_t j = threadIdx.x + kKept * kThreads; j < Nk; j += kThreads) max = fmaxf(max, s[j]);
  max = device::max_block<kThreads>(max, values_smem);
  const float base = max == -INFINITY ? 0.0f : max;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kKept; ++k) sum += kept[k] = expf(kept[k] - base);
  for (std::int64_t j = threadIdx.x + kKept * kThreads; j < Nk; j += kThreads) sum += expf(s[j] - base);
  sum = device::sum_block<kThreads>(sum, values_smem);
  if (sum == 0.0f) sum = 1.0f;
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    if (threadIdx.x + k * kThreads < Nk) p[threadIdx.x + k * kThreads] = kept[k] / sum;
  for (std::int64_t j = threadIdx.x + kKept * kThreads; j < Nk; j += kThreads) p[j] = expf(s[j] - base) / sum;
}

__global__ void output_kernel(View<const float, 4> P, View<const float, 4> V, View<float, 4> O) {
  const Place at(O.shape[2], O.shape[3]);
  Tile::Accumulator acc = {};
  device::matmul_tile<Tile>(matrix(P, at.head), matrix(V, at.head), at.row, at.col, acc);
  device::store_tile<Tile>(acc, matrix(O, at.head), at.row, at.col);
}

template <class T>
void require(const std::string& name, const View<T, 4>& X, const View<const float, 4>& Q, std::int64_t rows,
             std::int64_t cols) {
  const std::int64_t wanted[4] = {Q.shape[0], Q.shape[1], rows, cols};
  for (int axis = 0; axis < 4; ++axis)
    if (X.shape[axis] != wanted[axis]) throw std::invalid_argument(name + " does not fit Q and K");
  if (cols > 1 && X.strides[3] != 1) throw std::invalid_argument(name + " has gaps inside its rows");
}

View<const float, 4> read_only(const View<float, 4>& X) {
  return {X.data,
          {X.shape[0], X.shape[1], X.shape[2], X.shape[3]},
          {X.strides[0], X.strides[1], X.strides[2], X.strides[3]}};
}

unsigned tiles(std::int64_t heads, std::int64_t rows, std::int64_t cols) {
  return static_cast<unsigned>(heads * ((rows + Tile::kRows - 1) / Tile::kRows) *
                               ((cols + Tile::kCols - 1) / Tile::kCols));
}

}  // namespace

void naive_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> S,
                     View<float, 4> P, View<float, 4> O, float scale) {
  const std::int64_t Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2], heads = Q.shape[0] * Q.shape[1];
  if (D == 0 || D > kMaxDim) throw std::invalid_argument("Q has rows of a length that is not 1 to 128");
  require("Q", Q, Q, Nq, D);
  require("K", K, Q, Nk, D);
  require("V", V, Q, Nk, D);
  require("S", S, Q, Nq, Nk);
  require("P", P, Q, Nq, Nk);
  require("O", O, Q, Nq, D);
  if (heads * Nq == 0) return;
  if (Nk > 0) {
    scores_kernel<<<tiles(heads, Nq, Nk), Tile::kThreads>>>(Q, K, S, scale);
    CUDA_CHECK(cudaGetLastError());
    softmax_kernel<<<static_cast<unsigned>(heads * Nq), kThreads>>>(read_only(S), P);
    CUDA_CHECK(cudaGetLastError());
  }
  output_kernel<<<tiles(heads, Nq, D), Tile::kThreads>>>(read_only(P), V, O);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
