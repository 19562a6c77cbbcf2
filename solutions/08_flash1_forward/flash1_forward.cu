// Lesson 08: FlashAttention, forward. A block keeps a tile of keys; the tiles of queries pass by, and O, l
// and m wait in global memory. Dao et al. 2022 (arXiv:2205.14135), Algorithm 1, whose lines are named.

#include "flash1_forward.hpp"

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

// 128 queries meet 64 keys at a time. The fewer dimensions, the less shared memory.
using NarrowShape = device::AttentionShape<128, 64, 64>;
using WideShape = device::AttentionShape<128, 64, 128>;
static_assert(WideShape::kDim >= kMaxDim);

// [shared]
/// What a block has in shared memory. P takes the place of Q, which nobody needs once S has been computed.
template <class Shape>
struct SharedTiles {
  typename Shape::KTile K;
  typename Shape::VTile V;
  union {
    typename Shape::QTile Q;
    typename Shape::PTile P;
  };
};
// [shared]

/// What one head of one batch has. Shapes: Q, O are (Nq, D), K, V are (Nk, D), l, m are (Nq).
struct Head {
  View<const float, 2> Q, K, V;
  View<float, 2> O;
  View<float, 1> l, m;
};

// [begin]
/// Line 2: O = 0, l = 0, m = -inf, by all threads of the block.
__device__ void begin_rows(const Head& head) {
  // TODO 1: what do O, l and m hold before the first key? Whose elements does a thread write?
  const std::int64_t Nq = head.O.shape[0], D = head.O.shape[1];
  for (std::int64_t e = threadIdx.x; e < Nq * D; e += blockDim.x) head.O(e / D, e % D) = 0.0f;
  for (std::int64_t query = threadIdx.x; query < Nq; query += blockDim.x) {
    head.l(query) = 0.0f;
    head.m(query) = -INFINITY;
  }
  // [done]
}
// [begin]

/// Line 9: S = Q·Kᵀ·scale of the tiles in shared memory, of which the first keys_left keys are real.
template <class Shape>
__device__ void multiply_with_keys(const SharedTiles<Shape>& smem, std::int64_t keys_left, float scale,
                                   typename Shape::Scores::Accumulator& S_rmem) {
  using Scores = typename Shape::Scores;
  device::multiply_add<Scores>(smem.Q, smem.K, S_rmem);
  for (auto& row : S_rmem) {
    for (float& s : row) s *= scale;
  }
  // TODO 2: the columns past the last key hold 0. What would they weigh?
  if (keys_left < Shape::kBlockN) {  // the columns past the last key hold 0, and exp(0) is 1
    device::hide_scores<Scores>(S_rmem, [=](int, int col) { return col >= keys_left; });
  }
  // [done]
}

// [values]
/// Line 12, the product: O += P·V. The warp must have read its rows of Q: its rows of P go where they lay.
template <class Shape>
__device__ void add_values(const typename Shape::Scores::Accumulator& P_rmem, SharedTiles<Shape>& smem,
                           typename Shape::Output::Accumulator& O_rmem) {
  device::put_tile<typename Shape::Scores>(P_rmem, smem.P);
  __syncwarp();  // a warp reads the rows of P that it has written
  device::multiply_add<typename Shape::Output>(smem.P, smem.V, O_rmem);
}
// [values]

// [fold]
/// Lines 10 to 12 for one row, but for the product: S becomes exp(S - m_new) / l_new, and O leaves its old l
/// and m: it becomes O·l·exp(m - m_new) / l_new. All 16 threads that share the row come here together.
template <class Shape>
__device__ void fold_row(float (&S_row)[Shape::Scores::kThreadCols],
                         float (&O_row)[Shape::Output::kThreadCols], float& l, float& m) {
  // TODO 3: m_new. Of the tile's row this thread has a part: who knows the rest? And what if it is -inf?
  // TODO 4: the exponentials, and l_new. On which maximum does the old l stand?
  // TODO 5: divide S by the new sum; take O from its old sum and maximum to the new ones. What if l_new is 0?
  // TODO 6: the caller writes l and m back. What are they now?
  float tile_max = -INFINITY;
  for (const float s : S_row) tile_max = fmaxf(tile_max, s);
  const float m_new = fmaxf(m, device::max_warp<Shape::kThreadsAcross>(tile_max));
  const float base = m_new == -INFINITY ? 0.0f : m_new;  // -inf - -inf would be NaN

  float tile_sum = 0.0f;
  for (float& s : S_row) tile_sum += s = expf(s - base);
  const float l_old = l * expf(m - base);
  const float l_new = l_old + device::sum_warp<Shape::kThreadsAcross>(tile_sum);

  const float divisor = l_new == 0.0f ? 1.0f : l_new;  // no score above -inf yet: O stays 0
  for (float& s : S_row) s /= divisor;
  for (float& o : O_row) o *= l_old / divisor;
  l = l_new;
  m = m_new;
  // [done]
}
// [fold]

// [attend]
/// The algorithm, by a block of Shape::kThreads threads. D is at most Shape::kDim.
template <class Shape>
__device__ void attend(const Head& head, float scale, SharedTiles<Shape>& smem) {
  // [cut]
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  const std::int64_t Nq = head.Q.shape[0], Nk = head.K.shape[0];

  // [done]
  begin_rows(head);

  // TODO 7: for each tile of keys (line 5): bring K and V (line 6). What must be over before, in every warp?
  // TODO 8: in it, for each tile of queries (line 7): bring Q (line 8), make S (line 9). Who waits for whom?
  // TODO 9: fetch O, l and m of these queries (line 8), and fold each of the thread's rows (lines 10 to 12).
  // TODO 10: write l and m back (line 13). Which threads have a row's? Have all of them read the old ones?
  // TODO 11: add P·V (line 12) and store O. What lay where P goes?
  for (std::int64_t first_key = 0; first_key < Nk; first_key += Shape::kBlockN) {  // line 5
    __syncthreads();  // O, l and m have begun; K and V have been used by every warp
    device::load_tile<Shape::kThreads>(head.K, first_key, 0, smem.K);  // line 6
    device::load_tile<Shape::kThreads>(device::transposed(head.V), 0, first_key, smem.V);

    for (std::int64_t first_query = 0; first_query < Nq; first_query += Shape::kBlockM) {  // line 7
      __syncthreads();  // every warp has multiplied with the last P: Q may take its place
      device::load_tile<Shape::kThreads>(head.Q, first_query, 0, smem.Q);  // line 8
      __syncthreads();                                                     // Q, K and V are complete

      typename Scores::Accumulator S_rmem = {};
      multiply_with_keys<Shape>(smem, Nk - first_key, scale, S_rmem);  // line 9

      typename Output::Accumulator O_rmem;  // line 8: what the tiles of keys so far have left
      float l_rmem[Shape::kThreadRows], m_rmem[Shape::kThreadRows];
      device::fetch_tile<Output>(device::read_only(head.O), first_query, 0, O_rmem);
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        const std::int64_t query = first_query + Scores::row(i);
        l_rmem[i] = query < Nq ? head.l(query) : 0.0f;
        m_rmem[i] = query < Nq ? head.m(query) : -INFINITY;
        fold_row<Shape>(S_rmem[i], O_rmem[i], l_rmem[i], m_rmem[i]);  // lines 10 to 12
      }

      __syncwarp();  // nobody else reads these rows of Q, l and m, and the warp has: they may be overwritten
      if (Scores::thread_across() == 0) {  // line 13, by one of the 16 threads that hold a row
#pragma unroll
        for (int i = 0; i < Shape::kThreadRows; ++i) {
          const std::int64_t query = first_query + Scores::row(i);
          if (query >= Nq) continue;
          head.l(query) = l_rmem[i];
          head.m(query) = m_rmem[i];
        }
      }
      add_values<Shape>(S_rmem, smem, O_rmem);  // line 12
      device::store_tile<Output>(O_rmem, head.O, first_query, 0);
    }
  }
  // [done]
}
// [attend]

/// A block for head blockIdx.x of batch blockIdx.y. Shapes: as the entry's.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    flash1_forward_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                          View<float, 4> O, View<float, 3> l, View<float, 3> m, float scale) {
  extern __shared__ float4 shared_memory[];
  const std::int64_t head = blockIdx.x, batch = blockIdx.y;
  attend<Shape>({device::matrix_of(Q, batch, head), device::matrix_of(K, batch, head),
                 device::matrix_of(V, batch, head), device::matrix_of(O, batch, head),
                 device::row_of(l, batch, head), device::row_of(m, batch, head)},
                scale, *reinterpret_cast<SharedTiles<Shape>*>(shared_memory));
}

// [launch]
template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> l, View<float, 3> m, float scale) {
  const dim3 grid(static_cast<unsigned>(Q.shape[1]), static_cast<unsigned>(Q.shape[0]));
  constexpr int kSharedBytes = sizeof(SharedTiles<Shape>);  // more than the 48 KiB that come unasked
  const auto kernel = flash1_forward_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, l, m, scale);
  CUDA_CHECK(cudaGetLastError());
}

void flash1_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> l, View<float, 3> m, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("l", l, {B, H, Nq});
  device::require_shape("m", m, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, O, l, m, scale);
  } else {
    launch<WideShape>(Q, K, V, O, l, m, scale);
  }
}
// [launch]

}  // namespace course
