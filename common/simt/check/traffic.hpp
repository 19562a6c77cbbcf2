#pragma once
/// @file
/// What a warp's access costs the memory system: the hardware's rules, as pure functions.

#include <cstdint>

#include "simt/runtime/warp.hpp"

namespace simt::check {

/// The 32-byte sectors of global memory that the lanes touch.
struct Sectors {
  unsigned touched = 0;
  unsigned ideal = 0;  ///< if the lanes' bytes lay side by side; not more than touched
};

/// @param offsets  [32], of the lanes, in bytes; sectors begin at multiples of 32
/// Cost: tens of nanoseconds; less for neighbouring lanes on neighbouring elements.
Sectors count_sectors(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes);

/// Of an atomic: lanes that meet at one address are served one after the other, each with a sector of its
/// own.
Sectors count_atomic_sectors(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes);

/// What one pass through the 32 banks of shared memory, each 4 bytes wide, can reach: one word of each.
inline constexpr unsigned kWavefrontBytes = 128;

/// The passes through the banks of shared memory.
struct Wavefronts {
  unsigned needed = 0;
  unsigned ideal = 0;  ///< without bank conflicts
};

/// Lanes that touch one word share it. Accesses of 8 bytes go by half warps, of 16 bytes by quarter warps;
/// loads of such widths by groups twice as large if throughout the warp lane i and lane i ^ 1, or i and i ^
/// 2, read the same address. Source: tests/simt/counters, measured on an H200.
Wavefronts count_wavefronts(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes, bool is_load);

/// Of an atomic on integers: as many as the busiest bank has lanes. A GPU does better where it can tell that
/// the lanes count by ones, and builds atomics on floating-point numbers from loads and exchanges.
Wavefronts count_atomic_wavefronts(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes);

}  // namespace simt::check
