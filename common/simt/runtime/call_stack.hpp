#pragma once
/// @file
/// Return addresses of the functions that are being called, cheap enough to note and name later.

#include <cstddef>
#include <cstdint>

namespace simt {

struct CallStack {
  std::uintptr_t pcs[24] = {};  ///< innermost first; each lies inside the call instruction
  std::size_t count = 0;

  /// Whether both stacks have the same calls from the one at `pc` outwards. False if either lacks that call.
  bool same_calls(const CallStack& other, std::uintptr_t pc) const;

  /// The stack of the caller. Allocates nothing; works in a signal handler and on a fiber's stack.
  static CallStack here();
  /// A stack of one known address.
  static CallStack at(std::uintptr_t pc);
};

}  // namespace simt
