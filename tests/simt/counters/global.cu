// Global loads and stores, one pattern a kernel. Each kernel is launched once, and its accesses do not depend
// on timing, so its requests and sectors are fixed numbers. Unless a kernel says otherwise, x is read as the
// kernel's name says, and y is written with unit stride.

#include "harness.cuh"

constexpr int kBlocks = 2, kBlockThreads = 64, kThreads = kBlocks * kBlockThreads;

__device__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class T, int kStride>
__global__ void load_kernel(const T* x, T* y) {
  const int i = thread_of_grid();
  y[i] = x[i * kStride];
}

/// Reads x with unit stride.
template <class T, int kStride>
__global__ void store_kernel(const T* x, T* y) {
  const int i = thread_of_grid();
  y[i * kStride] = x[i];
}

template <class T, int kOffset>
__global__ void load_shifted_kernel(const T* x, T* y) {
  const int i = thread_of_grid();
  y[i] = x[i + kOffset];
}

template <class T, int kOffset>
__global__ void store_shifted_kernel(const T* x, T* y) {
  const int i = thread_of_grid();
  y[i + kOffset] = x[i];
}

template <class T>
__global__ void load_broadcast_kernel(const T* x, T* y) {
  y[thread_of_grid()] = x[blockIdx.x];
}

__global__ void load_reversed_kernel(const float* x, float* y) {
  const int i = thread_of_grid();
  y[i] = x[i ^ 31];
}

__global__ void load_permuted_kernel(const float* x, float* y) {
  const int i = thread_of_grid();
  y[i] = x[i / 32 * 32 + (i * 13 + 5) % 32];
}

/// Reads index with unit stride, too.
__global__ void load_gathered_kernel(const int* index, const float* x, float* y) {
  const int i = thread_of_grid();
  y[i] = x[index[i]];
}

/// The last warp of a block of 40 threads has eight lanes; the guard cuts off more.
__global__ void load_guarded_kernel(const float* x, float* y, int n) {
  const int i = thread_of_grid();
  if (i < n) y[i] = x[i];
}

__global__ void load_even_lanes_kernel(const float* x, float* y) {
  const int i = thread_of_grid();
  if (i % 2 == 0) y[i] = x[i];
}

__global__ void load_few_lanes_kernel(const float4* x, float4* y) {
  const int i = thread_of_grid(), lane = i % 32;
  if (lane >= 5 && lane < 13) y[i] = x[i];
}

__global__ void load_readonly_kernel(const float* x, float* y) {
  const int i = thread_of_grid();
  y[i] = __ldg(&x[i + 1]);
}

__global__ void load_volatile_kernel(const volatile float* x, float* y) {
  const int i = thread_of_grid();
  y[i] = x[i * 2];
}

/// Lane i reads i % 4 elements, k * kThreads apart.
__global__ void load_divergent_loop_kernel(const float* x, float* y) {
  const int i = thread_of_grid();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < i % 4; ++k) sum += x[k * kThreads + i];
  y[i] = sum;
}

/// Each round skips a different third of the lanes.
__global__ void load_skipping_loop_kernel(const float* x, float* y) {
  const int i = thread_of_grid();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 5; ++k)
    if ((i + k) % 3 != 0) sum += x[k * kThreads + i];
  y[i] = sum;
}

/// Lanes leave the loop at different rounds, by what they read.
__global__ void load_leaving_loop_kernel(const int* next, int* y) {
  const int i = thread_of_grid();
  int at = i, hops = 0;
#pragma unroll 1
  while (at != 0) {
    at = next[at];
    ++hops;
  }
  y[i] = hops;
}

struct Point {
  float x, y, z;
};

__global__ void load_points_kernel(const Point* points, float* y) {
  const int i = thread_of_grid();
  y[i] = points[i].x + points[i].y + points[i].z;
}

/// Reads x with stride one, and writes three floats, 12 bytes apart.
__global__ void store_points_kernel(const float* x, Point* points) {
  const int i = thread_of_grid();
  const float value = x[i];
  points[i].x = value;
  points[i].y = 2 * value;
  points[i].z = 3 * value;
}

constexpr int kCols = 48;

/// A, y: (16, 48). A warp of a 16x16 block covers 16 elements of two rows.
__global__ void load_two_rows_kernel(const float* A, float* y) {
  const int i = threadIdx.y * kCols + blockIdx.x * 16 + threadIdx.x;
  y[i] = A[i];
}

/// A: (128, 48). Thread i adds up row i.
__global__ void sum_rows_kernel(const float* A, float* y) {
  const int row = thread_of_grid();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kCols; ++k) sum += A[row * kCols + k];
  y[row] = sum;
}

/// The same with a quarter of the requests.
__global__ void sum_rows_by_four_kernel(const float4* A, float* y) {
  const int row = thread_of_grid();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kCols / 4; ++k) {
    const float4 a = A[row * (kCols / 4) + k];
    sum += a.x + a.y + a.z + a.w;
  }
  y[row] = sum;
}

template <class T, int kStride>
void test_load() {
  const std::vector<T> values = scrambled<T>(kThreads * kStride);
  Array<T> x(values), y(kThreads);
  load_kernel<T, kStride><<<kBlocks, kBlockThreads>>>(x.data(), y.data());
  expect_copy("load_kernel", y, values, [](int i) { return i * kStride; });
}

template <class T, int kStride>
void test_store() {
  const std::vector<T> values = scrambled<T>(kThreads);
  Array<T> x(values), y(kThreads * kStride);
  store_kernel<T, kStride><<<kBlocks, kBlockThreads>>>(x.data(), y.data());
  expect_copy("store_kernel", y, values, [](int i) { return i % kStride == 0 ? i / kStride : -1; });
}

template <class T, int kOffset>
void test_shifted() {
  const std::vector<T> values = scrambled<T>(kThreads + kOffset);
  Array<T> x(values), y(kThreads), z(kThreads + kOffset);
  load_shifted_kernel<T, kOffset><<<kBlocks, kBlockThreads>>>(x.data(), y.data());
  expect_copy("load_shifted_kernel", y, values, [](int i) { return i + kOffset; });
  store_shifted_kernel<T, kOffset><<<kBlocks, kBlockThreads>>>(x.data(), z.data());
  expect_copy("store_shifted_kernel", z, values, [](int i) { return i - kOffset; });
}

template <class T>
void test_broadcast() {
  const std::vector<T> values = scrambled<T>(kBlocks);
  Array<T> x(values), y(kThreads);
  load_broadcast_kernel<T><<<kBlocks, kBlockThreads>>>(x.data(), y.data());
  expect_copy("load_broadcast_kernel", y, values, [](int i) { return i / kBlockThreads; });
}

void test_lanes() {
  const std::vector<float> values = scrambled<float>(2 * kThreads);
  Array<float> x(values);
  std::vector<int> where(kThreads);
  for (int i = 0; i < kThreads; ++i) where[i] = (i * i * 37 + i * 11) % (2 * kThreads);
  Array<int> index(where);
  {
    Array<float> y(kThreads);
    load_reversed_kernel<<<kBlocks, kBlockThreads>>>(x.data(), y.data());
    expect_copy("load_reversed_kernel", y, values, [](int i) { return i ^ 31; });
  }
  {
    Array<float> y(kThreads);
    load_permuted_kernel<<<kBlocks, kBlockThreads>>>(x.data(), y.data());
    expect_copy("load_permuted_kernel", y, values, [](int i) { return i / 32 * 32 + (i * 13 + 5) % 32; });
  }
  {
    Array<float> y(kThreads);
    load_gathered_kernel<<<kBlocks, kBlockThreads>>>(index.data(), x.data(), y.data());
    expect_copy("load_gathered_kernel", y, values, [&](int i) { return where[i]; });
  }
  {
    Array<float> y(120);
    load_guarded_kernel<<<3, 40>>>(x.data(), y.data(), 75);
    expect_copy("load_guarded_kernel", y, values, [](int i) { return i < 75 ? i : -1; });
  }
  {
    Array<float> y(kThreads);
    load_even_lanes_kernel<<<kBlocks, kBlockThreads>>>(x.data(), y.data());
    expect_copy("load_even_lanes_kernel", y, values, [](int i) { return i % 2 == 0 ? i : -1; });
  }
  {
    Array<float> y(kThreads);
    load_readonly_kernel<<<kBlocks, kBlockThreads>>>(x.data(), y.data());
    expect_copy("load_readonly_kernel", y, values, [](int i) { return i + 1; });
  }
  {
    Array<float> y(kThreads);
    load_volatile_kernel<<<kBlocks, kBlockThreads>>>(x.data(), y.data());
    expect_copy("load_volatile_kernel", y, values, [](int i) { return 2 * i; });
  }
  const std::vector<float4> vectors = scrambled<float4>(kThreads);
  Array<float4> x4(vectors), y4(kThreads);
  load_few_lanes_kernel<<<kBlocks, kBlockThreads>>>(x4.data(), y4.data());
  expect_copy("load_few_lanes_kernel", y4, vectors,
              [](int i) { return i % 32 >= 5 && i % 32 < 13 ? i : -1; });
}

void test_loops() {
  const std::vector<float> values = small_numbers(5 * kThreads);
  Array<float> x(values), y(kThreads), z(kThreads);
  load_divergent_loop_kernel<<<kBlocks, kBlockThreads>>>(x.data(), y.data());
  expect("load_divergent_loop_kernel", y, [&](int i) {
    float sum = 0;
    for (int k = 0; k < i % 4; ++k) sum += values[k * kThreads + i];
    return sum;
  });
  load_skipping_loop_kernel<<<kBlocks, kBlockThreads>>>(x.data(), z.data());
  expect("load_skipping_loop_kernel", z, [&](int i) {
    float sum = 0;
    for (int k = 0; k < 5; ++k)
      if ((i + k) % 3 != 0) sum += values[k * kThreads + i];
    return sum;
  });
  std::vector<int> halves(kThreads);
  for (int i = 0; i < kThreads; ++i) halves[i] = i / 2;
  Array<int> next(halves), hops(kThreads);
  load_leaving_loop_kernel<<<kBlocks, kBlockThreads>>>(next.data(), hops.data());
  expect("load_leaving_loop_kernel", hops, [](int i) {
    int count = 0;
    for (; i != 0; i /= 2) ++count;
    return count;
  });
}

void test_layouts() {
  const std::vector<float> values = small_numbers(kThreads * kCols);
  std::vector<Point> points(kThreads);
  for (int i = 0; i < kThreads; ++i) points[i] = {values[i], values[i + 1], values[i + 2]};
  Array<float> x(values), sums(kThreads), rows(kThreads), rows_by_four(kThreads), A(16 * kCols);
  Array<Point> from(points), to(kThreads);
  load_points_kernel<<<kBlocks, kBlockThreads>>>(from.data(), sums.data());
  expect("load_points_kernel", sums, [&](int i) { return values[i] + values[i + 1] + values[i + 2]; });
  store_points_kernel<<<kBlocks, kBlockThreads>>>(x.data(), to.data());
  expect("store_points_kernel", to, [&](int i) { return Point{values[i], 2 * values[i], 3 * values[i]}; });
  load_two_rows_kernel<<<kCols / 16, dim3(16, 16)>>>(x.data(), A.data());
  expect("load_two_rows_kernel", A, [&](int i) { return values[i]; });
  const auto row_sum = [&](int row) {
    float sum = 0;
    for (int k = 0; k < kCols; ++k) sum += values[row * kCols + k];
    return sum;
  };
  sum_rows_kernel<<<kBlocks, kBlockThreads>>>(x.data(), rows.data());
  expect("sum_rows_kernel", rows, row_sum);
  sum_rows_by_four_kernel<<<kBlocks, kBlockThreads>>>(reinterpret_cast<const float4*>(x.data()),
                                                      rows_by_four.data());
  expect("sum_rows_by_four_kernel", rows_by_four, row_sum);
}

int main() {
  test_load<float, 1>(), test_load<float, 2>(), test_load<float, 3>();
  test_load<float, 8>(), test_load<float, 32>(), test_load<float, 33>();
  test_load<float2, 1>(), test_load<float2, 2>(), test_load<float2, 3>(), test_load<float2, 32>();
  test_load<float4, 1>(), test_load<float4, 2>(), test_load<float4, 3>(), test_load<float4, 32>();
  test_load<unsigned char, 1>(), test_load<unsigned char, 3>(), test_load<unsigned short, 1>();
  test_store<float, 1>(), test_store<float, 2>(), test_store<float, 3>();
  test_store<float, 8>(), test_store<float, 32>(), test_store<float, 33>();
  test_store<float2, 1>(), test_store<float2, 2>(), test_store<float2, 3>();
  test_store<float4, 1>(), test_store<float4, 2>(), test_store<float4, 3>();
  test_store<unsigned char, 1>(), test_store<unsigned char, 3>(), test_store<unsigned short, 1>();
  test_shifted<float, 1>(), test_shifted<float, 4>(), test_shifted<float, 8>();
  test_shifted<float2, 1>(), test_shifted<float4, 1>(), test_shifted<unsigned char, 1>();
  test_broadcast<float>(), test_broadcast<float4>();
  test_lanes();
  test_loops();
  test_layouts();
  return finish("global");
}
