// Alternative for lesson 18: no tile of scores, and a call of philox() for every single weight. A thread has
// a row: of Q in the forward pass and for dQ, of K for dK and dV. What it meets lies in shared memory, eight
// rows at a time, from the first that one thread of the block needs to the last.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/flash_backward.hpp"
#include "device/philox.hpp"
#include "device/reduce.hpp"
#include "dropout.hpp"

namespace course {

constexpr int kRows = 64, kOthers = 8;  // rows of a block, a thread for each; rows that they meet at once

struct Seeing {
  bool causal;
  std::int64_t window, sinks, Nq, Nk;
  __device__ std::int64_t position(std::int64_t query) const { return query + Nk - Nq; }
  __device__ bool operator()(std::int64_t query, std::int64_t key) const {
    if (causal && key > position(query)) return false;
    return key < sinks || position(query) - key < window;
  }
};

/// Dropout: 1/(1 - dropout) where a weight is kept, 0 where it is dropped.
struct Keeping {
  float dropout;
  std::uint64_t seed;
  __device__ float operator()(std::int64_t batch, std::int64_t head, std::int64_t query,
                              std::int64_t key) const {
    if (dropout == 0.0f) return 1.0f;
    const std::uint32_t counter[4] = {static_cast<std::uint32_t>(key / 4), static_cast<std::uint32_t>(query),
                                      static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(batch)};
    std::uint32_t words[4];
    device::philox(counter, seed, words);
    const double threshold = floor(static_cast<double>(dropout) * 4294967296.0);
    return words[key % 4] < threshold ? 0.0f : 1.0f / (1.0f - dropout);
  }
};

/// Calls move(element, row, d) for n rows of X from first_row on, by all threads of the block.
template <class T, class Move>
__device__ void move_rows(const View<T, 2>& X, std::int64_t first_row, std::int64_t n, Move move) {
  const std::int64_t D = X.shape[1];
  for (std::int64_t place = threadIdx.x; place < n * D; place += kRows)
    move(X.data[(first_row + place / D) * X.strides[0] + place % D], place / D, place % D);
}

/// The rows of a block, by way of shared memory, where neighbouring threads read neighbouring elements.
struct Rows {
  float smem[kRows][kMaxDim + 1];

  __device__ void take(const View<const float, 2>& X, std::int64_t first_row, float* row) {
    __syncthreads();  // all have taken what was there
    const std::int64_t n = min(std::int64_t{kRows}, X.shape[0] - first_row);
    move_rows(X, first_row, n, [this](float x, std::int64_t i, std::int64_t d) { smem[i][d] = x; });
    __syncthreads();  // all rows are there
    for (std::int64_t d = 0; threadIdx.x < n && d < X.shape[1]; ++d) row[d] = smem[threadIdx.x][d];
  }
  __device__ void leave(const float* row, float factor, const View<float, 2>& X, std::int64_t first_row) {
    __syncthreads();  // all have taken what was there
    const std::int64_t n = min(std::int64_t{kRows}, X.shape[0] - first_row);
    for (std::int64_t d = 0; threadIdx.x < n && d < X.shape[1]; ++d) smem[threadIdx.x][d] = row[d] * factor;
    __syncthreads();  // all rows are there
    move_rows(X, first_row, n, [this](float& x, std::int64_t i, std::int64_t d) { x = smem[i][d]; });
  }
};

/// Calls meet(n, row) for the rows [begin, end) of X and Y, which lie in X_smem[n] and Y_smem[n].
template <class Meet>
__device__ void meet_rows(const View<const float, 2>& X, const View<const float, 2>& Y, std::int64_t begin,
                          std::int64_t end, float (*X_smem)[kMaxDim], float (*Y_smem)[kMaxDim], Meet meet) {
  for (std::int64_t first = begin; first < end; first += kOthers) {
    const std::int64_t rows = min(std::int64_t{kOthers}, end - first);
    __syncthreads();  // all have met the last ones
    move_rows(X, first, rows, [=](float x, std::int64_t i, std::int64_t d) { X_smem[i][d] = x; });
    move_rows(Y, first, rows, [=](float x, std::int64_t i, std::int64_t d) { Y_smem[i][d] = x; });
    __syncthreads();  // these are there
    for (std::int64_t n = 0; n < rows; ++n) meet(n, first + n);
  }
}

/// Calls meet_rows() for the keys that the queries from first_query on see: the window's, then sinks before
/// it.
template <class Meet>
__device__ void meet_keys(const View<const float, 2>& K, const View<const float, 2>& V, const Seeing& sees,
                          std::int64_t first_query, float (*K_smem)[kMaxDim], float (*V_smem)[kMaxDim],
                          Meet meet) {
  const std::int64_t last_query = min(first_query + kRows, sees.Nq) - 1;
  const std::int64_t begin = max(sees.position(first_query) - sees.window + 1, std::int64_t{0});
  const std::int64_t end = sees.causal ? sees.position(last_query) + 1 : sees.Nk;
  meet_rows(K, V, begin, end, K_smem, V_smem, meet);
  meet_rows(K, V, 0, min(min(sees.sinks, begin), end), K_smem, V_smem, meet);
}

__device__ float dot(const float* a, const float* b, std::int64_t D) {
  float sum = 0.0f;
  for (std::int64_t d = 0; d < D; ++d) sum += a[d] * b[d];
  return sum;
}

__global__ void forward_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                               const float* sink, View<float, 4> O, View<float, 3> lse, float scale,
                               Seeing sees, Keeping keeping) {
  __shared__ Rows rows;
  __shared__ float K_smem[kOthers][kMaxDim], V_smem[kOthers][kMaxDim];
  const std::int64_t D = Q.shape[3], first_query = std::int64_t{blockIdx.x} * kRows,
                     query = first_query + threadIdx.x;
  const std::int64_t head_kv = blockIdx.y * K.shape[1] / Q.shape[1];
  float q[kMaxDim] = {}, o[kMaxDim] = {}, m = -INFINITY, l = 0.0f;
  rows.take(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, q);

  const auto rescale_to = [&](float score) {  // returns what exponents are relative to
    const float m_new = fmaxf(m, score), base = m_new == -INFINITY ? 0.0f : m_new, factor = expf(m - base);
    m = m_new;
    l *= factor;
    for (std::int64_t d = 0; d < D; ++d) o[d] *= factor;
    return base;
  };
  meet_keys(device::matrix_of(K, blockIdx.z, head_kv), device::matrix_of(V, blockIdx.z, head_kv), sees,
            first_query, K_smem, V_smem, [&](std::int64_t n, std::int64_t key) {
              if (query >= sees.Nq || !sees(query, key)) return;
              const float S = dot(q, K_smem[n], D) * scale, P = expf(S - rescale_to(S));
              l += P;
              const float kept = P * keeping(blockIdx.z, blockIdx.y, query, key);
              for (std::int64_t d = 0; d < D; ++d) o[d] += kept * V_smem[n][d];
            });
  if (sink != nullptr) l += expf(sink[blockIdx.y] - rescale_to(sink[blockIdx.y]));
  rows.leave(o, l == 0.0f ? 0.0f : 1.0f / l, device::matrix_of(O, blockIdx.z, blockIdx.y), first_query);
  const View<float, 1> lse_head = device::row_of(lse, blockIdx.z, blockIdx.y);
  if (query < sees.Nq) lse_head.data[query * lse_head.strides[0]] = m + logf(l);
}

__global__ void delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  device::store_delta(device::matrix_of(O, blockIdx.z, blockIdx.y),
                      device::matrix_of(dO, blockIdx.z, blockIdx.y),
                      device::row_of(delta, blockIdx.z, blockIdx.y), std::int64_t{blockIdx.x} * 2);
}

__global__ void keys_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                            View<float, 4> dK, View<float, 4> dV, float scale, Seeing sees, Keeping keeping) {
  __shared__ Rows rows;
  __shared__ float Q_smem[kOthers][kMaxDim], dO_smem[kOthers][kMaxDim];
  const std::int64_t D = Q.shape[3], first_key = std::int64_t{blockIdx.x} * kRows,
                     key = first_key + threadIdx.x;
  const std::int64_t last_key = min(first_key + kRows, sees.Nk) - 1, offset = sees.Nk - sees.Nq;
  float k[kMaxDim] = {}, v[kMaxDim] = {}, dk[kMaxDim] = {}, dv[kMaxDim] = {};
  rows.take(device::matrix_of(K, blockIdx.z, blockIdx.y), first_key, k);
  rows.take(device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, v);

  const std::int64_t begin = sees.causal ? max(first_key - offset, std::int64_t{0}) : 0;
  const std::int64_t end = first_key < sees.sinks ? sees.Nq : min(last_key + sees.window - offset, sees.Nq);
  const std::int64_t group = Q.shape[1] / K.shape[1];
  for (std::int64_t head = blockIdx.y * group; head < (blockIdx.y + 1) * group; ++head) {
    const View<const float, 1> lse_head = device::row_of(lse, blockIdx.z, head);
    const View<const float, 1> delta_head = device::row_of(delta, blockIdx.z, head);
    meet_rows(device::matrix_of(Q, blockIdx.z, head), device::matrix_of(dO, blockIdx.z, head), begin, end,
              Q_smem, dO_smem, [&](std::int64_t n, std::int64_t query) {
                if (key >= sees.Nk || !sees(query, key)) return;
                const float P = device::weight_of(dot(k, Q_smem[n], D) * scale,
                                                  lse_head.data[query * lse_head.strides[0]]);
                const float factor = keeping(blockIdx.z, head, query, key);
                const float product = dot(v, dO_smem[n], D), dP = factor == 0.0f ? 0.0f : factor * product;
                const float dS =
                    device::score_gradient(P, dP, delta_head.data[query * delta_head.strides[0]]);
                for (std::int64_t d = 0; d < D; ++d)
                  dv[d] += P * factor * dO_smem[n][d], dk[d] += dS * Q_smem[n][d];
              });
  }
  rows.leave(dk, scale, device::matrix_of(dK, blockIdx.z, blockIdx.y), first_key);
  rows.leave(dv, 1.0f, device::matrix_of(dV, blockIdx.z, blockIdx.y), first_key);
}

__global__ void queries_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                               View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                               View<float, 4> dQ, float scale, Seeing sees, Keeping keeping) {
  __shared__ Rows rows;
  __shared__ float K_smem[kOthers][kMaxDim], V_smem[kOthers][kMaxDim];
  const std::int64_t D = Q.shape[3], first_query = std::int64_t{blockIdx.x} * kRows,
                     query = first_query + threadIdx.x;
  const std::int64_t head_kv = blockIdx.y * K.shape[1] / Q.shape[1];
  float q[kMaxDim] = {}, g[kMaxDim] = {}, dq[kMaxDim] = {}, lse_row = -INFINITY, delta_row = 0.0f;
  rows.take(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, q);
  rows.take(device::matrix_of(dO, blockIdx.z, blockIdx.y), first_query, g);
  if (query < sees.Nq) {
    const View<const float, 1> lse_head = device::row_of(lse, blockIdx.z, blockIdx.y);
    const View<const float, 1> delta_head = device::row_of(delta, blockIdx.z, blockIdx.y);
    lse_row = lse_head.data[query * lse_head.strides[0]];
    delta_row = delta_head.data[query * delta_head.strides[0]];
  }
  meet_keys(device::matrix_of(K, blockIdx.z, head_kv), device::matrix_of(V, blockIdx.z, head_kv), sees,
            first_query, K_smem, V_smem, [&](std::int64_t n, std::int64_t key) {
              if (query >= sees.Nq || !sees(query, key)) return;
              const float P = device::weight_of(dot(q, K_smem[n], D) * scale, lse_row);
              const float factor = keeping(blockIdx.z, blockIdx.y, query, key);
              const float product = dot(g, V_smem[n], D), dP = factor == 0.0f ? 0.0f : factor * product;
              const float dS = device::score_gradient(P, dP, delta_row);
              for (std::int64_t d = 0; d < D; ++d) dq[d] += dS * K_smem[n][d];
            });
  rows.leave(dq, scale, device::matrix_of(dQ, blockIdx.z, blockIdx.y), first_query);
}

/// A warp for each head: the rows of all batches, one after the other.
__global__ void sink_kernel(const float* sink, View<const float, 3> lse, View<const float, 3> delta,
                            float* dsink) {
  float sum = 0.0f;
  const std::int64_t Nq = lse.shape[2];
  for (std::int64_t place = threadIdx.x; place < lse.shape[0] * Nq; place += device::kWarpSize) {
    const std::int64_t batch = place / Nq, row = place % Nq;
    const float weight = device::weight_of(sink[blockIdx.x],
                                           device::row_of(lse, batch, blockIdx.x).data[row * lse.strides[2]]);
    sum += weight * device::row_of(delta, batch, blockIdx.x).data[row * delta.strides[2]];
  }
  sum = device::sum_warp(sum);
  if (threadIdx.x == 0) dsink[blockIdx.x] = -sum;
}

Seeing seeing(const View<const float, 4>& Q, const View<const float, 4>& K, bool causal, std::int64_t window,
              std::int64_t sinks, float dropout) {
  if (!(dropout >= 0.0f && dropout < 1.0f))
    throw std::invalid_argument("dropout is " + std::to_string(dropout) + "; it must be in [0, 1).");
  if (window < 1)
    throw std::invalid_argument("window is " + std::to_string(window) + "; it must be positive.");
  if (sinks < 0)
    throw std::invalid_argument("sinks is " + std::to_string(sinks) + "; it must not be negative.");
  return {causal, std::min(window, K.shape[2] + Q.shape[2]), sinks, Q.shape[2], K.shape[2]};
}

template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::int64_t rows, std::int64_t H, std::int64_t B, Arguments... arguments) {
  if (rows == 0 || H == 0 || B == 0) return;
  const dim3 grid(static_cast<unsigned>((rows + kRows - 1) / kRows), static_cast<unsigned>(H),
                  static_cast<unsigned>(B));
  kernel<<<grid, kRows>>>(arguments...);
  CUDA_CHECK(cudaGetLastError());
}

void attention_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                       const float* sink, View<float, 4> O, View<float, 3> lse, float scale, bool causal,
                       std::int64_t window, std::int64_t sinks, float dropout, std::uint64_t seed) {
  device::require_groups(Q.shape[1], K.shape[1]);
  device::require_attention_arguments(Q, K, V, O, K.shape[1], kMaxDim);
  device::require_shape("lse", lse, {Q.shape[0], Q.shape[1], Q.shape[2]});
  launch(forward_kernel, Q.shape[2], Q.shape[1], Q.shape[0], Q, K, V, sink, O, lse, scale,
         seeing(Q, K, causal, window, sinks, dropout), Keeping{dropout, seed});
}

void attention_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                        const float* sink, View<const float, 4> O, View<const float, 3> lse,
                        View<const float, 4> dO, View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
                        View<float, 4> dV, float* dsink, float scale, bool causal, std::int64_t window,
                        std::int64_t sinks, float dropout, std::uint64_t seed) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1];
  device::require_groups(H, H_kv);
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, H_kv, kMaxDim);
  const Seeing sees = seeing(Q, K, causal, window, sinks, dropout);
  const Keeping keeping{dropout, seed};
  const View<const float, 3> delta_read = device::read_only(delta);
  launch(delta_kernel, Nq * kRows / 2, H, B, O, dO, delta);  // two warps a block, two rows
  launch(queries_kernel, Nq, H, B, Q, K, V, lse, dO, delta_read, dQ, scale, sees, keeping);
  launch(keys_kernel, K.shape[2], H_kv, B, Q, K, V, lse, dO, delta_read, dK, dV, scale, sees, keeping);
  if (sink == nullptr || H == 0) return;
  sink_kernel<<<static_cast<unsigned>(H), device::kWarpSize>>>(sink, lse, delta_read, dsink);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
