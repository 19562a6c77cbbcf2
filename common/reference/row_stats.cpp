#include "reference/row_stats.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {

RowStats row_stats(const Tensor<float>& x) {
  if (x.rank() != 2) {
    throw std::invalid_argument("row_stats needs x of shape (rows, cols), but x has shape " +
                                format_shape(x.shape()) + ".");
  }
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  constexpr double kInf = std::numeric_limits<double>::infinity();
  RowStats stats{Tensor<double>({rows}, -kInf), Tensor<double>({rows})};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      stats.max(row) = std::fmax(stats.max(row), static_cast<double>(x(row, col)));  // passes over NaN
    }
    for (std::int64_t col = 0; col < cols; ++col) {
      const auto value = static_cast<double>(x(row, col));
      if (value != -kInf) stats.sum(row) += std::exp(value - stats.max(row));
    }
  }
  return stats;
}

}  // namespace course::reference
