#include "reference/row_stats.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/special_floats.hpp"

using namespace course;
using course::test::kInfinity, course::test::kNaN;

namespace {}  // namespace

TEST_CASE("the reference has the maximum of each row, and the sum relative to it") {
  Tensor<float> x({2, 4}, {6, 1}, 1e9f);
  const float values[] = {3, 2, 5, 1, -1000, -1000, -1000, -1000};
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = values[i];

  const reference::RowStats stats = reference::row_stats(x);

  REQUIRE(stats.max.shape() == Shape{2});
  CHECK(stats.max(0) == 5.0);
  CHECK(std::abs(stats.sum(0) - 1.2034379905) < 1e-9);
  CHECK(stats.max(1) == -1000.0);
  CHECK(stats.sum(1) == 4.0);
}

TEST_CASE("the reference passes over -inf, down to rows of nothing else") {
  const auto x = Tensor<float>::from({2, 3}, {-kInfinity, 2.0f, 2.0f, -kInfinity, -kInfinity, -kInfinity});
  const reference::RowStats stats = reference::row_stats(x);
  CHECK(stats.max(0) == 2.0);
  CHECK(stats.sum(0) == 2.0);
  CHECK(stats.max(1) == -std::numeric_limits<double>::infinity());
  CHECK(stats.sum(1) == 0.0);

  const reference::RowStats none = reference::row_stats(Tensor<float>({1, 0}));
  CHECK(none.max(0) == -std::numeric_limits<double>::infinity());
  CHECK(none.sum(0) == 0.0);
}

TEST_CASE("the reference makes the sum NaN where a row has NaN or +inf") {
  const reference::RowStats stats =
      reference::row_stats(Tensor<float>::from({3, 2}, {kNaN, 1.0f, kInfinity, 1.0f, 1.0f, 1.0f}));
  CHECK(std::isnan(stats.sum(0)));
  CHECK(std::isnan(stats.sum(1)));
  CHECK(stats.max(1) == std::numeric_limits<double>::infinity());
  CHECK(stats.sum(2) == 2.0);
}

TEST_CASE("the reference of row statistics refuses what is no matrix") {
  REQUIRE_THROWS_AS(reference::row_stats(Tensor<float>({3})), std::invalid_argument);
}
