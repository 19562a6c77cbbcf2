// float16 and bfloat16 against what IEEE 754 says of every one of their 65,536 values.

#include "tensor/float16.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What the bits stand for, by the definition of the formats and powers of 2 alone.
template <class T>
double by_definition(unsigned bits) {
  constexpr int kExponentBits = 15 - T::kMantissaBits, kBias = (1 << (kExponentBits - 1)) - 1;
  const double sign = bits < 0x8000u ? 1 : -1;
  const int exponent = static_cast<int>(bits % 0x8000u) / (1 << T::kMantissaBits);
  const int mantissa = static_cast<int>(bits) % (1 << T::kMantissaBits);
  if (exponent == (1 << kExponentBits) - 1) return mantissa == 0 ? sign * kInf : kNan;
  const double fraction = std::ldexp(mantissa, -T::kMantissaBits);
  return sign *
         (exponent == 0 ? std::ldexp(fraction, 1 - kBias) : std::ldexp(1 + fraction, exponent - kBias));
}

template <class T>
constexpr unsigned kInfinityBits = std::is_same_v<T, float16> ? 0x7c00u : 0x7f80u;

template <class T>
T from(unsigned bits) {
  return T::from_bits(static_cast<std::uint16_t>(bits));
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace

TEMPLATE_TEST_CASE("each of the 65,536 values is what its bits say, in float and in double", "", bfloat16,
                   float16) {
  static_assert(sizeof(TestType) == 2 && std::is_trivial_v<TestType>);
  int wrong = 0;
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const double want = by_definition<TestType>(bits);
    const auto wide = static_cast<double>(from<TestType>(bits));
    const auto narrow = static_cast<double>(static_cast<float>(from<TestType>(bits)));
    if (!same(wide, want) || !same(narrow, want)) ++wrong;
    if (std::isnan(want) && std::signbit(wide) != (bits >= 0x8000u)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("each of the 65,536 values comes back from float and from double", "", bfloat16, float16) {
  constexpr unsigned kQuiet = 1u << (TestType::kMantissaBits - 1);
  int wrong = 0;
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const bool is_nan = (bits & 0x7fffu) > kInfinityBits<TestType>;
    const unsigned want = is_nan ? bits | kQuiet : bits;  // a NaN keeps sign and payload, and is quiet
    const TestType x = from<TestType>(bits);
    if (TestType(static_cast<double>(x)).bits != want) ++wrong;
    if (TestType(static_cast<float>(x)).bits != want) ++wrong;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE(
    "between any two neighbours, numbers round to the nearer one, and half way to the even one", "", bfloat16,
    float16) {
  int wrong = 0;
  const auto expect = [&](double x, unsigned want) {
    for (const double sign : {1.0, -1.0}) {
      const unsigned bits = sign < 0 ? want | 0x8000u : want;
      if (TestType(sign * x).bits != bits) ++wrong;
      const auto narrow = static_cast<float>(x);  // as exact as x, but where x is a neighbour of half way
      if (static_cast<double>(narrow) == x && TestType(static_cast<float>(sign) * narrow).bits != bits)
        ++wrong;
    }
  };
  for (unsigned low = 0; low < kInfinityBits<TestType>; ++low) {
    const double below = by_definition<TestType>(low);
    // Past the largest number stands what the next step would be, if there were one: half way is infinite.
    const double above = low + 1 < kInfinityBits<TestType>
                             ? by_definition<TestType>(low + 1)
                             : below + (below - by_definition<TestType>(low - 1));
    const double half = below + (above - below) / 2;  // exact in double
    expect(half, low % 2 == 0 ? low : low + 1);
    expect(std::nextafter(half, below), low);
    expect(std::nextafter(half, above), low + 1);
    expect(below + (above - below) / 4, low);
    expect(below + (above - below) * 0.75, low + 1);
    expect(std::nextafter(below, above), low);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("random doubles of every size round to the nearest of all values", "", bfloat16, float16) {
  std::vector<double> values;  // all that are finite and not negative
  for (unsigned bits = 0; bits < kInfinityBits<TestType>; ++bits)
    values.push_back(by_definition<TestType>(bits));
  const double most = values.back() + (values.back() - values[values.size() - 2]) / 2;  // rounds to infinity
  Random random(16);
  int wrong = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const double x = random.normal() * std::ldexp(1.0, static_cast<int>(random.integer(-140, 130)));
    double nearest = kInf;
    for (const double value : values) nearest = std::min(nearest, std::abs(std::abs(x) - value));
    const auto got = static_cast<double>(TestType(x));
    if (std::abs(x) >= most ? got != std::copysign(kInf, x) : std::abs(got - x) != nearest) ++wrong;
    if (std::signbit(got) != std::signbit(x)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("infinities stay, NaN stays NaN, and what is too small becomes 0 with its sign", "",
                   bfloat16, float16) {
  CHECK(static_cast<double>(TestType(kInf)) == kInf);
  CHECK(static_cast<double>(TestType(-kInf)) == -kInf);
  CHECK(std::isnan(static_cast<double>(TestType(kNan))));
  CHECK(std::isnan(static_cast<float>(TestType(std::numeric_limits<float>::signaling_NaN()))));
  // A payload that 16 bits have no room for must not turn NaN into infinity.
  CHECK(std::isnan(static_cast<double>(TestType(std::bit_cast<double>(0x7ff0'0000'0000'0001)))));
  CHECK(TestType(std::numeric_limits<double>::denorm_min()).bits == 0);
  CHECK(TestType(-1e-300).bits == 0x8000);
  CHECK(TestType(-0.0).bits == 0x8000);
  CHECK(static_cast<double>(TestType(1e300)) == kInf);
}

TEST_CASE("float16 and bfloat16 have the largest and smallest numbers of their formats") {
  CHECK(float16(65504.0).bits == 0x7bff);
  CHECK(float16(65519.99).bits == 0x7bff);
  CHECK(float16(65520.0).bits == 0x7c00);
  CHECK(static_cast<double>(from<float16>(1)) == 0x1p-24);
  CHECK(bfloat16(0x1.fep127).bits == 0x7f7f);
  CHECK(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(static_cast<double>(from<bfloat16>(1)) == 0x1p-133);
  static_assert(float16(1.0f).bits == 0x3c00 && bfloat16(1.0f).bits == 0x3f80);
  static_assert(static_cast<float>(bfloat16(-2.5)) == -2.5f);
}

TEMPLATE_TEST_CASE("equality is that of numbers", "", bfloat16, float16) {
  CHECK(TestType(0.0f) == TestType(-0.0f));
  CHECK(TestType(1.5f) == TestType(1.5f));
  CHECK(TestType(1.5f) != TestType(1.25f));
  CHECK(TestType(kNan) != TestType(kNan));
}

TEMPLATE_TEST_CASE("half a step is what rounding may change, and no more", "", bfloat16, float16) {
  const Format16 format = format_of<TestType>;
  Random random(5);
  for (int draw = 0; draw < 10000; ++draw) {
    const double x = random.normal() * std::ldexp(1.0, static_cast<int>(random.integer(-30, 14)));
    REQUIRE(std::abs(rounded(x, format) - x) <= half_step(x, format));
    REQUIRE(rounded(x, format) == static_cast<double>(TestType(x)));
  }
  const double step = 2 * half_step(1.0, format);
  CHECK(rounded(1 + step, format) == 1 + step);
  CHECK(rounded(1 + step / 2, format) == 1);
  CHECK(half_step(0.0, format) == static_cast<double>(from<TestType>(1)) / 2);
  CHECK(half_step(kInf, format) == 0);
  CHECK(half_step(kNan, format) == 0);
}

TEMPLATE_TEST_CASE("a number is printed with the fewest digits that tell it from all others", "", bfloat16,
                   float16) {
  const Format16 format = format_of<TestType>;
  int wrong = 0;
  for (unsigned bits = 0; bits < kInfinityBits<TestType>; ++bits) {
    const double x = by_definition<TestType>(bits);
    if (TestType(fewest_digits(x, format)).bits != bits ||
        !same(fewest_digits(-x, format), -fewest_digits(x, format)))
      ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(fewest_digits(kInf, format) == kInf);
  CHECK(std::isnan(fewest_digits(kNan, format)));
}

TEST_CASE("fewest digits are those that people expect") {
  CHECK(fewest_digits(0.10009765625, Format16::bfloat16) == 0.1);
  CHECK(fewest_digits(3.140625, Format16::bfloat16) == 3.14);
  CHECK(fewest_digits(3.140625, Format16::float16) == 3.14);
  CHECK(fewest_digits(1000, Format16::bfloat16) == 1000);
  CHECK(fewest_digits(65504, Format16::float16) == 65504);  // though 65500 would do
  CHECK(fewest_digits(0x1.04p20, Format16::bfloat16) == 1065000);
  CHECK(fewest_digits(0x1.06p100, Format16::bfloat16) == 1.3e30);
  CHECK(fewest_digits(0.1, Format16::bfloat16) == 0.1);  // is no bfloat16, and stays
}

TEMPLATE_TEST_CASE("tensors hold 16-bit numbers and convert them, gaps included", "", bfloat16, float16) {
  Tensor<float> x({2, 3}, {5, 1}, 7.0f);
  x(1, 2) = 0.1f;
  const Tensor<TestType> narrow = x.to<TestType>();
  CHECK(narrow.strides() == x.strides());
  CHECK(narrow.storage().size_bytes() == 2 * x.storage().size());
  CHECK(narrow(1, 2) == TestType(0.1f));
  CHECK(narrow.template to<float>()(0, 0) == 7.0f);
  CHECK(narrow.template to<double>()(1, 2) == static_cast<double>(TestType(0.1f)));
  CHECK(Tensor<TestType>({2}).at_linear(1).bits == 0);
}
