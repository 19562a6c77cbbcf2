#pragma once
/// @file
/// Which mistake with ranges of keys or with the mask explains a wrong result of a causal kernel that goes by
/// tiles.

#include "attention/mistakes.hpp"
#include "attention/problem.hpp"

namespace course::attention_tests {

/// @brief What the range of keys that needs no mask, that of the diagonal, and the mask may be instead, in
/// tiles of 64 and 128 queries and 16 to 128 keys. For problems with a causal mask, beside mistakes_in(). `p`
/// must outlive them.
grading::Mistakes causal_mistakes(const Problem& p, Which which);

}  // namespace course::attention_tests
