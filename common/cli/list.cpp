#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/workspace.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

std::string describe(const Lesson& lesson, const std::optional<Progress>& progress) {
  if (!progress) return fmt::format("{} points", lesson.points);
  return fmt::format("{} of {} points{}", progress->points, lesson.points,
                     progress->edited_since ? ", edited since" : "");
}

nlohmann::json to_json(const Lesson& lesson, const std::optional<Progress>& progress) {
  return {{"number", lesson.number},
          {"name", lesson.name},
          {"title", lesson.title},
          {"part", lesson.part},
          {"minutes", lesson.minutes},
          {"points", progress ? progress->points : 0},
          {"max_points", lesson.points},
          {"needs", lesson.needs},
          {"prerequisites", lesson.prerequisites},
          {"status", !progress          ? "new"
                     : progress->passed ? "passed"
                                        : "started"}};
}

}  // namespace

int run_list(const Terminal& terminal, const ListArguments& arguments) {
  const Workspace workspace(terminal);
  nlohmann::json lessons = nlohmann::json::array();
  int part = 0;
  for (const Lesson& lesson : workspace.lessons()) {
    const auto progress = load_progress(workspace.toolchain().binary_dir, lesson);
    if (arguments.json) {
      lessons.push_back(to_json(lesson, progress));
      continue;
    }
    if (lesson.part != part)
      fmt::print("{}\n", terminal.paint(Style::strong, fmt::format("Part {}", lesson.part)));
    part = lesson.part;
    const Style style = !progress ? Style::plain : progress->passed ? Style::good : Style::bad;
    const std::string left =
        fmt::format("  {} {:<24} {:>3} min  ", lesson.two_digits(), lesson.name, lesson.minutes);
    fmt::print("{}{}\n", left, terminal.paint(style, describe(lesson, progress)));
  }
  if (arguments.json) fmt::print("{}\n", nlohmann::json{{"version", 1}, {"lessons", lessons}}.dump(2));
  return kAllPassed;
}

}  // namespace course::cli
