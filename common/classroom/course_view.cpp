#include "classroom/course_view.hpp"

#include <regex>
#include <set>
#include <string>

#include "grading/subprocess.hpp"

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

}  // namespace course::classroom
