// Tests of lesson 10: O and lse of causal_attention against float64, within twice the error of a plain
// float32 attention; and that the keys which no query of a tile sees are not even loaded.

#include "10_causal/causal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attention/causal_mistakes.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr reference::Mask kCausal{.causal = true};

Problem causal_problem(const Sizes& n) { return random_problem(n, kCausal); }

const Kernel kKernel{.attend =
                         [](const Problem& p, Forward& got, const CallOptions& options) {
                           return call_with(options, ENTRY(causal_attention), in(p.Q, "Q"), in(p.K, "K"),
                                            in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale);
                         },
                     .outputs = {Which::lse, Which::O},
                     .own_mistakes = causal_mistakes,
                     .remark = [](const Problem& p, const Forward& got,
                                  const Outcome& outcome) { return axes_exchanged("hbt", p, got, outcome); },
                     .load_limit = keys_read_for(64),
                     .stores_once = true};

// --- Problems ---

/// Four queries and four keys whose scores are the logarithms of 1, 2, 5 and 8, whoever asks.
Problem problem_of_the_notes() {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  return {Tensor<float>::from({1, 1, 4, 1}, {1, 1, 1, 1}),
          Tensor<float>::from({1, 1, 4, 1}, {0, ln(2), ln(5), ln(8)}),
          Tensor<float>::from({1, 1, 4, 1}, {6, 3, 12, 1}), 1.0f, kCausal};
}

Problem last_queries_of(Problem p, Int count) {
  Tensor<float> Q({p.B(), p.H(), count, p.D()});
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < count; ++i)
        for (Int d = 0; d < p.D(); ++d) Q(b, h, i, d) = p.Q(b, h, p.Nq() - count + i, d);
  p.Q = std::move(Q);
  return p;
}

/// The scores of keys that a query does not see are larger by far than those that it sees.
Problem with_large_scores_ahead(Problem p) {
  p.scale = 1.0f;
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h) {
      for (Int i = 0; i < p.Nq(); ++i) p.Q(b, h, i, 0) = 1.0f;
      for (Int j = 0; j < p.Nk(); ++j) p.K(b, h, j, 0) = 20.0f * static_cast<float>(j);
    }
  return p;
}

/// NaN in K alone, from key `first` on.
Problem with_nan_in_k(Problem p, Int first) {
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int j = first; j < p.Nk(); ++j) p.K(b, h, j, 0) = kNan;
  return p;
}

}  // namespace

TEST_CASE("attends from the four queries of the notes to the keys up to their own",
          "[l10][causal][points:1]") {
  check(kKernel, problem_of_the_notes());
}

TEST_CASE("lets a query see its own key and those before it", "[l10][causal][points:2]") {
  for (const Sizes& n : {Sizes{2, 2, 1, 1, 1}, {1, 1, 3, 3, 2}, {1, 1, 31, 31, 5}, {1, 1, 65, 65, 16}})
    check(kKernel, causal_problem(n));
}

TEST_CASE("attends around the edges of tiles, and with several of them", "[l10][causal][points:3]") {
  for (const Int N : {200, 63, 64, 128, 129}) check(kKernel, causal_problem({1, 1, N, N, 8}));
}

TEST_CASE("keeps several batches and heads apart", "[l10][causal][points:1]") {
  check(kKernel, causal_problem({2, 3, 40, 40, 37}));
}

TEST_CASE("attends in 64, 100, 127 and 128 dimensions", "[l10][causal][points:1]") {
  check(kKernel, causal_problem({1, 1, 45, 50, 64}));
  check(kKernel, causal_problem({1, 1, 70, 70, 100}));
  check(kKernel, causal_problem({1, 1, 50, 45, 127}));
  check(kKernel, causal_problem({1, 2, 20, 20, 128}));

  Problem p = causal_problem({1, 2, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 100, 0, 1});  // an axis of one element may have any stride
  check(kKernel, p);
}

TEST_CASE("lets the last query stand beside the last key where there are more keys",
          "[l10][causal][points:3]") {
  // In the first two, the diagonal leaves tiles of 64 keys at their last key and at their first.
  for (const Sizes& n :
       {Sizes{1, 1, 130, 192, 8}, {1, 1, 130, 131, 8}, {1, 2, 40, 90, 12}, {1, 1, 64, 256, 8}})
    check(kKernel, causal_problem(n));
  check(kKernel, last_queries_of(problem_of_the_notes(), 2));
}

TEST_CASE("attends from one query to many keys, as in decoding", "[l10][causal][points:2]") {
  check(kKernel, causal_problem({1, 2, 1, 150, 16}));
  check(kKernel, causal_problem({1, 1, 1, 500, 4}));
  for (const Int D : {64, 128}) check(kKernel, with_growing_scores(causal_problem({2, 2, 1, 1100, D}), 1.0f));
}

TEST_CASE("gives 0 to queries that see no key where there are fewer keys", "[l10][causal][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 20, 7, 12},
                         {1, 1, 90, 60, 8},
                         {1, 1, 200, 60, 8},  // a whole tile of queries sees nothing
                         {1, 1, 256, 128, 8},
                         {1, 1, 130, 129, 8},
                         {1, 1, 130, 1, 4}})
    check(kKernel, causal_problem(n));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l10][causal][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(kKernel, with_layouts(causal_problem({2, 2, 20, 40, 16}), outside, inside, outside, inside));
  check(kKernel, with_layouts(causal_problem({1, 3, 40, 20, 16}), inside, outside, inside, outside));
  check_drawn(kKernel, {.causal = Causal::always});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l10][causal][points:1]") {
  check_shifted(kKernel, causal_problem({1, 2, 20, 40, 16}));
  check_odd_rows(kKernel, {kCausal});
  check(kKernel, with_gaps(causal_problem({2, 2, 35, 41, 18})));
  check(kKernel, with_gaps(causal_problem({1, 2, 41, 35, many_dimensions()}), kNan));
}

TEST_CASE("keeps large scores apart, and those that a query does not see away", "[l10][causal][points:2]") {
  check(kKernel, with_large_scores(causal_problem({1, 2, 40, 40, 32})));
  check(kKernel, with_whole_scores(causal_problem({1, 1, 70, 80, 16})));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f})
    check(kKernel, with_shifted_scores(causal_problem({1, 1, 40, 20, 16}), shift));
  check(kKernel, with_opposite_shifts(causal_problem({1, 1, 40, 20, 16}), 1000.0f));
  check(kKernel, with_large_scores_ahead(causal_problem({1, 1, 70, 70, 8})));
  check(kKernel, with_negative_scale(causal_problem({1, 2, 40, 70, 32})));
}

TEST_CASE("gives zeros where all scores of a row are -inf, and no weight to a score of -inf",
          "[l10][causal][points:1]") {
  check(kKernel, with_empty_rows(causal_problem({1, 2, 12, 30, 8})));
  check(kKernel, with_keys_of_minus_inf(causal_problem({1, 2, 80, 80, 8}), 70));
  // A query that sees all keys: 0 times an infinity is NaN.
  check(kKernel, with_infinite_values(with_keys_of_minus_inf(causal_problem({1, 2, 1, 150, 8}), 130)));
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else", "[l10][causal][points:1]") {
  // All see keys 0 to 34.
  check(kKernel, with_not_numbers(causal_problem({2, 3, 30, 64, 20})));
  check(kKernel, with_not_numbers(causal_problem(larger({2, 3, 30, 64, 65}))));
}

TEST_CASE("keeps what the future holds away from the past", "[l10][causal][points:2]") {
  check(kKernel, with_nan_in_k(causal_problem({1, 1, 40, 40, 8}), 25));
  check(kKernel, with_nan_in_k(causal_problem({1, 1, 129, 129, 8}), 128));
  // No query before the 128th sees these, and no tile of 16, 32, 48 or 64 keys that one of them sees reaches
  // so far: not even V is read.
  for (const Int D : {Int{8}, many_dimensions()})
    check(kKernel, with_nan_keys(causal_problem({1, 1, 150, 214, D}), 192, 214));
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l10][causal][points:1]") {
  check_nothing_to_do(kKernel, kCausal);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l10][causal][points:1]") {
  check_same_bits(kKernel, causal_problem({2, 2, 130, 66, 8}));
  check_same_bits(kKernel, causal_problem(unknown_sizes_of_many_tiles()));
}

TEST_CASE("loads no keys that no query of the tile sees", "[l10][causal][points:4]") {
  Random random(case_seed());
  const Int Nq = random.integer(230, 256), past = random.integer(0, 40);
  const Sizes unknown{random.integer(1, 2), random.integer(1, 2), Nq, Nq + past, 8 * random.integer(1, 16)};
  require_skips_the_future(kKernel, causal_problem({1, 1, 300, 300, 8}), 64);
  require_skips_the_future(kKernel, causal_problem({1, 1, 128, 320, 8}), 64);
  require_skips_the_future(kKernel, causal_problem({1, 1, 256, 128, 8}), 64);
  require_skips_the_future(kKernel, with_growing_scores(causal_problem({1, 1, 128, 320, 8}), 1.0f), 64);
  require_skips_the_future(kKernel, causal_problem(unknown), 64);  // sizes that no kernel knows beforehand
  check_counted(kKernel, {.causal = Causal::always}, [](const Profile& profile, const Problem& p) {
    require_loads_what_is_seen(profile, p, 64, 64);
    require_tiles_of_queries(profile, p);
  });
}

TEST_CASE("launches one kernel, with blocks for every tile, that writes O and lse once, in whole sectors",
          "[l10][causal][points:2]") {
  Random random(case_seed());
  const Int N = 8 * random.integer(28, 32);
  // The second is of sizes that no kernel knows beforehand. Two tiles of 128 queries are nearly full; a row
  // of O with its lse is still mostly whole sectors.
  for (const Sizes& n :
       {Sizes{1, 2, 256, 256, 16}, {1, random.integer(1, 3), N, N, 8 * random.integer(2, 4)}}) {
    const Problem p = causal_problem(n);
    const Outcome outcome = check(kKernel, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(p));
    const simt::LaunchProfile& launch = profile->launches[0];
    const Int blocks = Int{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    require(blocks >= 2 * p.H(), launch.kernel + " has " + std::to_string(blocks) + " blocks for " +
                                     std::to_string(p.H()) + " heads of " + std::to_string(p.Nq()) +
                                     " queries; tiles of 128 queries make " + std::to_string(2 * p.H()) +
                                     ".");
    require(rows_that_a_block_stores(*profile, p) <= 128,
            launch.kernel + " has a block with " + std::to_string(rows_that_a_block_stores(*profile, p)) +
                " queries; a tile has 64 to 128.");
    require_full_use(*profile);
  }
  const Outcome of_heads = check(kKernel, causal_problem(unknown_sizes_of_many_heads()), kCounted);
  if (const Profile* of_blocks = profile_of(of_heads)) require_busy_blocks(*of_blocks, 0.25);
}

TEST_CASE("refuses shapes that do not fit together", "[l10][causal][points:1]") {
  check_refuses_shapes(kKernel, causal_problem({2, 3, 4, 7, 6}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l10][causal][points:1]") {
  check_refuses_rows(kKernel, causal_problem({1, 2, 4, 7, 6}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l10][causal][points:1]") {
  check(kKernel, causal_problem({1, 1, 5, 8, 7}));
  check_reports_refused_launch(kKernel, causal_problem({1, 66'000, 1, 1, 1}));
  check_reports_refused_launch(kKernel, causal_problem({66'000, 1, 1, 1, 1}));
  for (const Int D : {8, 70})
    check_reports_refused_launch(kKernel, causal_problem(larger({2, 2, 130, 20, D})));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::always}, {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(causal_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.lse, "lse"), p.scale);
  });
}
