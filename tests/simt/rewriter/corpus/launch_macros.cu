// Launches by macro, over continued lines, with pasted names and variadic arguments.
#include <cuda_runtime.h>

#include <cstdio>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

#define LAUNCH(kernel, grid, block, ...)                        \
  do {                                                          \
    kernel<<<(grid), (block)>>>(__VA_ARGS__);                   \
    if (cudaGetLastError() != cudaSuccess)                      \
      std::printf("%s<<<%s>>> at %d\n", #kernel, #grid, __LINE__); \
  } while (0)

#define LAUNCH_T(name, T, n, args...)          \
  name##_kernel<T, (sizeof(T) > 4)> /* comment \
     of two lines */           \
      <<<CEIL_DIV(n, 32),                      \
         32,                                   \
         n * sizeof(T)                         \
      >>>                                      \
      (args)

#define CONFIG 1, 32, 0
#define FILL(x) fill_kernel<float, false><<<CONFIG>>>(x, NULL, 1)
#define SMEM(T, name) extern __shared__ T name[]
#define GLOBAL(name) __global__ void name

GLOBAL(nothing)() {}

template <class T, bool kLarge>
__global__ void fill_kernel(T* x, const T* from, int n) {
  SMEM(T, staging);
  if (int(threadIdx.x) < n) x[threadIdx.x] = kLarge ? staging[0] : from ? from[0] : T(0);
}

void run(float* x, int n) {
  LAUNCH(nothing, 1, 1);
  LAUNCH((fill_kernel<float, true>), CEIL_DIV(n, 32), 32, x, x, n);
  LAUNCH_T(fill, float, n, x, x, n);
  FILL(x);
}
