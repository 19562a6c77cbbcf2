// The address of a __device__ variable is one of the device: copies to and from it, cudaMemset, attributes.

#include <cstdio>

__device__ float table[16];
__constant__ float factor[4];

__global__ void scale(float* data) { data[threadIdx.x] = table[threadIdx.x] * factor[1]; }

int main() {
  float host[16], *address = nullptr;
  for (int i = 0; i < 16; ++i) host[i] = i;
  cudaGetSymbolAddress((void**)&address, table);
  if (cudaMemcpy(address, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  cudaMemcpyToSymbol(factor, host + 1, sizeof factor);
  scale<<<1, 16>>>(address);
  cudaMemset(address, 0, sizeof(float));
  if (cudaMemcpy(host, address, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, address);
  printf("%g %g %d\n", host[0], host[3], (int)attributes.type);
  if (cudaMemcpy(host, address + 1, sizeof host, cudaMemcpyDeviceToHost) != cudaErrorInvalidValue) return 1;
  return host[0] == 0 && host[3] == 6 && attributes.type == cudaMemoryTypeDevice ? 0 : 1;
}
