#include "reference/transpose.hpp"

#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {

Tensor<double> transpose(const Tensor<float>& x) {
  if (x.rank() != 2) {
    throw std::invalid_argument("transpose needs a matrix, but x has shape " + format_shape(x.shape()) + ".");
  }
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  Tensor<double> y({cols, rows});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) y(col, row) = static_cast<double>(x(row, col));
  }
  return y;
}

}  // namespace course::reference
