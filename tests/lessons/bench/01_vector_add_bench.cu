// Measures lesson 01 on a GPU: vector_add against a device-to-device copy, as JSON. Built with the kernel
// that is to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "01_vector_add/vector_add.hpp"
#include "bench/benchmark.hpp"
#include "device/cuda_check.hpp"

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  const std::int64_t n = course::bench::elements_that_fit(3);
  const std::size_t array_bytes = static_cast<std::size_t>(n) * sizeof(float);
  float *a = nullptr, *b = nullptr, *c = nullptr;
  CUDA_CHECK(cudaMalloc(&a, array_bytes));
  CUDA_CHECK(cudaMalloc(&b, array_bytes));
  CUDA_CHECK(cudaMalloc(&c, array_bytes));
  course::bench::fill_kernel<<<1024, 256>>>(a, n, 1);
  course::bench::fill_kernel<<<1024, 256>>>(b, n, 2);
  CUDA_CHECK(cudaGetLastError());

  const double copy_ms = course::bench::median_milliseconds(
      [&] { CUDA_CHECK(cudaMemcpyAsync(c, a, array_bytes, cudaMemcpyDeviceToDevice)); });
  const course::bench::Timing add = course::bench::time_calls([&] { course::vector_add(a, b, c, n); });
  const double add_ms = add.milliseconds;
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(a));
  CUDA_CHECK(cudaFree(b));
  CUDA_CHECK(cudaFree(c));

  const double one_array = static_cast<double>(array_bytes);
  const double add_bytes = 3 * one_array,
               copy_bytes = 2 * one_array;  // read a and b, write c; read a, write c
  const double add_rate = add_bytes / add_ms * 1e-6, copy_rate = copy_bytes / copy_ms * 1e-6;
  course::bench::record("vector_add", course::bench::Shape().size("elements", n), add, static_cast<double>(n),
                        add_bytes);
  course::bench::begin_json(1);
  std::printf("  \"elements\": %lld,\n  \"repetitions\": %d,\n", static_cast<long long>(n),
              course::bench::kRepetitions);
  std::printf(
      "  \"vector_add\": {\"bytes\": %.0f, \"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n",
      add_bytes, add_ms, add_rate);
  std::printf(
      "  \"device_copy\": {\"bytes\": %.0f, \"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f},\n",
      copy_bytes, copy_ms, copy_rate);
  std::printf("  \"fraction_of_copy\": %.3f,\n", add_rate / copy_rate);
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
