#pragma once
/// @file
/// What the sentences that a report begins with mean: the sections of docs/reports.md.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace course::cli {

struct ReportSection {
  std::string title;               ///< "Never written"
  std::vector<std::string> words;  ///< how reports say it, in small letters: "never written"
  std::string text;                ///< Markdown, the heading included
};

/// @brief The sections of the page, each with a comment "words: never written, ..." below its heading.
/// @throws std::runtime_error that names a section without words
std::vector<ReportSection> parse_report_sections(std::string_view markdown);

/// @brief Those of docs/reports.md.
std::vector<ReportSection> read_report_sections(const std::filesystem::path& project);

/// @brief The section that a sentence of a report, or a part of it, is about: the one with the longest words
/// in it. Nothing if no section's words are there.
std::optional<ReportSection> find_report_section(const std::vector<ReportSection>& sections,
                                                 std::string_view sentence);

}  // namespace course::cli
