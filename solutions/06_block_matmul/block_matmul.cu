// Lesson 06: C = A·B from tiles: with one element of C a thread, then with a tile of C in each thread's
// registers.

#include "block_matmul.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

// --- One element of C a thread ---

constexpr int kTiledThreads = kTile * kTile;

// [load square]
/// X_smem = the square of X that begins at (first_row, first_col), with zeros outside X.
__device__ void load_square(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_col,
                            float (&X_smem)[kTile][kTile + 1]) {
  // TODO 1: which element does this thread bring, so that a warp reads neighbours? And outside X?
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const bool along_row = X.strides[1] <= X.strides[0];  // a warp, with one y, reads along the smaller stride
  const int r = along_row ? y : x, c = along_row ? x : y;
  const std::int64_t row = first_row + r, col = first_col + c;
  const bool inside = row < X.shape[0] && col < X.shape[1];
  X_smem[r][c] = inside ? X(row, col) : 0.0f;
  // [done]
}
// [load square]

// [tiled]
/// Each block of kTile x kTile threads computes a tile of C, row by row; C is tiles_across tiles wide.
__global__ void __launch_bounds__(kTiledThreads)  // a promise: then a thread gets at most 64 registers
    matmul_tiled_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                        unsigned tiles_across) {
  __shared__ float A_smem[kTile][kTile + 1];  // + 1: the elements of a column lie in 32 different banks
  __shared__ float B_smem[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * kTile;  // of the tile, in C
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * kTile;
  const std::int64_t K = A.shape[1];

  float sum = 0.0f;
  for (std::int64_t first_k = 0; first_k < K; first_k += kTile) {
    // TODO 2: load both squares; add the products of your row of A and column of B. Who waits, and when?
    load_square(A, first_row, first_k, A_smem);
    load_square(B, first_k, first_col, B_smem);
    __syncthreads();  // both squares are complete: a thread may read what others loaded
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += A_smem[y][k] * B_smem[k][x];
    __syncthreads();  // all threads have read them: the next step may overwrite them
    // [done]
  }

  // TODO 3: write the sum to its element of C, if C has it.
  const std::int64_t row = first_row + y, col = first_col + x;
  if (row < C.shape[0] && col < C.shape[1]) C(row, col) = sum;
  // [done]
}
// [tiled]

// --- A tile of C in the registers of each thread ---

constexpr int kSide = 128;                    // rows and columns of the tile of C that a block computes
constexpr int kDepth = 8;                     // steps of k for which it holds A and B in shared memory
constexpr int kThreadSide = 8;                // rows and columns of C that a thread computes
constexpr int kAcross = kSide / kThreadSide;  // threads side by side, and as many below each other
constexpr int kThreads = kAcross * kAcross;
constexpr int kHalf = kSide / 2;  // a thread has 4 rows in the upper half of the tile and 4 in the lower half
static_assert(kSide >= kBlockTile && kThreadSide == 8);

/// 128 rows of A, or columns of B, for kDepth steps of k: at [k][i], so that what one step needs lies side by
/// side. The 4 floats that each step has left over keep 8 steps of 4 rows in 32 different banks.
using Slab = float[kDepth][kSide + 4];

// [load slab]
/// X_smem[k][i] = X[first_row + i][first_k + k], with zeros outside X.
__device__ void load_slab(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_k,
                          Slab& X_smem) {
  // TODO 5: as in TODO 1, for four elements a thread, and stored the other way round. Which four?
  const int thread = static_cast<int>(threadIdx.x);
  const bool along_k = X.strides[1] < X.strides[0];  // a warp reads 8 neighbours in 4 rows, or 32 in a column
  const int own_i = along_k ? thread / kDepth : thread % kSide, i_step = along_k ? kThreads / kDepth : 0;
  const int own_k = along_k ? thread % kDepth : thread / kSide, k_step = along_k ? 0 : kThreads / kSide;

  const std::int64_t row = first_row + own_i, col = first_k + own_k;
  const float* from = X.data + row * X.strides[0] + col * X.strides[1];
  const std::int64_t step = i_step * X.strides[0] + k_step * X.strides[1];
#pragma unroll
  for (int e = 0; e < kSide * kDepth / kThreads; ++e) {
    const bool inside = row + e * i_step < X.shape[0] && col + e * k_step < X.shape[1];
    X_smem[own_k + e * k_step][own_i + e * i_step] = inside ? from[e * step] : 0.0f;
  }
  // [done]
}
// [load slab]

// [multiply]
/// Four neighbours with one read of 16 bytes.
__device__ void read_four(const float* from_smem, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from_smem);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/// acc += this thread's rows of A times its columns of B, for the steps of k that the slabs hold.
__device__ void multiply_add(const Slab& A_smem, const Slab& B_smem, int first_i, int first_j,
                             float (&acc)[kThreadSide][kThreadSide]) {
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    // TODO 6: bring what step k needs into registers, 8 numbers of each slab, and add their 64 products.
    float a[kThreadSide], b[kThreadSide];
    read_four(&A_smem[k][first_i], &a[0]);
    read_four(&A_smem[k][first_i + kHalf], &a[4]);
    read_four(&B_smem[k][first_j], &b[0]);
    read_four(&B_smem[k][first_j + kHalf], &b[4]);
#pragma unroll
    for (int i = 0; i < kThreadSide; ++i) {
#pragma unroll
      for (int j = 0; j < kThreadSide; ++j) acc[i][j] += a[i] * b[j];
    }
    // [done]
  }
}
// [multiply]

// [kernel]
/// Each block of kThreads threads computes a tile of C, row by row; C is tiles_across tiles wide.
__global__ void __launch_bounds__(kThreads, 2)  // of two blocks, one can compute while the other loads
    matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, unsigned tiles_across) {
  __shared__ alignas(16) Slab A_smem, B_smem;
  const int thread = static_cast<int>(threadIdx.x);
  const int first_i = 4 * (thread / kAcross), first_j = 4 * (thread % kAcross);  // in each half of the tile
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * kSide;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * kSide;
  const View<const float, 2> Bt{B.data, {B.shape[1], B.shape[0]}, {B.strides[1], B.strides[0]}};  // (N, K)
  const std::int64_t K = A.shape[1];

  float acc[kThreadSide][kThreadSide] = {};
  for (std::int64_t first_k = 0; first_k < K; first_k += kDepth) {
    // TODO 7: as in TODO 2, with slabs. Which matrix has the columns of B as its rows?
    load_slab(A, first_row, first_k, A_smem);
    load_slab(Bt, first_col, first_k, B_smem);
    __syncthreads();  // both slabs are complete: a thread may read what others loaded
    multiply_add(A_smem, B_smem, first_i, first_j, acc);
    __syncthreads();  // all threads have read them: the next step may overwrite them
    // [done]
  }

  // TODO 8: write the 64 sums. Which row of C has acc[i][...], which column acc[...][j]?
#pragma unroll
  for (int i = 0; i < kThreadSide; ++i) {
#pragma unroll
    for (int j = 0; j < kThreadSide; ++j) {
      const std::int64_t row = first_row + first_i + i / 4 * kHalf + i % 4;
      const std::int64_t col = first_col + first_j + j / 4 * kHalf + j % 4;
      if (row < C.shape[0] && col < C.shape[1]) C(row, col) = acc[i][j];
    }
  }
  // [done]
}
// [kernel]

// --- On the host ---

std::string shape_of(std::int64_t rows, std::int64_t cols) {
  return "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
}

void require_product(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C) {
  const std::int64_t M = A.shape[0], N = B.shape[1], K = A.shape[1];
  if (B.shape[0] != K) {
    throw std::invalid_argument("B must have " + std::to_string(K) +
                                " rows, as many as A has columns, but its shape is " +
                                shape_of(B.shape[0], N) + ".");
  }
  if (C.shape[0] != M || C.shape[1] != N) {
    throw std::invalid_argument("C must have the shape " + shape_of(M, N) + ", but it has " +
                                shape_of(C.shape[0], C.shape[1]) + ".");
  }
}

/// Rounded up. size > 0.
std::int64_t tiles_along(std::int64_t size, int tile) { return (size - 1) / tile + 1; }

// [launch]
void matmul_tiled(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  require_product(A, B, C);
  // TODO 4: a block for each tile of C, and check the launch. How many tiles? What if C is empty?
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  const std::int64_t tiles_across = tiles_along(C.shape[1], kTile),
                     tiles_down = tiles_along(C.shape[0], kTile);
  matmul_tiled_kernel<<<static_cast<unsigned>(tiles_across * tiles_down), dim3(kTile, kTile)>>>(
      A, B, C, static_cast<unsigned>(tiles_across));
  CUDA_CHECK(cudaGetLastError());
  // [done]
}

void matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  require_product(A, B, C);
  // TODO 9: the same launch, of the other kernel.
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  const std::int64_t tiles_across = tiles_along(C.shape[1], kSide),
                     tiles_down = tiles_along(C.shape[0], kSide);
  matmul_kernel<<<static_cast<unsigned>(tiles_across * tiles_down), kThreads>>>(
      A, B, C, static_cast<unsigned>(tiles_across));
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [launch]

}  // namespace course
