#pragma once
/// @file
/// What hooks do: they put an access into the trace of the running thread.

#include <cstdint>

#include "simt/check/recorder.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/fiber.hpp"

namespace simt::check {

#define SIMT_HOOK_INLINE __attribute__((always_inline)) inline

SIMT_HOOK_INLINE std::uintptr_t inside_call(void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address) - 1;
}

/// Everything that is not memory of the device, shared memory or the thread's own stack. `value`: where a
/// write leaves it; 0: nobody asks for it.
void note_rare_access(Recorder& r, Event event, std::uintptr_t address, std::uintptr_t value,
                      std::uintptr_t caller);

/// Notes one access of 1, 2, 4, 8 or 16 bytes; kPiece: of a range, whose value nobody asks for. Whatever is
/// not the common case is a call at the end, so that this needs no frame of its own.
template <Kind kKind, unsigned kLog2Bytes, bool kVolatile, bool kPiece = false>
SIMT_HOOK_INLINE void note_access(std::uintptr_t address, std::uintptr_t caller) {
  Recorder* const r = active_recorder;
  if (r == nullptr) return;
  // Before it is noted: what it reads is what is there once the thread has had its next turn.
  if constexpr (kVolatile && kKind == Kind::read) BlockRunner::current()->spin_hint();
  Event event = access_event(kKind, kLog2Bytes, kVolatile);
  const std::uintptr_t value = kPiece ? 0 : address;
  if (std::uint64_t offset = address - r->arena; offset < kArenaBytes)
    event |= at_offset(Space::global, offset);
  else if (address - r->stack < kStackBytes)
    return r->append_begun_block(caller);
  else if (offset = address - r->shared;
           offset < r->shared_bytes && r->is_shared_word[offset / 4] == Recorder::kShared)
    event |= at_offset(Space::shared, offset);
  else if (offset = address - r->dynamic; offset < r->dynamic_bytes)
    event |= at_offset(Space::shared, Recorder::kDynamicOffset + offset);
  else
    return note_rare_access(*r, event, address, value, caller);
  if constexpr (kKind == Kind::write)
    r->append_write(event, value, kLog2Bytes, caller);
  else
    r->append_read(event, caller);
}

}  // namespace simt::check

#define SIMT_HERE simt::check::inside_call(__builtin_return_address(0))

#define SIMT_ACCESS_HOOK(NAME, KIND, LOG2_BYTES, VOLATILE)                   \
  void NAME(void* address) {                                                 \
    simt::check::note_access<simt::check::Kind::KIND, LOG2_BYTES, VOLATILE>( \
        reinterpret_cast<std::uintptr_t>(address), SIMT_HERE);               \
  }
