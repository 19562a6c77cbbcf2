// Lesson 19: the attention of lessons 09 and 10, faster. 8 x 8 elements a thread in both products, keys and
// values on their way during the products, no bank conflicts, and powers of 2. Dao 2023 (arXiv:2307.08691),
// Algorithm 1; the comments in the kernel name its lines.

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
    // TODO 1: in which bits do the lanes that hold the same rows differ? Combine by shuffles.
    return combine(value, value);
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

inline constexpr int kPart = 32;  ///< keys, or dimensions, that are worked on in one go

/// Where a key of a part lies in V and P, 0 to 31: P·V sums over keys in any order, as long as both have the
/// same. Four neighbouring threads, which hold weights of keys that lie 4 apart, write rows of P that lie 2,
/// and so 8 banks, apart.
__host__ __device__ constexpr int place_of(int key) {
  // TODO 2: in which order do eight lanes that are served together write to 32 different banks?
  return key;
}

/// What a block has in shared memory, in parts of 32 steps of the product that reads them: Q and K of 32
/// dimensions, V and P of 32 keys. Of P there is one part.
template <class Shape>
struct SharedTiles {
  static constexpr int kParts = Shape::kDim / kPart;
  device::SharedTile<Shape::kBlockM, kPart> Q[kParts];  ///< [d / 32].at[d % 32][query]
  device::SharedTile<Shape::kBlockN, kPart> K[kParts];  ///< [d / 32].at[d % 32][key]
  device::SharedTile<Shape::kDim, kPart> V[kParts];     ///< [key / 32].at[place_of(key % 32)][d]
  device::SharedTile<Shape::kBlockM, kPart> P;          ///< .at[place_of(key % 32)][query]
};

/// 32 rows of K or V on their way from global to shared memory, in registers: between fetch() and put() a
/// thread can do other work, while the loads are under way. A warp moves kLaneCols neighbours of each of 32 /
/// kLaneCols rows at once.
template <class Shape, int kLaneCols>
class RowsInFlight {
 public:
  /// Loads the rows from first_row on, with zeros for what lies outside X. Shapes: X is (N, D).
  __device__ void fetch(const View<const float, 2>& X, std::int64_t first_row) {
    const float* from = X.data + (first_row + own_row()) * X.strides[0] + own_col();
    const int rows_left = static_cast<int>(min(X.shape[0] - first_row, std::int64_t{kPart})) - own_row();
    const int cols_left = static_cast<int>(X.shape[1]) - own_col();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int left = r * kRowStep < rows_left ? cols_left : 0;
#pragma unroll
      for (int c = 0; c < kCols; ++c) values_[r][c] = c * kLaneCols < left ? from[c * kLaneCols] : 0.0f;
      from += kRowStep * X.strides[0];
    }
  }

  /// Into K, as keys first_key and so on. With 8 neighbours of 4 rows, a warp writes to 32 different banks.
  __device__ void put_keys(SharedTiles<Shape>& smem, int first_key) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; ++c)
        smem.K[c * kLaneCols / kPart]
            .at[c * kLaneCols % kPart + own_col()][first_key + own_row() + r * kRowStep] = values_[r][c];
    }
  }

  /// Into a part of V. With 32 neighbours of a row, a warp writes to 32 different banks.
  __device__ void put_values(SharedTiles<Shape>& smem, int part) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; ++c)
        smem.V[part].at[place_of(own_row() + r * kRowStep)][own_col() + c * kLaneCols] = values_[r][c];
    }
  }

 private:
  static constexpr int kRowStep = Shape::kThreads / kLaneCols;
  static constexpr int kRows = kPart / kRowStep, kCols = Shape::kDim / kLaneCols;
  static_assert(kPart % kRowStep == 0 && kPart % kLaneCols == 0);
  __device__ static int own_row() { return static_cast<int>(threadIdx.x) / kLaneCols; }
  __device__ static int own_col() { return static_cast<int>(threadIdx.x) % kLaneCols; }

  float values_[kRows][kCols];
};

/// @brief P_smem = columns 32 · part to 32 · part + 31 of the tile of which each thread holds 8 x 8 elements.
/// Barriers: none. A warp writes the rows that it alone reads in multiply_add(): __syncwarp() after it, and
///           before the next part.
template <class Scores>
__device__ void put_part(const typename Scores::Accumulator& P_rmem, int part,
                         device::SharedTile<Scores::kRows, kPart>& P_smem) {
  // TODO 3: store those of the thread's columns that belong to the part, in their places, four rows at once.
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
    // TODO 4: as in lesson 09: the new maximum, the factor, O and l, and P. Which exponential, and of what?
  }
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
  constexpr int kParts = SharedTiles<Shape>::kParts;
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
  for (int part = 0; part < kParts; ++part)
    device::load_tile<Shape::kThreads>(device::matrix_of(Q, batch, head), first_query, part * kPart,
                                       smem.Q[part]);
  if (scale < 0.0f) {  // the smallest product would be the largest score
    __syncthreads();   // Q is complete
    for (auto& part : smem.Q) {
      for (int e = static_cast<int>(threadIdx.x); e < kPart * Shape::kBlockM; e += Shape::kThreads)
        part.at[e / Shape::kBlockM][e % Shape::kBlockM] *= -1.0f;
    }
  }
  typename Output::Accumulator O_rmem = {};
  float m[Shape::kThreadRows], l[Shape::kThreadRows] = {};
  for (float& m_i : m) m_i = -INFINITY;

  // TODO 5: which factor makes exponents of 2 of differences of products? It must not be 0, nor below it.
  const float to_log2 = 1.0f;

  // TODO 6: which keys have to be in their place before the loop begins?
  for (std::int64_t first_key = 0; first_key < seen_by_any; first_key += Shape::kBlockN) {  // line 6
    // TODO 7: who has to wait for whom, before anybody multiplies with K, or stores a part of V?
    // TODO 8: lines 7 and 8: compute S, not scaled, part by part, while as many rows of V are on their way.
    // TODO 9: hide what a query does not see. Which tiles need no mask?

    // TODO 10: line 9. Then wait: who still reads K, and for whom is V complete?
    // TODO 11: line 10: add P·V to O, part by part, while as many of the next tile's keys are on their way.
  }

  // TODO 12: finish l, O and lse as in lesson 09, but for one thing: m is not scaled.
}

template <class Shape>
void launch(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
            View<float, 3> lse, float scale, bool causal) {
  const std::int64_t tiles = (Q.shape[2] + Shape::kBlockM - 1) / Shape::kBlockM;
  // GPUs begin blocks in the order of x, then y, then z: those with z = 0, of all heads and batches, first.
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
