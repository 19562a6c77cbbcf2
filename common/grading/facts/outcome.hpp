#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/finding.hpp"
#include "grading/facts/profile.hpp"

namespace course::grading {

/// How a call into a kernel library ended.
enum class Status {
  returned,    ///< the entry came back
  threw,       ///< the entry threw; see exception_type
  cuda_error,  ///< the entry came back, but left a CUDA error that nobody looked at, or work aside
  fault,       ///< a kernel or the host code did something illegal
  timeout,     ///< it did not come back in time and was stopped
  died,        ///< the process ended: a crash, exit(), abort(), or a channel that it broke
  refused,     ///< nothing was run: the library or the entry cannot be used
  differed,    ///< it came to another end when it was run once more in check mode
};

/// @brief The name used in reports, e.g. "returned".
std::string_view to_string(Status status);

/// @throws std::invalid_argument for a name that to_string() never gives
Status status_of(std::string_view name);

/// What check mode did with a call.
enum class Checking {
  none,      ///< there is no check mode here: a GPU, or a kernel that was not compiled for it
  left_out,  ///< the call was too large for it, or was to be left out
  stopped,   ///< it did not come to its end, as it may not after a fault
  done,      ///< Outcome::profile counts the whole call
};

/// Device memory that the entry allocated and never freed.
struct Leak {
  std::uint64_t bytes = 0;
  std::string file;  ///< empty where the backend cannot tell
  int line = 0;
};

/// A guard, a gap or an input that changed.
struct Violation {
  std::string sentence;
  bool misplaced = false;  ///< outside of an output, or in its gaps: maybe what belongs into it
};

/// Among Outcome::counters: what copies brought from device memory to device memory, which is in no kernel's
/// counters. In the simulator alone.
inline constexpr const char* kCopiedWithin = "bytes copied within the device";

/// @brief What one call did, in words for a student.
/// Trust: `violations` and every output byte are the grader's own findings. Everything else is the word of
/// the process that ran the student's code; it can turn a pass into a failure. Leaks and pending errors are
/// known to that process alone, so code that attacks it could hide them, but never change an output's
/// verdict.
struct Outcome {
  Status status = Status::refused;
  std::string message;                       ///< plain sentences; empty after an undisturbed return
  std::string exception_type;                ///< e.g. "std::invalid_argument"; only for Status::threw
  std::string exception_message;             ///< what() of that exception
  std::vector<std::string> exception_bases;  ///< standard exceptions that it derives from
  std::vector<Violation> violations;         ///< guards, gaps and inputs that changed
  std::vector<Leak> leaks;                   ///< the first few
  std::uint64_t leak_count = 0, leak_bytes = 0;
  std::vector<Finding> findings;  ///< those of check mode first
  /// launches, and the blocks and threads of all of them; kCopiedWithin, if anything is
  std::map<std::string, std::int64_t> counters;
  Checking checking = Checking::none;
  std::optional<Profile> profile;  ///< there if checking is done
  std::string printed;             ///< the last lines that the student's code printed
  double seconds = 0;              ///< wall time of the call, transfers included
  bool reordered = false;          ///< blocks, warps and threads ran in an order that nobody asked for
};

/// @brief Why a call did not come back: its message, or its status in words.
std::string why_not_returned(const Outcome& outcome);

/// @brief Why the call is not a clean run: how it ended, broken guards, changed inputs, leaks. Empty: it is
/// clean.
std::string why_not_clean(const Outcome& outcome);

/// @brief What breaks the rules whatever the entry decided to do (also when it threw): broken guards, changed
/// inputs, leaks. Empty: nothing.
std::string side_effects(const Outcome& outcome);

/// @brief Memory that was never freed. Empty: none.
std::string leak_sentence(const Outcome& outcome);

}  // namespace course::grading
