#include "attention/gradient_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace course::attention_tests {
namespace {

constexpr double kNan64 = std::numeric_limits<double>::quiet_NaN();

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

}  // namespace

Rows::Rows(const Tensor<float>& x, const std::optional<Reader>& wrong, Int b, Int h, Int begin, Int end,
           Int D)
    : begin_(begin), D_(D), values_(at(std::max<Int>(end - begin, 0) * D)) {
  const Strides& s = x.strides();
  double* to = values_.data();
  for (Int row = begin; row < end; ++row)
    for (Int d = 0; d < D; ++d)
      *to++ = wrong ? (*wrong)(b, h, row, d)
                    : static_cast<double>(x.data()[b * s[0] + h * s[1] + row * s[2] + d * s[3]]);
}

double dot(const double* a, const double* b, Int n) {
  double sum = 0;
  for (Int d = 0; d < n; ++d) sum += a[d] * b[d];
  return sum;
}

double RowValues::lse(Int b, Int h, Int i) const {
  const Strides& s = p_.lse.strides();
  const Int place = how_.lse ? how_.lse(b, h, i) : b * s[0] + h * s[1] + i * s[2];
  const auto storage = p_.lse.storage();
  if (place < 0 || place >= static_cast<Int>(storage.size())) return kNan64;
  return static_cast<double>(storage[at(place)]) * how_.lse_factor;
}

double RowValues::delta(Int b, Int h, Int i) const {
  const Int end = std::min(p_.D(), how_.dims_of_delta);
  if (how_.delta_query) i = how_.delta_query(i);
  const Rows dO_row(p_.dO, how_.dO, b, h, i, i + 1, end), O_row(p_.O, how_.O, b, h, i, i + 1, end);
  const Int D = end - how_.first_dim_of_delta;
  const double *dO = dO_row[i] + how_.first_dim_of_delta, *O = O_row[i] + how_.first_dim_of_delta;
  switch (how_.delta) {
    case Delta::dO_O:
      return dot(dO, O, D);
    case Delta::zero:
      return 0;
    case Delta::dO:
      return std::accumulate(dO, dO + D, 0.0);
    case Delta::O:
      return std::accumulate(O, O + D, 0.0);
    case Delta::O_O:
      return dot(O, O, D);
    case Delta::dO_dO:
      return dot(dO, dO, D);
    case Delta::mean:
      return dot(dO, O, D) / static_cast<double>(p_.D());
    case Delta::scaled:
      return dot(dO, O, D) * static_cast<double>(p_.scale);
    case Delta::lane_0: {
      double sum = 0;
      for (Int d = 0; d < D; d += 32) sum += dO[d] * O[d];
      return sum;
    }
    case Delta::step_1: {
      double sum = 0;
      for (Int d = 0; d < D; ++d) sum += static_cast<double>(std::min<Int>(d + 1, 32)) * dO[d] * O[d];
      return sum;
    }
    case Delta::all_lanes:
      return 32 * dot(dO, O, D);
    case Delta::negated:
      return -dot(dO, O, D);
  }
  return kNan64;
}

double RowValues::delta_in_dS(Int b, Int h, Int i) const {
  if (!how_.delta_row) return delta(b, h, i);
  const Int row = how_.delta_row(b, h, i), Nq = p_.Nq();
  if (row < 0 || row >= p_.B() * p_.H() * Nq) return kNan64;
  return delta(row / Nq / p_.H(), row / Nq % p_.H(), row % Nq);
}

}  // namespace course::attention_tests
