#pragma once
/// @file
/// The state behind the runtime API: settings, errors, faults, streams. One device, one context.
///
/// Work is queued and runs when the host waits for it, and no earlier: a program that forgets to wait sees
/// on every run what it would see on a GPU on a bad day. Where the host can wait without a call, by looking
/// at page-locked memory or at what a host function does, a thread runs what nobody has waited for. The order
/// of queues that nothing orders is deliberately not the order in which the work was queued; Order::reverse
/// has the default stream first.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simt/control.hpp"
#include "simt/runtime/call_stack.hpp"
#include "simt/runtime/device_profile.hpp"
#include "simt/runtime/host_first.hpp"
#include "simt/runtime/launch.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/runtime_objects.hpp"
#include "simt/runtime/stream_order.hpp"
#include "simt/shim/cuda_runtime_api.h"

/// An operation that was queued.
struct SimtMoment {
  cudaStream_t stream = nullptr;
  std::uint64_t number = 0;
  simt::VectorClock known{};  ///< what has come before it, and itself
};

/// What an operation is, by the numbers of cudaGraphNodeType. `order` does nothing but come before or after
/// others.
enum class SimtKind { kernel = 0, copy = 1, set = 2, host = 3, other = 5, order = 6 };

/// Where what is queued in a stream goes while the stream is captured into a graph.
class SimtCapture {
 public:
  virtual void add(cudaStream_t stream, SimtKind kind, std::function<void()> run) = 0;
  virtual void record(cudaEvent_t event, cudaStream_t stream) = 0;
  /// The stream waits for what was captured when the event was recorded, and is captured from now on.
  virtual void join(cudaStream_t stream, cudaEvent_t event) = 0;
  virtual cudaError_t allocate(void** pointer, std::size_t bytes, cudaStream_t stream) = 0;
  virtual cudaError_t release(void* pointer, cudaStream_t stream) = 0;

  bool relaxed = false;            ///< cudaStreamCaptureModeRelaxed
  bool waits_for_default = false;  ///< the stream in which it began does
  bool invalid = false;            ///< nothing can come of it any more

 protected:
  ~SimtCapture() = default;
};

/// A stream is a queue of operations, each with its number in the order in which all were queued.
struct SimtStream {
  SIMT_RUNTIME_OBJECT

  struct Operation {
    simt::StreamOrder order;
    std::function<void()> run;
    std::optional<SimtMoment> after{};  ///< what must have happened first
  };
  std::uint64_t serial = 0;  ///< no other stream of the program has it
  std::deque<Operation> queue;
  simt::VectorClock known;        ///< what has come before whatever is queued next
  std::uint64_t last_work = 0;    ///< the number of the last operation that does something
  unsigned asked = 0;             ///< how often the host has asked since something was queued last
  bool waits_for_default = true;  ///< false: created with cudaStreamNonBlocking
  bool destroyed = false;         ///< but what is queued is still to run
  SimtCapture* capture = nullptr;
};

struct SimtEvent {
  SIMT_RUNTIME_OBJECT

  SimtMoment when{};  ///< it was last recorded
  bool recorded = false, done = false, timed = true;
  unsigned asked = 0;              ///< how often the host has asked since then
  SimtCapture* capture = nullptr;  ///< that it was recorded in
  double seconds = 0.0;
};

namespace simt {

/// The lock of the runtime API.
class ApiMutex : public std::recursive_mutex {
 public:
  void lock() {
    std::recursive_mutex::lock();
    if (++depth_ == 1) runtime_objects().open();
  }
  void unlock() {
    if (--depth_ == 0) runtime_objects().close();
    std::recursive_mutex::unlock();
  }
  /// Whether the calling thread has the lock.
  static bool is_held() { return depth_ > 0; }

  /// While it lives, the thread that has the lock runs host code of the program's.
  class HostFunction {
   public:
    HostFunction() : depth_outside_(std::exchange(depth_, 0)) { runtime_objects().close(); }
    ~HostFunction() {
      runtime_objects().open();
      depth_ = depth_outside_;
    }
    HostFunction(const HostFunction&) = delete;
    HostFunction& operator=(const HostFunction&) = delete;

   private:
    int depth_outside_;
  };

 private:
  static thread_local int depth_;
};

/// The lock as a function takes it that host code calls.
class ApiLock {
 public:
  /// `frame` is that function's own.
  explicit ApiLock(ApiMutex& mutex, const void* frame = __builtin_frame_address(0))
      : lock_(mutex), outer_frame_(frame_) {
    if (frame_ == nullptr) frame_ = frame;
  }
  ~ApiLock() { frame_ = outer_frame_; }
  ApiLock(const ApiLock&) = delete;
  ApiLock& operator=(const ApiLock&) = delete;

  /// Of the first of the functions that the calling thread is in; null if it is in none.
  static const void* frame() { return frame_; }

 private:
  std::lock_guard<ApiMutex> lock_;
  const void* outer_frame_;
  static thread_local const void* frame_;
};

class Context {
 public:
  static Context& get();

  // Everything below expects the caller to hold the lock (API_ENTRY in the api_*.cpp files does).
  ApiMutex mutex;
  Settings settings;
  const DeviceProfile* profile = &device_profile("h200");
  std::vector<Fault> faults;
  std::vector<LaunchRecord> launches;
  struct Copies {
    ByteRanges read, written;  ///< of the arena
    std::uint64_t to_host = 0, within = 0, shared = 0;
  } copies;  ///< for take_host_copies()
  HostFirst host_first;
  std::map<const void*, std::size_t> dynamic_shared_optin;  ///< by kernel: of a template, by instance

  std::uint32_t max_grid_x() const;
  std::size_t max_memory_bytes() const;

  // Errors. `fail` notes the error for cudaGetLastError; a sticky one stays until cudaDeviceReset.
  cudaError_t fail(cudaError_t error);
  cudaError_t peek_error() const { return sticky_ != cudaSuccess ? sticky_ : last_; }
  cudaError_t take_error();
  cudaError_t sticky() const { return sticky_; }
  /// Notes a mistake in a call of the API, with the caller's line, and fails with `error`.
  /// `code_name` is what to call the error where its own name is not the whole story.
  cudaError_t misuse(cudaError_t error, const char* kind, const std::string& sentence,
                     const std::string& code_name = {}, const CallStack* caller = nullptr);

  // Streams. A null stream is the default stream.
  bool is_stream(cudaStream_t stream) const;
  bool is_event(cudaEvent_t event) const { return events_.contains(event); }
  cudaStream_t create_stream(bool waits_for_default);
  /// What is queued in it runs later, as that of any other stream.
  void destroy_stream(cudaStream_t stream);
  cudaEvent_t create_event(bool timed);
  void destroy_event(cudaEvent_t event) { events_.erase(event); }
  /// Into which the stream is captured; null if it is not.
  SimtCapture* capture_of(cudaStream_t stream) { return resolve(stream).capture; }
  std::set<SimtCapture*> captures;  ///< that are open
  /// For what CUDA refuses while a stream is captured: `error`, and what is captured is lost; success if no
  /// stream is. `in_relaxed`: also where the capture is relaxed.
  cudaError_t in_capture(cudaError_t error, bool in_relaxed = true);
  /// Why nothing can be queued in a stream: there is none, its capture is lost, or it is the default stream,
  /// which waits for one that is captured. Success if it can.
  cudaError_t refusal_of(cudaStream_t stream);
  /// Returns what was queued; nothing of use where the stream is captured.
  SimtMoment enqueue(cudaStream_t stream, SimtKind kind, std::function<void()> run,
                     std::optional<SimtMoment> after = {});
  void record(cudaEvent_t event, cudaStream_t stream);
  /// The place in the order of streams of the operation that runs.
  const simt::StreamOrder& running() const { return running_; }
  void set_running(const simt::StreamOrder& order) { running_ = order; }
  std::uint64_t new_serial() { return next_serial_++; }
  /// What comes before an operation that would be queued in the stream now. The host does not wait for it.
  void run_before_now(cudaStream_t stream);
  // The host waits.
  void run_stream(cudaStream_t stream);
  void run_until(cudaEvent_t event);
  void run_all();
  /// Whether something was queued that nobody has waited for, and that the default stream does not wait for.
  bool has_work_aside() const;
  // The host asks, and is told "not ready" at first: more often in the reverse order.
  bool is_ready(cudaStream_t stream);
  bool is_ready(cudaEvent_t event);
  void finish_all();       ///< also what was put off: no host code comes after it
  bool is_idle() const;    ///< nothing is queued
  std::size_t drop_all();  ///< returns how many operations were queued
  /// What is queued is neither done nor destroyed, which could be host code: this process is about to end.
  void abandon_queues();

  /// From now on, queued work runs by and by although the host makes no call: it may wait for what that does
  /// by looking at memory of its own.
  void let_host_watch();

  /// Notes for take_launches() that a launch runs.
  void note_launch(const Launch& launch);
  /// Runs the kernel, and whatever it launches.
  void run_kernel(const Launch& launch);
  /// What a function of a library does on the device has failed as a kernel does, by an illegal address.
  void fail_library_call(const CallStack& caller, const std::string& function, const char* kind,
                         const std::string& sentence);
  void reset();           ///< as cudaDeviceReset: what is recorded for the embedding program stays
  void forget_records();  ///< faults, launches and copies

 private:
  Context() = default;
  bool has_queue(cudaStream_t stream) const;  ///< it is a stream, or has been destroyed since
  SimtStream& resolve(cudaStream_t stream);
  void drain(SimtStream& stream, std::uint64_t last_number);
  void run_queue(SimtStream& stream);
  void run_each_stream();
  void let_host_know_all();
  bool asked_enough(unsigned& asked) const;
  void run_grid(const Launch& launch, unsigned depth, std::vector<NestedLaunch>& waiting);
  std::optional<Launch> accept_nested(const NestedLaunch& nested);
  void report_red_zones(const std::string& kernel);
  void make_progress();

  cudaError_t last_ = cudaSuccess, sticky_ = cudaSuccess;
  SimtStream default_stream_;  ///< its serial number is 0
  std::map<cudaStream_t, std::unique_ptr<SimtStream>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<SimtEvent>> events_;
  std::uint64_t next_number_ = 1, next_serial_ = 1;
  simt::VectorClock host_knows_;  ///< what the host has waited for
  simt::StreamOrder running_;
  bool host_watches_ = false;
};

}  // namespace simt

namespace simt {
/// @throws std::logic_error if a kernel runs on this operating-system thread.
void require_host_code();
}  // namespace simt

/// First line of an API function: takes the lock, and returns a sticky error to every caller.
#define SIMT_API_ENTRY()                             \
  ::simt::require_host_code();                       \
  ::simt::Context& context = ::simt::Context::get(); \
  const ::simt::ApiLock api_lock(context.mutex);     \
  if (context.sticky() != cudaSuccess) return context.sticky()
