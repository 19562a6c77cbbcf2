#pragma once
/// @file
/// Everything that one student handed in, from folders, zips and loose files, to one file for each lesson.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "classroom/lesson_choice.hpp"
#include "classroom/submissions.hpp"
#include "classroom/unpack.hpp"

namespace course::classroom {

/// What is the same for all students of a class.
struct ReadingRules {
  const std::vector<grading::Lesson>& lessons;
  const SubmissionOptions& options;
  std::optional<std::int64_t> deadline;
};

class StudentReader {
 public:
  explicit StudentReader(const ReadingRules& rules) : rules_(rules) {}

  /// @brief Takes all that lies in a folder below an open one, at any depth.
  /// @throws grading::MachineError if the machine itself fails, as the other functions do
  void add_folder(int parent, const std::string& name);

  /// @brief Takes one file, told by its name.
  void add_file(int parent, const std::string& name, bool late);

  /// @brief Takes what a zip holds; its files are told with `prefix` before their names.
  void add_zip(int parent, const std::string& name, const std::string& prefix, bool late);

  /// @brief Takes a file that the zip around it was not unpacked to; it is told with `prefix` before its
  /// name.
  void add_left_out(const LeftOut& left_out, const std::string& prefix = "");

  /// @brief Takes a file that a zip has and no lesson wants, or of which the path is hidden.
  void add_ignored(const std::string& path, const std::string& prefix = "");

  void add_note(const std::string& note);

  /// @brief What came of all of it.
  Student student(const std::string& name, const std::string& id) const;

 private:
  /// A file or folder, where it lies and how it is told.
  struct Place {
    int parent;
    const std::string& name;
    const std::vector<std::string>& folders;  ///< around it, the outermost first
    std::string shown_path;
  };

  void walk(int root, const std::string& prefix);
  std::vector<std::string> look_into(int root, const std::vector<std::string>& folders,
                                     const std::string& prefix);
  bool take(const Place& place);  ///< whether it is a folder to look into
  void take_file(const Place& place);
  void take_unwanted(const std::string& name, const std::string& path);
  void take_hidden(int folder, const std::set<std::string>& names, const std::string& path);
  void note_unreadable(const std::string& what, int error);
  void take_unpacked(const Unpacked& unpacked, const std::string& prefix, const std::string& zip);

  const ReadingRules& rules_;
  std::map<int, LessonChoice> choices_;
  std::vector<std::string> notes_;
  std::set<std::string> unknown_, renamed_, links_, nested_zips_, hidden_;  ///< paths, for one note each
  std::map<std::string, std::set<std::string>> formats_;  ///< paths by what they are: "a PDF"
  std::string unreadable_;
  std::size_t entries_ = 0, zips_ = 0;
  std::chrono::nanoseconds unpacking_{};
  std::uintmax_t bytes_ = 0;  ///< read so far
  bool late_ = false;         ///< of what is read now, by the platform's word
  bool in_zip_ = false;
};

}  // namespace course::classroom
