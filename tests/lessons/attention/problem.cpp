#include "attention/problem.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "grading/testing/case.hpp"
#include "tensor/random.hpp"

namespace course::attention_tests {

namespace {
constexpr Int kSeenByAll = 30;  ///< the last key with a value that is no number
}  // namespace

using grading::case_seed;

Strides strides_of(const Shape& shape, Layout layout) {
  if (shape.size() != 3 && shape.size() != 4)
    throw std::invalid_argument("layouts are of tensors of three or four axes");
  if (layout == Layout::heads_outside) return row_major_strides(shape);
  const Int B = shape[0], H = shape[1], N = shape[2];
  const Int times = Random(case_seed() + 9).integer(2, 9);  // of rows far apart; no kernel knows it
  if (shape.size() == 3) {
    if (layout == Layout::heads_first) return {N, B * N, 1};
    if (layout == Layout::heads_inside) return {N * H, 1, H};
    if (layout == Layout::seq_first) return {H, 1, B * H};
    if (layout == Layout::batch_inside) return {1, N * B, B};
    if (layout == Layout::batch_last) return {1, B, H * B};
    if (layout == Layout::packed) return {N * 3 * H, 1, 3 * H};
    if (layout == Layout::far_apart) return {H * N * times, N * times, times};
    const Int head = N + 3;
    return {H * head + 5, head, 1};
  }
  const Int D = shape[3];
  if (layout == Layout::heads_inside) return {N * H * D, D, H * D, 1};
  if (layout == Layout::heads_first) return {N * D, B * N * D, D, 1};
  if (layout == Layout::seq_first) return {H * D, D, B * H * D, 1};
  if (layout == Layout::batch_inside) return {D, N * B * D, B * D, 1};
  if (layout == Layout::batch_last) return {D, B * D, H * B * D, 1};
  if (layout == Layout::packed) return {N * 3 * H * D, D, 3 * H * D, 1};
  if (layout == Layout::far_apart) return {H * N * times * D, N * times * D, times * D, 1};
  // Numbers that no two axes have in common.
  if (layout == Layout::rows_of_4 || layout == Layout::heads_of_4) {
    const Int row = (D + 3) / 4 * 4 + 4, head = N * row + (layout == Layout::heads_of_4 ? 8 : 5);
    return {H * head + 7, head, row, 1};
  }
  const Int of_8 = layout == Layout::gaps_of_8 ? 8 : 1;
  const Int row = of_8 == 8 ? (D + 7) / 8 * 8 + 24 : D + 3, head = N * row + 5 * of_8;
  return {H * head + 7 * of_8, head, row, 1};
}

std::vector<std::vector<Layout>> every_two_apart(std::size_t tensors, Layout odd) {
  std::vector<std::vector<Layout>> calls;
  // The numbers of two tensors differ in some bit.
  for (std::size_t bit = 1; bit < tensors; bit *= 2)
    for (const std::size_t of_odd : {bit, std::size_t{0}}) {
      std::vector<Layout>& layouts = calls.emplace_back();
      for (std::size_t i = 0; i < tensors; ++i)
        layouts.push_back((i & bit) == of_odd ? odd : Layout::heads_outside);
    }
  return calls;
}

Tensor<float> lay_out(const Tensor<float>& dense, Strides strides, float gap) {
  Tensor<float> x(dense.shape(), std::move(strides), gap);
  for (Int i = 0; i < x.numel(); ++i) x.at_linear(i) = dense.at_linear(i);
  return x;
}

Tensor<float> lay_out(const Tensor<float>& dense, Layout layout, float gap) {
  return lay_out(dense, strides_of(dense.shape(), layout), gap);
}

Tensor<float> spread(const Tensor<float>& x) {
  Strides strides = x.strides();
  for (Int& stride : strides) stride *= 2;
  return lay_out(x, strides);
}

Tensor<float> spread(const Tensor<float>& x, Random& random) {
  Strides strides = x.strides();
  const Int times = random.integer(2, 9), rows = x.shape()[2];
  if (rows > 1 && random.integer(0, 1) == 1)
    strides[2] = 1, strides[3] = rows;
  else
    for (Int& stride : strides) stride *= times;
  return lay_out(x, strides);
}

Tensor<float> off_chunks(const Tensor<float>& x, Random& random) {
  std::size_t odd = 0;
  do odd = static_cast<std::size_t>(random.integer(0, 2));
  while (x.shape()[odd] < 2);
  Strides strides{0, 0, 0, 1};
  for (std::size_t axis = 3; axis-- > 0;) {
    const Int inside = strides[axis + 1] * x.shape()[axis + 1];
    strides[axis] =
        (inside + 7) / 8 * 8 + 8 * random.integer(0, 2) + (axis == odd ? random.integer(1, 7) : 0);
  }
  return lay_out(x, strides);
}

void round_to(Tensor<float>& x, Format16 format) {
  for (float& value : x.storage()) value = static_cast<float>(rounded(static_cast<double>(value), format));
}

std::string describe(const Problem& p) {
  std::ostringstream text;
  text << "B = " << p.B() << ", H = " << p.H();
  if (p.H_kv() != p.H()) text << ", H_kv = " << p.H_kv();
  text << ", Nq = " << p.Nq() << ", Nk = " << p.Nk() << ", D = " << p.D() << ", scale = " << p.scale;
  if (p.mask.causal) text << ", causal";
  if (p.mask.window != kAllKeys) text << ", window = " << p.mask.window;
  if (p.mask.sinks != 0) text << ", sinks = " << p.mask.sinks;
  if (p.sink) text << ", with a learned sink";
  if (p.format) text << ", " << name_of(*p.format);
  if (p.dropout) text << ", dropout = " << p.dropout->p << ", seed = " << p.dropout->seed;
  return text.str();
}

reference::Attention attention_of(const Problem& p) {
  return reference::attention(p.Q, p.K, p.V, static_cast<double>(p.scale), p.mask,
                              p.sink ? &*p.sink : nullptr, p.dropout ? &p.dropout->factors : nullptr);
}

bool have_ordinary_exponentials(const Tensor<double>& S) {
  for (Int i = 0; i < S.numel(); ++i)
    if (!(std::abs(S.at_linear(i)) < 80) && S.at_linear(i) != -kInf) return false;
  return true;
}

Int many_dimensions(Int step) { return step * Random(case_seed() + 6).integer(64 / step + 1, 128 / step); }

Problem random_problem(const Sizes& n, const reference::Mask& mask) {
  const Int H_kv = n.H_kv == 0 ? n.H : n.H_kv;
  Problem p{normal({n.B, n.H, n.Nq, n.D}, case_seed()), normal({n.B, H_kv, n.Nk, n.D}, case_seed() + 1),
            normal({n.B, H_kv, n.Nk, n.D}, case_seed() + 2),
            n.D == 1 ? 0.75f : static_cast<float>(1.0 / std::sqrt(static_cast<double>(n.D))), mask};
  for (float& v : p.V.storage()) v += 2.0f;
  return p;
}

Problem with_sink(Problem p) {
  p.sink = Tensor<float>({p.H()});
  // Steps of 1.3 around a circle of 4: neighbours lie far apart, and no two heads are alike.
  for (Int h = 0; h < p.H(); ++h)
    (*p.sink)(h) = static_cast<float>(std::fmod(1.3 * static_cast<double>(h) + 3.1, 4.0) - 2.0);
  return p;
}

Problem with_dropout(Problem p, float probability, std::uint64_t seed,
                     const std::function<bool(Int b, Int h, Int i, Int j)>& kept) {
  p.dropout = Dropout{probability, seed, Tensor<float>(p.shape_of_S())};
  const auto factor = static_cast<float>(1.0 / (1.0 - static_cast<double>(probability)));
  float* to = p.dropout->factors.data();
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i)
        for (Int j = 0; j < p.Nk(); ++j) *to++ = kept(b, h, i, j) ? factor : 0.0f;
  return p;
}

Problem with_layouts(Problem p, Layout Q, Layout K, Layout V, Layout O) {
  p.Q = lay_out(p.Q, Q), p.K = lay_out(p.K, K), p.V = lay_out(p.V, V);
  p.layout_of_O = O;
  return p;
}

Problem in_16_bits(Problem p, Format16 format) {
  p.format = format;
  for (Tensor<float>* x : {&p.Q, &p.K, &p.V}) round_to(*x, format);
  return p;
}

Problem with_gaps(const Problem& p, float gap) {
  Problem apart = p;
  const Layout gaps = layout_with_gaps(p);
  apart.Q = lay_out(p.Q, gaps, gap);
  apart.K = lay_out(p.K, gaps, gap);
  apart.V = lay_out(p.V, gaps, gap);
  apart.layout_of_O = apart.layout_of_lse = gaps;
  return apart;
}

namespace {

/// Column 0 of every row of a batch and head.
void set_first_dim(Tensor<float>& x, Int b, Int h, float value) {
  for (Int row = 0; row < x.shape()[2]; ++row) x(b, h, row, 0) = value;
}

}  // namespace

Problem with_large_scores(Problem p) {
  p.scale *= 8.0f;
  return p;
}

Problem with_whole_scores(Problem p) {
  p.scale = 1.0f;
  for (Tensor<float>* x : {&p.Q, &p.K})
    for (float& value : x->storage()) value = std::clamp(std::round(value * 8.0f), -16.0f, 16.0f);
  return p;
}

Problem with_negative_scale(Problem p) {
  p = with_large_scores(std::move(p));
  p.scale = -p.scale;
  for (Int i = 0; i < p.Nq(); ++i)
    for (Int d = 0; d < p.D(); ++d) p.Q(0, 1, i, d) *= 4.0f;
  return p;
}

Problem with_shifted_scores(Problem p, float shift) {
  p.scale = 0.25f;
  for (Int b = 0; b < p.B(); ++b) {
    for (Int h = 0; h < p.H(); ++h) set_first_dim(p.Q, b, h, 4.0f * shift);
    for (Int h = 0; h < p.H_kv(); ++h) set_first_dim(p.K, b, h, 1.0f);
  }
  return p;
}

std::uint64_t multiply_adds_of(const Problem& p, Int products) {
  Int pairs = 0;
  for (Int i = 0; i < p.Nq(); ++i)
    for (Int j = 0; j < p.Nk(); ++j) pairs += p.sees(i, j);
  return static_cast<std::uint64_t>(products * p.B() * p.H() * pairs * p.D());
}

Problem with_growing_scores(Problem p, float step) {
  p = with_shifted_scores(std::move(p), step);
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H_kv(); ++h)
      for (Int j = 0; j < p.Nk(); ++j) p.K(b, h, j, 0) = static_cast<float>(j);
  return p;
}

Problem with_steep_scores(Problem p, Random& random) {
  p = with_shifted_scores(std::move(p), 1.0f);
  Int slope = 1;  // of the first head: hidden by a causal mask, keys lie above those that are seen
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H_kv(); ++h, slope = random.integer(-1, 1))
      for (Int j = 0, level = -5 * slope; j < p.Nk(); level += slope) {
        if (slope == 0) level = random.integer(-5, 5);
        for (const Int end = std::min(p.Nk(), j + random.integer(3, 25)); j < end; ++j)
          p.K(b, h, j, 0) = 64.0f * static_cast<float>(level);
      }
  for (Int h = 0; p.sink && h < p.H(); ++h) {
    const Int is_above = h == 0 ? random.integer(-1, 0) : h == p.H() - 1 ? 1 : random.integer(-1, 1);
    (*p.sink)(h) += 2000.0f * static_cast<float>(is_above);
  }
  return p;
}

Problem with_opposite_shifts(Problem p, float shift) {
  p = with_shifted_scores(std::move(p), shift);
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i)
        if (i % 2 == 1 || i >= 8) p.Q(b, h, i, 0) = -4.0f * shift;
  return p;
}

Problem with_empty_rows(Problem p) {
  for (Int b = 0; b < p.B(); ++b) {
    for (Int h = 0; h < p.H_kv(); ++h) set_first_dim(p.K, b, h, 1.0f);
    p.Q(b, 0, 3, 0) = p.Q(b, 0, p.Nq() - 1, 0) = p.Q(b, p.H() - 1, 0, 0) = -kInf;
  }
  return p;
}

Problem with_keys_of_minus_inf(Problem p, Int first) {
  for (Int b = 0; b < p.B(); ++b) {
    for (Int h = 0; h < p.H(); ++h) set_first_dim(p.Q, b, h, 1.0f);
    for (Int j = 0; j < first; ++j) p.K(b, 0, j, 0) = -kInf;
    for (Int j = 0; j < p.Nk(); j += 3) p.K(b, p.H_kv() - 1, j, 0) = -kInf;
  }
  return p;
}

Problem with_not_numbers(Problem p) {
  Random random(case_seed() + 10);
  const auto dim = [&] { return random.integer(0, p.D() - 1); };
  for (Int j = 0; j < p.Nk(); ++j) p.K(0, 0, j, 0) = std::abs(p.K(0, 0, j, 0)) + 0.5f;
  const Int row = random.integer(1, p.Nq() / 2 - 1);
  p.Q(0, 0, row, dim()) = kNan;                              // one row of S
  p.Q(0, 0, random.integer(row + 1, p.Nq() - 1), 0) = kInf;  // a row of S that is only inf
  p.K(0, 1, p.Nk() - 1, dim()) = kNan;  // one column of S, and so every query that sees this key
  p.V(0, 2, random.integer(0, kSeenByAll), dim()) = kNan;  // one column of O
  p.V(1, 0, 0, dim()) = kInf;
  const Int key = random.integer(0, kSeenByAll - 1), column = dim();
  p.V(1, 1, key, column) = kInf, p.V(1, 1, key + 1, column) = -kInf;  // inf - inf
  return p;
}

Problem with_infinite_values(Problem p) {
  Random random(case_seed() + 17);
  for (const Int h : {Int{0}, p.H_kv() - 1})
    for (Int d = 0; d < p.D(); ++d)
      p.V(p.B() - 1, h, (d * p.Nk() + random.integer(0, p.Nk() - 1)) / p.D(), d) = kInf;
  return p;
}

Problem of_other_sizes(const Problem& like) {
  Random random(case_seed() + 12);
  // Steps that no other size takes, so that no two are alike: Nq is 3, 8, 13 ..., Nk 4, 9, 14 ...
  Sizes n{random.integer(2, 4), 0, 5 * random.integer(1, 4) + 3, 5 * random.integer(1, 4) + 4, 0};
  n.H_kv = like.H_kv() == 1 ? 1 : like.H_kv() + random.integer(0, 2);
  n.H = like.H() / like.H_kv() * n.H_kv;
  n.D = like.format ? 8 * random.integer(2, 6) : 5 * random.integer(1, 12) + 2;
  Problem p = random_problem(n, like.mask);
  if (like.sink) p = with_sink(std::move(p));
  return like.format ? in_16_bits(std::move(p), *like.format) : p;
}

Sizes larger(Sizes n) {
  Random random(case_seed() + 11);
  const Int queries = random.integer(0, 20), step = n.D % 8 == 0 ? 8 : 1;
  n.Nq += queries, n.Nk += queries + random.integer(0, 20), n.D += step * random.integer(0, 16 / step);
  return n;
}

Sizes larger_of_one_query(Sizes n) {
  n = larger(n);
  n.Nq = 1;
  return n;
}

Problem with_small_weight(const Sizes& n) {
  const auto exponent = static_cast<float>(Random(case_seed() + 20).integer(20, 80));
  Problem p = random_problem(n);
  for (Tensor<float>* x : {&p.Q, &p.K, &p.V}) std::ranges::fill(x->storage(), 0.0f);
  p.scale = 1.0f;
  for (Int b = 0; b < p.B(); ++b) {
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i) p.Q(b, h, i, 0) = 1.0f;
    for (Int h = 0; h < p.H_kv(); ++h) {
      p.V(b, h, 0, 0) = 1.0f;
      p.K(b, h, p.Nk() - 1, 0) = -exponent;
      p.V(b, h, p.Nk() - 1, 0) = std::exp(exponent);
    }
  }
  return p;
}

Problem with_nan_keys(Problem p, Int first, Int end) {
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H_kv(); ++h)
      for (Int j = first; j < end; ++j) p.K(b, h, j, 0) = kNan, p.V(b, h, j, 0) = kInf;
  return p;
}

}  // namespace course::attention_tests
