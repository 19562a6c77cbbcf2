#pragma once
// Prefix sums, and other prefix reductions, over the threads of a tile or of a coalesced group.

#include "reduce.h"

namespace cooperative_groups {

/// By shuffles: each step doubles how many values a thread has.
template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, T value, Operation&& op) {
  const unsigned rank = group.thread_rank(), threads = static_cast<unsigned>(group.num_threads());
  for (unsigned distance = 1; distance < threads; distance *= 2) {
    const T before = group.shfl(value, rank >= distance ? rank - distance : rank);
    if (rank >= distance) value = op(before, value);
  }
  return value;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// Rank 0 gets T{}.
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, T value, Operation&& op) {
  const unsigned rank = group.thread_rank();
  const T all = inclusive_scan(group, value, op);
  const T before = group.shfl(all, rank > 0 ? rank - 1u : 0u);
  return rank > 0 ? before : T{};
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
