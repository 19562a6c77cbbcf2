// What a program can ask about the device.

#include <algorithm>
#include <cstdio>

#include "simt/runtime/context.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/symbolize.hpp"

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
  simt::reset();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  SIMT_API_ENTRY();
  if (device != 0 || properties == nullptr) return context.fail(cudaErrorInvalidDevice);
  const simt::DeviceProfile& profile = *context.profile;
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "%s", profile.name);
  properties->totalGlobalMem = std::min(simt::device_memory().capacity(), profile.global_memory_bytes);
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
      *value = 65536;
      break;
    case cudaDevAttrClockRate:
      *value = 0;
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

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  SIMT_API_ENTRY();
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;  // a hint about caches
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0)
    return context.fail(cudaErrorInvalidValue);
  const auto bytes = static_cast<std::size_t>(value);
  if (bytes > context.profile->shared_per_block_optin) return context.fail(cudaErrorInvalidValue);
  context.dynamic_shared_optin[simt::base_name(simt::function_name(function))] = bytes;
  return cudaSuccess;
}

}  // extern "C"
