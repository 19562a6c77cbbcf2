// Measures what bounds every kernel of the course on this GPU: the rate of a copy, and of products of
// matrices by cuBLAS, in float32 without TF32 and in bfloat16 on tensor cores. `./course bench` runs it
// before it times anything.
//
// Without cuBLAS: compiled with -DCOURSE_NO_CUBLAS, it measures the copy alone.

#include <cuda_runtime.h>
#ifndef COURSE_NO_CUBLAS
#include <cublas_v2.h>
#include <cuda_bf16.h>
#endif

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "bench/benchmark.hpp"

using namespace course::bench;

namespace {

constexpr const char* kMatmuls[] = {"float32_matmul", "bfloat16_matmul"};

#ifndef COURSE_NO_CUBLAS
void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

Shape square(std::int64_t N) { return Shape().size("M", N).size("N", N).size("K", N); }

/// The largest product of square matrices of T that fits, of 8192 x 8192 at most.
template <class T>
void measure_matmul(const char* series, cudaDataType_t type, Unit unit) {
  std::int64_t N = 8192;
  const auto bytes = [&] { return 3.0 * sizeof(T) * static_cast<double>(N * N); };
  while (!fits(series, square(N), bytes()))
    if ((N /= 2) < 1024) return;
  const DeviceArrayOf<T> A(N * N, 1), B(N * N, 2), C(N * N, 3);
  cublasHandle_t cublas;
  check_cublas(cublasCreate(&cublas));
  check_cublas(cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH));  // float32 stays float32
  const float one = 1, zero = 0;
  const int size = static_cast<int>(N);
  const Timing timing = time_calls([&] {
    check_cublas(cublasGemmEx(cublas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, A.data(), type, size,
                              B.data(), type, size, &zero, C.data(), type, size, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
  });
  check_cublas(cublasDestroy(cublas));
  const double n = static_cast<double>(N);
  record(series, square(N), timing, 2 * n * n * n, bytes(), unit);
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
  for (const char* series : kMatmuls) leave_out(series, "", std::string("the CUDA toolkit has no cuBLAS"));
#else
  try {
    measure_matmul<float>(kMatmuls[0], CUDA_R_32F, Unit::float32);
    measure_matmul<__nv_bfloat16>(kMatmuls[1], CUDA_R_16BF, Unit::tensor_cores);
  } catch (const std::exception& error) {
    for (const char* series : kMatmuls)
      leave_out(series, "", std::string("cuBLAS does not multiply: ") + error.what());
  }
#endif
  begin_json(0);
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
