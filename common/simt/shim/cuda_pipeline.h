#pragma once
// Asynchronous copies. The functions are in cuda_pipeline_primitives.h; this adds the class around them.

#include <type_traits>

#include "cooperative_groups/memcpy_async.h"
#include "cuda_pipeline_primitives.h"

namespace nvcuda::experimental {

/// The calling thread's own queue of batches.
class pipeline {
 public:
  pipeline() = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  std::size_t commit() {
    __pipeline_commit();
    return batches_++;
  }
  void commit_and_wait() {
    commit();
    wait_prior<0>();
  }
  template <unsigned kBatchesInFlight>
  void wait_prior() {
    __pipeline_wait_prior(kBatchesInFlight);
  }
  /// Waits for all batches before the one whose number commit() returned. That one may still be under way: so
  /// CUDA's own header has it, whatever the name promises. `batch + 1` waits for it as well.
  void wait(std::size_t batch) { __pipeline_wait_prior(batches_ > batch ? batches_ - batch : 0); }

 private:
  std::size_t batches_ = 0;
};

template <class T>
void memcpy_async(T& target, const T& source, pipeline&) {
  static_assert(std::is_trivially_copyable_v<T>, "only bytes can be copied asynchronously");
  simt::issue_copies(&target, &source, sizeof(T), 0, 1);
}

}  // namespace nvcuda::experimental
