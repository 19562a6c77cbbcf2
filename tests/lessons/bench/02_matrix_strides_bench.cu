// Measures lesson 02 on a GPU: a strided copy and a transpose against a device-to-device copy, as JSON. Built
// with the kernels that are to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
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
    course::bench::Timing timing;
  };
  std::vector<Result> results;
  const auto measure = [&](const char* name, std::int64_t n, std::int64_t m,
                           const std::function<void()>& move) {
    const auto shape = course::bench::Shape().size("rows", n).size("cols", m);
    const bool is_copy = results.empty();  // which the others are compared with, and no kernel of the lesson
    if (!is_copy && !course::bench::wanted(name, shape)) return;
    results.push_back({name, course::bench::time_calls(move)});
    if (!is_copy) course::bench::record(name, shape, results.back().timing, 0, bytes);
  };
  measure("device_copy", rows, kCols,
          [&] { CUDA_CHECK(cudaMemcpyAsync(y, x, array_bytes, cudaMemcpyDeviceToDevice)); });
  measure("copy_rows_to_rows", rows, kCols,
          [&] { course::copy_strided(row_major(in, rows, kCols), row_major(y, rows, kCols)); });
  measure("copy_columns_to_columns", rows, kCols,
          [&] { course::copy_strided(column_major(in, rows, kCols), column_major(y, rows, kCols)); });
  measure("copy_columns_to_rows", rows, kCols,
          [&] { course::copy_strided(column_major(in, rows, kCols), row_major(y, rows, kCols)); });
  measure("copy_tall", tall_rows, kTallCols, [&] {
    course::copy_strided(row_major(in, tall_rows, kTallCols), row_major(y, tall_rows, kTallCols));
  });
  measure("transpose", rows, kCols, [&] { course::transpose(in, y, rows, kCols); });
  measure("transpose_tall", tall_rows, kTallCols, [&] { course::transpose(in, y, tall_rows, kTallCols); });
  measure("transpose_wide", kTallCols, tall_rows, [&] { course::transpose(in, y, kTallCols, tall_rows); });
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
  }
  std::printf(",\n");
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
