// Measures lesson 23 on a GPU: the time of every configuration that fits, for both types and several sizes,
// and which of them the search takes; as JSON. What has been found is kept in autotuning.cache, and not
// searched again.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>

#include "23_autotuning/autotuning.hpp"
#include "bench/benchmark.hpp"
#include "device/text_file.hpp"
#include "tensor/float16.hpp"

namespace {

using course::bfloat16;
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

__global__ void round_kernel(const float* x, bfloat16* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = bfloat16(x[i]);
}

/// A square matrix on the device.
template <class T>
class Matrix {
 public:
  Matrix(std::int64_t size, unsigned seed) : numbers_(size * size, seed) {
    if constexpr (kRounded) {
      CUDA_CHECK(cudaMalloc(&rounded_, static_cast<std::size_t>(size * size) * sizeof(T)));
      round_kernel<<<static_cast<unsigned>((size * size - 1) / 256 + 1), 256>>>(numbers_.data(), rounded_,
                                                                                size * size);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cudaFree(rounded_); }
  T* data() {
    if constexpr (kRounded)
      return rounded_;
    else
      return numbers_.data();
  }

 private:
  static constexpr bool kRounded = std::is_same_v<T, bfloat16>;
  course::bench::DeviceArray numbers_;
  bfloat16* rounded_ = nullptr;
};

/// Times every configuration of a square product, as the search asks for them.
template <class T>
void measure(std::int64_t size, const course::Device& device, course::Cache& cache, const char* separator) {
  constexpr bool kFloat32 = std::is_same_v<T, float>;
  const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
  const double bytes = (2.0 * sizeof(T) + 4.0) * static_cast<double>(size * size);
  const auto shape =
      course::bench::Shape().flag("bfloat16", !kFloat32).size("M", size).size("N", size).size("K", size);
  if (!course::bench::wanted("matmul_with", shape) || !course::bench::fits("matmul_with", shape, bytes))
    return;
  Matrix<T> A_data(size, 1), B_data(size, 2);
  course::bench::DeviceArray C_data(size * size, 3);
  const View<const T, 2> A{A_data.data(), {size, size}, {kFloat32 ? 1 : size, kFloat32 ? size : 1}};
  const View<const T, 2> B{B_data.data(), {size, size}, {size, 1}};
  const View<float, 2> C{C_data.data(), {size, size}, {size, 1}};

  std::printf("%s    {\"type\": \"%s\", \"M\": %lld, \"teraflops\": {", separator,
              kFloat32 ? "float32" : "bfloat16", static_cast<long long>(size));
  const char* between = "";
  const auto cost = [&](const course::Configuration& c) {
    const double time = course::milliseconds(A, B, C, c);
    std::printf("%s\"%s\": %.2f", between, text_of(c).c_str(), operations / time * 1e-9);
    between = ", ";
    return time;
  };
  const course::Type type = kFloat32 ? course::Type::float32 : course::Type::bfloat16;
  const course::Configuration best =
      course::best_configuration({size, size, size, type}, device, cost, cache);
  const course::bench::Timing timing = course::bench::time_calls([&] { course::matmul_with(A, B, C, best); });
  std::printf("}, \"best\": \"%s\", \"best_teraflops\": %.2f}", text_of(best).c_str(),
              operations / timing.milliseconds * 1e-9);
  course::bench::record("matmul_with", shape, timing, operations, bytes,
                        kFloat32 ? course::bench::Unit::float32 : course::bench::Unit::tensor_cores);
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
    measure<float>(size, this_device(), cache, separator);
    separator = ",\n";
    measure<bfloat16>(size, this_device(), cache, separator);
  }
  std::printf("\n  ],\n");
  course::device::replace_text(kCacheFile, course::write_cache(cache));
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
