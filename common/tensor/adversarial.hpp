#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course {

/// Inputs on which wrong kernels go wrong. A row runs along the last axis; a scalar is one row of one
/// element. What is said of numbers holds for float and bfloat16; float16, which has a smaller range, has
/// other powers of 2 where these are given in brackets.
enum class Pattern {
  large,              // ±[5e3, 1e4): exp overflows unless the row's maximum is subtracted first
  huge,               // ±[0.5, 1) * 2^126 [2^14]: a sum of two is finite, of many or a square is not
  cancelling,         // 2^24, 1, -2^24, 1 [2^12] repeated: a long sum in float32 [in float16] loses the ones
  increasing,         // every element is its row's maximum so far: each step of an online softmax rescales
  decreasing,         // a row's maximum comes first: nothing rescales
  alternating_signs,  // +, -, +, -: averages vanish, and an element taken from next door shows
  signed_zeros,       // +0 and -0 at random
  subnormal,          // ± the smallest numbers there are: lost where subnormals are flushed to zero
  minus_inf_rows,     // every second row, the first included, is only -inf: masked rows
  minus_inf_holes,    // one element in four, at random, is -inf: masked elements
  infinities,         // one element in eight is +inf, one in eight -inf: inf - inf is NaN
  one_nan,            // one NaN at a random place: it may poison its row, never another
};

/// All patterns, in the order above.
std::span<const Pattern> all_patterns();

/// The pattern's name in words, for the name of a test case: "minus inf rows".
std::string_view pattern_name(Pattern pattern);

/// @brief A contiguous tensor filled with a pattern. Same seed, same bits, on every machine.
/// @throws std::invalid_argument if an axis is negative.
Tensor<float> adversarial(Pattern pattern, Shape shape, std::uint64_t seed);

/// @brief The same in bfloat16 or float16: adversarial<bfloat16>(...). Elements are rounded, so that
/// neighbours in increasing and decreasing rows may be equal.
template <class T>
requires is_16_bit<T> Tensor<T> adversarial(Pattern pattern, Shape shape, std::uint64_t seed);

extern template Tensor<bfloat16> adversarial(Pattern, Shape, std::uint64_t);
extern template Tensor<float16> adversarial(Pattern, Shape, std::uint64_t);

}  // namespace course
