#pragma once
/// @file
/// Contract of lesson 01: vector addition on the device, and the same starting from host memory.

#include <cstdint>

namespace course {

// [contract]
inline constexpr std::int64_t kBlockThreads = 256;  ///< threads in a block
inline constexpr std::int64_t kMaxBlocks = 1024;    ///< blocks in a grid, at most

/// @brief c = a + b, element by element, on arrays in device memory.
/// Shapes: a, b and c hold n floats each; c overlaps neither a nor b. n = 0 is legal and launches nothing.
/// Launch: one kernel with blocks of kBlockThreads threads: as many as n needs, but at most kMaxBlocks.
///         Returns once the launch has been accepted, which may be before the kernel has run.
/// Error:  none beyond float32 itself: c[i] is a[i] + b[i], rounded once. NaN and infinities follow IEEE 754.
/// Cost:   reads 8n bytes, writes 4n bytes, n additions.
/// @throws std::invalid_argument if n is negative.
/// @throws std::runtime_error if CUDA refuses the launch.
void vector_add(const float* a, const float* b, float* c, std::int64_t n);

/// @brief c = a + b, element by element, on arrays in host memory, computed by vector_add() on the device.
/// Shapes: as for vector_add(). Returns when c holds the result.
/// Cost:   copies 8n bytes to the device and 4n bytes back. Allocates 12n bytes of device memory and frees
///         them again, also when it throws.
/// @throws std::invalid_argument if n is negative.
/// @throws std::runtime_error if a CUDA call fails, for example because the device has too little memory.
void vector_add_host(const float* a, const float* b, float* c, std::int64_t n);
// [contract]

}  // namespace course
