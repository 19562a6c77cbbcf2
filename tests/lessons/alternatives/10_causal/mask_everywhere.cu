// Alternative for lesson 10: tiles of 64 queries, from the first to the last; every tile of keys that is
// loaded is masked, whether it needs it or not.

#include <cuda_runtime.h>

#include "causal.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"

namespace course {
namespace {

using Shape = device::AttentionShape<64, 64, 128>;

__global__ void __launch_bounds__(Shape::kThreads)
    attention_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                     View<float, 3> lse, float scale) {
  extern __shared__ float4 shared_memory[];
  const unsigned H = static_cast<unsigned>(Q.shape[1]), b = blockIdx.y / H, h = blockIdx.y % H;
  const std::int64_t first_query = std::int64_t{blockIdx.x} * Shape::kBlockM;
  const std::int64_t end_query = min(first_query + Shape::kBlockM, Q.shape[2]);
  const std::int64_t ahead = K.shape[2] - Q.shape[2];
  device::ForwardBlock<Shape> block(device::matrix_of(Q, b, h), first_query, scale, shared_memory);
  for (std::int64_t first_key = 0; first_key < end_query + ahead; first_key += Shape::kBlockN)
    block.attend(device::matrix_of(K, b, h), device::matrix_of(V, b, h), first_key,
                 [=](std::int64_t query, std::int64_t key) { return query + ahead < key; });
  block.store(device::matrix_of(O, b, h), device::row_of(lse, b, h));
}

}  // namespace

void causal_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                      View<float, 4> O, View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  const dim3 grid(static_cast<unsigned>((Nq + Shape::kBlockM - 1) / Shape::kBlockM),
                  static_cast<unsigned>(B * H));
  constexpr int kSharedBytes = device::ForwardBlock<Shape>::kSharedBytes;
  CUDA_CHECK(
      cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  attention_kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
