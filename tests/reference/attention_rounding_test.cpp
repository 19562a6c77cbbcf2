// The reference with P, dS and results rounded to 16 bits, and what it says of the cost.

#include "reference/attention_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "tensor/random.hpp"

using namespace course;
using reference::Attention;
using reference::AttentionGradients;
using reference::Mask;
using reference::Rounding;

namespace {

using Index = std::int64_t;
constexpr Format16 kFormats[] = {Format16::bfloat16, Format16::float16};

struct Case {
  std::string name;
  Index H, H_kv, Nq, Nk, D;
  double scale = 0.5;
  Mask mask{};
  std::vector<float> sink{};
  bool dropout = false;
};

/// Inputs of a case; values lie about 2, so that O is not near 0.
struct Inputs {
  Tensor<float> Q, K, V, dO, sink, factors;
  bool has_sink, has_factors;

  explicit Inputs(const Case& c)
      : Q(normal({2, c.H, c.Nq, c.D}, 1)),
        K(normal({2, c.H_kv, c.Nk, c.D}, 2)),
        V(normal({2, c.H_kv, c.Nk, c.D}, 3)),
        dO(normal({2, c.H, c.Nq, c.D}, 4)),
        sink(Tensor<float>::from({static_cast<Index>(c.sink.size())}, c.sink)),
        factors({2, c.H, c.Nq, c.Nk}),
        has_sink(!c.sink.empty()),
        has_factors(c.dropout) {
    for (float& v : V.storage()) v += 2.0f;
    Random random(5);
    for (float& factor : factors.storage()) factor = random.integer(0, 3) == 0 ? 0.0f : 4.0f / 3;
  }
  const Tensor<float>* sink_or_null() const { return has_sink ? &sink : nullptr; }
  const Tensor<float>* factors_or_null() const { return has_factors ? &factors : nullptr; }
  Attention attend(const Case& c, const Rounding& rounding = {}) const {
    return reference::attention(Q, K, V, c.scale, c.mask, sink_or_null(), factors_or_null(), rounding);
  }
  AttentionGradients differentiate(const Case& c, const Attention& forward,
                                   const Rounding& rounding = {}) const {
    return reference::attention_gradients(forward, Q, K, V, dO, c.scale, sink_or_null(), factors_or_null(),
                                          rounding);
  }
};

const std::vector<Case> kCases = {
    {"plain", 2, 2, 9, 11, 4},
    {"causal", 2, 2, 12, 12, 8, 0.35, {.causal = true}},
    {"grouped", 4, 2, 7, 20, 4, 0.5, {.causal = true, .window = 5, .sinks = 1}},
    {"large scores", 2, 1, 20, 33, 8, 3.0},
    {"many keys", 1, 1, 5, 300, 4, 0.25},
    {"learned sinks", 2, 2, 9, 11, 4, 0.5, {}, {1.0f, -2.0f}},
    {"a sink above all scores", 2, 2, 9, 11, 4, 0.5, {}, {12.0f, 16.0f}},
    {"dropout", 2, 2, 9, 40, 4, 0.5, {}, {}, true},
    {"one key", 1, 1, 3, 1, 2},
};

double largest_ratio(const Tensor<double>& got, const Tensor<double>& exact, const Tensor<double>& cost) {
  REQUIRE(got.shape() == exact.shape());
  REQUIRE(cost.shape() == exact.shape());
  double largest = 0;
  for (Index i = 0; i < got.numel(); ++i) {
    const double off = std::abs(got.at_linear(i) - exact.at_linear(i)), noise = 1e-13;
    REQUIRE(off <= cost.at_linear(i) + noise);
    if (cost.at_linear(i) > 1e3 * noise) largest = std::max(largest, off / cost.at_linear(i));
  }
  return largest;
}

/// O of a kernel that goes through `tile` keys at once and rounds each weight beside the maximum so far.
Tensor<double> tile_by_tile(const Inputs& in, const Attention& exact, Index tile, Format16 format) {
  const Index H = in.Q.shape()[1], Nq = in.Q.shape()[2], D = in.Q.shape()[3], Nk = in.K.shape()[2];
  Tensor<double> O(in.Q.shape());
  for (Index row = 0; row < exact.lse.numel(); ++row) {
    const Index b = row / Nq / H, h = row / Nq % H, h_kv = h / (H / in.K.shape()[1]);
    const double* S = exact.S.data() + row * Nk;
    double m = in.has_sink ? static_cast<double>(in.sink(h)) : -std::numeric_limits<double>::infinity();
    for (Index first = 0; first < Nk; first += tile) {
      const Index end = std::min(first + tile, Nk);
      const double grown = std::max(m, *std::max_element(S + first, S + end));
      if (std::isinf(grown)) continue;
      for (Index d = 0; d < D; ++d) O.data()[row * D + d] *= std::exp(m - grown);
      for (Index j = first; j < end; ++j) {
        double weight = rounded(std::exp(S[j] - grown), format);
        if (in.has_factors) weight *= static_cast<double>(in.factors.at_linear(row * Nk + j));
        for (Index d = 0; d < D; ++d)
          O.data()[row * D + d] += weight * static_cast<double>(in.V(b, h_kv, j, d));
      }
      m = grown;
    }
    const double lse = exact.lse.at_linear(row);
    for (Index d = 0; d < D; ++d) O.data()[row * D + d] *= std::isinf(m) ? 0 : std::exp(m - lse);
  }
  return O;
}

}  // namespace

TEST_CASE("without rounding, the reference stays what it is, and S, P and lse are exact with it") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const Inputs in(c);
    const Attention exact = in.attend(c), rounded_one = in.attend(c, {.operands = Format16::bfloat16});
    const Attention again = in.attend(c, Rounding{});
    CHECK(std::equal(exact.O.data(), exact.O.data() + exact.O.numel(), again.O.data()));
    CHECK(std::equal(exact.P.data(), exact.P.data() + exact.P.numel(), rounded_one.P.data()));
    CHECK(std::equal(exact.lse.data(), exact.lse.data() + exact.lse.numel(), rounded_one.lse.data()));
  }
}

TEST_CASE("rounded weights are those of two keys, worked out by hand") {
  // Scores 0 and log(1/3): weights of 1 and 0.3333, which is 0.333984375 as bfloat16.
  const auto Q = Tensor<float>::from({1, 1, 1, 1}, {1.0f});
  const auto K = Tensor<float>::from({1, 1, 2, 1}, {0.0f, -1.0f});
  const auto V = Tensor<float>::from({1, 1, 2, 1}, {10.0f, 100.0f});
  const double scale = std::log(3.0), kRounded = 0.333984375;
  const auto O = [&](const Rounding& rounding) {
    return reference::attention(Q, K, V, scale, {}, nullptr, nullptr, rounding);
  };
  const auto near = [](double x) { return Approx(x).epsilon(1e-14); };
  CHECK(O({}).O(0, 0, 0, 0) == near((10 + 100.0 / 3) / (4.0 / 3)));
  CHECK(O({.operands = Format16::bfloat16}).O(0, 0, 0, 0) == near((10 + 100 * kRounded) / (4.0 / 3)));
  const Attention sums = O({.operands = Format16::bfloat16, .sums_rounded = true});
  CHECK(sums.O(0, 0, 0, 0) == near((10 + 100 * kRounded) / (1 + kRounded)));
  CHECK(sums.lse(0, 0, 0) == near(std::log(1 + kRounded)));
  CHECK(O({.results = Format16::bfloat16}).O(0, 0, 0, 0) == 32.5);  // 32.5 of itself
  CHECK(O({.results = Format16::float16}).O(0, 0, 0, 0) == 32.5);

  const auto dO = Tensor<float>::from({1, 1, 1, 1}, {1.0f});
  const auto gradients = [&](const Rounding& rounding) {
    return reference::attention_gradients(Q, K, V, dO, scale, {}, nullptr, nullptr, rounding);
  };
  const AttentionGradients exact = gradients({}), narrow = gradients({.operands = Format16::bfloat16});
  CHECK(narrow.dV(0, 0, 1, 0) == 0.25);                     // P is 0.75 and 0.25, which bfloat16 has
  CHECK(exact.dS(0, 0, 0, 0) == near(0.75 * (10 - 32.5)));  // -16.875, which bfloat16 has
  CHECK(narrow.dQ(0, 0, 0, 0) == near(-scale * rounded(-exact.dS(0, 0, 0, 0), Format16::bfloat16)));
  CHECK(gradients({.results = Format16::bfloat16}).dQ(0, 0, 0, 0) ==
        rounded(exact.dQ(0, 0, 0, 0), Format16::bfloat16));
}

TEST_CASE("results are rounded to their type, all of them") {
  const Case c = kCases[0];
  const Inputs in(c);
  for (const Format16 format : kFormats) {
    const Attention exact = in.attend(c), got = in.attend(c, {.results = format});
    for (Index i = 0; i < got.O.numel(); ++i)
      REQUIRE(got.O.at_linear(i) == rounded(exact.O.at_linear(i), format));
    const AttentionGradients right = in.differentiate(c, exact),
                             narrow = in.differentiate(c, exact, {.results = format});
    for (const auto member : {&AttentionGradients::dQ, &AttentionGradients::dK, &AttentionGradients::dV})
      for (Index i = 0; i < (right.*member).numel(); ++i)
        REQUIRE((narrow.*member).at_linear(i) == rounded((right.*member).at_linear(i), format));
  }
}

TEST_CASE("rounding the weights costs no more than the reference says, and not much less") {
  for (const Format16 format : kFormats) {
    for (const Case& c : kCases) {
      INFO(c.name << ", " << name_of(format));
      const Inputs in(c);
      const Attention exact = in.attend(c);
      const Tensor<double> cost = reference::rounding_of_output(exact, in.V, format, in.factors_or_null());
      double most = largest_ratio(in.attend(c, {.operands = format}).O, exact.O, cost);
      for (const Index tile : {1, 3, 8})
        most = std::max(most, largest_ratio(tile_by_tile(in, exact, tile, format), exact.O, cost));
      CHECK((c.Nk == 1 ? most == 0 : most > 0.05));  // one weight is 1, which has no error
    }
  }
}

TEST_CASE("rounding P and dS costs the gradients no more than the reference says, and not much less") {
  for (const Format16 format : kFormats) {
    for (const Case& c : kCases) {
      INFO(c.name << ", " << name_of(format));
      const Inputs in(c);
      const Attention exact = in.attend(c);
      const AttentionGradients right = in.differentiate(c, exact),
                               got = in.differentiate(c, exact, {.operands = format});
      const reference::RoundingOfGradients cost = reference::rounding_of_gradients(
          right, exact, in.Q, in.K, in.dO, c.scale, format, in.factors_or_null());
      CHECK(largest_ratio(got.dV, right.dV, cost.dV) <= 1);
      const double of_dQ = largest_ratio(got.dQ, right.dQ, cost.dQ),
                   of_dK = largest_ratio(got.dK, right.dK, cost.dK);
      if (c.Nk > 1) CHECK(std::min(of_dQ, of_dK) > 0.05);
    }
  }
}

TEST_CASE("what is not finite costs nothing, and a query without keys has no cost") {
  Case c{"empty rows", 1, 1, 4, 2, 3, 0.5, {.causal = true}};
  Inputs in(c);
  in.V(0, 0, 1, 2) = std::numeric_limits<float>::infinity();
  in.Q(1, 0, 3, 0) = std::numeric_limits<float>::quiet_NaN();
  const Attention exact = in.attend(c), narrow = in.attend(c, {.operands = Format16::float16});
  const Tensor<double> cost = reference::rounding_of_output(exact, in.V, Format16::float16);
  for (const double x : cost.storage()) REQUIRE(std::isfinite(x));
  for (Index d = 0; d < 3; ++d) {
    CHECK(cost(0, 0, 0, d) == 0);
    CHECK(narrow.O(0, 0, 0, d) == 0);
    CHECK(std::isnan(narrow.O(1, 0, 3, d)));
  }
  CHECK(std::isinf(narrow.O(0, 0, 3, 2)));
}
