#pragma once
/// @file
/// Memory for the objects that handles lead to: streams, events, pools, graphs. A program gets their
/// addresses. Where it must learn nothing of what kernels stored, host code cannot touch this memory between
/// its calls of the runtime API, and kernels cannot store there: see HostLibraries.

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "simt/runtime/shared_memory.hpp"

namespace simt {

class RuntimeObjects {
 public:
  /// @throws std::bad_alloc
  void* allocate(std::size_t bytes);
  void release(void* object, std::size_t bytes);

  /// To be used under the context's lock: whether host code is kept out when the running call has ended.
  void keep_apart(bool wanted) { keeps_apart_ = wanted; }
  /// A call of the API begins, and ends.
  void open() const;
  void close() const;

  /// Where they lie, in whole pages.
  WritableRange range() const;

 private:
  std::mutex mutex_;
  std::byte *begin_ = nullptr, *end_ = nullptr;  ///< of what has been used so far
  bool keeps_apart_ = false;
  std::map<std::size_t, std::vector<void*>> free_;  ///< by size
};

RuntimeObjects& runtime_objects();

}  // namespace simt

/// Puts the objects of a class there.
#define SIMT_RUNTIME_OBJECT                                                                        \
  static void* operator new(std::size_t bytes) { return simt::runtime_objects().allocate(bytes); } \
  static void operator delete(void* object, std::size_t bytes) {                                   \
    simt::runtime_objects().release(object, bytes);                                                \
  }
