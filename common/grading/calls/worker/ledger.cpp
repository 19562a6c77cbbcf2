// Counts the device memory that a kernel library allocates and never frees, its launches, and its copies.
// Linked into the library for a GPU with -Wl,--wrap=NAME for each function that has a __wrap_NAME here, so
// that the library's own calls go through here and nobody else's do. Host compilers build it, without CUDA
// headers: the functions are declared as the runtime's C interface has them.
#include "grading/calls/worker/ledger.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace {

using course::grading::LedgerCopies;
using course::grading::LedgerRange;
using course::grading::LedgerRecord;
using course::grading::LedgerState;

constexpr int kSuccess = 0;

/// CUDA's dim3, as far as a C interface is concerned.
struct Dim3 {
  unsigned x, y, z;
  std::uint64_t product() const { return std::uint64_t{x} * y * z; }
};

std::mutex mutex;
std::uint64_t next_serial = 1;
course::grading::LedgerLaunches launches;

/// Built on first use, and never destroyed: static objects of the student's file may free memory late.
std::map<void*, LedgerRecord>& live() {
  static auto* records = new std::map<void*, LedgerRecord>;
  return *records;
}

/// Managed and page-locked memory: what there is of it, and the most that there was since the last look.
std::map<const void*, std::uint64_t>& live_shared() {
  static auto* allocations = new std::map<const void*, std::uint64_t>;
  return *allocations;
}
std::uint64_t shared_most = 0;

std::vector<LedgerRange>& copied() {
  static auto* ranges = new std::vector<LedgerRange>;
  return *ranges;
}
std::uint64_t to_host = 0;

/// Adds to a sum that stays the largest number once it would pass it: sizes that host code names may be any.
void add_up(std::uint64_t& sum, std::uint64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = ~std::uint64_t{0};
}

std::uint64_t shared_now() {
  std::uint64_t sum = 0;
  for (const auto& [pointer, bytes] : live_shared()) add_up(sum, bytes);
  return sum;
}

int note_shared(int error, const void* pointer, std::uint64_t bytes) {
  if (error == kSuccess && pointer) {
    const std::lock_guard lock(mutex);
    live_shared()[pointer] = bytes;
    shared_most = std::max(shared_most, shared_now());
  }
  return error;
}

int note_unshared(int error, const void* pointer) {
  const std::lock_guard lock(mutex);
  if (error == kSuccess) live_shared().erase(pointer);
  return error;
}

/// As the runtime has it. CUDA 13 writes 64 bytes more than CUDA 12 did, and a later one may write more.
struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  std::uint64_t room[29];
};
constexpr int kDeviceMemory = 2;

bool is_device(const void* pointer);

/// The direction that the caller names says nothing: cudaMemcpyDefault has none.
void note_copy(const void* to, const void* from, std::uint64_t bytes) {
  const bool fills = is_device(to), reads = from != nullptr && is_device(from);
  const std::lock_guard lock(mutex);
  if (!fills) add_up(to_host, bytes);
  if (!fills && !reads) return;
  if (copied().size() < course::grading::kMostLedgerRanges)
    copied().push_back({fills ? to : from, bytes, fills});
  else
    copied().back() = {nullptr, ~std::uint64_t{0}, fills};  // all of memory, for want of room
}

int note_allocation(int error, void** pointer, std::size_t bytes) {
  if (error == kSuccess && pointer && *pointer) {
    const std::lock_guard lock(mutex);
    live()[*pointer] = {bytes, next_serial++};
  }
  return error;
}

int note_free(int error, void* pointer) {
  if (error == kSuccess) {
    const std::lock_guard lock(mutex);
    live().erase(pointer);
  }
  return error;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker chooses the names of --wrap.
extern "C" {

int __real_cudaMalloc(void** pointer, std::size_t bytes);
int __real_cudaFree(void* pointer);
int __real_cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int __real_cudaMallocAsync(void** pointer, std::size_t bytes, void* stream);
int __real_cudaFreeAsync(void* pointer, void* stream);

int __wrap_cudaMalloc(void** pointer, std::size_t bytes) {
  return note_allocation(__real_cudaMalloc(pointer, bytes), pointer, bytes);
}

int __wrap_cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  const int error = __real_cudaMallocManaged(pointer, bytes, flags);
  note_shared(error, pointer ? *pointer : nullptr, bytes);
  return note_allocation(error, pointer, bytes);
}

int __real_cudaMallocHost(void** pointer, std::size_t bytes);
int __real_cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
int __real_cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
int __real_cudaFreeHost(void* pointer);
int __real_cudaHostUnregister(void* pointer);
int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer);
int __real_cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int __real_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);
int __real_cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, int kind);
int __real_cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                             std::size_t width, std::size_t height, int kind, void* stream);
int __real_cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                int kind);
int __real_cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                     int kind, void* stream);

int __wrap_cudaMallocHost(void** pointer, std::size_t bytes) {
  const int error = __real_cudaMallocHost(pointer, bytes);
  note_shared(error, pointer ? *pointer : nullptr, bytes);
  return note_allocation(error, pointer, bytes);
}
int __wrap_cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  const int error = __real_cudaHostAlloc(pointer, bytes, flags);
  note_shared(error, pointer ? *pointer : nullptr, bytes);
  return note_allocation(error, pointer, bytes);
}
int __wrap_cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return note_shared(__real_cudaHostRegister(pointer, bytes, flags), pointer, bytes);
}
int __wrap_cudaFreeHost(void* pointer) {
  return note_unshared(note_free(__real_cudaFreeHost(pointer), pointer), pointer);
}
int __wrap_cudaHostUnregister(void* pointer) {
  return note_unshared(__real_cudaHostUnregister(pointer), pointer);
}

int __wrap_cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  note_copy(to, from, bytes);
  return __real_cudaMemcpy(to, from, bytes, kind);
}
int __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  note_copy(to, from, bytes);
  return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}
int __wrap_cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, int kind) {
  for (std::size_t row = 0; row < height; ++row)
    note_copy(static_cast<std::byte*>(to) + row * to_pitch,
              static_cast<const std::byte*>(from) + row * from_pitch, width);
  return __real_cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
int __wrap_cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                             std::size_t width, std::size_t height, int kind, void* stream) {
  for (std::size_t row = 0; row < height; ++row)
    note_copy(static_cast<std::byte*>(to) + row * to_pitch,
              static_cast<const std::byte*>(from) + row * from_pitch, width);
  return __real_cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
int __wrap_cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                int kind) {
  note_copy(to, nullptr, bytes);
  return __real_cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
int __wrap_cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                     int kind, void* stream) {
  note_copy(to, nullptr, bytes);
  return __real_cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, stream);
}

int __wrap_cudaMallocAsync(void** pointer, std::size_t bytes, void* stream) {
  return note_allocation(__real_cudaMallocAsync(pointer, bytes, stream), pointer, bytes);
}

int __wrap_cudaFree(void* pointer) {
  return note_unshared(note_free(__real_cudaFree(pointer), pointer), pointer);
}

int __wrap_cudaFreeAsync(void* pointer, void* stream) {
  return note_free(__real_cudaFreeAsync(pointer, stream), pointer);
}

// What `<<<grid, block, bytes, stream>>>` calls first. CUDA refuses a launch without blocks or threads; it is
// none.
unsigned __real___cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t bytes, void* stream);
unsigned __wrap___cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t bytes, void* stream) {
  if (grid.product() > 0 && block.product() > 0) {
    const std::lock_guard lock(mutex);
    ++launches.count;
    launches.blocks += grid.product();
    launches.threads += grid.product() * block.product();
  }
  return __real___cudaPushCallConfiguration(grid, block, bytes, stream);
}

__attribute__((visibility("default"))) LedgerState course_ledger(std::uint64_t since, LedgerRecord* records,
                                                                 std::size_t capacity) {
  const std::lock_guard lock(mutex);
  LedgerState state{next_serial, 0, 0, launches};
  for (const auto& [pointer, record] : live()) {
    if (record.serial < since) continue;
    if (state.live < capacity) records[state.live] = record;
    ++state.live;
    state.live_bytes += record.bytes;
  }
  return state;
}

__attribute__((visibility("default"))) LedgerCopies course_ledger_copies(LedgerRange* ranges,
                                                                         std::size_t capacity) {
  const std::lock_guard lock(mutex);
  const LedgerCopies copies{copied().size(), to_host, shared_most};
  std::copy_n(copied().begin(), std::min(capacity, copied().size()), ranges);
  copied().clear();
  to_host = 0;
  shared_most = shared_now();
  return copies;
}

}  // extern "C"

namespace {
bool is_device(const void* pointer) {
  PointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, pointer) == kSuccess && attributes.type == kDeviceMemory;
}
}  // namespace
// NOLINTEND(bugprone-reserved-identifier)
