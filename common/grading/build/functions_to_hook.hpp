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
  Names everywhere;  ///< that build a result in memory, or go by an index where the compiler sets no hook
};

/// @brief Those of the compiler's dumps. Cost: one pass over two of them.
FunctionsToHook functions_to_hook(const CompilerDumps& dumps);

}  // namespace course::grading
