#pragma once
/// @file
/// Basic blocks without a hook of their own: the hook of the access that begins one tells of both. Which
/// those are says a note in the kernel's module, which its build has written: see
/// grading/build/merged_blocks.hpp.

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "simt/check/zeroed_table.hpp"

namespace simt::check {

class MergedBlocks {
 public:
  /// Reads the notes of another module; a module may have none.
  void begin_launch(std::uintptr_t code_begin, std::size_t code_bytes);

  /// The block, by its place in the code, that the access begins whose hook is called there; 0: none.
  std::uint32_t begun_by(std::uint64_t code_offset) const {
    return begun_by_.data() == nullptr || code_offset >= code_bytes_ ? 0 : begun_by_[code_offset];
  }
  /// begun_by() of each place of the code; null: of none.
  const std::uint32_t* table() const { return begun_by_.data(); }
  /// Whether a block begins there, merged or not. Only known of a module with notes.
  bool begins(std::uint64_t code_offset) const {
    return begins_.count(static_cast<std::uint32_t>(code_offset)) != 0;
  }

 private:
  void take_notes(const std::byte* begin, const std::byte* end);
  void take_pairs(const std::int32_t* begin, const std::int32_t* end);

  std::uintptr_t code_begin_ = 0;
  std::size_t code_bytes_ = 0;
  ZeroedTable<std::uint32_t> begun_by_;
  std::unordered_set<std::uint32_t> begins_;
};

}  // namespace simt::check
