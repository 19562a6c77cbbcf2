#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "support/catch.hpp"

namespace {

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && std::is_trivially_copyable_v<__half>);
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4 && std::is_trivially_copyable_v<__half2>);
static_assert(sizeof(__nv_bfloat16) == 2 && alignof(__nv_bfloat16) == 2);
static_assert(sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4);
static_assert(std::is_trivially_default_constructible_v<__half2>);  // so that __shared__ arrays are allowed

// 113 significant bits: sums of a product and a number that are not too far apart are exact.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Wide;
#else
typedef long double Wide;
#endif

struct HalfTraits {
  using Type = __half;
  using Pair = __half2;
  static constexpr int mantissa_bits = 10, bias = 15;
  static constexpr unsigned infinity = 0x7c00;
  static Type from_bits(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
  static unsigned bits(Type x) { return __half_as_ushort(x); }
};
struct Bfloat16Traits {
  using Type = __nv_bfloat16;
  using Pair = __nv_bfloat162;
  static constexpr int mantissa_bits = 7, bias = 127;
  static constexpr unsigned infinity = 0x7f80;
  static Type from_bits(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }
  static unsigned bits(Type x) { return __bfloat16_as_ushort(x); }
};

// The value of a magnitude, from the definition of the format. Infinity's pattern counts as the next power of
// two, which makes it the neighbour of the largest finite value.
template <class T>
double value_of(unsigned magnitude) {
  const int exponent = static_cast<int>(magnitude >> T::mantissa_bits);
  const int mantissa = static_cast<int>(magnitude & ((1u << T::mantissa_bits) - 1));
  const int hidden = exponent == 0 ? 0 : 1 << T::mantissa_bits;
  return std::ldexp(hidden + mantissa, (exponent == 0 ? 1 : exponent) - T::bias - T::mantissa_bits);
}

// Nearest value, ties to the even pattern, found by bisection over all patterns.
template <class T>
unsigned nearest_bits(Wide x) {
  if (x != x) return 0x7fff;
  const unsigned sign = x < 0 || (x == 0 && std::signbit(static_cast<double>(x))) ? 0x8000u : 0u;
  const Wide magnitude = x < 0 ? -x : x;
  unsigned below = 0, above = T::infinity;  // value(below) <= magnitude < value(above)
  if (magnitude >= value_of<T>(above)) return sign | above;
  while (above - below > 1) {
    const unsigned middle = (below + above) / 2;
    (value_of<T>(middle) <= magnitude ? below : above) = middle;
  }
  const Wide tie = (static_cast<Wide>(value_of<T>(below)) + value_of<T>(above)) / 2;
  const bool up = magnitude > tie || (magnitude == tie && (below & 1u));
  return sign | (up ? above : below);
}

bool same(unsigned got, unsigned wanted, unsigned infinity) {
  return got == wanted || ((got & 0x7fffu) > infinity && (wanted & 0x7fffu) > infinity);
}

std::mt19937 random_bits(20261120);
unsigned random32() { return static_cast<unsigned>(random_bits()); }

// Patterns that meet: exponents close to each other half of the time.
template <class T>
unsigned pattern_near(unsigned other) {
  if (random32() & 1u) return random32() & 0xffffu;
  const unsigned spread = 24u << T::mantissa_bits;
  return (other + random32() % spread - spread / 2) & 0xffffu;
}

}  // namespace

TEMPLATE_TEST_CASE("every 16-bit pattern has the value of its definition and converts back to itself",
                   "[simt][shim]", HalfTraits, Bfloat16Traits) {
  using T = TestType;
  long wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto x = T::from_bits(bits);
    const float value = static_cast<float>(x);
    const unsigned magnitude = bits & 0x7fffu;
    if (magnitude > T::infinity) {
      wrong += !std::isnan(value) || !__hisnan(x) || T::bits(typename T::Type(value)) != 0x7fff;
      continue;
    }
    const double wanted =
        magnitude == T::infinity ? std::numeric_limits<double>::infinity() : value_of<T>(magnitude);
    wrong += value != (bits & 0x8000u ? -wanted : wanted) || std::signbit(value) != (bits >> 15 == 1);
    wrong += T::bits(typename T::Type(value)) != bits || T::bits(typename T::Type(double{value})) != bits;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("float and double round to nearest even", "[simt][shim]", HalfTraits, Bfloat16Traits) {
  using T = TestType;
  using Number = typename T::Type;
  long wrong = 0;
  const auto check = [&](double x) {
    wrong += !same(T::bits(Number(x)), nearest_bits<T>(x), T::infinity);
    const float narrow = static_cast<float>(x);
    wrong += !same(T::bits(Number(narrow)), nearest_bits<T>(narrow), T::infinity);
  };
  for (unsigned exponent = 0; exponent < 256;
       ++exponent) {  // all exponents of float, subnormals and NaN included
    for (int i = 0; i < 400; ++i) check(__uint_as_float((random32() & 0x807fffffu) | exponent << 23));
  }
  // Ties between neighbours, and a hair to either side of them, in float and in double.
  for (unsigned bits = 0; bits < T::infinity; ++bits) {
    const double tie = (value_of<T>(bits) + value_of<T>(bits + 1)) / 2;
    for (const double x : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e300),
                           double{std::nextafterf(static_cast<float>(tie), 0.0f)},
                           double{std::nextafterf(static_cast<float>(tie), 1e38f)}}) {
      check(x);
      check(-x);
    }
  }
  for (const double x : {0.0, -0.0, 1e-320, 1e300, -1e300, 0x1p-150, 3.4e38, 65519.99, 65520.0}) check(x);
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("each operation is rounded once", "[simt][shim]", HalfTraits, Bfloat16Traits) {
  using T = TestType;
  long wrong_sums = 0, wrong_products = 0, wrong_quotients = 0;
  for (int i = 0; i < 300'000; ++i) {
    const unsigned a_bits = random32() & 0xffffu, b_bits = pattern_near<T>(a_bits);
    const auto a = T::from_bits(a_bits), b = T::from_bits(b_bits);
    const Wide x = static_cast<float>(a), y = static_cast<float>(b);
    wrong_sums += !same(T::bits(a + b), nearest_bits<T>(x + y), T::infinity);
    wrong_sums += !same(T::bits(a - b), nearest_bits<T>(x - y), T::infinity);
    wrong_products += !same(T::bits(a * b), nearest_bits<T>(x * y), T::infinity);
    wrong_quotients += !same(T::bits(a / b), nearest_bits<T>(x / y), T::infinity);
  }
  CHECK(wrong_sums == 0);
  CHECK(wrong_products == 0);
  CHECK(wrong_quotients == 0);
}

TEMPLATE_TEST_CASE("fma is rounded once, also when the product makes a tie and the addend is tiny",
                   "[simt][shim]", HalfTraits, Bfloat16Traits) {
  using T = TestType;
  long wrong = 0;
  for (int i = 0; i < 300'000; ++i) {
    const unsigned a_bits = random32() & 0xffffu,
                   b_bits = pattern_near<T>((2u * T::bias << T::mantissa_bits) - a_bits);
    const auto a = T::from_bits(a_bits), b = T::from_bits(b_bits);
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    const unsigned product_bits = T::bits(a * b);
    // The addend: near the product, or up to 90 binary places below it.
    const unsigned c_bits =
        i % 2 ? pattern_near<T>(product_bits)
              : T::bits(typename T::Type(std::ldexp(x * y, -static_cast<int>(random32() % 90u))));
    const auto c = T::from_bits(c_bits);
    const float z = static_cast<float>(c);
    const double product = double{x} * y;
    // Further apart than this, the sum would not be exact in Wide.
    if (std::isfinite(product) && product != 0 && z != 0 && std::isfinite(z) &&
        std::abs(std::ilogb(product) - std::ilogb(z)) > 92)
      continue;
    wrong += !same(T::bits(__hfma(a, b, c)), nearest_bits<T>(static_cast<Wide>(product) + z), T::infinity);
  }
  CHECK(wrong == 0);

  // (1 + 2^-m) * (1 + 1/2), m mantissa bits, is a tie: m + 1 places behind the point. Any addend decides,
  // however small.
  const typename T::Type a(1 + std::ldexp(1.0, -T::mantissa_bits)), b(1.5);
  const unsigned above = nearest_bits<T>(static_cast<float>(a) * 1.5 * (1 + 1e-6));
  const unsigned below = nearest_bits<T>(static_cast<float>(a) * 1.5 * (1 - 1e-6));
  REQUIRE(above == below + 1);
  for (int places = T::mantissa_bits + 2; places < T::bias + T::mantissa_bits; ++places) {
    const double tiny = std::ldexp(1.0, -places);
    CHECK(T::bits(__hfma(a, b, typename T::Type(tiny))) == above);
    CHECK(T::bits(__hfma(a, b, typename T::Type(-tiny))) == below);
  }
}

TEST_CASE("fma of halves is rounded once among subnormals, too", "[simt][shim]") {
  // (1 + 2^-10) * (1 - 2^-10) * 2^-25 is 2^-45 below half of the smallest subnormal: too little for a float
  // to notice.
  const __half a = 0x1.004p-12f, b = 0x1.ff8p-14f;
  for (unsigned bits = 1; bits < 0x400; ++bits) {
    const unsigned sum = __half_as_ushort(__hfma(a, b, HalfTraits::from_bits(bits)));
    if (sum != bits) FAIL_CHECK("pattern " << bits << " became " << sum);
  }
}

TEST_CASE("bfloat16 products and quotients that underflow are rounded once", "[simt][shim]") {
  // All mantissas, at exponents that put the result between 2^-137 and 2^-125: there a float is inexact as
  // well.
  long wrong = 0;
  for (unsigned a = 0; a < 128; ++a) {
    for (unsigned b = 0; b < 128; ++b) {
      for (unsigned shift = 0; shift < 10; ++shift) {
        const auto x = Bfloat16Traits::from_bits((60u << 7) | a),
                   y = Bfloat16Traits::from_bits((58u + shift) << 7 | b);
        const auto z = Bfloat16Traits::from_bits((194u - shift) << 7 | b);
        const double p = static_cast<float>(x), q = static_cast<float>(y), r = static_cast<float>(z);
        wrong += Bfloat16Traits::bits(x * y) != nearest_bits<Bfloat16Traits>(p * q);
        wrong += Bfloat16Traits::bits(x / z) != nearest_bits<Bfloat16Traits>(static_cast<Wide>(p) / r);
      }
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("directed rounding brackets the value", "[simt][shim]", HalfTraits, Bfloat16Traits) {
  using T = TestType;
  const auto convert = [](float x) {
    if constexpr (std::is_same_v<T, HalfTraits>) {
      return std::array<float, 3>{__half2float(__float2half_rd(x)), __half2float(__float2half_ru(x)),
                                  __half2float(__float2half_rz(x))};
    } else {
      return std::array<float, 3>{__bfloat162float(__float2bfloat16_rd(x)),
                                  __bfloat162float(__float2bfloat16_ru(x)),
                                  __bfloat162float(__float2bfloat16_rz(x))};
    }
  };
  long wrong = 0;
  for (int i = 0; i < 100'000; ++i) {
    const float x = __uint_as_float(random32());
    if (std::isnan(x)) continue;
    const auto [down, up, zero] = convert(x);
    wrong += !(down <= x && x <= up) || zero != (x < 0 ? up : down);
    // Nothing lies between the two: they are neighbours, or their mean rounds to one of them.
    const float mean = static_cast<float>(typename T::Type(down / 2 + up / 2));
    wrong += std::isfinite(down) && std::isfinite(up) && mean != down && mean != up;
  }
  CHECK(wrong == 0);
}

TEST_CASE("integers convert with one rounding and back with saturation", "[simt][shim]") {
  CHECK(__half_as_ushort(__int2half_rn(2049)) == __half_as_ushort(__half(2048.0f)));
  CHECK(__half2float(__int2half_ru(2049)) == 2050.0f);
  CHECK(__half2float(__ll2half_rz(1'000'000)) == 65504.0f);
  // 2^62 + 2^54 is a tie of bfloat16, and the last bit decides; a double alone would lose it.
  CHECK(static_cast<float>(__nv_bfloat16((1LL << 62) + (1LL << 54) + 1)) == 0x1.02p62f);
  CHECK(static_cast<float>(__nv_bfloat16((1LL << 62) + (1LL << 54))) == 0x1p62f);
  CHECK(static_cast<int>(__half(-2.75f)) == -2);
  CHECK(__half2int_rn(__half(2.5f)) == 2);
  CHECK(__half2short_rz(CUDART_INF_FP16) == 32767);
  CHECK(__half2uint_rd(__half(-1.0f)) == 0u);
  CHECK(__bfloat162int_rz(CUDART_INF_BF16) == std::numeric_limits<int>::max());
  CHECK(__half2int_rz(CUDART_NAN_FP16) == 0);
}

TEMPLATE_TEST_CASE("comparisons treat NaN and signed zero as IEEE does", "[simt][shim]", HalfTraits,
                   Bfloat16Traits) {
  using Number = typename TestType::Type;
  const Number nan = TestType::from_bits(0x7fff), one(1.0f), two(2.0f);
  const Number zero(0.0f), minus_zero(-0.0f);
  CHECK(one < two);
  CHECK(zero == minus_zero);
  CHECK_FALSE(nan == nan);
  CHECK(nan != nan);
  CHECK_FALSE(__hne(nan, one));
  CHECK(__hltu(nan, one));
  CHECK_FALSE(__hlt(nan, one));
  CHECK(__hmax(nan, one) == one);
  CHECK(__hmin(one, nan) == one);
  CHECK(__hisnan(__hmax_nan(nan, one)));
  CHECK(TestType::bits(__hmax(minus_zero, zero)) == 0);
  CHECK(TestType::bits(__hmin(zero, minus_zero)) == 0x8000);
  CHECK(__hisinf(Number(-1e30f * 1e30f)) == -1);
  CHECK_FALSE(static_cast<bool>(minus_zero));
  CHECK(TestType::bits(-one) == (TestType::bits(one) | 0x8000u));
  CHECK(__hisnan(-nan));
}

TEMPLATE_TEST_CASE("pairs are one word with the first number in the lower half", "[simt][shim]", HalfTraits,
                   Bfloat16Traits) {
  using Number = typename TestType::Type;
  using Pair = typename TestType::Pair;
  Pair pair(Number(1.0f), Number(2.0f));
  pair = Pair(pair.y, pair.x);
  std::uint32_t word = 0;
  std::memcpy(&word, &pair, sizeof word);
  CHECK(word == (TestType::bits(Number(1.0f)) << 16 | TestType::bits(Number(2.0f))));
  CHECK(__low2float(pair) == 2.0f);
  CHECK(__high2float(pair) == 1.0f);

  const Pair sum = pair + pair;
  CHECK(__low2float(sum) == 4.0f);
  CHECK(__high2float(__hfma2(pair, pair, sum)) == 3.0f);
  CHECK(__hbgt2(sum, pair));
  CHECK(__heq2_mask(Pair(pair.x, pair.x), pair) == 0x0000ffffu);
  CHECK(__low2float(__hge2(sum, pair)) == 1.0f);
  pair += sum;
  CHECK(__low2float(pair) == 6.0f);
  CHECK(__low2float(++pair) == 7.0f);
  CHECK(__low2float(h2exp2(Pair(Number(3.0f), Number(0.0f)))) == 8.0f);
}

TEST_CASE("conversions between pairs and float2 carry CUDA's names", "[simt][shim]") {
  const __half2 h = __floats2half2_rn(1.5f, -2.0f);
  const float2 f = __half22float2(h);
  CHECK((f.x == 1.5f && f.y == -2.0f));
  CHECK(__half22float2(__float22half2_rn(f)).y == -2.0f);
  CHECK(__half2float(__low2half(__float2half2_rn(3.0f))) == 3.0f);
  CHECK(__high2float(__half2half2(__float2half(0.5f))) == 0.5f);
  CHECK(__low2float(__lowhigh2highlow(h)) == -2.0f);
  const __nv_bfloat162 b = __floats2bfloat162_rn(1.5f, -2.0f);
  CHECK(__bfloat1622float2(b).x == 1.5f);
  CHECK(__high2float(__bfloat162bfloat162(__float2bfloat16(0.5f))) == 0.5f);
  CHECK(__high2float(__halves2bfloat162(__low2bfloat16(b), __high2bfloat16(b))) == -2.0f);
}

TEST_CASE("functions are those of float, rounded", "[simt][shim]") {
  CHECK(__half2float(hexp(__half(1.0f))) == static_cast<float>(__half(std::exp(1.0f))));
  CHECK(__half2float(hrsqrt(__half(0.25f))) == 2.0f);
  CHECK(__half2float(hsqrt(__half(2.0f))) == static_cast<float>(__half(std::sqrt(2.0f))));
  CHECK(__half2float(__hfma_relu(__half(-1.0f), __half(2.0f), __half(1.0f))) == 0.0f);
  CHECK(__half2float(__hadd_sat(__half(0.75f), __half(0.75f))) == 1.0f);
  CHECK(__bfloat162float(hlog2(__nv_bfloat16(8.0f))) == 3.0f);
}
