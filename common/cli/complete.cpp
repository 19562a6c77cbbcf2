#include "cli/complete.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <set>

#include "cli/diagnostic_pages.hpp"
#include "cli/help.hpp"
#include "cli/known_mistakes.hpp"
#include "grading/project/lesson.hpp"
#include "grading/project/toolchain.hpp"

namespace course::cli {
namespace {

using Words = std::vector<std::string>;

Words beginning_with(const Words& words, const std::string& begin) {
  Words found;
  std::copy_if(words.begin(), words.end(), std::back_inserter(found),
               [&](const std::string& word) { return word.starts_with(begin) || word.starts_with(':'); });
  return found;
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// "--file" of "--file=a.cu".
std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

const CLI::Option* find_option(const CLI::App& command, const std::string& word) {
  for (const CLI::Option* option : options_of(command, false))
    if (option->check_name(name_of(word))) return option;
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// What goes behind an option, or in place of an argument.
Words values_of(const CLI::Option& option, const std::string& begin, const WordsOfKind& words_of_kind) {
  const OptionValue value = value_of(option);
  if (!value.choices.empty()) return beginning_with(value.choices, begin);
  for (const std::string& kind :
       {value.name, option.get_positional() ? option.get_name(true) : std::string()}) {
    if (kind == "FILE") return {kFiles};
    if (kind == "FOLDER") return {kFolders};
    if (const Words words = words_of_kind(kind, begin); !words.empty()) return beginning_with(words, begin);
  }
  return {};
}

/// What the words before the cursor leave open.
struct Position {
  std::size_t arguments = 0;             ///< how many there are already
  const CLI::Option* option = nullptr;   ///< whose value comes next
  bool behind_dashes = false;            ///< what comes next goes to a program of the user's
  std::set<const CLI::Option*> given{};  ///< options that are there already
};

Position position_behind(const CLI::App& command, const Words& words) {
  Position position;
  for (const std::string& word : words) {
    if (word == "--") position.behind_dashes = true;
    if (position.option != nullptr) {
      position.option = nullptr;
    } else if (!is_option(word)) {
      ++position.arguments;
    } else if (const CLI::Option* option = find_option(command, word)) {
      position.given.insert(option);
      if (takes_value(*option) && word.find('=') == std::string::npos) position.option = option;
    }
  }
  return position;
}

Words option_names(const CLI::App& command, const Position& position) {
  Words names;
  for (const CLI::Option* option : options_of(command, false)) {
    if (position.given.contains(option) && !takes_several(*option)) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  names.emplace_back("--help");
  return names;
}

Words complete_argument(const CLI::App& command, const Position& position, const std::string& begin,
                        const WordsOfKind& words_of_kind) {
  const std::vector<const CLI::Option*> arguments = options_of(command, true);
  if (arguments.empty()) return {};
  const bool beyond = position.arguments >= arguments.size();
  if (beyond && !takes_several(*arguments.back())) return {};
  return values_of(*(beyond ? arguments.back() : arguments[position.arguments]), begin, words_of_kind);
}

Words complete_in(const CLI::App& command, const Words& before, const std::string& current,
                  const WordsOfKind& words_of_kind) {
  const Position position = position_behind(command, before);
  if (position.behind_dashes) return {kFiles};
  if (position.option != nullptr) return values_of(*position.option, current, words_of_kind);
  const std::size_t equals = current.find('=');
  if (is_option(current) && equals != std::string::npos) {
    const CLI::Option* option = find_option(command, current);
    if (option == nullptr || !takes_value(*option)) return {};
    Words values = values_of(*option, current.substr(equals + 1), words_of_kind);
    for (std::string& value : values)
      if (!value.starts_with(':')) value.insert(0, current.substr(0, equals + 1));
    return values;
  }
  if (current.starts_with('-')) return beginning_with(option_names(command, position), current);
  Words found = complete_argument(command, position, current, words_of_kind);
  if (found.empty() && current.empty()) found = option_names(command, position);
  return found;
}

/// Folders' names for numbers, since they say what the lesson is; names for letters.
Words lesson_words(const std::filesystem::path& project, const std::string& begin) {
  Words words;
  for (const grading::Lesson& lesson : grading::read_lessons(project)) {
    words.push_back(lesson.id());
    if (begin.empty()) continue;
    words.push_back(lesson.name);
    if (lesson.number < 10) words.push_back(std::to_string(lesson.number));
  }
  words.emplace_back("all");
  return words;
}

}  // namespace

Words complete(const CLI::App& app, Words words, const WordsOfKind& words_of_kind) {
  const bool behind_equals = !words.empty() && words.back() == "=";  // bash makes it a word of its own
  std::erase_if(words, [](const std::string& word) { return word == "=" || word == "--yes"; });
  if (words.empty() || behind_equals) words.emplace_back();
  const std::string current = words.back();
  words.pop_back();
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (words.empty()) {
    Words names{"--help", "--yes"};
    if (!current.starts_with('-')) names.clear();
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    return beginning_with(names, current);
  }
  for (const CLI::App* command : commands)
    if (command->get_name() == words.front())
      return complete_in(*command, Words(words.begin() + 1, words.end()), current, words_of_kind);
  return {};
}

void print_completions(const CLI::App& app, const Words& words) {
  const auto words_of_kind = [](const std::string& kind, const std::string& begin) {
    Words found;
    if (kind != "LESSON" && kind != "DIAGNOSTIC") return found;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    const auto toolchain = grading::Toolchain::read(program.parent_path().parent_path() / "toolchain.json");
    if (kind == "LESSON") return lesson_words(toolchain.source_dir, begin);
    for (const DiagnosticPage& page : diagnostic_pages(toolchain.source_dir)) found.push_back(page.name);
    if (begin.empty()) return found;  // mistakes are many
    for (const std::string& name : names_of_mistakes(toolchain, grading::read_lessons(toolchain.source_dir)))
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    return found;
  };
  try {
    for (const std::string& word : complete(app, words, words_of_kind)) fmt::print("{}\n", word);
  } catch (const std::exception&) {
    return;  // a shell that completes has no place for messages
  }
}

}  // namespace course::cli
