// Inline PTX, each piece with a way around it for a compiler that does not make device code.
#include <cuda_runtime.h>

#include <cstdint>

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800)
#define ASYNC_COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from))
#endif

__device__ inline unsigned lane_id() {
#ifdef __CUDA_ARCH__
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return threadIdx.x % 32;
#endif
}

__device__ inline float fast_exp2(float x) {
#ifndef __CUDA_ARCH__
  return std::exp2(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

__device__ inline void keep(float& x) { asm volatile("" : "+r"(*reinterpret_cast<int*>(&x))); }

__global__ void exp2_kernel(float* x) {
  float y = fast_exp2(x[lane_id()]);
  keep(y);
  x[lane_id()] = y;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#elif defined(__CUDA_ARCH__)
  asm("membar.gl;");
#endif
}

void run(float* x) { exp2_kernel<<<1, 32>>>(x); }
