#pragma once
/// @file
/// Pools of memory. All of it comes from one place, and goes back there when it is freed; a pool counts what
/// it has given, and knows what a program has set.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simt/runtime/runtime_objects.hpp"
#include "simt/shim/cuda_runtime_api.h"

struct SimtMemPool {
  SIMT_RUNTIME_OBJECT

  /// Bytes, now and at most since the program asked to begin anew.
  struct Level {
    std::uint64_t current = 0, high = 0;
    void set(std::uint64_t bytes) {
      current = bytes;
      if (high < bytes) high = bytes;
    }
  };
  Level used, reserved;
  std::uint64_t release_threshold = 0;
  std::uint64_t most_bytes = 0;  ///< that it may give; 0: all there are
  int reuse[3] = {1, 1, 1};      ///< switches that change nothing: memory is reused by whoever comes next
  bool destroyed = false;        ///< it ends with the last of its memory

  /// Keeps no more than `bytes` beyond what is used.
  void trim(std::uint64_t bytes) { reserved.set(std::max(used.current, std::min(reserved.current, bytes))); }
};

namespace simt {

class MemoryPools {
 public:
  MemoryPools() { reset(); }
  SimtMemPool& standard() { return *pools_.front(); }
  SimtMemPool& of_device() { return *of_device_; }
  void use(SimtMemPool& pool) { of_device_ = &pool; }
  bool contains(const SimtMemPool* pool) const;
  SimtMemPool& create(std::uint64_t most_bytes);
  void destroy(SimtMemPool& pool);
  void take(SimtMemPool& pool, void* memory, std::size_t bytes);
  void give_back(void* memory);  ///< of whichever pool, or of none
  void reset();

 private:
  void end_if_done(SimtMemPool& pool);

  struct Given {
    SimtMemPool* pool;
    std::size_t bytes;
  };
  std::vector<std::unique_ptr<SimtMemPool>> pools_;  ///< the standard one first
  SimtMemPool* of_device_ = nullptr;
  std::map<void*, Given> given_;
};

/// To be used under the context's lock.
MemoryPools& memory_pools();

}  // namespace simt
