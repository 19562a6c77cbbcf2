// From half to bfloat16 and back, by casts in templates.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

template <class To, class From>
__device__ To cast(From x) {
  return static_cast<To>(x);
}

__global__ void convert(float* out) {
  const __half h = 1.5f;
  const __nv_bfloat16 b = cast<__nv_bfloat16>(h);
  out[0] = __bfloat162float(b);
  out[1] = __half2float(cast<__half>(b));
  out[2] = (float)(__half)__nv_bfloat16(1.0e6f);
}

int main() {
  float *device, host[3];
  cudaMalloc(&device, sizeof host);
  convert<<<1, 1>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  printf("%g %g %g\n", host[0], host[1], host[2]);
  return host[0] == 1.5f && host[1] == 1.5f && isinf(host[2]) ? 0 : 1;
}
