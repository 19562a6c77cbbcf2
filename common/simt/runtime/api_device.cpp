// What a program can ask about the device.

#include <algorithm>
#include <cstdio>

#include "simt/runtime/context.hpp"
#include "simt/runtime/fiber.hpp"
#include "simt/runtime/memory.hpp"

namespace {

int clamp_to_int(std::uint64_t value) { return static_cast<int>(std::min<std::uint64_t>(value, 0x7fffffff)); }

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  SIMT_API_ENTRY();
  return context.fail(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaDeviceReset() {
  simt::Context& context = simt::Context::get();
  const std::lock_guard lock(context.mutex);
  context.reset();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  SIMT_API_ENTRY();
  if (device != 0 || properties == nullptr) return context.fail(cudaErrorInvalidDevice);
  const simt::DeviceProfile& profile = *context.profile;
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "%s", profile.name);
  properties->totalGlobalMem = context.max_memory_bytes();
  properties->sharedMemPerBlock = profile.shared_per_block;
  properties->sharedMemPerBlockOptin = profile.shared_per_block_optin;
  properties->sharedMemPerMultiprocessor = profile.shared_per_multiprocessor;
  properties->totalConstMem = 64 * 1024;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = simt::kWarpSize;
  properties->maxThreadsPerBlock = static_cast<int>(simt::kMaxThreadsPerBlock);
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxThreadsDim[axis] = static_cast<int>(simt::kMaxBlockDim[axis]);
    properties->maxGridSize[axis] = clamp_to_int(axis == 0 ? context.max_grid_x() : simt::kMaxGridYZ);
  }
  properties->multiProcessorCount = profile.multiprocessors;
  properties->maxThreadsPerMultiProcessor = profile.threads_per_multiprocessor;
  properties->maxBlocksPerMultiProcessor = profile.blocks_per_multiprocessor;
  properties->l2CacheSize = profile.l2_bytes;
  properties->major = profile.major;
  properties->minor = profile.minor;
  properties->managedMemory = properties->unifiedAddressing = properties->concurrentKernels = 1;
  properties->canMapHostMemory = properties->concurrentManagedAccess = properties->deviceOverlap = 1;
  properties->asyncEngineCount = 1;
  properties->globalL1CacheSupported = properties->localL1CacheSupported = 1;
  properties->memPitch = 0x7fffffff;
  properties->textureAlignment = properties->surfaceAlignment = 512;
  properties->texturePitchAlignment = 32;
  properties->maxTexture1D = 131072, properties->maxTexture1DLinear = 1 << 28;
  properties->maxTexture2D[0] = 131072, properties->maxTexture2D[1] = 65536;
  for (int& extent : properties->maxTexture3D) extent = 16384;
  properties->maxTexture1DLayered[0] = 32768, properties->maxTexture1DLayered[1] = 2048;
  properties->maxTexture2DLayered[0] = properties->maxTexture2DLayered[1] = 32768;
  properties->maxTexture2DLayered[2] = 2048;
  properties->memoryPoolsSupported = 1;
  properties->cooperativeLaunch = 1;
  properties->reservedSharedMemPerBlock = simt::kReservedSharedBytes;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  SIMT_API_ENTRY();
  if (device != 0) return context.fail(cudaErrorInvalidDevice);
  if (value == nullptr) return context.fail(cudaErrorInvalidValue);
  const simt::DeviceProfile& profile = *context.profile;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = static_cast<int>(simt::kMaxThreadsPerBlock);
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = static_cast<int>(simt::kMaxBlockDim[0]);
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = static_cast<int>(simt::kMaxBlockDim[1]);
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = static_cast<int>(simt::kMaxBlockDim[2]);
      break;
    case cudaDevAttrMaxGridDimX:
      *value = clamp_to_int(context.max_grid_x());
      break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = static_cast<int>(simt::kMaxGridYZ);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = clamp_to_int(profile.shared_per_block);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = 64 * 1024;
      break;
    case cudaDevAttrWarpSize:
      *value = simt::kWarpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = 65536;
      break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
    case cudaDevAttrGlobalMemoryBusWidth:
    case cudaDevAttrComputeMode:  // cudaComputeModeDefault
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrComputePreemptionSupported:
      *value = 0;
      break;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      break;
    case cudaDevAttrTextureAlignment:
      *value = 512;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(simt::kReservedSharedBytes);
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = profile.multiprocessors;
      break;
    case cudaDevAttrL2CacheSize:
      *value = profile.l2_bytes;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = profile.threads_per_multiprocessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = profile.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = profile.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = clamp_to_int(profile.shared_per_multiprocessor);
      break;
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
      *value = 1;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = clamp_to_int(profile.shared_per_block_optin);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = profile.blocks_per_multiprocessor;
      break;
    default:
      return context.fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  SIMT_API_ENTRY();
  if (device != 0 || peer != 0) return context.fail(cudaErrorInvalidDevice);
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}  // banks are 4 bytes wide
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }             // how the host waits
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }  // a hint about caches

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  SIMT_API_ENTRY();
  if (value == nullptr) return context.fail(cudaErrorInvalidValue);
  switch (limit) {
    case cudaLimitStackSize:
      *value = simt::kStackBytes;
      break;
    case cudaLimitPrintfFifoSize:  // the host's stdio and heap set no such limits
    case cudaLimitMallocHeapSize:
      *value = context.max_memory_bytes();
      break;
    case cudaLimitDevRuntimePendingLaunchCount:
      *value = 2048;  // a GPU's default; here as many as fit memory
      break;
    default:
      return context.fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

// Stacks are as large as they are, and the others have no limit.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t bytes) {
  SIMT_API_ENTRY();
  if (limit == cudaLimitStackSize && bytes > simt::kStackBytes)
    return context.fail(cudaErrorMemoryAllocation);
  return cudaSuccess;
}

}  // extern "C"
