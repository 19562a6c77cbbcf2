// Launch shapes from the occupancy functions instead of by hand.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void square(int* array, int arrayCount) {
  extern __shared__ int dynamicSmem[];
  int idx = threadIdx.x + blockIdx.x * blockDim.x;
  if (idx < arrayCount) array[idx] *= array[idx];
}

static double reportOccupancy(const void* kernel, int blockSize, size_t dynamicSMem) {
  int device, numBlocks;
  cudaDeviceProp prop;
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&prop, device);
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&numBlocks, kernel, blockSize, dynamicSMem) !=
      cudaSuccess)
    return -1;
  int activeWarps = numBlocks * blockSize / prop.warpSize;
  int maxWarps = prop.maxThreadsPerMultiProcessor / prop.warpSize;
  return (double)activeWarps / maxWarps;
}

int main() {
  const int count = 100000;
  std::vector<int> array(count);
  for (int i = 0; i < count; ++i) array[i] = i % 1000;
  int* dArray;
  cudaMalloc((void**)&dArray, count * sizeof(int));
  cudaMemcpy(dArray, array.data(), count * sizeof(int), cudaMemcpyHostToDevice);

  int minGridSize = 0, blockSize = 0;
  size_t dynamicSMemUsage = 0;
  cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, square, dynamicSMemUsage, count);
  const int gridSize = (count + blockSize - 1) / blockSize;
  square<<<gridSize, blockSize, dynamicSMemUsage>>>(dArray, count);
  cudaMemcpy(array.data(), dArray, count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dArray);

  bool ok = minGridSize > 0 && blockSize > 0 && blockSize % 32 == 0;
  for (int i = 0; i < count; ++i) ok &= array[i] == (i % 1000) * (i % 1000);

  const double full = reportOccupancy((const void*)square, blockSize, 0);
  const double little = reportOccupancy((const void*)square, 32, 40 * 1024);
  printf("suggested block %d, occupancy %.0f%%; with 40 KB of shared memory a warp %.0f%%\n", blockSize,
         full * 100, little * 100);
  ok &= full > 0.5 && full <= 1.0 && little > 0.0 && little < 0.2;

  cudaFuncAttributes attributes;
  ok &= cudaFuncGetAttributes(&attributes, square) == cudaSuccess && attributes.maxThreadsPerBlock == 1024;
  ok &= cudaFuncSetAttribute(square, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024) == cudaSuccess;
  ok &= cudaFuncGetAttributes(&attributes, square) == cudaSuccess &&
        attributes.maxDynamicSharedSizeBytes == 64 * 1024;
  int sized = 0;
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGridSize, &sized, square,
                                                 [](int threads) { return threads * sizeof(int); });
  return ok && sized > 0 ? 0 : 1;
}
