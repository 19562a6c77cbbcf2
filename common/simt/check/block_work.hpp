#pragma once
/// @file
/// How much arithmetic in float a basic block holds at least, read from the kernel's machine code: its fused
/// multiply-adds, and its sums or its products, whichever are more, since nvcc may fuse those that the host's
/// compiler did not. nvcc may drop, move or repeat any of it, as it may with accesses.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simt/check/merged_blocks.hpp"
#include "simt/check/sites.hpp"
#include "simt/check/zeroed_table.hpp"

namespace simt::check {

class BlockWork {
 public:
  /// Of one source line.
  struct Piece {
    std::uint32_t code = 0;  ///< the offset of an instruction of the line
    std::uint32_t floats = 0, specials = 0;
  };

  BlockWork(SiteTable& sites, const MergedBlocks& merged) : sites_(sites), merged_(merged) {}

  /// Forgets everything if the code is another module's.
  void begin_launch(std::uintptr_t code_begin, std::size_t code_bytes);

  /// What the block at this offset of the code computes: of its hook's call, or of what stands in for it.
  /// Cost: a look-up; the first time, microseconds. Empty on processors whose code is not understood.
  std::span<const Piece> of(std::uint64_t code_offset, CallPaths::Path path) {
    if (code_offset >= code_bytes_) return {};
    std::uint32_t number = numbers_[code_offset];
    if (number == 0) number = numbers_[code_offset] = read(code_offset, path);
    return number == kNothing ? std::span<const Piece>() : blocks_[number - kFirst];
  }

 private:
  static constexpr std::uint32_t kNothing = 1, kFirst = 2;
  std::uint32_t read(std::uint64_t code_offset, CallPaths::Path path);
  void add(std::vector<Piece>& pieces, std::uintptr_t at, CallPaths::Path path, std::uint32_t floats,
           std::uint32_t specials);
  std::uint32_t specials_of_call(std::uintptr_t target, bool by_pointer) const;
  void read_imports();

  SiteTable& sites_;
  const MergedBlocks& merged_;
  std::uintptr_t code_begin_ = 0;
  std::size_t code_bytes_ = 0;
  ZeroedTable<std::uint32_t> numbers_;  ///< by offset: of the block, from kFirst on
  std::vector<std::vector<Piece>> blocks_;
  std::unordered_map<std::uintptr_t, std::string_view> imports_;  ///< by the pointer that the linker fills
};

}  // namespace simt::check
