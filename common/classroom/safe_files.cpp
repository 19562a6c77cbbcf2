#include "classroom/safe_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "classroom/file_names.hpp"
#include "grading/base/machine_error.hpp"

namespace course::classroom {
namespace {

using grading::Descriptor;

// Archives that know no time write the first day of 1980, and some tools 1970.
constexpr std::int64_t kEarliestTime = 315'532'800 + 2 * 86'400;

std::string why_not_regular(mode_t mode) {
  if (S_ISLNK(mode)) return "is a symbolic link; hand in the file itself.";
  if (S_ISDIR(mode)) return "is a folder; hand in a file of this name.";
  if (S_ISFIFO(mode)) return "is a named pipe; hand in an ordinary file.";
  if (S_ISSOCK(mode)) return "is a socket; hand in an ordinary file.";
  return "is a device; hand in an ordinary file.";
}

void note_unreadable(FileContent& result, int error) {
  result.unreadable = true;
  result.problem = why_unreadable(error);
}

std::string too_large(std::uintmax_t limit) {
  return fmt::format("is larger than {} MiB; hand in the source alone.", limit >> 20);
}

/// Reads on to the end, or to one byte past the limit.
void read_content(int file, std::uintmax_t limit, FileContent& result) {
  std::array<char, 65536> buffer;
  while (result.content.size() <= limit) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw_if_machine_fails(errno, "A submission cannot be read");
      note_unreadable(result, errno);
    }
    if (count <= 0) break;
    result.content.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (result.content.size() > limit) result.problem = too_large(limit);
  if (!result.problem.empty()) result.content.clear();
}

}  // namespace

void throw_if_machine_fails(int error, const std::string& what) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO)
    throw grading::MachineError(fmt::format("{}: {}.", what, std::strerror(error)));
}

mode_t mode_of(int folder, const std::string& name) {
  struct stat info {};
  return fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mode : 0;
}

std::string why_unreadable(int error) {
  return fmt::format("cannot be read on the grading machine ({}).", std::strerror(error));
}

Descriptor open_regular(int folder, const std::string& name, FileContent& result) {
  Descriptor file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    const int error = errno;
    throw_if_machine_fails(error, "A submission cannot be opened");
    if (error == ELOOP)
      result.problem = why_not_regular(S_IFLNK);
    else
      note_unreadable(result, error);
    return file;
  }
  struct stat info {};
  if (fstat(file.get(), &info) != 0) {
    note_unreadable(result, errno);
    return Descriptor();
  }
  if (!S_ISREG(info.st_mode)) {
    result.problem = why_not_regular(info.st_mode);
    return Descriptor();
  }
  return file;
}

FileContent read_regular(int folder, const std::string& name, std::uintmax_t limit) {
  FileContent result;
  struct stat info {};
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    throw_if_machine_fails(errno, "A submission cannot be looked at");
    note_unreadable(result, errno);
    return result;
  }
  if (info.st_mtime >= kEarliestTime) result.modified = info.st_mtime;
  if (!S_ISREG(info.st_mode)) {
    result.problem = why_not_regular(info.st_mode);
  } else if (static_cast<std::uintmax_t>(info.st_size) > limit) {
    result.problem = too_large(limit);
  } else if (const Descriptor file = open_regular(folder, name, result)) {
    read_content(file.get(), limit, result);
  }
  return result;
}

Descriptor open_folder(int folder, const std::vector<std::string>& names) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor here(openat(folder, ".", kFlags));
  for (const std::string& name : names) {
    if (!here) break;
    Descriptor below(openat(here.get(), name.c_str(), kFlags));
    const int error = errno;
    here = std::move(below);
    errno = error;
  }
  if (!here) throw_if_machine_fails(errno, "A folder of the submissions cannot be opened");
  return here;
}

Names names_in(int folder, std::size_t limit) {
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(again < 0 ? nullptr : fdopendir(again), closedir);
  if (!stream) {
    const int error = errno;
    if (again >= 0) ::close(again);
    throw_if_machine_fails(error, "A folder of the submissions cannot be read");
    return {};
  }
  std::set<std::string> first;
  Names result;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (is_hidden(name)) {
      constexpr std::size_t kListed = 10;
      if (!is_of_tool(name) && result.hidden.size() < kListed) result.hidden.insert(name);
      continue;
    }
    first.insert(name);
    if (first.size() > limit) {
      first.erase(std::prev(first.end()));
      result.cut = true;
    }
  }
  result.names.assign(first.begin(), first.end());
  return result;
}

std::string only_folder(int folder, const std::string& called) {
  const Names names = names_in(folder, 1);
  if (names.cut || names.names.size() != 1 || !S_ISDIR(mode_of(folder, names.names[0]))) return "";
  const std::string& name = names.names[0];
  const bool is_zip = ends_with(called, ".zip");
  return name == called || (is_zip && name == called.substr(0, called.size() - 4)) ? name : "";
}

}  // namespace course::classroom
