#include "reference/matmul.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"

using namespace course;

TEST_CASE("the reference multiplies matrices in float64") {
  const auto A = Tensor<float>::from({2, 3}, {1.0f, 2.0f, 3.0f, 0x1p24f, 1.0f, -0x1p24f});
  const auto B = Tensor<float>::from({3, 2}, {1.0f, 2.0f, 3.0f, 5.0f, 1.0f, 7.0f});

  const Tensor<double> C = reference::matmul(A, B);

  REQUIRE(C.shape() == Shape{2, 2});
  CHECK(C(0, 0) == 10.0);
  CHECK(C(0, 1) == 33.0);
  CHECK(C(1, 0) == 3.0);  // float32 would lose it
  CHECK(C(1, 1) == 5.0 - 5.0 * 0x1p24);
}

TEST_CASE("the reference multiplies transposed matrices") {
  const auto A = Tensor<float>::from({3, 2}, {1.0f, 4.0f, 2.0f, 5.0f, 3.0f, 6.0f});
  const auto B = Tensor<float>::from({1, 3}, {1.0f, 0.0f, -1.0f});

  const Tensor<double> C = reference::matmul(A.transposed(0, 1), B.transposed(0, 1));

  REQUIRE(C.shape() == Shape{2, 1});
  CHECK(C(0, 0) == -2.0);
  CHECK(C(1, 0) == -2.0);
}

TEST_CASE("the reference follows IEEE 754 where a product is not finite") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto A = Tensor<float>::from({2, 2}, {inf, 1.0f, 1.0f, 1.0f});
  const auto B = Tensor<float>::from({2, 2}, {0.0f, -1.0f, 1.0f, 1.0f});

  const Tensor<double> C = reference::matmul(A, B);

  CHECK(std::isnan(C(0, 0)));  // inf times 0
  CHECK(C(0, 1) == -std::numeric_limits<double>::infinity());
  CHECK(C(1, 0) == 1.0);
  CHECK(C(1, 1) == 0.0);
}

TEST_CASE("the reference gives zeros for K = 0, and nothing for an empty product") {
  const Tensor<double> C = reference::matmul(Tensor<float>({2, 0}), Tensor<float>({0, 3}));
  REQUIRE(C.shape() == Shape{2, 3});
  for (std::int64_t i = 0; i < C.numel(); ++i) CHECK(C.at_linear(i) == 0.0);
  CHECK(reference::matmul(Tensor<float>({0, 4}), Tensor<float>({4, 2})).numel() == 0);
}

TEST_CASE("the reference refuses matrices that do not fit together") {
  REQUIRE_THROWS_AS(reference::matmul(Tensor<float>({2, 3}), Tensor<float>({2, 3})), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::matmul(Tensor<float>({2, 3}), Tensor<float>({3})), std::invalid_argument);
}
