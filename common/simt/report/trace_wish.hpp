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

/// @brief What SIMT_TRACE, a file, and SIMT_TRACE_AT, a place, ask for; the place is 0,0,0,0 if not set.
/// @throws std::invalid_argument as parse_trace_place() does
std::optional<TraceWish> trace_wish();

}  // namespace simt::report
