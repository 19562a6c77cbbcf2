#include "tensor/float16.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace course {

std::string_view name_of(Format16 format) { return format == Format16::bfloat16 ? "bfloat16" : "float16"; }

double rounded(double x, Format16 format) {
  return format == Format16::bfloat16 ? static_cast<double>(bfloat16(x)) : static_cast<double>(float16(x));
}

double half_step(double x, Format16 format) {
  if (!std::isfinite(x)) return 0;
  const bool is_bfloat16 = format == Format16::bfloat16;
  const int mantissa_bits = is_bfloat16 ? bfloat16::kMantissaBits : float16::kMantissaBits;
  const int least_exponent = is_bfloat16 ? -126 : -14;  // below it, numbers are subnormal
  const int exponent = x == 0 ? least_exponent : std::max(std::ilogb(x), least_exponent);
  return std::ldexp(1.0, exponent - mantissa_bits - 1);
}

double fewest_digits(double x, Format16 format) {
  constexpr double kCounted = 0x1p16;  // whole numbers up to it are read as counts are, digit by digit
  if (!std::isfinite(x) || rounded(x, format) != x) return x;
  if (std::abs(x) <= kCounted && x == std::trunc(x)) return x;
  constexpr int kEnough = 5;  // float16 has 11 bits: 1 + ceil(11 * log10(2)) digits tell any two apart
  for (int digits = 1;; ++digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*e", digits - 1, x);
    const double shorter = std::strtod(text, nullptr);
    if (digits == kEnough || rounded(shorter, format) == x) return shorter;
  }
}

}  // namespace course
