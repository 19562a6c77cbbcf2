// Measures lesson 23 on a GPU: the time of every configuration that fits, for several sizes, and which of
// them the search takes; as JSON. What has been found is kept in autotuning.cache, and not searched again.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "23_autotuning/autotuning.hpp"
#include "bench/benchmark.hpp"
#include "device/text_file.hpp"

namespace {

using course::View;

constexpr std::int64_t kSizes[] = {256, 640, 1024, 2048, 4096, 8192};
constexpr const char* kCacheFile = "autotuning.cache";

/// The limits of the GPU that runs this.
course::Device this_device() {
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  course::Device device;
  device.name = properties.name;
  device.multiprocessors = properties.multiProcessorCount;
  device.warps = properties.maxThreadsPerMultiProcessor / properties.warpSize;
  device.blocks = properties.maxBlocksPerMultiProcessor;
  device.registers = properties.regsPerMultiprocessor;
  device.shared_bytes = static_cast<int>(properties.sharedMemPerMultiprocessor);
  device.block_shared_bytes = static_cast<int>(properties.sharedMemPerBlockOptin);
  device.reserved_shared_bytes = static_cast<int>(properties.reservedSharedMemPerBlock);
  device.block_threads = properties.maxThreadsPerBlock;
  return device;
}

std::string text_of(const course::Configuration& c) {
  return std::to_string(c.rows) + " " + std::to_string(c.cols) + " " + std::to_string(c.depth) + " " +
         std::to_string(c.warps) + " " + std::to_string(c.stages);
}

/// Times every configuration of a square product, as the search asks for them.
void measure(std::int64_t size, const course::Device& device, course::Cache& cache, const char* separator) {
  const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
  const double bytes = 12.0 * static_cast<double>(size * size);
  const auto shape = course::bench::Shape().size("M", size).size("N", size).size("K", size);
  if (!course::bench::wanted("matmul_with", shape) || !course::bench::fits("matmul_with", shape, bytes))
    return;
  course::bench::DeviceArray A_data(size * size, 1), B_data(size * size, 2), C_data(size * size, 3);
  const View<const float, 2> A{A_data.data(), {size, size}, {1, size}};  // by columns
  const View<const float, 2> B{B_data.data(), {size, size}, {size, 1}};
  const View<float, 2> C{C_data.data(), {size, size}, {size, 1}};

  std::printf("%s    {\"M\": %lld, \"teraflops\": {", separator, static_cast<long long>(size));
  const char* between = "";
  const auto cost = [&](const course::Configuration& c) {
    const double time = course::milliseconds(A, B, C, c);
    std::printf("%s\"%s\": %.2f", between, text_of(c).c_str(), operations / time * 1e-9);
    between = ", ";
    return time;
  };
  const course::Configuration best = course::best_configuration({size, size, size}, device, cost, cache);
  const course::bench::Timing timing = course::bench::time_calls([&] { course::matmul_with(A, B, C, best); });
  std::printf("}, \"best\": \"%s\", \"best_teraflops\": %.2f}", text_of(best).c_str(),
              operations / timing.milliseconds * 1e-9);
  course::bench::record("matmul_with", shape, timing, operations, bytes);
}

}  // namespace

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  course::bench::begin_json(23);
  std::string complaint;
  course::Cache cache = course::read_cache(course::device::read_text(kCacheFile), complaint);
  if (!complaint.empty()) std::fprintf(stderr, "%s: %s\n", kCacheFile, complaint.c_str());
  std::printf("  \"matmul\": [");
  const char* separator = "\n";
  for (const std::int64_t size : kSizes) {
    measure(size, this_device(), cache, separator);
    separator = ",\n";
  }
  std::printf("\n  ],\n");
  course::device::replace_text(kCacheFile, course::write_cache(cache));
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
