#pragma once
/// @file
/// Hooks of check mode where g++ sets none: at structures in memory that are operands of a call, handed over
/// by value or filled with what the call returns, and where an index may lead out of a variable, whose
/// address the compiler takes for known: in the operand itself, or in a register before
/// (frame_addresses.hpp). They are set in the assembly, at the loads and stores themselves. And one before
/// each call by a pointer, which may lead into a library, where check mode sees nothing, and where the
/// stack's end or the place of a frame could have come to lie in other memory.

#include <string>
#include <string_view>

#include "grading/build/compiler_text.hpp"

namespace course::grading {

/// @brief The assembly with hooks at such loads, stores and calls. The functions are found in the dumps.
/// Cost: one pass over each.
std::string with_operand_hooks(std::string_view assembly, const CompilerDumps& dumps);

}  // namespace course::grading
