// Lesson 21 with nvcuda::wmma: fragments of 16 x 16 whose layout nobody has to know. Lines of shared memory
// are padded in place of a swizzle, since load_matrix_sync() takes a pitch and nothing else.

#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

#include "device/async_copy.hpp"
#include "device/cuda_check.hpp"
#include "device/float16.hpp"
#include "device/tensor_core.hpp"
#include "device/views.hpp"
#include "tensor_cores.hpp"

namespace course {

namespace wmma = nvcuda::wmma;

// --- One product, as in the solution: wmma does not say which lane holds what ---

template <class T>
__global__ void multiply_fragments_kernel(View<const T, 2> A, View<const T, 2> B, View<float, 2> C,
                                          View<T, 2> A_held, View<T, 2> B_held) {
  const int lane = static_cast<int>(threadIdx.x), group = lane / 4, pair = 2 * (lane % 4);
  device::FragmentA<T> a;
  device::FragmentB<T> b;
  device::FragmentC c = {};
  for (int i = 0; i < 8; ++i) A_held(lane, i) = A(group + i / 2 % 2 * 8, pair + i / 4 * 8 + i % 2);
  for (int i = 0; i < 4; ++i) B_held(lane, i) = B(pair + i / 2 * 8 + i % 2, group);
  for (int r = 0; r < 4; ++r) a.reg[r] = device::packed(A_held(lane, 2 * r), A_held(lane, 2 * r + 1));
  for (int r = 0; r < 2; ++r) b.reg[r] = device::packed(B_held(lane, 2 * r), B_held(lane, 2 * r + 1));
  device::multiply_add(a, b, c);
  for (int i = 0; i < 4; ++i) C(c.row(i), c.col(i)) = c.at[i];
}

// --- The product ---

constexpr int kRows = kBlockRows, kCols = kBlockCols, kDepth = kBlockDepth, kThreads = 256;
constexpr int kSide = 64;  // rows and columns of C of a warp

/// Lines of kLength numbers along k (kAlongK) or along the rows, and a chunk of padding each.
template <class T, int kRowsOfX, bool kAlongK_>
struct alignas(128) Padded {
  static constexpr bool kAlongK = kAlongK_;
  static constexpr int kLines = kAlongK ? kRowsOfX : kDepth, kLength = kAlongK ? kDepth : kRowsOfX;
  static constexpr int kPitch = kLength + 8;
  T at[kLines][kPitch];

  __device__ const T* square(int row, int k) const { return kAlongK ? &at[row][k] : &at[k][row]; }

  __device__ void send(const View<const T, 2>& X, std::int64_t first_row, std::int64_t first_k) {
    const std::int64_t first_line = kAlongK ? first_row : first_k, first_at = kAlongK ? first_k : first_row;
    for (int e = static_cast<int>(threadIdx.x); e < kLines * kLength / 8; e += kThreads) {
      const int line = e / (kLength / 8), number = e % (kLength / 8) * 8;
      const bool inside =
          first_line + line < X.shape[kAlongK ? 0 : 1] && first_at + number < X.shape[kAlongK ? 1 : 0];
      const T* from = X.data + (first_line + line) * X.strides[kAlongK ? 0 : 1] + first_at + number;
      device::copy_async(device::shared_address(&at[line][number]), from, inside);
    }
  }
};

template <class T, bool kA, bool kB>
struct Shared {
  struct {
    Padded<T, kRows, kA> A;
    Padded<T, kCols, kB> B;
  } stage[2];
  float C[kThreads / 32][16][24];  // of each warp: the way from a fragment to elements whose place is known
};

template <class T, class Result, bool kA, bool kB>
__global__ void __launch_bounds__(kThreads)
    matmul_kernel(View<const T, 2> A, View<const T, 2> Bt, View<Result, 2> C, unsigned tiles_across) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  auto& smem = *reinterpret_cast<Shared<T, kA, kB>*>(shared_memory);
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * kCols;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp % 2 * kSide, warp_col = warp / 2 * kSide;
  using LayoutA = std::conditional_t<kA, wmma::row_major, wmma::col_major>;
  using LayoutB = std::conditional_t<kB, wmma::col_major, wmma::row_major>;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4][4];
  for (auto& row : acc)
    for (auto& c : row) wmma::fill_fragment(c, 0.0f);

  const int slabs = static_cast<int>((A.shape[1] + kDepth - 1) / kDepth);
  const auto fetch = [&](int slab) {
    smem.stage[slab % 2].A.send(A, first_row, std::int64_t{slab} * kDepth);
    smem.stage[slab % 2].B.send(Bt, first_col, std::int64_t{slab} * kDepth);
    device::commit_copies();
  };
  if (slabs > 0) fetch(0);
  for (int slab = 0; slab < slabs; ++slab) {
    device::wait_for_copies<0>();
    __syncthreads();  // the slab is complete, and the one before has been read
    if (slab + 1 < slabs) fetch(slab + 1);
    const auto& stage = smem.stage[slab % 2];
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> a[4];
      for (int i = 0; i < 4; ++i)
        wmma::load_matrix_sync(a[i], stage.A.square(warp_row + 16 * i, k), stage.A.kPitch);
      for (int j = 0; j < 4; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> b;
        wmma::load_matrix_sync(b, stage.B.square(warp_col + 16 * j, k), stage.B.kPitch);
        for (int i = 0; i < 4; ++i) wmma::mma_sync(acc[i][j], a[i], b, acc[i][j]);
      }
    }
  }

  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      wmma::store_matrix_sync(&smem.C[warp][0][0], acc[i][j], 24, wmma::mem_row_major);
      __syncwarp();                  // the square is complete
      for (int e = 0; e < 8; ++e) {  // 4 rows of 8 columns at a time, in 32 different banks
        const int r = e / 2 * 4 + lane / 8, c = e % 2 * 8 + lane % 8;
        const std::int64_t row = first_row + warp_row + 16 * i + r, col = first_col + warp_col + 16 * j + c;
        if (row < C.shape[0] && col < C.shape[1])
          C(row, col) = device::rounded_to<Result>(smem.C[warp][r][c]);
      }
      __syncwarp();  // it has been read
    }
}

template <bool kA, bool kB, class T, class Result>
void launch(const View<const T, 2>& A, const View<const T, 2>& Bt, const View<Result, 2>& C) {
  constexpr int kSharedBytes = sizeof(Shared<T, kA, kB>);
  const std::int64_t down = (C.shape[0] - 1) / kRows + 1, across = (C.shape[1] - 1) / kCols + 1;
  const auto kernel = matmul_kernel<T, Result, kA, kB>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<static_cast<unsigned>(down * across), kThreads, kSharedBytes>>>(A, Bt, C,
                                                                           static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

template <class T, class Result>
void launch(const View<const T, 2>& A, const View<const T, 2>& Bt, const View<Result, 2>& C) {
  const bool b_along_k = device::has_chunks_along(Bt, 1);
  if (device::has_chunks_along(A, 1))
    b_along_k ? launch<true, true>(A, Bt, C) : launch<true, false>(A, Bt, C);
  else
    b_along_k ? launch<false, true>(A, Bt, C) : launch<false, false>(A, Bt, C);
}

/// A, B and C hold device types.
template <class T, class Result>
void matmul(const View<const T, 2>& A, const View<const T, 2>& B, const View<Result, 2>& C) {
  device::require_shape("B", B, {A.shape[1], B.shape[1]});
  device::require_shape("C", C, {A.shape[0], B.shape[1]});
  device::require_chunks("A", A);
  device::require_chunks("B", B);
  if (C.shape[0] == 0 || C.shape[1] == 0) return;
  // Cᵀ = Bᵀ·Aᵀ: neighbours in memory are neighbours in a row again. A C of strides (1, 1) has rows.
  if (C.strides[0] == 1 && C.strides[1] != 1)
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
