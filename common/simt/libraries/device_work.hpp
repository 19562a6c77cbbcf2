#pragma once
/// @file
/// What functions of CUDA's libraries do on the device: host code does the work, in its turn in a stream, and
/// its accesses are held against the allocations and, in check mode, against what has been written.

#include <cstddef>
#include <functional>
#include <string>

#include "simt/runtime/context.hpp"

namespace simt {

/// Memory that such a function reads or writes: `count` runs, each `stride_bytes` after the one before.
struct LibraryArray {
  const char* name;  ///< as the library's manual calls it
  const void* begin;
  std::size_t element_bytes;
  std::size_t run_bytes;
  std::size_t count = 1;
  std::size_t stride_bytes = 0;
};

/// One call of a library's function, while its work runs.
class LibraryCall {
 public:
  explicit LibraryCall(const char* function) : function_(function), caller_(CallStack::here()) {}

  /// False: the device cannot read that, the launch has failed, and nothing may be done.
  bool reads(const LibraryArray& array);
  /// The same of what is about to be written; from then on it counts as written.
  bool writes(const LibraryArray& array);

 private:
  bool can_touch(const LibraryArray& array, const char* verb);

  std::string function_;
  CallStack caller_;
};

/// @brief Queues `work`, which may follow pointers to device memory while it runs.
void queue_library_work(Context& context, cudaStream_t stream, const LibraryCall& call,
                        std::function<void(LibraryCall&)> work);

}  // namespace simt
