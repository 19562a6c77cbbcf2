// Measures lesson 01 on a GPU: vector_add against a device-to-device copy, as JSON. Built with the kernel
// that is to be measured; docs/results/README.md has the commands.

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

#include "01_vector_add/vector_add.hpp"
#include "device/cuda_check.hpp"

namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 28;  // 1 GiB an array, far more than any cache holds
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

}  // namespace

int main() try {
  const std::size_t array_bytes = kElements * sizeof(float);
  float *a = nullptr, *b = nullptr, *c = nullptr;
  CUDA_CHECK(cudaMalloc(&a, array_bytes));
  CUDA_CHECK(cudaMalloc(&b, array_bytes));
  CUDA_CHECK(cudaMalloc(&c, array_bytes));
  fill_kernel<<<1024, 256>>>(a, kElements, 1);
  fill_kernel<<<1024, 256>>>(b, kElements, 2);
  CUDA_CHECK(cudaGetLastError());

  const double copy_ms =
      median_milliseconds([&] { CUDA_CHECK(cudaMemcpyAsync(c, a, array_bytes, cudaMemcpyDeviceToDevice)); });
  const double add_ms = median_milliseconds([&] { course::vector_add(a, b, c, kElements); });
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(a));
  CUDA_CHECK(cudaFree(b));
  CUDA_CHECK(cudaFree(c));

  int runtime = 0;
  cudaDeviceProp device{};
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const double one_array = static_cast<double>(array_bytes);
  const double add_bytes = 3 * one_array,
               copy_bytes = 2 * one_array;  // read a and b, write c; read a, write c
  const double add_rate = add_bytes / add_ms * 1e-6, copy_rate = copy_bytes / copy_ms * 1e-6;
  std::printf("{\n");
  std::printf("  \"lesson\": 1,\n  \"gpu\": \"%s\",\n  \"driver\": \"%s\",\n  \"cuda\": \"%d.%d\",\n",
              device.name, driver_version().c_str(), runtime / 1000, runtime % 1000 / 10);
  std::printf("  \"date\": \"%s\",\n  \"elements\": %lld,\n  \"repetitions\": %d,\n", today().c_str(),
              static_cast<long long>(kElements), kRepetitions);
  std::printf(
      "  \"vector_add\": {\"bytes\": %.0f, \"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n",
      add_bytes, add_ms, add_rate);
  std::printf(
      "  \"device_copy\": {\"bytes\": %.0f, \"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n",
      copy_bytes, copy_ms, copy_rate);
  std::printf("  \"fraction_of_copy\": %.3f\n}\n", add_rate / copy_rate);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
