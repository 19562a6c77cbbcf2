#pragma once
/// @file
/// Whose the folders of a Gradescope export are: its submission_metadata.yml.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace course::classroom {

/// The name of that file, beside the folders.
inline constexpr const char* kGradescopeTable = "submission_metadata.yml";

/// One of those who handed in a folder together.
struct Submitter {
  std::string name;
  /// The student's number; the address if there is none, or if others have that name and number, too. Empty
  /// if the table has neither.
  std::string id;

  bool operator==(const Submitter&) const = default;
};

/// @brief Reads the table: who handed in the folder "submission_234567". Of the file's YAML it takes what
/// Gradescope writes: at the first level the folders, below each a list `:submitters:` of `:name:`, `:sid:`
/// and `:email:`. What else is there, such as results with texts of the students' own, lies deeper and is
/// passed over. Of a folder without a name there is no entry.
std::map<std::string, std::vector<Submitter>> read_gradescope_table(std::string_view yaml);

}  // namespace course::classroom
