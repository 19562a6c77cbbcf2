#pragma once
/// @file
/// Well-known mistakes of lesson 07, as sentences about a wrong S, P or O.

#include "attention/mistakes.hpp"
#include "attention/problem.hpp"
#include "reference/attention.hpp"

namespace course::lesson_07 {

using namespace attention_tests;
using grading::Mistake;
using grading::Mistakes;

Mistake tiles_exchanged(const Problem& p, Int tile);
Mistake softmax_in_place(const reference::Attention& expected);
/// What S may be instead of Q·Kᵀ·scale.
Mistakes mistakes_in_S(const Problem& p, const reference::Attention& expected);
/// What P may be instead of the softmax of each row of S.
Mistakes mistakes_in_P(const Problem& p, const reference::Attention& expected);
/// What O may be instead of P·V.
Mistakes mistakes_in_O(const Problem& p, const reference::Attention& expected);

}  // namespace course::lesson_07
