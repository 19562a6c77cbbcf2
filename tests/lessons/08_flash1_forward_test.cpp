// Tests of lesson 08: m, l and O of flash1_forward against float64, in this order, so that the first wrong
// step is told, within twice the error of a plain float32 attention; and what it reads and writes.

#include "08_flash1_forward/flash1_forward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "attention/row_mistakes.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr auto kAttention = ENTRY(flash1_forward);
constexpr Int kTile = 32;  // keys in the smallest tile that the contract's cost allows

// --- Mistakes of this lesson's own: a row that goes through memory after every tile ---

constexpr double kInf64 = std::numeric_limits<double>::infinity();

double exp_relative(double s, double m) { return s == -kInf64 ? 0 : std::exp(s - m); }

/// What a row's O, l and m are when a tile of keys has passed by: m is the larger of the old m and the tile's
/// maximum, l = l_old + sum and O = O·of_O + P·V·of_PV, where l_old stands on the new m.
struct Fold {
  double l_old, sum;  ///< of the earlier tiles and of this one
  double m_factor;    ///< exp(m_old - m_new)
  double l() const { return l_old + sum; }
};

struct Factors {
  double of_O, of_PV;
};

/// O of a kernel that takes other factors. They are not asked for while l is 0.
Tensor<double> output_with(const Problem& p, Int width, const std::function<Factors(const Fold&)>& factors) {
  const Tensor<double> S = attention_of(p).S;
  Tensor<double> O(p.shape_of_O());
  const Int Nk = p.Nk(), D = p.D();
  for (Int row = 0; row < O.numel() / D; ++row) {
    const Int head = row / p.Nq(), b = head / p.H(), h = head % p.H();
    const double* s = S.data() + row * Nk;
    double* o = O.data() + row * D;
    double m = -kInf64, l = 0;
    for (Int first = 0; first < Nk; first += width) {
      const Int end = std::min(first + width, Nk);
      double m_new = m;
      for (Int j = first; j < end; ++j) m_new = std::max(m_new, s[j]);
      Fold fold{l * exp_relative(m, m_new), 0, exp_relative(m, m_new)};
      for (Int j = first; j < end; ++j) fold.sum += exp_relative(s[j], m_new);
      m = m_new, l = fold.l();
      if (l == 0) continue;
      const Factors by = factors(fold);
      for (Int d = 0; d < D; ++d) o[d] *= by.of_O;
      for (Int j = first; j < end; ++j) {
        const double weight = exp_relative(s[j], m_new) * by.of_PV;
        for (Int d = 0; d < D; ++d) o[d] += weight * static_cast<double>(p.V(b, h, j, d));
      }
    }
  }
  return O;
}

/// A number for each row, from its scores.
Tensor<double> of_rows(const Problem& p, const std::function<double(const double* s, Int Nk)>& value) {
  const Tensor<double> S = attention_of(p).S;
  Tensor<double> x(p.shape_of_lse());
  for (Int row = 0; row < x.numel(); ++row) x.at_linear(row) = value(S.data() + row * p.Nk(), p.Nk());
  return x;
}

double max_of(const double* s, Int first, Int end) {
  double max = -kInf64;
  for (Int j = first; j < end; ++j) max = std::max(max, s[j]);
  return max;
}

/// Σ exp(s - m).
double sum_of(const double* s, Int first, Int end, double m) {
  double sum = 0;
  for (Int j = first; j < end; ++j) sum += exp_relative(s[j], m);
  return sum;
}

/// The sums of the tiles, each on its own maximum, where only the earlier ones are brought to the new m.
double sum_with_tiles_not_rescaled(const double* s, Int Nk, Int width) {
  double m = -kInf64, l = 0;
  for (Int first = 0; first < Nk; first += width) {
    const Int end = std::min(first + width, Nk);
    const double tile_max = max_of(s, first, end), m_new = std::max(m, tile_max);
    l = l * exp_relative(m, m_new) + sum_of(s, first, end, tile_max);
    m = m_new;
  }
  return l;
}

std::string of_tiles(Int width) {
  return " (That is what tiles of " + std::to_string(width) + " keys give.)";
}

/// Fits if exactly the rows are wrong that have no score above -inf, and hold the same finite number, not 0.
Mistake m_of_empty_rows(const Problem& p) {
  return {"m_begins_finite", [&p](const WrongResult& result) -> std::optional<std::string> {
            const Int first = result.comparison.wrong.front();
            const float began = result.got.at_linear(first);
            if (!std::isfinite(began) || began == 0.0f) return std::nullopt;
            for (Int row = 0; row < p.B() * p.H() * p.Nq(); ++row) {
              const bool empty = result.expected.at_linear(row) == -kInf64;
              const bool wrong =
                  std::binary_search(result.comparison.wrong.begin(), result.comparison.wrong.end(), row);
              if (wrong != empty || (empty && result.got.at_linear(row) != began)) return std::nullopt;
            }
            std::ostringstream text;
            text << "m is " << began
                 << ", a finite number, where a row has no score above -inf. It has to begin with -inf.";
            return text.str();
          }};
}

Mistakes mistakes_in_m(const Problem& p) {
  Mistakes found;
  found.push_back(gives(
      "m_not_written", [&p] { return of_rows(p, [](const double*, Int) { return -kInf64; }); },
      "m is what it was at the beginning: no tile has written its m_new back, and so every tile takes itself "
      "for the first."));
  found.push_back(m_of_empty_rows(p));
  return found;
}

Mistakes mistakes_in_l(const Problem& p) {
  Mistakes found;
  found.push_back(gives(
      "l_not_written", [&p] { return Tensor<double>(p.shape_of_lse()); },
      "l is what it was at the beginning: no tile has written its l_new back."));
  for (const Int width : tile_widths(p.Nk()))
    found.push_back(gives(
        "tile_not_rescaled",
        [&p, width] {
          return of_rows(
              p, [width](const double* s, Int Nk) { return sum_with_tiles_not_rescaled(s, Nk, width); });
        },
        "The sum over a tile stands on the tile's own maximum; before it joins l, it has to be multiplied by "
        "exp(the tile's maximum - m_new)." +
            of_tiles(width)));
  return found;
}

/// Both: the threads of a row do not know of each other, and the first writes. It has `own` keys side by side
/// of every `width`.
Mistakes mistakes_of_threads(const Problem& p, Which which) {
  Mistakes found;
  for (const Int width : {Int{16}, Int{32}, Int{64}, Int{128}}) {
    for (Int own = 1; own <= 8; own *= 2) {
      const auto alone = [&p, which, width, own] {
        return of_rows(p, [=](const double* s, Int Nk) {
          double m = -kInf64, l = 0;
          for (Int first = 0; first < Nk; first += width)
            m = std::max(m, max_of(s, first, std::min(first + own, Nk)));
          if (which == Which::m) return m;
          m = max_of(s, 0, Nk);
          for (Int first = 0; first < Nk; first += width) l += sum_of(s, first, std::min(first + own, Nk), m);
          return l;
        });
      };
      const std::string keys = std::to_string(own) + (own == 1 ? " key" : " keys") + " of every " +
                               std::to_string(width) + " (those that one thread holds)";
      if (which == Which::m)
        found.push_back(gives("maximum_of_own_columns", alone,
                              "m is the maximum over " + keys +
                                  ". The threads that share a row have to agree on its maximum."));
      else
        found.push_back(
            gives("sum_of_own_columns", alone,
                  "l is the sum over " + keys + ". The sums of all threads that share a row belong to it."));
    }
  }
  return found;
}

Mistakes mistakes_in_O(const Problem& p) {
  Mistakes found;
  for (const Int width : tile_widths(p.Nk())) {
    const auto add = [&](const char* name, std::function<Factors(const Fold&)> factors,
                         const std::string& sentence) {
      found.push_back(gives(
          name, [&p, width, factors = std::move(factors)] { return output_with(p, width, factors); },
          sentence + of_tiles(width)));
    };
    add(
        "old_l_missing",
        [](const Fold& fold) {
          return Factors{fold.m_factor / fold.l(), 1 / fold.l()};
        },
        "O has been divided by the old l already, and is not multiplied by it before it is divided by the "
        "new one.");
    add(
        "rescaled_twice",
        [](const Fold& fold) {
          return Factors{fold.l_old * fold.m_factor / fold.l(), 1 / fold.l()};
        },
        "O is multiplied by exp(m_old - m_new) twice: l_old, brought to m_new, has that factor in it "
        "already.");
    add(
        "values_not_divided",
        [](const Fold& fold) {
          return Factors{fold.l_old / fold.l(), 1};
        },
        "P·V of a tile is added without being divided by l_new.");
    add(
        "output_not_divided",
        [](const Fold& fold) {
          return Factors{fold.l_old, 1 / fold.l()};
        },
        "The old O is multiplied by its l, but not divided by l_new.");
    add(
        "not_divided",
        [](const Fold& fold) {
          return Factors{fold.l_old, 1};
        },
        "Nothing is divided by l_new.");
    add(
        "divided_twice",
        [](const Fold& fold) {
          return Factors{fold.l_old / fold.l() / fold.l(), 1 / fold.l() / fold.l()};
        },
        "Every tile divides by l_new twice.");
    add(
        "divided_twice",
        [](const Fold& fold) {
          return Factors{fold.l_old / fold.l(), 1 / fold.l() / fold.l()};
        },
        "P·V is divided by l_new twice.");
    add(
        "divided_by_the_tile",
        [](const Fold& fold) {
          const double by = fold.sum == 0 ? 1 : fold.sum;
          return Factors{fold.l_old / by, 1 / by};
        },
        "A tile divides by its own sum; it should be l_new, the sum over all keys so far.");
  }
  return found;
}

/// O of a kernel in which each of the 16 threads of a row divides by l_old and the sum over its own columns.
Tensor<double> divided_by_own_sums(const Problem& p, Int width) {
  constexpr Int kThreads = 16;
  const Tensor<double> S = attention_of(p).S;
  Tensor<double> O(p.shape_of_O());
  const Int Nk = p.Nk(), D = p.D(), own = width / kThreads;
  for (Int row = 0; row < O.numel() / D; ++row) {
    const Int head = row / p.Nq(), b = head / p.H(), h = head % p.H();
    const double* s = S.data() + row * Nk;
    double* o = O.data() + row * D;
    double m = -kInf64, l = 0;
    for (Int first = 0; first < Nk; first += width) {
      const Int end = std::min(first + width, Nk);
      const double m_new = std::max(m, max_of(s, first, end)), l_old = l * exp_relative(m, m_new);
      double divisors[kThreads];
      for (Int thread = 0; thread < kThreads; ++thread) {
        const Int begin = first + thread * own;
        const double sum = l_old + (begin < end ? sum_of(s, begin, std::min(begin + own, end), m_new) : 0);
        divisors[thread] = sum == 0 ? 1 : sum;
      }
      for (Int d = 0; d < D; ++d) o[d] *= l_old / divisors[d % 64 / 4];
      for (Int j = first; j < end; ++j)
        for (Int d = 0; d < D; ++d)
          o[d] +=
              exp_relative(s[j], m_new) / divisors[(j - first) / own] * static_cast<double>(p.V(b, h, j, d));
      m = m_new, l = l_old + sum_of(s, first, end, m_new);
    }
  }
  return O;
}

/// The scores of a kernel whose tile of Q begins with the first key of the tile of K.
double score_by_first_key(const Problem& p, Int b, Int h, Int i, Int j, Int queries, Int keys) {
  const Int row = j / keys * keys + i % queries;
  double s = 0;
  for (Int d = 0; d < p.D(); ++d) {
    const float q = row < p.Nq() ? p.Q(b, h, row, d) : 0.0f;  // which K may turn into NaN
    s += static_cast<double>(q) * static_cast<double>(p.K(b, h, j, d));
  }
  return s * static_cast<double>(p.scale);
}

/// Where all keys fit into one tile, or one column too many is seen; mistakes_in() has the others. m alone
/// does not tell them from m_begins_at_0.
Mistakes counted_tails(const Problem& p, Which which) {
  Mistakes found;
  const auto add = [&](Int width, const char* which_columns) {
    found.push_back(deviation("tail_counted", p, which, {.tile = width, .tail_counts = true},
                              std::string(which_columns) + " counts with a score of 0. It has to be -inf."));
  };
  add(p.Nk() + 1, "The first column past the last key");
  for (Int width = 8; width <= 256; width *= 2)
    if (width > p.Nk()) add(width, "The tile of keys reaches beyond Nk, and what lies there");
  return found;
}

Mistakes own_mistakes(const Problem& p, Which which) {
  Mistakes found = which == Which::O   ? mistakes_in_O(p)
                   : which == Which::m ? mistakes_in_m(p)
                                       : mistakes_in_l(p);
  add_two_rows(found, p, which, TwoRows::sum_of_tiles);
  for (const auto& [queries, keys] : {std::pair<Int, Int>{128, 64}, {64, 64}, {64, 32}, {32, 32}})
    if (p.Nk() > keys || p.Nq() > queries)
      found.push_back(gives(
          "queries_by_first_key",
          [&p, which, M = queries, N = keys] {
            return from_scores(p, [&p, M, N](Int b, Int h, Int i,
                                             Int j) { return score_by_first_key(p, b, h, i, j, M, N); })
                .of(which);
          },
          "The tile of Q is loaded from row first_key on. It begins with first_query."));
  if (which == Which::O) {
    for (const Int width : {32, 64})
      found.push_back(gives(
          "divided_by_own_sum", [&p, width] { return divided_by_own_sums(p, width); },
          "Each thread divides by l_old and the sum over its own columns. It has to be l_new, with the sums "
          "of all 16 threads of the row."));
    return found;
  }
  for (Mistake& mistake : counted_tails(p, which)) found.push_back(std::move(mistake));
  for (Mistake& mistake : mistakes_of_threads(p, which)) found.push_back(std::move(mistake));
  return found;
}

// --- Calls ---

/// Twice what the contract allows for tiles of kTile keys: D and the edges of tiles may waste some.
LoadLimit load_limit(const Problem& p) {
  const Int tiles = std::max(Int{1}, (p.Nk() + kTile - 1) / kTile);
  constexpr Int kBytesOfBoth = 64;  // of l and m: a sector each, of which a thread may need one number alone
  const Int of_queries = tiles * p.Nq() * (2 * bytes_of_row(p) + kBytesOfBoth);
  return {2 * p.B() * p.H() * (2 * p.Nk() * bytes_of_row(p) + of_queries),
          "to read K and V twice, and Q, O, l and m twice for every 32 keys,"};
}

const Kernel kKernel{.attend =
                         [](const Problem& p, Forward& got, const CallOptions& options) {
                           return call_with(options, kAttention, in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                                            out(got.O, "O"), out(got.l, "l"), out(got.m, "m"), p.scale);
                         },
                     .outputs = {Which::m, Which::l, Which::O},
                     .own_mistakes = own_mistakes,
                     .load_limit = load_limit};

/// The same with m in a layout other than l's.
Kernel kernel_with_layout_of_m(Layout layout) {
  Kernel kernel = kKernel;
  kernel.attend = [layout](const Problem& p, Forward& got, const CallOptions& options) {
    Forward apart = got;
    apart.m = lay_out(got.m, layout);
    Outcome outcome = kKernel.attend(p, apart, options);
    got.O = apart.O, got.l = apart.l;
    for (Int i = 0; i < got.m.numel(); ++i) got.m.at_linear(i) = apart.m.at_linear(i);
    return outcome;
  };
  return kernel;
}

/// The same for problems in which some rows have a score that is NaN or +inf: their m may be anything.
Kernel kernel_with_any_m_of_nan() {
  Kernel kernel = kKernel;
  kernel.without_mistakes = {Which::m};
  kernel.attend = [](const Problem& p, Forward& got, const CallOptions& options) {
    Outcome outcome = kKernel.attend(p, got, options);
    const Forward64 expected = expected_of(p);
    for (Int row = 0; row < got.m.numel(); ++row)
      if (std::isnan(expected.l.at_linear(row)))
        got.m.at_linear(row) = static_cast<float>(expected.m.at_linear(row));
    return outcome;
  };
  return kernel;
}

/// The two queries and three keys of the notes, with products that are logarithms of whole numbers. Before
/// the third key come `between` others that nobody sees: their scores are -inf. The last number of a value is
/// 1, and so the last of O is the sum of the weights.
Problem problem_of_the_notes(Int between) {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  const Int Nk = 3 + between;
  Problem p{Tensor<float>::from({1, 1, 2, 3}, {2, 0, 1, 0, 2, 1}), Tensor<float>({1, 1, Nk, 3}),
            Tensor<float>({1, 1, Nk, 3}, 1.0f), 0.5f};
  for (Int j = 2; j < Nk - 1; ++j) p.K(0, 0, j, 2) = -kInf, p.V(0, 0, j, 0) = 1000.0f;
  const Int last = Nk - 1;
  p.K(0, 0, 1, 0) = ln(2), p.K(0, 0, 1, 1) = ln(3), p.K(0, 0, last, 0) = ln(5);
  p.V(0, 0, 0, 0) = 8, p.V(0, 0, 0, 1) = 0;
  p.V(0, 0, 1, 0) = 16, p.V(0, 0, 1, 1) = 5;
  p.V(0, 0, last, 0) = 0, p.V(0, 0, last, 1) = 10;
  return p;
}

/// Scores that rise from key to key for even queries, and fall for odd ones, by `step` each.
Problem with_slopes(Problem p, float step) {
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h) {
      for (Int i = 0; i < p.Nq(); ++i) p.Q(b, h, i, 0) = i % 2 == 0 ? 1.0f : -1.0f;
      for (Int j = 0; j < p.Nk(); ++j) p.K(b, h, j, 0) = step / p.scale * static_cast<float>(j);
    }
  return p;
}

/// Everything that the contract lets a call store, for tiles of kTile keys.
void require_stores(const Profile& profile, const Problem& p) {
  const std::uint64_t tiles = static_cast<std::uint64_t>((p.Nk() + kTile - 1) / kTile);
  const std::uint64_t once = 4 * static_cast<std::uint64_t>(p.B() * p.H() * p.Nq() * (p.D() + 2));
  const std::uint64_t written = profile.global_store.bytes_asked, most = (tiles + 1) * once;
  require(written <= most, "Your code writes " + std::to_string(written) +
                               " bytes; to write O, l and m once for every 32 keys, and once before the "
                               "first, takes at most " +
                               std::to_string(most) + ".");
}

}  // namespace

TEST_CASE("attends from the two queries of the notes to their three keys",
          "[l08][flash1_forward][points:1]") {
  check(kKernel, problem_of_the_notes(0));
}

TEST_CASE("corrects O, l and m when the third key of the notes comes in a later tile",
          "[l08][flash1_forward][points:2]") {
  check(kKernel, problem_of_the_notes(126));
}

TEST_CASE("keeps several batches and heads apart", "[l08][flash1_forward][points:2]") {
  // The first is small enough for check mode to name what heads do to each other.
  for (const Sizes& n : {Sizes{2, 3, 5, 7, 4}, {2, 3, 40, 90, 21}, {3, 1, 33, 20, 64}, {1, 5, 20, 70, 8}})
    check(kKernel, random_problem(n));
}

TEST_CASE("attends with as many keys as dimensions, and as many queries", "[l08][flash1_forward][points:1]") {
  // A matrix that should have been transposed has the right shape here.
  for (const Sizes& n : {Sizes{1, 2, 48, 48, 48}, {1, 2, 40, 48, 48}}) check(kKernel, random_problem(n));
}

TEST_CASE("attends with one query, one key, one dimension, and a few", "[l08][flash1_forward][points:1]") {
  for (const Sizes& n : {Sizes{2, 3, 1, 1, 1},
                         {1, 3, 5, 1, 3},
                         {1, 2, 1, 7, 2},
                         {2, 1, 3, 2, 1},
                         {1, 1, 31, 33, 5},
                         {1, 1, 17, 9, 31}})
    check(kKernel, random_problem(n));

  Problem p = random_problem({1, 1, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 0, 0, 1});  // an axis of one element may have any stride
  check(kKernel, p);
}

TEST_CASE("attends around the edges of tiles", "[l08][flash1_forward][points:2]") {
  for (const Sizes& n : {Sizes{1, 1, 130, 127, 17},
                         {1, 1, 127, 129, 9},
                         {1, 1, 128, 128, 8},
                         {1, 1, 63, 65, 65},
                         {1, 1, 65, 64, 16},
                         {1, 1, 64, 31, 17},
                         {1, 1, 257, 193, 5}})
    check(kKernel, random_problem(n));
}

TEST_CASE("attends from 300 queries to 300 keys", "[l08][flash1_forward][points:1]") {
  check(kKernel, random_problem({1, 1, 300, 300, 16}));
}

TEST_CASE("stays exact while the maximum rises with every tile, and while it falls",
          "[l08][flash1_forward][points:2]") {
  check(kKernel, with_slopes(random_problem({1, 1, 30, 270, 8}), 0.0625f));
  check(kKernel, with_slopes(random_problem({1, 1, 150, 130, 8}), 0.5f));
}

TEST_CASE("attends in 128, 127 and 100 dimensions", "[l08][flash1_forward][points:2]") {
  for (const Sizes& n : {Sizes{1, 1, 45, 70, 128}, {1, 1, 140, 45, 127}, {1, 2, 30, 140, 100}})
    check(kKernel, random_problem(n));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l08][flash1_forward][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(kKernel, with_layouts(random_problem({1, 3, 20, 40, 16}), outside, inside, outside, outside));
  check(kKernel, with_layouts(random_problem({2, 3, 40, 20, 16}), inside, outside, inside, outside));
  Problem p = with_layouts(random_problem({2, 2, 37, 69, 9}), inside, inside, inside, inside);
  check(kKernel, p);
  p.layout_of_lse = inside;  // l and m, too, have strides of their own, each
  check(kKernel, p);
  check(kernel_with_layout_of_m(outside), p);
  check_drawn(kKernel, {});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l08][flash1_forward][points:1]") {
  check_shifted(kKernel, random_problem({1, 2, 20, 40, 16}));
  check_odd_rows(kKernel);
  for (std::size_t array = 0; array < 4; ++array) {  // Q, K, V and O
    INFO("Whole tiles, which may have a fast path, and one tensor begins at no multiple of 16 bytes");
    check(kKernel, random_problem({1, 1, 128, 128, 32}), with_shifted_array(6, array, 8));
  }
  const Problem p = random_problem({2, 2, 35, 71, 11});
  for (const float gap : {1000.0f, kNan}) check(kKernel, with_gaps(p, gap));
  check(kernel_with_layout_of_m(Layout::gaps),
        with_layouts(p, Layout::gaps, Layout::heads_outside, Layout::gaps, Layout::heads_inside));
}

TEST_CASE("keeps large scores apart", "[l08][flash1_forward][points:2]") {
  check(kKernel, with_large_scores(random_problem({1, 2, 40, 140, 32})));
  check(kKernel, with_whole_scores(random_problem({1, 2, 40, 140, 16})));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    check(kKernel, with_shifted_scores(random_problem({1, 2, 20, 140, 16}), shift));
  }
  INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
  check(kKernel, with_opposite_shifts(random_problem({1, 2, 20, 140, 16}), 1000.0f));
  check(kKernel, with_negative_scale(random_problem({1, 2, 40, 140, 32})));
}

TEST_CASE("gives O = 0, l = 0 and m = -inf where all scores of a row are -inf",
          "[l08][flash1_forward][points:2]") {
  check(kKernel, with_empty_rows(random_problem({1, 2, 12, 150, 8})));
}

TEST_CASE("gives no weight to scores of -inf, not to a whole tile of them either",
          "[l08][flash1_forward][points:2]") {
  const Problem p = with_keys_of_minus_inf(random_problem({1, 2, 12, 150, 8}), 130);
  check(kKernel, p);
  check(kKernel, with_infinite_values(p));  // 0 times an infinity is NaN
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else", "[l08][flash1_forward][points:1]") {
  const Kernel kernel = kernel_with_any_m_of_nan();
  check(kernel, with_infinite_values(with_not_numbers(random_problem({2, 3, 40, 150, 20}))));
  check(kernel, with_not_numbers(random_problem(larger({2, 3, 40, 150, 65}))));
}

TEST_CASE("gives O = 0, l = 0 and m = -inf without keys, and launches nothing without queries",
          "[l08][flash1_forward][points:1]") {
  check_nothing_to_do(kKernel);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l08][flash1_forward][points:1]") {
  check_same_bits(kKernel, random_problem({1, 2, 130, 90, 8}));
  check_same_bits(kKernel, random_problem(unknown_sizes_of_many_tiles()));
}

TEST_CASE("lets no thread depend on the speed of another", "[l08][flash1_forward][points:1]") {
  const Outcome outcome =
      check(kKernel, random_problem({1, 1, 140, 150, 12}), kCounted);  // two tiles of each and more
  require_no_warnings(outcome);
}

TEST_CASE("reads K and V once, and the rest once for each tile of keys", "[l08][flash1_forward][points:2]") {
  // Every row begins at a multiple of 32 bytes. First, one tile of keys meets several of queries.
  const Problem one_tile = random_problem({1, 1, 288, kTile, 64});
  const Outcome first = check(kKernel, one_tile, kCounted);
  if (const Profile* profile = profile_of(first))
    require_loads_at_most(*profile, 4 * static_cast<std::uint64_t>(2 * kTile * 64 + 288 * (2 * 64 + 2)),
                          "to read Q, K, V, O, l and m once, which is all for 32 keys,");

  const Int Nq = 64, Nk = 160, D = 64;
  const Problem p = random_problem({1, 2, Nq, Nk, D});
  const Outcome outcome = check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  const simt::LaunchProfile& launch = profile->launches.front();
  const auto blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  require(blocks == 2, "Your code launched " + std::to_string(blocks) +
                           " blocks for 2 heads; it should be one for each head of each batch.");
  require_busy_blocks(*profile, 0.5);
  require_busy_lanes(*profile);
  require_busy_warps(*profile);
  require_loads_at_most(*profile,
                        4 * 2 * static_cast<std::uint64_t>(2 * Nk * D + Nk / kTile * Nq * (2 * D + 2)),
                        "to read K and V once, and Q, O, l and m once for every 32 keys,");
  require_stores(*profile, p);
}

TEST_CASE("writes O, l and m once for each tile of keys, and no scores", "[l08][flash1_forward][points:2]") {
  // In the first, a row of S is longer than what O takes.
  for (const Sizes& n : {Sizes{1, 2, 64, 192, 8}, unknown_sizes()}) {
    const Problem p = random_problem(n);
    const Outcome outcome = check(kKernel, p, kCounted);
    if (const Profile* profile = profile_of(outcome)) require_stores(*profile, p);
  }
  check_counted(kKernel, {}, [](const Profile& profile, const Problem& p) {
    const simt::LaunchProfile& launch = profile.launches.at(0);
    const Int blocks = Int{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    require(blocks == p.B() * p.H(), "Your code launched " + std::to_string(blocks) +
                                         " blocks; it should be one for each head of each batch.");
    if (p.B() * p.H() > 1) require_busy_blocks(profile, 1.5 / static_cast<double>(p.B() * p.H()));
  });
}

TEST_CASE("reads and writes whole sectors", "[l08][flash1_forward][points:1]") {
  for (const Sizes& n : {Sizes{1, 2, 64, 96, 64}, unknown_sizes_of_whole_sectors()}) {
    const Outcome outcome = check(kKernel, random_problem(n), kCounted);
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  }
}

TEST_CASE("refuses shapes that do not fit together", "[l08][flash1_forward][points:1]") {
  for (const Sizes& n : {Sizes{2, 3, 4, 5, 6}, {2, 3, 4, 0, 6}})
    check_refuses_shapes(kKernel, random_problem(n));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l08][flash1_forward][points:1]") {
  check_refuses_rows(kKernel, random_problem({1, 2, 4, 5, 6}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l08][flash1_forward][points:1]") {
  const Problem p = random_problem(larger({1, 2, 3, 5, 8}));
  check(kKernel, p);
  check_reports_refused_launch(kKernel, p);
  check_reports_refused_launch(kKernel, random_problem(larger({1, 2, 3, 5, 100})));
  check_reports_refused_launch(kKernel, random_problem({66'000, 1, 1, 1, 1}));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {}, {Which::m, Which::l, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(kAttention, in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"), out(got.l, "l"),
             out(got.m, "m"), p.scale);
  });
}
