#pragma once
/// @file
/// Where elements of an array lie: an index or a range on each axis.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace course::grading {

/// What is known of one axis: which of its indices occur.
struct AxisRange {
  enum class Kind {
    all,    ///< every index
    one,    ///< `first` alone
    from,   ///< `first` and all after it
    until,  ///< the first `count`
    range,  ///< `first` and the `count` - 1 after it
    every,  ///< `first` and every `step`-th after it, `count` in all
    list,   ///< a few: `indices`
    some,   ///< `count` of them, by no rule
  };
  std::string axis;  ///< what one of its indices is called: "row", "head"
  std::int64_t size = 0;
  Kind kind = Kind::all;
  std::int64_t first = 0, count = 0, step = 1;
  std::vector<std::int64_t> indices{};
};

/// The places of some elements of an array.
struct Positions {
  enum class Kind {
    all,      ///< of the whole array
    exactly,  ///< all that have an index of each axis' range, and no others
    within,   ///< only such, but not all of them
    nowhere,  ///< between the elements `first` and `last`, by no rule
  };
  Kind kind = Kind::all;
  std::vector<AxisRange> axes{};  ///< for exactly and within
  std::int64_t period = 0;        ///< not 0: the one axis is the place in every stretch of so many elements
  std::int64_t size = 0, first = 0, last = 0;  ///< of the whole array, row-major
};

/// @brief Finds the simplest rule that the elements follow. `indices` are row-major and increasing, at least
/// one. `axes` names each axis; without names of that number, a vector has elements, and everything else rows
/// (all axes but the last together) and columns.
Positions locate(const Shape& shape, const std::vector<std::string>& axes,
                 const std::vector<std::int64_t>& indices);

/// @brief In words, to go after "wrong: ": "head 1 of 4, keys from 64 on", "the last 3 columns", "all of
/// them". A tail is told by where it begins if it is long, or begins where a warp or a tile may end.
std::string to_words(const Positions& positions);

nlohmann::json positions_to_json(const Positions& positions);
Positions positions_from_json(const nlohmann::json& value);

}  // namespace course::grading
