#pragma once
/// @file
/// The classes of mistakes, as they are called in reports. They never change: scripts depend on them.

namespace simt::check {

inline constexpr const char kRace[] = "race";
inline constexpr const char kMissingSyncwarp[] = "missing_syncwarp";
inline constexpr const char kSameValueWrite[] = "same_value_write";
inline constexpr const char kOutOfBounds[] = "out_of_bounds";
inline constexpr const char kUninitialisedRead[] = "uninitialised_read";
inline constexpr const char kMissingWait[] = "missing_wait";
inline constexpr const char kExitedThreads[] = "exited_threads";
inline constexpr const char kDivergentBarrier[] = "divergent_barrier";
inline constexpr const char kInactiveLane[] = "inactive_lane";
inline constexpr const char kMisaligned[] = "misaligned";
inline constexpr const char kShift[] = "shift";

}  // namespace simt::check
