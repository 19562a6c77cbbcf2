#include "simt/check/source_names.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace simt::check {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::vector<std::string> indexed_names(std::string_view line) {
  line = line.substr(0, line.find("//"));
  std::vector<std::string> names;
  for (std::size_t bracket = line.find('['); bracket != std::string_view::npos;
       bracket = line.find('[', bracket + 1)) {
    std::size_t end = bracket;
    while (end > 0 && line[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(line[begin - 1])) --begin;
    const std::string name(line.substr(begin, end - begin));
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string source_text(const SourceLine& line) {
  namespace fs = std::filesystem;
  fs::path file = line.file;
  // Programs that ran the compiler elsewhere say where its relative names start from.
  if (const char* folder = std::getenv("SIMT_SOURCES"); file.is_relative() && folder != nullptr)
    file = fs::path(folder) / file;
  std::ifstream stream(file);
  std::string text;
  for (int number = 0; number < line.line; ++number)
    if (!std::getline(stream, text)) return {};
  return text;
}

}  // namespace simt::check
