#pragma once
/// @file
/// What one report of compute-sanitizer says.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grading/sanitizer/text.hpp"
#include "simt/findings.hpp"

namespace course::grading {

/// "Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMalloc."
struct RefusedCall {
  std::string error;  ///< "cudaErrorInvalidValue"
  std::string words;  ///< "invalid argument"
  std::string call;   ///< "cudaMalloc"

  /// True for an error that a kernel left, and that every later call returns.
  bool is_aftermath() const;
};
std::optional<RefusedCall> refused_call(const SanitizerReport& report);

/// "Leaked 1,200 bytes at 0x7f..."
struct LeakedMemory {
  std::uint64_t bytes = 0;
  std::string function;  ///< that allocated it, without its parameters; empty if unknown
};
std::optional<LeakedMemory> leaked_memory(const SanitizerReport& report);

/// Class of what is passed on in the tool's own words.
inline constexpr const char* kSanitizerClass = "sanitizer";

/// @brief What a report says of a kernel, in the words of check mode; `source_name` is the name of the
/// kernel's file. A report that is not understood becomes a finding of kSanitizerClass.
simt::Finding finding_of_report(const SanitizerReport& report, std::string_view tool,
                                std::string_view source_name);

}  // namespace course::grading
