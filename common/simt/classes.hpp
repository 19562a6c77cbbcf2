#pragma once
/// @file
/// The registry of all classes of findings: what each is called, how bad it is, what it means, and the rule
/// and the fix that every report gives. Reports, `./course explain`, completion, the judge, the pages of a
/// class for teachers and docs/diagnostics.md take them from here. CONTRIBUTING.md says what else a new class
/// needs.

#include <algorithm>
#include <array>
#include <string_view>

#include "simt/findings.hpp"

namespace simt::check {

// The classes that check mode gives by name. Names never change: scripts depend on them.
inline constexpr const char kRace[] = "race";
inline constexpr const char kMissingSyncwarp[] = "missing_syncwarp";
inline constexpr const char kSameValueWrite[] = "same_value_write";
inline constexpr const char kOutOfBounds[] = "out_of_bounds";
inline constexpr const char kUninitialisedRead[] = "uninitialised_read";
inline constexpr const char kMissingWait[] = "missing_wait";
inline constexpr const char kExitedThreads[] = "exited_threads";
inline constexpr const char kDivergentBarrier[] = "divergent_barrier";
inline constexpr const char kInactiveLane[] = "inactive_lane";
inline constexpr const char kDivergentInstruction[] = "divergent_instruction";
inline constexpr const char kMisaligned[] = "misaligned";
inline constexpr const char kShift[] = "shift";

/// The rule that a mistake breaks, and what to do about it.
struct Advice {
  const char* rule = "";
  const char* fix = "";
};

// Of classes whose advice depends on the case.
inline constexpr Advice kOutOfBoundsGlobal{
    "On a GPU this hits other data or ends the launch with cudaErrorIllegalAddress.",
    "Test the index against the size before the access, by < and not by <=; if it is tested, look at that "
    "test, the strides and the grid."};
inline constexpr Advice kOutOfBoundsBefore{kOutOfBoundsGlobal.rule,
                                           "The index is negative: look at what is subtracted to make it."};
inline constexpr Advice kOutOfBoundsShared{"On a GPU this hits other shared variables, or ends the launch.",
                                           "Make the array larger, or test the index first."};
inline constexpr Advice kOutOfBoundsDynamic{
    kOutOfBoundsShared.rule,
    "Is it the right array, and the right index? If so, the launch has to ask for more bytes."};
inline constexpr Advice kOutOfBoundsRow{
    "An index must lie within its own array or row, even where other memory follows.",
    "Test the index, or make the array larger."};
inline constexpr Advice kUninitialisedGlobal{
    "cudaMalloc does not clear memory.",
    "Fill it first, by a copy, cudaMemset or an earlier kernel; or do not read it."};
inline constexpr const char kReadInGap[] = "Multiply every index by the array's own stride of that axis.";
inline constexpr Advice kUninitialisedShared{
    "Shared memory starts with whatever another block left there.",
    "Write every element that is read, by the same index, before any thread reads it; or do not read it."};
inline constexpr Advice kRaceOfWrites{
    "Threads of different warps run in any order between two __syncthreads().",
    "Give each thread an element of its own, or put a __syncthreads() between."};
inline constexpr Advice kRaceWithReads{
    "Threads of different warps run in any order between two __syncthreads().",
    "Put a __syncthreads() between the two. In a loop it takes two: one before what was written is read, "
    "one before the next round writes again."};
inline constexpr Advice kRaceWithCopy{
    "A copy may write from where it is issued until its thread has waited for it.",
    "Put a __syncthreads() between the last use of what was there and the copy; to use what the copy brings, "
    "put one after the wait."};
inline constexpr Advice kRaceOfOneInstruction{
    "Which of them wins is undefined.", "Give each thread an element of its own, or let one thread write."};
inline constexpr Advice kRaceWithAtomic{
    "An atomic is ordered with other atomics only, not with plain reads and writes.",
    "Put a __syncthreads() between the two, or make both atomic."};
inline constexpr Advice kRaceOfNarrowScope{
    "An atomic of block scope is atomic for the threads of its own block alone, one of thread scope for "
    "none.",
    "Use one of device scope: atomicAdd() instead of atomicAdd_block(), .gpu instead of .cta, "
    "cuda::thread_scope_device."};
inline constexpr Advice kRaceOfBlocks{
    "The blocks of a launch run in any order; only an atomic with a __threadfence() on both sides orders "
    "their accesses.",
    "Split the work into two launches, or publish the value with __threadfence() and an atomic."};
inline constexpr Advice kRaceOfBlocksThatWrite{"The blocks of a launch run in any order.",
                                               "Give each block elements of its own."};
inline constexpr Advice kRaceOfLaunches{
    "Kernels in different streams may run at the same time, and in any order.",
    "Launch both in one stream, or record an event after the first and let the other stream wait for it "
    "(cudaEventRecord, cudaStreamWaitEvent)."};
inline constexpr Advice kRaceWithHost{
    "A launch returns at once, and its kernel may run at any time until the host waits for it.",
    "Call cudaDeviceSynchronize() before the host uses what the kernel does."};
/// Beside that, of a line that adds to what is there.
inline constexpr const char kAddAtomically[] = " Where several threads add to one element, use an atomic.";

// Of classes that have one.
inline constexpr Advice kMisalignedAddress{
    "A GPU ends the launch with cudaErrorMisalignedAddress.",
    "Start vector accesses at a multiple of their size, and handle the elements before and after singly."};
inline constexpr Advice kRaceInWarp{
    "The lanes of a warp need not run in step, and shuffles and votes do not order memory.",
    "Put a __syncwarp() between the two."};
inline constexpr Advice kHarmlessWrite{"The result is the same whoever comes last.",
                                       "Let one thread write it if that is what you mean."};
inline constexpr Advice kCopyNotAwaited{
    "A copy has landed only when the thread that issued it has waited for its batch.",
    "Let each thread wait for its batch, then put a __syncthreads() before the access."};
inline constexpr Advice kCopyOfBarrierNotAwaited{
    "A copy that a cuda::barrier or a stage of a cuda::pipeline tracks has landed only for threads that have "
    "waited for that.",
    "Wait for the barrier, or for the stage, before the access."};
inline constexpr Advice kBarrierForAll{
    "A barrier is for all threads of the block; only since Volta may some have left.",
    "Let every thread reach the barrier: do not return before it or put it into a branch; guard the work "
    "instead."};
inline constexpr Advice kBarrierNotForAll{
    "All threads of a block must come to the same __syncthreads().",
    "Move the barrier out of the branch or the loop whose condition differs between threads."};
inline constexpr Advice kLaneGivesNothing{
    "What a lane that takes no part would give is undefined.",
    "Name that lane in the mask and let it come to the shuffle, or pass a smaller width."};
inline constexpr Advice kWarpNotTogether{
    "Instructions for tensor cores are those of a whole warp (.aligned): all 32 lanes must execute the same "
    "one together, or the result is undefined.",
    "Move it out of the branch or the loop whose condition differs between lanes, and let no lane return "
    "before it."};
inline constexpr Advice kShiftTooFar{"The result of such a shift is undefined in C++.",
                                     "Keep the amount below the number of bits."};
inline constexpr Advice kNeverFreed{"Every cudaMalloc needs its cudaFree, on every way out.",
                                    "Free the memory, or let a destructor do it."};
inline constexpr Advice kNullPointer{"", "Was the memory allocated, and the right pointer passed?"};
inline constexpr Advice kAddressOfNothing{"", "Look at the index and at the pointer's origin."};
inline constexpr Advice kStackUsedUp{"", "Look for endless recursion, or a local array that is too large."};
inline constexpr Advice kErrorUnread{
    "The program ended without asking for that error.",
    "Check what every call returns, and cudaGetLastError() after every launch."};

/// Where classes stand together, in lists and in docs/diagnostics.md.
inline constexpr const char* kGroups[] = {"Memory",
                                          "Order and races",
                                          "Barriers and warps",
                                          "Arithmetic",
                                          "Kernels that stop, or never do",
                                          "Host code",
                                          "Refused calls",
                                          "Traffic"};
enum class Group { memory, order, barriers, arithmetic, stops, host, refused, traffic };

/// What finds a class.
enum class Finder {
  check_mode,  ///< check mode alone: what run mode may find of it is luck
  any_mode,    ///< the simulator, however it runs
  counters,    ///< the profile: it is no finding
};

struct FindingClass {
  const char* name;
  Group group;
  Severity severity;
  Finder finder;
  const char* meaning;  ///< one sentence
  Advice advice = {};   ///< as far as it does not depend on the case
  /// A warning that may well be why a result is wrong, and then comes first.
  bool explains_wrong_results = false;

  /// "docs/diagnostics/race.md"
  std::string page() const { return std::string("docs/diagnostics/") + name + ".md"; }
};

// clang-format off
inline constexpr std::array kClasses = {
    FindingClass{kOutOfBounds, Group::memory, Severity::error, Finder::check_mode,
     "A thread reads or writes outside of its array; mostly a test of the index is missing."},
    FindingClass{kUninitialisedRead, Group::memory, Severity::error, Finder::check_mode,
     "A kernel reads memory that nothing has written before."},
    FindingClass{kMisaligned, Group::memory, Severity::error, Finder::check_mode,
     "A vector load or store, such as float4, is at an address that is no multiple of its size.", kMisalignedAddress},
    FindingClass{"null_pointer", Group::memory, Severity::error, Finder::any_mode,
     "A kernel reads or writes through a null pointer.", kNullPointer},
    FindingClass{"illegal_address", Group::memory, Severity::error, Finder::any_mode,
     "A kernel uses an address that is far from every allocation.", kAddressOfNothing},
    FindingClass{"host_pointer_in_kernel", Group::memory, Severity::error, Finder::any_mode,
     "A kernel follows a pointer to memory of the host."},

    FindingClass{kRace, Group::order, Severity::error, Finder::check_mode,
     "Two threads use the same element, one of them writes, and no barrier lies between."},
    FindingClass{kMissingSyncwarp, Group::order, Severity::warning, Finder::check_mode,
     "Lanes of one warp exchange values through memory without __syncwarp().", kRaceInWarp, true},
    FindingClass{kSameValueWrite, Group::order, Severity::note, Finder::check_mode,
     "Several threads write the same value to one element: harmless, but not ordered.", kHarmlessWrite},
    FindingClass{kMissingWait, Group::order, Severity::error, Finder::check_mode,
     "Data of an asynchronous copy is used before anybody waited for it.", kCopyNotAwaited},

    FindingClass{kExitedThreads, Group::barriers, Severity::warning, Finder::check_mode,
     "Some lanes of a warp have left the kernel while others of it wait at a barrier.", kBarrierForAll, true},
    FindingClass{kDivergentBarrier, Group::barriers, Severity::warning, Finder::check_mode,
     "Threads of a block wait at __syncthreads() calls on different lines.", kBarrierNotForAll, true},
    FindingClass{kInactiveLane, Group::barriers, Severity::warning, Finder::check_mode,
     "A shuffle reads from a lane that takes no part in it.", kLaneGivesNothing, true},
    FindingClass{kDivergentInstruction, Group::barriers, Severity::error, Finder::any_mode,
     "Lanes of a warp do not come together to an instruction for tensor cores, or call different shuffles.",
     kWarpNotTogether},
    FindingClass{"illegal_mask", Group::barriers, Severity::error, Finder::any_mode,
     "A lane calls a warp operation whose mask leaves it out."},
    FindingClass{"deadlock", Group::barriers, Severity::error, Finder::any_mode,
     "All threads of a block wait, and none of them can go on."},

    FindingClass{kShift, Group::arithmetic, Severity::warning, Finder::check_mode,
     "A number is shifted by as many bits as it has, or more, or by less than none.", kShiftTooFar, true},
    FindingClass{"division_by_zero", Group::arithmetic, Severity::error, Finder::any_mode,
     "An integer is divided by zero."},

    FindingClass{"endless_loop", Group::stops, Severity::error, Finder::any_mode,
     "A kernel was stopped because it did not come to its end in time."},
    FindingClass{"stack_overflow", Group::stops, Severity::error, Finder::any_mode,
     "Recursion or local arrays need more stack than a thread has.", kStackUsedUp},
    FindingClass{"assertion", Group::stops, Severity::error, Finder::any_mode,
     "The condition of an assert() in a kernel does not hold."},
    FindingClass{"trap", Group::stops, Severity::error, Finder::any_mode,
     "A kernel stops itself with __trap()."},
    FindingClass{"abort", Group::stops, Severity::error, Finder::any_mode,
     "A kernel calls abort(), itself or within the standard library."},
    FindingClass{"exception", Group::stops, Severity::error, Finder::any_mode,
     "A kernel throws an exception and does not catch it."},
    FindingClass{"illegal_instruction", Group::stops, Severity::error, Finder::any_mode,
     "A kernel comes to a place that the compiler took for unreachable, such as the end of a function without "
     "its return."},

    FindingClass{"device_pointer_on_host", Group::host, Severity::error, Finder::any_mode,
     "Host code reads or writes device memory directly."},
    FindingClass{"leak", Group::host, Severity::error, Finder::any_mode,
     "Memory is allocated by CUDA and never freed.", kNeverFreed},
    FindingClass{"unchecked_error", Group::host, Severity::error, Finder::any_mode,
     "A CUDA call was refused, and nobody asked for the error.", kErrorUnread},

    FindingClass{"launch_refused", Group::refused, Severity::error, Finder::any_mode,
     "CUDA does not accept a launch: too many threads, too much shared memory, or no blocks."},
    FindingClass{"bad_copy", Group::refused, Severity::error, Finder::any_mode,
     "A cudaMemcpy has the wrong direction, a null pointer, or too many bytes."},
    FindingClass{"bad_memset", Group::refused, Severity::error, Finder::any_mode,
     "A cudaMemset goes beyond its allocation."},
    FindingClass{"bad_free", Group::refused, Severity::error, Finder::any_mode,
     "cudaFree gets a pointer that is not from cudaMalloc, or gets it a second time."},

    FindingClass{"bank_conflict", Group::traffic, Severity::note, Finder::counters,
     "Lanes of a warp want different words of one bank of shared memory, and queue for it."},
    FindingClass{"uncoalesced_load", Group::traffic, Severity::note, Finder::counters,
     "Lanes of a warp load from places far apart, so most of what is moved is not used."},
};
// clang-format on

/// @brief The class of that name; null for any other name, such as that of a lesson's mistake.
constexpr const FindingClass* find_class(std::string_view name) {
  const auto* const found = std::find_if(kClasses.begin(), kClasses.end(),
                                         [&](const FindingClass& one) { return name == one.name; });
  return found == kClasses.end() ? nullptr : found;
}

/// @brief The heading above a group's classes.
constexpr const char* to_string(Group group) { return kGroups[static_cast<std::size_t>(group)]; }

}  // namespace simt::check
