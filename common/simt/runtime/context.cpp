#include "simt/runtime/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "simt/runtime/block.hpp"
#include "simt/runtime/host_stack.hpp"
#include "simt/runtime/host_touches.hpp"
#include "simt/runtime/kernel_print.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/memory_pools.hpp"
#include "simt/runtime/stored_variables.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt {
namespace {

constexpr std::size_t kMostQueued = 4096;  // then the "device" catches up by itself
constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

}  // namespace

thread_local int ApiMutex::depth_ = 0;
thread_local const void* ApiLock::frame_ = nullptr;

Context& Context::get() {
  static Context* const context = [] {  // outlives every static destructor that may call the API
    void* const memory = take_memory_apart(sizeof(Context));
    if (memory == nullptr) throw std::bad_alloc();
    return new (memory) Context;
  }();
  return *context;
}

std::uint32_t Context::max_grid_x() const {
  return settings.max_grid_x != 0 ? settings.max_grid_x : profile->max_grid_x;
}

std::size_t Context::max_memory_bytes() const {
  const std::size_t all = std::min(device_memory().capacity(), profile->global_memory_bytes);
  return settings.max_memory_bytes != 0 ? std::min(all, settings.max_memory_bytes) : all;
}

cudaError_t Context::fail(cudaError_t error) {
  if (error != cudaSuccess) last_ = error;
  return error;
}

cudaError_t Context::take_error() {
  if (sticky_ != cudaSuccess) return sticky_;
  return std::exchange(last_, cudaSuccess);
}

cudaError_t Context::misuse(cudaError_t error, const char* kind, const std::string& sentence,
                            const std::string& code_name, const CallStack* caller) {
  const SourceLine line = user_line(caller != nullptr ? *caller : CallStack::here());
  Fault fault;
  fault.kind = kind;
  fault.file = line.file;
  fault.line = line.line;
  fault.in_kernel = false;
  const std::string place = to_string(line);
  fault.message = fmt::format("{}{}{} CUDA reports {}.", place, place.empty() ? "" : ": ", sentence,
                              code_name.empty() ? cudaGetErrorName(error) : code_name);
  faults.push_back(std::move(fault));
  return fail(error);
}

bool Context::has_queue(cudaStream_t stream) const {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         streams_.contains(stream);
}

bool Context::is_stream(cudaStream_t stream) const {
  const auto known = streams_.find(stream);
  return known != streams_.end() ? !known->second->destroyed : has_queue(stream);
}

SimtStream& Context::resolve(cudaStream_t stream) {
  const bool is_default = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? default_stream_ : *streams_.at(stream);
}

cudaError_t Context::in_capture(cudaError_t error, bool in_relaxed) {
  bool met = false;
  for (SimtCapture* const capture : captures) {
    if (capture->relaxed && !in_relaxed) continue;
    capture->invalid = met = true;
  }
  return met ? error : cudaSuccess;
}

cudaError_t Context::refusal_of(cudaStream_t stream) {
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (const SimtCapture* const capture = capture_of(stream))
    return capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  const bool all_wait = (stream == nullptr || stream == cudaStreamLegacy) &&
                        std::any_of(captures.begin(), captures.end(),
                                    [](const SimtCapture* capture) { return capture->waits_for_default; });
  return all_wait ? in_capture(cudaErrorStreamCaptureImplicit) : cudaSuccess;
}

cudaStream_t Context::create_stream(bool waits_for_default) {
  auto stream = std::make_unique<SimtStream>();
  stream->waits_for_default = waits_for_default;
  stream->serial = new_serial();
  const cudaStream_t handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

void Context::destroy_stream(cudaStream_t stream) { streams_.at(stream)->destroyed = true; }

cudaEvent_t Context::create_event(bool timed) {
  auto event = std::make_unique<SimtEvent>();
  event->timed = timed;
  const cudaEvent_t handle = event.get();
  events_.emplace(handle, std::move(event));
  return handle;
}

SimtMoment Context::enqueue(cudaStream_t stream, SimtKind kind, std::function<void()> run,
                            std::optional<SimtMoment> after) {
  SimtStream& queue = resolve(stream);
  if (queue.capture != nullptr) {
    queue.capture->add(stream, kind, std::move(run));
    return {};
  }
  queue.known.join(host_knows_);
  if (after) queue.known.join(after->known);
  if (&queue == &default_stream_) {
    for (const auto& [handle, other] : streams_)
      if (other->waits_for_default) queue.known.join(other->known);
  } else if (queue.waits_for_default) {
    queue.known.join(default_stream_.known);
  }
  const std::uint64_t number = next_number_++;
  queue.known.reach(queue.serial, number);
  if (kind != SimtKind::order) queue.last_work = number;
  SimtMoment queued{stream, number, queue.known};
  queue.queue.push_back({{queue.serial, number, queue.known}, std::move(run), std::move(after)});
  queue.asked = 0;
  if (queue.queue.size() > kMostQueued) run_queue(queue);
  return queued;
}

void Context::record(cudaEvent_t event, cudaStream_t stream) {
  event->capture = capture_of(stream);
  if (event->capture != nullptr) {
    event->capture->record(event, stream);
    return;
  }
  event->when.number = next_number_;
  event->recorded = true;
  event->done = false;
  event->asked = 0;
  event->when = enqueue(stream, SimtKind::order, [this, event, number = next_number_] {
    if (!is_event(event) || event->when.number != number) return;  // destroyed, or recorded again later
    event->done = true;
    event->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  });
}

// Runs the operations of a stream up to that number, and before each what it has to wait for: the default
// stream and the streams that do not opt out wait for each other.
void Context::drain(SimtStream& stream, std::uint64_t last_number) {
  while (!stream.queue.empty() && stream.queue.front().order.number <= last_number) {
    const SimtStream::Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (&stream == &default_stream_) {
      for (auto& [handle, other] : streams_)
        if (other->waits_for_default) drain(*other, operation.order.number);
    } else if (stream.waits_for_default) {
      drain(default_stream_, operation.order.number);
    }
    host_touches().relax();
    if (operation.after && has_queue(operation.after->stream))
      drain(resolve(operation.after->stream), operation.after->number);
    running_ = operation.order;
    operation.run();
  }
}

void Context::run_before_now(cudaStream_t stream) {
  enqueue(stream, SimtKind::order, [] {});
  run_queue(resolve(stream));
}

void Context::run_queue(SimtStream& stream) {
  drain(stream, kEverything);
  host_first.let_host_look();
}

void Context::run_stream(cudaStream_t stream) {
  SimtStream& queue = resolve(stream);
  host_knows_.join(queue.known);
  run_queue(queue);
}

void Context::run_until(cudaEvent_t event) {
  if (event->recorded && !event->done && has_queue(event->when.stream))
    drain(resolve(event->when.stream), event->when.number);
  host_knows_.join(event->when.known);
  host_first.let_host_look();
}

// A program that asks a number of times and then goes on has waited for nothing.
bool Context::asked_enough(unsigned& asked) const {
  const unsigned patience = settings.order == Order::reverse ? 1000 : 1;
  return asked++ >= patience;
}

bool Context::is_ready(cudaStream_t stream) {
  SimtStream& queue = resolve(stream);
  if (!queue.queue.empty() && !asked_enough(queue.asked)) return false;
  run_stream(stream);
  return true;
}

bool Context::is_ready(cudaEvent_t event) {
  if (event->recorded && !event->done && !asked_enough(event->asked)) return false;
  run_until(event);
  return true;
}

void Context::run_each_stream() {
  if (settings.order == Order::reverse) {
    drain(default_stream_, kEverything);
    for (auto& [handle, stream] : streams_) drain(*stream, kEverything);
    return;
  }
  for (auto stream = streams_.rbegin(); stream != streams_.rend(); ++stream)
    drain(*stream->second, kEverything);
  drain(default_stream_, kEverything);
}

void Context::let_host_know_all() {
  host_knows_.join(default_stream_.known);
  for (const auto& [handle, stream] : streams_) host_knows_.join(stream->known);
}

void Context::run_all() {
  do run_each_stream();
  while (!is_idle());  // a host function may queue more in a stream that has had its turn
  let_host_know_all();
  std::erase_if(streams_, [](const auto& entry) { return entry.second->destroyed; });
  host_first.let_host_look();
}

bool Context::has_work_aside() const {
  VectorClock known = host_knows_;
  known.join(default_stream_.known);
  for (const auto& [handle, stream] : streams_)
    if (stream->waits_for_default) known.join(stream->known);
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& entry) {
    return entry.second->last_work != 0 && !known.covers(entry.second->serial, entry.second->last_work);
  });
}

void Context::finish_all() {
  run_all();
  host_first.end();
}

bool Context::is_idle() const {
  return default_stream_.queue.empty() &&
         std::all_of(streams_.begin(), streams_.end(),
                     [](const auto& entry) { return entry.second->queue.empty(); });
}

void Context::let_host_watch() {
  if (!settings.goes_on_alone || std::exchange(host_watches_, true)) return;
  std::thread([this] { make_progress(); }).detach();
}

// Runs what is queued once the host has neither waited for it nor queued anything else for a while.
void Context::make_progress() {
  constexpr auto kPatience = std::chrono::milliseconds(50);
  for (std::uint64_t seen = 0;;) {
    std::this_thread::sleep_for(kPatience);
    const std::lock_guard lock(mutex);
    if (std::exchange(seen, next_number_) == next_number_ && !is_idle()) run_all();
  }
}

void Context::abandon_queues() {
  static auto* const kept = new std::vector<decltype(default_stream_.queue)>;
  kept->push_back(std::exchange(default_stream_.queue, {}));
  for (auto& [handle, stream] : streams_) kept->push_back(std::exchange(stream->queue, {}));
}

std::size_t Context::drop_all() {
  host_touches().relax();
  host_first.drop();
  std::size_t dropped = std::exchange(default_stream_.queue, {}).size();
  for (auto& [handle, stream] : streams_) dropped += std::exchange(stream->queue, {}).size();
  return dropped;
}

void Context::run_kernel(const Launch& launch) {
  // A kernel has ended once all have that it launched: depth first, the next one last.
  std::vector<NestedLaunch> waiting;
  run_grid(launch, 0, waiting);
  while (!waiting.empty()) {
    const NestedLaunch next = std::move(waiting.back());
    waiting.pop_back();
    if (std::optional<Launch> nested = accept_nested(next)) {
      nested->order = launch.order;
      run_grid(*nested, next.depth, waiting);
    }
  }
}

void Context::run_grid(const Launch& launch, unsigned depth, std::vector<NestedLaunch>& waiting) {
  if (sticky_ != cudaSuccess) return;
  device_memory().open();
  protected_host_ranges().close();
  kernels_own_ranges().open();
  if (settings.keeps_apart) host_stack().close(ApiLock::frame());
  std::vector<NestedLaunch> nested;
  const RawFault raw = run_launch(launch, settings, nested);
  put_out_prints();
  for (auto next = nested.rbegin(); next != nested.rend(); ++next) {
    // What comes last is launched by the kernel, but not kept by it.
    next->depth = next->request.stream == cudaStreamTailLaunch ? depth : depth + 1;
    waiting.push_back(std::move(*next));
  }
  stored_variables().add(host_stack().open());
  kernels_own_ranges().close();
  protected_host_ranges().open();
  device_memory().close();
  report_red_zones(launch.name);
  if (raw.kind == FaultKind::none) return;
  const bool told = raw.kind == FaultKind::told || raw.kind == FaultKind::told_misaligned;
  if (!told) faults.push_back(describe(raw, launch.name, settings.launch_seconds, launch.caller));
  sticky_ = static_cast<cudaError_t>(cuda_error_of(raw.kind));
}

void Context::fail_library_call(const CallStack& caller, const std::string& function, const char* kind,
                                const std::string& sentence) {
  const SourceLine line = user_line(caller);
  const std::string place = to_string(line);
  Fault fault;
  fault.kind = kind;
  fault.file = line.file;
  fault.line = line.line;
  fault.kernel = function;
  fault.message = place.empty() ? sentence : place + ": " + sentence;
  faults.push_back(std::move(fault));
  sticky_ = cudaErrorIllegalAddress;
}

void Context::report_red_zones(const std::string& kernel) {
  const auto bytes = [](auto count) { return fmt::format("{} byte{}", count, count == 1 ? "" : "s"); };
  for (const RedZoneHit& hit : device_memory().check_red_zones()) {
    if (settings.check) continue;  // every access was held against the bounds; here the zones are mended
    const bool before = hit.first < 0;
    const auto distance = before ? -hit.first : hit.first - static_cast<std::ptrdiff_t>(hit.allocation_bytes);
    const std::string origin = to_string(user_line(hit.allocated_at));
    Fault fault;
    fault.kind = "out_of_bounds";
    fault.message = fmt::format(
        "{} wrote outside of an allocation of {}{}: {} changed, beginning {} {}. Look at the largest index "
        "that a thread uses{}.",
        kernel, bytes(hit.allocation_bytes), origin.empty() ? "" : " (made at " + origin + ")",
        bytes(hit.changed_bytes), bytes(distance), before ? "before its start" : "past its end",
        origin.empty() ? "" : ", and whether cudaMalloc was given elements times sizeof");
    faults.push_back(std::move(fault));
  }
}

void Context::reset() {
  drop_all();
  let_host_know_all();
  streams_.clear();
  events_.clear();
  dynamic_shared_optin.clear();
  last_ = sticky_ = cudaSuccess;
  device_memory().release_all();
  forget_shared();
  memory_pools().reset();
}

void Context::forget_records() {
  faults.clear();
  launches.clear();
  copies = {};
}

void require_host_code() {
  if (BlockRunner::current() != nullptr)
    throw std::logic_error(
        "a kernel calls a function of the runtime API that is for the host. A kernel may launch kernels and "
        "create streams for them; what it launches runs once it has ended");
}

void configure(const Settings& settings) {
  if (!(settings.launch_seconds > 0.0)) throw std::invalid_argument("launch_seconds must be positive");
  const DeviceProfile& profile = device_profile(settings.device);
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  context.finish_all();
  context.settings = settings;
  runtime_objects().keep_apart(settings.keeps_apart);
  device_memory().spread_out(settings.check);
  device_memory().limit(settings.max_memory_bytes);
  if (settings.check) (void)user_line(CallStack::here());  // reads the debug information now, not in a launch
  context.profile = &profile;
}

std::vector<Fault> take_faults() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  context.finish_all();
  return std::exchange(context.faults, {});
}

void forget_faults() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  context.run_all();
  context.faults.clear();
}

bool has_work_aside() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  return context.has_work_aside();
}

std::vector<LaunchRecord> take_launches() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  return std::exchange(context.launches, {});
}

HostCopies take_host_copies() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  const Context::Copies copies = std::exchange(context.copies, {});
  const auto ranges = [](const ByteRanges& bytes) {
    std::vector<HostCopies::Range> list;
    for (const auto& [begin, end] : bytes.all())
      list.push_back({device_memory().base() + begin, end - begin});
    return list;
  };
  return {ranges(copies.read), ranges(copies.written), copies.to_host,
          copies.within,       copies.shared,          context.host_first.take_asked()};
}

void host_goes_first(HostFirstRules rules) {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  context.finish_all();
  context.host_first.begin(std::move(rules));
}

std::size_t drop_pending() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  return context.drop_all();
}

std::uint64_t allocations_so_far() { return device_memory().allocations_so_far(); }
std::vector<Allocation> live_allocations(std::uint64_t before) {
  const std::lock_guard lock(Context::get().mutex);
  std::vector<Allocation> all = device_memory().live(before);
  for (Allocation& allocation : live_shared(before)) all.push_back(std::move(allocation));
  std::ranges::sort(all, {}, &Allocation::serial);
  return all;
}

void reset() {
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  context.reset();
  context.forget_records();
}

bool host_code_runs() { return BlockRunner::current() == nullptr && !ApiMutex::is_held(); }

void protect_host_range(void* begin, std::size_t bytes) {
  const std::lock_guard lock(Context::get().mutex);
  protected_host_ranges().add(begin, bytes);
}

void keep_for_kernels(void* begin, std::size_t bytes) {
  const std::lock_guard lock(Context::get().mutex);
  kernels_own_ranges().add(begin, bytes);
  kernels_own_ranges().close();
}

void unprotect_host_range(void* begin) {
  const std::lock_guard lock(Context::get().mutex);
  protected_host_ranges().remove(begin);
}

void host_uses(const void* begin, std::size_t bytes, bool write) { host_touches().use(begin, bytes, write); }

void fence_device_range(void* begin, std::size_t bytes) {
  const std::lock_guard lock(Context::get().mutex);
  device_memory().fence(begin, bytes);
}

}  // namespace simt
