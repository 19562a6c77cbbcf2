// Atomics on global and shared memory. Where the result is not used, the GPU runs a reduction (RED) instead
// of an atomic that returns something (ATOM). Which element a thread meets comes from a table in memory: of
// an address that nvcc knows to be the same for the whole warp, it would add up the warp's values first.

#include "harness.cuh"

constexpr int kBlocks = 2, kBlockThreads = 64, kThreads = kBlocks * kBlockThreads;

__device__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// index[i] = i % kAddresses * kStride.
template <class T, int kAddresses, int kStride>
__global__ void red_kernel(const int* index, const T* x, T* y) {
  const int i = thread_of_grid();
  atomicAdd(&y[index[i]], x[i]);
}

/// index[i] = i % kAddresses * kStride.
template <class T, int kAddresses, int kStride>
__global__ void atom_kernel(const int* index, const T* x, T* y, T* old) {
  const int i = thread_of_grid();
  old[i] = atomicAdd(&y[index[i]], x[i]);
}

__global__ void red_max_kernel(const int* index, const int* x, int* y) {
  const int i = thread_of_grid();
  atomicMax(&y[index[i]], x[i]);
}

__global__ void atom_exchange_kernel(const int* index, const int* x, int* y, int* old) {
  const int i = thread_of_grid();
  old[i] = atomicExch(&y[index[i]], x[i]);
}

__global__ void atom_compare_kernel(const int* index, const int* x, int* y, int* old) {
  const int i = thread_of_grid();
  old[i] = atomicCAS(&y[index[i]], 0, x[i]);
}

/// Every third lane.
__global__ void red_some_lanes_kernel(const int* index, const int* x, int* y) {
  const int i = thread_of_grid();
  if (i % 3 == 0) atomicAdd(&y[index[i]], x[i]);
}

/// One warp. index[i] = i % kAddresses * kStride; the tile is cleared and read with unit stride.
template <class T, int kAddresses, int kStride>
__global__ void shared_red_kernel(const int* index, const T* x, T* y) {
  __shared__ T tile[kAddresses * kStride];
  const int lane = threadIdx.x;
#pragma unroll 1
  for (int k = lane; k < kAddresses * kStride; k += 32) tile[k] = 0;
  __syncthreads();
  atomicAdd(&tile[index[lane]], x[lane]);
  __syncthreads();
#pragma unroll 1
  for (int k = lane; k < kAddresses * kStride; k += 32) y[k] = tile[k];
}

template <class T, int kAddresses, int kStride>
__global__ void shared_atom_kernel(const int* index, const T* x, T* y, T* old) {
  __shared__ T tile[kAddresses * kStride];
  const int lane = threadIdx.x;
#pragma unroll 1
  for (int k = lane; k < kAddresses * kStride; k += 32) tile[k] = 0;
  __syncthreads();
  old[lane] = atomicAdd(&tile[index[lane]], x[lane]);
  __syncthreads();
#pragma unroll 1
  for (int k = lane; k < kAddresses * kStride; k += 32) y[k] = tile[k];
}

__global__ void shared_max_kernel(const int* index, const int* x, int* y) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = 0;
  __syncthreads();
  atomicMax(&tile[index[lane]], x[lane]);
  __syncthreads();
  y[lane] = tile[lane];
}

constexpr int kBins = 64, kValues = 512;

/// Counts in shared memory, then adds to the counts of the grid.
__global__ void histogram_kernel(const int* x, int* counts) {
  __shared__ int block_counts[kBins];
  const int thread = threadIdx.x;
  block_counts[thread] = 0;
  __syncthreads();
#pragma unroll 1
  for (int i = thread_of_grid(); i < kValues; i += kThreads) atomicAdd(&block_counts[x[i]], 1);
  __syncthreads();
  atomicAdd(&counts[thread], block_counts[thread]);
}

template <class T>
std::vector<T> small_values(int size) {
  std::vector<T> values(size);
  for (int i = 0; i < size; ++i) values[i] = static_cast<T>(i * 7 % 13 + 1);
  return values;
}

std::vector<int> addresses(int size, int distinct, int stride) {
  std::vector<int> index(size);
  for (int i = 0; i < size; ++i) index[i] = i % distinct * stride;
  return index;
}

template <class T>
T sum_where(const std::vector<int>& index, const std::vector<T>& values, int place) {
  T sum = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    if (index[i] == place) sum += values[i];
  return sum;
}

template <class T, int kAddresses, int kStride>
void test_global() {
  const std::vector<int> places = addresses(kThreads, kAddresses, kStride);
  const std::vector<T> values = small_values<T>(kThreads);
  const auto expected = [&](int place) { return sum_where(places, values, place); };
  Array<int> index(places);
  Array<T> x(values), y(kAddresses * kStride), z(kAddresses * kStride), old(kThreads);
  red_kernel<T, kAddresses, kStride><<<kBlocks, kBlockThreads>>>(index.data(), x.data(), y.data());
  expect("red_kernel", y, expected);
  atom_kernel<T, kAddresses, kStride>
      <<<kBlocks, kBlockThreads>>>(index.data(), x.data(), z.data(), old.data());
  expect("atom_kernel", z, expected);
}

template <class T, int kAddresses, int kStride>
void test_shared() {
  const std::vector<int> places = addresses(32, kAddresses, kStride);
  const std::vector<T> values = small_values<T>(32);
  const auto expected = [&](int place) { return sum_where(places, values, place); };
  Array<int> index(places);
  Array<T> x(values), y(kAddresses * kStride), z(kAddresses * kStride), old(32);
  shared_red_kernel<T, kAddresses, kStride><<<1, 32>>>(index.data(), x.data(), y.data());
  expect("shared_red_kernel", y, expected);
  shared_atom_kernel<T, kAddresses, kStride><<<1, 32>>>(index.data(), x.data(), z.data(), old.data());
  expect("shared_atom_kernel", z, expected);
}

void test_others() {
  const std::vector<int> places = addresses(kThreads, 4, 8), all = addresses(kThreads, kThreads, 1);
  const std::vector<int> values = small_values<int>(kThreads);
  Array<int> index(places), own(all), x(values);
  Array<int> highest(32), swapped(kThreads), compared(kThreads), some(32), shared_highest(32), old(kThreads);
  const auto highest_where = [&](int place, int count) {
    int high = 0;
    for (int i = 0; i < count; ++i)
      if (places[i] == place && values[i] > high) high = values[i];
    return high;
  };
  red_max_kernel<<<kBlocks, kBlockThreads>>>(index.data(), x.data(), highest.data());
  expect("red_max_kernel", highest, [&](int place) { return highest_where(place, kThreads); });
  atom_exchange_kernel<<<kBlocks, kBlockThreads>>>(own.data(), x.data(), swapped.data(), old.data());
  expect_copy("atom_exchange_kernel", swapped, values, [](int i) { return i; });
  atom_compare_kernel<<<kBlocks, kBlockThreads>>>(own.data(), x.data(), compared.data(), old.data());
  expect_copy("atom_compare_kernel", compared, values, [](int i) { return i; });
  red_some_lanes_kernel<<<kBlocks, kBlockThreads>>>(index.data(), x.data(), some.data());
  expect("red_some_lanes_kernel", some, [&](int place) {
    int sum = 0;
    for (int i = 0; i < kThreads; i += 3) sum += places[i] == place ? values[i] : 0;
    return sum;
  });
  shared_max_kernel<<<1, 32>>>(index.data(), x.data(), shared_highest.data());
  expect("shared_max_kernel", shared_highest, [&](int place) { return highest_where(place, 32); });

  std::vector<int> numbers(kValues);
  for (int i = 0; i < kValues; ++i) numbers[i] = i * i * 29 % 1021 % kBins;
  Array<int> from(numbers), counts(kBins);
  histogram_kernel<<<kBlocks, kBlockThreads>>>(from.data(), counts.data());
  expect("histogram_kernel", counts, [&](int bin) {
    int count = 0;
    for (int number : numbers) count += number == bin;
    return count;
  });
}

int main() {
  using Wide = unsigned long long;
  test_global<int, 1, 1>(), test_global<int, 2, 1>(), test_global<int, 2, 8>();
  test_global<int, kThreads, 1>(), test_global<int, kThreads, 2>(), test_global<int, kThreads, 8>();
  test_global<float, 1, 1>(), test_global<float, 2, 8>(), test_global<float, kThreads, 1>();
  test_global<float, kThreads, 8>(), test_global<Wide, 1, 1>(), test_global<Wide, kThreads, 1>();
  test_shared<int, 1, 1>(), test_shared<int, 2, 1>(), test_shared<int, 2, 32>(), test_shared<int, 8, 1>();
  test_shared<int, 32, 1>(), test_shared<int, 32, 2>(), test_shared<int, 32, 32>();
  test_shared<float, 1, 1>(), test_shared<float, 2, 1>(), test_shared<float, 32, 1>();
  test_shared<float, 32, 2>();
  test_others();
  return finish("atomics");
}
