#pragma once
/// @file
/// One file against one lesson's tests, in the sandbox.

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "classroom/verdict.hpp"
#include "grading/confinement/imports.hpp"
#include "grading/confinement/sandbox.hpp"
#include "grading/project/toolchain.hpp"

namespace course::classroom {

struct JudgeSettings {
  grading::Backend backend = grading::Backend::cpu;
  std::vector<std::string> architectures;    ///< GPU only
  std::uint64_t seed = 0;                    ///< of the open cases
  std::optional<std::uint64_t> secret_seed;  ///< of the hidden cases; nothing: there are none
  bool only_cuda = true;                     ///< see grading::CompileBox
};

class SubmissionJudge {
 public:
  /// @param folder  for what is made on the way; exists
  /// @param lessons  all of the course; a view of each is made when it is first needed
  SubmissionJudge(const grading::Toolchain& toolchain, const grading::Sandbox& sandbox,
                  std::vector<grading::Lesson> lessons, JudgeSettings settings, std::filesystem::path folder);

  /// @brief All that a verdict of this lesson depends on beside the file: the tests, the seeds, where it
  /// runs.
  std::string conditions(const grading::Lesson& lesson);

  /// @brief Compiles and tests a file. Whatever it does, the verdict says so. May be called from several
  /// threads; on a GPU, one at a time runs.
  /// @throws grading::Interrupted, and grading::MachineError if the disk is full
  FileVerdict judge(const grading::Lesson& lesson, const std::string& content);

 private:
  struct Builds;
  FileVerdict judge_in(const std::filesystem::path& scratch, const grading::Lesson& lesson,
                       const std::string& content);
  Builds build(const std::filesystem::path& scratch, const grading::Lesson& lesson,
               const std::string& content);
  std::string why_refused(const grading::Lesson& lesson, const Builds& builds);
  grading::Imports imports_of_stub(const grading::Lesson& lesson);
  std::filesystem::path write_confinement(const std::filesystem::path& scratch, const Builds& builds) const;
  std::filesystem::path view_of(const grading::Lesson& lesson);

  const grading::Toolchain& toolchain_;
  const grading::Sandbox& sandbox_;
  std::vector<grading::Lesson> lessons_;
  JudgeSettings settings_;
  std::filesystem::path folder_;
  std::string tools_;                              // hash of what compiles and runs
  std::mutex gpu_;                                 // held by the one that runs on it
  std::mutex views_mutex_;                         // of the views on disk
  std::mutex mutex_;                               // of what follows
  std::map<std::string, std::string> conditions_;  // by lesson id
  std::map<std::string, grading::Imports> stubs_;  // by lesson id
};

}  // namespace course::classroom
