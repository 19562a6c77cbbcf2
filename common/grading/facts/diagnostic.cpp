#include "grading/facts/diagnostic.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace course::grading {
namespace {

constexpr std::string_view kSeverities[] = {"error", "warning", "note"};

Severity severity_of(const std::string& name) {
  const auto* found = std::find(std::begin(kSeverities), std::end(kSeverities), name);
  if (found == std::end(kSeverities)) throw std::invalid_argument("not a severity: " + name);
  return static_cast<Severity>(found - std::begin(kSeverities));
}

}  // namespace

std::string_view to_string(Severity severity) { return kSeverities[static_cast<std::size_t>(severity)]; }

Diagnostic diagnostic_of(const simt::Finding& finding) {
  return {.kind = finding.kind,
          .file = finding.here.file,
          .line = finding.here.line,
          .message = finding.message(),
          .severity = severity_of(simt::to_string(finding.severity)),
          .other_file = finding.other.file,
          .other_line = finding.other.line,
          .element = finding.element};
}

bool same_mistake(const Diagnostic& a, const Diagnostic& b) {
  if (a.line == 0 || b.line == 0) return a.kind == b.kind && a.message == b.message;
  return a.kind == b.kind && a.line == b.line && a.other_line == b.other_line && a.file == b.file &&
         a.other_file == b.other_file;
}

void add_new(std::vector<Diagnostic>& list, const std::vector<Diagnostic>& more) {
  for (const Diagnostic& diagnostic : more) {
    const bool known = std::any_of(list.begin(), list.end(),
                                   [&](const Diagnostic& other) { return same_mistake(diagnostic, other); });
    if (!known) list.push_back(diagnostic);
  }
}

void to_json(nlohmann::json& value, const Diagnostic& diagnostic) {
  value = {{"class", diagnostic.kind},
           {"severity", to_string(diagnostic.severity)},
           {"file", diagnostic.file},
           {"line", diagnostic.line},
           {"other", nullptr},
           {"element", diagnostic.element},
           {"message", diagnostic.message}};
  if (diagnostic.other_line > 0)
    value["other"] = {{"file", diagnostic.other_file}, {"line", diagnostic.other_line}};
  if (!diagnostic.tool.empty()) {
    value["tool"] = diagnostic.tool;
    value["count"] = diagnostic.count;
  }
}

void from_json(const nlohmann::json& value, Diagnostic& diagnostic) {
  value.at("class").get_to(diagnostic.kind);
  value.at("file").get_to(diagnostic.file);
  value.at("line").get_to(diagnostic.line);
  value.at("message").get_to(diagnostic.message);
  diagnostic.severity = severity_of(value.value("severity", "error"));
  diagnostic.element = value.value("element", "");
  diagnostic.tool = value.value("tool", "");
  diagnostic.count = value.value("count", std::uint64_t{1});
  diagnostic.other_file.clear();
  diagnostic.other_line = 0;
  if (value.contains("other") && !value["other"].is_null()) {
    value["other"].at("file").get_to(diagnostic.other_file);
    value["other"].at("line").get_to(diagnostic.other_line);
  }
}

}  // namespace course::grading
