#pragma once
/// @file
/// Reading what g++ writes: assembly, and its dumps of functions.

#include <chrono>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace course::grading {

/// What g++ writes of each function with -fdump-tree-...: after all optimisations and with lines, and in the
/// two passes that put the hooks of check mode in, of accesses with a number behind each name.
struct CompilerDumps {
  std::string_view optimized, accesses, blocks;
};

/// What the compiler wrote takes too long to read, or too much memory. A sentence for the student.
class TooMuchToRead : public std::runtime_error {
 public:
  TooMuchToRead();
};

/// @brief While it lives, for_each_line() throws TooMuchToRead once this thread has used that much processor
/// time, and for lines of more than a megabyte. At most one in a thread.
class ReadingLimit {
 public:
  explicit ReadingLimit(std::chrono::seconds most);
  ~ReadingLimit();
  ReadingLimit(const ReadingLimit&) = delete;
  ReadingLimit& operator=(const ReadingLimit&) = delete;
};

/// @brief Calls visit(line) for each line until it returns false.
/// @throws TooMuchToRead, see ReadingLimit.
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
