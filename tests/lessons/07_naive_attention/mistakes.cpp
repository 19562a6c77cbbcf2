#include "07_naive_attention/mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attention/check_parts.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_07 {

using namespace grading;

namespace {

constexpr const char* kLastKeysMissing =
    "The last keys are missing: those from {} on. No block, or no thread, computes them.";

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

}  // namespace

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

}  // namespace course::lesson_07
