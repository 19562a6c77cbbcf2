#pragma once
/// @file
/// Which variables of a module its kernels have changed. Host code can read them without a copy, which on a
/// GPU it cannot.
///
/// Check mode sees every store. In run mode, the pages of the variables are read-only when a launch begins.
/// At the first store to one, the handler of signals keeps what the page holds and opens it; in the end, what
/// was kept is compared. So a launch that stores to none of them costs two calls of the system.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simt/runtime/shared_memory.hpp"

namespace simt {

class StoredVariables {
 public:
  /// A launch of the module's kernels begins. One at a time.
  void watch(const KernelModule& module);
  /// It has ended.
  void count();

  /// The simulator itself has stored these bytes while a kernel ran: they count for nothing.
  void leave_out(const void* begin, std::size_t bytes);

  /// So many bytes of the host's, which are no variables.
  void add(std::size_t bytes) { bytes_ += bytes; }

  /// For the handler of signals: true if the address was watched; then the store can be made again.
  bool take_fault(std::uintptr_t address);

  /// Bytes that were changed since the last call, each once a launch.
  std::uint64_t take();

 private:
  enum class PageState : unsigned char { watched, being_kept, open };
  /// A variable, or what lies between two.
  struct Piece {
    std::uintptr_t begin = 0, end = 0;
  };
  struct Range {
    WritableRange memory;
    std::byte* kept = nullptr;  ///< as many bytes, of which those of open pages hold what was there
    std::vector<std::atomic<PageState>> pages;
    std::atomic<bool> lost = false;  ///< it was opened as a whole, and nothing is known of its pages
    std::vector<Piece> pieces;       ///< sorted, without gaps
  };
  struct Module {
    const KernelModule* module = nullptr;
    std::vector<std::unique_ptr<Range>> ranges;
  };

  static Range* range_of(const Module* module, std::uintptr_t address);
  static std::unique_ptr<Range> make_range(const WritableRange& memory, const KernelModule& module);
  static std::uint64_t changed_bytes(const Range& range);

  std::vector<std::unique_ptr<Module>> modules_;  ///< few
  std::atomic<const Module*> watched_ = nullptr;
  std::uint64_t bytes_ = 0;
};

StoredVariables& stored_variables();

}  // namespace simt
