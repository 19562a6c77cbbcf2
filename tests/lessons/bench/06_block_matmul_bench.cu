// Measures lesson 06 on a GPU: both entries and the tiles of common/device against cuBLAS in float32, without
// TF32, as JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>

#include "06_block_matmul/block_matmul.hpp"
#include "bench/benchmark.hpp"
#include "device/tile_matmul.hpp"

namespace {

using course::View;

struct Problem {
  std::int64_t M, N, K;
  bool transposed;  // A and B are column-major
};
constexpr Problem kProblems[] = {{1024, 1024, 1024, false}, {2048, 2048, 2048, false},
                                 {4096, 4096, 4096, false}, {8192, 8192, 8192, false},
                                 {4095, 4097, 4099, false}, {4096, 4096, 4096, true}};

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    tile_matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                       unsigned tiles_across) {
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles_across} * Shape::kRows;
  const std::int64_t first_col = std::int64_t{blockIdx.x % tiles_across} * Shape::kCols;
  typename Shape::Accumulator acc = {};
  course::device::matmul_tile<Shape>(A, B, first_row, first_col, acc);
  course::device::store_tile<Shape>(acc, C, first_row, first_col);
}

template <class Shape>
void tile_matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  const std::int64_t across = (C.shape[1] - 1) / Shape::kCols + 1;
  const std::int64_t down = (C.shape[0] - 1) / Shape::kRows + 1;
  tile_matmul_kernel<Shape>
      <<<static_cast<unsigned>(across * down), Shape::kThreads>>>(A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

}  // namespace

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  cublasHandle_t cublas;
  check_cublas(cublasCreate(&cublas));
  check_cublas(cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH));  // float32 stays float32

  course::bench::begin_json(6, course::bench::copy_gigabytes_per_second());
  std::printf("  \"matmul\": [");
  const char* separator = "\n";
  for (const auto& [M, N, K, transposed] : kProblems) {
    const auto shape =
        course::bench::Shape().size("M", M).size("N", N).size("K", K).flag("transposed", transposed);
    const double bytes = 4.0 * static_cast<double>(M * K + K * N + M * N);
    if (!course::bench::wanted("matmul", shape) || !course::bench::fits("matmul", shape, bytes)) continue;
    course::bench::DeviceArray A_data(M * K, 1), B_data(K * N, 2), C_data(M * N, 3);
    const View<const float, 2> A{A_data.data(), {M, K}, {transposed ? 1 : K, transposed ? M : 1}};
    const View<const float, 2> B{B_data.data(), {K, N}, {transposed ? 1 : N, transposed ? K : 1}};
    const View<float, 2> C{C_data.data(), {M, N}, {N, 1}};
    const double operations = 2 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
    const auto time = [&](const std::function<void()>& work) {
      return course::bench::time_calls(work, M > 5000 ? 7 : 20);
    };
    // cuBLAS counts in columns: it is asked for the transpose of C, which is Bᵀ·Aᵀ.
    const float one = 1, zero = 0;
    const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const course::bench::Timing reference_time = time([&] {
      check_cublas(cublasSgemm(cublas, op, op, static_cast<int>(N), static_cast<int>(M), static_cast<int>(K),
                               &one, B.data, static_cast<int>(transposed ? K : N), A.data,
                               static_cast<int>(transposed ? M : K), &zero, C.data, static_cast<int>(N)));
    });
    const double reference = operations / reference_time.milliseconds * 1e-9;
    std::printf(
        "%s    {\"M\": %lld, \"N\": %lld, \"K\": %lld, \"transposed\": %s, "
        "\"cublas_teraflops\": %.2f",
        separator, static_cast<long long>(M), static_cast<long long>(N), static_cast<long long>(K),
        transposed ? "true" : "false", reference);
    const auto report = [&](const char* name,
                            void (*multiply)(View<const float, 2>, View<const float, 2>, View<float, 2>)) {
      const course::bench::Timing timing = time([&] { multiply(A, B, C); });
      const double rate = operations / timing.milliseconds * 1e-9;
      std::printf(", \"%s\": {\"teraflops\": %.2f, \"fraction_of_cublas\": %.3f}", name, rate,
                  rate / reference);
      return timing;
    };
    course::bench::record("matmul_tiled", shape, report("matmul_tiled", course::matmul_tiled), operations,
                          bytes);
    course::bench::record("matmul", shape, report("matmul", course::matmul), operations, bytes);
    report("tile_matmul", tile_matmul<course::device::TileShape<128, 128, 16, 8, 8>>);
    report("tile_matmul_64", tile_matmul<course::device::TileShape<64, 64, 16, 4, 4, 16>>);
    std::printf("}");
    separator = ",\n";
  }
  std::printf("\n  ],\n");
  course::bench::end_json();
  check_cublas(cublasDestroy(cublas));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
