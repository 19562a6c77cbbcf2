#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>

#include "reference/attention.hpp"
#include "steps/backward.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::steps::backward;
using course::steps::at;

namespace {

/// Σ O ∘ dO: its gradients are dQ, dK and dV.
double loss(const Problem& p, const Setting& setting) {
  const reference::Attention a = reference::attention(p.Q, p.K, p.V, p.scale, setting.mask);
  double sum = 0;
  for (std::int64_t i = 0; i < a.O.numel(); ++i)
    sum += a.O.at_linear(i) * static_cast<double>(p.dO.at_linear(i));
  return sum;
}

/// The derivative of the loss by an element of `x`, which is a tensor of `p`, from the forward pass alone.
double difference(Problem& p, Tensor<float>& x, std::int64_t row, std::int64_t d, const Setting& setting) {
  constexpr float kStep = 1.0f / 4096;  // the inputs are multiples of 1/2, so the sums are exact in float32
  const float before = x(0, 0, row, d);
  x(0, 0, row, d) = before + kStep;
  const double above = loss(p, setting);
  x(0, 0, row, d) = before - kStep;
  const double below = loss(p, setting);
  x(0, 0, row, d) = before;
  return (above - below) / (2 * static_cast<double>(kStep));
}

bool visible(const Setting& setting, std::int64_t i, std::int64_t j) {
  return !setting.mask.causal || j <= i;
}

/// P and dS of a pair, straight from their definitions.
struct Pair {
  double P, dS;
};
Pair pair_of(const Problem& p, const Setting& setting, std::int64_t i, std::int64_t j) {
  const auto dot = [](const Tensor<float>& x, std::int64_t row, const Tensor<float>& y, std::int64_t other) {
    double sum = 0;
    for (std::int64_t d = 0; d < kDim; ++d)
      sum += static_cast<double>(x(0, 0, row, d)) * static_cast<double>(y(0, 0, other, d));
    return sum;
  };
  double sum = 0, weighed = 0;  // Σ e^S, and Σ e^S · dP
  for (std::int64_t k = 0; k < kRows; ++k) {
    if (!visible(setting, i, k)) continue;
    const double e = std::exp(p.scale * dot(p.Q, i, p.K, k));
    sum += e;
    weighed += e * dot(p.dO, i, p.V, k);
  }
  if (!visible(setting, i, j)) return {0, 0};
  const double P = std::exp(p.scale * dot(p.Q, i, p.K, j)) / sum;
  return {P, P * (dot(p.dO, i, p.V, j) - weighed / sum)};
}

}  // namespace

TEST_CASE("what the blocks store are the derivatives of the forward pass", "[docs]") {
  for (const Setting& setting : settings()) {
    INFO(setting.name);
    int stored = 0;
    for (const Step& step : steps_of(setting)) {
      if (step.phase != Phase::store) continue;
      Problem p = problem();
      for (std::int64_t row = 0; row < kTile; ++row)
        for (std::int64_t d = 0; d < kDim; ++d) {
          const auto holds = [&](const Rows& sum, Tensor<float>& x, std::int64_t tile) {
            CHECK(std::abs(sum[at(row)][at(d)] - difference(p, x, tile * kTile + row, d, setting)) <= 1e-6);
            ++stored;
          };
          if (step.kernel == Kernel::queries) {
            holds(*step.dQ, p.Q, *step.query_tile);
          } else {
            holds(*step.dK, p.K, *step.key_tile);
            holds(*step.dV, p.V, *step.key_tile);
          }
        }
    }
    CHECK(stored == 3 * kRows * kDim);
  }
}

TEST_CASE("S, P, dP, delta and dS of each pair of tiles are what their definitions say", "[docs]") {
  const Problem p = problem();
  for (const Setting& setting : settings()) {
    INFO(setting.name);
    int pairs = 0;
    for (const Step& step : steps_of(setting)) {
      if (!step.P) continue;
      for (std::int64_t row = 0; row < kTile; ++row)
        for (std::int64_t col = 0; col < kTile; ++col) {
          const std::int64_t i = *step.query_tile * kTile + row, j = *step.key_tile * kTile + col;
          const Pair expected = pair_of(p, setting, i, j);
          const double P = (*step.P)[at(row)][at(col)], S = (*step.S)[at(row)][at(col)];
          CHECK(std::abs(P - expected.P) <= 1e-12);
          CHECK((S == -std::numeric_limits<double>::infinity()) == !visible(setting, i, j));
          CHECK(std::abs(P - std::exp(S - (*step.lse)[at(row)])) <= 1e-12);
          if (!step.dS) continue;
          ++pairs;
          CHECK(std::abs((*step.dS)[at(row)][at(col)] - expected.dS) <= 1e-12);
          CHECK(std::abs((*step.dS)[at(row)][at(col)] -
                         P * ((*step.dP)[at(row)][at(col)] - (*step.delta)[at(row)])) <= 1e-12);
        }
    }
    CHECK(pairs > 0);
  }
}

TEST_CASE("after each tile, dV, dK and dQ are the sums over what has passed", "[docs]") {
  const Problem p = problem();
  for (const Setting& setting : settings()) {
    INFO(setting.name);
    for (const Step& step : steps_of(setting)) {
      const bool of_queries = step.phase == Phase::dQ;
      if (step.phase != Phase::dV && step.phase != Phase::dK && !of_queries) continue;
      const std::int64_t kept = of_queries ? *step.query_tile : *step.key_tile;
      const std::int64_t passed = of_queries ? *step.key_tile : *step.query_tile;
      for (std::int64_t row = 0; row < kTile; ++row)
        for (std::int64_t d = 0; d < kDim; ++d) {
          double sum = 0;
          for (std::int64_t other = 0; other < (passed + 1) * kTile; ++other) {
            const std::int64_t i = of_queries ? kept * kTile + row : other;
            const std::int64_t j = of_queries ? other : kept * kTile + row;
            const Pair pair = pair_of(p, setting, i, j);
            sum += step.phase == Phase::dV   ? pair.P * static_cast<double>(p.dO(0, 0, i, d))
                   : step.phase == Phase::dK ? pair.dS * static_cast<double>(p.Q(0, 0, i, d))
                                             : pair.dS * static_cast<double>(p.K(0, 0, j, d));
          }
          const Rows& shown = step.phase == Phase::dV   ? *step.dV
                              : step.phase == Phase::dK ? *step.dK
                                                        : *step.dQ;
          CHECK(std::abs(shown[at(row)][at(d)] - sum) <= 1e-12);
        }
    }
  }
}

TEST_CASE("with causal, the pair of tiles above the diagonal is skipped by both kernels", "[docs]") {
  for (const Setting& setting : settings()) {
    std::map<Kernel, int> skipped;
    for (const Step& step : steps_of(setting)) {
      if (step.phase != Phase::skip) continue;
      ++skipped[step.kernel];
      CHECK(*step.query_tile == 0);
      CHECK(*step.key_tile == 1);
    }
    const std::map<Kernel, int> once{{Kernel::keys, 1}, {Kernel::queries, 1}};
    CHECK(skipped == (setting.mask.causal ? once : std::map<Kernel, int>{}));
  }
}

TEST_CASE("the sums of the backward pass are written out with their numbers", "[docs]") {
  const std::vector<Step> all = steps_of(settings()[0]);
  CHECK(all[0].says[1] == "Query 0: 1 · 0.104 + (−1) · 1.299 = −1.196");
  CHECK(all[4].says[1] ==
        "Query 0, key 0: dP = 1 · 2 + (−1) · 0 = 2.000\ndS: 0.212 · (2.000 − (−1.196)) = 0.677");
  CHECK(all[6].says[1] == "Row 0, first number: 0.000 + 0.677 · 1 + (−0.195) · (−1) = 0.871");
  for (const Setting& setting : settings())
    for (const Step& step : steps_of(setting))
      for (const std::string& sentence : step.says) {
        CHECK(sentence.find("nan") == std::string::npos);
        CHECK(sentence.find("−∞") == std::string::npos);  // what is written out is a pair that is seen
      }
}

TEST_CASE("each question of the backward pass has a right answer among others", "[docs]") {
  int asked = 0;
  for (const Setting& setting : settings())
    for (const Step& step : steps_of(setting)) {
      if (!step.asks) continue;
      ++asked;
      REQUIRE(step.asks->choices.size() >= 2);
      const std::string shown = steps::number(step.asks->choices.at(step.asks->right).value);
      INFO(step.asks->text);
      std::string told;
      for (const std::string& sentence : step.says) told += sentence + "\n";
      CHECK_THAT(told, Catch::Matchers::ContainsSubstring(shown));
      for (std::size_t i = 1; i < step.asks->choices.size(); ++i)
        CHECK(step.asks->choices[i - 1].value < step.asks->choices[i].value);
    }
  CHECK(asked >= 50);
}

TEST_CASE("the data of the backward pass holds every step", "[docs]") {
  const nlohmann::json written = data();
  REQUIRE(written.at("settings").size() == settings().size());
  for (std::size_t s = 0; s < settings().size(); ++s) {
    const std::vector<Step> expected = steps_of(settings()[s]);
    const nlohmann::json& setting = written["settings"][s];
    CHECK(setting.at("name") == settings()[s].name);
    REQUIRE(setting.at("steps").size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const nlohmann::json& step = setting["steps"][i];
      CHECK(step.at("says") == expected[i].says);
      CHECK(step.at("dQ").is_null() == !expected[i].dQ.has_value());
      if (expected[i].dV) CHECK(step.at("dV") == *expected[i].dV);
      CHECK(step.at("asks").is_null() == !expected[i].asks.has_value());
    }
  }
}
