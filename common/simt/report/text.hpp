#pragma once
/// @file
/// Findings, profiles and traces as text for people. json.hpp has them for programs.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "simt/findings.hpp"
#include "simt/profile.hpp"

namespace simt::report {

struct TextStyle {
  std::size_t width = 0;  ///< columns at which prose is wrapped; 0: not at all
  bool colours = false;   ///< escape codes of a terminal

  /// @brief What fits the stream: plain and unwrapped unless it is a terminal. Honours NO_COLOR and TERM.
  static TextStyle of_stream(int descriptor);
};

/// @brief One line for each finding, as compilers write them: "kernel.cu:31: error: race: ...".
std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style);

/// @brief Tables beside the source lines, one for each kernel and shape of launch, with what stands out in
/// plain words, then what the columns mean. No line is longer than 80 columns, whatever the style says,
/// unless a name is.
/// @param root  where relative names of source files begin
std::string profile_text(const std::vector<LaunchProfile>& profiles, const std::filesystem::path& root,
                         const TextStyle& style);

}  // namespace simt::report
