// Lesson 09: FlashAttention-2, forward: first with a thread for each query, then with a block that keeps a
// tile of queries while the tiles of keys pass by.
// Dao 2023 (arXiv:2307.08691), Algorithm 1; the comments in the kernel name its lines.

#include "flash2_forward.hpp"

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

// [rows]
constexpr int kRowThreads = 64;

/// O and lse of one query for each thread: kRowThreads queries of head blockIdx.y in batch blockIdx.z.
__global__ void __launch_bounds__(kRowThreads)
    rows_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                View<float, 3> lse, float scale) {
  const std::int64_t mine = std::int64_t{blockIdx.x} * kRowThreads + threadIdx.x;
  if (mine >= Q.shape[2]) return;  // nobody waits for this thread: there is no barrier
  // TODO 1: what does the thread keep while the keys pass by, and what is it before the first one?
  // TODO 2: the score of a key.
  // TODO 3: let the maximum, the sum and the row of O take it in. What if no score was above -inf yet?
  // TODO 4: finish lse and O, also without any weight.
  const View<const float, 2> queries = device::matrix_of(Q, blockIdx.z, blockIdx.y);
  const View<const float, 2> keys = device::matrix_of(K, blockIdx.z, blockIdx.y);
  const View<const float, 2> values = device::matrix_of(V, blockIdx.z, blockIdx.y);
  const std::int64_t D = Q.shape[3];
  float largest = -INFINITY, sum = 0.0f, O_row[kMaxDim] = {};  // O_row is not divided by sum

  for (std::int64_t key = 0; key < K.shape[2]; ++key) {
    float score = 0.0f;
    for (std::int64_t d = 0; d < D; ++d) score += queries(mine, d) * keys(key, d);
    score *= scale;

    const float largest_new = fmaxf(largest, score);
    const float subtracted = largest_new == -INFINITY ? 0.0f : largest_new;  // not -inf from -inf
    const float factor = expf(largest - subtracted), weight = expf(score - subtracted);
    largest = largest_new;
    sum = sum * factor + weight;
    for (std::int64_t d = 0; d < D; ++d) O_row[d] = O_row[d] * factor + weight * values(key, d);
  }

  lse(blockIdx.z, blockIdx.y, mine) = largest + logf(sum);  // log 0 is -inf
  for (std::int64_t d = 0; d < D; ++d)
    O(blockIdx.z, blockIdx.y, mine, d) = sum == 0.0f ? 0.0f : O_row[d] / sum;
  // [done]
}

void flash2_forward_rows(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale) {
  device::require_attention_arguments(Q, K, V, O, Q.shape[1], kMaxDim);
  device::require_shape("lse", lse, {Q.shape[0], Q.shape[1], Q.shape[2]});
  if (Q.shape[0] * Q.shape[1] * Q.shape[2] == 0) return;
  const dim3 grid(static_cast<unsigned>((Q.shape[2] + kRowThreads - 1) / kRowThreads),
                  static_cast<unsigned>(Q.shape[1]), static_cast<unsigned>(Q.shape[0]));
  rows_kernel<<<grid, kRowThreads>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());  // whether the launch was accepted
}
// [rows]

// 128 queries meet 64 keys at a time. The fewer dimensions, the less shared memory.
using NarrowShape = device::AttentionShape<128, 64, 64>;
using WideShape = device::AttentionShape<128, 64, 128>;
static_assert(WideShape::kDim >= kMaxDim);
static_assert(NarrowShape::kBlockM == WideShape::kBlockM, "one grid serves both");

// [shared]
/// What a block has in shared memory. P takes the place of K, which nobody needs once S has been computed.
template <class Shape>
struct SharedTiles {
  typename Shape::QTile Q;
  union {
    typename Shape::KTile K;
    typename Shape::PTile P;
  };
  typename Shape::VTile V;
};
// [shared]

// [fold]
/// Takes a tile of scores into the thread's rows: S_rmem becomes P = exp(S - m), m and l those of all keys so
/// far, O_rmem as if m had been the maximum from the beginning.
/// Invariant: l = Σ exp(S_j - m) over the thread's columns so far; {-inf, 0} while no score was above -inf.
template <class Shape>
__device__ void fold_scores(typename Shape::Scores::Accumulator& S_rmem,
                            typename Shape::Output::Accumulator& O_rmem, float (&m)[Shape::kThreadRows],
                            float (&l)[Shape::kThreadRows]) {
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    // TODO 5: what is the maximum of row i now? Which of its columns does this thread not have?
    // TODO 6: what stands on the old maximum, and has to be brought to the new one?
    // TODO 7: make P of S, and let l take it in. What if the maximum is still -inf?
    const float m_new = fmaxf(m[i], device::max_of_row<typename Shape::Scores>(S_rmem, i));
    const float base = m_new == -INFINITY ? 0.0f : m_new;  // -inf - -inf would be NaN

    const float rescale = expf(m[i] - base);
    for (float& o : O_rmem[i]) o *= rescale;
    l[i] *= rescale;
    m[i] = m_new;

    for (float& s : S_rmem[i]) {
      s = expf(s - base);
      l[i] += s;
    }
    // [done]
  }
}
// [fold]

// [kernel]
/// O and lse of a tile of queries: tile blockIdx.x of head blockIdx.y in batch blockIdx.z.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq); D is at most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    flash2_forward_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          View<float, 4> O, View<float, 3> lse, float scale) {
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<SharedTiles<Shape>*>(shared_memory);
  const View<const float, 2> Q_head = device::matrix_of(Q, blockIdx.z, blockIdx.y);
  // TODO 8: which matrices of K and V does this block need?
  const View<const float, 2> K_head = device::matrix_of(K, blockIdx.z, blockIdx.y);
  const View<const float, 2> V_head = device::matrix_of(V, blockIdx.z, blockIdx.y);
  // [done]
  const std::int64_t first_query = std::int64_t{blockIdx.x} * Shape::kBlockM, Nk = K.shape[2];

  // Lines 3 to 5: a tile of Q; O = 0, l = 0, m = -inf.
  device::load_tile<Shape::kThreads>(Q_head, first_query, 0, smem.Q);
  typename Output::Accumulator O_rmem = {};
  float m[Shape::kThreadRows], l[Shape::kThreadRows] = {};
  for (float& m_i : m) m_i = -INFINITY;

  for (std::int64_t first_key = 0; first_key < Nk; first_key += Shape::kBlockN) {  // line 6
    // TODO 9: load a tile of K and one of V, for which P·V sums over keys. What must have happened before?
    // TODO 10: who has to wait for whom, before anybody multiplies?
    __syncthreads();  // every warp has multiplied with the last P and V: K and V may be overwritten
    device::load_tile<Shape::kThreads>(K_head, first_key, 0, smem.K);  // line 7
    device::load_tile<Shape::kThreads>(device::transposed(V_head), 0, first_key, smem.V);
    __syncthreads();  // Q, K and V are complete
    // [done]

    typename Scores::Accumulator S_rmem = {};
    // TODO 11: compute the tile of S. What stands in the columns past the last key?
    device::multiply_add<Scores>(smem.Q, smem.K, S_rmem);  // line 8: S = Q·Kᵀ
    for (auto& row : S_rmem) {
      for (float& s : row) s *= scale;
    }
    if (first_key + Shape::kBlockN > Nk) {  // the columns past the last key hold 0, not -inf
      device::hide_scores<Scores>(S_rmem, [=](int, int col) { return first_key + col >= Nk; });
    }
    // [done]

    fold_scores<Shape>(S_rmem, O_rmem, m, l);  // line 9, and of line 10: O = diag(exp(m_old - m))·O

    // TODO 12: put P where K is. Who may still be reading K there?
    // TODO 13: add P·V to O. Which threads have written the rows of P that this thread reads?
    __syncthreads();  // every warp has multiplied with K: P may take its place
    device::put_tile<Scores>(S_rmem, smem.P);
    __syncwarp();                                          // a warp reads the rows of P that it has written
    device::multiply_add<Output>(smem.P, smem.V, O_rmem);  // line 10: O += P·V
    // [done]
  }

  // TODO 14: l holds this thread's columns only. Finish l and O, also where no score was above -inf.
  // TODO 15: store lse. Which threads of a row do it, and which rows of the tile exist?
  // TODO 16: store O with device::store_tile<Output>().
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    l[i] = device::sum_warp<Shape::kThreadsAcross>(l[i]);  // so far each thread had its own columns only
    for (float& o : O_rmem[i]) o = l[i] == 0.0f ? 0.0f : o / l[i];  // line 12; 0: a row of only -inf

    const std::int64_t query = first_query + Scores::row(i);
    if (Scores::thread_across() == 0 && query < Q.shape[2])
      lse(blockIdx.z, blockIdx.y, query) = m[i] + logf(l[i]);  // line 13; log 0 is -inf
  }
  device::store_tile<Output>(O_rmem, device::matrix_of(O, blockIdx.z, blockIdx.y), first_query, 0);
  // [done]
}
// [kernel]

// [launch]
template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale) {
  const std::int64_t tiles = (Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(Q.shape[1]),
                  static_cast<unsigned>(Q.shape[0]));
  constexpr int kSharedBytes = sizeof(SharedTiles<Shape>);  // more than the 48 KiB that come unasked
  const auto kernel = flash2_forward_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale);
  CUDA_CHECK(cudaGetLastError());
}

void flash2_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> lse, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, O, lse, scale);
  } else {
    launch<WideShape>(Q, K, V, O, lse, scale);
  }
}
// [launch]

}  // namespace course
