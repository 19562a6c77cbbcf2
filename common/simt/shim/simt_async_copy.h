#pragma once
// Asynchronous copies from global to shared memory. The bytes land when the thread waits for them, and not
// before: a kernel that forgets to wait reads what was there before, every time.

#include <cstdint>

#include "simt_abi.h"
#include "simt_vector_types.h"

namespace simt {

namespace shim {
template <class Word>
SIMT_SHIM_INLINE void copy_words(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  typedef Word Alias __attribute__((may_alias));
  for (std::size_t at = 0; at < bytes; at += sizeof(Word))
    *reinterpret_cast<Alias*>(to + at) = *reinterpret_cast<const Alias*>(from + at);
}
typedef unsigned int FourWords __attribute__((vector_size(16)));
}  // namespace shim

/// Copies with accesses as wide as size and alignment allow.
inline void copy_now(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  if (bits % 16 == 0)
    shim::copy_words<shim::FourWords>(target, source, bytes);
  else if (bits % 8 == 0)
    shim::copy_words<unsigned long long>(target, source, bytes);
  else if (bits % 4 == 0)
    shim::copy_words<unsigned int>(target, source, bytes);
  else
    shim::copy_words<unsigned char>(target, source, bytes);
}

/// Lands the calling thread's copies, except for those of its last `batches_in_flight` batches.
inline void wait_for_copies(unsigned batches_in_flight) {
  SimtAsyncCopy copy;
  while (simt_async_next(batches_in_flight, &copy) != 0) {
    const std::size_t kept = copy.bytes - copy.zero_bytes;
    copy_now(copy.to, copy.from, kept);
    for (std::size_t at = kept; at < copy.bytes; ++at) static_cast<unsigned char*>(copy.to)[at] = 0;
  }
}

}  // namespace simt
