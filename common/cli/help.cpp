#include "cli/help.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "cli/terminal.hpp"

namespace course::cli {
namespace {

constexpr std::size_t kWidth = 80, kGroupColumns = 13, kCommandColumns = 12, kWidestOption = 26;

struct Group {
  std::string title;
  std::vector<std::string> commands;
};

/// Which commands belong together, in the order in which they are shown. What no group names is under
/// "Other".
const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"Learn", {"check", "watch", "list", "hint", "solution", "reset", "explain"}},
      {"Look inside", {"run", "simulate", "profile", "trace", "draw", "gradcheck", "export"}},
      {"GPU", {"bench"}},
      {"Teach", {"grade"}},
      {"Project", {"doctor", "docs", "test", "build", "judge", "completion"}}};
  return all;
}

using Commands = std::vector<const CLI::App*>;

struct ShownGroup {
  std::string title;
  Commands commands;
};

std::vector<ShownGroup> grouped(const CLI::App& app) {
  Commands rest = app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
  std::vector<ShownGroup> shown;
  for (const Group& group : groups()) {
    ShownGroup some{group.title, {}};
    for (const std::string& name : group.commands) {
      const auto found = std::find_if(rest.begin(), rest.end(),
                                      [&](const CLI::App* command) { return command->get_name() == name; });
      if (found == rest.end()) continue;
      some.commands.push_back(*found);
      rest.erase(found);
    }
    if (!some.commands.empty()) shown.push_back(some);
  }
  if (!rest.empty()) shown.push_back({"Other", rest});
  return shown;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The first line of a text that may be too long for one.
std::string one_line(const std::string& text, std::size_t width) {
  const std::vector<std::string> lines = split_lines(wrap(text, 0, width));
  if (lines.size() <= 1) return text;
  return split_lines(wrap(text, 0, width - 4)).front() + " ...";
}

/// A line for each command, the group's title before the first.
std::vector<std::string> in_full(const ShownGroup& group) {
  std::vector<std::string> lines;
  for (const CLI::App* command : group.commands) {
    const std::string left = fmt::format("{:<{}}{:<{}}", lines.empty() ? group.title : "", kGroupColumns,
                                         command->get_name(), kCommandColumns);
    lines.push_back(left + one_line(command->get_description(), kWidth - left.size()));
  }
  return lines;
}

/// The commands' names alone.
std::vector<std::string> in_short(const ShownGroup& group) {
  std::string names;
  for (const CLI::App* command : group.commands) names += (names.empty() ? "" : ", ") + command->get_name();
  std::vector<std::string> lines = split_lines(wrap(names, kGroupColumns, kWidth));
  lines.front().replace(0, group.title.size(), group.title);
  return lines;
}

/// How much room the list of commands takes: empty lines between its parts, and how many of the last groups
/// are names alone.
struct Density {
  bool spaced;
  std::size_t in_short;
};

std::vector<std::string> command_list(const CLI::App& app, const Density& density) {
  const std::vector<ShownGroup> shown = grouped(app);
  std::vector<std::string> lines{app.get_description()};
  const auto add = [&](const std::vector<std::string>& part) {
    if (density.spaced) lines.emplace_back();
    lines.insert(lines.end(), part.begin(), part.end());
  };
  for (std::size_t i = 0; i < shown.size(); ++i)
    add(i + density.in_short < shown.size() ? in_full(shown[i]) : in_short(shown[i]));
  add(split_lines(app.get_footer()));
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string help_of_all(const CLI::App& app) {
  std::vector<std::string> lines = command_list(app, {.spaced = true, .in_short = 0});
  const std::size_t groups_shown = grouped(app).size();
  for (std::size_t few = 0; lines.size() > Help::kScreen && few <= groups_shown; ++few)
    lines = command_list(app, {.spaced = false, .in_short = few});
  return joined(lines);
}

/// "auto|cpu|gpu", "FILE", or nothing for a flag.
std::string shown_value(const CLI::Option& option) {
  const OptionValue value = value_of(option);
  std::string choices;
  for (const std::string& choice : value.choices) choices += (choices.empty() ? "" : "|") + choice;
  return choices.empty() ? value.name : choices;
}

/// "-v, --verbose", "--file FILE" or "LESSON ...".
std::string left_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true) + (takes_several(option) ? " ..." : "");
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  const std::string value = shown_value(option);
  return value.empty() ? names : names + " " + value;
}

std::string right_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_positional())
    if (const OptionValue value = value_of(option); !value.choices.empty() && text.empty())
      text = shown_value(option);
  if (!option.get_default_str().empty()) text += fmt::format(" (default {})", option.get_default_str());
  return text;
}

std::string usage_of(const CLI::App& command, const std::string& name) {
  std::string usage = "Usage: " + name;
  bool optional = false;
  for (const CLI::Option* option : options_of(command, false)) {
    if (option->get_required()) usage += " " + left_of(*option);
    optional |= !option->get_required();
  }
  if (optional) usage += " [OPTIONS]";
  for (const CLI::Option* option : options_of(command, true))
    usage += option->get_required() ? " " + left_of(*option) : " [" + left_of(*option) + "]";
  return usage;
}

std::string help_of_command(const CLI::App& command, const std::string& name) {
  std::vector<const CLI::Option*> options = options_of(command, true);
  const std::vector<const CLI::Option*> named = options_of(command, false);
  options.insert(options.end(), named.begin(), named.end());
  std::size_t columns = 0;
  for (const CLI::Option* option : options)
    if (const std::size_t size = left_of(*option).size(); size <= kWidestOption)
      columns = std::max(columns, size);
  std::string text = wrap(usage_of(command, name), 0, kWidth) + wrap(command.get_description(), 0, kWidth);
  if (!options.empty()) text += "\n";
  for (const CLI::Option* option : options) {
    const std::string left = "  " + left_of(*option);
    std::string right = wrap(right_of(*option), columns + 4, kWidth);
    if (left.size() <= columns + 2 && !right.empty())
      text += right.replace(0, left.size(), left);
    else
      text += left + "\n" + right;
  }
  if (!command.get_footer().empty()) text += "\n" + joined(split_lines(command.get_footer()));
  return text;
}

}  // namespace

OptionValue value_of(const CLI::Option& option) {
  OptionValue value;
  if (option.get_items_expected_max() == 0) return value;
  const std::string type = option.get_type_name();  // "TEXT:{auto,cpu,gpu}"
  value.name = type.substr(0, type.find(':'));
  if (value.name == "INT" || value.name == "UINT" || value.name == "FLOAT") value.name = "N";
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return value;
  std::istringstream choices(type.substr(begin + 1, end - begin - 1));
  for (std::string choice; std::getline(choices, choice, ',');) value.choices.push_back(choice);
  return value;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command, bool positional) {
  return command.get_options([&](const CLI::Option* option) {
    return option->get_positional() == positional && option != command.get_help_ptr() &&
           !option->get_group().empty();
  });
}

bool takes_several(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string Help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  return app->get_parent() == nullptr ? help_of_all(*app) : help_of_command(*app, name);
}

}  // namespace course::cli
