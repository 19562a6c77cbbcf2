// cuBLAS: products of matrices, one or many, in all formats.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "simt/libraries/cublas_handle.hpp"
#include "simt/shim/simt_float16.h"

namespace simt::cublas {
namespace {

std::size_t element_bytes(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_8I:
      return 1;
    default:
      return 2;
  }
}

/// Element i in the type that sums have.
template <class Sum>
Sum load(cudaDataType type, const void* from, std::size_t i) {
  switch (type) {
    case CUDA_R_64F:
      return static_cast<Sum>(static_cast<const double*>(from)[i]);
    case CUDA_R_32F:
      return static_cast<Sum>(static_cast<const float*>(from)[i]);
    case CUDA_R_32I:
      return static_cast<Sum>(static_cast<const std::int32_t*>(from)[i]);
    case CUDA_R_8I:
      return static_cast<Sum>(static_cast<const std::int8_t*>(from)[i]);
    case CUDA_R_16F:
      return static_cast<Sum>(shim::Half::to_float(static_cast<const std::uint16_t*>(from)[i]));
    default:
      return static_cast<Sum>(shim::Bfloat16::to_float(static_cast<const std::uint16_t*>(from)[i]));
  }
}

template <class Sum>
void store(cudaDataType type, void* to, std::size_t i, Sum value) {
  switch (type) {
    case CUDA_R_64F:
      static_cast<double*>(to)[i] = static_cast<double>(value);
      return;
    case CUDA_R_32F:
      static_cast<float*>(to)[i] = static_cast<float>(value);
      return;
    case CUDA_R_32I:
      static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(value);
      return;
    case CUDA_R_16F:
      static_cast<std::uint16_t*>(to)[i] = shim::Half::from_float(static_cast<float>(value));
      return;
    default:
      static_cast<std::uint16_t*>(to)[i] = shim::Bfloat16::from_float(static_cast<float>(value));
  }
}

struct Stored {
  const char* name = "";
  cudaDataType type = CUDA_R_32F;
  int leading = 0;
  bool transposed = false;

  /// A factor is rows x cols as the product sees it.
  LibraryArray array(const void* begin, int rows, int cols) const {
    return matrix(name, begin, element_bytes(type), transposed ? cols : rows, transposed ? rows : cols,
                  leading);
  }
};

/// C = alpha * op(A) * op(B) + beta * C, with C of m x n and k between.
struct Product {
  int m = 0, n = 0, k = 0;
  Stored a, b, c;
};

/// As rows x cols, by columns.
template <class Sum>
std::vector<Sum> packed(const Stored& stored, const void* from, int rows, int cols) {
  std::vector<Sum> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  const auto leading = static_cast<std::size_t>(stored.leading);
  std::size_t to = 0;
  for (std::size_t col = 0; col < static_cast<std::size_t>(cols); ++col)
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      values[to++] =
          load<Sum>(stored.type, from, stored.transposed ? row * leading + col : col * leading + row);
  return values;
}

/// Four columns of C at a time, in pieces that stay in the nearest cache.
template <class Sum>
void multiply(const Product& product, const void* A, const void* B, void* C, Sum alpha, Sum beta) {
  constexpr std::size_t kRows = 512, kCols = 4;
  const auto m = static_cast<std::size_t>(product.m), n = static_cast<std::size_t>(product.n),
             k = alpha == Sum(0) ? 0 : static_cast<std::size_t>(product.k);
  const std::vector<Sum> a = packed<Sum>(product.a, A, product.m, static_cast<int>(k)),
                         b = packed<Sum>(product.b, B, static_cast<int>(k), product.n);
  std::array<std::array<Sum, kRows>, kCols> sums;
  for (std::size_t first_row = 0; first_row < m; first_row += kRows) {
    const std::size_t rows = std::min(kRows, m - first_row);
    for (std::size_t first_col = 0; first_col < n; first_col += kCols) {
      const std::size_t cols = std::min(kCols, n - first_col);
      for (auto& column : sums) column.fill(Sum(0));
      for (std::size_t p = 0; p < k; ++p) {
        const Sum* const from = &a[p * m + first_row];
        std::array<Sum, kCols> of_b{};
        for (std::size_t col = 0; col < cols; ++col) of_b[col] = b[(first_col + col) * k + p];
        for (std::size_t row = 0; row < rows; ++row)
          for (std::size_t col = 0; col < kCols; ++col) sums[col][row] += from[row] * of_b[col];
      }
      for (std::size_t col = 0; col < cols; ++col)
        for (std::size_t row = 0; row < rows; ++row) {
          const std::size_t at =
              (first_col + col) * static_cast<std::size_t>(product.c.leading) + first_row + row;
          const Sum old = beta == Sum(0) ? Sum(0) : beta * load<Sum>(product.c.type, C, at);
          store(product.c.type, C, at, alpha * sums[col][row] + old);
        }
    }
  }
}

/// One product with its accesses. False: the device has failed.
template <class Sum>
bool run(LibraryCall& call, const Product& product, const void* A, const void* B, void* C, Sum alpha,
         Sum beta) {
  const LibraryArray result = product.c.array(C, product.m, product.n);
  if (alpha != Sum(0) && (!call.reads(product.a.array(A, product.m, product.k)) ||
                          !call.reads(product.b.array(B, product.k, product.n))))
    return false;
  if ((beta != Sum(0) && !call.reads(result)) || !call.writes(result)) return false;
  multiply(product, A, B, C, alpha, beta);
  return true;
}

/// Where the matrices of a batch are: at steps in elements from the first, or where arrays of pointers say.
struct Batch {
  const void *A = nullptr, *B = nullptr;
  void* C = nullptr;
  long long step_a = 0, step_b = 0, step_c = 0;
  int count = 1;
  bool pointers = false;
};

template <class Sum>
void run_all(LibraryCall& call, const Product& product, const Batch& batch, Sum alpha, Sum beta) {
  if (batch.pointers) {
    const std::size_t bytes = static_cast<std::size_t>(batch.count) * sizeof(void*);
    if (!call.reads({"Aarray", batch.A, sizeof(void*), bytes}) ||
        !call.reads({"Barray", batch.B, sizeof(void*), bytes}) ||
        !call.reads({"Carray", batch.C, sizeof(void*), bytes}))
      return;
  }
  for (int i = 0; i < batch.count; ++i) {
    const auto at = [&](const void* begin, cudaDataType type, long long step) {
      return batch.pointers ? static_cast<const std::byte* const*>(begin)[i]
                            : static_cast<const std::byte*>(begin) +
                                  i * step * static_cast<long long>(element_bytes(type));
    };
    if (!run(call, product, at(batch.A, product.a.type, batch.step_a),
             at(batch.B, product.b.type, batch.step_b),
             const_cast<std::byte*>(at(batch.C, product.c.type, batch.step_c)), alpha, beta))
      return;
  }
}

/// `Given` is how alpha and beta are stored.
template <class Sum, class Given>
cublasStatus_t queue_product(const cublasContext& handle, const char* function, const Product& product,
                             const Batch& batch, const void* alpha, const void* beta) {
  return queue(handle, LibraryCall(function),
               [product, batch, a = Factor<Given>(handle, static_cast<const Given*>(alpha), "alpha"),
                b = Factor<Given>(handle, static_cast<const Given*>(beta), "beta")](LibraryCall& call) {
                 Given of_product, of_old;
                 if (!a.get(call, of_product) || !b.get(call, of_old)) return;
                 if constexpr (std::is_same_v<Given, std::uint16_t>)
                   run_all<Sum>(call, product, batch, shim::Half::to_float(of_product),
                                shim::Half::to_float(of_old));
                 else
                   run_all<Sum>(call, product, batch, of_product, of_old);
               });
}

/// Of int8 with sums in int32, cuBLAS has only the product that tensor cores have, with the k of A and of B
/// side by side, in whole words of four (seen on an H100, CUDA 13.0).
bool is_product_of_words(const Product& product) {
  return product.a.transposed && !product.b.transposed && product.k % 4 == 0 && product.a.leading % 4 == 0 &&
         product.b.leading % 4 == 0;
}

bool is_supported(const Product& product, cublasComputeType_t compute) {
  const cudaDataType factors = product.a.type, result = product.c.type;
  if (product.b.type != factors) return false;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return factors == CUDA_R_16F && result == CUDA_R_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      if (factors == CUDA_R_16F || factors == CUDA_R_16BF) return result == factors || result == CUDA_R_32F;
      return (factors == CUDA_R_32F || factors == CUDA_R_8I) && result == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return factors == CUDA_R_32F && result == CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return factors == CUDA_R_64F && result == CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return factors == CUDA_R_8I && result == CUDA_R_32I && is_product_of_words(product);
  }
  return false;
}

cublasStatus_t gemm(const char* function, cublasHandle_t handle, const Product& product, const Batch& batch,
                    const void* alpha, const void* beta, cublasComputeType_t compute) {
  SIMT_CUBLAS_ENTRY(handle);
  const auto& [m, n, k, a, b, c] = product;
  if (m < 0 || n < 0 || k < 0 || batch.count < 0 || alpha == nullptr || beta == nullptr ||
      a.leading < std::max(1, a.transposed ? k : m) || b.leading < std::max(1, b.transposed ? n : k) ||
      c.leading < std::max(1, m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_supported(product, compute)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m == 0 || n == 0 || batch.count == 0) return CUBLAS_STATUS_SUCCESS;
  if (compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC)
    return queue_product<double, double>(*handle, function, product, batch, alpha, beta);
  if (compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC)
    return queue_product<std::int32_t, std::int32_t>(*handle, function, product, batch, alpha, beta);
  if (compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC)
    return queue_product<float, std::uint16_t>(*handle, function, product, batch, alpha, beta);
  return queue_product<float, float>(*handle, function, product, batch, alpha, beta);
}

Product product_of(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, cudaDataType type_a,
                   int lda, cudaDataType type_b, int ldb, cudaDataType type_c, int ldc) {
  return {m,
          n,
          k,
          {"A", type_a, lda, op_a != CUBLAS_OP_N},
          {"B", type_b, ldb, op_b != CUBLAS_OP_N},
          {"C", type_c, ldc, false}};
}
Batch steps(const void* A, const void* B, void* C, long long a = 0, long long b = 0, long long c = 0,
            int count = 1) {
  return {A, B, C, a, b, c, count, false};
}
Batch pointers(const void* A, const void* B, const void* C, int count) {
  return {A, B, const_cast<void*>(C), 0, 0, 0, count, true};
}

}  // namespace
}  // namespace simt::cublas

using simt::cublas::gemm;
using simt::cublas::pointers;
using simt::cublas::product_of;
using simt::cublas::steps;

extern "C" {

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                            int n, int k, const void* alpha, const void* A, cudaDataType type_a, int lda,
                            const void* B, cudaDataType type_b, int ldb, const void* beta, void* C,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm(__func__, handle, product_of(op_a, op_b, m, n, k, type_a, lda, type_b, ldb, type_c, ldc),
              steps(A, B, C), alpha, beta, compute);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                          const void* A, cudaDataType type_a, int lda, long long stride_a,
                                          const void* B, cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* C, cudaDataType type_c, int ldc,
                                          long long stride_c, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
  return gemm(__func__, handle, product_of(op_a, op_b, m, n, k, type_a, lda, type_b, ldb, type_c, ldc),
              steps(A, B, C, stride_a, stride_b, stride_c, batches), alpha, beta, compute);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                   int m, int n, int k, const void* alpha, const void* const A[],
                                   cudaDataType type_a, int lda, const void* const B[], cudaDataType type_b,
                                   int ldb, const void* beta, void* const C[], cudaDataType type_c, int ldc,
                                   int batches, cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm(__func__, handle, product_of(op_a, op_b, m, n, k, type_a, lda, type_b, ldb, type_c, ldc),
              pointers(A, B, C, batches), alpha, beta, compute);
}

#define SIMT_CUBLAS_GEMM(S, T, type, compute)                                                           \
  cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                                 int m, int n, int k, const T* alpha, const T* A, int lda, const T* B,  \
                                 int ldb, const T* beta, T* C, int ldc) {                               \
    return gemm(__func__, handle, product_of(op_a, op_b, m, n, k, type, lda, type, ldb, type, ldc),     \
                steps(A, B, C), alpha, beta, compute);                                                  \
  }                                                                                                     \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                         \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,       \
      const T* alpha, const T* A, int lda, long long stride_a, const T* B, int ldb, long long stride_b, \
      const T* beta, T* C, int ldc, long long stride_c, int batches) {                                  \
    return gemm(__func__, handle, product_of(op_a, op_b, m, n, k, type, lda, type, ldb, type, ldc),     \
                steps(A, B, C, stride_a, stride_b, stride_c, batches), alpha, beta, compute);           \
  }                                                                                                     \
  cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t op_a,                  \
                                        cublasOperation_t op_b, int m, int n, int k, const T* alpha,    \
                                        const T* const A[], int lda, const T* const B[], int ldb,       \
                                        const T* beta, T* const C[], int ldc, int batches) {            \
    return gemm(__func__, handle, product_of(op_a, op_b, m, n, k, type, lda, type, ldb, type, ldc),     \
                pointers(A, B, C, batches), alpha, beta, compute);                                      \
  }
SIMT_CUBLAS_GEMM(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
SIMT_CUBLAS_GEMM(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
SIMT_CUBLAS_GEMM(H, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef SIMT_CUBLAS_GEMM

}  // extern "C"
