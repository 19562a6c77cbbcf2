#include "cli/report_sections.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

constexpr std::string_view kWords = "<!-- words: ", kWordsEnd = " -->";

bool is_in_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// Whether the words stand in the text, not as parts of longer ones.
bool has_words(std::string_view text, std::string_view words) {
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + words.size();
    if ((at == 0 || !is_in_word(text[at - 1])) && (end == text.size() || !is_in_word(text[end]))) return true;
  }
  return false;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream >> std::ws, item, ',');) items.push_back(item);
  return items;
}

}  // namespace

std::vector<ReportSection> parse_report_sections(std::string_view markdown) {
  std::vector<ReportSection> sections;
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) {
      sections.push_back({line.substr(3), {}, "# " + line.substr(3) + "\n"});
    } else if (!sections.empty() && line.starts_with(kWords) && line.ends_with(kWordsEnd)) {
      sections.back().words =
          split(line.substr(kWords.size(), line.size() - kWords.size() - kWordsEnd.size()));
    } else if (!sections.empty()) {
      sections.back().text += line + "\n";
    }
  }
  for (const ReportSection& section : sections)
    if (section.words.empty())
      throw std::runtime_error("the section \"" + section.title + "\" of the page on reports has no words");
  return sections;
}

std::vector<ReportSection> read_report_sections(const std::filesystem::path& project) {
  return parse_report_sections(grading::read_file(project / "docs/reports.md"));
}

std::optional<ReportSection> find_report_section(const std::vector<ReportSection>& sections,
                                                 std::string_view sentence) {
  const std::string text = grading::ascii_lower(sentence);
  const ReportSection* found = nullptr;
  std::size_t longest = 0;
  for (const ReportSection& section : sections)
    for (const std::string& words : section.words)
      if (words.size() > longest && has_words(text, words)) {
        found = &section;
        longest = words.size();
      }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace course::cli
