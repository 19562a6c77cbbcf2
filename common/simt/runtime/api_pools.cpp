// Memory in the order of streams, and the pools that it comes from.

#include <algorithm>
#include <utility>

#include "simt/runtime/context.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/memory_pools.hpp"

namespace simt {

MemoryPools& memory_pools() {
  static auto* const pools = new MemoryPools;
  return *pools;
}

bool MemoryPools::contains(const SimtMemPool* pool) const {
  return std::any_of(pools_.begin(), pools_.end(),
                     [pool](const auto& one) { return one.get() == pool && !one->destroyed; });
}

SimtMemPool& MemoryPools::create(std::uint64_t most_bytes) {
  pools_.push_back(std::make_unique<SimtMemPool>());
  pools_.back()->most_bytes = most_bytes;
  return *pools_.back();
}

void MemoryPools::destroy(SimtMemPool& pool) {
  if (of_device_ == &pool) of_device_ = &standard();
  pool.destroyed = true;
  end_if_done(pool);
}

void MemoryPools::end_if_done(SimtMemPool& pool) {
  if (pool.destroyed && pool.used.current == 0)
    std::erase_if(pools_, [&pool](const auto& one) { return one.get() == &pool; });
}

void MemoryPools::take(SimtMemPool& pool, void* memory, std::size_t bytes) {
  given_[memory] = {&pool, bytes};
  pool.used.set(pool.used.current + bytes);
  pool.reserved.set(std::max(pool.reserved.current, pool.used.current));
}

void MemoryPools::give_back(void* memory) {
  const auto found = given_.find(memory);
  if (found == given_.end()) return;
  const auto [pool, bytes] = found->second;
  given_.erase(found);
  pool->used.set(pool->used.current - bytes);
  pool->trim(pool->release_threshold);
  end_if_done(*pool);
}

void MemoryPools::reset() {
  given_.clear();
  pools_.clear();
  of_device_ = &create(0);
}

}  // namespace simt

namespace {

using simt::device_memory;
using simt::memory_pools;

cudaError_t allocate(simt::Context& context, void** pointer, std::size_t bytes, SimtMemPool& pool) {
  if (pool.most_bytes != 0 && pool.used.current + bytes > pool.most_bytes)
    return context.fail(cudaErrorMemoryAllocation);
  const cudaError_t error = cudaMalloc(pointer, bytes);
  if (error == cudaSuccess && *pointer != nullptr) memory_pools().take(pool, *pointer, bytes);
  return error;
}

/// The level that an attribute is about, and whether it is the highest one.
std::pair<SimtMemPool::Level*, bool> level_of(SimtMemPool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReservedMemCurrent:
      return {&pool.reserved, false};
    case cudaMemPoolAttrReservedMemHigh:
      return {&pool.reserved, true};
    case cudaMemPoolAttrUsedMemCurrent:
      return {&pool.used, false};
    case cudaMemPoolAttrUsedMemHigh:
      return {&pool.used, true};
    default:
      return {nullptr, false};
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (!memory_pools().contains(pool)) return context.fail(cudaErrorInvalidValue);
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  if (SimtCapture* const capture = context.capture_of(stream))
    return context.fail(capture->allocate(pointer, bytes, stream));
  return allocate(context, pointer, bytes, *pool);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  SIMT_API_ENTRY();
  return cudaMallocFromPoolAsync(pointer, bytes, &memory_pools().of_device(), stream);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  SIMT_API_ENTRY();
  if (device != 0) return context.fail(cudaErrorInvalidDevice);
  if (pool == nullptr) return context.fail(cudaErrorInvalidValue);
  *pool = &memory_pools().standard();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  SIMT_API_ENTRY();
  if (device != 0) return context.fail(cudaErrorInvalidDevice);
  if (pool == nullptr) return context.fail(cudaErrorInvalidValue);
  *pool = &memory_pools().of_device();
  return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  SIMT_API_ENTRY();
  if (device != 0) return context.fail(cudaErrorInvalidDevice);
  if (!memory_pools().contains(pool)) return context.fail(cudaErrorInvalidValue);
  memory_pools().use(*pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  SIMT_API_ENTRY();
  if (pool == nullptr || properties == nullptr) return context.fail(cudaErrorInvalidValue);
  *pool = &memory_pools().create(properties->maxSize);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  SIMT_API_ENTRY();
  if (!memory_pools().contains(pool) || pool == &memory_pools().standard())
    return context.fail(cudaErrorInvalidValue);
  memory_pools().destroy(*pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
  SIMT_API_ENTRY();
  if (!memory_pools().contains(pool)) return context.fail(cudaErrorInvalidValue);
  pool->trim(bytes);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  SIMT_API_ENTRY();
  if (!memory_pools().contains(pool) || value == nullptr) return context.fail(cudaErrorInvalidValue);
  if (attribute < cudaMemPoolAttrReleaseThreshold) {
    pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<const int*>(value);
  } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->release_threshold = *static_cast<const std::uint64_t*>(value);
  } else {  // the highest level, and nothing but 0: from now on
    const auto [level, high] = level_of(*pool, attribute);
    if (!high || *static_cast<const std::uint64_t*>(value) != 0) return context.fail(cudaErrorInvalidValue);
    level->high = level->current;
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  SIMT_API_ENTRY();
  if (!memory_pools().contains(pool) || value == nullptr) return context.fail(cudaErrorInvalidValue);
  if (attribute < cudaMemPoolAttrReleaseThreshold) {
    *static_cast<int*>(value) = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
  } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
    *static_cast<std::uint64_t*>(value) = pool->release_threshold;
  } else {
    const auto [level, high] = level_of(*pool, attribute);
    if (level == nullptr) return context.fail(cudaErrorInvalidValue);
    *static_cast<std::uint64_t*>(value) = high ? level->high : level->current;
  }
  return cudaSuccess;
}

}  // extern "C"
