#pragma once
/// @file
/// Which functions of a kernel's file need hooks that g++ does not set: see operand_hooks.hpp.

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace course::grading {

struct FunctionsToHook {
  using Names = std::set<std::string, std::less<>>;  // in the assembly
  Names with_operands;                               ///< of their calls, in memory
  Names everywhere;  ///< that build a result in memory, or load by an index from what may be a constant
};

/// @brief Those of a dump that -fdump-tree-optimized-lineno wrote, and of its assembly. Cost: one pass over
/// each.
FunctionsToHook functions_to_hook(std::string_view dump, std::string_view assembly);

}  // namespace course::grading
