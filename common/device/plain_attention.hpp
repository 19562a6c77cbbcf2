#pragma once
/// @file
/// Attention and its gradients in float32 as short as they can be: a thread computes a row, and rows have any
/// strides. For lessons that are about what stands around a kernel. D is at most kPlainMaxDim.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "tensor/view.hpp"

namespace course::device {

inline constexpr int kPlainThreads = 64;  ///< threads in a block
inline constexpr int kPlainMaxDim = 128;  ///< numbers in a row, at most

/// Which row of (batch, head, row) a thread has. `inside`: there is one.
struct PlainRow {
  std::int64_t batch, head, row;
  bool inside;
};

__device__ inline PlainRow plain_row_of(std::int64_t B, std::int64_t H, std::int64_t N) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kPlainThreads + threadIdx.x;
  return {index / (H * N), index / N % H, index % N, index < B * H * N};
}

/// Σ_d X[row of X][d] · Y[row of Y][d].
__device__ inline float plain_dot(const View<const float, 4>& X, const View<const float, 4>& Y,
                                  const PlainRow& at, std::int64_t row_of_X, std::int64_t row_of_Y) {
  float sum = 0.0f;
  for (std::int64_t d = 0; d < X.shape[3]; ++d)
    sum += X(at.batch, at.head, row_of_X, d) * Y(at.batch, at.head, row_of_Y, d);
  return sum;
}

/// O and lse. Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq). A thread has a row
/// of Q; causal: query i sees the keys up to i + Nk - Nq.
__global__ void plain_forward_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                                     View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const PlainRow at = plain_row_of(Q.shape[0], Q.shape[1], Q.shape[2]);
  if (!at.inside) return;
  const std::int64_t D = Q.shape[3], Nk = K.shape[2];
  const std::int64_t keys = causal ? max(at.row + Nk - Q.shape[2] + 1, std::int64_t{0}) : Nk;
  float largest = -INFINITY, sum = 0.0f, acc[kPlainMaxDim] = {};
  for (std::int64_t key = 0; key < keys; ++key)
    largest = fmaxf(largest, plain_dot(Q, K, at, at.row, key) * scale);
  for (std::int64_t key = 0; key < keys; ++key) {
    const float weight = expf(plain_dot(Q, K, at, at.row, key) * scale - largest);
    sum += weight;
    for (std::int64_t d = 0; d < D; ++d) acc[d] += weight * V(at.batch, at.head, key, d);
  }
  for (std::int64_t d = 0; d < D; ++d) O(at.batch, at.head, at.row, d) = keys > 0 ? acc[d] / sum : 0.0f;
  lse(at.batch, at.head, at.row) = keys > 0 ? largest + logf(sum) : -INFINITY;
}

/// What both kernels of the gradients take. Shapes: as plain_forward_kernel(); dO is (B, H, Nq, D).
struct PlainSaved {
  View<const float, 4> Q, K, V, O;
  View<const float, 3> lse;
  View<const float, 4> dO;
  float scale;
  bool causal;

  __device__ bool sees(std::int64_t query, std::int64_t key) const {
    return !causal || key <= query + K.shape[2] - Q.shape[2];
  }
  /// P and dS of a query and a key that it sees.
  __device__ float2 weight_and_gradient(const PlainRow& at, std::int64_t query, std::int64_t key) const {
    const float P = expf(plain_dot(Q, K, at, query, key) * scale - lse(at.batch, at.head, query));
    const float delta = plain_dot(dO, O, at, query, query);
    return {P, P * (plain_dot(dO, V, at, query, key) - delta)};
  }
};

/// dQ, of the shape of Q. A thread has a row of Q.
__global__ void plain_queries_kernel(PlainSaved arg, View<float, 4> dQ) {
  const PlainRow at = plain_row_of(dQ.shape[0], dQ.shape[1], dQ.shape[2]);
  if (!at.inside) return;
  float acc[kPlainMaxDim] = {};
  for (std::int64_t key = 0; key < arg.K.shape[2]; ++key) {
    if (!arg.sees(at.row, key)) continue;
    const float dS = arg.weight_and_gradient(at, at.row, key).y;
    for (std::int64_t d = 0; d < dQ.shape[3]; ++d) acc[d] += dS * arg.K(at.batch, at.head, key, d);
  }
  for (std::int64_t d = 0; d < dQ.shape[3]; ++d) dQ(at.batch, at.head, at.row, d) = acc[d] * arg.scale;
}

/// dK and dV, of the shape of K. A thread has a row of K.
__global__ void plain_keys_kernel(PlainSaved arg, View<float, 4> dK, View<float, 4> dV) {
  const PlainRow at = plain_row_of(dK.shape[0], dK.shape[1], dK.shape[2]);
  if (!at.inside) return;
  float dK_acc[kPlainMaxDim] = {}, dV_acc[kPlainMaxDim] = {};
  for (std::int64_t query = 0; query < arg.Q.shape[2]; ++query) {
    if (!arg.sees(query, at.row)) continue;
    const float2 weight = arg.weight_and_gradient(at, query, at.row);
    for (std::int64_t d = 0; d < dK.shape[3]; ++d) {
      dV_acc[d] += weight.x * arg.dO(at.batch, at.head, query, d);
      dK_acc[d] += weight.y * arg.Q(at.batch, at.head, query, d);
    }
  }
  for (std::int64_t d = 0; d < dK.shape[3]; ++d) {
    dK(at.batch, at.head, at.row, d) = dK_acc[d] * arg.scale;
    dV(at.batch, at.head, at.row, d) = dV_acc[d];
  }
}

}  // namespace course::device
