// Lesson 07: attention in three kernels: scores, softmax, weighted sums. S and P lie in global memory, whole.

#include "naive_attention.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

// Tiles of S, and of O, which are as wide as O is: a block computes whole rows of it.
using ScoreTile = device::TileShape<128, 128, 16, 8, 8>;
using NarrowOutputTile = device::TileShape<128, 64, 16, 8, 4>;
using WideOutputTile = device::TileShape<128, 128, 16, 8, 8>;
static_assert(WideOutputTile::kCols >= kMaxDim);
static_assert(NarrowOutputTile::kRows == WideOutputTile::kRows &&
                  NarrowOutputTile::kThreads == WideOutputTile::kThreads,
              "one launch serves both");
constexpr int kSoftmaxThreads = 128;

// [matrix]
/// What this block works on: the (seq, dim) or (query, key) matrix of batch blockIdx.z and head blockIdx.y.
template <class T>
__device__ View<T, 2> matrix_of_this_head(const View<T, 4>& X) {
  T* data = X.data;
  // TODO 1: how far is it from the start of X to the matrix of this batch and this head?
  data += blockIdx.z * X.strides[0] + blockIdx.y * X.strides[1];
  // [done]
  return {data, {X.shape[2], X.shape[3]}, {X.strides[2], X.strides[3]}};
}
// [matrix]

/// Tiles of so many elements along an axis.
__host__ __device__ std::int64_t tiles_along(std::int64_t size, int tile) { return (size + tile - 1) / tile; }

// [scores]
/// S = Q·Kᵀ·scale. Shapes: Q is (B, H, Nq, D), K is (B, H, Nk, D), S is (B, H, Nq, Nk). Along x, blocks count
/// the tiles of S row by row.
__global__ void __launch_bounds__(ScoreTile::kThreads, 2)
    scores_kernel(View<const float, 4> Q, View<const float, 4> K, View<float, 4> S, float scale) {
  // TODO 2: which tile of S is this block's? Where do its rows and its columns begin?
  // TODO 3: multiply the tile with matmul_tile(). Which of the two matrices has to be transposed?
  // TODO 4: scale it, and store it with store_tile().
  const View<const float, 2> Q_head = matrix_of_this_head(Q), K_head = matrix_of_this_head(K);
  const std::int64_t tiles_across = tiles_along(K_head.shape[0], ScoreTile::kCols);
  const std::int64_t first_query = blockIdx.x / tiles_across * ScoreTile::kRows;
  const std::int64_t first_key = blockIdx.x % tiles_across * ScoreTile::kCols;

  ScoreTile::Accumulator acc = {};
  device::matmul_tile<ScoreTile>(Q_head, device::transposed(K_head), first_query, first_key, acc);
  for (auto& row : acc) {
    for (float& score : row) score *= scale;
  }
  device::store_tile<ScoreTile>(acc, matrix_of_this_head(S), first_query, first_key);
  // [done]
}
// [scores]

// [softmax]
/// P = softmax of each row of S, a block a row. Shapes: S and P are (B, H, Nq, Nk).
__global__ void __launch_bounds__(kSoftmaxThreads) softmax_kernel(View<const float, 4> S, View<float, 4> P) {
  // TODO 5: where do this block's rows of S and P begin?
  // TODO 6: the maximum of this thread's keys, and the sum of exp(score - that maximum).
  // TODO 7: the maximum of the row, and its sum. On which maximum does each thread's sum stand?
  // TODO 8: write the weights. What is a row of only -inf to become?
  __shared__ float warp_values_smem[kSoftmaxThreads / device::kWarpSize];
  const View<const float, 2> S_head = matrix_of_this_head(S);
  const View<float, 2> P_head = matrix_of_this_head(P);
  const float* __restrict__ S_row = S_head.data + blockIdx.x * S_head.strides[0];
  float* __restrict__ P_row = P_head.data + blockIdx.x * P_head.strides[0];
  const std::int64_t Nk = S_head.shape[1];

  // This thread's keys. Invariant: own_sum = Σ exp(s - own_max); {-inf, 0} while nothing above -inf was seen.
  float own_max = -INFINITY, own_sum = 0.0f;
  for (std::int64_t key = threadIdx.x; key < Nk; key += kSoftmaxThreads) {
    const float score = S_row[key];
    if (score == -INFINITY) continue;  // adds nothing; -inf - -inf would be NaN
    const float max = fmaxf(own_max, score);
    own_sum = own_sum * expf(own_max - max) + expf(score - max);
    own_max = max;
  }

  const float row_max = device::max_block<kSoftmaxThreads>(own_max, warp_values_smem);
  if (own_max > -INFINITY) own_sum *= expf(own_max - row_max);  // all sums on one maximum
  const float row_sum = device::sum_block<kSoftmaxThreads>(own_sum, warp_values_smem);

  for (std::int64_t key = threadIdx.x; key < Nk; key += kSoftmaxThreads) {
    P_row[key] = row_sum == 0.0f ? 0.0f : expf(S_row[key] - row_max) / row_sum;  // 0: a row of only -inf
  }
  // [done]
}
// [softmax]

// [output]
/// O = P·V. Shapes: P is (B, H, Nq, Nk), V is (B, H, Nk, D), O is (B, H, Nq, D). A block computes whole rows.
template <class OutputTile>
__global__ void __launch_bounds__(OutputTile::kThreads, 2)
    output_kernel(View<const float, 4> P, View<const float, 4> V, View<float, 4> O) {
  // TODO 9: this block's rows of O, whole, in three lines.
  const std::int64_t first_query = std::int64_t{blockIdx.x} * OutputTile::kRows;
  typename OutputTile::Accumulator acc = {};
  device::matmul_tile<OutputTile>(matrix_of_this_head(P), matrix_of_this_head(V), first_query, 0, acc);
  device::store_tile<OutputTile>(acc, matrix_of_this_head(O), first_query, 0);
  // [done]
}
// [output]

View<const float, 4> read_only(const View<float, 4>& X) {
  return {X.data,
          {X.shape[0], X.shape[1], X.shape[2], X.shape[3]},
          {X.strides[0], X.strides[1], X.strides[2], X.strides[3]}};
}

std::string text_of(const std::int64_t (&numbers)[4]) {
  return "(" + std::to_string(numbers[0]) + ", " + std::to_string(numbers[1]) + ", " +
         std::to_string(numbers[2]) + ", " + std::to_string(numbers[3]) + ")";
}

template <class T>
void require_argument(const char* name, const View<T, 4>& X, std::int64_t B, std::int64_t H,
                      std::int64_t rows, std::int64_t cols) {
  const std::int64_t wanted[4] = {B, H, rows, cols};
  for (int axis = 0; axis < 4; ++axis) {
    if (X.shape[axis] == wanted[axis]) continue;
    throw std::invalid_argument(std::string(name) + " must have the shape " + text_of(wanted) +
                                ", but it has " + text_of(X.shape) + ".");
  }
  if (cols > 1 && X.strides[3] != 1) {
    throw std::invalid_argument(std::string(name) + " must have stride 1 along its last axis, but it has " +
                                std::to_string(X.strides[3]) + ".");
  }
}

void require_arguments(const View<const float, 4>& Q, const View<const float, 4>& K,
                       const View<const float, 4>& V, const View<float, 4>& S, const View<float, 4>& P,
                       const View<float, 4>& O) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  if (D < 1 || D > kMaxDim) {
    throw std::invalid_argument("Q must have 1 to " + std::to_string(kMaxDim) +
                                " numbers in each row, but it has " + std::to_string(D) + ".");
  }
  require_argument("Q", Q, B, H, Nq, D);
  require_argument("K", K, B, H, Nk, D);
  require_argument("V", V, B, H, Nk, D);
  require_argument("S", S, B, H, Nq, Nk);
  require_argument("P", P, B, H, Nq, Nk);
  require_argument("O", O, B, H, Nq, D);
}

// [launch]
/// So many blocks for each head of each batch: the heads along y, the batches along z.
dim3 blocks_for_each_head(const View<const float, 4>& Q, std::int64_t blocks) {
  return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(Q.shape[1]),
              static_cast<unsigned>(Q.shape[0]));
}

void naive_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> S,
                     View<float, 4> P, View<float, 4> O, float scale) {
  require_arguments(Q, K, V, S, P, O);
  // TODO 10: return if there are no queries. Launch the scores if there are keys, and check the launch.
  // TODO 11: launch the softmax. How many blocks does a head need?
  // TODO 12: launch the output, with the tile that is as wide as O. What if there are no keys?
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  if (B == 0 || H == 0 || Nq == 0) return;
  if (Nk > 0) {
    const std::int64_t score_tiles = tiles_along(Nq, ScoreTile::kRows) * tiles_along(Nk, ScoreTile::kCols);
    scores_kernel<<<blocks_for_each_head(Q, score_tiles), ScoreTile::kThreads>>>(Q, K, S, scale);
    CUDA_CHECK(cudaGetLastError());
    softmax_kernel<<<blocks_for_each_head(Q, Nq), kSoftmaxThreads>>>(read_only(S), P);
    CUDA_CHECK(cudaGetLastError());
  }
  // Also without keys: sums without terms are 0.
  const auto output =
      D <= NarrowOutputTile::kCols ? output_kernel<NarrowOutputTile> : output_kernel<WideOutputTile>;
  const std::int64_t output_tiles = tiles_along(Nq, WideOutputTile::kRows);
  output<<<blocks_for_each_head(Q, output_tiles), WideOutputTile::kThreads>>>(read_only(P), V, O);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [launch]

}  // namespace course
