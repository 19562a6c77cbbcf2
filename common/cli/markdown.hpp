#pragma once
/// @file
/// Markdown of the project's pages as plain text for a terminal.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace course::cli {

/// How a page is laid out.
struct MarkdownLayout {
  std::size_t width = 80;   ///< columns of the longest line that is not code
  std::size_t indent = 2;   ///< columns before everything but headings
  std::size_t heading = 0;  ///< columns before headings
  std::function<std::string(std::string_view)> paint_heading = nullptr;  ///< e.g. in colour; null: as it is
};

/// @brief Lays Markdown out for reading: paragraphs and lists wrapped, tables in columns, quotes (which hold
/// formulas) further in. Code blocks keep every character and are cut at no column; they stand four columns
/// in, or less far where they would not fit. Links become their words, emphasis goes, inline code stays in
/// its backquotes. HTML comments and tags and Doxygen's commands are left out. Underscores never mark
/// emphasis, since the pages are full of names that have them.
/// @return lines with their ends, without an empty one first or last
std::string markdown_to_text(std::string_view markdown, const MarkdownLayout& layout);

/// @brief The same, for a terminal: as wide as it is, headings in bold.
std::string markdown_to_text(std::string_view markdown, const Terminal& terminal);

/// @brief One paragraph without its marks, on one line.
std::string markdown_words(std::string_view paragraph);

}  // namespace course::cli
