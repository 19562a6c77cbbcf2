// Tests of lesson 09: O and lse of flash2_forward, and of its first version, against float64, within twice
// the error of a plain float32 attention; and what it reads and writes, and with how many blocks.

#include "09_flash2_forward/flash2_forward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "attention/row_mistakes.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

// --- Mistakes of this lesson's own: where in the loop something stands, and which thread knows what ---

constexpr double kInf64 = std::numeric_limits<double>::infinity();

double exp_relative(double s, double m) { return s == -kInf64 ? 0 : std::exp(s - m); }

constexpr double kThreadsOfARow = 16;

/// A row on its way past tiles of `width` keys, in float64, with the steps of a tile in a wrong order.
enum class Slip {
  divided_in_every_tile,  ///< O is divided by l in the loop, not behind it
  product_first,          ///< O takes in P·V, and is rescaled then
  sum_first,              ///< l takes in the row's sum, and is rescaled then
  last_score_alone,       ///< a thread's part of l is the last of its four exponentials of the tile
  scores_summed,          ///< l takes in the scores, before they become exponentials
  sum_in_every_tile,      ///< l is added over the threads of a row in every tile
  sum_in_every_tile_too,  ///< and at the end
  scores_pile_up,         ///< S of a tile is added to what stood there: P of the tile before
  exp_of_old_m,           ///< P is relative to the old maximum: exp(s - m_old)
  exp_without_m,          ///< P is relative to nothing: exp(s), as float32 has it
  p_over_q,               ///< P is written over Q: the next tile's scores are made from P. Needs D <= width
};

double weight_of(Slip slip, double s, double m_old, double m_new) {
  if (slip == Slip::exp_of_old_m) return std::exp(s - m_old);  // -inf - -inf is NaN
  if (slip == Slip::exp_without_m) return static_cast<double>(static_cast<float>(std::exp(s)));
  return exp_relative(s, m_new);
}

Forward64 with_slip(const Problem& p, Int width, Slip slip) {
  const Tensor<double> S = attention_of(p).S;
  Forward64 to = expected_of(p);
  const Int Nk = p.Nk(), D = p.D();
  const std::size_t own = width == 1 ? 1 : 4;  // scores of a thread
  const bool in_every_tile = slip == Slip::sum_in_every_tile || slip == Slip::sum_in_every_tile_too;
  for (Int row = 0; row < to.lse.numel(); ++row) {
    const Int head = row / p.Nq(), b = head / p.H(), h = head % p.H();
    double m = -kInf64, l = 0;
    std::vector<double> O(static_cast<std::size_t>(D)), P(static_cast<std::size_t>(width));
    for (Int first = 0; first < Nk; first += width) {
      const Int end = std::min(first + width, Nk);
      std::vector<double> s(S.data() + row * Nk + first, S.data() + row * Nk + end);
      if (slip == Slip::p_over_q && first > 0)
        for (std::size_t j = 0; j < s.size(); ++j) {
          s[j] = 0;
          for (Int d = 0; d < D; ++d)
            s[j] += static_cast<double>(p.scale) * P[static_cast<std::size_t>(d)] *
                    static_cast<double>(p.K(b, h, first + static_cast<Int>(j), d));
        }
      if (slip == Slip::scores_pile_up)
        for (std::size_t j = 0; j < s.size(); ++j) s[j] += static_cast<double>(p.scale) * P[j];
      const double m_new = std::max(m, *std::max_element(s.begin(), s.end()));
      const double rescale = exp_relative(m, m_new);
      double sum = 0;
      for (std::size_t j = 0; j < s.size(); ++j) sum += P[j] = weight_of(slip, s[j], m, m_new);
      if (slip == Slip::exp_of_old_m && end - first < width && m == -kInf64)
        sum += weight_of(slip, -kInf64, m, m_new);  // the columns past the last key
      if (slip == Slip::scores_summed)
        sum = end - first < width ? -kInf64 : std::accumulate(s.begin(), s.end(), 0.0);
      l = slip == Slip::sum_first ? (l + sum) * rescale : l * rescale + sum;
      if (slip == Slip::last_score_alone) {
        l = 0;
        for (std::size_t j = own - 1; j < s.size(); j += own) l += P[j];
      }
      if (in_every_tile && first > 0) l += (kThreadsOfARow - 1) * (l - sum);
      for (Int d = 0; d < D; ++d) {
        double& o = O[static_cast<std::size_t>(d)];
        double product = 0;
        for (Int j = first; j < end; ++j)
          product += P[static_cast<std::size_t>(j - first)] * static_cast<double>(p.V(b, h, j, d));
        o = slip == Slip::product_first ? (o + product) * rescale : o * rescale + product;
        if (slip == Slip::divided_in_every_tile) o /= l;
      }
      m = m_new;
    }
    if (slip == Slip::sum_in_every_tile_too) l *= kThreadsOfARow;
    to.lse.at_linear(row) = l == 0 ? -kInf64 : m + std::log(l);
    for (Int d = 0; d < D; ++d) {
      const double o = O[static_cast<std::size_t>(d)];
      to.O.at_linear(row * D + d) = slip == Slip::divided_in_every_tile ? o : l == 0 ? 0 : o / l;
    }
  }
  return to;
}

/// lse where the threads of a row do not know of each other. A thread has `own` keys side by side of every
/// `width`; the first one stores.
Tensor<double> lse_of_threads(const Problem& p, Int width, Int own, bool sums_added) {
  const Tensor<double> S = attention_of(p).S;
  Tensor<double> lse(p.shape_of_lse());
  const Int Nk = p.Nk(), threads = width / own;
  for (Int row = 0; row < lse.numel(); ++row) {
    const double* s = S.data() + row * Nk;
    const auto max_of = [&](Int thread) {
      double max = -kInf64;
      for (Int j = 0; j < Nk; ++j)
        if (thread < 0 || j % width / own == thread) max = std::max(max, s[j]);
      return max;
    };
    const auto sum_of = [&](Int thread, double m) {
      double sum = 0;
      for (Int j = 0; j < Nk; ++j)
        if (j % width / own == thread) sum += exp_relative(s[j], m);
      return sum;
    };
    double m = max_of(-1), l = 0;
    if (sums_added) {  // each on the thread's own maximum
      m = max_of(0);
      for (Int thread = 0; thread < threads; ++thread) l += sum_of(thread, max_of(thread));
    } else {
      l = sum_of(0, m);
    }
    lse.at_linear(row) = l == 0 ? -kInf64 : m + std::log(l);
  }
  return lse;
}

/// Fits if each query of the first tile has the lse that belongs to its place in one of the tiles, and no
/// other query has any.
Mistake lse_by_the_row_of_the_tile(const Problem& p, Int tile) {
  const auto fits = [Nq = p.Nq(), tile](const WrongResult& result) {
    if (Nq <= tile) return false;
    for (Int n = 0; n < result.got.numel(); ++n) {
      const Int query = n % Nq;
      const float got = result.got.at_linear(n);
      if (is_poison(got) != (query >= tile)) return false;
      if (query >= tile) continue;
      bool any = false;
      for (Int i = query; i < Nq && !any; i += tile) {
        const double wanted = result.expected.at_linear(n - query + i);
        any = static_cast<double>(got) == wanted ||
              std::abs(static_cast<double>(got) - wanted) <= result.comparison.allowed;
      }
      if (!any) return false;
    }
    return true;
  };
  const std::string sentence =
      "Every tile of queries writes to the place of the first tile. The place of an lse is its query, "
      "first_query + row, not its row within the tile.";
  list_mistake("lse_by_the_row_of_the_tile", sentence);
  return {"lse_by_the_row_of_the_tile",
          [=](const WrongResult& result) { return fits(result) ? std::optional(sentence) : std::nullopt; }};
}

std::vector<Misplacement> own_misplacements(const Problem& p, Which which) {
  std::vector<Misplacement> found;
  if (which == Which::lse)
    for (const Int tile : {32, 64, 128}) found.push_back({lse_by_the_row_of_the_tile(p, tile)});
  const Int Nq = p.Nq();
  if (which == Which::O && p.B() * p.H() == 1 && Nq < p.Nk())  // the rows past Nq leave O and lse
    found.push_back(
        {deviation("q_and_k_exchanged", p, which,
                   {.Q = right(p.K), .K = right(p.Q), .sees = [Nq](Int, Int j) { return j < Nq; }},
                   "Q and K have changed places: S is K·Qᵀ·scale, with a row for each key."),
         true});
  return found;
}

/// Where Nq stands in the place of Nk, or the last key is taken for one that is not there.
void add_wrong_ends(Mistakes& to, const Problem& p, Which which) {
  const Int Nq = p.Nq(), Nk = p.Nk();
  const std::string rule = " There are Nk keys, and K.shape[2] says how many.";
  if (Nq < Nk && Nq > 0)
    to.push_back(deviation("nq_for_nk", p, which, {.sees = [Nq](Int, Int j) { return j < Nq; }},
                           "The loop over the keys ends with Nq, the number of queries." + rule));
  if (Nq > Nk && Nk > 0)  // what lies there is loaded as 0
    to.push_back(deviation("nq_for_nk", p, which,
                           {.sees = [Nq](Int, Int j) { return j < Nq; }, .tile = Nq, .tail_counts = true},
                           "The loop over the keys ends with Nq, the number of queries." + rule));
  for (const Int width : {32, 64, 128}) {
    if (Nq == Nk || (Nq > Nk && Nk % width == 0)) continue;
    to.push_back(deviation(
        "tail_hidden_by_queries", p, which,
        {.sees = [Nq](Int, Int j) { return j < Nq; }, .tile = width, .tail_counts = true},
        "In the tiles of keys, a column is hidden if it lies past Nq, the number of queries." + rule));
    if (Nk % width == 0) continue;
    const Int last = Nk / width * width;
    to.push_back(deviation(
        "tail_hidden_by_queries", p, which,
        {.sees = [Nq, last](Int, Int j) { return j < last || j < Nq; }, .tile = width, .tail_counts = true},
        "In the last tile of keys, a column is hidden if it lies past Nq, the number of queries." + rule));
  }
  if (Nk > 1)
    to.push_back(deviation("last_key_hidden", p, which, {.sees = [Nk](Int, Int j) { return j < Nk - 1; }},
                           "The last key is hidden. Key Nk - 1 is there; key Nk is the first that is not."));
}

/// Every tile of keys begins at the block's first query, whose tile has so many.
void add_keys_of_first_query(Mistakes& to, const Problem& p, Which which, Int queries) {
  constexpr Int kWidth = 64;
  if (p.Nk() == 0 || (p.Nq() <= queries && p.Nk() <= kWidth)) return;
  const auto score = [&p, queries](Int b, Int h, Int i, Int j) {
    const Int key = i / queries * queries + j % kWidth;
    double s = 0;
    for (Int d = 0; d < p.D() && key < p.Nk(); ++d)
      s += static_cast<double>(p.Q(b, h, i, d)) * static_cast<double>(p.K(b, h, key, d));
    return s * static_cast<double>(p.scale);
  };
  to.push_back(gives_about(
      "keys_of_first_query", [&p, which, score] { return from_scores(p, score).of(which); },
      "Every tile of K begins at first_query, the first query of the block. It has to begin at first_key."));
}

/// The columns of keys are hidden, and those past the last key are not.
void add_hidden_the_other_way(Mistakes& to, const Problem& p, Which which) {
  constexpr Int kWidth = 64;
  if (p.Nk() % kWidth != 0)
    to.push_back(deviation(
        "keys_hidden_for_the_tail", p, which,
        {.sees = [Nk = p.Nk()](Int, Int j) { return j >= Nk; }, .tile = kWidth, .tail_counts = true},
        "The keys are hidden, and the columns past the last key count, with a score of 0. `hidden` has to be "
        "true for the columns from Nk on, and for no others."));
}

/// The columns past the last key are set to -inf before S is complete. Those keys are loaded as 0.
void add_hidden_too_early(Mistakes& to, const Problem& p) {
  if (p.Nk() % 64 == 0) return;
  const std::string name = "tail_hidden_too_early";
  const std::string sentence =
      "The columns past the last key are hidden too early: -inf · 0 is NaN, and a negative scale makes inf "
      "of -inf. Hide them once S has been multiplied by the scale.";
  if (p.scale <= 0)
    to.push_back(shows(
        name,
        [](const Tensor<float>& got) {
          for (Int i = 0; i < got.numel(); ++i)
            if (!std::isnan(got.at_linear(i)) || is_poison(got.at_linear(i))) return false;
          return true;
        },
        sentence));
  else
    to.push_back(nan_where(
        name,
        [&p](const Index& at) {
          for (Int d = 0; d < p.D(); ++d)
            if (std::isinf(p.Q(at[0], at[1], at[2], d))) return true;
          return false;
        },
        sentence));
}

/// Tiles that begin at (0, first_key) where they should begin at (first_key, 0), or the other way round.
void add_exchanged_starts(Mistakes& to, const Problem& p, Which which) {
  for (const Int width : tile_widths(p.Nk())) {
    const auto exchanged = [width](const Tensor<float>& x) {
      return Reader{&x, [width, dims = x.shape()[3], s = x.strides()](Int b, Int h, Int row, Int d) {
                      const Int from = row % width, dim = row / width * width + d;
                      return dim < dims ? b * s[0] + h * s[1] + from * s[2] + dim * s[3] : kZeroAddress;
                    }};
    };
    to.push_back(
        deviation("k_start_exchanged", p, which, {.K = exchanged(p.K)},
                  "Every tile of K but the first comes from the wrong place. load_tile() takes the row "
                  "first: a tile of K begins at (first_key, 0)." +
                      of_tiles(width)));
    if (which == Which::O)
      to.push_back(deviation("v_start_exchanged", p, which, {.V = exchanged(p.V)},
                             "Every tile of V but the first comes from the wrong place. A tile of "
                             "device::transposed(V) begins at (0, first_key): its rows are dimensions." +
                                 of_tiles(width)));
  }
}

bool any_score_is_0(const Problem& p) {
  const Tensor<double> S = attention_of(p).S;
  return std::find(S.data(), S.data() + S.numel(), 0.0) != S.data() + S.numel();
}

/// m stays -inf, so that every tile replaces what the others left.
Mistake m_never_updated(const Problem& p, Which which, Int width, const std::string& unit) {
  Deviation how{.tile = width, .of_O = Rescaling::forgotten, .of_l = Rescaling::forgotten};
  how.lse = [](const RowEnd&) { return -kInf64; };
  return deviation("m_never_updated", p, which, how,
                   "m stays -inf: the new maximum is never kept, or the smaller of both is, so that every " +
                       unit + " replaces what the others left." + (width > 1 ? of_tiles(width) : ""));
}

/// O where each thread divides by its own part of l: in every 64 keys and 64 dimensions it has 4.
Tensor<double> divided_by_own_sums(const Problem& p) {
  const reference::Attention all = attention_of(p);
  Tensor<double> O = all.O;
  const Int Nk = p.Nk(), D = p.D();
  for (Int row = 0; row < O.numel() / std::max<Int>(D, 1); ++row) {
    const double* const s = all.S.data() + row * Nk;
    const double m = Nk > 0 ? *std::max_element(s, s + Nk) : -kInf64;
    double l = 0, parts[16] = {};
    for (Int j = 0; j < Nk; ++j) {
      l += exp_relative(s[j], m);
      parts[j % 64 / 4] += exp_relative(s[j], m);
    }
    for (Int d = 0; d < D; ++d) {
      const double part = parts[d % 64 / 4];
      O.at_linear(row * D + d) = part == 0 ? 0 : O.at_linear(row * D + d) * l / part;
    }
  }
  return O;
}

/// Rows that are skipped while their maximum is -inf: their scores are multiplied with V as if they were P.
Forward64 with_scores_left_in_p(const Problem& p, Int width) {
  const Tensor<double> S = attention_of(p).S;
  Forward64 to = expected_of(p);
  const Int Nk = p.Nk(), D = p.D();
  for (Int row = 0; row < to.lse.numel(); ++row) {
    const double* const s = S.data() + row * Nk;
    const Int head = row / p.Nq(), b = head / p.H(), h = head % p.H();
    double m = -kInf64, l = 0;
    std::vector<double> O(static_cast<std::size_t>(D));
    for (Int first = 0; first < Nk; first += width) {
      const Int end = std::min(first + width, Nk);
      double m_new = m;
      for (Int j = first; j < end; ++j) m_new = std::fmax(m_new, s[j]);  // passes over NaN
      const bool skipped = m_new == -kInf64;
      const double rescale = exp_relative(m, m_new);
      if (!skipped) l *= rescale;
      for (double& o : O) o *= skipped ? 1 : rescale;
      for (Int j = first; j < end; ++j) {
        const double P = skipped ? s[j] : exp_relative(s[j], m_new);
        if (!skipped) l += P;
        for (Int d = 0; d < D; ++d)
          O[static_cast<std::size_t>(d)] += P * static_cast<double>(p.V(b, h, j, d));
      }
      m = m_new;
    }
    to.lse.at_linear(row) = l == 0 ? -kInf64 : m + std::log(l);
    for (Int d = 0; d < D; ++d) to.O.at_linear(row * D + d) = l == 0 ? 0 : O[static_cast<std::size_t>(d)] / l;
  }
  return to;
}

/// Where nothing is wrong but what should be NaN, the result speaks neither for the mistake nor against it.
Mistake unless_nan_alone_is_lost(Mistake mistake) {
  mistake.explain = [explain = mistake.explain](const WrongResult& result) -> std::optional<std::string> {
    const std::vector<Int>& wrong = result.comparison.wrong;
    if (std::all_of(wrong.begin(), wrong.end(),
                    [&](Int i) { return std::isnan(result.expected.at_linear(i)); }))
      return "";
    return explain(result);
  };
  return mistake;
}

/// What the rows that should be NaN get for which `taken` says so: an lse of -inf, and zeros.
Forward64 with_rows_taken_for_empty(const Problem& p, const std::function<bool(Int row)>& taken) {
  Forward64 to = expected_of(p);
  for (Int row = 0; row < to.lse.numel(); ++row) {
    if (!std::isnan(to.lse.at_linear(row)) || !taken(row)) continue;
    to.lse.at_linear(row) = -kInf64;
    for (Int d = 0; d < p.D(); ++d) to.O.at_linear(row * p.D() + d) = 0;
  }
  return to;
}

/// Rows of NaN that are taken for rows without keys. Among NaN alone, fmaxf() finds no maximum; and what is
/// greater than 0 is no sum of NaN.
void add_rows_of_nan(Mistakes& to, const Problem& p, Which which) {
  to.push_back(gives_about(
      "nan_taken_for_empty",
      [&p, which] {
        const Tensor<double> S = attention_of(p).S;
        const auto no_number = [&](Int row) {
          const double* const scores = S.data() + row * p.Nk();
          return std::none_of(scores, scores + p.Nk(), [](double s) { return s > -kInf64; });
        };
        return with_rows_taken_for_empty(p, no_number).of(which);
      },
      "A row whose scores are NaN is taken for one without keys: fmaxf() passes over NaN, so that the "
      "maximum is still -inf. Such a row has to become NaN, as it does where exp() takes each of its "
      "scores."));
  const bool ruled_out = !rehearsing() && [&] {
    const Tensor<double> lse = expected_of(p).lse;
    return std::none_of(lse.data(), lse.data() + lse.numel(), [](double x) { return std::isnan(x); });
  }();
  to.back().ruled_out = ruled_out;
  to.push_back(gives_about(
      "nan_sum_taken_for_0",
      [&p, which] { return with_rows_taken_for_empty(p, [](Int) { return true; }).of(which); },
      std::string(which == Which::lse ? "lse is -inf" : "O is 0") +
          " where l is NaN: a test such as l > 0 is false for NaN, too. It is meant for a row whose l is "
          "0."));
  to.back().ruled_out = ruled_out;
}

/// The last loop finishes `rows` of a thread's 8: 4 of each 64 queries side by side.
void add_unfinished_rows(Mistakes& to, const Problem& p, Which which) {
  for (int rows = 1; rows < 8; ++rows) {
    const auto finished = [rows](Int query) { return query % 128 / 64 * 4 + query % 4 < rows; };
    const std::string name = "rows_not_finished",
                      sentence = "A thread has kThreadRows rows, and finishes " + std::to_string(rows) +
                                 ": in the others O is not divided and lse not stored. The last loop goes "
                                 "over all of them.";
    if (which == Which::lse)
      to.push_back(only_written(
          name, [finished](const grading::Index& at) { return finished(at[2]); }, sentence));
    else
      to.push_back(gives_about(
          name,
          [&p, finished] {
            Tensor<double> O = expected_of(p).O;
            const Tensor<double> undivided = deviate(p, {.division = Division::none}).O;
            for (Int i = 0; i < O.numel(); ++i)
              if (!finished(O.unravel(i)[2])) O.at_linear(i) = undivided.at_linear(i);
            return O;
          },
          sentence));
  }
}

/// -inf - -inf where a row begins with scores of -inf alone, or 0 / 0 where there are no keys.
void add_empty_beginnings(Mistakes& to, const Problem& p, Which which) {
  if (p.Nk() == 0) {
    if (which == Which::O)
      to.push_back(shows(
          "nan_for_empty_row",
          [](const Tensor<float>& got) {
            return std::all_of(got.data(), got.data() + got.numel(),
                               [](float x) { return std::isnan(x) && !is_poison(x); });
          },
          "Without keys, l is 0, and 0 / 0 is NaN. In such a row O is 0."));
    return;
  }
  for (const Int width : {Int{1}, Int{32}, Int{64}, Int{128}})
    if (width < p.Nk())
      to.push_back(nan_where(
          "nan_for_empty_row",
          [S = attention_of(p).S, width](const grading::Index& at) {
            for (Int j = 0; j < width; ++j)
              if (S(at[0], at[1], at[2], j) != -kInf64) return false;
            return true;
          },
          "Where all scores so far are -inf, the maximum is -inf, too, and -inf - -inf is NaN. "
          "Subtract 0 there."));
}

/// What l may take in instead of the sum of a tile's exponentials, also where one tile holds all keys.
void add_sums_of_a_tile(Mistakes& to, const Problem& p, Which which, Int width) {
  to.push_back(gives_about(
      "last_score_alone",
      [&p, which, width] { return with_slip(p, width, Slip::last_score_alone).of(which); },
      "l holds the exponential of one score: each replaces the one before. It has to be added to l."));
  to.push_back(gives_about(
      "scores_summed", [&p, which, width] { return with_slip(p, width, Slip::scores_summed).of(which); },
      "l is the sum of the scores themselves. Each becomes exp(s - m) first, and is added then."));
}

/// Exponentials that are not relative to the new maximum, where l, O and lse take them to be.
void add_wrong_bases(Mistakes& to, const Problem& p, Which which, Int width) {
  to.push_back(gives_about(
      "exponentials_of_old_m",
      [&p, which, width] { return with_slip(p, width, Slip::exp_of_old_m).of(which); },
      "The exponentials are relative to the old maximum, which is -inf at first: exp(s - -inf) is infinite. "
      "They have to be relative to the new one."));
  to.push_back(gives_about(
      "exponentials_without_m",
      [&p, which, width] { return with_slip(p, width, Slip::exp_without_m).of(which); },
      "The exponentials are exp(s), without the maximum, though lse adds it. They have to be exp(s - m)."));
  if (rehearsing()) return;
  // Where exp(s) overflows, O shows it, too.
  const Tensor<double> O = with_slip(p, width, Slip::exp_without_m).O, right = expected_of(p).O;
  for (Int i = 0; i < O.numel(); ++i)
    if (std::isnan(O.at_linear(i)) && !std::isnan(right.at_linear(i))) to.back().of_all_results = true;
}

Mistakes own_mistakes(const Problem& p, Which which) {
  Mistakes mistakes;
  const auto add_slip = [&](const char* name, Slip slip, const std::string& sentence) {
    for (const Int width : tile_widths(p.Nk()))
      mistakes.push_back(gives_about(
          name, [&p, which, slip, width] { return with_slip(p, width, slip).of(which); },
          sentence + of_tiles(width)));
  };
  add_slip("scores_pile_up", Slip::scores_pile_up,
           "S of a tile is added to what the tile before has left in its place: it has to begin with 0.");
  add_slip("sum_rescaled_too_late", Slip::sum_first,
           "l is multiplied by exp(m_old - m_new) when the new tile's sum is in it already: that stands on "
           "m_new.");
  add_wrong_bases(mistakes, p, which, 64);
  add_sums_of_a_tile(mistakes, p, which, 64);
  std::vector<Int> widths = tile_widths(p.Nk());
  widths.push_back(std::max<Int>(p.Nk(), 1));  // a single tile
  for (const Slip slip : {Slip::sum_in_every_tile, Slip::sum_in_every_tile_too})
    for (const Int width : widths)
      mistakes.push_back(gives_about(
          "sum_in_every_tile", [&p, which, slip, width] { return with_slip(p, width, slip).of(which); },
          "l is added over the threads of its row again when it is whole already, in the loop or after it, "
          "and counts 16 times then. Each thread keeps its own part until all keys have passed; then they "
          "are added, once."));
  if (which == Which::lse)
    for (const Int width : tile_widths(p.Nk())) {
      mistakes.push_back(deviation(
          "nothing_rescaled", p, which, {.tile = width, .of_O = Rescaling::never, .of_l = Rescaling::never},
          "When a tile raises the maximum m, neither O nor l is multiplied by exp(m_old - m_new), or m is "
          "m_new already where that is computed, and it is 1." +
              of_tiles(width)));
    }
  for (const Int width : tile_widths(p.Nk())) mistakes.push_back(m_never_updated(p, which, width, "tile"));
  add_empty_beginnings(mistakes, p, which);
  for (const Int width : widths)
    mistakes.push_back(unless_nan_alone_is_lost(gives_about(
        "scores_left_in_p", [&p, which, width] { return with_scores_left_in_p(p, width).of(which); },
        "A row whose maximum is still -inf was skipped, and its scores are multiplied with V in the place of "
        "P: -inf * V. They have to become 0 first.")));
  add_rows_of_nan(mistakes, p, which);
  add_unfinished_rows(mistakes, p, which);
  if (which == Which::O && p.D() <= 64)
    mistakes.push_back(gives_about(
        "divided_by_own_sum", [&p] { return divided_by_own_sums(p); },
        "O is divided by one thread's part of l. The threads of a row add their parts first, then they "
        "divide."));
  for (const Int width : tile_widths(p.Nk()))
    if (p.D() <= width)
      mistakes.push_back(gives_about(
          "p_over_q", [&p, which, width] { return with_slip(p, width, Slip::p_over_q).of(which); },
          "From the second tile of keys on, P of the tile before stands where Q belongs: P was written over "
          "Q. Q is needed until the last tile; P may take the place of K, which every tile loads anew." +
              of_tiles(width)));
  if (which == Which::O) {
    mistakes.push_back(deviation("output_twice", p, which, {.factor_of_O = 2},
                                 "O is twice what it has to be: P·V counts twice in O, and once in l."));
    add_slip("divided_in_every_tile", Slip::divided_in_every_tile,
             "O is divided by l after every tile. It stays unnormalised until all keys have passed; then it "
             "is divided once.");
    add_slip("output_rescaled_too_late", Slip::product_first,
             "O is multiplied by exp(m_old - m_new) when the new tile's P·V is in it already: that stands "
             "on m_new.");
  } else {
    for (const Misplacement& one : own_misplacements(p, which)) mistakes.push_back(one.mistake);
    for (const auto& [width, own] :
         {std::pair<Int, Int>{64, 4}, {32, 4}, {128, 4}, {128, 8}, {16, 1}, {32, 1}}) {
      mistakes.push_back(gives_about(
          "sums_of_threads_not_added", [&p, w = width, o = own] { return lse_of_threads(p, w, o, false); },
          "l is the sum over one thread's keys alone. The threads that share a row have to add theirs."));
      mistakes.push_back(gives_about(
          "maxima_of_threads_apart", [&p, w = width, o = own] { return lse_of_threads(p, w, o, true); },
          "Each thread has a maximum of its own. The threads that share a row need the same m, the maximum "
          "of all their scores."));
    }
  }
  add_two_rows(mistakes, p, which, TwoRows::sum_at_end);
  for (const auto& [queries, keys] : {std::pair<Int, Int>{128, 64}, {64, 64}, {64, 32}, {128, 128}})
    if (p.Nk() % keys != 0)
      mistakes.push_back(
          deviation("tail_hidden_by_row", p, which,
                    {.sees = [Nk = p.Nk(), M = queries, N = keys](
                                 Int i, Int j) { return j / N * N + N <= Nk || j / N * N + i % M < Nk; },
                     .tile = keys,
                     .tail_counts = true},
                    "In the last tile of keys, the row is compared with the number of keys. It has to be the "
                    "column: the second argument of `hidden`."));
  for (const auto& [queries, keys] : {std::pair<Int, Int>{128, 64}, {64, 64}, {64, 32}, {128, 128}})
    mistakes.push_back(deviation(
        "tail_hidden_by_row", p, which,
        {.sees = [Nk = p.Nk(), M = queries, N = keys](Int i, Int j) { return j / N * N + i % M < Nk; },
         .tile = keys,
         .tail_counts = true},
        "In the tiles of keys, the row is compared with the number of keys. It has to be the column: the "
        "second argument of `hidden`."));
  add_wrong_ends(mistakes, p, which);
  for (const Int queries : {64, 128}) add_keys_of_first_query(mistakes, p, which, queries);
  add_hidden_the_other_way(mistakes, p, which);
  add_exchanged_starts(mistakes, p, which);
  add_hidden_too_early(mistakes, p);
  if (any_score_is_0(p))
    mistakes.push_back(gives_about(
        "zero_scores_hidden",
        [&p, which, S = attention_of(p).S] {
          const auto score = [&](Int b, Int h, Int i, Int j) {
            return S(b, h, i, j) == 0 ? -kInf64 : S(b, h, i, j);
          };
          return from_scores(p, score).of(which);
        },
        "Scores of 0 are hidden. A score of 0 may be that of a key: what is hidden is told by its column."));
  for (const Int width : {8, 16, 32, 64, 128})
    if (p.Nk() % width != 0)
      mistakes.push_back(deviation(
          "key_behind_the_last_counted", p, which,
          {.sees = [Nk = p.Nk()](Int, Int j) { return j <= Nk; }, .tile = width, .tail_counts = true},
          "One key past the last one counts, with a score of 0: key Nk is the first that is not there."));
  return mistakes;
}

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

/// What only tiles of keys can have, and rows that several threads share; or what is another sentence
/// without.
constexpr std::string_view kOfTiles[] = {"divided_by_own_sum",
                                         "exponentials_of_old_m",
                                         "exponentials_without_m",
                                         "k_start_exchanged",
                                         "key_behind_the_last_counted",
                                         "keys_hidden_for_the_tail",
                                         "keys_of_first_query",
                                         "last_score_alone",
                                         "maxima_of_threads_apart",
                                         "maximum_of_two_rows",
                                         "p_over_q",
                                         "rows_not_finished",
                                         "running_maximum_forgotten",
                                         "scores_left_in_p",
                                         "scores_summed",
                                         "sum_in_every_tile",
                                         "sum_of_two_rows",
                                         "sums_of_threads_not_added",
                                         "tail_hidden_by_queries",
                                         "tail_hidden_by_row",
                                         "tail_hidden_too_early",
                                         "v_start_exchanged"};

/// Those of the first version, which has tiles of one key.
Mistakes mistakes_of_rows(const Problem& p, Which which) {
  Mistakes mistakes = own_mistakes(p, which);
  std::erase_if(mistakes, [](const Mistake& one) {
    return std::find(std::begin(kOfTiles), std::end(kOfTiles), one.name) != std::end(kOfTiles);
  });
  mistakes.push_back(m_never_updated(p, which, 1, "key"));
  add_wrong_bases(mistakes, p, which, 1);
  add_sums_of_a_tile(mistakes, p, which, 1);
  mistakes.push_back(gives_about(
      "scores_add_up",
      [&p, which, S = attention_of(p).S] {
        const auto score = [&](Int b, Int h, Int i, Int j) {  // each is scaled with what stood there
          double s = 0;
          for (Int key = 0; key <= j; ++key) s = s * static_cast<double>(p.scale) + S(b, h, i, key);
          return s;
        };
        return from_scores(p, score).of(which);
      },
      "The score of a key is added to what the key before has left: it has to begin with 0 for every key."));
  const auto add = [&](const char* name, Deviation how, const char* sentence) {
    how.tile = 1;
    mistakes.push_back(deviation(name, p, which, std::move(how), sentence));
  };
  if (which == Which::O)
    add("output_not_rescaled", {.of_O = Rescaling::never},
        "When a key raises the maximum m, what O holds so far stands on the old one: it has to be multiplied "
        "by exp(m_old - m_new).");
  add("sum_not_rescaled", {.of_l = Rescaling::never},
      "When a key raises the maximum m, the sum l so far stands on the old one: it has to be multiplied by "
      "exp(m_old - m_new).");
  add("nothing_rescaled", {.of_O = Rescaling::never, .of_l = Rescaling::never},
      "When a key raises the maximum m, neither O nor l is multiplied by exp(m_old - m_new), or m is m_new "
      "already where that is computed, and it is 1.");
  add("rescaled_by_the_inverse", {.of_O = Rescaling::inverse, .of_l = Rescaling::inverse},
      "O and l are multiplied by exp(m_new - m_old); it should be exp(m_old - m_new).");
  mistakes.push_back(overflowing_deviation(
      "running_maximum_forgotten", p, which, {.tile = 1, .maximum = Maximum::of_tile_rescaled},
      "m is the score of the last key alone: it forgets the old maximum. The new m is the larger of both. "
      "Where scores fall from key to key, exp(m_old - m_new) is infinite here."));
  return mistakes;
}

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
void check_stores_in_unknown_sizes(const Kernel& kernel) {
  const Problem p = random_problem(unknown_sizes());
  INFO(describe(p));
  const Outcome outcome = attention_tests::check(kernel, p, kCounted);
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == 1, "Your code launched " + std::to_string(launches) + " kernels; one does it all.");
  if (const Profile* profile = profile_of(outcome)) require_stores_outputs_once(kernel, *profile, p);
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
  check_stores_in_unknown_sizes(kRows);
  check_nothing_to_do(kRows);
}

TEST_CASE("rows: follows the maximum, keeps large scores apart, and gives zeros without any weight",
          "[l09][flash2_forward_rows][points:2]") {
  for (const float step : {1.0f, -1.0f}) {
    INFO("from key to key, " << step << " is added to every score");
    attention_tests::check(kRows, with_slope(random_problem({1, 1, 24, 100, 8}), step));
  }
  attention_tests::check(kRows, with_opposite_shifts(random_problem({1, 2, 20, 60, 16}), 1000.0f));
  attention_tests::check(kRows, with_empty_rows(random_problem({1, 2, 12, 50, 8})));
  attention_tests::check(kRows, with_keys_of_minus_inf(random_problem({2, 2, 12, 50, 8}), 30));
  attention_tests::check(kRows, with_not_numbers(random_problem(larger({2, 3, 31, 40, 20}))));
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
  for (const float shift : {1000.0f, -1000.0f}) {
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
  check_results(with_keys_of_minus_inf(random_problem({2, 2, 12, 150, 8}), 130));
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
  const Problem p = random_problem({1, 2, 260, 9, 8});
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
  check_reports_refused_launch(kKernel, random_problem(larger({1, 1, 300, 20, 8})), CheckMode::never);
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {}, {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(flash2_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.lse, "lse"), p.scale);
  });
}
