#pragma once
/// @file
/// What check mode counts in a call of lesson 02.

#include <cstdint>
#include <string>
#include <string_view>

#include "grading/testing/lesson_test.hpp"

namespace course::lesson_02 {

/// Each element read once and written once.
void require_one_pass(const grading::Outcome& outcome, std::int64_t elements, std::string_view from,
                      std::string_view to);

/// No access touches more than 1.1 times the sectors that its bytes fill, where neighbours lie `apart`
/// elements from each other.
void require_coalesced(const simt::GlobalTraffic& traffic, const std::string& verb, const std::string& array,
                       const std::string& remedy, std::uint64_t apart = 1);

/// No block moves more than a tile, and no warp most of it.
void require_busy(const grading::Profile& profile, std::int64_t elements);

void require_no_conflicts(const simt::SharedTraffic& traffic, const std::string& verb);

/// The elements go through shared memory: where none does, nothing has a bank conflict either.
void require_tiles(const grading::Profile& profile, std::int64_t elements);

}  // namespace course::lesson_02
