#include "tensor/adversarial.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#include "support/catch.hpp"

using namespace course;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t count(const Tensor<float>& tensor, const std::function<bool(float)>& wanted) {
  return std::count_if(tensor.storage().begin(), tensor.storage().end(), wanted);
}

bool same_bits(const Tensor<float>& a, const Tensor<float>& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.storage().size_bytes()) == 0;
}

}  // namespace

TEST_CASE("every pattern has its own name") {
  std::set<std::string_view> names;
  for (const Pattern pattern : all_patterns()) names.insert(pattern_name(pattern));
  CHECK(names.size() == all_patterns().size());
  CHECK(pattern_name(Pattern::minus_inf_rows) == "minus inf rows");
}

TEST_CASE("a number that is no pattern is refused") {
  REQUIRE_THROWS_AS(pattern_name(static_cast<Pattern>(99)), std::invalid_argument);
  REQUIRE_THROWS_WITH(adversarial(static_cast<Pattern>(99), {2}, 1), "There is no pattern number 99.");
}

TEST_CASE("every pattern fills every shape, and the same seed gives the same bits") {
  for (const Pattern pattern : all_patterns()) {
    CAPTURE(pattern_name(pattern));
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0}, Shape{1}, Shape{33}, Shape{2, 5, 7}}) {
      const Tensor<float> tensor = adversarial(pattern, shape, 8);
      CHECK(tensor.shape() == shape);
      CHECK(tensor.is_contiguous());
      CHECK(same_bits(tensor, adversarial(pattern, shape, 8)));
    }
  }
}

TEST_CASE("every random pattern depends on its seed") {
  for (const Pattern pattern : all_patterns()) {
    if (pattern == Pattern::cancelling) continue;  // fixed by its definition
    CAPTURE(pattern_name(pattern));
    CHECK_FALSE(same_bits(adversarial(pattern, {8, 64}, 1), adversarial(pattern, {8, 64}, 2)));
  }
}

TEST_CASE("large values overflow exp and have both signs") {
  const Tensor<float> x = adversarial(Pattern::large, {4, 50}, 1);
  CHECK(count(x, [](float v) { return std::abs(v) >= 5e3f && std::abs(v) <= 1e4f; }) == 200);
  CHECK(count(x, [](float v) { return std::isinf(std::exp(v)); }) > 50);
  CHECK(count(x, [](float v) { return v < 0; }) > 50);
}

TEST_CASE("a sum of two huge values is finite and a square is not") {
  const Tensor<float> x = adversarial(Pattern::huge, {200}, 1);
  CHECK(count(x, [](float v) { return std::isfinite(v + v) && std::isinf(v * v); }) == 200);
}

TEST_CASE("cancelling values lose their ones in a float32 sum") {
  const Tensor<float> x = adversarial(Pattern::cancelling, {2, 400}, 1);
  volatile float narrow = 0.0f;
  double wide = 0.0;
  for (std::int64_t col = 0; col < 400; ++col) {
    narrow = narrow + x(1, col);
    wide += static_cast<double>(x(1, col));
  }
  CHECK(wide == 200.0);
  CHECK(static_cast<double>(narrow) != wide);
}

TEST_CASE("increasing and decreasing rows do so strictly") {
  const Tensor<float> up = adversarial(Pattern::increasing, {3, 300}, 4);
  const Tensor<float> down = adversarial(Pattern::decreasing, {3, 300}, 4);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t col = 1; col < 300; ++col) {
      REQUIRE(up(row, col) > up(row, col - 1));
      REQUIRE(down(row, col) < down(row, col - 1));
    }
  }
}

TEST_CASE("signs alternate along rows and from row to row") {
  const Tensor<float> x = adversarial(Pattern::alternating_signs, {4, 6}, 1);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t col = 0; col < 6; ++col) CHECK(std::signbit(x(row, col)) == ((row + col) % 2 == 1));
  }
}

TEST_CASE("signed zeros are zeros of both signs") {
  const Tensor<float> x = adversarial(Pattern::signed_zeros, {100}, 1);
  CHECK(count(x, [](float v) { return v == 0.0f; }) == 100);
  CHECK(count(x, [](float v) { return std::signbit(v); }) > 20);
  CHECK(count(x, [](float v) { return !std::signbit(v); }) > 20);
}

TEST_CASE("subnormal values are subnormal") {
  const Tensor<float> x = adversarial(Pattern::subnormal, {100}, 1);
  CHECK(count(x, [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }) == 100);
}

TEST_CASE("every second row is only -inf and the others are finite") {
  const Tensor<float> x = adversarial(Pattern::minus_inf_rows, {5, 7}, 1);
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t col = 0; col < 7; ++col) {
      if (row % 2 == 0) {
        CHECK(x(row, col) == -kInfinity);
      } else {
        CHECK(std::isfinite(x(row, col)));
      }
    }
  }
}

TEST_CASE("a part of the elements is -inf where holes are asked for") {
  const Tensor<float> x = adversarial(Pattern::minus_inf_holes, {40, 25}, 1);
  const std::int64_t holes = count(x, [](float v) { return v == -kInfinity; });
  CHECK(holes > 150);
  CHECK(holes < 350);
  CHECK(count(x, [](float v) { return std::isfinite(v); }) == 1000 - holes);
}

TEST_CASE("infinities have both signs among finite values") {
  const Tensor<float> x = adversarial(Pattern::infinities, {1000}, 1);
  CHECK(count(x, [](float v) { return v == kInfinity; }) > 50);
  CHECK(count(x, [](float v) { return v == -kInfinity; }) > 50);
  CHECK(count(x, [](float v) { return std::isfinite(v); }) > 500);
}

TEST_CASE("exactly one element is NaN, in different places for different seeds") {
  std::set<std::int64_t> places;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Tensor<float> x = adversarial(Pattern::one_nan, {6, 9}, seed);
    REQUIRE(count(x, [](float v) { return std::isnan(v); }) == 1);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      if (std::isnan(x.at_linear(i))) places.insert(i);
    }
  }
  CHECK(places.size() > 5);
}

TEMPLATE_TEST_CASE("patterns of 16 bits are what they are called", "", bfloat16, float16) {
  const auto all = [](const Tensor<TestType>& x, const std::function<bool(float)>& wanted) {
    return std::all_of(x.storage().begin(), x.storage().end(),
                       [&](TestType v) { return wanted(static_cast<float>(v)); });
  };
  for (const Pattern pattern : all_patterns()) {
    CAPTURE(pattern_name(pattern));
    const auto a = adversarial<TestType>(pattern, {4, 33}, 3), b = adversarial<TestType>(pattern, {4, 33}, 3);
    CHECK(a.shape() == Shape{4, 33});
    CHECK(std::memcmp(a.data(), b.data(), a.storage().size_bytes()) == 0);
    if (pattern == Pattern::minus_inf_rows || pattern == Pattern::minus_inf_holes ||
        pattern == Pattern::infinities || pattern == Pattern::one_nan)
      continue;
    CHECK(all(a, [](float v) { return std::isfinite(v); }));
  }
  const auto sum = [](float a, float b) { return static_cast<float>(TestType(a + b)); };
  CHECK(all(adversarial<TestType>(Pattern::huge, {200}, 1), [&](float v) {
    return std::isfinite(sum(v, v)) && !std::isfinite(static_cast<float>(TestType(v * v)));
  }));
  CHECK(all(adversarial<TestType>(Pattern::subnormal, {200}, 1), [](float v) {
    const double smallest = static_cast<double>(TestType::from_bits(1)),
                 least = smallest * (1 << TestType::kMantissaBits);
    return v != 0 && static_cast<double>(std::abs(v)) < least;
  }));
  const auto cancelling = adversarial<TestType>(Pattern::cancelling, {1, 4}, 1);
  CHECK(sum(static_cast<float>(cancelling(0, 0)), 1.0f) == static_cast<float>(cancelling(0, 0)));
  CHECK(static_cast<float>(cancelling(0, 1)) == 1.0f);
  const auto up = adversarial<TestType>(Pattern::increasing, {1, 1000}, 1);
  for (std::int64_t col = 1; col < 1000; ++col)
    REQUIRE(static_cast<float>(up(0, col)) >= static_cast<float>(up(0, col - 1)));
}
