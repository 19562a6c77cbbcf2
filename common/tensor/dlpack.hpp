#pragma once
/// @file
/// The structs of dlpack.h, in which frameworks lend each other tensors, in its layout.

#include <cstdint>

namespace course {

// [dlpack]
/// Where a tensor's memory is.
struct DLDevice {
  std::int32_t device_type;  ///< one of those below
  std::int32_t device_id;    ///< which of several
};
inline constexpr std::int32_t kDLCPU = 1, kDLCUDA = 2;

/// What an element is: `lanes` numbers of `bits` bits each.
struct DLDataType {
  std::uint8_t code;  ///< one of those below
  std::uint8_t bits;
  std::uint16_t lanes;  ///< 1 for plain numbers
};
inline constexpr std::uint8_t kDLInt = 0, kDLFloat = 2, kDLBfloat = 4;

/// Somebody else's tensor. Element (i0, i1, ...) begins byte_offset bytes past data, plus
/// i0 * strides[0] + i1 * strides[1] + ... elements.
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;  ///< numbers in shape, and in strides
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null, before DLPack 1.2: row-major, without gaps
  std::uint64_t byte_offset;
};
// [dlpack]

/// Numbers that describe a tensor to the framework in small (device/framework.hpp): device_type, device_id,
/// code, bits, lanes, ndim, whether there are strides, byte_offset, bytes of the memory, shape, strides.
inline constexpr int kLentAxes = 5, kLentNumbers = 9 + 2 * kLentAxes;

}  // namespace course
