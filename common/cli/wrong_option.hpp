#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace course::cli {

/// @brief What is wrong with a command line that CLI11 refused and what to do, in the words of all other
/// messages.
std::string wrong_option(const CLI::App& app, const CLI::ParseError& error);

}  // namespace course::cli
