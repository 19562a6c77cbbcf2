#pragma once
/// @file
/// Failures in sentences, for everybody who shows them: check, watch, grade, JSON.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/cause.hpp"
#include "grading/facts/failure.hpp"
#include "grading/facts/results.hpp"

namespace course::grading {

/// @brief "c[256] was never written; it should be 50.0458603. The other 256 elements are right."
std::string to_words(const WrongValues& values);

/// @brief What failed, after what the test was doing: "n = 33: c[32] is 0, expected 1.5."
std::string to_words(const Failure& failure);

/// @brief What failed in a case, a line for each thing that no finding tells better. What the test was doing
/// is said once, and that it is not what the findings of the case are from. After the first wrong result
/// those that were never written at all share a line: "l and O were not written, either." If no call of the
/// case launched a kernel, the last line says that. `cause`, if there is one, follows the wrong numbers,
/// before what else went wrong.
std::vector<std::string> lines_of_failures(const CaseResult& result, const std::string& cause = "");

/// @brief Everything that a student should read about a failed case, a line for each thing: findings that may
/// explain it, failures that no finding tells better, the cause if this case shows it, what the code printed.
std::string to_words(const CaseResult& result, const std::optional<Cause>& cause);

/// @brief "\nYour code printed:\n" and the last few lines of CaseResult::printed; nothing if that is empty.
std::string printed_part(std::string_view printed);

}  // namespace course::grading
