// Tests of lesson 07: S, P and O of naive_attention against float64, in this order, so that the first wrong
// step is told; within twice the error of a plain float32 attention.

#include "07_naive_attention/naive_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention/check_parts.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/attention.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr auto kAttention = ENTRY(naive_attention);
constexpr const char* kLastKeysMissing =
    "The last keys are missing: those from {} on. No block, or no thread, computes them.";
constexpr Int kTile = 32;  // rows and columns of the smallest tile that the contract's cost allows

struct Steps {
  Tensor<float> S, P, O;
};

/// What lesson 07 writes besides O has layouts of its own.
struct StepLayouts {
  Layout S = Layout::heads_outside, P = Layout::heads_outside;
};

// --- Which well-known mistake explains a wrong result ---

/// S of the given rows. Shapes: (B, H, Nq, Nk), sums over dims [0, D).
Tensor<double> scores(const Problem& p, const Reader& Q, const Reader& K, double scale, Int D) {
  Tensor<double> S({p.B(), p.H(), p.Nq(), p.Nk()});
  double* s = S.data();
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i)
        for (Int j = 0; j < p.Nk(); ++j, ++s) {
          for (Int d = 0; d < D; ++d) *s += Q(b, h, i, d) * K(b, h, j, d);
          *s *= scale;
        }
  return S;
}

/// Σ_j weights · values over keys [0, Nk).
Tensor<double> weigh(const Problem& p, const Tensor<double>& weights, const Reader& V, Int Nk) {
  Tensor<double> O({p.B(), p.H(), p.Nq(), p.D()});
  double* o = O.data();
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i, o += p.D())
        for (Int j = 0; j < Nk; ++j) {
          const double weight = weights(b, h, i, j);
          for (Int d = 0; d < p.D(); ++d) o[d] += weight * V(b, h, j, d);
        }
  return O;
}

/// Each row of S, changed by `change`, which gets S_i0 ... S_i(Nk-1) and leaves the row of P there.
Tensor<double> by_rows(const Tensor<double>& S, const std::function<void(double* row, Int Nk)>& change) {
  Tensor<double> P = S;
  const Int Nk = S.shape()[3];
  if (Nk > 0)
    for (Int row = 0; row < S.numel() / Nk; ++row) change(P.data() + row * Nk, Nk);
  return P;
}

double max_of(const double* row, Int first, Int end, Int step = 1) {
  double max = -std::numeric_limits<double>::infinity();
  for (Int j = first; j < end; j += step) max = std::max(max, row[j]);
  return max;
}

/// exp as float32 has it: infinite from 88.8 on.
double exp_of_float(double x) { return static_cast<double>(static_cast<float>(std::exp(x))); }

/// exp(x - max), and 0 where both are -inf: no kernel's NaN is to be taken for one of these mistakes.
double exp_from(double x, double max) {
  return x == -std::numeric_limits<double>::infinity() ? 0 : std::exp(x - max);
}

/// softmax* of each piece of `width` keys with that piece's own maximum; divided by the sum of all, or of the
/// piece.
Tensor<double> local_softmax(const Tensor<double>& S, Int width, bool own_sums) {
  return by_rows(S, [=](double* row, Int Nk) {
    double total = 0;
    for (Int first = 0; first < Nk; first += width) {
      const Int end = std::min(first + width, Nk);
      const double max = max_of(row, first, end);
      double sum = 0;
      for (Int j = first; j < end; ++j) sum += row[j] = exp_from(row[j], max);
      if (own_sums && sum != 0)
        for (Int j = first; j < end; ++j) row[j] /= sum;
      total += sum;
    }
    if (!own_sums && total != 0)
      for (Int j = 0; j < Nk; ++j) row[j] /= total;
  });
}

/// Each of `threads` threads sums its keys on its own maximum, and these sums are added as they are.
Tensor<double> sums_not_rescaled(const Tensor<double>& S, Int threads) {
  return by_rows(S, [=](double* row, Int Nk) {
    const double max = max_of(row, 0, Nk);
    double sum = 0;
    for (Int thread = 0; thread < std::min(threads, Nk); ++thread) {
      const double own_max = max_of(row, thread, Nk, threads);
      for (Int j = thread; j < Nk; j += threads) sum += exp_from(row[j], own_max);
    }
    for (Int j = 0; j < Nk; ++j) row[j] = exp_from(row[j], max) / sum;
  });
}

Tensor<double> softmax_over_queries(const Tensor<double>& S) {
  const Tensor<double> by_columns = by_rows(S.transposed(2, 3).contiguous(), [](double* row, Int Nq) {
    const double max = max_of(row, 0, Nq);
    double sum = 0;
    for (Int i = 0; i < Nq; ++i) sum += row[i] = std::exp(row[i] - max);
    for (Int i = 0; i < Nq; ++i) row[i] /= sum;
  });
  return by_columns.transposed(2, 3).contiguous();
}

Tensor<double> softmax_without_maximum(const Tensor<double>& S, bool divided) {
  return by_rows(S, [=](double* row, Int Nk) {
    const bool empty = max_of(row, 0, Nk) == -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (Int j = 0; j < Nk; ++j) sum += row[j] = exp_of_float(row[j]);
    if (std::isinf(static_cast<float>(sum))) sum = static_cast<double>(kInf);
    if (divided && !empty)
      for (Int j = 0; j < Nk; ++j) row[j] /= sum;
  });
}

/// The softmax of a kernel whose maxima begin with 0.
Tensor<double> softmax_from_0(const Tensor<double>& S) {
  return by_rows(S, [](double* row, Int Nk) {
    const double max = std::max(max_of(row, 0, Nk), 0.0);
    double sum = 0;
    for (Int j = 0; j < Nk; ++j) sum += row[j] = exp_of_float(row[j] - max);
    for (Int j = 0; j < Nk && sum != 0; ++j) row[j] /= sum;
  });
}

/// softmax where key j counts times(j) times in the sum.
Tensor<double> softmax_counting(const Tensor<double>& S, const std::function<Int(Int j)>& times) {
  return by_rows(S, [&](double* row, Int Nk) {
    const double max = max_of(row, 0, Nk);
    double sum = 0;
    for (Int j = 0; j < Nk; ++j) sum += static_cast<double>(times(j)) * (row[j] = exp_from(row[j], max));
    for (Int j = 0; j < Nk && sum != 0; ++j) row[j] /= sum;
  });
}

/// The weights of keys that share `owner(j)` are divided by their own sum, on the row's maximum; or on their
/// own maximum, and by the sum of all.
Tensor<double> softmax_of_owners(const Tensor<double>& S, const std::function<Int(Int j)>& owner,
                                 bool own_maxima) {
  return by_rows(S, [&](double* row, Int Nk) {
    std::map<Int, double> maxima, sums;
    for (Int j = 0; j < Nk; ++j) {
      const auto at = maxima.emplace(owner(j), -std::numeric_limits<double>::infinity()).first;
      at->second = std::max(at->second, row[j]);
    }
    const double max = max_of(row, 0, Nk);
    double total = 0;
    for (Int j = 0; j < Nk; ++j) {
      row[j] = exp_from(row[j], own_maxima ? maxima[owner(j)] : max);
      sums[owner(j)] += row[j], total += row[j];
    }
    for (Int j = 0; j < Nk; ++j)
      if (const double sum = own_maxima ? total : sums[owner(j)]; sum != 0) row[j] /= sum;
  });
}

Tensor<double> softmax_in_base_2(const Tensor<double>& S) {
  return by_rows(S, [](double* row, Int Nk) {
    const double max = max_of(row, 0, Nk);
    double sum = 0;
    for (Int j = 0; j < Nk; ++j) sum += row[j] = std::exp2(row[j] - max);
    for (Int j = 0; j < Nk; ++j) row[j] /= sum;
  });
}

Tensor<double> softmax_in_base_e(const Tensor<double>& S) {
  return softmax_counting(S, [](Int) { return 1; });
}

Tensor<double> not_divided(const Tensor<double>& S) {
  return by_rows(S, [](double* row, Int Nk) {
    const double max = max_of(row, 0, Nk);
    for (Int j = 0; j < Nk; ++j) row[j] = std::exp(row[j] - max);
  });
}

/// Widths of 16 to 256 that cut `size` into different pieces; the last makes it one piece.
std::vector<Int> widths(Int size) {
  std::vector<Int> result;
  for (Int width = 16; width <= 256; width *= 2) {
    result.push_back(width);
    if (width >= size) break;
  }
  return result;
}

/// What S, P or O have in common: which elements are written at all.
void add_unwritten(Mistakes& to, const Problem& p) {
  if (p.H() > 1) to.push_back(only_head_0_written());
  if (p.B() > 1) to.push_back(only_batch_0_written());
  to.push_back(missing_tail("last_queries_missing", 2, kLastQueriesMissing, kLastQueriesEmpty));
}

/// Which tiles of S exist where rows and columns of tiles are taken for each other.
bool in_exchanged_tile(const Index& at, Int Nq, Int Nk, Int tile) {
  const Int down = (Nq + tile - 1) / tile, across = (Nk + tile - 1) / tile;
  const Int row = at[2] / tile, col = at[3] / tile;
  for (Int block = 0; block < down * across; ++block)
    if (row == block % across && col == block / across) return true;
  return false;
}

Mistake tiles_exchanged(const Problem& p, Int tile) {
  return only_written(
      "tiles_exchanged",
      [Nq = p.Nq(), Nk = p.Nk(), tile](const Index& at) { return in_exchanged_tile(at, Nq, Nk, tile); },
      "Some tiles of S are missing: others may be computed in their place. The tiles of S are counted row by "
      "row: tile n has row n / tiles_across of tiles, and column n % tiles_across, and tiles_across counts "
      "those along the keys.");
}

Mistake softmax_in_place(const reference::Attention& expected) {
  return gives(
      "softmax_in_place", [&expected] { return expected.P; },
      "S holds the weights: the softmax is written over the scores. It belongs into P.");
}

/// What S may be instead of Q·Kᵀ·scale.
Mistakes mistakes_in_S(const Problem& p, const reference::Attention& expected) {
  const auto scale = static_cast<double>(p.scale);
  const Int D = p.D();
  Mistakes found;
  const auto add = [&](std::string name, std::function<Tensor<double>()> wrong, std::string sentence) {
    found.push_back(gives(std::move(name), std::move(wrong), std::move(sentence)));
  };
  const Reader Q = right(p.Q), K = right(p.K), V = right(p.V);
  add(
      "scale_missing", [=, &p] { return scores(p, Q, K, 1, D); },
      "This is Q·Kᵀ: the scale is missing. It belongs to S, before the softmax, not behind it.");
  add(
      "scale_twice", [=, &p] { return scores(p, Q, K, scale * scale, D); }, "S is scaled twice.");
  if (const double root = 1 / std::sqrt(static_cast<double>(D)); std::abs(root - scale) > 1e-3 * scale)
    add(
        "scale_from_dim", [=, &p] { return scores(p, Q, K, root, D); },
        "The scores are multiplied by 1/√D here. They have to be multiplied by the argument `scale`, which "
        "may be something else.");
  found.push_back(softmax_in_place(expected));
  add(
      "scale_inverted", [=, &p] { return scores(p, Q, K, 1 / scale, D); },
      "S is divided by the scale; it should be multiplied.");
  add(
      "v_for_k", [=, &p] { return scores(p, Q, V, scale, D); },
      "This is Q·Vᵀ·scale: V is read where K belongs.");
  if (p.Nk() == D) {
    const Reader K_transposed = transposed(p.K);
    add(
        "k_not_transposed", [=, &p] { return scores(p, Q, K_transposed, scale, D); },
        "This is Q·K·scale: K is not transposed. S_ij is the product of row i of Q with row j of K.");
  }
  for (const Int end : ends_of_whole_tiles(D))
    add(
        "dim_tail_missing", [=, &p] { return scores(p, Q, K, scale, end); },
        "The last dimensions are missing from the sums: those from " + std::to_string(end) + " on.");
  for (const Misreading& how : misreadings()) {
    const Reader Q_wrong = misread(p.Q, how), K_wrong = misread(p.K, how);
    const bool in_Q = matters(p.Q, how), in_K = matters(p.K, how);
    if (in_Q)
      add(
          how.name, [=, &p] { return scores(p, Q_wrong, K, scale, D); }, "In Q: " + how.sentence);
    if (in_K)
      add(
          how.name, [=, &p] { return scores(p, Q, K_wrong, scale, D); }, "In K: " + how.sentence);
    if (in_Q && in_K)
      add(
          how.name, [=, &p] { return scores(p, Q_wrong, K_wrong, scale, D); }, "In Q and K: " + how.sentence);
  }
  if (p.K.strides() != p.Q.strides()) {
    const Reader K_wrong{&p.K, address_by(p.Q.strides())};
    add(
        "strides_of_q", [=, &p] { return scores(p, Q, K_wrong, scale, D); },
        "K is read by the strides of Q; it has its own.");
  }
  add_unwritten(found, p);
  found.push_back(missing_tail("last_keys_missing", 3, kLastKeysMissing));
  for (const Int tile : {32, 64, 128}) found.push_back(tiles_exchanged(p, tile));
  return by_name(std::move(found));
}

/// What P may be instead of the softmax of each row of S.
Mistakes mistakes_in_P(const Problem& p, const reference::Attention& expected) {
  const Tensor<double>& S = expected.S;
  Mistakes found;
  const auto add = [&](std::string name, std::function<Tensor<double>()> wrong, std::string sentence) {
    found.push_back(gives(std::move(name), std::move(wrong), std::move(sentence)));
  };
  add(
      "softmax_over_queries", [&S] { return softmax_over_queries(S); },
      "The softmax runs down the columns of S, over the queries. It should run along each row, over the "
      "keys.");
  add(
      "no_maximum", [&S] { return softmax_without_maximum(S, true); },
      "No maximum was subtracted before the exponential: exp(89) is more than float32 can hold, and "
      "exp(-104) is 0 in it.");
  add(
      "not_divided", [&S] { return not_divided(S); },
      "These are exponentials that nobody has divided by their sum.");
  add(
      "base_2", [&S] { return softmax_in_base_2(S); },
      "These are powers of 2. The softmax is one of powers of e: expf(x), or exp2f(x * 1.44269504f).");
  add(
      "exponentials_only", [&S] { return softmax_without_maximum(S, false); },
      "This is exp(S): neither was the row's maximum subtracted nor is anything divided by the row's sum.");
  add(
      "no_softmax", [&S] { return S; }, "P is a copy of S.");
  add(
      "maximum_begins_at_0", [&S] { return softmax_from_0(S); },
      "The maximum began with 0, and so it is 0 where all scores are less. The maximum of no scores is "
      "-inf.");
  add(
      "scaled_again",
      [&S, scale = static_cast<double>(p.scale)] {
        return softmax_in_base_e(by_rows(S, [scale](double* row, Int Nk) {
          for (Int j = 0; j < Nk; ++j) row[j] *= scale;
        }));
      },
      "The scores are scaled again before the softmax. S is scaled already.");
  add(
      "log2e_with_expf",
      [&S] {
        return softmax_in_base_e(by_rows(S, [](double* row, Int Nk) {
          for (Int j = 0; j < Nk; ++j) row[j] *= 1.4426950408889634;
        }));
      },
      "The scores are multiplied by log2(e), as exp2f() wants them, but the exponential is expf(). Take "
      "exp2f(), or leave log2(e) out.");
  for (const Int threads : {32, 64, 128, 256, 512, 1024}) {
    add(
        "divided_by_own_sum",
        [&S, threads] {
          return softmax_of_owners(
              S, [threads](Int j) { return j % threads; }, false);
        },
        "Each weight is divided by the sum over one thread's keys. It has to be the sum over all threads' "
        "keys.");
    if (threads > 32 && p.Nk() > 32) {
      const auto warp = [threads](Int j) { return j % threads / 32; };
      add(
          "divided_by_sum_of_warp", [&S, warp] { return softmax_of_owners(S, warp, false); },
          "Each weight is divided by the sum over the keys of one warp. It has to be the sum over those of "
          "all warps.");
      add(
          "local_maxima", [&S, warp] { return softmax_of_owners(S, warp, true); },
          "Every 32 keys have a maximum of their own, that of a warp, and their exponentials are used "
          "together: they stand on different bases. The maximum has to be that of all warps.");
      add(
          "keys_counted_by_several_threads",
          [&S, threads] {
            return softmax_counting(S, [threads](Int j) { return std::min(j / 32 + 1, threads / 32); });
          },
          "Keys are counted by several threads: the loop over them steps by fewer keys than the block has "
          "threads.");
    }
  }
  for (const Int width : widths(p.Nk())) {
    if (width < p.Nk()) {
      add(
          "local_maxima", [&S, width] { return local_softmax(S, width, false); },
          "Every " + std::to_string(width) +
              " keys have a maximum of their own, and their exponentials are used together: they stand on "
              "different bases. Bring them to the row's maximum first.");
      add(
          "local_softmax", [&S, width] { return local_softmax(S, width, true); },
          "Every " + std::to_string(width) +
              " keys have a softmax of their own: the row of P sums to more than 1.");
    }
    add(
        "sums_not_rescaled", [&S, width] { return sums_not_rescaled(S, width); },
        "The threads' sums are added as they are, though each stands on its own thread's maximum. Multiply "
        "each by exp(its maximum - the row's maximum) first.");
  }
  found.push_back(nan_where(
      "nan_for_empty_row",
      [&S](const std::vector<Int>& at) {
        for (Int j = 0; j < S.shape()[3]; ++j)
          if (S(at[0], at[1], at[2], j) != -std::numeric_limits<double>::infinity()) return false;
        return true;
      },
      "In a row of S that is only -inf, the maximum is -inf, too, and -inf - -inf is NaN. Such a row of P is "
      "0."));
  add_unwritten(found, p);
  found.push_back(missing_tail("last_keys_missing", 3, kLastKeysMissing));
  return by_name(std::move(found));
}

/// What O may be instead of P·V.
Mistakes mistakes_in_O(const Problem& p, const reference::Attention& expected) {
  const Tensor<double>&S = expected.S, &P = expected.P;
  const Int Nk = p.Nk();
  Mistakes found;
  const auto add = [&](std::string name, std::function<Tensor<double>()> wrong, std::string sentence) {
    found.push_back(gives(std::move(name), std::move(wrong), std::move(sentence)));
  };
  const Reader K = right(p.K), V = right(p.V);
  add(
      "s_for_p", [=, &p, &S] { return weigh(p, S, V, Nk); }, "This is S·V: S is read where P belongs.");
  add(
      "k_for_v", [=, &p, &P] { return weigh(p, P, K, Nk); }, "This is P·K: K is read where V belongs.");
  add(
      "scale_again",
      [=, &p, &P] {
        return weigh(p,
                     by_rows(P,
                             [&p](double* row, Int n) {
                               for (Int j = 0; j < n; ++j) row[j] *= static_cast<double>(p.scale);
                             }),
                     V, Nk);
      },
      "O is scaled; the scale belongs to S alone.");
  if (Nk == p.D()) {
    const Reader V_transposed = transposed(p.V);
    add(
        "v_transposed", [=, &p, &P] { return weigh(p, P, V_transposed, Nk); },
        "This is P·Vᵀ: V is transposed. Row j of V is the value of key j.");
  }
  if (Nk == p.Nq())
    add(
        "p_transposed", [=, &p, &P] { return weigh(p, P.transposed(2, 3).contiguous(), V, Nk); },
        "This is Pᵀ·V: the weights of query i are row i of P.");
  for (const Int end : ends_of_whole_tiles(Nk))
    add(
        "key_tail_missing", [=, &p, &P] { return weigh(p, P, V, end); },
        "The last keys are missing from the sums: those from " + std::to_string(end) + " on.");
  for (const Misreading& how : misreadings()) {
    const Reader V_wrong = misread(p.V, how);
    add(
        how.name, [=, &p, &P] { return weigh(p, P, V_wrong, Nk); }, "In V: " + how.sentence);
  }
  if (p.layout_of_O == Layout::heads_inside)
    add(
        "output_layout_assumed",
        [&p, &expected] {
          const Strides strides = strides_of(expected.O.shape(), p.layout_of_O);
          const Address address = address_by(strides);
          Tensor<double> O(expected.O.shape());
          for (Int i = 0; i < O.numel(); ++i) {
            const auto at = O.unravel(i);
            O.at_linear(i) = expected.O.at_linear(address(at[0], at[1], at[2], at[3]));
          }
          return O;
        },
        "O is written as if it lay in the order [batch, head, seq, dim]. Its strides say where an element "
        "belongs.");
  add_unwritten(found, p);
  found.push_back(
      missing_tail("last_dims_missing", 3, "The last columns of O are missing: those from {} on."));
  return by_name(std::move(found));
}

// --- Calls and checks ---

Steps steps_of(const Problem& p, const StepLayouts& layouts = {}) {
  const Shape scores{p.B(), p.H(), p.Nq(), p.Nk()}, output{p.B(), p.H(), p.Nq(), p.D()};
  return {Tensor<float>(scores, strides_of(scores, layouts.S), 0.0f),
          Tensor<float>(scores, strides_of(scores, layouts.P), 0.0f),
          Tensor<float>(output, strides_of(output, p.layout_of_O), 0.0f)};
}

Outcome attend(const Problem& p, Steps& got, const CallOptions& options = {}) {
  return call_with(options, kAttention, in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.S, "S"),
                   out(got.P, "P"), out(got.O, "O"), p.scale);
}

/// What is told of S even where check mode found errors: it is no race that gives it.
std::vector<Misplacement> misplacements_in_S(const Problem& p, const reference::Attention& expected) {
  std::vector<Misplacement> found = misplacements_in(p);
  for (const Int tile : {32, 64, 128}) {
    const Int down = (p.Nq() + tile - 1) / tile, across = (p.Nk() + tile - 1) / tile;
    if (std::abs(down - across) > 1)  // or it leaves out no more than who forgets the last tile
      found.push_back({tiles_exchanged(p, tile)});
  }
  found.push_back({softmax_in_place(expected)});
  return found;
}

/// S first, then P, then O: the case ends with the first that is wrong.
void require_steps(const Steps& got, const Problem& p, const Outcome& outcome) {
  const reference::Attention expected = attention_of(p);
  const Baseline baseline = in_float32(p, expected);
  const Result S{"S", &got.S, &expected.S, &baseline.S, [] { return Mistakes{}; }};
  std::vector<Failure> failures = despite_findings(outcome, {S}, misplacements_in_S(p, expected));
  if (!failures.empty()) {
    const Comparison comparison = compare(got.S, "S", expected.S, baseline.S);
    Failure numbers = comparison.failure();
    if (!comparison.wrong.empty())
      numbers.attempts = try_mistakes(mistakes_in_S(p, expected), {got.S, expected.S, comparison});
    failures.insert(failures.begin(), numbers);
    grading::detail::report(failures, TestLine::here());
  }
  require_matches(got.S, "S", expected.S, baseline.S, mistakes_in_S(p, expected));
  require_matches(got.P, "P", expected.P, baseline.P, mistakes_in_P(p, expected));
  require_matches(got.O, "O", expected.O, baseline.results.O, mistakes_in_O(p, expected));
}

/// What the contract says about memory, in every call that is counted, since a kernel may tell the problems
/// apart. Where rows do not begin at multiples of 32 bytes, or tiles have edges, `waste` times as much may be
/// read.
void require_traffic(const Profile& profile, const Problem& p, std::uint64_t waste) {
  const auto tiles = [](Int size) { return (size + kTile - 1) / kTile; };
  const Int heads = p.B() * p.H(), Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  const Int row = bytes_of_row(p), row_of_scores = (4 * Nk + 31) / 32 * 32;
  const auto scores_bytes = static_cast<std::uint64_t>(4 * heads * Nq * Nk);
  const auto output_bytes = static_cast<std::uint64_t>(4 * heads * Nq * D);
  const auto require_written = [](const simt::LaunchProfile& launch, std::uint64_t bytes, const char* what) {
    const std::uint64_t written = launch.total.global_store.bytes_asked;
    require(written == bytes, launch.kernel + " writes " + std::to_string(written) + " bytes; " + what +
                                  " once takes " + std::to_string(bytes) + ".");
  };
  const auto require_read = [waste](const simt::LaunchProfile& launch, Int bytes, const char* what) {
    require_loads_at_most(make_profile({launch}), waste * static_cast<std::uint64_t>(bytes),
                          "in " + launch.kernel + ", " + what + (waste > 1 ? " and as much again," : ""));
  };
  const simt::LaunchProfile &scores = profile.launches[0], &softmax = profile.launches[1],
                            &output = profile.launches[2];
  require_written(scores, scores_bytes, "to write every score");
  require_read(scores, heads * row * (Nq * tiles(Nk) + Nk * tiles(Nq)),
               "to read Q once for every 32 keys, and K once for every 32 queries, as tiles of 32 x 32 do,");
  require_written(softmax, scores_bytes, "to write every weight");
  require_read(softmax, 3 * heads * Nq * row_of_scores, "to read S three times (maximum, sum, output),");
  require_written(output, output_bytes, "to write O");
  require_read(
      output, heads * (Nq * row_of_scores * tiles(D) + Nk * row * tiles(Nq)),
      "to read P once for every 32 columns of O, and V once for every 32 queries, as tiles of 32 x 32 do,");
}

Outcome check(const Problem& p, const StepLayouts& layouts = {}, std::uint64_t waste = 2,
              const CallOptions& options = {}) {
  INFO(describe(p));
  Steps got = steps_of(p, layouts);
  const Outcome outcome = attend(p, got, options);
  require_ran(outcome);
  require_steps(got, p, outcome);
  if (p.Q.numel() == 0 || p.Nk() == 0) return outcome;
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == 3, "Your code launched " + std::to_string(launches) +
                             " kernels; it should launch three: for S, for P and for O.");
  if (const auto profile = profile_if_counted(outcome)) require_traffic(*profile, p, waste);
  return outcome;
}

/// Two queries and three keys with products that are logarithms of whole numbers.
Problem problem_of_the_notes() {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  return {Tensor<float>::from({1, 1, 2, 2}, {2, 0, 0, 2}),
          Tensor<float>::from({1, 1, 3, 2}, {0, 0, ln(2), ln(3), ln(5), 0}),
          Tensor<float>::from({1, 1, 3, 2}, {8, 0, 16, 5, 0, 10}), 0.5f};
}

void require_refused(const Problem& p, Steps got, const char* argument) {
  INFO("Q " << format_shape(p.Q.shape()) << ", K " << format_shape(p.K.shape()) << ", V "
            << format_shape(p.V.shape()) << ", S " << format_shape(got.S.shape()) << ", P "
            << format_shape(got.P.shape()) << ", O " << format_shape(got.O.shape()));
  require_throws<std::invalid_argument>(attend(p, got), argument);
}

}  // namespace

TEST_CASE("attends from the two queries of the notes to their three keys",
          "[l07][naive_attention][points:1]") {
  check(problem_of_the_notes());
}

TEST_CASE("keeps several batches and heads apart", "[l07][naive_attention][points:2]") {
  check(random_problem({2, 3, 5, 7, 4}));  // small enough for check mode to name what heads do to each other
  check(random_problem({2, 3, 70, 90, 37}));
  check(random_problem({3, 2, 33, 20, 64}));
  check(random_problem({1, 3, 20, 300, 8}));  // one row of tiles, and so long that two of them may be missing
}

TEST_CASE("attends with as many keys as dimensions, and as many queries",
          "[l07][naive_attention][points:2]") {
  // A matrix that should have been transposed has the right shape here.
  check(random_problem({1, 2, 48, 48, 48}));
  check(random_problem({1, 2, 40, 48, 48}));
}

TEST_CASE("attends with one query, one key, one dimension, and a few", "[l07][naive_attention][points:2]") {
  for (const Sizes& n : {Sizes{2, 3, 1, 1, 1},
                         {2, 3, 5, 1, 3},
                         {2, 3, 1, 7, 2},
                         {1, 4, 3, 2, 1},
                         {1, 2, 31, 33, 5},
                         {1, 2, 17, 9, 31}})
    check(random_problem(n));

  Problem p = random_problem({1, 2, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 100, 0, 1});  // an axis of one element may have any stride
  check(p);
}

TEST_CASE("attends around the edges of tiles", "[l07][naive_attention][points:2]") {
  for (const Sizes& n : {Sizes{1, 1, 130, 127, 65},
                         {1, 1, 127, 129, 63},
                         {1, 1, 128, 128, 64},
                         {1, 1, 63, 65, 33},
                         {1, 1, 64, 32, 32},
                         {1, 1, 65, 31, 16},
                         {1, 1, 150, 260, 5}})
    check(random_problem(n));
}

TEST_CASE("attends in 128 and 127 dimensions", "[l07][naive_attention][points:1]") {
  check(random_problem({1, 2, 45, 50, 128}));
  check(random_problem({1, 2, 50, 45, 127}));
}

TEST_CASE("attends to 300 and to 1500 keys", "[l07][naive_attention][points:2]") {
  check(random_problem({1, 2, 3, 300, 8}));
  check(random_problem({1, 1, 5, 1500, 4}));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l07][naive_attention][points:2]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(with_layouts(random_problem({2, 3, 20, 40, 16}), outside, inside, outside, outside));
  check(with_layouts(random_problem({2, 3, 40, 20, 16}), inside, outside, inside, outside));
  check(with_layouts(random_problem({2, 3, 37, 45, 24}), inside, inside, inside, inside));

  const Problem p = random_problem({2, 3, 20, 40, 16});  // S and P, too, have strides of their own
  check(p, {.S = inside});
  check(p, {.P = Layout::gaps});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l07][naive_attention][points:2]") {
  const StepLayouts apart{.S = Layout::gaps, .P = Layout::gaps};
  Problem p = random_problem({2, 2, 35, 41, 18});
  p.layout_of_O = Layout::gaps;
  check(p, apart);
  for (const float gap : {1000.0f, kNan}) check(with_gaps(p, gap), apart);
  for (const CallOptions& shifted : with_shifted_arrays(6)) {
    INFO("One of the tensors is a part of a larger one, and begins at no multiple of 16 bytes");
    check(random_problem({1, 2, 20, 40, 16}), {}, 2, shifted);
  }
  Random random(case_seed());
  constexpr Layout kLayouts[] = {Layout::heads_outside, Layout::heads_inside, Layout::heads_first,
                                 Layout::gaps};
  for (const Problem& drawn : drawn_problems({}, kMaxDim, false)) {
    const auto layout = [&] { return kLayouts[random.integer(0, 3)]; };
    check(drawn, {.S = layout(), .P = layout()});
  }
}

TEST_CASE("keeps large scores apart", "[l07][naive_attention][points:3]") {
  check(with_large_scores(random_problem({1, 2, 40, 70, 32})));
  check(with_whole_scores(random_problem({1, 2, 40, 70, 16})));
  for (const float shift : {1000.0f, -1000.0f}) {
    INFO("about " << shift << " added to every score");
    check(with_shifted_scores(random_problem({1, 2, 20, 40, 16}), shift));
  }
  INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
  check(with_opposite_shifts(random_problem({1, 2, 20, 40, 16}), 1000.0f));
}

TEST_CASE("gives zeros where all scores of a row are -inf", "[l07][naive_attention][points:2]") {
  check(with_empty_rows(random_problem({1, 2, 12, 150, 8})));
}

TEST_CASE("gives no weight to a score of -inf beside others", "[l07][naive_attention][points:1]") {
  check(with_keys_of_minus_inf(random_problem({1, 2, 12, 150, 8}), 130));
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l07][naive_attention][points:2]") {
  for (const Int D : {20, 65}) check(with_not_numbers(random_problem(larger({2, 3, 40, 50, D}))));
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l07][naive_attention][points:2]") {
  check(random_problem({2, 2, 5, 0, 8}));
  check(random_problem({1, 2, 130, 0, 100}));
  for (const Sizes& n : {Sizes{2, 2, 0, 5, 8}, {0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}, {1, 1, 0, 0, 8}}) {
    const Outcome outcome = check(random_problem(n));
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute, so nothing should be launched.");
  }
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l07][naive_attention][points:1]") {
  for (const Problem& p :
       {random_problem({1, 2, 140, 150, 20}), random_problem(unknown_sizes_of_many_tiles())}) {
    Steps first = steps_of(p);
    const Outcome outcome = attend(p, first);
    require_ran(outcome);
    require_steps(first, p, outcome);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Steps got = steps_of(p);
      require_ran(attend(p, got, options));
      INFO(
          "The same call, with blocks, warps and threads in another order; the results must have the same "
          "bits");
      require_same_bits(got.S, first.S, "S");
      require_same_bits(got.P, first.P, "P");
      require_same_bits(got.O, first.O, "O");
    }
  }
}

TEST_CASE("writes S and P once, and reads them as often as promised", "[l07][naive_attention][points:3]") {
  const Problem p = random_problem({1, 2, 48, 96, 64});  // every row begins at a multiple of 32 bytes
  const Outcome outcome = check(p, {}, 1);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  for (const simt::LaunchProfile& launch : profile->launches) {
    const auto blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    require(blocks >= 2, launch.kernel + " has only " + std::to_string(blocks) +
                             " block for 2 heads: every head of every batch should have blocks of its own.");
  }
  require_busy_blocks(*profile, 0.5);
  require_busy_lanes(*profile);
  require_busy_warps(*profile);
}

TEST_CASE("reads and writes whole sectors", "[l07][naive_attention][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 48, 96, 64}, unknown_sizes_of_whole_sectors()}) {
    const Outcome outcome = check(random_problem(n), {}, 2, kCounted);
    if (const Profile* profile = profile_of(outcome)) require_whole_sectors(*profile);
  }
}

namespace {

void check_refuses_shapes(const Problem& p) {
  check(p);
  const Steps good = steps_of(p);
  const auto tensor = [](Shape shape) { return Tensor<float>(std::move(shape), 1.0f); };
  const auto with = [&](auto member, Shape shape) {
    Problem wrong = p;
    wrong.*member = tensor(std::move(shape));
    return wrong;
  };
  const auto results_with = [&](auto member, Shape shape) {
    Steps wrong = good;
    wrong.*member = tensor(std::move(shape));
    return wrong;
  };
  // First one that is too small, past which a kernel would go.
  const auto others = [](const Tensor<float>& x) {
    std::vector<Shape> shapes = attention_tests::other_shapes(x.shape());
    std::ranges::reverse(shapes);
    return shapes;
  };
  const Int B = p.B(), H = p.H(), Nk = p.Nk(), D = p.D();
  for (const Shape& shape : {Shape{B - 1, H, Nk, D}, {B, 1, Nk, D}, {B, H, Nk, D + 1}})
    require_refused(with(&Problem::K, shape), good, "K");
  for (const Shape& shape : others(p.V)) require_refused(with(&Problem::V, shape), good, "V");
  for (const Shape& shape : others(good.S)) {
    require_refused(p, results_with(&Steps::S, shape), "S");
    require_refused(p, results_with(&Steps::P, shape), "P");
  }
  for (const Shape& shape : others(good.O)) require_refused(p, results_with(&Steps::O, shape), "O");
}

}  // namespace

TEST_CASE("refuses shapes that do not fit together", "[l07][naive_attention][points:2]") {
  const Problem p = random_problem({2, 3, 4, 5, 6});
  check_refuses_shapes(p);
  check_refuses_shapes(of_other_sizes(p));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l07][naive_attention][points:1]") {
  const Problem p = random_problem({1, 2, 4, 5, 6});
  check(p);
  for (const Int D : {kMaxDim + 1, Int{0}}) {
    Problem wrong{Tensor<float>({1, 2, 4, D}), Tensor<float>({1, 2, 5, D}), Tensor<float>({1, 2, 5, D}),
                  1.0f};
    require_refused(wrong, steps_of(wrong), "Q");
  }
  for (const Sizes& n : {Sizes{1, 2, 4, 5, 6}, {1, 2, 1, 2, 2}}) {
    const Problem dense = random_problem(n);
    for (const auto& [member, name] : {std::pair{&Problem::Q, "Q"}, {&Problem::K, "K"}, {&Problem::V, "V"}}) {
      Problem wrong = dense;
      wrong.*member = spread(dense.*member);
      require_refused(wrong, steps_of(dense), name);
    }
    for (const auto& [member, name] : {std::pair{&Steps::S, "S"}, {&Steps::P, "P"}, {&Steps::O, "O"}}) {
      Steps wrong = steps_of(dense);
      wrong.*member = spread(wrong.*member);
      require_refused(dense, wrong, name);
    }
  }
}

TEST_CASE("reports a launch that CUDA refuses", "[l07][naive_attention][points:1]") {
  // More heads than a grid has blocks along y or z; and, in the simulator, a grid of one block along x. Whose
  // launches are accepted all the same, must be right.
  struct Refused {
    Sizes sizes;
    CheckMode check_mode = CheckMode::if_small;
  };
  // The last two may refuse the first or the second launch alone. Who asks after all three has let the others
  // read what was never written, which check mode would tell.
  for (const auto& [sizes, check_mode] : {Refused{larger({1, 1, 200, 150, 8})},
                                          {{1, 1, 200, 0, 8}},
                                          {{1, 66'000, 1, 1, 1}},
                                          {{1, 1, 1, 200, 8}, CheckMode::never},
                                          {{1, 1, 100, 100, 8}, CheckMode::never}}) {
    const Problem p = random_problem(sizes);
    CallOptions options;
    options.max_grid_x = 1;
    options.check = check_mode;
    Steps got = steps_of(p);
    std::optional<Outcome> unlimited;
    if (p.H() <= 65'535) require_ran(unlimited.emplace(attend(p, got, {.check = check_mode})));
    const Outcome outcome = attend(p, got, options);
    if (!require_refused_launch(outcome, unlimited)) require_steps(got, p, outcome);
  }
}

COURSE_RUN(RunContext& run) {
  const Problem p = read_problem(run, {});
  Steps steps = steps_of(p);
  run.call(kAttention, in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(steps.S, "S"), out(steps.P, "P"),
           out(steps.O, "O"), p.scale);
  run.output("s", steps.S);
  run.output("p", steps.P);
  run.output("o", steps.O);
}
