// Thrust's vectors and algorithms, on the device and on the host, each held against a loop.

#include <thrust/adjacent_difference.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <vector>

static int failures = 0;
#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      ++failures;                                         \
      std::printf("line %d: %s\n", __LINE__, #condition); \
    }                                                     \
  } while (0)

struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Largest {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct AddIndex {
  int* data;
  __device__ void operator()(int i) const { data[i] += i; }
};

__global__ void doubled(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

static std::vector<int> numbers(int n) {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[i] = (i * 7919 + 13) % 1009;
  return x;
}

static void vectors() {
  thrust::host_vector<int> h(4);
  for (int i = 0; i < 4; ++i) h[i] = 10 * i;
  thrust::device_vector<int> d = h;
  EXPECT(d.size() == 4 && d[3] == 30);
  d[1] = 99;
  d.resize(6, 7);
  d.push_back(5);
  h = d;
  const std::vector<int> expected{0, 99, 20, 30, 7, 7, 5};
  EXPECT(h.size() == 7 && std::equal(h.begin(), h.end(), expected.begin()));
  thrust::device_vector<int> copy(d.begin() + 1, d.begin() + 3), other(3, 4), zeros(5);
  EXPECT(copy.size() == 2 && copy[0] == 99 && other[2] == 4 && zeros[4] == 0);
  copy = other;
  other[0] = 1;
  EXPECT(copy.size() == 3 && copy[0] == 4 && copy.front() == 4 && other.back() == 4);
  doubled<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), 7);
  EXPECT(d[1] == 198);
  std::vector<int> back(7);
  thrust::copy(d.begin(), d.end(), back.begin());
  EXPECT(back[6] == 10);
  thrust::copy(expected.begin(), expected.end(), d.begin());
  EXPECT(d[1] == 99);
  thrust::device_ptr<int> raw = thrust::device_malloc<int>(3);
  thrust::fill(raw, raw + 3, 6);
  raw[1] = 8;
  EXPECT(thrust::reduce(raw, raw + 3) == 20);
  thrust::device_free(raw);
}

template <class Vector>
static void algorithms() {
  const int n = 1000;
  const std::vector<int> in = numbers(n);
  Vector x(in.begin(), in.end()), y(n);
  std::vector<int> sorted = in;
  std::sort(sorted.begin(), sorted.end());
  long long sum = 0, squares = 0, product = 0;
  int odd = 0;
  for (int i = 0; i < n; ++i)
    sum += in[i], squares += Square()(in[i]), odd += in[i] % 2, product += in[i] * (3 * i);
  EXPECT(thrust::reduce(x.begin(), x.end()) == sum);
  EXPECT(thrust::reduce(x.begin(), x.end(), -1, Largest()) == sorted.back());
  EXPECT(thrust::reduce(x.begin(), x.end(), 0LL, thrust::plus<long long>()) == sum);
  EXPECT(thrust::transform_reduce(x.begin(), x.end(), Square(), 0LL, thrust::plus<long long>()) == squares);
  EXPECT(thrust::count_if(x.begin(), x.end(), IsOdd()) == odd);
  EXPECT(thrust::count(x.begin(), x.end(), in[5]) == std::count(in.begin(), in.end(), in[5]));
  EXPECT(thrust::max_element(x.begin(), x.end()) - x.begin() ==
         std::max_element(in.begin(), in.end()) - in.begin());
  EXPECT(*thrust::min_element(x.begin(), x.end()) == sorted.front());
  thrust::sequence(y.begin(), y.end(), 0, 3);
  EXPECT(y[999] == 2997);
  EXPECT(thrust::inner_product(x.begin(), x.end(), y.begin(), 0LL) == product);
  thrust::inclusive_scan(x.begin(), x.end(), y.begin());
  EXPECT(y[0] == in[0] && y[999] == sum);
  thrust::exclusive_scan(x.begin(), x.end(), y.begin(), 5);
  EXPECT(y[0] == 5 && y[999] == sum - in[999] + 5);
  thrust::exclusive_scan(y.begin(), y.end(), y.begin());
  EXPECT(y[0] == 0 && y[2] == 10 + in[0]);
  thrust::inclusive_scan(x.begin(), x.end(), y.begin(), Largest());
  EXPECT(y[999] == sorted.back());
  EXPECT(thrust::copy_if(x.begin(), x.end(), y.begin(), IsOdd()) - y.begin() == odd);
  thrust::sequence(y.begin(), y.end());
  Vector keys = x;
  thrust::sort_by_key(keys.begin(), keys.end(), y.begin());
  bool right = true;
  for (int i = 0; i < n; ++i) right = right && keys[i] == sorted[i] && in[y[i]] == sorted[i];
  EXPECT(right);
  thrust::sort(x.begin(), x.end(), thrust::greater<int>());
  EXPECT(x[0] == sorted[999] && x[999] == sorted[0]);
  thrust::transform(x.begin(), x.end(), y.begin(), thrust::negate<int>());
  EXPECT(y[0] == -sorted[999]);
}

static void saxpy() {
  thrust::device_vector<float> x(100, 2.0f), y(100);
  thrust::sequence(y.begin(), y.end());
  const auto end = thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{3.0f});
  EXPECT(end == y.end() && y[0] == 6.0f && y[99] == 105.0f);
}

static void policies() {
  const int n = 50;
  int* x;
  cudaMalloc(&x, n * sizeof(int));
  thrust::fill(thrust::device, x, x + n, 1);
  thrust::for_each(thrust::device, thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                   AddIndex{x});
  EXPECT(thrust::reduce(thrust::device, x, x + n, 0) == n + n * (n - 1) / 2);
  thrust::device_ptr<int> p = thrust::device_pointer_cast(x);
  thrust::sort(p, p + n, thrust::greater<int>());
  EXPECT(p[0] == n);
  cudaFree(x);
  std::vector<int> here = numbers(n);
  thrust::sort(thrust::host, here.begin(), here.end());
  EXPECT(std::is_sorted(here.begin(), here.end()));
}

struct Dice {
  __host__ __device__ float operator()(unsigned i) const {
    thrust::default_random_engine engine(7);
    engine.discard(i);
    return thrust::uniform_real_distribution<float>(-1, 1)(engine);
  }
};

// Each element's number is that of its place in the sequence; then sorted, by a pointer to the first element.
static void random_numbers() {
  const int n = 200;
  thrust::device_vector<float> x(n);
  thrust::counting_iterator<unsigned> first(0);
  thrust::transform(first, first + n, x.begin(), Dice());
  thrust::host_vector<float> host(n);
  thrust::default_random_engine engine(7);
  thrust::uniform_real_distribution<float> between(-1, 1);
  thrust::generate(host.begin(), host.end(), [&] { return between(engine); });
  EXPECT(std::equal(host.begin(), host.end(), thrust::host_vector<float>(x).begin()));
  EXPECT(*std::min_element(host.begin(), host.end()) >= -1 &&
         *std::max_element(host.begin(), host.end()) < 1);
  EXPECT(!thrust::is_sorted(x.begin(), x.end()));
  thrust::sort(x.begin(), x.end());
  EXPECT(thrust::is_sorted(x.begin(), x.end()));
  float smallest, largest;
  cudaMemcpy(&smallest, thrust::raw_pointer_cast(&x[0]), sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&largest, thrust::raw_pointer_cast(&x[n - 1]), sizeof(float), cudaMemcpyDeviceToHost);
  EXPECT(smallest == x.front() && largest == x.back() && smallest < largest);
  thrust::uniform_int_distribution<int> die(1, 6);
  int seen[7] = {};
  for (int i = 0; i < 600; ++i) ++seen[die(engine)];
  EXPECT(seen[0] == 0 && *std::min_element(seen + 1, seen + 7) > 50);
}

struct Halve {
  template <class Tuple>
  __host__ __device__ void operator()(Tuple both) const {
    thrust::get<1>(both) = thrust::get<0>(both) / 2;
  }
};
struct FirstOfBoth {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& both) const {
    return thrust::get<0>(both);
  }
};

// Two arrays as one, sorted by the first and then by the second; and what makes one range of another.
template <class Vector>
static void iterators() {
  Vector keys = {3, 1, 2, 1, 3, 1}, values = {10, 12, 13, 11, 14, 9};
  const auto first = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), values.begin()));
  const auto last = first + 6;
  thrust::sort(first, last);
  EXPECT((thrust::host_vector<int>(keys) == std::vector<int>{1, 1, 1, 2, 3, 3}));
  EXPECT((thrust::host_vector<int>(values) == std::vector<int>{9, 11, 12, 13, 10, 14}));
  const auto twice = thrust::make_transform_iterator(keys.begin(), Square());
  EXPECT(thrust::reduce(twice, twice + 6, 0LL) == 1 + 1 + 1 + 4 + 9 + 9);
  thrust::for_each(first, last, Halve());
  EXPECT((thrust::host_vector<int>(values) == std::vector<int>{0, 0, 0, 1, 1, 1}));
  EXPECT(thrust::transform_reduce(first, last, FirstOfBoth(), 0, thrust::plus<int>()) == 11);
}

template <class Vector>
static void segments() {
  Vector keys = {4, 4, 7, 7, 7, 4}, values = {1, 2, 3, 4, 5, 6}, out(6), key(6);
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), values.begin(), out.begin());
  EXPECT((thrust::host_vector<int>(out) == std::vector<int>{1, 3, 3, 7, 12, 6}));
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), key.begin(), out.begin());
  EXPECT(ends.first - key.begin() == 3 && ends.second - out.begin() == 3);
  EXPECT(key[0] == 4 && key[1] == 7 && key[2] == 4 && out[0] == 3 && out[1] == 12 && out[2] == 6);
  thrust::unique_by_key_copy(keys.begin(), keys.end(), thrust::make_counting_iterator(0),
                             thrust::make_discard_iterator(), out.begin());
  EXPECT(out[0] == 0 && out[1] == 2 && out[2] == 5);
  thrust::adjacent_difference(values.begin(), values.end(), values.begin(), thrust::minus<int>());
  EXPECT((thrust::host_vector<int>(values) == std::vector<int>(6, 1)));
  thrust::adjacent_difference(keys.begin(), keys.end(), out.begin(), thrust::not_equal_to<int>());
  EXPECT((thrust::host_vector<int>(out) == std::vector<int>{4, 0, 1, 0, 0, 1}));
  EXPECT(thrust::find(keys.begin(), keys.end(), 7) - keys.begin() == 2);
  EXPECT(thrust::find_if(keys.begin(), keys.end(), IsOdd()) - keys.begin() == 2);
  EXPECT(thrust::find(keys.begin(), keys.end(), 5) == keys.end());
  const auto copied = thrust::copy_if(thrust::make_counting_iterator(0), thrust::make_counting_iterator(6),
                                      keys.begin(), out.begin(), IsOdd());
  EXPECT(copied - out.begin() == 3 && out[0] == 2 && out[2] == 4);
}

int main() {
  vectors();
  iterators<thrust::device_vector<int>>();
  iterators<thrust::host_vector<int>>();
  segments<thrust::device_vector<int>>();
  segments<thrust::host_vector<int>>();
  random_numbers();
  algorithms<thrust::device_vector<int>>();
  algorithms<thrust::host_vector<int>>();
  saxpy();
  policies();
  std::printf(failures == 0 ? "all as expected\n" : "%d differ\n", failures);
  return failures != 0;
}
