#include "14_gradients/rounding.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace course::lesson_14 {

namespace {

float dot_float32(const Tensor<float>& A, const Tensor<float>& B, std::int64_t i, std::int64_t j,
                  bool fused) {
  float sum = 0.0f;
  for (std::int64_t k = 0; k < A.shape()[1]; ++k) {
    const volatile float product = A(i, k) * B(k, j);  // rounded, whatever the compiler would fuse
    sum = fused ? std::fma(A(i, k), B(k, j), sum) : sum + product;
  }
  return sum;
}

/// One sensible way to compute a row of dS in float32.
struct Plain {
  bool near_first;  // the order in which partial sums are added
  bool fused;       // multiply-adds
  bool apart;       // P·dP - P·sum, in place of P·(dP - sum)
};

void backward_row(Tensor<float>& dS, const Rows& p, std::int64_t row, Plain plain) {
  std::array<float, 32> sums{};
  const auto weighted = [&](std::int64_t col) { return p.P(row, col) * p.dP(row, col); };
  for (std::int64_t col = 0; col < p.cols(); ++col) {
    if (p.P(row, col) == 0.0f) continue;
    float& sum = sums[static_cast<std::size_t>(col % 32)];
    const volatile float product = weighted(col);  // rounded, whatever the compiler would fuse
    sum = plain.fused ? std::fma(p.P(row, col), p.dP(row, col), sum) : sum + product;
  }
  for (std::size_t step = 1; step < sums.size(); step *= 2) {
    const std::size_t apart = plain.near_first ? step : sums.size() / (2 * step);
    for (std::size_t i = 0; i + apart < sums.size(); ++i)
      if (plain.near_first ? i % (2 * apart) == 0 : i < apart) sums[i] += sums[i + apart];
  }
  for (std::int64_t col = 0; col < p.cols(); ++col) {
    const float weight = p.P(row, col);
    const volatile float first = weighted(col), second = weight * sums[0], below = p.dP(row, col) - sums[0];
    dS(row, col) = weight == 0.0f ? 0.0f : plain.apart ? first - second : weight * below;
  }
}

}  // namespace

Tensor<float> in_order(const Tensor<float>& A, const Tensor<float>& B, const Tensor<double>& expected) {
  Tensor<float> C({A.shape()[0], B.shape()[1]});
  for (std::int64_t i = 0; i < C.shape()[0]; ++i) {
    for (std::int64_t j = 0; j < C.shape()[1]; ++j) {
      const float fused = dot_float32(A, B, i, j, true), rounded = dot_float32(A, B, i, j, false);
      const auto error = [&](float sum) { return std::abs(static_cast<double>(sum) - expected(i, j)); };
      C(i, j) = error(fused) < error(rounded) ? rounded : fused;
    }
  }
  return C;
}

Tensor<float> in_32_parts(const Rows& p, const Tensor<double>& expected) {
  Tensor<float> worst(p.P.shape()), dS(p.P.shape());
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    double largest = -1;
    for (int way = 0; way < 8; ++way) {
      backward_row(dS, p, row, {(way & 1) != 0, (way & 2) != 0, (way & 4) != 0});
      double error = 0;
      for (std::int64_t col = 0; col < p.cols(); ++col) {
        const double off = std::abs(static_cast<double>(dS(row, col)) - expected(row, col));
        if (off > error) error = off;
      }
      if (error <= largest) continue;
      largest = error;
      for (std::int64_t col = 0; col < p.cols(); ++col) worst(row, col) = dS(row, col);
    }
  }
  return worst;
}

}  // namespace course::lesson_14
