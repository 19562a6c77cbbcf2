#pragma once
/// @file
/// The likeliest cause of wrong results: one mistake, chosen over all failed cases together.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/results.hpp"

namespace course::grading {

/// A mistake that explains wrong results.
struct Cause {
  std::vector<std::string> mistakes;  ///< its name; two where two mistakes give the same numbers everywhere
  bool sure = true;                   ///< false: it explains only a few numbers, or nothing but NaN
  /// What these say, or their forms, of the failures that they explain: of how many each.
  std::map<std::string, int> sentences{};
};

/// @brief The accesses outside of arrays in all failed cases, each once.
std::vector<Finding> strays_in(const std::vector<CaseResult>& cases);

/// @brief The mistake that explains most of the failed cases' wrong results and that none contradicts.
/// A result contradicts a mistake that was held against it and does not explain it; one with NaN or
/// infinities only if nothing but such results speaks for the mistake. A mistake that explains less than
/// three numbers is not told. Nothing is said if findings of a failed case may be the reason (what a race
/// leaves behind looks like anything), if three mistakes or more explain the same, or if there is no such
/// mistake. A case in which nothing was found but accesses outside their arrays, and what follows from those
/// of any case, is left out. Cost: failures x mistakes.
std::optional<Cause> likeliest_cause(const std::vector<CaseResult>& cases);

/// How the sentence of a mistake begins that is two at once.
inline constexpr std::string_view kTwoThings = "Two things are wrong.";

/// @brief What to tell a student of the cause, if it explains a result of this case; else "".
std::string sentence_for(const Cause& cause, const CaseResult& result);

/// @brief Names of the mistakes that alone explain some result of the case, whatever other cases say.
std::vector<std::string> sole_explanations(const CaseResult& result);

}  // namespace course::grading
