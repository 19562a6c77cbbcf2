#pragma once
/// @file
/// The folder that the results of a class go to.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "classroom/marks.hpp"
#include "grading/base/descriptor.hpp"

namespace course::classroom {

/// Texts of the page's own, and of the tables that a platform gave.
struct ClassFormats {
  std::string page_style, page_script;
  std::string canvas_gradebook;              ///< as exported; may be empty
  std::string moodle_worksheet;              ///< as downloaded; empty: moodle.csv is not written
  std::optional<std::uint64_t> secret_seed;  ///< goes to run.json, and nowhere else
};

class ResultsFolder {
 public:
  /// @brief Makes the folder, or goes on in one that an earlier run left.
  /// @throws std::invalid_argument, in a sentence, if there is something else in it, or another run is at
  /// work there
  /// @throws grading::MachineError if it cannot be written
  explicit ResultsFolder(const std::filesystem::path& folder);
  ~ResultsFolder();  ///< empties scratch()
  ResultsFolder(ResultsFolder&&) = default;

  std::filesystem::path verdicts() const { return folder_ / ".grading" / "verdicts"; }
  std::filesystem::path scratch() const { return folder_ / ".grading" / "scratch"; }  ///< empty at first

  /// @brief results.json, junit.xml and feedback.md of one student.
  /// @throws std::system_error
  void write(const StudentMarks& student) const;

  /// @brief The tables, the page and run.json.
  /// @return sentences about students whom a platform's table does not know
  /// @throws std::system_error, std::invalid_argument if a platform's table cannot be read
  std::vector<std::string> write(const ClassMarks& marks, const ClassFormats& formats) const;

 private:
  void put(const std::filesystem::path& file, const std::string& text) const;

  std::filesystem::path folder_;
  grading::Descriptor lock_;
};

}  // namespace course::classroom
