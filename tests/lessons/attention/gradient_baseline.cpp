#include "attention/gradient_baseline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "attention/rounding.hpp"

namespace course::attention_tests {
namespace {

constexpr float kLog2e = 1.44269504f;

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

/// One of the sensible ways to compute in float32.
struct Way {
  bool fused;        // multiply-adds that round once
  bool backwards;    // sums from the last term to the first, where the others go forwards
  bool scale_first;  // Q and dS are scaled, not S and the finished dQ and dK
  bool powers_of_2;  // exp2 of scores and lse that have been multiplied by log2 e
  Int tile;          // rows at once, each tile with sums of its own; 0: all
  bool perturbed;    // S, lse, P, dP and delta are off by what rounding may do to them
};

/// y += a · x. Sums of products run over many y at once, so that the compiler can vectorise them.
void add_multiple(float* y, float a, const float* x, Int n, bool fused) {
  if (fused)
    for (Int i = 0; i < n; ++i)
      y[i] = static_cast<float>(static_cast<double>(a) * static_cast<double>(x[i]) +  // exact product
                                static_cast<double>(y[i]));
  else
    for (Int i = 0; i < n; ++i) y[i] += a * x[i];
}

void add(std::vector<float>& y, const std::vector<float>& x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
}

/// A matrix (rows, cols) as (cols, rows).
std::vector<float> columns_of(const float* x, Int rows, Int cols) {
  std::vector<float> columns(at(rows * cols));
  for (Int row = 0; row < rows; ++row)
    for (Int col = 0; col < cols; ++col) columns[at(col * rows + row)] = x[row * cols + col];
  return columns;
}

float sum_of_products(const float* a, const float* b, Int n, const Way& way) {
  float sums[4] = {0, 0, 0, 0};  // parts, where the way has tiles
  const Int parts = way.tile == 0 ? 1 : 4;
  for (Int k = 0; k < n; ++k) {
    const Int d = way.backwards ? n - 1 - k : k;
    add_multiple(&sums[k % parts], a[d], b + d, 1, way.fused);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The lengths of the rows of a matrix (rows, D).
std::vector<float> lengths_of(const float* x, Int rows, Int D) {
  std::vector<float> lengths(at(rows));
  for (Int row = 0; row < rows; ++row) {
    float sum = 0.0f;
    for (Int d = 0; d < D; ++d) sum += x[row * D + d] * x[row * D + d];
    lengths[at(row)] = std::sqrt(sum);
  }
  return lengths;
}

/// rounding() of a sum of n products, of two rows whose lengths have this product. Tests have results of one
/// element, and a baseline without an error there by luck would ask for the same luck.
float rounding_of_products(Int n, float lengths) {
  const auto off = static_cast<float>(rounding(static_cast<double>(n), static_cast<double>(lengths)));
  return std::isfinite(off) ? off : 0.0f;
}

/// The inputs without gaps.
struct Inputs {
  Tensor<float> Q, K, V, dO, O, lse;
  explicit Inputs(const BackwardProblem& p)
      : Q(p.Q.contiguous()),
        K(p.K.contiguous()),
        V(p.V.contiguous()),
        dO(p.dO.contiguous()),
        O(p.O.contiguous()),
        lse(p.lse.contiguous()) {}
};

/// One batch and query head: its rows of dQ, and what it adds to dK and dV.
class Head {
 public:
  Head(const BackwardProblem& p, const Inputs& in, const Way& way, Int bh, Backward& to)
      : p_(p),
        way_(way),
        Nq_(p.Nq()),
        Nk_(p.Nk()),
        D_(p.D()),
        first_row_(bh * Nq_),
        Q_(in.Q.data() + first_row_ * D_),
        dO_(in.dO.data() + first_row_ * D_),
        O_(in.O.data() + first_row_ * D_),
        lse_(in.lse.data() + first_row_),
        to_(to) {
    const Int h = bh % p.H(), head = bh / p.H() * p.H_kv() + h / (p.H() / p.H_kv());
    keys_ = head * Nk_ * D_;
    K_ = in.K.data() + keys_;
    K_columns_ = columns_of(K_, Nk_, D_);
    V_columns_ = columns_of(in.V.data() + keys_, Nk_, D_);
    if (!way.perturbed) return;
    K_lengths_ = lengths_of(K_, Nk_, D_);
    V_lengths_ = lengths_of(in.V.data() + keys_, Nk_, D_);
  }

  /// Adds to dK and dV, without the scale in dK if the way scales later.
  void run() {
    float *dK = to_.dK.data() + keys_, *dV = to_.dV.data() + keys_;
    const Int tile = way_.tile == 0 ? std::max<Int>(Nq_, 1) : way_.tile;
    for (Int first = 0; first < Nq_; first += tile) {
      // Without tiles, the sums run on through the heads of a group.
      std::vector<float> dK_part(at(way_.tile == 0 ? 0 : Nk_ * D_)), dV_part(dK_part.size());
      for (Int n = first; n < std::min(first + tile, Nq_); ++n) {
        const Int i = way_.backwards ? Nq_ - 1 - n : n;
        add_row(i, way_.tile == 0 ? dK : dK_part.data(), way_.tile == 0 ? dV : dV_part.data());
      }
      for (std::size_t n = 0; n < dK_part.size(); ++n) dK[n] += dK_part[n], dV[n] += dV_part[n];
    }
  }

 private:
  void add_row(Int i, float* dK, float* dV) {
    const float *q = Q_ + i * D_, *dO = dO_ + i * D_;
    std::vector<float> S(at(Nk_)), dP(at(Nk_)), part(at(D_)), dQ(at(D_));
    for (Int n = 0; n < D_; ++n) {
      const Int d = way_.backwards ? D_ - 1 - n : n;
      add_multiple(S.data(), way_.scale_first ? q[d] * p_.scale : q[d], K_columns_.data() + d * Nk_, Nk_,
                   way_.fused);
      add_multiple(dP.data(), dO[n], V_columns_.data() + n * Nk_, Nk_, way_.fused);
    }
    float delta = sum_of_products(dO, O_ + i * D_, D_, way_), lse = lse_[i], up = 1.0f;
    if (way_.perturbed) {
      const float q_length = lengths_of(q, 1, D_)[0] * p_.scale, dO_length = lengths_of(dO, 1, D_)[0];
      for (Int j = 0; j < Nk_; ++j) {
        S[at(j)] +=
            rounding_of_products(D_, q_length * K_lengths_[at(j)]) / p_.scale;  // of a way that scales later
        dP[at(j)] -= rounding_of_products(D_, dO_length * V_lengths_[at(j)]);
      }
      delta += rounding_of_products(D_, dO_length * lengths_of(O_ + i * D_, 1, D_)[0]);
      if (std::isfinite(lse)) lse -= 0x1p-24f * std::abs(lse);
      up = 1.0f + 0x1p-22f;
    }
    to_.delta.data()[first_row_ + i] = delta;
    const float* factors = p_.dropout ? p_.dropout->factors.data() + (first_row_ + i) * Nk_ : nullptr;
    const Int tile = way_.tile == 0 ? Nk_ : way_.tile;
    for (Int n = 0; n < Nk_; ++n) {
      const Int j = way_.backwards ? Nk_ - 1 - n : n;
      if (n > 0 && n % tile == 0) add(dQ, part), std::fill(part.begin(), part.end(), 0.0f);
      if (!p_.sees(i, j)) continue;
      const float score = way_.scale_first ? S[at(j)] : S[at(j)] * p_.scale;
      if (score == -kInf) continue;
      const float weight =
          (way_.powers_of_2 ? std::exp2(score * kLog2e - lse * kLog2e) : std::exp(score - lse)) * up;
      if (weight == 0.0f) continue;  // 0 times an infinity would be NaN
      const float factor = factors ? factors[j] : 1.0f;
      float dS = weight * ((factor == 0.0f ? 0.0f : dP[at(j)] * factor) - delta);
      if (way_.scale_first) dS *= p_.scale;
      add_multiple(part.data(), dS, K_ + j * D_, D_, way_.fused);
      add_multiple(dK + j * D_, dS, q, D_, way_.fused);
      add_multiple(dV + j * D_, weight * factor, dO, D_, way_.fused);
    }
    add(dQ, part);
    for (Int d = 0; d < D_; ++d)
      to_.dQ.data()[(first_row_ + i) * D_ + d] = way_.scale_first ? dQ[at(d)] : dQ[at(d)] * p_.scale;
  }

  const BackwardProblem& p_;
  const Way& way_;
  const Int Nq_, Nk_, D_, first_row_;
  const float *Q_, *dO_, *O_, *lse_;
  Int keys_ = 0;
  const float* K_ = nullptr;
  std::vector<float> K_columns_, V_columns_;  // (D, Nk)
  std::vector<float> K_lengths_, V_lengths_;  // (Nk)
  Backward& to_;
};

/// The terms of dsink[h], from the deltas of a way.
std::vector<float> sink_terms(const BackwardProblem& p, const Inputs& in, const Backward& way, Int h) {
  std::vector<float> terms;
  const float sink = (*p.sink)(h);
  for (Int b = 0; b < p.B() && sink != -kInf; ++b)
    for (Int i = 0; i < p.Nq(); ++i) {
      const Int row = (b * p.H() + h) * p.Nq() + i;
      terms.push_back(std::exp(sink - in.lse.at_linear(row)) * way.delta.at_linear(row));
    }
  return terms;
}

Backward compute(const BackwardProblem& p, const Inputs& in, const Way& way) {
  Backward to;
  for (const Gradient which : {Gradient::delta, Gradient::dV, Gradient::dK, Gradient::dQ, Gradient::dsink})
    to.of(which) = Tensor<float>(shape_of(p, which));
  for (Int bh = 0; bh < p.B() * p.H(); ++bh) Head(p, in, way, bh, to).run();
  if (!way.scale_first)
    for (float& x : to.dK.storage()) x *= p.scale;
  for (Int h = 0; p.sink && h < p.H(); ++h) {
    std::vector<float> terms = sink_terms(p, in, to, h), parts(way.tile == 0 ? 1 : 32);
    if (way.backwards) std::reverse(terms.begin(), terms.end());
    for (std::size_t n = 0; n < terms.size(); ++n) parts[n % parts.size()] += terms[n];
    for (const float part : parts) to.dsink(h) -= part;
  }
  return to;
}

/// Takes over from `other` the elements that lie further from what is expected.
void take_worse(Tensor<float>& worst, const Tensor<float>& other, const Tensor<double>& expected) {
  for (Int i = 0; i < worst.numel(); ++i) {
    const double want = expected.data()[i];
    if (std::abs(static_cast<double>(other.data()[i]) - want) >
        std::abs(static_cast<double>(worst.data()[i]) - want))
      worst.data()[i] = other.data()[i];
  }
}

}  // namespace

const char* name_of(Gradient which) {
  switch (which) {
    case Gradient::delta:
      return "delta";
    case Gradient::dV:
      return "dV";
    case Gradient::dK:
      return "dK";
    case Gradient::dQ:
      return "dQ";
    case Gradient::dsink:
      break;
  }
  return "dsink";
}

Shape shape_of(const BackwardProblem& p, Gradient which) {
  switch (which) {
    case Gradient::delta:
      return p.shape_of_lse();
    case Gradient::dV:
    case Gradient::dK:
      return p.K.shape();
    case Gradient::dQ:
      return p.Q.shape();
    case Gradient::dsink:
      break;
  }
  return {p.H()};
}

reference::AttentionGradients gradients_of(const BackwardProblem& p) {
  return reference::attention_gradients(p.exact, p.Q, p.K, p.V, p.dO, static_cast<double>(p.scale),
                                        p.sink ? &*p.sink : nullptr,
                                        p.dropout ? &p.dropout->factors : nullptr);
}

Backward64 expected_of(const BackwardProblem& p) { return expected_of(gradients_of(p)); }

Backward64 expected_of(reference::AttentionGradients all) {
  return {std::move(all.D), std::move(all.dV), std::move(all.dK), std::move(all.dQ), std::move(all.dsink)};
}

Backward in_float32(const BackwardProblem& p, const Backward64& expected) {
  const Inputs in(p);
  Backward worst = compute(p, in, {true, false, false, false, 0, false});
  for (const Way& way :
       {Way{false, true, true, false, 0, false}, Way{false, false, true, true, 32, false},
        Way{true, true, false, false, 32, false}, Way{false, false, false, false, 64, true}}) {
    const Backward other = compute(p, in, way);
    for (const Gradient which : {Gradient::delta, Gradient::dV, Gradient::dK, Gradient::dQ, Gradient::dsink})
      take_worse(worst.of(which), other.of(which), expected.of(which));
  }
  for (Int h = 0; p.sink && h < p.H(); ++h) {
    float magnitude = 0;
    for (const float term : sink_terms(p, in, worst, h)) magnitude += std::abs(term);
    const double want = expected.dsink(h), off = std::abs(static_cast<double>(worst.dsink(h)) - want);
    const Int terms = p.B() * p.Nq();
    const double least = 4 * static_cast<double>(rounding_of_products(terms, magnitude));
    if (std::isfinite(off) && off < least) worst.dsink(h) = static_cast<float>(want + least);
  }
  add_usual_rounding(worst, p, expected);
  return worst;
}

}  // namespace course::attention_tests
