#include "cli/file_watcher.hpp"

#include <fmt/core.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "grading/base/machine_error.hpp"
#include "grading/build/kernel_cache.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using grading::hash_file;
using grading::MachineError;

constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

[[noreturn]] void fail_to_watch(const fs::path& folder, int error) {
  const bool limit = error == EMFILE || error == ENOSPC;
  throw MachineError(fmt::format(
      "The folder {} cannot be watched: {}. {}", folder.string(),
      limit ? "too many programs watch files" : std::error_code(error, std::generic_category()).message(),
      limit ? "End one of them, or raise fs.inotify.max_user_instances and max_user_watches with sysctl."
            : "Give yourself permission to read it."));
}

/// The file that a link stands for, since it is that one's folder in which a save happens.
fs::path resolved(const fs::path& file) {
  std::error_code unknown;
  const fs::path target = fs::weakly_canonical(file, unknown);
  return unknown ? fs::absolute(file) : target;
}

}  // namespace

FileWatcher::FileWatcher(const fs::path& file)
    : file_(resolved(file)), inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!inotify_) fail_to_watch(file_.parent_path(), errno);
  watch_folder();
  seen_ = seen_content_ = hash_file(file_);
}

void FileWatcher::watch_folder() {
  const fs::path home = file_.parent_path();
  if (watch_ >= 0) inotify_rm_watch(inotify_.get(), watch_);
  for (fs::path folder = home;;) {
    watch_ = inotify_add_watch(inotify_.get(), folder.c_str(), kEvents);
    if (watch_ < 0) {
      if ((errno != ENOENT && errno != ENOTDIR) || folder == folder.root_path()) fail_to_watch(folder, errno);
      folder = folder.parent_path();
      continue;
    }
    folder_there_ = folder == home;
    // It may have come back between the look for it and the watch on what is above it.
    if (folder_there_ || !fs::exists(folder / *home.lexically_relative(folder).begin())) return;
    inotify_rm_watch(inotify_.get(), watch_);
    folder = home;
  }
}

void FileWatcher::note_event() {
  last_ = Clock::now();
  if (!first_) first_ = last_;
}

void FileWatcher::read_events() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  const std::string name = file_.filename().string();
  bool look_for_folder = false;
  for (ssize_t count; (count = read(inotify_.get(), buffer.data(), buffer.size())) > 0;) {
    inotify_event event;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count); at += sizeof event + event.len) {
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if ((event.mask & IN_Q_OVERFLOW) != 0) note_event();  // what was lost may have been a save
      if (event.wd != watch_) continue;
      // The name is padded with zeros.
      const std::string_view about(event.len > 0 ? buffer.data() + at + sizeof event : "");
      if (folder_there_ && about == name) note_event();
      if (!folder_there_ || (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0)
        look_for_folder = true;
    }
  }
  if (!look_for_folder) return;
  const bool was_there = folder_there_;
  watch_folder();
  if (was_there || folder_there_) note_event();
}

std::optional<FileWatcher::Clock::time_point> FileWatcher::due() const {
  if (!last_) return std::nullopt;
  return std::min(*last_ + kQuiet, *first_ + kLongest);
}

std::optional<Change> FileWatcher::settle(Clock::time_point now) {
  if (!last_ || now < *due()) return std::nullopt;
  first_ = last_ = std::nullopt;
  seen_ = hash_file(file_);
  if (seen_.empty()) return Change::missing;
  if (seen_ == seen_content_) return Change::unchanged;
  seen_content_ = seen_;
  return Change::saved;
}

bool FileWatcher::is_as_seen() const { return hash_file(file_) == seen_; }

void FileWatcher::look_again() {
  if (!folder_there_) watch_folder();
  note_event();
}

}  // namespace course::cli
