#include "simt/matrix/numbers.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "simt/shim/simt_float16.h"
#include "simt/shim/simt_float8.h"

namespace simt::matrix {
namespace {

template <class Format>
constexpr std::array<float, 256> values_of_bytes() {
  std::array<float, 256> values{};
  for (unsigned bits = 0; bits < 256; ++bits)
    values[bits] = Format::to_float(static_cast<unsigned char>(bits));
  return values;
}

template <class Packed, class Value, class Convert>
void unpack_each(const std::byte* packed, int count, Value* values, Convert convert) {
  for (int i = 0; i < count; ++i) {
    Packed one;
    std::memcpy(&one, packed + static_cast<std::size_t>(i) * sizeof one, sizeof one);
    values[i] = convert(one);
  }
}

}  // namespace

void unpack(SimtNumber number, const std::byte* packed, int count, float* values) {
  static constexpr auto kE4m3 = values_of_bytes<shim::E4m3>(), kE5m2 = values_of_bytes<shim::E5m2>();
  switch (number) {
    case simt_f16:
      return unpack_each<std::uint16_t>(packed, count, values, shim::Half::to_float);
    case simt_bf16:
      return unpack_each<std::uint16_t>(packed, count, values, shim::Bfloat16::to_float);
    case simt_e4m3:
      return unpack_each<std::uint8_t>(packed, count, values, [](std::uint8_t bits) { return kE4m3[bits]; });
    case simt_e5m2:
      return unpack_each<std::uint8_t>(packed, count, values, [](std::uint8_t bits) { return kE5m2[bits]; });
    case simt_tf32:
      return unpack_each<std::uint32_t>(
          packed, count, values, [](std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); });
    default:
      std::memcpy(values, packed, static_cast<std::size_t>(count) * sizeof *values);
  }
}

void unpack(SimtNumber number, const std::byte* packed, int count, int* values) {
  switch (number) {
    case simt_s8:
      return unpack_each<std::int8_t>(packed, count, values, [](std::int8_t value) { return value; });
    case simt_u8:
      return unpack_each<std::uint8_t>(packed, count, values, [](std::uint8_t value) { return value; });
    default:
      std::memcpy(values, packed, static_cast<std::size_t>(count) * sizeof *values);
  }
}

void unpack(SimtNumber, const std::byte* packed, int count, double* values) {
  std::memcpy(values, packed, static_cast<std::size_t>(count) * sizeof *values);
}

void pack(SimtNumber number, const float* values, int count, std::byte* packed) {
  if (number != simt_f16) {
    std::memcpy(packed, values, static_cast<std::size_t>(count) * sizeof *values);
    return;
  }
  for (int i = 0; i < count; ++i) {
    const std::uint16_t bits = shim::Half::from_float(values[i]);
    std::memcpy(packed + static_cast<std::size_t>(i) * sizeof bits, &bits, sizeof bits);
  }
}

}  // namespace simt::matrix
