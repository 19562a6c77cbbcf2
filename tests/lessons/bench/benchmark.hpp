#pragma once
/// @file
/// What the benchmarks of all lessons share: data, timing by events, and JSON that says where and when it was
/// measured. What `./course bench` reads is in bench/measurements.hpp.

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measurements.hpp"
#include "device/cuda_check.hpp"

namespace course::bench {

inline constexpr int kRepetitions = 20;  ///< of a measurement, unless it takes long

/// Numbers that look random, uniform in [-1, 1): arrays of zeros draw less power and run faster than data
/// does.
template <class T>
__global__ void fill_kernel(T* x, std::int64_t n, unsigned seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits = (bits ^ bits >> 15) * 2246822519u;
    x[i] = T(static_cast<float>(bits ^ bits >> 13) * 0x1p-31f - 1.0f);
  }
}

/// n such numbers in device memory.
template <class T>
class DeviceArrayOf {
 public:
  explicit DeviceArrayOf(std::int64_t n, unsigned seed = 1) {
    CUDA_CHECK(cudaMalloc(&data_, static_cast<std::size_t>(n) * sizeof(T)));
    fill_kernel<<<1024, 256>>>(data_, n, seed);
    CUDA_CHECK(cudaGetLastError());
  }
  DeviceArrayOf(const DeviceArrayOf&) = delete;
  DeviceArrayOf& operator=(const DeviceArrayOf&) = delete;
  ~DeviceArrayOf() { cudaFree(data_); }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};
using DeviceArray = DeviceArrayOf<float>;

/// @brief Overwrites 256 MiB, more than any L2 cache holds, so that no call finds there what the one before
/// it left. The memory is kept for the next time.
inline void flush_caches() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  static void* const memory = [] {
    void* allocated = nullptr;
    CUDA_CHECK(cudaMalloc(&allocated, kBytes));
    return allocated;
  }();
  CUDA_CHECK(cudaMemsetAsync(memory, 0, kBytes));
}

/// @brief Median time of one call, by events on the default stream, after 5 calls to warm up. With --flush,
/// caches are flushed before each call that is timed, outside of the events. Where a call takes more than a
/// second, 3 are timed, after 2. With --profile the time is that of the first call; the profiler has the
/// second.
inline Timing time_calls(const std::function<void()>& work, int repetitions = kRepetitions) {
  constexpr int kWarmups = 5, kFewRepetitions = 3;
  constexpr float kLongCall = 1000;  // milliseconds
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  const auto timed_call = [&] {
    float milliseconds = 0;
    if (options().flush) flush_caches();
    CUDA_CHECK(cudaEventRecord(start));
    work();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    return milliseconds;
  };
  if (options().profile) {
    const double milliseconds = timed_call();
    CUDA_CHECK(cudaProfilerStart());
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaProfilerStop());
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return {milliseconds, 1};
  }
  const bool slow = timed_call() > kLongCall && timed_call() > kLongCall;  // the first one may load code
  if (slow) {
    repetitions = std::min(repetitions, kFewRepetitions);
  } else {
    for (int i = 1; i < kWarmups; ++i) work();
  }
  std::vector<float> times(static_cast<std::size_t>(repetitions));
  std::generate(times.begin(), times.end(), timed_call);
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  std::sort(times.begin(), times.end());
  return {0.5 * (times[(times.size() - 1) / 2] + times[times.size() / 2]), repetitions};
}

/// The same in milliseconds alone.
inline double median_milliseconds(const std::function<void()>& work, int repetitions = kRepetitions) {
  return time_calls(work, repetitions).milliseconds;
}

/// @brief How many floats the arrays of a benchmark of memory have: 2^28, 1 GiB an array, far more than any
/// cache holds; on a device where so many `arrays` do not fit, fewer, and then that is among what was left
/// out.
/// @throws std::runtime_error if not even 2^22 fit
inline std::int64_t elements_that_fit(double arrays) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28, kLeast = std::int64_t{1} << 22;
  const auto bytes_of = [arrays](std::int64_t n) { return arrays * 4.0 * static_cast<double>(n); };
  std::int64_t n = kMost;
  while (n >= kLeast && bytes_of(n) > free_bytes()) n /= 2;
  if (n < kLeast) throw std::runtime_error("the device has too little free memory for any measurement");
  if (n < kMost) leave_out("arrays", "elements=" + std::to_string(kMost), bytes_of(kMost));
  return n;
}

/// @brief A copy from device memory to device memory of 1 GiB, or less where that does not fit. `bytes`, if
/// given, gets what is read and written.
inline Timing time_copy(double* bytes = nullptr) {
  const std::int64_t n = elements_that_fit(2);
  const std::size_t array_bytes = static_cast<std::size_t>(n) * sizeof(float);
  if (bytes != nullptr) *bytes = 2 * static_cast<double>(array_bytes);
  DeviceArray from(n, 1), to(n, 2);
  return time_calls(
      [&] { CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), array_bytes, cudaMemcpyDeviceToDevice)); });
}

/// Bytes read and written by such a copy, in 10^9 a second.
inline double copy_gigabytes_per_second() {
  double bytes = 0;
  const Timing timing = time_copy(&bytes);
  return bytes / timing.milliseconds * 1e-6;
}

/// Opens the JSON object with what was measured where and when. The caller adds its own members, each with a
/// comma behind it, then end_json().
inline void begin_json(int lesson) {
  std::printf("{\n  \"lesson\": %d,\n", lesson);
  for (const auto& [name, value] : machine_facts()) std::printf("  \"%s\": \"%s\",\n", name, value.c_str());
  if (options().flush) std::printf("  \"caches_flushed\": true,\n");
}

/// The same, with the rate of a copy in the same run.
inline void begin_json(int lesson, double copy_rate) {
  begin_json(lesson);
  std::printf("  \"device_copy_gigabytes_per_second\": %.1f,\n", copy_rate);
}

/// @brief Closes the JSON object after two more lists: all measurements in one form, and what was left out.
/// @throws std::invalid_argument if --only asks for a measurement that there is not
inline void end_json() {
  if (!options().only.empty() && measured_lines().empty())
    throw std::invalid_argument("--only " + options().only + ": there is no such measurement");
  print_list("measurements", measured_lines(), ",\n");
  print_list("left_out", left_out_lines(), "\n");
  std::printf("}\n");
  write_line("{\"done\": true}");
}

}  // namespace course::bench
