#include "reference/softmax.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/special_floats.hpp"

using namespace course;
using course::test::kInfinity, course::test::kNaN;

TEST_CASE("the reference softmax gives powers of e, divided by their sum") {
  const auto x = Tensor<float>::from({2, 3}, {0.0f, 1.0f, 2.0f, 5.0f, 5.0f, 5.0f});

  const Tensor<double> y = reference::softmax(x);

  const double e = std::exp(1.0), sum = 1.0 + e + e * e;
  REQUIRE(y.shape() == Shape{2, 3});
  CHECK(std::abs(y(0, 0) - 1.0 / sum) < 1e-15);
  CHECK(std::abs(y(0, 1) - e / sum) < 1e-15);
  CHECK(std::abs(y(0, 2) - e * e / sum) < 1e-15);
  for (std::int64_t col = 0; col < 3; ++col) CHECK(std::abs(y(1, col) - 1.0 / 3.0) < 1e-15);
}

TEST_CASE("the reference softmax goes along the second axis, whatever the strides") {
  Tensor<float> x({2, 2}, {1, 3}, 99.0f);  // rows side by side, columns three apart
  x(0, 0) = 0.0f, x(0, 1) = 0.0f, x(1, 0) = 1000.0f, x(1, 1) = -1000.0f;

  const Tensor<double> y = reference::softmax(x);

  CHECK(y(0, 0) == 0.5);
  CHECK(y(0, 1) == 0.5);
  CHECK(y(1, 0) == 1.0);
  CHECK(y(1, 1) == 0.0);
}

TEST_CASE("the reference softmax takes all finite numbers") {
  const float largest = std::numeric_limits<float>::max();
  const auto x = Tensor<float>::from({2, 2}, {largest, -largest, -10000.0f, -10000.0f});

  const Tensor<double> y = reference::softmax(x);

  CHECK(y(0, 0) == 1.0);
  CHECK(y(0, 1) == 0.0);
  CHECK(y(1, 0) == 0.5);
  CHECK(y(1, 1) == 0.5);
}

TEST_CASE("the reference softmax keeps NaN and infinities in their own row") {
  const auto x = Tensor<float>::from({6, 2}, {-kInfinity, -kInfinity, -kInfinity, 3.0f, kInfinity, 3.0f, kNaN,
                                              3.0f, -kInfinity, kNaN, kInfinity, kInfinity});

  const Tensor<double> y = reference::softmax(x);

  CHECK(y(0, 0) == 0.0);
  CHECK(y(0, 1) == 0.0);
  CHECK(y(1, 0) == 0.0);
  CHECK(y(1, 1) == 1.0);
  for (std::int64_t row = 2; row < 6; ++row)
    for (std::int64_t col = 0; col < 2; ++col) CHECK(std::isnan(y(row, col)));
}

TEST_CASE("the reference softmax of nothing is nothing") {
  CHECK(reference::softmax(Tensor<float>({0, 4})).numel() == 0);
  CHECK(reference::softmax(Tensor<float>({4, 0})).shape() == Shape{4, 0});
}

TEST_CASE("the reference softmax refuses what is no matrix") {
  REQUIRE_THROWS_AS(reference::softmax(Tensor<float>({3})), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::softmax(Tensor<float>({2, 2, 2})), std::invalid_argument);
}
