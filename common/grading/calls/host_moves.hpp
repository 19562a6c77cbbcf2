#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/outcome.hpp"

namespace course::grading {

/// What the host code of a call moved between the host and the device, as the worker counted it.
struct HostMoves {
  std::vector<std::uint64_t> read;    ///< arrays of the call of which something was copied to the host
  std::vector<std::uint64_t> filled;  ///< arrays that something was copied into
  std::uint64_t to_host = 0;          ///< bytes that copies brought to the host
  std::uint64_t shared = 0;           ///< bytes that were made managed or page-locked
  std::uint64_t asked = 0;            ///< bytes that the host asked for while it went first
  std::uint64_t variables = 0;        ///< bytes of variables that kernels stored to, each launch

  bool operator==(const HostMoves&) const = default;
};

/// Bytes that the host of an entry on device memory may see: a flag, or how many there are of something.
inline constexpr std::uint64_t kFewBytes = 64;

/// Launches of a call: from how long each takes, the host learns something of what lies on the device.
inline constexpr std::int64_t kMostLaunches = 1000;

/// @brief Why so many launches of a call are too many; empty if they are not.
std::string too_many_launches(std::int64_t launches, std::string_view entry);

/// @brief Why the host may have computed with what kernels left in variables of the file; empty if they left
/// little.
std::string carried_in_variables(const HostMoves& moves, std::string_view entry);

/// @brief Why the kernels of a call that was made again, since its host code had asked for bytes of the
/// device, have not done what they did up to there; empty if they have, or nobody counted it.
std::string done_otherwise(const Outcome& asked, const Outcome& again, std::string_view entry);

/// @brief Why the call may have been computed by the host, though all of its arrays lie on the device and
/// kernels are to do it; one sentence each. `labels` are the names of the arrays.
std::vector<std::string> computed_by_host(const HostMoves& moves, std::string_view entry,
                                          const std::vector<std::string>& labels);

}  // namespace course::grading
