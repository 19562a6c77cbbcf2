// Measures lesson 30 on a GPU: how fast the cache is read by one new token, or a few, beside a copy from
// device memory to device memory in the same process; as JSON. Pages of 64 tokens, which lie in no order.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "30_split_kv_decoding/split_kv_decoding.hpp"
#include "bench/benchmark.hpp"
#include "tensor/float16.hpp"

using namespace course::bench;
using course::bfloat16;
using course::View;

namespace {

/// A copy of numbers of the host in device memory.
class CopiedNumbers {
 public:
  explicit CopiedNumbers(const std::vector<std::int32_t>& numbers) {
    const std::size_t bytes = numbers.size() * sizeof(std::int32_t);
    CUDA_CHECK(cudaMalloc(&data_, bytes));
    CUDA_CHECK(cudaMemcpy(data_, numbers.data(), bytes, cudaMemcpyHostToDevice));
  }
  CopiedNumbers(const CopiedNumbers&) = delete;
  CopiedNumbers& operator=(const CopiedNumbers&) = delete;
  ~CopiedNumbers() { cudaFree(data_); }
  std::int32_t* data() const { return data_; }

 private:
  std::int32_t* data_ = nullptr;
};

struct Sizes {
  std::int64_t B, H, H_kv, Nq, N, D;
};

constexpr std::int64_t kPageSize = 64;

/// A contiguous array as a view.
template <class T, int kRank>
View<T, kRank> view_of(T* data, const std::int64_t (&shape)[kRank]) {
  View<T, kRank> view{data, {}, {}};
  std::int64_t stride = 1;
  for (int axis = kRank; axis-- > 0; stride *= shape[axis]) {
    view.shape[axis] = shape[axis];
    view.strides[axis] = stride;
  }
  return view;
}

template <class T>
void measure(const char* series, const Sizes& n, int multiprocessors, double copy_rate,
             const char*& separator) {
  const auto shape = Shape()
                         .size("B", n.B)
                         .size("H", n.H)
                         .size("H_kv", n.H_kv)
                         .size("Nq", n.Nq)
                         .size("N", n.N)
                         .size("D", n.D);
  const std::int64_t columns = n.N / kPageSize, pages = n.B * columns, rows = n.B * n.H * n.Nq;
  const std::int64_t tiles_of_rows = (n.H / n.H_kv * n.Nq + course::kPackedRows - 1) / course::kPackedRows;
  const std::int64_t splits =
      course::choose_splits(n.B * n.H_kv * tiles_of_rows, n.N / course::kTileKeys, multiprocessors);
  const std::int64_t cache = pages * n.H_kv * kPageSize * n.D;  // elements of K
  const double cache_bytes = 2.0 * sizeof(T) * static_cast<double>(cache);
  const double other_bytes = static_cast<double>(rows) * (2.0 * sizeof(T) * static_cast<double>(n.D) + 4.0);
  const double partial_bytes = 4.0 * static_cast<double>(splits * rows * (n.D + 1));
  if (!wanted(series, shape) || !fits(series, shape, cache_bytes + other_bytes + partial_bytes)) return;

  std::vector<std::int32_t> table(static_cast<std::size_t>(pages));
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int32_t>(i);
  std::shuffle(table.begin(), table.end(), std::mt19937(1));
  const CopiedNumbers table_data(table),
      lengths(std::vector<std::int32_t>(static_cast<std::size_t>(n.B), static_cast<std::int32_t>(n.N)));
  const DeviceArrayOf<T> Q(rows * n.D, 1), K(cache, 2), V(cache, 3), O(rows * n.D, 4);
  const DeviceArray lse(rows), partial_O(splits * rows * n.D), partial_lse(splits * rows);
  // Pages of [page, token, head, dim], as most engines have them.
  const auto pages_of = [&](T* data) {
    return View<const T, 4>{
        data, {pages, n.H_kv, kPageSize, n.D}, {n.H_kv * kPageSize * n.D, n.D, n.H_kv * n.D, 1}};
  };
  const auto decode = [&] {
    const auto run = [&](auto entry) {
      entry(view_of<const T>(Q.data(), {n.B, n.H, n.Nq, n.D}), pages_of(K.data()), pages_of(V.data()),
            view_of<const std::int32_t>(table_data.data(), {n.B, columns}), lengths.data(),
            view_of(O.data(), {n.B, n.H, n.Nq, n.D}), view_of(lse.data(), {n.B, n.H, n.Nq}),
            view_of(partial_O.data(), {splits, n.B, n.H, n.Nq, n.D}),
            view_of(partial_lse.data(), {splits, n.B, n.H, n.Nq}), 1.0f / std::sqrt(static_cast<float>(n.D)));
    };
    if constexpr (std::is_same_v<T, bfloat16>)
      run(course::decode_bfloat16);
    else
      run(course::decode_float32);
  };
  const Timing timing = time_calls(decode);
  const double rate = cache_bytes / timing.milliseconds * 1e-6;
  std::printf(
      "%s    {\"type\": \"%s\", %s\"splits\": %lld, \"milliseconds\": %.4f, "
      "\"cache_gigabytes_per_second\": %.0f, \"fraction_of_copy\": %.3f}",
      separator, std::is_same_v<T, bfloat16> ? "bfloat16" : "float32", shape.json(true).c_str(),
      static_cast<long long>(splits), timing.milliseconds, rate, rate / copy_rate);
  separator = ",\n";
  record(series, shape, timing, 4.0 * static_cast<double>(rows * n.N * n.D), cache_bytes + other_bytes,
         std::is_same_v<T, bfloat16> ? Unit::tensor_cores : Unit::float32);
}

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  cudaDeviceProp device{};
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const double copy_rate = copy_gigabytes_per_second();
  begin_json(30, copy_rate);
  std::printf("  \"decode\": [");
  const char* separator = "\n";
  constexpr std::int64_t kTokens = 262144;  // of all sequences: 1 GiB in bfloat16 with 8 heads of 128
  for (std::int64_t N = 1024; N <= 131072; N *= 2) {
    const std::int64_t B = std::min<std::int64_t>(kTokens / N, 64);
    for (const std::int64_t H : {8, 32, 64})  // groups of 1, 4 and 8
      measure<bfloat16>("decode_bfloat16", {B, H, 8, 1, N, 128}, device.multiProcessorCount, copy_rate,
                        separator);
  }
  for (const std::int64_t N : {8192, 32768, 131072}) {
    const auto bf16 = [&](const Sizes& n) {
      measure<bfloat16>("decode_bfloat16", n, device.multiProcessorCount, copy_rate, separator);
    };
    bf16({1, 64, 8, 1, N, 128});
    bf16({kTokens / N, 64, 8, 2, N, 128});  // 16 rows of a group
    bf16({kTokens / N, 64, 8, 8, N, 128});  // 64 rows
    bf16({kTokens / N, 64, 8, 1, N, 64});
    bf16({kTokens / N, 16, 2, 1, N, 256});
    for (const std::int64_t H : {8, 64})
      measure<float>("decode_float32", {kTokens / N, H, 8, 1, N, 128}, device.multiProcessorCount, copy_rate,
                     separator);
  }
  std::printf("\n  ],\n");
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
