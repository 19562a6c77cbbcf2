// Preprocessor branches through bodies, argument lists and configurations.
#include <cuda_runtime.h>

#define USE_BIAS 1
// #define BIG

__global__ void affine(float* y, const float* x,
#if USE_BIAS
                       const float* bias,
#endif
                       int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef BIG
  for (int k = 0; k < 4; ++k) {
#else
  {
#endif
    y[i] = 2 * x[i];
  }
#if USE_BIAS
  y[i] += bias ? bias[i] : 0;
#endif
}

#if 0
This text isn't C++ at all; don't read it: k<<<1, "
affine<<<
#endif

void run(float* y, const float* x, int n) {
#ifdef BIG
  affine<<<n / 1024, 1024>>>(
#else
  affine<<<(n + 127) / 128, 128
#  if 0
           , nonsense
#  endif
           >>>(
#endif
      y, x,
#if USE_BIAS
      NULL,
#endif
      n);
}
