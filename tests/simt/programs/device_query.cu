// What the device says about itself, through properties and through attributes: the two agree.

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

int main() {
  static_assert(CUDA_VERSION >= 11000 && CUDART_VERSION >= 11000, "too old");
  int deviceCount = 0;
  cudaProfilerStart();
  cudaError_t error_id = cudaGetDeviceCount(&deviceCount);
  if (error_id != cudaSuccess || deviceCount == 0) {
    printf("cudaGetDeviceCount returned %d\n-> %s\n", static_cast<int>(error_id),
           cudaGetErrorString(error_id));
    exit(EXIT_FAILURE);
  }
  int dev, driverVersion = 0, runtimeVersion = 0, wrong = 0;
  for (dev = 0; dev < deviceCount; ++dev) {
    cudaSetDevice(dev);
    cudaDeviceProp deviceProp;
    cudaGetDeviceProperties(&deviceProp, dev);
    cudaDriverGetVersion(&driverVersion);
    cudaRuntimeGetVersion(&runtimeVersion);
    printf("Device %d: \"%s\"\n", dev, deviceProp.name);
    printf("  driver %d.%d, runtime %d.%d\n", driverVersion / 1000, (driverVersion % 100) / 10,
           runtimeVersion / 1000, (runtimeVersion % 100) / 10);
    printf("  capability %d.%d, %d multiprocessors\n", deviceProp.major, deviceProp.minor,
           deviceProp.multiProcessorCount);
    printf("  %.0f MBytes of memory, %d bytes of L2, bus of %d bits\n",
           static_cast<float>(deviceProp.totalGlobalMem / 1048576.0f), deviceProp.l2CacheSize,
           deviceProp.memoryBusWidth);
    printf("  constant %zu, shared %zu per block (%zu opt-in), %zu per multiprocessor\n",
           deviceProp.totalConstMem, deviceProp.sharedMemPerBlock, deviceProp.sharedMemPerBlockOptin,
           deviceProp.sharedMemPerMultiprocessor);
    printf("  registers %d, warp %d, threads %d per multiprocessor and %d per block\n",
           deviceProp.regsPerBlock, deviceProp.warpSize, deviceProp.maxThreadsPerMultiProcessor,
           deviceProp.maxThreadsPerBlock);
    printf("  block (%d, %d, %d), grid (%d, %d, %d)\n", deviceProp.maxThreadsDim[0],
           deviceProp.maxThreadsDim[1], deviceProp.maxThreadsDim[2], deviceProp.maxGridSize[0],
           deviceProp.maxGridSize[1], deviceProp.maxGridSize[2]);
    printf("  pitch %zu, texture alignment %zu, %d copy engines, ECC %s, UVA %s, managed %s\n",
           deviceProp.memPitch, deviceProp.textureAlignment, deviceProp.asyncEngineCount,
           deviceProp.ECCEnabled ? "on" : "off", deviceProp.unifiedAddressing ? "yes" : "no",
           deviceProp.managedMemory ? "yes" : "no");
    printf("  PCI %d:%d:%d, cooperative launch %s\n", deviceProp.pciDomainID, deviceProp.pciBusID,
           deviceProp.pciDeviceID, deviceProp.cooperativeLaunch ? "yes" : "no");

    const struct {
      cudaDeviceAttr attribute;
      int expected;
    } table[] = {
        {cudaDevAttrMaxThreadsPerBlock, deviceProp.maxThreadsPerBlock},
        {cudaDevAttrWarpSize, deviceProp.warpSize},
        {cudaDevAttrMultiProcessorCount, deviceProp.multiProcessorCount},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)deviceProp.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)deviceProp.sharedMemPerBlockOptin},
        {cudaDevAttrComputeCapabilityMajor, deviceProp.major},
        {cudaDevAttrComputeCapabilityMinor, deviceProp.minor},
        {cudaDevAttrMaxGridDimY, deviceProp.maxGridSize[1]},
        {cudaDevAttrMaxBlockDimZ, deviceProp.maxThreadsDim[2]},
        {cudaDevAttrMaxRegistersPerMultiprocessor, deviceProp.regsPerMultiprocessor},
        {cudaDevAttrConcurrentManagedAccess, deviceProp.concurrentManagedAccess},
        {cudaDevAttrCooperativeLaunch, deviceProp.cooperativeLaunch},
    };
    for (const auto& row : table) {
      int value = -1;
      wrong += cudaDeviceGetAttribute(&value, row.attribute, dev) != cudaSuccess || value != row.expected;
    }
    size_t free_bytes = 0, total_bytes = 0;
    wrong += cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess || free_bytes > total_bytes;
  }
  cudaProfilerStop();
  wrong += cudaSetDevice(deviceCount) != cudaErrorInvalidDevice;
  printf("Result = %s\n", wrong ? "FAIL" : "PASS");
  return wrong;
}
