// Grouped-query attention with rows in the other order, all queries of the first head of a group before those
// of its second, in tiles of 64 rows.

#include <cuda_runtime.h>

#include <stdexcept>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_forward.hpp"
#include "grouped_query.hpp"

namespace course {

using Shape = device::AttentionShape<64, 64, 128>;

__global__ void __launch_bounds__(Shape::kThreads)
    head_by_head_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                        View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t kv_head = blockIdx.x % K.shape[1], batch = blockIdx.y;
  const std::int64_t first_row = blockIdx.x / K.shape[1] * Shape::kBlockM;
  const std::int64_t group = Q.shape[1] / K.shape[1], Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const std::int64_t rows_left = min(group * Nq - first_row, std::int64_t{Shape::kBlockM});
  const auto place = [&](const auto& X, int row) {
    const std::int64_t head = kv_head * group + (first_row + row) / Nq, query = (first_row + row) % Nq;
    return row < rows_left ? X.data + batch * X.strides[0] + head * X.strides[1] + query * X.strides[2]
                           : nullptr;
  };

  device::ForwardBlock<Shape> block(first_row, scale, shared_memory);
  device::load_rows<Shape::kThreads>([&](int row) { return place(Q, row); }, Q.shape[3], block.Q_tile());
  const std::int64_t last_row = first_row + rows_left - 1;
  const bool one_head = first_row / Nq == last_row / Nq;
  const std::int64_t end = causal && one_head ? last_row % Nq + past + 1 : Nk;
  for (std::int64_t first_key = 0; first_key < end; first_key += Shape::kBlockN) {
    block.attend(device::matrix_of(K, batch, kv_head), device::matrix_of(V, batch, kv_head), first_key,
                 [=](std::int64_t row, std::int64_t key) { return causal && key > row % Nq + past; });
  }
  block.store([&](int row) { return place(O, row); }, [&](int row) { return place(lse, row); }, Q.shape[3]);
}

void grouped_query_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                             View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  if (H_kv == 0 ? H > 0 : H % H_kv != 0)
    throw std::invalid_argument("The heads of K do not divide those of Q.");
  device::require_attention_arguments(Q, K, V, O, H_kv, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  const std::int64_t tiles = (H / H_kv * Nq + Shape::kBlockM - 1) / Shape::kBlockM;
  const dim3 grid(static_cast<unsigned>(tiles * H_kv), static_cast<unsigned>(B));
  constexpr int kSharedBytes = device::ForwardBlock<Shape>::kSharedBytes;
  CUDA_CHECK(
      cudaFuncSetAttribute(head_by_head_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  head_by_head_kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
