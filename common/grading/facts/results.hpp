#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/failure.hpp"
#include "grading/facts/finding.hpp"
#include "grading/facts/profile.hpp"

namespace course::grading {

/// One test case as it is written to the results file: one JSON object a line.
struct CaseResult {
  std::string name;
  std::vector<std::string> tags;  ///< without brackets, e.g. "points:1"
  int points = 0;                 ///< from the tag points:N
  bool passed = false;
  double seconds = 0;
  std::uint64_t seed = 0;
  bool infrastructure = false;    ///< it failed because of this machine or the grader, not the student's code
  std::vector<Failure> failures;  ///< why it failed; empty if findings alone tell
  std::vector<Finding> findings;  ///< of check mode and other tools; there may be some although it passed
  std::string printed;            ///< the last lines that the student's code printed
  std::map<std::string, std::int64_t> counters;
  std::vector<simt::LaunchProfile> launches;  ///< what check mode counted, of the first few
};

/// @brief Whether one of its failures says what its findings follow from.
bool explains_findings(const CaseResult& result);

/// @brief Fails the case if there is a finding that is an error, whatever the tests made of it: the output of
/// a race is right only by luck.
void fail_if_found(CaseResult& result);

/// @brief One line without its newline; bytes that are not UTF-8 are replaced.
std::string to_json_line(const CaseResult& result);

/// @throws nlohmann::json::exception if it is not what to_json_line() writes.
CaseResult case_from_json(const nlohmann::json& value);

/// What a results file holds.
struct Results {
  std::vector<CaseResult> cases;
  bool truncated = false;  ///< the last line is incomplete: the test executable was ended while writing
};

/// @brief Reads a results file. A missing file has no cases; an incomplete last line is left out and
/// reported.
/// @throws std::runtime_error naming file and line if an earlier line is not a result.
Results read_results(const std::filesystem::path& file);

/// @brief How many whole lines that file has by now, without reading what they say; 0 if there is none.
int count_results(const std::filesystem::path& file);

/// @brief Appends one line with a single write, so that a reader never sees half of it unless the disk is
/// full.
/// @throws std::runtime_error naming the file if it cannot be written.
void append_result(const std::filesystem::path& file, const CaseResult& result);

}  // namespace course::grading
