#pragma once
// The products of cuBLASXt, which take matrices of the host as well and wait until they are done. There is
// one device, and so nothing to divide.

#include <algorithm>
#include <cstddef>

#include "cublas_v2.h"

typedef struct cublasContext* cublasXtHandle_t;
typedef enum { CUBLASXT_PINNING_DISABLED = 0, CUBLASXT_PINNING_ENABLED = 1 } cublasXtPinnedMemMode_t;

inline cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) { return cublasCreate(handle); }
inline cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) { return cublasDestroy(handle); }
inline cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t, int count, int devices[]) {
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return CUBLAS_STATUS_INVALID_VALUE;
  return count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t, int block) {
  return block > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t, cublasXtPinnedMemMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}

namespace simt::shim {

/// A matrix of rows x cols, by columns, in memory of the device for the time of a product.
template <class T>
class XtMatrix {
 public:
  XtMatrix(const T* from, std::size_t rows, std::size_t cols, std::size_t leading)
      : elements_(rows == 0 || cols == 0 ? 0 : leading * (cols - 1) + rows) {
    good_ = elements_ == 0 || (cudaMalloc(&data_, bytes()) == cudaSuccess &&
                               cudaMemcpy(data_, from, bytes(), cudaMemcpyDefault) == cudaSuccess);
  }
  ~XtMatrix() { cudaFree(data_); }
  XtMatrix(const XtMatrix&) = delete;
  XtMatrix& operator=(const XtMatrix&) = delete;
  T* data() const { return data_; }
  std::size_t bytes() const { return elements_ * sizeof(T); }
  bool good() const { return good_; }

 private:
  std::size_t elements_;
  T* data_ = nullptr;
  bool good_ = false;
};

template <class T, class Gemm>
cublasStatus_t xt_gemm(cublasXtHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::size_t m,
                       std::size_t n, std::size_t k, const T* alpha, const T* A, std::size_t lda, const T* B,
                       std::size_t ldb, const T* beta, T* C, std::size_t ldc, Gemm gemm) {
  const bool a_lies = op_a != CUBLAS_OP_N, b_lies = op_b != CUBLAS_OP_N;
  const XtMatrix<T> a(A, a_lies ? k : m, a_lies ? m : k, lda), b(B, b_lies ? n : k, b_lies ? k : n, ldb),
      c(C, m, n, ldc);
  if (!a.good() || !b.good() || !c.good()) return CUBLAS_STATUS_ALLOC_FAILED;
  const cublasStatus_t status =
      gemm(handle, op_a, op_b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a.data(),
           static_cast<int>(lda), b.data(), static_cast<int>(ldb), beta, c.data(), static_cast<int>(ldc));
  if (status != CUBLAS_STATUS_SUCCESS || c.bytes() == 0) return status;
  return cudaMemcpy(C, c.data(), c.bytes(), cudaMemcpyDefault) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace simt::shim

inline cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                    std::size_t m, std::size_t n, std::size_t k, const float* alpha,
                                    const float* A, std::size_t lda, const float* B, std::size_t ldb,
                                    const float* beta, float* C, std::size_t ldc) {
  return simt::shim::xt_gemm(handle, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, cublasSgemm);
}
inline cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                    std::size_t m, std::size_t n, std::size_t k, const double* alpha,
                                    const double* A, std::size_t lda, const double* B, std::size_t ldb,
                                    const double* beta, double* C, std::size_t ldc) {
  return simt::shim::xt_gemm(handle, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, cublasDgemm);
}
