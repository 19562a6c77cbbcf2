#include "09_flash2_forward/mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "attention/catalogue.hpp"
#include "attention/row_mistakes.hpp"
#include "grading/facts/poison.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_09 {

using namespace grading;

namespace {

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

}  // namespace

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

}  // namespace course::lesson_09
