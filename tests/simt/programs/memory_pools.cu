// Stream-ordered allocation, from the default pool and from one of the program's own; attributes of pools and
// streams.

#include <cstdio>

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

int main() {
  int supported = 0, priority = -1, host[32];
  cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemPool_t standard, own;
  cudaDeviceGetDefaultMemPool(&standard, 0);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPoolCreate(&own, &properties);
  unsigned long long threshold = ~0ull, used = 0;
  cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold);
  int *first, *second;
  cudaMallocAsync(&first, sizeof host, stream);
  cudaMallocFromPoolAsync((void**)&second, sizeof host, own, stream);
  fill<<<1, 32, 0, stream>>>(first, 3);
  fill<<<1, 32, 0, stream>>>(second, 4);
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used);
  cudaMemcpyAsync(host, first, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  int sum = host[31];
  cudaMemcpyAsync(host, second, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  sum += host[31];
  cudaFreeAsync(first, stream);
  cudaFreeAsync(second, stream);
  cudaMemPoolDestroy(own);
  cudaStreamGetPriority(stream, &priority);
  cudaStreamDestroy(stream);
  printf("%d %d %d %llu\n", supported, sum, priority, used);
  return supported == 1 && sum == 7 && priority == 0 && used >= sizeof host &&
                 cudaGetLastError() == cudaSuccess
             ? 0
             : 1;
}
