#include "grading/testing/wrong_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace course::grading {
namespace {

using Indices = std::vector<std::int64_t>;

std::string ordinal(std::int64_t n) {
  const std::int64_t last_two = n % 100, last = n % 10;
  const bool teen = last_two >= 11 && last_two <= 13;
  return fmt::format("{}{}", n,
                     teen || last > 3 || last == 0 ? "th"
                     : last == 1                   ? "st"
                     : last == 2                   ? "nd"
                                                   : "rd");
}

/// The distance between neighbours if it is always the same, else 0.
std::int64_t common_step(const Indices& sorted) {
  if (sorted.size() < 2) return 0;
  const std::int64_t step = sorted[1] - sorted[0];
  for (std::size_t i = 2; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] != step) return 0;
  return step;
}

/// Positions along one axis of `size`, in words; empty if they follow no rule.
std::string along(const char* thing, std::int64_t size, const Indices& sorted) {
  const std::int64_t first = sorted.front(), last = sorted.back();
  const auto count = static_cast<std::int64_t>(sorted.size());
  if (count == 1) return fmt::format("only {} {}", thing, first);
  const std::int64_t step = common_step(sorted);
  if (step == 1 && last == size - 1) return fmt::format("all from {} {} on", thing, first);
  if (step == 1 && first == 0) return fmt::format("the first {} {}s", count, thing);
  if (step == 1) return fmt::format("{}s {} to {}", thing, first, last);
  if (step > 1 && count > 2) return fmt::format("every {} {} from {} on", ordinal(step), thing, first);
  if (count <= 4) {
    std::string list = fmt::format("{}s {}", thing, first);
    for (std::size_t i = 1; i < sorted.size(); ++i)
      list += fmt::format("{}{}", i + 1 == sorted.size() ? " and " : ", ", sorted[i]);
    return list;
  }
  return {};
}

/// Wrong elements that sit at the same places of every stretch of `period`, as a forgotten warp or block
/// gives.
std::string periodic(std::int64_t size, const Indices& wrong) {
  for (const std::int64_t period : {32, 64, 128, 256, 512, 1024}) {
    if (size < 2 * period) break;
    std::set<std::int64_t> places;
    for (const std::int64_t i : wrong) {
      places.insert(i % period);
      if (static_cast<std::int64_t>(places.size()) > period / 2) break;
    }
    std::int64_t expected = 0;
    for (const std::int64_t place : places) expected += (size - place + period - 1) / period;
    if (expected != static_cast<std::int64_t>(wrong.size())) continue;
    const std::string where = along("element", period, Indices(places.begin(), places.end()));
    if (!where.empty()) return fmt::format("{} of every {}", where, period);
  }
  return {};
}

/// Whole rows, or the same columns of every row, of the last two axes taken as one matrix.
std::string rows_or_columns(const Shape& shape, const Indices& wrong) {
  const std::int64_t columns = shape.back();
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
  if (rows < 2 || columns < 2) return {};
  std::set<std::int64_t> rows_hit, columns_hit;
  for (const std::int64_t i : wrong) {
    rows_hit.insert(i / columns);
    columns_hit.insert(i % columns);
  }
  const auto count = static_cast<std::int64_t>(wrong.size());
  const auto row_count = static_cast<std::int64_t>(rows_hit.size());
  const auto column_count = static_cast<std::int64_t>(columns_hit.size());
  if (row_count * columns == count) {
    const std::string where = along("row", rows, Indices(rows_hit.begin(), rows_hit.end()));
    return where.empty() ? fmt::format("{} whole rows", row_count) : where + ", whole";
  }
  if (column_count * rows == count) {
    const std::string where = along("column", columns, Indices(columns_hit.begin(), columns_hit.end()));
    return (where.empty() ? fmt::format("{} columns", column_count) : where) + ", in every row";
  }
  if (row_count * column_count == count && count > 1) {  // a rectangle, perhaps with holes
    const std::string r = along("row", rows, Indices(rows_hit.begin(), rows_hit.end()));
    const std::string c = along("column", columns, Indices(columns_hit.begin(), columns_hit.end()));
    if (!r.empty() && !c.empty()) return fmt::format("{}; there, {}", r, c);
  }
  return {};
}

}  // namespace

std::string describe_positions(const Shape& shape, const Indices& wrong) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  if (static_cast<std::int64_t>(wrong.size()) == size) return size == 1 ? "the only element" : "all of them";
  if (shape.size() >= 2)
    if (const std::string where = rows_or_columns(shape, wrong); !where.empty()) return where;
  if (const std::string where = along("element", size, wrong); !where.empty()) return where;
  if (const std::string where = periodic(size, wrong); !where.empty()) return where;
  return fmt::format("no simple pattern, between elements {} and {}", wrong.front(), wrong.back());
}

}  // namespace course::grading
