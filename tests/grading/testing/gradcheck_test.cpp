#include "grading/testing/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "grading/facts/poison.hpp"
#include "reference/attention_gradients.hpp"
#include "reference/matmul.hpp"
#include "reference/softmax.hpp"
#include "support/catch.hpp"
#include "support/special_floats.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::kInfinity, course::test::kNaN;

namespace {

/// Σ weight ∘ x.
double weighed(const Tensor<float>& weight, const Tensor<double>& x) {
  double sum = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i)
    sum += static_cast<double>(weight.at_linear(i)) * x.at_linear(i);
  return sum;
}

double largest_difference(const Tensor<double>& a, const Tensor<double>& b) {
  REQUIRE(a.shape() == b.shape());
  double largest = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i)
    largest = std::max(largest, std::abs(a.at_linear(i) - b.at_linear(i)));
  return largest;
}

}  // namespace

TEST_CASE("differences of a quadratic are exact") {
  auto x = Tensor<float>::from({5}, {-2.5f, 0.0f, 0.125f, 1.0f, 3.0f});
  const Loss loss = [&] {
    double sum = 0;
    for (const float value : x.storage()) sum += static_cast<double>(value) * static_cast<double>(value) / 4;
    return sum;
  };
  const Tensor<double> gradient = central_differences(x, loss);
  for (std::int64_t i = 0; i < 5; ++i) CHECK(gradient(i) == static_cast<double>(x(i)) / 2);
}

TEST_CASE("differences of exp err by the third derivative, and less with a smaller step") {
  auto x = Tensor<float>::from({3}, {-1.0f, 0.3f, 1.0f});
  const Loss loss = [&] {
    double sum = 0;
    for (const float value : x.storage()) sum += std::exp(static_cast<double>(value));
    return sum;
  };
  for (const double step : {0x1p-6, 0x1p-10, 0x1p-13}) {
    INFO("step " << step);
    const Tensor<double> gradient = central_differences(x, loss, step);
    for (std::int64_t i = 0; i < 3; ++i) {
      const double exact = std::exp(static_cast<double>(x(i)));
      const double error = std::abs(gradient(i) - exact);
      CHECK(error <= 1.1 * step * step / 6 * exact + 1e-7 * exact);  // and the midpoint's rounding
      if (step > 0x1p-8) CHECK(error >= 0.9 * step * step / 6 * exact);
    }
  }
}

TEST_CASE("the step follows the size of an element") {
  auto x = Tensor<float>::from({2}, {3e30f, -5e6f});
  const Loss loss = [&] { return 2.0 * static_cast<double>(x(0)) / 1e30 - 3.0 * static_cast<double>(x(1)); };
  const Tensor<double> gradient = central_differences(x, loss);
  CHECK(std::abs(gradient(0) * 1e30 - 2.0) < 1e-6);
  CHECK(std::abs(gradient(1) + 3.0) < 1e-6);
}

TEST_CASE("every element of a strided tensor is changed once up and down, and nothing else") {
  Tensor<float> x({2, 3}, {8, 2}, 7.0f);
  for (std::int64_t i = 0; i < 6; ++i) x.at_linear(i) = static_cast<float>(i) / 3;
  const Tensor<float> before = x;
  int calls = 0;
  const Loss loss = [&] {
    ++calls;
    int changed = 0;
    double sum = 0;
    for (std::size_t i = 0; i < x.storage().size(); ++i) changed += x.storage()[i] != before.storage()[i];
    for (std::int64_t i = 0; i < 6; ++i)
      sum += static_cast<double>(i + 1) * static_cast<double>(x.at_linear(i));
    CHECK(changed == 1);
    return sum;
  };
  const Tensor<double> gradient = central_differences(x, loss);
  CHECK(calls == 12);
  CHECK(gradient.shape() == x.shape());
  CHECK(gradient.is_contiguous());
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(std::abs(gradient.at_linear(i) - static_cast<double>(i + 1)) < 1e-9);
  CHECK(std::equal(x.storage().begin(), x.storage().end(), before.storage().begin()));
}

TEST_CASE("an element gets its value back when the loss throws") {
  auto x = Tensor<float>::from({2}, {0.1f, 0.2f});
  CHECK_THROWS_AS(central_differences(x, []() -> double { throw std::logic_error("no"); }), std::logic_error);
  CHECK(x(0) == 0.1f);
}

TEST_CASE("where there are no differences, the element is named") {
  auto x = Tensor<float>::from({1, 3}, {1.0f, 2.0f, kNaN});
  const Loss sum = [&] { return static_cast<double>(x(0, 0)); };
  CHECK_THROWS_WITH(central_differences(x, sum), ContainsSubstring("x[0, 2] is nan"));
  x(0, 2) = std::numeric_limits<float>::max();
  CHECK_THROWS_AS(central_differences(x, sum), std::invalid_argument);
  x(0, 2) = kInfinity;
  CHECK_THROWS_AS(central_differences(x, sum), std::invalid_argument);
  x(0, 2) = 0;
  CHECK_NOTHROW(central_differences(x, sum));
  for (const double step : {0.0, -0.5, static_cast<double>(kNaN), static_cast<double>(kInfinity)})
    CHECK_THROWS_WITH(central_differences(x, sum, step), ContainsSubstring("step is "));
  CHECK_THROWS_AS(central_differences(x, sum, 1e-12), std::invalid_argument);  // x + h is x
  const Loss root = [&] { return std::sqrt(static_cast<double>(x(0, 2))); };
  CHECK_THROWS_AS(central_differences(x, root), std::domain_error);
}

TEST_CASE("differences agree with the gradients of matmul and softmax") {
  Tensor<float> A = normal({2, 3}, 1), B = normal({3, 2}, 2);
  const Tensor<float> dC = normal({2, 2}, 3), dP = normal({2, 3}, 4);
  const Tensor<double> dA = central_differences(A, [&] { return weighed(dC, reference::matmul(A, B)); });
  CHECK(largest_difference(dA, reference::matmul(dC, B.transposed(0, 1))) < 1e-7);
  const Tensor<double> dx = central_differences(A, [&] { return weighed(dP, reference::softmax(A)); });
  const Tensor<double> P = reference::softmax(A);
  for (std::int64_t row = 0; row < 2; ++row) {
    double dot = 0;
    for (std::int64_t j = 0; j < 3; ++j) dot += P(row, j) * static_cast<double>(dP(row, j));
    for (std::int64_t j = 0; j < 3; ++j)
      CHECK(std::abs(dx(row, j) - P(row, j) * (static_cast<double>(dP(row, j)) - dot)) < 1e-7);
  }
}

TEST_CASE("differences agree with the gradients of attention, with a mask, a sink and grouped heads") {
  Tensor<float> Q = normal({1, 2, 3, 4}, 1), K = normal({1, 1, 5, 4}, 2), V = normal({1, 1, 5, 4}, 3);
  Tensor<float> sink = normal({2}, 4);
  const Tensor<float> dO = normal({1, 2, 3, 4}, 5);
  const reference::Mask mask{.causal = true, .window = 3, .sinks = 1};
  const Loss loss = [&] { return weighed(dO, reference::attention(Q, K, V, 0.5, mask, &sink).O); };
  const auto exact = reference::attention_gradients(Q, K, V, dO, 0.5, mask, &sink);
  CHECK(largest_difference(central_differences(Q, loss), exact.dQ) < 1e-7);
  CHECK(largest_difference(central_differences(K, loss), exact.dK) < 1e-7);
  CHECK(largest_difference(central_differences(V, loss), exact.dV) < 1e-7);
  CHECK(largest_difference(central_differences(sink, loss), exact.dsink) < 1e-7);
}

TEST_CASE("a gradient is right within a part of its largest element") {
  const auto expected = Tensor<double>::from({3}, {0.0, -200.0, 1.0});
  GradientResult result = compare_gradient("dx", Tensor<float>::from({3}, {0.19f, -200.0f, 1.0f}), expected);
  CHECK(result.passed());
  CHECK(std::abs(result.allowed - 0.20001) < 1e-12);
  CHECK(result.message() == "dx is right: 3 elements, at most 1.9e-01 from central differences.");
  result = compare_gradient("dx", Tensor<float>::from({3}, {0.21f, -200.0f, 1.0f}), expected);
  CHECK_FALSE(result.passed());
  CHECK(compare_gradient("dx", Tensor<float>::from({3}, {0.05f, -200.0f, 1.0f}), expected, {1e-4, 0}).wrong ==
        1);
  CHECK(compare_gradient("dx", Tensor<float>({2}, 9e-6f), Tensor<double>({2})).passed());
  CHECK(compare_gradient("dx", Tensor<float>({2}, 2e-5f), Tensor<double>({2})).wrong == 2);
}

TEST_CASE("a wrong gradient is named with the element that is wrong most") {
  const Tensor<double> expected({2, 3}, 1.0);
  Tensor<float> got({2, 3}, 1.0f);
  got(1, 0) = 1.25f;
  got(1, 1) = got(1, 2) = 1.5f;
  const GradientResult result = compare_gradient("dQ", got, expected);
  CHECK(result.worst == std::vector<std::int64_t>{1, 1});
  CHECK(result.wrong == 3);
  CHECK(result.total == 6);
  CHECK(result.largest == 0.5);
  CHECK(result.message() ==
        "dQ is wrong: dQ[1, 1] is 1.5, but central differences give 1, which is 0.5 away; 0.001 is allowed. "
        "3 of 6 elements are wrong: row 1 of 2.");
  got = Tensor<float>({2, 3}, 1.0f);
  got(0, 2) = -1;
  CHECK_THAT(compare_gradient("dQ", got, expected).message(),
             ContainsSubstring("the only one that is wrong."));
}

TEST_CASE("NaN and infinities are wrong, and wrong most") {
  for (const float value : {kNaN, kInfinity, -kInfinity}) {
    Tensor<float> got({4}, 1.0f);
    got(1) = 900;
    got(2) = value;
    const GradientResult result = compare_gradient("dK", got, Tensor<double>({4}, 1.0));
    CHECK(result.wrong == 2);
    CHECK(result.unwritten == 0);
    CHECK(result.worst == std::vector<std::int64_t>{2});
    CHECK_THAT(result.message(), ContainsSubstring(value != value ? "dK[2] is NaN, but" : "inf, but"));
  }
}

TEST_CASE("elements that were never written are wrong, and said to be") {
  Tensor<float> got({4}, 1.0f);
  got(3) = poison<float>();
  const Tensor<double> expected({4}, 1.0);
  GradientResult result = compare_gradient("dV", got, expected);
  CHECK(result.unwritten == 1);
  CHECK_THAT(result.message(), ContainsSubstring("dV[3] was never written; central differences give 1."));
  got(0) = 2;
  result = compare_gradient("dV", got, expected);
  CHECK_THAT(result.message(), ContainsSubstring("2 of 4 elements are wrong, 1 of them never written:"));
  got = Tensor<float>({4}, poison<float>());
  result = compare_gradient("dV", got, expected);
  CHECK_THAT(result.message(), ContainsSubstring("4 of 4 elements were never written: all of them."));
}

TEST_CASE("a comparison of strided gradients pairs elements by their index") {
  const Tensor<float> got = Tensor<float>::from({2, 3}, {1, 2, 3, 4, 5, 6}).transposed(0, 1);
  const auto expected = Tensor<double>::from({3, 2}, {1, 4, 2, 5, 3, 6});
  CHECK(compare_gradient("dx", got, expected).passed());
}

TEST_CASE("mistakes in a test of gradients are errors, not verdicts") {
  const Tensor<float> got({4}, 1.0f);
  CHECK_THROWS_AS(compare_gradient("dx", got, Tensor<double>({2, 2}, 1.0)), std::invalid_argument);
  Tensor<double> expected({4}, 1.0);
  expected(2) = static_cast<double>(kNaN);
  CHECK_THROWS_WITH(compare_gradient("dx", got, expected), ContainsSubstring("dx are not finite"));
}

TEST_CASE("an empty gradient is no mistake") {
  Tensor<float> empty({0, 3});
  const GradientResult result = check_gradient("dx", empty, empty, [] { return 1.0; });
  CHECK(result.passed());
  CHECK(result.message() == "dx has no elements.");
}

TEST_CASE("of a large gradient some elements are compared, the first and the last among them") {
  Tensor<float> x({40, 50}, 1.0f);
  Random random(7);
  const Elements chosen = choose_elements(x, 100, random);
  CHECK(chosen.size() == 100);
  CHECK(chosen.front() == 0);
  CHECK(chosen.back() == 1999);
  CHECK(std::is_sorted(chosen.begin(), chosen.end()));
  CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
  x(3, 7) = kNaN;
  x(9, 9) = poison<float>();
  const Elements with_bad = choose_elements(x, 100, random);
  for (const std::int64_t bad : {157, 459})
    CHECK(std::find(with_bad.begin(), with_bad.end(), bad) != with_bad.end());
  CHECK(choose_elements(x, 2000, random).size() == 2000);
  CHECK(choose_elements(Tensor<float>({0}), 100, random).empty());
}

TEST_CASE("a comparison of some elements says how many, and not where the wrong ones lie") {
  Tensor<float> x({30, 10}, 2.0f), got({30, 10}, 4.0f);
  const auto loss = [&] { return weighed(x, x.to<double>()); };
  Elements some;
  for (std::int64_t i = 0; i < 300; i += 3) some.push_back(i);
  CHECK_THAT(check_gradient_at(some, "dx", got, x, loss).message(),
             ContainsSubstring("dx is right: 100 of 300 elements, at most"));
  got(0, 3) = 5;
  const GradientResult wrong = check_gradient_at(some, "dx", got, x, loss);
  CHECK(wrong.wrong == 1);
  CHECK_THAT(wrong.message(), ContainsSubstring("dx[0, 3] is 5") &&
                                  ContainsSubstring("1 of 100 elements that were compared is wrong."));
  got(0, 1) = 5;  // is not looked at
  CHECK(check_gradient_at(some, "dx", got, x, loss).wrong == 1);
}

TEST_CASE("a gradient that is 0 everywhere is said to be, and not to be right") {
  const GradientResult result = compare_gradient("dQ", Tensor<float>({2, 3}), Tensor<double>({2, 3}));
  CHECK(result.passed());
  CHECK(result.all_zero);
  CHECK(result.message() ==
        "dQ is 0 everywhere, as it should be here (6 elements): this case says little about it.");
  CHECK_FALSE(compare_gradient("dQ", Tensor<float>({2, 3}), Tensor<double>({2, 3}, 1.0)).all_zero);
}

TEMPLATE_TEST_CASE("a gradient of 16 bits may be off by what its roundings cost, and by no more", "",
                   bfloat16, float16) {
  Tensor<float> x = normal({4, 5}, 3);
  const Tensor<float> weight = normal({4, 5}, 4);
  const Loss loss = [&] { return weighed(weight, x.to<double>()); };  // whose gradient is the weight
  const GradientBound bound = GradientBound::of(format_of<TestType>);
  CHECK(check_gradient("dX", widened(weight.to<TestType>()), x, loss, bound).passed());
  Tensor<TestType> wrong = weight.to<TestType>();
  wrong(1, 2) = TestType(static_cast<float>(weight(1, 2)) + 0.1f);
  const GradientResult result = check_gradient("dX", widened(wrong), x, loss, bound);
  CHECK(result.wrong == 1);
  wrong(1, 2) = TestType(5.1f);
  CHECK_THAT(check_gradient("dX", widened(wrong), x, loss, bound).message(),
             ContainsSubstring("dX[1, 2] is 5.1, but central differences give"));
  wrong(1, 2) = poison<TestType>();
  CHECK_THAT(check_gradient("dX", widened(wrong), x, loss, bound).message(),
             ContainsSubstring("dX[1, 2] was never written"));
}
