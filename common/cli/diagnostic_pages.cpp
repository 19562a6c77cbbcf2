#include "cli/diagnostic_pages.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <system_error>

#include "cli/markdown.hpp"
#include "cli/markdown_table.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

namespace fs = std::filesystem;

std::vector<DiagnosticPage> read_diagnostic_pages(const fs::path& project) {
  const fs::path index = project / "docs/diagnostics.md";
  std::vector<DiagnosticPage> pages;
  std::string group;
  try {
    std::istringstream lines(grading::read_file(index));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("## ")) group = markdown_words(line.substr(3));
      if (!line.starts_with("| [")) continue;
      const std::vector<std::string> cells = cells_of(line);
      const std::string name = markdown_words(cells.front());
      pages.push_back(
          {name, group, markdown_words(cells.back()), index.parent_path() / "diagnostics" / (name + ".md")});
    }
  } catch (const std::system_error& error) {
    throw grading::MachineError(std::string(error.what()) + ". Get the project's docs folder back.");
  }
  if (pages.empty())
    throw grading::MachineError(index.string() + " lists no page. Get the project's docs folder back.");
  return pages;
}

std::string diagnostic_name(std::string_view words) {
  std::string name;
  for (const char c : words) {
    const bool separates = c == ' ' || c == '-' || c == '_';
    if (separates && !name.empty() && name.back() != '_') name += '_';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

std::vector<DiagnosticPage> matching_pages(const std::vector<DiagnosticPage>& pages, std::string_view name) {
  std::vector<DiagnosticPage> found;
  if (name.empty()) return found;
  std::copy_if(pages.begin(), pages.end(), std::back_inserter(found),
               [&](const DiagnosticPage& page) { return page.name == name; });
  if (!found.empty()) return found;
  std::copy_if(pages.begin(), pages.end(), std::back_inserter(found),
               [&](const DiagnosticPage& page) { return page.name.starts_with(name); });
  return found;
}

}  // namespace course::cli
