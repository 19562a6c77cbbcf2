// Tests of lesson 05: row_stats and online_softmax against float64, within twice the error of a plain float32
// computation in 32 parts.

#include "05_online_softmax/online_softmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "05_online_softmax/mistakes.hpp"
#include "05_online_softmax/problem.hpp"
#include "05_online_softmax/rounding.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/row_stats.hpp"
#include "reference/softmax.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::lesson_05;

namespace {

/// A row of one column may be exact in float32 by chance, so the floor allows two roundings of the largest
/// result besides twice the error of the baseline.
const Bound kBound{2, 2.5e-7};
// --- Calls and checks ---

Outcome get_stats(const Problem& p, Tensor<float>& max, Tensor<float>& sum, const CallOptions& options = {}) {
  return call_with(options, ENTRY(row_stats), in(p.x, "x"), p.x_row_stride(), out(max, "max"),
                   out(sum, "sum"), p.rows(), p.cols());
}

void require_stats(const Tensor<float>& max, const Tensor<float>& sum, const Problem& p) {
  reference::RowStats expected = reference::row_stats(p.x);
  for (std::int64_t row = 0; row < p.rows(); ++row)  // beside a sum of NaN, any maximum will do
    if (std::isnan(expected.sum(row))) expected.max(row) = static_cast<double>(max(row));
  // The sum first: it tells most mistakes apart. It may be large, and then its roundings are.
  const Bound bound{kBound.factor, kBound.floor * std::max(1.0, largest_magnitude(expected.sum))};
  require_matches(sum, {"sum", {"row"}}, expected.sum, sums_in_float32(p, expected.sum), mistakes_in_sum(p),
                  bound);
  require_matches(max, {"max", {"row"}}, expected.max, expected.max.to<float>(), mistakes_in_max(p));
}

Outcome check_stats(const Problem& p, const CallOptions& options = {}) {
  INFO("row_stats, rows = " << p.rows() << ", cols = " << p.cols()
                            << ", x_row_stride = " << p.x_row_stride());
  Tensor<float> max({p.rows()}), sum({p.rows()});
  const Outcome outcome = get_stats(p, max, sum, options);
  require_ran(outcome);
  require_stats(max, sum, p);
  return outcome;
}

Outcome get_softmax(const Problem& p, Tensor<float>& y, const CallOptions& options = {}) {
  return call_with(options, ENTRY(online_softmax), in(p.x, "x"), p.x_row_stride(), out(y, "y"),
                   y.strides()[0], p.rows(), p.cols());
}

void require_softmax(const Tensor<float>& y, const Problem& p) {
  const Tensor<double> expected = reference::softmax(p.x);
  require_matches(y, "y", expected, softmax_in_float32(p, expected), mistakes_in_softmax(p, y.strides()[0]),
                  kBound);
}

/// y_gap: how much further apart the rows of y lie than they are long.
Outcome check_softmax(const Problem& p, std::int64_t y_gap = 0, const CallOptions& options = {}) {
  INFO("rows = " << p.rows() << ", cols = " << p.cols() << ", x_row_stride = " << p.x_row_stride()
                 << ", y_row_stride = " << p.cols() + y_gap);
  Tensor<float> y(p.x.shape(), {p.cols() + y_gap, 1}, 0.0f);
  const Outcome outcome = get_softmax(p, y, options);
  require_ran(outcome);
  require_softmax(y, p);
  return outcome;
}

void require_launch(const Outcome& outcome, std::int64_t rows) {
  const std::int64_t launches = outcome.counters.at("launches"), blocks = outcome.counters.at("blocks");
  require(launches == 1,
          "Your code launched " + std::to_string(launches) + " kernels; it should launch one.");
  require(blocks >= (rows - 1) / kWarp + 1, "The launch had only " + std::to_string(blocks) + " blocks for " +
                                                std::to_string(rows) +
                                                " rows. With more of them, more of a GPU works at once.");
}

void require_whole_sectors(const simt::GlobalTraffic& traffic, const std::string& what) {
  require(traffic.sectors * 10 <= traffic.ideal_sectors * 11,
          "The warps' " + what + " touch " + std::to_string(traffic.sectors) + " sectors of 32 bytes where " +
              std::to_string(traffic.ideal_sectors) +
              " would do, although every row begins with a whole sector. Let neighbouring threads take "
              "neighbouring columns.");
  require_full_sectors(traffic, what == "loads" ? "load" : "store");
}

/// What the threads may read and must write, of any size, and that all warps of a block have a share of long
/// rows.
void require_passes(const Profile& profile, const Problem& p, std::uint64_t passes, std::uint64_t stored) {
  const auto pass_bytes = static_cast<std::uint64_t>(4 * p.rows() * p.cols());
  const simt::GlobalTraffic &load = profile.global_load, &store = profile.global_store;
  require(load.bytes_asked <= passes * pass_bytes,
          "The threads read " + std::to_string(load.bytes_asked) + " bytes in all. Reading x once takes " +
              std::to_string(pass_bytes) + ", and " +
              (passes == 1 ? "the statistics take one pass."
                           : "two passes are enough: one for the statistics, "
                             "one for the output."));
  require(store.bytes_asked == stored, "The threads wrote " + std::to_string(store.bytes_asked) +
                                           " bytes to global memory. Writing each result once takes " +
                                           std::to_string(stored) + ".");
  // One warp may merge what all have. Of a short row, that is most of all that is done.
  if (p.cols() >= 5000) require_busy_warps_of_rows(profile, p.rows(), 3);
}

/// The traffic that the contract promises, where x is read `passes` times. Rows must begin at multiples of 32
/// bytes.
void require_traffic(const Profile& profile, const Problem& p, std::uint64_t passes, std::uint64_t stored) {
  require_passes(profile, p, passes, stored);
  const simt::GlobalTraffic& load = profile.global_load;
  require_whole_sectors(load, "loads");
  const std::uint64_t floats = load.bytes_asked / 4;
  require(load.requests * 16 <= floats,
          "The warps load " + std::to_string(floats) + " numbers with " + std::to_string(load.requests) +
              " instructions, though each could bring 32 of them: most lanes have nothing to do.");
  require_busy_lanes(profile);
}

void require_barriers(const Outcome& outcome, const Profile& profile, std::int64_t rows) {
  const std::int64_t warps_a_block = outcome.counters.at("threads") / outcome.counters.at("blocks") / kWarp;
  const auto row_warps = static_cast<std::uint64_t>(rows * std::max<std::int64_t>(1, warps_a_block));
  require(meetings(profile) <= 2 * row_warps,
          meetings_told(profile, row_warps) + " for a row; 2 are enough. Inside a warp, shuffles need none.");
}

/// Rows that end, begin or rest with -inf, as the predicates above name them.
Problem minus_inf_problem(std::int64_t cols) {
  Problem p = random_problem(4, cols, cols);
  p.tells_guards = true;
  for (Col col = 0; col < p.cols(); ++col) {
    p.x(1, col) = -kInf;
    if (col < 1024) p.x(2, col) = -kInf;
    if (col > 0) p.x(3, col) = -kInf;
  }
  return p;
}

/// An increasing row, a decreasing one, and rows whose maximum comes late: in the last column, and first in
/// the last batch.
Problem problem_of_orders(std::int64_t cols) {
  Problem p{uniform({5, cols}, -1.0f, 0.0f, case_seed())};
  for (Col col = 0; col < cols; ++col) {
    const float step = 20.0f * static_cast<float>(col) / static_cast<float>(cols);
    p.x(0, col) = step;
    p.x(1, col) = -step;
    p.x(4, col) += 0.01f * step;
  }
  p.x(2, cols - 1) = 9.0f;
  p.x(3, cols - cols / 5) = 9.0f;
  return p;
}

/// The same with up to five rows of large numbers, of five kinds: see counted_problems().
Problem made_wild(Problem p, Col first_kind = 0) {
  for (Col row = 0; row < std::min(p.rows(), Col{5}); ++row) {
    const Col kind = (first_kind + row) % 5;
    for (Col col = 0; col < p.cols(); ++col) {
      const float step = 200.0f * static_cast<float>(col) / static_cast<float>(p.cols());
      float& x = p.x(row, col);
      if (kind == 4 && 2 * col < p.cols()) x = -kInf;
      if (kind < 4) x += std::array{step, -step, 10'000.0f, -10'000.0f}[static_cast<std::size_t>(kind)];
    }
  }
  return p;
}

/// Rows to count accesses of, five short and five long ones, and as many and as long as no kernel knows,
/// all whole sectors that end in a tail: with tame numbers, and with rows that rise and fall by 200, that lie
/// at 10,000 and -10,000, and that begin with -inf. Whoever goes through some rows once more goes through one
/// of these.
std::vector<Problem> counted_problems() {
  std::vector<Problem> problems;
  Random random(case_seed());
  const Col many = random.integer(5, 12);
  for (const auto& [rows, cols] :
       {std::pair<Col, Col>{5, 1000}, {5, 5000}, {many, 8 * random.integer(130, 3960 / many)}}) {
    const Problem tame = random_problem(rows, cols, cols + 8);
    problems.insert(problems.end(), {tame, made_wild(tame)});
  }
  return problems;
}

/// The same of sizes that no kernel knows, and with gaps such as the problems of other cases have: who tells
/// counted problems apart, by whole sectors, is found out.
std::vector<Problem> counted_problems_of_any_size() {
  Random random(case_seed() + 1);
  std::vector<Problem> problems;
  for (const Col gap : {0, 3}) {
    const Col rows = gap == 0 ? random.integer(5, 12) : random.integer(13, random.integer(60, 300)),
              cols = random.integer(34, 31'200 / rows);
    const Problem tame = random_problem(rows, cols, cols + gap);
    problems.insert(problems.end(), {tame, made_wild(tame)});
  }
  // As long as calls can be that are counted.
  const Col rows = random.integer(1, 3), cols = random.integer(7000, 32'000 / rows);
  const Problem tame = random_problem(rows, cols, cols);
  problems.insert(problems.end(), {tame, made_wild(tame, random.integer(0, 4))});
  return problems;
}

/// A grid limit of one block, where so many rows need more. A GPU has no such switch and accepts the launch;
/// then the results must be right.
void check_refused_launches(const Problem& p, CheckMode check_mode = CheckMode::if_small) {
  const CallOptions unlimited{.check = check_mode};
  CallOptions options = unlimited;
  options.max_grid_x = 1;
  // Nothing runs then, so that rows need no memory. At 8 threads a row or more, 2^29 + 1 rows have so many
  // threads that 32 bits keep only those of one row.
  const std::array many{(Col{1} << 29) + 1, kMaxRows};
  // Along y and z there is room for fewer blocks than along x.
  Random random(case_seed());
  const auto of_many_blocks = [&](const Outcome& outcome) {
    const Col blocks = outcome.counters.at("blocks");
    return random_problem(blocks > 1 ? drawn::rows_of_65536_blocks(p.rows(), blocks, random) : 1, 1, 1);
  };
  Tensor<float> y(p.x.shape()), max({p.rows()}), sum({p.rows()});
  const Outcome softmax = get_softmax(p, y, unlimited);
  require_ran(softmax);
  require_softmax(y, p);
  if (require_refused_launch(get_softmax(p, y, options), softmax)) {
    for (const Col rows : many) {
      INFO("With rows = " << rows << ", too, it is CUDA that refuses");
      require_throws<std::runtime_error>(call_with(options, ENTRY(online_softmax), in(p.x, "x"),
                                                   p.x_row_stride(), out(y, "y"), y.strides()[0], rows,
                                                   p.cols()));
    }
  } else {
    require_softmax(y, p);
    check_softmax(of_many_blocks(softmax), 0, {.check = CheckMode::never});
  }
  const Outcome stats = get_stats(p, max, sum, unlimited);
  require_ran(stats);
  require_stats(max, sum, p);
  if (require_refused_launch(get_stats(p, max, sum, options), stats)) {
    for (const Col rows : many) {
      INFO("With rows = " << rows << ", too, it is CUDA that refuses");
      require_throws<std::runtime_error>(call_with(options, ENTRY(row_stats), in(p.x, "x"), p.x_row_stride(),
                                                   out(max, "max"), out(sum, "sum"), rows, p.cols()));
    }
  } else {
    require_stats(max, sum, p);
    check_stats(of_many_blocks(stats), {.check = CheckMode::never});
  }
}

}  // namespace

TEST_CASE("stats: merges the columns of two threads", "[l05][row_stats][points:2]") {
  // Of neighbouring lanes, of lanes 16 apart, and of the first and the last warp of a block.
  for (const std::int64_t their_col : {1, 16, 5119}) check_stats(problem_of_two_threads(their_col));
}

TEST_CASE("stats: folds the columns of the notes in one thread", "[l05][row_stats][points:2]") {
  check_stats(problem_of_one_thread({{3, 2, 5, 1}, {1, 2, 3, 4}, {4, 3, 2, 1}, {-3, -3, -3, -1}}));
  Random random(case_seed());  // others, which no kernel has by heart
  std::vector<std::vector<float>> rows(4, std::vector<float>(4));
  for (std::vector<float>& row : rows)
    for (float& x : row) x = static_cast<float>(random.integer(-5, 5));
  check_stats(problem_of_one_thread(rows));
}

TEST_CASE("stats: of rows of 1000, 5000, 257 and fewer columns, and of none", "[l05][row_stats][points:2]") {
  // 1000 first: there most mistakes leave a pattern of their own.
  for (const std::int64_t cols : {1000, 5000, 1024, 257, 33, 32, 31, 2, 1, 0}) {
    check_stats(random_problem(9, cols, cols));
    check_stats(random_problem(9, cols, cols + 3));
  }
}

TEST_CASE("stats: of rows below zero, and of the largest numbers", "[l05][row_stats][points:1]") {
  check_stats({uniform({6, 300}, -9.0f, -5.0f, case_seed())});
  check_stats({adversarial(Pattern::large, {6, 300}, case_seed())});
}

TEST_CASE("stats: give -inf and 0 for nothing above -inf, and NaN where the sum has NaN",
          "[l05][row_stats][points:1]") {
  for (const std::int64_t cols : {2100, 5200}) check_stats(minus_inf_problem(cols));
  Problem p = random_problem(4, 300, 300);
  p.x(1, 7) = kNan, p.x(2, 290) = kInf;
  check_stats(p);
  check_stats({Tensor<float>::from({4, 1}, {1.0f, kInf, kNan, -kInf})});
  check_stats({Tensor<float>::from({3, 2}, {1.0f, 2.0f, kInf, -kInf, kNan, -kInf})});
}

TEST_CASE("stats: read x once, in whole sectors", "[l05][row_stats][points:2]") {
  for (const Problem& p : counted_problems()) {
    const Outcome outcome = check_stats(p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_traffic(*profile, p, 1, static_cast<std::uint64_t>(8 * p.rows()));
    require_barriers(outcome, *profile, p.rows());
  }
  for (const Problem& p : counted_problems_of_any_size()) {
    const Outcome outcome = check_stats(p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_passes(*profile, p, 1, static_cast<std::uint64_t>(8 * p.rows()));
    require_barriers(outcome, *profile, p.rows());
  }
}

TEST_CASE("turns the row of the notes into its softmax", "[l05][online_softmax][points:1]") {
  check_softmax({Tensor<float>::from({2, 4}, {3, 2, 5, 1, 0, 0, 0, 0})});
}

TEST_CASE("takes rows of 1000, 5000, 4097, 4096, 1025 and 257 columns", "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {1000, 5000, 4097, 4096, 1025, 257}) {
    check_softmax(random_problem(9, cols, cols));
    check_softmax(random_problem(9, cols, cols + 3), 5);
    check_softmax(random_problem(9, cols, cols + 5), 3);
  }
}

TEST_CASE("takes rows of 1 to 33 columns", "[l05][online_softmax][points:1]") {
  for (const std::int64_t cols : {33, 32, 31, 16, 3, 2, 1}) check_softmax(random_problem(9, cols, cols));
}

TEST_CASE("takes logits of 10,000 and of -10,000", "[l05][online_softmax][points:2]") {
  check_softmax({adversarial(Pattern::large, {12, 700}, case_seed())});
  check_softmax({uniform({12, 70}, 9'990.0f, 10'000.0f, case_seed())});
  check_softmax({uniform({12, 70}, -10'000.0f, -9'990.0f, case_seed())});
}

TEST_CASE("takes rows that increase, decrease, or have their maximum late",
          "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {1000, 6000}) check_softmax(problem_of_orders(cols));
}

TEST_CASE("takes -inf for a column that adds nothing, and makes zeros of a row of -inf",
          "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {2100, 5200}) check_softmax(minus_inf_problem(cols));
  for (const Pattern pattern : {Pattern::minus_inf_rows, Pattern::minus_inf_holes}) {
    INFO("data: " << pattern_name(pattern));
    check_softmax({adversarial(pattern, {12, 700}, case_seed())});
    check_softmax({adversarial(pattern, {12, 5}, case_seed())});
  }
}

TEST_CASE("fills a row with NaN if it holds NaN or +inf, and no other row",
          "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {300, 5000}) {
    Problem p = random_problem(8, cols, cols);
    p.x(1, 0) = kNan;
    p.x(3, cols - 1) = kNan;
    p.x(4, 40) = kInf;
    p.x(5, 5) = kInf, p.x(5, cols - 5) = kInf;
    p.x(6, 5) = kInf, p.x(6, 6) = -kInf;
    check_softmax(p);
  }
  check_softmax({Tensor<float>::from({4, 1}, {1.0f, kInf, kNan, -kInf})});
  check_softmax({Tensor<float>::from({3, 2}, {1.0f, 2.0f, kInf, -kInf, kNan, -kInf})});
  Random random(case_seed());  // for sizes, gaps and rows that no kernel knows beforehand
  for (int i = 0; i < 3; ++i) {
    const Col rows = random.integer(7, 12), cols = i == 0   ? drawn::length(random, 700)
                                                   : i == 1 ? random.integer(701, 2500)
                                                            : random.integer(2501, 6000);
    const Problem p{
        with_row_stride(drawn::rows(rows, cols, random), drawn::row_stride(cols, random, i == 1))};
    check_softmax(p, random.integer(0, 5),
                  with_shifted_arrays(2)[static_cast<std::size_t>(random.integer(0, 4))]);
    check_stats(p, with_shifted_arrays(3)[static_cast<std::size_t>(i)]);
  }
  // Whole tiles, which may have a fast path, in rows of both kinds that have a launch of their own.
  for (const Col least : {1, 3})
    for (const std::vector<Col>& gaps : drawn::gaps_around_fours(2, random)) {
      const Col cols = 2048 * random.integer(least, least + 1), rows = 30'000 / cols;
      const Problem p{with_row_stride(drawn::rows(rows, cols, random), cols + gaps[0])};
      check_softmax(p, gaps[1]);
      check_stats(p);
    }
}

TEST_CASE("takes 100,000 columns without losing digits", "[l05][online_softmax][points:2]") {
  check_softmax({uniform({3, 100'000}, -4.0f, 4.0f, case_seed())});
  Random random(case_seed());
  for (const float sign : {1.0f, -1.0f}) {  // of rows far above 0, and far below
    const float low = sign * static_cast<float>(random.integer(50, 1000));
    const Problem of_unknown_length{
        uniform({2, random.integer(20'000, 80'000)}, low, low + 8.0f, case_seed() + 1)};
    check_softmax(of_unknown_length);
    check_stats(of_unknown_length);
  }
}

TEST_CASE("takes 3000 short rows, one, no rows, and rows of no columns", "[l05][online_softmax][points:1]") {
  const Problem p = random_problem(3000, 7, 7);
  for (const Outcome& outcome : {check_softmax(p), check_stats(p)}) {
    require_launch(outcome, p.rows());
    if (const Profile* profile = profile_of(outcome)) require_busy_blocks(*profile, kWarp / 3000.0);
  }
  check_softmax(random_problem(1, 7, 7));
  check_stats(random_problem(1, 7, 7));
  Random random(case_seed());  // for more numbers, and gaps, that no kernel knows beforehand
  const Col width = drawn::few_columns(random);
  for (const Col gap : {Col{0}, drawn::few_between(random)}) {
    const Problem wider{
        with_row_stride(drawn::rows(random.integer(1100, 3000), width, random), width + gap, kNan)};
    check_softmax(wider, gap == 0 ? 0 : drawn::few_between(random), {.check = CheckMode::never});
    check_stats(wider, {.check = CheckMode::never});
  }
  const auto require_no_launch = [](const Outcome& outcome, const std::string& entry, const Problem& empty) {
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute: " + entry + " should launch no kernel for " +
                std::to_string(empty.rows()) + " rows of " + std::to_string(empty.cols()) + " columns.");
  };
  // Among them no rows of more columns than there may be rows.
  for (const auto& [rows, cols] : {std::pair<Col, Col>{0, 7}, {0, kMaxRows + 1}, {5, 0}}) {
    const Problem empty = random_problem(rows, cols, cols);
    require_no_launch(check_softmax(empty), "online_softmax", empty);
    if (rows == 0) require_no_launch(check_stats(empty), "row_stats", empty);
  }
  // Nor are rows written that hold nothing but what lies between them.
  const Problem apart = random_problem(5, 0, 4);
  require_no_launch(check_softmax(apart, 3), "online_softmax", apart);
}

TEST_CASE("leaves alone what lies between the rows", "[l05][online_softmax][points:1]") {
  const Problem p{with_row_stride(uniform({6, 300}, -4.0f, 4.0f, case_seed()), 331, kNan)};
  check_softmax(p, 17);
  check_stats(p);
  INFO("Arrays are parts of larger ones: one or more begin at no multiple of 16 bytes");
  const Problem close = random_problem(6, 300, 300);
  // Whole fours, which may have a fast path, in rows of both kinds that have a launch of their own.
  Random random(case_seed());
  const Col long_row = 4 * random.integer(300, 1000), longer_row = 4 * random.integer(1030, 1400);
  for (const Problem& q :
       {close, random_problem(2, long_row, long_row), random_problem(2, longer_row, longer_row)}) {
    for (const CallOptions& shifted : with_shifted_arrays(2)) check_softmax(q, 0, shifted);
    for (const CallOptions& shifted : with_shifted_arrays(3)) check_stats(q, shifted);
  }
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l05][online_softmax][points:1]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const auto& [rows, cols] :
       {std::pair<Col, Col>{10, 777}, {10, 4777}, {random.integer(2, 12), random.integer(150, 6000)}}) {
    const Problem p = random_problem(rows, cols, cols);
    Tensor<float> first(p.x.shape()), first_max({p.rows()}), first_sum({p.rows()});
    require_ran(get_softmax(p, first));
    require_softmax(first, p);
    require_ran(get_stats(p, first_max, first_sum));
    require_stats(first_max, first_sum, p);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Tensor<float> y(p.x.shape()), max({p.rows()}), sum({p.rows()});
      require_ran(get_softmax(p, y, options));
      require_softmax(y, p);
      require_ran(get_stats(p, max, sum, options));
      require_stats(max, sum, p);
      INFO(
          "The same calls, with blocks, warps and threads in another order; results must have the same bits");
      require_same_bits(y, first, "y");
      require_same_bits(max, first_max, "max");
      require_same_bits(sum, first_sum, "sum");
    }
  }
}

TEST_CASE("reads x twice, in whole sectors, and waits at no more than two barriers",
          "[l05][online_softmax][points:3]") {
  for (const Problem& p : counted_problems()) {
    const Outcome outcome = check_softmax(p, 16);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_traffic(*profile, p, 2, static_cast<std::uint64_t>(4 * p.rows() * p.cols()));
    require_whole_sectors(profile->global_store, "stores");
    require_barriers(outcome, *profile, p.rows());
  }
  for (const Problem& p : counted_problems_of_any_size()) {
    const Outcome outcome = check_softmax(p, 3);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_passes(*profile, p, 2, static_cast<std::uint64_t>(4 * p.rows() * p.cols()));
    require_barriers(outcome, *profile, p.rows());
  }
}

TEST_CASE("takes two rows, but refuses sizes and strides that make no sense",
          "[l05][online_softmax][points:2]") {
  check_softmax(random_problem(2, 3, 4), 1);
  check_stats(random_problem(2, 3, 4));
  const Tensor<float> x({2, 40}, 1.0f);
  const auto require_refused = [&](std::int64_t x_row_stride, std::int64_t y_row_stride, std::int64_t rows,
                                   std::int64_t cols, const char* argument) {
    INFO("rows = " << rows << ", cols = " << cols << ", x_row_stride = " << x_row_stride
                   << ", y_row_stride = " << y_row_stride);
    Tensor<float> y({2, 40}), max({2}), sum({2});
    require_throws<std::invalid_argument>(
        call(ENTRY(online_softmax), in(x, "x"), x_row_stride, out(y, "y"), y_row_stride, rows, cols),
        argument);
    if (y_row_stride < cols) return;
    require_throws<std::invalid_argument>(
        call(ENTRY(row_stats), in(x, "x"), x_row_stride, out(max, "max"), out(sum, "sum"), rows, cols),
        argument);
  };
  require_refused(3, 3, -1, 3, "rows");
  require_refused(3, 3, kMaxRows + 1, 3, "rows");
  require_refused(3, 3, 2, -1, "cols");
  require_refused(2, 3, 2, 3, "x_row_stride");
  require_refused(3, 2, 2, 3, "y_row_stride");
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t wide = random.integer(4, 40), narrow = random.integer(-9, wide - 1);
  require_refused(wide, wide, -random.integer(2, 1000), wide, "rows");
  require_refused(wide, wide, kMaxRows + random.integer(2, 1000), wide, "rows");
  require_refused(wide, wide, 2, -random.integer(2, 1000), "cols");
  for (const Col rows : {2, 1, 0}) {
    require_refused(narrow, wide, rows, wide, "x_row_stride");
    require_refused(wide, narrow, rows, wide, "y_row_stride");
  }
  require_refused(wide, wide, 0, -1, "cols");
  require_refused(wide, wide, -1, 0, "rows");
}

TEST_CASE("reports a launch that CUDA refuses", "[l05][online_softmax][points:1]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t rows = random.integer(200, 260), cols = random.integer(5, 20);
  check_refused_launches(random_problem(rows, cols, cols));
  // Long rows may have a launch of their own.
  const std::int64_t few = random.integer(40, 50), many = random.integer(4097, 6000);
  check_refused_launches(random_problem(few, many, many), CheckMode::never);
}

COURSE_RUN(RunContext& run) {
  const auto x = run.input<float>("x", {"rows", "cols"});
  Tensor<float> y(x.shape());
  run.call(ENTRY(online_softmax), in(x, "x"), x.strides()[0], out(y, "y"), y.strides()[0], x.shape()[0],
           x.shape()[1]);
  run.output("y", y);
}
