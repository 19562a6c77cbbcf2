#pragma once
/// @file
/// Findings as the grader carries them: those of the simulator whole, those of NVIDIA's tools and the
/// grader's own notes in the same form.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "simt/findings.hpp"

namespace course::grading {

using simt::Finding;
using simt::Severity;

/// Class of the note that says why a call was run without check mode, or only half-way in it. It is no
/// finding: its one sentence is Finding::what.
inline constexpr std::string_view kNotChecked = "not_checked";

/// @brief That note. `tool` is the one that did not see the call; empty: check mode.
Finding note_not_checked(std::string sentence, std::string tool = {});

/// @brief Whether both tell of the same mistake at the same lines; of a race, whichever access is told first.
bool same_mistake(const Finding& a, const Finding& b);

/// @brief Adds those that are new to the list.
void add_new(std::vector<Finding>& list, const std::vector<Finding>& more);

/// @brief Whether it may be the reason for a wrong result: an error, or a warning that threads did not wait
/// for each other.
bool may_explain(const Finding& finding);

/// @brief Whether it is an access outside of an array.
bool is_stray(const Finding& finding);

/// @brief Whether that array is a thread's own.
bool is_own_stray(const Finding& finding);
/// @brief Whether it is one of global memory.
bool is_global_stray(const Finding& finding);

/// @brief Whether threads were missing at a barrier where others waited.
bool is_missed_barrier(const Finding& finding);

/// @brief Whether it may be no more than what the same wrong index led to as that stray: at the same line, a
/// read of what nobody has written or of the host's memory, an address of no memory, or a race in the same
/// memory. An index that is far enough off finds other arrays, and rows that other threads write; past the
/// end of a thread's own array, it finds pointers. Or no more than a race, a missing __syncwarp() or such a
/// read, in shared memory, which the barrier would have prevented that is_missed_barrier() tells of.
bool follows_from(const Finding& finding, const Finding& stray);
/// @brief The same of any of several, of which some may be no strays.
bool follows_from_one(const Finding& finding, const std::vector<Finding>& strays);

/// @brief Whether what is done about `told` may well do away with `other`, too, which can wait until then: of
/// races that one barrier may order, of accesses of shared memory that leave their array at one line, and of
/// divergent barriers in a kernel, one is told.
bool can_wait_for(const Finding& told, const Finding& other);

/// @brief Those that may_explain(), causes before what follows from them: threads that are missing at a
/// barrier, whose work then is nowhere; other errors; other warnings. What follows_from() a finding among
/// them is left out, and what can_wait_for() an earlier one.
std::vector<Finding> reasons_in(const std::vector<Finding>& findings);

/// @brief Everything about a finding, and "message", which is made of it.
nlohmann::json finding_to_json(const Finding& finding);
nlohmann::json findings_to_json(const std::vector<Finding>& findings);

/// @brief What is not there stays empty: a worker that crashes writes only the class, the place and what
/// happened.
/// @throws nlohmann::json::exception or std::invalid_argument if it is no finding.
Finding finding_from_json(const nlohmann::json& value);
std::vector<Finding> findings_from_json(const nlohmann::json& value);

}  // namespace course::grading
