// The backward pass of grouped heads with one thread for each key, or query, 32 in a block, and nothing from
// device/ but the checks. Query by query, all heads of a group take their turns.

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "grouped_query_backward.hpp"

namespace course {

constexpr int kRows = 32, kOthers = 8, kDim = 128;

/// Calls each(row, d) for all elements of `count` rows, neighbouring threads with neighbouring d.
template <class Each>
__device__ void for_rows(std::int64_t count, std::int64_t D, Each each) {
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t d = threadIdx.x; d < D; d += kRows) each(row, d);
  }
}

template <class T>
__device__ T* begin_of(const View<T, 4>& X, std::int64_t head, std::int64_t row) {
  return X.data + blockIdx.z * X.strides[0] + head * X.strides[1] + row * X.strides[2];
}
template <class T>
__device__ T& at(const View<T, 3>& x, std::int64_t head, std::int64_t row) {
  return x.data[blockIdx.z * x.strides[0] + head * x.strides[1] + row * x.strides[2]];
}

__global__ void __launch_bounds__(kRows)
    delta_of_rows_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  const std::int64_t row = blockIdx.x, head = blockIdx.y;
  float sum = 0.0f;
  for (std::int64_t d = threadIdx.x; d < O.shape[3]; d += kRows)
    sum += begin_of(O, head, row)[d] * begin_of(dO, head, row)[d];
  for (int bit = kRows / 2; bit > 0; bit /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bit);
  if (threadIdx.x == 0) at(delta, head, row) = sum;
}

__device__ float dot(const float* x, const float* y, std::int64_t D) {
  float sum = 0.0f;
  for (std::int64_t d = 0; d < D; ++d) sum += x[d] * y[d];
  return sum;
}

/// P and dS of a query and a key.
struct Pair {
  float P = 0.0f, dS = 0.0f;
};
__device__ Pair pair_of(float score, float dP, float lse, float delta) {
  const float P = lse == -INFINITY ? 0.0f : expf(score - lse);
  return {P, P == 0.0f ? 0.0f : P * (dP - delta)};
}

__global__ void __launch_bounds__(kRows)
    thread_per_key_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                          View<float, 4> dK, View<float, 4> dV, float scale, bool causal) {
  __shared__ float K_smem[kRows][kDim + 1], V_smem[kRows][kDim + 1], Q_smem[kOthers][kDim],
      dO_smem[kOthers][kDim];
  const std::int64_t D = Q.shape[3], Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const std::int64_t group = Q.shape[1] / K.shape[1], kv_head = blockIdx.y;
  const std::int64_t first_key = std::int64_t{blockIdx.x} * kRows,
                     count = min(Nk - first_key, std::int64_t{kRows});
  const int thread = static_cast<int>(threadIdx.x);
  for_rows(count, D, [&](std::int64_t row, std::int64_t d) {
    K_smem[row][d] = begin_of(K, kv_head, first_key + row)[d];
    V_smem[row][d] = begin_of(V, kv_head, first_key + row)[d];
  });
  float dK_rmem[kDim] = {}, dV_rmem[kDim] = {};
  const std::int64_t begin = causal ? max(first_key - past, std::int64_t{0}) : 0;
  for (std::int64_t first_query = begin; first_query < Nq; first_query += kOthers) {
    const std::int64_t queries = min(Nq - first_query, std::int64_t{kOthers});
    for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      __syncthreads();  // everyone is done with the last queries
      for_rows(queries, D, [&](std::int64_t row, std::int64_t d) {
        Q_smem[row][d] = begin_of(Q, head, first_query + row)[d];
        dO_smem[row][d] = begin_of(dO, head, first_query + row)[d];
      });
      __syncthreads();  // the rows are there
      for (std::int64_t i = 0; i < queries && thread < count; ++i) {
        const std::int64_t query = first_query + i;
        if (causal && first_key + thread > query + past) continue;
        const Pair pair =
            pair_of(dot(Q_smem[i], K_smem[thread], D) * scale, dot(dO_smem[i], V_smem[thread], D),
                    at(lse, head, query), at(delta, head, query));
        for (std::int64_t d = 0; d < D; ++d) {
          dV_rmem[d] += pair.P * dO_smem[i][d];
          dK_rmem[d] += pair.dS * Q_smem[i][d];
        }
      }
    }
  }
  __syncthreads();  // everyone is done with K and V
  for (std::int64_t d = 0; d < D; ++d) {
    K_smem[thread][d] = dK_rmem[d] * scale;
    V_smem[thread][d] = dV_rmem[d];
  }
  __syncthreads();  // the results take the place of the inputs, to leave in rows
  for_rows(count, D, [&](std::int64_t row, std::int64_t d) {
    begin_of(dK, kv_head, first_key + row)[d] = K_smem[row][d];
    begin_of(dV, kv_head, first_key + row)[d] = V_smem[row][d];
  });
}

__global__ void __launch_bounds__(kRows)
    thread_per_query_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                            View<float, 4> dQ, float scale, bool causal) {
  __shared__ float Q_smem[kRows][kDim + 1], dO_smem[kRows][kDim + 1], K_smem[kOthers][kDim],
      V_smem[kOthers][kDim];
  const std::int64_t D = Q.shape[3], Nq = Q.shape[2], Nk = K.shape[2], past = Nk - Nq;
  const std::int64_t head = blockIdx.y, kv_head = head / (Q.shape[1] / K.shape[1]);
  const std::int64_t first_query = std::int64_t{blockIdx.x} * kRows;
  const std::int64_t count = min(Nq - first_query, std::int64_t{kRows});
  const int thread = static_cast<int>(threadIdx.x);
  for_rows(count, D, [&](std::int64_t row, std::int64_t d) {
    Q_smem[row][d] = begin_of(Q, head, first_query + row)[d];
    dO_smem[row][d] = begin_of(dO, head, first_query + row)[d];
  });
  const std::int64_t query = min(first_query + thread, Nq - 1),
                     seen = causal ? min(query + past + 1, Nk) : Nk;
  const float own_lse = at(lse, head, query), own_delta = at(delta, head, query);
  float dQ_rmem[kDim] = {};
  const std::int64_t end = causal ? min(first_query + count + past, Nk) : Nk;
  for (std::int64_t first_key = 0; first_key < end; first_key += kOthers) {
    __syncthreads();  // everyone is done with the last keys
    for_rows(min(Nk - first_key, std::int64_t{kOthers}), D, [&](std::int64_t row, std::int64_t d) {
      K_smem[row][d] = begin_of(K, kv_head, first_key + row)[d];
      V_smem[row][d] = begin_of(V, kv_head, first_key + row)[d];
    });
    __syncthreads();  // the rows are there
    for (std::int64_t j = 0; j < kOthers && first_key + j < seen && thread < count; ++j) {
      const Pair pair = pair_of(dot(Q_smem[thread], K_smem[j], D) * scale, dot(dO_smem[thread], V_smem[j], D),
                                own_lse, own_delta);
      for (std::int64_t d = 0; d < D; ++d) dQ_rmem[d] += pair.dS * K_smem[j][d];
    }
  }
  __syncthreads();  // everyone is done with Q
  for (std::int64_t d = 0; d < D; ++d) Q_smem[thread][d] = dQ_rmem[d] * scale;
  __syncthreads();
  for_rows(count, D, [&](std::int64_t row, std::int64_t d) {
    begin_of(dQ, head, first_query + row)[d] = Q_smem[row][d];
  });
}

void grouped_query_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                            View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                            View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                            float scale, bool causal) {
  device::require_groups(Q.shape[1], K.shape[1]);
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, K.shape[1], kMaxDim);
  const auto grid = [B = Q.shape[0]](std::int64_t blocks, std::int64_t heads) {
    return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(heads), static_cast<unsigned>(B));
  };
  const std::int64_t H = Q.shape[1], Nq = Q.shape[2], H_kv = K.shape[1], Nk = K.shape[2];
  if (Q.shape[0] == 0 || H == 0) return;
  const View<const float, 3> delta_read{delta.data,
                                        {delta.shape[0], delta.shape[1], delta.shape[2]},
                                        {delta.strides[0], delta.strides[1], delta.strides[2]}};
  if (Nq > 0) {
    delta_of_rows_kernel<<<grid(Nq, H), kRows>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  if (Nk > 0) {
    thread_per_key_kernel<<<grid((Nk + kRows - 1) / kRows, H_kv), kRows>>>(Q, K, V, lse, dO, delta_read, dK,
                                                                           dV, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
  if (Nq > 0) {
    thread_per_query_kernel<<<grid((Nq + kRows - 1) / kRows, H), kRows>>>(Q, K, V, lse, dO, delta_read, dQ,
                                                                          scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace course
