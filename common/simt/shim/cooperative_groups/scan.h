#pragma once
// Prefix sums, and other prefix reductions, over the threads of a tile or of a coalesced group.

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, T value, Operation&& op) {
  T values[Group::kMostThreads];
  group.gather(value, values);
  T result = values[0];
  for (unsigned i = 1; i <= group.thread_rank(); ++i) result = op(result, values[i]);
  return result;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// Rank 0 gets T{}.
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, T value, Operation&& op) {
  T values[Group::kMostThreads];
  group.gather(value, values);
  if (group.thread_rank() == 0) return T{};
  T result = values[0];
  for (unsigned i = 1; i < group.thread_rank(); ++i) result = op(result, values[i]);
  return result;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
