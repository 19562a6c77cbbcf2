#pragma once
/// @file
/// What the functions of cuBLAS share: the handle, arrays in memory, factors that lie on either side.

#include <cstring>

#include "simt/libraries/device_work.hpp"
#include "simt/shim/cublas_api.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace simt::cublas {

/// A factor such as alpha: its value if the host has it, else where the device has it.
template <class T>
class Factor {
 public:
  Factor(const cublasContext& handle, const T* pointer, const char* name)
      : on_device_(handle.pointers == CUBLAS_POINTER_MODE_DEVICE ? pointer : nullptr), name_(name) {
    if (on_device_ == nullptr) value_ = *pointer;
  }
  /// False: it cannot be read.
  bool get(LibraryCall& call, T& value) const {
    if (on_device_ != nullptr && !call.reads({name_, on_device_, sizeof(T), sizeof(T)})) return false;
    value = on_device_ != nullptr ? *on_device_ : value_;
    return true;
  }

 private:
  const T* on_device_;
  T value_{};
  const char* name_;
};

/// A matrix of rows x cols, by columns.
inline LibraryArray matrix(const char* name, const void* begin, std::size_t element_bytes, int rows, int cols,
                           int leading) {
  return {name,
          begin,
          element_bytes,
          static_cast<std::size_t>(rows) * element_bytes,
          static_cast<std::size_t>(cols),
          static_cast<std::size_t>(leading) * element_bytes};
}

/// The statuses of a call's first lines.
cublasStatus_t status_of(const cublasContext* handle);

/// Queues the work of a call; the handle is a good one.
inline cublasStatus_t queue(const cublasContext& handle, const LibraryCall& call,
                            std::function<void(LibraryCall&)> work) {
  Context& context = Context::get();
  if (!context.is_stream(handle.stream)) return CUBLAS_STATUS_EXECUTION_FAILED;
  queue_library_work(context, handle.stream, call, std::move(work));
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace simt::cublas

/// First line of a function of cuBLAS: takes the lock, and returns if the handle is none or the device has
/// failed.
#define SIMT_CUBLAS_ENTRY(handle)                                                                       \
  ::simt::require_host_code();                                                                          \
  const ::simt::ApiLock api_lock(::simt::Context::get().mutex);                                         \
  if (const cublasStatus_t status = ::simt::cublas::status_of(handle); status != CUBLAS_STATUS_SUCCESS) \
  return status
