#pragma once
/// @file
/// Mistakes of lesson 09's own: where in the loop something stands, and which thread knows what.

#include <vector>

#include "attention/checks.hpp"
#include "attention/mistakes.hpp"
#include "attention/problem.hpp"

namespace course::lesson_09 {

using namespace attention_tests;
using grading::Mistakes;

std::vector<Misplacement> own_misplacements(const Problem& p, Which which);
Mistakes own_mistakes(const Problem& p, Which which);
/// Those of the first version, which has tiles of one key.
Mistakes mistakes_of_rows(const Problem& p, Which which);

}  // namespace course::lesson_09
