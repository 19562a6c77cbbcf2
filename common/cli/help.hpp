#pragma once
/// @file
/// The help texts, each of which fits a screen of 80 columns: all commands by groups, and each command's own.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace course::cli {

/// @brief What CLI11 knows of an option's value: its name, such as "FILE", and what it may be if that is
/// fixed. The name of a flag's value is empty.
struct OptionValue {
  std::string name;
  std::vector<std::string> choices;
};
OptionValue value_of(const CLI::Option& option);

/// @brief The options with names, or the arguments without, in their order; neither --help nor hidden ones.
std::vector<const CLI::Option*> options_of(const CLI::App& command, bool positional);

/// @brief Whether the option takes more than one value.
bool takes_several(const CLI::Option& option);

/// Lays help out. The application's footer goes below its commands; a command's footer has its examples.
class Help : public CLI::FormatterBase {
 public:
  /// Lines of a screen. The list of commands never has more.
  static constexpr std::size_t kScreen = 24;

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace course::cli
