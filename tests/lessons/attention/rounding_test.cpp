// Tests of what the baseline of an attention kernel is off by at least.

#include "attention/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attention/baseline.hpp"
#include "grading/testing/case.hpp"
#include "grading/testing/compare.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::attention_tests;

namespace {

/// Float32 in an order that the baseline has not: key by key, with the online recurrence and powers of 2.
Forward key_by_key(const Problem& p) {
  constexpr float kLog2e = 1.44269504f;
  Forward to{Tensor<float>(p.shape_of_O()), Tensor<float>(p.shape_of_lse()), Tensor<float>(p.shape_of_lse()),
             Tensor<float>(p.shape_of_lse())};
  const Int Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  for (Int row = 0; row < to.lse.numel(); ++row) {
    const float *q = p.Q.data() + row * D, *k = p.K.data() + row / Nq * Nk * D,
                *v = p.V.data() + row / Nq * Nk * D;
    float *o = to.O.data() + row * D, m = -kInf, l = 0.0f;
    for (Int j = 0; j < Nk; ++j) {
      float s = 0.0f;
      for (Int d = 0; d < D; ++d) s = std::fma(q[d], k[j * D + d], s);
      s *= p.scale;
      const float grown = std::max(m, s), factor = std::exp2((m - grown) * kLog2e);
      const float weight = std::exp2((s - grown) * kLog2e);
      const float kept = p.dropout ? weight * p.dropout->factors.at_linear(row * Nk + j) : weight;
      l = l * factor + weight, m = grown;
      for (Int d = 0; d < D; ++d) o[d] = std::fma(kept, v[j * D + d], o[d] * factor);
    }
    for (Int d = 0; d < D; ++d) o[d] /= l;
    to.m.at_linear(row) = m, to.l.at_linear(row) = l;
    to.lse.at_linear(row) = m + std::log(l);
  }
  return to;
}

/// So many sets of data, each of which a test may be given.
constexpr std::uint64_t kSeeds = 300;

template <class Check>
void for_many_seeds(Check check) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    grading::set_base_seed(seed);
    INFO("seed " << seed);
    check();
  }
  grading::set_base_seed(0);
}

Problem half_dropped(const Problem& p) {
  return with_dropout(p, 0.5f, 1, [](Int, Int, Int i, Int j) { return (3 * i + 5 * j) % 4 < 2; });
}

}  // namespace

TEST_CASE("a right float32 program stays within twice the baseline's error, whatever the data",
          "[attention_tests]") {
  for_many_seeds([] {
    for (const Problem& p :
         {random_problem({1, 1, 1, 1, 1}), random_problem({1, 1, 1, 1, 31}), random_problem({1, 2, 1, 2, 3}),
          random_problem({1, 1, 1, 300, 4}), random_problem({1, 2, 5, 9, 3}),
          half_dropped(random_problem({1, 1, 5, 9, 3}))}) {
      INFO(describe(p));
      const Forward64 expected = expected_of(p);
      const Forward got = key_by_key(p), baseline = in_float32(p, attention_of(p)).results;
      for (const Which which : {Which::O, Which::lse, Which::m, Which::l}) {
        const grading::Comparison comparison =
            grading::compare(got.of(which), name_of(which), expected.of(which), baseline.of(which));
        INFO(comparison.message);
        CHECK(comparison.passed);
      }
    }
  });
}

TEST_CASE("a baseline of one row is off by what its sums usually cost, and by not much more",
          "[attention_tests]") {
  for_many_seeds([] {
    const Problem p = random_problem({1, 1, 1, 40, 8});
    const Forward64 expected = expected_of(p);
    const Forward baseline = in_float32(p, attention_of(p)).results;
    for (const Which which : {Which::O, Which::lse}) {
      double off = 0, magnitude = 0;
      for (Int i = 0; i < expected.of(which).numel(); ++i) {
        const double want = expected.of(which).at_linear(i);
        off = std::max(off, std::abs(static_cast<double>(baseline.of(which).at_linear(i)) - want));
        magnitude = std::max(magnitude, std::abs(want));
      }
      CHECK(off > 0x1p-25 * magnitude);
      CHECK(off < 0x1p-20 * magnitude);
    }
  });
}

TEST_CASE("the baseline of exact scores and sums is exact", "[attention_tests]") {
  Problem p{Tensor<float>({1, 1, 3, 2}), Tensor<float>({1, 1, 4, 2}), Tensor<float>({1, 1, 4, 2}, 3.0f),
            1.0f};
  const Forward baseline = in_float32(p, attention_of(p)).results;
  for (Int row = 0; row < 3; ++row) {
    CHECK(baseline.m.at_linear(row) == 0.0f);
    CHECK(baseline.l.at_linear(row) == 4.0f);
    for (Int d = 0; d < 2; ++d) CHECK(baseline.O(0, 0, row, d) == 3.0f);
  }
}

TEST_CASE("a value is moved where twice its error covers what rounding may make of the result",
          "[attention_tests]") {
  const float next = std::nextafter(1.0f, 2.0f);              // 2⁻²³ more
  CHECK(off_as_usual(1.0f, 1.0 + 0x1p-26, 0x1p-26) == 1.0f);  // all of [1, 1 + 2⁻²⁵] is rounded to 1
  CHECK(off_as_usual(1.0f, 1.0 + 0x1p-26, 0x1p-24) != 1.0f);  // 1 + 2⁻²³ + 2⁻²⁶ is not
  CHECK(off_as_usual(next, 1.0 + 0x1p-26, 0x1p-24) == next);
  for (const double usual : {0x1p-25, 0x1p-24, 0x1p-23, 0x1p-22, 0x1p-20})
    for (const double expected : {1.0 + 0x1p-26, 1.0 + 0x1p-24, 3.7, -2.3, 1e-3, -250.1}) {
      const auto nearest = static_cast<float>(expected);
      const double off = std::abs(static_cast<double>(off_as_usual(nearest, expected, usual)) - expected);
      for (const double way : {-2.0, -1.0, 1.0, 2.0}) {
        const auto got = static_cast<float>(expected + way * usual);
        CHECK(std::abs(static_cast<double>(got) - expected) <= 2 * off);
      }
    }
  CHECK(off_as_usual(1.0f, 1.0, 0x1p-20) == 1.0f);  // is exact
  CHECK(off_as_usual(-kInf, -static_cast<double>(kInf), 1.0) == -kInf);
  CHECK(std::isnan(off_as_usual(kNan, 1.0, 1.0)));
  CHECK(off_as_usual(1.0f, 1.0 + 0x1p-26, static_cast<double>(kNan)) == 1.0f);
}
