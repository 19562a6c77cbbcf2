#pragma once

#include "grading/sanitizer/text.hpp"
#include "simt/findings.hpp"

namespace course::grading {

/// @brief True for what racecheck reports: a hazard of two threads, or its analysis of many.
bool is_race(const SanitizerReport& report);

/// @brief What such a report says. The severity of `finding` is the tool's; classes that check mode has keep
/// theirs.
void tell_race(simt::Finding& finding, const SanitizerReport& report);

}  // namespace course::grading
