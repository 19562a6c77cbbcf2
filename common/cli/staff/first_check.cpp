#include "cli/staff/first_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "cli/report.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Up to the points, and with one blank for several: the time behind them is another every time.
void cut_time(std::string& heading) {
  constexpr std::string_view kPoints = " points";
  if (const std::size_t at = heading.find(kPoints); at != std::string::npos)
    heading.resize(at + kPoints.size());
  const auto blanks = [](char a, char b) { return a == ' ' && b == ' '; };
  heading.erase(std::unique(heading.begin(), heading.end(), blanks), heading.end());
}

/// The block that begins with this line, without its fences.
std::vector<std::string> block_of(const std::vector<std::string>& notes, const std::string& beginning) {
  const auto first = std::find_if(notes.begin(), notes.end(),
                                  [&](const std::string& line) { return line.starts_with(beginning); });
  return {first, std::find(first, notes.end(), "```")};
}

}  // namespace

std::string why_notes_differ(const LessonReport& of_stub) {
  LessonReport report = of_stub;
  report.source = report.lesson.stub();  // a judge has made the stub anew, elsewhere
  const std::string number = report.lesson.two_digits();
  std::vector<std::string> said =
      lines_of(render_report(Terminal(80, false), report, {.command = "./course check " + number}));
  std::vector<std::string> noted =
      block_of(lines_of(read_file(report.lesson.folder() / "README.md")), "FAIL  " + number + " ");
  if (noted.empty()) return "its README.md has no block with what its first check says.";
  cut_time(said.front());
  cut_time(noted.front());
  const std::size_t lines = std::max(said.size(), noted.size());
  said.resize(lines);
  noted.resize(lines);
  const auto [here, there] = std::mismatch(said.begin(), said.end(), noted.begin());
  if (here == said.end()) return "";
  return fmt::format("its first check says \"{}\" where its README.md has \"{}\".", *here, *there);
}

}  // namespace course::cli
