#pragma once
// What the CUDA keywords become when a host C++ compiler reads a .cu file.
// `extern __shared__`, `<<<...>>>` and `__noinline__` are the rewriter's work: no macro can do them.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__ __attribute__((section("simt_managed")))  // where the runtime finds them
#define __grid_constant__
#define __launch_bounds__(...)  // the rewriter notes them in the kernel's body
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

// One copy for each operating-system thread, and so for each block that is running: a block never moves
// between threads, and a thread runs one block at a time. Aligned as a GPU's compiler aligns it, so that its
// start may be read as a float4.
#define __shared__ static thread_local __attribute__((aligned(16)))

// There is no __CUDA_ARCH__ and no __CUDACC__ here: code for one architecture only stays switched off.
#define __SIMT__ 1
