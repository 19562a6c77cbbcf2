#include "classroom/student_reader.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "classroom/file_names.hpp"
#include "classroom/meant_lesson.hpp"
#include "classroom/safe_files.hpp"

namespace course::classroom {
namespace {

using grading::Descriptor;

const std::vector<std::string> kNoFolders;

constexpr std::size_t kMaxEntries = 10'000;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxZips = 20;
constexpr auto kLongestUnpacking = std::chrono::minutes(1);  // of all zips of a student
constexpr std::uintmax_t kMaxZipBytes = std::uintmax_t{64} << 20;
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;

/// In a copy of the course, the folders beside lessons/: none holds a student's work.
bool belongs_to_course(const std::string& name) {
  constexpr std::array kFolders{"solutions", "tests", "docs", "common", "scripts", "build"};
  return name.starts_with("build-") || std::find(kFolders.begin(), kFolders.end(), name) != kFolders.end();
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  for (std::size_t start = 0, end; (end = path.find('/', start)) != std::string::npos; start = end + 1)
    folders.push_back(path.substr(start, end - start));
  return folders;
}

/// The file, told from inside that folder if it lies there.
LeftOut without_folder(LeftOut left_out, const std::string& folder) {
  if (!folder.empty() && left_out.file.starts_with(folder + "/")) left_out.file.erase(0, folder.size() + 1);
  return left_out;
}

}  // namespace

void StudentReader::add_note(const std::string& note) {
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

void StudentReader::add_folder(int parent, const std::string& name) {
  const Descriptor folder = open_folder(parent, {name});
  if (!folder) return note_unreadable("The student's folder", errno);
  walk(folder.get(), "");
}

void StudentReader::add_file(int parent, const std::string& name, bool late) {
  late_ = late;
  take({parent, name, kNoFolders, name});
  late_ = false;
}

/// Breadth first, so that a deep heap of other things does not hide what lies on top.
void StudentReader::walk(int root, const std::string& prefix) {
  std::deque<std::vector<std::string>> waiting{{}};
  while (!waiting.empty()) {
    const std::vector<std::string> folders = std::move(waiting.front());
    waiting.pop_front();
    for (const std::string& name : look_into(root, folders, prefix)) {
      if (folders.size() >= kMaxDepth) {
        add_note(fmt::format("Folders that lie more than {} deep were not looked into.", kMaxDepth));
        break;
      }
      waiting.push_back(folders);
      waiting.back().push_back(name);
    }
  }
}

/// Takes the files of one folder; returns the folders in it.
std::vector<std::string> StudentReader::look_into(int root, const std::vector<std::string>& folders,
                                                  const std::string& prefix) {
  std::string path = prefix;
  for (const std::string& folder : folders) path += folder + "/";
  const Descriptor here = open_folder(root, folders);
  if (!here) {
    const std::string which = path.empty() ? "The student's folder" : shown(path);
    note_unreadable(which, errno);
    return {};
  }
  const Names names = names_in(here.get(), kMaxEntries - entries_);
  entries_ += names.names.size();
  if (names.cut) {
    add_note(fmt::format("There are more than {} files and folders; only the first ones were looked at.",
                         kMaxEntries));
  }
  take_hidden(here.get(), names.hidden, path);
  const bool is_course = S_ISDIR(mode_of(here.get(), "lessons"));
  std::vector<std::string> below;
  for (const std::string& name : names.names) {
    if (!take({here.get(), name, folders, path + name})) continue;
    if (is_course && belongs_to_course(name)) {
      if (name == "solutions")
        add_note(shown(path + name) + " was not looked into, as it lies beside lessons.");
    } else {
      below.push_back(name);
    }
  }
  return below;
}

bool StudentReader::take(const Place& place) {
  const mode_t mode = mode_of(place.parent, place.name);
  if (ends_with(place.name, ".cu")) {
    take_file(place);
  } else if (S_ISLNK(mode)) {
    links_.insert(place.shown_path);
  } else if (S_ISREG(mode) && ends_with(place.name, ".zip")) {
    if (in_zip_) {
      nested_zips_.insert(place.shown_path);
    } else {
      add_zip(place.parent, place.name, place.shown_path + "/", late_);
    }
  } else if (S_ISREG(mode)) {
    take_unwanted(place.name, place.shown_path);
  }
  return S_ISDIR(mode);
}

void StudentReader::take_unwanted(const std::string& name, const std::string& path) {
  if (had_suffix_cu(name)) {
    renamed_.insert(path);
  } else if (const std::string format = format_by_name(name);
             is_foreign_archive(name) || (!format.empty() && !meant_lesson(name, rules_.lessons).empty())) {
    formats_[format].insert(path);
  }
}

void StudentReader::take_hidden(int folder, const std::set<std::string>& names, const std::string& path) {
  for (const std::string& name : names)
    if (S_ISDIR(mode_of(folder, name)) || ends_with(name, ".cu")) hidden_.insert(path + name);
}

void StudentReader::note_unreadable(const std::string& what, int error) {
  unreadable_ = what + " " + why_unreadable(error);
  add_note(unreadable_);
}

void StudentReader::take_file(const Place& place) {
  const auto lesson = lesson_of(place.name, place.folders, rules_.lessons);
  if (!lesson) {
    if (!S_ISDIR(mode_of(place.parent, place.name))) unknown_.insert(place.shown_path);
    return;
  }
  if (bytes_ > kMaxBytes) {
    add_note(
        fmt::format("The .cu files are more than {} MiB; not all of them were looked at.", kMaxBytes >> 20));
    return;
  }
  FileContent file = read_regular(place.parent, place.name, kMaxFileBytes);
  bytes_ += file.content.size();
  std::string problem = std::move(file.problem);
  if (problem.empty() && file.content.empty()) problem = "is empty.";
  if (const std::string format = format_by_content(file.content); problem.empty() && !format.empty())
    problem =
        fmt::format("is {}, whatever its name says; hand in the source itself, saved as UTF-8.", format);
  if (problem.empty() && file.content.find('\0') != std::string::npos)
    problem = "is not a text, as it has NUL bytes; save it as UTF-8.";
  if (problem.empty() && file.content.find('\r') != std::string::npos &&
      file.content.find('\n') == std::string::npos)
    problem =
        "is one long line, as its lines end as on an old Mac (CR); save it with the line ends of Unix (LF).";
  if (!problem.empty()) problem = shown(place.shown_path) + " " + problem;
  choices_[lesson->lesson].add(
      {place.shown_path, problem, file.modified, lesson->version, late_, file.unreadable},
      std::move(file.content));
}

void StudentReader::add_zip(int parent, const std::string& name, const std::string& prefix, bool late) {
  if (++zips_ > kMaxZips) return add_note(fmt::format("Only the first {} zips were looked into.", kMaxZips));
  const FileContent zip = read_regular(parent, name, kMaxZipBytes);
  if (zip.unreadable) unreadable_ = shown(name) + " " + zip.problem;
  if (!zip.problem.empty()) return add_note(shown(name) + " " + zip.problem);
  if (unpacking_ > kLongestUnpacking)
    return add_note(fmt::format(
        "{} was not looked into: unpacking the zips before it took more than a minute.", shown(name)));
  const auto begin = std::chrono::steady_clock::now();
  const Unpacked unpacked = unpack(rules_.options.unpack_script, zip.content, rules_.options.scratch);
  unpacking_ += std::chrono::steady_clock::now() - begin;
  const bool late_before = std::exchange(late_, late);
  in_zip_ = true;
  take_unpacked(unpacked, prefix, name);
  in_zip_ = false;
  late_ = late_before;
}

void StudentReader::take_unpacked(const Unpacked& unpacked, const std::string& prefix,
                                  const std::string& zip) {
  if (!unpacked.problem.empty()) add_note(shown(zip) + " was not unpacked. " + unpacked.problem);
  Descriptor root = open_folder(AT_FDCWD, {unpacked.folder->path().string()});
  if (!root) return note_unreadable(shown(zip), errno);
  const std::string inner = only_folder(root.get(), zip);
  if (!inner.empty()) root = open_folder(root.get(), {inner});
  walk(root.get(), prefix);
  for (const LeftOut& left_out : unpacked.left_out) add_left_out(without_folder(left_out, inner), prefix);
  for (const std::string& path : unpacked.ignored) add_ignored(path, prefix);
}

void StudentReader::add_ignored(const std::string& path, const std::string& prefix) {
  const std::vector<std::string> folders = folders_of(path + "/");
  if (std::any_of(folders.begin(), folders.end(), is_hidden)) {
    hidden_.insert(prefix + path);
    return;
  }
  if (ends_with(path, ".zip")) nested_zips_.insert(prefix + path);
  take_unwanted(last_part(path), prefix + path);
}

void StudentReader::add_left_out(const LeftOut& left_out, const std::string& prefix) {
  const auto lesson = lesson_of(last_part(left_out.file), folders_of(left_out.file), rules_.lessons);
  const std::string sentence =
      prefix.empty() ? left_out.sentence : fmt::format("In {}: {}", shown(prefix), left_out.sentence);
  if (left_out.cut_off) unreadable_ = sentence;
  if (!lesson) return add_note(sentence);
  choices_[lesson->lesson].add(
      {prefix + left_out.file, sentence, 0, lesson->version, late_, left_out.cut_off}, "");
}

Student StudentReader::student(const std::string& name, const std::string& id) const {
  Student student{name, id, {}, notes_, {}, unreadable_};
  for (const grading::Lesson& lesson : rules_.lessons) {
    const auto choice = choices_.find(lesson.number);
    if (choice != choices_.end())
      student.by_lesson[lesson.number] = choice->second.submission(lesson, rules_.deadline);
  }
  const auto note = [&](const std::set<std::string>& paths, std::string_view why, std::string_view before,
                        std::string_view after) {
    if (paths.empty()) return;
    student.notes.push_back(fmt::format("{}{}{}", before, shown_list({paths.begin(), paths.end()}), after));
    for (const std::string& path : paths)
      student.uncounted.push_back({path, std::string(why), meant_lesson(last_part(path), rules_.lessons)});
  };
  const std::string example = rules_.lessons.empty() ? "01_vector_add" : rules_.lessons.front().id();
  note(unknown_, "no lesson is called so", "No lesson is called like ",
       fmt::format("; files are named like {}.cu.", example));
  note(renamed_, "its name does not end in .cu",
       "Not looked at, as the name does not end in .cu: ", "; rename it.");
  note(links_, "a symbolic link", "Not followed, as it is a symbolic link: ", "; hand in what it points to.");
  note(nested_zips_, "a zip within a zip",
       "Not unpacked, as it is a zip within a zip: ", "; hand in the .cu files.");
  note(hidden_, "its name begins with a dot",
       "Not looked at, as the name begins with a dot: ", "; rename it.");
  for (const auto& [format, paths] : formats_)
    note(paths, format, fmt::format("Not looked at, as it is {}: ", format), "; hand in the .cu files.");
  return student;
}

}  // namespace course::classroom
