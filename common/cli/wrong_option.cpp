#include "cli/wrong_option.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "grading/base/near_names.hpp"

namespace course::cli {
namespace {

/// "auto, cpu or gpu" of "auto,cpu,gpu".
std::string alternatives(std::string list) {
  const std::size_t last = list.rfind(',');
  if (last != std::string::npos) list.replace(last, 1, " or ");
  for (std::size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',', comma + 2))
    list.insert(comma + 1, " ");
  return list;
}

/// "100" of "100.000000".
std::string without_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

/// What stands before, between and after those words of the text, which begins with an option's name;
/// nothing if they are not in it in this order.
std::vector<std::string> around(std::string text, std::initializer_list<std::string_view> words) {
  std::vector<std::string> parts;
  for (const std::string_view word : words) {
    const std::size_t at = text.find(word);
    if (at == std::string::npos) return {};
    parts.push_back(text.substr(0, at));
    text.erase(0, at + word.size());
  }
  parts.push_back(text);
  return parts.front().find(' ') == std::string::npos ? parts : std::vector<std::string>{};
}

/// A sentence of "--late: Value abc not in range 0.000000 to 100.000000" and of what else CLI11 says.
std::string sentence_of(const std::string& text) {
  if (const auto part = around(text, {": ", " not in {", "}"}); !part.empty())
    return fmt::format("{} must be {}, not {}.", part[0], alternatives(part[2]), part[1]);
  if (const auto part = around(text, {": Value ", " not in range ", " to "}); !part.empty())
    return fmt::format("{} must be a number from {} to {}, not {}.", part[0], without_zeros(part[2]),
                       without_zeros(part[3]), part[1]);
  if (const auto part = around(text, {": ", " required ", " missing"}); !part.empty())
    return fmt::format("{} needs {} after it.", part[0], part[2]);
  if (const auto part = around(text, {" is required"}); !part.empty())
    return fmt::format("{} is missing.", part[0]);
  const std::string end = text.ends_with('.') ? "" : ".";
  if (const auto part = around(text, {": it must be "}); !part.empty())
    return fmt::format("{} must be {}{}", part[0], part[1], end);
  return text + end;
}

/// Of a word that the command does not know.
std::string unknown_word(const CLI::App& command, const std::string& word) {
  if (!word.starts_with('-')) return fmt::format("It takes no further argument, such as {}.", word);
  std::vector<grading::Candidate> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back({name, "--" + name});
  const std::string near =
      grading::near_names(word.substr(std::min(word.size(), word.find_first_not_of('-'))), known);
  return fmt::format("There is no option {}.{}", word, near.empty() ? "" : " Did you mean " + near + "?");
}

}  // namespace

std::string wrong_option(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  // The value of an option that there is not is taken for an argument, and refused as that: so the option
  // first.
  const std::vector<std::string> rest = app.remaining(true);
  const auto option =
      std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word.starts_with('-'); });
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string what = option != rest.end()        ? unknown_word(command, *option)
                           : is_extra && !rest.empty() ? unknown_word(command, rest.front())
                                                       : sentence_of(error.what());
  return fmt::format("{} `./course {}--help` says what there is.", what,
                     chosen.empty() ? "" : command.get_name() + " ");
}

}  // namespace course::cli
