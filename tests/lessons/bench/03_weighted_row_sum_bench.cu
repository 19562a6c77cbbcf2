// Measures lesson 03 on a GPU: both entries against a device-to-device copy, for rows of several lengths, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "03_weighted_row_sum/weighted_row_sum.hpp"
#include "bench/benchmark.hpp"
#include "device/cuda_check.hpp"

namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 28;  // 1 GiB of x, far more than any cache holds

}  // namespace

int main() try {
  float *x = nullptr, *w = nullptr, *y = nullptr;
  CUDA_CHECK(cudaMalloc(&x, kElements * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&w, kElements * sizeof(float)));  // also the target of the copy
  CUDA_CHECK(cudaMalloc(&y, kElements * sizeof(float)));
  course::bench::fill_kernel<<<1024, 256>>>(x, kElements, 1);
  course::bench::fill_kernel<<<1024, 256>>>(w, kElements, 2);
  CUDA_CHECK(cudaGetLastError());

  const double x_bytes = static_cast<double>(kElements) * sizeof(float);
  const double copy_ms = course::bench::median_milliseconds(
      [&] { CUDA_CHECK(cudaMemcpyAsync(y, x, kElements * sizeof(float), cudaMemcpyDeviceToDevice)); });
  const double copy_rate = 2 * x_bytes / copy_ms * 1e-6;
  course::bench::begin_json(3);
  std::printf("  \"elements\": %lld,\n  \"repetitions\": %d,\n", static_cast<long long>(kElements),
              course::bench::kRepetitions);
  std::printf("  \"device_copy\": {\"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n", copy_ms,
              copy_rate);
  std::printf("  \"weighted_row_sum\": [\n");
  const std::int64_t columns[] = {32, 256, 1024, 4096, 16384, 262144};
  for (const std::int64_t cols : columns) {
    const std::int64_t rows = kElements / cols;
    // Compulsory traffic: x and w once from memory, y once to it. Rows after the first find w in a cache.
    const double bytes = x_bytes + 4.0 * static_cast<double>(cols + rows);
    const double tree_ms =
        course::bench::median_milliseconds([&] { course::weighted_row_sum_tree(x, cols, w, y, rows, cols); });
    const double ms =
        course::bench::median_milliseconds([&] { course::weighted_row_sum(x, cols, w, y, rows, cols); });
    std::printf(
        "    {\"rows\": %lld, \"cols\": %lld, \"bytes\": %.0f, \"milliseconds\": %.4f, "
        "\"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f, \"tree_milliseconds\": %.4f}%s\n",
        static_cast<long long>(rows), static_cast<long long>(cols), bytes, ms, bytes / ms * 1e-6,
        bytes / ms * 1e-6 / copy_rate, tree_ms, cols == 262144 ? "" : ",");
  }
  std::printf("  ]\n}\n");
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(w));
  CUDA_CHECK(cudaFree(y));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
