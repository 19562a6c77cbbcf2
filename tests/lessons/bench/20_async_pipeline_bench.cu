// Measures lesson 20 on a GPU, with every number of stages: the copy beside cudaMemcpy, the product beside
// cuBLAS in float32, without TF32, and beside the tiles of lesson 06, whose loads pass through registers; as
// JSON.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "20_async_pipeline/async_pipeline.hpp"
#include "bench/benchmark.hpp"
#include "device/tile_matmul.hpp"

namespace {

using course::View;

constexpr std::int64_t kSizes[] = {2048, 4096, 8192};
constexpr int kCopyBlocks[] = {132, 528, 1056};  // 1, 4 and 8 for each multiprocessor of an H100 or H200

using Shape = course::device::TileShape<128, 128, 16, 8, 8>;

__global__ void __launch_bounds__(Shape::kThreads, 2)
    tile_matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                       unsigned tiles_across) {
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * Shape::kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * Shape::kCols;
  Shape::Accumulator acc = {};
  course::device::matmul_tile<Shape>(A, B, first_row, first_col, acc);
  course::device::store_tile<Shape>(acc, C, first_row, first_col);
}

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

void measure_copies() {
  std::printf("  \"copy\": [");
  const std::int64_t n = course::bench::elements_that_fit(2);
  const auto shape = course::bench::Shape().size("elements", n);
  const char* separator = "\n";
  course::bench::DeviceArray x(n, 1), y(n, 2);
  const double bytes = 8.0 * static_cast<double>(n);
  for (const int blocks : kCopyBlocks) {
    for (int stages = 1; stages <= course::kMaxStages; ++stages) {
      const course::bench::Timing timing = course::bench::time_calls(
          [&] { course::copy_through_shared(x.data(), y.data(), n, stages, blocks); });
      std::printf(
          "%s    {\"elements\": %lld, \"blocks\": %d, \"stages\": %d, \"gigabytes_per_second\": %.0f}",
          separator, static_cast<long long>(n), blocks, stages, bytes / timing.milliseconds * 1e-6);
      separator = ",\n";
      if (stages == course::kMaxStages && blocks == kCopyBlocks[1])
        course::bench::record("copy_through_shared", shape, timing, 0, bytes);
    }
  }
  std::printf("\n  ],\n");
}

void measure_products(cublasHandle_t cublas) {
  std::printf("  \"matmul\": [");
  const char* separator = "\n";
  for (const std::int64_t size : kSizes) {
    for (const bool transposed : {false, true}) {  // A: by columns, which can be copied four rows at a time
      const auto shape = course::bench::Shape().size("M", size).size("N", size).size("K", size).flag(
          "transposed", transposed);
      const double bytes = 12.0 * static_cast<double>(size * size);
      if (!course::bench::wanted("matmul_staged", shape) ||
          !course::bench::fits("matmul_staged", shape, bytes))
        continue;
      course::bench::DeviceArray A_data(size * size, 1), B_data(size * size, 2), C_data(size * size, 3);
      const View<const float, 2> A{
          A_data.data(), {size, size}, {transposed ? 1 : size, transposed ? size : 1}};
      const View<const float, 2> B{B_data.data(), {size, size}, {size, 1}};
      const View<float, 2> C{C_data.data(), {size, size}, {size, 1}};
      const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
      const auto rate = [&](const course::bench::Timing& timing) {
        return operations / timing.milliseconds * 1e-9;
      };
      const float one = 1, zero = 0;
      const int n = static_cast<int>(size);
      const double reference =
          rate(course::bench::time_calls([&] {  // Cᵀ = Bᵀ·Aᵀ, as cuBLAS counts in columns
            check_cublas(cublasSgemm(cublas, CUBLAS_OP_N, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, n, n,
                                     &one, B.data, n, A.data, n, &zero, C.data, n));
          }));
      const unsigned across = static_cast<unsigned>(size / Shape::kCols);
      const double registers = rate(course::bench::time_calls([&] {
        tile_matmul_kernel<<<across * across, Shape::kThreads>>>(A, B, C, across);
        CUDA_CHECK(cudaGetLastError());
      }));
      std::printf(
          "%s    {\"M\": %lld, \"A\": \"%s\", \"cublas_teraflops\": %.2f, \"tile_matmul_teraflops\": %.2f",
          separator, static_cast<long long>(size), transposed ? "by columns" : "by rows", reference,
          registers);
      for (int stages = 2; stages <= course::kMaxStages; ++stages) {
        const course::bench::Timing timing =
            course::bench::time_calls([&] { course::matmul_staged(A, B, C, stages); });
        std::printf(", \"stages_%d_teraflops\": %.2f", stages, rate(timing));
        if (stages == 3) course::bench::record("matmul_staged", shape, timing, operations, bytes);
      }
      std::printf("}");
      separator = ",\n";
    }
  }
  std::printf("\n  ],\n");
}

}  // namespace

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  cublasHandle_t cublas;
  check_cublas(cublasCreate(&cublas));
  check_cublas(cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH));  // float32 stays float32
  course::bench::begin_json(20, course::bench::copy_gigabytes_per_second());
  measure_copies();
  measure_products(cublas);
  course::bench::end_json();
  check_cublas(cublasDestroy(cublas));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
