// Measures lesson 02 on a GPU: a strided copy and a transpose against a device-to-device copy, as JSON. Built
// with the kernels that are to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "02_matrix_strides/matrix_strides.hpp"
#include "bench/benchmark.hpp"
#include "device/cuda_check.hpp"

namespace {

constexpr std::int64_t kRows = 16384, kCols = 16384;  // 1 GiB a matrix, far more than any cache holds
constexpr std::int64_t kTallRows = std::int64_t{1} << 23, kTallCols = 32;  // as many elements, other shape

course::View<const float, 2> row_major(const float* x, std::int64_t rows, std::int64_t cols) {
  return {x, {rows, cols}, {cols, 1}};
}
course::View<float, 2> row_major(float* x, std::int64_t rows, std::int64_t cols) {
  return {x, {rows, cols}, {cols, 1}};
}
course::View<const float, 2> column_major(const float* x, std::int64_t rows, std::int64_t cols) {
  return {x, {rows, cols}, {1, rows}};
}
course::View<float, 2> column_major(float* x, std::int64_t rows, std::int64_t cols) {
  return {x, {rows, cols}, {1, rows}};
}

}  // namespace

int main() try {
  static_assert(kRows * kCols == kTallRows * kTallCols);
  const std::size_t array_bytes = kRows * kCols * sizeof(float);
  const double bytes = 2.0 * static_cast<double>(array_bytes);  // each element read once and written once
  float *x = nullptr, *y = nullptr;
  CUDA_CHECK(cudaMalloc(&x, array_bytes));
  CUDA_CHECK(cudaMalloc(&y, array_bytes));
  course::bench::fill_kernel<<<1024, 256>>>(x, kRows * kCols, 1);
  CUDA_CHECK(cudaGetLastError());
  const float* in = x;

  struct Result {
    const char* name;
    double milliseconds;
  };
  const std::vector<Result> results = {
      {"device_copy", course::bench::median_milliseconds(
                          [&] { CUDA_CHECK(cudaMemcpyAsync(y, x, array_bytes, cudaMemcpyDeviceToDevice)); })},
      {"copy_rows_to_rows", course::bench::median_milliseconds([&] {
         course::copy_strided(row_major(in, kRows, kCols), row_major(y, kRows, kCols));
       })},
      {"copy_columns_to_columns", course::bench::median_milliseconds([&] {
         course::copy_strided(column_major(in, kRows, kCols), column_major(y, kRows, kCols));
       })},
      {"copy_columns_to_rows", course::bench::median_milliseconds([&] {
         course::copy_strided(column_major(in, kRows, kCols), row_major(y, kRows, kCols));
       })},
      {"copy_tall", course::bench::median_milliseconds([&] {
         course::copy_strided(row_major(in, kTallRows, kTallCols), row_major(y, kTallRows, kTallCols));
       })},
      {"transpose", course::bench::median_milliseconds([&] { course::transpose(in, y, kRows, kCols); })},
      {"transpose_tall",
       course::bench::median_milliseconds([&] { course::transpose(in, y, kTallRows, kTallCols); })},
      {"transpose_wide",
       course::bench::median_milliseconds([&] { course::transpose(in, y, kTallCols, kTallRows); })},
  };
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));

  course::bench::begin_json(2);
  std::printf("  \"rows\": %lld,\n  \"cols\": %lld,\n", static_cast<long long>(kRows),
              static_cast<long long>(kCols));
  std::printf("  \"tall_rows\": %lld,\n  \"tall_cols\": %lld,\n", static_cast<long long>(kTallRows),
              static_cast<long long>(kTallCols));
  std::printf("  \"repetitions\": %d,\n  \"bytes\": %.0f", course::bench::kRepetitions, bytes);
  for (const Result& result : results) {
    std::printf(
        ",\n  \"%s\": {\"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f}",
        result.name, result.milliseconds, bytes / result.milliseconds * 1e-6,
        results[0].milliseconds / result.milliseconds);
  }
  std::printf("\n}\n");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
