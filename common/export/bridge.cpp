// Between Python and a kernel's library: calls an entry in the order of a stream, and turns what goes wrong
// into a sentence. One source for the simulator and for a GPU; packages of `./course export` carry it.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#ifdef COURSE_SIMULATED
#include "simt/control.hpp"
#endif

namespace {

enum Status : int { kDone = 0, kWrongArgument = 1, kFailed = 2 };

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + " failed with " + cudaGetErrorName(error) + ": " +
                             cudaGetErrorString(error) + ".");
}

/// The device that calls of this thread go to, until the end of the block.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (device != before_) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~OnDevice() { (void)cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// What `second` gets from now on waits for all that `first` has got.
void order(cudaStream_t first, cudaStream_t second) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const cudaError_t recorded = cudaEventRecord(event, first);
  const cudaError_t waits = recorded == cudaSuccess ? cudaStreamWaitEvent(second, event, 0) : recorded;
  (void)cudaEventDestroy(event);  // it goes when nobody waits for it any more
  check(waits, "Waiting for a stream");
}

// [order]
/// Lessons' kernels run on the default stream. A framework's stream need not wait for that one, nor it for
/// the framework's: so the order is asked for, before and after.
void call_in_order(void (*invoke)(void* const*), void* const* arguments, cudaStream_t stream) {
  if (stream != nullptr) order(stream, nullptr);
  invoke(arguments);
  check(cudaGetLastError(), "A CUDA call that the entry did not check");
  if (stream != nullptr) order(nullptr, stream);
}
// [order]

/// Waits for the kernels, where nobody else will.
void wait_for_kernels() {
  const cudaError_t error = cudaDeviceSynchronize();
#ifdef COURSE_SIMULATED
  const auto faults = simt::take_faults();
  if (error == cudaSuccess) return;
  simt::reset();  // else every later call fails as well
  if (!faults.empty()) throw std::runtime_error(faults.front().message);
#endif
  check(error, "A kernel");
}

}  // namespace

/// @brief Calls an entry on a device, ordered with a stream, or on the default stream if that is null.
/// `waits`: returns once the kernels have ended. 0: all went well; 1: an argument is wrong; 2: it failed;
/// `message` says why.
extern "C" __attribute__((visibility("default"))) int course_call(void (*invoke)(void* const*),
                                                                  void* const* arguments, int device,
                                                                  void* stream, int waits, char* message,
                                                                  std::size_t capacity) {
  const auto tell = [&](const char* words) { std::snprintf(message, capacity, "%s", words); };
  try {
    const OnDevice guard(device);
    (void)cudaGetLastError();  // an error that somebody else has left is not the entry's
    call_in_order(invoke, arguments, static_cast<cudaStream_t>(stream));
    if (waits != 0) wait_for_kernels();
    return kDone;
  } catch (const std::invalid_argument& wrong) {
    tell(wrong.what());
    return kWrongArgument;
  } catch (const std::exception& failure) {
    tell(failure.what());
  } catch (...) {
    tell("The entry threw something that is no std::exception.");
  }
  return kFailed;
}
