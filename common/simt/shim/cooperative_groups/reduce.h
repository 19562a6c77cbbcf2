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

/// Every thread gets op over all values, by shuffles. The order is a tree over the ranks, the same in each
/// call and for each thread.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation&& op) {
  const unsigned rank = group.thread_rank(), threads = static_cast<unsigned>(group.num_threads());
  const bool is_power =
      (threads & (threads - 1u)) == 0;  // then all can go on, and have the result in the end
  for (unsigned count = threads; count > 1;) {
    const unsigned half = (count + 1) / 2, partner = is_power ? rank ^ half : rank + half;
    const bool takes = partner < (is_power ? threads : count);
    const T other = group.shfl(value, takes ? partner : rank);
    if (takes) value = partner > rank ? op(value, other) : op(other, value);
    count = half;
  }
  return is_power ? value : group.shfl(value, 0);
}

template <class Group, class Target, class T, class Operation>
void reduce_store_async(const Group& group, Target* target, T value, Operation&& op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) *target = result;
}

}  // namespace cooperative_groups
