// Checks of attention kernels of 16 bits: what a right one may lose passes, what a wrong one loses does not.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attention/check_parts.hpp"
#include "attention/checks.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/testing/case.hpp"
#include "reference/attention_gradients.hpp"
#include "reference/attention_rounding.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::attention_tests;

namespace {

constexpr Format16 kFormats[] = {Format16::bfloat16, Format16::float16};

float round_one(float x, Format16 format) {
  return static_cast<float>(rounded(static_cast<double>(x), format));
}

/// What a kernel does beside what it should.
struct Wrong {
  bool narrow_accumulators = false;  // O is rounded after each tile
  bool rounded_sums = false;         // l is the sum of the rounded weights
};

/// A kernel for tensor cores on the host: float32 throughout, but P is rounded before P·V, and O at the end.
Forward tile_by_tile(const Problem& p, Int tile, Wrong wrong = {}) {
  const Format16 format = *p.format;
  Forward to = results_of(p);
  for (Int n = 0; n < p.B() * p.H() * p.Nq(); ++n) {
    const Int b = n / p.Nq() / p.H(), h = n / p.Nq() % p.H(), i = n % p.Nq(), h_kv = h / (p.H() / p.H_kv());
    std::vector<float> o(static_cast<std::size_t>(p.D()));
    float m = p.sink ? (*p.sink)(h) : -kInf, l = p.sink ? 1.0f : 0.0f;
    for (Int first = 0; first < p.Nk(); first += tile) {
      std::vector<float> S;
      for (Int j = first; j < std::min(first + tile, p.Nk()); ++j) {
        float s = 0.0f;
        for (Int d = 0; d < p.D(); ++d) s += p.Q(b, h, i, d) * p.K(b, h_kv, j, d);
        S.push_back(p.sees(i, j) ? s * p.scale : -kInf);
      }
      const float grown = std::max(m, *std::max_element(S.begin(), S.end()));
      if (grown == -kInf) continue;
      const float factor = std::exp(m - grown);
      l *= factor;
      for (float& x : o) x *= factor;
      for (std::size_t k = 0; k < S.size(); ++k) {
        const float weight = std::exp(S[k] - grown), narrow = round_one(weight, format);
        l += wrong.rounded_sums ? narrow : weight;
        for (Int d = 0; d < p.D(); ++d)
          o[static_cast<std::size_t>(d)] += narrow * p.V(b, h_kv, first + static_cast<Int>(k), d);
      }
      if (wrong.narrow_accumulators)
        for (float& x : o) x = round_one(x, format);
      m = grown;
    }
    for (Int d = 0; d < p.D(); ++d)
      to.O(b, h, i, d) = l == 0.0f ? 0.0f : round_one(o[static_cast<std::size_t>(d)] / l, format);
    to.lse(b, h, i) = l == 0.0f ? -kInf : m + std::log(l);
  }
  return to;
}

std::vector<grading::Comparison> compared(const Problem& p, const Forward& got) {
  const reference::Attention exact = attention_of(p);
  const Forward64 expected = expected_of(exact);
  const Baseline baseline = in_float32(p, exact);
  const grading::Bound of_O = bound_of_16_bits(p, reference::rounding_of_output(exact, p.V, *p.format));
  return {grading::compare(got.O, "O", expected.O, baseline.results.O, of_O),
          grading::compare(got.lse, "lse", expected.lse, baseline.results.lse, kBound)};
}

/// The gradients as a kernel with operands of 16 bits gives them.
Backward gradients_in_16_bits(const BackwardProblem& p, const reference::Rounding& rounding) {
  const reference::AttentionGradients all =
      reference::attention_gradients(p.exact, p.Q, p.K, p.V, p.dO, static_cast<double>(p.scale),
                                     p.sink ? &*p.sink : nullptr, nullptr, rounding);
  return {all.D.to<float>(), all.dV.to<float>(), all.dK.to<float>(), all.dQ.to<float>(),
          all.dsink.to<float>()};
}

BackwardKernel host_kernel_of_16_bits(const reference::Rounding& rounding) {
  BackwardKernel kernel;
  kernel.attend_backward = [=](const BackwardProblem& p, Backward& got, const grading::CallOptions&) {
    got = gradients_in_16_bits(p, rounding);
    grading::Outcome outcome;
    outcome.status = grading::Status::returned;
    return outcome;
  };
  return kernel;
}

Problem problem_16(const Sizes& n, Format16 format, const reference::Mask& mask = {}) {
  return in_16_bits(random_problem(n, mask), format);
}

}  // namespace

TEST_CASE("problems of 16 bits hold numbers of their type, in every layout", "[attention_tests]") {
  for (const Format16 format : kFormats) {
    const Problem p = with_gaps(problem_16({2, 2, 5, 7, 4}, format));
    CHECK(describe(p).ends_with(std::string(name_of(format))));
    const BackwardProblem b = with_gradient(p);
    for (const Tensor<float>* x : {&p.Q, &p.K, &p.V, &b.dO, &b.O})
      for (Int i = 0; i < x->numel(); ++i) REQUIRE(x->at_linear(i) == round_one(x->at_linear(i), format));
    CHECK(static_cast<double>(b.O(1, 1, 4, 3)) == b.exact.O(1, 1, 4, 3));
  }
}

TEST_CASE("a kernel that rounds P and O to 16 bits is right, whatever its tiles", "[attention_tests]") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    grading::set_base_seed(seed);
    for (const Format16 format : kFormats)
      for (const Problem& p :
           {problem_16({1, 1, 1, 1, 1}, format), problem_16({1, 1, 1, 3, 2}, format),
            problem_16({1, 2, 9, 70, 16}, format, {.causal = true}), problem_16({1, 1, 3, 300, 8}, format),
            in_16_bits(
                with_sink(random_problem({1, 4, 6, 40, 8, 2}, {.causal = true, .window = 9, .sinks = 2})),
                format),
            in_16_bits(with_large_scores(random_problem({1, 1, 8, 90, 16})), format)})
        for (const Int tile : {1, 16, 64}) {
          INFO(describe(p) << ", tiles of " << tile);
          for (const grading::Comparison& comparison : compared(p, tile_by_tile(p, tile))) {
            INFO(comparison.message);
            REQUIRE(comparison.passed);
          }
        }
  }
  grading::set_base_seed(0);
}

TEST_CASE("accumulators of 16 bits and sums of rounded weights are wrong", "[attention_tests]") {
  for (const Format16 format : kFormats) {
    INFO(name_of(format));
    const Problem p = problem_16({1, 2, 40, 256, 16}, format);
    const auto narrow = compared(p, tile_by_tile(p, 16, {.narrow_accumulators = true}));
    CHECK_FALSE(narrow[0].passed);
    CHECK(narrow[1].passed);
    CHECK_THAT(narrow[0].message,
               Catch::Matchers::ContainsSubstring("O[") && Catch::Matchers::ContainsSubstring("is allowed)"));
    const auto sums = compared(p, tile_by_tile(p, 16, {.rounded_sums = true}));
    CHECK_FALSE(sums[1].passed);
  }
}

TEST_CASE("gradients of 16 bits are right where P, dS and results are rounded, and wrong beyond",
          "[attention_tests]") {
  for (const Format16 format : kFormats) {
    INFO(name_of(format));
    const BackwardProblem p = with_gradient(in_16_bits(
        with_sink(random_problem({2, 4, 20, 24, 10, 2}, {.causal = true, .window = 9, .sinks = 2})), format));
    const BackwardKernel right = host_kernel_of_16_bits({.operands = format, .results = format});
    Backward got = results_of(p);
    right.attend_backward(p, got, {});
    for (const grading::Failure& failure : failures_of(right, p, got)) FAIL(failure.values.array);
    check_differences(right, with_gradient(problem_16({1, 1, 5, 6, 4}, format)));

    // bfloat16 where float16 is wanted, and accumulators that lose what one more rounding costs.
    Backward off = got;
    for (float& x : off.dK.storage()) x *= 1 + 4 * static_cast<float>(half_step(1.0, format));
    const std::vector<grading::Failure> failures = failures_of(right, p, off);
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].values.array == "dK");
  }
}

TEST_CASE("bytes of 16 bits are half of those of float32", "[attention_tests]") {
  CHECK(bytes_of(Tensor<float>({3, 5})) == 60);
  CHECK(bytes_of(Tensor<float>({3, 5}), Format16::float16) == 30);
}
