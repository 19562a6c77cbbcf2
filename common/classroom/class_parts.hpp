#pragma once
/// @file
/// A class in parts, which are judged by as many runs, on one machine or on many. All of them keep their
/// verdicts in the folder of the whole class, where the run that writes the results finds them.

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "grading/base/subprocess.hpp"

namespace course::classroom {

/// Every count-th file to judge, from the number-th on.
struct Part {
  unsigned number = 1, count = 1;
  bool has(std::size_t file) const { return file % count == number - 1; }
};

/// @brief Reads "3/8".
/// @throws std::invalid_argument
Part parse_part(const std::string& text);

/// How far the run of a part is, for the run that waits for it.
struct PartState {
  std::string host;
  std::string conditions;  ///< hash of what its verdicts depend on beside the files
  std::size_t judged = 0;  ///< files, since it began
  bool ended = false;      ///< all of its files have been looked at
  std::map<std::string, std::string>
      ungraded{};       ///< VerdictStore::name_of() the file: why this machine could not
  std::string error{};  ///< why it stopped before its end, a sentence
};
void write_state(const std::filesystem::path& file, const PartState& state);
/// Nothing if there is none that can be read.
std::optional<PartState> read_state(const std::filesystem::path& file);

/// What the run of a part needs of the results' folder. Other runs may be at work there.
class PartFolder {
 public:
  /// @param results  is made if need be
  /// @throws grading::MachineError if it cannot be written
  PartFolder(const std::filesystem::path& results, const Part& part);

  const std::filesystem::path& verdicts() const { return verdicts_; }
  const std::filesystem::path& scratch() const { return scratch_->path(); }
  const std::filesystem::path& state() const { return state_; }

 private:
  std::filesystem::path verdicts_, state_;
  std::optional<grading::ScratchFolder> scratch_;
};

/// In .grading: states and logs of parts.
std::filesystem::path parts_folder(const std::filesystem::path& results);
std::filesystem::path state_file(const std::filesystem::path& parts, unsigned number);

/// @brief Makes .grading and its folders of verdicts and of parts, as private as they have to be.
/// @throws std::filesystem::filesystem_error
void make_grading_folders(const std::filesystem::path& results);

}  // namespace course::classroom
