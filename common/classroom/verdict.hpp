#pragma once
/// @file
/// What the tests of a lesson found out about one file, whoever handed it in.

#include <optional>
#include <string>
#include <vector>

#include "classroom/marks.hpp"
#include "grading/facts/results.hpp"

namespace course::classroom {

struct FileVerdict {
  Standing standing = Standing::ungraded;
  std::string message;                      ///< for the student; empty if graded
  std::vector<grading::CaseResult> open;    ///< on the data that everybody has
  std::vector<grading::CaseResult> hidden;  ///< the same cases on data from the secret seed
  double seconds = 0;                       ///< that grading took
};

/// Verdicts on disk, one file each, so that a run that was ended goes on where it was. A verdict is found
/// again by the very bytes of the file that was judged.
class VerdictStore {
 public:
  /// @throws grading::MachineError if the folder cannot be made
  explicit VerdictStore(std::filesystem::path folder);

  /// `conditions` is all else that a verdict depends on: lesson, tests, seeds, backend.
  /// Nothing, too, if what is there cannot be read.
  std::optional<FileVerdict> find(const std::string& conditions, const std::string& content) const;

  /// @brief Appears whole or not at all.
  /// @return the verdict as find() gives it from now on: without bytes that are no text
  /// @throws std::system_error, e.g. on a full disk
  FileVerdict keep(const std::string& conditions, const std::string& content,
                   const FileVerdict& verdict) const;

  void forget(const std::string& conditions, const std::string& content) const;

  /// Under which the verdict is kept. No two files have the same name, however they are made.
  static std::string name_of(const std::string& conditions, const std::string& content);

 private:
  std::filesystem::path file_of(const std::string& conditions, const std::string& content) const;
  std::filesystem::path folder_;
};

}  // namespace course::classroom
