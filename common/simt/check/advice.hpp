#pragma once
/// @file
/// The rule that a mistake breaks, and what to do about it, in the words of every report that tells of it:
/// those of check mode, and those made of what NVIDIA's tools say.

namespace simt::check {

struct Advice {
  const char* rule;
  const char* fix;
};

inline constexpr Advice kOutOfBoundsGlobal{
    "On a GPU this hits other data or ends the launch with cudaErrorIllegalAddress.",
    "Test the index against the size before the access."};
inline constexpr Advice kOutOfBoundsShared{"On a GPU this hits other shared variables, or ends the launch.",
                                           "Make the array larger, or test the index first."};
inline constexpr Advice kMisalignedAddress{
    "A GPU ends the launch with cudaErrorMisalignedAddress.",
    "Start vector accesses at a multiple of their size, and handle the elements before and after singly."};
inline constexpr Advice kUninitialisedGlobal{"cudaMalloc does not clear memory.",
                                             "Copy to it or cudaMemset it first, or do not read it."};
inline constexpr Advice kUninitialisedShared{
    "Shared memory starts with whatever another block left there.",
    "Write every element that is read, by the same index, before any thread reads it; or do not read it."};
inline constexpr Advice kRaceOfWrites{
    "Threads of different warps run in any order between two __syncthreads().",
    "Give each thread an element of its own, put a __syncthreads() between, or use an atomic."};
inline constexpr Advice kRaceWithReads{
    "Threads of different warps run in any order between two __syncthreads().",
    "Put a __syncthreads() between the two. In a loop it takes two: one before what was written is read, "
    "one before the next round writes again."};
inline constexpr Advice kRaceInWarp{
    "The lanes of a warp need not run in step, and shuffles and votes do not order memory.",
    "Put a __syncwarp() between the two."};
inline constexpr Advice kCopyNotAwaited{
    "A copy has landed only when the thread that issued it has waited for its batch.",
    "Let each thread wait for its batch, then put a __syncthreads() before the access."};
inline constexpr Advice kBarrierNotForAll{
    "All threads of a block must come to the same __syncthreads().",
    "Move the barrier out of the branch or the loop whose condition differs between threads."};
inline constexpr Advice kNeverFreed{"Every cudaMalloc needs its cudaFree, on every way out.",
                                    "Free the memory, or let a destructor do it."};
inline constexpr Advice kNullPointer{"", "Was the memory allocated, and the right pointer passed?"};
inline constexpr Advice kAddressOfNothing{"", "Look at the index and at the pointer's origin."};
inline constexpr Advice kStackUsedUp{"", "Look for endless recursion, or a local array that is too large."};
inline constexpr Advice kErrorUnread{
    "The program ended without asking for that error.",
    "Check what every call returns, and cudaGetLastError() after every launch."};

}  // namespace simt::check
