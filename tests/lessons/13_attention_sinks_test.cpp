// Tests of lesson 13: O and lse of attention_with_sinks against float64, within twice the error of a plain
// float32 attention; and that no tile is loaded twice, nor one between the sinks and the window.

#include "13_attention_sinks/attention_sinks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::attention_tests;

namespace {

constexpr double kInf64 = std::numeric_limits<double>::infinity();

/// The only mask that this lesson has.
reference::Mask seeing(Int window, Int sinks) { return {.causal = true, .window = window, .sinks = sinks}; }

Problem with_sink_of(Problem p, float sink) {
  p.sink = Tensor<float>({p.H()}, sink);
  return p;
}

// --- Which well-known mistake explains a wrong result ---

/// What comes out if key j counts times(i, j) times for query i, beside a sink of sink(b, h).
Tensor<double> counting(const Problem& p, Which which, const std::function<Int(Int i, Int j)>& times,
                        const std::function<double(Int b, Int h)>& sink) {
  const Tensor<double> S = attention_of(p).S;
  const Reader V = right(p.V);
  Tensor<double> result(which == Which::O ? p.shape_of_O() : p.shape_of_lse());
  double* to = result.data();
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i) {
        double m = sink(b, h);
        for (Int j = 0; j < p.Nk(); ++j) m = std::max(m, S(b, h, i, j));
        const auto exp_of = [m](double x) { return x == -kInf64 ? 0 : std::exp(x - m); };
        double l = exp_of(sink(b, h));
        const auto weight = [&](Int j) {
          return static_cast<double>(p.sees(i, j) ? times(i, j) : 0) * exp_of(S(b, h, i, j));
        };
        for (Int j = 0; j < p.Nk(); ++j) l += weight(j);
        if (which == Which::lse) {
          *to++ = l == 0 ? -kInf64 : m + std::log(l);
          continue;
        }
        for (Int j = 0; j < p.Nk(); ++j)
          if (const double w = weight(j); w != 0)
            for (Int d = 0; d < p.D(); ++d) to[d] += w / l * V(b, h, j, d);
        to += p.D();
      }
  return result;
}

double right_sink(const Problem& p, Int h) { return p.sink ? static_cast<double>((*p.sink)(h)) : -kInf64; }

/// Queries and keys of a tile, as a student may choose them.
struct TileSizes {
  Int queries, keys;
};

/// Where tiles are too large to make a difference, the next larger ones would be the same.
std::vector<TileSizes> tile_sizes(const Problem& p) {
  std::vector<TileSizes> all;
  for (const Int queries : {16, 32, 64, 128})
    for (const Int keys : {16, 32, 64, 128})
      if ((queries == 16 || queries / 2 < p.Nq()) && (keys == 16 || keys / 2 < p.Nk()))
        all.push_back({queries, keys});
  return all;
}

/// The first key of the first tile that holds keys of the window, for query i.
Int first_tile(const Problem& p, const TileSizes& tile, Int i) {
  const Int first_position = i / tile.queries * tile.queries + p.Nk() - p.Nq();
  const Int begin = p.mask.window > first_position ? 0 : first_position - p.mask.window + 1;
  return begin / tile.keys * tile.keys;
}

/// Whether key j lies in a tile that query i's tile visits, and whether that tile is taken as whole.
bool visited(const Problem& p, const TileSizes& tile, Int i, Int j) {
  const Int last_query = std::min(i / tile.queries * tile.queries + tile.queries, p.Nq()) - 1,
            begin = j / tile.keys * tile.keys;
  return (begin < p.mask.sinks || begin >= first_tile(p, tile, i)) && begin <= last_query + p.Nk() - p.Nq();
}
bool whole(const Problem& p, const TileSizes& tile, Int i, Int j) {
  const Int first_query = i / tile.queries * tile.queries, past = p.Nk() - p.Nq(),
            last_query = std::min(first_query + tile.queries, p.Nq()) - 1, begin = j / tile.keys * tile.keys,
            window = std::min(p.mask.window, p.Nk());
  return last_query + past - window + 1 <= begin && begin + tile.keys <= first_query + past + 1;
}

/// Mistakes with the mask and with the ranges, of tiles as they are visited.
void add_visits(Mistakes& to, const Problem& p, Which which) {
  const Int past = p.Nk() - p.Nq(), window = std::min(p.mask.window, p.Nk()), sinks = p.mask.sinks;
  for (const TileSizes& tile : tile_sizes(p)) {
    const auto add = [&](const char* name, std::function<bool(Int i, Int j)> masked, const char* sentence) {
      to.push_back(deviation(name, p, which,
                             {.sees =
                                  [=, &p, masked = std::move(masked)](Int i, Int j) {
                                    return visited(p, tile, i, j) && (whole(p, tile, i, j) || masked(i, j));
                                  }},
                             sentence));
    };
    if (past != 0)
      add(
          "window_top_left", [=](Int i, Int j) { return j <= i + past && (j > i - window || j < sinks); },
          "The window is counted from key i. It is counted from key i + Nk - Nq, the query's position.");
    if (sinks > 0) {
      add(
          "sinks_hidden",
          [=](Int i, Int j) { return j <= i + past && (j > i + past - window || j >= sinks); },
          "The sinks are hidden, and keys between them and the window are seen: that is the reverse of what "
          "the mask is for.");
      add(
          "sinks_of_whole_tiles",
          [=](Int i, Int j) {
            return j <= i + past && (j > i + past - window || j / tile.keys * tile.keys < sinks);
          },
          "A whole tile counts as sinks where the first of its keys is one. Only keys below `sinks` are.");
    }
    to.push_back(deviation(
        "late_tiles_missing", p, which,
        {.sees =
             [=, &p](Int i, Int j) {
               return p.sees(i, j) && j / tile.keys * tile.keys <= i / tile.queries * tile.queries + past;
             }},
        "The tiles of keys end with the first query's position. The last query sees more."));
  }
}

void add_sink_tokens(Mistakes& to, const Problem& p, Which which) {
  if (p.mask.sinks == 0) return;
  const auto in_window = [&p](Int i, Int j) { return i + p.Nk() - p.Nq() - j < p.mask.window; };
  const auto shows = [&](const char* name, std::function<bool(Int i, Int j)> seen, const char* sentence) {
    bool any = false;  // who sees nothing at all may have made any mistake
    for (Int i = 0; i < p.Nq() && !any; ++i)
      for (Int j = 0; j < p.Nk() && !any; ++j) any = seen(i, j);
    if (!any) return;
    to.push_back(deviation(name, p, which, {.sees = std::move(seen)}, sentence));
  };
  const auto counts = [&](std::function<Int(Int i, Int j)> times) {
    to.push_back(gives(
        "counted_twice",
        [&p, which, times] {
          return counting(p, which, times, [&p](Int, Int h) { return right_sink(p, h); });
        },
        "Keys count twice: as sinks, and once more in the window. A tile may hold keys of both, and is to be "
        "visited once."));
  };

  shows(
      "window_and_sinks",
      [=, &p](Int i, Int j) { return p.sees(i, j) && in_window(i, j) && j < p.mask.sinks; },
      "A query sees only keys that are sinks as well as in its window. One of the two is enough.");
  counts([=, &p](Int i, Int j) { return j < p.mask.sinks && in_window(i, j) ? 2 : 1; });
  for (const TileSizes& tile : tile_sizes(p)) {
    const auto begin_of = [tile](Int j) { return j / tile.keys * tile.keys; };
    counts(
        [=, &p](Int i, Int j) { return begin_of(j) < p.mask.sinks && j >= first_tile(p, tile, i) ? 2 : 1; });
    counts([=, &p](Int i, Int j) { return j < p.mask.sinks && j >= first_tile(p, tile, i) ? 2 : 1; });
    shows(
        "tiles_of_sinks_missing",
        [=, &p](Int i, Int j) { return p.sees(i, j) && j >= first_tile(p, tile, i); },
        "Sinks are seen only where they lie in a tile of the window: the tiles of the sinks before it are "
        "not visited.");
    shows(
        "later_sinks_missing",
        [=, &p](Int i, Int j) { return p.sees(i, j) && (j < tile.keys || j >= first_tile(p, tile, i)); },
        "Only the first tile of sinks is visited before the window; sinks that lie behind it are missing.");
    shows(
        "first_tile_of_window_missing",
        [=, &p](Int i, Int j) {
          const Int first = first_tile(p, tile, i);
          return p.sees(i, j) && (j < first || j >= first + tile.keys || begin_of(j) < p.mask.sinks);
        },
        "On the way from the sinks to the window, the first tile of the window is left out.");
  }
}

/// What a row is that begins with l = exp(sink + inf): infinite, or NaN where that meets a factor of 0.
Tensor<double> beginning_infinite(const Problem& p, Which which) {
  const Tensor<double> S = attention_of(p).S;
  Tensor<double> result(which == Which::O ? p.shape_of_O() : p.shape_of_lse());
  const Int each = which == Which::O ? p.D() : 1, Nk = p.Nk();
  for (Int row = 0; row < p.B() * p.H() * p.Nq(); ++row) {
    const auto sink = static_cast<double>((*p.sink)(row / p.Nq() % p.H()));
    double m = sink;
    for (Int j = 0; j < Nk; ++j) m = std::max(m, S.data()[row * Nk + j]);
    const bool lost =
        sink == -kInf64 || static_cast<float>(std::exp(sink - m)) == 0.0f || std::isnan(sink - m);
    const double value = lost ? std::numeric_limits<double>::quiet_NaN() : which == Which::O ? 0 : kInf64;
    for (Int d = 0; d < each; ++d) result.at_linear(row * each + d) = value;
  }
  return result;
}

void add_learned_sink(Mistakes& to, const Problem& p, Which which) {
  if (!p.sink) return;
  to.push_back(gives(
      "sink_relative_to_nothing", [&p, which] { return beginning_infinite(p, which); },
      "l begins with exp(sink - m) while m is still -inf, and that is infinite. m has to begin with the sink "
      "first."));
  const auto sink = [&](const char* name, std::function<double(Int b, Int h)> wrong, const char* sentence) {
    to.push_back(gives(
        name,
        [&p, which, wrong] {
          return counting(
              p, which, [](Int, Int) { return 1; }, wrong);
        },
        sentence));
  };
  sink(
      "sink_not_relative_to_itself", [&p](Int, Int h) { return 2 * right_sink(p, h); },
      "l begins with exp(sink) though m begins with the sink: what l holds is relative to m, so that it "
      "begins with exp(sink - sink) = 1.");
  if (p.B() > 1 && p.H() > 1)
    sink(
        "sink_of_batch", [&p](Int b, Int) { return right_sink(p, std::min(b, p.H() - 1)); },
        "The sink is that of head b in batch b. There is one for each head, the same in all batches.");
  for (const Int threads : {2, 4, 8, 16, 32})
    to.push_back(deviation("sink_of_every_thread", p, which, {.sinks_counted = threads},
                           "The sink is counted several times: once by every thread of a row. Their sums are "
                           "added at the end."));
}

Mistakes own_mistakes(const Problem& p, Which which) {
  Mistakes found;
  add_sink_tokens(found, p, which);
  add_visits(found, p, which);
  add_learned_sink(found, p, which);
  return found;
}

// --- Calls and checks ---

Outcome attend(const Problem& p, Forward& got, const CallOptions& options) {
  const auto call_sink = [&](const auto& sink) {
    return call_with(options, ENTRY(attention_with_sinks), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink,
                     out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.window, p.mask.sinks);
  };
  return p.sink ? call_sink(in(*p.sink, "sink")) : call_sink(null());
}
const Kernel kKernel{.attend = attend,
                     .outputs = {Which::lse, Which::O},
                     .own_mistakes = own_mistakes,
                     .load_limit = keys_read_for(16),
                     .stores_once = true};

/// Three queries and keys with products that are logarithms of whole numbers. The last query sees the last
/// key and the first. Its scores are 0 and ln 5, and the learned sink is ln 2: the weights are 1/8 and 5/8.
Problem problem_of_the_notes() {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  return {Tensor<float>::from({1, 1, 3, 2}, {2, 0, 0, 2, 2, 0}),
          Tensor<float>::from({1, 1, 3, 2}, {0, 0, ln(2), ln(3), ln(5), 0}),
          Tensor<float>::from({1, 1, 3, 2}, {8, 0, 16, 5, 0, 10}),
          0.5f,
          seeing(1, 1),
          Tensor<float>::from({1}, {ln(2)})};
}

/// Not in check mode, which takes twenty times as long and has seen such a call elsewhere in the case.
void check_values(const Problem& p, TestLine where = TestLine::here()) {
  CallOptions options;
  options.check = CheckMode::never;
  check(kKernel, p, options, where);
}

/// Right, and no tile loaded that need not be. Rows begin at multiples of 32 bytes if D is a multiple of 8.
Outcome check_traffic(const Problem& p) {
  const Outcome outcome = check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return outcome;
  INFO(describe(p));
  const Int queries = queries_of_a_block(*profile, p);
  require_loads_at_most(
      *profile, static_cast<std::uint64_t>(4 * p.D() * rows_of_tiles(p, queries, 64)),
      "to load Q once, and for each tile of " + std::to_string(queries) +
          " queries the tiles of 64 keys that hold sinks or keys of the window, each once,");
  return outcome;
}

}  // namespace

TEST_CASE("attends from the queries of the notes, with both kinds of sinks and with each",
          "[l13][attention_sinks][points:1]") {
  Problem p = problem_of_the_notes();
  check(kKernel, p);
  p.mask.sinks = 0;
  check_values(p);
  p.sink.reset();
  p.mask.sinks = 1;
  check_values(p);
}

TEST_CASE("keeps the first keys seen, however far the window has gone", "[l13][attention_sinks][points:3]") {
  check(kKernel, random_problem({1, 1, 10, 200, 8}, seeing(40, 4)));
  for (const Int sinks : {0, 1, 4, 16})
    for (const Int window : {1, 20, 66})
      check_values(random_problem({1, 1, 150, 150, 8}, seeing(window, sinks)));
  check_values(random_problem({1, 2, 300, 300, 4}, seeing(33, 4)));
  check_values(random_problem({1, 1, 1, 300, 16}, seeing(10, 3)));  // the last query alone, as in decoding
}

TEST_CASE("keeps sinks that fill more than one tile", "[l13][attention_sinks][points:1]") {
  check(kKernel, random_problem({1, 1, 40, 260, 8}, seeing(9, 65)));
  for (const Int sinks : {17, 33, 64, 130})
    check_values(random_problem({1, 1, 40, 260, 8}, seeing(9, sinks)));
  check_values(random_problem({1, 1, 260, 260, 4}, seeing(30, 70)));
}

TEST_CASE("counts a key once that is a sink and in the window", "[l13][attention_sinks][points:2]") {
  check(kKernel, random_problem({1, 1, 20, 140, 16}, seeing(100, 60)));
  for (const auto& [window, sinks] : {std::pair<Int, Int>{16, 40}, {64, 64}, {90, 70}, {140, 10}})
    check_values(random_problem({1, 1, 140, 140, 8}, seeing(window, sinks)));
}

TEST_CASE("takes more sinks than the window has keys, and than there are",
          "[l13][attention_sinks][points:1]") {
  const Int no_end = kAllKeys - 1;
  check(kKernel, random_problem({1, 1, 20, 260, 8}, seeing(3, no_end)));
  check_values(random_problem({1, 2, 70, 40, 8}, seeing(3, no_end)));
  for (const Int sinks : {Int{100}, Int{150}, Int{151}, Int{1000}, no_end})
    check_values(random_problem({1, 1, 150, 150, 4}, seeing(10, sinks)));
}

TEST_CASE("takes a window of any size", "[l13][attention_sinks][points:1]") {
  check(kKernel, random_problem({1, 1, 40, 70, 8}, seeing(kAllKeys, 4)));
  for (const Int sinks : {0, 5}) {
    for (const Int window : {Int{149}, Int{150}, Int{1} << 40, kAllKeys})
      check_values(random_problem({1, 1, 150, 150, 4}, seeing(window, sinks)));
    check_values(random_problem({1, 1, 200, 150, 4}, seeing(kAllKeys, sinks)));  // positions below 0
  }
}

TEST_CASE("shows no sink to a query that stands before it", "[l13][attention_sinks][points:1]") {
  check(kKernel, random_problem({1, 2, 70, 70, 8}, seeing(2, 16)));
  check_values(random_problem({1, 1, 140, 140, 8}, seeing(1, 139)));
  check_values(random_problem({1, 2, 50, 30, 8}, seeing(5, 30)));
}

TEST_CASE("keeps several batches and heads apart", "[l13][attention_sinks][points:1]") {
  check(kKernel, with_sink(random_problem({3, 2, 33, 20, 64}, seeing(8, 2))));
  check_values(random_problem({2, 3, 70, 90, 37}, seeing(20, 4)));
  check_values(with_sink(random_problem({1, 5, 20, 140, 16}, seeing(30, 70))));
}

TEST_CASE("attends with one query, one key, one dimension, a few, and 128",
          "[l13][attention_sinks][points:1]") {
  check(kKernel, random_problem({2, 2, 1, 1, 1}, seeing(2, 1)));
  check(kKernel, with_sink(random_problem({1, 1, 45, 80, 127}, seeing(10, 4))));
  for (const Sizes& n : {Sizes{2, 3, 5, 1, 3}, {2, 3, 1, 7, 2}, {1, 2, 31, 33, 5}, {1, 2, 17, 9, 32}})
    check_values(random_problem(n, seeing(2, 1)));
  for (const Sizes& n : {Sizes{1, 1, 140, 80, 128}, {1, 1, 30, 40, 100}, {1, 1, 30, 40, 65}})
    check_values(with_sink(random_problem(n, seeing(10, 4))));
}

TEST_CASE("attends around the edges of tiles, with other numbers of queries than of keys",
          "[l13][attention_sinks][points:1]") {
  check(kKernel, random_problem({1, 1, 131, 66, 8}, seeing(64, 5)));
  for (const Sizes& n : {Sizes{1, 1, 130, 127, 9},
                         {1, 1, 127, 129, 16},
                         {1, 1, 128, 192, 8},
                         {1, 1, 33, 257, 8},
                         {1, 1, 300, 290, 4}})
    for (const Int sinks : {5, 65}) check_values(random_problem(n, seeing(64, sinks)));
  for (const Int sinks : {0, 3}) {  // every query but one sees a whole tile: the first, the last
    check_values(random_problem({1, 1, 40, 166, 8}, seeing(130, sinks)));
    check_values(random_problem({1, 1, 40, 260, 8}, seeing(195, sinks)));
  }
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l13][attention_sinks][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  Problem p = with_sink(random_problem({2, 3, 20, 40, 16}, seeing(9, 3)));
  p.layout_of_lse = inside;
  check(kKernel, with_layouts(p, outside, inside, outside, inside));
  p = random_problem({2, 3, 40, 20, 24}, seeing(9, 3));
  check_values(with_layouts(p, inside, outside, inside, outside));
  check_drawn(kKernel, {.causal = Causal::always, .window = true, .sinks = true, .sink_array = true});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l13][attention_sinks][points:1]") {
  check_shifted(kKernel, with_sink(random_problem({1, 2, 20, 40, 16}, seeing(7, 3))));
  check_odd_rows(kKernel, {seeing(3, 1), seeing(2, 0)}, with_sink);
  check(kKernel, with_gaps(with_sink(random_problem({2, 2, 35, 41, 18}, seeing(7, 3)))));
  check_values(with_gaps(with_sink(random_problem({1, 2, 35, 41, many_dimensions()}, seeing(7, 3))), kNan));
}

TEST_CASE("adds the learned sink of each head to the denominator", "[l13][attention_sinks][points:2]") {
  // The first has two heads and two tiles of queries: the sink of a head is told from that of a tile.
  check_values(with_sink(random_problem({1, 2, 150, 150, 8}, seeing(25, 0))));
  check(kKernel, with_sink(random_problem({1, 3, 20, 30, 8}, seeing(kAllKeys, 0))));
  check_values(with_sink(random_problem({2, 5, 20, 30, 8}, seeing(kAllKeys, 0))));
  check_values(with_sink(random_problem({1, 2, 150, 200, 8}, seeing(140, 0))));
}

TEST_CASE("takes both kinds of sinks together", "[l13][attention_sinks][points:1]") {
  check(kKernel, with_sink(random_problem({1, 2, 20, 130, 8}, seeing(25, 4))));
  check_values(with_sink(random_problem({2, 3, 20, 170, 8}, seeing(25, 4))));
  check_values(with_sink(random_problem({1, 2, 150, 150, 8}, seeing(25, 70))));
}

TEST_CASE("takes learned sinks that outweigh all keys, and such that are none",
          "[l13][attention_sinks][points:2]") {
  const Problem p = random_problem({1, 3, 40, 90, 8}, seeing(25, 4));
  for (const float sink : {0.0f, 100.0f, -100.0f, 1000.0f, -kInf}) {
    INFO("learned sinks of " << sink);
    check_values(with_sink_of(p, sink));
  }
  Problem mixed = with_sink(p);
  (*mixed.sink)(0) = 100.0f;
  (*mixed.sink)(1) = -kInf;
  check(kKernel, mixed);
}

TEST_CASE("scales the scores, and not the learned sink", "[l13][attention_sinks][points:1]") {
  Problem p = with_sink(random_problem({1, 3, 20, 50, 16}, seeing(25, 4)));
  check(kKernel, p);
  for (const float scale : {0.125f, 1.0f, 3.0f}) {
    p.scale = scale;
    check_values(p);
  }
}

TEST_CASE("gives a row without keys O = 0, and its learned sink as lse", "[l13][attention_sinks][points:1]") {
  for (const Sizes& n : {Sizes{1, 2, 63, 20, 8}, {1, 2, 299, 20, 4}}) {
    const Problem p = random_problem(n, seeing(5, 2));
    check(kKernel, p);
    check_values(with_sink(p));
    check_values(with_sink_of(p, -kInf));
  }
  check(kKernel, with_sink(random_problem({1, 2, 5, 0, 8}, seeing(5, 2))));
}

TEST_CASE("gives no weight to scores of -inf", "[l13][attention_sinks][points:1]") {
  const Problem empty = with_empty_rows(random_problem({1, 2, 12, 150, 8}, seeing(40, 4)));
  check_values(empty);
  check_values(with_sink(empty));
  check_values(with_keys_of_minus_inf(random_problem({1, 2, 80, 150, 8}, seeing(30, 4)), 130));
  // A query that sees all keys: 0 times an infinity is NaN.
  check_values(
      with_infinite_values(with_keys_of_minus_inf(random_problem({1, 2, 1, 150, 8}, seeing(150, 4)), 130)));
}

TEST_CASE("keeps large scores apart", "[l13][attention_sinks][points:1]") {
  check(kKernel, with_large_scores(random_problem({1, 1, 40, 170, 32}, seeing(40, 4))));
  check_values(with_whole_scores(random_problem({1, 2, 40, 70, 16}, seeing(40, 4))));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    const Problem p = with_shifted_scores(random_problem({1, 2, 20, 100, 16}, seeing(40, 4)), shift);
    check_values(p);
    check_values(with_sink(p));
    check_values(with_sink_of(p, shift));
  }
  check_values(with_sink(with_negative_scale(random_problem({1, 2, 40, 170, 32}, seeing(40, 4)))));
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l13][attention_sinks][points:1]") {
  // All see keys 0 to 30, of which the values are no numbers.
  for (const Int D : {20, 65})
    check_values(with_not_numbers(random_problem(larger({2, 3, 30, 61, D}), seeing(30, 31))));
  for (const float value : {kNan, kInf}) {
    for (const Int D : {8, 65}) {
      Problem p = with_sink(random_problem(larger({2, 3, 20, 80, D}), seeing(10, 2)));
      (*p.sink)(Random(case_seed()).integer(0, 2)) = value;  // one head
      check_values(p);
    }
  }
}

TEST_CASE("does not look at keys between the sinks and the window", "[l13][attention_sinks][points:1]") {
  for (const Int D : {8, 65}) {
    check_values(with_nan_keys(random_problem(larger({1, 2, 150, 700, D}), seeing(30, 4)), 64, 448));
    check_values(with_nan_keys(random_problem(larger({1, 1, 10, 400, D}), seeing(30, 96)), 128, 320));
    check(kKernel, with_nan_keys(random_problem(larger({1, 1, 10, 400, D}), seeing(30, 0)), 0, 320));
  }
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l13][attention_sinks][points:1]") {
  check_values(random_problem({2, 2, 5, 4, 8}, seeing(3, 2)));
  check_nothing_to_do(kKernel, seeing(3, 2));
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l13][attention_sinks][points:1]") {
  check_same_bits(kKernel, with_sink(random_problem({1, 2, 20, 160, 20}, seeing(10, 4))));
  check_same_bits(kKernel, with_sink(random_problem(unknown_sizes_of_many_tiles(), seeing(90, 40))));
}

TEST_CASE("loads each tile of the sinks and of the window once, and none between them",
          "[l13][attention_sinks][points:2]") {
  check_traffic(random_problem({1, 1, 16, 512, 8}, seeing(113, 4)));
  check_traffic(random_problem({1, 1, 16, 1152, 8}, seeing(177, 192)));
  check_traffic(random_problem({1, 1, 16, 512, 8}, seeing(113, 0)));
  check_traffic(with_growing_scores(random_problem({1, 1, 16, 512, 8}, seeing(113, 4)), 1.0f));
  check_traffic(random_problem({1, 1, 16, 192, 8}, seeing(150, 70)));  // no tile lies between them
  check_traffic(random_problem({1, 1, 256, 256, 8}, seeing(64, 4)));   // the sinks of some blocks only
  check_traffic(random_problem({1, 1, 256, 128, 8}, seeing(1, 128)));  // sinks that no query of a block sees
  // Sizes that no kernel knows beforehand, without a learned sink and beside one.
  Random random(case_seed());
  for (const bool learned : {false, true}) {
    const Int Nq = random.integer(16, 140), Nk = Nq + random.integer(200, 300);
    Problem p = random_problem({random.integer(1, 2), 2, Nq, Nk, 8 * random.integer(1, 16)},
                               seeing(random.integer(1, 60), random.integer(1, 60)));
    check_traffic(learned ? with_sink(std::move(p)) : p);
  }
  check_counted(kKernel, {.causal = Causal::always, .window = true, .sinks = true, .sink_array = true},
                [](const Profile& profile, const Problem& p) {
                  const Int queries = std::clamp<Int>(rows_that_a_block_stores(profile, p), 16, 128);
                  require_loads_what_is_seen(profile, p, queries, 64);
                });
}

TEST_CASE("reads and writes whole sectors, and writes O and lse once", "[l13][attention_sinks][points:1]") {
  for (const Sizes& n : {Sizes{1, 2, 128, 192, 32}, unknown_sizes_of_whole_sectors()}) {
    const Outcome outcome = check_traffic(with_sink(random_problem(n, seeing(70, 4))));
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  }
}

TEST_CASE("refuses shapes that do not fit together, and rows that it cannot read",
          "[l13][attention_sinks][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 3, 4, 5, 6}, seeing(3, 1)));
  check_refuses_rows(kKernel, random_problem({1, 2, 4, 5, 6}, seeing(3, 1)));
}

TEST_CASE("refuses a window of less than 1 and sinks of less than 0", "[l13][attention_sinks][points:1]") {
  const Problem valid = random_problem({1, 2, 4, 5, 6}, seeing(2, 1));
  check_values(valid);
  const auto refuse = [&](Int window, Int sinks, const char* argument) {
    INFO("window = " << window << ", sinks = " << sinks);
    for (Problem wrong : {valid, random_problem({1, 2, 0, 5, 6})}) {  // also where there is nothing to do
      wrong.mask = seeing(window, sinks);
      require_refused(kKernel, wrong, results_of(wrong), argument);
    }
  };
  for (const Int window : numbers_below(1)) refuse(window, 1, "window");
  for (const Int sinks : numbers_below(0)) refuse(2, sinks, "sinks");
}

TEST_CASE("reports a launch that CUDA refuses", "[l13][attention_sinks][points:1]") {
  check_values(random_problem({1, 3, 1, 1, 1}, seeing(1, 1)));
  check_reports_refused_launch(kKernel, random_problem({1, 66'000, 1, 1, 1}, seeing(1, 1)));
  for (const Int D : {8, 70})
    check_reports_refused_launch(kKernel, random_problem(larger({2, 2, 130, 50, D}), seeing(10, 1)));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::always, .window = true, .sinks = true, .sink_array = true},
                {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
                  const auto call_sink = [&](const auto& sink) {
                    run.call(ENTRY(attention_with_sinks), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink,
                             out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.window, p.mask.sinks);
                  };
                  if (p.sink)
                    call_sink(in(*p.sink, "sink"));
                  else
                    call_sink(null());
                });
}
