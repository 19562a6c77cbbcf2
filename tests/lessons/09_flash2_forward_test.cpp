// Tests of lesson 09: O and lse of flash2_forward, and of its first version, against float64, within twice
// the error of a plain float32 attention; and what it reads and writes, and with how many blocks.

#include "09_flash2_forward/flash2_forward.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "09_flash2_forward/mistakes.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;
using namespace course::lesson_09;

namespace {

// --- Calls ---

const Kernel kKernel{.attend =
                         [](const Problem& p, Forward& got, const CallOptions& options) {
                           return call_with(options, ENTRY(flash2_forward), in(p.Q, "Q"), in(p.K, "K"),
                                            in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale);
                         },
                     .outputs = {Which::lse, Which::O},
                     .own_mistakes = own_mistakes,
                     .own_misplacements = own_misplacements,
                     .load_limit = keys_read_for(64)};

/// The first version.
const Kernel kRows{[](const Problem& p, Forward& got, const CallOptions& options) {
                     return call_with(options, ENTRY(flash2_forward_rows), in(p.Q, "Q"), in(p.K, "K"),
                                      in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale);
                   },
                   {Which::lse, Which::O},
                   mistakes_of_rows,
                   false,
                   128,
                   own_misplacements};

void check(const Problem& p) { attention_tests::check(kKernel, p); }

/// The same without check mode, which takes several times as long: for what other calls have had checked.
void check_results(const Problem& p) {
  CallOptions options;
  options.check = CheckMode::never;
  attention_tests::check(kKernel, p, options);
}
void check_results(const Sizes& n) { check_results(random_problem(n)); }

/// The notes' two queries and four keys, each key `times` times over. Scores of query 0: ln 1, ln 2, ln 5,
/// ln 8.
Problem problem_of_the_notes(Int times = 1) {
  const float ln2 = std::log(2.0f), ln3 = std::log(3.0f), ln5 = std::log(5.0f), ln8 = std::log(8.0f);
  const float keys[4][2] = {{0, 0}, {ln2, ln3}, {ln5, 0}, {ln8, 0}};
  const float values[4][2] = {{8, 0}, {16, 5}, {0, 10}, {1, 2.5f}};
  Problem p{Tensor<float>({1, 1, 2, 2}), Tensor<float>({1, 1, 4 * times, 2}),
            Tensor<float>({1, 1, 4 * times, 2}), 0.5f};
  p.Q(0, 0, 0, 0) = p.Q(0, 0, 1, 1) = 2.0f;
  for (Int j = 0; j < 4 * times; ++j)
    for (Int d = 0; d < 2; ++d) {
      p.K(0, 0, j, d) = keys[j / times][d];
      p.V(0, 0, j, d) = values[j / times][d];
    }
  return p;
}

/// From key to key, all scores rise by `step`, or fall if it is negative.
Problem with_slope(Problem p, float step) {
  p.scale = 0.25f;
  for (Int h = 0; h < p.H(); ++h) {
    for (Int i = 0; i < p.Nq(); ++i) p.Q(0, h, i, 0) = 4.0f;
    for (Int j = 0; j < p.Nk(); ++j) p.K(0, h, j, 0) = step * static_cast<float>(j);
  }
  return p;
}

/// Rows of -inf alone: some because of their query, and all of head 1 because of their keys.
Problem with_empty_rows_of_both(Problem p) {
  p = with_empty_rows(std::move(p));
  for (Int i = 0; i < p.Nq(); ++i) p.Q(0, 1, i, 0) = 1.0f;
  for (Int j = 0; j < p.Nk(); ++j) p.K(0, 1, j, 0) = -kInf;
  return p;
}

/// About 2000 added to the scores of four queries, 1000 to those of the next four, and so on: the threads
/// that share a warp in the solution have rows of both.
Problem with_two_heights(Problem p) {
  p = with_shifted_scores(std::move(p), 1000.0f);
  for (Int h = 0; h < p.H(); ++h)
    for (Int i = 0; i < p.Nq(); ++i)
      if (i % 8 < 4) p.Q(0, h, i, 0) *= 2.0f;
  return p;
}

std::uint64_t heads_of(const Problem& p) { return static_cast<std::uint64_t>(p.B() * p.H()); }

/// One launch stores O and lse once, and nothing of size Nq·Nk, whatever the sizes.
Outcome check_stores_in_unknown_sizes(const Kernel& kernel) {
  const Problem p = random_problem(unknown_sizes());
  INFO(describe(p));
  Outcome outcome = attention_tests::check(kernel, p, kCounted);
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == 1, "Your code launched " + std::to_string(launches) + " kernels; one does it all.");
  if (const Profile* profile = profile_of(outcome)) require_stores_outputs_once(kernel, *profile, p);
  return outcome;
}

/// One launch, with blocks enough that each has at most 128 queries of one head.
void require_grid(const Outcome& outcome, const Problem& p) {
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == 1, "Your code launched " + std::to_string(launches) + " kernels; one does it all.");
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  const simt::LaunchProfile& launch = profile->launches.at(0);
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const std::uint64_t wanted = heads_of(p) * static_cast<std::uint64_t>((p.Nq() + 127) / 128);
  require(blocks >= wanted, "Your code launched " + std::to_string(blocks) +
                                " blocks; with at most 128 queries of one head in each, there are " +
                                std::to_string(wanted) + " or more.");
  const Int stored = rows_that_a_block_stores(*profile, p);
  require(stored <= 128, "Your code has a block that stores " + std::to_string(stored) +
                             " rows of O; a block has at most 128 queries of one head.");
}

}  // namespace

TEST_CASE("rows: attends from the two queries of the notes to their four keys",
          "[l09][flash2_forward_rows][points:1]") {
  attention_tests::check(kRows, problem_of_the_notes());
}

TEST_CASE("rows: attends in several batches and heads, with 1 to 128 dimensions",
          "[l09][flash2_forward_rows][points:1]") {
  for (const Sizes& n : {Sizes{1, 1, 1, 1, 1}, {2, 3, 33, 40, 37}, {1, 2, 130, 9, 4}, {1, 1, 5, 70, 128}})
    attention_tests::check(kRows, random_problem(n));
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  attention_tests::check(kRows,
                         with_layouts(random_problem({2, 3, 20, 40, 16}), inside, outside, inside, outside));
  attention_tests::check(kRows,
                         with_layouts(random_problem({2, 3, 20, 40, 16}), outside, inside, outside, inside));
  Problem p = with_layouts(random_problem({2, 3, 20, 40, 16}), inside, inside, inside, inside);
  p.layout_of_lse = inside;
  attention_tests::check(kRows, p);
  check_drawn(kRows, {});
  check_nothing_to_do(kRows);
}

TEST_CASE("rows: uses neither shared memory nor barriers", "[l09][flash2_forward_rows][points:1]") {
  const Outcome outcome = check_stores_in_unknown_sizes(kRows);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  require(profile->shared_load.requests + profile->shared_store.requests == 0,
          "There are loads or stores of shared memory; a thread needs nothing of another one's.");
  require(profile->barriers == 0, "There are barriers; no thread waits for another one.");
}

TEST_CASE("rows: follows the maximum, keeps large scores apart, and gives zeros without any weight",
          "[l09][flash2_forward_rows][points:2]") {
  for (const float step : {1.0f, -1.0f}) {
    INFO("from key to key, " << step << " is added to every score");
    attention_tests::check(kRows, with_slope(random_problem({1, 1, 24, 100, 8}), step));
  }
  attention_tests::check(kRows, with_opposite_shifts(random_problem({1, 2, 20, 60, 16}), 1000.0f));
  for (const float shift : {16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    attention_tests::check(kRows, with_shifted_scores(random_problem({1, 2, 20, 60, 16}), shift));
  }
  attention_tests::check(kRows, with_negative_scale(random_problem({1, 2, 20, 60, 32})));
  attention_tests::check(kRows, with_empty_rows(random_problem({1, 2, 12, 50, 8})));
  const Problem minus_inf = with_keys_of_minus_inf(random_problem({2, 2, 12, 50, 8}), 30);
  for (const Problem& q : {minus_inf, with_infinite_values(minus_inf)}) attention_tests::check(kRows, q);
  attention_tests::check(kRows, with_not_numbers(random_problem(larger({2, 3, 31, 40, 20}))));
}

TEST_CASE("rows: refuses what does not fit, and reports a launch that CUDA refuses",
          "[l09][flash2_forward_rows][points:1]") {
  check_refuses_shapes(kRows, random_problem({2, 3, 4, 5, 6}));
  check_refuses_rows(kRows, random_problem({1, 2, 4, 5, 6}));
  check_reports_refused_launch(kRows, random_problem(larger({2, 2, 130, 20, 8})), CheckMode::never);
}

TEST_CASE("attends from the two queries of the notes to their four keys", "[l09][flash2_forward][points:1]") {
  check(problem_of_the_notes());
}

TEST_CASE("attends when each key of the notes comes 32 times, so that they fill tiles",
          "[l09][flash2_forward][points:1]") {
  check(problem_of_the_notes(32));
}

TEST_CASE("attends from 1 to 300 queries to as many keys", "[l09][flash2_forward][points:2]") {
  for (Int N = 1; N <= 300; N += 23) check_results({1, 1, N, N, 6});
}

TEST_CASE("attends with fewer keys than queries, and with more", "[l09][flash2_forward][points:1]") {
  for (Int N = 2; N <= 300; N += 27) check_results({1, 1, 301 - N, N, 4});
}

TEST_CASE("attends with one query, one key, one dimension, and a few", "[l09][flash2_forward][points:1]") {
  for (const Sizes& n : {Sizes{2, 2, 1, 1, 1}, {1, 1, 5, 1, 3}, {1, 2, 1, 7, 2}, {1, 1, 3, 2, 1}})
    check(random_problem(n));
  Problem p = random_problem({1, 2, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 100, 0, 1});  // an axis of one element may have any stride
  check(p);
}

TEST_CASE("attends around the edges of tiles", "[l09][flash2_forward][points:2]") {
  check(random_problem({1, 1, 127, 65, 5}));
  for (const Sizes& n : {Sizes{1, 1, 64, 64, 33},
                         {1, 1, 63, 65, 63},
                         {1, 1, 65, 63, 65},
                         {1, 1, 128, 128, 16},
                         {1, 1, 129, 127, 5},
                         {1, 1, 31, 33, 7}})
    check_results(n);
  for (const float scale : {0.0f, -0.25f}) {  // what is set to -inf before S is scaled becomes NaN or inf
    Problem p = random_problem({1, 2, 20, 100, 16});
    p.scale = scale;
    check_results(p);
  }
}

TEST_CASE("attends in 16, 32, 64, 100, 127 and 128 dimensions", "[l09][flash2_forward][points:1]") {
  check(random_problem({1, 1, 20, 75, 128}));
  for (const Int D : {16, 32, 64, 100, 127}) check_results({1, 1, 70, 75, D});
}

TEST_CASE("keeps several batches and heads apart", "[l09][flash2_forward][points:2]") {
  check(random_problem({2, 3, 33, 40, 37}));
  check(random_problem({3, 2, 40, 20, 16}));
  check_results({1, 5, 140, 90, 8});
}

TEST_CASE("attends with as many keys as dimensions, and as many queries", "[l09][flash2_forward][points:1]") {
  // A matrix that should have been transposed has the right shape here.
  check_results({1, 2, 48, 48, 48});
  check_results({1, 2, 40, 64, 64});
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l09][flash2_forward][points:2]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(with_layouts(random_problem({2, 3, 20, 40, 16}), outside, inside, outside, outside));
  check_results(with_layouts(random_problem({2, 3, 40, 20, 16}), inside, outside, inside, outside));
  Problem p = with_layouts(random_problem({2, 3, 37, 70, 24}), inside, inside, inside, inside);
  check_results(p);
  p.layout_of_lse = inside;
  check_results(p);
  check_drawn(kKernel, {});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l09][flash2_forward][points:1]") {
  check_shifted(kKernel, random_problem({1, 2, 20, 40, 16}));
  check_odd_rows(kKernel);
  check(with_gaps(random_problem({2, 2, 35, 41, 18})));
  check(with_gaps(random_problem({1, 2, 35, 41, many_dimensions()}), kNan));
}

TEST_CASE("keeps large scores apart", "[l09][flash2_forward][points:2]") {
  {  // first what tells a maximum that begins with 0 from none, and from one of two rows
    INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
    check(with_opposite_shifts(random_problem({1, 2, 20, 100, 16}), 1000.0f));
  }
  {
    INFO("about 2000 or 1000 added to every score, by turns of four queries");
    check_results(with_two_heights(random_problem({1, 2, 20, 100, 16})));
  }
  check_results(with_large_scores(random_problem({1, 2, 40, 150, 32})));
  check_results(with_whole_scores(random_problem({1, 2, 40, 150, 16})));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    check_results(with_shifted_scores(random_problem({1, 2, 20, 100, 16}), shift));
  }
  check_results(with_negative_scale(random_problem({1, 2, 40, 150, 32})));
}

TEST_CASE("follows a maximum that rises from tile to tile, and one that stays in the first",
          "[l09][flash2_forward][points:2]") {
  for (const float step : {0.05f, -0.05f, 1.0f, -1.0f}) {
    INFO("from key to key, " << step << " is added to every score");
    check(with_slope(random_problem({1, 1, 24, 300, 8}), step));
  }
}

TEST_CASE("gives zeros and an lse of -inf where all scores of a row are -inf",
          "[l09][flash2_forward][points:2]") {
  check(with_empty_rows_of_both(random_problem({1, 3, 12, 150, 8})));
}

TEST_CASE("gives no weight to scores of -inf, whole tiles of them among others",
          "[l09][flash2_forward][points:2]") {
  const Problem p = with_keys_of_minus_inf(random_problem({2, 2, 12, 150, 8}), 130);
  check_results(p);
  check_results(with_infinite_values(p));  // 0 times an infinity is NaN
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else", "[l09][flash2_forward][points:1]") {
  for (const Int D : {20, 65}) check_results(with_not_numbers(random_problem(larger({2, 3, 31, 90, D}))));
}

TEST_CASE("gives 0 and -inf without keys, and launches nothing without queries",
          "[l09][flash2_forward][points:1]") {
  check_nothing_to_do(kKernel);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l09][flash2_forward][points:1]") {
  check_same_bits(kKernel, random_problem({1, 1, 140, 70, 20}));
  check_same_bits(kKernel, random_problem(unknown_sizes_of_many_tiles()));
}

TEST_CASE("launches one kernel, with a block for each tile of queries of each head",
          "[l09][flash2_forward][points:1]") {
  Random random(case_seed());  // for batches, heads and tiles that no kernel knows beforehand
  const Problem p = random_problem(
      {random.integer(1, 2), random.integer(2, 3), random.integer(130, 300), 9, random.integer(1, 20)});
  require_grid(attention_tests::check(kKernel, p, kCounted), p);
}

TEST_CASE("reads K and V once for every 64 queries, and stores only O and lse, once",
          "[l09][flash2_forward][points:3]") {
  // Every row begins at a multiple of 32 bytes.
  const Sizes one_tile{1, 2, 64, 136, 16};
  for (const Problem& p : {random_problem(one_tile), random_problem({1, 1, 192, 136, 32}),
                           with_growing_scores(random_problem(one_tile), 1.0f)}) {
    INFO(describe(p));
    const Outcome outcome = attention_tests::check(kKernel, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    const auto tiles = static_cast<std::uint64_t>((p.Nq() + 63) / 64);
    require_loads_at_most(*profile, bytes_of(p.Q) + tiles * (bytes_of(p.K) + bytes_of(p.V)),
                          "to read Q once, and K and V once for every 64 queries,");
    require_busy_lanes(*profile);
    require_busy_warps(*profile);
    require_stores_outputs_once(kKernel, *profile, p);
    require(profile->global_atomic.requests == 0,
            "There are atomic operations on global memory; every element of O and lse has one owner.");
  }
  check_stores_in_unknown_sizes(kKernel);
  check_counted(kKernel, {}, [](const Profile& profile, const Problem& p) {
    require_loads_what_is_seen(profile, p, 64, 64);
    require_stores_outputs_once(kKernel, profile, p);
    require_tiles_of_queries(profile, p);
  });
}

TEST_CASE("reads and writes whole sectors", "[l09][flash2_forward][points:1]") {
  for (const Sizes& n : {Sizes{1, 1, 64, 72, 64}, unknown_sizes_of_whole_sectors()}) {
    const Outcome outcome = attention_tests::check(kKernel, random_problem(n), kCounted);
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  }
}

TEST_CASE("refuses shapes that do not fit together", "[l09][flash2_forward][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 3, 4, 5, 6}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l09][flash2_forward][points:1]") {
  check_refuses_rows(kKernel, random_problem({1, 2, 4, 5, 6}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l09][flash2_forward][points:1]") {
  check_results({1, 1, 3, 2, 1});
  // More heads than a grid has blocks along y or z; and, in the simulator, a grid of one block along x.
  check_reports_refused_launch(kKernel, random_problem({1, 66'000, 1, 1, 1}), CheckMode::never);
  check_reports_refused_launch(kKernel, random_problem({1, 66'000, 1, 0, 1}), CheckMode::never);
  for (const Int D : {8, 70})
    check_reports_refused_launch(kKernel, random_problem(larger({2, 2, 130, 20, D})), CheckMode::never);
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {}, {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(flash2_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.lse, "lse"), p.scale);
  });
}
