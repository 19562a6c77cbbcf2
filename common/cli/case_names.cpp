#include "cli/case_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <iterator>
#include <numeric>

#include "cli/workspace.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

using namespace course::grading;

std::vector<ListedCase> list_cases(const Toolchain& toolchain, const Lesson& lesson) try {
  Command command;
  command.arguments = {toolchain.lessons.at(lesson.id()).test, "--list-cases"};
  const CommandResult result = run_command(command);
  if (!result.ok()) throw std::runtime_error(result.output);
  return listed_cases(result.output);
} catch (const std::exception& problem) {
  throw MachineError(fmt::format("The tests of lesson {} do not say which cases they have: {}", lesson.id(),
                                 problem.what()));
}

std::vector<ListedCase> choose_cases(const Lesson& lesson, const std::vector<ListedCase>& cases,
                                     const std::string& words) {
  std::vector<ListedCase> chosen;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(chosen), [&](const ListedCase& one) {
    return ascii_lower(one.name).find(ascii_lower(words)) != std::string::npos;
  });
  if (!chosen.empty()) return chosen;
  std::string text =
      fmt::format("No case of lesson {} has \"{}\" in its name. Its cases:", lesson.two_digits(), words);
  for (const ListedCase& one : cases) text += "\n  " + one.name;
  throw UsageError(text);
}

std::string count_points(int points) { return fmt::format("{} point{}", points, points == 1 ? "" : "s"); }

int sum_points(const std::vector<ListedCase>& cases) {
  return std::accumulate(cases.begin(), cases.end(), 0,
                         [](int sum, const ListedCase& one) { return sum + one.points; });
}

}  // namespace course::cli
