#pragma once
/// @file
/// The places in a kernel's code from which memory is touched, each with its source line, with the calls by
/// which threads come there, and with its counts.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simt/check/call_paths.hpp"
#include "simt/check/zeroed_table.hpp"
#include "simt/profile.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt::check {

struct Site {
  std::uintptr_t code = 0;   ///< address of an instruction
  CallPaths::Path path = 0;  ///< the calls that led to its function
  SourceLine line;           ///< the user's innermost; line 0 if there is none
  Counters counters;         ///< of the launch
};

/// The sites of one module of code. Number 0 is "unknown".
class SiteTable {
 public:
  explicit SiteTable(CallPaths& paths) : paths_(paths) {}

  /// Sets all counts to 0, and forgets the sites and the paths if they belong to another module. What has no
  /// site of its own in this launch counts as the place that called it, if that is known.
  void begin_launch(std::uintptr_t code_begin, std::size_t code_bytes, const CallStack& caller);
  std::uintptr_t code_begin() const { return code_begin_; }

  /// The site of an instruction, given as its offset in the module's code. What belongs to the simulator's
  /// own headers counts as its caller's. Cost: a look-up; the first time, microseconds.
  unsigned find(std::uint64_t code_offset, CallPaths::Path path) {
    while (code_offset < code_bytes_) {
      const Number& known = numbers_[code_offset];
      std::uint32_t site = known.site;
      if (site == 0 || (known.path != path && site != kTransparent)) site = look_up(code_offset, path);
      if (site != kTransparent) return site;
      if (path == 0) break;
      code_offset = paths_.call(path);
      path = paths_.caller(path);
    }
    return caller_;
  }
  /// The site of an instruction that is being executed on this stack.
  unsigned find_here(std::uintptr_t code) { return find_on(CallStack::here(), code); }

  /// How threads come to a site, and in which kernel it is: none for the place that called the launch. Cost:
  /// microseconds.
  UserCalls calls(unsigned site) const;

  Site& operator[](unsigned site) { return sites_[site]; }
  const Site& operator[](unsigned site) const { return sites_[site]; }
  const std::vector<Site>& all() const { return sites_; }

 private:
  /// The site that was last asked for at an offset. Site 0: none.
  struct Number {
    CallPaths::Path path;
    std::uint32_t site;
  };
  static constexpr std::uint32_t kTransparent = ~0u;  ///< a place in the simulator's own headers
  void have_module(std::uintptr_t code_begin, std::size_t code_bytes);
  std::uint32_t look_up(std::uint64_t code_offset, CallPaths::Path path);
  std::uint32_t add(std::uint64_t code_offset, CallPaths::Path path);
  unsigned find_on(const CallStack& stack, std::uintptr_t code);

  CallPaths& paths_;
  std::uintptr_t code_begin_ = 0;
  std::size_t code_bytes_ = 0;
  std::vector<Site> sites_;
  ZeroedTable<Number> numbers_;                                ///< by offset
  std::unordered_map<std::uint64_t, std::uint32_t> by_place_;  ///< by offset and path
  unsigned caller_ = 0;                                        ///< the site that called the launch
};

}  // namespace simt::check
