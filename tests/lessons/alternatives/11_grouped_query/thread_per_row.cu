// Grouped-query attention with one thread for each row, 64 in a block, and nothing from device/ but the
// checks.

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "grouped_query.hpp"

namespace course {

constexpr int kRows = 64, kKeys = 8, kDim = 128;

__global__ void __launch_bounds__(kRows)
    thread_per_row_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  __shared__ float Q_smem[kRows][kDim + 1], K_smem[kKeys][kDim], V_smem[kKeys][kDim];
  const int thread = static_cast<int>(threadIdx.x), D = static_cast<int>(Q.shape[3]);
  const std::int64_t group = Q.shape[1] / K.shape[1], Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kRows, kv_head = blockIdx.y, batch = blockIdx.z;
  const std::int64_t end_row = min(first_row + kRows, group * Nq);
  const auto place = [&](const auto& X, std::int64_t row) {
    return X.data + batch * X.strides[0] + (kv_head * group + row % group) * X.strides[1] +
           row / group * X.strides[2];
  };
  for (std::int64_t row = first_row; row < end_row; ++row) {
    for (int d = thread; d < D; d += kRows) Q_smem[row - first_row][d] = place(Q, row)[d];
  }
  __syncthreads();  // Q is there

  const std::int64_t own_row = first_row + thread;
  const std::int64_t own_end = own_row >= end_row ? 0 : causal ? min(own_row / group + past + 1, Nk) : Nk;
  const std::int64_t end = causal ? (end_row - 1) / group + past + 1 : Nk;
  float m = -INFINITY, l = 0.0f, O_rmem[kDim] = {};
  for (std::int64_t first_key = 0; first_key < end; first_key += kKeys) {
    __syncthreads();  // everyone is done with the last keys
    for (int key = 0; key < kKeys && first_key + key < Nk; ++key) {
      for (int d = thread; d < D; d += kRows) {
        K_smem[key][d] =
            K.data[batch * K.strides[0] + kv_head * K.strides[1] + (first_key + key) * K.strides[2] + d];
        V_smem[key][d] =
            V.data[batch * V.strides[0] + kv_head * V.strides[1] + (first_key + key) * V.strides[2] + d];
      }
    }
    __syncthreads();  // K and V are there
    for (int key = 0; first_key + key < min(first_key + kKeys, own_end); ++key) {
      float score = 0.0f;
      for (int d = 0; d < D; ++d) score += Q_smem[thread][d] * K_smem[key][d];
      score *= scale;
      const float m_new = fmaxf(m, score), base = m_new == -INFINITY ? 0.0f : m_new;
      const float rescale = expf(m - base), p = expf(score - base);
      m = m_new;
      l = l * rescale + p;
      for (int d = 0; d < D; ++d) O_rmem[d] = O_rmem[d] * rescale + p * V_smem[key][d];
    }
  }
  if (own_row < end_row) {
    *place(lse, own_row) = m + logf(l);
    for (int d = 0; d < D; ++d) Q_smem[thread][d] = l == 0.0f ? 0.0f : O_rmem[d] / l;
  }
  __syncthreads();  // O is complete
  for (std::int64_t row = first_row; row < end_row; ++row) {
    for (int d = thread; d < D; d += kRows) place(O, row)[d] = Q_smem[row - first_row][d];
  }
}

void grouped_query_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                             View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  if (H_kv == 0 ? H > 0 : H % H_kv != 0)
    throw std::invalid_argument("K has heads that do not divide those of Q.");
  device::require_attention_arguments(Q, K, V, O, H_kv, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  const dim3 grid(static_cast<unsigned>((H / H_kv * Nq + kRows - 1) / kRows), static_cast<unsigned>(H_kv),
                  static_cast<unsigned>(B));
  thread_per_row_kernel<<<grid, kRows>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
