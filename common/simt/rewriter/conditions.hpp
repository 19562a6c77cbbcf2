#pragma once

#include "simt/rewriter/lexer.hpp"

namespace simt::rewriter {

/// @brief Removes the code that the simulator's compiler cannot get to, and marks the directives in it as not
/// live.
///
/// The rule: a group of a conditional is dead if its condition is false for sure, or one before it is true
/// for sure, when nothing is known but that `__SIMT__` is 1, as in the simulator's headers, and that
/// `__CUDA_ARCH__` is Lexed::architecture in Lexed::device_code and not defined elsewhere. Any other name
/// makes its part of the condition unknown. Cost: linear in the number of tokens.
void drop_dead_code(Lexed& file);

}  // namespace simt::rewriter
