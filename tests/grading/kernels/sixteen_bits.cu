// One body for both types of 16 bits. sixteen_bits_test.cpp names its lines.
#include "sixteen_bits.hpp"

#include <cuda_runtime.h>

#include "device/float16.hpp"

namespace course {
namespace {

using namespace device;

template <class T>
__global__ void multiply_kernel(View<const T, 2> A, View<const T, 2> B, View<T, 2> C, bool narrow) {
  const std::int64_t row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= C.shape[0] || col >= C.shape[1]) return;
  float sum = 0.0f;
  for (std::int64_t k = 0; k < A.shape[1]; ++k) {
    sum += to_float(A(row, k)) * to_float(B(k, col));
    if (narrow) sum = to_float(rounded_to<T>(sum));
  }
  C(row, col) = rounded_to<T>(sum);
}

template <class T>
__global__ void copy_pairs_kernel(const T* x, T* y, std::int64_t n) {
  __shared__ alignas(pair_of<T>) T tile[64];
  const int i = 2 * static_cast<int>(threadIdx.x);
  tile[i] = x[i];
  if (i + 1 < n) tile[i + 1] = x[i + 1];
  const auto pair = *reinterpret_cast<const pair_of<T>*>(tile + i);  // line 31
  y[i] = pair.x;
  y[i + 1] = pair.y;  // line 33
}

template <class T>
void multiply(View<const T, 2> A, View<const T, 2> B, View<T, 2> C, bool narrow) {
  const dim3 block(16, 4);
  const dim3 grid(static_cast<unsigned>((C.shape[1] + 15) / 16), static_cast<unsigned>((C.shape[0] + 3) / 4));
  multiply_kernel<device_type<T>><<<grid, block>>>(on_device(A), on_device(B), on_device(C), narrow);
}

template <class T>
void copy_pairs(const T* x, T* y, std::int64_t n) {
  copy_pairs_kernel<<<1, static_cast<unsigned>((n + 1) / 2)>>>(on_device(x), on_device(y), n);
}

}  // namespace

void multiply_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<bfloat16, 2> C) {
  multiply(A, B, C, false);
}
void multiply_float16(View<const float16, 2> A, View<const float16, 2> B, View<float16, 2> C) {
  multiply(A, B, C, false);
}
void multiply_narrow_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<bfloat16, 2> C) {
  multiply(A, B, C, true);
}
void multiply_narrow_float16(View<const float16, 2> A, View<const float16, 2> B, View<float16, 2> C) {
  multiply(A, B, C, true);
}
void copy_pairs_bfloat16(const bfloat16* x, bfloat16* y, std::int64_t n) { copy_pairs(x, y, n); }
void copy_pairs_float16(const float16* x, float16* y, std::int64_t n) { copy_pairs(x, y, n); }

}  // namespace course
