#include "cli/watch_view.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "cli/report.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

std::string relative_to(const fs::path& file, const fs::path& root) {
  const fs::path relative = file.lexically_relative(root);
  return relative.empty() || *relative.begin() == ".." ? file.string() : relative.string();
}

std::string file_of(const WatchView& view) {
  return relative_to(view.report.source, view.report.lesson.root);
}

std::string notes_of(const Lesson& lesson) { return relative_to(lesson.folder() / "README.md", lesson.root); }

std::string count_cases(std::size_t count) { return fmt::format("{} case{}", count, count == 1 ? "" : "s"); }

/// Whole lines in a style, whose end is in front of the last line break.
std::string paint_lines(const Terminal& terminal, Style style, std::string lines) {
  lines.pop_back();
  return terminal.paint(style, lines) + "\n";
}

/// The keys in as many lines as it takes; a key and its word are not parted.
std::string render_footer(const Terminal& terminal) {
  std::string lines, line;
  for (const std::string key : {"h hint", "f next failure", "n next lesson", "l list", "q quit", "? keys"}) {
    if (!line.empty() && line.size() + 3 + key.size() > terminal.width()) {
      lines += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + key;
  }
  return paint_lines(terminal, Style::note, lines + line + "\n");
}

ReportStyle style_of(const WatchView& view) {
  return {.command = "./course check " + view.report.lesson.two_digits(),
          .watching = true,
          .first = view.failed_case};
}

/// The failed cases that are known while others are running; none: nothing has failed so far.
LessonReport failed_so_far(const WatchView& view) {
  LessonReport report = view.report;
  report.compiled = true;
  if (view.first && !view.first->passed) {
    std::erase_if(report.cases, [&](const CaseResult& result) { return result.name == view.first->name; });
    report.cases.insert(report.cases.begin(), *view.first);
  }
  std::erase_if(report.cases, [](const CaseResult& result) { return result.passed; });
  return report;
}

/// What to do about a case that failed.
std::string edit_step(const WatchView& view) {
  if (view.untouched)
    return fmt::format("Next: read {}, fill in the first TODO of {}, and save it.",
                       notes_of(view.report.lesson), file_of(view));
  return fmt::format("Next: edit {} and save it.{}", file_of(view), view.keys ? " h shows a hint." : "");
}

std::string render_checking(const Terminal& terminal, const WatchView& view) {
  const LessonReport failed = failed_so_far(view);
  const std::size_t ended = view.report.cases.size();
  std::string text =
      failed.cases.empty()
          ? render_heading(terminal, Style::strong, "CHECKING", view.report.lesson, "")
          : render_heading(terminal, Style::bad, "FAILS", view.report.lesson, "other cases are running");
  text += render_findings(terminal, failed, style_of(view));
  if (!failed.cases.empty()) text += wrap(edit_step(view), 2, terminal.width());
  std::string so_far = view.why + ": " + view.step;
  if (ended > 0) so_far += fmt::format("; {} ended", count_cases(ended));
  if (view.first)
    so_far += fmt::format("; the case that failed last time was run first, and {}",
                          view.first->passed ? "passes" : "fails again");
  return text + wrap(so_far + ".", 2, terminal.width());
}

/// What was run for this answer, and how long it took.
std::string what_ran(const WatchView& view) {
  const LessonReport& report = view.report;
  const std::string cases = !report.compiled ? "no case was run"
                            : report.error.empty()
                                ? fmt::format("all {} were run", count_cases(report.cases.size()))
                                : fmt::format("{} ended", count_cases(report.cases.size()));
  return fmt::format("{}: {}{}; answered after {:.1f} s.", view.why,
                     view.first ? "the case that failed last time was run first, then " : "", cases,
                     view.seconds);
}

std::string next_lesson_step(const WatchView& view) {
  const std::string compare = fmt::format("Next: ./course solution {} shows how the worked solution does it",
                                          view.report.lesson.two_digits());
  if (!view.next) return compare + ". That was the last lesson; ./course list shows what you have reached.";
  const std::string then =
      view.keys ? "press n for it" : fmt::format("run ./course watch {}", view.next->two_digits());
  return fmt::format("{}; then lesson {}, {}: read {}, and {}.", compare, view.next->two_digits(),
                     view.next->title, notes_of(*view.next), then);
}

std::string next_step(const WatchView& view) {
  if (view.report.verdict == Verdict::pass) return next_lesson_step(view);
  if (!view.report.compiled) return fmt::format("Next: mend this in {} and save it.", file_of(view));
  return edit_step(view);
}

std::string render_judged(const Terminal& terminal, const WatchView& view) {
  const LessonReport& report = view.report;
  const bool pass = report.verdict == Verdict::pass;
  const std::string word = pass ? "PASS" : report.compiled ? "FAIL" : "DOES NOT COMPILE";
  return render_heading(terminal, pass ? Style::good : Style::bad, word, report.lesson,
                        fmt::format("{} of {} points", report.points, report.lesson.points)) +
         render_findings(terminal, view.report, style_of(view)) + wrap(next_step(view), 2, terminal.width()) +
         paint_lines(terminal, Style::note, wrap(what_ran(view), 2, terminal.width()));
}

std::string render_problem(const Terminal& terminal, const WatchView& view) {
  const std::string next =
      fmt::format("Next: put that right, then {}.", view.keys ? "press r" : "save " + file_of(view));
  return render_heading(terminal, Style::bad, "NOT CHECKED", view.report.lesson, "") +
         wrap(view.problem, 2, terminal.width()) + wrap(next, 2, terminal.width());
}

std::string render_missing(const Terminal& terminal, const WatchView& view) {
  return render_heading(terminal, Style::bad, "NO FILE", view.report.lesson, "") +
         wrap(fmt::format("There is no file {}. It is checked as soon as it is there.", file_of(view)), 2,
              terminal.width());
}

}  // namespace

std::string render_result(const Terminal& terminal, const WatchView& view) {
  switch (view.stage) {
    case WatchView::Stage::checking:
      return render_checking(terminal, view);
    case WatchView::Stage::judged:
      return render_judged(terminal, view);
    case WatchView::Stage::problem:
      return render_problem(terminal, view);
    case WatchView::Stage::missing:
      break;
  }
  return render_missing(terminal, view);
}

std::string render_screen(const Terminal& terminal, const WatchView& view) {
  std::string text = render_result(terminal, view);
  if (!view.aside.empty()) text += "\n" + view.aside;
  text += "\n";
  if (!view.note.empty()) text += wrap(view.note, 0, terminal.width());
  text += wrap("Watching " + file_of(view), 0, terminal.width());
  if (view.keys) text += render_footer(terminal);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string render_keys(const Terminal& terminal) {
  const std::string text =
      "h shows the next hint\n"
      "f shows the next failed case in full\n"
      "n goes on to the next lesson\n"
      "l lists the lessons and what you have reached\n"
      "c clears the screen and shows the last result again (also Ctrl-L)\n"
      "r runs the check again, though the file is the same\n"
      "q quits (also Ctrl-C); Ctrl-Z stops until you type fg\n"
      "? shows this\n";
  return wrap(text, 0, terminal.width());
}

}  // namespace course::cli
