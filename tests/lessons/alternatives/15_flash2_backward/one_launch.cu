// Alternative for lesson 15: after delta, one launch makes dK and dV in its first blocks and dQ in the
// others, with the classes of flash_backward.hpp.

#include <cuda_runtime.h>

#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "flash2_backward.hpp"

namespace course {
namespace {

constexpr int kDeltaThreads = 64;

struct Causal {
  std::int64_t offset;
  bool causal;
  __device__ bool operator()(std::int64_t query, std::int64_t key) const {
    return causal && key > query + offset;
  }
};

__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  device::store_delta(device::matrix_of(O, blockIdx.z, blockIdx.y),
                      device::matrix_of(dO, blockIdx.z, blockIdx.y),
                      device::row_of(delta, blockIdx.z, blockIdx.y),
                      std::int64_t{blockIdx.x} * (kDeltaThreads / device::kWarpSize));
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    gradients_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                     View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                     View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV, float scale, bool causal,
                     unsigned key_tiles) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2], offset = Nk - Nq;
  const auto head = [](const auto& X) { return device::matrix_of(X, blockIdx.z, blockIdx.y); };
  const auto row = [](const auto& x) { return device::row_of(x, blockIdx.z, blockIdx.y); };
  const Causal hidden{offset, causal};
  if (blockIdx.x < key_tiles) {
    const std::int64_t first_key = std::int64_t{blockIdx.x} * Shape::kBlockN;
    device::KeyBlock<Shape> block(head(K), head(V), first_key, scale, shared_memory);
    for (std::int64_t i = 0; i < Nq; i += Shape::kBlockM)
      if (!causal || first_key <= min(i + Shape::kBlockM, Nq) - 1 + offset)
        block.attend(head(Q), head(dO), row(lse), row(delta), i, hidden);
    block.store(head(dK), head(dV));
  } else {
    const std::int64_t first_query = std::int64_t{blockIdx.x - key_tiles} * Shape::kBlockM;
    device::QueryBlock<Shape> block(head(Q), head(dO), row(lse), row(delta), first_query, scale,
                                    shared_memory);
    for (std::int64_t j = 0; j < Nk; j += Shape::kBlockN)
      if (!causal || j <= min(first_query + Shape::kBlockM, Nq) - 1 + offset)
        block.attend(head(K), head(V), j, hidden);
    block.store(head(dQ));
  }
}

unsigned blocks_for(std::int64_t rows, int rows_of_a_block) {
  return static_cast<unsigned>((rows + rows_of_a_block - 1) / rows_of_a_block);
}

}  // namespace

void flash2_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                     View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                     View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                     float scale, bool causal) {
  using Shape = device::BackwardShape<128>;
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, Q.shape[1], kMaxDim);
  const unsigned B = static_cast<unsigned>(Q.shape[0]), H = static_cast<unsigned>(Q.shape[1]);
  const unsigned key_tiles = blocks_for(K.shape[2], Shape::kBlockN),
                 query_tiles = blocks_for(Q.shape[2], Shape::kBlockM);
  if (B == 0 || H == 0 || key_tiles + query_tiles == 0) return;
  if (query_tiles > 0) {
    const dim3 grid(blocks_for(Q.shape[2], kDeltaThreads / device::kWarpSize), H, B);
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  constexpr int kBytes = device::KeyBlock<Shape>::kSharedBytes;
  static_assert(kBytes >= device::QueryBlock<Shape>::kSharedBytes);
  CUDA_CHECK(
      cudaFuncSetAttribute(gradients_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  gradients_kernel<Shape><<<dim3(key_tiles + query_tiles, H, B), Shape::kThreads, kBytes>>>(
      Q, K, V, lse, dO, device::read_only(delta), dQ, dK, dV, scale, causal, key_tiles);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
