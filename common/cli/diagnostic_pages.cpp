#include "cli/diagnostic_pages.hpp"

#include <algorithm>
#include <cctype>

#include "simt/classes.hpp"

namespace course::cli {

namespace fs = std::filesystem;

std::vector<DiagnosticPage> diagnostic_pages(const fs::path& project) {
  std::vector<DiagnosticPage> pages;
  for (const simt::check::FindingClass& one : simt::check::kClasses)
    pages.push_back({one.name, simt::check::to_string(one.group), one.meaning, project / one.page()});
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
