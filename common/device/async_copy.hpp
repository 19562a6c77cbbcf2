#pragma once
/// @file
/// Copies from global to shared memory that run in the background (lesson 20), 16 bytes each: one function
/// an instruction. PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy".
///
/// What <cuda_pipeline.h> calls by other names, but for whole chunks alone: where the number of bytes is
/// known only at run time, the compiler needs several instructions more for each copy. And a copy asks the L2
/// cache for 128 bytes at a time, which its neighbours want.

#include <cuda_runtime.h>

#include <cstdint>

namespace course::device {

/// @brief The 32-bit address that instructions for shared memory take.
__device__ inline std::uint32_t shared_address(const void* in_shared_memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(in_shared_memory));
}

/// @brief Sends for 16 bytes of global memory; or, if they are not `inside` an array, writes 16 zeros.
/// Both addresses are multiples of 16; `from` may be any number if nothing is there to be read.
/// Cost: one instruction; the bytes pass neither through registers nor through the L1 cache.
__device__ inline void copy_async(std::uint32_t to_shared_address, const void* from, bool inside = true) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to_shared_address), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}

/// @brief Makes a group of all copies that this thread has sent for since the last group; it may be empty.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// @brief Waits until all but the kInFlight youngest groups of this thread have landed. What other threads
/// have sent for has landed after a barrier that comes after everybody's wait.
template <int kInFlight>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kInFlight) : "memory");
}

}  // namespace course::device
