// Alternative for lesson 08: a plain kernel with tiles of 32 queries and 32 keys and a thread for each score,
// whose lines are those of the paper: every tile has a softmax* of its own, which line 12 brings together
// with O. The first tile finds no O, l and m, and does not read any.

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "flash1_forward.hpp"

namespace course {
namespace {

constexpr int kEdge = 32;  // queries and keys of a tile, and lanes of a warp

template <class T>
__device__ T* head_of(const View<T, 4>& X, std::int64_t b, std::int64_t h) {
  return X.data + b * X.strides[0] + h * X.strides[1];
}

__device__ float over_warp(float value, bool maximum) {
  for (int mask = kEdge / 2; mask > 0; mask /= 2) {
    const float other = __shfl_xor_sync(~0u, value, mask);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  return value;
}

/// exp(x - m), and 0 for no score at all.
__device__ float weight(float x, float m) { return x == -INFINITY ? 0.0f : expf(x - m); }

__device__ void load(float (*tile)[kMaxDim + 1], const float* X, std::int64_t row_stride, std::int64_t first,
                     std::int64_t rows, int D) {
  for (int d = static_cast<int>(threadIdx.x); d < D; d += kEdge) {
    const std::int64_t row = first + threadIdx.y;
    tile[threadIdx.y][d] = row < rows ? X[row * row_stride + d] : 0.0f;
  }
}

/// 32 x 32 threads, a block for each head: a warp has a query, a lane a key and then every 32nd column of O.
__global__ void __launch_bounds__(kEdge* kEdge)
    tiles_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                 View<float, 3> l, View<float, 3> m, float scale) {
  extern __shared__ float shared_memory[];
  auto* Q_smem = reinterpret_cast<float(*)[kMaxDim + 1]>(shared_memory);
  auto *K_smem = Q_smem + kEdge, *V_smem = K_smem + kEdge;
  const std::int64_t b = blockIdx.x / Q.shape[1], h = blockIdx.x % Q.shape[1], Nq = Q.shape[2],
                     Nk = K.shape[2];
  const int D = static_cast<int>(Q.shape[3]), lane = static_cast<int>(threadIdx.x);

  for (std::int64_t first_key = 0; first_key == 0 || first_key < Nk; first_key += kEdge) {
    __syncthreads();
    load(K_smem, head_of(K, b, h), K.strides[2], first_key, Nk, D);
    load(V_smem, head_of(V, b, h), V.strides[2], first_key, Nk, D);
    for (std::int64_t first_query = 0; first_query < Nq; first_query += kEdge) {
      __syncthreads();
      load(Q_smem, head_of(Q, b, h), Q.strides[2], first_query, Nq, D);
      __syncthreads();
      const std::int64_t query = first_query + threadIdx.y;
      if (query >= Nq) continue;  // the whole warp; it comes back to the next barrier

      float s = 0.0f;
      for (int d = 0; d < D; ++d) s += Q_smem[threadIdx.y][d] * K_smem[lane][d];
      s = first_key + lane < Nk ? s * scale : -INFINITY;

      const float m_tile = over_warp(s, true);  // line 10
      const float p = weight(s, m_tile);
      const float l_tile = over_warp(p, false);
      float* m_place = m.data + b * m.strides[0] + h * m.strides[1] + query * m.strides[2];
      float* l_place = l.data + b * l.strides[0] + h * l.strides[1] + query * l.strides[2];
      const float m_old = first_key == 0 ? -INFINITY : *m_place, l_old = first_key == 0 ? 0.0f : *l_place;
      const float m_new = fmaxf(m_old, m_tile);  // line 11
      const float of_old = weight(m_old, m_new) * l_old, of_tile = weight(m_tile, m_new);
      float l_new = of_old + of_tile * l_tile;
      if (l_tile != l_tile) l_new = l_tile;  // NaN
      const float divisor = l_new == 0.0f ? 1.0f : l_new;

      float* o_row = head_of(O, b, h) + query * O.strides[2];
      for (int first = 0; first < D; first += kEdge) {  // line 12
        const int d = first + lane;
        float pv = 0.0f;
        for (int key = 0; key < kEdge; ++key) pv += __shfl_sync(~0u, p, key) * V_smem[key][d < D ? d : 0];
        if (d < D) {
          const float o = first_key == 0 ? 0.0f : of_old * o_row[d];
          o_row[d] = l_new != l_new ? l_new : (o + of_tile * pv) / divisor;
        }
      }
      __syncwarp();
      if (lane == 0) *l_place = l_new, *m_place = m_new;  // line 13
    }
  }
}

template <class T>
void require(const char* name, const View<T, 4>& X, const View<const float, 4>& Q, std::int64_t rows) {
  const bool fits =
      X.shape[0] == Q.shape[0] && X.shape[1] == Q.shape[1] && X.shape[2] == rows && X.shape[3] == Q.shape[3];
  if (!fits || (X.shape[3] > 1 && X.strides[3] != 1))
    throw std::invalid_argument(std::string(name) + " does not fit");
}

void require_rows(const char* name, const View<float, 3>& x, const View<const float, 4>& Q) {
  for (int axis = 0; axis < 3; ++axis)
    if (x.shape[axis] != Q.shape[axis]) throw std::invalid_argument(std::string(name) + " does not fit");
}

}  // namespace

void flash1_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> l, View<float, 3> m, float scale) {
  if (Q.shape[3] < 1 || Q.shape[3] > kMaxDim) throw std::invalid_argument("Q has the wrong number of dims");
  require("Q", Q, Q, Q.shape[2]);
  require("K", K, Q, K.shape[2]);
  require("V", V, Q, K.shape[2]);
  require("O", O, Q, Q.shape[2]);
  require_rows("l", l, Q);
  require_rows("m", m, Q);
  const std::int64_t heads = Q.shape[0] * Q.shape[1];
  if (heads * Q.shape[2] == 0) return;
  const int bytes = 3 * kEdge * (kMaxDim + 1) * static_cast<int>(sizeof(float));
  CUDA_CHECK(cudaFuncSetAttribute(tiles_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  tiles_kernel<<<static_cast<unsigned>(heads), dim3(kEdge, kEdge), bytes>>>(Q, K, V, O, l, m, scale);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
