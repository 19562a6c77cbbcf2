// CUDA's integer intrinsics: bit counts, wide products, byte shuffles, funnel shifts, and global min and max.
#pragma once

#include "simt_vector_types.h"

// ---- Counting and moving bits. Zero is a legal argument everywhere, unlike in the compiler's own built-ins.
// ----

/// Number of leading zero bits; 32 for 0.
constexpr SIMT_SHIM_INLINE int __clz(int x) noexcept {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x));
}
constexpr SIMT_SHIM_INLINE int __clzll(long long x) noexcept {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
/// One plus the index of the lowest set bit; 0 for 0.
constexpr SIMT_SHIM_INLINE int __ffs(int x) noexcept { return __builtin_ffs(x); }
constexpr SIMT_SHIM_INLINE int __ffsll(long long x) noexcept { return __builtin_ffsll(x); }
constexpr SIMT_SHIM_INLINE int __popc(unsigned int x) noexcept { return __builtin_popcount(x); }
constexpr SIMT_SHIM_INLINE int __popcll(unsigned long long x) noexcept { return __builtin_popcountll(x); }

/// The bits in reverse order.
constexpr SIMT_SHIM_INLINE unsigned int __brev(unsigned int x) noexcept {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
constexpr SIMT_SHIM_INLINE unsigned long long __brevll(unsigned long long x) noexcept {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 |
         __brev(static_cast<unsigned int>(x >> 32));
}

/// Four bytes picked from the eight of (y, x): nibble i of the selector names byte i of the result; the
/// nibble's top bit asks for the picked byte's sign in all eight bits.
constexpr SIMT_SHIM_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y,
                                                    unsigned int selector) noexcept {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned int result = 0;
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int pick = selector >> (4 * i) & 0xfu;
    unsigned int byte = static_cast<unsigned int>(bytes >> (8 * (pick & 7u))) & 0xffu;
    if (pick & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}

/// The upper (l) or lower (r) word of (high:low) shifted; the shift counts modulo 32, or, for _lc and _rc, up
/// to 32.
constexpr SIMT_SHIM_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high,
                                                        unsigned int shift) noexcept {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned int>(both << (shift & 31u) >> 32);
}
constexpr SIMT_SHIM_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high,
                                                        unsigned int shift) noexcept {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned int>(both >> (shift & 31u));
}
constexpr SIMT_SHIM_INLINE unsigned int __funnelshift_lc(unsigned int low, unsigned int high,
                                                         unsigned int shift) noexcept {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
constexpr SIMT_SHIM_INLINE unsigned int __funnelshift_rc(unsigned int low, unsigned int high,
                                                         unsigned int shift) noexcept {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- Products and sums ----

namespace simt::shim {
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;
}  // namespace simt::shim

constexpr SIMT_SHIM_INLINE int __mulhi(int x, int y) noexcept {
  return static_cast<int>(static_cast<long long>(x) * y >> 32);
}
constexpr SIMT_SHIM_INLINE unsigned int __umulhi(unsigned int x, unsigned int y) noexcept {
  return static_cast<unsigned int>(static_cast<unsigned long long>(x) * y >> 32);
}
constexpr SIMT_SHIM_INLINE long long __mul64hi(long long x, long long y) noexcept {
  return static_cast<long long>(static_cast<simt::shim::Int128>(x) * y >> 64);
}
constexpr SIMT_SHIM_INLINE unsigned long long __umul64hi(unsigned long long x,
                                                         unsigned long long y) noexcept {
  return static_cast<unsigned long long>(static_cast<simt::shim::UInt128>(x) * y >> 64);
}

/// Product of the lowest 24 bits of each, lowest 32 bits of the result.
constexpr SIMT_SHIM_INLINE int __mul24(int x, int y) noexcept {
  const auto low24 = [](int v) { return static_cast<int>(static_cast<unsigned int>(v) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(low24(x)) * low24(y));
}
constexpr SIMT_SHIM_INLINE unsigned int __umul24(unsigned int x, unsigned int y) noexcept {
  return (x & 0xffffffu) * (y & 0xffffffu);
}

/// |x - y| + z, without overflow of the difference.
constexpr SIMT_SHIM_INLINE unsigned int __sad(int x, int y, unsigned int z) noexcept {
  const unsigned int ux = static_cast<unsigned int>(x), uy = static_cast<unsigned int>(y);
  return (x > y ? ux - uy : uy - ux) + z;
}
constexpr SIMT_SHIM_INLINE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) noexcept {
  return (x > y ? x - y : y - x) + z;
}

/// Averages without overflow: rounded down (hadd) or up (rhadd).
constexpr SIMT_SHIM_INLINE int __hadd(int x, int y) noexcept {
  return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
constexpr SIMT_SHIM_INLINE int __rhadd(int x, int y) noexcept {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
constexpr SIMT_SHIM_INLINE unsigned int __uhadd(unsigned int x, unsigned int y) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
constexpr SIMT_SHIM_INLINE unsigned int __urhadd(unsigned int x, unsigned int y) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

/// sum + the dot product of the four bytes of a and b.
constexpr SIMT_SHIM_INLINE int __dp4a(int a, int b, int sum) noexcept {
  unsigned int total = static_cast<unsigned int>(sum);
  for (int shift = 0; shift < 32; shift += 8) {
    total += static_cast<unsigned int>(static_cast<signed char>(a >> shift) *
                                       static_cast<signed char>(b >> shift));
  }
  return static_cast<int>(total);
}
constexpr SIMT_SHIM_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) noexcept {
  for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xffu) * (b >> shift & 0xffu);
  return sum;
}

// ---- min and max, with CUDA's set of overloads: an ambiguous call under nvcc is an ambiguous call here ----

#define SIMT_MIN_MAX(Result, A, B)                                       \
  constexpr SIMT_SHIM_INLINE Result min(A a, B b) noexcept {             \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return x < y ? x : y;                                                \
  }                                                                      \
  constexpr SIMT_SHIM_INLINE Result max(A a, B b) noexcept {             \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return x > y ? x : y;                                                \
  }
#define SIMT_MIN_MAX_OF(Signed, Unsigned)    \
  SIMT_MIN_MAX(Signed, Signed, Signed)       \
  SIMT_MIN_MAX(Unsigned, Unsigned, Unsigned) \
  SIMT_MIN_MAX(Unsigned, Signed, Unsigned)   \
  SIMT_MIN_MAX(Unsigned, Unsigned, Signed)
SIMT_MIN_MAX_OF(int, unsigned int)
SIMT_MIN_MAX_OF(long, unsigned long)
SIMT_MIN_MAX_OF(long long, unsigned long long)
#undef SIMT_MIN_MAX_OF
#undef SIMT_MIN_MAX

constexpr SIMT_SHIM_INLINE unsigned int umin(unsigned int a, unsigned int b) noexcept { return min(a, b); }
constexpr SIMT_SHIM_INLINE unsigned int umax(unsigned int a, unsigned int b) noexcept { return max(a, b); }
constexpr SIMT_SHIM_INLINE long long llmin(long long a, long long b) noexcept { return min(a, b); }
constexpr SIMT_SHIM_INLINE long long llmax(long long a, long long b) noexcept { return max(a, b); }
constexpr SIMT_SHIM_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) noexcept {
  return min(a, b);
}
constexpr SIMT_SHIM_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) noexcept {
  return max(a, b);
}
