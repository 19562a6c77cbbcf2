#pragma once

#include <cstdint>
#include <optional>

#include "grading/facts/outcome.hpp"
#include "grading/facts/results.hpp"

namespace course::grading {

/// @brief A seed of this test case's own: from its name and the `--seed` of the command line, so that cases
/// do not share data and every run sees the same. Reported with a failure. Whoever knows it, and the name,
/// does not know the `--seed`, which may be a secret one.
std::uint64_t case_seed();

/// @brief Another one, for CallOptions::seed. The worker gets it, and learns nothing of the data by it.
std::uint64_t order_seed();

/// @brief The record of the test case that runs now. The listener resets it; calls add diagnostics and
/// counters.
CaseResult& current_case();

/// @brief What the assertion that fails next is about. The listener takes it, with what the test said before
/// it, and makes a failure of its own for an assertion that nobody described.
std::optional<Failure>& failure_to_come();

/// @brief Whether entries on device memory may compute on the host. Not so in lessons; a test of ours whose
/// library has no kernels sets it before main().
bool& host_may_compute();

/// @brief What the calls of the current case were to do, and did. The listener resets it.
struct CallsOfCase {
  bool returned = false;           ///< one came back
  bool was_to_throw = false;       ///< one was to throw
  bool only_others_found = false;  ///< some found what may explain a failure, but not the last one
  bool reordered = false;          ///< the last one, as Outcome has it
};
CallsOfCase& calls_of_case();

/// @brief How many cases have begun: the number of the one that runs now. The listener counts them.
int& case_number();

/// @brief Whether only what calls find counts, and no output does: then no check of a test fails, so that a
/// case makes all of its calls.
bool& findings_only();

/// @brief Goes into every case_seed(); 0 unless the command line says otherwise.
void set_base_seed(std::uint64_t seed);

/// @brief Adds what a call found to the current case: diagnostics, counters, profile, what was printed.
/// Thread-safe.
void record(const Outcome& outcome);

}  // namespace course::grading
