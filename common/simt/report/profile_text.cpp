#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "simt/report/problems.hpp"
#include "simt/report/profile_table.hpp"
#include "simt/report/text.hpp"

namespace simt::report {
namespace {

constexpr std::size_t kProseWidth = 80;

std::string strong(const std::string& text, const TextStyle& style) {
  return style.colours ? "\033[1m" + text + "\033[0m" : text;
}

/// The lines whose table begins with a mark, in colour.
std::string paint_marks(const std::string& table, const TextStyle& style) {
  if (!style.colours) return table;
  std::string painted;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    const std::string line = table.substr(begin, end - begin);
    painted += (line.starts_with('!') ? "\033[33m" + line + "\033[0m" : line) + "\n";
    begin = end + 1;
  }
  return painted;
}

std::string place_of(const LineProfile& line, const LaunchProfile& profile) {
  const bool one_file = std::all_of(profile.lines.begin(), profile.lines.end(),
                                    [&](const LineProfile& other) { return other.file == line.file; });
  if (line.line == 0) return "somewhere";
  if (one_file) return fmt::format("line {}", line.line);
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

std::string heading(const LaunchGroup& group) {
  const std::string launch = fmt::format("{}<<<{}, {}>>>", group.sum.kernel, shape_text(group.sum.grid),
                                         shape_text(group.sum.block));
  return group.launches == 1 ? launch : fmt::format("{}, {} launches", launch, group.launches);
}

/// Which unit bounds the launch from below, and by how much; nothing if no arithmetic was seen.
std::string bound_text(const Counters& total) {
  if (!topics()[static_cast<std::size_t>(TopicName::bounds)].concerns(Sums(total, total))) return {};
  const Cycles cycles = least_cycles(total);
  const auto unit = static_cast<std::size_t>(busiest(cycles));
  return wrap(
      fmt::format(
          "Of these units, the {} {} longest: at least {} cycles, if one multiprocessor ran all blocks. "
          "An H200 has 132 of them.",
          kUnitNames[unit], unit == static_cast<std::size_t>(Unit::shared) ? "takes" : "take",
          count_text(static_cast<std::uint64_t>(std::ceil(cycles[unit])))),
      0, kProseWidth);
}

/// A warning if blocks that start last have more work than others.
std::string order_text(const BlockOrder& order) {
  constexpr double kMuch = 1.25;
  if (order.last_over_mean() < kMuch) return {};
  return wrap(
      fmt::format(
          "! The blocks that start last have up to {:.1f} times the work of the mean: while they run, "
          "most of a GPU has nothing left to do. Give the most work to the blocks with the lowest "
          "numbers.",
          order.last_over_mean()),
      2, kProseWidth);
}

std::string group_text(const LaunchGroup& group, Sources& sources, const TextStyle& style,
                       std::vector<const Column*>& shown) {
  const LaunchProfile& profile = group.sum;
  const std::vector<Problem> problems = find_problems(profile);
  std::string text = strong(heading(group), style) + "\n";
  bool any = false;
  for (std::size_t topic = 0; topic < topics().size(); ++topic) {
    std::vector<bool> marked(profile.lines.size(), false);
    for (const Problem& problem : problems)
      if (static_cast<std::size_t>(problem.topic) == topic) marked[problem.line] = true;
    const std::string table = table_text(topics()[topic], profile, marked, sources, shown);
    if (table.empty()) continue;
    any = true;
    text += "\n" + strong(topics()[topic].title, style) + "\n" + paint_marks(table, style);
  }
  if (!any) return text + "\nNothing to count: no access to memory, no barrier, no shuffle.\n";
  if (const std::string bound = bound_text(profile.total); !bound.empty()) text += "\n" + bound;
  text += "\n";
  for (const Problem& problem : problems)
    text += wrap(fmt::format("! {}: {}", place_of(profile.lines[problem.line], profile), problem.sentence), 2,
                 kProseWidth);
  if (problems.empty()) text += "No line stands out.\n";
  return text + order_text(profile.order);
}

/// What the columns mean, by topic.
std::string legend(const std::vector<const Column*>& shown, const TextStyle& style) {
  std::size_t width = 0;
  for (const Column* column : shown) width = std::max(width, columns_of(column->head));
  std::string text;
  for (const Topic& topic : topics()) {
    std::string lines;
    for (const Column& column : topic.columns)
      if (std::find(shown.begin(), shown.end(), &column) != shown.end())
        lines += fmt::format("  {}  {}\n", pad_right(column.head, width), column.legend);
    if (!lines.empty()) text += strong(topic.title, style) + "\n" + lines;
  }
  return text;
}

}  // namespace

std::string profile_text(const std::vector<LaunchProfile>& profiles, const std::filesystem::path& root,
                         const TextStyle& style) {
  if (profiles.empty()) return "Nothing to show: no kernel ran.\n";
  Sources sources(root);
  std::vector<const Column*> shown;
  std::string text;
  for (const LaunchGroup& group : group_launches(profiles))
    text += group_text(group, sources, style, shown) + "\n";
  if (shown.empty()) return text;
  return text + strong("What the columns mean", style) + "\n" + legend(shown, style);
}

}  // namespace simt::report
