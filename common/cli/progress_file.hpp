#pragma once
/// @file
/// The file that progress is kept in: its form, its lock, and what is done with one that is no such file.

#include <filesystem>
#include <string>

#include "cli/progress.hpp"

namespace course::cli {

/// The file, held so that no other program reads or writes it at the same time.
class ProgressFile {
 public:
  /// @brief Waits for whoever holds the file, but not for ever.
  explicit ProgressFile(const std::filesystem::path& file);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  /// @brief See load_progress().
  Progress read() const;

  /// @brief Writes the whole file or nothing.
  /// @return why nothing was written, in a sentence; empty if it was
  std::string write(const Progress& progress) const;

 private:
  std::filesystem::path file_;
  int folder_;  ///< descriptor whose lock is the file's: a lock on the file would be lost with its old
                ///< content
  bool held_ = false;
};

}  // namespace course::cli
