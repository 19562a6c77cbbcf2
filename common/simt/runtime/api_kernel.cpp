// What a program can ask of and set for one kernel: attributes, occupancy.

#include <algorithm>

#include "simt/runtime/context.hpp"
#include "simt/runtime/symbolize.hpp"
#include "simt/shim/simt_abi.h"

namespace {

using simt::Context;

std::string kernel_name(const void* function) { return simt::base_name(simt::function_name(function)); }

std::size_t static_bytes(const void* function) {
  return simt::static_shared_bytes(simt::kernel_module(function), simt::function_name(function));
}

/// What the kernel's `__shared__` variables leave of that much shared memory.
std::size_t beside_static(std::size_t bytes, const void* function) {
  return bytes - std::min(bytes, static_bytes(function));
}

/// Dynamic shared memory that the kernel may have: more than what is left of 48 KB once it has opted in.
std::size_t dynamic_shared_limit(const Context& context, const void* function) {
  const auto opted_in = context.dynamic_shared_optin.find(function);
  const std::size_t usual = beside_static(context.profile->shared_per_block, function);
  return opted_in == context.dynamic_shared_optin.end() ? usual : std::max(usual, opted_in->second);
}

}  // namespace

extern "C" {

const char* simt_kernel_name(const void* function) {
  static auto* names = new std::map<const void*, std::string>;
  Context& context = Context::get();
  const std::lock_guard lock(context.mutex);
  auto [entry, is_new] = names->try_emplace(function);
  if (is_new) entry->second = kernel_name(function);
  return entry->second.empty() ? "kernel" : entry->second.c_str();
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  SIMT_API_ENTRY();
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;  // a hint about caches
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0)
    return context.fail(cudaErrorInvalidValue);
  const auto bytes = static_cast<std::size_t>(value);
  if (bytes > beside_static(context.profile->shared_per_block_optin, function))
    return context.fail(cudaErrorInvalidValue);
  context.dynamic_shared_optin[function] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }  // a hint about caches

// The figures that only a GPU's compiler knows (registers, local memory) are 0.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  SIMT_API_ENTRY();
  if (attributes == nullptr) return context.fail(cudaErrorInvalidValue);
  if (function == nullptr) return context.fail(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock =
      static_cast<int>(simt::most_threads(simt::kernel_module(function), simt::function_name(function)));
  attributes->sharedSizeBytes = static_bytes(function);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(context, function));
  attributes->ptxVersion = attributes->binaryVersion = context.profile->major * 10 + context.profile->minor;
  return cudaSuccess;
}

// Bounded by threads, by blocks and by shared memory, and, as on a GPU, not by launch bounds; registers are
// unknown.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  SIMT_API_ENTRY();
  if (blocks == nullptr || block_size <= 0) return context.fail(cudaErrorInvalidValue);
  if (function == nullptr) return context.fail(cudaErrorInvalidDeviceFunction);
  const simt::DeviceProfile& profile = *context.profile;
  if (static_cast<unsigned>(block_size) > simt::kMaxThreadsPerBlock ||
      dynamic_shared_bytes > dynamic_shared_limit(context, function)) {
    *blocks = 0;
    return cudaSuccess;
  }
  constexpr int kWarp = simt::kWarpSize;
  const int threads = (block_size + kWarp - 1) / kWarp * kWarp;
  const std::size_t shared = dynamic_shared_bytes + static_bytes(function) + simt::kReservedSharedBytes;
  *blocks = std::min({profile.threads_per_multiprocessor / threads, profile.blocks_per_multiprocessor,
                      static_cast<int>(profile.shared_per_multiprocessor / shared)});
  return cudaSuccess;
}

}  // extern "C"
