// The backward pass of grouped heads in another order: a tile of keys meets a tile of queries of all heads,
// from the last head to the first, before the tile of queries in front of it; and heads lie along x of the
// grids.

#include <cuda_runtime.h>

#include <algorithm>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "grouped_query_backward.hpp"

namespace course {

using Shape = device::BackwardShape<128>;
constexpr int kTile = 64, kDeltaRows = 8;
static_assert(Shape::kBlockM == kTile && Shape::kBlockN == kTile);

__global__ void __launch_bounds__(kDeltaRows* device::kWarpSize)
    delta_in_eights_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  device::store_delta(device::matrix_of(O, blockIdx.y, blockIdx.x),
                      device::matrix_of(dO, blockIdx.y, blockIdx.x),
                      device::row_of(delta, blockIdx.y, blockIdx.x), std::int64_t{blockIdx.z} * kDeltaRows);
}

__global__ void __launch_bounds__(Shape::kThreads)
    last_head_first_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                           View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                           View<float, 4> dK, View<float, 4> dV, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t batch = blockIdx.y, kv_head = blockIdx.x, first_key = std::int64_t{blockIdx.z} * kTile;
  device::KeyBlock<Shape> block(device::matrix_of(K, batch, kv_head), device::matrix_of(V, batch, kv_head),
                                first_key, scale, shared_memory);
  const std::int64_t group = Q.shape[1] / K.shape[1], Nq = Q.shape[2], past = K.shape[2] - Nq;
  for (std::int64_t first_query = (Nq - 1) / kTile * kTile; first_query >= 0; first_query -= kTile) {
    if (causal && first_query + kTile - 1 + past < first_key) break;
    for (std::int64_t head = (kv_head + 1) * group - 1; head >= kv_head * group; --head) {
      block.attend(device::matrix_of(Q, batch, head), device::matrix_of(dO, batch, head),
                   device::row_of(lse, batch, head), device::row_of(delta, batch, head), first_query,
                   [=](std::int64_t query, std::int64_t key) { return causal && key > query + past; });
    }
  }
  block.store(device::matrix_of(dK, batch, kv_head), device::matrix_of(dV, batch, kv_head));
}

__global__ void __launch_bounds__(Shape::kThreads)
    last_keys_first_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                           View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                           View<float, 4> dQ, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t batch = blockIdx.y, head = blockIdx.x, first_query = std::int64_t{blockIdx.z} * kTile;
  device::QueryBlock<Shape> block(device::matrix_of(Q, batch, head), device::matrix_of(dO, batch, head),
                                  device::row_of(lse, batch, head), device::row_of(delta, batch, head),
                                  first_query, scale, shared_memory);
  const std::int64_t kv_head = head * K.shape[1] / Q.shape[1], Nq = Q.shape[2], Nk = K.shape[2],
                     past = Nk - Nq;
  const std::int64_t seen = causal ? min(min(first_query + kTile, Nq) + past, Nk) : Nk;
  for (std::int64_t tile = (seen + kTile - 1) / kTile - 1; tile >= 0 && seen > 0; --tile) {
    block.attend(device::matrix_of(K, batch, kv_head), device::matrix_of(V, batch, kv_head), tile * kTile,
                 [=](std::int64_t query, std::int64_t key) { return causal && key > query + past; });
  }
  block.store(device::matrix_of(dQ, batch, head));
}

void grouped_query_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                            View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                            float scale, bool causal) {
  device::require_groups(Q.shape[1], K.shape[1]);
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, K.shape[1], kMaxDim);
  const auto grid = [B = Q.shape[0]](std::int64_t heads, std::int64_t rows, std::int64_t each) {
    return dim3(static_cast<unsigned>(heads), static_cast<unsigned>(B),
                static_cast<unsigned>((rows + each - 1) / each));
  };
  const std::int64_t H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1], Nk = K.shape[2];
  if (Q.shape[0] == 0 || H == 0) return;
  const View<const float, 3> delta_read = device::read_only(delta);
  if (Nq > 0) {
    delta_in_eights_kernel<<<grid(H, Nq, kDeltaRows), kDeltaRows * device::kWarpSize>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  if (Nk > 0) {
    constexpr int kSharedBytes = device::KeyBlock<Shape>::kSharedBytes;
    CUDA_CHECK(cudaFuncSetAttribute(last_head_first_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    kSharedBytes));
    last_head_first_kernel<<<grid(H_kv, Nk, kTile), Shape::kThreads, kSharedBytes>>>(
        Q, K, V, lse, dO, delta_read, dK, dV, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
  if (Nq > 0) {
    constexpr int kSharedBytes = device::QueryBlock<Shape>::kSharedBytes;
    CUDA_CHECK(cudaFuncSetAttribute(last_keys_first_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    kSharedBytes));
    last_keys_first_kernel<<<grid(H, Nq, kTile), Shape::kThreads, kSharedBytes>>>(
        Q, K, V, lse, dO, delta_read, dQ, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace course
