// Stream-ordered allocation, from the default pool and from one of the program's own; attributes of pools and
// streams.

#include <cstdio>

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

unsigned long long level(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long bytes = 0;
  cudaMemPoolGetAttribute(pool, attribute, &bytes);
  return bytes;
}

int main() {
  int supported = 0, priority = -1, host[32], wrong = 0;
  const auto expect = [&wrong](const char* what, bool holds) {
    if (!holds) printf("%s\n", what), ++wrong;
  };
  cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemPool_t standard, own, current;
  cudaDeviceGetDefaultMemPool(&standard, 0);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPoolCreate(&own, &properties);
  cudaDeviceGetMemPool(&current, 0);
  expect("the device's pool is the default one", current == standard && own != standard);
  unsigned long long threshold = ~0ull;
  cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold);
  expect("a pool keeps its threshold", level(own, cudaMemPoolAttrReleaseThreshold) == threshold &&
                                           level(standard, cudaMemPoolAttrReleaseThreshold) == 0);

  int *first, *second;
  cudaMallocAsync(&first, sizeof host, stream);
  cudaMallocFromPoolAsync((void**)&second, sizeof host, own, stream);
  fill<<<1, 32, 0, stream>>>(first, 3);
  fill<<<1, 32, 0, stream>>>(second, 4);
  cudaMemcpyAsync(host, first, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  int sum = host[31];
  cudaMemcpyAsync(host, second, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  expect("both pools give memory", sum + host[31] == 7);
  expect("each pool counts its own", level(own, cudaMemPoolAttrUsedMemCurrent) >= sizeof host &&
                                         level(standard, cudaMemPoolAttrUsedMemCurrent) >= sizeof host);
  cudaFreeAsync(first, stream);
  cudaFreeAsync(second, stream);
  cudaStreamSynchronize(stream);
  expect("nothing is used", level(own, cudaMemPoolAttrUsedMemCurrent) == 0);
  expect("what was used most is known", level(own, cudaMemPoolAttrUsedMemHigh) >= sizeof host);
  expect("below its threshold a pool keeps memory", level(own, cudaMemPoolAttrReservedMemCurrent) > 0);
  cudaMemPoolTrimTo(own, 0);
  expect("until it is trimmed", level(own, cudaMemPoolAttrReservedMemCurrent) == 0);

  cudaDeviceSetMemPool(0, own);
  cudaMallocAsync(&first, sizeof host, stream);
  expect("the device's pool is the one that was set",
         level(own, cudaMemPoolAttrUsedMemCurrent) >= sizeof host);
  cudaFreeAsync(first, stream);
  cudaStreamSynchronize(stream);
  cudaMemPoolDestroy(own);
  cudaDeviceGetMemPool(&current, 0);
  expect("without it, it is the default one again", current == standard);

  cudaStreamGetPriority(stream, &priority);
  cudaStreamDestroy(stream);
  expect("pools are supported, and the stream has the usual priority", supported == 1 && priority == 0);
  expect("no call failed", cudaGetLastError() == cudaSuccess);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
