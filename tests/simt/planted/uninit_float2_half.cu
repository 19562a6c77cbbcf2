// One kernel sets the real parts of complex numbers, and the next reads both parts. Each member needs a
// value before it is read; a float2 with one half written is half unknown.
//
// expect: uninitialised_read at A
#include <cuda_runtime.h>

__global__ void set_real(const float* x, float2* z) { z[threadIdx.x].x = x[threadIdx.x]; }

__global__ void magnitudes(const float2* z, float* out) {
  const float2 v = z[threadIdx.x];  // A
  out[threadIdx.x] = sqrtf(v.x * v.x + v.y * v.y);
}

int main() {
  float *x, *out;
  float2* z;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&z, 64 * sizeof(float2));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  set_real<<<1, 64>>>(x, z);
  magnitudes<<<1, 64>>>(z, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(z);
  cudaFree(out);
  return 0;
}
