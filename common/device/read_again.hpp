#pragma once
/// @file
/// threadIdx and blockIdx, read where they are needed. PTX ISA, "Special Registers".
///
/// A compiler takes these for constants: what a loop makes of them it computes once, and keeps in registers.
/// A kernel that has none to spare would have it in local memory. What these functions give is another number
/// each time, as far as a compiler knows, and is computed again.

#include <cuda_runtime.h>

namespace course::device {

struct ThreadNow {
  __device__ static unsigned x() {
    unsigned x;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
  }
};

struct BlockNow {
  __device__ static unsigned x() {
    unsigned x;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
    return x;
  }
  __device__ static unsigned y() {
    unsigned y;
    asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(y));
    return y;
  }
  __device__ static unsigned z() {
    unsigned z;
    asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(z));
    return z;
  }
};

}  // namespace course::device
