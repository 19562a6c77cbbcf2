// Tests of what the tests of the backward lessons compare with: expected results, baseline and mistakes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attention/gradient_catalogue.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::attention_tests;
using grading::compare;
using grading::Comparison;
using grading::Mistake;
using grading::Mistakes;

namespace {

const std::vector<Gradient> kAll{Gradient::delta, Gradient::dV, Gradient::dK, Gradient::dQ, Gradient::dsink};

reference::Mask causal() { return {.causal = true}; }
reference::Mask window(Int size, Int sinks = 0) { return {.causal = true, .window = size, .sinks = sinks}; }

bool every_third(Int b, Int h, Int i, Int j) { return (5 * b + 7 * h + 11 * i + 13 * j) % 3 != 0; }

/// Every mask, group of heads, layout, sink and dropout at least once.
std::vector<BackwardProblem> problems() {
  const Layout inside = Layout::heads_inside;
  Problem sparse = with_layouts(with_sink(random_problem({2, 3, 18, 21, 12}, window(7, 2))), inside, inside,
                                inside, inside);
  sparse.layout_of_lse = inside;
  return {
      with_gradient(random_problem({2, 3, 18, 70, 13})),
      with_gradient(random_problem({1, 2, 38, 35, 8}, causal())),  // queries before the first key see none
      with_gradient(random_problem({2, 4, 19, 27, 10, 2}, causal())),
      with_gradient(with_sink(random_problem({2, 3, 40, 40, 5}, window(9)))),
      with_gaps(with_gradient(with_sink(random_problem({2, 6, 13, 43, 9, 3}, window(20, 3))))),
      with_layouts_of_gradients(with_gradient(sparse), inside, inside, inside, inside, inside),
      with_gradient(with_scores_of_minus_inf(random_problem({1, 2, 21, 80, 5}), 60)),
      with_gradient(with_large_scores(random_problem({1, 2, 40, 22, 24}))),
      with_gradient(with_dropout(random_problem({2, 4, 20, 20, 12, 2}, causal()), 0.25f, 1, every_third)),
      identity_in_K(10, causal()),
      identity_in_Q(12)};
}

/// grading::gives(), most of which need no more than two elements to see that they do not fit.
Mistake gives_quickly(const std::string& name, const Tensor<double>& wrong) {
  const Mistake in_full = grading::gives(
      name, [&wrong] { return wrong; }, "sentence");
  const double far = 1e-3 * grading::largest_magnitude(wrong);
  return {name, [&wrong, in_full, far](const grading::WrongResult& result) -> std::optional<std::string> {
            for (const Int i : {result.comparison.wrong.front(), result.comparison.wrong.back()}) {
              const double got = static_cast<double>(result.got.at_linear(i)), want = wrong.at_linear(i);
              if (std::isfinite(got) && std::isfinite(want) &&
                  std::abs(got - want) > far + 100 * result.comparison.allowed)
                return std::nullopt;
            }
            return in_full.explain(result);
          }};
}

Tensor<float> rounded(const Tensor<double>& x) { return x.to<float>(); }

}  // namespace

TEST_CASE("the model of backward kernels without a deviation is the reference", "[attention_tests]") {
  for (const BackwardProblem& p : problems()) {
    INFO(describe(p));
    const Backward64 expected = expected_of(p);
    const Backward baseline = in_float32(p, expected);
    for (const Gradient which : kAll) {
      if (which == Gradient::dsink && !p.sink) continue;
      const Comparison comparison =
          compare(rounded(deviate(p, {}, which)), name_of(which), expected.of(which), baseline.of(which));
      INFO(comparison.message);
      CHECK(comparison.passed);
    }
  }
}

TEST_CASE("a row of the model is what the model gives for all rows", "[attention_tests]") {
  for (const BackwardProblem& p : problems()) {
    INFO(describe(p));
    for (const Gradient which : kAll) {
      if (which == Gradient::dsink && !p.sink) continue;
      for (const GradientDeviation& how : {GradientDeviation{},
                                           {.weights = Weights::unnormalised},
                                           {.lse_of_pair = [](Int, Int j) { return j; }},
                                           {.hidden_counts = true, .scores = Scores::without_P},
                                           {.delta_of_pair = [](Int, Int j) { return j; }},
                                           {.S_exchanged = 16},
                                           {.dP_exchanged = 16},
                                           {.delta_of_tile = 16},
                                           {.left_transposed = p.Nq() == p.Nk()}}) {
        const Tensor<double> all = deviate(p, how, which);
        const Int rows = all.rank() == 4 ? all.numel() / p.D() : all.numel();
        for (const Int row : {Int{0}, rows / 2, rows - 1}) {
          const std::vector<double> one = deviate_in_row(p, how, which, row);
          const auto size = static_cast<Int>(one.size());
          for (Int d = 0; d < size; ++d) {
            const double a = all.at_linear(row * size + d), b = one[static_cast<std::size_t>(d)];
            CHECK((a == b || (std::isnan(a) && std::isnan(b))));
          }
        }
      }
    }
  }
}

TEST_CASE("the baseline of gradients lies near the reference, and not on it", "[attention_tests]") {
  for (const BackwardProblem& p : problems()) {
    INFO(describe(p));
    const Backward64 expected = expected_of(p);
    const Backward baseline = in_float32(p, expected);
    for (const Gradient which : kAll) {
      if (which == Gradient::dsink && !p.sink) continue;
      const Tensor<float> exact = rounded(expected.of(which));
      const double magnitude = grading::largest_magnitude(expected.of(which));
      const Comparison comparison = compare(baseline.of(which), name_of(which), expected.of(which), exact,
                                            {1, 3e-5 * std::max(1.0, magnitude)});
      INFO(comparison.message);
      CHECK(comparison.passed);
      CHECK_FALSE(compare(baseline.of(which), name_of(which), expected.of(which), exact, {1, 0}).passed);
    }
  }
}

TEST_CASE("the baseline of gradients is NaN where the reference is", "[attention_tests]") {
  const BackwardProblem p = with_gradient(with_not_numbers(random_problem({2, 3, 31, 90, 20})));
  const Backward64 expected = expected_of(p);
  const Backward baseline = in_float32(p, expected);
  for (const Gradient which : {Gradient::delta, Gradient::dV, Gradient::dK, Gradient::dQ}) {
    const Comparison comparison =
        compare(baseline.of(which), name_of(which), expected.of(which), baseline.of(which));
    INFO(comparison.message);
    CHECK(comparison.passed);
  }
  const BackwardProblem hidden =
      with_gradient(with_nan_keys(random_problem({1, 2, 10, 200, 8}, window(9)), 0, 128));
  const Backward64 none = expected_of(hidden);
  CHECK(none.dK(0, 1, 100, 3) == 0);
  CHECK(std::isfinite(none.dQ(0, 1, 9, 3)));
}

TEST_CASE("every mistake of a backward kernel explains its own result, and few others do",
          "[attention_tests]") {
  for (const BackwardProblem& p : problems()) {
    INFO(describe(p));
    const Backward64 expected = expected_of(p);
    const Backward baseline = in_float32(p, expected);
    for (const Gradient which : kAll) {
      if (which == Gradient::dsink && !p.sink) continue;
      const GradientCatalogue all = catalogue(p, which);
      std::vector<Tensor<double>> wrong;  // each computed once, not once for every other
      for (const NamedGradientDeviation& one : all.deviations()) wrong.push_back(deviate(p, one.how, which));
      Mistakes mistakes = all.patterns();
      for (std::size_t i = 0; i < wrong.size(); ++i)
        if (!all.deviations()[i].sentence.empty())  // others speak neither for a mistake nor against it
          mistakes.push_back(gives_quickly(all.deviations()[i].name, wrong[i]));
      mistakes = by_name(std::move(mistakes));
      for (std::size_t i = 0; i < wrong.size(); ++i) {
        const NamedGradientDeviation& one = all.deviations()[i];
        if (one.sentence.empty()) continue;
        const Tensor<float> got = rounded(wrong[i]);
        const Comparison comparison = compare(got, name_of(which), expected.of(which), baseline.of(which));
        if (comparison.passed) continue;  // makes no difference here
        std::set<std::string> told;
        for (const Mistake& mistake : mistakes)
          if (const auto sentence = mistake.explain({got, expected.of(which), comparison});
              sentence && !sentence->empty())  // an empty one speaks neither for nor against it
            told.insert(mistake.name);
        std::string names;
        for (const std::string& name : told) names += name + " ";
        INFO("in " << name_of(which) << ": " << one.sentence << " Explained by: " << names);
        CHECK(told.count(one.name) == 1);
        CHECK(told.size() <= 3);  // loops over keys that end at the same one; other cases tell them apart
      }
    }
  }
}

TEST_CASE("the identity as dO makes dV the transposed weights, and K or Q shows dS", "[attention_tests]") {
  for (const reference::Mask& mask : {reference::Mask{}, causal(), window(3, 1)})
    for (const BackwardProblem& p : {identity_in_K(7, mask, true), identity_in_Q(7, mask, true)}) {
      const reference::AttentionGradients g = gradients_of(p);
      const double unit = static_cast<double>(p.scale * kIdentityFactor);
      const bool in_K = p.K(0, 0, 0, 1) == 0.0f && p.K(0, 0, 1, 0) == 0.0f;
      for (Int i = 0; i < 7; ++i) {
        CHECK(g.D(0, 0, i) == Approx(p.exact.O(0, 0, i, i)));
        for (Int j = 0; j < 7; ++j) {
          CHECK(g.dV(0, 0, j, i) == Approx(p.exact.P(0, 0, i, j)));
          CHECK((in_K ? g.dQ(0, 0, i, j) : g.dK(0, 0, j, i)) == Approx(g.dS(0, 0, i, j) * unit));
          if (p.sees(i, j)) CHECK(g.dP(0, 0, i, j) == Approx(static_cast<double>(p.V(0, 0, j, i))));
        }
      }
    }
}

TEST_CASE("a problem with gaps, or in another layout, has the same gradients", "[attention_tests]") {
  const BackwardProblem p = with_gradient(with_sink(random_problem({2, 4, 9, 11, 6, 2}, causal())));
  const Layout inside = Layout::heads_inside;
  const Backward64 expected = expected_of(p);
  for (const BackwardProblem& other :
       {with_gaps(p, kNan), with_layouts_of_gradients(p, inside, inside, inside, inside, inside)}) {
    const Backward64 same = expected_of(other);
    for (const Gradient which : kAll)
      for (Int i = 0; i < expected.of(which).numel(); ++i)
        REQUIRE(same.of(which).at_linear(i) == expected.of(which).at_linear(i));
  }
}
