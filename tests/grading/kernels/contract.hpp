#pragma once
// The contract of the kernel libraries in this folder: what the grader's own tests call.

#include <cstdint>

#include "tensor/view.hpp"

namespace course {

/// c = a + b, on device memory.
void add(const float* a, const float* b, float* c, std::int64_t n);

/// c = a + b, on host memory.
void add_host(const float* a, const float* b, float* c, std::int64_t n);

/// Doubles x in place.
void twice(float* x, std::int64_t n);

/// y = scale * x for views of any strides.
void scale(View<const float, 2> x, View<float, 2> y, float scale);

/// Writes its numbers to `out` as doubles, so that a test can see what arrived: flag, small, wide, single,
/// precise, whether `nothing` is null.
void tell(bool flag, std::int32_t small, std::uint64_t wide, float single, double precise,
          const float* nothing, double* out);

/// Does one bad thing; see misbehave.cpp.
void misbehave(std::int32_t what, float* out, std::int64_t n);

}  // namespace course
