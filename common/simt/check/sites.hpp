#pragma once
/// @file
/// The places in a kernel's code from which memory is touched, each with its source line and its counts.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "simt/profile.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt::check {

struct Site {
  std::uintptr_t code = 0;  ///< address of an instruction
  SourceLine line;          ///< the user's innermost; line 0 if there is none
  Counters counters;        ///< of the launch
};

/// The sites of one module of code. Number 0 is "unknown".
class SiteTable {
 public:
  /// Sets all counts to 0, and forgets the sites if they belong to another module.
  void begin_launch(std::uintptr_t code_begin, std::size_t code_bytes);

  /// The site of an instruction, given as its offset in the module's code. What belongs to the simulator's
  /// own headers counts as its caller's: `callers` are the calls in which it stands, the innermost last.
  /// Cost: a look-up; the first time, microseconds.
  unsigned find(std::uint64_t code_offset, const std::uint32_t* callers, unsigned depth);
  /// The site of an instruction that is being executed on this stack.
  unsigned find_here(std::uintptr_t code);

  /// From which calls the event in hand was made, for called_from(): `callers` as above, to be kept until
  /// then. find_here() sets them to those of its stack.
  void stand_in(const std::uint32_t* callers, unsigned depth) {
    callers_ = callers, depth_ = depth, on_stack_ = false;
  }
  std::vector<std::uint32_t> callers() const { return {callers_, callers_ + depth_}; }
  /// "kernel.cu:12" where a site lies in a header: the line of the .cu file whose call led there. Else empty.
  std::string called_from(unsigned site) const;

  Site& operator[](unsigned site) { return sites_[site]; }
  const Site& operator[](unsigned site) const { return sites_[site]; }
  const std::vector<Site>& all() const { return sites_; }

 private:
  struct Free {
    void operator()(std::uint32_t* numbers) const { std::free(numbers); }
  };
  static constexpr std::uint32_t kTransparent = ~0u;  ///< a place in the simulator's own headers
  std::uint32_t add(std::uint64_t code_offset);

  std::uintptr_t code_begin_ = 0;
  std::size_t code_bytes_ = 0;
  const std::uint32_t* callers_ = nullptr;
  unsigned depth_ = 0;
  bool on_stack_ = false;  ///< the calls are those of stack_, not of callers_
  CallStack stack_;
  std::vector<Site> sites_;
  std::unique_ptr<std::uint32_t, Free> numbers_;  ///< by offset; 0: not asked for yet
};

}  // namespace simt::check
