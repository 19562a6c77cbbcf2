#include "simt/report/profile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <tuple>

#include "simt/report/fields.hpp"

namespace simt::report {
namespace {

constexpr std::size_t kTableWidth = 80, kGap = 2, kMark = 2, kShortestSource = 20;

/// A row of cells as text, first without regard to width.
struct Row {
  std::string mark, number, source;
  std::vector<std::string> cells;
  bool heading = false;  ///< the name of a file, on a line of its own
};

Row labelled(const char* number, const std::string& source) {
  Row row;
  row.number = number;
  row.source = source;
  return row;
}

std::size_t indentation(const std::string& line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == std::string::npos ? line.size() : at;
}

std::string file_label(const std::string& file) {
  return file.empty() ? "no source line known" : std::filesystem::path(file).filename().string();
}

/// Those with something to show in the line of totals.
std::vector<const Column*> columns_to_show(const Topic& topic, const Sums& total) {
  std::vector<const Column*> columns;
  if (!topic.concerns(total)) return columns;
  for (const Column& column : topic.columns)
    if (!column.cell(total).empty()) columns.push_back(&column);
  return columns;
}

Row make_row(const LineProfile& line, const Counters& whole, bool marked,
             const std::vector<const Column*>& columns, Sources& sources) {
  Row row;
  row.mark = marked ? "!" : "";
  if (line.line > 0) row.number = std::to_string(line.line);
  row.source = sources.line(line.file, line.line);
  const Sums sums(line.counters, whole);
  for (const Column* column : columns) row.cells.push_back(column->cell(sums));
  return row;
}

/// Takes away what all source lines are indented by, so that they keep their shape.
void dedent(std::vector<Row>& rows) {
  std::size_t common = std::string::npos;
  for (const Row& row : rows)
    if (!row.heading && !row.source.empty()) common = std::min(common, indentation(row.source));
  for (Row& row : rows)
    if (!row.heading && !row.source.empty()) row.source.erase(0, common);
}

std::string render(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().cells.size(), 0);
  std::size_t number_width = 0, source_width = 0;
  for (const Row& row : rows) {
    if (row.heading) continue;
    number_width = std::max(number_width, row.number.size());
    source_width = std::max(source_width, columns_of(row.source));
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  const std::size_t numbers = std::accumulate(widths.begin(), widths.end(), kGap * widths.size());
  const std::size_t left = kMark + number_width + kGap;
  const std::size_t room = kTableWidth > left + numbers ? kTableWidth - left - numbers : 0;
  source_width = std::min(source_width, std::max(room, kShortestSource));
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    if (row.heading) {
      line = std::string(left, ' ') + row.source;
    } else {
      line = pad_right(row.mark, kMark) + pad_left(row.number, number_width) + std::string(kGap, ' ') +
             pad_right(fit(row.source, source_width), source_width);
      for (std::size_t i = 0; i < widths.size(); ++i)
        line += std::string(kGap, ' ') + pad_left(row.cells[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::vector<LaunchGroup> group_launches(const std::vector<LaunchProfile>& profiles) {
  std::vector<LaunchGroup> groups;
  for (const LaunchProfile& profile : profiles) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const LaunchGroup& group) {
      return group.sum.kernel == profile.kernel && group.sum.grid == profile.grid &&
             group.sum.block == profile.block;
    });
    if (same == groups.end()) {
      groups.push_back({profile, 1});
      continue;
    }
    ++same->launches;
    add(same->sum.total, profile.total);
    same->sum.order.work += profile.order.work;
    same->sum.order.largest += profile.order.largest;
    same->sum.order.last_largest += profile.order.last_largest;
    same->sum.order.busiest += profile.order.busiest;
    for (const LineProfile& line : profile.lines) {
      auto& lines = same->sum.lines;
      const auto key = [](const LineProfile& l) { return std::tie(l.file, l.line); };
      const auto at = std::lower_bound(lines.begin(), lines.end(), line,
                                       [&](const auto& a, const auto& b) { return key(a) < key(b); });
      if (at != lines.end() && key(*at) == key(line)) {
        add(at->counters, line.counters);
      } else {
        lines.insert(at, line);
      }
    }
  }
  return groups;
}

std::string table_text(const Topic& topic, const LaunchProfile& profile, const std::vector<bool>& marked,
                       Sources& sources, std::vector<const Column*>& shown) {
  const Sums sums(profile.total, profile.total);
  const std::vector<const Column*> columns = columns_to_show(topic, sums);
  if (columns.empty()) return {};
  std::vector<Row> rows;
  std::string file = "\n";  // no file's name
  std::size_t files = 0;
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    const LineProfile& line = profile.lines[i];
    if (!topic.concerns(Sums(line.counters, profile.total))) continue;
    if (line.file != file) {
      rows.push_back(labelled("", file_label(line.file)));
      rows.back().heading = true;
      ++files;
    }
    file = line.file;
    rows.push_back(make_row(line, profile.total, marked[i], columns, sources));
  }
  dedent(rows);
  Row head = labelled("line", ""), total = labelled("", "total");
  for (const Column* column : columns) {
    head.cells.emplace_back(column->head);
    total.cells.push_back(column->cell(sums));
    if (std::find(shown.begin(), shown.end(), column) == shown.end()) shown.push_back(column);
  }
  if (files == 1) {  // its name stands above the source lines
    head.source = rows.front().source;
    rows.erase(rows.begin());
  }
  rows.insert(rows.begin(), std::move(head));
  rows.push_back(std::move(total));
  return render(rows);
}

}  // namespace simt::report
