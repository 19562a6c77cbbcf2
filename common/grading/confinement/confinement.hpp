#pragma once
/// @file
/// How a worker is kept from everything but its call, for code that nobody trusts.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace course::grading {

/// What `course grade` asks of a session. A confined worker is forked by a server, which stands in the
/// sandbox and loads nothing itself. It filters its own system calls before it loads the kernel, and runs
/// blocks on one thread, so that the same kernel does the same twice.
struct Confinement {
  std::vector<std::string> launcher;  ///< goes before the worker's own command line; see Sandbox::launcher()
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< a worker that holds more is ended
  bool one_call = true;  ///< a worker has ended before the outputs of its one call are read
};

/// Argument that makes a worker program a fork server, whose workers confine themselves.
inline constexpr const char* kConfinedOption = "--confined";

std::string to_json(const Confinement& confinement);

/// @throws std::runtime_error that names the file if it does not hold what to_json() writes.
Confinement read_confinement(const std::filesystem::path& file);

}  // namespace course::grading
