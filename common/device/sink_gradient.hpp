#pragma once
/// @file
/// The gradient of learned sinks: the kernel that ends lesson 17's backward pass.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"
#include "device/full_attention.hpp"
#include "device/reduce.hpp"
#include "tensor/view.hpp"

namespace course::device {

inline constexpr int kSinkThreads = 256;

/// dsink of head blockIdx.x.
inline __global__ void __launch_bounds__(kSinkThreads)
    sink_kernel(const float* sink, View<const float, 3> lse, View<const float, 3> delta, float* dsink) {
  __shared__ float warp_sums_smem[kSinkThreads / kWarpSize];
  const float sum = sink_gradient<kSinkThreads>(sink[blockIdx.x], lse, delta, blockIdx.x, warp_sums_smem);
  if (threadIdx.x == 0) dsink[blockIdx.x] = sum;
}

/// @brief dsink_h = -Σ exp(sink_h - lse)·delta over the rows of head h in all batches; one launch.
/// Shapes: sink and dsink are (H), without gaps, and H is at least 1; lse and delta are (B, H, Nq).
inline void launch_sink_gradient(const float* sink, const View<const float, 3>& lse,
                                 const View<const float, 3>& delta, float* dsink) {
  device::sink_kernel<<<static_cast<unsigned>(lse.shape[1]), kSinkThreads>>>(sink, lse, delta, dsink);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course::device
