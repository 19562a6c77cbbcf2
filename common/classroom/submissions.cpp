#include "classroom/submissions.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "classroom/file_names.hpp"
#include "classroom/gradescope_table.hpp"
#include "classroom/safe_files.hpp"
#include "classroom/student_reader.hpp"
#include "grading/base/machine_error.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using grading::Descriptor;
using grading::Lesson;
using grading::MachineError;

constexpr std::size_t kMaxStudents = 100'000;  // entries of the top folder

/// "/classes/autumn/" without the slash, and "." as the folder that it is.
fs::path full_path(const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

/// The name of a zip without its ending.
std::string stem_of(const std::string& zip) { return zip.substr(0, zip.size() - 4); }

/// Looks, and opens nothing.
bool is_folder_behind_link(int folder, const std::string& name) {
  struct stat info {};
  return fstatat(folder, name.c_str(), &info, 0) == 0 && S_ISDIR(info.st_mode);
}

/// Whether the folder looks as if `course grade` had written its results there. A student can make such a
/// one.
bool looks_like_results(int parent, const std::string& name) {
  const Descriptor folder = open_folder(parent, {name});
  return folder && S_ISDIR(mode_of(folder.get(), ".grading")) && S_ISREG(mode_of(folder.get(), "run.json"));
}

class ClassReader {
 public:
  ClassReader(const std::vector<Lesson>& lessons, const SubmissionOptions& options)
      : rules_{lessons, options, parse_time(options.deadline)} {}

  void read_folder(const fs::path& root);
  void read_zip(const fs::path& root);
  std::vector<Student> students() const;

 private:
  /// Name and id. What several entries hold of one student is put together.
  using Key = std::pair<std::string, std::string>;

  std::string read_open(int folder, const std::string& called);
  void read_entry(int folder, const std::string& name);
  void read_file(int folder, const std::string& name);
  void read_left_out(const LeftOut& left_out);
  void read_gradescope(int folder, const Names& names);
  StudentReader& reader(const Key& key) { return readers_.try_emplace(key, rules_).first->second; }
  std::vector<StudentReader*> folder_readers(const std::string& name);
  bool holds_only_results(int folder, const std::string& name) const;
  void note(const std::string& sentence) const {
    if (rules_.options.on_note) rules_.options.on_note(sentence);
  }

  ReadingRules rules_;
  std::map<Key, StudentReader> readers_;
  std::optional<Platform> platform_;                          ///< that the names in the top folder come from
  std::map<std::string, std::vector<Submitter>> gradescope_;  ///< by folder
};

void ClassReader::read_folder(const fs::path& root) {
  const Descriptor folder(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    throw MachineError(fmt::format("{} cannot be opened: {}.", shown(root.string()), std::strerror(errno)));
  }
  read_open(folder.get(), root.filename().string());
}

void ClassReader::read_zip(const fs::path& root) {
  const SubmissionOptions& options = rules_.options;
  const Unpacked unpacked = unpack(options.unpack_script, root, options.scratch, ZipOf::whole_class);
  if (!unpacked.problem.empty())
    throw std::invalid_argument(shown(root.string()) + " was not unpacked. " + unpacked.problem);
  const Descriptor folder = open_folder(AT_FDCWD, {unpacked.folder->path().string()});
  if (!folder)
    throw MachineError(fmt::format("A folder for zips cannot be opened: {}.", std::strerror(errno)));
  const std::string inner = read_open(folder.get(), root.filename().string());
  for (LeftOut left_out : unpacked.left_out) {
    if (!inner.empty() && left_out.file.starts_with(inner + "/")) left_out.file.erase(0, inner.size() + 1);
    read_left_out(left_out);
  }
  for (const std::string& path : unpacked.ignored) {
    const std::string_view within =
        std::string_view(path).substr(!inner.empty() && path.starts_with(inner + "/") ? inner.size() + 1 : 0);
    const auto slash = within.find('/');
    if (slash == std::string_view::npos) continue;  // beside the students
    for (StudentReader* student : folder_readers(std::string(within.substr(0, slash))))
      student->add_ignored(std::string(within.substr(slash + 1)));
  }
}

/// Reads the top folder, or the only one in it if that has its name; returns the name of that one.
std::string ClassReader::read_open(int folder, const std::string& called) {
  const std::string inner = only_folder(folder, called);
  Descriptor below;
  if (!inner.empty()) below = open_folder(folder, {inner});
  const int top = below ? below.get() : folder;
  const Names names = names_in(top, kMaxStudents);
  platform_ = platform_of(names.names);
  read_gradescope(top, names);
  for (const std::string& name : names.hidden)
    if (S_ISDIR(mode_of(top, name)))
      note(shown(name) +
           " is not looked into, as its name begins with a dot; rename it if it is a student's.");
  for (const std::string& name : names.names) read_entry(top, name);
  return inner;
}

/// Gradescope's own table says whose its folders are; nobody is guessed.
void ClassReader::read_gradescope(int folder, const Names& names) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20;
  if (std::find(names.names.begin(), names.names.end(), kGradescopeTable) == names.names.end()) return;
  const FileContent file = read_regular(folder, kGradescopeTable, kMostBytes);
  if (!file.problem.empty()) return note(std::string(kGradescopeTable) + " " + file.problem);
  gradescope_ = read_gradescope_table(file.content);
  for (const std::string& name : names.names)
    if (name.starts_with("submission_") && S_ISDIR(mode_of(folder, name)) && !gradescope_.contains(name))
      note(
          fmt::format("{} has no name in {}, and is listed as it is called.", shown(name), kGradescopeTable));
}

/// Of the students whose folder has this name: one, or those who handed it in together.
std::vector<StudentReader*> ClassReader::folder_readers(const std::string& name) {
  std::vector<StudentReader*> found;
  if (const auto known = gradescope_.find(name); known != gradescope_.end()) {
    for (const Submitter& one : known->second) found.push_back(&reader({one.name, one.id}));
    return found;
  }
  const auto moodle = parse_moodle_folder(name);
  return {&reader(moodle ? Key(moodle->student, moodle->id) : Key(name, ""))};
}

/// Whether a folder is no student's, since it looks like results and has no file in it that was handed in.
bool ClassReader::holds_only_results(int folder, const std::string& name) const {
  if (!looks_like_results(folder, name)) return false;
  StudentReader looked_into(rules_);
  looked_into.add_folder(folder, name);
  const Student found = looked_into.student(name, "");
  return found.by_lesson.empty() && found.uncounted.empty();
}

void ClassReader::read_entry(int folder, const std::string& name) {
  const mode_t mode = mode_of(folder, name);
  if (S_ISDIR(mode) && holds_only_results(folder, name)) {
    note(shown(name) + " holds results of `course grade` and is no student's: put results elsewhere.");
  } else if (S_ISDIR(mode)) {
    for (StudentReader* student : folder_readers(name)) student->add_folder(folder, name);
  } else if (S_ISREG(mode)) {
    read_file(folder, name);
  } else if (S_ISLNK(mode) && is_folder_behind_link(folder, name)) {
    for (StudentReader* student : folder_readers(name))
      student->add_note(
          "The student's folder is a symbolic link, which is not followed; put the folder itself there.");
  } else {
    note(shown(name) + " is neither a folder nor a file and is not looked at.");
  }
}

void ClassReader::read_file(int folder, const std::string& name) {
  const auto platform = parse_platform_name(name, platform_);
  const bool is_zip = ends_with(name, ".zip");
  if (platform) {
    StudentReader& student = reader({platform->student, platform->id});
    is_zip ? student.add_zip(folder, name, "", platform->late)
           : student.add_file(folder, name, platform->late);
  } else if (is_zip) {
    reader({stem_of(name), ""}).add_zip(folder, name, "", false);
  } else if (ends_with(name, ".cu")) {
    const std::string meant = meant_lesson(name, rules_.lessons);
    note(fmt::format("{} belongs to no student{}; put it into a folder of the student's name.", shown(name),
                     meant.empty() ? "" : ", and is probably for lesson " + meant));
  }
}

/// Gives what was not unpacked to the student whose it is by its path.
void ClassReader::read_left_out(const LeftOut& left_out) {
  const auto slash = left_out.file.find('/');
  const std::string top = left_out.file.substr(0, slash);
  if (slash != std::string::npos) {
    for (StudentReader* student : folder_readers(top))
      student->add_left_out({left_out.file.substr(slash + 1), left_out.sentence, left_out.cut_off});
    return;
  }
  if (const auto platform = parse_platform_name(top, platform_)) {
    return reader({platform->student, platform->id}).add_left_out(left_out);
  }
  if (ends_with(top, ".zip"))
    return reader({stem_of(top), ""}).add_left_out({"", left_out.sentence, left_out.cut_off});
  note(left_out.sentence);
}

std::vector<Student> ClassReader::students() const {
  std::map<std::string, std::size_t> of_name;
  for (const auto& [key, reader] : readers_) ++of_name[key.first];
  std::vector<Student> students;
  std::set<std::string> names;
  for (const auto& [key, reader] : readers_) {
    const auto& [name, id] = key;
    const std::string wanted = of_name[name] > 1 && !id.empty() ? fmt::format("{} ({})", name, id) : name;
    // A folder may happen to be called like another student with the id behind the name.
    std::string unique = wanted;
    for (int i = 2; !names.insert(unique).second; ++i) unique = fmt::format("{} ({})", wanted, i);
    students.push_back(reader.student(unique, id));
  }
  std::sort(students.begin(), students.end(), [](const Student& a, const Student& b) {
    return std::tie(a.name, a.id) < std::tie(b.name, b.id);
  });
  return students;
}

}  // namespace

std::vector<Student> read_submissions(const fs::path& root, const std::vector<Lesson>& lessons,
                                      const SubmissionOptions& options) {
  ClassReader reader(lessons, options);
  const fs::path path = full_path(root);
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      throw std::invalid_argument("There is no folder or zip called " + shown(root.string()) + ".");
    throw MachineError(fmt::format("{} cannot be opened: {}.", shown(root.string()), std::strerror(error)));
  }
  if (S_ISDIR(info.st_mode)) {
    reader.read_folder(path);
  } else if (S_ISREG(info.st_mode) && ends_with(path.string(), ".zip")) {
    reader.read_zip(path);
  } else {
    throw std::invalid_argument(shown(root.string()) + " is neither a folder nor a zip.");
  }
  std::vector<Student> students = reader.students();
  if (students.empty()) {
    throw std::invalid_argument(shown(root.string()) +
                                " has no students in it; it should hold a folder or a zip for each of them.");
  }
  return students;
}

}  // namespace course::classroom
