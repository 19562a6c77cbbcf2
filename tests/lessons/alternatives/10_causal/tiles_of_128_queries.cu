// Alternative for lesson 10: a thread for each of 128 queries, the largest tile, which takes in one key after
// the other and stops at its own: warps end one after the other. Tiles of 16 keys are loaded whole.

#include <cuda_runtime.h>

#include <cmath>

#include "causal.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kQueries = 128, kKeys = 16, kDim = kMaxDim;
constexpr int kSharedBytes = kQueries * (kDim + 1) * sizeof(float);

/// Copies rows [first, first + count) of X, as far as they exist; neighbouring threads move neighbours.
template <class To>
__device__ void load(const View<const float, 2>& X, std::int64_t first, int count, To to) {
  const int D = static_cast<int>(X.shape[1]);
  for (int e = static_cast<int>(threadIdx.x); e < count * D; e += kQueries)
    if (first + e / D < X.shape[0]) to[e / D][e % D] = X.data[(first + e / D) * X.strides[0] + e % D];
}

__global__ void __launch_bounds__(kQueries)
    attention_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                     View<float, 3> lse, float scale) {
  extern __shared__ float rows_smem[];
  auto* Q_smem = reinterpret_cast<float(*)[kDim + 1]>(rows_smem);
  __shared__ float K_smem[kKeys][kDim], V_smem[kKeys][kDim];
  const int D = static_cast<int>(Q.shape[3]), row = static_cast<int>(threadIdx.x);
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2];
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kQueries, query = first_query + row;
  const std::int64_t seen = query < Nq ? query + Nk - Nq + 1 : 0;  // so many keys, if more than 0
  const std::int64_t seen_by_any = min(first_query + kQueries, Nq) + Nk - Nq;

  load(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, kQueries, Q_smem);
  float O_rmem[kDim] = {}, m = -INFINITY, l = 0.0f;
  for (std::int64_t first_key = 0; first_key < seen_by_any; first_key += kKeys) {
    __syncthreads();  // everyone has read the last keys
    load(device::matrix_of(K, blockIdx.z, blockIdx.y), first_key, kKeys, K_smem);
    load(device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, kKeys, V_smem);
    __syncthreads();  // the keys are complete, and so is Q
    for (int key = 0; key < kKeys && first_key + key < seen; ++key) {
      float S = 0.0f;
      for (int d = 0; d < D; ++d) S += Q_smem[row][d] * K_smem[key][d];
      S *= scale;
      const float m_new = fmaxf(m, S), base = m_new == -INFINITY ? 0.0f : m_new;
      const float rescale = expf(m - base), p = expf(S - base);
      m = m_new;
      l = l * rescale + p;
      for (int d = 0; d < D; ++d) O_rmem[d] = O_rmem[d] * rescale + p * V_smem[key][d];
    }
  }

  __syncthreads();  // Q is complete, also where no key came by: O may take its place
  for (int d = 0; d < D; ++d) Q_smem[row][d] = l == 0.0f ? 0.0f : O_rmem[d] / l;  // its own row alone
  if (query < Nq) {
    const View<float, 1> lse_head = device::row_of(lse, blockIdx.z, blockIdx.y);
    lse_head.data[query * lse_head.strides[0]] = m + logf(l);
  }
  __syncthreads();  // all rows are there
  const View<float, 2> O_head = device::matrix_of(O, blockIdx.z, blockIdx.y);
  for (int e = row; e < kQueries * D; e += kQueries)
    if (first_query + e / D < Nq)
      O_head.data[(first_query + e / D) * O_head.strides[0] + e % D] = Q_smem[e / D][e % D];
}

}  // namespace

void causal_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                      View<float, 4> O, View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  const dim3 grid(static_cast<unsigned>((Nq + kQueries - 1) / kQueries), static_cast<unsigned>(H),
                  static_cast<unsigned>(B));
  // More than the 48 KiB that a kernel may have unasked.
  CUDA_CHECK(
      cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  attention_kernel<<<grid, kQueries, kSharedBytes>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
