#include "classroom/course_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using grading::Lesson;

bool is_for_kernels(std::string_view header) {
  return header.starts_with("device/") || header.starts_with("tensor/");
}

/// What stands between the quotes of a line `#include "..."`; empty if the line is another one.
std::string_view included(std::string_view line) {
  for (const std::string_view part : {"#", "include", "\""}) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(part)) return {};
    line.remove_prefix(part.size());
  }
  return line.substr(0, line.find('"'));
}

/// The headers of common/ that a file includes by their path there, and those that these include.
void add_includes(const fs::path& file, const fs::path& common, std::set<fs::path>& headers) {
  std::istringstream lines(grading::read_file(file));
  for (std::string line; std::getline(lines, line);) {
    const fs::path header = included(line);
    if (is_for_kernels(header.native()) && fs::is_regular_file(common / header) &&
        headers.insert(header).second)
      add_includes(common / header, common, headers);
  }
}

void copy_into(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy(from, to, fs::copy_options::recursive);
}

}  // namespace

void make_course_view(const fs::path& folder, const Lesson& lesson, const std::vector<Lesson>& lessons) {
  const fs::path common = lesson.root / "common";
  std::set<fs::path> headers;
  for (const Lesson& earlier : lessons) {
    if (earlier.number > lesson.number) continue;
    for (const fs::path& kernel : {earlier.stub(), earlier.solution()})
      if (fs::exists(kernel)) add_includes(kernel, common, headers);
  }
  add_includes(lesson.contract(), common, headers);
  for (const fs::path& header : headers) copy_into(common / header, folder / "common" / header);
  copy_into(common / "simt" / "shim", folder / "common" / "simt" / "shim");
  copy_into(lesson.contract(), folder / "lessons" / lesson.id() / lesson.contract().filename());
  fs::create_directories(folder / "submission");
}

std::string explain_missing_header(const std::string& message, const Lesson& lesson) {
  const std::size_t end = message.find(": No such file");
  if (end == std::string::npos) return "";
  const std::size_t begin = message.find_last_of(" \n", end) + 1;  // 0 if neither is there
  const fs::path header = fs::path(message.substr(begin, end - begin)).lexically_normal();
  std::error_code too_long;  // the name is the file's
  if (!is_for_kernels(header.native()) || !fs::exists(lesson.root / "common" / header, too_long)) return "";
  return fmt::format(
      "{} belongs to a later lesson. A file of lesson {} is graded with what the course has up to there.",
      header.string(), lesson.two_digits());
}

}  // namespace course::classroom
