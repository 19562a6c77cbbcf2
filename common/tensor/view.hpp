#pragma once

#include <cstdint>

#include "tensor/host_device.hpp"

namespace course {

/// @brief A strided array that somebody else owns, passed by value: what attention kernels take and index.
///
/// A plain aggregate, so that it can be a kernel argument on the GPU and in the simulator alike. Strides are
/// in elements; x(i0, i1, ...) is data[i0 * strides[0] + i1 * strides[1] + ...]. One type serves
/// [batch, head, seq, dim] and [batch, seq, head, dim] without a copy. No index is checked. No two indices
/// share an element, unless the contract of an entry says so.
template <class T, int Rank>
struct View {
  T* data;
  std::int64_t shape[Rank];
  std::int64_t strides[Rank];

  /// The element at an index, with a number for each axis; computed in 64 bits, whatever their types.
  template <class... Index>
  COURSE_HOST_DEVICE constexpr T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an index has a number for each axis");
    std::int64_t offset = 0;
    int axis = 0;
    ((offset += static_cast<std::int64_t>(index) * strides[axis++]), ...);
    return data[offset];
  }
};

}  // namespace course
