#pragma once
/// @file
/// What a contract promises of global memory, held against what check mode counted.
///
/// Each cause has a check of its own, so that it is deducted once: reading or writing elements more often
/// than need be is for the first two, reading and writing with neighbouring threads far apart for the third.

#include <cstdint>
#include <string>
#include <string_view>

#include "grading/facts/profile.hpp"

namespace course::grading {

/// @brief A sentence for the student if the launches read more than `bytes` bytes; "" if not. A tenth more is
/// allowed. What counts is whole sectors of 32 bytes, as many as the warps' loads would touch if what each
/// brings lay side by side: a kernel that reads each element once passes, however scattered. Rows should
/// begin at multiples of 32 bytes. Lanes that read the same at the same time touch one sector; so a sentence,
/// too, if the lanes ask for more than twice as many bytes: tiles are there to be shared. `what` says what
/// takes so many: "to read Q once".
std::string reads_too_much(const Profile& profile, std::uint64_t bytes, std::string_view what);

/// @brief A sentence unless the threads write exactly `bytes` bytes to global memory.
/// `what` says what takes so many: "to write O and lse once".
std::string writes_not_exactly(const Profile& profile, std::uint64_t bytes, std::string_view what);

/// @brief A sentence if the warps' instructions, each for itself, ask for less than two thirds of the sectors
/// that their bytes must touch. Lanes that go one after the other never lie apart, and take a sector each.
/// `verb`: "load" or "store".
std::string half_empty_sectors(const simt::GlobalTraffic& traffic, std::string_view verb);

/// @brief A sentence if a launch touches more than 1.1 times the sectors that its bytes fill, or if most of
/// the sectors of all launches are half empty.
std::string scattered_accesses(const Profile& profile);

/// @brief Which launch leaves more work than the mean, or more to load, by more than a tenth, to blocks that
/// start last; empty if none does, and for launches of fewer than 10 blocks.
std::string last_is_largest(const Profile& profile);

/// @brief Which launch has one warp of each block do more than so many times its share; empty if none does.
std::string few_warps_work(const Profile& profile, double times = 2);

/// @brief The same of kernels that go through so many rows. Where there are fewer blocks than rows, a warp
/// may take a row: with fewer rows than warps in a block, the others have none.
std::string few_warps_of_rows_work(const Profile& profile, std::uint64_t rows, double times = 2);

/// @brief The same of what is loaded from global memory, for kernels whose warps load for themselves.
std::string few_warps_load(const Profile& profile);

/// @brief Which launch has one block do more than this share of the work of all, or store more than that of
/// what all store; empty if none does. `share`: what the block may have, of which a tenth more is allowed.
std::string one_block_works(const Profile& profile, double share);

/// @brief Tells that units for float32 do more than an eighth of the multiply-adds that tensor cores do;
/// empty if they do not.
std::string products_beside_tensor_cores(const Profile& profile);

/// @brief Tells that tensor cores do fewer multiply-adds of 16-bit numbers than so many; empty if they do
/// not. For whatever is counted: a kernel may tell types and sizes apart.
std::string few_on_tensor_cores(const Profile& profile, std::uint64_t multiply_adds);

/// @brief Why so few lanes of each warp load that most have nothing to do; empty if a load brings 8 numbers
/// of 4 bytes or more on average.
std::string few_lanes_load(const Profile& profile);

/// @brief Tells that fewer than 8 lanes of a warp are at work on average; empty if more are.
std::string few_lanes_work(const Profile& profile);

/// @brief How often warps may have met: at barriers, or by atomics and volatile stores to global memory, of
/// which a barrier can be made.
std::uint64_t meetings(const simt::Counters& counters);

/// @brief "Each warp waits at 3 barriers", or at 3.1 on average, where so many warps share the meetings, and
/// that atomics are among these.
std::string meetings_told(const simt::Counters& counters, std::uint64_t warps);

}  // namespace course::grading
