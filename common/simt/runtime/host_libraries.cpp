#include "simt/runtime/host_libraries.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "simt/runtime/memory.hpp"
#include "simt/runtime/runtime_objects.hpp"

namespace simt {
namespace {

void protect(const WritableRange& range, int how) {
  mprotect(reinterpret_cast<void*>(range.begin), range.end - range.begin, how);
}

/// The program has no name here.
int note_library(dl_phdr_info* library, std::size_t, void* out) {
  const std::string_view name = library->dlpi_name;
  const bool is_closed = name.empty() || name.find("/libstdc++.") != std::string_view::npos ||
                         name.find("/libc++.") != std::string_view::npos;
  if (is_closed)
    for (const WritableRange& range : writable_ranges(*library))
      static_cast<std::vector<WritableRange>*>(out)->push_back(range);
  return 0;
}

}  // namespace

void HostLibraries::close(const KernelModule& of_kernels) {
  if (all_.empty()) dl_iterate_phdr(note_library, &all_);
  if (std::exchange(kernels_, &of_kernels) != &of_kernels) {
    closed_.clear();
    for (const WritableRange& range : all_)
      if (std::ranges::none_of(of_kernels.writable, [&](auto& own) { return own.begin == range.begin; }))
        closed_.push_back(range);
  }
  streams_ = {*stdin, *stdout, *stderr};
  for (const WritableRange& range : closed_) protect(range, PROT_READ);
  protect(objects_ = runtime_objects().range(), PROT_READ);
}

std::size_t HostLibraries::open() {
  for (const WritableRange& range : closed_) protect(range, PROT_READ | PROT_WRITE);
  protect(std::exchange(objects_, {}), PROT_READ | PROT_WRITE);
  constexpr std::size_t kWord = 8;
  const std::array<std::FILE, 3> now{*stdin, *stdout, *stderr};
  const auto *const before = reinterpret_cast<const char*>(&streams_), *const after =
                                                                           reinterpret_cast<const char*>(
                                                                               &now);
  std::size_t changed = 0;
  for (std::size_t at = 0; at < sizeof now; at += kWord)
    if (std::memcmp(before + at, after + at, kWord) != 0) changed += kWord;
  return changed;
}

bool HostLibraries::contains(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto holds = [=](auto& range) { return at >= range.begin && at < range.end; };
  return holds(objects_) || std::ranges::any_of(closed_, holds);
}

void HostLibraries::open_page(const void* address) const {
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) / page_bytes() * page_bytes();
  protect({page, page + page_bytes()}, PROT_READ | PROT_WRITE);
}

HostLibraries& host_libraries() {
  static auto* const libraries = new HostLibraries;  // never destroyed: handlers may ask at any time
  return *libraries;
}

}  // namespace simt
