#pragma once
/// @file
/// Why a test case fails, as data. words.hpp turns it into sentences.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "grading/facts/positions.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

/// Elements of a result that are not what they should be.
struct WrongValues {
  std::string array;                  ///< "O"
  std::vector<std::int64_t> index{};  ///< of the first wrong element
  std::string got{}, expected{};      ///< what is there, and what should be; numbers as they are printed
  bool never_written = false;         ///< the first wrong element holds what was there before the call
  bool bit_for_bit = false;           ///< equal bits are wanted
  double error = 0, allowed = 0;  ///< of the first wrong element, where it is nearly right; else error is 0
  std::int64_t count = 0, size = 0;  ///< wrong elements, and all
  std::int64_t unwritten = 0;        ///< of the wrong ones
  bool overflowed = false;           ///< some wrong element is NaN or infinite
  enum class Common { nothing, zero, nan } common = Common::nothing;  ///< what all wrong elements are
  Positions where{};
};

/// @brief Whether no element of the array was written.
bool never_written(const WrongValues& values);

/// A well-known mistake that was held against a wrong result.
struct Attempt {
  std::string mistake;     ///< its name
  std::string sentence{};  ///< what to tell if it explains the result; empty: it does not, and the result
                           ///< contradicts it
  bool ruled_out = false;  ///< it would leave the result right: a contradiction, whatever became NaN
  /// What its other forms say that explain the result as well: tiles of another size, say. Other failures
  /// tell them apart.
  std::vector<std::string> other_forms{};
};

/// One failed check.
struct Failure {
  enum class Kind {
    values,   ///< a result is wrong
    call,     ///< a call did not come back as it should
    effects,  ///< it came back, but left something behind: broken guards, changed inputs, leaks, an error
    check,    ///< what the lesson asks for beside its results, such as memory traffic
    test,     ///< the test itself could not go on
  };
  Kind kind = Kind::check;
  std::string context{};            ///< what the test was doing: "n = 33"
  std::string sentence{};           ///< but for wrong values
  WrongValues values{};             ///< only for wrong values
  std::vector<Attempt> attempts{};  ///< mistakes that were held against it
  bool found = false;               ///< a finding of the case tells why, and better
  bool misplaced = false;           ///< of effects: what was written where no result belongs
  bool explains_findings = false;   ///< the findings of the case follow from what its sentence says
  bool in_other_call = false;       ///< the case has findings that may explain it, but from calls before

  /// What failures of the same way have in common, as a key: not to be read.
  std::string way() const;
  /// The sentence of a mistake that explains it, or nullptr.
  const std::string* explanation(const std::string& mistake) const;
  /// Whether that mistake was held against it and does not explain it.
  bool contradicts(const std::string& mistake) const;
};

nlohmann::json failure_to_json(const Failure& failure);
Failure failure_from_json(const nlohmann::json& value);

}  // namespace course::grading
