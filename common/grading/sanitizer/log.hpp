#pragma once
/// @file
/// What NVIDIA's compute-sanitizer writes to its log, as findings in the words of check mode.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "simt/findings.hpp"

namespace course::grading {

/// The log of one program under one tool, or of several, one after the other.
struct SanitizerLog {
  std::vector<simt::Finding> findings;  ///< each mistake once, with the number of its reports
  bool complete = false;                ///< the tool saw the program to its end: its summary is there
  std::string problem;          ///< why the tool could not do its work, in its own words; empty: it could
  std::uint64_t unprinted = 0;  ///< reports that the tool left out, because they were too many

  /// Whether there is more than notes.
  bool has_mistakes() const;
};

/// @brief Reads a log. `source` is the kernel's file: of the lines that led to a mistake, the innermost that
/// is not in one of CUDA's headers is named, and the one in this file that it was called from.
/// What is not understood becomes a finding of the class "sanitizer" with the tool's own words. Lines that
/// are not the tool's are left out. Cost: linear.
SanitizerLog parse_sanitizer_log(std::string_view text, std::string_view tool,
                                 const std::filesystem::path& source);

/// @brief Adds what another log of the same tool says. It is complete if both are.
void add_log(SanitizerLog& log, const SanitizerLog& more);

/// @brief The findings with the tool's name, for the results of a case.
std::vector<simt::Finding> findings_of(const SanitizerLog& log, std::string_view tool);

}  // namespace course::grading
