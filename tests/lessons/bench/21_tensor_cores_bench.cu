// Measures lesson 21 on a GPU: the products of both types beside cuBLAS, by rows and by columns, and how far
// sums of different lengths are off; as JSON.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "21_tensor_cores/tensor_cores.hpp"
#include "bench/benchmark.hpp"
#include "tensor/float16.hpp"

namespace {

using course::bfloat16;
using course::float16;
using course::View;

constexpr std::int64_t kSizes[] = {1024, 2048, 4096, 8192};

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

template <class T>
constexpr const char* kName = std::is_same_v<T, bfloat16> ? "bfloat16" : "float16";
template <class T>
constexpr cudaDataType_t kCudaType = std::is_same_v<T, bfloat16> ? CUDA_R_16BF : CUDA_R_16F;

template <class T>
void matmul(View<const T, 2> A, View<const T, 2> B, View<T, 2> C) {
  if constexpr (std::is_same_v<T, bfloat16>)
    course::matmul_bfloat16(A, B, C);
  else
    course::matmul_float16(A, B, C);
}
template <class T>
void matmul_to_float32(View<const T, 2> A, View<const T, 2> B, View<float, 2> C) {
  if constexpr (std::is_same_v<T, bfloat16>)
    course::matmul_bfloat16_to_float32(A, B, C);
  else
    course::matmul_float16_to_float32(A, B, C);
}

/// A copy of n numbers on the device, rounded to T.
template <class T>
class Rounded {
 public:
  explicit Rounded(const std::vector<float>& x) {
    std::vector<T> rounded(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) rounded[i] = T(x[i]);
    CUDA_CHECK(cudaMalloc(&data_, x.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(data_, rounded.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
  ~Rounded() { cudaFree(data_); }
  T* data() { return data_; }

 private:
  T* data_ = nullptr;
};

std::vector<float> numbers(std::int64_t n, unsigned seed) {
  course::bench::DeviceArray on_device(n, seed);
  std::vector<float> x(static_cast<std::size_t>(n));
  CUDA_CHECK(cudaMemcpy(x.data(), on_device.data(), x.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return x;
}

template <class T>
void measure_products(cublasHandle_t cublas, const char*& separator) {
  for (const std::int64_t size : kSizes) {
    const std::string entry = std::string("matmul_") + kName<T>;
    const double bytes = 6.0 * static_cast<double>(size * size);
    Rounded<T> A_data(numbers(size * size, 1)), B_data(numbers(size * size, 2)),
        C_data(numbers(size * size, 3));
    for (const bool b_by_columns : {false, true}) {
      const auto shape = course::bench::Shape().size("M", size).size("N", size).size("K", size).flag(
          "transposed", b_by_columns);
      if (!course::bench::wanted(entry.c_str(), shape)) continue;
      const View<const T, 2> A{A_data.data(), {size, size}, {size, 1}};
      const View<const T, 2> B{
          B_data.data(), {size, size}, {b_by_columns ? 1 : size, b_by_columns ? size : 1}};
      const View<T, 2> C{C_data.data(), {size, size}, {size, 1}};
      const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
      const auto rate = [&](const course::bench::Timing& timing) {
        return operations / timing.milliseconds * 1e-9;
      };
      const float one = 1, zero = 0;
      const int n = static_cast<int>(size);
      const double reference =
          rate(course::bench::time_calls([&] {  // Cᵀ = Bᵀ·Aᵀ, as cuBLAS counts in columns
            check_cublas(cublasGemmEx(cublas, b_by_columns ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, n, n, n,
                                      &one, B.data, kCudaType<T>, n, A.data, kCudaType<T>, n, &zero, C.data,
                                      kCudaType<T>, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
          }));
      const course::bench::Timing timing = course::bench::time_calls([&] { matmul<T>(A, B, C); });
      std::printf(
          "%s    {\"type\": \"%s\", \"M\": %lld, \"B\": \"%s\", \"cublas_teraflops\": %.1f, "
          "\"teraflops\": %.1f, \"share_of_cublas\": %.3f}",
          separator, kName<T>, static_cast<long long>(size), b_by_columns ? "by columns" : "by rows",
          reference, rate(timing), rate(timing) / reference);
      separator = ",\n";
      course::bench::record(entry.c_str(), shape, timing, operations, bytes,
                            course::bench::Unit::tensor_cores);
    }
  }
}

/// The root of the mean square of x - y, divided by that of y.
double relative_error(const std::vector<double>& x, const std::vector<double>& y) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return std::sqrt(error / size);
}

/// What each rounding costs, by itself: that of the inputs, that of the sums as tensor cores form them, in
/// the order of k in float32, or in 16 bits after every 16 products, and that of the result.
template <class T>
void measure_errors(const char*& separator) {
  constexpr std::int64_t M = 64, N = 64;
  for (const std::int64_t K : {64, 512, 4096, 32768}) {
    const std::vector<float> a = numbers(M * K, 1), b = numbers(K * N, 2);
    Rounded<T> A(a), B(b);
    course::bench::DeviceArray C(M * N);
    matmul_to_float32<T>({A.data(), {M, K}, {K, 1}}, {B.data(), {K, N}, {N, 1}}, {C.data(), {M, N}, {N, 1}});
    std::vector<float> c(M * N);
    CUDA_CHECK(cudaMemcpy(c.data(), C.data(), c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    std::vector<double> exact(M * N), of_rounded(M * N), in_float32(M * N), in_16_bits(M * N), stored(M * N);
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < N; ++j) {
        const auto at = static_cast<std::size_t>(i * N + j);
        float float_sum = 0, step = 0;
        T narrow_sum(0.0f);
        for (std::int64_t k = 0; k < K; ++k) {
          const float x = a[static_cast<std::size_t>(i * K + k)], y = b[static_cast<std::size_t>(k * N + j)];
          const auto rounded_x = static_cast<float>(T(x)), rounded_y = static_cast<float>(T(y));
          exact[at] += static_cast<double>(x) * static_cast<double>(y);
          of_rounded[at] += static_cast<double>(rounded_x) * static_cast<double>(rounded_y);
          float_sum = std::fma(rounded_x, rounded_y, float_sum);
          step = std::fma(rounded_x, rounded_y, step);
          if (k % 16 == 15) {
            narrow_sum = T(static_cast<float>(narrow_sum) + step);
            step = 0;
          }
        }
        in_float32[at] = static_cast<double>(float_sum);
        in_16_bits[at] = static_cast<double>(narrow_sum);
        stored[at] = static_cast<double>(T(of_rounded[at]));
      }
    const std::vector<double> tensor_cores(c.begin(), c.end());
    std::printf(
        "%s    {\"type\": \"%s\", \"K\": %lld, \"inputs\": %.2e, \"tensor_cores\": %.2e, "
        "\"float32_in_order\": %.2e, \"sums_in_16_bits\": %.2e, \"result\": %.2e}",
        separator, kName<T>, static_cast<long long>(K), relative_error(of_rounded, exact),
        relative_error(tensor_cores, of_rounded), relative_error(in_float32, of_rounded),
        relative_error(in_16_bits, of_rounded), relative_error(stored, of_rounded));
    separator = ",\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  cublasHandle_t cublas;
  check_cublas(cublasCreate(&cublas));
  course::bench::begin_json(21, course::bench::copy_gigabytes_per_second());
  std::printf("  \"matmul\": [");
  const char* separator = "\n";
  measure_products<bfloat16>(cublas, separator);
  measure_products<float16>(cublas, separator);
  std::printf("\n  ],\n  \"errors\": [");
  separator = "\n";
  measure_errors<bfloat16>(separator);
  measure_errors<float16>(separator);
  std::printf("\n  ],\n");
  course::bench::end_json();
  check_cublas(cublasDestroy(cublas));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
