// One head of 1024 queries and keys, or one product of 1024 x 1024 matrices, by a lesson's solution, for
// scripts/compare_bound.py. -DLESSON=22 -DDIM=64 -DCAUSAL=true choose it; the solution is compiled beside it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#if LESSON == 6
#include "06_block_matmul/block_matmul.hpp"
#elif LESSON == 9
#include "09_flash2_forward/flash2_forward.hpp"
#elif LESSON == 15
#include "15_flash2_backward/flash2_backward.hpp"
#elif LESSON == 19
#include "19_register_tiling/register_tiling.hpp"
#elif LESSON == 21
#include "21_tensor_cores/tensor_cores.hpp"
#elif LESSON == 22
#include "22_tensor_core_attention/tensor_core_attention.hpp"
#elif LESSON == 24
#include "24_tensor_core_backward/tensor_core_backward.hpp"
#endif
#include "tensor/float16.hpp"

using course::View;

namespace {

constexpr std::int64_t kN = 1024;

__global__ void fill_kernel(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = static_cast<float>(i * 37 % 101) / 101.0f - 0.5f;
}
__global__ void fill_kernel(course::bfloat16* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = course::bfloat16(static_cast<float>(i * 37 % 101) / 101.0f - 0.5f);
}

template <class T>
T* filled(std::int64_t n) {
  T* x = nullptr;
  cudaMalloc(&x, static_cast<std::size_t>(n) * sizeof(T));
  fill_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, static_cast<int>(n));
  return x;
}

template <class T>
View<T, 2> matrix() {
  return {filled<std::remove_const_t<T>>(kN * kN), {kN, kN}, {kN, 1}};
}
template <class T>
View<T, 4> head() {
  return {filled<std::remove_const_t<T>>(kN * DIM), {1, 1, kN, DIM}, {kN * DIM, kN * DIM, DIM, 1}};
}
View<float, 3> row() { return {filled<float>(kN), {1, 1, kN}, {kN, kN, 1}}; }

}  // namespace

int main() {
  [[maybe_unused]] const float scale = 1.0f / std::sqrt(static_cast<float>(DIM));
  using course::bfloat16;
#if LESSON == 6
  course::matmul(matrix<const float>(), matrix<const float>(), matrix<float>());
#elif LESSON == 21
  course::matmul_bfloat16(matrix<const bfloat16>(), matrix<const bfloat16>(), matrix<bfloat16>());
#elif LESSON == 9
  course::flash2_forward(head<const float>(), head<const float>(), head<const float>(), head<float>(), row(), scale);
#elif LESSON == 15
  const View<float, 3> lse = row();
  course::flash2_backward(head<const float>(), head<const float>(), head<const float>(), head<const float>(),
                          {lse.data, {1, 1, kN}, {kN, kN, 1}}, head<const float>(), row(), head<float>(),
                          head<float>(), head<float>(), scale, CAUSAL);
#elif LESSON == 19
  course::flash2_forward_fast(head<const float>(), head<const float>(), head<const float>(), head<float>(), row(),
                              scale, CAUSAL);
#elif LESSON == 22
  course::attention_forward_bfloat16(head<const bfloat16>(), head<const bfloat16>(), head<const bfloat16>(), nullptr,
                                     head<bfloat16>(), row(), scale, CAUSAL, kN, 0);
#elif LESSON == 24
  const View<float, 3> lse = row();
  course::attention_backward_bfloat16(head<const bfloat16>(), head<const bfloat16>(), head<const bfloat16>(), nullptr,
                                      head<const bfloat16>(), {lse.data, {1, 1, kN}, {kN, kN, 1}},
                                      head<const bfloat16>(), row(), head<bfloat16>(), head<bfloat16>(),
                                      head<bfloat16>(), nullptr, scale, CAUSAL, kN, 0, 0.0f, 0);
#endif
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
