#include "classroom/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "classroom/text.hpp"

namespace course::classroom {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Goes through the text once, from cell to cell.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::vector<CsvLine> read() {
    std::vector<CsvLine> lines;
    while (at_ < text_.size()) {
      CsvLine line = read_line();
      const bool empty = line.cells.size() == 1 && line.cells[0].begin == line.cells[0].end;
      if (!empty) lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  CsvLine read_line() {
    CsvLine line{{}, line_};
    for (;;) {
      line.cells.push_back(read_cell());
      if (at_ < text_.size() && text_[at_] == separator_)
        ++at_;
      else
        break;
    }
    skip_line_end();
    return line;
  }

  CsvCell read_cell() {
    CsvCell cell;
    cell.begin = at_;
    if (at_ < text_.size() && text_[at_] == '"')
      read_quoted(cell.text);
    else
      read_plain(cell.text);
    cell.end = at_;
    return cell;
  }

  void read_plain(std::string& cell) {
    for (; !at_cell_end(); ++at_) {
      if (text_[at_] == '"') fail(line_, "a quote stands within a cell that does not begin with one");
      cell += text_[at_];
    }
  }

  void read_quoted(std::string& cell) {
    const std::size_t begin_line = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        if (at_ == text_.size() || text_[at_] != '"') {
          if (!at_cell_end()) fail(line_, "text follows the quote that closes a cell");
          return;
        }
      }
      if (ends_line(at_)) ++line_;
      cell += text_[at_];
    }
    fail(begin_line, "a quote is opened and never closed");
  }

  bool at_cell_end() const {
    return at_ == text_.size() || text_[at_] == separator_ || text_[at_] == '\n' || text_[at_] == '\r';
  }

  /// The CR of CR LF does not end a line; its LF does.
  bool ends_line(std::size_t at) const {
    if (text_[at] == '\n') return true;
    return text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] != '\n');
  }

  void skip_line_end() {
    if (at_ == text_.size()) return;
    if (!ends_line(at_)) ++at_;
    ++at_;
    ++line_;
  }

  [[noreturn]] static void fail(std::size_t line, const char* reason) {
    throw std::invalid_argument(fmt::format("Line {} is no comma-separated values: {}.", line, reason));
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

bool begins_formula(char c) { return c == '=' || c == '+' || c == '-' || c == '@'; }

/// The wide forms of = + - @, which some spreadsheets read as the narrow ones.
bool begins_wide_formula(std::string_view text) {
  return text.starts_with("\xef\xbc\x9d") || text.starts_with("\xef\xbc\x8b") ||
         text.starts_with("\xef\xbc\x8d") || text.starts_with("\xef\xbc\xa0");
}

/// An optional minus, digits, and digits behind a point.
bool is_plain_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count > 0;
  };
  if (!digits()) return false;
  if (!text.starts_with('.')) return text.empty();
  text.remove_prefix(1);
  return digits() && text.empty();
}

bool splits_cells(char c) { return c == ';' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::vector<CsvLine> parse_csv_lines(std::string_view text, char separator) {
  return CsvReader(text, separator).read();
}

std::vector<CsvRow> parse_csv(std::string_view text, char separator) {
  std::vector<CsvRow> rows;
  for (CsvLine& line : parse_csv_lines(text, separator)) {
    CsvRow& row = rows.emplace_back();
    for (CsvCell& cell : line.cells) row.push_back(std::move(cell.text));
  }
  return rows;
}

char guess_separator(std::string_view text) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false;
  for (const char c : text) {
    if (!quoted && (c == '\n' || c == '\r')) break;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    commas += c == ',' ? 1 : 0;
    semicolons += c == ';' ? 1 : 0;
    tabs += c == '\t' ? 1 : 0;
  }
  if (semicolons > commas && semicolons >= tabs) return ';';
  return tabs > commas ? '\t' : ',';
}

std::string format_csv_cell(std::string_view cell) {
  const bool spaced = cell.starts_with(' ') || cell.ends_with(' ');
  if (!spaced && cell.find_first_of(",;\t\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string format_csv(const std::vector<CsvRow>& rows) {
  std::string text;
  for (const CsvRow& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) text += ',';
      text += format_csv_cell(row[column]);
    }
    text += "\r\n";
  }
  return text;
}

std::string spreadsheet_safe(std::string_view cell) {
  std::string valid = valid_utf8(cell);
  if (is_plain_number(valid)) return valid;
  std::string safe;
  // Or would, if another separator were in use; spaces and quotes do not change that.
  bool cell_begins = true;
  const std::string_view rest(valid);
  if (!valid.empty() && splits_cells(valid[0]) && valid[0] != ';') safe += '\'';
  for (std::size_t at = 0; at < valid.size(); ++at) {
    const char c = valid[at];
    if (cell_begins && (begins_formula(c) || begins_wide_formula(rest.substr(at)))) safe += '\'';
    if (c == '\0')
      safe += to_utf8(0xfffd);
    else
      safe += c;
    cell_begins = splits_cells(c) || (cell_begins && (c == ' ' || c == '"'));
  }
  return safe;
}

}  // namespace course::classroom
