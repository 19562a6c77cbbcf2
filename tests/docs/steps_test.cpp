#include "steps/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include "reference/attention.hpp"
#include "support/catch.hpp"

using namespace course;
using steps::Phase;
using Json = nlohmann::json;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRows = steps::kRows, kTile = steps::kTile, kTiles = steps::kTiles;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The first `keys` rows of a matrix (1, 1, kRows, kDim).
Tensor<float> first_rows(const Tensor<float>& x, std::int64_t keys) {
  Tensor<float> rows({1, 1, keys, steps::kDim});
  for (std::int64_t i = 0; i < rows.numel(); ++i) rows.at_linear(i) = x.at_linear(i);
  return rows;
}

/// What is right for a setting, over the keys that are there.
reference::Attention whole(const steps::Setting& setting) {
  const steps::Problem p = steps::problem();
  return reference::attention(p.Q, first_rows(p.K, setting.keys), first_rows(p.V, setting.keys), p.scale,
                              setting.mask);
}

/// The settings without a slip.
std::vector<steps::Setting> right_settings() {
  std::vector<steps::Setting> settings = steps::settings();
  settings.erase(std::remove_if(settings.begin(), settings.end(),
                                [](const steps::Setting& one) { return one.slip != steps::Slip::none; }),
                 settings.end());
  return settings;
}

steps::Setting setting_of(const std::string& name) {
  const std::vector<steps::Setting> settings = steps::settings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const steps::Setting& setting) { return setting.name == name; });
  REQUIRE(found != settings.end());
  return *found;
}

/// Whether a query of one tile sees a key of another.
bool any_sees(const steps::Setting& setting, std::int64_t query_tile, std::int64_t key_tile) {
  for (std::int64_t i = query_tile * kTile; i < (query_tile + 1) * kTile; ++i)
    for (std::int64_t j = key_tile * kTile; j < (key_tile + 1) * kTile; ++j)
      if (j < setting.keys && reference::sees(setting.mask, i, j, kRows, kRows)) return true;
  return false;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the steps of every setting end with what the reference gives for all keys", "[docs]") {
  for (const steps::Setting& setting : right_settings()) {
    INFO(setting.name);
    const reference::Attention expected = whole(setting);
    std::int64_t stored = 0;
    for (const steps::Step& step : steps::steps_of(setting)) {
      CHECK(step.lse.has_value() == (step.phase == Phase::store));
      if (step.phase != Phase::store) continue;
      for (std::int64_t row = 0; row < kTile; ++row) {
        const std::int64_t query = step.query_tile * kTile + row;
        CHECK(std::abs((*step.lse)[at(row)] - expected.lse(0, 0, query)) <= 1e-12);
        CHECK(std::abs(step.m[at(row)] + std::log(step.l[at(row)]) - expected.lse(0, 0, query)) <= 1e-12);
        for (std::int64_t d = 0; d < steps::kDim; ++d) {
          CHECK(std::abs(step.result[at(row)][at(d)] - expected.O(0, 0, query, d)) <= 1e-12);
          CHECK(std::abs(step.O[at(row)][at(d)] / step.l[at(row)] - expected.O(0, 0, query, d)) <= 1e-12);
        }
      }
      ++stored;
    }
    CHECK(stored == kTiles);
  }
}

TEST_CASE("the states between tiles are sums over the keys seen so far, straight from their definitions",
          "[docs]") {
  for (const steps::Setting& setting : right_settings()) {
    INFO(setting.name);
    const reference::Attention a = whole(setting);
    const steps::Problem p = steps::problem();
    for (const steps::Step& step : steps::steps_of(setting)) {
      if (step.phase != Phase::weights && step.phase != Phase::skip) continue;
      const std::int64_t keys = (*step.key_tile + 1) * kTile;
      for (std::int64_t row = 0; row < kTile; ++row) {
        const std::int64_t query = step.query_tile * kTile + row;
        double m = -kInf, l = 0;
        for (std::int64_t j = 0; j < std::min(keys, setting.keys); ++j) m = std::max(m, a.S(0, 0, query, j));
        std::array<double, steps::kDim> O{};
        for (std::int64_t j = 0; j < std::min(keys, setting.keys); ++j) {
          if (!reference::sees(setting.mask, query, j, kRows, kRows)) continue;
          const double weight = std::exp(a.S(0, 0, query, j) - m);
          l += weight;
          for (std::int64_t d = 0; d < steps::kDim; ++d)
            O[at(d)] += weight * static_cast<double>(p.V(0, 0, j, d));
        }
        CHECK(step.m[at(row)] == m);
        CHECK(std::abs(step.l[at(row)] - l) <= 1e-12);
        for (std::int64_t d = 0; d < steps::kDim; ++d)
          CHECK(std::abs(step.O[at(row)][at(d)] - O[at(d)]) <= 1e-12);
      }
    }
  }
}

TEST_CASE("a tile of keys is skipped exactly if no query of the tile sees any of its keys", "[docs]") {
  for (const steps::Setting& setting : right_settings()) {
    INFO(setting.name);
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Phase>> phases;
    for (const steps::Step& step : steps::steps_of(setting))
      if (step.key_tile) phases[{step.query_tile, *step.key_tile}].push_back(step.phase);
    CHECK(phases.size() == at(kTiles * kTiles));
    const std::vector<Phase> four{Phase::scores, Phase::maximum, Phase::rescale, Phase::weights};
    for (const auto& [tiles, found] : phases) {
      CAPTURE(tiles.first, tiles.second);
      const bool seen = any_sees(setting, tiles.first, tiles.second);
      CHECK(found == (seen ? four : std::vector<Phase>{Phase::skip}));
    }
  }
}

TEST_CASE("the switches change what is skipped, as lessons 10, 12 and 13 say", "[docs]") {
  std::map<std::string, std::ptrdiff_t> skipped;
  for (const char* name : {"all", "causal", "window", "sinks"}) {
    const steps::Setting setting = setting_of(name);
    const std::vector<steps::Step> found = steps::steps_of(setting);
    skipped[name] = std::count_if(found.begin(), found.end(),
                                  [](const steps::Step& step) { return step.phase == Phase::skip; });
  }
  CHECK(skipped ==
        std::map<std::string, std::ptrdiff_t>{{"all", 0}, {"causal", 6}, {"window", 9}, {"sinks", 7}});
  CHECK_FALSE(setting_of("all").mask.causal);
  for (const char* name : {"causal", "window", "sinks"}) CHECK(setting_of(name).mask.causal);
  // Without sinks or without a window these masks would be other settings of the page.
  CHECK(setting_of("sinks").mask.window == setting_of("window").mask.window);
  CHECK(setting_of("sinks").mask.sinks == 1);
}

TEST_CASE("with all keys, the maximum rises late often enough to see the rescaling", "[docs]") {
  int below_one = 0, one = 0, rising_steps = 0;
  for (const steps::Step& step : steps::steps_of(setting_of("all"))) {
    if (step.phase != Phase::rescale || *step.key_tile == 0) continue;
    int rising = 0;
    for (const double factor : *step.factor) {
      CHECK(factor > 0.0);
      CHECK(factor <= 1.0);
      rising += factor < 1 ? 1 : 0;
      one += factor == 1 ? 1 : 0;
    }
    below_one += rising;
    rising_steps += rising > 0 ? 1 : 0;
  }
  CHECK(rising_steps >= 3);
  CHECK(below_one >= 3);
  CHECK(one >= 3);  // and rows that stay are there to compare with
}

TEST_CASE("a query that has seen no key yet keeps m at -inf, and its factor and weights are 0, not NaN",
          "[docs]") {
  int met = 0;
  for (const steps::Step& step : steps::steps_of(setting_of("window"))) {
    for (std::size_t row = 0; row < at(kTile); ++row) {
      CHECK_FALSE(std::isnan(step.l[row]));
      if (step.phase != Phase::weights || step.m[row] != -kInf) continue;
      ++met;
      CHECK((*step.factor)[row] == 0.0);
      CHECK((*step.P)[row] == steps::Column{});
      CHECK(step.l[row] == 0.0);
    }
  }
  CHECK(met >= 1);
}

TEST_CASE("three decimals show every score and every input exactly", "[docs]") {
  const auto exact = [](double value) { return value * 1000 == std::round(value * 1000); };
  const steps::Problem p = steps::problem();
  for (const Tensor<float>* x : {&p.Q, &p.K, &p.V})
    for (std::int64_t i = 0; i < x->numel(); ++i) CHECK(exact(static_cast<double>(x->at_linear(i))));
  const reference::Attention a = whole(setting_of("all"));
  for (std::int64_t i = 0; i < a.S.numel(); ++i) CHECK(exact(a.S.at_linear(i)));
}

TEST_CASE("numbers have three decimals and a minus sign, and no zero is negative", "[docs]") {
  CHECK(steps::number(0.4724) == "0.472");
  CHECK(steps::number(-1.25) == "−1.250");
  CHECK(steps::number(-0.0001) == "0.000");
  CHECK(steps::number(-kInf) == "−∞");
}

TEST_CASE("the script is ASCII and an assignment of JSON that holds every step of each pass", "[docs]") {
  const std::string script = steps::script();
  CHECK(std::all_of(script.begin(), script.end(), [](char c) { return c > 0; }));
  const std::string head = "window.flashSteps = ";
  const std::size_t begin = script.find(head), end = script.find(";\nwindow.flashBackward = ");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  CHECK(script.rfind(";\n") == script.size() - 2);
  const Json data = Json::parse(script.substr(begin + head.size(), end - begin - head.size()));

  const std::vector<steps::Setting> settings = steps::settings();
  REQUIRE(data.at("settings").size() == settings.size());
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const Json& written = data["settings"][s];
    INFO(settings[s].name);
    CHECK(written.at("name") == settings[s].name);
    const std::vector<steps::Step> expected = steps::steps_of(settings[s]);
    REQUIRE(written.at("steps").size() == expected.size());
    CHECK(written.at("first_rescale") == steps::first_rescale(expected).value());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json& step = written["steps"][i];
      CAPTURE(i);
      CHECK(step.at("query_tile") == expected[i].query_tile);
      CHECK(step.at("l") == expected[i].l);
      CHECK(step.at("O") == expected[i].O);
      CHECK(step.at("says") == expected[i].says);
      CHECK(step.at("S").is_null() == !expected[i].S.has_value());
      CHECK(step.at("P").is_null() == !expected[i].P.has_value());
      CHECK(step.at("m")[0] == (expected[i].m[0] == -kInf ? Json("-inf") : Json(expected[i].m[0])));
      CHECK(step.at("result")[0].is_null() == (expected[i].l[0] == 0));
    }
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t j = 0; j < kRows; ++j)
        CHECK(written["sees"][at(i)][at(j)] == steps::counts(settings[s], i, j));
  }
}

TEST_CASE("each step says in words what it does", "[docs]") {
  for (const steps::Setting& setting : right_settings()) {
    for (const steps::Step& step : steps::steps_of(setting)) {
      const bool of_rows = step.phase != Phase::load && step.phase != Phase::skip;
      CHECK(step.says.size() == (of_rows ? at(kTile) + 1 : 1));
      for (const std::string& sentence : step.says) CHECK(sentence.find("nan") == std::string::npos);
      if (step.phase == Phase::skip)
        CHECK_THAT(step.says[0],
                   Catch::Matchers::ContainsSubstring("skipped: no query of this tile sees these keys"));
    }
  }
  const std::vector<steps::Step> all = steps::steps_of(setting_of("all"));
}

TEST_CASE("scores, rescaling and weights are written out with their numbers", "[docs]") {
  const std::vector<steps::Step> all = steps::steps_of(setting_of("all"));
  CHECK(all[5].says[1] ==
        "Query 0: S = 0.875 and −0.750.\n"
        "Key 2: (−1 · 0 + 1.5 · 0.5 + 0 · (−0.5) + 1 · 1) · 0.5 = 0.875");
  CHECK(all[7].says ==
        std::vector<std::string>{
            "The factor brings l and O to the new maximum. O / l is the same before and after: "
            "the factor cancels.",
            "Query 0: the factor is e^(0.125 − 0.875) = e^(−0.750) = 0.472.\n"
            "l: 1.687 · 0.472 = 0.797\n"
            "O: (1.375, 1.000, 1.313, −1.313) · 0.472 = (0.649, 0.472, 0.620, −0.620)",
            "Query 1: the factor is e^(0.000 − 0.500) = e^(−0.500) = 0.607.\n"
            "l: 1.687 · 0.607 = 1.023\n"
            "O: (2.000, 0.687, 0.375, −0.375) · 0.607 = (1.213, 0.417, 0.227, −0.227)"});
  CHECK(all[8].says[1] ==
        "Query 0: P = 1.000 and 0.197.\n"
        "l: 0.797 + 1.000 + 0.197 = 1.994\n"
        "O, first number: 0.649 + 1.000 · (−2) + 0.197 · 1 = −1.154");
  // A hidden key is no term of a sum, and no score to be written out.
  const std::vector<steps::Step> window = steps::steps_of(setting_of("window"));
  CHECK(window[10].says[1] ==
        "Query 2: S = 0.500 (key 0 is hidden).\n"
        "Key 1: (−1 · (−0.5) + (−0.5) · (−0.5) + (−0.5) · 1 + 1.5 · 0.5) · 0.5 = 0.500");
  CHECK(window[13].says[1] ==
        "Query 2: P = 1.000 (key 0 is hidden).\n"
        "l: 0.000 + 1.000 = 1.000\n"
        "O, first number: 0.000 + 1.000 · 0 = 0.000");
}

TEST_CASE("what is written out are the numbers before, between and after, in every setting", "[docs]") {
  using Catch::Matchers::ContainsSubstring;
  for (const steps::Setting& setting : right_settings()) {
    INFO(setting.name);
    const std::vector<steps::Step> all = steps::steps_of(setting);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      const steps::Step& step = all[i];
      std::size_t dot_products = 0;
      for (std::size_t row = 0; row < at(kTile) && step.says.size() > row + 1; ++row) {
        const std::string& told = step.says[row + 1];
        const auto query = step.query_tile * kTile + static_cast<std::int64_t>(row);
        dot_products += told.find("\nKey ") != std::string::npos ? 1 : 0;
        if (step.phase == Phase::rescale) {
          const double factor = (*step.factor)[row];
          const bool scales = factor != 0 && factor != 1;
          CHECK((told.find("\nl: ") != std::string::npos) == scales);
          if (!scales) continue;
          const std::string by = " · " + steps::number(factor) + " = ";
          CHECK_THAT(told, ContainsSubstring("\nl: " + steps::number(all[i - 1].l[row]) + by +
                                             steps::number(step.l[row]) + "\n"));
          CHECK_THAT(told, ContainsSubstring("\nO: (" + steps::number(all[i - 1].O[row][0]) + ", "));
          CHECK_THAT(told, ContainsSubstring(by + "(" + steps::number(step.O[row][0]) + ", "));
          CHECK_THAT(step.says[0], ContainsSubstring("the factor cancels"));
          for (std::size_t d = 0; d < at(steps::kDim); ++d)
            CHECK(std::abs(step.O[row][d] / step.l[row] - all[i - 1].O[row][d] / all[i - 1].l[row]) <= 1e-12);
        }
        if (step.phase == Phase::weights) {
          std::string sum = "\nl: " + steps::number(all[i - 1].l[row]);
          for (std::int64_t col = 0; col < kTile; ++col)
            if (steps::counts(setting, query, *step.key_tile * kTile + col))
              sum += " + " + steps::number((*step.P)[row][at(col)]);
          if (sum.find(" + ") == std::string::npos) {
            CHECK(told.find('\n') == std::string::npos);
            continue;
          }
          CHECK_THAT(told, ContainsSubstring(sum + " = " + steps::number(step.l[row]) + "\n"));
          CHECK_THAT(told,
                     ContainsSubstring("\nO, first number: " + steps::number(all[i - 1].O[row][0]) + " + "));
          CHECK_THAT(told, Catch::Matchers::EndsWith(" = " + steps::number(step.O[row][0])));
        }
      }
      CHECK(dot_products == (step.phase == Phase::scores ? 1 : 0));
    }
  }
}

// What a kernel with the slip computes, in sums over the scores: nothing goes from tile to tile.

TEST_CASE("without rescaling, each weight in O stands on the maximum of its own time", "[docs]") {
  const steps::Setting setting = setting_of("output_not_rescaled");
  const reference::Attention a = whole(setting);
  const steps::Problem p = steps::problem();
  int wrong = 0;
  for (const steps::Step& step : steps::steps_of(setting)) {
    if (step.phase != Phase::store) continue;
    for (std::int64_t row = 0; row < kTile; ++row) {
      const std::int64_t query = step.query_tile * kTile + row;
      for (std::int64_t d = 0; d < steps::kDim; ++d) {
        double O = 0, l = 0, m = -kInf;
        for (std::int64_t j = 0; j < kRows; ++j) m = std::max(m, a.S(0, 0, query, j));
        for (std::int64_t j = 0; j < kRows; ++j) {
          double m_then = -kInf;
          for (std::int64_t k = 0; k < (j / kTile + 1) * kTile; ++k)
            m_then = std::max(m_then, a.S(0, 0, query, k));
          O += std::exp(a.S(0, 0, query, j) - m_then) * static_cast<double>(p.V(0, 0, j, d));
          l += std::exp(a.S(0, 0, query, j) - m);
        }
        CHECK(std::abs(step.O[at(row)][at(d)] - O) <= 1e-12);
        CHECK(std::abs(step.result[at(row)][at(d)] - O / l) <= 1e-12);
        wrong += std::abs(O / l - a.O(0, 0, query, d)) > 1e-3 ? 1 : 0;
      }
      CHECK(std::abs((*step.lse)[at(row)] - a.lse(0, 0, query)) <=
            1e-12);  // l is right, and O alone is wrong
    }
  }
  CHECK(wrong >= 16);
}

TEST_CASE("without its mask, the tail of the last tile is one more key with a score of 0", "[docs]") {
  const steps::Setting setting = setting_of("tail_not_hidden");
  const reference::Attention a = whole(setting);
  for (const steps::Step& step : steps::steps_of(setting)) {
    if (step.phase != Phase::store) continue;
    for (std::int64_t row = 0; row < kTile; ++row) {
      const std::int64_t query = step.query_tile * kTile + row;
      const double sum = std::exp(a.lse(0, 0, query));  // its value is 0, so O lacks what l has too much
      CHECK(std::abs((*step.lse)[at(row)] - std::log(sum + 1)) <= 1e-12);
      for (std::int64_t d = 0; d < steps::kDim; ++d)
        CHECK(std::abs(step.result[at(row)][at(d)] - a.O(0, 0, query, d) * sum / (sum + 1)) <= 1e-12);
    }
  }
}

TEST_CASE("in base 2, the weights are those of scores times log 2", "[docs]") {
  const steps::Setting setting = setting_of("base_2");
  const steps::Problem p = steps::problem();
  const double log_2 = std::log(2.0);
  const reference::Attention a = reference::attention(p.Q, p.K, p.V, p.scale * log_2);
  for (const steps::Step& step : steps::steps_of(setting)) {
    if (step.phase != Phase::store) continue;
    for (std::int64_t row = 0; row < kTile; ++row) {
      const std::int64_t query = step.query_tile * kTile + row;
      const double m = step.m[at(row)];
      CHECK(std::abs((*step.lse)[at(row)] - (m + a.lse(0, 0, query) - m * log_2)) <= 1e-12);
      for (std::int64_t d = 0; d < steps::kDim; ++d)
        CHECK(std::abs(step.result[at(row)][at(d)] - a.O(0, 0, query, d)) <= 1e-12);
    }
  }
}

TEST_CASE("a slip has as many steps as the setting that it is held against, and says what would be right",
          "[docs]") {
  int slips = 0;
  for (const steps::Setting& setting : steps::settings()) {
    if (setting.slip == steps::Slip::none) continue;
    INFO(setting.name);
    ++slips;
    const std::vector<steps::Step> wrong = steps::steps_of(setting);
    const std::vector<steps::Step> right = steps::steps_of(setting_of(setting.right));
    REQUIRE(wrong.size() == right.size());
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      CHECK(wrong[i].phase == right[i].phase);
      CHECK_FALSE(wrong[i].asks);
      if (wrong[i].phase != Phase::store) continue;
      CHECK_THAT(wrong[i].says[1], Catch::Matchers::ContainsSubstring("Right would be O / l = (" +
                                                                      steps::number(right[i].result[0][0])));
      CHECK_THAT(wrong[i].says[1],
                 Catch::Matchers::EndsWith("lse = " + steps::number((*right[i].lse)[0]) + "."));
    }
  }
  CHECK(slips == 3);
}

TEST_CASE("a question has one right answer, which the step shows, and wrong ones that look different",
          "[docs]") {
  for (const steps::Setting& setting : right_settings()) {
    INFO(setting.name);
    for (const steps::Step& step : steps::steps_of(setting)) {
      if (!step.asks) continue;
      INFO(step.asks->text);
      const steps::Question& asked = *step.asks;
      REQUIRE(asked.choices.size() >= 2);
      for (std::size_t i = 1; i < asked.choices.size(); ++i) {
        CHECK(steps::number(asked.choices[i - 1].value) != steps::number(asked.choices[i].value));
        CHECK(asked.choices[i - 1].value < asked.choices[i].value);
      }
      const double right = asked.choices.at(asked.right).value;
      const auto holds = [&](const steps::Column& x) { return x[0] == right || x[1] == right; };
      const bool shown = step.phase == Phase::scores    ? holds((*step.S)[0]) || holds((*step.S)[1])
                         : step.phase == Phase::maximum ? holds(*step.m_new)
                         : step.phase == Phase::rescale ? holds(*step.factor)
                         : step.phase == Phase::weights
                             ? std::abs(step.l[0] - right) <= 1e-12 || std::abs(step.l[1] - right) <= 1e-12
                             : holds(*step.lse);
      CHECK(shown);
    }
  }
}

TEST_CASE("the first rescale is the first step with a factor between 0 and 1", "[docs]") {
  for (const steps::Setting& setting : right_settings()) {
    INFO(setting.name);
    const std::vector<steps::Step> all = steps::steps_of(setting);
    const std::optional<std::size_t> found = steps::first_rescale(all);
    REQUIRE(found.has_value());
    for (std::size_t i = 0; i <= *found; ++i) {
      if (!all[i].factor || all[i].phase != Phase::rescale) {
        CHECK(i < *found);
        continue;
      }
      const bool between = std::any_of(all[i].factor->begin(), all[i].factor->end(),
                                       [](double factor) { return factor > 0 && factor < 1; });
      CHECK(between == (i == *found));
    }
    CHECK_FALSE(steps::first_rescale({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(*found)}));
  }
  CHECK(steps::first_rescale(steps::steps_of(setting_of("all"))) == std::optional<std::size_t>(7));
}

TEST_CASE("the table of docs/steps.md is the one that export_steps prints", "[docs]") {
  const std::string page = text_of(COURSE_TEST_STEPS_PAGE);
  const std::string begin = "<!-- table: steps -->\n", end = "<!-- /table -->\n";
  const std::size_t from = page.find(begin), to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  CHECK(page.substr(from + begin.size(), to - from - begin.size()) == steps::table());

  std::string values = "| key | value |\n|---|---|\n";
  const steps::Problem p = steps::problem();
  for (std::int64_t j = 0; j < kRows; ++j) {
    values += "| " + std::to_string(j) + " | (";
    for (std::int64_t d = 0; d < steps::kDim; ++d) {
      const auto value = static_cast<int>(p.V(0, 0, j, d));
      values += (d == 0 ? "" : ", ") + std::string(value < 0 ? "−" : "") + std::to_string(std::abs(value));
    }
    values += ") |\n";
  }
  CHECK_THAT(page, Catch::Matchers::ContainsSubstring(values + "\n"));
}
