#include <fmt/core.h>

#include <sstream>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/workspace.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/stub.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

std::string in_project(const Lesson& lesson, const fs::path& file) {
  return file.lexically_relative(lesson.root).string();
}

/// Why the solution is not shown yet, and what to do; empty if the lesson has passed its tests as they are.
std::string why_not_yet(const Lesson& lesson, const Standing& standing) {
  const std::string number = lesson.two_digits();
  const std::string spoil = fmt::format("./course solution {} --spoil shows the solution now.", number);
  if (!standing.record.passed)
    return fmt::format(
        "Lesson {} has not passed yet. ./course check {} tells how far it is, ./course hint {} helps, and {}",
        number, number, number, spoil);
  if (standing.tests_changed)
    return fmt::format("The tests of lesson {} have changed since it passed: run ./course check {} again. {}",
                       number, number, spoil);
  return "";
}

/// In a file that was copied from the solution, lines like "// [kernel]" are no difference.
constexpr const char* kIgnoreMarkers = "--ignore-matching-lines=^ *// \\[[^]]*\\]$";

/// The solution without its lines like "// [kernel]", which name parts of it for the notes.
std::string page_without_markers(const Lesson& lesson) {
  std::string result;
  std::istringstream lines(page_of(read_file(lesson.solution())));
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(' ');
    const bool marker =
        begin != std::string::npos && line.substr(begin).starts_with("// [") && line.ends_with(']');
    if (!marker) result += line + "\n";
  }
  return result;
}

/// What turns the student's file into the solution, in the form of `diff -u`; empty if nothing does.
std::string compare(const Lesson& lesson) {
  Command command;
  command.arguments = {"diff", "-u", "--text", "--strip-trailing-cr", kIgnoreMarkers};
  for (const fs::path& file : {lesson.stub(), lesson.solution()})
    command.arguments.insert(command.arguments.end(), {"--label", in_project(lesson, file)});
  const ScratchFolder scratch(fs::temp_directory_path());
  const fs::path solution = scratch.path() / lesson.solution().filename();
  write_file_atomically(solution, page_without_markers(lesson));
  command.arguments.insert(command.arguments.end(), {lesson.stub().string(), solution.string()});
  command.environment = {"LC_ALL=C"};
  CommandResult result;
  try {
    result = run_command(command);
  } catch (const std::system_error& error) {
    throw MachineError(
        fmt::format("{}. Install diffutils, or see the solution alone: ./course solution {} "
                    "--whole.",
                    error.what(), lesson.two_digits()));
  }
  if (result.signal != 0 || result.exit_code > 1)
    throw MachineError(fmt::format("The two files cannot be compared: {}", result.output));
  return result.output;
}

/// The lines of a unified diff, those of the one file and of the other in their own colours.
std::string painted(const Terminal& terminal, const std::string& difference) {
  std::string result;
  std::istringstream lines(difference);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    const Style style = number < 2               ? Style::strong
                        : line.starts_with("@@") ? Style::note
                        : line.starts_with("-")  ? Style::bad
                        : line.starts_with("+")  ? Style::good
                                                 : Style::plain;
    result += terminal.paint(style, line) + "\n";
  }
  return result;
}

}  // namespace

int run_solution(const Terminal& terminal, const SolutionArguments& arguments) {
  const Workspace workspace(terminal);
  const Lesson lesson = workspace.select_one("solution", arguments.lesson);
  if (!fs::exists(lesson.solution()))
    throw UsageError(fmt::format("There is no {}: this copy of the course comes without solutions.",
                                 in_project(lesson, lesson.solution())));
  if (!arguments.spoil) {
    const Progress progress = load_progress(progress_file(workspace.toolchain().source_dir));
    tell_problem(terminal, progress.problem);
    const std::string why = why_not_yet(lesson, standing_of(lesson, progress));
    if (!why.empty()) {
      tell_problem(terminal, why);
      return kSomethingFailed;
    }
  }
  if (arguments.whole) {
    fmt::print("{}", page_without_markers(lesson));
    return kAllPassed;
  }
  if (!fs::exists(lesson.stub()))
    throw UsageError(
        fmt::format("{} is missing. ./course reset {} puts the stub there; --whole shows the "
                    "solution alone.",
                    in_project(lesson, lesson.stub()), lesson.two_digits()));
  const std::string difference = compare(lesson);
  if (difference.empty()) {
    fmt::print("{} is the same as the worked solution.\n", in_project(lesson, lesson.stub()));
  } else {
    fmt::print("{}", painted(terminal, difference));
  }
  return kAllPassed;
}

}  // namespace course::cli
