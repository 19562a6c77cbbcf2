#pragma once
/// @file
/// What one thread did, packed into 64 bits: where in the code, what, and at which place of memory.
///
/// Memory is seen through two windows. The window of global memory holds the device arena at its start and
/// every other range that kernels may use behind it; the window of shared memory holds the `__shared__`
/// variables and, behind them, the dynamic buffer. An event names a byte of a window, never an address, so
/// that reports are the same on every run.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simt/runtime/memory.hpp"

namespace simt::check {

using Event = std::uint64_t;

/// An atomic of kind `is_volatile` does not look at what was there before. An atomic load of global memory is
/// a volatile read; for one of shared memory see loads_atomically().
enum class Kind : unsigned { read, write, atomic, mark };
enum class Space : unsigned { global, shared };

/// What a thread does besides touching memory.
enum class Mark : unsigned {
  block,     ///< begins a basic block
  enter,     ///< enters a function; offset: of the call, in the code
  leave,     ///< leaves it
  met,       ///< took part in a warp operation; offset: its number; next slot: lanes, operation, work
  fence,     ///< offset: its FenceScope
  copy,      ///< issues an asynchronous copy; offset: of the target in shared memory; next slot: CopyExtent
  land,      ///< such a copy lands; offset: as above; next slot: the thread that issued it
  bind,      ///< such a copy belongs to a barrier from now on; offset: of the target
  work,      ///< computes within the runtime; offset: special functions, and floats from kFloatsShift on
  commit,    ///< makes a batch of the copies that it has issued
  wait,      ///< for such batches; offset: how many of the latest may stay under way
  exchange,  ///< gets a value of another thread
  turn,      ///< runs again after threads that gave way; offset: a number that rises in the block
};

// An access that moves matrices has as its size how many: 16 bytes, a row, for each of the first lanes. It is
// `volatile` if it transposes them.
inline constexpr unsigned kOneMatrix = 5, kTwoMatrices = 6, kFourMatrices = 7;

// From the lowest bit: offset 33, space 1, size 3, kind 2, volatile 1, code 24. A Mark has the bits of the
// size, and as its highest that of volatile.
inline constexpr unsigned kOffsetBits = 33;
inline constexpr unsigned kSpaceShift = 33, kSizeShift = 34, kKindShift = 37, kVolatileShift = 39;
inline constexpr unsigned kCodeShift = 40;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << kOffsetBits;
inline constexpr std::uint64_t kMostCodeBytes = std::uint64_t{1} << (64 - kCodeShift);

inline constexpr unsigned kFloatsShift = 16;  ///< in the offset of Mark::work

// The second slot of a meeting, from the lowest bit: lanes 32, SimtWarpOp 5, and from here the MatrixWork.
inline constexpr unsigned kMetOpShift = 32, kMetWorkShift = 40;

/// The second slot of a copy: how many bytes it writes, how many of them become zero without being read, and
/// where the others lie in the window of global memory.
struct CopyExtent {
  std::uint64_t bytes, zeroed, source;

  std::uint64_t packed() const {
    return bytes | std::min(zeroed, kMostZeroed) << kZeroedShift | source << kSourceShift;
  }
  static CopyExtent unpacked(std::uint64_t slot) {
    return {slot & ((1u << kZeroedShift) - 1), slot >> kZeroedShift & kMostZeroed, slot >> kSourceShift};
  }

 private:
  static constexpr unsigned kZeroedShift = 18, kSourceShift = 64 - kOffsetBits;
  static constexpr std::uint64_t kMostZeroed = (1u << (kSourceShift - kZeroedShift)) - 1;
};

inline constexpr std::uint64_t kArenaBytes = kWideCapacity;  ///< of the global window

constexpr Event access_event(Kind kind, unsigned log2_bytes, bool is_volatile) {
  return Event{static_cast<unsigned>(kind)} << kKindShift | Event{log2_bytes} << kSizeShift |
         Event{is_volatile} << kVolatileShift;
}
constexpr Event mark_event(Mark mark) {
  const auto number = static_cast<unsigned>(mark);
  return access_event(Kind::mark, number & 7u, number >> 3u != 0);
}
constexpr Event at_code(std::uint64_t code_offset) { return code_offset << kCodeShift; }
constexpr Event at_offset(Space space, std::uint64_t offset) {
  return Event{static_cast<unsigned>(space)} << kSpaceShift | offset;
}

constexpr std::uint64_t offset_of(Event event) { return event & (kWindowBytes - 1); }
constexpr std::uint64_t code_of(Event event) { return event >> kCodeShift; }
constexpr Kind kind_of(Event event) { return static_cast<Kind>(event >> kKindShift & 3u); }
constexpr Space space_of(Event event) { return static_cast<Space>(event >> kSpaceShift & 1u); }
constexpr Mark mark_of(Event event) {
  return static_cast<Mark>((event >> kSizeShift & 7u) | (event >> kVolatileShift & 1u) << 3u);
}
constexpr unsigned size_of(Event event) { return static_cast<unsigned>(event >> kSizeShift & 7u); }
/// How many matrices an access moves; 0: it is an ordinary one.
constexpr unsigned matrices_of(Event event) {
  const bool plain = kind_of(event) == Kind::atomic || size_of(event) < kOneMatrix;
  return plain ? 0 : 1u << (size_of(event) - kOneMatrix);
}
/// Of an atomic: the bit of its size that says that it compares before it writes.
inline constexpr Event kCompares = Event{4} << kSizeShift;
/// What compares and does not look at what was there is no atomic. In global memory, that stands for an
/// atomic on 16 bytes, for which the size has no number; in shared memory, which has none of those, for a
/// load.
inline constexpr Event kSpecial = kCompares | Event{1} << kVolatileShift;
constexpr bool is_special(Event event) {
  return kind_of(event) == Kind::atomic && (event & kSpecial) == kSpecial;
}
constexpr bool on_four_floats(Event event) { return is_special(event) && space_of(event) == Space::global; }
constexpr bool loads_atomically(Event event) { return is_special(event) && space_of(event) == Space::shared; }
constexpr bool compares(Event event) {
  return kind_of(event) == Kind::atomic && (event & kSpecial) == kCompares;
}
/// At a place, which the event names: bytes are 1, 2, 4 or 8, and also 16 in global memory.
constexpr Event atomic_load_event(Space space, unsigned log2_bytes) {
  return space == Space::global ? access_event(Kind::read, log2_bytes, true)
                                : access_event(Kind::atomic, log2_bytes, false) | kSpecial;
}
constexpr unsigned bytes_of(Event event) {
  if (matrices_of(event) != 0 || on_four_floats(event)) return 16;
  return 1u << (size_of(event) & (kind_of(event) == Kind::atomic ? 3u : 7u));
}
constexpr bool is_volatile(Event event) {
  return (event >> kVolatileShift & 1u) != 0 && !on_four_floats(event);
}
/// Everything but the offset: lanes that agree in it do the same thing at the same place of the code.
constexpr std::uint64_t instruction_of(Event event) { return event >> kOffsetBits; }

constexpr bool is_turn(Event event) { return kind_of(event) == Kind::mark && mark_of(event) == Mark::turn; }

/// The kinds and marks that take two slots: a write is followed by the value that it left in memory.
constexpr bool has_second_slot(Event event) {
  const Kind kind = kind_of(event);
  if (kind != Kind::mark) return kind == Kind::write;
  const Mark mark = mark_of(event);
  return mark == Mark::met || mark == Mark::copy || mark == Mark::land;
}

}  // namespace simt::check
