#pragma once
// Copies that all threads of a group share. From global to shared memory, they land when the thread waits for
// them, and not before: a kernel that forgets to wait reads what was there before, every time. Others are
// made at once, as a GPU makes them.

#include <cstring>

#include "../cooperative_groups.h"
#include "../simt_abi.h"

namespace cuda {
/// A number of bytes of which the alignment is known.
template <std::size_t kAlignment>
struct aligned_size_t {
  static constexpr std::size_t align = kAlignment;
  std::size_t value;
  explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }
};
}  // namespace cuda

namespace simt {

/// The copies of the thread with that rank among as many that share the work.
inline void issue_copies(void* to, const void* from, std::size_t bytes, std::size_t rank,
                         std::size_t threads) {
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  const std::size_t piece = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1;
  const bool asynchronous = simt_copies_asynchronously(to, from) != 0;
  for (std::size_t at = rank * piece; at < bytes; at += threads * piece) {
    auto* const target = static_cast<unsigned char*>(to) + at;
    auto* const source = static_cast<const unsigned char*>(from) + at;
    if (asynchronous)
      simt_async_copy(target, source, piece, 0);
    else
      ::memcpy(target, source, piece);
  }
}

}  // namespace simt

namespace cooperative_groups {

/// Copies `bytes` in pieces of up to 16, dealt out to the threads in turn.
template <class Group, class To, class From>
void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes) {
  simt::issue_copies(to, from, bytes, group.thread_rank(), group.num_threads());
  simt_async_commit();
}

/// The same, counted in elements: as many as both sides have.
template <class Group, class T>
void memcpy_async(const Group& group, T* to, std::size_t to_count, const T* from, std::size_t from_count) {
  memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}

template <unsigned kBatchesInFlight, class Group>
void wait_prior(const Group& group) {
  simt_async_wait(kBatchesInFlight);
  group.sync();
}
template <class Group>
void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups
