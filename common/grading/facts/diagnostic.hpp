#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "simt/findings.hpp"

namespace course::grading {

enum class Severity {
  error,    ///< fails the case
  warning,  ///< told, but fails only a test that insists on it
  note,     ///< told to those who ask for everything
};

/// @brief "error", "warning" or "note".
std::string_view to_string(Severity severity);

/// One finding of the simulator, or of one of NVIDIA's tools, tied to a source line where there is one (line
/// 0: unknown).
struct Diagnostic {
  std::string kind{};  ///< class of bug, e.g. "out_of_bounds"; "class" in JSON
  std::string file{};
  int line = 0;
  std::string message{};
  Severity severity = Severity::error;
  std::string other_file{};  ///< of the other access or call
  int other_line = 0;        ///< 0: there is none
  std::string element{};     ///< "tile[3][5]"; empty if unknown
  std::string tool{};        ///< "memcheck" or its like; empty: the simulator, or the grader
  std::uint64_t count = 1;   ///< how often the tool reported it
};

/// @brief A finding of check mode, or of a tool that is told in the same words.
Diagnostic diagnostic_of(const simt::Finding& finding);

/// Class of the note that says why a call was run without check mode, or only half-way in it.
inline constexpr std::string_view kNotChecked = "not_checked";

/// @brief Whether both tell of the same mistake at the same lines.
bool same_mistake(const Diagnostic& a, const Diagnostic& b);

/// @brief Adds those that are new to the list.
void add_new(std::vector<Diagnostic>& list, const std::vector<Diagnostic>& more);

/// JSON: class, severity, file, line, other ({file, line} or null), element, message; of a tool's finding
/// also tool and count.
void to_json(nlohmann::json& value, const Diagnostic& diagnostic);
void from_json(const nlohmann::json& value, Diagnostic& diagnostic);

}  // namespace course::grading
