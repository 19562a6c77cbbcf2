#pragma once
/// @file
/// What a shell offers for the word at its cursor, taken from the commands' own description.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace course::cli {

/// The command, unknown to --help, that a shell calls: `course __complete WORD...`, the last word being the
/// one at the cursor.
inline constexpr std::string_view kCompleteCommand = "__complete";

/// Lines that stand for all files, or all folders, of the shell's own choice.
inline constexpr const char* kFiles = ":files";
inline constexpr const char* kFolders = ":folders";

/// Gives the words of a kind, such as "LESSON" or "DIAGNOSTIC", that may stand where `begin` was typed.
using WordsOfKind =
    std::function<std::vector<std::string>(const std::string& kind, const std::string& begin)>;

/// @brief What may stand in place of the last word.
/// Cost: microseconds, beside what words_of_kind takes.
/// @param words all that stands behind ./course
std::vector<std::string> complete(const CLI::App& app, std::vector<std::string> words,
                                  const WordsOfKind& words_of_kind);

/// @brief Prints the answer to a shell, one word a line. Nothing is printed if anything goes wrong.
void print_completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace course::cli
