// Alternative for lesson 21: the product with the kernel that lesson 23 has of it, in
// common/device/tensor_core_matmul.hpp.

#include "tensor_cores.hpp"

#include <cuda_runtime.h>

#include <cstdint>

#include "device/cuda_check.hpp"
#include "device/float16.hpp"
#include "device/tensor_core.hpp"
#include "device/tensor_core_matmul.hpp"
#include "device/views.hpp"

namespace course {

using device::FragmentA;
using device::FragmentB;
using device::FragmentC;
using device::Major;

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

// --- A block's tile of C ---
template <Major kMajorA, Major kMajorB, class T, class Result>
void launch(const View<const T, 2>& A, const View<const T, 2>& B, const View<Result, 2>& C) {
  constexpr int kRows = kBlockRows, kCols = kBlockCols, kDepth = kBlockDepth, kWarps = 8, kStages = 3;
  using Shape = device::TensorCoreShape<kRows, kCols, kDepth, kWarps>;
  constexpr int kSharedBytes = kStages * sizeof(device::OperandStage<Shape, T, kMajorA, kMajorB>);
  const std::int64_t down = (C.shape[0] - 1) / kRows + 1, across = (C.shape[1] - 1) / kCols + 1;
  const auto kernel =
      device::tensor_core_matmul_kernel<kRows, kCols, kDepth, kWarps, kStages, kMajorA, kMajorB, T, Result>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<static_cast<unsigned>(down * across), Shape::kThreads, kSharedBytes>>>(
      A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

template <class T, class Result>
void launch(const View<const T, 2>& A, const View<const T, 2>& B, const View<Result, 2>& C) {
  const bool b_along_k = device::has_chunks_along(B, 0);
  if (device::has_chunks_along(A, 1))
    b_along_k ? launch<Major::k, Major::k>(A, B, C) : launch<Major::k, Major::rows>(A, B, C);
  else
    b_along_k ? launch<Major::rows, Major::k>(A, B, C) : launch<Major::rows, Major::rows>(A, B, C);
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
    launch(device::transposed(B), device::transposed(A), device::transposed(C));
  else
    launch(A, B, C);
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
