#include "grading/facts/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>

namespace course::grading {
namespace {

using Indices = std::vector<std::int64_t>;

constexpr std::int64_t kShortList = 4, kShortTail = 8;
constexpr std::int64_t kTile = 32;  // a bound that is a multiple of it is likely to be that of a warp or tile
constexpr std::array kRangeNames{"all", "one", "from", "until", "range", "every", "list", "some"};
constexpr std::array kPositionNames{"all", "exactly", "within", "nowhere"};

/// The distance between neighbours if it is always the same, else 0.
std::int64_t common_step(const Indices& sorted) {
  if (sorted.size() < 2) return 0;
  const std::int64_t step = sorted[1] - sorted[0];
  for (std::size_t i = 2; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] != step) return 0;
  return step;
}

AxisRange range_of(std::string axis, std::int64_t size, const std::set<std::int64_t>& hit) {
  using Kind = AxisRange::Kind;
  const Indices sorted(hit.begin(), hit.end());
  const auto count = static_cast<std::int64_t>(sorted.size());
  const std::int64_t step = common_step(sorted);
  AxisRange range{
      .axis = std::move(axis), .size = size, .kind = Kind::some, .first = sorted.front(), .count = count};
  if (count == size) {
    range.kind = Kind::all;
  } else if (count == 1) {
    range.kind = Kind::one;
  } else if (step == 1) {
    range.kind = sorted.back() == size - 1 ? Kind::from : sorted.front() == 0 ? Kind::until : Kind::range;
  } else if (step > 1 && count > 2) {
    range.kind = Kind::every;
    range.step = step;
  } else if (count <= kShortList) {
    range.kind = Kind::list;
    range.indices = sorted;
  }
  return range;
}

/// The shape with its axes' names: those given, or elements, or rows and columns.
struct NamedShape {
  Shape extents;
  std::vector<std::string> names;
};

NamedShape named(const Shape& shape, const std::vector<std::string>& axes) {
  if (axes.size() == shape.size()) return {shape, axes};
  if (shape.size() < 2)
    return {{std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())}, {"element"}};
  const std::int64_t rows =
      std::accumulate(shape.begin(), shape.end() - 1, std::int64_t{1}, std::multiplies<>());
  return {{rows, shape.back()}, {"row", "column"}};
}

/// Elements at the same places of every stretch of `period`, as a forgotten warp or block leaves them.
bool find_period(Positions& found, const Indices& indices) {
  for (const std::int64_t period : {32, 64, 128, 256, 512, 1024}) {
    if (found.size < 2 * period) break;
    std::set<std::int64_t> places;
    for (const std::int64_t i : indices) {
      places.insert(i % period);
      if (static_cast<std::int64_t>(places.size()) > period / 2) break;
    }
    std::int64_t expected = 0;
    for (const std::int64_t place : places) expected += (found.size - place + period - 1) / period;
    if (expected != static_cast<std::int64_t>(indices.size())) continue;
    AxisRange range = range_of("element", period, places);
    if (range.kind == AxisRange::Kind::some) continue;
    found.kind = Positions::Kind::exactly;
    found.period = period;
    found.axes = {std::move(range)};
    return true;
  }
  return false;
}

/// Whole heads or rows, wherever they are: of the first axes that are enough to say so, counted together.
bool find_whole(Positions& found, const NamedShape& to, const Indices& indices) {
  std::int64_t size = 1;
  for (std::size_t axis = 0; axis + 1 < to.extents.size(); ++axis) {
    size *= to.extents[axis];
    const std::int64_t elements = found.size / size;
    std::set<std::int64_t> hit;
    for (const std::int64_t i : indices) hit.insert(i / elements);
    const auto count = static_cast<std::int64_t>(hit.size());
    if (count * elements != static_cast<std::int64_t>(indices.size())) continue;
    found.kind = Positions::Kind::exactly;
    found.axes = {{.axis = to.names[axis],
                   .size = size,
                   .kind = AxisRange::Kind::some,
                   .first = *hit.begin(),
                   .count = count}};
    return true;
  }
  return false;
}

std::string plural(const std::string& noun) {
  if (noun.ends_with("ry")) return noun.substr(0, noun.size() - 1) + "ies";
  return noun + (noun.ends_with("ch") ? "es" : "s");
}

std::string ordinal(std::int64_t n) {
  const std::int64_t last_two = n % 100, last = n % 10;
  const bool teen = last_two >= 11 && last_two <= 13;
  return fmt::format("{}{}", n,
                     teen || last > 3 || last == 0 ? "th"
                     : last == 1                   ? "st"
                     : last == 2                   ? "nd"
                                                   : "rd");
}

/// `alone`: the only axis of a vector.
std::string words_of(const AxisRange& range, bool alone) {
  using Kind = AxisRange::Kind;
  const std::string many = plural(range.axis);
  switch (range.kind) {
    case Kind::all:
      return fmt::format("all {}", many);
    case Kind::one:
      return alone ? fmt::format("only {} {}", range.axis, range.first)
                   : fmt::format("{} {} of {}", range.axis, range.first, range.size);
    case Kind::from:
      if (alone) return fmt::format("all from {} {} on", range.axis, range.first);
      return range.count <= kShortTail && range.first % kTile != 0
                 ? fmt::format("the last {} {}", range.count, many)
                 : fmt::format("{} from {} on", many, range.first);
    case Kind::until:
      return fmt::format("the first {} {}", range.count, many);
    case Kind::range:
      return fmt::format("{} {} to {}", many, range.first, range.first + range.count - 1);
    case Kind::every: {
      const std::int64_t next = range.first + range.count * range.step;
      return fmt::format("every {} {} from {} {}", ordinal(range.step), range.axis, range.first,
                         next < range.size ? fmt::format("to {}", next - range.step) : "on");
    }
    case Kind::list: {
      std::string list = fmt::format("{} {}", many, range.indices.front());
      for (std::size_t i = 1; i < range.indices.size(); ++i)
        list += fmt::format("{}{}", i + 1 == range.indices.size() ? " and " : ", ", range.indices[i]);
      return list;
    }
    case Kind::some:
      break;
  }
  return fmt::format("{} of {} {}", range.count, range.size, many);
}

template <class Names>
int kind_named(const Names& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::invalid_argument("no such kind of range: " + name);
  return static_cast<int>(found - names.begin());
}

}  // namespace

Positions locate(const Shape& shape, const std::vector<std::string>& axes, const Indices& indices) {
  using Kind = AxisRange::Kind;
  const NamedShape to = named(shape, axes);
  Positions found;
  found.size = std::accumulate(to.extents.begin(), to.extents.end(), std::int64_t{1}, std::multiplies<>());
  found.first = indices.front();
  found.last = indices.back();
  const auto count = static_cast<std::int64_t>(indices.size());
  if (count == found.size) return found;

  std::vector<std::set<std::int64_t>> hit(to.extents.size());
  for (std::int64_t i : indices)
    for (std::size_t axis = to.extents.size(); axis-- > 0; i /= to.extents[axis])
      hit[axis].insert(i % to.extents[axis]);
  std::int64_t covered = 1;
  for (std::size_t axis = 0; axis < hit.size(); ++axis) {
    covered *= static_cast<std::int64_t>(hit[axis].size());
    AxisRange range = range_of(to.names[axis], to.extents[axis], hit[axis]);
    if (range.kind != Kind::all) found.axes.push_back(std::move(range));
  }
  const auto by_no_rule = [](const AxisRange& range) { return range.kind == Kind::some; };
  if (covered == count && std::none_of(found.axes.begin(), found.axes.end(), by_no_rule)) {
    found.kind = Positions::Kind::exactly;
    return found;
  }
  if (to.extents.size() == 1 || covered != count) {
    Positions periodic = found;
    if (find_period(periodic, indices)) return periodic;
  }
  if (covered == count && to.extents.size() > 1) {  // whole rows, even if nobody knows which
    found.kind = Positions::Kind::exactly;
    return found;
  }
  std::erase_if(found.axes, by_no_rule);
  if (found.axes.empty() && find_whole(found, to, indices)) return found;
  found.kind =
      found.axes.empty() || to.extents.size() == 1 ? Positions::Kind::nowhere : Positions::Kind::within;
  return found;
}

std::string to_words(const Positions& positions) {
  if (positions.kind == Positions::Kind::all) return positions.size == 1 ? "the only element" : "all of them";
  if (positions.kind == Positions::Kind::nowhere)
    return fmt::format("no simple pattern, between elements {} and {}", positions.first, positions.last);
  const bool alone = positions.axes.size() == 1 && positions.axes.front().axis == "element";
  std::string text;
  for (const AxisRange& range : positions.axes) text += (text.empty() ? "" : ", ") + words_of(range, alone);
  if (positions.period > 0) text += fmt::format(" of every {}", positions.period);
  return positions.kind == Positions::Kind::within ? "some within " + text : text;
}

nlohmann::json positions_to_json(const Positions& positions) {
  nlohmann::json axes = nlohmann::json::array();
  for (const AxisRange& range : positions.axes)
    axes.push_back({{"axis", range.axis},
                    {"size", range.size},
                    {"kind", kRangeNames[static_cast<std::size_t>(range.kind)]},
                    {"first", range.first},
                    {"count", range.count},
                    {"step", range.step},
                    {"indices", range.indices}});
  return {{"kind", kPositionNames[static_cast<std::size_t>(positions.kind)]},
          {"axes", axes},
          {"period", positions.period},
          {"size", positions.size},
          {"first", positions.first},
          {"last", positions.last}};
}

Positions positions_from_json(const nlohmann::json& value) {
  Positions positions;
  positions.kind = static_cast<Positions::Kind>(kind_named(kPositionNames, value.at("kind")));
  for (const nlohmann::json& item : value.at("axes"))
    positions.axes.push_back({.axis = item.at("axis"),
                              .size = item.at("size"),
                              .kind = static_cast<AxisRange::Kind>(kind_named(kRangeNames, item.at("kind"))),
                              .first = item.at("first"),
                              .count = item.at("count"),
                              .step = item.at("step"),
                              .indices = item.at("indices")});
  value.at("period").get_to(positions.period);
  value.at("size").get_to(positions.size);
  value.at("first").get_to(positions.first);
  value.at("last").get_to(positions.last);
  return positions;
}

}  // namespace course::grading
