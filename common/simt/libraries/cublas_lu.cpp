// LU decompositions of many small matrices.

#include <algorithm>
#include <cmath>
#include <utility>

#include "simt/libraries/cublas_handle.hpp"

namespace {

using simt::LibraryCall;

/// Gauss's elimination, by columns. Returns the number of the first pivot that is 0, or 0 if there is none.
template <class T>
int decompose(T* a, int n, std::ptrdiff_t leading, int* pivots) {
  const auto at = [&](int row, int col) -> T& { return a[col * leading + row]; };
  int first_zero = 0;
  for (int step = 0; step < n; ++step) {
    if (pivots != nullptr) {
      int largest = step;
      for (int row = step + 1; row < n; ++row)
        if (std::abs(at(row, step)) > std::abs(at(largest, step))) largest = row;
      pivots[step] = largest + 1;
      if (largest != step)
        for (int col = 0; col < n; ++col) std::swap(at(step, col), at(largest, col));
    }
    if (at(step, step) == T(0)) {
      if (first_zero == 0) first_zero = step + 1;
      continue;
    }
    for (int row = step + 1; row < n; ++row) at(row, step) /= at(step, step);
    for (int col = step + 1; col < n; ++col)
      for (int row = step + 1; row < n; ++row) at(row, col) -= at(row, step) * at(step, col);
  }
  return first_zero;
}

template <class T>
cublasStatus_t getrf(const char* function, cublasHandle_t handle, int n, T* const* matrices, int lda,
                     int* pivots, int* info, int batches) {
  SIMT_CUBLAS_ENTRY(handle);
  if (n < 0 || batches < 0 || lda < std::max(1, n)) return CUBLAS_STATUS_INVALID_VALUE;
  if (n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  const auto count = static_cast<std::size_t>(batches), order = static_cast<std::size_t>(n);
  return simt::cublas::queue(*handle, LibraryCall(function), [=](LibraryCall& call) {
    if (!call.reads({"Aarray", matrices, sizeof(T*), count * sizeof(T*)}) ||
        !call.writes({"infoArray", info, sizeof(int), count * sizeof(int)}) ||
        (pivots != nullptr && !call.writes({"PivotArray", pivots, sizeof(int), order * count * sizeof(int)})))
      return;
    for (std::size_t i = 0; i < count; ++i) {
      const simt::LibraryArray matrix = simt::cublas::matrix("A", matrices[i], sizeof(T), n, n, lda);
      if (!call.reads(matrix) || !call.writes(matrix)) return;
      info[i] = decompose(matrices[i], n, lda, pivots == nullptr ? nullptr : pivots + i * order);
    }
  });
}

}  // namespace

extern "C" {

cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float* const A[], int lda, int* pivots,
                                   int* info, int batches) {
  return getrf(__func__, handle, n, A, lda, pivots, info, batches);
}
cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double* const A[], int lda, int* pivots,
                                   int* info, int batches) {
  return getrf(__func__, handle, n, A, lda, pivots, info, batches);
}

}  // extern "C"
