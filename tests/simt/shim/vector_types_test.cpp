#include <device_launch_parameters.h>
#include <vector_functions.h>
#include <vector_types.h>

#include <cstddef>
#include <type_traits>

#include "support/catch.hpp"

namespace {

// Sizes and alignments as the CUDA programming guide tabulates them for 64-bit Linux.
#define CHECK_LAYOUT(type, size, alignment) \
  static_assert(sizeof(type) == (size) && alignof(type) == (alignment) && std::is_trivially_copyable_v<type>)
#define CHECK_FAMILY(name, element, size_of_element)                                          \
  static_assert(std::is_same_v<decltype(name##1 ::x), element>);                              \
  CHECK_LAYOUT(name##1, size_of_element, size_of_element);                                    \
  CHECK_LAYOUT(name##2, 2 * size_of_element, 2 * size_of_element);                            \
  CHECK_LAYOUT(name##3, 3 * size_of_element, size_of_element);                                \
  CHECK_LAYOUT(name##4, 4 * size_of_element, size_of_element < 8 ? 4 * size_of_element : 16); \
  static_assert(std::is_aggregate_v<name##4> && std::is_trivial_v<name##4>);                  \
  static_assert(std::is_same_v<decltype(make_##name##4(1, 2, 3, 4)), name##4>)
CHECK_FAMILY(char, signed char, 1);
CHECK_FAMILY(uchar, unsigned char, 1);
CHECK_FAMILY(short, short, 2);
CHECK_FAMILY(ushort, unsigned short, 2);
CHECK_FAMILY(int, int, 4);
CHECK_FAMILY(uint, unsigned int, 4);
CHECK_FAMILY(long, long, 8);
CHECK_FAMILY(ulong, unsigned long, 8);
CHECK_FAMILY(longlong, long long, 8);
CHECK_FAMILY(ulonglong, unsigned long long, 8);
CHECK_FAMILY(float, float, 4);
CHECK_FAMILY(double, double, 8);
CHECK_LAYOUT(double4_16a, 32, 16);
CHECK_LAYOUT(double4_32a, 32, 32);
CHECK_LAYOUT(longlong4_32a, 32, 32);
CHECK_LAYOUT(dim3, 12, 4);

constexpr float constant_expression() {
  float4 v = {1, 2, 3, 4};
  const float4 copy = v;
  v = copy;
  v = make_float4(5, v.y, v.z, v.w);
  v = {v.x, 7, v.z, v.w};
  return v.x + v.y;
}
static_assert(constant_expression() == 12.0f);

}  // namespace

TEST_CASE("vector types are aggregates in every way that a kernel spells them", "[simt][shim]") {
  const float4 braces{1, 2, 3, 4};
  const float4 designated = {.x = 1, .y = 2, .z = 3, .w = 4};
  const auto [x, y, z, w] = braces;
  CHECK(x + y + z + w == 10);
  CHECK(designated.z == 3);

  const float4 zeros[2] = {};
  CHECK(zeros[1].w == 0);

  alignas(16) float numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  auto* const vectors = reinterpret_cast<float4*>(numbers);
  float4 v = vectors[1];
  v.x += 1;
  vectors[0] = v;
  vectors[1] = make_float4(9, 8, 7, 6);
  CHECK(numbers[0] == 5);
  CHECK(numbers[3] == 7);
  CHECK(numbers[4] == 9);
  CHECK(numbers[7] == 6);
}

TEST_CASE("assigning a temporary sets every member of every type", "[simt][shim]") {
  double4 d = {};
  d = make_double4(1, 2, 3, 4);
  CHECK((d.x == 1 && d.y == 2 && d.z == 3 && d.w == 4));
  char4 c = {};
  c = make_char4(-1, 2, -3, 4);
  CHECK((c.x == -1 && c.y == 2 && c.z == -3 && c.w == 4));
  ushort2 u = {};
  u = make_ushort2(1, 65535);
  CHECK((u.x == 1 && u.y == 65535));
  uchar2 b = {};
  b = {7, 8};
  CHECK((b.x == 7 && b.y == 8));
  longlong2 l = {};
  l = make_longlong2(-1, 1LL << 40);
  CHECK((l.x == -1 && l.y == 1LL << 40));
  int3 i = {};
  i = make_int3(1, 2, 3);
  CHECK((i.x == 1 && i.y == 2 && i.z == 3));
}

TEST_CASE("a vector assigned to itself with members exchanged reads before it writes", "[simt][shim]") {
  float4 v = {1, 2, 3, 4};
  v = make_float4(v.w, v.z, v.y, v.x);
  CHECK((v.x == 4 && v.y == 3 && v.z == 2 && v.w == 1));
  v = static_cast<float4&&>(v);
  CHECK((v.x == 4 && v.w == 1));
}

TEST_CASE("dim3 fills missing extents with one and converts to and from uint3", "[simt][shim]") {
  constexpr dim3 extents(5, 6);
  static_assert(extents.x == 5 && extents.y == 6 && extents.z == 1);
  const dim3 from_number = 7u;
  CHECK((from_number.x == 7 && from_number.y == 1 && from_number.z == 1));
  const uint3 triple = extents;
  CHECK(triple.y == 6);
  const dim3 back = triple;
  CHECK(back.y == 6);
}
