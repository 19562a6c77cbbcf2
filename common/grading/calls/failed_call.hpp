#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace course::grading {

/// How far a call had got when the worker ended.
struct Progress {
  std::string_view entry;
  bool running = false;  ///< false: the library was still being loaded
};

/// @brief Why the process ended, for a student. `wait_status` is that of waitpid.
std::string describe_death(int wait_status, const Progress& progress);

/// @brief The process still runs, but can no longer be reached, or sent what no worker sends.
std::string describe_broken_channel(const Progress& progress);

/// @brief The call was stopped after `seconds`.
std::string describe_timeout(double seconds, const Progress& progress);
/// The same of a call that hardly had a processor in its seconds by the clock: who waits is not known.
std::string describe_idle_timeout(double seconds, double used, const Progress& progress);

/// @brief A confined worker held more than `bytes` of memory and was ended.
std::string describe_hunger(std::uint64_t bytes, const Progress& progress);

/// @brief Of a call whose host code asks so often, while kernels run for long, that the processes which find
/// the answers take so much time together.
std::string describe_slow_answers(std::size_t answers, double seconds, std::string_view entry);

/// @brief The call was not made, because so many before it never came back.
std::string describe_impatience(int timeouts, std::string_view entry);
/// @brief The same, because so many before it held too much memory.
std::string describe_impatience_with_hunger(int calls, std::string_view entry);

}  // namespace course::grading
