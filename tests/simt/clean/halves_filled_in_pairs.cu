// Looks wrong: pairs of half are stored into local arrays whose elements need only 2 bytes of alignment.
// It is right: on a GPU such an array lies in registers.

#include <cuda_fp16.h>

__global__ void sum_kernel(const __half* in, __half* out) {
  __half first[5], second[3];
  *reinterpret_cast<__half2*>(&first[1]) = *reinterpret_cast<const __half2*>(in);
  *reinterpret_cast<__half2*>(&first[3]) = *reinterpret_cast<const __half2*>(in + 2);
  *reinterpret_cast<__half2*>(&second[0]) = *reinterpret_cast<const __half2*>(in + 4);
  first[0] = in[6];
  second[2] = in[7];
  float sum = 0.0f;
  for (int i = 0; i < 5; ++i) sum += __half2float(first[i]);
  for (int i = 0; i < 3; ++i) sum += __half2float(second[i]);
  out[threadIdx.x] = __float2half(sum);
}

int main() {
  __half host[32], *in = nullptr, *out = nullptr;
  for (int i = 0; i < 8; ++i) host[i] = __float2half(static_cast<float>(i));
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, 8 * sizeof(__half), cudaMemcpyHostToDevice);
  sum_kernel<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return __half2float(host[31]) == 28.0f ? 0 : 1;
}
