#include "attention/gradient_deviation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "attention/gradient_rows.hpp"

namespace course::attention_tests {
namespace {

constexpr double kInf64 = std::numeric_limits<double>::infinity();
constexpr double kNan64 = std::numeric_limits<double>::quiet_NaN();

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

/// Infinite or 0 where float32 is.
double in_float_range(double x) {
  const auto rounded = static_cast<float>(x);
  return std::isinf(rounded) || rounded == 0.0f ? static_cast<double>(rounded) : x;
}

/// Queries and keys by number, from `begin` on.
struct Range {
  Int begin, end;
};

/// The queries of one head of Q and the keys of one head of K and V, as far as they are wanted.
class Meeting {
 public:
  Meeting(const BackwardProblem& p, const GradientDeviation& how, Gradient wanted, Int b, Int h, Int k_head,
          Int v_head, Range queries, Range keys)
      : p_(p),
        how_(how),
        wanted_(wanted),
        left_(how.left.value_or(wanted == Gradient::dV ? Matrix::P : Matrix::dS)),
        bh_(b * p.H() + h),
        D_(p.D()),
        queries_(queries),
        keys_(keys) {
    const bool exchanged = how.S_exchanged > 0 || how.dP_exchanged > 0;
    const bool all_keys =
        how.weights == Weights::unnormalised || how.left_transposed || exchanged || how.delta_of_tile > 0;
    const Range some_queries = how.left_transposed || exchanged ? Range{0, p.Nq()} : queries;
    const Range some_keys = all_keys ? Range{0, p.Nk()} : keys;
    Q_ = Rows(p.Q, how.Q, b, h, some_queries.begin, some_queries.end, D_);
    K_ = Rows(p.K, how.K, b, k_head, some_keys.begin, some_keys.end, D_);
    if (left_ != Matrix::P) {
      V_ = Rows(p.V, how.V, b, v_head, some_keys.begin, some_keys.end, D_);
      dO_ = Rows(p.dO, how.dO_in_dP ? how.dO_in_dP : how.dO, b, h, some_queries.begin, some_queries.end, D_);
    }
    const auto rows_of_right = [&](const Tensor<float>& x, const std::optional<Reader>& wrong, Int head,
                                   Range range) {
      right_ = Rows(x, how.right ? how.right : wrong, b, head, range.begin, range.end, D_);
    };
    if (wanted == Gradient::dV) rows_of_right(p.dO, how.dO, h, queries);
    if (wanted == Gradient::dK) rows_of_right(p.Q, how.Q, h, queries);
    if (wanted == Gradient::dQ) rows_of_right(p.K, how.K, k_head, keys);
    const RowValues rows(p, how);
    const bool any_row = how.left_transposed || how.lse_of_pair || how.delta_of_pair;
    first_row_ = any_row ? 0 : queries.begin;
    for (Int i = first_row_; i < (any_row ? p.Nq() : queries.end); ++i) {
      lse_.push_back(rows.lse(b, h, i));
      delta_.push_back(left_ == Matrix::dS ? rows.delta_in_dS(b, h, i) : 0);
      const bool wanted_row = how.weights == Weights::unnormalised && i >= queries.begin && i < queries.end;
      max_.push_back(wanted_row ? largest_score(i) : 0);
    }
  }

  /// Adds what all pairs give; `to` is the row of the first key (dK, dV) or query (dQ).
  void add_to(double* to) const {
    const double scale = wanted_ == Gradient::dV ? 1 : static_cast<double>(p_.scale);
    for (Int i = queries_.begin; i < queries_.end; ++i)
      for (Int j = keys_.begin; j < keys_.end; ++j) {
        const double left = how_.left_transposed ? pair(j, i) : pair(i, j);
        if (left == 0) continue;
        const bool by_keys = wanted_ != Gradient::dQ;
        const double *right = right_[by_keys ? i : j], times = left * scale * how_.factor;
        double* row = to + (by_keys ? j - keys_.begin : i - queries_.begin) * D_;
        for (Int d = 0; d < D_; ++d) row[d] += times * right[d];
      }
  }

 private:
  bool visible(Int i, Int j) const { return how_.sees ? how_.sees(i, j) : p_.sees(i, j); }
  bool reached(Int i, Int j) const { return !how_.reached || how_.reached(i, j); }

  /// A product of row i of `queries` with row j of `keys`; in tiles of `exchanged`, that of the transposed
  /// place, which is 0 where no query or no key is there.
  double product(const Rows& queries, const Rows& keys, Int i, Int j, Int dims, Int exchanged) const {
    if (exchanged > 0) {
      const Int query = i / exchanged * exchanged + j % exchanged,
                key = j / exchanged * exchanged + i % exchanged;
      if (query >= p_.Nq() || key >= p_.Nk()) return 0;
      i = query, j = key;
    }
    return dot(queries[i], keys[j], std::min(D_, dims));
  }

  double score(Int i, Int j) const {
    return sum_of_score(i, j) * static_cast<double>(p_.scale) * how_.score_factor;
  }

  /// What the accumulators of S hold.
  double sum_of_score(Int i, Int j) const {
    const double own = product(Q_, K_, i, j, how_.dims_of_S, how_.S_exchanged);
    if (how_.kept_S == Leftover::nothing || !has_tile_before(i, j)) return own;
    const auto [i0, j0] = before(i, j);
    return own + (how_.kept_S == Leftover::sum ? sum_of_score(i0, j0) : weight(i0, j0));
  }

  /// The pair that the same accumulator was for in the tile before, if the kernel went there.
  std::pair<Int, Int> before(Int i, Int j) const {
    return wanted_ == Gradient::dQ ? std::pair(i, j - how_.kept_tile) : std::pair(i - how_.kept_tile, j);
  }
  bool has_tile_before(Int i, Int j) const {
    const Int tile = how_.kept_tile, offset = p_.Nk() - p_.Nq();
    if (wanted_ == Gradient::dQ) return j >= tile;
    const Int first = p_.mask.causal ? std::max(j / tile * tile - offset, Int{0}) / tile * tile : 0;
    return i - tile >= first;
  }

  double of_row(const std::vector<double>& values, Int i) const { return values[at(i - first_row_)]; }

  bool there(Int i) const { return i >= 0 && i < p_.Nq(); }

  double lse_of(Int i, Int j) const {
    const Int row = how_.lse_of_pair ? how_.lse_of_pair(i, j) : i;
    return there(row) ? of_row(lse_, row) : kInf64;
  }

  double delta_of(Int i, Int j) const {
    if (how_.delta_of_tile > 0) return sum_over_tile(i, j / how_.delta_of_tile * how_.delta_of_tile);
    const Int row = how_.delta_of_pair ? how_.delta_of_pair(i, j) : i;
    return there(row) ? of_row(delta_, row) : 0;
  }

  /// Σ P·dP over the tile that begins with key j0. The pairs of a query come one after the other.
  double sum_over_tile(Int i, Int j0) const {
    if (i == summed_i_ && j0 == summed_j0_) return sum_;
    summed_i_ = i, summed_j0_ = j0, sum_ = 0;
    for (Int j = j0; j < std::min(j0 + how_.delta_of_tile, p_.Nk()); ++j)
      if (const double P = weight(i, j); P != 0) sum_ += P * gradient_of_weight(i, j);
    return sum_;
  }

  double largest_score(Int i) const {
    double max = -kInf64;
    for (Int j = 0; j < p_.Nk(); ++j)
      if (visible(i, j)) max = std::max(max, score(i, j));
    return max;
  }

  double weight(Int i, Int j) const {
    if (how_.lse_of_pair && !there(how_.lse_of_pair(i, j))) return 0;  // even if the score is NaN
    const double lse = lse_of(i, j);
    if (lse == -kInf64 && how_.empty_row_guarded) return 0;
    const bool seen = visible(i, j) || (how_.hidden_score_0 && reached(i, j));
    const double S = !seen ? -kInf64 : visible(i, j) ? score(i, j) : 0;
    if (S == -kInf64) return how_.empty_row_divided && lse == -kInf64 && (seen || reached(i, j)) ? kNan64 : 0;
    switch (how_.weights) {
      case Weights::exp:
        return in_float_range(std::exp(S - lse));
      case Weights::base_2:
        return in_float_range(std::exp2(S - lse));
      case Weights::without_lse:
        return in_float_range(std::exp(S));
      case Weights::lse_added:
        return in_float_range(std::exp(S + lse));
      case Weights::lse_divides:
        return in_float_range(std::exp(S)) / lse;
      case Weights::unnormalised:
        return in_float_range(std::exp(S - of_row(max_, i)));
    }
    return kNan64;
  }

  /// Element (i, j) of what stands left in the product.
  double pair(Int i, Int j) const {
    const double count = how_.times ? how_.times(i, j) : 1;
    if (count == 0) return 0;
    if (left_ == Matrix::products) return count * (reached(i, j) ? sum_of_score(i, j) : 0);
    if (left_ == Matrix::S) return count * (reached(i, j) ? score(i, j) : 0);
    const double P = weight(i, j);
    const bool counts = how_.hidden_counts && reached(i, j);
    if (P == 0 && !counts) return 0;
    if (left_ == Matrix::P) return count * P * (how_.dropout_in_dV ? factor(i, j) : 1);
    const double dP = gradient_of_weight(i, j);
    if (left_ == Matrix::dP) return count * dP;
    return count * gradient_of_score(P, dP, delta_of(i, j)) * (how_.dropout_in_dS ? factor(i, j) : 1);
  }

  /// Of dropout.
  double factor(Int i, Int j) const {
    if (!how_.factors && !p_.dropout) return 1;
    const Tensor<float>& factors = how_.factors ? *how_.factors : p_.dropout->factors;
    return static_cast<double>(factors.data()[(bh_ * p_.Nq() + i) * p_.Nk() + j]);
  }

  double gradient_of_weight(Int i, Int j) const {
    double dP = product(dO_, V_, i, j, how_.dims_of_dP, how_.dP_exchanged);
    if (how_.kept_dP != Leftover::nothing && has_tile_before(i, j)) {
      const auto [i0, j0] = before(i, j);
      const double sum = gradient_of_weight(i0, j0), P = how_.kept_dP == Leftover::sum ? 1 : weight(i0, j0);
      dP += how_.kept_dP == Leftover::sum ? sum : P == 0 ? 0 : gradient_of_score(P, sum, delta_of(i0, j0));
    }
    return how_.dropout_in_dP ? dP * factor(i, j) : dP;
  }

  double gradient_of_score(double P, double dP, double delta) const {
    switch (how_.scores) {
      case Scores::right:
        return P * (dP - delta);
      case Scores::delta_ignored:
        return P * dP;
      case Scores::delta_added:
        return P * (dP + delta);
      case Scores::delta_last:
        return P * dP - delta;
      case Scores::without_P:
        return dP - delta;
      case Scores::exchanged:
        return P * (delta - dP);
      case Scores::squared:
        return P * P * (dP - delta);
      case Scores::one_minus_P:
        return P * (1 - P) * (dP - delta);
      case Scores::of_sigmoid:
        return P * (1 - P) * dP;
    }
    return kNan64;
  }

  const BackwardProblem& p_;
  const GradientDeviation& how_;
  const Gradient wanted_;
  const Matrix left_;
  const Int bh_, D_;
  const Range queries_, keys_;
  Rows Q_, K_, V_, dO_, right_;
  Int first_row_ = 0;
  std::vector<double> lse_, delta_, max_;  // from first_row_ on
  mutable Int summed_i_ = -1, summed_j0_ = -1;
  mutable double sum_ = 0;  // what sum_over_tile() gave last
};

std::vector<Int> group_of(const BackwardProblem& p, const GradientDeviation& how, Int h_kv) {
  if (how.heads_of) return how.heads_of(h_kv);
  std::vector<Int> heads;
  const Int group = p.H() / p.H_kv();
  for (Int h = h_kv * group; h < (h_kv + 1) * group; ++h) heads.push_back(h);
  return heads;
}

/// Rows of dK or dV of one head.
void add_keys(const BackwardProblem& p, const GradientDeviation& how, Gradient wanted, Int b, Int h_kv,
              Range keys, double* to) {
  for (const Int h : group_of(p, how, h_kv))
    if (h >= 0 && h < p.H()) Meeting(p, how, wanted, b, h, h_kv, h_kv, {0, p.Nq()}, keys).add_to(to);
}

/// Rows of dQ of one head.
void add_queries(const BackwardProblem& p, const GradientDeviation& how, Int b, Int h, Range queries,
                 double* to) {
  const Int right_head = h / (p.H() / p.H_kv());
  const Int k_head = how.k_head ? how.k_head(h) : right_head,
            v_head = how.v_head ? how.v_head(h) : right_head;
  const auto exists = [&](Int head) { return head >= 0 && head < p.H_kv(); };
  if (exists(k_head) && exists(v_head))
    Meeting(p, how, Gradient::dQ, b, h, k_head, v_head, queries, {0, p.Nk()}).add_to(to);
  else
    std::fill(to, to + (queries.end - queries.begin) * p.D(), kNan64);
}

double gradient_of_sink(const BackwardProblem& p, const GradientDeviation& how, Int h) {
  const Int from = how.sink_head ? how.sink_head(h) : h;
  if (!p.sink) return 0;
  const double sink = from < 0 || from >= p.H() ? kNan64 : static_cast<double>((*p.sink)(from));
  if (sink == -kInf64) return 0;
  const RowValues rows(p, how);
  double sum = 0;
  for (Int b = 0; b < p.B(); ++b)
    for (Int i = 0; i < p.Nq(); ++i) {
      if (how.sink_rows && !how.sink_rows(b, i)) continue;
      const double lse = rows.lse(b, h, i), delta = rows.delta_in_dS(b, h, i);
      sum += how.sink_term ? how.sink_term(sink, lse, delta) : in_float_range(std::exp(sink - lse)) * delta;
    }
  return -sum * how.factor;
}

}  // namespace

Tensor<double> deviate(const BackwardProblem& p, const GradientDeviation& how, Gradient wanted) {
  Tensor<double> to(shape_of(p, wanted));
  double* next = to.data();
  switch (wanted) {
    case Gradient::delta:
      for (Int b = 0; b < p.B(); ++b)
        for (Int h = 0; h < p.H(); ++h)
          for (Int i = 0; i < p.Nq(); ++i) *next++ = RowValues(p, how).delta(b, h, i) * how.factor;
      break;
    case Gradient::dV:
    case Gradient::dK:
      for (Int b = 0; b < p.B(); ++b)
        for (Int h = 0; h < p.H_kv(); ++h, next += p.Nk() * p.D())
          add_keys(p, how, wanted, b, h, {0, p.Nk()}, next);
      break;
    case Gradient::dQ:
      for (Int b = 0; b < p.B(); ++b)
        for (Int h = 0; h < p.H(); ++h, next += p.Nq() * p.D()) add_queries(p, how, b, h, {0, p.Nq()}, next);
      break;
    case Gradient::dsink:
      for (Int h = 0; h < p.H(); ++h) *next++ = gradient_of_sink(p, how, h);
      break;
  }
  return to;
}

std::vector<double> deviate_in_row(const BackwardProblem& p, const GradientDeviation& how, Gradient wanted,
                                   Int row) {
  if (wanted == Gradient::dsink) return {gradient_of_sink(p, how, row)};
  const bool by_keys = wanted == Gradient::dV || wanted == Gradient::dK;
  const Int rows = by_keys ? p.Nk() : p.Nq(), heads = by_keys ? p.H_kv() : p.H();
  const Int b = row / rows / heads, h = row / rows % heads, n = row % rows;
  if (wanted == Gradient::delta) return {RowValues(p, how).delta(b, h, n) * how.factor};
  std::vector<double> to(at(p.D()));
  if (by_keys)
    add_keys(p, how, wanted, b, h, {n, n + 1}, to.data());
  else
    add_queries(p, how, b, h, {n, n + 1}, to.data());
  return to;
}

}  // namespace course::attention_tests
