#pragma once
// Reductions over the threads of a tile or of a coalesced group.

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_GROUP_OPERATION(name, expression)                                         \
  template <class T>                                                                   \
  struct name {                                                                        \
    SIMT_SHIM_INLINE T operator()(const T& a, const T& b) const { return expression; } \
  };
SIMT_GROUP_OPERATION(plus, a + b)
SIMT_GROUP_OPERATION(less, b < a ? b : a)
SIMT_GROUP_OPERATION(greater, a < b ? b : a)
SIMT_GROUP_OPERATION(bit_and, a& b)
SIMT_GROUP_OPERATION(bit_or, a | b)
SIMT_GROUP_OPERATION(bit_xor, a ^ b)
#undef SIMT_GROUP_OPERATION

/// Every thread gets op over all values. The order is a tree over the ranks, the same in each call.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation&& op) {
  T values[Group::kMostThreads];
  unsigned count = group.gather(value, values);
  while (count > 1) {
    const unsigned half = (count + 1) / 2;
    for (unsigned i = 0; i + half < count; ++i) values[i] = op(values[i], values[i + half]);
    count = half;
  }
  return values[0];
}

template <class Group, class Target, class T, class Operation>
void reduce_store_async(const Group& group, Target* target, T value, Operation&& op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) *target = result;
}

}  // namespace cooperative_groups
