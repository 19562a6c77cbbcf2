// Tests of what the tests of the attention lessons share.

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/testing/case.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::attention_tests;
using grading::compare;
using grading::Comparison;
using grading::Mistake;
using grading::Mistakes;

namespace {

const std::vector<Which> kAll{Which::O, Which::lse, Which::m, Which::l};

reference::Mask causal() { return {.causal = true}; }
reference::Mask window(Int size, Int sinks = 0) { return {.causal = true, .window = size, .sinks = sinks}; }

/// Whether the score of the first query and the first key in the first head is, and finite.
bool is_far_below_0(const Problem& p) {
  float score = 0.0f;
  for (Int d = 0; d < p.D(); ++d) score += p.Q(0, 0, 0, d) * p.K(0, 0, 0, d) * p.scale;
  return score < -900.0f && score > -17'000.0f;
}

/// Every mask, group of heads, layout and sink at least once.
std::vector<Problem> problems() {
  Problem grouped = random_problem({2, 4, 19, 27, 10, 2}, causal());
  Problem apart = with_gaps(with_sink(random_problem({2, 6, 13, 43, 9, 3}, window(20, 3))));
  apart.layout_of_lse = Layout::heads_inside;
  return {random_problem({2, 3, 18, 70, 13}),
          random_problem({1, 2, 38, 35, 8}, causal()),  // queries before the first key see none
          grouped,
          with_sink(random_problem({1, 3, 40, 40, 5}, window(9))),
          apart,
          with_empty_rows(random_problem({1, 2, 12, 40, 8})),
          with_keys_of_minus_inf(random_problem({1, 2, 5, 80, 4}), 60),
          with_dropout(with_sink(random_problem({2, 2, 15, 35, 9}, causal())), 0.25f, 1,
                       [](Int b, Int h, Int i, Int j) { return (5 * b + 7 * h + 11 * i + 13 * j) % 4 != 0; }),
          with_layouts(random_problem({2, 3, 18, 21, 12}), Layout::heads_inside, Layout::heads_inside,
                       Layout::heads_inside, Layout::heads_inside)};
}

/// What a float32 kernel with this result would give.
Tensor<float> rounded(const Tensor<double>& x) { return x.to<float>(); }

}  // namespace

TEST_CASE("the model without a deviation is the reference", "[attention_tests]") {
  for (const Problem& p : problems()) {
    INFO(describe(p));
    const Forward64 expected = expected_of(p);
    for (const Int tile : {0, 16, 64}) {
      const Forward64 model = deviate(p, {.tile = tile});
      for (const Which which : kAll) {
        const Comparison comparison = compare(rounded(model.of(which)), name_of(which), expected.of(which),
                                              rounded(expected.of(which)));
        INFO(comparison.message);
        CHECK(comparison.passed);
      }
    }
  }
}

TEST_CASE("the baseline lies near the reference, and not on it", "[attention_tests]") {
  for (const Problem& p : problems()) {
    INFO(describe(p));
    const Forward64 expected = expected_of(p);
    const Baseline baseline = in_float32(p, attention_of(p));
    for (const Which which : kAll) {
      const Tensor<float> exact = rounded(expected.of(which));
      const Comparison comparison =
          compare(baseline.results.of(which), name_of(which), expected.of(which), exact, {1, 1e-4});
      INFO(comparison.message);
      CHECK(comparison.passed);
      if (which == Which::O)  // of few dimensions, m is exact
        CHECK_FALSE(
            compare(baseline.results.of(which), name_of(which), expected.of(which), exact, {1, 0}).passed);
    }
  }
}

TEST_CASE("every mistake explains its own results, and at most one other explains them all",
          "[attention_tests]") {
  std::map<std::string, std::set<std::string>> explaining;  // of a mistake's results, each
  for (const Problem& p : problems()) {
    INFO(describe(p));
    const Forward64 expected = expected_of(p);
    const Baseline baseline = in_float32(p, attention_of(p));
    for (const Which which : kAll) {
      const Catalogue all = catalogue(p, which);
      std::vector<Tensor<double>> wrong;  // each computed once, not once for every other
      for (const NamedDeviation& one : all.deviations())
        wrong.push_back(deviate(p, one.how, which).of(which));
      Mistakes mistakes = all.patterns();
      for (std::size_t i = 0; i < wrong.size(); ++i)
        mistakes.push_back(grading::gives(
            all.deviations()[i].name, [&wrong, i] { return wrong[i]; }, "sentence"));
      mistakes = by_name(std::move(mistakes));
      for (std::size_t i = 0; i < wrong.size(); ++i) {
        const NamedDeviation& one = all.deviations()[i];
        const Tensor<float> got = rounded(wrong[i]);
        const Comparison comparison =
            compare(got, name_of(which), expected.of(which), baseline.results.of(which));
        if (comparison.passed) continue;  // makes no difference here
        std::set<std::string> told, held;
        for (const Mistake& mistake : mistakes) {
          held.insert(mistake.name);
          if (mistake.explain({got, expected.of(which), comparison})) told.insert(mistake.name);
        }
        INFO("in " << name_of(which) << ": " << one.sentence);
        CHECK(told.count(one.name) == 1);
        const auto before = explaining.emplace(one.name, told).first;
        std::erase_if(before->second,  // a mistake that this problem does not have is not contradicted
                      [&](const std::string& name) { return held.count(name) > 0 && told.count(name) == 0; });
      }
    }
  }
  for (const auto& [name, others] : explaining) {
    std::string all;
    for (const std::string& other : others) all += other + " ";
    INFO(name << " is explained everywhere by: " << all);
    CHECK(others.size() <= 2);  // the report tells two that nothing tells apart, and no more
  }
}

TEST_CASE("of mistakes with one name the first that fits speaks, and no other is in the way",
          "[attention_tests]") {
  const Tensor<double> right({4}, 1.0);
  const auto gives = [&](const char* name, double value, const char* sentence) {
    return grading::gives(
        name, [value] { return Tensor<double>({4}, value); }, sentence);
  };
  const Mistakes mistakes = by_name(
      {gives("a", 3, "none"), gives("a", 2, "first"), gives("b", 4, "other"), gives("a", 2, "second")});
  REQUIRE(mistakes.size() == 2);
  const Tensor<float> got({4}, 2.0f), exact({4}, 1.0f);
  const Comparison comparison = compare(got, "x", right, exact);
  const std::vector<grading::Attempt> attempts = grading::try_mistakes(mistakes, {got, right, comparison});
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0].mistake == "a");
  CHECK(attempts[0].sentence == "first");
  CHECK(attempts[1].sentence.empty());
}

TEST_CASE("numbers that a mistake gives, but that lie within rounding of the right ones, say nothing of it",
          "[attention_tests]") {
  const Tensor<double> right({4}, 1.0);
  Tensor<float> baseline({4}, 1.0f);
  baseline(0) = 1.0005f;  // so that 0.001 passes
  const auto told = [&](double wrong, float got) {
    const Tensor<float> result({4}, got);
    const Comparison comparison = compare(result, "x", right, baseline);
    REQUIRE_FALSE(comparison.passed);
    return gives_about(
               "", [wrong] { return Tensor<double>({4}, wrong); }, "fits")
        .explain({result, right, comparison});
  };
  CHECK(told(1.01, 1.01f) == "fits");
  CHECK(told(1.002, 1.0025f) == "");          // a mistake that the data hide
  CHECK(told(1.002, 1.01f) == std::nullopt);  // it does not give that
  CHECK(told(1.0, 1.0025f) == std::nullopt);  // it changes nothing here, and something is wrong
}

TEST_CASE("a last tile that counts is told of fewer keys than a tile holds, too", "[attention_tests]") {
  const Problem p = random_problem({1, 2, 3, 4, 5});
  const Forward64 expected = expected_of(p);
  const Baseline baseline = in_float32(p, attention_of(p));
  const Tensor<float> got = rounded(deviate(p, {.tile = 64, .tail_counts = true}, Which::lse).lse);
  const Comparison comparison = compare(got, "lse", expected.lse, baseline.results.lse);
  std::set<std::string> told;
  for (const Mistake& mistake : mistakes_in(p, Which::lse))
    if (mistake.explain({got, expected.lse, comparison}).value_or("") != "") told.insert(mistake.name);
  CHECK(told == std::set<std::string>{"tail_counted"});
}

TEST_CASE("a query of infinities has a score of NaN with what lies behind the last key",
          "[attention_tests]") {
  Problem p = random_problem({1, 1, 2, 4, 3});
  p.Q(0, 0, 1, 2) = -kInf;
  const Forward64 counted = deviate(p, {.tile = 8, .tail_counts = true}, Which::lse);
  CHECK(std::isfinite(counted.lse(0, 0, 0)));
  CHECK(std::isnan(counted.lse(0, 0, 1)));
}

TEST_CASE("tiles meet where a query of one sees a key of the other") {
  // Tiles of 64 and 6 queries, which stand at keys 60 to 123 and 124 to 129; of 64, 64 and 2 keys.
  const Problem all = random_problem({1, 1, 70, 130, 8}), old = random_problem({1, 1, 70, 130, 8}, window(1)),
                sinks = random_problem({1, 1, 70, 130, 8}, window(1, 3));
  const auto rows = [](const Meetings& meetings) { return std::pair{meetings.queries, meetings.keys}; };
  CHECK(rows(meetings_of(all)) == std::pair<Int, Int>{3 * 70, 2 * 130});
  CHECK(rows(meetings_of(old)) == std::pair<Int, Int>{2 * 64 + 2 * 6, 2 * 64 + 64 + 2});
  CHECK(rows(meetings_of(sinks)) == std::pair<Int, Int>{2 * 64 + 3 * 6, 2 * 64 + 130});
  CHECK(rows(meetings_of(old, 64, 128)) == std::pair<Int, Int>{64 + 2 * 6, 128 + 130});
  CHECK(rows(meetings_of(random_problem({1, 1, 70, 0, 8}))) == std::pair<Int, Int>{0, 0});
}

TEST_CASE("problems of unknown sizes have what they are for, whatever the seed") {
  const std::string name = grading::current_case().name;
  std::set<Int> dims, blocks_of_a_head;
  for (int seed = 0; seed < 100; ++seed) {
    grading::current_case().name = "seed " + std::to_string(seed);
    const Problem hidden = mostly_hidden();
    INFO(describe(hidden));
    dims.insert(hidden.D());
    const Int tiles = (hidden.Nq() + 63) / 64;
    CHECK(2 * meetings_of(hidden).keys <= tiles * hidden.Nk());  // twice as many may be loaded, backward
    CHECK(hidden.D() % 16 == 0);

    std::vector<Int> blocks;
    for (const Problem& p : of_many_blocks()) {
      INFO(describe(p));
      blocks.push_back((p.Nq() + 127) / 128);
      CHECK(p.H() * blocks.back() >= 10);
    }
    REQUIRE(blocks.size() == 2);
    CHECK(blocks[0] != blocks[1]);
    blocks_of_a_head.insert(blocks.begin(), blocks.end());
  }
  for (int seed = 0; seed < 10; ++seed) {
    grading::current_case().name = "seed " + std::to_string(seed);
    const std::vector<Problem> drawn = drawn_problems(kTakesAll, 128, seed % 2 == 1);
    REQUIRE(drawn.size() == 10);
    for (const Problem& p : drawn) {
      INFO(describe(p));
      CHECK(p.D() % 8 == 0);
      CHECK(p.D() <= 128);
      CHECK((p.scale > 0 || seed % 2 == 1));  // which the forward contract in 16 bits asks for
    }
    const auto& [few, wide, long_rows, long_and_wide, grouped] =
        std::tie(drawn[0], drawn[1], drawn[2], drawn[3], drawn[4]);
    CHECK((few.D() <= 64 && few.B() >= 4));
    CHECK((wide.D() > 64 && wide.B() >= 2));
    CHECK((long_rows.D() <= 64 && long_rows.Nk() >= 400));
    CHECK((long_and_wide.D() > 64 && long_and_wide.Nk() >= 130));
    CHECK((grouped.H() >= 7 * grouped.H_kv() && grouped.B() >= 2));
    const Problem& hidden = drawn[5];
    CHECK((hidden.sink && hidden.mask.window + hidden.mask.sinks <= 120 && hidden.Nk() >= 350));
    const Problem& steep = drawn[6];  // what a causal mask hides lies above what is seen, a sink above all
    CHECK((steep.mask.causal && steep.K(0, 0, steep.Nk() - 1, 0) - steep.K(0, 0, 60, 0) >= 128.0f));
    CHECK((*steep.sink)(steep.H() - 1) > 1900.0f);
    const auto& [plain, full, dense] = std::tie(drawn[7], drawn[8], drawn[9]);
    for (const Problem& whole : {plain, full, dense})
      CHECK((whole.Nq() % 128 == 0 && whole.Nk() % 64 == 0 && whole.D() % 64 == 0));
    CHECK((plain.D() != full.D() && plain.B() != full.B() && plain.Nq() != full.Nq()));
    for (const Problem& whole : {plain, full, dense})
      CHECK((whole.H_kv() == 2 && whole.H() == (whole.B() == 1 ? 6 : 2)));
    CHECK((!plain.sink && plain.mask.window > plain.Nk() && plain.mask.sinks == 0));
    CHECK((full.sink && full.mask.window < full.Nk() && full.mask.sinks > 0));
    CHECK((plain.placed == Placed::aligned) != (full.placed == Placed::aligned));
    CHECK((dense.placed == Placed::dense && dense.mask.window < dense.Nk() && dense.Nq() == 256));
    CHECK(std::ranges::count_if(drawn, [](const Problem& p) { return !p.sink && is_far_below_0(p); }) == 1);
    for (const auto has : {+[](const Problem& p) { return p.mask.causal; },
                           +[](const Problem& p) { return p.mask.window <= p.Nk() + 20; },
                           +[](const Problem& p) { return p.format == Format16::float16; }}) {
      const auto having = std::ranges::count_if(drawn, has);
      CHECK((having >= 1 && having <= 9));
    }
    const std::vector<Problem> negative = drawn_problems({}, 128, false);
    CHECK(negative.size() == 9);
    CHECK(std::ranges::count_if(negative, is_far_below_0) == 1);
    CHECK(std::ranges::any_of(negative, [](const Problem& p) { return p.scale < 0; }));
  }
  grading::current_case().name = name;
  CHECK(dims == std::set<Int>{16, 32, 48, 80, 96, 112, 128});
  CHECK(blocks_of_a_head == std::set<Int>{2, 3, 4, 5});
}
