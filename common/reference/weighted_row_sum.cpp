#include "reference/weighted_row_sum.hpp"

#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {

Tensor<double> weighted_row_sum(const Tensor<float>& x, const Tensor<float>& w) {
  if (x.rank() != 2 || w.rank() != 1 || x.shape()[1] != w.shape()[0]) {
    throw std::invalid_argument(
        "weighted_row_sum needs x of shape (rows, cols) and w of shape (cols), but x has shape " +
        format_shape(x.shape()) + " and w has shape " + format_shape(w.shape()) + ".");
  }
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  Tensor<double> y({rows});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      y(row) += static_cast<double>(w(col)) * static_cast<double>(x(row, col));
    }
  }
  return y;
}

}  // namespace course::reference
