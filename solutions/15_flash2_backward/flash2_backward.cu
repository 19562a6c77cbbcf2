// Lesson 15: FlashAttention-2, backward. The scores are computed again, from what the forward pass has left:
// lse. Dao 2023 (arXiv:2307.08691), Algorithm 2; the comments in the kernels name its lines. There, one
// kernel makes all gradients and its blocks add to dQ as they come; here dQ has a kernel of its own, so that
// every sum has its order.
// TODO: the numbers below give the order of the work: delta, dV, dK, dQ, causal.
// [done]

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

// [delta]
constexpr int kDeltaThreads = 128, kDeltaRows = kDeltaThreads / device::kWarpSize;  // a warp for each row

/// Line 4: delta = rowsum(dO ∘ O), for kDeltaRows queries of head blockIdx.y in batch blockIdx.z.
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const float, 4> O, View<const float, 4> dO, View<float, 3> delta) {
  const int warp = static_cast<int>(threadIdx.x) / device::kWarpSize;
  // [cut]
  const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
  // [done]
  const std::int64_t query = std::int64_t{blockIdx.x} * kDeltaRows + warp;
  if (query >= O.shape[2]) return;  // the whole warp leaves

  // TODO 1: which rows of O and dO are the warp's? Which part of the sum has this lane, and who stores it?
  float sum = 0.0f;
  const View<const float, 2> O_head = device::matrix_of(O, blockIdx.z, blockIdx.y);
  const View<const float, 2> dO_head = device::matrix_of(dO, blockIdx.z, blockIdx.y);
  for (std::int64_t d = lane; d < O.shape[3]; d += device::kWarpSize)
    sum += dO_head(query, d) * O_head(query, d);
  sum = device::sum_warp(sum);
  if (lane == 0) delta(blockIdx.z, blockIdx.y, query) = sum;
  // [done]
}
// [delta]

// [weight]
/// Line 11: P = exp(S - lse) for a scaled score; 0 where lse is -inf.
__device__ float weight_of(float score, float lse) {
  // TODO 2: what does lse turn the score into? What would -inf - -inf be?
  // stub| return 0.0f;
  return lse == -INFINITY ? 0.0f : expf(score - lse);
  // [done]
}

/// Line 14: dS = P·(dP - delta); 0 where the weight is 0, whatever dP holds.
__device__ float score_gradient(float P, float dP, float delta) {
  // TODO 10: what does the softmax make of dP? When may dP hold anything, and has no part in it?
  // stub| return 0.0f;
  return P == 0.0f ? 0.0f : P * (dP - delta);
  // [done]
}

/// x[i], or `otherwise` past the end of x.
__device__ float number_at(const View<const float, 1>& x, std::int64_t i, float otherwise) {
  return i < x.shape[0] ? x(i) : otherwise;
}
// [weight]

// [keys]
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
  const View<const float, 2> Q_head = device::matrix_of(Q, blockIdx.z, blockIdx.y);
  const View<const float, 2> dO_head = device::matrix_of(dO, blockIdx.z, blockIdx.y);
  const View<const float, 1> lse_head = device::row_of(lse, blockIdx.z, blockIdx.y);
  const View<const float, 1> delta_head = device::row_of(delta, blockIdx.z, blockIdx.y);
  // [done]
  const std::int64_t Nq = Q.shape[2], first_key = std::int64_t{blockIdx.x} * Shape::kBlockN;
  // [cut]
  const std::int64_t offset = K.shape[2] - Nq;  // query i stands at key i + offset
  // [done]

  // Lines 6 and 7: a tile of K and of V; dK = 0, dV = 0.
  device::load_tile<Shape::kThreads>(device::matrix_of(K, blockIdx.z, blockIdx.y), first_key, 0, smem.K);
  device::load_tile<Shape::kThreads>(device::matrix_of(V, blockIdx.z, blockIdx.y), first_key, 0, smem.V);
  // TODO 4: where does dV grow, and later dK, while the queries pass by?
  typename Output::Accumulator dK_rmem = {}, dV_rmem = {};
  // [done]

  std::int64_t first_query = 0;
  // TODO 21: with causal, which query is the first that sees a key of the tile?
  if (causal)  // the first query that sees a key of the tile stands at its first key
    first_query = max(first_key - offset, std::int64_t{0}) / Shape::kBlockM * Shape::kBlockM;
  // [done]
  for (; first_query < Nq; first_query += Shape::kBlockM) {  // line 8
    // TODO 5: load a tile of Q and one of dO. What must have happened before, and what before they are read?
    // TODO 6: compute Sᵀ and, of it, Pᵀ. Which query belongs to column j, and what if there is none?
    // TODO 11: compute dPᵀ beside Sᵀ and, of it, dSᵀ.
    // TODO 7: dO is needed with queries along the sum. Where is there room for it, and from when on?
    // TODO 12: the same for Q.
    // TODO 8: put Pᵀ where all see it, and let dV take in Pᵀ·dO. Which barriers does that take?
    // TODO 13: dSᵀ takes the place of Pᵀ. Who may still be reading there? Let dK take in dSᵀ·Q.
    __syncthreads();  // every warp has multiplied with the last Q and dO: they may be overwritten
    device::load_tile<Shape::kThreads>(Q_head, first_query, 0, smem.Q);  // line 9
    device::load_tile<Shape::kThreads>(dO_head, first_query, 0, smem.dO);
    __syncthreads();  // K, V, Q and dO are complete

    typename Scores::Accumulator P_rmem = {}, dS_rmem = {};  // at first S and dP
    device::multiply_add<Scores>(smem.K, smem.Q, P_rmem);    // line 10: Sᵀ = K·Qᵀ
    device::multiply_add<Scores>(smem.V, smem.dO, dS_rmem);  // line 13: dPᵀ = V·dOᵀ
#pragma unroll
    for (int j = 0; j < Scores::kThreadCols; ++j) {
      const std::int64_t query = first_query + Scores::col(j);
      const float lse_j = number_at(lse_head, query, -INFINITY);  // no query: no weight
      const float delta_j = number_at(delta_head, query, 0.0f);
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        const bool hidden = causal && first_key + Scores::row(i) > query + offset;
        P_rmem[i][j] = hidden ? 0.0f : weight_of(P_rmem[i][j] * scale, lse_j);  // line 11
        dS_rmem[i][j] = score_gradient(P_rmem[i][j], dS_rmem[i][j], delta_j);   // line 14
      }
    }

    __syncthreads();  // every warp has multiplied with Q and dO: each may take the other's place
    device::load_tile<Shape::kThreads>(device::transposed(dO_head), 0, first_query, smem.dO_transposed);
    device::load_tile<Shape::kThreads>(device::transposed(Q_head), 0, first_query, smem.Q_transposed);
    device::put_tile<Scores>(P_rmem, smem.P);
    __syncthreads();                                                    // all three are complete
    device::multiply_add<Output>(smem.P, smem.dO_transposed, dV_rmem);  // line 12: dV += Pᵀ·dO
    __syncwarp();  // the warp, which alone reads these rows of P, has read them: dS may take their place
    device::put_tile<Scores>(dS_rmem, smem.P);
    __syncwarp();                                                      // its rows of dS are complete
    device::multiply_add<Output>(smem.P, smem.Q_transposed, dK_rmem);  // line 16: dK += dSᵀ·Q
    // [done]
  }

  // TODO 9: store dV with device::store_tile<Output>().
  // TODO 14: what does dK still lack? Store it.
  // Line 18. S is Q·Kᵀ·scale: the scale is a factor of its gradients, too.
  for (auto& row : dK_rmem) {
    for (float& x : row) x *= scale;
  }
  device::store_tile<Output>(dV_rmem, device::matrix_of(dV, blockIdx.z, blockIdx.y), first_key, 0);
  device::store_tile<Output>(dK_rmem, device::matrix_of(dK, blockIdx.z, blockIdx.y), first_key, 0);
  // [done]
}
// [keys]

// [queries]
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
  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, blockIdx.y);
  const View<const float, 2> V_head = device::matrix_of(V, blockIdx.z, blockIdx.y);
  const View<const float, 1> lse_head = device::row_of(lse, blockIdx.z, blockIdx.y);
  const View<const float, 1> delta_head = device::row_of(delta, blockIdx.z, blockIdx.y);
  // [done]
  const std::int64_t Nk = K.shape[2], first_query = std::int64_t{blockIdx.x} * Shape::kBlockM;
  // [cut]
  const std::int64_t Nq = Q.shape[2], offset = Nk - Nq;  // query i stands at key i + offset
  // [done]

  // A tile of Q and of dO; dQ = 0.
  device::load_tile<Shape::kThreads>(device::matrix_of(Q, blockIdx.z, blockIdx.y), first_query, 0, smem.Q);
  device::load_tile<Shape::kThreads>(device::matrix_of(dO, blockIdx.z, blockIdx.y), first_query, 0, smem.dO);
  // TODO 16: where does dQ grow? Which lse and which delta belong to the thread's rows, whatever passes by?
  typename Output::Accumulator dQ_rmem = {};
  float lse_rmem[Shape::kThreadRows], delta_rmem[Shape::kThreadRows];  // of the thread's rows
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    lse_rmem[i] = number_at(lse_head, first_query + Scores::row(i), -INFINITY);  // no query: no weight
    delta_rmem[i] = number_at(delta_head, first_query + Scores::row(i), 0.0f);
  }
  // [done]

  std::int64_t keys_end = Nk;  // past the last key that a query of the tile sees
  // TODO 22: with causal, which key is the last that a query of the tile sees?
  if (causal) keys_end = min(first_query + Shape::kBlockM, Nq) + offset;  // its last query's position, and 1
  // [done]
  for (std::int64_t first_key = 0; first_key < keys_end; first_key += Shape::kBlockN) {
    // TODO 17: load a tile of K and one of V, between which barriers?
    // TODO 18: compute S, P, dP and dS. Which key belongs to column j, and what if there is none?
    // TODO 19: K is needed with keys along the sum, dS where all see it. Where is there room? Then add to dQ.
    __syncthreads();  // every warp has multiplied with the last K and dS: they may be overwritten
    device::load_tile<Shape::kThreads>(K_head, first_key, 0, smem.K);
    device::load_tile<Shape::kThreads>(V_head, first_key, 0, smem.V);
    __syncthreads();  // Q, dO, K and V are complete

    typename Scores::Accumulator S_rmem = {}, dS_rmem = {};  // at first S and dP
    device::multiply_add<Scores>(smem.Q, smem.K, S_rmem);    // line 10: S = Q·Kᵀ
    device::multiply_add<Scores>(smem.dO, smem.V, dS_rmem);  // line 13: dP = dO·Vᵀ
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
      const std::int64_t position = first_query + Scores::row(i) + offset;
#pragma unroll
      for (int j = 0; j < Scores::kThreadCols; ++j) {
        const std::int64_t key = first_key + Scores::col(j);
        const bool hidden = key >= Nk || (causal && key > position);
        const float P = hidden ? 0.0f : weight_of(S_rmem[i][j] * scale, lse_rmem[i]);  // line 11
        dS_rmem[i][j] = score_gradient(P, dS_rmem[i][j], delta_rmem[i]);               // line 14
      }
    }

    __syncthreads();  // every warp has multiplied with K and V: their places are free
    device::load_tile<Shape::kThreads>(device::transposed(K_head), 0, first_key, smem.K_transposed);
    device::put_tile<Scores>(dS_rmem, smem.dS);
    __syncthreads();                                                    // both are complete
    device::multiply_add<Output>(smem.dS, smem.K_transposed, dQ_rmem);  // line 15: dQ += dS·K
    // [done]
  }

  // TODO 20: what does dQ still lack? Store it.
  for (auto& row : dQ_rmem) {
    for (float& x : row) x *= scale;
  }
  device::store_tile<Output>(dQ_rmem, device::matrix_of(dQ, blockIdx.z, blockIdx.y), first_query, 0);
  // [done]
}
// [queries]

// [launch]
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
// [launch]

}  // namespace course
