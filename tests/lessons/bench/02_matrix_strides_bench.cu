// Measures lesson 02 on a GPU: a strided copy and a transpose against a device-to-device copy, as JSON. Built
// with the kernels that are to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "02_matrix_strides/matrix_strides.hpp"
#include "device/cuda_check.hpp"

namespace {

constexpr std::int64_t kRows = 16384, kCols = 16384;  // 1 GiB a matrix, far more than any cache holds
constexpr std::int64_t kTallRows = std::int64_t{1} << 23, kTallCols = 32;  // as many elements, other shape
constexpr int kWarmups = 5, kRepetitions = 20;

/// Numbers that look random: arrays of zeros draw less power and run faster than data does.
__global__ void fill_kernel(float* x, std::int64_t n, unsigned seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits = (bits ^ bits >> 15) * 2246822519u;
    x[i] = static_cast<float>(bits ^ bits >> 13) * 0x1p-31f - 1.0f;
  }
}

/// Median time of one call in milliseconds, by events on the default stream.
double median_milliseconds(const std::function<void()>& work) {
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  for (int i = 0; i < kWarmups; ++i) work();
  std::vector<float> times;
  for (int i = 0; i < kRepetitions; ++i) {
    CUDA_CHECK(cudaEventRecord(start));
    work();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    times.emplace_back();
    CUDA_CHECK(cudaEventElapsedTime(&times.back(), start, stop));
  }
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  std::sort(times.begin(), times.end());
  return 0.5 * (times[kRepetitions / 2 - 1] + times[kRepetitions / 2]);
}

/// The version of the kernel driver, which the CUDA runtime does not tell; "unknown" where it is not
/// published.
std::string driver_version() {
  std::string version;
  std::ifstream("/sys/module/nvidia/version") >> version;
  return version.empty() ? "unknown" : version;
}

std::string today() {
  char text[11];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

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
  fill_kernel<<<1024, 256>>>(x, kRows * kCols, 1);
  CUDA_CHECK(cudaGetLastError());
  const float* in = x;

  struct Result {
    const char* name;
    double milliseconds;
  };
  const std::vector<Result> results = {
      {"device_copy", median_milliseconds(
                          [&] { CUDA_CHECK(cudaMemcpyAsync(y, x, array_bytes, cudaMemcpyDeviceToDevice)); })},
      {"copy_rows_to_rows", median_milliseconds([&] {
         course::copy_strided(row_major(in, kRows, kCols), row_major(y, kRows, kCols));
       })},
      {"copy_columns_to_columns", median_milliseconds([&] {
         course::copy_strided(column_major(in, kRows, kCols), column_major(y, kRows, kCols));
       })},
      {"copy_columns_to_rows", median_milliseconds([&] {
         course::copy_strided(column_major(in, kRows, kCols), row_major(y, kRows, kCols));
       })},
      {"copy_tall", median_milliseconds([&] {
         course::copy_strided(row_major(in, kTallRows, kTallCols), row_major(y, kTallRows, kTallCols));
       })},
      {"transpose", median_milliseconds([&] { course::transpose(in, y, kRows, kCols); })},
      {"transpose_tall", median_milliseconds([&] { course::transpose(in, y, kTallRows, kTallCols); })},
      {"transpose_wide", median_milliseconds([&] { course::transpose(in, y, kTallCols, kTallRows); })},
  };
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));

  int runtime = 0;
  cudaDeviceProp device{};
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("{\n");
  std::printf("  \"lesson\": 2,\n  \"gpu\": \"%s\",\n  \"driver\": \"%s\",\n  \"cuda\": \"%d.%d\",\n",
              device.name, driver_version().c_str(), runtime / 1000, runtime % 1000 / 10);
  std::printf("  \"date\": \"%s\",\n  \"rows\": %lld,\n  \"cols\": %lld,\n", today().c_str(),
              static_cast<long long>(kRows), static_cast<long long>(kCols));
  std::printf("  \"tall_rows\": %lld,\n  \"tall_cols\": %lld,\n", static_cast<long long>(kTallRows),
              static_cast<long long>(kTallCols));
  std::printf("  \"repetitions\": %d,\n  \"bytes\": %.0f", kRepetitions, bytes);
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
