// Measures lesson 03 on a GPU: both entries against a device-to-device copy, for rows of several lengths, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "03_weighted_row_sum/weighted_row_sum.hpp"
#include "bench/benchmark.hpp"
#include "device/cuda_check.hpp"

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  const std::int64_t elements = course::bench::elements_that_fit(3);
  const std::size_t array_bytes = static_cast<std::size_t>(elements) * sizeof(float);
  float *x = nullptr, *w = nullptr, *y = nullptr;
  CUDA_CHECK(cudaMalloc(&x, array_bytes));
  CUDA_CHECK(cudaMalloc(&w, array_bytes));  // also the target of the copy
  CUDA_CHECK(cudaMalloc(&y, array_bytes));
  course::bench::fill_kernel<<<1024, 256>>>(x, elements, 1);
  course::bench::fill_kernel<<<1024, 256>>>(w, elements, 2);
  CUDA_CHECK(cudaGetLastError());

  const double x_bytes = static_cast<double>(array_bytes);
  const double copy_ms = course::bench::median_milliseconds(
      [&] { CUDA_CHECK(cudaMemcpyAsync(y, x, array_bytes, cudaMemcpyDeviceToDevice)); });
  const double copy_rate = 2 * x_bytes / copy_ms * 1e-6;
  course::bench::begin_json(3);
  std::printf("  \"elements\": %lld,\n  \"repetitions\": %d,\n", static_cast<long long>(elements),
              course::bench::kRepetitions);
  std::printf("  \"device_copy\": {\"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n", copy_ms,
              copy_rate);
  std::printf("  \"weighted_row_sum\": [");
  const char* separator = "";
  const std::int64_t columns[] = {32, 256, 1024, 4096, 16384, 262144};
  for (const std::int64_t cols : columns) {
    const std::int64_t rows = elements / cols;
    const auto shape = course::bench::Shape().size("rows", rows).size("cols", cols);
    if (!course::bench::wanted("weighted_row_sum", shape)) continue;
    // Compulsory traffic: x and w once from memory, y once to it. Rows after the first find w in a cache.
    const double bytes = x_bytes + 4.0 * static_cast<double>(cols + rows);
    const course::bench::Timing tree =
        course::bench::time_calls([&] { course::weighted_row_sum_tree(x, cols, w, y, rows, cols); });
    const course::bench::Timing sum =
        course::bench::time_calls([&] { course::weighted_row_sum(x, cols, w, y, rows, cols); });
    const double tree_ms = tree.milliseconds, ms = sum.milliseconds;
    const double operations = 2.0 * static_cast<double>(elements);
    course::bench::record("weighted_row_sum_tree", shape, tree, operations, bytes);
    course::bench::record("weighted_row_sum", shape, sum, operations, bytes);
    std::printf(
        "%s\n    {\"rows\": %lld, \"cols\": %lld, \"bytes\": %.0f, \"milliseconds\": %.4f, "
        "\"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f, \"tree_milliseconds\": %.4f}",
        separator, static_cast<long long>(rows), static_cast<long long>(cols), bytes, ms, bytes / ms * 1e-6,
        bytes / ms * 1e-6 / copy_rate, tree_ms);
    separator = ",";
  }
  std::printf("\n  ],\n");
  course::bench::end_json();
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(w));
  CUDA_CHECK(cudaFree(y));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
