#pragma once
/// @file
/// Problems of which everything is drawn at once. Other cases ask for one thing at a time, in sizes that suit
/// it; a kernel could have a way of its own for each of them. Here sizes, masks, scores and layouts come
/// together as they may.

#include <functional>
#include <vector>

#include "attention/checks.hpp"
#include "attention/gradient_checks.hpp"
#include "attention/problem.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/random.hpp"

namespace course::attention_tests {

/// What is added to a drawn problem before it is laid out in memory, such as dropout.
using Change = std::function<Problem(const Problem&, Random&)>;

/// `few`: less than four batches and heads, but for one group of many heads. Tiles that are hardly filled
/// cost a student's kernel as much as full ones, and check mode has its time.
enum class Heads { any, few };

/// @brief Five problems of up to `max_dim` dimensions, which depend on the case's seed: with four batches or
/// more; with more than 64 dimensions; with 400 keys or more; with both, but fewer keys; with many heads in a
/// group. Where there are windows, a sixth has a short one, sinks, a learned sink, and keys that are hidden
/// between them. One problem's scores lie far below 0, without a learned sink, or far above. Where nothing is
/// counted, one more has steep scores, and three have whole tiles of 64, several of them in each direction,
/// in 64 dimensions or in as many as 128 or 256, in two batches or in groups. One of these has steep scores
/// and nothing besides a causal mask; one has high scores and all that the kernel takes; one of them has more
/// queries than the other, and one has all rows at multiples of 16 bytes. The third is dense, mostly with as
/// many queries as keys, and has high scores and a window, if there are any. Q, K, V and the results have
/// layouts of their own. Some scales are negative, but not in 16 bits. `backward`: the scores are fair to
/// gradients.
std::vector<Problem> drawn_problems(const Takes& takes, Int max_dim, bool backward, const Change& change = {},
                                    Heads heads = Heads::any);

/// @brief Right for all of drawn_problems(); in float32, one array or another begins at no multiple of 16
/// bytes.
void check_drawn(const Kernel& kernel, const Takes& takes, const Change& change = {},
                 TestLine where = TestLine::here());

/// What has to hold of the counters of a call.
using Counted = std::function<void(const grading::Profile&, const Problem&)>;

/// @brief Right for all of drawn_problems() with few heads, each of which is counted: what is asked of a
/// kernel's counters holds for all of them, whatever comes together.
void check_counted(const Kernel& kernel, const Takes& takes, const Counted& counted,
                   const Change& change = {}, TestLine where = TestLine::here());

/// @brief Right for all of drawn_problems() backward, with gradients in layouts of their own.
void check_drawn(const BackwardKernel& kernel, const Change& change = {}, TestLine where = TestLine::here());

using CountedBackward = std::function<void(const grading::Profile&, const BackwardProblem&)>;

/// @brief The same backward.
void check_counted(const BackwardKernel& kernel, const CountedBackward& counted, const Change& change = {},
                   TestLine where = TestLine::here());

}  // namespace course::attention_tests
