#pragma once
/// @file
/// Commands as a person would type them.

#include <string>

namespace course::cli {

/// @brief A word of a command line as a shell takes it.
std::string shell_word(const std::string& word);

}  // namespace course::cli
