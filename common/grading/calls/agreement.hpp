#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "grading/calls/argument.hpp"

namespace course::grading {

/// @brief The largest finite magnitude among the elements that were written; 0 if the array has no real
/// numbers. `data`: the array's, without guards.
double largest_number(const ArrayArgument& array, const std::byte* data);

/// @brief Where an output of run mode and that of check mode disagree, in a sentence; empty if they agree.
/// Both are the array's data without guards. The two modes are optimised differently, so that sums may be
/// rounded in another order: numbers agree if they differ by at most 1 % of their size, a thousandth of the
/// array's largest number and a millionth of the call's largest, `largest_of_call`, which may have cancelled
/// out here. That is far more than rounding makes, and far less than a kernel could use that computes
/// something else. Integers agree if they are equal. Elements that run mode never wrote, and those of other
/// types, are not compared.
std::string disagreement(const ArrayArgument& array, const std::byte* run, const std::byte* check,
                         std::string_view label, double largest_of_call = 0);

/// @brief The same of what either mode counted: launches, blocks, threads, copies within the device.
std::string disagreement(const std::map<std::string, std::int64_t>& run,
                         const std::map<std::string, std::int64_t>& check);

}  // namespace course::grading
