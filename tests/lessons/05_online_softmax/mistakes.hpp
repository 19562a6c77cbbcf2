#pragma once
/// @file
/// Well-known mistakes of lesson 05, as sentences about a wrong result. Where one depends on which thread has
/// which column, it is that of the stub's layout: thread t of a team takes the columns t, t + team, ...

#include <cstdint>

#include "05_online_softmax/problem.hpp"
#include "grading/testing/lesson_test.hpp"

namespace course::lesson_05 {

using grading::Mistakes;

Mistakes mistakes_in_max(const Problem& p);
Mistakes mistakes_in_sum(const Problem& p);
Mistakes mistakes_in_softmax(const Problem& p, std::int64_t y_row_stride);

}  // namespace course::lesson_05
