// Tests of lesson 15: delta, dV, dK and dQ of flash2_backward against float64, within twice the error of
// plain float32 programs, and against central differences; and what it reads and writes.

#include "15_flash2_backward/flash2_backward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/drawn.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

// --- Mistakes of this lesson's own: where tiles begin and end ---

std::string of_tiles_of(Int width) { return " (That is what tiles of " + std::to_string(width) + " give.)"; }

/// What a product's second factor is where its tiles, of rows that pass by, are loaded otherwise than
/// transposed, from (0, first row) on.
void add_loading(Mistakes& to, const BackwardProblem& p, Gradient which, const char* not_transposed,
                 const char* start_exchanged, const Tensor<float>& x, const std::string& product,
                 const std::string& name) {
  const Int rows = x.shape()[2], dims = x.shape()[3];
  // Element (row, d) is that of `place`, and 0 where there is none.
  const auto add = [&](const std::string& mistake, const std::function<std::pair<Int, Int>(Int, Int)>& place,
                       const std::string& sentence) {
    const Reader reader{&x, [=, s = x.strides()](Int b, Int h, Int row, Int d) {
                          const auto [from, dim] = place(row, d);
                          if (from >= rows || dim >= dims) return kZeroAddress;
                          return b * s[0] + h * s[1] + from * s[2] + dim * s[3];
                        }};
    to.push_back(deviation(mistake, p, which, {.right = reader}, sentence));
  };
  const std::string first = which == Gradient::dQ ? "first_key" : "first_query";
  const std::string exchanged =
      "In " + product + ", rows and columns of " + name +
      " are exchanged: as they lie, the sum would run over dimensions. Load it with "
      "device::transposed().";
  add(
      not_transposed,
      [](Int row, Int d) {
        return std::pair{d, row};
      },
      exchanged);
  for (const Int width : {16, 32, 64, 128}) {
    add(
        not_transposed,
        [width](Int row, Int d) {
          return std::pair{row / width * width + d, row % width};
        },
        exchanged);
    if (width < rows)
      add(
          "first_tile_again",
          [width](Int row, Int d) {
            return std::pair{row % width, d};
          },
          "In " + product + ", every tile of " + name + " is the first one. A tile of device::transposed(" +
              name + ") begins at (0, " + first + ")." + of_tiles_of(width));
    // Where the last tiles are hidden from most queries, it could be an end that comes too early.
    if (width < rows && !p.mask.causal)
      add(
          start_exchanged,
          [width](Int row, Int d) {
            return std::pair{row % width, row / width * width + d};
          },
          "In " + product + ", every tile of " + name +
              " but the first comes from the wrong place. A tile of "
              "device::transposed(" +
              name + ") begins at (0, " + first + "): its rows are dimensions." +
              of_tiles_of(static_cast<int>(width)));
  }
}

/// Tiles for S and dP that begin at (0, first row) where they should begin at (first row, 0).
void add_starts(Mistakes& to, const BackwardProblem& p, Gradient which) {
  const auto add = [&](const std::string& name, const Tensor<float>& x, const char* matrix,
                       std::optional<Reader> GradientDeviation::*field) {
    const Int rows = x.shape()[2], dims = x.shape()[3];
    for (const Int width : {16, 32, 64, 128}) {
      if (width >= rows) break;
      GradientDeviation how;
      how.*field = Reader{&x, [=, s = x.strides()](Int b, Int h, Int row, Int d) {
                            const Int from = row % width, dim = row / width * width + d;
                            return dim < dims ? b * s[0] + h * s[1] + from * s[2] + dim * s[3] : kZeroAddress;
                          }};
      if (which == Gradient::dK) how.right = right(p.Q);  // loaded once more for the product, and rightly
      if (which == Gradient::dQ) how.right = right(p.K);
      const std::string first = name == "K" || name == "V" ? "first_key" : "first_query";
      to.push_back(
          deviation("start_exchanged", p, which, std::move(how),
                    std::string("In ") + matrix + ", every tile of " + name +
                        " but the first comes from the wrong place. load_tile() takes the row first: the "
                        "tile begins at (" +
                        first + ", 0)." + of_tiles_of(width)));
    }
  };
  add("Q", p.Q, "S", &GradientDeviation::Q);
  add("K", p.K, "S", &GradientDeviation::K);
  if (which == Gradient::dV) return;
  add("dO", p.dO, "dP", &GradientDeviation::dO_in_dP);
  add("V", p.V, "dP", &GradientDeviation::V);
}

/// The sum so far is multiplied by the scale with every tile that it takes in.
void add_scaling(Mistakes& to, const BackwardProblem& p, Gradient which) {
  const Int offset = p.Nk() - p.Nq();
  const bool by_keys = which == Gradient::dK;
  for (const Int width : {16, 32, 64, 128}) {
    if (width >= (by_keys ? p.Nq() : p.Nk())) continue;  // one tile
    const auto times = [&p, width, offset, by_keys](Int i, Int j) {
      const Int last_query = std::min((i / width + 1) * width, p.Nq()) - 1;
      const Int last = by_keys ? p.Nq() - 1 : p.mask.causal ? last_query + offset : p.Nk() - 1;
      return std::pow(static_cast<double>(p.scale), last / width - (by_keys ? i : j) / width);
    };
    to.push_back(deviation(
        "scaled_in_every_tile", p, which, {.times = times},
        std::string(name_of(which)) + " is scaled once for every tile of " + (by_keys ? "queries" : "keys") +
            ": what the earlier tiles gave is scaled again. Scale it after the loop." + of_tiles_of(width)));
  }
}

/// Causal loops that begin or end at the wrong tile.
void add_ranges(Mistakes& to, const BackwardProblem& p, Gradient which) {
  const Int offset = p.Nk() - p.Nq();
  const auto add = [&](const char* name, Int width, std::function<bool(Int i, Int j)> met,
                       const std::string& sentence) {
    to.push_back(deviation(name, p, which,
                           {.sees = [&p, met](Int i, Int j) { return p.sees(i, j) && met(i, j); }},
                           sentence + of_tiles_of(static_cast<int>(width))));
  };
  for (const Int width : {64, 32}) {
    if (which != Gradient::dQ) {
      to.push_back(nan_where(
          "first_query_below_0", [=](const Index& at) { return at[2] / width * width - offset <= -width; },
          "first_query is less than 0 where first_key is less than Nk - Nq, and what lies before Q is read. "
          "All queries see such keys: the loop begins with query 0." +
              of_tiles_of(static_cast<int>(width))));
      if (offset != 0)
        add(
            "first_query_offset_negated", width,
            [=](Int i, Int j) { return i >= std::max<Int>(j / width * width + offset, 0) / width * width; },
            "The loop over queries begins with first_key + (Nk - Nq). The first query that sees key j is "
            "j - (Nk - Nq).");
      continue;
    }
    const auto rounded_up = [width](Int key) { return (std::max<Int>(key, 0) + width - 1) / width * width; };
    const auto last = [&p, width, offset](Int i) {
      return std::min(i / width * width + width, p.Nq()) - 1 + offset;
    };
    add(
        "last_key_missing", width, [=](Int i, Int j) { return j < rounded_up(last(i)); },
        "The loop over keys ends one key early: where the last query of the tile stands at the first key of "
        "a tile, that tile is left out.");
    add(
        "late_tiles_missing", width,
        [=](Int i, Int j) { return j < rounded_up(i / width * width + offset + 1); },
        "The loop over keys ends with the position of the tile's first query. The last query sees more.");
  }
}

/// Whether exp(0 - lse), the weight of a key that is not there, is more than float32 can hold.
bool weighs_zeros_infinitely(float lse) { return std::isfinite(lse) && std::isinf(std::exp(-lse)); }

/// NaN of queries and keys past the last one, which are zeros in shared memory.
void add_tails(Mistakes& to, const BackwardProblem& p, Gradient which) {
  bool some_finitely = false;  // else all of dQ would be NaN, which proves nothing
  for (Int i = 0; i < p.lse.numel(); ++i)
    some_finitely = some_finitely || !weighs_zeros_infinitely(p.lse.at_linear(i));
  if (which == Gradient::dQ && !p.mask.causal && some_finitely)
    to.push_back(nan_where(
        "key_past_the_end_counts",
        [&p](const Index& at) { return weighs_zeros_infinitely(p.lse(at[0], at[1], at[2])); },
        "Keys past the last one count: their score is 0, exp(0 - lse) is infinite where lse is less than "
        "-88, and that times their row of K, which holds zeros, is NaN. Their P has to be 0."));
  if (which == Gradient::dK)
    to.push_back(nan_where(
        "query_past_the_end_counts",
        [&p](const Index& at) {
          for (Int d = 0; d < p.D(); ++d)
            if (!std::isfinite(p.V(at[0], at[1], at[2], d))) return true;
          return false;
        },
        "A query past the last one has the weight exp(0 - 0) = 1 here, and its dP, 0 times an infinity in V, "
        "is NaN. With -INFINITY for its lse the weight is 0."));
}

Mistakes own_mistakes(const BackwardProblem& p, Gradient which) {
  Mistakes mistakes;
  if (which == Gradient::delta) return mistakes;
  const bool by_keys = which != Gradient::dQ;
  const Int offset = p.Nk() - p.Nq();
  for (const Int width : {16, 32, 64, 128}) {
    if (p.mask.causal) {
      const auto met = [&p, width, offset, by_keys](Int i, Int j) {
        const Int first_query = i / width * width, first_key = j / width * width;
        return by_keys ? first_query >= std::max(first_key - offset, Int{0}) / width * width
                       : first_key < std::min(first_query + width, p.Nq()) + offset;
      };
      mistakes.push_back(deviation(
          "causal_ignored", p, which,
          {.sees = [&p, met, offset](Int i, Int j) { return i + offset >= 0 && j < p.Nk() && met(i, j); }},
          "Keys past the query's position are seen." + of_tiles_of(width)));
    }
    if (by_keys && p.mask.causal)
      mistakes.push_back(deviation("first_query_rounded_up", p, which,
                                   {.sees =
                                        [&p, width, offset](Int i, Int j) {
                                          const Int first = std::max(j / width * width - offset, Int{0});
                                          return p.sees(i, j) && i >= (first + width - 1) / width * width;
                                        }},
                                   "The loop over queries begins a tile too late: the first query that sees "
                                   "a key of the tile lies in the "
                                   "middle of a tile, and what is left of that tile belongs to the sum." +
                                       of_tiles_of(width)));
  }
  if (which == Gradient::dV)
    add_loading(mistakes, p, which, "do_not_transposed", "do_start_exchanged", p.dO, "dV = Pᵀ·dO", "dO");
  if (which == Gradient::dK)
    add_loading(mistakes, p, which, "q_not_transposed", "q_start_exchanged", p.Q, "dK = dSᵀ·Q·scale", "Q");
  if (which == Gradient::dQ)
    add_loading(mistakes, p, which, "k_not_transposed", "k_start_exchanged", p.K, "dQ = dS·K·scale", "K");
  add_starts(mistakes, p, which);
  add_tails(mistakes, p, which);
  if (which != Gradient::dV) add_scaling(mistakes, p, which);
  if (p.mask.causal) add_ranges(mistakes, p, which);
  if (!by_keys)
    mistakes.push_back(
        deviation("zero_times_nan", p, which, {.hidden_counts = true},
                  "Where P is 0, dS is 0, whatever dP holds; but 0 times an infinity is NaN."));
  return mistakes;
}

// --- Calls ---

Outcome attend_backward(const BackwardProblem& p, Backward& got, const CallOptions& options) {
  return call_with(options, ENTRY(flash2_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), in(p.O, "O"),
                   in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"), out(got.dQ, "dQ"),
                   out(got.dK, "dK"), out(got.dV, "dV"), p.scale, p.mask.causal);
}

const BackwardKernel kKernel{.attend_backward = attend_backward,
                             .takes = {.causal = Causal::choice},
                             .own_mistakes = own_mistakes,
                             .load_limit = tensors_read_for(64),
                             .stores_once = true};

const reference::Mask kCausal{.causal = true};

/// The notes' two queries and two keys: scores of query 0 ln 3 and 0, of query 1 ln 3 and ln 21. S and dO are
/// not symmetric, and the scale is neither 1 nor 1/2, so that mistakes with them differ from others.
BackwardProblem problem_of_the_notes() {
  Problem p{Tensor<float>({1, 1, 2, 2}), Tensor<float>({1, 1, 2, 2}), Tensor<float>({1, 1, 2, 2}), 0.25f};
  p.Q(0, 0, 0, 0) = p.Q(0, 0, 1, 0) = p.Q(0, 0, 1, 1) = 4.0f;
  p.K(0, 0, 0, 0) = std::log(3.0f);
  p.K(0, 0, 1, 1) = std::log(21.0f);
  p.V(0, 0, 0, 0) = 8.0f;
  p.V(0, 0, 1, 0) = 4.0f;
  p.V(0, 0, 1, 1) = 8.0f;
  Tensor<float> dO({1, 1, 2, 2});
  dO(0, 0, 0, 0) = 1.0f;
  dO(0, 0, 0, 1) = 2.0f;
  dO(0, 0, 1, 0) = -2.0f;
  dO(0, 0, 1, 1) = 1.0f;
  return with_gradient(p, std::move(dO));
}

/// One result of the notes' example alone, and that the notes have the right numbers. Without check mode,
/// which looks at the kernels of the other results, too: the next case has it.
void check_notes(Gradient which, const std::vector<double>& numbers) {
  const BackwardProblem p = problem_of_the_notes();
  BackwardKernel kernel = kKernel;
  kernel.outputs = {which};
  check_values(kernel, p);
  const Tensor<double> expected = expected_of(p).of(which);
  for (Int i = 0; i < expected.numel(); ++i)
    require(std::abs(expected.at_linear(i) - numbers.at(static_cast<std::size_t>(i))) < 1e-6,
            "The notes have another number than the reference for " + std::string(name_of(which)) + ".");
  check_values(kernel, random_problem({1, 1, 2, 2, 2}));  // which no kernel has by heart
}

/// Which kernels with tiles read as much with the causal mask as without; "" if none does.
std::string kernels_that_skip_nothing(const Profile& all, const Profile& causal) {
  if (all.launches.size() != causal.launches.size()) return "";
  std::string text;
  for (std::size_t i = 0; i < all.launches.size(); ++i) {
    const simt::LaunchProfile &one = all.launches[i], &same = causal.launches[i];
    const std::string name = one.kernel.substr(0, one.kernel.find('<'));
    if (name == same.kernel.substr(0, same.kernel.find('<')) && one.total.shared_load.requests > 0 &&
        one.total.global_load.bytes <= same.total.global_load.bytes)
      text += " " + name + " reads as much with causal as without: which tiles does its loop pass by?";
  }
  return text;
}

}  // namespace

TEST_CASE("computes delta of the two queries of the notes", "[l15][flash2_backward][points:1]") {
  check_notes(Gradient::delta, {11, -2});
}

TEST_CASE("computes dV of the two keys of the notes", "[l15][flash2_backward][points:2]") {
  check_notes(Gradient::dV, {1.0 / 2, 13.0 / 8, -3.0 / 2, 11.0 / 8});
}

TEST_CASE("computes dK of the two keys of the notes", "[l15][flash2_backward][points:2]") {
  check_notes(Gradient::dK, {-4, -7.0 / 4, 4, 7.0 / 4});
}

TEST_CASE("computes dQ of the two queries of the notes", "[l15][flash2_backward][points:2]") {
  const double ln3 = std::log(3.0), ln21 = std::log(21.0);
  check_notes(Gradient::dQ, {-9.0 / 16 * ln3, 9.0 / 16 * ln21, -7.0 / 16 * ln3, 7.0 / 16 * ln21});
}

TEST_CASE("shows P and dS where dO is the identity, and Q or K is", "[l15][flash2_backward][points:1]") {
  check_intermediates(kKernel, 8);
}

TEST_CASE("makes gradients of 1 to 300 queries and as many keys", "[l15][flash2_backward][points:1]") {
  // The first with two tiles has more dimensions than a tile has rows: what is loaded from elsewhere shows.
  for (Int N = 1; N <= 300; N += 42) check_values(kKernel, random_problem({1, 1, N, N, N == 85 ? 100 : 6}));
  check_values(kKernel, random_problem({1, 1, 300, 300, 3}));
}

TEST_CASE("makes gradients of fewer keys than queries, and of more", "[l15][flash2_backward][points:1]") {
  for (const Int N : {3, 40, 97, 190, 270}) check_values(kKernel, random_problem({1, 1, 273 - N, N, 4}));
}

TEST_CASE("makes gradients around the edges of tiles", "[l15][flash2_backward][points:1]") {
  check(kKernel, random_problem({1, 1, 65, 66, 5}));
  for (const auto& [Nq, Nk] :
       {std::pair<Int, Int>{63, 64}, {64, 63}, {64, 64}, {65, 63}, {63, 65}, {130, 65}, {65, 130}, {31, 33}})
    check_values(kKernel, random_problem({1, 1, Nq, Nk, 5}));
}

TEST_CASE("makes gradients of one query, one key, one dimension, and a few",
          "[l15][flash2_backward][points:1]") {
  check(kKernel, random_problem({1, 1, 1, 1, 1}));
  for (const Sizes& n : {Sizes{2, 2, 1, 1, 1}, {1, 1, 5, 1, 3}, {1, 2, 1, 7, 2}, {1, 1, 3, 2, 1}})
    check_values(kKernel, random_problem(n));
}

TEST_CASE("makes gradients in 1, 16, 64, 100 and 128 dimensions", "[l15][flash2_backward][points:1]") {
  check(kKernel, random_problem({1, 1, 20, 75, 128}));
  for (const Int D : {1, 16, 64, 65, 100, 127}) check_values(kKernel, random_problem({1, 1, 70, 75, D}));
}

TEST_CASE("keeps several batches and heads apart", "[l15][flash2_backward][points:1]") {
  check(kKernel, random_problem({2, 1, 20, 33, 16}));
  check_values(kKernel, random_problem({1, 3, 33, 20, 16}));
  check_values(kKernel, random_problem({2, 3, 30, 66, 37}));
}

TEST_CASE("makes gradients of as many queries and keys as dimensions", "[l15][flash2_backward][points:1]") {
  // A matrix that should have been transposed has the right shape here.
  check_values(kKernel, random_problem({1, 2, 40, 40, 40}));
  check_values(kKernel, random_problem({1, 1, 64, 64, 64}));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l15][flash2_backward][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  Problem p = random_problem({2, 3, 20, 40, 16});
  check_values(kKernel,
               with_layouts_of_gradients(with_gradient(with_layouts(p, outside, inside, outside, inside)),
                                         outside, inside, outside, inside, outside));
  p.layout_of_lse = inside;
  check_values(kKernel,
               with_layouts_of_gradients(with_gradient(with_layouts(p, inside, outside, inside, outside)),
                                         inside, outside, inside, outside, inside));
  check_drawn(kKernel);
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l15][flash2_backward][points:1]") {
  check_shifted(kKernel, with_gradient(random_problem({1, 2, 20, 24, 16})));
  check_odd_rows(kKernel, {{.causal = true}, {}});
  check(kKernel, with_gaps(with_gradient(random_problem({1, 2, 35, 41, 18}))));
  check_values(kKernel, with_gaps(with_gradient(random_problem({1, 2, 35, 41, many_dimensions()})), kNan));
}

TEST_CASE("keeps large scores apart", "[l15][flash2_backward][points:1]") {
  {  // first what tells weights that overflow from scores that are wrong everywhere
    INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
    check_values(kKernel, with_opposite_shifts(random_problem({1, 2, 20, 70, 16}), 1000.0f));
  }
  check_values(kKernel, with_large_scores(random_problem({1, 2, 40, 90, 16})));
  check_values(kKernel, with_whole_scores(random_problem({1, 2, 40, 90, 16})));
  for (const float shift : {1000.0f, -1000.0f}) {
    INFO("about " << shift << " added to every score");
    check_values(kKernel, with_shifted_scores(random_problem({1, 2, 20, 70, 16}), shift));
  }
}

TEST_CASE("hides keys whose scores are far above those that are seen", "[l15][flash2_backward][points:1]") {
  check_values(kKernel, with_growing_scores(random_problem({1, 2, 70, 70, 16}, kCausal), 4.0f));
  // Whatever finite score takes the place of a hidden one is above these.
  check_values(kKernel, with_shifted_scores(random_problem({1, 2, 70, 70, 16}, kCausal), -20000.0f));
}

TEST_CASE("gives no weight to scores of -inf, whole tiles of them among others",
          "[l15][flash2_backward][points:1]") {
  check_values(kKernel, with_gradient(with_scores_of_minus_inf(random_problem({1, 2, 12, 150, 8}), 130)));
}

TEST_CASE("shows keys only to queries at their position or behind it", "[l15][flash2_backward][points:2]") {
  check(kKernel, random_problem({1, 1, 65, 65, 8}, kCausal));
  for (const Int N : {1, 2, 63, 64, 130, 200, 300})
    check_values(kKernel, random_problem({1, 1, N, N, 4}, kCausal));
  check_values(kKernel, random_problem({2, 3, 66, 66, 20}, kCausal));
  check_values(kKernel, random_problem({1, 1, 66, 100, 4}, kCausal));  // tells a loop from a mask
  check_intermediates(kKernel, 8, kCausal);
}

TEST_CASE("puts the last query at the last key where there are more keys than queries",
          "[l15][flash2_backward][points:1]") {
  check_values(kKernel, random_problem({1, 1, 66, 166, 4}, kCausal));
  check(kKernel, random_problem({1, 1, 66, 100, 8}, kCausal));
  for (const auto& [Nq, Nk] :
       {std::pair<Int, Int>{65, 193}, {1, 65}, {100, 140}, {10, 130}, {130, 131}, {64, 65}, {3, 65}, {2, 64}})
    check_values(kKernel, random_problem({1, 1, Nq, Nk, 4}, kCausal));
}

namespace {

/// Five queries, whose gradients are those of `five`, and a sixth whose scores are -inf in float32, although
/// it sees every key: its lse is -inf, its O is 0. It has no part in dK and dV.
void check_query_without_weights() {
  constexpr Int kQueries = 5;
  Problem five = random_problem({1, 1, kQueries, 7, 4});
  for (Int i = 0; i < kQueries; ++i) five.Q(0, 0, i, 0) = 0.0f;
  for (Int j = 0; j < five.Nk(); ++j) five.K(0, 0, j, 0) = 10.0f;
  const BackwardProblem of_five = with_gradient(five);
  Problem six = random_problem({1, 1, kQueries + 1, 7, 4});
  six.K = five.K, six.V = five.V;
  BackwardProblem p = with_gradient(six);
  for (Int d = 0; d < p.D(); ++d) {
    for (Int i = 0; i < kQueries; ++i) {
      p.Q(0, 0, i, d) = five.Q(0, 0, i, d);
      p.O(0, 0, i, d) = of_five.O(0, 0, i, d);
      p.dO(0, 0, i, d) = of_five.dO(0, 0, i, d);
    }
    p.Q(0, 0, kQueries, d) = d == 0 ? -1e38f : 0.0f;
    p.O(0, 0, kQueries, d) = 0.0f;
  }
  for (Int i = 0; i < kQueries; ++i) p.lse(0, 0, i) = of_five.lse(0, 0, i);
  p.lse(0, 0, kQueries) = -kInf;

  INFO(describe(p) << "; query 5, whose scores are -inf, has an lse of -inf");
  Backward got = results_of(p);
  require_ran(kKernel.attend_backward(p, got, {}));
  const Backward64 expected = expected_of(of_five);
  const Backward baseline = in_float32(of_five, expected);
  const auto all_nan = [](const Tensor<float>& x) {
    for (Int i = 0; i < x.numel(); ++i)
      if (!std::isnan(x.at_linear(i)) || is_poison(x.at_linear(i))) return false;
    return true;
  };
  const Mistakes mistakes{
      shows("lse_of_minus_inf_unguarded", all_nan,
            "Where lse is -inf, no score counts: P is 0 there, whatever exp(S - lse) is.")};
  require_matches(got.dV, "dV", expected.dV, baseline.dV, mistakes);
  require_matches(got.dK, "dK", expected.dK, baseline.dK, mistakes);
  for (Int d = 0; d < p.D(); ++d)
    require(got.dQ(0, 0, kQueries, d) == 0.0f,
            "dQ of query 5 is " + std::to_string(got.dQ(0, 0, kQueries, d)) + "; without weights it is 0.");
}

}  // namespace

TEST_CASE("gives queries that see no key a dQ of 0 and no part in dK and dV",
          "[l15][flash2_backward][points:1]") {
  check(kKernel, random_problem({1, 1, 130, 10, 8}, kCausal));
  for (const auto& [Nq, Nk] :
       {std::pair<Int, Int>{2, 1}, {65, 1}, {140, 100}, {128, 64}, {193, 65}, {133, 130}})
    check_values(kKernel, random_problem({1, 1, Nq, Nk, 4}, kCausal));
  check_query_without_weights();
}

TEST_CASE("lets no value enter dS where the weight is 0", "[l15][flash2_backward][points:1]") {
  for (const Int D : {8, 65}) {
    Problem p = random_problem(larger({1, 2, 40, 50, D}), kCausal);
    p.V(0, 0, p.Nk() - 1, 3) = kInf;  // seen by the last query alone
    p.V(0, 0, 30, 0) = kNan;
    check_values(kKernel, p);
    p.V(0, 1, 30, 0) = kInf;  // and so is delta of those who see it: no part for the keys that they do not
    check_values(kKernel, p);
    Problem unseen = with_scores_of_minus_inf(random_problem(larger({1, 2, 40, 50, D})), 30);
    unseen.V(0, 0, 7, 3) = kInf;  // nor that of a query which is not there
    check_values(kKernel, unseen);
  }
}

TEST_CASE("lets a weight that is not 0 enter dS, however small it is", "[l15][flash2_backward][points:1]") {
  check_small_weights(kKernel);
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l15][flash2_backward][points:1]") {
  for (const Int D : {20, 65})
    check_values(kKernel, with_not_numbers(random_problem(larger({2, 3, 31, 70, D}))));
  check_values(kKernel, with_not_numbers_of_results(with_gradient(random_problem(larger({1, 3, 7, 9, 8})))));
}

TEST_CASE("agrees with central differences of the loss", "[l15][flash2_backward][points:1]") {
  check_differences(kKernel, with_gradient(random_problem({1, 2, 5, 7, 3})));
  check_differences(kKernel, with_gradient(random_problem({1, 1, 6, 4, 5}, kCausal)));
}

TEST_CASE("gives 0 where there are no keys or no queries to sum over", "[l15][flash2_backward][points:1]") {
  check_nothing_to_do(kKernel);
  check_nothing_to_do(kKernel, kCausal);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l15][flash2_backward][points:1]") {
  check_same_bits(kKernel, with_gradient(random_problem({1, 1, 140, 140, 8}, kCausal)));
  Random random(case_seed());  // tiles of keys, of which no kernel knows how many beforehand
  check_same_bits(kKernel, with_gradient(random_problem({1, 2, random.integer(20, 90),
                                                         random.integer(150, 290), random.integer(3, 9)})));
}

namespace {

/// What the contract allows to be read where so many pairs of tiles meet, for one head: O and dO for delta;
/// for each pair, Q, dO, K and V twice; Q, dO, K and V once more for the tiles that stay; lse and delta with
/// every pair.
std::uint64_t bytes_allowed(const BackwardProblem& p, std::uint64_t pairs) {
  const std::uint64_t tile = 64 * 4 * static_cast<std::uint64_t>(p.D()), row = 64 * 4;
  return 4 * bytes_of(p.Q) + 2 * bytes_of(p.K) + pairs * (8 * tile + 2 * 16 * row);
}

}  // namespace

TEST_CASE("reads tiles as often as the contract says, in whole sectors, and stores each result once",
          "[l15][flash2_backward][points:2]") {
  // Every row begins at a multiple of 32 bytes.
  const BackwardProblem p = with_gradient(random_problem({1, 1, 128, 128, 64}));
  const Outcome outcome = check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  require_loads_at_most(*profile, bytes_allowed(p, 4),
                        "to read Q, dO, K and V twice for every 64 rows that they meet");
  require_full_use(*profile);
  require_no_atomics(*profile);

  const Outcome of_whole_rows =
      check(kKernel, with_gradient(random_problem(unknown_sizes_of_whole_sectors())), kCounted);
  if (const Profile* of_rows = profile_of(of_whole_rows)) require_full_use(*of_rows);

  // No block does what several could share.
  for (const Sizes& n : {Sizes{1, 8, 70, 70, 8}, unknown_sizes_of_many_heads()}) {
    const Outcome of_heads = check(kKernel, with_gradient(random_problem(n)), kCounted);
    if (const Profile* of_blocks = profile_of(of_heads)) {
      require_busy_blocks(*of_blocks, 0.25);
      require_no_atomics(*of_blocks);
    }
  }
  check_counted(kKernel, [](const Profile& of_drawn, const BackwardProblem& drawn) {
    require_loads_what_meets(of_drawn, drawn);
    require_no_atomics(of_drawn);
  });
}

namespace {

/// So many tiles of 64 queries meet 64 keys, without causal and with it: then the last tile alone sees any.
void check_hidden_tiles(Int tiles, Int D) {
  std::optional<Profile> all, causal;
  std::uint64_t staying = 0;
  const Int Nq = 64 * tiles;
  for (const bool masked : {false, true}) {
    const BackwardProblem p = with_gradient(random_problem({1, 1, Nq, 64, D}, {.causal = masked}));
    // O and dO for delta, and of each other tensor what stays with its block, whatever the mask hides.
    staying = 4 * bytes_of(p.Q) + 2 * bytes_of(p.K);
    const Outcome outcome = check(kKernel, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    if (!masked)  // what is left out with causal is left out of this
      require_loads_at_most(*profile, bytes_allowed(p, static_cast<std::uint64_t>(tiles)),
                            "to read Q, dO, K and V twice for every 64 rows that they meet");
    else  // a tile of 64 queries meets the keys, or one of 128
      require_loads_at_most(*profile, bytes_allowed(p, 2),
                            "with causal, to read Q, dO, K and V twice for the "
                            "tile of queries that sees a key,");
    (masked ? causal : all) = *profile;
  }
  const std::uint64_t bytes = causal->global_load.bytes, without = all->global_load.bytes;
  const std::uint64_t most = staying + (without - std::min(without, staying)) / 2;  // a third is needed
  require(bytes <= most, "With causal, your code reads " + std::to_string(bytes) + " bytes, and without it " +
                             std::to_string(without) + ". Of " + std::to_string(Nq) +
                             " queries, only the last 64 see a key: that takes at most " +
                             std::to_string(most) + "." + kernels_that_skip_nothing(*all, *causal));
}

}  // namespace

TEST_CASE("does not read tiles that are hidden throughout", "[l15][flash2_backward][points:1]") {
  check_hidden_tiles(3, 32);
  Random random(case_seed());
  check_hidden_tiles(random.integer(3, 4), 8 * random.integer(1, 3));  // which no kernel knows beforehand
  check_meeting_tiles(kKernel, mostly_blind(false));
}

TEST_CASE("refuses shapes that do not fit together", "[l15][flash2_backward][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 3, 4, 5, 6}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l15][flash2_backward][points:1]") {
  check_refuses_rows(kKernel, random_problem({1, 2, 4, 5, 6}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l15][flash2_backward][points:1]") {
  check_values(kKernel, random_problem({1, 1, 3, 2, 1}));
  // More heads than a grid has blocks along y or z; and, in the simulator, a grid of one block along x.
  check_reports_refused_launch(kKernel, with_gradient(random_problem({1, 66'000, 1, 1, 1})),
                               CheckMode::never);
  for (const Int D : {8, 70})
    for (const Sizes& n :
         {larger({2, 2, 130, 20, D}), larger_of_one_query({1, 1, 1, 70, D})})  // of dK and dV
      check_reports_refused_launch(kKernel, with_gradient(random_problem(n)), CheckMode::never);
}

COURSE_GRADCHECK(GradcheckContext& check) { gradcheck_attention_backward(check, kKernel); }

COURSE_RUN(RunContext& run) {
  run_attention_backward(run, {.causal = Causal::choice}, [&](const BackwardProblem& p, Backward& got) {
    run.call(ENTRY(flash2_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), in(p.O, "O"), in(p.lse, "lse"),
             in(p.dO, "dO"), out(got.delta, "delta"), out(got.dQ, "dQ"), out(got.dK, "dK"), out(got.dV, "dV"),
             p.scale, p.mask.causal);
  });
}
