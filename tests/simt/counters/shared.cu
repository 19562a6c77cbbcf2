// Shared loads and stores, one pattern a kernel, one warp each: lane i writes an element of the tile, and
// after a barrier reads the element that lane i ^ 1 wrote, so that loads and stores meet the same pattern.

#include "harness.cuh"

/// Element lane * kStride.
template <class T, int kStride>
__global__ void shared_kernel(const T* x, T* y) {
  __shared__ T tile[32 * kStride];
  const int lane = threadIdx.x;
  tile[lane * kStride] = x[lane];
  __syncthreads();
  y[lane] = tile[(lane ^ 1) * kStride];
}

/// All lanes read one element; stores have unit stride.
template <class T>
__global__ void shared_broadcast_kernel(const T* x, T* y, int element) {
  __shared__ T tile[32];
  const int lane = threadIdx.x;
  tile[lane] = x[lane];
  __syncthreads();
  y[lane] = tile[element];
}

/// kGroup lanes side by side read the same element; stores have unit stride.
template <class T, int kGroup>
__global__ void shared_groups_kernel(const T* x, T* y) {
  __shared__ T tile[32];
  const int lane = threadIdx.x;
  tile[lane] = x[lane];
  __syncthreads();
  y[lane] = tile[lane / kGroup];
}

/// Lanes that are kPeriod apart read the same element; stores have unit stride.
template <class T, int kPeriod>
__global__ void shared_periods_kernel(const T* x, T* y) {
  __shared__ T tile[32];
  const int lane = threadIdx.x;
  tile[lane] = x[lane];
  __syncthreads();
  y[lane] = tile[lane % kPeriod];
}

/// Even lanes read one word, odd lanes another one in the same bank; two stores of unit stride.
__global__ void shared_two_words_kernel(const float* x, float* y, int element) {
  __shared__ float tile[64];
  const int lane = threadIdx.x;
  tile[lane] = x[lane];
  tile[lane + 32] = x[lane + 32];
  __syncthreads();
  y[lane] = tile[lane % 2 * 32 + element];
}

/// Every kEach-th lane writes and reads.
template <class T, int kEach>
__global__ void shared_some_lanes_kernel(const T* x, T* y) {
  __shared__ T tile[32];
  const int lane = threadIdx.x;
  if (lane % kEach == 0) tile[lane] = x[lane];
  __syncthreads();
  if (lane % kEach == 0) y[lane] = tile[lane ^ kEach];
}

/// Only the first kLanes lanes write and read.
template <class T, int kLanes>
__global__ void shared_first_lanes_kernel(const T* x, T* y) {
  __shared__ T tile[32];
  const int lane = threadIdx.x;
  if (lane < kLanes) tile[lane] = x[lane];
  __syncthreads();
  if (lane < kLanes) y[lane] = tile[lane ^ 1];
}

/// Reads lane * 5 % 32, starting `first` elements into the tile; stores have unit stride.
template <class T>
__global__ void shared_permuted_kernel(const T* x, T* y, int first) {
  __shared__ T tile[33];
  const int lane = threadIdx.x;
  tile[first + lane] = x[lane];
  __syncthreads();
  y[lane] = tile[first + lane * 5 % 32];
}

/// Lane i adds up i % 4 elements, a row apart.
__global__ void shared_divergent_loop_kernel(const float* x, float* y) {
  __shared__ float tile[4 * 32];
  const int lane = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) tile[k * 32 + lane] = x[k * 32 + lane];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < lane % 4; ++k) sum += tile[k * 32 + lane * 2 % 32];
  y[lane] = sum;
}

/// Tree sum of 128 elements.
__global__ void shared_tree_kernel(const float* x, float* y) {
  __shared__ float partial[128];
  const int thread = threadIdx.x;
  partial[thread] = x[blockIdx.x * 128 + thread];
#pragma unroll 1
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) partial[thread] += partial[thread + half];
  }
  if (thread == 0) y[blockIdx.x] = partial[0];
}

/// Sum of 128 elements: shuffles in each warp, then a sum over the warps.
__global__ void shuffle_sum_kernel(const float* x, float* y) {
  __shared__ float warp_sum[4];
  const int thread = threadIdx.x;
  float sum = x[blockIdx.x * 128 + thread];
#pragma unroll 1
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (thread % 32 == 0) warp_sum[thread / 32] = sum;
  __syncthreads();
  if (thread != 0) return;
  float total = 0;
#pragma unroll 1
  for (int warp = 0; warp < 4; ++warp) total += warp_sum[warp];
  y[blockIdx.x] = total;
}

template <class T, int kStride>
void test_stride() {
  const std::vector<T> values = scrambled<T>(32);
  Array<T> x(values), y(32);
  shared_kernel<T, kStride><<<1, 32>>>(x.data(), y.data());
  expect_copy("shared_kernel", y, values, [](int i) { return i ^ 1; });
}

template <class T>
void test_broadcast() {
  const std::vector<T> values = scrambled<T>(32);
  Array<T> x(values), y(32), z(32);
  shared_broadcast_kernel<T><<<1, 32>>>(x.data(), y.data(), 3);
  expect_copy("shared_broadcast_kernel", y, values, [](int) { return 3; });
  shared_permuted_kernel<T><<<1, 32>>>(x.data(), z.data(), 1);
  expect_copy("shared_permuted_kernel", z, values, [](int i) { return i * 5 % 32; });
}

template <class T, int kGroup>
void test_groups() {
  const std::vector<T> values = scrambled<T>(32);
  Array<T> x(values), y(32), z(32);
  shared_groups_kernel<T, kGroup><<<1, 32>>>(x.data(), y.data());
  expect_copy("shared_groups_kernel", y, values, [](int i) { return i / kGroup; });
  shared_periods_kernel<T, 32 / kGroup><<<1, 32>>>(x.data(), z.data());
  expect_copy("shared_periods_kernel", z, values, [](int i) { return i % (32 / kGroup); });
}

template <class T, int kEach>
void test_some_lanes() {
  const std::vector<T> values = scrambled<T>(32);
  Array<T> x(values), y(32), z(32);
  shared_some_lanes_kernel<T, kEach><<<1, 32>>>(x.data(), y.data());
  expect_copy("shared_some_lanes_kernel", y, values, [](int i) { return i % kEach == 0 ? i ^ kEach : -1; });
  shared_first_lanes_kernel<T, 32 / kEach><<<1, 32>>>(x.data(), z.data());
  expect_copy("shared_first_lanes_kernel", z, values, [](int i) { return i < 32 / kEach ? i ^ 1 : -1; });
}

void test_others() {
  const std::vector<float> values = small_numbers(256);
  const auto sum = [&](int first, int count, int step) {
    float total = 0;
    for (int k = 0; k < count; ++k) total += values[first + k * step];
    return total;
  };
  Array<float> x(values), two_words(32), loop(32), tree(2), shuffled(2);
  shared_two_words_kernel<<<1, 32>>>(x.data(), two_words.data(), 7);
  expect_copy("shared_two_words_kernel", two_words, values, [](int i) { return i % 2 * 32 + 7; });
  shared_divergent_loop_kernel<<<1, 32>>>(x.data(), loop.data());
  expect("shared_divergent_loop_kernel", loop, [&](int i) { return sum(i * 2 % 32, i % 4, 32); });
  shared_tree_kernel<<<2, 128>>>(x.data(), tree.data());
  expect("shared_tree_kernel", tree, [&](int i) { return sum(i * 128, 128, 1); });
  shuffle_sum_kernel<<<2, 128>>>(x.data(), shuffled.data());
  expect("shuffle_sum_kernel", shuffled, [&](int i) { return sum(i * 128, 128, 1); });
}

int main() {
  test_stride<float, 1>(), test_stride<float, 2>(), test_stride<float, 3>(), test_stride<float, 4>();
  test_stride<float, 8>(), test_stride<float, 17>(), test_stride<float, 32>(), test_stride<float, 33>();
  test_stride<float2, 1>(), test_stride<float2, 2>(), test_stride<float2, 3>(), test_stride<float2, 4>();
  test_stride<float2, 8>(), test_stride<float2, 17>(), test_stride<float2, 32>();
  test_stride<float4, 1>(), test_stride<float4, 2>(), test_stride<float4, 3>(), test_stride<float4, 4>();
  test_stride<float4, 8>(), test_stride<float4, 9>(), test_stride<float4, 17>(), test_stride<float4, 32>();
  test_stride<unsigned char, 1>(), test_stride<unsigned char, 3>(), test_stride<unsigned short, 1>();
  test_broadcast<float>(), test_broadcast<float2>(), test_broadcast<float4>();
  test_groups<float, 2>(), test_groups<float2, 2>(), test_groups<float4, 2>(), test_groups<float4, 4>();
  test_some_lanes<float, 2>(), test_some_lanes<float2, 2>(), test_some_lanes<float4, 2>();
  test_some_lanes<float4, 4>();
  test_others();
  return finish("shared");
}
