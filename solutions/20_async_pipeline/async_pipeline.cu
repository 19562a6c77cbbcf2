// Lesson 20: a copy and the product of lesson 06, whose loads run in the background, several tiles ahead.

#include "async_pipeline.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "device/tile_matmul.hpp"

namespace course {

// --- A copy, in which every thread minds its own numbers ---

constexpr int kCopyThreads = kCopyTile / 4;  // 16 bytes a thread are the most that one copy takes

// [copy]
/// Tiles blockIdx.x, blockIdx.x + gridDim.x, ... of x and y. Round r of a block uses stage r % kStages.
template <int kStages>
__global__ void __launch_bounds__(kCopyThreads) copy_kernel(const float* x, float* y, std::int64_t n) {
  __shared__ float4 x_smem[kStages][kCopyThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const auto first_of = [=](std::int64_t round) {  // the first of this thread's four numbers
    return (blockIdx.x + round * gridDim.x) * kCopyTile + 4 * thread;
  };

  /// Sends for this thread's part of a round, and closes the batch.
  const auto fetch = [&](std::int64_t round) {
    const std::int64_t first = first_of(round);
    // TODO 1: start one copy of 16 bytes to this round's stage. How many of them are in x? And if none is?
    // TODO 2: close the batch. Must it be closed in a round that has nothing to copy?
    if (first < n) {
      const std::int64_t missing = first + 4 > n ? first + 4 - n : 0;  // these become 0, and are not read
      __pipeline_memcpy_async(&x_smem[round % kStages][thread], &x[first], sizeof(float4),
                              missing * sizeof(float));
    }
    __pipeline_commit();  // also an empty one: the number of batches says which tile has landed
    // [done]
  };

  // TODO 3: the prologue: send for as many rounds as may be ahead of the first one.
  for (int round = 0; round < kStages - 1; ++round) fetch(round);
  // [done]
  for (std::int64_t round = 0; first_of(round) < n; ++round) {
    // TODO 4: send for one more round. Whose place does it take? Then wait for the present one, and no more.
    fetch(round + kStages - 1);          // its stage was stored in the round before
    __pipeline_wait_prior(kStages - 1);  // all but the last kStages - 1 batches: this round's has landed
    // [done]
    const float4 four = x_smem[round % kStages][thread];
    const std::int64_t first = first_of(round);
    device::write_four(&four.x, &y[first], 1, n - first, true);
  }
}
// [copy]

// --- A product, in which threads use what others have fetched ---

using Shape = device::TileShape<kProductTile, kProductTile, kProductDepth, 8, 8>;
constexpr int kThreads = Shape::kThreads;
constexpr int kSide = kProductTile, kDepth = kProductDepth;
using Slab = device::SharedTile<kSide, kDepth>;  // at[k][i]: what one step of k needs lies side by side

// [wide]
/// Whether four neighbouring rows of X, in one column, can be copied at once: from row 0 on, and from every
/// fourth.
__device__ bool columns_in_fours(const View<const float, 2>& X) {
  return X.strides[0] == 1 && X.strides[1] % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(X.data) % sizeof(float4) == 0;
}

/// Starts copies of X[first_row + i][first_k + k] to X_smem.at[k][i], with zeros outside X, four rows at a
/// time.
__device__ void fetch_in_fours(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_k,
                               Slab& X_smem) {
  static_assert(kSide * kDepth == 4 * kThreads);
  // TODO 5: one copy of 16 bytes a thread. What is there to read where X ends within the four?
  const int thread = static_cast<int>(threadIdx.x);
  const int k = thread / (kSide / 4), i = 4 * (thread % (kSide / 4));
  const std::int64_t row = first_row + i, col = first_k + k;
  const std::int64_t inside =
      col < X.shape[1] ? min(X.shape[0] - row, std::int64_t{4}) : 0;  // of the four rows
  __pipeline_memcpy_async(&X_smem.at[k][i], inside > 0 ? &X(row, col) : X.data, sizeof(float4),
                          inside > 0 ? (4 - inside) * sizeof(float) : sizeof(float4));
  // [done]
}
// [wide]

// [single]
/// The same, one number at a time, for any strides.
__device__ void fetch_one_by_one(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_k,
                                 Slab& X_smem) {
  // Lesson 06: a warp reads 8 neighbours along k in 4 rows, or 32 in a column, whatever lies side by side.
  const int thread = static_cast<int>(threadIdx.x);
  const bool along_k = X.strides[1] < X.strides[0];
  const int own_i = along_k ? thread / kDepth : thread % kSide, i_step = along_k ? kThreads / kDepth : 0;
  const int own_k = along_k ? thread % kDepth : thread / kSide, k_step = along_k ? 0 : kThreads / kSide;
#pragma unroll
  for (int e = 0; e < kSide * kDepth / kThreads; ++e) {
    const int i = own_i + e * i_step, k = own_k + e * k_step;
    const std::int64_t row = first_row + i, col = first_k + k;
    // TODO 6: start the copy of X[row][col], 4 bytes. Which address, if nothing is to be read?
    const bool inside = row < X.shape[0] && col < X.shape[1];
    __pipeline_memcpy_async(&X_smem.at[k][i], inside ? &X(row, col) : X.data, sizeof(float),
                            inside ? 0 : sizeof(float));
    // [done]
  }
}
// [single]

__device__ void fetch_slab(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_k,
                           Slab& X_smem) {
  if (columns_in_fours(X)) {
    fetch_in_fours(X, first_row, first_k, X_smem);
  } else {
    fetch_one_by_one(X, first_row, first_k, X_smem);
  }
}

// [product]
/// Each block of kThreads threads computes a tile of C, row by row; C is tiles_across tiles wide. Slab s of
/// the sum over k uses stage s % kStages.
template <int kStages>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_staged_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                         unsigned tiles_across) {
  __shared__ Slab A_smem[kStages], B_smem[kStages];
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * kSide;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * kSide;
  const View<const float, 2> Bt = device::transposed(B);  // (N, K)
  const std::int64_t slabs = (A.shape[1] + kDepth - 1) / kDepth;

  /// Sends for a slab of A and one of B, if there are any, and closes the batch.
  const auto fetch = [&](std::int64_t slab) {
    if (slab < slabs) {
      fetch_slab(A, first_row, slab * kDepth, A_smem[slab % kStages]);
      fetch_slab(Bt, first_col, slab * kDepth, B_smem[slab % kStages]);
    }
    __pipeline_commit();
  };

  // TODO 7: the prologue, as in TODO 3.
  for (int slab = 0; slab < kStages - 1; ++slab) fetch(slab);
  // [done]
  Shape::Accumulator acc = {};
  for (std::int64_t slab = 0; slab < slabs; ++slab) {
    // TODO 8: when has the slab landed, for the block? When may the one before it be overwritten?
    // TODO 9: send for another slab and multiply this one, in the order in which they overlap.
    __pipeline_wait_prior(kStages - 2);  // this thread's part of the slab has landed
    __syncthreads();  // everybody's has; and all are done with the slab before: its stage is free
    fetch(slab + kStages - 1);
    device::multiply_add<Shape>(A_smem[slab % kStages], B_smem[slab % kStages], acc);
    // [done]
  }
  device::store_tile<Shape>(acc, C, first_row, first_col);
}
// [product]

// --- On the host ---

void require_stages(int stages, int fewest) {
  if (stages < fewest || stages > kMaxStages)
    throw std::invalid_argument("stages must be " + std::to_string(fewest) + " to " +
                                std::to_string(kMaxStages) + ", but it is " + std::to_string(stages) + ".");
}

std::string shape_of(std::int64_t rows, std::int64_t cols) {
  return "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
}

void require_product(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C) {
  const std::int64_t M = A.shape[0], N = B.shape[1], K = A.shape[1];
  if (B.shape[0] != K)
    throw std::invalid_argument("B must have " + std::to_string(K) +
                                " rows, as many as A has columns, but its shape is " +
                                shape_of(B.shape[0], N) + ".");
  if (C.shape[0] != M || C.shape[1] != N)
    throw std::invalid_argument("C must have the shape " + shape_of(M, N) + ", but it has " +
                                shape_of(C.shape[0], C.shape[1]) + ".");
}

// [launch]
void copy_through_shared(const float* x, float* y, std::int64_t n, int stages, int blocks) {
  if (n < 0) throw std::invalid_argument("n must not be negative, but it is " + std::to_string(n) + ".");
  if (blocks < 1)
    throw std::invalid_argument("blocks must be at least 1, but it is " + std::to_string(blocks) + ".");
  require_stages(stages, 1);
  if (n == 0) return;
  using Kernel = void (*)(const float*, float*, std::int64_t);
  constexpr Kernel kKernels[] = {copy_kernel<1>, copy_kernel<2>, copy_kernel<3>, copy_kernel<4>};
  const std::int64_t tiles = (n - 1) / kCopyTile + 1;
  const auto kernel = kKernels[stages - 1];
  kernel<<<static_cast<unsigned>(tiles < blocks ? tiles : blocks), kCopyThreads>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}

void matmul_staged(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, int stages) {
  require_product(A, B, C);
  require_stages(stages, 2);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  using Kernel = void (*)(View<const float, 2>, View<const float, 2>, View<float, 2>, unsigned);
  constexpr Kernel kKernels[] = {matmul_staged_kernel<2>, matmul_staged_kernel<3>, matmul_staged_kernel<4>};
  const std::int64_t across = (C.shape[1] - 1) / kSide + 1, down = (C.shape[0] - 1) / kSide + 1;
  const auto kernel = kKernels[stages - 2];
  kernel<<<static_cast<unsigned>(across * down), kThreads>>>(A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}
// [launch]

}  // namespace course
