#pragma once
/// @file
/// The errors in the output of g++, clang, nvcc and ptxas, one by one.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

struct CompileError {
  std::string file;  ///< relative to the project's folder if it lies within
  int line = 0;
  int column = 0;                      ///< from 1; 0 if the compiler did not say
  std::string text;                    ///< what stands behind "error: "
  std::vector<std::string> details{};  ///< the lines that follow it, up to the next error
  std::string pointed_at{};            ///< nvcc: its own copy of the line, from the '^' on
  bool points_at_first_word = false;   ///< nvcc: the '^' stands below the first word of that copy
};

/// Errors and symbols that are read of an output. The author mends some of so many, and compiles again.
inline constexpr std::size_t kMostErrors = 100;

/// @brief The first kMostErrors errors: those in the author's own file first, no two of the same text at the
/// same place.
/// An error inside a template is reported where the author's file uses it.
/// @param source     the author's file as it was named to the compiler
/// @param root       the project's folder
/// @param last_line  of the author's file, which is what nvcc means by "end of source"
std::vector<CompileError> parse_compile_errors(std::string_view output, const std::filesystem::path& source,
                                               const std::filesystem::path& root, int last_line);

/// @brief "file:12: words", as simt-rewrite says why it cannot translate `source`.
std::optional<CompileError> parse_refusal(std::string_view line, const std::filesystem::path& source);

/// The first kMostErrors symbols that the linker or ptxas misses, as a C++ declaration names them, each once.
std::vector<std::string> parse_undefined_symbols(std::string_view output);

/// True if a message that names `file` means `source`.
bool is_same_file(const std::string& file, const std::filesystem::path& source,
                  const std::filesystem::path& root);

/// The lines of a text, without their ends.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace course::grading
