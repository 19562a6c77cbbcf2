// Alternative for lesson 15: a thread has a key, with its rows of dK and dV in registers, or a query with its
// row of dQ, and meets one row after the other; 32 rows stay, 8 pass by at a time.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "flash2_backward.hpp"

namespace course {
namespace {

using Matrix = View<const float, 2>;
using Row = View<const float, 1>;

constexpr int kRows = 32, kPassing = 8, kDim = static_cast<int>(kMaxDim), kStride = kDim + 1;

/// rows_smem = kCount rows of X from `first` on, with zeros outside of it; the warp reads along the rows.
template <int kCount>
__device__ void load_rows(const Matrix& X, std::int64_t first, float (*rows_smem)[kStride]) {
  for (int row = 0; row < kCount; ++row)
    for (int d = static_cast<int>(threadIdx.x); d < kDim; d += kRows)
      rows_smem[row][d] =
          first + row < X.shape[0] && d < X.shape[1] ? X.data[(first + row) * X.strides[0] + d] : 0.0f;
}

/// The thread's row of a result, times `factor`, by way of shared memory, so that the warp stores along rows.
__device__ void store_rows(const float (&row_rmem)[kDim], float factor, const View<float, 2>& X,
                           std::int64_t first, float (*rows_smem)[kStride]) {
  __syncwarp();
#pragma unroll
  for (int d = 0; d < kDim; ++d) rows_smem[threadIdx.x][d] = row_rmem[d] * factor;
  __syncwarp();
  for (int row = 0; row < kRows && first + row < X.shape[0]; ++row)
    for (int d = static_cast<int>(threadIdx.x); d < X.shape[1]; d += kRows)
      X.data[(first + row) * X.strides[0] + d] = rows_smem[row][d];
}

__device__ float dot(const float* x, const float* y, std::int64_t D) {
  float sum = 0.0f;
  for (int d = 0; d < D; ++d) sum += x[d] * y[d];
  return sum;
}

/// row += x · (a row of shared memory).
__device__ void add_row(float x, const float* row_smem, std::int64_t D, float (&row_rmem)[kDim]) {
#pragma unroll
  for (int d = 0; d < kDim; ++d)
    if (d < D) row_rmem[d] += x * row_smem[d];
}

__global__ void __launch_bounds__(kRows)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  const Matrix O_head = device::matrix_of(O, blockIdx.z, blockIdx.y),
               dO_head = device::matrix_of(dO, blockIdx.z, blockIdx.y);
  float sum = 0.0f;
  for (int d = static_cast<int>(threadIdx.x); d < O.shape[3]; d += kRows)
    sum +=
        O_head.data[blockIdx.x * O_head.strides[0] + d] * dO_head.data[blockIdx.x * dO_head.strides[0] + d];
  sum = device::sum_warp(sum);
  const View<float, 1> delta_head = device::row_of(delta, blockIdx.z, blockIdx.y);
  if (threadIdx.x == 0) delta_head.data[blockIdx.x * delta_head.strides[0]] = sum;
}

/// dK and dV of 32 keys, or with kOfKeys = false dQ of 32 queries: X and Y stay, A and B pass by. A meets X
/// in S, B meets Y in dP.
template <bool kOfKeys>
__global__ void __launch_bounds__(kRows)
    rows_kernel(View<const float, 4> X, View<const float, 4> Y, View<const float, 4> A,
                View<const float, 4> B, View<const float, 3> lse, View<const float, 3> delta,
                View<float, 4> dX, View<float, 4> dY, float scale, bool causal) {
  __shared__ float X_smem[kRows][kStride], Y_smem[kRows][kStride];
  __shared__ float A_smem[kPassing][kStride], B_smem[kPassing][kStride];
  const std::int64_t staying = X.shape[2], passing = A.shape[2], D = X.shape[3];
  const std::int64_t offset = kOfKeys ? staying - passing : passing - staying;
  const std::int64_t first = std::int64_t{blockIdx.x} * kRows, own = first + threadIdx.x;
  load_rows<kRows>(device::matrix_of(X, blockIdx.z, blockIdx.y), first, X_smem);
  load_rows<kRows>(device::matrix_of(Y, blockIdx.z, blockIdx.y), first, Y_smem);
  const Row lse_head = device::row_of(lse, blockIdx.z, blockIdx.y),
            delta_head = device::row_of(delta, blockIdx.z, blockIdx.y);
  float dX_rmem[kDim] = {}, dY_rmem[kDim] = {}, lse_i = 0.0f, delta_i = 0.0f;  // of the query at hand
  const auto read_query = [&](std::int64_t query) {
    lse_i = lse_head.data[query * lse_head.strides[0]];
    delta_i = delta_head.data[query * delta_head.strides[0]];
  };
  if (!kOfKeys && own < staying) read_query(own);

  std::int64_t begin = 0, end = passing;
  if (causal && kOfKeys) begin = max(first - offset, std::int64_t{0}) / kPassing * kPassing;
  if (causal && !kOfKeys) end = min(first + kRows, staying) + offset;
  for (std::int64_t step = begin; step < end; step += kPassing) {
    __syncthreads();
    load_rows<kPassing>(device::matrix_of(A, blockIdx.z, blockIdx.y), step, A_smem);
    load_rows<kPassing>(device::matrix_of(B, blockIdx.z, blockIdx.y), step, B_smem);
    __syncthreads();
    for (int n = 0; n < kPassing && step + n < passing; ++n) {
      const std::int64_t query = kOfKeys ? step + n : own, key = kOfKeys ? own : step + n;
      if (own >= staying || (causal && key > query + offset)) continue;
      if (kOfKeys) read_query(query);
      const float s = dot(X_smem[threadIdx.x], A_smem[n], D) * scale;
      const float P = lse_i == -INFINITY ? 0.0f : expf(s - lse_i);
      const float dP = dot(Y_smem[threadIdx.x], B_smem[n], D);
      const float dS = P == 0.0f ? 0.0f : P * (dP - delta_i);
      add_row(dS, A_smem[n], D, dX_rmem);
      if (kOfKeys) add_row(P, B_smem[n], D, dY_rmem);
    }
  }
  store_rows(dX_rmem, scale, device::matrix_of(dX, blockIdx.z, blockIdx.y), first, X_smem);
  if (kOfKeys) store_rows(dY_rmem, 1.0f, device::matrix_of(dY, blockIdx.z, blockIdx.y), first, Y_smem);
}

}  // namespace

void flash2_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                     View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                     View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                     float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], Nk = K.shape[2];
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, H, kMaxDim);
  const auto grid = [&](std::int64_t x) {
    return dim3(static_cast<unsigned>(x), static_cast<unsigned>(H), static_cast<unsigned>(B));
  };
  const View<const float, 3> delta_read = device::read_only(delta);
  if (B * H * Nq > 0) {
    delta_kernel<<<grid(Nq), kRows>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
    rows_kernel<false>
        <<<grid((Nq + kRows - 1) / kRows), kRows>>>(Q, dO, K, V, lse, delta_read, dQ, dQ, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
  if (B * H * Nk > 0) {
    rows_kernel<true>
        <<<grid((Nk + kRows - 1) / kRows), kRows>>>(K, V, Q, dO, lse, delta_read, dK, dV, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace course
