#pragma once
/// @file
/// The variables of the program and of the C++ library, and the runtime's objects, closed while a kernel
/// runs: std::cout and its like are no memory of a GPU's. A kernel that stores to them faults. If the
/// simulator does, the page is opened until the launch has ended. The C library stores to its own all the
/// time: of it, the streams are compared.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "simt/runtime/shared_memory.hpp"

namespace simt {

class HostLibraries {
 public:
  /// A launch begins. The variables of the kernels' own module stay open.
  void close(const KernelModule& of_kernels);
  /// It has ended. Returns how many bytes of the C library's streams were changed, in words of 8.
  std::size_t open();
  /// Also for a while after the launch, when a thread that took part in it may still be on its way to the
  /// handler; but not for the runtime's objects, which are closed to host code then. Safe in a signal
  /// handler, as is open_page().
  bool contains(const void* address) const;
  void open_page(const void* address) const;

 private:
  const KernelModule* kernels_ = nullptr;  ///< closed_ is for them
  std::vector<WritableRange> all_, closed_;
  WritableRange objects_;
  std::array<std::FILE, 3> streams_;  ///< as they were before
};

HostLibraries& host_libraries();

}  // namespace simt
