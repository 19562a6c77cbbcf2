// Tests of lesson 03: weighted_row_sum_tree and weighted_row_sum against float64, within twice the error of a
// plain float32 sum in 32 parts or more.

#include "03_weighted_row_sum/weighted_row_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/weighted_row_sum.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kWarp = 32;

using RowSum = void(const float*, std::int64_t, const float*, float*, std::int64_t, std::int64_t);
constexpr Entry<RowSum> kTree = ENTRY(weighted_row_sum_tree), kShuffles = ENTRY(weighted_row_sum);

/// What one call is given.
struct Problem {
  Tensor<float> x;  // (rows, cols), with a row stride of its own
  Tensor<float> w;  // (cols)

  std::int64_t rows() const { return x.shape()[0]; }
  std::int64_t cols() const { return x.shape()[1]; }
  std::int64_t x_row_stride() const { return x.strides()[0]; }
};

Tensor<float> with_row_stride(const Tensor<float>& dense, std::int64_t x_row_stride) {
  Tensor<float> x(dense.shape(), {x_row_stride, 1},
                  1000.0f);  // the gaps: far from all data, so that they show
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = dense.at_linear(i);
  return x;
}

Problem random_problem(std::int64_t rows, std::int64_t cols, std::int64_t x_row_stride) {
  return {with_row_stride(uniform({rows, cols}, -1.0f, 3.0f, case_seed()), x_row_stride),
          uniform({cols}, 0.5f, 2.0f, case_seed() + 1)};
}

// --- What a float32 program may lose ---

/// What `parts` threads compute: so many partial sums of a row, then added in pairs, near or far apart.
float sum_float32(const Problem& p, std::int64_t row, std::int64_t parts, bool near_first, bool fused) {
  std::vector<float> sums(static_cast<std::size_t>(parts), 0.0f);
  for (std::int64_t col = 0; col < p.cols(); ++col) {
    float& sum = sums[static_cast<std::size_t>(col % parts)];
    const float weight = p.w(col), value = p.x(row, col);
    const volatile float product = weight * value;  // rounded, whatever the compiler would fuse
    sum = fused ? std::fma(weight, value, sum) : sum + product;
  }
  for (std::size_t step = 1; step < sums.size(); step *= 2) {
    const std::size_t apart = near_first ? step : sums.size() / (2 * step);
    for (std::size_t i = 0; i + apart < sums.size(); ++i)
      if (near_first ? i % (2 * apart) == 0 : i < apart) sums[i] += sums[i + apart];
  }
  return sums[0];
}

/// Each row by as many threads as a warp or a block has, in that one of four orders that loses most: all are
/// sensible.
Tensor<float> in_32_parts_or_more(const Problem& p, const Tensor<double>& expected) {
  Tensor<float> y({p.rows()});
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    double largest = -1;
    for (const std::int64_t parts : {kWarp, std::int64_t{kBlockThreads}}) {
      for (const bool near_first : {false, true}) {
        for (const bool fused : {false, true}) {
          const float sum = sum_float32(p, row, parts, near_first, fused);
          const double error = std::abs(static_cast<double>(sum) - expected(row));
          if (error <= largest) continue;
          largest = error;
          y(row) = sum;
        }
      }
    }
    if (largest < 0) y(row) = sum_float32(p, row, kWarp, false, false);  // not finite
  }
  return y;
}

// --- Well-known mistakes ---

/// A mistake that leaves columns out: which are kept, and what to tell the student.
struct LostColumns {
  const char* name;
  bool (*kept)(std::int64_t col, std::int64_t cols);
  const char* sentence;
};

using Col = std::int64_t;
constexpr std::array kLostColumns{
    LostColumns{
        "one_column_a_thread", [](Col col, Col) { return col < kBlockThreads; },
        "Each thread took one column and stopped: it has to go on, kBlockThreads columns further, while "
        "there are columns left."},
    LostColumns{"tail_missing", [](Col col, Col cols) { return col < cols - cols % kBlockThreads; },
                "The tail is missing: the last cols % kBlockThreads columns, which do not fill the block."},
    LostColumns{"tail_of_the_warp_missing", [](Col col, Col cols) { return col < cols - cols % kWarp; },
                "The tail is missing: the last cols % 32 columns, which do not fill a warp."},
    LostColumns{"first_warp_only", [](Col col, Col) { return col % kBlockThreads < kWarp; },
                "Only the columns of warp 0 are in y: the sums of the other warps never reached it."},
    LostColumns{"last_warp_missing", [](Col col, Col) { return col % kBlockThreads < kBlockThreads - kWarp; },
                "The columns of the block's last warp are missing."},
    LostColumns{"first_warp_missing", [](Col col, Col) { return col % kBlockThreads >= kWarp; },
                "The columns of warp 0 are missing."},
    LostColumns{
        "upper_half_missing", [](Col col, Col) { return col % kBlockThreads < kBlockThreads / 2; },
        "The columns of the block's upper half are missing: the first step has to halve all kBlockThreads "
        "sums, so that 128 threads add those of the other 128."},
    LostColumns{
        "odd_threads_missing", [](Col col, Col) { return col % 2 == 0; },
        "The columns of all odd threads are missing: the last step, where one thread adds its neighbour's "
        "sum, did not happen."},
    LostColumns{"thread_0_only", [](Col col, Col) { return col % kBlockThreads == 0; },
                "Only thread 0's own columns are in y: the sums of the other threads were never added."},
    LostColumns{"lane_0_only", [](Col col, Col) { return col % kWarp == 0; },
                "Only the columns of each warp's lane 0 are in y: the lanes' sums were never added."},
    LostColumns{"upper_lanes_missing", [](Col col, Col) { return col % kWarp < kWarp / 2; },
                "The columns of each warp's upper 16 lanes are missing: the first offset has to be 16."},
    LostColumns{"last_column_missing", [](Col col, Col cols) { return col + 1 < cols; },
                "The last column is missing."},
    LostColumns{"first_column_missing", [](Col col, Col) { return col > 0; }, "The first column is missing."},
};

Tensor<double> without_lost(const Problem& p, const LostColumns& lost) {
  Tensor<double> y({p.rows()});
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (std::int64_t col = 0; col < p.cols(); ++col)
      if (lost.kept(col, p.cols()))
        y(row) += static_cast<double>(p.w(col)) * static_cast<double>(p.x(row, col));
  return y;
}

/// The sums if row i began i * row_stride elements into x; row_stride is at most the true one.
Tensor<double> with_row_stride_of(const Problem& p, std::int64_t row_stride) {
  Tensor<float> x(p.x.shape());
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (std::int64_t col = 0; col < p.cols(); ++col)
      x(row, col) = p.x.storage()[static_cast<std::size_t>(row * row_stride + col)];
  return reference::weighted_row_sum(x, p.w);
}

/// Whether y is what one thread gets that adds a whole row, with fused multiply-adds or without.
bool is_sum_of_one_thread(const Tensor<float>& y, const Problem& p) {
  for (const bool fused : {false, true}) {
    bool same = p.cols() > kBlockThreads;
    for (std::int64_t row = 0; row < p.rows() && same; ++row)
      same = y(row) == sum_float32(p, row, 1, false, fused);
    if (same) return true;
  }
  return false;
}

/// Σ factor(col) · w[weight_of(col)] · x[row][col].
template <class Factor, class WeightOf>
Tensor<double> sums_of(const Problem& p, Factor factor, WeightOf weight_of) {
  Tensor<double> y({p.rows()});
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (Col col = 0; col < p.cols(); ++col)
      if (const double times = factor(col); times != 0)
        y(row) += times * static_cast<double>(p.w(weight_of(col))) * static_cast<double>(p.x(row, col));
  return y;
}

Col same_column(Col col) { return col; }

/// How many threads of a block take the column if each goes on by 32 columns.
double takers_by_the_warp(Col col) {
  return static_cast<double>(std::min(col / kWarp, Col{kBlockThreads} / kWarp - 1) + 1);
}

/// The problem must outlive the mistakes.
Mistakes mistakes_with(const Problem& p) {
  Mistakes mistakes{
      gives(
          "steps_by_the_warp", [&p] { return sums_of(p, takers_by_the_warp, same_column); },
          "Columns are added more than once: each thread goes on by 32 columns. The block has kBlockThreads "
          "threads, so each has to go on by kBlockThreads."),
      gives(
          "weight_of_the_thread",
          [&p] {
            return sums_of(
                p, [](Col) { return 1.0; }, [](Col col) { return col % kBlockThreads; });
          },
          "Column col was weighted with w[threadIdx.x], the weight of the thread's first column. It needs "
          "w[col]."),
      gives(
          "shuffles_upwards",
          [&p] {
            return sums_of(
                p, [](Col col) { return col % kBlockThreads == 0 ? 1024.0 : 0.0; }, same_column);
          },
          "This is 1024 times the sum of thread 0's own columns: in each step of a shuffle, lane 0 got its "
          "own sum back. __shfl_up_sync hands values to higher lanes. To bring the sum to lane 0 takes "
          "__shfl_down_sync."),
      gives(
          "weights_ignored",
          [&p] { return reference::weighted_row_sum(p.x, Tensor<float>({p.cols()}, 1.0f)); },
          "This is the sum of x alone: the weights are missing."),
      gives(
          "row_stride_ignored", [&p] { return with_row_stride_of(p, p.cols()); },
          "The rows are read as if each began where the one before ends: they are x_row_stride elements "
          "apart."),
      gives(
          "row_ignored", [&p] { return with_row_stride_of(p, 0); },
          "Every row of y holds the sum of row 0 of x."),
      shows(
          "one_thread_adds", [&p](const Tensor<float>& y) { return is_sum_of_one_thread(y, p); },
          "These are the bits that one thread gets which adds a whole row by itself: each sum it rounds is "
          "nearly as large as the total. Sums of parts are small, and so are their rounding errors.")};
  for (const LostColumns& lost : kLostColumns)
    mistakes.push_back(gives(
        lost.name, [&p, &lost] { return without_lost(p, lost); }, lost.sentence));
  return mistakes;
}

// --- Calls and checks ---

void require_sums(const Tensor<float>& y, const Problem& p) {
  const Tensor<double> expected = reference::weighted_row_sum(p.x, p.w);
  // A few sums may be exact in float32 by chance, so the floor allows a unit in the last place of the largest
  // sum besides twice the error of the baseline.
  const Bound bound{.floor = 0x1p-23 * std::max(1.0, largest_magnitude(expected))};
  require_matches(y, {"y", {"row"}}, expected, in_32_parts_or_more(p, expected), mistakes_with(p), bound);
}

Outcome sum_rows(Entry<RowSum> entry, const Problem& p, Tensor<float>& y, const CallOptions& options = {}) {
  return call_with(options, entry, in(p.x, "x"), p.x_row_stride(), in(p.w, "w"), out(y, "y"), p.rows(),
                   p.cols());
}

void require_launch(const Outcome& outcome, std::int64_t rows) {
  const std::int64_t launches = outcome.counters.at("launches"), blocks = outcome.counters.at("blocks");
  require(launches == 1,
          "Your code launched " + std::to_string(launches) + " kernels; it should launch one.");
  require(blocks >= (rows - 1) / kWarp + 1, "The launch had only " + std::to_string(blocks) + " blocks for " +
                                                std::to_string(rows) +
                                                " rows. With more of them, more of a GPU works at once.");
}

/// What the threads may read and must write, of any size.
void require_one_pass(const Profile& profile, const Problem& p) {
  const auto elements = static_cast<std::uint64_t>(p.rows() * p.cols());
  const auto row_bytes = static_cast<std::uint64_t>(4 * p.rows());
  const simt::GlobalTraffic &load = profile.global_load, &store = profile.global_store;
  require(load.bytes_asked <= 8 * elements,
          "The threads read " + std::to_string(load.bytes_asked) +
              " bytes in all. Reading each element of x once and w once a row takes " +
              std::to_string(8 * elements) + ".");
  require(store.bytes_asked == row_bytes,
          "The threads wrote " + std::to_string(store.bytes_asked) + " bytes to global memory. Each of the " +
              std::to_string(p.rows()) +
              " sums should be written once, by one thread: " + std::to_string(row_bytes) + " bytes.");
}

/// What else the contract promises of accesses. The problem's rows must begin at multiples of 32 bytes.
void require_traffic(const Profile& profile, const Problem& p) {
  const simt::GlobalTraffic& load = profile.global_load;
  require(load.sectors * 10 <= load.ideal_sectors * 11,
          "The warps' loads touch " + std::to_string(load.sectors) + " sectors of 32 bytes where " +
              std::to_string(load.ideal_sectors) +
              " would do, although every row begins with a whole sector. Let neighbouring threads read "
              "neighbouring columns.");
  const std::uint64_t floats = load.bytes_asked / 4;
  require(load.requests * 16 <= floats,
          "The warps load " + std::to_string(floats) + " numbers with " + std::to_string(load.requests) +
              " instructions, though each could bring 32 of them: most lanes have nothing to do.");
  require_busy_lanes(profile);
  // The last steps of a tree are one warp's. Of a short row, they are most of all that is done.
  if (p.cols() > 1000) require_busy_warps_of_rows(profile, p.rows(), 3);
}

/// How often a warp waits at a barrier for each row that its block sums.
void require_barriers(const Outcome& outcome, const Profile& profile, std::int64_t rows, std::uint64_t most,
                      const std::string& advice) {
  const std::int64_t warps_a_block = outcome.counters.at("threads") / outcome.counters.at("blocks") / kWarp;
  const auto row_warps = static_cast<std::uint64_t>(rows * std::max<std::int64_t>(1, warps_a_block));
  require(meetings(profile) <= most * row_warps, meetings_told(profile, row_warps) + " for a row; " +
                                                     std::to_string(most) + " are enough. " + advice);
}

/// How the threads of a block meet and hand each other their sums, also of any size.
void require_exchange(Entry<RowSum> entry, const Outcome& outcome, const Profile& profile, const Problem& p) {
  if (entry.name == kShuffles.name) {
    require_barriers(outcome, profile, p.rows(), 2, "Inside a warp, shuffles need none.");
    return;
  }
  require(
      profile.shuffles + profile.votes + profile.matrix_instructions == 0,
      "In weighted_row_sum_tree, threads hand each other their sums past shared memory, by shuffles, votes, "
      "reductions or products of matrices. It is the version without them; they come with weighted_row_sum.");
  const std::uint64_t conflicts = profile.shared_load.conflicts() + profile.shared_store.conflicts();
  require(conflicts == 0,
          "Accesses to shared memory take " + std::to_string(conflicts) +
              " passes more than they need: lanes of a warp reach for different words of the same bank. "
              "Let the lanes that still add be neighbours, and their elements, too.");
  require_barriers(outcome, profile, p.rows(), 9,
                   "One after the sums are stored, and one after each of the 8 steps that halve 256.");
}

/// Sums with one of the two entries, and compares.
Outcome check(Entry<RowSum> entry, const Problem& p, const CallOptions& options = {}) {
  INFO("rows = " << p.rows() << ", cols = " << p.cols() << ", x_row_stride = " << p.x_row_stride());
  Tensor<float> y({p.rows()});
  const Outcome outcome = sum_rows(entry, p, y, options);
  require_ran(outcome);
  require_sums(y, p);
  require(p.rows() > 0 || outcome.counters.at("launches") == 0,
          "There are no rows: no kernel should be launched.");
  return outcome;
}

/// 1000 columns are 3 times 256 and a tail of 232, and 125 whole sectors. No kernel knows the second number
/// of columns beforehand; they are so many that a warp loads more of them than it adds for other warps, also
/// four at a time.
std::vector<Problem> profiled_problems() {
  const std::int64_t cols = 8 * Random(case_seed()).integer(600, 750);
  return {random_problem(5, 1000, 1008), random_problem(5, cols, cols)};
}

/// Of sizes, too, that no kernel knows beforehand, with gaps such as the problems of other cases have: who
/// tells those of this case apart, by whole sectors, is found out.
std::vector<Problem> problems_of_any_size() {
  Random random(case_seed() + 1);
  std::vector<Problem> problems;
  for (const std::int64_t gap : {0, 5}) {
    const std::int64_t rows = random.integer(2, 12), cols = random.integer(34, 1400);
    problems.push_back(random_problem(rows, cols, cols + gap));
  }
  // As long as calls can be that are counted.
  const std::int64_t rows = random.integer(1, 2), cols = random.integer(8000, 64'000 / (rows + 1));
  problems.push_back(random_problem(rows, cols, cols));
  return problems;
}

void check_exchange_of_any_size(Entry<RowSum> entry) {
  for (const Problem& p : problems_of_any_size()) {
    const Outcome outcome = check(entry, p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_one_pass(*profile, p);
    require_exchange(entry, outcome, *profile, p);
  }
}

/// Rows and the row stride that the notes use: 10 columns, 12 elements from row to row.
Problem problem_of_the_notes() {
  const auto x = Tensor<float>::from({2, 10}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3,  //
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  return {with_row_stride(x, 12), Tensor<float>::from({10}, {1, 2, 0, -1, 2, 1, 3, 0, 1, 2})};
}

/// One column count after the other, each with rows that lie close together and rows that lie apart.
void check_columns(Entry<RowSum> entry, std::initializer_list<std::int64_t> column_counts) {
  for (const std::int64_t cols : column_counts) {
    check(entry, random_problem(9, cols, cols));
    check(entry, random_problem(9, cols, cols + 5));
  }
}

void check_orders(Entry<RowSum> entry) {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Col cols = random.integer(150, 1500);
  for (const Problem& p : {random_problem(20, 777, 777), random_problem(random.integer(5, 40), cols, cols)}) {
    Tensor<float> first({p.rows()});
    require_ran(sum_rows(entry, p, first));
    require_sums(first, p);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Tensor<float> y({p.rows()});
      require_ran(sum_rows(entry, p, y, options));
      require_sums(y, p);
      INFO("The same call, with blocks, warps and threads in another order; y must have the same bits");
      require_same_bits(y, first, "y");
    }
  }
}

void check_refusals(Entry<RowSum> entry) {
  check(entry, random_problem(2, 3, 4));
  const Tensor<float> x({2, 40}, 1.0f), w({40}, 1.0f);
  const auto require_refused = [&](std::int64_t x_row_stride, std::int64_t rows, std::int64_t cols,
                                   const char* argument) {
    INFO("rows = " << rows << ", cols = " << cols << ", x_row_stride = " << x_row_stride);
    Tensor<float> y({2});
    require_throws<std::invalid_argument>(
        call(entry, in(x, "x"), x_row_stride, in(w, "w"), out(y, "y"), rows, cols), argument);
  };
  require_refused(3, -1, 3, "rows");
  require_refused(3, kMaxRows + 1, 3, "rows");
  require_refused(3, 2, -1, "cols");
  require_refused(2, 2, 3, "x_row_stride");
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t wide = random.integer(4, 40), narrow = random.integer(-9, wide - 1);
  require_refused(wide, -random.integer(2, 1000), wide, "rows");
  require_refused(wide, kMaxRows + random.integer(2, 1000), wide, "rows");
  require_refused(wide, 2, -random.integer(2, 1000), "cols");
  for (const std::int64_t rows : {2, 1, 0}) require_refused(narrow, rows, wide, "x_row_stride");
  require_refused(wide, 0, -1, "cols");
}

}  // namespace

TEST_CASE("tree: sums the two rows of the notes", "[l03][weighted_row_sum_tree][points:1]") {
  check(kTree, problem_of_the_notes());
}

TEST_CASE("tree: sums rows of 1000, 257, 256, 255 and 129 columns",
          "[l03][weighted_row_sum_tree][points:2]") {
  // The longest first: there most mistakes leave a pattern of their own.
  check_columns(kTree, {1000, 257, 256, 255, 129});
}

TEST_CASE("tree: sums rows of 0 to 33 columns, one row and no rows at all",
          "[l03][weighted_row_sum_tree][points:1]") {
  check_columns(kTree, {33, 32, 31, 2, 1, 0});
  for (const std::int64_t rows : {1, 0}) check(kTree, random_problem(rows, 7, 7));
}

TEST_CASE("tree: gives the same bits in every order of blocks and threads",
          "[l03][weighted_row_sum_tree][points:1]") {
  check_orders(kTree);
}

TEST_CASE("tree: reads whole sectors and has no bank conflicts", "[l03][weighted_row_sum_tree][points:3]") {
  for (const Problem& p : profiled_problems()) {
    const Outcome outcome = check(kTree, p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_one_pass(*profile, p);
    require_traffic(*profile, p);
    require_exchange(kTree, outcome, *profile, p);
  }
  check_exchange_of_any_size(kTree);
}

TEST_CASE("sums the two rows of the notes", "[l03][weighted_row_sum][points:1]") {
  check(kShuffles, problem_of_the_notes());
}

TEST_CASE("sums rows of 1000, 257, 256, 255 and 129 columns", "[l03][weighted_row_sum][points:2]") {
  check_columns(kShuffles, {1000, 257, 256, 255, 129});
}

TEST_CASE("sums rows of 0 to 33 columns", "[l03][weighted_row_sum][points:1]") {
  check_columns(kShuffles, {33, 32, 31, 2, 1, 0});
}

TEST_CASE("sums 3000 short rows, one row and no rows at all", "[l03][weighted_row_sum][points:1]") {
  const Problem p = random_problem(3000, 7, 7);
  for (const Entry<RowSum> entry : {kShuffles, kTree}) {
    const Outcome outcome = check(entry, p);
    require_launch(outcome, p.rows());
    if (const Profile* profile = profile_of(outcome)) require_busy_blocks(*profile, kWarp / 3000.0);
  }
  for (const std::int64_t rows : {1, 0}) check(kShuffles, random_problem(rows, 7, 7));
  Random random(case_seed());  // for more numbers, and gaps, that no kernel knows beforehand
  const Col cols = drawn::few_columns(random);
  for (const Entry<RowSum> entry : {kShuffles, kTree})
    for (const Col gap : {Col{0}, drawn::few_between(random)})
      check(entry,
            {with_row_stride(drawn::rows(random.integer(1100, 3000), cols, random), cols + gap),
             uniform({cols}, -1.0f, 2.0f, case_seed() + 1)},
            {.check = CheckMode::never});
}

TEST_CASE("reads no element between the rows, whatever lies there", "[l03][weighted_row_sum][points:1]") {
  Problem p = random_problem(6, 300, 331);
  for (std::int64_t row = 0; row + 1 < p.rows(); ++row)
    for (std::int64_t gap = 300; gap < 331; ++gap)
      p.x.storage()[static_cast<std::size_t>(row * 331 + gap)] = kNan;
  check(kShuffles, p);
  for (const CallOptions& shifted : with_shifted_arrays(3)) {
    INFO("Arrays are parts of larger ones: one or more begin at no multiple of 16 bytes");
    check(kShuffles, random_problem(6, 300, 300), shifted);
    const Col cols = 4 * Random(case_seed()).integer(300, 1300);  // whole fours, which may have a fast path
    for (const Entry<RowSum> entry : {kShuffles, kTree}) check(entry, random_problem(2, cols, cols), shifted);
  }
}

TEST_CASE("keeps NaN and infinities in their own row", "[l03][weighted_row_sum][points:2]") {
  Problem p = random_problem(10, 300, 300);
  p.w(40) = p.w(298) = 0.0f, p.w(41) = -1.0f;
  p.x(1, 0) = kNan;
  p.x(2, 299) = kInf;
  p.x(3, 40) = kInf;                      // inf times a weight of 0 is NaN
  p.x(4, 5) = kInf, p.x(4, 270) = -kInf;  // inf - inf is NaN
  p.x(5, 41) = kInf;                      // -inf
  p.x(6, 31) = p.x(6, 32) = kInf;         // inf + inf is inf
  p.x(7, 298) = kNan;                     // under a weight of 0, too, in the columns that fill no warp
  for (const Entry<RowSum> entry : {kShuffles, kTree}) check(entry, p);
  Random random(case_seed());  // for sizes, gaps and rows that no kernel knows beforehand
  const auto check_drawn = [&](Entry<RowSum> entry, Col rows, Col cols, Col x_row_stride,
                               const CallOptions& options) {
    check(entry,
          {with_row_stride(drawn::rows(rows, cols, random), x_row_stride),
           drawn::times(uniform({cols}, -1.0f, 2.0f, case_seed() + 1), drawn::factor(random))},
          options);
  };
  for (const auto& [entry, many] :
       {std::pair{kShuffles, false}, {kTree, false}, {kShuffles, true}, {kTree, true}}) {
    const Col rows = many ? random.integer(13, 150) : random.integer(5, 12),
              cols = drawn::length(random, many ? 200 : 3000);
    check_drawn(entry, rows, cols, drawn::row_stride(cols, random, many),
                with_shifted_arrays(3)[static_cast<std::size_t>(random.integer(0, 2))]);
  }
  // Whole tiles, which may have a fast path.
  for (const Entry<RowSum> entry : {kShuffles, kTree})
    for (const std::vector<Col>& gaps : drawn::gaps_around_fours(1, random)) {
      const Col cols = 1024 * random.integer(1, 3);
      check_drawn(entry, 7, cols, cols + gaps[0], {});
    }
  for (const Entry<RowSum> entry : {kShuffles, kTree}) check_drawn(entry, 7, 2048, 2048, {});
  for (const Entry<RowSum> entry : {kShuffles, kTree})
    for (const CallOptions& shifted : with_shifted_arrays(2)) check_drawn(entry, 7, 1024, 1024, shifted);
}

TEST_CASE("adds 100,001 numbers of one sign without losing digits", "[l03][weighted_row_sum][points:2]") {
  // One thread would round sums of about 50,000 a hundred thousand times.
  check(kShuffles, {uniform({3, 100'001}, 0.0f, 1.0f, case_seed()), Tensor<float>({100'001}, 1.0f)});
  for (const Entry<RowSum> entry : {kShuffles, kTree}) {
    const Col unknown = Random(case_seed()).integer(20'000, 80'000);
    check(entry,
          {uniform({2, unknown}, 0.0f, 1.0f, case_seed()), uniform({unknown}, 0.5f, 1.5f, case_seed() + 1)});
  }
}

TEST_CASE("adds small numbers to a large one without losing them", "[l03][weighted_row_sum][points:2]") {
  // 2^24 + 1 is 2^24 in float32: who adds one after the other to 2^24 stays there.
  const std::int64_t cols = 20'000;
  Problem p{Tensor<float>({2, cols}, 1.0f), Tensor<float>({cols}, 1.0f)};
  p.x(0, 0) = 0x1p24f;
  p.x(1, 0) = -0x1p24f;
  check(kShuffles, p);
}

TEST_CASE("adds numbers that cancel, of any sign and down to the smallest",
          "[l03][weighted_row_sum][points:1]") {
  for (const Pattern pattern :
       {Pattern::alternating_signs, Pattern::cancelling, Pattern::subnormal, Pattern::signed_zeros}) {
    INFO("data: " << pattern_name(pattern));
    check(kShuffles, {adversarial(pattern, {12, 700}, case_seed()), Tensor<float>({700}, 1.0f)});
  }
  check(kShuffles, {normal({12, 700}, case_seed()), normal({700}, case_seed() + 1)});
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l03][weighted_row_sum][points:1]") {
  check_orders(kShuffles);
}

TEST_CASE("reads whole sectors, and waits at no more than two barriers",
          "[l03][weighted_row_sum][points:3]") {
  for (const Problem& p : profiled_problems()) {
    const Outcome outcome = check(kShuffles, p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_one_pass(*profile, p);
    require_traffic(*profile, p);
    require(profile->shuffles + profile->votes > 0,
            "weighted_row_sum uses no shuffles: the lanes of a warp can hand each other their sums without "
            "memory.");
    require_exchange(kShuffles, outcome, *profile, p);
  }
  check_exchange_of_any_size(kShuffles);
}

TEST_CASE("sums two rows, but refuses sizes and strides that make no sense",
          "[l03][weighted_row_sum][points:2]") {
  check_refusals(kShuffles);
  check_refusals(kTree);
}

TEST_CASE("reports a launch that CUDA refuses", "[l03][weighted_row_sum][points:1]") {
  // A grid limit of one block, where 200 rows and more need more. A GPU has no such switch and accepts the
  // launch; then the sums must be right.
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t rows_of_p = random.integer(200, 260), cols = random.integer(5, 20);
  const Problem p = random_problem(rows_of_p, cols, cols);
  CallOptions options;
  options.max_grid_x = 1;
  for (const Entry<RowSum> entry : {kTree, kShuffles}) {
    Tensor<float> y({p.rows()});
    const Outcome unlimited = sum_rows(entry, p, y, {});
    require_ran(unlimited);
    require_sums(y, p);
    const Outcome outcome = sum_rows(entry, p, y, options);
    if (!require_refused_launch(outcome, unlimited)) {
      require_sums(y, p);
      // Along y and z there is room for fewer blocks than along x.
      if (const std::int64_t blocks = unlimited.counters.at("blocks"); blocks > 1)
        check(entry, random_problem(drawn::rows_of_65536_blocks(p.rows(), blocks, random), 1, 1),
              {.check = CheckMode::never});
    } else {
      // Nothing runs here, so that as many rows as the contract allows need no memory.
      INFO("With rows = kMaxRows, too, it is CUDA that refuses");
      require_throws<std::runtime_error>(call_with(options, entry, in(p.x, "x"), p.x_row_stride(),
                                                   in(p.w, "w"), out(y, "y"), kMaxRows, p.cols()));
    }
  }
}

COURSE_RUN(RunContext& run) {
  const auto x = run.input<float>("x", {"rows", "cols"}), w = run.input<float>("w", {"cols"});
  Tensor<float> y({x.shape()[0]});
  run.call(ENTRY(weighted_row_sum), in(x, "x"), x.strides()[0], in(w, "w"), out(y, "y"), x.shape()[0],
           x.shape()[1]);
  run.output("y", y);
}
