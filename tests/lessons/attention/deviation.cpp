#include "attention/deviation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace course::attention_tests {
namespace {

constexpr double kInf64 = std::numeric_limits<double>::infinity();
constexpr double kNan64 = std::numeric_limits<double>::quiet_NaN();

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

/// exp as float32 has it: infinite from 88.8 on, 0 below -103.
double exp_of_float(double x) { return static_cast<double>(static_cast<float>(std::exp(x))); }

/// Infinite where float32 is.
double in_float(double x) { return std::isinf(static_cast<float>(x)) ? std::copysign(kInf64, x) : x; }

/// Rows of one batch and head as a kernel reads them. Shape: (rows, dims), or the other way round.
std::vector<double> gather(const Reader& x, Int b, Int h, Int rows, Int dims, bool by_columns) {
  std::vector<double> values(at(rows * dims));
  for (Int row = 0; row < rows; ++row)
    for (Int d = 0; d < dims; ++d) values[at(by_columns ? d * rows + row : row * dims + d)] = x(b, h, row, d);
  return values;
}

/// One row on its way through the keys.
class Recurrence {
 public:
  Recurrence(const Deviation& how, Int D, bool wants_O) : how_(how), O_(at(wants_O ? D : 0)) {
    row.m = how.first_m;
  }

  /// The keys [first, end) of S; -inf says hidden, as does `seen`. v and factors may be nullptr.
  void take(const double* S, const std::vector<char>& seen, const double* v, const float* factors, Int first,
            Int end, Int Nk);
  /// Adds the sink, if it is not -inf, and divides.
  void finish(double sink);

  RowEnd row{-kInf64, 0, -kInf64, 0};  // without the sink
  double lse = -kInf64;
  const std::vector<double>& O() const { return O_; }

 private:
  double power(double x) const { return how_.base_2 ? std::exp2(x) : std::exp(x); }
  double exponential(double S, double m) const {
    if (S == -kInf64) return 0;
    if (how_.maximum == Maximum::none) return exp_of_float(S);
    if (how_.maximum == Maximum::of_tile_rescaled) return exp_of_float(S - m);
    if (how_.base_2_of_P) return std::exp2(S - m);
    return how_.first_m == -kInf64 ? power(S - m) : exp_of_float(S - m);  // too large an m leaves nothing
  }
  double factor(Rescaling rescaling, double grown) const {
    if (how_.maximum == Maximum::of_tile_rescaled)
      return exp_of_float(row.m - (grown == -kInf64 ? 0 : grown));
    if (how_.maximum != Maximum::running)
      return rescaling == Rescaling::forgotten ? 0 : 1;  // nothing to rescale by
    switch (rescaling) {
      case Rescaling::right:
        return row.m == -kInf64 ? 0 : power(row.m - grown);
      case Rescaling::never:
        return 1;
      case Rescaling::inverse:
        return row.m == -kInf64 ? 0 : power(grown - row.m);
      case Rescaling::inverse_of_minus_inf:
        return power(grown - row.m);
      case Rescaling::truncated:
        return row.m == grown && grown != -kInf64 ? 1 : 0;
      case Rescaling::forgotten:
        return 0;
    }
    return kNan64;
  }
  /// x · factor, where a factor of 0 takes whatever x is away unless float32 says otherwise.
  double rescaled(double x, double factor) const {
    if (how_.maximum == Maximum::of_tile_rescaled) return in_float(in_float(x) * factor);
    return factor == 0 ? 0 : x * factor;
  }

  const Deviation& how_;
  std::vector<double> O_;
};

void Recurrence::take(const double* S, const std::vector<char>& seen, const double* v, const float* factors,
                      Int first, Int end, Int Nk) {
  bool any = false;
  double max = -kInf64, sum = 0;
  for (Int j = first; j < end; ++j) {
    if (!seen[at(j)]) continue;
    any = true;
    max = std::max(max, S[j]);  // passes NaN by; the sum does not
  }
  if (!any) return;
  const double grown = how_.maximum == Maximum::none      ? 0
                       : how_.maximum == Maximum::running ? std::max(row.m, max)
                                                          : max;
  const double for_O = factor(how_.of_O, grown), for_l = factor(how_.of_l, grown);
  for (double& o : O_) o = rescaled(o, for_O);
  std::vector<double> p(at(end - first), 0.0);
  for (Int j = first; j < end; ++j)
    if (seen[at(j)]) sum += p[at(j - first)] = exponential(S[j], grown);
  const double divisor = how_.division == Division::by_tile && sum != 0 ? sum : 1;
  if (!O_.empty() && v != nullptr)
    for (Int j = first; j < std::min({end, Nk, how_.end_value}); ++j) {
      if (!seen[at(j)]) continue;
      const double weight =
          p[at(j - first)] / divisor * (factors == nullptr ? 1 : static_cast<double>(factors[j]));
      const double* value = v + j * static_cast<Int>(O_.size());
      for (std::size_t d = 0; d < O_.size(); ++d) O_[d] += weight * value[d];
    }
  row.l = rescaled(row.l, for_l) + sum;
  row.m = grown;
  row.m_tile = max, row.l_tile = sum;
}

void Recurrence::finish(double sink) {
  double m = row.m, l = row.l, for_O = 1;
  const double times = static_cast<double>(how_.sinks_counted);
  if (how_.maximum == Maximum::none) {
    if (std::isinf(static_cast<float>(l))) l = kInf64;
    if (sink != -kInf64) l += times * exp_of_float(sink);
  } else if (sink != -kInf64 && times > 0) {
    if (how_.sink_relative) {
      m = std::max(row.m, std::isnan(sink) ? -kInf64 : sink);
      for_O = row.m == -kInf64 ? 0 : power(row.m - m);
      l = (row.m == -kInf64 ? 0 : row.l * for_O) + times * power(sink - m);
    } else {
      l += times * power(sink);
      if (m == -kInf64) m = 0;
    }
  }
  for (double& o : O_) {
    o = for_O == 0 ? 0 : o * for_O;
    if (how_.division == Division::by_l || how_.division == Division::twice)
      o = l == 0 ? (how_.empty_is_divided && row.m_tile != -kInf64 ? kNan64 : 0) : o / l;
    if (how_.division == Division::twice && l != 0) o /= l;
    o *= how_.factor_of_O;
  }
  if (how_.lse)
    lse = how_.lse({m, l, row.m_tile, row.l_tile});
  else
    lse = l == 0 ? -kInf64 : m + std::log(l);
}

/// The rows of one batch and head, as a kernel that deviates so computes them.
class HeadModel {
 public:
  HeadModel(const Problem& p, const Deviation& how, Int b, Int h, bool wants_O)
      : p_(p),
        how_(how),
        b_(b),
        h_(h),
        dims_(std::min(p.D(), how.dims)),
        tile_(how.tile == 0 ? std::max<Int>(p.Nk(), 1) : how.tile),
        end_(how.tail_counts ? (p.Nk() + tile_ - 1) / tile_ * tile_ : p.Nk()),
        wants_O_(wants_O),
        Q_(how.Q.value_or(right(p.Q))),
        S_(at(std::max(p.Nk(), end_))),
        seen_(S_.size()) {
    const Int right_head = h / (p.H() / p.H_kv());
    k_ = gather(how.K.value_or(right(p.K)), b, how.k_head ? how.k_head(h) : right_head, p.Nk(), dims_, true);
    if (wants_O)
      v_ = gather(how.V.value_or(right(p.V)), b, how.v_head ? how.v_head(h) : right_head, p.Nk(), p.D(),
                  false);
    sink_ = sink(how.sink_head ? how.sink_head(h) : h);
  }

  Recurrence row(Int i) {
    const Int Nk = p_.Nk();
    std::fill(S_.begin(), S_.end(), 0.0);
    for (Int d = 0; d < dims_; ++d) {
      const double q = Q_(b_, h_, i, d);
      for (Int j = 0; j < Nk; ++j) S_[at(j)] += q * k_[at(d * Nk + j)];
      for (Int j = Nk; j < end_ && !how_.tail_is_0; ++j) S_[at(j)] += q * 0;  // NaN of an infinite query
    }
    const double scale = how_.scale.value_or(static_cast<double>(p_.scale)) * how_.score_factor;
    for (Int j = 0; j < static_cast<Int>(S_.size()); ++j) {
      const bool visible = how_.sees ? how_.sees(i, j) : p_.sees(i, j);
      S_[at(j)] = visible ? S_[at(j)] * scale : 0;
      seen_[at(j)] = visible || how_.hidden_score_0;
    }
    const float* factors =
        p_.dropout ? p_.dropout->factors.data() + ((b_ * p_.H() + h_) * p_.Nq() + i) * Nk : nullptr;
    Recurrence row(how_, p_.D(), wants_O_);
    for (Int first = 0; first < end_; first += tile_)
      row.take(S_.data(), seen_, v_.data(), factors, first, std::min(first + tile_, end_), Nk);
    row.finish(how_.sink_of ? sink(how_.sink_of(i)) : sink_);
    return row;
  }

 private:
  double sink(Int h) const {
    if (!p_.sink) return -kInf64;
    const double own = h < 0 || h >= p_.H() ? kNan64 : static_cast<double>((*p_.sink)(h));
    return own == -kInf64 ? own : own * how_.sink_factor;
  }

  const Problem& p_;
  const Deviation& how_;
  const Int b_, h_, dims_, tile_, end_;
  const bool wants_O_;
  const Reader Q_;
  std::vector<double> k_, v_;  // (dims, Nk) and (Nk, D)
  double sink_ = -kInf64;
  std::vector<double> S_;
  std::vector<char> seen_;
};

}  // namespace

double Reader::operator()(Int b, Int h, Int row, Int d) const {
  const Int place = address(b, h, row, d);
  if (place == kZeroAddress) return 0;
  const auto storage = x->storage();
  return place < 0 || place >= static_cast<Int>(storage.size()) ? kNan64
                                                                : static_cast<double>(storage[at(place)]);
}

Address address_by(const Strides& s) {
  return [s](Int b, Int h, Int row, Int d) { return b * s[0] + h * s[1] + row * s[2] + d * s[3]; };
}

Reader right(const Tensor<float>& x) { return {&x, address_by(x.strides())}; }

Reader transposed(const Tensor<float>& x) {
  const Strides& s = x.strides();
  return {&x, address_by({s[0], s[1], s[3], s[2]})};
}

const std::vector<Misreading>& misreadings() {
  static const std::vector<Misreading> all{
      {"head_ignored", "Every head reads head 0 of its batch: the head's index times its stride is missing.",
       [](const Tensor<float>& x) {
         const Strides& s = x.strides();
         return address_by({s[0], 0, s[2], s[3]});
       }},
      {"batch_ignored", "Every batch reads batch 0: the batch's index times its stride is missing.",
       [](const Tensor<float>& x) {
         const Strides& s = x.strides();
         return address_by({0, s[1], s[2], s[3]});
       }},
      {"head_stride_wrong",
       "The heads are taken as seq rows apart: that is so in [batch, head, seq, dim] only. Their distance is "
       "strides[1].",
       [](const Tensor<float>& x) {
         const Strides& s = x.strides();
         return address_by({s[0], x.shape()[2] * s[2], s[2], s[3]});
       }},
      {"batch_stride_wrong",
       "The batches are taken as so many heads apart as there are: that is so in [batch, head, seq, dim] "
       "only. Their distance is strides[0].",
       [](const Tensor<float>& x) {
         const Strides& s = x.strides();
         return address_by({x.shape()[1] * s[1], s[1], s[2], s[3]});
       }},
      {"batch_and_head_exchanged",
       "The batch's index is multiplied by the head's stride, and the head's by the batch's.",
       [](const Tensor<float>& x) {
         const Strides& s = x.strides();
         return address_by({s[1], s[0], s[2], s[3]});
       }},
      {"row_stride_wrong",
       "The rows are taken as D elements apart: their distance is the tensor's own strides[2].",
       [](const Tensor<float>& x) {
         const Strides& s = x.strides();
         return address_by({s[0], s[1], x.shape()[3], s[3]});
       }},
      {"layout_assumed",
       "The elements are read as if they lay in the order [batch, head, seq, dim] without gaps. The strides "
       "say where they lie.",
       [](const Tensor<float>& x) { return address_by(row_major_strides(x.shape())); }},
  };
  return all;
}

Reader misread(const Tensor<float>& x, const Misreading& how) { return {&x, how.address(x)}; }

bool matters(const Tensor<float>& x, const Misreading& how) {
  const Address wrong = how.address(x), good = address_by(x.strides());
  for (std::size_t axis = 0; axis < 4; ++axis) {
    Int step[4] = {0, 0, 0, 0};
    step[axis] = x.shape()[axis] - 1;
    if (wrong(step[0], step[1], step[2], step[3]) != good(step[0], step[1], step[2], step[3])) return true;
  }
  return false;
}

Forward64 deviate(const Problem& p, const Deviation& how, Which wanted) {
  const bool wants_O = wanted == Which::O;
  Forward64 to{wants_O ? Tensor<double>(p.shape_of_O()) : Tensor<double>(), Tensor<double>(p.shape_of_lse()),
               Tensor<double>(p.shape_of_lse()), Tensor<double>(p.shape_of_lse())};
  Int n = 0;
  for (Int b = 0; b < p.B(); ++b) {
    for (Int h = 0; h < p.H(); ++h) {
      HeadModel head(p, how, b, h, wants_O);
      for (Int i = 0; i < p.Nq(); ++i, ++n) {
        const Recurrence row = head.row(i);
        if (wants_O) std::copy(row.O().begin(), row.O().end(), to.O.data() + n * p.D());
        to.lse.at_linear(n) = row.lse;
        to.m.at_linear(n) = row.row.m;
        to.l.at_linear(n) = row.row.l;
      }
    }
  }
  return to;
}

std::vector<double> deviate_in_row(const Problem& p, const Deviation& how, Which wanted, Int row) {
  const Int head = row / p.Nq();
  const Recurrence end = HeadModel(p, how, head / p.H(), head % p.H(), wanted == Which::O).row(row % p.Nq());
  if (wanted == Which::O) return end.O();
  return {wanted == Which::lse ? end.lse : wanted == Which::m ? end.row.m : end.row.l};
}

Forward64 from_scores(const Problem& p, const std::function<double(Int b, Int h, Int i, Int j)>& S) {
  Forward64 to{Tensor<double>(p.shape_of_O()), Tensor<double>(p.shape_of_lse()),
               Tensor<double>(p.shape_of_lse()), Tensor<double>(p.shape_of_lse())};
  const Deviation none;
  const Int group = p.H_kv() == 0 ? 1 : p.H() / p.H_kv();
  std::vector<double> scores(at(p.Nk()));
  const std::vector<char> seen(scores.size(), 1);
  Int n = 0;
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h) {
      const std::vector<double> v = gather(right(p.V), b, h / group, p.Nk(), p.D(), false);
      for (Int i = 0; i < p.Nq(); ++i, ++n) {
        for (Int j = 0; j < p.Nk(); ++j) scores[at(j)] = S(b, h, i, j);
        Recurrence row(none, p.D(), true);
        row.take(scores.data(), seen, v.data(), nullptr, 0, p.Nk(), p.Nk());
        row.finish(p.sink ? static_cast<double>((*p.sink)(h)) : -kInf64);
        std::copy(row.O().begin(), row.O().end(), to.O.data() + n * p.D());
        to.lse.at_linear(n) = row.lse;
        to.m.at_linear(n) = row.row.m;
        to.l.at_linear(n) = row.row.l;
      }
    }
  return to;
}

}  // namespace course::attention_tests
