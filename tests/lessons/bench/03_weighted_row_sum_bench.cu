// Measures lesson 03 on a GPU: both entries against a device-to-device copy, for rows of several lengths, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

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

#include "03_weighted_row_sum/weighted_row_sum.hpp"
#include "device/cuda_check.hpp"

namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 28;  // 1 GiB of x, far more than any cache holds
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

}  // namespace

int main() try {
  float *x = nullptr, *w = nullptr, *y = nullptr;
  CUDA_CHECK(cudaMalloc(&x, kElements * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&w, kElements * sizeof(float)));  // also the target of the copy
  CUDA_CHECK(cudaMalloc(&y, kElements * sizeof(float)));
  fill_kernel<<<1024, 256>>>(x, kElements, 1);
  fill_kernel<<<1024, 256>>>(w, kElements, 2);
  CUDA_CHECK(cudaGetLastError());

  int runtime = 0;
  cudaDeviceProp device{};
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const double x_bytes = static_cast<double>(kElements) * sizeof(float);
  const double copy_ms = median_milliseconds(
      [&] { CUDA_CHECK(cudaMemcpyAsync(y, x, kElements * sizeof(float), cudaMemcpyDeviceToDevice)); });
  const double copy_rate = 2 * x_bytes / copy_ms * 1e-6;
  std::printf("{\n");
  std::printf("  \"lesson\": 3,\n  \"gpu\": \"%s\",\n  \"driver\": \"%s\",\n  \"cuda\": \"%d.%d\",\n",
              device.name, driver_version().c_str(), runtime / 1000, runtime % 1000 / 10);
  std::printf("  \"date\": \"%s\",\n  \"elements\": %lld,\n  \"repetitions\": %d,\n", today().c_str(),
              static_cast<long long>(kElements), kRepetitions);
  std::printf("  \"device_copy\": {\"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n", copy_ms,
              copy_rate);
  std::printf("  \"weighted_row_sum\": [\n");
  const std::int64_t columns[] = {32, 256, 1024, 4096, 16384, 262144};
  for (const std::int64_t cols : columns) {
    const std::int64_t rows = kElements / cols;
    // Compulsory traffic: x and w once from memory, y once to it. Rows after the first find w in a cache.
    const double bytes = x_bytes + 4.0 * static_cast<double>(cols + rows);
    const double tree_ms =
        median_milliseconds([&] { course::weighted_row_sum_tree(x, cols, w, y, rows, cols); });
    const double ms = median_milliseconds([&] { course::weighted_row_sum(x, cols, w, y, rows, cols); });
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
