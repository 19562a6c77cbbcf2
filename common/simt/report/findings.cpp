#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "simt/report/text.hpp"
#include "simt/report/text_layout.hpp"

namespace simt::report {
namespace {

std::string_view code_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "\033[1;31m";
    case Severity::warning:
      return "\033[1;35m";
    case Severity::note:
      break;
  }
  return "\033[1;36m";
}

/// Paints the word behind the place: "kernel.cu:31: error: ...".
void paint_severity(std::string& text, Severity severity) {
  const std::string word = to_string(severity);
  const std::size_t at = text.find(word + ":");
  if (at == std::string::npos) return;
  text.insert(at + word.size() + 1, "\033[0m");
  text.insert(at, code_of(severity));
}

/// The program's own lines on both sides, in the order of the file, each once.
std::string source_lines(const Finding& finding, const TextStyle& style) {
  std::map<std::pair<std::string, int>, std::string> lines;
  for (const FindingSide* side : {&finding.here, &finding.other})
    if (const SourceCall own = side->own(); !own.text.empty()) lines[{own.file, own.line}] = own.text;
  std::string text;
  for (const auto& [place, code] : lines) {
    const std::string line = fmt::format("    {:>4} | {}", place.second, code);
    text += (style.width == 0 ? line : fit(line, style.width)) + "\n";
  }
  return text;
}

}  // namespace

std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style) {
  std::string text;
  for (const Finding& finding : findings) {
    std::string lines = wrap(finding.message(), 4, style.width);
    if (style.colours) paint_severity(lines, finding.severity);
    text += lines + source_lines(finding, style);
  }
  return text;
}

}  // namespace simt::report
