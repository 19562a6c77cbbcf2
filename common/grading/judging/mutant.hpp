#pragma once
/// @file
/// Mutants: solutions with one mistake, written down as edits of the solution, as page_of() gives it.
///
/// ```
/// Only whole blocks of columns are added.
///
/// diagnosis: tail_missing
/// expect: the last cols % kBlockThreads columns
///
/// replace:
///   for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) {
/// with:
///   for (std::int64_t col = threadIdx.x; col < cols / kBlockThreads * kBlockThreads; col += kBlockThreads) {
/// ```

#include <filesystem>
#include <string>
#include <vector>

namespace course::grading {

struct Mutant {
  /// Whole lines that stand in the solution exactly once, and what stands there instead.
  struct Edit {
    std::string before, after;
    int line;  ///< of "replace:" in the mutant's file
  };

  std::filesystem::path file;
  std::string what;                     ///< what is wrong, in a sentence
  std::vector<std::string> expect;      ///< words that a failed case must say
  std::vector<std::string> expect_gpu;  ///< the same on a GPU, if it differs; or one of the words below
  std::vector<std::string>
      diagnoses;  ///< mistakes, and classes of errors of check mode, that cases must record
  std::vector<std::string> diagnoses_by_luck;  ///< those that cases may record besides, or not
  std::string told_by;  ///< name of the case that tells it by itself, in the simulator; empty: not said
  std::vector<Edit> edits;

  /// In expect_gpu: nothing tells there, and the mutant passes.
  static constexpr const char* kNothing = "nothing";
  /// In expect_gpu: what happens there depends on timing, and is not judged.
  static constexpr const char* kLuck = "luck";
};

/// @brief Reads a mutant.
/// @throws std::runtime_error with a sentence that names file and line if it is not written as above.
Mutant read_mutant(const std::filesystem::path& file);

/// @brief The solution with the edits made.
/// @throws std::runtime_error naming the mutant and the line of an edit whose text the solution does not
/// have, or has several times.
std::string mutated(const Mutant& mutant, const std::string& solution);

}  // namespace course::grading
