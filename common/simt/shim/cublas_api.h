#pragma once
// The part of cuBLAS that the simulator has, with its names, values and rules. common/simt/libraries does the
// work.

#include <cstddef>
#include <cstdint>

#include "cuda_runtime_api.h"
#include "library_types.h"

#define CUBLAS_API_H_  // the guard of CUDA's own header, which programs ask for
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 4
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 120400
#define CUBLASAPI
#define CUBLASWINAPI

struct __half;
struct __nv_bfloat16;

typedef struct cublasContext* cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;

typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

// Every algorithm is the same one here. Others than these are numbers between them.
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO1 = 1,
  CUBLAS_GEMM_ALGO2 = 2,
  CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_ALGO4 = 4,
  CUBLAS_GEMM_ALGO5 = 5,
  CUBLAS_GEMM_ALGO6 = 6,
  CUBLAS_GEMM_ALGO7 = 7,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;

extern "C" {

// The handle
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// Copies between host and device
cublasStatus_t cublasSetVector(int n, int element_bytes, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int element_bytes, const void* A, int lda, void* B,
                               int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int element_bytes, const void* A, int lda, void* B,
                               int ldb);

// Levels 1 and 2, and the products of level 3, for a letter and a type
#define SIMT_CUBLAS_OF(S, IS, T)                                                                            \
  cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,  \
                                 int incy);                                                                 \
  cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,   \
                                T* result);                                                                 \
  cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result);            \
  cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result);            \
  cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx);             \
  cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy);       \
  cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy);             \
  cublasStatus_t cublasI##IS##amax(cublasHandle_t handle, int n, const T* x, int incx, int* result);        \
  cublasStatus_t cublasI##IS##amin(cublasHandle_t handle, int n, const T* x, int incx, int* result);        \
  cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, \
                                 const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy); \
  cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,  \
                                const T* y, int incy, T* A, int lda);                                       \
  cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,     \
                                 int m, int n, const T* alpha, const T* A, int lda, const T* beta,          \
                                 const T* B, int ldb, T* C, int ldc);
SIMT_CUBLAS_OF(S, s, float)
SIMT_CUBLAS_OF(D, d, double)
#undef SIMT_CUBLAS_OF

#define SIMT_CUBLAS_GEMM(S, T)                                                                          \
  cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, \
                                 int m, int n, int k, const T* alpha, const T* A, int lda, const T* B,  \
                                 int ldb, const T* beta, T* C, int ldc);                                \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                         \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,       \
      const T* alpha, const T* A, int lda, long long stride_a, const T* B, int ldb, long long stride_b, \
      const T* beta, T* C, int ldc, long long stride_c, int batches);                                   \
  cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t op_a,                  \
                                        cublasOperation_t op_b, int m, int n, int k, const T* alpha,    \
                                        const T* const A[], int lda, const T* const B[], int ldb,       \
                                        const T* beta, T* const C[], int ldc, int batches);
SIMT_CUBLAS_GEMM(S, float)
SIMT_CUBLAS_GEMM(D, double)
SIMT_CUBLAS_GEMM(H, __half)
#undef SIMT_CUBLAS_GEMM

/// P A = L U of each matrix, in its place; without pivots, if there is no array for them. Pivots and what
/// `info` says count from 1.
cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float* const A[], int lda, int* pivots,
                                   int* info, int batches);
cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double* const A[], int lda, int* pivots,
                                   int* info, int batches);

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                            int n, int k, const void* alpha, const void* A, cudaDataType type_a, int lda,
                            const void* B, cudaDataType type_b, int ldb, const void* beta, void* C,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                          const void* A, cudaDataType type_a, int lda, long long stride_a,
                                          const void* B, cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* C, cudaDataType type_c, int ldc,
                                          long long stride_c, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                   int m, int n, int k, const void* alpha, const void* const A[],
                                   cudaDataType type_a, int lda, const void* const B[], cudaDataType type_b,
                                   int ldb, const void* beta, void* const C[], cudaDataType type_c, int ldc,
                                   int batches, cublasComputeType_t compute, cublasGemmAlgo_t algo);

}  // extern "C"

// Older programs name a format where a way of computing is meant.
inline cublasComputeType_t simt_compute_type(cudaDataType type) {
  return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
         : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                              : CUBLAS_COMPUTE_32F;
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                   int m, int n, int k, const void* alpha, const void* A, cudaDataType type_a,
                                   int lda, const void* B, cudaDataType type_b, int ldb, const void* beta,
                                   void* C, cudaDataType type_c, int ldc, cudaDataType compute,
                                   cublasGemmAlgo_t algo) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, A, type_a, lda, B, type_b, ldb, beta, C, type_c,
                      ldc, simt_compute_type(compute), algo);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* A, cudaDataType type_a, int lda, long long stride_a, const void* B,
    cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* C, cudaDataType type_c, int ldc,
    long long stride_c, int batches, cudaDataType compute, cublasGemmAlgo_t algo) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, A, type_a, lda, stride_a, B, type_b,
                                    ldb, stride_b, beta, C, type_c, ldc, stride_c, batches,
                                    simt_compute_type(compute), algo);
}
