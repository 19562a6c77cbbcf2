// What __shared__ variables leave of a block's shared memory. A kernel may have 48 KB of both kinds; with
// cudaFuncSetAttribute() more of the dynamic kind, as much as the device has.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kStatic = 40960;

__global__ void sum(float* out) {
  __shared__ float tile[kStatic / 4];
  extern __shared__ float rest[];
  tile[threadIdx.x] = 1.0f;
  rest[threadIdx.x] = 2.0f;
  out[threadIdx.x] = tile[threadIdx.x] + rest[threadIdx.x];
}

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("not so: %s\n", what);
}

int main() {
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, sum);
  expect(attributes.sharedSizeBytes == kStatic, "the attributes have the bytes of the variables");
  expect(attributes.maxDynamicSharedSizeBytes == 49152 - kStatic, "8192 bytes are left");
  sum<<<1, 32, 49152 - kStatic>>>(out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "8192 bytes can be had");
  sum<<<1, 32, 49152 - kStatic + 4>>>(out);
  expect(cudaGetLastError() != cudaSuccess, "4 more are refused");

  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  const auto set = [](int bytes) {
    return cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  expect(set(most - kStatic + 4) != cudaSuccess, "nobody can opt in for more than the device has");
  cudaGetLastError();
  expect(set(most - kStatic) == cudaSuccess, "all the rest can be opted in for");
  sum<<<1, 32, most - kStatic>>>(out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "and used");
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 32, 0);
  int per_multiprocessor = 0;
  cudaDeviceGetAttribute(&per_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
  expect(blocks == per_multiprocessor / (kStatic + 1024), "variables bound how many blocks are resident");
  cudaFree(out);
  std::puts(failures == 0 ? "passed" : "failed");
  return failures;
}
