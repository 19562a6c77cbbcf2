#pragma once
/// @file
/// Where built kernels are kept, and how one is found again.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace course::grading {

/// @brief A name for a content: 32 hexadecimal digits (FNV-1a, 128 bits). Not against an attacker, who finds
/// contents of the same name in a second: of kernels, only ones of his own, as the file's path is part of
/// every key. What students hand in is named by sha256_hex().
class ContentHash {
 public:
  ContentHash& add(std::string_view bytes);  ///< ("ab", "c") and ("a", "bc") give different hashes
  std::string hex() const;

 private:
  std::uint64_t high_ = 0x6c62272e07bb0142, low_ = 0x62b821756295c58d;
};

/// @brief The file's content hash, or an empty string if it cannot be read.
std::string hash_file(const std::filesystem::path& file);

/// @brief Identifies a program without running or reading it: its real path, size and time.
std::string identity(const std::filesystem::path& program);

/// @brief The files named by a compiler's dependency file (make syntax), without the target.
std::vector<std::filesystem::path> read_depfile(const std::filesystem::path& file);

/// A folder of libraries. Each has a small record of the files it was made from and their content.
class KernelCache {
 public:
  explicit KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// @brief The library under this key, if every file it was made from still has the same content.
  std::optional<std::filesystem::path> find(const std::string& key) const;

  /// @brief Moves a library in (from the same file system) together with its record, and makes room.
  /// An input that was written after `started` may not be what the compiler read, so no record is kept then,
  /// and the next look-up finds nothing.
  /// @return where the library is now; its content there never changes
  /// @throws std::system_error
  std::filesystem::path publish(const std::string& key, const std::filesystem::path& library,
                                const std::vector<std::filesystem::path>& inputs,
                                std::filesystem::file_time_type started) const;

  /// @brief Removes what was not used for longest until at most `bytes` remain, and forgotten intermediate
  /// files. What was made or found within the last half hour stays: a run may be about to load it.
  void prune(std::uintmax_t bytes) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace course::grading
