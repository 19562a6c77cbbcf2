#pragma once
/// @file
/// Small pieces of messages.

#include <cstddef>
#include <string>

namespace course::cli {

/// @brief "1 case", "2 cases".
std::string plural(std::size_t count, const std::string& thing);

/// @brief A word of a command line as a shell takes it.
std::string shell_word(const std::string& word);

}  // namespace course::cli
