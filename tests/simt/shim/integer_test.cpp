#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <type_traits>

#include "support/catch.hpp"

TEST_CASE("bit counts accept zero and the extremes", "[simt][shim]") {
  CHECK(__clz(0) == 32);
  CHECK(__clz(1) == 31);
  CHECK(__clz(-1) == 0);
  CHECK(__clzll(0) == 64);
  CHECK(__clzll(1LL << 40) == 23);
  CHECK(__ffs(0) == 0);
  CHECK(__ffs(8) == 4);
  CHECK(__ffs(INT_MIN) == 32);
  CHECK(__ffsll(1LL << 40) == 41);
  CHECK(__popc(0xffffffffu) == 32);
  CHECK(__popcll(0xf0f0f0f0f0f0f0f0ull) == 32);
}

TEST_CASE("bit reversal is its own inverse and maps bit i to bit 31 - i", "[simt][shim]") {
  for (unsigned i = 0; i < 32; ++i) CHECK(__brev(1u << i) == 1u << (31 - i));
  for (unsigned i = 0; i < 64; ++i) CHECK(__brevll(1ull << i) == 1ull << (63 - i));
  CHECK(__brev(__brev(0x12345678u)) == 0x12345678u);
}

TEST_CASE("byte_perm picks bytes by nibble and replicates a sign", "[simt][shim]") {
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x3210) == 0x33221100u);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x0123) == 0x00112233u);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7540) == 0x77554400u);
  CHECK(__byte_perm(0x80007f00u, 0, 0x000b) == 0x000000ffu);
  CHECK(__byte_perm(0x80007f00u, 0, 0x0009) == 0u);
}

TEST_CASE("funnel shifts move bits between words, modulo or up to 32", "[simt][shim]") {
  const unsigned low = 0x89abcdefu, high = 0x01234567u;
  CHECK(__funnelshift_l(low, high, 8) == 0x23456789u);
  CHECK(__funnelshift_r(low, high, 8) == 0x6789abcdu);
  CHECK(__funnelshift_l(low, high, 32) == high);
  CHECK(__funnelshift_r(low, high, 32) == low);
  CHECK(__funnelshift_lc(low, high, 40) == low);
  CHECK(__funnelshift_rc(low, high, 40) == high);
}

TEST_CASE("products and averages keep the bits that plain arithmetic would lose", "[simt][shim]") {
  CHECK(__mulhi(INT_MIN, INT_MIN) == 1 << 30);
  CHECK(__mulhi(-1, 1) == -1);
  CHECK(__umulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu);
  CHECK(__umul64hi(~0ull, ~0ull) == ~0ull - 1);
  CHECK(__mul64hi(-1, 1) == -1);
  CHECK(__mul24(0x00ffffff, 2) == -2);  // 24 bits all set are -1
  CHECK(__umul24(0xff000003u, 5) == 15u);
  CHECK(__sad(INT_MIN, INT_MAX, 1) == 0u);
  CHECK(__usad(3, 10, 5) == 12u);
  CHECK(__hadd(INT_MAX, INT_MAX) == INT_MAX);
  CHECK(__hadd(-1, 0) == -1);
  CHECK(__rhadd(-1, 0) == 0);
  CHECK(__uhadd(UINT_MAX, UINT_MAX) == UINT_MAX);
  CHECK(__urhadd(1, 2) == 2);
  CHECK(__dp4a(0x01ff0203, 0x02020202, 10) == 10 + 2 * (1 - 1 + 2 + 3));
  CHECK(__dp4a(0xff000001u, 0x02000003u, 1u) == 1 + 510 + 3u);
}

TEST_CASE("min and max have CUDA's overloads and result types", "[simt][shim]") {
  CHECK(min(-1, 2) == -1);
  CHECK(max(-1, 2) == 2);
  // A signed argument beside an unsigned one is converted, so -1 is the largest value.
  static_assert(std::is_same_v<decltype(min(-1, 2u)), unsigned>);
  CHECK(min(-1, 2u) == 2u);
  CHECK(max(2u, -1) == UINT_MAX);
  static_assert(std::is_same_v<decltype(max(1L, 2L)), long>);
  static_assert(std::is_same_v<decltype(max(1LL, 2ULL)), unsigned long long>);
  static_assert(std::is_same_v<decltype(max(1.0f, 2.0f)), float>);
  static_assert(std::is_same_v<decltype(max(1.0f, 2.0)), double>);
  CHECK(max(std::int64_t{1} << 40, std::int64_t{5}) == std::int64_t{1} << 40);
  CHECK(umin(3u, 4u) == 3u);
  CHECK(llmax(-3, 4) == 4);
}

TEST_CASE("cache hints are plain loads and stores", "[simt][shim]") {
  float4 values[2] = {{1, 2, 3, 4}, {}};
  CHECK(__ldg(&values[0]).z == 3);
  __stcs(&values[1], __ldcg(&values[0]));
  CHECK(values[1].w == 4);
  float number = 0;
  __stcg(&number, 2);  // converts as an ordinary argument does
  CHECK(__ldcs(&number) == 2.0f);
}
