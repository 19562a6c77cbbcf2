#pragma once
// cp.async as functions: copies, batches of copies, and waiting for all but the last batches.

#include "cuda_runtime.h"
#include "simt_abi.h"

/// The first size_and_align - zfill bytes come from global memory, the rest become zero.
SIMT_SHIM_INLINE void __pipeline_memcpy_async(void* __restrict__ shared_target,
                                              const void* __restrict__ global_source,
                                              std::size_t size_and_align, std::size_t zfill = 0) {
  simt_check(size_and_align == 4 || size_and_align == 8 || size_and_align == 16,
             "__pipeline_memcpy_async copies 4, 8 or 16 bytes");
  simt_check(zfill <= size_and_align, "__pipeline_memcpy_async fills at most the bytes that it copies");
  simt_check(
      (reinterpret_cast<std::uintptr_t>(shared_target) | reinterpret_cast<std::uintptr_t>(global_source)) %
              size_and_align ==
          0,
      "both addresses of __pipeline_memcpy_async are multiples of its size");
  simt_check(simt_copies_asynchronously(shared_target, global_source),
             "__pipeline_memcpy_async copies from global to shared memory");
  simt_async_copy(shared_target, global_source, size_and_align, zfill);
}
SIMT_SHIM_INLINE void __pipeline_commit() { simt_async_commit(); }
SIMT_SHIM_INLINE void __pipeline_wait_prior(std::size_t batches_in_flight) {
  simt_async_wait(static_cast<unsigned>(batches_in_flight));
}
