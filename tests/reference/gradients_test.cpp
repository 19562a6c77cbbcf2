#include "reference/gradients.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "reference/matmul.hpp"
#include "reference/softmax.hpp"
#include "support/catch.hpp"
#include "tensor/random.hpp"

using namespace course;

namespace {

/// Σ a ∘ b: the loss whose gradient with respect to a is b.
double inner(const Tensor<double>& a, const Tensor<float>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += a.at_linear(i) * static_cast<double>(b.at_linear(i));
  return sum;
}

/// The central difference of loss() for element i of x, with steps of 2^-10.
template <class Loss>
double central_difference(Tensor<float>& x, std::int64_t i, Loss loss) {
  const float kept = x.at_linear(i), step = 0x1p-10f;
  x.at_linear(i) = kept + step;
  const double above = loss(), x_above = static_cast<double>(x.at_linear(i));
  x.at_linear(i) = kept - step;
  const double below = loss(), x_below = static_cast<double>(x.at_linear(i));
  x.at_linear(i) = kept;
  return (above - below) / (x_above - x_below);
}

/// Numbers between -2 and 2 to which 2^-10 can be added without rounding.
Tensor<float> coarse(Shape shape, std::uint64_t seed) {
  Tensor<float> x = uniform(std::move(shape), -2.0f, 2.0f, seed);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = std::round(x.at_linear(i) * 1024) / 1024;
  return x;
}

}  // namespace

TEST_CASE("the reference's gradients of a product are its central differences") {
  Tensor<float> X = coarse({4, 3}, 1), W = coarse({3, 5}, 2);
  const Tensor<float> dY = coarse({4, 5}, 3);
  const auto [dX, dW] = reference::matmul_backward(X, W, dY);
  const auto loss = [&] { return inner(reference::matmul(X, W), dY); };

  REQUIRE(dX.shape() == X.shape());
  REQUIRE(dW.shape() == W.shape());
  for (std::int64_t i = 0; i < X.numel(); ++i)
    CHECK(std::abs(dX.at_linear(i) - central_difference(X, i, loss)) < 1e-11);
  for (std::int64_t i = 0; i < W.numel(); ++i)
    CHECK(std::abs(dW.at_linear(i) - central_difference(W, i, loss)) < 1e-11);
}

TEST_CASE("the reference's gradient of a softmax is its central difference") {
  Tensor<float> S = coarse({3, 6}, 4);
  const Tensor<float> dP = coarse({3, 6}, 5);
  const Tensor<double> P = reference::softmax(S);
  const Tensor<double> dS = reference::softmax_backward(P.to<float>(), dP);

  for (std::int64_t i = 0; i < S.numel(); ++i)
    CHECK(std::abs(dS.at_linear(i) - central_difference(S, i, [&] {
                     return inner(reference::softmax(S), dP);
                   })) < 1e-6);  // P is rounded to float32
}

TEST_CASE("the reference's gradient of a softmax is its Jacobian times dP") {
  const auto P = Tensor<float>::from({1, 3}, {0.5f, 0.25f, 0.25f});
  const auto dP = Tensor<float>::from({1, 3}, {2, -1, 7});
  const Tensor<double> dS = reference::softmax_backward(P, dP);

  for (std::int64_t j = 0; j < 3; ++j) {
    double product = 0;
    for (std::int64_t k = 0; k < 3; ++k) {
      const double jacobian =
          static_cast<double>(P(0, j)) * ((j == k ? 1.0 : 0.0) - static_cast<double>(P(0, k)));
      product += jacobian * static_cast<double>(dP(0, k));
    }
    CHECK(dS(0, j) == product);
  }
}

TEST_CASE("the reference leaves out what has no weight, and keeps NaN in its row") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto P = Tensor<float>::from({3, 2}, {0, 0, 0, 1, 0.5f, 0.5f});
  const auto dP = Tensor<float>::from({3, 2}, {inf, nan, nan, 3, inf, 1});
  const Tensor<double> dS = reference::softmax_backward(P, dP);

  for (std::int64_t i = 0; i < 4; ++i) CHECK(dS.at_linear(i) == 0.0);
  CHECK(std::isnan(dS(2, 0)));  // inf - inf
  CHECK(dS(2, 1) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("the reference gives zeros where nothing is summed, and refuses shapes that do not fit") {
  const auto [dX, dW] =
      reference::matmul_backward(Tensor<float>({2, 3}), Tensor<float>({3, 0}), Tensor<float>({2, 0}));
  REQUIRE(dX.shape() == Shape{2, 3});
  for (std::int64_t i = 0; i < dX.numel(); ++i) CHECK(dX.at_linear(i) == 0.0);
  CHECK(dW.numel() == 0);

  const Tensor<float> a({2, 3}), b({3, 4}), c({2, 4});
  REQUIRE_NOTHROW(reference::matmul_backward(a, b, c));
  REQUIRE_THROWS_AS(reference::matmul_backward(a, c, c), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::matmul_backward(a, b, a), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::softmax_backward(a, b), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::softmax_backward(Tensor<float>({3}), Tensor<float>({3})),
                    std::invalid_argument);
}
