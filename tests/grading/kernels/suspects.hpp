#pragma once
// Contract of suspects.cu: small kernels, each with one mistake that its output need not show, and one
// without.

#include <cstdint>

namespace course {

/// y = x. One block of n <= 1024 threads.
void copy(const float* x, float* y, std::int64_t n);

/// y[i] = x[i - 32] from 32 on, through shared memory without the barrier that it needs: right as long as
/// warps run in their order. The first 32 elements stay.
void shift(const float* x, float* y, std::int64_t n);

/// y[i] = y[i] + x[i], though y was never written.
void add_to_nothing(const float* x, float* y, std::int64_t n);

/// y = x, after thread 0 has read x[n].
void copy_one_more(const float* x, float* y, std::int64_t n);

/// y[i] = x[i ^ 31] through shared memory, without the __syncwarp() that it needs.
void reverse_in_warps(const float* x, float* y, std::int64_t n);

/// y = x, and 2 x where check mode looks.
void copy_otherwise_if_watched(const float* x, float* y, std::int64_t n);

/// y = x, in one launch more where check mode looks.
void launch_more_if_watched(const float* x, float* y, std::int64_t n);

/// y = x; where check mode looks, it replies to the grader by itself that it returned, and never comes back.
void reply_by_itself_if_watched(const float* x, float* y, std::int64_t n);

/// y = x, by the runtime's own copy beside a launch that does nothing.
void copy_without_kernel(const float* x, float* y, std::int64_t n);

/// y = x, by way of a variable on the host.
void copy_by_host(const float* x, float* y, std::int64_t n);

/// The same, in a function that is left in the stream.
void copy_by_host_later(const float* x, float* y, std::int64_t n);

/// Memory of the host.
enum HostPlace : int { on_heap, on_heap_by_new, in_string, in_exception, from_constructor, on_stack };

/// Copies x there, to a HostPlace, in a kernel, and from there to y in another.
void copy_by_host_memory(const float* x, float* y, std::int64_t n, int place);

/// Copies x[0] in a kernel to memory that this kernel takes from its heap, and looks at it there on the host.
void copy_by_heap_of_kernel(const float* x, float* y, std::int64_t n);

/// Never ends.
void spin(float* y);

}  // namespace course
