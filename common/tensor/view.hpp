#pragma once

#include <cstdint>

namespace course {

/// @brief A strided array that somebody else owns, passed by value: what attention kernels take and index.
///
/// A plain aggregate, so that it can be a kernel argument on the GPU and in the simulator alike. Strides are
/// in elements; element (i0, i1, ...) is data[i0 * strides[0] + i1 * strides[1] + ...]. One type serves
/// [batch, head, seq, dim] and [batch, seq, head, dim] without a copy. Nothing is checked.
template <class T, int Rank>
struct View {
  T* data;
  std::int64_t shape[Rank];
  std::int64_t strides[Rank];
};

}  // namespace course
