#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/workspace.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

struct LessonRow {
  Lesson lesson;
  Standing standing;
};

std::vector<LessonRow> make_rows(const std::vector<Lesson>& lessons, const Progress& progress) {
  std::vector<LessonRow> rows;
  for (const Lesson& lesson : lessons) rows.push_back({lesson, standing_of(lesson, progress)});
  return rows;
}

std::ptrdiff_t count_passed(const std::vector<LessonRow>& rows) {
  return std::count_if(rows.begin(), rows.end(), [](const LessonRow& row) { return row.standing.passed(); });
}

struct Points {
  int reached = 0, all = 0;
};

Points sum_points(const std::vector<LessonRow>& rows) {
  Points points;
  for (const LessonRow& row : rows) {
    points.reached += row.standing.points();
    points.all += row.lesson.points;
  }
  return points;
}

const char* status_of(const Standing& standing) {
  if (standing.passed()) return "passed";
  if (standing.tests_changed) return "to_check_again";
  return standing.begun ? "started" : "new";
}

std::string describe(const LessonRow& row) {
  const auto& [lesson, standing] = row;
  const LessonProgress& record = standing.record;
  if (record.checked.empty())
    return fmt::format("{} points{}", lesson.points, standing.begun ? ", not checked yet" : "");
  std::string words = fmt::format("{} of {} points", standing.points(), lesson.points);
  if (standing.passed() && record.points < record.best)
    words += fmt::format(", {} at the last check", record.points);
  else if (record.best > record.points)
    words += fmt::format(", best {}", record.best);
  if (standing.tests_changed) return words + ", tests changed";
  return words + (standing.edited_since ? ", edited since" : "");
}

void print_row(const Terminal& terminal, const LessonRow& row) {
  const auto& [lesson, standing] = row;
  const char* mark = standing.passed()        ? "[x]"
                     : standing.tests_changed ? "[!]"
                     : standing.begun         ? "[-]"
                                              : "[ ]";
  const Style style = standing.passed() ? Style::good : standing.begun ? Style::bad : Style::plain;
  fmt::print("  {} {} {:<22} {:>3} min  {}\n", terminal.paint(style, mark), lesson.two_digits(), lesson.name,
             lesson.minutes, terminal.paint(style, describe(row)));
}

/// Lessons that passed, with what has changed since: the tests alone, or the student's file as well.
std::vector<Lesson> changed_since(const std::vector<LessonRow>& rows, bool or_edited) {
  std::vector<Lesson> lessons;
  for (const auto& [lesson, standing] : rows) {
    if (standing.tests_changed || (or_edited && standing.record.passed && standing.edited_since))
      lessons.push_back(lesson);
  }
  return lessons;
}

std::string summary(const std::vector<LessonRow>& rows, const Lesson* next) {
  const Points points = sum_points(rows);
  std::string text = fmt::format("{} of {} lessons passed, {} of {} points\n", count_passed(rows),
                                 rows.size(), points.reached, points.all);
  if (const auto lessons = changed_since(rows, false); !lessons.empty())
    text += fmt::format(
        "To be checked again, since the tests have changed: {}. ./course list --verify does that.\n",
        numbers_of(lessons));
  if (next != nullptr)
    text += fmt::format("Next: {} {}; the notes are in {}\n", next->two_digits(), next->title,
                        (next->folder() / "README.md").lexically_relative(next->root).string());
  return text;
}

void print_table(const Terminal& terminal, const std::vector<LessonRow>& rows, const Lesson* next) {
  int part = 0;
  for (const LessonRow& row : rows) {
    if (row.lesson.part != part)
      fmt::print("{}\n", terminal.paint(Style::strong, fmt::format("Part {}", row.lesson.part)));
    part = row.lesson.part;
    print_row(terminal, row);
  }
  fmt::print("{}",
             terminal.paint(Style::note, "  [x] passed   [-] begun   [ ] new   [!] to be checked again"));
  fmt::print("\n\n{}", wrap(summary(rows, next), 0, terminal.width()));
}

nlohmann::json to_json(const LessonRow& row) {
  const auto& [lesson, standing] = row;
  const LessonProgress& record = standing.record;
  return {{"number", lesson.number},
          {"name", lesson.name},
          {"title", lesson.title},
          {"part", lesson.part},
          {"minutes", lesson.minutes},
          {"points", standing.points()},
          {"best", record.best},
          {"max_points", lesson.points},
          {"needs", lesson.needs},
          {"prerequisites", lesson.prerequisites},
          {"status", status_of(standing)},
          {"edited_since", standing.edited_since},
          {"tests_changed", standing.tests_changed},
          {"checked", record.checked.empty() ? nlohmann::json() : nlohmann::json(record.checked)},
          {"hints_shown", record.hints}};
}

void print_json(const std::vector<LessonRow>& rows, const Lesson* next) {
  const Points points = sum_points(rows);
  nlohmann::json lessons = nlohmann::json::array();
  for (const LessonRow& row : rows) lessons.push_back(to_json(row));
  fmt::print("{}\n", nlohmann::json{{"version", 1},
                                    {"lessons", lessons},
                                    {"passed", count_passed(rows)},
                                    {"points", points.reached},
                                    {"max_points", points.all},
                                    {"next", next == nullptr ? nlohmann::json() : nlohmann::json(next->id())}}
                         .dump(2));
}

/// Checks again what has changed since it passed.
int verify(const Terminal& terminal, const std::vector<LessonRow>& rows) {
  CheckArguments arguments;
  for (const Lesson& lesson : changed_since(rows, true)) arguments.lessons.push_back(lesson.two_digits());
  if (arguments.lessons.empty()) {
    fmt::print("Nothing that passed has changed since.\n\n");
    return kAllPassed;
  }
  const int status = run_check(terminal, arguments);
  fmt::print("\n");
  return status;
}

}  // namespace

int run_list(const Terminal& terminal, const ListArguments& arguments) {
  if (arguments.verify && arguments.json) throw UsageError("--verify and --json exclude each other.");
  const Workspace workspace(terminal);
  const std::filesystem::path file = progress_file(workspace.toolchain().source_dir);
  Progress progress = load_progress(file);
  tell_problem(terminal, progress.problem);
  int status = kAllPassed;
  if (arguments.verify) {
    status = verify(terminal, make_rows(workspace.lessons(), progress));
    progress = load_progress(file);
  }
  const std::vector<LessonRow> rows = make_rows(workspace.lessons(), progress);
  const Lesson* const next = lesson_at(workspace.lessons(), progress);
  if (arguments.json) {
    print_json(rows, next);
  } else {
    print_table(terminal, rows, next);
  }
  return status;
}

}  // namespace course::cli
