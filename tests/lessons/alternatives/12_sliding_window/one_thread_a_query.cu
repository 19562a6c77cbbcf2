// Alternative for lesson 12: a thread for each query, which meets the keys one after the other: no tile of S,
// and no mask, since each thread knows where its own window begins and ends. Tiles of 48 keys are loaded
// whole, 8 keys at a time.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "sliding_window.hpp"

namespace course {

constexpr int kQueries = 64, kTileKeys = 48, kKeys = 8;  // of a block; of a tile; in shared memory

/// rows_smem = n rows of X from first_row on, or the other way round, by all threads of the block.
template <class T, class Move>
__device__ void move_rows(const View<T, 2>& X, std::int64_t first_row, std::int64_t n, Move move) {
  const std::int64_t D = X.shape[1];
  for (std::int64_t place = threadIdx.x; place < n * D; place += kQueries)
    move(X.data[(first_row + place / D) * X.strides[0] + place % D], place / D, place % D);
}

__global__ void window_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                              View<float, 4> O, View<float, 3> lse, float scale, std::int64_t window) {
  __shared__ float Q_smem[kQueries][kMaxDim + 1];  // becomes O
  __shared__ float K_smem[kKeys][kMaxDim], V_smem[kKeys][kMaxDim];
  const std::int64_t Nq = Q.shape[2], D = Q.shape[3], offset = K.shape[2] - Nq;
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kQueries;
  const std::int64_t queries = min(std::int64_t{kQueries}, Nq - first_query);
  const std::int64_t position = first_query + threadIdx.x + offset;
  const bool has_query = threadIdx.x < queries;
  const auto K_head = device::matrix_of(K, blockIdx.z, blockIdx.y),
             V_head = device::matrix_of(V, blockIdx.z, blockIdx.y);
  move_rows(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, queries,
            [&](float x, std::int64_t row, std::int64_t d) { Q_smem[row][d] = x; });

  float m = -INFINITY, l = 0.0f, O_row[kMaxDim] = {};
  const std::int64_t begin = max(first_query + offset - window + 1, std::int64_t{0}),
                     seen_by_any = max(first_query + queries + offset, std::int64_t{0}),
                     end = min((seen_by_any + kTileKeys - 1) / kTileKeys * kTileKeys, K.shape[2]);
  for (std::int64_t first_key = begin / kTileKeys * kTileKeys; first_key < end; first_key += kKeys) {
    const std::int64_t keys = min(std::int64_t{kKeys}, end - first_key);
    __syncthreads();  // all have used the last tile
    move_rows(K_head, first_key, keys,
              [&](float x, std::int64_t row, std::int64_t d) { K_smem[row][d] = x; });
    move_rows(V_head, first_key, keys,
              [&](float x, std::int64_t row, std::int64_t d) { V_smem[row][d] = x; });
    __syncthreads();  // Q, K and V are complete
    if (!has_query) continue;
    for (std::int64_t key = max(position - window + 1 - first_key, std::int64_t{0});
         key < min(keys, position + 1 - first_key); ++key) {
      float S = 0.0f;
      for (std::int64_t d = 0; d < D; ++d) S += Q_smem[threadIdx.x][d] * K_smem[key][d];
      S *= scale;
      const float m_new = fmaxf(m, S), base = m_new == -INFINITY ? 0.0f : m_new;
      const float rescale = expf(m - base), P = expf(S - base);
      m = m_new;
      l = l * rescale + P;
      for (std::int64_t d = 0; d < D; ++d) O_row[d] = O_row[d] * rescale + P * V_smem[key][d];
    }
  }
  __syncthreads();  // all have used their row of Q
  if (has_query) {
    for (std::int64_t d = 0; d < D; ++d) Q_smem[threadIdx.x][d] = l == 0.0f ? 0.0f : O_row[d] / l;
    const auto lse_row = device::row_of(lse, blockIdx.z, blockIdx.y);
    lse_row.data[(first_query + threadIdx.x) * lse_row.strides[0]] = m + logf(l);
  }
  __syncthreads();  // O is complete
  move_rows(device::matrix_of(O, blockIdx.z, blockIdx.y), first_query, queries,
            [&](float& x, std::int64_t row, std::int64_t d) { x = Q_smem[row][d]; });
}

void sliding_window_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                              View<float, 4> O, View<float, 3> lse, float scale, std::int64_t window) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (window < 1)
    throw std::invalid_argument("window is " + std::to_string(window) + "; it must be positive.");
  if (B == 0 || H == 0 || Nq == 0) return;
  const dim3 grid(static_cast<unsigned>((Nq + kQueries - 1) / kQueries), static_cast<unsigned>(H),
                  static_cast<unsigned>(B));
  window_kernel<<<grid, kQueries>>>(Q, K, V, O, lse, scale, std::min(window, K.shape[2]));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
