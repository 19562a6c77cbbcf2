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

reference::Attention whole(const reference::Mask& mask) {
  const steps::Problem p = steps::problem();
  return reference::attention(p.Q, p.K, p.V, p.scale, mask);
}

/// Whether a query of one tile sees a key of another.
bool any_sees(const reference::Mask& mask, std::int64_t query_tile, std::int64_t key_tile) {
  for (std::int64_t i = query_tile * kTile; i < (query_tile + 1) * kTile; ++i)
    for (std::int64_t j = key_tile * kTile; j < (key_tile + 1) * kTile; ++j)
      if (reference::sees(mask, i, j, kRows, kRows)) return true;
  return false;
}

const reference::Mask& mask_of(const std::vector<steps::Setting>& settings, const std::string& name) {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const steps::Setting& setting) { return setting.name == name; });
  REQUIRE(found != settings.end());
  return found->mask;
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
  for (const steps::Setting& setting : steps::settings()) {
    INFO(setting.name);
    const reference::Attention expected = whole(setting.mask);
    std::int64_t stored = 0;
    for (const steps::Step& step : steps::steps_of(steps::problem(), setting.mask)) {
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
  for (const steps::Setting& setting : steps::settings()) {
    INFO(setting.name);
    const reference::Attention a = whole(setting.mask);
    const steps::Problem p = steps::problem();
    for (const steps::Step& step : steps::steps_of(p, setting.mask)) {
      if (step.phase != Phase::weights && step.phase != Phase::skip) continue;
      const std::int64_t keys = (*step.key_tile + 1) * kTile;
      for (std::int64_t row = 0; row < kTile; ++row) {
        const std::int64_t query = step.query_tile * kTile + row;
        double m = -kInf, l = 0;
        for (std::int64_t j = 0; j < keys; ++j) m = std::max(m, a.S(0, 0, query, j));
        std::array<double, steps::kDim> O{};
        for (std::int64_t j = 0; j < keys; ++j) {
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
  for (const steps::Setting& setting : steps::settings()) {
    INFO(setting.name);
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Phase>> phases;
    for (const steps::Step& step : steps::steps_of(steps::problem(), setting.mask))
      if (step.key_tile) phases[{step.query_tile, *step.key_tile}].push_back(step.phase);
    CHECK(phases.size() == at(kTiles * kTiles));
    const std::vector<Phase> four{Phase::scores, Phase::maximum, Phase::rescale, Phase::weights};
    for (const auto& [tiles, found] : phases) {
      CAPTURE(tiles.first, tiles.second);
      const bool seen = any_sees(setting.mask, tiles.first, tiles.second);
      CHECK(found == (seen ? four : std::vector<Phase>{Phase::skip}));
    }
  }
}

TEST_CASE("the switches change what is skipped, as lessons 10, 12 and 13 say", "[docs]") {
  const std::vector<steps::Setting> settings = steps::settings();
  std::map<std::string, std::ptrdiff_t> skipped;
  for (const steps::Setting& setting : settings) {
    const std::vector<steps::Step> found = steps::steps_of(steps::problem(), setting.mask);
    skipped[setting.name] = std::count_if(found.begin(), found.end(),
                                          [](const steps::Step& step) { return step.phase == Phase::skip; });
  }
  CHECK(skipped ==
        std::map<std::string, std::ptrdiff_t>{{"all", 0}, {"causal", 6}, {"window", 9}, {"sinks", 7}});
  CHECK_FALSE(mask_of(settings, "all").causal);
  for (const char* name : {"causal", "window", "sinks"}) CHECK(mask_of(settings, name).causal);
  // Without sinks or without a window these masks would be other settings of the page.
  CHECK(mask_of(settings, "sinks").window == mask_of(settings, "window").window);
  CHECK(mask_of(settings, "sinks").sinks == 1);
}

TEST_CASE("with all keys, the maximum rises late often enough to see the rescaling", "[docs]") {
  int below_one = 0, one = 0, rising_steps = 0;
  for (const steps::Step& step : steps::steps_of(steps::problem(), {})) {
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
  for (const steps::Step& step : steps::steps_of(steps::problem(), mask_of(steps::settings(), "window"))) {
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
  const reference::Attention a = whole({});
  for (std::int64_t i = 0; i < a.S.numel(); ++i) CHECK(exact(a.S.at_linear(i)));
}

TEST_CASE("numbers have three decimals and a minus sign, and no zero is negative", "[docs]") {
  CHECK(steps::number(0.4724) == "0.472");
  CHECK(steps::number(-1.25) == "−1.250");
  CHECK(steps::number(-0.0001) == "0.000");
  CHECK(steps::number(-kInf) == "−∞");
}

TEST_CASE("the script is ASCII and one assignment of JSON that holds every step", "[docs]") {
  const std::string script = steps::script();
  CHECK(std::all_of(script.begin(), script.end(), [](char c) { return c > 0; }));
  const std::string head = "window.flashSteps = ";
  const std::size_t begin = script.find(head), end = script.rfind(";\n");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end == script.size() - 2);
  const Json data = Json::parse(script.substr(begin + head.size(), end - begin - head.size()));

  const std::vector<steps::Setting> settings = steps::settings();
  REQUIRE(data.at("settings").size() == settings.size());
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const Json& written = data["settings"][s];
    INFO(settings[s].name);
    CHECK(written.at("name") == settings[s].name);
    const std::vector<steps::Step> expected = steps::steps_of(steps::problem(), settings[s].mask);
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
        CHECK(written["sees"][at(i)][at(j)] == reference::sees(settings[s].mask, i, j, kRows, kRows));
  }
}

TEST_CASE("each step says in words what it does", "[docs]") {
  for (const steps::Setting& setting : steps::settings()) {
    for (const steps::Step& step : steps::steps_of(steps::problem(), setting.mask)) {
      const bool of_rows = step.phase != Phase::load && step.phase != Phase::skip;
      CHECK(step.says.size() == (of_rows ? at(kTile) + 1 : 1));
      for (const std::string& sentence : step.says) CHECK(sentence.find("nan") == std::string::npos);
      if (step.phase == Phase::skip)
        CHECK_THAT(step.says[0],
                   Catch::Matchers::ContainsSubstring("skipped: no query of this tile sees these keys"));
    }
  }
  const std::vector<steps::Step> all = steps::steps_of(steps::problem(), {});
}

TEST_CASE("scores, rescaling and weights are written out with their numbers", "[docs]") {
  const std::vector<steps::Step> all = steps::steps_of(steps::problem(), {});
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
  const std::vector<steps::Step> window =
      steps::steps_of(steps::problem(), mask_of(steps::settings(), "window"));
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
  for (const steps::Setting& setting : steps::settings()) {
    INFO(setting.name);
    const std::vector<steps::Step> all = steps::steps_of(steps::problem(), setting.mask);
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
            if (reference::sees(setting.mask, query, *step.key_tile * kTile + col, kRows, kRows))
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

TEST_CASE("the first rescale is the first step with a factor between 0 and 1", "[docs]") {
  for (const steps::Setting& setting : steps::settings()) {
    INFO(setting.name);
    const std::vector<steps::Step> all = steps::steps_of(steps::problem(), setting.mask);
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
  CHECK(steps::first_rescale(steps::steps_of(steps::problem(), {})) == std::optional<std::size_t>(7));
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
