#include "grading/testing/mistakes.hpp"

#include <limits>
#include <string>
#include <vector>

#include "grading/facts/cause.hpp"
#include "grading/facts/poison.hpp"
#include "support/catch.hpp"
#include "support/special_floats.hpp"

using namespace course;
using namespace course::grading;
using course::test::kNaN;

namespace {

/// Names the one mistake that explains `got`, with a bound of 1e-6; empty if none does.
std::string explained(const Mistakes& mistakes, const Tensor<float>& got, const Tensor<double>& expected) {
  Tensor<float> baseline(expected.shape());
  for (std::int64_t i = 0; i < baseline.numel(); ++i)
    baseline.at_linear(i) = static_cast<float>(expected.at_linear(i));
  const Comparison comparison = compare(got, "y", expected, baseline, {.factor = 0, .floor = 1e-6});
  REQUIRE_FALSE(comparison.passed);
  CaseResult result;
  result.failures = {comparison.failure()};
  result.failures[0].attempts = try_mistakes(mistakes, {got, expected, comparison});
  const std::vector<std::string> alone = sole_explanations(result);
  return alone.empty() ? "" : alone[0] + ": " + *result.failures[0].explanation(alone[0]);
}

Tensor<float> singles(std::vector<float> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Tensor<float>::from({n}, std::move(values));
}
Tensor<double> doubles(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Tensor<double>::from({n}, std::move(values));
}

const Tensor<double> kExpected = doubles({1, 2, 3, 4});

Mistake gives_these(std::vector<double> values) {
  return gives(
      "these", [values] { return doubles(values); }, "They are these.");
}

bool is_odd(const Index& index) { return index[0] % 2 == 1; }

}  // namespace

TEST_CASE("a wrong reference explains what it gives, within the bound", "[grading][mistakes]") {
  const Mistakes mistakes{gives_these({1, 2, 0, 0})};
  CHECK(explained(mistakes, singles({1, 2, 0, 0}), kExpected) == "these: They are these.");
  CHECK(explained(mistakes, singles({1, 2, 0, 5e-7F}), kExpected) == "these: They are these.");
  CHECK(explained(mistakes, singles({1, 2, 0, 5e-6F}), kExpected).empty());
}

TEST_CASE("the bound grows with numbers that are larger than the right ones", "[grading][mistakes]") {
  const Mistakes mistakes{gives_these({1000, 2000, 3000, 4000})};
  CHECK_FALSE(explained(mistakes, singles({1000, 2000, 3000, 4000.0004F}), kExpected).empty());
  CHECK(explained(mistakes, singles({1000, 2000, 3000, 4000.01F}), kExpected).empty());
}

TEST_CASE("a NaN that the mistake gives is explained, an element never written is not",
          "[grading][mistakes]") {
  const Mistakes mistakes{gives_these({1, 2, 3, std::numeric_limits<double>::quiet_NaN()})};
  CHECK_FALSE(explained(mistakes, singles({1, 2, 3, kNaN}), kExpected).empty());
  CHECK(explained(mistakes, singles({1, 2, 3, poison<float>()}), kExpected).empty());
}

TEST_CASE("a mistake that makes no difference on this data explains nothing", "[grading][mistakes]") {
  CHECK(explained({gives_these({1, 2, 3, 4})}, singles({1, 2, 3, 4.0000015F}), kExpected).empty());
}

TEST_CASE("a wrong reference of another shape is a mistake of the test", "[grading][mistakes]") {
  CHECK_THROWS_AS(explained({gives_these({1, 2})}, singles({1, 2, 0, 0}), kExpected), std::invalid_argument);
}

TEST_CASE("a pattern fits if exactly its elements are wrong", "[grading][mistakes]") {
  const Mistakes mistakes{wrong_where("odd", is_odd, "Odd.")};
  CHECK(explained(mistakes, singles({1, 9, 3, kNaN}), kExpected) == "odd: Odd.");
  CHECK(explained(mistakes, singles({1, 9, 3, poison<float>()}), kExpected) == "odd: Odd.");
  CHECK(explained(mistakes, singles({1, 9, 3, 4}), kExpected).empty());
  CHECK(explained(mistakes, singles({9, 9, 3, 9}), kExpected).empty());
}

TEST_CASE("a pattern of all elements tells nothing", "[grading][mistakes]") {
  const Mistakes mistakes{wrong_where(
      "all", [](const Index&) { return true; }, "All.")};
  CHECK(explained(mistakes, singles({9, 9, 9, 9}), kExpected).empty());
}

TEST_CASE("a pattern of NaN fits only NaN that somebody wrote", "[grading][mistakes]") {
  const Mistakes mistakes{nan_where("odd", is_odd, "Odd.")};
  CHECK_FALSE(explained(mistakes, singles({1, kNaN, 3, kNaN}), kExpected).empty());
  CHECK(explained(mistakes, singles({1, kNaN, 3, 9}), kExpected).empty());
  CHECK(explained(mistakes, singles({1, poison<float>(), 3, kNaN}), kExpected).empty());
}

TEST_CASE("a pattern of what is missing fits no numbers", "[grading][mistakes]") {
  const Mistakes mistakes{unwritten_where("odd", is_odd, "Odd.")};
  const float nothing = poison<float>();
  CHECK_FALSE(explained(mistakes, singles({1, nothing, 3, nothing}), kExpected).empty());
  CHECK(explained(mistakes, singles({1, nothing, 3, 9}), kExpected).empty());
  CHECK(explained(mistakes, singles({1, nothing, 9, nothing}), kExpected).empty());
}

TEST_CASE("a common factor is found and told", "[grading][mistakes]") {
  const Mistakes mistakes{off_by_a_factor("scaled", "All are {} times too large.")};
  CHECK(explained(mistakes, singles({2.5F, 5, 7.5F, 10}), kExpected) ==
        "scaled: All are 2.5 times too large.");
  CHECK(explained(mistakes, singles({2.5F, 5, 7.5F, 11}), kExpected).empty());
  CHECK(explained(mistakes, singles({0, 0, 0, 0}), kExpected).empty());
}

TEST_CASE("a factor of two numbers, or of numbers all alike, may be chance", "[grading][mistakes]") {
  const Mistakes mistakes{off_by_a_factor("scaled", "{} times.")};
  CHECK(explained(mistakes, singles({2, 4}), doubles({1, 2})).empty());
  CHECK(explained(mistakes, singles({2, 2, 2, 2}), doubles({1, 1, 1, 1})).empty());
}

TEST_CASE("a predicate sees the result", "[grading][mistakes]") {
  const Mistakes mistakes{shows(
      "falling", [](const Tensor<float>& got) { return got(0) > got(3); }, "It falls.")};
  CHECK_FALSE(explained(mistakes, singles({4, 3, 2, 1}), kExpected).empty());
  CHECK(explained(mistakes, singles({0, 3, 2, 1}), kExpected).empty());
}

TEST_CASE("if two mistakes fit, neither is told", "[grading][mistakes]") {
  const Tensor<float> got = singles({1, 0, 3, 0});
  const Mistake zeros = gives_these({1, 0, 3, 0}), odd = wrong_where("odd", is_odd, "Odd.");
  CHECK_FALSE(explained({zeros}, got, kExpected).empty());
  CHECK_FALSE(explained({odd}, got, kExpected).empty());
  CHECK(explained({zeros, odd}, got, kExpected).empty());
}
