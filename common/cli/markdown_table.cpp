#include "cli/markdown_table.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "cli/markdown.hpp"

namespace course::cli {
namespace {

constexpr std::size_t kGap = 2, kNarrowest = 6;  // columns between two columns, and of one

using Row = std::vector<std::string>;

bool is_row(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && line[begin] == '|';
}

/// Each column as wide as its widest cell; if that is too much, the widest ones give way.
std::vector<std::size_t> widths_of(const std::vector<Row>& rows, std::size_t room) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t column = 0; column < widths.size(); ++column)
      widths[column] = std::max(widths[column], columns_of(row[column]));
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  };
  while (total() > room) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) break;
    --*widest;
  }
  return widths;
}

std::vector<std::string> lines_of_cell(const std::string& cell, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream wrapped(wrap(cell, 0, std::max<std::size_t>(width, 1)));
  for (std::string line; std::getline(wrapped, line);) lines.push_back(line);
  return lines;
}

std::string row_to_text(const Row& row, const std::vector<std::size_t>& widths, std::size_t indent) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 0;
  for (std::size_t column = 0; column < widths.size(); ++column) {
    cells.push_back(lines_of_cell(row[column], widths[column]));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string shown(indent, ' ');
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const std::string cell = line < cells[column].size() ? cells[column][line] : "";
      shown += cell + std::string(widths[column] + kGap - std::min(columns_of(cell), widths[column]), ' ');
    }
    text += shown.substr(0, shown.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> cells_of(std::string_view row) {
  row.remove_prefix(std::min(row.find('|') + 1, row.size()));
  std::vector<std::string> cells{""};
  bool in_code = false;
  for (std::size_t at = 0; at < row.size(); ++at) {
    if (row[at] == '`') in_code = !in_code;
    if (row.substr(at).starts_with("\\|")) {
      cells.back() += '|';
      ++at;
    } else if (row[at] == '|' && !in_code) {
      cells.emplace_back();
    } else {
      cells.back() += row[at];
    }
  }
  if (cells.size() > 1 && cells.back().find_first_not_of(' ') == std::string::npos)
    cells.pop_back();  // behind the last bar
  for (std::string& cell : cells) {
    cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

bool is_table(const std::vector<std::string>& lines, std::size_t at) {
  if (at + 1 >= lines.size() || !is_row(lines[at]) || !is_row(lines[at + 1])) return false;
  return lines[at + 1].find_first_not_of("|-: ") == std::string::npos;
}

std::string table_to_text(const std::vector<std::string>& lines, std::size_t& at, std::size_t indent,
                          std::size_t width) {
  std::vector<Row> rows{cells_of(lines[at])};
  for (at += 2; at < lines.size() && is_row(lines[at]); ++at) rows.push_back(cells_of(lines[at]));
  for (Row& row : rows) {
    row.resize(rows.front().size());
    std::transform(row.begin(), row.end(), row.begin(),
                   [](const std::string& cell) { return markdown_words(cell); });
  }
  const std::vector<std::size_t> widths = widths_of(rows, width - std::min(indent, width));
  Row dashes;
  for (const std::size_t columns : widths) dashes.emplace_back(columns, '-');
  rows.insert(rows.begin() + 1, dashes);
  std::string text;
  for (const Row& row : rows) text += row_to_text(row, widths, indent);
  return text;
}

}  // namespace course::cli
