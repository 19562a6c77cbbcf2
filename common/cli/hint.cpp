#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/commands.hpp"
#include "cli/hints.hpp"
#include "cli/markdown.hpp"
#include "cli/progress.hpp"
#include "cli/workspace.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// A hint that there is, and that the student has come to.
void require_step(const Lesson& lesson, int step, int shown, int count) {
  if (step > count)
    throw UsageError(
        fmt::format("Lesson {} has {} hints; there is no hint {}.", lesson.two_digits(), count, step));
  if (step > shown + 1)
    throw UsageError(
        fmt::format("Hint {} comes later: the next one of lesson {} is hint {}, which ./course "
                    "hint {} shows.",
                    step, lesson.two_digits(), shown + 1, lesson.two_digits()));
}

/// What is left to a student who has seen all hints.
std::string where_else(const Lesson& lesson) {
  std::string words = fmt::format("read the notes again, {}",
                                  (lesson.folder() / "README.md").lexically_relative(lesson.root).string());
  if (fs::exists(lesson.solution()))
    words += fmt::format(", or compare your file with the worked solution: ./course solution {} --spoil",
                         lesson.two_digits());
  return words;
}

std::string what_comes_next(const Lesson& lesson, int step, int count, bool kept, bool watching) {
  if (step == count) return fmt::format("That was the last hint. Still stuck? Then {}", where_else(lesson));
  if (watching && kept) return fmt::format("Next: h shows hint {} of {}.", step + 1, count);
  const std::string which = kept ? "" : fmt::format(" {}", step + 1);
  return fmt::format("Next: ./course hint {}{} shows hint {} of {}.", lesson.two_digits(), which, step + 1,
                     count);
}

void print_hint(const Terminal& terminal, const Lesson& lesson, const Hint& hint, int step, int count) {
  std::string heading = wrap(fmt::format("Hint {} of {} for lesson {} {}: {}", step, count,
                                         lesson.two_digits(), lesson.title, hint.title),
                             0, terminal.width());
  heading.pop_back();  // the line break stays outside of what is painted
  fmt::print("{}\n\n", terminal.paint(Style::strong, heading));
  fmt::print("{}\n", markdown_to_text(hint.text, terminal));
}

void print_that_all_were_shown(const Terminal& terminal, const Lesson& lesson, int count) {
  const std::string words = fmt::format(
      "Lesson {} has no more hints; all {} were shown. ./course hint {} N shows hint N again. Still "
      "stuck? Then {}",
      lesson.two_digits(), count, lesson.two_digits(), where_else(lesson));
  fmt::print("{}", wrap(words, 0, terminal.width()));
}

bool passes(const Standing& standing) {
  const LessonProgress& record = standing.record;
  return !record.checked.empty() && !standing.edited_since && record.cases > 0 && record.failing.empty();
}

/// How far the file is, by its last check; nothing if that says nothing about it.
std::string how_far(const Lesson& lesson, const Standing& standing) {
  const LessonProgress& record = standing.record;
  if (record.checked.empty()) return "";
  if (standing.edited_since)
    return fmt::format("Your file has changed since its last check: ./course check {} tells how far it is.",
                       lesson.two_digits());
  if (record.cases == 0)
    return fmt::format("Your file did not compile at its last check: ./course check {} names the line.",
                       lesson.two_digits());
  if (passes(standing)) return "Your file passes: you need no hint for it.";
  return fmt::format("At the last check {} of {} cases passed; the first that failed: {}.",
                     static_cast<std::size_t>(record.cases) - record.failing.size(), record.cases,
                     record.failing.front());
}

/// Which hints were left out.
std::string what_is_behind(int first, int end) {
  if (first == end) return "";
  const std::string which =
      first + 1 == end ? fmt::format("Hint {} is", first) : fmt::format("Hints {} to {} are", first, end - 1);
  return which + " left out: your file does that already.";
}

/// The lesson that was asked for, else the one that the student is at; nothing if all have passed.
std::optional<Lesson> choose_lesson(const Workspace& workspace, const Progress& progress,
                                    const std::string& name) {
  if (name.empty()) {
    const Lesson* const lesson = lesson_at(workspace.lessons(), progress);
    return lesson == nullptr ? std::nullopt : std::optional(*lesson);
  }
  return workspace.select_one("hint", name);
}

int hints_shown(const Lesson& lesson, const Progress& progress, int count) {
  const auto record = progress.lessons.find(lesson.id());
  return record == progress.lessons.end() ? 0 : std::min(record->second.hints, count);
}

/// Remembers that the student has come to this step. Returns what is wrong if that is not possible.
std::string remember_step(const fs::path& file, const Lesson& lesson, int step) {
  return update_progress(file, [&](Progress& progress) {
    int& hints = progress.lessons[lesson.id()].hints;
    hints = std::max(hints, step);
  });
}

}  // namespace

int run_hint(const Terminal& terminal, const HintArguments& arguments) {
  const Workspace workspace(terminal);
  const fs::path file = progress_file(workspace.toolchain().source_dir);
  const Progress progress = load_progress(file);
  tell_problem(terminal, progress.problem);
  const std::optional<Lesson> lesson = choose_lesson(workspace, progress, arguments.lesson);
  if (!lesson) {
    fmt::print("All lessons have passed. ./course hint LESSON shows the hints of one of them.\n");
    return kAllPassed;
  }
  const std::vector<Hint> hints = read_hints(*lesson);
  const int count = static_cast<int>(hints.size());
  const int shown = hints_shown(*lesson, progress, count);
  const Standing standing = standing_of(*lesson, progress);
  if (arguments.step == 0 && passes(standing)) {
    fmt::print("{}\n", how_far(*lesson, standing));
    return kAllPassed;
  }
  if (arguments.step == 0 && shown == count) {
    print_that_all_were_shown(terminal, *lesson, count);
    return kAllPassed;
  }
  int next = shown + 1;  // the last one is shown in any case
  while (next < count && is_behind(hints[static_cast<std::size_t>(next) - 1], standing)) ++next;
  const int step = arguments.step == 0 ? next : arguments.step;
  // Where nothing can be remembered, the student says which hint is the next.
  if (arguments.step != 0) require_step(*lesson, step, progress.kept ? shown : count, count);

  const std::string problem = step > shown ? remember_step(file, *lesson, step) : std::string();
  for (const std::string& words :
       {how_far(*lesson, standing), arguments.step == 0 ? what_is_behind(shown + 1, step) : std::string()})
    if (!words.empty()) fmt::print("{}", wrap(words, 0, terminal.width()));
  print_hint(terminal, *lesson, hints[static_cast<std::size_t>(step) - 1], step, count);
  fmt::print("{}", wrap(what_comes_next(*lesson, step, count, problem.empty(), arguments.watching), 0,
                        terminal.width()));
  if (problem != progress.problem) tell_problem(terminal, problem);
  return kAllPassed;
}

}  // namespace course::cli
