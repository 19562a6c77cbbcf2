#pragma once

#include <string>

#include "grading/facts/results.hpp"

namespace course::test {

/// A finding at a line of kernel.cu, or nowhere.
inline grading::Finding finding(const std::string& kind, int line = 3,
                                grading::Severity severity = grading::Severity::error,
                                const std::string& what = "Here.") {
  grading::Finding one;
  one.kind = kind;
  one.severity = severity;
  if (line > 0) one.here.file = "kernel.cu";
  one.here.line = line;
  one.what = what;
  return one;
}

/// A failed check with this sentence.
inline grading::Failure failed_check(const std::string& sentence) { return {.sentence = sentence}; }

/// A wrong result that mistakes explain, each with its sentence, or contradict, with "".
inline grading::Failure wrong_values(const std::string& array, std::vector<grading::Attempt> attempts = {},
                                     std::int64_t count = 10) {
  grading::Failure failure{.kind = grading::Failure::Kind::values};
  failure.values = {.array = array, .index = {0}, .got = "5", .expected = "7", .count = count, .size = count};
  failure.values.where.size = count;
  failure.attempts = std::move(attempts);
  return failure;
}

}  // namespace course::test
