#include <nlohmann/json.hpp>

#include "simt/report/document.hpp"
#include "simt/report/json.hpp"

namespace simt::report {
namespace {

Json call_json(const SourceCall& call) {
  return {{"file", call.file}, {"line", call.line}, {"function", call.function}, {"text", call.text}};
}

Json side_json(const FindingSide& side) {
  Json calls = Json::array();
  for (const SourceCall& call : side.calls) calls.push_back(call_json(call));
  return {{"file", side.file},
          {"line", side.line},
          {"block", side.block},
          {"thread", side.thread},
          {"calls", std::move(calls)}};
}

Json waiting_json(const WaitingThreads& group) {
  Json json = side_json(group.where);
  json["barrier"] = group.barrier;
  json["threads"] = Json::array();
  for (const LanesOfWarp& some : group.threads)
    json["threads"].push_back({{"warp", some.warp}, {"lanes", some.lanes}});
  json["awaited"] = group.awaited;
  return json;
}

}  // namespace

Json to_json(const Finding& finding) {
  Json json{{"class", finding.kind}, {"severity", to_string(finding.severity)}, {"kernel", finding.kernel}};
  json.update(side_json(finding.here));
  json["other"] = finding.other.line == 0 ? Json() : side_json(finding.other);
  json["headline"] = finding.here.line == 0 ? Json() : call_json(headline(finding));
  json["called_from"] = finding.called_from.empty() ? Json() : Json(finding.called_from);
  json["waiting"] = Json::array();
  for (const WaitingThreads& group : finding.waiting) json["waiting"].push_back(waiting_json(group));
  json["memory"] = finding.memory;
  json["element"] = finding.element;
  json["what"] = finding.what;
  json["rule"] = finding.rule;
  json["fix"] = finding.fix;
  json["message"] = finding.message();
  json["count"] = finding.count;
  return json;
}

std::string report_json(const std::vector<Finding>& findings, const std::vector<LaunchProfile>& profiles) {
  std::vector<Json> found, launches;
  for (const Finding& finding : findings) found.push_back(to_json(finding));
  for (const LaunchProfile& profile : profiles) launches.push_back(to_json(profile));
  return document({{"version", 1}}, {{"findings", std::move(found)}, {"launches", std::move(launches)}});
}

}  // namespace simt::report
