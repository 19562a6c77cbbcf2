#pragma once
/// @file
/// What a lesson's test program answers without a kernel: `--list-cases` and `--list-mistakes`, as JSON.

#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

/// A test case, before anything runs.
struct ListedCase {
  std::string name;
  std::vector<std::string> tags{};
  int points = 0;
  bool operator==(const ListedCase&) const = default;
};

/// A mistake that the tests know by its wrong result.
struct ListedMistake {
  std::string name;
  std::vector<std::string> sentences{};  ///< what students are told, each once, as found first
  bool operator==(const ListedMistake&) const = default;
};

/// @brief One line of JSON: {"version":1,"cases":[{"name","tags","points"}]}, and the same for mistakes.
std::string to_json_line(const std::vector<ListedCase>& cases);
std::string to_json_line(const std::vector<ListedMistake>& mistakes);

/// @brief The inverse.
/// @throws std::runtime_error if the text is not such a list
std::vector<ListedCase> listed_cases(std::string_view json);
std::vector<ListedMistake> listed_mistakes(std::string_view json);

}  // namespace course::grading
