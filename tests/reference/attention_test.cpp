#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "reference/attention_gradients.hpp"
#include "support/catch.hpp"
#include "support/special_floats.hpp"
#include "tensor/random.hpp"

using namespace course;
using course::test::kInfinity, course::test::kNaN;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-14 * std::max(1.0, std::abs(b)); }

/// One head of normally distributed Q, K and V.
struct Inputs {
  Tensor<float> Q, K, V;
};
Inputs inputs(std::int64_t B, std::int64_t H, std::int64_t Nq, std::int64_t Nk, std::int64_t D) {
  return {normal({B, H, Nq, D}, 1), normal({B, H, Nk, D}, 2), normal({B, H, Nk, D}, 3)};
}

}  // namespace

TEST_CASE("the attention reference weighs three values as by hand") {
  // Scores 0, ln 2 and ln 5 have the weights 1/8, 2/8 and 5/8.
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  const auto Q = Tensor<float>::from({1, 1, 1, 2}, {2.0f, 4.0f});
  const auto K = Tensor<float>::from(
      {1, 1, 3, 2}, {0.0f, 0.0f, static_cast<float>(ln2), 0.0f, 0.0f, static_cast<float>(ln5 / 2)});
  const auto V = Tensor<float>::from({1, 1, 3, 2}, {8.0f, 0.0f, 16.0f, 8.0f, 0.0f, -8.0f});

  const reference::Attention a = reference::attention(Q, K, V, 0.5);

  REQUIRE(a.S.shape() == Shape{1, 1, 1, 3});
  REQUIRE(a.P.shape() == Shape{1, 1, 1, 3});
  REQUIRE(a.O.shape() == Shape{1, 1, 1, 2});
  REQUIRE(a.lse.shape() == Shape{1, 1, 1});
  CHECK(a.S(0, 0, 0, 0) == 0.0);
  CHECK(a.S(0, 0, 0, 1) == Approx(ln2).epsilon(1e-7));  // K is float32
  CHECK(a.S(0, 0, 0, 2) == Approx(ln5).epsilon(1e-7));
  CHECK(a.P(0, 0, 0, 0) == Approx(0.125).epsilon(1e-6));
  CHECK(a.P(0, 0, 0, 1) == Approx(0.25).epsilon(1e-6));
  CHECK(a.P(0, 0, 0, 2) == Approx(0.625).epsilon(1e-6));
  CHECK(a.O(0, 0, 0, 0) == Approx(5.0).epsilon(1e-6));   // 1 + 4 + 0
  CHECK(a.O(0, 0, 0, 1) == Approx(-3.0).epsilon(1e-6));  // 0 + 2 - 5
  CHECK(a.lse(0, 0, 0) == Approx(std::log(8.0)).epsilon(1e-7));
}

TEST_CASE("the attention reference gives weights that add up to 1, and lse = log of their common divisor") {
  const Inputs x = inputs(2, 3, 5, 7, 4);
  const reference::Attention a = reference::attention(x.Q, x.K, x.V, 0.5);
  for (std::int64_t row = 0; row < 2 * 3 * 5; ++row) {
    double sum = 0;
    for (std::int64_t j = 0; j < 7; ++j) {
      const double weight = a.P.at_linear(row * 7 + j);
      sum += weight;
      CHECK(near(weight, std::exp(a.S.at_linear(row * 7 + j) - a.lse.at_linear(row))));
    }
    CHECK(near(sum, 1));
  }
}

TEST_CASE(
    "the attention reference gives the mean of V where all keys are equal, and the value of the only key") {
  Inputs x = inputs(1, 2, 3, 4, 5);
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t j = 1; j < 4; ++j)
      for (std::int64_t d = 0; d < 5; ++d) x.K(0, h, j, d) = x.K(0, h, 0, d);
  const reference::Attention a = reference::attention(x.Q, x.K, x.V, 1.0);
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t d = 0; d < 5; ++d) {
        double sum = 0;
        for (std::int64_t j = 0; j < 4; ++j) sum += static_cast<double>(x.V(0, h, j, d));
        CHECK(near(a.O(0, h, i, d), sum / 4));
      }

  const Inputs one = inputs(1, 1, 3, 1, 5);
  const reference::Attention b = reference::attention(one.Q, one.K, one.V, 1.0);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t d = 0; d < 5; ++d) CHECK(b.O(0, 0, i, d) == static_cast<double>(one.V(0, 0, 0, d)));
}

TEST_CASE("the attention reference does not change when one vector is added to all keys") {
  Inputs x = inputs(1, 1, 4, 6, 3);
  const reference::Attention before = reference::attention(x.Q, x.K, x.V, 1.0);
  for (std::int64_t j = 0; j < 6; ++j)
    for (std::int64_t d = 0; d < 3; ++d) x.K(0, 0, j, d) = std::round(x.K(0, 0, j, d) * 1024) / 1024;
  const reference::Attention rounded = reference::attention(x.Q, x.K, x.V, 1.0);
  for (std::int64_t j = 0; j < 6; ++j)
    for (std::int64_t d = 0; d < 3; ++d) x.K(0, 0, j, d) += 256.0f;  // exact: multiples of 2^-10 below 2^9
  const reference::Attention shifted = reference::attention(x.Q, x.K, x.V, 1.0);
  CHECK(before.P(0, 0, 0, 0) != rounded.P(0, 0, 0, 0));
  for (std::int64_t i = 0; i < rounded.O.numel(); ++i)
    CHECK(std::abs(rounded.O.at_linear(i) - shifted.O.at_linear(i)) <= 1e-10);
}

TEST_CASE("the attention reference keeps batches and heads apart, in any layout") {
  const Inputs x = inputs(2, 3, 4, 5, 6);
  const reference::Attention all = reference::attention(x.Q, x.K, x.V, 0.3);
  const auto head_of = [](const Tensor<float>& t, std::int64_t b, std::int64_t h) {
    Tensor<float> head({1, 1, t.shape()[2], t.shape()[3]});
    for (std::int64_t n = 0; n < t.shape()[2]; ++n)
      for (std::int64_t d = 0; d < t.shape()[3]; ++d) head(0, 0, n, d) = t(b, h, n, d);
    return head;
  };
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h) {
      const reference::Attention one =
          reference::attention(head_of(x.Q, b, h), head_of(x.K, b, h), head_of(x.V, b, h), 0.3);
      for (std::int64_t i = 0; i < 4; ++i) {
        CHECK(one.lse(0, 0, i) == all.lse(b, h, i));
        for (std::int64_t d = 0; d < 6; ++d) CHECK(one.O(0, 0, i, d) == all.O(b, h, i, d));
      }
    }

  // The same numbers, stored as [batch, seq, head, dim].
  const auto by_rows = [](const Tensor<float>& t) {
    return t.transposed(1, 2).contiguous().transposed(1, 2);
  };
  REQUIRE(by_rows(x.K).strides() != x.K.strides());
  const reference::Attention other = reference::attention(by_rows(x.Q), by_rows(x.K), by_rows(x.V), 0.3);
  for (std::int64_t i = 0; i < all.O.numel(); ++i) CHECK(other.O.at_linear(i) == all.O.at_linear(i));
}

TEST_CASE("the attention reference does not overflow, and rounds no score to float32") {
  const auto Q = Tensor<float>::from({1, 1, 1, 1}, {1000.0f});
  const auto K = Tensor<float>::from({1, 1, 3, 1}, {1.0f, 1.0f, -1.0f});
  const auto V = Tensor<float>::from({1, 1, 3, 1}, {2.0f, 4.0f, 100.0f});
  const reference::Attention a = reference::attention(Q, K, V, 1.0);
  CHECK(a.P(0, 0, 0, 0) == 0.5);
  CHECK(a.P(0, 0, 0, 2) == 0.0);
  CHECK(a.O(0, 0, 0, 0) == 3.0);
  CHECK(a.lse(0, 0, 0) == Approx(1000 + std::log(2.0)).epsilon(1e-15));

  const auto large = Tensor<float>({1, 1, 1, 1}, 1e30f);
  CHECK(reference::attention(large, large, large, 1.0).S(0, 0, 0, 0) == Approx(1e60).epsilon(1e-6));
}

TEST_CASE("the attention reference gives 0 to a query that no key reaches, and lets NaN into one row only") {
  const auto Q =
      Tensor<float>::from({1, 1, 4, 2}, {-kInfinity, 1.0f, kNaN, 0.0f, kInfinity, 1.0f, 1.0f, 1.0f});
  const auto K = Tensor<float>::from({1, 1, 2, 2}, {1.0f, 0.0f, 2.0f, 1.0f});
  const auto V = Tensor<float>::from({1, 1, 2, 1 + 1}, {1.0f, 2.0f, 3.0f, 4.0f});

  const reference::Attention a = reference::attention(Q, K, V, 1.0);

  CHECK(a.S(0, 0, 0, 1) == -std::numeric_limits<double>::infinity());
  CHECK(a.P(0, 0, 0, 0) == 0.0);
  CHECK(a.P(0, 0, 0, 1) == 0.0);
  CHECK(a.O(0, 0, 0, 0) == 0.0);
  CHECK(a.lse(0, 0, 0) == -std::numeric_limits<double>::infinity());
  for (const std::int64_t i : {1, 2}) {
    CHECK(std::isnan(a.P(0, 0, i, 0)));
    CHECK(std::isnan(a.P(0, 0, i, 1)));
    CHECK(std::isnan(a.O(0, 0, i, 1)));
    CHECK(std::isnan(a.lse(0, 0, i)));
  }
  CHECK(std::isfinite(a.O(0, 0, 3, 0)));
}

TEST_CASE("the attention reference gives a weight of 0 to a score of -inf beside others") {
  const auto Q = Tensor<float>::from({1, 1, 1, 1}, {1.0f});
  const auto K = Tensor<float>::from({1, 1, 3, 1}, {0.0f, -kInfinity, 0.0f});
  const auto V = Tensor<float>::from({1, 1, 3, 1}, {1.0f, 50.0f, 3.0f});
  const reference::Attention a = reference::attention(Q, K, V, 1.0);
  CHECK(a.P(0, 0, 0, 1) == 0.0);
  CHECK(a.O(0, 0, 0, 0) == 2.0);
}

TEST_CASE("the attention reference gives zeros without keys, and nothing without queries") {
  const Inputs x = inputs(2, 2, 3, 0, 4);
  const reference::Attention a = reference::attention(x.Q, x.K, x.V, 1.0);
  CHECK(a.S.numel() == 0);
  REQUIRE(a.O.shape() == Shape{2, 2, 3, 4});
  for (std::int64_t i = 0; i < a.O.numel(); ++i) CHECK(a.O.at_linear(i) == 0.0);
  for (std::int64_t i = 0; i < a.lse.numel(); ++i)
    CHECK(a.lse.at_linear(i) == -std::numeric_limits<double>::infinity());

  const Inputs none = inputs(1, 2, 0, 3, 4);
  CHECK(reference::attention(none.Q, none.K, none.V, 1.0).O.numel() == 0);
}

TEST_CASE("the attention reference refuses shapes that do not fit together") {
  const Tensor<float> Q({1, 2, 3, 4}), K({1, 2, 5, 4});
  REQUIRE_NOTHROW(reference::attention(Q, K, K, 1.0));
  REQUIRE_THROWS_AS(reference::attention(Q, K, Tensor<float>({1, 2, 6, 4}), 1.0), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::attention(Tensor<float>({2, 2, 3, 4}), K, K, 1.0), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::attention(Tensor<float>({1, 1, 3, 4}), K, K, 1.0), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::attention(Tensor<float>({1, 2, 3, 5}), K, K, 1.0), std::invalid_argument);
  REQUIRE_THROWS_AS(reference::attention(Tensor<float>({2, 3, 4}), K, K, 1.0), std::invalid_argument);
}

TEST_CASE(
    "the attention reference refuses heads that do not divide, windows below 1, and negative sink tokens") {
  const Tensor<float> Q({1, 4, 3, 2});
  const auto with_heads = [&](std::int64_t H_kv) {
    const Tensor<float> K({1, H_kv, 5, 2});
    return reference::attention(Q, K, K, 1.0);
  };
  for (const std::int64_t H_kv : {1, 2, 4}) REQUIRE_NOTHROW(with_heads(H_kv));
  for (const std::int64_t H_kv : {0, 3, 5, 8}) REQUIRE_THROWS_AS(with_heads(H_kv), std::invalid_argument);

  const auto with_mask = [&](const reference::Mask& mask) {
    return reference::attention(Q, Q, Q, 1.0, mask);
  };
  REQUIRE_NOTHROW(with_mask({.window = 1, .sinks = 0}));
  REQUIRE_THROWS_WITH(with_mask({.window = 0}), "the window must be at least 1, but it is 0.");
  REQUIRE_THROWS_AS(with_mask({.window = -3}), std::invalid_argument);
  REQUIRE_THROWS_WITH(with_mask({.sinks = -1}), "the sinks must not be negative, but they are -1.");
}

TEST_CASE("the attention reference refuses a sink that has not one number for each head of Q") {
  const Tensor<float> Q({1, 4, 3, 2}), K({1, 2, 5, 2});
  const auto with_sink = [&](const Shape& shape) {
    const Tensor<float> sink(shape);
    return reference::attention(Q, K, K, 1.0, {}, &sink);
  };
  REQUIRE_NOTHROW(with_sink({4}));
  REQUIRE_THROWS_AS(with_sink({2}), std::invalid_argument);  // the heads of K
  REQUIRE_THROWS_AS(with_sink({1, 4}), std::invalid_argument);
  REQUIRE_THROWS_AS(with_sink({}), std::invalid_argument);
}

TEST_CASE("the attention reference reads nothing of keys and values that the mask hides") {
  const reference::Mask mask{.causal = true, .window = 3, .sinks = 1};
  const Inputs x = inputs(1, 2, 4, 9, 3);
  const reference::Attention before = reference::attention(x.Q, x.K, x.V, 0.5, mask);
  for (const float garbage : {kNaN, kInfinity, -kInfinity}) {
    Inputs y = inputs(1, 2, 4, 9, 3);
    // The first query stands at key 5 and sees key 0 and keys 3 to 5; keys 1 and 2 no query sees.
    for (std::int64_t h = 0; h < 2; ++h)
      for (std::int64_t d = 0; d < 3; ++d) {
        for (const std::int64_t j : {1, 2}) y.K(0, h, j, d) = y.V(0, h, j, d) = garbage;
        for (const std::int64_t j : {6, 7, 8}) y.K(0, h, j, d) = y.V(0, h, j, d) = garbage;
      }
    const reference::Attention after = reference::attention(y.Q, y.K, y.V, 0.5, mask);
    for (std::int64_t h = 0; h < 2; ++h) {
      CHECK(after.lse(0, h, 0) == before.lse(0, h, 0));
      for (std::int64_t j = 0; j < 9; ++j) {
        CHECK(after.P(0, h, 0, j) == before.P(0, h, 0, j));
        CHECK(after.S(0, h, 0, j) == before.S(0, h, 0, j));
      }
      for (std::int64_t d = 0; d < 3; ++d) {
        CHECK(after.O(0, h, 0, d) == before.O(0, h, 0, d));
        CHECK(!std::isfinite(after.O(0, h, 1, d)));  // the second query sees key 6
      }
    }
  }
}

TEST_CASE("the attention reference keeps NaN out of the weights of hidden keys, whatever the row holds") {
  Inputs x = inputs(1, 1, 3, 3, 2);
  x.Q(0, 0, 1, 0) = kNaN;
  const reference::Attention a = reference::attention(x.Q, x.K, x.V, 1.0, {.causal = true});
  CHECK(std::isnan(a.P(0, 0, 1, 0)));
  CHECK(std::isnan(a.P(0, 0, 1, 1)));
  CHECK(a.P(0, 0, 1, 2) == 0.0);
  CHECK(std::isnan(a.O(0, 0, 1, 0)));
  CHECK(std::isfinite(a.O(0, 0, 2, 0)));
}

TEST_CASE("the attention reference makes a head NaN by a sink of NaN or +inf, and no other head") {
  const Inputs x = inputs(1, 3, 4, 2, 2);  // causal: the first two queries see no key
  const auto sink = Tensor<float>::from({3}, {kNaN, 0.5f, kInfinity});
  const reference::Attention a = reference::attention(x.Q, x.K, x.V, 1.0, {.causal = true}, &sink);
  for (const std::int64_t h : {0, 2}) {
    CHECK(std::isnan(a.lse(0, h, 3)));
    CHECK(std::isnan(a.P(0, h, 2, 0)));
    CHECK(a.P(0, h, 2, 1) == 0.0);  // hidden
    CHECK(std::isnan(a.O(0, h, 3, 1)));
    CHECK(std::isnan(a.lse(0, h, 0)));
  }
  CHECK(a.lse(0, 1, 0) == 0.5);
  for (std::int64_t i = 0; i < 4; ++i) {
    CHECK(std::isfinite(a.lse(0, 1, i)));
    CHECK(std::isfinite(a.O(0, 1, i, 0)));
  }
}

TEST_CASE("the attention reference neither scales a sink nor gives it a value") {
  const auto Q = Tensor<float>::from({1, 1, 1, 1}, {2.0f});
  const auto K = Tensor<float>::from({1, 1, 1, 1}, {0.0f});
  const auto V = Tensor<float>::from({1, 1, 1, 1}, {8.0f});
  const auto sink = Tensor<float>::from({1}, {static_cast<float>(std::log(3.0))});
  const reference::Attention a = reference::attention(Q, K, V, 0.25, {}, &sink);
  CHECK(a.P(0, 0, 0, 0) == Approx(0.25).epsilon(1e-6));  // 1 of 1 + 3
  CHECK(a.O(0, 0, 0, 0) == Approx(2.0).epsilon(1e-6));
  CHECK(a.lse(0, 0, 0) == Approx(std::log(4.0)).epsilon(1e-6));
}

TEST_CASE("the attention reference drops weights on their way into O, and nowhere else") {
  const Inputs x = inputs(1, 2, 3, 4, 2);
  Tensor<float> factors({1, 2, 3, 4});
  for (std::int64_t i = 0; i < factors.numel(); ++i) factors.at_linear(i) = i % 3 == 0 ? 0.0f : 1.5f;
  const reference::Mask mask{.causal = true};
  const reference::Attention all = reference::attention(x.Q, x.K, x.V, 0.5, mask);
  const reference::Attention a = reference::attention(x.Q, x.K, x.V, 0.5, mask, nullptr, &factors);
  for (std::int64_t i = 0; i < all.P.numel(); ++i) CHECK(a.P.at_linear(i) == all.P.at_linear(i));
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < 3; ++i) {
      CHECK(a.lse(0, h, i) == all.lse(0, h, i));
      for (std::int64_t d = 0; d < 2; ++d) {
        double sum = 0;
        for (std::int64_t j = 0; j < 4; ++j)
          sum += all.P(0, h, i, j) * static_cast<double>(factors(0, h, i, j)) *
                 static_cast<double>(x.V(0, h, j, d));
        CHECK(near(a.O(0, h, i, d), sum));
      }
    }
  const Tensor<float> wrong({1, 2, 4, 3});
  CHECK_THROWS_AS(reference::attention(x.Q, x.K, x.V, 0.5, mask, nullptr, &wrong), std::invalid_argument);
}

TEST_CASE("the gradients of the attention reference are those of its O, with dropout, sink and mask") {
  const std::int64_t B = 2, H = 4, H_kv = 2, Nq = 3, Nk = 5, D = 2;
  Tensor<float> Q = normal({B, H, Nq, D}, 1), K = normal({B, H_kv, Nk, D}, 2),
                V = normal({B, H_kv, Nk, D}, 3);
  Tensor<float> sink = normal({H}, 4);
  const Tensor<float> dO = normal({B, H, Nq, D}, 5);
  Tensor<float> factors({B, H, Nq, Nk});
  for (std::int64_t i = 0; i < factors.numel(); ++i) factors.at_linear(i) = i % 4 == 1 ? 0.0f : 1.25f;
  const reference::Mask mask{.causal = true, .window = 3, .sinks = 1};
  const auto forward = [&] { return reference::attention(Q, K, V, 0.5, mask, &sink, &factors); };
  const auto loss = [&] {
    const Tensor<double> O = forward().O;
    double sum = 0;
    for (std::int64_t i = 0; i < O.numel(); ++i) sum += O.at_linear(i) * static_cast<double>(dO.at_linear(i));
    return sum;
  };
  const reference::AttentionGradients g =
      reference::attention_gradients(Q, K, V, dO, 0.5, mask, &sink, &factors);
  const auto check = [&](Tensor<float>& x, const Tensor<double>& gradient) {
    REQUIRE(gradient.shape() == x.shape());
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const float kept = x.at_linear(i);
      x.at_linear(i) = kept + 0x1p-10f;
      const double above = loss(), x_above = static_cast<double>(x.at_linear(i));
      x.at_linear(i) = kept - 0x1p-10f;
      const double below = loss(), x_below = static_cast<double>(x.at_linear(i));
      x.at_linear(i) = kept;
      CHECK(gradient.at_linear(i) == Approx((above - below) / (x_above - x_below)).margin(1e-5));
    }
  };
  check(Q, g.dQ);
  check(K, g.dK);
  check(V, g.dV);
  check(sink, g.dsink);

  const reference::AttentionGradients same =
      reference::attention_gradients(forward(), Q, K, V, dO, 0.5, &sink, &factors);
  for (std::int64_t i = 0; i < g.dK.numel(); ++i) CHECK(same.dK.at_linear(i) == g.dK.at_linear(i));
  CHECK_THROWS_AS(reference::attention_gradients(Q, K, V, Q.transposed(1, 2), 0.5), std::invalid_argument);
}
