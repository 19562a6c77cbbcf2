// Alternative for lesson 09: the course's own ForwardBlock, with which the lessons after this one begin, and
// tiles of 64 queries and 128 keys; all blocks along x, the last tile of queries first.

#include <cuda_runtime.h>

#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"
#include "flash2_forward.hpp"

namespace course {
namespace {

using Shape = device::AttentionShape<64, 128, 128>;
using Block = device::ForwardBlock<Shape>;

__global__ void __launch_bounds__(Shape::kThreads)
    attend_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                  View<float, 3> lse, float scale) {
  extern __shared__ float4 shared_memory[];
  const unsigned H = static_cast<unsigned>(Q.shape[1]), heads = H * static_cast<unsigned>(Q.shape[0]);
  const unsigned b = blockIdx.x % heads / H, h = blockIdx.x % H;
  const std::int64_t tile = gridDim.x / heads - 1 - blockIdx.x / heads;
  Block block(device::matrix_of(Q, b, h), tile * Shape::kBlockM, scale, shared_memory);
  for (std::int64_t first_key = 0; first_key < K.shape[2]; first_key += Shape::kBlockN)
    block.attend(device::matrix_of(K, b, h), device::matrix_of(V, b, h), first_key);
  block.store(device::matrix_of(O, b, h), device::row_of(lse, b, h));
}

}  // namespace

void flash2_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  const std::int64_t blocks = B * H * ((Nq + Shape::kBlockM - 1) / Shape::kBlockM);
  if (blocks == 0) return;
  CUDA_CHECK(
      cudaFuncSetAttribute(attend_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kSharedBytes));
  attend_kernel<<<static_cast<unsigned>(blocks), Shape::kThreads, Block::kSharedBytes>>>(Q, K, V, O, lse,
                                                                                         scale);
  CUDA_CHECK(cudaGetLastError());
}

void flash2_forward_rows(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale) {
  flash2_forward(Q, K, V, O, lse, scale);
}

}  // namespace course
