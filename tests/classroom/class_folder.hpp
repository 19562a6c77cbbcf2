#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "classroom/submissions.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/lesson.hpp"
#include "support/temporary_folder.hpp"

namespace course::test {

inline grading::Lesson lesson(int number, const std::string& name) {
  grading::Lesson result;
  result.number = number;
  result.name = name;
  result.root = COURSE_TEST_SOURCE_DIR;
  return result;
}

inline std::vector<grading::Lesson> some_lessons() {
  return {lesson(1, "vector_add"), lesson(5, "online_softmax"), lesson(8, "flash1_forward")};
}

/// 12:00:00 of 2026-11-20 in the time zone of this machine, and so many seconds later.
inline std::int64_t noon(std::int64_t seconds = 0) {
  std::tm parts{};
  parts.tm_year = 126;
  parts.tm_mon = 10;
  parts.tm_mday = 20;
  parts.tm_hour = 12;
  parts.tm_isdst = -1;
  return std::mktime(&parts) + seconds;
}

/// What a class hands in, on disk.
class ClassFolder {
 public:
  ClassFolder() {
    std::filesystem::create_directory(root());
    std::filesystem::create_directory(scratch());
  }

  std::filesystem::path root() const { return folder_ / "class"; }
  std::filesystem::path scratch() const { return folder_ / "scratch"; }
  std::filesystem::path beside(const std::string& name) const { return folder_ / name; }

  static void touch(const std::filesystem::path& file, std::int64_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    if (utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
      throw std::runtime_error("cannot set the time of " + file.string());
  }

  void write(const std::string& name, const std::string& content, std::int64_t seconds = noon()) const {
    const std::filesystem::path file = root() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    if (!std::filesystem::is_regular_file(file)) throw std::runtime_error("cannot write " + file.string());
    touch(file, seconds);
  }

  /// A zip of these files, all of noon. A name that begins with @ is packed as a link to its content.
  static void zip(const std::filesystem::path& file,
                  const std::vector<std::pair<std::string, std::string>>& files) {
    std::filesystem::create_directories(file.parent_path());
    grading::Command command;
    command.arguments = {"python3", "-c",
                         "import sys, zipfile\n"
                         "with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:\n"
                         "  for name, text in zip(sys.argv[2::2], sys.argv[3::2]):\n"
                         "    info = zipfile.ZipInfo(name.lstrip('@'), (2026, 11, 20, 12, 0, 0))\n"
                         "    info.external_attr = (0o120777 if name[0] == '@' else 0o100644) << 16\n"
                         "    archive.writestr(info, text)\n",
                         file.string()};
    for (const auto& [name, content] : files) {
      command.arguments.push_back(name);
      command.arguments.push_back(content);
    }
    const grading::CommandResult result = grading::run_command(command);
    if (!result.ok()) throw std::runtime_error(result.output);
    touch(file, noon());
  }

  std::vector<classroom::Student> read(const std::filesystem::path& from,
                                       const std::string& deadline = "") const {
    classroom::SubmissionOptions options;
    options.unpack_script = unpack_script;
    options.scratch = scratch();
    options.deadline = deadline;
    options.on_note = [this](const std::string& note) { notes.push_back(note); };
    return classroom::read_submissions(from, some_lessons(), options);
  }
  std::vector<classroom::Student> read() const { return read(root()); }

  /// The only student of the class.
  classroom::Student student(const std::string& deadline = "") const {
    std::vector<classroom::Student> students = read(root(), deadline);
    if (students.size() != 1) throw std::runtime_error("not one student");
    return students[0];
  }

  std::filesystem::path unpack_script =
      std::filesystem::path(COURSE_TEST_SOURCE_DIR) / "common/classroom/unpack_submissions.py";
  mutable std::vector<std::string> notes;  ///< about what belongs to no student

 private:
  TemporaryFolder folder_;
};

inline std::vector<std::string> names(const std::vector<classroom::Student>& students) {
  std::vector<std::string> result;
  for (const classroom::Student& student : students) result.push_back(student.name);
  return result;
}

inline bool contains(const std::vector<std::string>& notes, const std::string& note) {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

}  // namespace course::test
