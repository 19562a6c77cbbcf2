// Alternative for lesson 19: a whole tile of K, and one of V, on its way at once. P lies by rows and in the
// place of K, for a product of its own and a third barrier.

#include "register_tiling.hpp"

#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

namespace course {

/// @brief A tile of which each thread holds 8 x 8 elements, in groups of 4 x 4, and each row is a matter of 8
/// or 16 lanes of one warp. As device::TileShape, but for the lanes: those that differ in bit 0 hold the same
/// rows, those that differ in bit 1 the same columns, so that both operands of a product come in 2 wavefronts
/// a read.
template <int kRows_, int kCols_>
struct ThreadTile {
  static constexpr int kRows = kRows_, kCols = kCols_, kThreadRows = 8, kThreadCols = 8;
  static constexpr int kThreadsDown = kRows / kThreadRows, kThreadsAcross = kCols / kThreadCols;
  static constexpr int kThreads = kThreadsDown * kThreadsAcross;  ///< of the block
  static_assert(kThreadsAcross == 8 || kThreadsAcross == 16, "4 x 8 or 2 x 16 lanes");

  using Accumulator = float[kThreadRows][kThreadCols];  ///< a thread's elements, in registers

  /// The row of the tile that holds the thread's acc[i][...].
  __device__ static int row(int i) { return i / 4 * (4 * kThreadsDown) + 4 * thread_down() + i % 4; }
  /// The column of the tile that holds the thread's acc[...][j].
  __device__ static int col(int j) { return j / 4 * (4 * kThreadsAcross) + 4 * thread_across() + j % 4; }

  /// Lane bits 0, 2, 3 and, of 16 threads across, 4.
  __device__ static int thread_across() { return (lane() / 4 * 2 + lane() % 2) % kThreadsAcross; }
  /// Lane bit 1 and, of 8 threads across, 4; then the warp.
  __device__ static int thread_down() {
    return warp() * (32 / kThreadsAcross) + lane() / 4 * 2 / kThreadsAcross * 2 + lane() / 2 % 2;
  }

  /// @brief Of the values that the threads of a row bring, what `combine` makes of all, in each of them.
  template <class Combine>
  __device__ static float over_row(float value, Combine combine) {
    for (int bit = 1; bit < 2 * kThreadsAcross; bit *= 2)
      if (bit != 2) value = combine(value, __shfl_xor_sync(device::kFullMask, value, bit));
    return value;
  }

 private:
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
};

/// A tile of 128 queries meets as many keys as a row has dimensions, so that S and O are 8 x 8 elements a
/// thread.
template <int kDim_>
struct FastShape {
  static constexpr int kBlockM = 128, kBlockN = kDim_, kDim = kDim_;
  using Scores = ThreadTile<kBlockM, kBlockN>;
  using Output = ThreadTile<kBlockM, kDim>;
  static constexpr int kThreadRows = 8, kThreads = Scores::kThreads;
  static constexpr int kBlocksAtOnce = 256 / kThreads;  ///< 8 warps, with 255 registers for each thread
};
using NarrowShape = FastShape<64>;
using WideShape = FastShape<128>;
static_assert(WideShape::kDim >= kMaxDim);

/// P by rows, as its threads hold it: four neighbours of a row are written, and read, with one access. The 4
/// floats that are left over turn each row by 4 banks.
template <int kRows, int kCols>
struct alignas(16) RowTile {
  float at[kRows][kCols + 4];
};

/// What a block has in shared memory. P takes the place of K, which nobody needs once S has been computed.
template <class Shape>
struct SharedTiles {
  device::SharedTile<Shape::kBlockM, Shape::kDim> Q;
  union {
    device::SharedTile<Shape::kBlockN, Shape::kDim> K;
    RowTile<Shape::kBlockM, Shape::kBlockN> P;
  };
  device::SharedTile<Shape::kDim, Shape::kBlockN> V;  ///< at[key][d]: the product P·V sums over keys
};

/// A tile of K or V on its way from global to shared memory, in registers: between fetch() and put() a thread
/// can do other work, while the loads are under way. A warp moves kLaneCols neighbours of each of 32 /
/// kLaneCols rows at once.
template <class Shape, int kLaneCols>
class TileInFlight {
 public:
  /// Loads the tile that begins at first_row, with zeros for what lies outside X. Shapes: X is (N, D).
  __device__ void fetch(const View<const float, 2>& X, std::int64_t first_row) {
    const float* from = X.data + (first_row + own_row()) * X.strides[0] + own_col();
    const auto rows_left =
        static_cast<int>(min(X.shape[0] - first_row, std::int64_t{Shape::kBlockN})) - own_row();
    const int cols_left = static_cast<int>(X.shape[1]) - own_col();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int left = r * kRowStep < rows_left ? cols_left : 0;
#pragma unroll
      for (int c = 0; c < kCols; ++c) values_[r][c] = c * kColStep < left ? from[c * kColStep] : 0.0f;
      from += kRowStep * X.strides[0];
    }
  }

  /// K_smem.at[d][key]: with 8 neighbours of 4 rows, the lanes of a warp write to 32 different banks.
  __device__ void put_transposed(device::SharedTile<Shape::kBlockN, Shape::kDim>& K_smem) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; ++c)
        K_smem.at[own_col() + c * kColStep][own_row() + r * kRowStep] = values_[r][c];
    }
  }

  /// V_smem.at[key][d]: with 32 neighbours of a row, as well.
  __device__ void put(device::SharedTile<Shape::kDim, Shape::kBlockN>& V_smem) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; ++c)
        V_smem.at[own_row() + r * kRowStep][own_col() + c * kColStep] = values_[r][c];
    }
  }

 private:
  static constexpr int kColStep = kLaneCols, kRowStep = Shape::kThreads / kLaneCols;
  static constexpr int kRows = Shape::kBlockN / kRowStep, kCols = Shape::kDim / kColStep;
  __device__ static int own_row() { return static_cast<int>(threadIdx.x) / kLaneCols; }
  __device__ static int own_col() { return static_cast<int>(threadIdx.x) % kLaneCols; }

  float values_[kRows][kCols];
};

/// @brief P_smem = the tile of which each thread holds a part.
/// Barriers: none. A warp writes the rows that it alone reads in multiply_add_by_rows(), so that __syncwarp()
/// is enough
///           before it; before the call, all threads must have finished with what lay there.
template <class Scores>
__device__ void put_by_rows(const typename Scores::Accumulator& P_rmem,
                            RowTile<Scores::kRows, Scores::kCols>& P_smem) {
#pragma unroll
  for (int i = 0; i < Scores::kThreadRows; ++i) {
#pragma unroll
    for (int j = 0; j < Scores::kThreadCols; j += 4)
      *reinterpret_cast<float4*>(&P_smem.at[Scores::row(i)][Scores::col(j)]) =
          make_float4(P_rmem[i][j], P_rmem[i][j + 1], P_rmem[i][j + 2], P_rmem[i][j + 3]);
  }
}

/// @brief acc += the thread's part of A·B, where A lies by rows, in the order of depth.
/// Shapes: A_smem is (kRows, kDepth) of A, B_smem.at[k] row k of B.
/// Cost:   for 4 steps of depth 8 reads of A, of 4 steps each, and 8 of B, for 4 * 64 multiply-adds.
template <class Shape, int kDepth>
__device__ void multiply_add_by_rows(const RowTile<Shape::kRows, kDepth>& A_smem,
                                     const device::SharedTile<Shape::kCols, kDepth>& B_smem,
                                     typename Shape::Accumulator& acc) {
#pragma unroll 4
  for (int k = 0; k < kDepth; k += 4) {
    // of that row of B, and add their products.
    float a[Shape::kThreadRows][4];  // columns k to k + 3 of A, the thread's rows
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) device::read_four(&A_smem.at[Shape::row(i)][k], a[i]);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float b[Shape::kThreadCols];  // row k + e of B, the thread's columns
#pragma unroll
      for (int j = 0; j < Shape::kThreadCols; j += 4)
        device::read_four(&B_smem.at[k + e][Shape::col(j)], &b[j]);
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
        for (int j = 0; j < Shape::kThreadCols; ++j) acc[i][j] += a[i][e] * b[j];
      }
    }
  }
}

/// Takes a tile of scores into the thread's rows: S_rmem becomes P = 2^((S - m)·to_log2), m and l those of
/// all keys so far, O_rmem as if m had been the maximum from the beginning. S and m are products of Q and K,
/// not scaled. Invariant: l = Σ 2^((S_j - m)·to_log2) over the thread's columns so far; {-inf, 0} while no
/// score was above -inf.
template <class Shape>
__device__ void fold_scores(float to_log2, typename Shape::Scores::Accumulator& S_rmem,
                            typename Shape::Output::Accumulator& O_rmem, float (&m)[Shape::kThreadRows],
                            float (&l)[Shape::kThreadRows]) {
#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    float m_new = m[i];
    for (const float s : S_rmem[i]) m_new = fmaxf(m_new, s);
    m_new = Shape::Scores::over_row(m_new, [](float a, float b) { return fmaxf(a, b); });
    const float base = m_new == -INFINITY ? 0.0f : m_new;  // -inf - -inf would be NaN

    // The difference first: it is small, and exact where it counts. A product would be rounded by its own
    // size.
    const float rescale = exp2f((m[i] - base) * to_log2);
    for (float& o : O_rmem[i]) o *= rescale;
    l[i] *= rescale;
    m[i] = m_new;

    for (float& s : S_rmem[i]) {
      s = exp2f((s - base) * to_log2);
      l[i] += s;
    }
  }
}

/// A place within a tile, in 32 bits; what lies outside of any stays outside.
__device__ int at_most_128(std::int64_t x) {
  return static_cast<int>(min(max(x, std::int64_t{-128}), std::int64_t{128}));
}

/// O and lse of a tile of queries of head blockIdx.x in batch blockIdx.y; blockIdx.z counts the tiles, the
/// last first. Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq); D is at most
/// Shape::kDim.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    flash2_forward_fast_kernel(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                               View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;
  extern __shared__ float4 shared_memory[];
  auto& smem = *reinterpret_cast<SharedTiles<Shape>*>(shared_memory);
  const unsigned head = blockIdx.x, batch = blockIdx.y;

  const std::int64_t first_query = std::int64_t{gridDim.z - 1 - blockIdx.z} * Shape::kBlockM;
  const std::int64_t Nq = Q.shape[2], Nk = K.shape[2];
  const std::int64_t last_query = min(first_query + Shape::kBlockM, Nq) - 1;
  const auto last_seen = [=](std::int64_t query) { return causal ? query + Nk - Nq : Nk - 1; };
  const std::int64_t seen_by_all = last_seen(first_query) + 1;  // so many keys; 0 or less: none
  const std::int64_t seen_by_any = max(last_seen(last_query) + 1, std::int64_t{0});

  // Keys that no query of the tile sees do not exist here: they are never loaded.
  View<const float, 2> K_head = device::matrix_of(K, batch, head), V_head = device::matrix_of(V, batch, head);
  K_head.shape[0] = V_head.shape[0] = seen_by_any;

  // Lines 3 to 5: a tile of Q; O = 0, l = 0, m = -inf.
  device::load_tile<Shape::kThreads>(device::matrix_of(Q, batch, head), first_query, 0, smem.Q);
  if (scale < 0.0f) {  // the smallest product would be the largest score
    __syncthreads();   // Q is complete
    for (int e = static_cast<int>(threadIdx.x); e < Shape::kBlockM * Shape::kDim; e += Shape::kThreads)
      smem.Q.at[e / Shape::kBlockM][e % Shape::kBlockM] *= -1.0f;
  }
  typename Output::Accumulator O_rmem = {};
  float m[Shape::kThreadRows], l[Shape::kThreadRows] = {};
  for (float& m_i : m) m_i = -INFINITY;

  const float to_log2 =
      fmaxf(fabsf(scale) * 1.44269504f, FLT_MIN);  // 0 times a hidden score of -inf would be NaN

  TileInFlight<Shape, 8> K_next;
  K_next.fetch(K_head, 0);
  for (std::int64_t first_key = 0; first_key < seen_by_any; first_key += Shape::kBlockN) {  // line 6
    __syncthreads();  // every warp has multiplied with the last P and V: K and V may be overwritten
    K_next.put_transposed(smem.K);
    __syncthreads();  // Q and K are complete

    TileInFlight<Shape, 32> V_next;
    V_next.fetch(V_head, first_key);  // line 7; S takes longer to compute than these loads to come
    typename Scores::Accumulator S_rmem = {};
    device::multiply_add<Scores>(smem.Q, smem.K, S_rmem);
    V_next.put(smem.V);

    if (first_key + Shape::kBlockN > seen_by_all) {  // the diagonal or the last key lies in this tile
      const int last_col = at_most_128(last_seen(first_query) - first_key), step = causal ? 1 : 0;
      device::hide_scores<Scores>(S_rmem, [=](int row, int col) { return col > last_col + step * row; });
    }

    fold_scores<Shape>(to_log2, S_rmem, O_rmem, m,
                       l);  // line 9, and of line 10: O = diag(2^((m_old - m)·to_log2))·O

    __syncthreads();  // every warp has multiplied with K: P may take its place; V is complete
    put_by_rows<Scores>(S_rmem, smem.P);
    __syncwarp();  // a warp reads the rows of P that it has written
    K_next.fetch(K_head, first_key + Shape::kBlockN);
    multiply_add_by_rows<Output>(smem.P, smem.V, O_rmem);  // line 10: O += P·V
  }

#pragma unroll
  for (int i = 0; i < Shape::kThreadRows; ++i) {
    l[i] = Scores::over_row(l[i], [](float a, float b) { return a + b; });
    for (float& o : O_rmem[i]) o = l[i] == 0.0f ? 0.0f : o / l[i];  // line 12; 0: a row of only -inf

    const std::int64_t query = first_query + Scores::row(i);
    if (Scores::thread_across() == 0 && query < Nq) {  // line 13
      lse(batch, head, query) = l[i] == 0.0f ? -INFINITY : fmaf(m[i], fabsf(scale), logf(l[i]));
    }
  }
  device::store_tile<Output>(O_rmem, device::matrix_of(O, batch, head), first_query, 0);
}

template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale, bool causal) {
  const std::int64_t tiles = (Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  // Blocks begin in the order of x, then y, then z: those with z = 0, of all heads and batches, come first.
  const dim3 grid(static_cast<unsigned>(Q.shape[1]), static_cast<unsigned>(Q.shape[0]),
                  static_cast<unsigned>(tiles));
  constexpr int kSharedBytes = sizeof(SharedTiles<Shape>);  // more than the 48 KiB that come unasked
  const auto kernel = flash2_forward_fast_kernel<Shape>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<grid, Shape::kThreads, kSharedBytes>>>(Q, K, V, O, lse, scale, causal);
  CUDA_CHECK(cudaGetLastError());
}

void flash2_forward_fast(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V,
                         View<float, 4> O, View<float, 3> lse, float scale, bool causal) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (B == 0 || H == 0 || Nq == 0) return;
  if (Q.shape[3] <= NarrowShape::kDim) {
    launch<NarrowShape>(Q, K, V, O, lse, scale, causal);
  } else {
    launch<WideShape>(Q, K, V, O, lse, scale, causal);
  }
}

}  // namespace course
