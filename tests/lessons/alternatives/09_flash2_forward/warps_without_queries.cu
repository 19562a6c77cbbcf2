// Alternative for lesson 09: a thread for each of 128 queries, the most that a block may have. Threads past
// the last query meet no keys, so that whole warps of a tile may have nothing to do.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "flash2_forward.hpp"

namespace course {
namespace {

constexpr int kQueries = 128, kKeys = 8, kDim = static_cast<int>(kMaxDim);
constexpr int kSharedBytes = kQueries * (kDim + 1) * sizeof(float);

/// rows_smem = `rows` rows of X from `first` on, with zeros outside of it; warps read along the rows.
template <int kStride>
__device__ void load_rows(const View<const float, 4>& X, std::int64_t head, std::int64_t first, int rows,
                          float (*rows_smem)[kStride]) {
  const float* from = X.data + head / X.shape[1] * X.strides[0] + head % X.shape[1] * X.strides[1];
  for (int e = static_cast<int>(threadIdx.x); e < rows * kDim; e += kQueries) {
    const std::int64_t row = first + e / kDim, d = e % kDim;
    rows_smem[e / kDim][d] = row < X.shape[2] && d < X.shape[3] ? from[row * X.strides[2] + d] : 0.0f;
  }
}

__global__ void __launch_bounds__(kQueries)
    attend_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                  View<float, 3> lse, float scale) {
  extern __shared__ float rows_smem[];
  auto* Q_smem = reinterpret_cast<float(*)[kDim + 1]>(rows_smem);
  __shared__ float K_smem[kKeys][kDim], V_smem[kKeys][kDim];
  const std::int64_t H = Q.shape[1], Nq = Q.shape[2], Nk = K.shape[2], D = Q.shape[3];
  const std::int64_t tiles = (Nq + kQueries - 1) / kQueries;
  const std::int64_t head = blockIdx.x / tiles, first_query = blockIdx.x % tiles * kQueries;
  const int row = static_cast<int>(threadIdx.x);
  const std::int64_t met = first_query + row < Nq ? Nk : 0;  // so many keys
  load_rows(Q, head, first_query, kQueries, Q_smem);

  float O_rmem[kDim] = {}, m = -INFINITY, l = 0.0f;
  for (std::int64_t first_key = 0; first_key < Nk; first_key += kKeys) {
    __syncthreads();
    load_rows(K, head, first_key, kKeys, K_smem);
    load_rows(V, head, first_key, kKeys, V_smem);
    __syncthreads();
    for (int j = 0; j < kKeys && first_key + j < met; ++j) {
      float s = 0.0f;
      for (int d = 0; d < D; ++d) s += Q_smem[row][d] * K_smem[j][d];
      s *= scale;
      const float m_new = fmaxf(m, s), base = m_new == -INFINITY && s == s ? 0.0f : m_new;
      const float rescale = expf(m - base), p = expf(s - base);
      l = l * rescale + p;
#pragma unroll
      for (int d = 0; d < kDim; ++d)
        if (d < D) O_rmem[d] = O_rmem[d] * rescale + p * V_smem[j][d];
      m = m_new;
    }
  }

  __syncthreads();
#pragma unroll
  for (int d = 0; d < kDim; ++d) Q_smem[row][d] = l == 0.0f ? 0.0f : O_rmem[d] / l;
  if (first_query + row < Nq)
    lse.data[head / H * lse.strides[0] + head % H * lse.strides[1] + (first_query + row) * lse.strides[2]] =
        m + logf(l);
  __syncthreads();
  float* to = O.data + head / H * O.strides[0] + head % H * O.strides[1];
  for (int e = row; e < kQueries * kDim; e += kQueries) {
    const std::int64_t query = first_query + e / kDim, d = e % kDim;
    if (query < Nq && d < D) to[query * O.strides[2] + d] = Q_smem[e / kDim][d];
  }
}

/// O and lse of one query for each thread, which meets all keys twice: for the maximum, and for the rest.
__global__ void rows_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<float, 4> O, View<float, 3> lse, float scale) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, b = blockIdx.z, h = blockIdx.y;
  if (i >= Q.shape[2]) return;
  const std::int64_t D = Q.shape[3], Nk = K.shape[2];
  const auto score = [&](std::int64_t j) {
    float S = 0.0f;
    for (std::int64_t d = 0; d < D; ++d) S += Q(b, h, i, d) * K(b, h, j, d);
    return S * scale;
  };
  float m = -INFINITY, l = 0.0f, O_row[kMaxDim] = {};
  for (std::int64_t j = 0; j < Nk; ++j) m = fmaxf(m, score(j));
  for (std::int64_t j = 0; j < Nk; ++j) {
    const float P = expf(score(j) - (m == -INFINITY ? 0.0f : m));
    l += P;
    for (std::int64_t d = 0; d < D; ++d) O_row[d] += P * V(b, h, j, d);
  }
  lse(b, h, i) = m + logf(l);
  for (std::int64_t d = 0; d < D; ++d) O(b, h, i, d) = l == 0.0f ? 0.0f : O_row[d] / l;
}

}  // namespace

void flash2_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  const std::int64_t blocks = B * H * ((Nq + kQueries - 1) / kQueries);
  if (blocks == 0) return;
  // More than the 48 KiB that a kernel may have unasked.
  CUDA_CHECK(cudaFuncSetAttribute(attend_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  attend_kernel<<<static_cast<unsigned>(blocks), kQueries, kSharedBytes>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

void flash2_forward_rows(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale) {
  device::require_attention_arguments(Q, K, V, O, Q.shape[1], kMaxDim);
  device::require_shape("lse", lse, {Q.shape[0], Q.shape[1], Q.shape[2]});
  if (Q.shape[0] * Q.shape[1] * Q.shape[2] == 0) return;
  const dim3 grid(static_cast<unsigned>((Q.shape[2] + 127) / 128), static_cast<unsigned>(Q.shape[1]),
                  static_cast<unsigned>(Q.shape[0]));
  rows_kernel<<<grid, 128>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
