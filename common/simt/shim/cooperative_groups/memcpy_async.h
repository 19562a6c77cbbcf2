#pragma once
// Copies that all threads of a group share. From global to shared memory, they land when the thread waits for
// them, and not before: a kernel that forgets to wait reads what was there before, every time. Others are
// made at once, as a GPU makes them.

#include <algorithm>
#include <cstring>
#include <type_traits>

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

/// What aligned_size_t promises of both addresses and of the size. A plain number promises nothing.
template <class Size>
constexpr std::size_t kPromised = 1;
template <std::size_t kAlignment>
constexpr std::size_t kPromised<cuda::aligned_size_t<kAlignment>> = kAlignment;

/// What the pointers promise of both addresses, if they have the same type.
template <class To, class From>
constexpr std::size_t alignment_of_pointers() {
  if constexpr (std::is_same_v<To, From> && !std::is_void_v<To>) return alignof(To);
  return 1;
}

template <class To, class From, class Size>
constexpr std::size_t kAlignment = std::max(kPromised<Size>, alignment_of_pointers<To, From>());

/// The copies of the thread with that rank among as many that share the work.
inline void copy_pieces(void* to, const void* from, std::size_t bytes, std::size_t piece, bool asynchronous,
                        std::size_t rank, std::size_t threads) {
  for (std::size_t at = rank * piece; at < bytes; at += threads * piece) {
    auto* const target = static_cast<unsigned char*>(to) + at;
    auto* const source = static_cast<const unsigned char*>(from) + at;
    if (asynchronous)
      simt_async_copy(target, source, piece, 0);
    else
      ::memcpy(target, source, piece);
  }
}

/// Both addresses as one number, whose lowest bits tell how they are aligned.
template <class Size, class To, class From>
std::uintptr_t checked_addresses(To* to, const From* from, std::size_t bytes) {
  const std::uintptr_t addresses =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  simt_check(addresses % kAlignment<To, From, Size> == 0 && bytes % kPromised<Size> == 0,
             "memcpy_async's addresses and size are multiples of the alignment that cuda::aligned_size_t, or "
             "the type of the pointers, promises");
  return addresses;
}

/// CUDA's C++ library goes by types alone: it copies in pieces as large as the alignment that they promise,
/// up to 16 bytes, the last one whole, too. Pieces of less than 4 bytes are copied at once.
template <class To, class From, class Size>
void issue_copies(To* to, const From* from, const Size& size, std::size_t rank, std::size_t threads) {
  const auto bytes = static_cast<std::size_t>(size);
  checked_addresses<Size>(to, from, bytes);
  constexpr std::size_t piece = std::min(kAlignment<To, From, Size>, std::size_t{16});
  simt_check(
      bytes % piece == 0,
      "memcpy_async's size is a multiple of the pieces that it copies, each as large as the alignment that "
      "cuda::aligned_size_t, or the type of the pointers, promises, and at most 16 bytes");
  copy_pieces(to, from, bytes, piece, piece >= 4 && simt_copies_asynchronously(to, from) != 0, rank, threads);
}

/// Cooperative groups look at the addresses and at the size.
template <class To, class From, class Size>
void issue_copies_by_address(To* to, const From* from, const Size& size, std::size_t rank,
                             std::size_t threads) {
  const auto bytes = static_cast<std::size_t>(size);
  const std::uintptr_t bits = checked_addresses<Size>(to, from, bytes) | bytes;
  const std::size_t piece = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1;
  copy_pieces(to, from, bytes, piece, simt_copies_asynchronously(to, from) != 0, rank, threads);
}

}  // namespace simt

namespace cooperative_groups {

/// Copies `bytes` in pieces of up to 16, dealt out to the threads in turn.
template <class Group, class To, class From, class Size>
void memcpy_async(const Group& group, To* to, const From* from, const Size& bytes) {
  simt::issue_copies_by_address(to, from, bytes, group.thread_rank(), group.num_threads());
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
