#pragma once
/// @file
/// Reading what g++ writes: assembly, and its dumps of functions.

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace course::grading {

/// What g++ writes of each function with -fdump-tree-...: after all optimisations and with lines, and in the
/// two passes that put the hooks of check mode in, of accesses with a number behind each name.
struct CompilerDumps {
  std::string_view optimized, accesses, blocks;
};

/// @brief Calls visit(line) for each line until it returns false.
void for_each_line(std::string_view text, const std::function<bool(std::string_view)>& visit);

/// @brief Calls visit(part) for what stands between commas, outside of brackets, from its first word on.
void for_each_part(std::string_view text, const std::function<void(std::string_view)>& visit);

/// @brief The line from its first word on.
std::string_view trimmed(std::string_view line);

bool is_part_of_name(char c);

/// @brief Whether it begins with one of these.
bool begins_with_any(std::string_view word, std::initializer_list<std::string_view> beginnings);

/// @brief Whether a line of a dump is the first of a function.
bool begins_function(std::string_view line);

/// @brief "_Z3addPf" of ";; Function add (_Z3addPf, funcdef_no=1, ...".
std::string_view mangled_name(std::string_view line);

/// @brief The text in place of whose string literals stands nothing.
std::string without_literals(std::string_view text);

/// @brief A statement of a dump without the places in the source that the compiler writes before it and
/// before its operands.
std::string without_places(std::string_view line);

}  // namespace course::grading
