#include "reference/matmul.hpp"

#include <stdexcept>

#include "tensor/format.hpp"

namespace course::reference {

Tensor<double> matmul(const Tensor<float>& A, const Tensor<float>& B) {
  if (A.rank() != 2 || B.rank() != 2 || A.shape()[1] != B.shape()[0]) {
    throw std::invalid_argument("matmul needs A of shape (M, K) and B of shape (K, N), but A has shape " +
                                format_shape(A.shape()) + " and B has shape " + format_shape(B.shape()) +
                                ".");
  }
  const std::int64_t M = A.shape()[0], K = A.shape()[1], N = B.shape()[1];
  Tensor<double> C({M, N});
  for (std::int64_t i = 0; i < M; ++i) {
    for (std::int64_t k = 0; k < K; ++k) {
      for (std::int64_t j = 0; j < N; ++j) {
        C(i, j) += static_cast<double>(A(i, k)) * static_cast<double>(B(k, j));
      }
    }
  }
  return C;
}

}  // namespace course::reference
