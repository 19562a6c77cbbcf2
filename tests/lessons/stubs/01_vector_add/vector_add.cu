// Lesson 01: c = a + b with a grid-stride loop, on device memory and starting from host memory.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

/// c[i] = a[i] + b[i] for all i in [0, n). Correct for every number of blocks and threads.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  // TODO 1: which element does this thread add first? And how far is it to its next one?
  // TODO 2: add these elements, one after the other. Some threads have none: never touch an index >= n.
}

void require_size(std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more, but it is " + std::to_string(n) + ".");
}

/// n floats in device memory, owned: freed at the end of the scope, also when an exception ends it.
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t n) {
    // TODO 5: allocate device memory for n floats, with its address in data_, and check that it worked.
  }

  ~DeviceArray() {
    // TODO 6: free it.
  }

  DeviceArray(const DeviceArray&) = delete;  // two owners would free the same memory twice
  DeviceArray& operator=(const DeviceArray&) = delete;

  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  require_size(n);
  // TODO 3: launch it: blocks of kBlockThreads threads, enough for n but at most kMaxBlocks; none for n = 0.
  // TODO 4: a launch returns nothing. Find out whether CUDA accepted it.
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  require_size(n);
  // TODO 7: make three arrays on the device, and copy a and b there.
  // TODO 8: add them with vector_add(), and copy the result back to c.
}

}  // namespace course
