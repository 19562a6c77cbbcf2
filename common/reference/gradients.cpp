#include "reference/gradients.hpp"

#include <stdexcept>

#include "reference/matmul.hpp"
#include "tensor/format.hpp"

namespace course::reference {

MatmulGradients matmul_backward(const Tensor<float>& X, const Tensor<float>& W, const Tensor<float>& dY) {
  if (X.rank() != 2 || W.rank() != 2 || X.shape()[1] != W.shape()[0] ||
      dY.shape() != Shape{X.shape()[0], W.shape()[1]}) {
    throw std::invalid_argument(
        "matmul_backward needs X of shape (M, K), W of shape (K, N) and dY of shape (M, N), but their "
        "shapes are " +
        format_shape(X.shape()) + ", " + format_shape(W.shape()) + " and " + format_shape(dY.shape()) + ".");
  }
  return {matmul(dY, W.transposed(0, 1)), matmul(X.transposed(0, 1), dY)};
}

Tensor<double> softmax_backward(const Tensor<float>& P, const Tensor<float>& dP) {
  if (P.rank() != 2 || P.shape() != dP.shape()) {
    throw std::invalid_argument(
        "softmax_backward needs P and dP of one shape (rows, cols), but P has shape " +
        format_shape(P.shape()) + " and dP has shape " + format_shape(dP.shape()) + ".");
  }
  const std::int64_t rows = P.shape()[0], cols = P.shape()[1];
  Tensor<double> dS({rows, cols});
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto p = [&](std::int64_t col) { return static_cast<double>(P(row, col)); };
    const auto dp = [&](std::int64_t col) { return static_cast<double>(dP(row, col)); };
    double sum = 0;
    for (std::int64_t col = 0; col < cols; ++col) sum += p(col) == 0 ? 0 : p(col) * dp(col);
    for (std::int64_t col = 0; col < cols; ++col) dS(row, col) = p(col) == 0 ? 0 : p(col) * (dp(col) - sum);
  }
  return dS;
}

}  // namespace course::reference
