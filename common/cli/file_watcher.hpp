#pragma once
/// @file
/// Says when a file has been saved, however its editor does that.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "grading/base/descriptor.hpp"

namespace course::cli {

/// What became of a watched file.
enum class Change {
  saved,      ///< its content is another than before
  unchanged,  ///< it was written or touched, and its content is what it was
  missing,    ///< it is not there, or cannot be read
};

/// Watches one file through the folder that it lies in, so that a file that takes the place of the old one is
/// seen as well. Other files in that folder, such as an editor's backups, mean nothing. One save may come as
/// several events, so the file is looked at once it has been quiet for a moment.
class FileWatcher {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kQuiet{50};
  /// A file that is written without a pause is looked at in the end.
  static constexpr std::chrono::milliseconds kLongest{500};

  /// @brief Watches from now on; the content that the file has now is not news.
  /// @throws grading::MachineError if the system lets nobody watch one more folder
  explicit FileWatcher(const std::filesystem::path& file);

  /// @brief Becomes readable when something has happened in the folder.
  int descriptor() const { return inotify_.get(); }

  /// @brief Takes in what has happened, without waiting. A folder that has gone is watched for from above.
  /// @throws grading::MachineError
  void read_events();

  /// @brief When to call settle(); nothing if nothing has happened to the file.
  std::optional<Clock::time_point> due() const;

  /// @brief Looks at the file if it is due.
  std::optional<Change> settle(Clock::time_point now);

  /// @brief Whether the file still has the content that settle() last saw.
  bool is_as_seen() const;

  /// @brief Looks at the file although nothing was heard of it, for file systems that do not tell.
  /// @throws grading::MachineError
  void look_again();

  /// @brief Whether the file was there when it was last looked at.
  bool is_there() const { return !seen_.empty(); }

 private:
  void watch_folder();
  void note_event();

  std::filesystem::path file_;
  grading::Descriptor inotify_;
  int watch_ = -1;  ///< of the folder, or of the nearest one above it that is there
  bool folder_there_ = false;
  std::string seen_;          ///< hash of the content that was last looked at; empty: the file was not there
  std::string seen_content_;  ///< the last one that was there
  std::optional<Clock::time_point> first_, last_;  ///< of the events that are not settled yet
};

}  // namespace course::cli
