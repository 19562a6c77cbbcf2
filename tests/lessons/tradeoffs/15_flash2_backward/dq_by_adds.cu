// Lesson 15 with one kernel for dQ, dK and dV, as in Dao 2023 (arXiv:2307.08691), Algorithm 2: five products
// for a pair of tiles in place of seven. Keys stay with a block. What they give to dQ is added to what other
// blocks add, in no particular order, so that the last bits of dQ differ from run to run.
//
// gives up: gives the same bits in every order of blocks and threads
// gives up: reads tiles as often as the contract says, in whole sectors, and stores each result once

#include "flash2_backward.hpp"

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

using NarrowShape = device::AttentionShape<64, 64, 64>;
using WideShape = device::AttentionShape<64, 64, 128, 4>;

constexpr int kDeltaThreads = 128, kDeltaRows = kDeltaThreads / device::kWarpSize;  // a warp for each row

/// Line 4: delta = rowsum(dO ∘ O). And dQ = 0, which the other kernel adds to.
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta, View<float, 4> dQ) {
  const int warp = static_cast<int>(threadIdx.x) / device::kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
  const std::int64_t query = std::int64_t{blockIdx.x} * kDeltaRows + warp;
  if (query >= O.shape[2]) return;  // the whole warp leaves
  float sum = 0.0f;
  for (std::int64_t d = lane; d < O.shape[3]; d += device::kWarpSize) {
    sum += dO(blockIdx.z, blockIdx.y, query, d) * O(blockIdx.z, blockIdx.y, query, d);
    dQ(blockIdx.z, blockIdx.y, query, d) = 0.0f;
  }
  sum = device::sum_warp(sum);
  if (lane == 0) delta(blockIdx.z, blockIdx.y, query) = sum;
}

/// x[i], or `otherwise` past the end of x.
__device__ float number_at(const View<const float, 1>& x, std::int64_t i, float otherwise) {
  return i < x.shape[0] ? x(i) : otherwise;
}

template <class Shape>
struct Tiles {
  typename Shape::KTile K, V;
  typename Shape::VTile K_transposed;
  union {
    typename Shape::QTile Q;
    typename Shape::VTile dO_transposed;
  };
  union {
    typename Shape::QTile dO;
    typename Shape::VTile Q_transposed;
  };
  typename Shape::PTile P;  // transposed; then dS, transposed; then dS
};

/// dQ += dS·K·scale for a tile of queries, of which dQ_rmem holds dS·K.
template <class Output>
__device__ void add_to_dQ(const typename Output::Accumulator& dQ_rmem, const View<float, 2>& dQ,
                          std::int64_t first_query, float scale) {
  for (int i = 0; i < Output::kThreadRows; ++i) {
    const std::int64_t query = first_query + Output::row(i);
    if (query >= dQ.shape[0]) continue;
    for (int j = 0; j < Output::kThreadCols; ++j)
      if (Output::col(j) < dQ.shape[1]) atomicAdd(&dQ(query, Output::col(j)), dQ_rmem[i][j] * scale);
  }
}

/// dK and dV of tile blockIdx.x of head blockIdx.y in batch blockIdx.z, and what they give to dQ.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    gradients_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                     View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                     View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV, float scale, bool causal) {
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<Tiles<Shape>*>(shared_memory);
  const View<const float, 2> Q_head = device::matrix_of(Q, blockIdx.z, blockIdx.y);
  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, blockIdx.y);
  const View<const float, 2> dO_head = device::matrix_of(dO, blockIdx.z, blockIdx.y);
  const View<const float, 1> lse_head = device::row_of(lse, blockIdx.z, blockIdx.y);
  const View<const float, 1> delta_head = device::row_of(delta, blockIdx.z, blockIdx.y);
  const std::int64_t Nq = Q.shape[2], first_key = std::int64_t{blockIdx.x} * Shape::kBlockN;
  const std::int64_t offset = K.shape[2] - Nq;  // query i stands at key i + offset

  device::load_tile<Shape::kThreads>(K_head, first_key, 0, smem.K);
  device::load_tile<Shape::kThreads>(device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, 0, smem.V);
  device::load_tile<Shape::kThreads>(device::transposed(K_head), 0, first_key, smem.K_transposed);
  typename Output::Accumulator dK_rmem = {}, dV_rmem = {};

  std::int64_t first_query = 0;
  if (causal)  // the first query that sees a key of the tile stands at its first key
    first_query = max(first_key - offset, std::int64_t{0}) / Shape::kBlockM * Shape::kBlockM;
  for (; first_query < Nq; first_query += Shape::kBlockM) {
    __syncthreads();  // every warp has multiplied with the last Q, dO and dS
    device::load_tile<Shape::kThreads>(Q_head, first_query, 0, smem.Q);
    device::load_tile<Shape::kThreads>(dO_head, first_query, 0, smem.dO);
    __syncthreads();

    typename Scores::Accumulator P_rmem = {}, dS_rmem = {};  // transposed; at first S and dP
    device::multiply_add<Scores>(smem.K, smem.Q, P_rmem);
    device::multiply_add<Scores>(smem.V, smem.dO, dS_rmem);
    for (int j = 0; j < Scores::kThreadCols; ++j) {
      const std::int64_t query = first_query + Scores::col(j);
      const float lse_j = number_at(lse_head, query, -INFINITY);  // no query: no weight
      const float delta_j = number_at(delta_head, query, 0.0f);
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        const std::int64_t key = first_key + Scores::row(i);
        const bool hidden = key >= K.shape[2] || (causal && key > query + offset);
        P_rmem[i][j] = hidden ? 0.0f : device::weight_of(P_rmem[i][j] * scale, lse_j);
        dS_rmem[i][j] = device::score_gradient(P_rmem[i][j], dS_rmem[i][j], delta_j);
      }
    }

    __syncthreads();  // every warp has multiplied with Q and dO: each may take the other's place
    device::load_tile<Shape::kThreads>(device::transposed(dO_head), 0, first_query, smem.dO_transposed);
    device::load_tile<Shape::kThreads>(device::transposed(Q_head), 0, first_query, smem.Q_transposed);
    device::put_tile<Scores>(P_rmem, smem.P);
    __syncthreads();
    device::multiply_add<Output>(smem.P, smem.dO_transposed, dV_rmem);
    __syncwarp();  // the warp, which alone reads these rows of P, has read them
    device::put_tile<Scores>(dS_rmem, smem.P);
    __syncwarp();
    device::multiply_add<Output>(smem.P, smem.Q_transposed, dK_rmem);

    __syncthreads();  // every warp has multiplied with dS, transposed
    for (int i = 0; i < Scores::kThreadRows; ++i) {
      for (int j = 0; j < Scores::kThreadCols; ++j) smem.P.at[Scores::row(i)][Scores::col(j)] = dS_rmem[i][j];
    }
    __syncthreads();
    typename Output::Accumulator dQ_rmem = {};
    device::multiply_add<Output>(smem.P, smem.K_transposed, dQ_rmem);
    add_to_dQ<Output>(dQ_rmem, device::matrix_of(dQ, blockIdx.z, blockIdx.y), first_query, scale);
  }

  for (auto& row : dK_rmem) {
    for (float& x : row) x *= scale;
  }
  device::store_tile<Output>(dV_rmem, device::matrix_of(dV, blockIdx.z, blockIdx.y), first_key, 0);
  device::store_tile<Output>(dK_rmem, device::matrix_of(dK, blockIdx.z, blockIdx.y), first_key, 0);
}

unsigned tiles_of(std::int64_t rows, int rows_of_a_tile) {
  return static_cast<unsigned>((rows + rows_of_a_tile - 1) / rows_of_a_tile);
}

template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<const float, 3> lse,
            View<const float, 4> dO, View<const float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
            View<float, 4> dV, float scale, bool causal) {
  constexpr int kSharedBytes = sizeof(Tiles<Shape>);
  CUDA_CHECK(cudaFuncSetAttribute(gradients_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kSharedBytes));
  const dim3 grid(tiles_of(K.shape[2], Shape::kBlockN), static_cast<unsigned>(Q.shape[1]),
                  static_cast<unsigned>(Q.shape[0]));
  gradients_kernel<Shape>
      <<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, lse, dO, delta, dQ, dK, dV, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

void flash2_backward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                     View<const float, 4> O, View<const float, 3> lse, View<const float, 4> dO,
                     View<float, 3> delta, View<float, 4> dQ, View<float, 4> dK, View<float, 4> dV,
                     float scale, bool causal) {
  const std::int64_t H = Q.shape[1];
  device::require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, H, kMaxDim);
  if (Q.shape[0] == 0 || H == 0) return;
  if (Q.shape[2] > 0) {
    const dim3 grid(tiles_of(Q.shape[2], kDeltaRows), static_cast<unsigned>(H),
                    static_cast<unsigned>(Q.shape[0]));
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta, dQ);
    CUDA_CHECK(cudaGetLastError());
  }
  if (K.shape[2] == 0) return;
  const View<const float, 3> delta_read = device::read_only(delta);
  if (Q.shape[3] <= NarrowShape::kDim)
    launch<NarrowShape>(Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, causal);
  else
    launch<WideShape>(Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, causal);
}

}  // namespace course
