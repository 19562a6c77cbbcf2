// Lesson 21: products of 16-bit matrices on tensor cores: one by hand, then a block's tile.

#include "tensor_cores.hpp"

#include <cuda_runtime.h>

#include <cstdint>

#include "device/async_copy.hpp"
#include "device/cuda_check.hpp"
#include "device/float16.hpp"
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
    // TODO 1: which row of A does register r hold, and which two columns?
  }
  return a;
}
template <class T>
__device__ FragmentB<T> fragment_of_b(const View<const T, 2>& B, int lane) {
  FragmentB<T> b = {};
  for (int r = 0; r < 2; ++r) {
    // TODO 2: which two rows of B, and which column?
  }
  return b;
}
__device__ void store_fragment(const FragmentC& c, const View<float, 2>& C, int lane) {
  for (int i = 0; i < 4; ++i) {
    // TODO 3: which element of C is the lane's number i?
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

/// Along which axis of an operand neighbours lie side by side in memory: k, or rows of A (columns of B).
enum class Major { k, rows };

/// kRows rows of A, or columns of B, for kBlockDepth steps of k, in shared memory. Its lines are those of
/// global memory, cut into chunks of 16 bytes.
template <class T, int kRows, Major kMajor>
struct alignas(1024) OperandTile {
  static constexpr bool kAlongK = kMajor == Major::k;
  static constexpr int kLines = kAlongK ? kRows : kBlockDepth, kLength = kAlongK ? kBlockDepth : kRows;
  static constexpr int kChunks = kLength / 8, kLineBytes = 2 * kLength;
  uint4 chunks[kLines * kChunks];

  /// How many bytes from the tile's beginning number `at` of a line lies. `at` counts numbers, and is a
  /// multiple of 8. The chunks of 8 lines below each other lie in 32 different banks.
  __device__ static unsigned place(int line, int at) {
    // TODO 4: which bits of the chunk's number does the line change, so that 8 lines use 32 banks?
    const int chunk = at / 8;
    return static_cast<unsigned>(line * kLineBytes + 16 * chunk);
  }

  /// Sends for the piece of X that begins at (first_row, first_k), with zeros outside X. X is (rows, K).
  __device__ void send(const View<const T, 2>& X, std::int64_t first_row, std::int64_t first_k) {
    constexpr int kStep = kThreads / kChunks;  // lines that all threads cover with one chunk each
    static_assert(kThreads % kChunks == 0 && kLines % kStep == 0);
    static_assert(kStep % 8 == 0, "a thread's swizzle is the same in all of its lines");
    // TODO 5: send for the thread's chunk of every kStep-th line. And if X has no such chunk?
  }

  /// Where this lane points when its warp reads the square of 16 rows x 16 steps of k at (first_row, 0) with
  /// one ldmatrix. Of the four matrices, the second is the one 8 rows further, and the third the one 8 steps
  /// of k further; if kSecondAlongK, it is the other way round.
  template <bool kSecondAlongK>
  __device__ static unsigned lane_place(int first_row) {
    // TODO 6: lanes 8i to 8i + 7 point to the 8 lines of matrix i. Which line is it, which chunk?
    return 0;
  }

  /// Reads the square that lies `row` rows, fewer than kWarpRows, and k steps further, both multiples of 16.
  __device__ void read(unsigned lane_place, int row, int k, std::uint32_t (&matrices)[4]) const {
    // TODO 7: further along a line, an address is ^ something; further down, + something. Which ldmatrix?
  }
};

template <class T, Major kMajorA, Major kMajorB>
struct Stage {
  OperandTile<T, kBlockRows, kMajorA> A;
  OperandTile<T, kBlockCols, kMajorB> B;
};

using Accumulator = FragmentC[kDown][kAcross];

/// What a warp holds of A and B for 16 steps of k.
template <class T>
struct Step {
  FragmentA<T> a[kDown];
  FragmentB<T> b[kAcross];

  template <class Stage>
  __device__ void read(const Stage& stage, unsigned a_place, unsigned b_place, int k) {
#pragma unroll
    for (int i = 0; i < kDown; ++i) stage.A.read(a_place, 16 * i, k, a[i].reg);
#pragma unroll
    for (int j = 0; j < kAcross; j += 2) {
      std::uint32_t square[4];
      stage.B.read(b_place, 8 * j, k, square);
      b[j] = {square[0], square[1]};
      b[j + 1] = {square[2], square[3]};
    }
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
        // TODO 8: round and store the two elements that the lane has in this row.
      }
    }
  }
}

/// Shapes: A is (M, K), Bt is (N, K), C is (M, N), in tiles_down x tiles_across tiles, one for each block.
template <class T, class Result, Major kMajorA, Major kMajorB>
__global__ void __launch_bounds__(kThreads, 1)
    matmul_kernel(View<const T, 2> A, View<const T, 2> Bt, View<Result, 2> C, unsigned tiles_down,
                  unsigned tiles_across) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  auto* const stages = reinterpret_cast<Stage<T, kMajorA, kMajorB>*>(shared_memory);

  const unsigned group = blockIdx.x / (kGroup * tiles_across), place = blockIdx.x % (kGroup * tiles_across);
  const unsigned group_rows = min(tiles_down - group * kGroup, unsigned{kGroup});
  const std::int64_t first_row = std::int64_t{group * kGroup + place % group_rows} * kBlockRows;
  const std::int64_t first_col = std::int64_t{place / group_rows} * kBlockCols;

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % kWarpsDown * kWarpRows, warp_col = warp / kWarpsDown * kWarpCols;
  const unsigned a_place = decltype(stages->A)::template lane_place<false>(warp_row);
  const unsigned b_place = decltype(stages->B)::template lane_place<true>(warp_col);

  /// Send for a slab of A, and for one of B; past the end of K, for zeros.
  const auto send_a = [&](int slab) {
    stages[slab % kStages].A.send(A, first_row, std::int64_t{slab} * kBlockDepth);
  };
  const auto send_b = [&](int slab) {
    stages[slab % kStages].B.send(Bt, first_col, std::int64_t{slab} * kBlockDepth);
  };

  const int slabs = static_cast<int>((A.shape[1] + kBlockDepth - 1) / kBlockDepth);
  Accumulator acc = {};
  Step<T> steps[2] = {};  // one is multiplied while the next is read
  // TODO 9: the prologue: send for kStages - 1 slabs; read the first step as soon as it has landed.
  for (int slab = 0; slab < slabs; ++slab) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      // TODO 10: read the next step, send for a slab, multiply this step. Who waits when, and for what?
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
