#include "grading/testing/compare.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "grading/facts/poison.hpp"
#include "support/catch.hpp"
#include "support/special_floats.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::kInfinity, course::test::kNaN;

namespace {

constexpr float kTiny = std::numeric_limits<float>::denorm_min();

Tensor<float> floats(std::vector<float> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Tensor<float>::from({n}, std::move(values));
}

/// Compares with an exact baseline, so that the floor alone decides.
Comparison against(std::vector<float> got, const std::vector<float>& expected, Bound bound = {}) {
  const Tensor<float> baseline = floats(expected);
  return compare(floats(std::move(got)), "c", baseline.to<double>(), baseline, bound);
}

}  // namespace

TEST_CASE("equal values pass, and an empty tensor does") {
  CHECK(against({1, 2, 3}, {1, 2, 3}).passed);
  CHECK(against({}, {}).passed);
}

TEST_CASE("a NaN passes only where one is expected") {
  CHECK_FALSE(against({1, kNaN}, {1, 2}).passed);
  CHECK_FALSE(against({1, 2}, {1, kNaN}).passed);
  CHECK_FALSE(against({1, kInfinity}, {1, kNaN}).passed);
  CHECK(against({1, kNaN}, {1, kNaN}).passed);
  CHECK_FALSE(against({kNaN, kNaN}, {0, 0}, {.factor = 1e30, .floor = 1e30}).passed);
}

TEST_CASE("a poison NaN is an element never written, even where a NaN is expected") {
  const Comparison result = against({poison<float>()}, {kNaN});
  CHECK_FALSE(result.passed);
  CHECK(result.message == "c[0] was never written; it should be NaN.");
}

TEST_CASE("infinities must be the same") {
  CHECK(against({kInfinity, -kInfinity}, {kInfinity, -kInfinity}).passed);
  CHECK_FALSE(against({kInfinity}, {-kInfinity}).passed);
  CHECK_FALSE(against({kInfinity}, {1}).passed);
  CHECK_FALSE(against({3e38f}, {kInfinity}).passed);
}

TEST_CASE("an expected value that overflows float32 counts as infinity") {
  const auto expected = Tensor<double>::from({2}, {1e39, -1e39});
  const Tensor<float> baseline = floats({kInfinity, -kInfinity});
  CHECK(compare(floats({kInfinity, -kInfinity}), "c", expected, baseline).passed);
  CHECK_FALSE(compare(floats({3.4e38f, -kInfinity}), "c", expected, baseline).passed);
}

TEST_CASE("zeros of both signs are equal, but not bit for bit") {
  CHECK(against({-0.0f}, {0.0f}).passed);
  CHECK_FALSE(compare_bits(floats({-0.0f}), floats({0.0f}), "c").passed);
}

TEST_CASE("the bound is twice the error of the baseline, and includes its end") {
  const auto expected = Tensor<double>::from({1}, {0.0});
  const Tensor<float> baseline =
      floats({0.25f});  // wrong by 0.25, so 0.5 is allowed; the scale is 0, so no floor
  CHECK(compare(floats({0.5f}), "c", expected, baseline).passed);
  CHECK(compare(floats({-0.5f}), "c", expected, baseline).passed);
  const Comparison over = compare(floats({std::nextafter(0.5f, 1.0f)}), "c", expected, baseline);
  CHECK_FALSE(over.passed);
  CHECK(over.allowed == 0.5);
}

TEST_CASE("the bound of one element comes from the worst element of the baseline") {
  const auto expected = Tensor<double>::from({2}, {0.0, 0.0});
  CHECK(compare(floats({0.5f, 0.0f}), "c", expected, floats({0.0f, 0.25f})).passed);
}

TEST_CASE("a baseline that overflows or is NaN does not widen the bound") {
  const auto expected = Tensor<double>::from({3}, {1.0, 1.0, 1.0});
  CHECK_FALSE(compare(floats({2, 1, 1}), "c", expected, floats({kInfinity, kNaN, 1})).passed);
}

TEST_CASE("the floor shrinks with the data") {
  CHECK(against({1.0f + 5e-8f}, {1.0f}).passed);
  CHECK_FALSE(against({1e-10f}, {2e-10f}).passed);
  CHECK(against({1.0000001f}, {1.0f}, {.factor = 2, .floor = 1e-6}).passed);
}

TEST_CASE("denormals are compared as the numbers that they are") {
  CHECK(against({kTiny, 3 * kTiny}, {kTiny, 3 * kTiny}).passed);
  CHECK_FALSE(against({0.0f, 3 * kTiny}, {kTiny, 3 * kTiny}).passed);
}

TEST_CASE("a wrong shape is told") {
  const Comparison result = compare(floats({1, 2}), "c", Tensor<double>({3}), Tensor<float>({3}));
  CHECK_FALSE(result.passed);
  CHECK(result.message == "c has shape (2), expected (3).");
}

TEST_CASE("a test whose reference and baseline differ in shape is a mistake in the test") {
  CHECK_THROWS_AS(compare(floats({1, 2}), "c", Tensor<double>({2}), Tensor<float>({3})),
                  std::invalid_argument);
}

TEST_CASE("the message names the first wrong element, the count and the pattern") {
  const Comparison result = against({1, 2, 9, 9}, {1, 2, 3, 4});
  CHECK(result.wrong.front() == 2);
  CHECK(result.wrong.size() == 2);
  CHECK(result.message == "c[2] is 9, expected 3. 2 of 4 elements are wrong: all from element 2 on.");
}

TEST_CASE("the message says by how much a nearly right value is off") {
  CHECK(against({1.00001f}, {1.0f}).message ==
        "c[0] is 1.00001, expected 1 (off by 1e-05; at most 1e-07 is allowed).");
  CHECK(compare(floats({9.0f}), "c", floats({9.01f}).to<double>(), floats({9.01f}), Bound{.floor = 0})
            .message == "c[0] is 9, expected 9.01000023 (off by 0.01).");
}

TEST_CASE("the message names what wrong elements have in common") {
  const float unwritten = poison<float>();
  CHECK_THAT(against({0, 0, 0}, {1, 2, 3}).message, ContainsSubstring("All of them are 0."));
  CHECK_THAT(against({kNaN, kNaN, 3}, {1, 2, 3}).message, ContainsSubstring("All of them are NaN."));
  CHECK(against({unwritten, unwritten}, {1, 2}).message ==
        "c[0] was never written; it should be 1. 2 of 2 elements were never written.");
  CHECK(against({1, 2, unwritten, unwritten}, {1, 2, 3, 4}).message ==
        "c[2] was never written; it should be 3. 2 of 4 elements were never written: all from element 2 on.");
  CHECK(
      against({9, unwritten, 3}, {1, 2, 3}).message ==
      "c[0] is 9, expected 1. 2 of 3 elements are wrong: the first 2 elements. 1 of them was never written.");
  CHECK(against({unwritten, 9, unwritten}, {1, 2, 3}).message ==
        "c[0] was never written; it should be 1. 3 of 3 elements are wrong. 2 of them were never written.");
}

TEST_CASE("a single wrong element needs no pattern") {
  CHECK(against({1, 9, 3}, {1, 2, 3}).message == "c[1] is 9, expected 2. The other 2 elements are right.");
  CHECK(against({9, 2}, {1, 2}).message == "c[0] is 9, expected 1. The other element is right.");
  CHECK(against({1, 2, poison<float>()}, {1, 2, 3}).message ==
        "c[2] was never written; it should be 3. The other 2 elements are right.");
}

TEST_CASE("indices in the message are those of the shape, whatever the strides") {
  const auto values = Tensor<float>::from({2, 3}, {0, 1, 2, 3, 4, 9});
  const auto expected = Tensor<double>::from({2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK_THAT(compare(values, "y", expected, expected.to<float>()).message,
             ContainsSubstring("y[1, 2] is 9, expected 5"));

  Tensor<float> strided({2, 3}, {4, 1}, 0.0f);
  for (std::int64_t i = 0; i < 6; ++i) strided.at_linear(i) = static_cast<float>(i);
  CHECK(compare(strided, "y", expected, expected.to<float>()).passed);
}

TEST_CASE("bits are compared exactly, NaNs included") {
  CHECK(compare_bits(floats({kNaN, 1}), floats({kNaN, 1}), "c").passed);
  const Comparison result = compare_bits(floats({1.0f, 1.00000012f}), floats({1.0f, 1.0f}), "c");
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.message, ContainsSubstring("c[1] is 1.0000001, expected 1, bit for bit."));
  CHECK(compare_bits(Tensor<std::int32_t>::from({2}, {1, 2}), Tensor<std::int32_t>::from({2}, {1, 2}), "i")
            .passed);
}

namespace {

template <class T>
Tensor<T> sixteen(const std::vector<double>& values) {
  Tensor<T> x({static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) x.at_linear(static_cast<std::int64_t>(i)) = T(values[i]);
  return x;
}

/// Compares numbers of 16 bits with an exact baseline in float32.
template <class T>
Comparison against_16(const std::vector<double>& got, const std::vector<double>& expected, Bound bound = {}) {
  const auto n = static_cast<std::int64_t>(expected.size());
  const auto want = Tensor<double>::from({n}, expected);
  return compare(sixteen<T>(got), "O", want, want.to<float>(), std::move(bound));
}

constexpr double kStepOf1[] = {0x1p-7, 0x1p-10};  // of bfloat16 and float16

}  // namespace

TEMPLATE_TEST_CASE("a result of 16 bits may be off by half a step of its own, in each element", "", bfloat16,
                   float16) {
  const double step = kStepOf1[std::is_same_v<TestType, float16> ? 1 : 0];
  CHECK(against_16<TestType>({1, 100}, {1 + 0.5 * step, 100}).passed);
  const Comparison off = against_16<TestType>({1, 100}, {1 + 0.51 * step, 100});
  CHECK_FALSE(off.passed);  // though 100 might be off by more
  CHECK(off.wrong == std::vector<std::int64_t>{0});
  CHECK(off.allowed >= 32 * step);
  CHECK(off.values.allowed < 0.501 * step);
}

TEMPLATE_TEST_CASE("what the next power of 2 rounds to is right", "", bfloat16, float16) {
  // 2 - 1e-7 in float64 is 2 + 1e-7 in a right kernel whose baseline is off by as much.
  const auto expected = Tensor<double>::from({1}, {2 - 1e-6});
  const auto baseline = Tensor<float>::from({1}, {2.0f});
  CHECK(compare(sixteen<TestType>({2}), "O", expected, baseline).passed);
}

TEST_CASE("rounding on the way widens the bound of its element alone") {
  const auto rounding = Tensor<double>::from({2}, {0.1, 0});
  CHECK(against_16<float16>({1.1, 2}, {1, 2}, {.rounding = rounding}).passed);
  CHECK_FALSE(against_16<float16>({1, 2.1}, {1, 2}, {.rounding = rounding}).passed);
  const auto expected = Tensor<double>::from({2}, {1, 2});
  CHECK(compare(floats({1.09f, 2}), "c", expected, floats({1, 2}), {.rounding = rounding}).passed);
  CHECK_THROWS_AS(compare(floats({1, 2}), "c", expected, floats({1, 2}), {.rounding = Tensor<double>({3})}),
                  std::invalid_argument);
}

TEST_CASE("the message prints 16 bits with as many digits as they have") {
  CHECK(against_16<bfloat16>({0.1, 1}, {0.25, 1}).message ==
        "O[0] is 0.1, expected 0.25. The other element is right.");
  CHECK(against_16<bfloat16>({1, 2}, {1.0078125 + 1e-4, 2}).message ==
        "O[0] is 1, expected 1.0079 (off by 0.0079; at most 0.0039 is allowed). The other element is right.");
  CHECK(against_16<float16>({1.2, 1}, {1.2056789, 1}).message ==
        "O[0] is 1.2, expected 1.20568 (off by 0.0055; at most 0.00049 is allowed). The other element is "
        "right.");
  CHECK(compare_bits(sixteen<bfloat16>({0.1, 3.14}), sixteen<bfloat16>({0.1, 3.16}), "O").message ==
        "O[1] is 3.14, expected 3.16, bit for bit. The other element is right.");
}

TEMPLATE_TEST_CASE("NaN, infinities and elements never written are told of 16 bits, too", "", bfloat16,
                   float16) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(against_16<TestType>({nan, inf, -inf}, {nan, inf, -inf}).passed);
  CHECK(against_16<TestType>({nan, 1}, {1, 1}).message ==
        "O[0] is NaN, expected 1. The other element is right.");
  CHECK(against_16<TestType>({-inf, 1}, {1, 1}).message ==
        "O[0] is -inf, expected 1. The other element is right.");
  Tensor<TestType> unwritten = sixteen<TestType>({1, 2, 3});
  unwritten(1) = poison<TestType>();
  const auto expected = Tensor<double>::from({3}, {1, 2, 3});
  const Comparison result = compare(unwritten, "O", expected, expected.to<float>());
  CHECK(result.message == "O[1] was never written; it should be 2. The other 2 elements are right.");
  CHECK(result.values.unwritten == 1);
  unwritten(1) = TestType(nan);
  CHECK(compare(unwritten, "O", expected, expected.to<float>()).values.unwritten == 0);
  CHECK_FALSE(compare_bits(unwritten, sixteen<TestType>({1, 2, 3}), "O").passed);
}

TEST_CASE("what float16 cannot hold is infinite") {
  CHECK(against_16<float16>({1e5}, {1e5}).passed);
  CHECK_FALSE(against_16<float16>({65504}, {1e5}).passed);
  CHECK(against_16<bfloat16>({1e5}, {1e5}).passed);
}

TEMPLATE_TEST_CASE("widened numbers are the same, and what was never written stays so", "", bfloat16,
                   float16) {
  Tensor<TestType> x({2, 3}, {5, 1}, TestType(0.1f));
  x(1, 1) = poison<TestType>();
  const Tensor<float> wide = widened(x);
  CHECK(wide.strides() == x.strides());
  CHECK(wide(0, 2) == static_cast<float>(TestType(0.1f)));
  CHECK(is_poison(wide(1, 1)));
  CHECK(is_poison(narrowed<TestType>(wide)(1, 1)));
  CHECK(narrowed<TestType>(wide)(0, 2) == x(0, 2));
}
