// Lesson 20 with a cuda::barrier, where the solution has __syncthreads(). A barrier that stands in shared
// memory is made of atomics, and each of them costs what an access to shared memory does.
//
// gives up: sends for A and B without a detour, in whole sectors, and waits once a slab

#include "async_pipeline.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <cuda/barrier>

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
    // TODO 1: start a copy of 16 bytes to this round's stage. What if fewer than four numbers are left?
    // TODO 2: close the batch. Must it be closed in a round that has nothing to copy?
    float4& stage = x_smem[round % kStages][thread];
    if (first + 4 <= n) {
      __pipeline_memcpy_async(&stage, &x[first], sizeof(float4));
    } else {
      for (int e = 0; e < 4; ++e) {
        const bool inside = first + e < n;  // outside nothing is read, and the number becomes 0
        __pipeline_memcpy_async(&stage.x + e, inside ? &x[first + e] : x, sizeof(float),
                                inside ? 0 : sizeof(float));
      }
    }
    __pipeline_commit();  // also an empty one: the number of batches says which tile has landed
    // [done]
  };

  // TODO 3: the prologue: send for as many rounds as may be ahead of the first one.
  for (int round = 0; round < kStages - 1; ++round) fetch(round);
  // [done]
  for (std::int64_t round = 0; first_of(round) < n; ++round) {
    // TODO 4: send for one more round, and wait for the present one, and no more. Then store it.
    fetch(round + kStages - 1);          // its stage was stored in the round before
    __pipeline_wait_prior(kStages - 1);  // all but the last kStages - 1 batches: this round's has landed
    const float4 four = x_smem[round % kStages][thread];
    const std::int64_t first = first_of(round);
    device::write_four(&four.x, &y[first], 1, n - first, true);
    // [done]
  }
}
// [copy]

// --- A product, in which threads use what others have fetched ---

using Shape = device::TileShape<kProductTile, kProductTile, kProductDepth, 8, 8>;
constexpr int kThreads = Shape::kThreads;
constexpr int kSide = kProductTile, kDepth = kProductDepth;
using Slab = device::SharedTile<kSide, kDepth>;  // at[k][i]: what one step of k needs lies side by side

// [slabs]
/// The slabs of a matrix, one after the other along k: which of their numbers a thread sends for.
class Slabs {
 public:
  /// Shapes: X is (rows, K), any strides. A warp sends for neighbours in memory: four rows with one copy
  /// where they lie side by side; else, as in lesson 06, 8 numbers along k in each of 4 rows, or 32 in a
  /// column.
  __device__ Slabs(const View<const float, 2>& X, std::int64_t first_row) : X_(X) {
    const int thread = static_cast<int>(threadIdx.x);
    in_fours_ = X.strides[0] == 1 && X.strides[1] % 4 == 0 && X.shape[0] % 4 == 0 &&
                reinterpret_cast<std::uintptr_t>(X.data) % sizeof(float4) == 0;
    along_k_ = X.strides[1] < X.strides[0];
    i_ = in_fours_ ? 4 * thread % kSide : along_k_ ? thread / kDepth : thread % kSide;
    k_ = in_fours_ ? 4 * thread / kSide : along_k_ ? thread % kDepth : thread / kSide;
    next_ = X.data + (first_row + i_) * X.strides[0] + k_ * X.strides[1];
    rows_left_ = static_cast<int>(min(X.shape[0] - first_row, std::int64_t{kSide})) - i_;
  }

  /// Sends for the next slab, of which X has k_left columns: element (i, k) goes to X_smem.at[k][i], and
  /// zeros where X has ended.
  __device__ void send(Slab& X_smem, int k_left) {
    if (in_fours_) {
      // TODO 5: one copy of 16 bytes. In whose place, and which address, if X has nothing there?
      const bool inside = rows_left_ > 0 && k_ < k_left;
      __pipeline_memcpy_async(&X_smem.at[k_][i_], inside ? next_ : X_.data, sizeof(float4),
                              inside ? 0 : sizeof(float4));
      // [done]
    } else {
      const int i_step = along_k_ ? kThreads / kDepth : 0, k_step = along_k_ ? 0 : kThreads / kSide;
      const std::int64_t step = i_step * X_.strides[0] + k_step * X_.strides[1];
#pragma unroll 1  // unrolled, the addresses would take registers that the sums need
      for (int e = 0; e < kSide * kDepth / kThreads; ++e) {
        // TODO 6: one copy of 4 bytes, i_step rows and k_step columns further each time.
        const bool inside = e * i_step < rows_left_ && k_ + e * k_step < k_left;
        __pipeline_memcpy_async(&X_smem.at[k_ + e * k_step][i_ + e * i_step],
                                inside ? next_ + e * step : X_.data, sizeof(float),
                                inside ? 0 : sizeof(float));
        // [done]
      }
    }
    next_ += kDepth * X_.strides[1];
  }

 private:
  const View<const float, 2>& X_;
  bool in_fours_, along_k_;
  int i_, k_;          // the thread's first number of a slab
  const float* next_;  // that number, of the next slab
  int rows_left_;      // from it to the end of X or of the tile
};
// [slabs]

// [product]
/// Each block of kThreads threads computes a tile of C, row by row; C is tiles_across tiles wide. Slab s of
/// the sum over k uses stage s % kStages.
template <int kStages>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_staged_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                         unsigned tiles_across) {
  __shared__ Slab A_smem[kStages], B_smem[kStages];
  const unsigned down = blockIdx.x / tiles_across, across = blockIdx.x % tiles_across;  // the tile's place
  const View<const float, 2> Bt = device::transposed(B);                                // (N, K)
  Slabs A_slabs(A, std::int64_t{down} * kSide), B_slabs(Bt, std::int64_t{across} * kSide);
  const int slabs = static_cast<int>((A.shape[1] + kDepth - 1) / kDepth);

  /// Sends for a slab of A and one of B, if there are any, and closes the batch.
  const auto fetch = [&](int slab) {
    if (slab < slabs) {
      const int k_left =
          static_cast<int>(min(A.shape[1] - std::int64_t{slab} * kDepth, std::int64_t{kDepth}));
      A_slabs.send(A_smem[slab % kStages], k_left);
      B_slabs.send(B_smem[slab % kStages], k_left);
    }
    __pipeline_commit();
  };

  // TODO 7: the prologue, as in TODO 3.
  for (int slab = 0; slab < kStages - 1; ++slab) fetch(slab);
  // [done]
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, kThreads);
  __syncthreads();
  Shape::Accumulator acc = {};
  // [loop]
  for (int slab = 0; slab < slabs; ++slab) {
    // TODO 8: when has the slab landed, for the block? When may the one before it be overwritten?
    // TODO 9: send for another slab and multiply this one, in the order in which they overlap.
    __pipeline_wait_prior(kStages - 2);  // this thread's part of the slab has landed
    all.arrive_and_wait();
    fetch(slab + kStages - 1);
    device::multiply_add<Shape>(A_smem[slab % kStages], B_smem[slab % kStages], acc);
    // [done]
  }
  // [loop]
  device::store_tile<Shape>(acc, C, std::int64_t{down} * kSide, std::int64_t{across} * kSide);
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
