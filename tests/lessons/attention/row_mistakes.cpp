#include "attention/row_mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace course::attention_tests {
namespace {

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();
constexpr Int kTileQueries = 128, kTileKeys = 64;

/// exp(s - m), with what float32 loses where it is tiny: the other row's maximum may be far larger.
double exp_relative(double s, double m) {
  const double x = s == kMinusInf ? 0 : std::exp(s - m);
  return x < static_cast<double>(std::numeric_limits<float>::min())
             ? static_cast<double>(static_cast<float>(x))
             : x;
}

/// One of the two rows on its way past the tiles of keys.
struct Row {
  double m = kMinusInf, l = 0, sum = 0, rescale = 1;
};

}  // namespace

Forward64 with_two_rows(const Problem& p, TwoRows what) {
  const Tensor<double> S = attention_of(p).S;
  Forward64 to = expected_of(p);
  const Int Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  const auto score = [&](Int head, Int query, Int key) {  // rows from Nq on are loaded as zeros
    return query < Nq ? S.data()[(head * Nq + query) * Nk + key] : 0.0;
  };
  for (Int head = 0; head < p.B() * p.H(); ++head) {
    for (Int i = 0; i < Nq; ++i) {
      const Int queries[2] = {i, i / kTileQueries * kTileQueries + (i % kTileQueries ^ 4)};
      Row rows[2];
      std::vector<double> O(static_cast<std::size_t>(D));
      for (Int first = 0; first < Nk; first += kTileKeys) {
        const Int end = std::min(first + kTileKeys, Nk);
        double maxima[2] = {kMinusInf, kMinusInf};
        for (int k = 0; k < 2; ++k)
          for (Int j = first; j < end; ++j)
            maxima[k] = std::fmax(maxima[k], score(head, queries[k], j));  // passes over NaN
        if (what == TwoRows::maximum) maxima[0] = maxima[1] = std::fmax(maxima[0], maxima[1]);
        for (int k = 0; k < 2; ++k) {
          const double m = std::fmax(rows[k].m, maxima[k]);
          rows[k].rescale = exp_relative(rows[k].m, m);
          rows[k].m = m, rows[k].sum = 0;
          for (Int j = first; j < end; ++j) rows[k].sum += exp_relative(score(head, queries[k], j), m);
        }
        for (int k = 0; k < 2; ++k)
          rows[k].l = rows[k].l * rows[k].rescale + rows[k].sum +
                      (what == TwoRows::sum_of_tiles ? rows[1 - k].sum : 0);
        for (double& o : O) o *= rows[0].rescale;
        for (Int j = first; j < end; ++j) {
          const double weight = exp_relative(score(head, i, j), rows[0].m);
          for (Int d = 0; d < D; ++d)
            O[static_cast<std::size_t>(d)] +=
                weight * static_cast<double>(p.V(head / p.H(), head % p.H(), j, d));
        }
      }
      const double m = rows[0].m, l = rows[0].l + (what == TwoRows::sum_at_end ? rows[1].l : 0);
      const Int row = head * Nq + i;
      to.m.at_linear(row) = m, to.l.at_linear(row) = l;
      to.lse.at_linear(row) = l == 0 ? kMinusInf : m + std::log(l);
      for (Int d = 0; d < D; ++d)
        to.O.at_linear(row * D + d) = l == 0 ? 0 : O[static_cast<std::size_t>(d)] / l;
    }
  }
  return to;
}

void add_two_rows(grading::Mistakes& to, const Problem& p, Which which, TwoRows sums) {
  to.push_back(grading::gives(
      "maximum_of_two_rows", [&p, which] { return with_two_rows(p, TwoRows::maximum).of(which); },
      "The maximum is taken over 32 lanes, of which only 16 share a row: it is the maximum of two rows. "
      "max_warp<Shape::kThreadsAcross>() takes it over 16."));
  if (which != Which::m)
    to.push_back(gives_about(
        "sum_of_two_rows", [&p, which, sums] { return with_two_rows(p, sums).of(which); },
        "The sum is taken over 32 lanes, of which only 16 share a row: l has the sum of two rows. "
        "sum_warp<Shape::kThreadsAcross>() takes it over 16."));
}

}  // namespace course::attention_tests
