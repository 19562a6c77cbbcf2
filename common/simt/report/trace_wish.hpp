#pragma once
/// @file
/// Which trace the environment asks for.

#include <filesystem>
#include <optional>
#include <string>

#include "simt/trace.hpp"

namespace simt::report {

struct TraceWish {
  std::filesystem::path file;  ///< absolute
  TraceRequest request;
};

/// @brief Reads "launch,x,y,z" or "launch,x,y,z,warp".
/// @throws std::invalid_argument that says how to write it
TraceRequest parse_trace_place(const std::string& text);

/// @brief What SIMT_TRACE, a file, SIMT_TRACE_AT, a place, and SIMT_TRACE_STEPS, the most steps, ask for. If
/// not set, the place is 0,0,0,0.
/// @throws std::invalid_argument as parse_trace_place() does, or if the steps are no whole number above 0
std::optional<TraceWish> trace_wish();

}  // namespace simt::report
