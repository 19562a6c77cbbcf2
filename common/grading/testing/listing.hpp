#pragma once
/// @file
/// A rehearsal: the test cases run without a kernel, so that what they know of mistakes can be listed.

#include <string>
#include <string_view>
#include <vector>

#include "grading/facts/listing.hpp"

namespace course::grading {

/// @brief Begins the rehearsal of this process, in which calls return at once with their outputs as they
/// were, no check fails a case, and mistakes are listed instead of tried.
void begin_rehearsal();

/// @brief Whether this process rehearses.
bool rehearsing();

/// @brief Adds to the list, in a rehearsal. Whatever makes a Mistake calls this, with the sentence as a
/// student reads it; "..." stands for what depends on the result.
void list_mistake(std::string_view name, std::string_view sentence);

/// @brief What was listed so far, by name.
std::vector<ListedMistake> rehearsed_mistakes();

}  // namespace course::grading
