// Lesson 08: FlashAttention, forward. A block keeps a tile of keys; the tiles of queries pass by, and O, l
// and m wait in global memory. Dao et al. 2022 (arXiv:2205.14135), Algorithm 1; the kernel names its lines.

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

// [begin]
/// Line 2: O = 0, l = 0, m = -inf, by all threads of the block. Shapes: O is (Nq, D), l and m are (Nq).
__device__ void begin_rows(const View<float, 2>& O, const View<float, 1>& l, const View<float, 1>& m) {
  const std::int64_t Nq = O.shape[0], D = O.shape[1];
  for (std::int64_t e = threadIdx.x; e < Nq * D; e += blockDim.x) O.data[e / D * O.strides[0] + e % D] = 0.0f;
  for (std::int64_t row = threadIdx.x; row < Nq; row += blockDim.x) {
    l.data[row * l.strides[0]] = 0.0f;
    m.data[row * m.strides[0]] = -INFINITY;
  }
}
// [begin]

// [fold]
/// Lines 10 to 13 but for the product, for one row: S becomes exp(S - m_new) / l_new, O loses its old l and
/// m: O·l·exp(m - m_new) / l_new. m and l become the new ones. All 16 threads of a row come here together.
template <class Shape>
__device__ void fold_row(float (&S_row)[Shape::Scores::kThreadCols],
                         float (&O_row)[Shape::Output::kThreadCols], float& l, float& m) {
  float tile_max = -INFINITY;
  for (const float s : S_row) tile_max = fmaxf(tile_max, s);
  const float m_new = fmaxf(m, device::max_warp<Shape::kThreadsAcross>(tile_max));
  const float base = m_new == -INFINITY ? 0.0f : m_new;  // -inf - -inf would be NaN

  float tile_sum = 0.0f;
  for (float& s : S_row) tile_sum += s = expf(s - base);
  const float l_old = l * expf(m - base);
  const float l_new = l_old + device::sum_warp<Shape::kThreadsAcross>(tile_sum);
  const float divisor = l_new == 0.0f ? 1.0f : l_new;  // no key yet, or only scores of -inf: O stays 0

  for (float& s : S_row) s /= divisor;
  for (float& o : O_row) o *= l_old / divisor;
  l = l_new;
  m = m_new;
}
// [fold]

// [kernel]
/// O, l and m of head blockIdx.x in batch blockIdx.y.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), l, m are (B, H, Nq); D is at most Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    flash1_forward_kernel(View<const float, 4> Q_all, View<const float, 4> K_all, View<const float, 4> V_all,
                          View<float, 4> O_all, View<float, 3> l_all, View<float, 3> m_all, float scale) {
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<SharedTiles<Shape>*>(shared_memory);
  const View<const float, 2> Q = device::matrix_of(Q_all, blockIdx.y, blockIdx.x),
                             K = device::matrix_of(K_all, blockIdx.y, blockIdx.x),
                             V = device::matrix_of(V_all, blockIdx.y, blockIdx.x);
  const View<float, 2> O = device::matrix_of(O_all, blockIdx.y, blockIdx.x);
  const View<float, 1> l = device::row_of(l_all, blockIdx.y, blockIdx.x),
                       m = device::row_of(m_all, blockIdx.y, blockIdx.x);
  const std::int64_t Nq = Q.shape[0], Nk = K.shape[0];

  begin_rows(O, l, m);

  for (std::int64_t first_key = 0; first_key < Nk; first_key += Shape::kBlockN) {  // line 5
    __syncthreads();  // O, l and m have begun; K and V have been used by every warp
    device::load_tile<Shape::kThreads>(K, first_key, 0, smem.K);  // line 6
    device::load_tile<Shape::kThreads>(device::transposed(V), 0, first_key, smem.V);

    for (std::int64_t first_query = 0; first_query < Nq; first_query += Shape::kBlockM) {  // line 7
      __syncthreads();  // every warp has multiplied with the last P: Q may take its place
      device::load_tile<Shape::kThreads>(Q, first_query, 0, smem.Q);  // line 8
      __syncthreads();                                                // Q, K and V are complete

      typename Scores::Accumulator S_rmem = {};
      device::multiply_add<Scores>(smem.Q, smem.K, S_rmem);  // line 9: S = Q·Kᵀ
      for (auto& row : S_rmem) {
        for (float& s : row) s *= scale;
      }
      if (first_key + Shape::kBlockN > Nk) {  // the columns behind the last key hold 0, not -inf
        device::hide_scores<Scores>(S_rmem, [=](int, int col) { return first_key + col >= Nk; });
      }

      typename Output::Accumulator O_rmem;
      device::fetch_tile<Output>(device::read_only(O), first_query, 0, O_rmem);  // line 8
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        const std::int64_t query = first_query + Scores::row(i);
        const bool inside = query < Nq;
        float l_row = inside ? l.data[query * l.strides[0]] : 0.0f;
        float m_row = inside ? m.data[query * m.strides[0]] : -INFINITY;
        fold_row<Shape>(S_rmem[i], O_rmem[i], l_row, m_row);  // lines 10 to 12
        if (inside && Scores::thread_across() == 0) {  // line 13; all 16 have read: fold_row() shuffles
          l.data[query * l.strides[0]] = l_row;
          m.data[query * m.strides[0]] = m_row;
        }
      }

      __syncthreads();  // every warp has multiplied with Q: P may take its place
      device::put_tile<Scores>(S_rmem, smem.P);
      __syncwarp();                                          // a warp reads the rows of P that it has written
      device::multiply_add<Output>(smem.P, smem.V, O_rmem);  // line 12: O += P·V
      device::store_tile<Output>(O_rmem, O, first_query, 0);
    }
  }
}
// [kernel]

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
