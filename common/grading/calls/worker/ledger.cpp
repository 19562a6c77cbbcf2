// Counts the device memory that a kernel library allocates and never frees, and its launches. Linked into the
// library for a GPU with -Wl,--wrap=NAME for each function that has a __wrap_NAME here, so that the library's
// own calls go through here and nobody else's do. Host compilers build it, without CUDA headers: the
// functions are declared as the runtime's C interface has them.
#include "grading/calls/worker/ledger.hpp"

#include <map>
#include <mutex>

namespace {

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
  return note_allocation(__real_cudaMallocManaged(pointer, bytes, flags), pointer, bytes);
}

int __wrap_cudaMallocAsync(void** pointer, std::size_t bytes, void* stream) {
  return note_allocation(__real_cudaMallocAsync(pointer, bytes, stream), pointer, bytes);
}

int __wrap_cudaFree(void* pointer) { return note_free(__real_cudaFree(pointer), pointer); }

int __wrap_cudaFreeAsync(void* pointer, void* stream) {
  return note_free(__real_cudaFreeAsync(pointer, stream), pointer);
}

// What `<<<grid, block, bytes, stream>>>` calls first.
unsigned __real___cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t bytes, void* stream);
unsigned __wrap___cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t bytes, void* stream) {
  {
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

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
