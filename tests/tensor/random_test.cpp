#include "tensor/random.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "support/catch.hpp"

using namespace course;
using Catch::Matchers::WithinAbs;

namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

}  // namespace

// The golden values of bits() come from a separate implementation in Python's integers.

TEST_CASE("a seed gives the same bits with every compiler") {
  struct Golden {
    std::uint64_t seed;
    std::array<std::uint64_t, 4> bits;
  };
  const Golden golden = GENERATE(
      Golden{0, {0xa706dd2f4d197e6f, 0xb382a305f4414f5e, 0x631a9154fbabf717, 0xa80aba8c86640906}},
      Golden{1, {0x5e41ab087439611e, 0xf18d6ce93d6cf1ee, 0x0b95f66d327e8d78, 0xc7061b1b93322ba9}},
      Golden{~0ull, {0x5dc20aa7b2a27137, 0xbda5668a01d7049c, 0x82b43276abb80226, 0xed4d5ed4a6ea59b4}});
  Random random(golden.seed);
  for (const std::uint64_t expected : golden.bits) CHECK(random.bits() == expected);
}

TEST_CASE("uniform doubles have the same bits with every compiler") {
  Random random(42);
  for (const double expected :
       {0x1.5f87eae99441cp-2, 0x1.e957a287fd648p-1, 0x1.f2059ce304a4p-2, 0x1.13e5dec6f8fd8p-4}) {
    CHECK(random.uniform() == expected);
  }
}

TEST_CASE("a uniform tensor has the same bits with every compiler") {
  const Tensor<float> tensor = uniform({2, 3}, -1.0f, 3.0f, 2026);
  const float expected[] = {0x1.73ab9p-1f, -0x1.c263b8p-1f, -0x1.6d981p-2f,
                            0x1.dae58p-5f, 0x1.451838p+0f,  0x1.14d3dcp+0f};
  REQUIRE(tensor.shape() == Shape{2, 3});
  for (std::int64_t i = 0; i < 6; ++i) CHECK(tensor.at_linear(i) == expected[i]);
}

TEST_CASE("random integers have the same values with every compiler") {
  Random random(7);
  for (const std::int64_t expected : {5, 1, -2, 0, 9, 1, 8, -1}) CHECK(random.integer(-3, 9) == expected);
}

TEST_CASE("normal values differ between machines by no more than libm does") {
  Random random(42);
  for (const double expected :
       {0.88185458735732214, 1.0524628562387559, 1.3700036369000232, -0.06320005984318515}) {
    CHECK_THAT(random.normal(), WithinAbs(expected, 1e-14));
  }
}

TEST_CASE("neighbouring seeds and neighbouring draws are unrelated") {
  constexpr int kDraws = 20000;
  const auto correlation = [](auto next_pair) {
    double sum = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const auto [x, y] = next_pair();
      sum += (x - 0.5) * (y - 0.5) * 12.0;  // 1/12 is the variance of a uniform number
    }
    return sum / kDraws;
  };
  // Five standard deviations of the mean of 20000 products.
  constexpr double kLimit = 5.0 / 141.0;

  Random a(1000), b(1001);
  CHECK(std::abs(correlation([&] { return std::pair(a.uniform(), b.uniform()); })) < kLimit);
  Random c(1000);
  CHECK(std::abs(correlation([&] {
          const double first = c.uniform();
          return std::pair(first, c.uniform());
        })) < kLimit);
}

TEST_CASE("uniform values stay inside their bounds and cover them") {
  const auto [lo, hi] = GENERATE(std::pair(-1.0f, 1.0f), std::pair(0.1f, 0.3f), std::pair(-1e30f, 1e-30f),
                                 std::pair(1.0f, 1.0f + 0x1p-22f));
  const Tensor<float> tensor = uniform({50000}, lo, hi, 3);
  double sum = 0.0;
  for (const float value : tensor.storage()) {
    REQUIRE(value >= lo);
    REQUIRE(value <= hi);
    sum += (static_cast<double>(value) - lo) / (static_cast<double>(hi) - lo);
  }
  CHECK_THAT(sum / 50000, WithinAbs(0.5, 0.01));
}

TEST_CASE("a uniform tensor between equal bounds is constant") {
  const Tensor<float> tensor = uniform({4}, 2.5f, 2.5f, 1);
  for (const float value : tensor.storage()) CHECK(value == 2.5f);
}

TEST_CASE("normal values have mean 0 and the standard deviation that was asked for") {
  const float scale = GENERATE(1.0f, 0.25f);
  const Tensor<float> tensor = normal({100000}, 11, scale);
  double sum = 0.0, squares = 0.0;
  for (const float value : tensor.storage()) {
    REQUIRE(std::isfinite(value));
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  CHECK_THAT(sum / 100000, WithinAbs(0.0, 0.02 * scale));
  CHECK_THAT(std::sqrt(squares / 100000), WithinAbs(scale, 0.02 * scale));
}

TEST_CASE("random integers reach both ends of their range and nothing else") {
  Random random(5);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.integer(-2, 2));
  CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  CHECK(random.integer(9, 9) == 9);
}

TEST_CASE("random integers work for the widest ranges") {
  Random random(6);
  bool negative = false, positive = false;
  for (int i = 0; i < 100; ++i) {
    (random.integer(kLowest, kHighest) < 0 ? negative : positive) = true;
    CHECK(random.integer(0, kHighest) >= 0);
  }
  CHECK(negative);
  CHECK(positive);
}

TEST_CASE("random ranges that make no sense are refused") {
  const float inf = std::numeric_limits<float>::infinity(), max = std::numeric_limits<float>::max();
  REQUIRE_THROWS_AS(Random(1).integer(2, 1), std::invalid_argument);
  REQUIRE_THROWS_WITH(Random(1).integer(2, 1), "Random::integer needs lo <= hi, but got lo = 2 and hi = 1.");
  REQUIRE_THROWS_AS(uniform({2}, 1.0f, -1.0f, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(uniform({2}, -inf, 1.0f, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(uniform({2}, std::nanf(""), 1.0f, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(uniform({2}, -max, max, 1), std::invalid_argument);
  REQUIRE_THROWS_AS(normal({2}, 1, -1.0f), std::invalid_argument);
  REQUIRE_THROWS_AS(normal({2}, 1, inf), std::invalid_argument);
  REQUIRE_THROWS_AS(uniform({-2}, 0.0f, 1.0f, 1), std::invalid_argument);
}

TEMPLATE_TEST_CASE("random tensors of 16 bits are those of float32, rounded", "", bfloat16, float16) {
  const auto x = normal<TestType>({7, 9}, 3, 2.0f);
  const Tensor<float> wide = normal({7, 9}, 3, 2.0f);
  for (std::int64_t i = 0; i < x.numel(); ++i) CHECK(x.at_linear(i) == TestType(wide.at_linear(i)));
  const auto y = uniform<TestType>({100}, -1.0f, 1.0f, 3);
  for (const TestType value : y.storage()) CHECK(std::abs(static_cast<float>(value)) <= 1.0f);
}
