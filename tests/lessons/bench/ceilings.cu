// Measures what bounds every kernel of the course on this GPU: the rate of a copy, and of a product of
// matrices in float32 by cuBLAS, without TF32. `./course bench` runs it before it times anything.
//
// Without cuBLAS: compiled with -DCOURSE_NO_CUBLAS, it measures the copy alone.

#include <cuda_runtime.h>
#ifndef COURSE_NO_CUBLAS
#include <cublas_v2.h>
#endif

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "bench/benchmark.hpp"

using namespace course::bench;

namespace {

#ifndef COURSE_NO_CUBLAS
void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

/// Measures a product of N x N matrices.
void measure_matmul(std::int64_t N) {
  DeviceArray A(N * N, 1), B(N * N, 2), C(N * N, 3);
  cublasHandle_t cublas;
  check_cublas(cublasCreate(&cublas));
  check_cublas(cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH));  // float32 stays float32
  const float one = 1, zero = 0;
  const int size = static_cast<int>(N);
  const Timing timing = time_calls([&] {
    check_cublas(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, A.data(), size,
                             B.data(), size, &zero, C.data(), size));
  });
  check_cublas(cublasDestroy(cublas));
  const double n = static_cast<double>(N);
  const Shape shape = Shape().size("M", N).size("N", N).size("K", N);
  record("float32_matmul", shape, timing, 2 * n * n * n, 12 * n * n);
}

/// 8192 x 8192, or the largest size below that fits.
void measure_largest_matmul() {
  for (std::int64_t N = 8192; N >= 1024; N /= 2) {
    const Shape shape = Shape().size("M", N).size("N", N).size("K", N);
    if (fits("float32_matmul", shape, 12.0 * static_cast<double>(N) * static_cast<double>(N)))
      return measure_matmul(N);
  }
}
#endif

void measure_copy() {
  double bytes = 0;
  const Timing timing = time_copy(&bytes);
  record("device_copy", Shape().size("bytes", static_cast<std::int64_t>(bytes)), timing, 0, bytes);
}

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  measure_copy();
#ifdef COURSE_NO_CUBLAS
  leave_out("float32_matmul", "", std::string("the CUDA toolkit has no cuBLAS"));
#else
  try {
    measure_largest_matmul();
  } catch (const std::exception& error) {
    leave_out("float32_matmul", "", std::string("cuBLAS does not multiply: ") + error.what());
  }
#endif
  begin_json(0);
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
