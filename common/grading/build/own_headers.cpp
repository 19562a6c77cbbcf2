#include "grading/build/own_headers.hpp"

#include <vector>

#include "grading/base/subprocess.hpp"
#include "grading/build/compiler_text.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

/// "mma.h" of `#include <mma.h>`; "" of any other line.
std::string_view included(std::string_view line) {
  constexpr std::string_view kInclude = "#include ";
  if (!line.starts_with(kInclude) || line.size() < kInclude.size() + 2) return {};
  line.remove_prefix(kInclude.size() + 1);
  return line.substr(0, line.find_first_of(">\""));
}

}  // namespace

OwnHeaders headers_before_file(const fs::path& folder, std::string_view rewritten) {
  std::vector<fs::path> left{"simt_prelude.h", "simt_hide_mode.h"};
  for_each_line(rewritten, [&](std::string_view line) {
    const std::string_view name = included(line);
    if (!name.empty()) left.emplace_back(name);
    return !name.empty();
  });
  OwnHeaders headers;
  while (!left.empty()) {
    const fs::path header = left.back();
    left.pop_back();
    const std::string text = read_file(folder / header);
    if (text.find("#pragma once") == std::string::npos || !headers.emplace(header.string(), text).second)
      continue;
    int conditions = 0;
    for_each_line(text, [&](std::string_view line) {
      conditions += line.starts_with("#if") ? 1 : line.starts_with("#endif") ? -1 : 0;
      if (const std::string_view name = included(line); conditions == 0 && !name.empty())
        for (const fs::path& place : {header.parent_path() / name, fs::path(name)})
          if (fs::is_regular_file(folder / place)) {
            left.push_back(place.lexically_normal());
            break;
          }
      return true;
    });
  }
  return headers;
}

const std::string* find_header(std::string_view path, const OwnHeaders& headers) {
  constexpr std::string_view kFolder = "common/simt/shim/";
  const std::string normal = fs::path(path).lexically_normal().string();
  const std::size_t at = normal.find(kFolder);
  if (at == std::string::npos || (at > 0 && normal[at - 1] != '/')) return nullptr;
  const auto found = headers.find(normal.substr(at + kFolder.size()));
  return found == headers.end() ? nullptr : &found->second;
}

}  // namespace course::grading
