#include "reference/vector_add.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"
#include "tensor/random.hpp"

using namespace course;

TEST_CASE("the reference adds every pair of elements in float64") {
  const auto a = Tensor<float>::from({3}, {1.0f, 0x1p24f, -2.5f});
  const auto b = Tensor<float>::from({3}, {2.0f, 1.0f, 2.5f});

  const Tensor<double> c = reference::vector_add(a, b);

  REQUIRE(c.shape() == Shape{3});
  CHECK(c(0) == 3.0);
  CHECK(c(1) == 16777217.0);  // float32 would lose the 1
  CHECK(c(2) == 0.0);
}

TEST_CASE("the reference follows strides and returns a contiguous tensor") {
  const Tensor<float> a = uniform({4, 3}, -1.0f, 1.0f, 1);
  Tensor<float> b({3, 4}, {7, 1}, 99.0f);  // gaps of three elements between rows
  for (std::int64_t i = 0; i < b.numel(); ++i) b.at_linear(i) = static_cast<float>(i);

  const Tensor<double> c = reference::vector_add(a.transposed(0, 1), b);

  REQUIRE(c.is_contiguous());
  REQUIRE(c.shape() == Shape{3, 4});
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t col = 0; col < 4; ++col) {
      CHECK(c(row, col) == static_cast<double>(a(col, row)) + static_cast<double>(b(row, col)));
    }
  }
}

TEST_CASE("the reference keeps infinities and NaN") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto a = Tensor<float>::from({3}, {inf, inf, std::nanf("")});
  const auto b = Tensor<float>::from({3}, {1.0f, -inf, 1.0f});

  const Tensor<double> c = reference::vector_add(a, b);

  CHECK(c(0) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(c(1)));
  CHECK(std::isnan(c(2)));
}

TEST_CASE("the reference adds empty tensors") {
  CHECK(reference::vector_add(Tensor<float>({0}), Tensor<float>({0})).numel() == 0);
}

TEST_CASE("the reference refuses tensors of different shapes") {
  const Tensor<float> a({2, 3}), b({6});
  REQUIRE_THROWS_AS(reference::vector_add(a, b), std::invalid_argument);
  REQUIRE_THROWS_WITH(reference::vector_add(a, b),
                      "vector_add needs a and b of one shape, but a has shape (2, 3) and b has shape (6).");
}
