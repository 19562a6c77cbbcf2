// Alternative for lesson 07: tiles of 32 x 32 elements, one a thread, padded; batch and head from blockIdx.z;
// a softmax of three passes, a warp for each row; the scale goes into Q.

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "naive_attention.hpp"

namespace course {
namespace {

constexpr int kEdge = 32;
constexpr int kRowsPerBlock = 4;

template <class T>
__device__ T* head_of(const View<T, 4>& X) {
  const std::int64_t H = X.shape[1], b = blockIdx.z / H, h = blockIdx.z % H;
  return X.data + b * X.strides[0] + h * X.strides[1];
}

__global__ void scores_kernel(View<const float, 4> Q, View<const float, 4> K, View<float, 4> S, float scale) {
  __shared__ float Q_smem[kEdge][kEdge + 1], K_smem[kEdge][kEdge + 1];
  const float *q = head_of(Q), *k = head_of(K);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t query = std::int64_t{blockIdx.y} * kEdge + y, key = std::int64_t{blockIdx.x} * kEdge + x;
  const std::int64_t own_key = std::int64_t{blockIdx.x} * kEdge + y;  // of the row that this thread loads
  float sum = 0.0f;
  for (std::int64_t first = 0; first < Q.shape[3]; first += kEdge) {
    const std::int64_t d = first + x;
    Q_smem[y][x] = query < Q.shape[2] && d < Q.shape[3] ? scale * q[query * Q.strides[2] + d] : 0.0f;
    K_smem[y][x] = own_key < K.shape[2] && d < Q.shape[3] ? k[own_key * K.strides[2] + d] : 0.0f;
    __syncthreads();
    for (int e = 0; e < kEdge; ++e) sum += Q_smem[y][e] * K_smem[x][e];
    __syncthreads();
  }
  if (query < S.shape[2] && key < S.shape[3]) head_of(S)[query * S.strides[2] + key] = sum;
}

__device__ float over_warp(float value, bool maximum) {
  for (int mask = 16; mask > 0; mask /= 2) {
    const float other = __shfl_xor_sync(~0u, value, mask);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  return value;
}

__global__ void softmax_kernel(View<const float, 4> S, View<float, 4> P) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y, Nk = S.shape[3];
  if (row >= S.shape[2]) return;  // whole warps leave
  const float* s = head_of(S) + row * S.strides[2];
  float* p = head_of(P) + row * P.strides[2];
  float max = -INFINITY;
  for (std::int64_t j = threadIdx.x; j < Nk; j += 32) max = fmaxf(max, s[j]);
  max = over_warp(max, true);
  if (max == -INFINITY) max = 0.0f;  // exp(-inf - 0) is 0, and so is the sum
  float sum = 0.0f;
  for (std::int64_t j = threadIdx.x; j < Nk; j += 32) sum += expf(s[j] - max);
  sum = over_warp(sum, false);
  const float factor = sum == 0.0f ? 1.0f : 1.0f / sum;
  for (std::int64_t j = threadIdx.x; j < Nk; j += 32) p[j] = expf(s[j] - max) * factor;
}

__global__ void output_kernel(View<const float, 4> P, View<const float, 4> V, View<float, 4> O) {
  __shared__ float P_smem[kEdge][kEdge], V_smem[kEdge][kEdge];
  const float *p = head_of(P), *v = head_of(V);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t query = std::int64_t{blockIdx.y} * kEdge + y, d = std::int64_t{blockIdx.x} * kEdge + x;
  float sum = 0.0f;
  for (std::int64_t first = 0; first < P.shape[3]; first += kEdge) {
    const std::int64_t left = P.shape[3] - first;
    P_smem[y][x] = query < P.shape[2] && x < left ? p[query * P.strides[2] + first + x] : 0.0f;
    V_smem[y][x] = y < left && d < V.shape[3] ? v[(first + y) * V.strides[2] + d] : 0.0f;
    __syncthreads();
    for (int e = 0; e < kEdge; ++e) sum += P_smem[y][e] * V_smem[e][x];
    __syncthreads();
  }
  if (query < O.shape[2] && d < O.shape[3]) head_of(O)[query * O.strides[2] + d] = sum;
}

template <class T>
void require_shape(const char* name, const View<T, 4>& X, std::int64_t B, std::int64_t H, std::int64_t rows,
                   std::int64_t cols) {
  if (X.shape[0] != B || X.shape[1] != H || X.shape[2] != rows || X.shape[3] != cols)
    throw std::invalid_argument(std::string(name) + " has the wrong shape");
  if (X.shape[3] > 1 && X.strides[3] != 1)
    throw std::invalid_argument(std::string(name) + " is not contiguous in its last axis");
}

View<const float, 4> as_const(const View<float, 4>& X) {
  View<const float, 4> result{X.data, {}, {}};
  for (int axis = 0; axis < 4; ++axis) {
    result.shape[axis] = X.shape[axis];
    result.strides[axis] = X.strides[axis];
  }
  return result;
}

unsigned blocks(std::int64_t size, int step) { return static_cast<unsigned>((size + step - 1) / step); }

}  // namespace

void naive_attention(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> S,
                     View<float, 4> P, View<float, 4> O, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  if (D < 1 || D > kMaxDim) throw std::invalid_argument("Q: its last axis must be 1 to 128");
  require_shape("Q", Q, B, H, Nq, D);
  require_shape("K", K, B, H, Nk, D);
  require_shape("V", V, B, H, Nk, D);
  require_shape("S", S, B, H, Nq, Nk);
  require_shape("P", P, B, H, Nq, Nk);
  require_shape("O", O, B, H, Nq, D);
  if (B * H * Nq == 0) return;
  const auto heads = static_cast<unsigned>(B * H);
  const dim3 square(kEdge, kEdge);
  if (Nk > 0) {
    scores_kernel<<<dim3(blocks(Nk, kEdge), blocks(Nq, kEdge), heads), square>>>(Q, K, S, scale);
    CUDA_CHECK(cudaGetLastError());
    softmax_kernel<<<dim3(blocks(Nq, kRowsPerBlock), 1, heads), dim3(32, kRowsPerBlock)>>>(as_const(S), P);
    CUDA_CHECK(cudaGetLastError());
  }
  output_kernel<<<dim3(blocks(D, kEdge), blocks(Nq, kEdge), heads), square>>>(as_const(P), V, O);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
