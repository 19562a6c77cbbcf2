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

constexpr std::int64_t kCols = 16384, kTallCols = 32;

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

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  const std::int64_t elements = course::bench::elements_that_fit(2);
  const std::int64_t rows = elements / kCols, tall_rows = elements / kTallCols;
  const std::size_t array_bytes = static_cast<std::size_t>(elements) * sizeof(float);
  const double bytes = 2.0 * static_cast<double>(array_bytes);  // each element read once and written once
  float *x = nullptr, *y = nullptr;
  CUDA_CHECK(cudaMalloc(&x, array_bytes));
  CUDA_CHECK(cudaMalloc(&y, array_bytes));
  course::bench::fill_kernel<<<1024, 256>>>(x, elements, 1);
  CUDA_CHECK(cudaGetLastError());
  const float* in = x;

  struct Result {
    const char* name;
    std::int64_t rows, cols;
    course::bench::Timing timing;
  };
  const std::vector<Result> results = {
      {"device_copy", rows, kCols, course::bench::time_calls([&] {
         CUDA_CHECK(cudaMemcpyAsync(y, x, array_bytes, cudaMemcpyDeviceToDevice));
       })},
      {"copy_rows_to_rows", rows, kCols, course::bench::time_calls([&] {
         course::copy_strided(row_major(in, rows, kCols), row_major(y, rows, kCols));
       })},
      {"copy_columns_to_columns", rows, kCols, course::bench::time_calls([&] {
         course::copy_strided(column_major(in, rows, kCols), column_major(y, rows, kCols));
       })},
      {"copy_columns_to_rows", rows, kCols, course::bench::time_calls([&] {
         course::copy_strided(column_major(in, rows, kCols), row_major(y, rows, kCols));
       })},
      {"copy_tall", tall_rows, kTallCols, course::bench::time_calls([&] {
         course::copy_strided(row_major(in, tall_rows, kTallCols), row_major(y, tall_rows, kTallCols));
       })},
      {"transpose", rows, kCols, course::bench::time_calls([&] { course::transpose(in, y, rows, kCols); })},
      {"transpose_tall", tall_rows, kTallCols,
       course::bench::time_calls([&] { course::transpose(in, y, tall_rows, kTallCols); })},
      {"transpose_wide", kTallCols, tall_rows,
       course::bench::time_calls([&] { course::transpose(in, y, kTallCols, tall_rows); })},
  };
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));

  course::bench::begin_json(2);
  std::printf("  \"rows\": %lld,\n  \"cols\": %lld,\n", static_cast<long long>(rows),
              static_cast<long long>(kCols));
  std::printf("  \"tall_rows\": %lld,\n  \"tall_cols\": %lld,\n", static_cast<long long>(tall_rows),
              static_cast<long long>(kTallCols));
  std::printf("  \"repetitions\": %d,\n  \"bytes\": %.0f", course::bench::kRepetitions, bytes);
  for (const Result& result : results) {
    const double milliseconds = result.timing.milliseconds;
    std::printf(
        ",\n  \"%s\": {\"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f}",
        result.name, milliseconds, bytes / milliseconds * 1e-6,
        results[0].timing.milliseconds / milliseconds);
    if (&result == &results[0]) continue;  // the copy is no kernel of the lesson
    const auto shape = course::bench::Shape().size("rows", result.rows).size("cols", result.cols);
    course::bench::record(result.name, shape, result.timing, 0, bytes);
  }
  std::printf(",\n");
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
