// Lesson 01: c = a + b with a grid-stride loop, on device memory and starting from host memory.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

// [kernel]
/// c[i] = a[i] + b[i] for all i in [0, n). Correct for every number of blocks and threads.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  // TODO 1: which element does this thread add first? And how far is it to its next one?
  // TODO 2: add these elements, one after the other. Some threads have none: never touch an index >= n.
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;  // threads in the grid
  for (std::int64_t i = first; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
  // [done]
}
// [kernel]

void require_size(std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more, but it is " + std::to_string(n) + ".");
}

// [device array]
/// n floats in device memory, owned: freed at the end of the scope, also when an exception ends it.
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t n) {
    // TODO 5: allocate device memory for n floats, with its address in data_, and check that it worked.
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    CUDA_CHECK(cudaMalloc(&data_, bytes));
    // [done]
  }

  ~DeviceArray() {
    // TODO 6: free it.
    cudaFree(data_);  // unchecked, because a destructor must not throw
    // [done]
  }

  DeviceArray(const DeviceArray&) = delete;  // two owners would free the same memory twice
  DeviceArray& operator=(const DeviceArray&) = delete;

  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};
// [device array]

// [launch]
void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  require_size(n);
  // TODO 3: launch it: blocks of kBlockThreads threads, enough for n but at most kMaxBlocks; none for n = 0.
  // TODO 4: a launch returns nothing. Find out whether CUDA accepted it.
  if (n == 0) return;  // CUDA refuses a grid of 0 blocks

  const std::int64_t blocks_for_all = (n - 1) / kBlockThreads + 1;  // rounded up; n + 255 could overflow
  const auto blocks = static_cast<unsigned>(std::min(blocks_for_all, kMaxBlocks));
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: this is where a refused one shows
  // [done]
}
// [launch]

// [host]
void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  require_size(n);
  // TODO 7: make three arrays on the device, and copy a and b there.
  // TODO 8: add them with vector_add(), and copy the result back to c.
  if (n == 0) return;

  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const DeviceArray a_device(n), b_device(n), c_device(n);
  CUDA_CHECK(cudaMemcpy(a_device.data(), a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(b_device.data(), b, bytes, cudaMemcpyHostToDevice));
  vector_add(a_device.data(), b_device.data(), c_device.data(), n);
  CUDA_CHECK(cudaMemcpy(c, c_device.data(), bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
  // [done]
}
// [host]

}  // namespace course
