#include <nlohmann/json.hpp>

#include "simt/report/fields.hpp"
#include "simt/report/json.hpp"

namespace simt::report {
namespace {

Json counters_json(const Counters& counters) {
  Json json;
  for (const auto& kind : kGlobalKinds)
    for (const auto& field : kGlobalFields) json[kind.name][field.name] = counters.*kind.member.*field.member;
  for (const auto& kind : kSharedKinds) {
    for (const auto& field : kSharedFields) json[kind.name][field.name] = counters.*kind.member.*field.member;
    json[kind.name]["conflicts"] = (counters.*kind.member).conflicts();
  }
  for (const auto& field : kEventFields) json[field.name] = counters.*field.member;
  return json;
}

}  // namespace

Json to_json(const LaunchProfile& profile) {
  Json lines = Json::array();
  for (const LineProfile& line : profile.lines)
    lines.push_back({{"file", line.file}, {"line", line.line}, {"counters", counters_json(line.counters)}});
  return {{"kernel", profile.kernel},
          {"grid", profile.grid},
          {"block", profile.block},
          {"total", counters_json(profile.total)},
          {"order",
           {{"blocks", profile.order.blocks},
            {"work", profile.order.work},
            {"last_largest", profile.order.last_largest},
            {"busiest", profile.order.busiest}}},
          {"lines", std::move(lines)}};
}

}  // namespace simt::report
