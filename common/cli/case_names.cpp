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

namespace {

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

[[noreturn]] void throw_no_such_case(const std::vector<CaseChoice>& choices, const std::string& words) {
  if (choices.size() != 1)
    throw UsageError(
        fmt::format("No case of these lessons has \"{}\" in its name; --list shows them.", words));
  std::string text = fmt::format(
      "No case of lesson {} has \"{}\" in its name. Its cases:", choices.front().lesson.two_digits(), words);
  for (const ListedCase& one : choices.front().all) text += "\n  " + one.name;
  throw UsageError(text);
}

}  // namespace

std::vector<CaseChoice> choose_cases(const Toolchain& toolchain, const std::vector<Lesson>& lessons,
                                     const std::string& words) {
  std::vector<CaseChoice> choices;
  for (const Lesson& lesson : lessons) {
    CaseChoice& choice = choices.emplace_back(lesson, list_cases(toolchain, lesson));
    choice.chosen = choice.all;
    std::erase_if(choice.chosen, [&](const ListedCase& one) {
      return ascii_lower(one.name).find(ascii_lower(words)) == std::string::npos;
    });
  }
  const auto has_none = [](const CaseChoice& choice) { return choice.chosen.empty(); };
  if (std::all_of(choices.begin(), choices.end(), has_none)) throw_no_such_case(choices, words);
  std::erase_if(choices, has_none);
  return choices;
}

std::string count_points(int points) { return plural(static_cast<std::size_t>(points), "point"); }

int sum_points(const std::vector<ListedCase>& cases) {
  return std::accumulate(cases.begin(), cases.end(), 0,
                         [](int sum, const ListedCase& one) { return sum + one.points; });
}

}  // namespace course::cli
