// What `course doctor` found, in words.

#include <fmt/core.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/doctor.hpp"

namespace course::cli {
namespace {

constexpr std::size_t kMarkColumns = 8, kFindingColumns = 21;
constexpr std::size_t kDetail = kMarkColumns + kFindingColumns;

struct Mark {
  const char* word;
  Style style;
};

Mark mark_of(State state) {
  switch (state) {
    case State::fine:
      return {"ok", Style::good};
    case State::missing:
      return {"none", Style::note};
    case State::too_old:
      return {"old", Style::bad};
    case State::broken:
      return {"fails", Style::bad};
  }
  return {"", Style::plain};
}

const char* state_name(State state) {
  switch (state) {
    case State::fine:
      return "fine";
    case State::missing:
      return "missing";
    case State::too_old:
      return "too_old";
    case State::broken:
      return "broken";
  }
  return "";
}

/// A text that begins behind the name's column on a line that is there already.
std::string behind(const std::string& text, std::size_t width) {
  const std::string wrapped = wrap(text, kDetail, width);
  return wrapped.empty() ? "\n" : wrapped.substr(kDetail);
}

std::string finding_text(const Terminal& terminal, const Discovery& finding) {
  const Mark mark = mark_of(finding.state);
  std::string text = "  " + terminal.paint(mark.style, mark.word) +
                     std::string(kMarkColumns - 2 - std::string_view(mark.word).size(), ' ') +
                     fmt::format("{:<{}} ", finding.name, kFindingColumns - 1) +
                     behind(finding.detail, terminal.width());
  if (!finding.gives.empty()) text += wrap("For: " + finding.gives + ".", kDetail, terminal.width());
  if (finding.remedy.empty()) return text;
  // A command stays in one piece, so that it can be copied.
  const bool command = finding.remedy.starts_with("sudo ");
  return text + (command ? std::string(kDetail, ' ') + finding.remedy + "\n"
                         : wrap("To do: " + finding.remedy + ".", kDetail, terminal.width()));
}

std::string verdict_of(const Examination& examination) {
  if (examination.gpu)
    return examination.simulator ? "Kernels run in the simulator and on a GPU." : "Kernels run on a GPU.";
  return examination.simulator ? "Kernels run in the simulator: this machine is ready for the course."
                               : "Kernels run nowhere on this machine; what fails is marked above.";
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Replaces a path or name where it is not a part of a longer name.
void replace_all(std::string& text, const std::string& what, const std::string& with) {
  if (what.size() < 2) return;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    const std::size_t end = at + what.size();
    const bool whole = (at == 0 || !is_name_character(text[at - 1])) &&
                       (end == text.size() || !is_name_character(text[end]));
    if (whole) text.replace(at, what.size(), with);
    at += whole ? with.size() : 1;
  }
}

}  // namespace

std::string to_text(const Terminal& terminal, const Examination& examination) {
  std::string text, part;
  for (const Discovery& finding : examination.findings) {
    if (finding.part != part)
      text += (part.empty() ? "" : "\n") + terminal.paint(Style::strong, finding.part) + "\n";
    part = finding.part;
    text += finding_text(terminal, finding);
  }
  text += "\n" +
          terminal.paint(examination.kernels_run() ? Style::good : Style::bad, verdict_of(examination)) +
          "\n";
  text += "\n" + terminal.paint(Style::strong, "For a bug report") + "\n";
  for (const std::string& line : examination.bug_report) text += wrap(line, 2, terminal.width());
  return text;
}

std::string to_json(const Examination& examination) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Discovery& finding : examination.findings)
    findings.push_back({{"part", finding.part},
                        {"name", finding.name},
                        {"state", state_name(finding.state)},
                        {"detail", finding.detail},
                        {"gives", finding.gives},
                        {"remedy", finding.remedy}});
  const nlohmann::json root = {{"version", 1},
                               {"simulator", examination.simulator},
                               {"check_mode", examination.check_mode},
                               {"gpu", examination.gpu},
                               {"findings", findings},
                               {"bug_report", examination.bug_report}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string version_in(std::string_view text) {
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    std::size_t end = begin;
    while (is_digit(end) || (end > begin && text[end] == '.' && is_digit(end + 1))) ++end;
    const std::string_view number = text.substr(begin, end - begin);
    if (number.find('.') != std::string_view::npos) return std::string(number);
    if (end > begin) begin = end - 1;
  }
  return "";
}

bool is_below(const std::string& version, const std::string& least) {
  if (version.empty()) return false;
  std::istringstream have(version), want(least);
  for (std::string wanted; std::getline(want, wanted, '.');) {
    std::string had;
    if (!std::getline(have, had, '.')) had = "0";
    const int difference = std::atoi(had.c_str()) - std::atoi(wanted.c_str());
    if (difference != 0) return difference < 0;
  }
  return false;
}

std::string without_names(std::string text, const std::string& home, const std::string& project,
                          const std::string& user) {
  replace_all(text, project, ".");
  if (home != "/") replace_all(text, home, "~");
  if (user != "root") replace_all(text, user, "USER");
  return text;
}

}  // namespace course::cli
