#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "grading/calls/argument.hpp"

namespace course::grading {

/// @brief Where an output of run mode and that of check mode disagree, in a sentence; empty if they agree.
/// Both are the array's data without guards. The two modes are optimised differently, so that sums may be
/// rounded in another order: numbers agree if they differ by at most 1 % of their size and a thousandth of
/// the array's largest number. That is far more than rounding makes, and far less than a kernel could use
/// that computes something else. Integers agree if they are equal. Elements that run mode never wrote, and
/// those of other types, are not compared.
std::string disagreement(const ArrayArgument& array, const std::byte* run, const std::byte* check,
                         std::string_view label);

/// @brief The same of what the two modes counted: launches, blocks and threads.
std::string disagreement(const std::map<std::string, std::int64_t>& run,
                         const std::map<std::string, std::int64_t>& check);

}  // namespace course::grading
