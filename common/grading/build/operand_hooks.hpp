#pragma once
/// @file
/// Hooks of check mode where g++ sets none: at structures in memory that are operands of a call, handed over
/// by value or filled with what the call returns, and where an index may lead out of a variable, whose
/// address the compiler takes for known. They are set in the assembly, at the loads and stores themselves.
/// And one before each call by a pointer, which may lead into a library, where check mode sees nothing, and
/// where the stack's end or the place of a frame could have come to lie in other memory.

#include <string>
#include <string_view>

namespace course::grading {

/// @brief The assembly with hooks at such loads, stores and calls. `optimized` is what g++ writes of each
/// function with -fdump-tree-optimized-lineno: the functions are found there. Cost: one pass over each.
std::string with_operand_hooks(std::string_view assembly, std::string_view optimized);

}  // namespace course::grading
