#include "grading/build/joined_kernels.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <string_view>

namespace course::grading {
namespace {

constexpr std::string_view kOpening = "namespace course {", kClosing = "}  // namespace course";

/// Whether the line is of the preprocessor and more than a word to the compiler, as `#pragma unroll` is.
bool is_directive(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '#') return false;
  line.remove_prefix(first + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return !line.starts_with("pragma");
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::string in_namespace(const std::string& file, const JoinableKernel& code, std::size_t index) {
  return fmt::format("namespace course::kernel_{} {{\n#line {} \"{}\"\n{}}}\n", index, code.body_line, file,
                     code.body);
}

/// The contract is in the namespace of every kernel; included once more, it would be in another as well.
std::string includes_without(const std::string& head, const std::string& header) {
  std::string left;
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);)
    if (line != fmt::format("#include \"{}\"", header) && line != "#pragma once") left += line + "\n";
  return left;
}

}  // namespace

std::optional<JoinableKernel> take_apart(const std::string& code) {
  JoinableKernel kernel;
  std::istringstream lines(code);
  int number = 0;
  bool closed = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (kernel.body_line == 0) {
      if (line == kOpening) {
        kernel.body_line = number + 1;
      } else if (line.starts_with("#include ") || line == "#pragma once") {
        kernel.head += line + "\n";
      } else if (!is_blank_line(line) && !line.starts_with("//")) {
        return std::nullopt;
      }
    } else if (closed) {
      if (!is_blank_line(line)) return std::nullopt;
    } else if (line == kClosing) {
      closed = true;
    } else if (is_directive(line) || line == kOpening) {
      return std::nullopt;
    } else {
      kernel.body += line + "\n";
    }
  }
  if (!closed) return std::nullopt;
  return kernel;
}

std::optional<std::string> join_kernels(const NamedCode& contract, const std::vector<std::string>& entries,
                                        const std::vector<NamedCode>& kernels) {
  const auto declared = take_apart(contract.code);
  if (!declared || kernels.empty()) return std::nullopt;
  const std::string header = std::filesystem::path(contract.name).filename().string();
  std::string head, bodies;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto kernel = take_apart(kernels[i].code);
    if (!kernel || (i > 0 && kernel->head != head)) return std::nullopt;
    head = kernel->head;
    bodies += in_namespace(contract.name, *declared, i) + in_namespace(kernels[i].name, *kernel, i);
    std::string table;
    for (const std::string& entry : entries)
      table += fmt::format("{}COURSE_ENTRY(course::kernel_{}::{})", table.empty() ? "" : ", ", i, entry);
    bodies += fmt::format("COURSE_ENTRY_TABLE(course_entries_{}, {})\n", i, table);
  }
  return includes_without(declared->head, header) + includes_without(head, header) +
         "#include \"grading/calls/entry.hpp\"\n" + bodies;
}

}  // namespace course::grading
