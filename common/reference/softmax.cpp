#include "reference/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {

Tensor<double> softmax(const Tensor<float>& x) {
  if (x.rank() != 2) {
    throw std::invalid_argument("softmax needs x of shape (rows, cols), but x has shape " +
                                format_shape(x.shape()) + ".");
  }
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  Tensor<double> y({rows, cols});
  for (std::int64_t row = 0; row < rows; ++row) {
    double max = -std::numeric_limits<double>::infinity();
    for (std::int64_t col = 0; col < cols; ++col) max = std::max(max, static_cast<double>(x(row, col)));
    if (std::isinf(max) && max < 0) max = 0;  // all are -inf or NaN; -inf - -inf would be NaN
    double sum = 0;
    for (std::int64_t col = 0; col < cols; ++col) {
      y(row, col) = std::exp(static_cast<double>(x(row, col)) - max);
      sum += y(row, col);
    }
    if (sum == 0) continue;  // all are -inf, and y is zero already
    for (std::int64_t col = 0; col < cols; ++col) y(row, col) /= sum;
  }
  return y;
}

}  // namespace course::reference
