#include "attention/baseline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "attention/rounding.hpp"

namespace course::attention_tests {
namespace {

constexpr double kInf64 = std::numeric_limits<double>::infinity();

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

/// One of the sensible ways to compute in float32.
struct Way {
  bool fused;        // multiply-adds that round once
  bool backwards;    // sums from the last term to the first
  bool scale_first;  // Q is scaled, not S
  Int parts;         // of the sum of exponentials
  Int tile;          // keys at once, with the online recurrence; 0: the whole row
};

template <bool kFused>
float add_product(float sum, float a, float b) {
  const double product = static_cast<double>(a) * static_cast<double>(b);  // exact
  if constexpr (kFused) return static_cast<float>(product + static_cast<double>(sum));
  return sum + static_cast<float>(product);
}

/// y += a · x. Sums of products run over many y at once, so that the compiler can vectorise them.
void add_multiple(float* y, float a, const float* x, Int n, bool fused) {
  if (fused)
    for (Int i = 0; i < n; ++i) y[i] = add_product<true>(y[i], a, x[i]);
  else
    for (Int i = 0; i < n; ++i) y[i] = add_product<false>(y[i], a, x[i]);
}

float exp_of(float x, float m) { return x == -kInf ? 0.0f : std::exp(x - m); }

/// The columns of K[b, h_kv], so that the scores of neighbouring keys lie side by side. Shape: (D, Nk).
std::vector<float> columns_of(const Tensor<float>& K, Int head) {
  const Int Nk = K.shape()[2], D = K.shape()[3];
  std::vector<float> columns(at(Nk * D));
  const float* k = K.data() + head * Nk * D;
  for (Int j = 0; j < Nk; ++j)
    for (Int d = 0; d < D; ++d) columns[at(d * Nk + j)] = k[j * D + d];
  return columns;
}

/// One query: what it reads, and where its results go.
struct Row {
  const float *q, *columns, *v;
  float sink;
  const std::vector<char>& seen;
  const float* factors;  // of dropout, or nullptr
  Int Nk, D;
  float *S, *P, *O, *lse, *m, *l;
};

/// What is left of a weight after dropout.
float kept(const Row& row, Int j, float weight) { return row.factors ? weight * row.factors[j] : weight; }

void score(const Row& row, const Way& way, float scale) {
  for (Int n = 0; n < row.D; ++n) {
    const Int d = way.backwards ? row.D - 1 - n : n;
    add_multiple(row.S, way.scale_first ? row.q[d] * scale : row.q[d], row.columns + d * row.Nk, row.Nk,
                 way.fused);
  }
  for (Int j = 0; j < row.Nk; ++j)
    row.S[j] = !row.seen[at(j)] ? -kInf : way.scale_first ? row.S[j] : row.S[j] * scale;
}

/// O, lse, m and l in one go over the whole row.
void attend_at_once(const Row& row, const Way& way) {
  float max = -kInf;
  for (Int j = 0; j < row.Nk; ++j) max = std::fmax(max, row.S[j]);
  std::vector<float> sums(at(way.parts), 0.0f);
  for (Int j = 0; j < row.Nk; ++j) sums[at(j % way.parts)] += row.P[j] = exp_of(row.S[j], max);
  float l = 0.0f;
  for (const float sum : sums) l += sum;
  *row.m = max, *row.l = l;
  const float base = std::isnan(row.sink) ? max : std::fmax(max, row.sink);
  const float total = l * exp_of(max, base) + exp_of(row.sink, base);
  const float weight = exp_of(max, base);
  *row.lse = total == 0.0f ? -kInf : base + std::log(total);
  for (Int n = 0; n < row.Nk; ++n) {
    const Int j = way.backwards ? row.Nk - 1 - n : n;
    if (!row.seen[at(j)]) continue;
    const float p = row.P[j] * weight;
    row.P[j] = total == 0.0f ? 0.0f : way.scale_first ? p * (1.0f / total) : p / total;
    add_multiple(row.O, kept(row, j, row.P[j]), row.v + j * row.D, row.D, way.fused);
  }
}

/// The same tile by tile. Does not make P.
void attend_online(const Row& row, const Way& way) {
  float m = row.sink, l = exp_of(row.sink, row.sink);  // of the sink, too
  float own_m = -kInf, own_l = 0.0f;                   // of the scores alone
  if (std::isnan(row.sink)) m = -kInf, l = kNan;
  for (Int first = 0; first < row.Nk; first += way.tile) {
    const Int end = std::min(first + way.tile, row.Nk);
    float max = -kInf, sum = 0.0f, own_sum = 0.0f;
    for (Int j = first; j < end; ++j) max = std::fmax(max, row.S[j]);
    const float grown = std::fmax(m, max), own_grown = std::fmax(own_m, max);
    const float factor = exp_of(m, grown);
    for (Int d = 0; d < row.D; ++d) row.O[d] *= factor;
    for (Int j = first; j < end; ++j) {
      if (!row.seen[at(j)]) continue;
      const float p = exp_of(row.S[j], grown);
      sum += p;
      own_sum += exp_of(row.S[j], own_grown);
      add_multiple(row.O, kept(row, j, p), row.v + j * row.D, row.D, way.fused);
    }
    l = l * factor + sum, own_l = own_l * exp_of(own_m, own_grown) + own_sum;
    m = grown, own_m = own_grown;
  }
  *row.m = own_m, *row.l = own_l;
  *row.lse = l == 0.0f ? -kInf : m + std::log(l);
  for (Int d = 0; d < row.D; ++d) row.O[d] = l == 0.0f ? 0.0f : row.O[d] / l;
}

Baseline attend(const Problem& p, const Way& way) {
  const Int H = p.H(), Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  const Tensor<float> Q = p.Q.contiguous(), K = p.K.contiguous(), V = p.V.contiguous();
  const Shape rows = p.shape_of_lse(), scores = p.shape_of_S();
  Baseline to{
      Tensor<float>(scores), Tensor<float>(scores),
      Forward{Tensor<float>(p.shape_of_O()), Tensor<float>(rows), Tensor<float>(rows), Tensor<float>(rows)}};
  std::vector<char> seen(at(Nk));
  for (Int bh = 0; bh < p.B() * H; ++bh) {
    const Int h = bh % H, head = bh / H * p.H_kv() + h / (H / p.H_kv());
    const std::vector<float> columns = columns_of(K, head);
    for (Int i = 0; i < Nq; ++i) {
      const Int n = bh * Nq + i;
      for (Int j = 0; j < Nk; ++j) seen[at(j)] = p.sees(i, j);
      const Row row{Q.data() + n * D,
                    columns.data(),
                    V.data() + head * Nk * D,
                    p.sink ? (*p.sink)(h) : -kInf,
                    seen,
                    p.dropout ? p.dropout->factors.data() + n * Nk : nullptr,
                    Nk,
                    D,
                    to.S.data() + n * Nk,
                    to.P.data() + n * Nk,
                    to.results.O.data() + n * D,
                    to.results.lse.data() + n,
                    to.results.m.data() + n,
                    to.results.l.data() + n};
      score(row, way, p.scale);
      if (way.tile == 0)
        attend_at_once(row, way);
      else
        attend_online(row, way);
    }
  }
  return to;
}

/// Takes over from `other` the elements that lie further from what is expected.
void take_worse(Tensor<float>& worst, const Tensor<float>& other, const Tensor<double>& expected) {
  for (Int i = 0; i < worst.numel(); ++i) {
    const double want = expected.at_linear(i);
    if (std::abs(static_cast<double>(other.at_linear(i)) - want) >
        std::abs(static_cast<double>(worst.at_linear(i)) - want))
      worst.at_linear(i) = other.at_linear(i);
  }
}

}  // namespace

const char* name_of(Which which) {
  return which == Which::O ? "O" : which == Which::lse ? "lse" : which == Which::m ? "m" : "l";
}

Forward64 expected_of(const Problem& p) { return expected_of(attention_of(p)); }

Forward64 expected_of(const reference::Attention& reference) {
  const Tensor<double>& S = reference.S;
  const Shape& rows = reference.lse.shape();
  Forward64 results{reference.O, reference.lse, Tensor<double>(rows, -kInf64), Tensor<double>(rows)};
  const Int Nk = S.shape()[3];
  for (Int row = 0; row < results.m.numel(); ++row) {
    const double* s = S.data() + row * Nk;
    double &m = results.m.at_linear(row), &l = results.l.at_linear(row);
    for (Int j = 0; j < Nk; ++j) m = std::max(m, s[j]);  // passes NaN by; the sum does not
    for (Int j = 0; j < Nk; ++j) l += s[j] == -kInf64 ? 0 : std::exp(s[j] - m);
  }
  return results;
}

Baseline in_float32(const Problem& p, const reference::Attention& expected) {
  const Forward64 results = expected_of(expected);
  Baseline worst = attend(p, {true, false, false, 1, 0});
  for (const Way& way : {Way{false, true, false, 1, 0}, Way{false, false, true, 32, 0},
                         Way{true, true, true, 32, 0}, Way{true, false, false, 1, 32}}) {
    const Baseline other = attend(p, way);
    take_worse(worst.S, other.S, expected.S);
    if (way.tile == 0) take_worse(worst.P, other.P, expected.P);
    for (const Which which : {Which::O, Which::lse, Which::m, Which::l})
      take_worse(worst.results.of(which), other.results.of(which), results.of(which));
  }
  add_usual_rounding(worst, p, expected);
  return worst;
}

}  // namespace course::attention_tests
