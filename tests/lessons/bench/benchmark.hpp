#pragma once
/// @file
/// What the benchmarks of all lessons share: data, timing by events, and JSON that says where and when it was
/// measured.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "device/cuda_check.hpp"

namespace course::bench {

inline constexpr int kRepetitions = 20;  ///< of a measurement, unless it takes long

/// Numbers that look random: arrays of zeros draw less power and run faster than data does.
__global__ void fill_kernel(float* x, std::int64_t n, unsigned seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits = (bits ^ bits >> 15) * 2246822519u;
    x[i] = static_cast<float>(bits ^ bits >> 13) * 0x1p-31f - 1.0f;
  }
}

/// n floats in device memory, uniform in [-1, 1).
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t n, unsigned seed = 1) {
    CUDA_CHECK(cudaMalloc(&data_, static_cast<std::size_t>(n) * sizeof(float)));
    fill_kernel<<<1024, 256>>>(data_, n, seed);
    CUDA_CHECK(cudaGetLastError());
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  float* data() { return data_; }

 private:
  float* data_ = nullptr;
};

/// Median time of one call in milliseconds, by events on the default stream.
inline double median_milliseconds(const std::function<void()>& work, int repetitions = kRepetitions) {
  constexpr int kWarmups = 5;
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  for (int i = 0; i < kWarmups; ++i) work();
  std::vector<float> times(static_cast<std::size_t>(repetitions));
  for (float& time : times) {
    CUDA_CHECK(cudaEventRecord(start));
    work();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    CUDA_CHECK(cudaEventElapsedTime(&time, start, stop));
  }
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  std::sort(times.begin(), times.end());
  return 0.5 * (times[(times.size() - 1) / 2] + times[times.size() / 2]);
}

/// Bytes read and written by a copy of 1 GiB from device memory to device memory, in 10^9 a second.
inline double copy_gigabytes_per_second() {
  constexpr std::int64_t kElements = std::int64_t{1} << 28;  // far more than any cache holds
  DeviceArray from(kElements, 1), to(kElements, 2);
  const double bytes = static_cast<double>(kElements) * sizeof(float);
  const double milliseconds = median_milliseconds([&] {
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), kElements * sizeof(float), cudaMemcpyDeviceToDevice));
  });
  return 2 * bytes / milliseconds * 1e-6;
}

/// Opens the JSON object with what was measured where and when. The caller adds its own members, then
/// end_json().
inline void begin_json(int lesson) {
  int runtime = 0;
  cudaDeviceProp device{};
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::string driver;  // which the CUDA runtime does not tell
  std::ifstream("/sys/module/nvidia/version") >> driver;
  char date[11];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  std::printf("{\n  \"lesson\": %d,\n  \"gpu\": \"%s\",\n  \"driver\": \"%s\",\n  \"cuda\": \"%d.%d\",\n",
              lesson, device.name, driver.empty() ? "unknown" : driver.c_str(), runtime / 1000,
              runtime % 1000 / 10);
  std::printf("  \"date\": \"%s\",\n", date);
}

/// The same, with the rate of a copy in the same run.
inline void begin_json(int lesson, double copy_rate) {
  begin_json(lesson);
  std::printf("  \"device_copy_gigabytes_per_second\": %.1f,\n", copy_rate);
}

inline void end_json() { std::printf("}\n"); }

}  // namespace course::bench
