#pragma once
/// @file
/// What the command line may say: each command with its options, and the function that it calls for.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace course::cli {

/// The command that was given; its result is the exit status.
using Chosen = std::function<int(const Terminal&)>;

constexpr const char* kLessonHelp = "number (9, 09), name, range (1-7) or all";
constexpr const char* kOneLessonHelp = "number (9, 09) or name";

/// A command and what its options fill in. Both live as long as the application.
template <class Arguments>
struct Command {
  CLI::App* command;
  Arguments& arguments;
};

/// @brief Adds a command that, if it is given, chooses `run` with its arguments.
template <class Arguments>
Command<Arguments> add_command(CLI::App& app, const std::string& name, const std::string& help,
                               int (*run)(const Terminal&, const Arguments&), Chosen& chosen) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(name, help);
  command->callback([arguments, run, &chosen] {
    chosen = [arguments, run](const Terminal& terminal) { return run(terminal, *arguments); };
  });
  return {command, *arguments};
}

/// @brief Adds --backend.
CLI::Option* add_backend(CLI::App* command, std::string& backend);

/// @brief Adds --set name=value.
CLI::Option* add_settings(CLI::App* command, std::vector<std::string>& settings);

/// @brief Accepts whole numbers from `least` on, of at most 18 digits.
std::function<std::string(const std::string&)> whole_number(std::int64_t least);

void describe_learning_commands(CLI::App& app, Chosen& chosen);
void describe_kernel_commands(CLI::App& app, Chosen& chosen);
void describe_insight_commands(CLI::App& app, Chosen& chosen);
void describe_project_commands(CLI::App& app, Chosen& chosen);

}  // namespace course::cli
