// cudaMalloc, cudaMemcpy and their kin.

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "simt/check/checker.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/context.hpp"
#include "simt/runtime/host_touches.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/memory_pools.hpp"
#include "simt/runtime/shared_memory.hpp"

namespace {

using simt::CallStack;
using simt::Context;
using simt::device_memory;

/// Page-locked and managed memory: ordinary memory that host code and kernels may both touch.
struct SharedAllocation {
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeHost;
  bool is_ours = false;  ///< not memory of the program's own that it has registered
  CallStack caller{};
  std::uint64_t serial = 0;  ///< of what is ours, until the device is reset
};
std::map<const std::byte*, SharedAllocation>& shared_allocations() {
  static auto* allocations = new std::map<const std::byte*, SharedAllocation>;
  return *allocations;
}

/// The allocation or variable that holds an address, of those in `map`; null if none does.
const SharedAllocation* find_in(const std::map<const std::byte*, SharedAllocation>& map,
                                const void* pointer) {
  const auto* byte = static_cast<const std::byte*>(pointer);
  auto entry = map.upper_bound(byte);
  if (entry == map.begin()) return nullptr;
  --entry;
  return byte < entry->first + entry->second.bytes ? &entry->second : nullptr;
}

const SharedAllocation* find_shared(const void* pointer) { return find_in(shared_allocations(), pointer); }

/// `__device__` and `__constant__` variables whose addresses host code has asked for: memory of the device to
/// it, wherever they lie.
std::map<const std::byte*, SharedAllocation>& symbols() {
  static auto* variables = new std::map<const std::byte*, SharedAllocation>;
  return *variables;
}
bool lies_in_symbol(const void* pointer, std::size_t bytes) {
  const auto* byte = static_cast<const std::byte*>(pointer);
  const auto entry = symbols().upper_bound(byte);
  if (entry == symbols().begin()) return false;
  const auto& [begin, variable] = *std::prev(entry);
  const auto at = static_cast<std::size_t>(byte - begin);
  return at <= variable.bytes && bytes <= variable.bytes - at;
}

/// Adds to a sum that stays the largest number once it would pass it: sizes that host code names may be any.
void add_up(std::uint64_t& sum, std::size_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = ~std::uint64_t{0};
}

/// Whether that many bytes from there on are within what a process may have: the lower half of all addresses.
bool is_within_addresses(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 63;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return first < kEnd && bytes <= kEnd - first;
}

cudaError_t allocate_shared(Context& context, void** pointer, std::size_t bytes, cudaMemoryType type) {
  if (pointer == nullptr) return context.fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  void* const memory = bytes > device_memory().capacity() ? nullptr : simt::take_memory_apart(bytes);
  if (memory == nullptr) return context.fail(cudaErrorMemoryAllocation);
  std::memset(memory, 0xff, bytes);
  shared_allocations()[static_cast<std::byte*>(memory)] = {bytes, type, true, CallStack::here(),
                                                           device_memory().take_serial()};
  context.host_first.share(memory, bytes);
  add_up(context.copies.shared, bytes);
  if (type == cudaMemoryTypeHost) context.let_host_watch();
  *pointer = memory;
  return cudaSuccess;
}

/// What was queued and may use the memory has run.
cudaError_t free_device(Context& context, void* pointer) {
  if (context.sticky() != cudaSuccess) return context.sticky();
  const bool puts_off = context.host_first.puts_off();
  if (!(puts_off ? device_memory().give_up(pointer) : device_memory().release(pointer)))
    return context.misuse(cudaErrorInvalidValue, "bad_free",
                          "cudaFree got a pointer that cudaMalloc did not return, or that was freed before.");
  simt::memory_pools().give_back(pointer);
  if (puts_off) context.host_first.do_or_put_off([pointer] { device_memory().release(pointer); }, false);
  return cudaSuccess;
}

cudaError_t free_shared(Context& context, void* pointer) {
  context.run_all();
  const auto entry = shared_allocations().find(static_cast<std::byte*>(pointer));
  if (entry == shared_allocations().end() || !entry->second.is_ours)
    return context.fail(cudaErrorInvalidValue);
  simt::host_touches().relax();
  context.host_first.unshare(pointer);
  context.host_first.do_or_put_off(
      [pointer, bytes = entry->second.bytes] {
        if (shared_allocations().erase(static_cast<std::byte*>(pointer)) > 0)
          simt::give_back_memory_apart(pointer, bytes);
      },
      false);
  return cudaSuccess;
}

bool is_device(const void* pointer) { return device_memory().contains(pointer); }

bool is_of_host(const void* pointer) {
  return !is_device(pointer) && find_shared(pointer) == nullptr && find_in(symbols(), pointer) == nullptr;
}

const char* side_name(bool device) { return device ? "device memory" : "host memory"; }

/// Holds the pointers of a copy against its direction and against the allocations. Success if it is sound.
cudaError_t check_copy(Context& context, const void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind) {
  if (static_cast<unsigned>(kind) > 4u) return context.fail(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr)
    return context.misuse(cudaErrorInvalidValue, "bad_copy",
                          fmt::format("the copy of {} bytes has a null pointer as its {}.", bytes,
                                      to == nullptr ? "destination" : "source"));
  if (!is_within_addresses(to, bytes) || !is_within_addresses(from, bytes))
    return context.misuse(cudaErrorInvalidValue, "bad_copy",
                          fmt::format("the copy of {} bytes has more than there are addresses. Did a "
                                      "subtraction give its size?",
                                      bytes));
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault) {
    const auto fits = [](const void* pointer, bool device) {
      return is_device(pointer) == device || find_shared(pointer) != nullptr ||
             (device && find_in(symbols(), pointer) != nullptr);
    };
    if (!fits(to, to_device) || !fits(from, from_device))
      return context.misuse(
          cudaErrorInvalidValue, "bad_copy",
          fmt::format(
              "the copy's direction does not fit its pointers: the destination is {}, the source is {}. "
              "The order is destination, source, bytes, direction.",
              side_name(is_device(to)), side_name(is_device(from))));
  }
  for (const void* pointer : {to, from})
    if (!is_of_host(pointer) && !simt::kernels_may_touch(pointer, bytes))
      return context.misuse(cudaErrorInvalidValue, "bad_copy",
                            fmt::format("the copy of {} bytes goes beyond the allocation of its {} (or that "
                                        "memory was freed). Are the bytes counted as elements times sizeof?",
                                        bytes, pointer == to ? "destination" : "source"));
  return cudaSuccess;
}

/// For take_host_copies(). A copy from host memory to host memory counts as well: what a `__device__`
/// variable holds comes to the host by one.
void note_copy(Context& context, const void* to, const void* from, std::size_t bytes) {
  const auto offset = [](const void* pointer) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - device_memory().base());
  };
  const bool sets_symbol = find_in(symbols(), to) != nullptr && is_of_host(from);
  if (!is_device(to) && !sets_symbol) add_up(context.copies.to_host, bytes);
  if (is_device(to) && is_device(from)) add_up(context.copies.within, bytes);
  if (!is_device(to) && is_device(from)) context.copies.read.add(offset(from), offset(from) + bytes);
  if (is_device(to)) context.copies.written.add(offset(to), offset(to) + bytes);
}

/// A copy in its turn.
void move(Context& context, void* to, const void* from, std::size_t bytes) {
  const auto copies = [=] {
    if (Context::get().settings.check && is_device(to) && is_device(from))
      simt::check::Checker::get().note_copied(to, from, bytes);
    device_memory().copy(to, from, bytes);
  };
  if (!context.host_first.puts_off() || (is_of_host(to) && is_of_host(from))) return copies();
  if (is_of_host(to)) {
    const auto find = [&](std::byte* found) { device_memory().copy(found, from, bytes); };
    if (!context.host_first.tell({static_cast<std::byte*>(to), bytes}, find)) copies();
  } else if (is_of_host(from)) {
    const auto* const begin = static_cast<const std::byte*>(from);
    context.host_first.do_or_put_off(
        [to, staged = std::vector(begin, begin + bytes)] {
          device_memory().copy(to, staged.data(), staged.size());
        },
        !is_device(to));
  } else {
    context.host_first.do_or_put_off(copies, !is_device(to));
  }
}

/// What a two-dimensional copy moves: so many rows, of so many bytes each.
struct Rows {
  std::size_t bytes = 0, count = 0;
};

/// Rows without gaps between them are one: each takes calls of the system, which would be most of the time of
/// short rows.
Rows joined(const Rows& rows, bool gapless) {
  std::size_t all = 0;
  if (!gapless || rows.count == 0 || __builtin_mul_overflow(rows.bytes, rows.count, &all)) return rows;
  return {all, 1};
}

}  // namespace

std::vector<simt::HostSharedRange> simt::host_shared_ranges() {
  std::vector<HostSharedRange> ranges;
  for (const auto& [begin, allocation] : shared_allocations())
    ranges.push_back({begin, allocation.bytes, allocation.type == cudaMemoryTypeManaged});
  return ranges;
}

std::vector<simt::Allocation> simt::live_shared(std::uint64_t before) {
  std::vector<Allocation> found;
  for (const auto& [begin, allocation] : shared_allocations()) {
    if (allocation.serial <= before) continue;
    SourceLine line = user_line(allocation.caller);
    found.push_back({begin, allocation.bytes, std::move(line.file), line.line, allocation.serial});
  }
  return found;
}

void simt::forget_shared() {
  for (auto& [begin, allocation] : shared_allocations()) allocation.serial = 0;
}

bool simt::kernels_may_touch(const void* begin, std::size_t bytes) {
  if (is_device(begin)) return device_memory().owns(begin, bytes);
  const auto* const last = static_cast<const std::byte*>(begin) + bytes - 1;
  const SharedAllocation* const shared = find_shared(begin);
  return lies_in_symbol(begin, bytes) ||
         (shared != nullptr && is_within_addresses(begin, bytes) && shared == find_shared(last));
}

extern "C" {

// A kernel's malloc() and free(), in check/abi.cpp: what a kernel gets from cudaMalloc() comes from there.
void* __wrap_malloc(std::size_t bytes);
void __wrap_free(void* memory);

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (simt::BlockRunner::current() != nullptr) {
    *pointer = __wrap_malloc(bytes);
    return *pointer != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
  }
  SIMT_API_ENTRY();
  if (pointer == nullptr) return context.fail(cudaErrorInvalidValue);
  if (const cudaError_t error = context.in_capture(cudaErrorStreamCaptureUnsupported, false);
      error != cudaSuccess)
    return context.fail(error);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = device_memory().allocate(bytes, CallStack::here());
  return context.fail(*pointer != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* pointer) {
  if (simt::BlockRunner::current() != nullptr) {
    __wrap_free(pointer);
    return cudaSuccess;
  }
  SIMT_API_ENTRY();
  if (pointer == nullptr) return cudaSuccess;
  if (find_shared(pointer) != nullptr) return free_shared(context, pointer);
  context.run_all();
  return free_device(context, pointer);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  if (SimtCapture* const capture = context.capture_of(stream))
    return context.fail(capture->release(pointer, stream));
  if (pointer == nullptr) return cudaSuccess;
  if (find_shared(pointer) != nullptr) return free_shared(context, pointer);
  context.run_before_now(stream);
  return free_device(context, pointer);
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (pitch == nullptr) return cudaErrorInvalidValue;
  constexpr std::size_t kPitchAlignment = 512;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  SIMT_API_ENTRY();
  return allocate_shared(context, pointer, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return cudaMallocHost(pointer, bytes);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  SIMT_API_ENTRY();
  return allocate_shared(context, pointer, bytes, cudaMemoryTypeManaged);
}

cudaError_t cudaFreeHost(void* pointer) {
  SIMT_API_ENTRY();
  return pointer == nullptr ? cudaSuccess : free_shared(context, pointer);
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  SIMT_API_ENTRY();
  if (pointer == nullptr || bytes == 0 || !is_within_addresses(pointer, bytes))
    return context.fail(cudaErrorInvalidValue);
  // The memory may be gone when the work begins that was put off.
  if (context.host_first.puts_off()) return context.fail(cudaErrorNotSupported);
  shared_allocations()[static_cast<std::byte*>(pointer)] = {bytes, cudaMemoryTypeHost};
  add_up(context.copies.shared, bytes);
  context.let_host_watch();
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  SIMT_API_ENTRY();
  context.run_all();
  return context.fail(shared_allocations().erase(static_cast<std::byte*>(pointer)) == 1
                          ? cudaSuccess
                          : cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned) {
  SIMT_API_ENTRY();
  if (device_pointer == nullptr || find_shared(host_pointer) == nullptr)
    return context.fail(cudaErrorInvalidValue);
  *device_pointer = host_pointer;  // one address space
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  SIMT_API_ENTRY();
  if (const cudaError_t error = check_copy(context, to, from, bytes, kind); error != cudaSuccess)
    return error;
  if (const cudaError_t error = context.in_capture(cudaErrorStreamCaptureImplicit); error != cudaSuccess)
    return context.fail(error);
  context.run_stream(nullptr);  // earlier work of the default stream, and of those that it waits for
  context.enqueue(nullptr, SimtKind::other, [] {});
  context.run_stream(nullptr);
  if (context.sticky() != cudaSuccess) return context.sticky();
  if (bytes == 0) return cudaSuccess;
  note_copy(context, to, from, bytes);
  move(context, to, from, bytes);
  return context.sticky();
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  if (const cudaError_t error = check_copy(context, to, from, bytes, kind); error != cudaSuccess)
    return error;
  if (bytes == 0) return cudaSuccess;
  note_copy(context, to, from, bytes);
  const bool captured = context.capture_of(stream) != nullptr;
  if (!captured && is_of_host(from)) {
    // CUDA reads pageable memory before the call returns.
    const auto* const begin = static_cast<const std::byte*>(from);
    auto staged = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
    context.enqueue(stream, SimtKind::copy,
                    [&context, to, staged] { move(context, to, staged->data(), staged->size()); });
  } else {
    context.enqueue(stream, SimtKind::copy, [&context, to, from, bytes] { move(context, to, from, bytes); });
  }
  // CUDA returns from a copy to pageable memory only after it.
  if (!captured && is_of_host(to)) context.run_stream(stream);
  return context.sticky();
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return Context::get().fail(cudaErrorInvalidPitchValue);
  const Rows rows = joined({width, height}, width == to_pitch && width == from_pitch);
  for (std::size_t row = 0; row < rows.count; ++row) {
    const cudaError_t error =
        cudaMemcpy(static_cast<std::byte*>(to) + row * to_pitch,
                   static_cast<const std::byte*>(from) + row * from_pitch, rows.bytes, kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (width > to_pitch || width > from_pitch) return context.fail(cudaErrorInvalidPitchValue);
  const Rows rows = joined({width, height}, width == to_pitch && width == from_pitch);
  for (std::size_t row = 0; row < rows.count; ++row) {
    const cudaError_t error =
        cudaMemcpyAsync(static_cast<std::byte*>(to) + row * to_pitch,
                        static_cast<const std::byte*>(from) + row * from_pitch, rows.bytes, kind, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (width > pitch) return context.fail(cudaErrorInvalidValue);
  const Rows rows = joined({width, height}, width == pitch);
  for (std::size_t row = 0; row < rows.count; ++row) {
    const cudaError_t error =
        cudaMemsetAsync(static_cast<std::byte*>(pointer) + row * pitch, value, rows.bytes, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return cudaMemset2DAsync(pointer, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  if (bytes == 0) return cudaSuccess;
  if (!simt::kernels_may_touch(pointer, bytes))
    return context.misuse(cudaErrorInvalidValue, "bad_memset",
                          fmt::format("cudaMemset of {} bytes does not lie within one allocation.", bytes));
  const auto sets = [pointer, value, bytes] {
    if (is_device(pointer))
      device_memory().set(pointer, value, bytes);
    else
      std::memset(pointer, value, bytes);
  };
  context.enqueue(stream, SimtKind::set,
                  [&context, pointer, sets] { context.host_first.do_or_put_off(sets, !is_device(pointer)); });
  return cudaSuccess;
}

// Returns at once for memory of the device, and only after the work for what the host can see.
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  SIMT_API_ENTRY();
  const cudaError_t error = cudaMemsetAsync(pointer, value, bytes, nullptr);
  if (error == cudaSuccess && find_shared(pointer) != nullptr) context.run_stream(nullptr);
  return error;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  SIMT_API_ENTRY();
  *total = context.max_memory_bytes();
  *free = *total - std::min(*total, device_memory().bytes_in_use());
  return cudaSuccess;
}

cudaError_t simt_symbol_address(void** pointer, const void* symbol, std::size_t bytes) {
  SIMT_API_ENTRY();
  if (pointer == nullptr) return context.fail(cudaErrorInvalidValue);
  if (!simt::lies_in_module(symbol, bytes)) return context.fail(cudaErrorInvalidSymbol);
  symbols()[static_cast<const std::byte*>(symbol)] = {bytes, cudaMemoryTypeDevice};
  *pointer = const_cast<void*>(symbol);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  SIMT_API_ENTRY();
  void* plain = const_cast<void*>(pointer);
  const SharedAllocation* shared = find_shared(pointer);
  if (is_device(pointer) || find_in(symbols(), pointer) != nullptr)
    *attributes = {cudaMemoryTypeDevice, 0, plain, nullptr};
  else if (shared != nullptr)
    *attributes = {shared->type, 0, plain, plain};
  else
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, plain};
  return cudaSuccess;
}

}  // extern "C"
