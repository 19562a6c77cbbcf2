#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "steps/backward.hpp"
#include "steps/steps.hpp"

namespace course::steps {
namespace {

using Index = std::int64_t;
using Json = nlohmann::json;
using reference::Mask;

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "load";
    case Phase::scores:
      return "scores";
    case Phase::maximum:
      return "maximum";
    case Phase::rescale:
      return "rescale";
    case Phase::weights:
      return "weights";
    case Phase::store:
      return "store";
    case Phase::skip:
      return "skip";
  }
  throw std::logic_error("no such phase");
}

Json json_of_step(const Step& step) {
  Json result = Json::array();
  for (Index row = 0; row < kTile; ++row)
    result.push_back(step.l[at(row)] == 0 ? Json() : json_of(step.result[at(row)]));
  return {{"phase", name_of(step.phase)},
          {"query_tile", step.query_tile},
          {"key_tile", step.key_tile ? Json(*step.key_tile) : Json()},
          {"S", json_of(step.S)},
          {"m", json_of(step.m)},
          {"m_new", json_of(step.m_new)},
          {"factor", json_of(step.factor)},
          {"P", json_of(step.P)},
          {"l", json_of(step.l)},
          {"O", json_of(step.O)},
          {"result", std::move(result)},
          {"lse", json_of(step.lse)},
          {"says", step.says},
          {"asks", json_of(step.asks)}};
}

const char* name_of(Slip slip) {
  switch (slip) {
    case Slip::none:
      return "none";
    case Slip::output_not_rescaled:
      return "output_not_rescaled";
    case Slip::tail_not_hidden:
      return "tail_not_hidden";
    case Slip::base_2:
      return "base_2";
  }
  throw std::logic_error("no such slip");
}

/// A setting's mask, its steps, and the O and lse that they store.
Json json_of_setting(const Setting& setting) {
  const Mask& mask = setting.mask;
  const Problem p = problem_of(setting);
  Json sees = Json::array(), lse = Json::array(), O = Json::array(), steps = Json::array();
  for (Index i = 0; i < kRows; ++i) {
    Json row = Json::array();
    for (Index j = 0; j < kRows; ++j) row.push_back(counts(setting, i, j));
    sees.push_back(std::move(row));
  }
  const std::vector<Step> all_steps = steps_of(setting);
  for (const Step& step : all_steps) {
    steps.push_back(json_of_step(step));
    if (step.phase != Phase::store) continue;
    for (Index row = 0; row < kTile; ++row) {
      O.push_back(json_of(step.result[at(row)]));
      lse.push_back(json_of((*step.lse)[at(row)]));
    }
  }
  const std::optional<std::size_t> rescale = first_rescale(all_steps);
  return {{"name", setting.name},
          {"causal", mask.causal},
          {"window", mask.window == Mask{}.window ? Json() : Json(mask.window)},
          {"sinks", mask.sinks},
          {"keys", setting.keys},
          {"slip", name_of(setting.slip)},
          {"right", setting.right},
          {"K", matrix(p.K)},
          {"V", matrix(p.V)},
          {"sees", std::move(sees)},
          {"steps", std::move(steps)},
          {"first_rescale", rescale ? Json(*rescale) : Json()},
          {"O", std::move(O)},
          {"lse", std::move(lse)}};
}

}  // namespace

Json data() {
  const Problem p = problem();
  Json all{{"rows", kRows},    {"dim", kDim},      {"tile", kTile},    {"scale", p.scale},
           {"Q", matrix(p.Q)}, {"K", matrix(p.K)}, {"V", matrix(p.V)}, {"settings", Json::array()}};
  for (const Setting& setting : settings()) all["settings"].push_back(json_of_setting(setting));
  return all;
}

std::string script() {
  const auto assignment = [](const char* name, const Json& value) {
    return fmt::format("window.{} = {};\n", name, value.dump(-1, ' ', true));
  };
  return "// Written by docs/steps/export_steps.cpp.\n" + assignment("flashSteps", data()) +
         assignment("flashBackward", backward::data());
}

std::string table() {
  std::string text =
      "| keys | S | m | e^(m_old − m) | P = e^(S − m) | l | O | O / l |\n|---|---|---|---|---|---|---|---|\n";
  constexpr std::size_t kRow = 0;  // query 0
  for (const Step& step : steps_of(settings()[0])) {
    if (step.query_tile != 0) break;
    const auto row = [&](const std::string& keys, const std::string& S, const std::string& factor,
                         const std::string& P, const std::string& result) {
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", keys, S, number(step.m[kRow]),
                          factor, P, number(step.l[kRow]), tuple(step.O[kRow]), result);
    };
    if (step.phase == Phase::load) row("none", "", "", "", "");
    if (step.phase == Phase::weights) {
      const auto pair = [](const Column& x) { return number(x[0]) + ", " + number(x[1]); };
      row(fmt::format("{}, {}", *step.key_tile * kTile, *step.key_tile * kTile + 1), pair((*step.S)[kRow]),
          number((*step.factor)[kRow]), pair((*step.P)[kRow]), tuple(step.result[kRow]));
    }
    if (step.phase == Phase::store)
      text += fmt::format("| stored | | | | | | lse = {} | {} |\n", number((*step.lse)[kRow]),
                          tuple(step.result[kRow]));
  }
  return text;
}

}  // namespace course::steps
