#include "reference/vector_add.hpp"

#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {

Tensor<double> vector_add(const Tensor<float>& a, const Tensor<float>& b) {
  if (a.shape() != b.shape()) {
    throw std::invalid_argument("vector_add needs a and b of one shape, but a has shape " +
                                format_shape(a.shape()) + " and b has shape " + format_shape(b.shape()) +
                                ".");
  }
  Tensor<double> c(a.shape());
  for (std::int64_t i = 0; i < c.numel(); ++i) {
    c.at_linear(i) = static_cast<double>(a.at_linear(i)) + static_cast<double>(b.at_linear(i));
  }
  return c;
}

}  // namespace course::reference
