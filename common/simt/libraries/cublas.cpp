// cuBLAS: the handle, vectors (level 1), and matrices with vectors (level 2).

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "simt/libraries/cublas_handle.hpp"

namespace simt::cublas {
namespace {

/// A vector of n elements as BLAS has it: with a negative increment, it begins at its far end.
template <class T>
struct Vector {
  const char* name;
  T* pointer;
  int n, increment;

  T& operator[](int i) const {
    const std::ptrdiff_t step = increment;
    return step >= 0 ? pointer[i * step] : pointer[(i - (n - 1)) * step];
  }
  LibraryArray array() const {
    const auto count = static_cast<std::size_t>(std::max(n, 0));
    const auto step = static_cast<std::size_t>(std::abs(increment));
    if (step == 1) return {name, pointer, sizeof(T), count * sizeof(T)};
    if (step == 0) return {name, pointer, sizeof(T), sizeof(T)};
    return {name, pointer, sizeof(T), sizeof(T), count, step * sizeof(T)};
  }
};

/// Where a number goes that a function gives: to the host, which waits for it, or to the device.
template <class Result>
cublasStatus_t deliver(const cublasContext& handle, const LibraryCall& call, Result* result,
                       std::function<bool(LibraryCall&, Result&)> compute) {
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const bool to_device = handle.pointers == CUBLAS_POINTER_MODE_DEVICE;
  const cublasStatus_t status = queue(handle, call, [=](LibraryCall& running) {
    Result value{};
    if (!compute(running, value)) return;
    if (to_device && !running.writes({"result", result, sizeof value, sizeof value})) return;
    *result = value;
  });
  if (status != CUBLAS_STATUS_SUCCESS || to_device) return status;
  Context::get().run_stream(handle.stream);
  return status_of(&handle);
}

template <class T>
cublasStatus_t axpy(const char* function, cublasHandle_t handle, int n, const T* alpha, const T* x, int incx,
                    T* y, int incy) {
  SIMT_CUBLAS_ENTRY(handle);
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return queue(*handle, LibraryCall(function),
               [n, factor = Factor<T>(*handle, alpha, "alpha"), from = Vector<const T>{"x", x, n, incx},
                to = Vector<T>{"y", y, n, incy}](LibraryCall& call) {
                 T a;
                 if (!factor.get(call, a) || a == T(0)) return;
                 if (!call.reads(from.array()) || !call.reads(to.array()) || !call.writes(to.array())) return;
                 for (int i = 0; i < n; ++i) to[i] += a * from[i];
               });
}

template <class T>
cublasStatus_t scal(const char* function, cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {
  SIMT_CUBLAS_ENTRY(handle);
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return queue(
      *handle, LibraryCall(function),
      [n, factor = Factor<T>(*handle, alpha, "alpha"), all = Vector<T>{"x", x, n, incx}](LibraryCall& call) {
        T a;
        if (!factor.get(call, a) || !call.reads(all.array()) || !call.writes(all.array())) return;
        for (int i = 0; i < n; ++i) all[i] *= a;
      });
}

template <class T>
cublasStatus_t copy(const char* function, cublasHandle_t handle, int n, const T* x, int incx, T* y,
                    int incy) {
  SIMT_CUBLAS_ENTRY(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return queue(
      *handle, LibraryCall(function),
      [n, from = Vector<const T>{"x", x, n, incx}, to = Vector<T>{"y", y, n, incy}](LibraryCall& call) {
        if (!call.reads(from.array()) || !call.writes(to.array())) return;
        for (int i = 0; i < n; ++i) to[i] = from[i];
      });
}

template <class T>
cublasStatus_t swap(const char* function, cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {
  SIMT_CUBLAS_ENTRY(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return queue(*handle, LibraryCall(function),
               [n, one = Vector<T>{"x", x, n, incx}, other = Vector<T>{"y", y, n, incy}](LibraryCall& call) {
                 for (const LibraryArray& array : {one.array(), other.array()})
                   if (!call.reads(array) || !call.writes(array)) return;
                 for (int i = 0; i < n; ++i) std::swap(one[i], other[i]);
               });
}

template <class T>
cublasStatus_t dot(const char* function, cublasHandle_t handle, int n, const T* x, int incx, const T* y,
                   int incy, T* result) {
  SIMT_CUBLAS_ENTRY(handle);
  return deliver<T>(*handle, LibraryCall(function), result,
                    [n, one = Vector<const T>{"x", x, n, incx}, other = Vector<const T>{"y", y, n, incy}](
                        LibraryCall& call, T& value) {
                      if (!call.reads(one.array()) || !call.reads(other.array())) return false;
                      double sum = 0;
                      for (int i = 0; i < n; ++i) sum += static_cast<double>(one[i]) * other[i];
                      value = static_cast<T>(sum);
                      return true;
                    });
}

/// A number that is made of one vector; n or incx that are not positive give 0.
template <class T, class Result>
cublasStatus_t reduce(const char* function, cublasHandle_t handle, int n, const T* x, int incx,
                      Result* result, Result (*of)(const Vector<const T>&)) {
  SIMT_CUBLAS_ENTRY(handle);
  return deliver<Result>(*handle, LibraryCall(function), result,
                         [=, all = Vector<const T>{"x", x, n, incx}](LibraryCall& call, Result& value) {
                           if (n <= 0 || incx <= 0) return true;
                           if (!call.reads(all.array())) return false;
                           value = of(all);
                           return true;
                         });
}

/// Without overflow on the way: the largest magnitude is taken out first.
template <class T>
T norm(const Vector<const T>& x) {
  double scale = 0, sum = 0;
  for (int i = 0; i < x.n; ++i) scale = std::max(scale, std::abs(static_cast<double>(x[i])));
  for (int i = 0; i < x.n; ++i)
    if (std::isnan(x[i])) return x[i];
  if (scale == 0 || std::isinf(scale)) return static_cast<T>(scale);
  for (int i = 0; i < x.n; ++i) sum += (x[i] / scale) * (x[i] / scale);
  return static_cast<T>(scale * std::sqrt(sum));
}
template <class T>
T sum_of_magnitudes(const Vector<const T>& x) {
  double sum = 0;
  for (int i = 0; i < x.n; ++i) sum += std::abs(static_cast<double>(x[i]));
  return static_cast<T>(sum);
}
/// Counted from 1, as in Fortran; the first of equals.
template <class T>
int index_of_largest(const Vector<const T>& x) {
  int best = 0;
  for (int i = 1; i < x.n; ++i)
    if (std::abs(x[i]) > std::abs(x[best])) best = i;
  return best + 1;
}
template <class T>
int index_of_smallest(const Vector<const T>& x) {
  int best = 0;
  for (int i = 1; i < x.n; ++i)
    if (std::abs(x[i]) < std::abs(x[best])) best = i;
  return best + 1;
}

template <class T>
cublasStatus_t gemv(const char* function, cublasHandle_t handle, cublasOperation_t op, int m, int n,
                    const T* alpha, const T* A, int lda, const T* x, int incx, const T* beta, T* y,
                    int incy) {
  SIMT_CUBLAS_ENTRY(handle);
  if (m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0 || alpha == nullptr || beta == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const bool transposed = op != CUBLAS_OP_N;
  return queue(*handle, LibraryCall(function),
               [=, a = Factor<T>(*handle, alpha, "alpha"), b = Factor<T>(*handle, beta, "beta"),
                from = Vector<const T>{"x", x, transposed ? m : n, incx},
                to = Vector<T>{"y", y, transposed ? n : m, incy}](LibraryCall& call) {
                 T of_product, of_old;
                 if (!a.get(call, of_product) || !b.get(call, of_old)) return;
                 if (of_product != T(0) &&
                     (!call.reads(matrix("A", A, sizeof(T), m, n, lda)) || !call.reads(from.array())))
                   return;
                 if (of_old != T(0) && !call.reads(to.array())) return;
                 if (!call.writes(to.array())) return;
                 std::vector<T> sums(static_cast<std::size_t>(to.n));
                 for (int col = 0; col < n && of_product != T(0); ++col) {
                   const T* const column = A + static_cast<std::ptrdiff_t>(col) * lda;
                   for (int row = 0; row < m; ++row)
                     sums[static_cast<std::size_t>(transposed ? col : row)] +=
                         column[row] * from[transposed ? row : col];
                 }
                 for (int i = 0; i < to.n; ++i)
                   to[i] = of_product * sums[static_cast<std::size_t>(i)] +
                           (of_old != T(0) ? of_old * to[i] : T(0));
               });
}

template <class T>
cublasStatus_t ger(const char* function, cublasHandle_t handle, int m, int n, const T* alpha, const T* x,
                   int incx, const T* y, int incy, T* A, int lda) {
  SIMT_CUBLAS_ENTRY(handle);
  if (m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0 || alpha == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  return queue(
      *handle, LibraryCall(function),
      [=, factor = Factor<T>(*handle, alpha, "alpha"), rows = Vector<const T>{"x", x, m, incx},
       cols = Vector<const T>{"y", y, n, incy}](LibraryCall& call) {
        T a;
        if (!factor.get(call, a) || a == T(0)) return;
        const LibraryArray all = matrix("A", A, sizeof(T), m, n, lda);
        if (!call.reads(rows.array()) || !call.reads(cols.array()) || !call.reads(all) || !call.writes(all))
          return;
        for (int col = 0; col < n; ++col)
          for (int row = 0; row < m; ++row)
            A[static_cast<std::ptrdiff_t>(col) * lda + row] += a * rows[row] * cols[col];
      });
}

template <class T>
cublasStatus_t geam(const char* function, cublasHandle_t handle, cublasOperation_t op_a,
                    cublasOperation_t op_b, int m, int n, const T* alpha, const T* A, int lda, const T* beta,
                    const T* B, int ldb, T* C, int ldc) {
  SIMT_CUBLAS_ENTRY(handle);
  const bool a_transposed = op_a != CUBLAS_OP_N, b_transposed = op_b != CUBLAS_OP_N;
  if (m < 0 || n < 0 || lda < std::max(1, a_transposed ? n : m) || ldb < std::max(1, b_transposed ? n : m) ||
      ldc < std::max(1, m) || alpha == nullptr || beta == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  return queue(
      *handle, LibraryCall(function),
      [=, a = Factor<T>(*handle, alpha, "alpha"), b = Factor<T>(*handle, beta, "beta")](LibraryCall& call) {
        T of_a, of_b;
        if (!a.get(call, of_a) || !b.get(call, of_b)) return;
        const auto reads = [&](const char* name, const T* begin, bool transposed, int leading) {
          return call.reads(matrix(name, begin, sizeof(T), transposed ? n : m, transposed ? m : n, leading));
        };
        if ((of_a != T(0) && !reads("A", A, a_transposed, lda)) ||
            (of_b != T(0) && !reads("B", B, b_transposed, ldb)) ||
            !call.writes(matrix("C", C, sizeof(T), m, n, ldc)))
          return;
        const auto at = [](const T* begin, bool transposed, int leading, int row, int col) {
          return begin[static_cast<std::ptrdiff_t>(transposed ? row : col) * leading +
                       (transposed ? col : row)];
        };
        for (int col = 0; col < n; ++col)
          for (int row = 0; row < m; ++row)
            C[static_cast<std::ptrdiff_t>(col) * ldc + row] =
                (of_a != T(0) ? of_a * at(A, a_transposed, lda, row, col) : T(0)) +
                (of_b != T(0) ? of_b * at(B, b_transposed, ldb, row, col) : T(0));
      });
}

/// A copy of n elements, or columns, between the two sides.
cublasStatus_t copy_2d(int n, std::size_t bytes, const void* from, std::size_t from_pitch, void* to,
                       std::size_t to_pitch, cudaMemcpyKind kind) {
  if (n == 0 || bytes == 0) return CUBLAS_STATUS_SUCCESS;
  const cudaError_t error =
      cudaMemcpy2D(to, to_pitch, from, from_pitch, bytes, static_cast<std::size_t>(n), kind);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
cublasStatus_t copy_vector(int n, int element_bytes, const void* x, int incx, void* y, int incy,
                           cudaMemcpyKind kind) {
  if (n < 0 || element_bytes <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<std::size_t>(element_bytes);
  if (incx == 1 && incy == 1)
    return copy_2d(1, bytes * static_cast<std::size_t>(n), x, bytes * static_cast<std::size_t>(n), y,
                   bytes * static_cast<std::size_t>(n), kind);
  return copy_2d(n, bytes, x, bytes * static_cast<std::size_t>(incx), y,
                 bytes * static_cast<std::size_t>(incy), kind);
}
cublasStatus_t copy_matrix(int rows, int cols, int element_bytes, const void* A, int lda, void* B, int ldb,
                           cudaMemcpyKind kind) {
  if (rows < 0 || cols < 0 || element_bytes <= 0 || lda < std::max(1, rows) || ldb < std::max(1, rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<std::size_t>(element_bytes);
  return copy_2d(cols, bytes * static_cast<std::size_t>(rows), A, bytes * static_cast<std::size_t>(lda), B,
                 bytes * static_cast<std::size_t>(ldb), kind);
}

}  // namespace

cublasStatus_t status_of(const cublasContext* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return Context::get().sticky() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace simt::cublas

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  simt::require_host_code();
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaDeviceSynchronize();  // as cuBLAS does
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

// What is set by cublasSetWHAT() and got by cublasGetWHAT().
#define SIMT_SETTING(Set, Get, Type, member)                     \
  cublasStatus_t Set(cublasHandle_t handle, Type value) {        \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
    handle->member = value;                                      \
    return CUBLAS_STATUS_SUCCESS;                                \
  }                                                              \
  SIMT_GETTER(Get, Type, member)
#define SIMT_GETTER(Get, Type, member)                           \
  cublasStatus_t Get(cublasHandle_t handle, Type* value) {       \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
    if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;    \
    *value = handle->member;                                     \
    return CUBLAS_STATUS_SUCCESS;                                \
  }
SIMT_GETTER(cublasGetStream, cudaStream_t, stream)
SIMT_SETTING(cublasSetPointerMode, cublasGetPointerMode, cublasPointerMode_t, pointers)
SIMT_SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
SIMT_SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
#undef SIMT_SETTING
#undef SIMT_GETTER

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define SIMT_NAME(name) \
  case name:            \
    return #name;
    SIMT_NAME(CUBLAS_STATUS_SUCCESS)
    SIMT_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    SIMT_NAME(CUBLAS_STATUS_ALLOC_FAILED)
    SIMT_NAME(CUBLAS_STATUS_INVALID_VALUE)
    SIMT_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    SIMT_NAME(CUBLAS_STATUS_MAPPING_ERROR)
    SIMT_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    SIMT_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    SIMT_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    SIMT_NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef SIMT_NAME
  }
  return "unknown status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an invalid value was used as an argument";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the device does not have a feature that the function needs";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "an access to memory of the device failed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "the license could not be checked";
  }
  return "unknown status";
}

cublasStatus_t cublasSetVector(int n, int element_bytes, const void* x, int incx, void* y, int incy) {
  return simt::cublas::copy_vector(n, element_bytes, x, incx, y, incy, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* x, int incx, void* y, int incy) {
  return simt::cublas::copy_vector(n, element_bytes, x, incx, y, incy, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int element_bytes, const void* A, int lda, void* B,
                               int ldb) {
  return simt::cublas::copy_matrix(rows, cols, element_bytes, A, lda, B, ldb, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int element_bytes, const void* A, int lda, void* B,
                               int ldb) {
  return simt::cublas::copy_matrix(rows, cols, element_bytes, A, lda, B, ldb, cudaMemcpyDeviceToHost);
}

#define SIMT_CUBLAS_OF(S, IS, T)                                                                             \
  cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,   \
                                 int incy) {                                                                 \
    return simt::cublas::axpy(__func__, handle, n, alpha, x, incx, y, incy);                                 \
  }                                                                                                          \
  cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,    \
                                T* result) {                                                                 \
    return simt::cublas::dot(__func__, handle, n, x, incx, y, incy, result);                                 \
  }                                                                                                          \
  cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {            \
    return simt::cublas::reduce(__func__, handle, n, x, incx, result, simt::cublas::norm<T>);                \
  }                                                                                                          \
  cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result) {            \
    return simt::cublas::reduce(__func__, handle, n, x, incx, result, simt::cublas::sum_of_magnitudes<T>);   \
  }                                                                                                          \
  cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {             \
    return simt::cublas::scal(__func__, handle, n, alpha, x, incx);                                          \
  }                                                                                                          \
  cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {       \
    return simt::cublas::copy(__func__, handle, n, x, incx, y, incy);                                        \
  }                                                                                                          \
  cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {             \
    return simt::cublas::swap(__func__, handle, n, x, incx, y, incy);                                        \
  }                                                                                                          \
  cublasStatus_t cublasI##IS##amax(cublasHandle_t handle, int n, const T* x, int incx, int* result) {        \
    return simt::cublas::reduce(__func__, handle, n, x, incx, result, simt::cublas::index_of_largest<T>);    \
  }                                                                                                          \
  cublasStatus_t cublasI##IS##amin(cublasHandle_t handle, int n, const T* x, int incx, int* result) {        \
    return simt::cublas::reduce(__func__, handle, n, x, incx, result, simt::cublas::index_of_smallest<T>);   \
  }                                                                                                          \
  cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,  \
                                 const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy) { \
    return simt::cublas::gemv(__func__, handle, op, m, n, alpha, A, lda, x, incx, beta, y, incy);            \
  }                                                                                                          \
  cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,   \
                                const T* y, int incy, T* A, int lda) {                                       \
    return simt::cublas::ger(__func__, handle, m, n, alpha, x, incx, y, incy, A, lda);                       \
  }                                                                                                          \
  cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,      \
                                 int m, int n, const T* alpha, const T* A, int lda, const T* beta,           \
                                 const T* B, int ldb, T* C, int ldc) {                                       \
    return simt::cublas::geam(__func__, handle, op_a, op_b, m, n, alpha, A, lda, beta, B, ldb, C, ldc);      \
  }
SIMT_CUBLAS_OF(S, s, float)
SIMT_CUBLAS_OF(D, d, double)
#undef SIMT_CUBLAS_OF

}  // extern "C"
