#pragma once
/// @file
/// Tables as comma-separated values (RFC 4180), and what a spreadsheet would take for a formula.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace course::classroom {

using CsvRow = std::vector<std::string>;

/// A cell and where it stands in the text, quotes included, so that it can be replaced there.
struct CsvCell {
  std::string text;
  std::size_t begin = 0, end = 0;
};

struct CsvLine {
  std::vector<CsvCell> cells;
  std::size_t number = 0;  ///< of the text's line that it begins in, from 1
};

/// @brief The rows of a table. Cells may be quoted, with "" for a quote, and then hold separators and line
/// ends. Lines end with LF, CR LF or CR; empty ones are passed over, and so is a byte order mark at the
/// begin. Rows need not have the same number of cells. Cost: linear.
/// @throws std::invalid_argument in a sentence with the line, if a quote stands within an unquoted cell, text
/// follows a closing quote, or a quote is never closed.
std::vector<CsvLine> parse_csv_lines(std::string_view text, char separator = ',');

/// @brief The same without the places.
std::vector<CsvRow> parse_csv(std::string_view text, char separator = ',');

/// @brief ',', ';' or tab, whichever stands most often in the first line outside of quotes.
char guess_separator(std::string_view text);

/// @brief Rows of cells with CR LF at the end of each. Quoted are only cells that need it: those with a
/// separator of any kind, a quote, a line end, or a space at either end. Cells are written as they are; see
/// spreadsheet_safe().
std::string format_csv(const std::vector<CsvRow>& rows);

/// @brief One cell as format_csv() writes it.
std::string format_csv_cell(std::string_view cell);

/// @brief The cell as a spreadsheet shows it as text: an apostrophe before = + - @, tab, CR or LF at its
/// begin, and before = + - @ after a semicolon, a tab or a line end within it, where a spreadsheet that
/// expects another separator would begin a new cell. A plain number such as -1.5 stays. Invalid UTF-8 becomes
/// U+FFFD, NUL as well.
std::string spreadsheet_safe(std::string_view cell);

}  // namespace course::classroom
