// Alternative for lesson 21: the same kernel of the parts that later lessons share, in
// common/device/swizzled_tile.hpp.

#include "tensor_cores.hpp"

#include <cuda_runtime.h>

#include <cstdint>

#include "device/async_copy.hpp"
#include "device/cuda_check.hpp"
#include "device/float16.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"
#include "device/views.hpp"

namespace course {

using device::FragmentA;
using device::FragmentB;
using device::FragmentC;

// --- One product, by hand ---
/// The fragments of one lane. Shapes: A is (16, 16), B is (16, 8), C is (16, 8).
template <class T>
__device__ FragmentA<T> fragment_of_a(const View<const T, 2>& A, int lane) {
  FragmentA<T> a = {};
  for (int r = 0; r < 4; ++r) {
    const int row = lane / 4 + 8 * (r % 2), k = 2 * (lane % 4) + 8 * (r / 2);
    a.reg[r] = device::packed(A(row, k), A(row, k + 1));
  }
  return a;
}
template <class T>
__device__ FragmentB<T> fragment_of_b(const View<const T, 2>& B, int lane) {
  FragmentB<T> b = {};
  for (int r = 0; r < 2; ++r) {
    const int k = 2 * (lane % 4) + 8 * r, col = lane / 4;
    b.reg[r] = device::packed(B(k, col), B(k + 1, col));
  }
  return b;
}
__device__ void store_fragment(const FragmentC& c, const View<float, 2>& C, int lane) {
  for (int i = 0; i < 4; ++i) {
    C(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2) = c.at[i];
  }
}

/// held(lane, 2r) and held(lane, 2r + 1) are the numbers in register r.
template <class T, int kRegisters>
__device__ void write_held(const std::uint32_t (&reg)[kRegisters], const View<T, 2>& held, int lane) {
  for (int r = 0; r < kRegisters; ++r) {
    const auto pair = device::unpacked<T>(reg[r]);
    held(lane, 2 * r) = pair.x;
    held(lane, 2 * r + 1) = pair.y;
  }
}

template <class T>
__global__ void multiply_fragments_kernel(View<const T, 2> A, View<const T, 2> B, View<float, 2> C,
                                          View<T, 2> A_held, View<T, 2> B_held) {
  const int lane = static_cast<int>(threadIdx.x);
  const FragmentA<T> a = fragment_of_a(A, lane);
  const FragmentB<T> b = fragment_of_b(B, lane);
  FragmentC c = {};
  device::multiply_add(a, b, c);
  write_held(a.reg, A_held, lane);
  write_held(b.reg, B_held, lane);
  store_fragment(c, C, lane);
}

// --- A block's tile of C, kBlockRows x kBlockCols, of which each warp has kWarpRows x kWarpCols ---

constexpr int kWarpRows = 64, kWarpCols = 64, kStages = 3;
constexpr int kWarpsDown = kBlockRows / kWarpRows, kWarpsAcross = kBlockCols / kWarpCols;
constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
constexpr int kDown = kWarpRows / 16, kAcross = kWarpCols / 8;  // products below and beside each other
constexpr int kSteps = kBlockDepth / 16;                        // products along k, in a stage
constexpr int kGroup = 8;  // blocks that follow each other go down this many tiles: they share B in the L2

using device::Major;

/// kRows rows of A, or columns of B, for kBlockDepth steps of k.
template <class T, int kRows, Major kMajor>
using OperandTile = device::SwizzledTile<T, kMajor == Major::k ? kRows : kBlockDepth,
                                         kMajor == Major::k ? kBlockDepth : kRows>;

template <class T, Major kMajorA, Major kMajorB>
struct Stage {
  using TileA = OperandTile<T, kBlockRows, kMajorA>;
  using TileB = OperandTile<T, kBlockCols, kMajorB>;
  using OperandA = device::OperandA<TileA, kMajorA>;
  using OperandB = device::OperandB<TileB, kMajorB>;
  TileA A;
  TileB B;
};

using Accumulator = FragmentC[kDown][kAcross];
/// What a warp holds of A and B for 16 steps of k.
template <class T>
struct Step {
  FragmentA<T> a[kDown];
  FragmentB<T> b[kAcross];

  template <class Stage>
  __device__ void read(const Stage& stage, const typename Stage::OperandA& A,
                       const typename Stage::OperandB& B, int k) {
#pragma unroll
    for (int i = 0; i < kDown; ++i) a[i] = A.read(stage.A, 16 * i, k);
#pragma unroll
    for (int j = 0; j < kAcross; j += 2) B.read(stage.B, 8 * j, k, b[j], b[j + 1]);
  }

  __device__ void multiply(Accumulator& acc) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int e = 0; e < kAcross; ++e) {
        const int j = i % 2 == 0 ? e : kAcross - 1 - e;  // there and back: at the turn, b stays
        device::multiply_add(a[i], b[j], acc[i][j]);
      }
    }
  }
};
/// C[first_row + ...][first_col + ...] = acc, for those elements that lie in C.
template <class Result>
__device__ void store(const Accumulator& acc, const View<Result, 2>& C, std::int64_t first_row,
                      std::int64_t first_col) {
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t row = first_row + 16 * i + FragmentC::row(2 * half);
        const std::int64_t col = first_col + 8 * j + FragmentC::col(0);
        if (row >= C.shape[0]) continue;
        device::write_two(acc[i][j].at[2 * half], acc[i][j].at[2 * half + 1], C, row, col);
      }
    }
  }
}
/// Shapes: A is (M, K), Bt is (N, K), C is (M, N), in tiles_down x tiles_across tiles, one for each block.
template <class T, class Result, Major kMajorA, Major kMajorB>
__global__ void __launch_bounds__(kThreads, 1)
    matmul_kernel(View<const T, 2> A, View<const T, 2> Bt, View<Result, 2> C, unsigned tiles_down,
                  unsigned tiles_across) {
  extern __shared__ uint4 shared_memory[];
  using ThisStage = Stage<T, kMajorA, kMajorB>;
  auto* const stages = reinterpret_cast<ThisStage*>(shared_memory);

  const unsigned group = blockIdx.x / (kGroup * tiles_across), place = blockIdx.x % (kGroup * tiles_across);
  const unsigned group_rows = min(tiles_down - group * kGroup, unsigned{kGroup});
  const std::int64_t first_row = std::int64_t{group * kGroup + place % group_rows} * kBlockRows;
  const std::int64_t first_col = std::int64_t{place / group_rows} * kBlockCols;

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % kWarpsDown * kWarpRows, warp_col = warp / kWarpsDown * kWarpCols;
  const typename ThisStage::OperandA A_smem(warp_row);
  const typename ThisStage::OperandB B_smem(warp_col);
  const View<const T, 2> A_lines = kMajorA == Major::k ? A : device::transposed(A);
  const View<const T, 2> B_lines = kMajorB == Major::k ? Bt : device::transposed(Bt);

  const auto fetch = [&](int slab) {
    ThisStage& stage = stages[slab % kStages];
    const std::int64_t k = std::int64_t{slab} * kBlockDepth;
    device::send_tile<kThreads>(stage.A, A_lines, kMajorA == Major::k ? first_row : k,
                                kMajorA == Major::k ? k : first_row);
    device::send_tile<kThreads>(stage.B, B_lines, kMajorB == Major::k ? first_col : k,
                                kMajorB == Major::k ? k : first_col);
    device::commit_copies();
  };

  const int slabs = static_cast<int>((A.shape[1] + kBlockDepth - 1) / kBlockDepth);
  Accumulator acc = {};
  Step<T> steps[2] = {};  // one is multiplied while the next is read
  for (int slab = 0; slab < kStages - 1; ++slab) fetch(slab);
  device::wait_for_copies<kStages - 2>();
  __syncthreads();  // slab 0 is complete
  steps[0].read(stages[0], A_smem, B_smem, 0);
  for (int slab = 0; slab < slabs; ++slab) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const bool last = s == kSteps - 1;
      if (last) {
        device::wait_for_copies<kStages - 2>();
        __syncthreads();  // the next slab is complete, and everybody has read all of this one
      }
      const auto& next = stages[(last ? slab + 1 : slab) % kStages];
      steps[(s + 1) % 2].read(next, A_smem, B_smem, last ? 0 : 16 * (s + 1));
      if (s == 0) fetch(slab + kStages - 1);  // to the stage of the slab before, which everybody has read
      steps[s % 2].multiply(acc);
    }
  }
  store(acc, C, first_row + warp_row, first_col + warp_col);
}

// --- On the host ---
template <Major kMajorA, Major kMajorB, class T, class Result>
void launch(const View<const T, 2>& A, const View<const T, 2>& Bt, const View<Result, 2>& C) {
  constexpr int kSharedBytes = kStages * sizeof(Stage<T, kMajorA, kMajorB>);
  const std::int64_t down = (C.shape[0] - 1) / kBlockRows + 1, across = (C.shape[1] - 1) / kBlockCols + 1;
  const auto kernel = matmul_kernel<T, Result, kMajorA, kMajorB>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<static_cast<unsigned>(down * across), kThreads, kSharedBytes>>>(
      A, Bt, C, static_cast<unsigned>(down), static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

template <class T, class Result>
void launch(const View<const T, 2>& A, const View<const T, 2>& Bt, const View<Result, 2>& C) {
  const bool b_along_k = device::has_chunks_along(Bt, 1);
  if (device::has_chunks_along(A, 1))
    b_along_k ? launch<Major::k, Major::k>(A, Bt, C) : launch<Major::k, Major::rows>(A, Bt, C);
  else
    b_along_k ? launch<Major::rows, Major::k>(A, Bt, C) : launch<Major::rows, Major::rows>(A, Bt, C);
}

/// A, B and C hold device types.
template <class T, class Result>
void matmul(const View<const T, 2>& A, const View<const T, 2>& B, const View<Result, 2>& C) {
  device::require_shape("B", B, {A.shape[1], B.shape[1]});
  device::require_shape("C", C, {A.shape[0], B.shape[1]});
  device::require_chunks("A", A);
  device::require_chunks("B", B);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  if (C.strides[0] == 1)  // Cᵀ = Bᵀ·Aᵀ: neighbours in memory are neighbours in a row again
    launch(device::transposed(B), A, device::transposed(C));
  else
    launch(A, device::transposed(B), C);
}

template <class T>
void multiply_fragments(const View<const T, 2>& A, const View<const T, 2>& B, const View<float, 2>& C,
                        const View<T, 2>& A_held, const View<T, 2>& B_held) {
  device::require_shape("A", A, {16, 16});
  device::require_shape("B", B, {16, 8});
  device::require_shape("C", C, {16, 8});
  device::require_shape("A_held", A_held, {32, 8});
  device::require_shape("B_held", B_held, {32, 4});
  multiply_fragments_kernel<T><<<1, 32>>>(A, B, C, A_held, B_held);
  CUDA_CHECK(cudaGetLastError());
}

// --- The entries: a name for each type ---

using device::on_device;

void multiply_fragments_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                                 View<bfloat16, 2> A_held, View<bfloat16, 2> B_held) {
  multiply_fragments(on_device(A), on_device(B), C, on_device(A_held), on_device(B_held));
}
void multiply_fragments_float16(View<const float16, 2> A, View<const float16, 2> B, View<float, 2> C,
                                View<float16, 2> A_held, View<float16, 2> B_held) {
  multiply_fragments(on_device(A), on_device(B), C, on_device(A_held), on_device(B_held));
}
void matmul_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<bfloat16, 2> C) {
  matmul(on_device(A), on_device(B), on_device(C));
}
void matmul_float16(View<const float16, 2> A, View<const float16, 2> B, View<float16, 2> C) {
  matmul(on_device(A), on_device(B), on_device(C));
}
void matmul_bfloat16_to_float32(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C) {
  matmul(on_device(A), on_device(B), C);
}
void matmul_float16_to_float32(View<const float16, 2> A, View<const float16, 2> B, View<float, 2> C) {
  matmul(on_device(A), on_device(B), C);
}

}  // namespace course
