#include "grading/calls/worker/student_heaps.hpp"

#include "grading/calls/worker/backend.hpp"

// The sanitizers of the project's own code have a malloc() of their own.
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace course::grading {

void start_student_heaps() {}
backend::HostCode::HostCode() {}
backend::HostCode::~HostCode() {}

}  // namespace course::grading

#else

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "grading/calls/worker/region_heap.hpp"
#include "simt/control.hpp"
#include "simt/shim/simt_abi.h"

namespace course::grading {
namespace {

thread_local bool host_code = false;

// ---- Who calls.

struct Code {
  std::uintptr_t begin = 0, end = 0;
  bool is_language = false;  ///< the C++ library, which allocates for whoever calls it
};

/// The program and its libraries, but the student's.
std::vector<Code>& own_code() {
  static auto* const code = new std::vector<Code>;
  return *code;
}

int note_code(dl_phdr_info* module, std::size_t, void*) {
  const bool is_language = std::string_view(module->dlpi_name).find("libstdc++") != std::string_view::npos ||
                           std::string_view(module->dlpi_name).find("libc++") != std::string_view::npos;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
    own_code().push_back({begin, begin + segment.p_memsz, is_language});
  }
  return 0;
}

// ---- The heaps.

RegionHeap* heap_of_host = nullptr;
RegionHeap* heap_of_kernels = nullptr;

/// The heap that serves what this code asks for; null: that of the C library.
RegionHeap* heap_for(const void* caller) {
  if (heap_of_host == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const auto code = std::ranges::find_if(
      own_code(), [=](const Code& one) { return address >= one.begin && address < one.end; });
  if (code == own_code().end()) return simt_in_kernel() != 0 ? heap_of_kernels : heap_of_host;
  return code->is_language && host_code && simt::host_code_runs() ? heap_of_host : nullptr;
}

RegionHeap* heap_with(const void* memory) {
  for (RegionHeap* const heap : {heap_of_host, heap_of_kernels})
    if (heap != nullptr && heap->contains(memory)) return heap;
  return nullptr;
}

/// On a heap of so many bytes, or fewer where addresses are limited; null if there are hardly any.
RegionHeap* make_heap(void (*guard)(void* begin, std::size_t bytes)) {
  constexpr std::size_t kMost = std::size_t{16} << 30, kLeast = std::size_t{64} << 20;
  for (std::size_t bytes = kMost; bytes >= kLeast; bytes /= 2) {
    void* const region =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) continue;
    auto* const heap = new RegionHeap(static_cast<std::byte*>(region), bytes);
    guard(region, bytes);
    return heap;
  }
  return nullptr;
}

}  // namespace

void start_student_heaps() {
  dl_iterate_phdr(note_code, nullptr);
  heap_of_kernels = make_heap(simt::keep_for_kernels);
  heap_of_host = make_heap(simt::protect_host_range);
}

backend::HostCode::HostCode() { host_code = true; }
backend::HostCode::~HostCode() { host_code = false; }

}  // namespace course::grading

// NOLINTBEGIN(bugprone-reserved-identifier): the C library's own names for its functions.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* __libc_realloc(void* memory, std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);
extern "C" void __libc_free(void* memory);
// NOLINTEND(bugprone-reserved-identifier)

namespace {

using course::grading::heap_for, course::grading::heap_with;

constexpr std::size_t kAlignment = alignof(std::max_align_t);

void* allocate(std::size_t bytes, const void* caller) {
  auto* const heap = heap_for(caller);
  return heap != nullptr ? heap->allocate(bytes, kAlignment) : __libc_malloc(bytes);
}
void* allocate_aligned(std::size_t alignment, std::size_t bytes, const void* caller) {
  auto* const heap = heap_for(caller);
  return heap != nullptr ? heap->allocate(bytes, alignment) : __libc_memalign(alignment, bytes);
}
void* reallocate(void* memory, std::size_t bytes, const void* caller) {
  if (memory == nullptr) return allocate(bytes, caller);
  auto* const heap = heap_with(memory);
  if (heap == nullptr) return __libc_realloc(memory, bytes);
  void* const moved = heap->allocate(bytes, kAlignment);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(bytes, heap->bytes_of(memory)));
  heap->release(memory);
  return moved;
}
char* copy_text(const char* text, std::size_t length, const void* caller) {
  auto* const copy = static_cast<char*>(allocate(length + 1, caller));
  if (copy != nullptr) std::memcpy(copy, text, length), copy[length] = '\0';
  return copy;
}
void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define CALLER() __builtin_return_address(0)

extern "C" {

void* malloc(std::size_t bytes) { return allocate(bytes, CALLER()); }
void free(void* memory) {
  if (auto* const heap = heap_with(memory))
    heap->release(memory);
  else
    __libc_free(memory);
}
void* calloc(std::size_t count, std::size_t bytes) {
  auto* const heap = heap_for(CALLER());
  if (heap == nullptr) return __libc_calloc(count, bytes);
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* const memory = heap->allocate(all, kAlignment);
  return memory == nullptr ? nullptr : std::memset(memory, 0, all);
}
void* realloc(void* memory, std::size_t bytes) { return reallocate(memory, bytes, CALLER()); }
void* reallocarray(void* memory, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) return reallocate(memory, all, CALLER());
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocate_aligned(alignment, bytes, CALLER());
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return allocate_aligned(alignment, bytes, CALLER());
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || !std::has_single_bit(alignment)) return EINVAL;
  void* const there = allocate_aligned(alignment, bytes, CALLER());
  if (there == nullptr) return ENOMEM;
  *memory = there;
  return 0;
}
char* strdup(const char* text) { return copy_text(text, std::strlen(text), CALLER()); }
char* strndup(const char* text, std::size_t most) { return copy_text(text, strnlen(text, most), CALLER()); }

}  // extern "C"

// All that allocate: by themselves, those of the C++ library would call each other. What releases calls
// free().
void* operator new(std::size_t bytes) { return or_throw(allocate(bytes, CALLER())); }
void* operator new[](std::size_t bytes) { return or_throw(allocate(bytes, CALLER())); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, CALLER()); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, CALLER()); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate_aligned(static_cast<std::size_t>(alignment), bytes, CALLER()));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate_aligned(static_cast<std::size_t>(alignment), bytes, CALLER()));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_aligned(static_cast<std::size_t>(alignment), bytes, CALLER());
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_aligned(static_cast<std::size_t>(alignment), bytes, CALLER());
}

#endif
