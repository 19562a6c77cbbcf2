#include "classroom/course_view.hpp"

#include <fmt/format.h>

#include <regex>
#include <set>
#include <string>

#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using grading::Lesson;

/// The headers of common/ that a file includes by their path there, and those that these include.
void add_includes(const fs::path& file, const fs::path& common, std::set<fs::path>& headers) {
  static const std::regex include(R"re(^\s*#\s*include\s*"((?:device|tensor)/[^"]+)")re");
  const std::string text = grading::read_file(file);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::smatch match;
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!std::regex_search(line, match, include)) continue;
    const fs::path header = match[1].str();
    if (fs::exists(common / header) && headers.insert(header).second)
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
  static const std::regex missing(R"re(((?:device|tensor)/[\w./-]+): No such file)re");
  std::smatch match;
  if (!std::regex_search(message, match, missing)) return "";
  const fs::path header = fs::path(match[1].str()).lexically_normal();
  const std::string folder = *header.begin();
  if ((folder != "device" && folder != "tensor") || !fs::exists(lesson.root / "common" / header)) return "";
  return fmt::format(
      "{} belongs to a later lesson. A file of lesson {} is graded with what the course has up to there.",
      header.string(), lesson.two_digits());
}

}  // namespace course::classroom
