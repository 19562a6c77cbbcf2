#pragma once
// Contract of sixteen_bits.cu: a small kernel for both types of 16 bits, right and wrong.

#include <cstdint>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course {

/// C = A·B with sums in float32, rounded to the type once. Shapes: (M, K), (K, N), (M, N).
void multiply_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<bfloat16, 2> C);
void multiply_float16(View<const float16, 2> A, View<const float16, 2> B, View<float16, 2> C);

/// The same with sums in 16 bits.
void multiply_narrow_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<bfloat16, 2> C);
void multiply_narrow_float16(View<const float16, 2> A, View<const float16, 2> B, View<float16, 2> C);

/// y[i] = x[i] two at a time through shared memory, of which an odd n leaves half a word without a value. One
/// block of (n + 1) / 2 threads.
void copy_pairs_bfloat16(const bfloat16* x, bfloat16* y, std::int64_t n);
void copy_pairs_float16(const float16* x, float16* y, std::int64_t n);

}  // namespace course
