// Tests of lesson 19: O and lse of flash2_forward_fast against float64, within twice the error of a plain
// float32 attention, with scores of 1000 as well; and how it goes about shared memory.

#include "19_register_tiling/register_tiling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "attention/causal_mistakes.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr reference::Mask kCausal{.causal = true};
constexpr double kInf64 = std::numeric_limits<double>::infinity();

// --- Mistakes of this lesson's own ---

/// The results where tile t of keys, of `width` keys, is multiplied as if it were tile t + `ahead`. Keys that
/// a tile of 128 queries does not see hold zeros.
Forward64 with_keys_of_another_tile(const Problem& p, Int width, Int ahead) {
  const Int Nq = p.Nq(), past = p.mask.causal ? p.Nk() - Nq : p.Nk();
  return from_scores(p, [&p, width, ahead, Nq, past](Int b, Int h, Int i, Int j) {
    if (!p.sees(i, j)) return -kInf64;
    const Int key = std::max<Int>(j + ahead * width, j % width);  // before tile 0 there is none but itself
    const Int end = std::min(std::min(i / 128 * 128 + 128, Nq) + past, p.Nk());
    double s = 0;
    for (Int d = 0; d < p.D() && key < end; ++d)
      s += static_cast<double>(p.Q(b, h, i, d)) * static_cast<double>(p.K(b, h, key, d));
    return s * static_cast<double>(p.scale);
  });
}

/// The same for V alone: weights meet the values of another tile.
Reader values_of_another_tile(const Problem& p, Int width, Int ahead) {
  const Address right = address_by(p.V.strides());
  return {&p.V, [right, width, ahead, Nk = p.Nk()](Int b, Int h, Int row, Int d) {
            const Int key = std::max<Int>(row + ahead * width, row % width);
            return key < Nk ? right(b, h, key, d) : kZeroAddress;
          }};
}

/// lse where each thread keeps the sum over its own keys: the first of those that share a row has every
/// eighth group of four keys, or every sixteenth for more than 64 dimensions.
Tensor<double> lse_of_first_thread(const Problem& p) {
  const Int across = p.D() <= 64 ? 8 : 16;
  Tensor<double> lse = expected_of(p).m;
  const Tensor<double> S = attention_of(p).S;
  for (Int row = 0; row < lse.numel(); ++row) {
    const double m = lse.at_linear(row);
    double sum = 0;
    for (Int j = 0; j < p.Nk(); ++j) {
      const double s = S.at_linear(row * p.Nk() + j);
      if (j / 4 % across == 0 && s != -kInf64) sum += std::exp(s - m);
    }
    lse.at_linear(row) = sum == 0 ? -kInf64 : m + std::log(sum);
  }
  return lse;
}

/// Fits if lse has the largest product of Q and K in place of the largest score.
Mistake lse_with_products(const Problem& p) {
  const std::string sentence =
      "lse adds a product of Q and K, which is not scaled, to log(l): m has to be multiplied by the scale.";
  list_mistake("lse_m_not_scaled", sentence);
  const auto wrong = [&p] {
    Problem unscaled = p;
    unscaled.scale = p.scale < 0 ? -1.0f : 1.0f;
    const Tensor<double> m = expected_of(p).m, product = expected_of(unscaled).m;
    Tensor<double> lse = attention_of(p).lse;
    for (Int n = 0; n < lse.numel(); ++n)
      if (lse.at_linear(n) != -kInf64) lse.at_linear(n) += product.at_linear(n) - m.at_linear(n);
    return lse;
  };
  return {"lse_m_not_scaled", [=](const WrongResult& result) {
            return gives_rounded("lse_m_not_scaled", wrong, sentence, result);
          }};
}

/// Fits if every wrong element is off by little, in a row whose scores are large: by what rounding takes from
/// these.
Mistake rounded_by_size(const Problem& p, Which which) {
  const std::string sentence =
      "This is off by as much as rounding takes from a score of this size. A score times log2(e) is larger "
      "still, and is rounded; so is m times log2(e). Subtract the maximum first: that difference is small, "
      "and exact where it counts.";
  list_mistake("rounded_by_size", sentence);
  const auto fits = [&p, which](const WrongResult& result) {
    const Tensor<double> m = expected_of(p).m;
    const Int columns = which == Which::O ? p.D() : 1;
    for (Int n = 0; n < result.got.numel(); ++n) {
      const double off =
          std::abs(static_cast<double>(result.got.at_linear(n)) - result.expected.at_linear(n));
      const double size = std::abs(m.at_linear(n / columns));
      if (!(off <= result.comparison.allowed) && !(size >= 10 && off <= size * 0x1p-20)) return false;
    }
    return true;
  };
  return {"rounded_by_size",
          [=](const WrongResult& result) { return fits(result) ? std::optional(sentence) : std::nullopt; }};
}

Mistakes own_mistakes(const Problem& p, Which which) {
  Mistakes mistakes = p.mask.causal ? causal_mistakes(p, which) : Mistakes{};
  for (const Int width : {64, 128}) {
    if (p.Nk() <= width) continue;
    const std::string tiles = " (That is what tiles of " + std::to_string(width) + " keys give.)";
    mistakes.push_back(gives(
        "keys_of_the_next_tile",
        [&p, which, width] { return with_keys_of_another_tile(p, width, 1).of(which); },
        "A tile's scores are made of the next tile's keys: what was fetched ahead was used a round early." +
            tiles));
    mistakes.push_back(gives(
        "keys_of_the_tile_before",
        [&p, which, width] { return with_keys_of_another_tile(p, width, -1).of(which); },
        "From the second tile on, scores are made of the keys of the tile before: what was fetched ahead is "
        "used a round late." +
            tiles));
    if (which != Which::O) continue;
    mistakes.push_back(
        deviation("values_of_the_tile_before", p, which, {.V = values_of_another_tile(p, width, -1)},
                  "From the second tile on, weights meet the values of the tile before." + tiles));
  }
  Deviation unscaled{.scale = p.scale < 0 ? -1 : 1};
  if (which == Which::lse)
    unscaled.lse = [scale = std::abs(static_cast<double>(p.scale))](const RowEnd& row) {
      return row.l == 0 ? -kInf64 : row.m * scale + std::log(row.l);
    };
  mistakes.push_back(deviation(
      "scale_missing", p, which, std::move(unscaled),
      "The exponentials are those of products of Q and K without the scale. `to_log2` has it: exp2f((s - "
      "base) * to_log2)."));
  mistakes.push_back(rounded_by_size(p, which));
  if (p.scale < 0)
    mistakes.push_back(
        deviation("scale_sign_lost", p, which, {.score_factor = -1},
                  "The sign of the scale is lost: with a scale below 0, the smallest product of Q and K is "
                  "the largest score."));
  if (which == Which::lse) {
    mistakes.push_back(gives(
        "sums_of_threads_not_added", [&p] { return lse_of_first_thread(p); },
        "l is the sum over one thread's keys alone. The threads that share a row have to add theirs."));
    const double ln2 = std::log(2.0);
    const auto add = [&](const char* name, std::function<double(const RowEnd&)> lse, const char* sentence) {
      mistakes.push_back(
          deviation(name, p, which,
                    {.lse = [lse](const RowEnd& row) { return row.l == 0 ? -kInf64 : lse(row); }}, sentence));
    };
    add(
        "lse_times_ln2", [ln2](const RowEnd& row) { return (row.m + std::log(row.l)) * ln2; },
        "lse is multiplied by ln 2 once too often.");
    mistakes.push_back(lse_with_products(p));
    add(
        "lse_m_times_ln2", [ln2](const RowEnd& row) { return row.m * ln2 + std::log(row.l); },
        "In lse, m is multiplied by ln 2 once too often.");
    add(
        "lse_log_of_l_times_ln2", [ln2](const RowEnd& row) { return row.m + std::log(row.l) * ln2; },
        "In lse, log(l) is multiplied by ln 2, but it is a natural logarithm already: logf(l), or log2f(l) · "
        "ln 2.");
  }
  return mistakes;
}

// --- Calls ---

const Kernel kKernel{.attend =
                         [](const Problem& p, Forward& got, const CallOptions& options) {
                           return call_with(options, ENTRY(flash2_forward_fast), in(p.Q, "Q"), in(p.K, "K"),
                                            in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale,
                                            p.mask.causal);
                         },
                     .outputs = {Which::lse, Which::O},
                     .own_mistakes = own_mistakes,
                     .remark = [](const Problem& p, const Forward& got,
                                  const Outcome& outcome) { return axes_exchanged("hbt", p, got, outcome); },
                     .load_limit = keys_read_for(64),
                     .stores_once = true};

void check(const Problem& p) { attention_tests::check(kKernel, p); }

/// The same without check mode, which takes several times as long: for what other calls have had checked.
void check_results(const Problem& p) {
  CallOptions options;
  options.check = CheckMode::never;
  attention_tests::check(kKernel, p, options);
}
void check_results(const Sizes& n, const reference::Mask& mask = {}) {
  check_results(random_problem(n, mask));
}

void check_both_masks(const Sizes& n) {
  for (const bool causal : {false, true}) check_results(n, {.causal = causal});
}

/// The notes' two queries and four keys, each key `times` times over. Scores of query 0 to base 2: 0, 1, log2
/// 5, 3.
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

Problem with_scale(Problem p, float scale) {
  p.scale = scale;
  return p;
}

/// Every score is about `score`; the scale is one whose product with log2 e suffers most by rounding.
Problem with_scores_around(Problem p, float score) {
  p.scale = 0.0913f;  // rounding takes a share of 2^-24 of scale · log2 e away
  for (Int h = 0; h < p.H(); ++h) {
    for (Int i = 0; i < p.Nq(); ++i) p.Q(0, h, i, 0) = score / (8 * p.scale);
    for (Int j = 0; j < p.Nk(); ++j) p.K(0, h, j, 0) = 8.0f;
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

/// A case of tests/reference/golden, which PyTorch computed in float64.
Problem golden_problem(const std::string& name, float scale, bool causal) {
  const auto folder =
      std::filesystem::path(__FILE__).parent_path().parent_path() / "reference" / "golden" / name;
  const auto array = [&folder](const char* file) {
    return read_npy<float>(folder / (std::string(file) + ".npy"));
  };
  return {array("q"), array("k"), array("v"), scale, {.causal = causal}};
}

// --- Shared memory ---

std::string show(std::uint64_t n) { return std::to_string(n); }

/// What a problem's products multiply and add, in whole tiles: 128 queries or keys, or 64, are a multiple of
/// all tiles that nearly fill them.
std::uint64_t multiply_adds(const Problem& p) {
  const auto whole = [](Int size) { return (size + 127) / 128 * 128; };
  return static_cast<std::uint64_t>(2 * p.B() * p.H() * whole(p.Nq()) * whole(p.Nk()) *
                                    (p.D() <= 64 ? 64 : 128));
}

/// Tiles of several heads that are nearly full, of sizes that no kernel knows beforehand.
Problem nearly_full(Int D, bool causal) {
  Random random(case_seed());
  return random_problem({1, random.integer(2, 3), 128 - random.integer(1, 7), 128 - random.integer(1, 7),
                         D - 8 * random.integer(1, 3)},
                        {.causal = causal});
}

/// @brief Fails the case unless lanes hand few numbers to each other by other ways than shared memory.
void require_few_shuffles(const Profile& profile, const Problem& p) {
  // A shuffle takes a wavefront as well, and votes, also those at barriers, and tensor cores hand numbers
  // round, too. 5 for each of two reductions of 8 rows, in every tile of 32 keys, is plenty.
  const std::uint64_t most = multiply_adds(p) / 1024, taken = profile.shuffles + profile.votes +
                                                              profile.barriers + profile.matrix_instructions;
  require(taken <= most,
          "Warps shuffle and vote, or meet at barriers, " + show(taken) + " times for " +
              show(multiply_adds(p)) + " multiply-adds; " + show(most) +
              " will do, for sums and maxima of rows. A shuffle hands one number to a lane, and takes a "
              "wavefront of "
              "shared memory's paths: what the products need comes from shared memory, 16 bytes a lane.");
}

/// @brief Fails the case unless K and V come by tiles, which a kernel that has nothing in shared memory does
/// not need.
void require_tiles(const Profile& profile, const Problem& p) {
  const auto tiles = static_cast<std::uint64_t>((p.Nq() + 63) / 64);
  require_loads_at_most(profile, bytes_of(p.Q) + tiles * (bytes_of(p.K) + bytes_of(p.V)),
                        "to read Q once, and K and V once for every 64 queries,");
  require_few_shuffles(profile, p);
  require_busy_lanes(profile);
  require_busy_warps(profile);
}

/// more: what else it may take, as a part of that.
void require_few_wavefronts(const Profile& profile, const Problem& p, double more = 0) {
  const std::uint64_t products = multiply_adds(p),
                      limit = static_cast<std::uint64_t>(static_cast<double>(products / 256) * (1 + more)),
                      taken = profile.shared_load.wavefronts;
  require(taken <= limit, "Reads of shared memory take " + show(taken) + " wavefronts for " + show(products) +
                              " multiply-adds; with 8 x 8 elements a thread they take " + show(limit) +
                              ": in each step a warp reads 4 times 16 bytes a lane, 2 wavefronts each, for "
                              "2048. How many elements does "
                              "a thread compute, and which lanes of a warp read the same 16 bytes?");
}

void check_wavefronts(const Problem& p) {
  const Outcome outcome = attention_tests::check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO(describe(p));
  require_few_wavefronts(*profile, p);
  require_tiles(*profile, p);
}

void require_no_conflicts(const Problem& p) {
  const Outcome outcome = attention_tests::check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO(describe(p));
  for (const auto& [traffic, verb] :
       {std::pair{&profile->shared_load, "reads"}, {&profile->shared_store, "writes"}})
    require(
        traffic->conflicts() == 0,
        std::string("Your code ") + verb + " shared memory with bank conflicts: " +
            show(traffic->wavefronts) + " wavefronts where " + show(traffic->ideal_wavefronts) +
            " would do. `./course profile 19` names the lines. Which eight lanes are served together, and in "
            "which banks does what they move lie?");
  require_tiles(*profile, p);
}

}  // namespace

TEST_CASE("attends from the two queries of the notes to their four keys",
          "[l19][register_tiling][points:1]") {
  check(problem_of_the_notes());
}

TEST_CASE("attends when each key of the notes comes 64 times, so that they fill tiles",
          "[l19][register_tiling][points:1]") {
  check_results(problem_of_the_notes(64));
}

TEST_CASE("attends from 1 to 300 queries to as many keys", "[l19][register_tiling][points:2]") {
  for (Int N = 1; N <= 300; N += 43) check_both_masks({1, 1, N, N, 6});
}

TEST_CASE("attends with fewer keys than queries, and with more", "[l19][register_tiling][points:2]") {
  for (Int N = 2; N <= 300; N += 51) check_both_masks({1, 1, 301 - N, N, 4});
}

TEST_CASE("attends with one query, one key, one dimension, and a few", "[l19][register_tiling][points:1]") {
  for (const Sizes& n : {Sizes{2, 2, 1, 1, 1}, {1, 1, 5, 1, 3}, {1, 2, 1, 7, 2}}) check(random_problem(n));
  Problem p = random_problem({1, 2, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 100, 0, 1});  // an axis of one element may have any stride
  check_results(p);
}

TEST_CASE("attends around the edges of tiles", "[l19][register_tiling][points:3]") {
  check(random_problem({1, 1, 127, 65, 5}));
  for (const Sizes& n :
       {Sizes{1, 1, 64, 64, 63}, {1, 1, 129, 128, 5}, {1, 1, 128, 129, 65}, {1, 1, 63, 127, 65}})
    check_both_masks(n);
}

TEST_CASE("attends in 16, 32, 64, 65, 100, 127 and 128 dimensions", "[l19][register_tiling][points:2]") {
  check(random_problem({1, 1, 20, 75, 128}));
  for (const Int D : {16, 32, 64, 65, 100, 127}) check_both_masks({1, 1, 70, 75, D});
}

TEST_CASE("keeps several batches and heads apart", "[l19][register_tiling][points:1]") {
  check(random_problem({2, 3, 33, 40, 37}, kCausal));
  check_results({1, 5, 140, 90, 8});
}

TEST_CASE("lets the last query stand beside the last key where there are more keys",
          "[l19][register_tiling][points:2]") {
  // In the first two, the diagonal leaves tiles of 64 keys at their last key and at their first.
  for (const Sizes& n :
       {Sizes{1, 1, 130, 192, 8}, {1, 1, 130, 131, 8}, {1, 2, 40, 90, 12}, {1, 1, 64, 256, 8}})
    check_results(n, kCausal);
}

TEST_CASE("gives 0 to queries that see no key where there are fewer keys",
          "[l19][register_tiling][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 20, 7, 12},
                         {1, 1, 90, 60, 8},
                         {1, 1, 200, 60, 8},  // a whole tile of queries sees nothing
                         {1, 1, 256, 128, 8},
                         {1, 1, 130, 1, 4}})
    check(random_problem(n, kCausal));
}

TEST_CASE("attends from one query to many keys, as in decoding", "[l19][register_tiling][points:1]") {
  check_both_masks({1, 2, 1, 150, 16});
  check_both_masks({1, 1, 1, 500, 4});
  for (const Int D : {64, 128})
    check(kKernel, with_growing_scores(random_problem({2, 2, 1, 1100, D}, kCausal), 1.0f));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l19][register_tiling][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(with_layouts(random_problem({2, 2, 20, 40, 16}, kCausal), outside, inside, outside, inside));
  Problem p = with_layouts(random_problem({1, 3, 40, 20, 16}), inside, outside, inside, outside);
  p.layout_of_lse = inside;
  check(p);
  check_drawn(kKernel, {.causal = Causal::choice});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l19][register_tiling][points:1]") {
  check_shifted(kKernel, random_problem({1, 2, 20, 40, 16}, kCausal));
  check_odd_rows(kKernel, {kCausal, {}});
  check(with_gaps(random_problem({2, 2, 35, 41, 18}, kCausal)));
  check(with_gaps(random_problem({1, 2, 35, 41, many_dimensions()}, kCausal), kNan));
}

TEST_CASE("keeps large scores apart", "[l19][register_tiling][points:2]") {
  check_results(with_opposite_shifts(random_problem({1, 2, 20, 100, 16}), 1000.0f));
  check_results(with_large_scores(random_problem({1, 2, 40, 150, 32})));
  check_results(with_whole_scores(random_problem({1, 2, 40, 150, 16}, kCausal)));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    check_results(with_shifted_scores(random_problem({1, 2, 20, 100, 16}), shift));
  }
}

TEST_CASE("keeps lse as exact as float32 allows where every score is about 1000, or -1000",
          "[l19][register_tiling][points:2]") {
  for (const float score : {1000.0f, -1000.0f})
    check_results(with_scores_around(random_problem({1, 2, 40, 70, 16}), score));
}

TEST_CASE("takes any scale, 0 and less among them", "[l19][register_tiling][points:1]") {
  for (const float scale : {1.0f, 0.0f, -0.3f, 1e-30f, -1e-38f})
    check_results(with_scale(random_problem({1, 2, 20, 70, 16}, kCausal), scale));
}

TEST_CASE("follows a maximum that rises from tile to tile, and one that stays in the first",
          "[l19][register_tiling][points:2]") {
  for (const float step : {0.05f, -0.05f, 1.0f, -1.0f}) {
    INFO("from key to key, " << step << " is added to every score");
    check_results(with_slope(random_problem({1, 1, 24, 300, 8}), step));
  }
}

TEST_CASE("gives zeros where all scores of a row are -inf, and no weight to a score of -inf",
          "[l19][register_tiling][points:1]") {
  check_results(with_empty_rows(random_problem({1, 2, 12, 150, 8})));
  const Problem p = with_keys_of_minus_inf(random_problem({2, 2, 12, 150, 8}), 130);
  check_results(p);
  check_results(with_infinite_values(p));  // 0 times an infinity is NaN
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l19][register_tiling][points:1]") {
  for (const Int D : {20, 65}) check_results(with_not_numbers(random_problem(larger({2, 3, 31, 90, D}))));
}

TEST_CASE("keeps what the future holds away from the past", "[l19][register_tiling][points:1]") {
  // No query before the 128th sees these, and none of its tile: not even V is read.
  for (const Int D : {Int{8}, many_dimensions()})
    check(with_nan_keys(random_problem({1, 1, 150, 150, D}, kCausal), 128, 150));
}

TEST_CASE("gives 0 and -inf without keys, and launches nothing without queries",
          "[l19][register_tiling][points:1]") {
  check_nothing_to_do(kKernel);
  check_nothing_to_do(kKernel, kCausal);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l19][register_tiling][points:1]") {
  check_same_bits(kKernel, random_problem({1, 2, 130, 140, 8}, kCausal));
  check_same_bits(kKernel, random_problem(unknown_sizes_of_many_tiles()));
}

TEST_CASE("agrees with PyTorch", "[l19][register_tiling][points:1]") {
  for (const char* name : {"plain", "more_queries", "one_key", "minus_infinity", "minus_infinity_only"})
    check_results(golden_problem(name, 0.5f, false));
  check_results(golden_problem("fewer_queries", 0.37f, false));
  check_results(golden_problem("large_scores", 1.0f, false));
  for (const char* name : {"causal", "causal_more_queries", "causal_one_query", "minus_infinity_causal"})
    check_results(golden_problem(name, 0.5f, true));
  check_results(golden_problem("causal_width_one", 1.0f, true));
}

TEST_CASE("has no bank conflicts, in 64 dimensions and in 128", "[l19][register_tiling][points:3]") {
  for (const Int D : {64, 128}) {
    require_no_conflicts(random_problem({1, 1, 128, 128, D}));
    require_no_conflicts(nearly_full(D, D == 64));
  }
}

TEST_CASE("takes one wavefront of shared memory for 256 multiply-adds", "[l19][register_tiling][points:3]") {
  for (const Int D : {64, 128}) {
    check_wavefronts(random_problem({1, 1, 128, 128, D}));
    check_wavefronts(nearly_full(D, D == 128));
  }
  // Sizes that no kernel knows beforehand: as many, rounded up to tiles of 64, as to tiles of 128.
  Random random(case_seed());
  for (const Sizes& n :
       {Sizes{1, 1, random.integer(65, 110), random.integer(193, 240), random.integer(3, 60)},
        {1, 1, random.integer(193, 240), random.integer(65, 127), random.integer(3, 60)},
        {1, 1, random.integer(65, 127), random.integer(65, 110), random.integer(66, 126)}}) {
    const Problem p = random_problem(n, {.causal = random.integer(0, 1) == 1});
    const Outcome outcome = attention_tests::check(kKernel, p, kCounted);
    INFO(describe(p));
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_few_wavefronts(*profile, p);
    require_few_shuffles(*profile, p);
  }
  check_counted(kKernel, {.causal = Causal::choice}, [](const Profile& profile, const Problem& p) {
    require_few_wavefronts(profile, p, 1.0 / 16);  // few rows are no less work beside the products
    require_few_shuffles(profile, p);
  });
}

TEST_CASE("loads no keys that no query of the tile sees", "[l19][register_tiling][points:2]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Int Nq = random.integer(280, 310), Nk = Nq - random.integer(0, 20);
  const Sizes unknown{random.integer(1, 2), random.integer(1, 2), Nq, Nk, 8 * random.integer(1, 16)};
  require_skips_the_future(kKernel, random_problem(unknown, kCausal), 128);
  require_skips_the_future(kKernel, random_problem({1, 1, 128, 320, 8}, kCausal), 128);
  require_skips_the_future(kKernel, random_problem({1, 1, 256, 128, 8}, kCausal), 128);
  check_counted(kKernel, {.causal = Causal::choice}, [](const Profile& profile, const Problem& p) {
    require_loads_what_is_seen(profile, p, 64, 128);
    require_tiles_of_queries(profile, p);
  });
}

TEST_CASE(
    "launches one kernel, which reads K and V once for a tile and writes O and lse once, in whole sectors",
    "[l19][register_tiling][points:2]") {
  const Problem tame = random_problem({1, 2, 192, 136, 16});
  for (const Problem& p : {tame, with_growing_scores(tame, 1.0f)}) {
    INFO(describe(p));
    const Outcome outcome = attention_tests::check(kKernel, p, kCounted);
    const std::int64_t launches = outcome.counters.at("launches");
    require(launches == 1, "Your code launched " + std::to_string(launches) + " kernels; one does it all.");
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    const auto tiles = static_cast<std::uint64_t>((p.Nq() + 63) / 64);
    require_loads_at_most(*profile, bytes_of(p.Q) + tiles * (bytes_of(p.K) + bytes_of(p.V)),
                          "to read Q once, and K and V once for every 64 queries,");
    require_stores_outputs_once(kKernel, *profile, p);
    require_whole_sectors(*profile);
    const Int queries = queries_of_a_block(*profile, p);
    require(queries >= 64, "A block has " + std::to_string(queries) +
                               " queries; there should be one for each tile of 64 to 128 queries of a head.");
    require_busy_blocks(*profile, 0.5);
  }
}

TEST_CASE("refuses shapes that do not fit together", "[l19][register_tiling][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 3, 4, 7, 6}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l19][register_tiling][points:1]") {
  check_refuses_rows(kKernel, random_problem({1, 2, 4, 7, 6}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l19][register_tiling][points:1]") {
  check_results({1, 1, 5, 8, 7});
  check_reports_refused_launch(kKernel, random_problem({1, 66'000, 1, 1, 1}), CheckMode::never);
  for (const Int D : {8, 70})
    check_reports_refused_launch(kKernel, random_problem(larger({2, 2, 130, 20, D}), kCausal),
                                 CheckMode::never);
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::choice}, {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(flash2_forward_fast), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.lse, "lse"), p.scale, p.mask.causal);
  });
}
