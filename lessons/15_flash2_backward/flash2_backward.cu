// Lesson 15: FlashAttention-2, backward. The scores are computed again, from what the forward pass has left:
// lse. Dao 2023 (arXiv:2307.08691), Algorithm 2; the comments in the kernels name its lines. There, one
// kernel makes all gradients and its blocks add to dQ as they come; here dQ has a kernel of its own, so that
// every sum has its order.
// TODO: the numbers below give the order of the work: delta, dV, dK, dQ, causal.

#include "flash2_backward.hpp"

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

// 64 queries meet 64 keys, whichever of them stay. The fewer dimensions, the less shared memory. A thread has
// registers for 8 rows of up to 64 dimensions, and for 4 of more: then 8 warps share the tile.
using NarrowShape = device::AttentionShape<64, 64, 64>;
using WideShape = device::AttentionShape<64, 64, 128, 4>;
static_assert(WideShape::kDim >= kMaxDim);

constexpr int kDeltaThreads = 128, kDeltaRows = kDeltaThreads / device::kWarpSize;  // a warp for each row

/// Line 4: delta = rowsum(dO ∘ O), for kDeltaRows queries of head blockIdx.y in batch blockIdx.z.
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  const int warp = static_cast<int>(threadIdx.x) / device::kWarpSize;
  const std::int64_t query = std::int64_t{blockIdx.x} * kDeltaRows + warp;
  if (query >= O.shape[2]) return;  // the whole warp leaves

  // TODO 1: which rows of O and dO are the warp's? Which part of the sum has this lane, and who stores it?
}

/// Line 11: P = exp(S - lse) for a scaled score; 0 where lse is -inf.
__device__ float weight_of(float score, float lse) {
  // TODO 2: what does lse turn the score into? What would -inf - -inf be?
  return 0.0f;
}

/// Line 14: dS = P·(dP - delta); 0 where the weight is 0, whatever dP holds.
__device__ float score_gradient(float P, float dP, float delta) {
  // TODO 10: what does the softmax make of dP? When may dP hold anything, and has no part in it?
  return 0.0f;
}

/// x[i], or `otherwise` past the end of x.
__device__ float number_at(const View<const float, 1>& x, std::int64_t i, float otherwise) {
  return i < x.shape[0] ? x(i) : otherwise;
}

/// What a block of keys_kernel has in shared memory. Q and dO are needed twice: with dimensions along the sum
/// for S and dP, with queries along it for dK and dV. Then each takes the place that the other no longer
/// needs.
template <class Shape>
struct TilesOfKeys {
  typename Shape::KTile K, V;
  union {
    typename Shape::QTile Q;
    typename Shape::VTile dO_transposed;
  };
  union {
    typename Shape::QTile dO;
    typename Shape::VTile Q_transposed;
  };
  typename Shape::PTile P;  // transposed; then dS, transposed
};

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y in batch blockIdx.z. All that a thread
/// holds of S, P, dP and dS is transposed, a row for each key: as in the forward pass, what stays are the
/// rows.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    keys_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                View<float, 4> dK, View<float, 4> dV, float scale, bool causal) {
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<TilesOfKeys<Shape>*>(shared_memory);
  // TODO 3: of which tensors does this block need a head, beside K and V?
  const std::int64_t Nq = Q.shape[2], first_key = std::int64_t{blockIdx.x} * Shape::kBlockN;

  // Lines 6 and 7: a tile of K and of V; dK = 0, dV = 0.
  device::load_tile<Shape::kThreads>(device::matrix_of(K, blockIdx.z, blockIdx.y), first_key, 0, smem.K);
  device::load_tile<Shape::kThreads>(device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, 0, smem.V);
  // TODO 4: where does dV grow, and later dK, while the queries pass by?

  std::int64_t first_query = 0;
  // TODO 21: with causal, which query is the first that sees a key of the tile?
  for (; first_query < Nq; first_query += Shape::kBlockM) {  // line 8
    // TODO 5: load a tile of Q and one of dO. What must have happened before, and what before they are read?
    // TODO 6: compute Sᵀ and, of it, Pᵀ. Which query belongs to column j, and what if there is none?
    // TODO 11: compute dPᵀ beside Sᵀ and, of it, dSᵀ.
    // TODO 7: dO is needed with queries along the sum. Where is there room for it, and from when on?
    // TODO 12: the same for Q.
    // TODO 8: put Pᵀ where all see it, and let dV take in Pᵀ·dO. Which barriers does that take?
    // TODO 13: dSᵀ takes the place of Pᵀ. Who may still be reading there? Let dK take in dSᵀ·Q.
  }

  // TODO 9: store dV with device::store_tile<Output>().
  // TODO 14: what does dK still lack? Store it.
}

/// What a block of queries_kernel has in shared memory. K is needed twice; dS takes the place of V.
template <class Shape>
struct TilesOfQueries {
  typename Shape::QTile Q, dO;
  union {
    typename Shape::KTile K;
    typename Shape::VTile K_transposed;
  };
  union {
    typename Shape::KTile V;
    typename Shape::PTile dS;
  };
};

/// dQ of a tile of queries: tile blockIdx.x of head blockIdx.y in batch blockIdx.z.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    queries_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                   View<const float, 3> lse, View<const float, 4> dO, View<const float, 3> delta,
                   View<float, 4> dQ, float scale, bool causal) {
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<TilesOfQueries<Shape>*>(shared_memory);
  // TODO 15: of which tensors does this block need a head, beside Q and dO?
  const std::int64_t Nk = K.shape[2], first_query = std::int64_t{blockIdx.x} * Shape::kBlockM;

  // A tile of Q and of dO; dQ = 0.
  device::load_tile<Shape::kThreads>(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, 0, smem.Q);
  device::load_tile<Shape::kThreads>(device::matrix_of(dO, blockIdx.z, blockIdx.y), first_query, 0, smem.dO);
  // TODO 16: where does dQ grow? Which lse and which delta belong to the thread's rows, whatever passes by?

  std::int64_t keys_end = Nk;  // past the last key that a query of the tile sees
  // TODO 22: with causal, which key is the last that a query of the tile sees?
  for (std::int64_t first_key = 0; first_key < keys_end; first_key += Shape::kBlockN) {
    // TODO 17: load a tile of K and one of V, between which barriers?
    // TODO 18: compute S, P, dP and dS. Which key belongs to column j, and what if there is none?
    // TODO 19: K is needed with keys along the sum, dS where all see it. Where is there room? Then add to dQ.
  }

  // TODO 20: what does dQ still lack? Store it.
}

unsigned tiles_of(std::int64_t rows, int rows_of_a_tile) {
  return static_cast<unsigned>((rows + rows_of_a_tile - 1) / rows_of_a_tile);
}

template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<const float, 3> lse,
            View<const float, 4> dO, View<const float, 3> delta, View<float, 4> dQ, View<float, 4> dK,
            View<float, 4> dV, float scale, bool causal) {
  const unsigned B = static_cast<unsigned>(Q.shape[0]), H = static_cast<unsigned>(Q.shape[1]);
  if (K.shape[2] > 0) {
    constexpr int kSharedBytes = sizeof(TilesOfKeys<Shape>);  // more than the 48 KiB that come unasked
    CUDA_CHECK(
        cudaFuncSetAttribute(keys_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
    const dim3 grid(tiles_of(K.shape[2], Shape::kBlockN), H, B);
    keys_kernel<Shape>
        <<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, lse, dO, delta, dK, dV, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
  if (Q.shape[2] > 0) {
    constexpr int kSharedBytes = sizeof(TilesOfQueries<Shape>);
    CUDA_CHECK(cudaFuncSetAttribute(queries_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    kSharedBytes));
    const dim3 grid(tiles_of(Q.shape[2], Shape::kBlockM), H, B);
    queries_kernel<Shape>
        <<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, lse, dO, delta, dQ, scale, causal);
    CUDA_CHECK(cudaGetLastError());
  }
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
    delta_kernel<<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  const View<const float, 3> delta_read = device::read_only(delta);
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, causal);
  } else {
    launch<WideShape>(Q, K, V, lse, dO, delta_read, dQ, dK, dV, scale, causal);
  }
}

}  // namespace course
