#include "classroom/similarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "classroom/text.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using grading::Lesson;

constexpr const char* kMarker = "exported_files.txt";
constexpr const char* kMarkerTitle = "Files of this export, which the next one replaces:";

struct ExportedFile {
  fs::path path;  ///< below the export's folder
  std::string content;
};

/// Whether a line of the marker can only mean a file below the export's folder.
bool is_exported_path(const fs::path& path) {
  return !path.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(),
                      [](const fs::path& part) { return part == ".." || part == "." || part.empty(); });
}

/// What an earlier export wrote, by its own word.
std::set<std::string> files_of_older_export(const fs::path& folder) {
  std::set<std::string> files;
  std::error_code ignored;
  const fs::path marker = folder / kMarker;
  if (fs::symlink_status(marker, ignored).type() != fs::file_type::regular) return files;
  std::istringstream lines(grading::read_file(marker));
  std::string line;
  if (!std::getline(lines, line) || line != kMarkerTitle) return files;
  while (std::getline(lines, line)) {
    if (is_exported_path(line)) files.insert(line);
  }
  return files;
}

/// Whether only folders that are no links lead to the file.
bool lies_in(const fs::path& folder, const fs::path& file) {
  fs::path here = folder;
  std::error_code ignored;
  for (const fs::path& part : file.parent_path()) {
    here /= part;
    if (fs::symlink_status(here, ignored).type() != fs::file_type::directory) return false;
  }
  return true;
}

/// Removes the files, and the folders that are empty then.
void remove_files(const fs::path& folder, const std::set<std::string>& files) {
  std::error_code ignored;
  for (const fs::path file : files) {
    if (!lies_in(folder, file) || fs::is_directory(fs::symlink_status(folder / file, ignored))) continue;
    fs::remove(folder / file);
    for (fs::path parent = file.parent_path(); !parent.empty(); parent = parent.parent_path()) {
      if (!fs::remove(folder / parent, ignored)) break;  // something else lies in it
    }
  }
}

std::vector<ExportedFile> files_of_lesson(const Lesson& lesson, const std::vector<Student>& students) {
  std::vector<ExportedFile> files;
  const fs::path top = lesson.id();
  const std::string name = lesson.id() + ".cpp";
  for (const Student& student : students) {
    const auto found = student.by_lesson.find(lesson.number);
    if (found == student.by_lesson.end() || !found->second.problem.empty()) continue;
    files.push_back({top / "submissions" / safe_folder_name(student.name) / name, found->second.content});
  }
  if (!files.empty()) files.push_back({top / "base" / name, grading::read_file(lesson.stub())});
  return files;
}

void write_marker(const fs::path& folder, const std::set<std::string>& files) {
  std::string text = fmt::format("{}\n", kMarkerTitle);
  for (const std::string& file : files) text += file + "\n";
  grading::write_file_atomically(folder / kMarker, text);
}

}  // namespace

void export_for_similarity(const fs::path& folder, const std::vector<Student>& students,
                           const std::vector<Lesson>& lessons) {
  std::vector<ExportedFile> files;
  try {
    for (const Lesson& lesson : lessons) {
      for (ExportedFile& file : files_of_lesson(lesson, students)) files.push_back(std::move(file));
    }
    fs::create_directories(folder);
    remove_files(folder, files_of_older_export(folder));
    std::set<std::string> names;
    for (const ExportedFile& file : files) names.insert(file.path.generic_string());
    write_marker(folder, names);  // first, so that an export that is cut off is replaced as well
    for (const ExportedFile& file : files) {
      fs::create_directories((folder / file.path).parent_path());
      grading::write_file_atomically(folder / file.path, file.content);
    }
  } catch (const std::system_error& error) {
    throw grading::MachineError(std::string("The export for similarity checks cannot be written: ") +
                                error.what());
  }
}

}  // namespace course::classroom
