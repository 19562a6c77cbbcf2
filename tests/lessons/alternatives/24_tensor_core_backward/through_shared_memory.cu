// Lesson 24 with one stage, and with operands from shared memory: each warp writes its P and dS, rounded,
// into a tile of its own, and reads them as it reads every other A. The copies of a tile are waited for at
// once.

#include "tensor_core_backward.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/async_copy.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/dropout.hpp"
#include "device/exp2.hpp"
#include "device/float16.hpp"
#include "device/full_attention.hpp"
#include "device/masked_tiles.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"

namespace course {

using device::FragmentA;
using device::FragmentB;
using device::FragmentC;
using device::Major;

// --- A block ---

/// What stays with a block: its rows of the scores. The others go past as columns.
enum class Rows { keys, queries };

/// 128 rows stay, and tiles of kCols columns go past. A warp has registers for 16 or 32 rows of its sums and
/// for kPart columns of S and of dP at a time.
template <class T_, Rows kRowsAre, int kDim_>
struct Shape {
  using T = T_;
  static constexpr bool kKeysStay = kRowsAre == Rows::keys;
  static constexpr int kDim = kDim_;
  static constexpr bool kTwoWideSums = kKeysStay && kDim > 64;  // dK and dV of 128 dimensions: 16 rows a warp
  static constexpr int kDown = kTwoWideSums ? 1 : 2;            // products below each other
  static constexpr int kWarps = kTwoWideSums ? 8 : 4, kThreads = 32 * kWarps, kBlocksAtOnce = 8 / kWarps;
  static constexpr int kRows = 16 * kDown * kWarps, kCols = kKeysStay || kDim <= 64 ? 64 : 32;
  static constexpr int kPart = 32, kUnrolled = kKeysStay && kDim == 64 ? 2 : 4;
  static_assert(kRows == 128 && kCols % kPart == 0);

  using RowTile = device::SwizzledTile<T, kRows, kDim>;
  using ColTile = device::SwizzledTile<T, kCols, kDim>;
  using ScoreTile = device::SwizzledTile<T, kRows, kPart>;
  using Scores = FragmentC[kDown][kPart / 8];
  using Sums = FragmentC[kDown][kDim / 8];
};

/// What the scores need of a query: P = 2^(S·scale·log₂e - lse_log2). A query that sees no key has lse_log2 =
/// +inf, so that its weights are 0.
struct OfQuery {
  float lse_log2, delta;
};
constexpr float kLog2e = 1.44269504f;

/// Of a query that is there, or of none.
__device__ OfQuery of_query(const View<const float, 1>& lse, const View<const float, 1>& delta,
                            std::int64_t query) {
  if (query >= lse.shape[0]) return {INFINITY, 0.0f};
  const float natural = lse(query);
  return {natural == -INFINITY ? INFINITY : natural * kLog2e, delta(query)};
}

/// What a block has in shared memory: 66 KB for 64 dimensions, 98 or 130 KB for 128. K and Q make S, V and dO
/// make dP.
template <class Shape>
struct Memory {
  struct {
    typename Shape::RowTile of_S, of_dP;
  } rows;
  struct Stage {
    typename Shape::ColTile of_S, of_dP;
    alignas(16) OfQuery queries[Shape::kCols];  ///< if they are the columns
  } stage;
  typename Shape::ScoreTile scores;  ///< a warp's rows are its own
};

/// scores += A·Bᵀ, for the warp's rows of A and kPart rows of B from first_col on.
template <class Shape>
__device__ void multiply(const typename Shape::RowTile& A, const typename Shape::ColTile& B, int warp_row,
                         int first_col, typename Shape::Scores& scores) {
  const device::OperandA<typename Shape::RowTile, Major::k> a_of(warp_row);
  const device::OperandB<typename Shape::ColTile, Major::k> b_of;
#pragma unroll Shape::kUnrolled  // more would take registers for more addresses
  for (int k = 0; k < Shape::kDim; k += 16) {
    FragmentA<typename Shape::T> a[Shape::kDown];
#pragma unroll
    for (int i = 0; i < Shape::kDown; ++i) a[i] = a_of.read(A, 16 * i, k);
#pragma unroll
    for (int j = 0; j < Shape::kPart / 8; j += 2) {
      FragmentB<typename Shape::T> left, right;
      b_of.read(B, first_col + 8 * j, k, left, right);
#pragma unroll
      for (int i = 0; i < Shape::kDown; ++i) {
        device::multiply_add(a[i], left, scores[i][j]);
        device::multiply_add(a[i], right, scores[i][j + 1]);
      }
    }
  }
}

/// sums += scores·X, for the rows of X from first_col on: the scores, rounded, are operands as they lie.
template <class Shape>
__device__ void accumulate(const typename Shape::Scores& scores, typename Shape::ScoreTile& scores_smem,
                           int warp_row, const typename Shape::ColTile& X, int first_col,
                           typename Shape::Sums& sums) {
  __syncwarp();  // all lanes have read what the warp wrote last
#pragma unroll
  for (int i = 0; i < Shape::kDown; ++i) {
#pragma unroll
    for (int j = 0; j < Shape::kPart / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        scores_smem.put_two(
            warp_row + 16 * i + FragmentC::row(2 * half), 8 * j + FragmentC::col(0),
            device::rounded_to<typename Shape::T>(scores[i][j].at[2 * half], scores[i][j].at[2 * half + 1]));
    }
  }
  __syncwarp();  // the warp's rows are complete
  const device::OperandA<typename Shape::ScoreTile, Major::k> a_of(warp_row);
  const device::OperandB<typename Shape::ColTile, Major::rows> b_of;
#pragma unroll
  for (int k = 0; k < Shape::kPart; k += 16) {
    FragmentA<typename Shape::T> a[Shape::kDown];
#pragma unroll
    for (int i = 0; i < Shape::kDown; ++i) a[i] = a_of.read(scores_smem, 16 * i, k);
#pragma unroll
    for (int j = 0; j < Shape::kDim / 8; j += 2) {
      FragmentB<typename Shape::T> left, right;
      b_of.read(X, 8 * j, first_col + k, left, right);
#pragma unroll
      for (int i = 0; i < Shape::kDown; ++i) {
        device::multiply_add(a[i], left, sums[i][j]);
        device::multiply_add(a[i], right, sums[i][j + 1]);
      }
    }
  }
}

/// X[first_row + ...] = sums · scale, rounded, for those rows that X has.
template <class Shape>
__device__ void store(const typename Shape::Sums& sums, float scale, const View<typename Shape::T, 2>& X,
                      std::int64_t first_row) {
#pragma unroll
  for (int i = 0; i < Shape::kDown; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = first_row + 16 * i + FragmentC::row(2 * half);
      if (row >= X.shape[0]) continue;
#pragma unroll
      for (int j = 0; j < Shape::kDim / 8; ++j)
        device::write_two(sums[i][j].at[2 * half] * scale, sums[i][j].at[2 * half + 1] * scale, X, row,
                          8 * j + FragmentC::col(0));
    }
  }
}

/// What the kernels take. Shapes: as the contract. T is a device type.
template <class T>
struct Arguments {
  View<const T, 4> Q, K, V, dO;
  View<const float, 3> lse, delta;
  View<T, 4> dQ, dK, dV;
  float scale;
  device::TileMask mask;
  device::Dropout dropout;
};

/// A block's rows of one head, and what it sums up for them. All threads call the members together.
template <class Shape, bool kDrops>
class Block {
 public:
  using T = typename Shape::T;
  static constexpr bool kKeysStay = Shape::kKeysStay;

  __device__ Block(const Arguments<T>& arg, int first_row, void* shared_memory)
      : arg_(arg), smem_(*static_cast<Memory<Shape>*>(shared_memory)), first_row_(first_row) {}

  /// Lets all tiles of columns go past: while one is attended to, the next is on its way.
  template <class Tiles>
  __device__ void attend_all(Tiles at) {
    if (at.done()) return;
    const unsigned head = blockIdx.y, batch = blockIdx.z;
    const auto& A = kKeysStay ? arg_.K : arg_.Q;
    const auto& B = kKeysStay ? arg_.V : arg_.dO;
    device::send_tile<Shape::kThreads>(smem_.rows.of_S, device::matrix_of(A, batch, head), first_row_, 0);
    device::send_tile<Shape::kThreads>(smem_.rows.of_dP, device::matrix_of(B, batch, head), first_row_, 0);
    if constexpr (!kKeysStay)
      for (int r = 0; r < 2 * Shape::kDown; ++r)
        of_rows_[r] = of_query(device::row_of(arg_.lse, batch, head), device::row_of(arg_.delta, batch, head),
                               first_row_ + warp_row() + FragmentC::row(0) + 8 * r);

    for (; !at.done(); at.advance(Shape::kCols)) {
      __syncthreads();  // everybody has read the tile before
      send(at, smem_.stage);
      if constexpr (kKeysStay) keep_column(smem_.stage, column_of(at));
      device::wait_for_copies<0>();
      __syncthreads();  // this tile is complete
      for (int col = 0; col < Shape::kCols; col += Shape::kPart) attend(at, smem_.stage, col);
    }
  }

  /// dK and dV, or dQ.
  __device__ void store_sums(const View<T, 4>& of_S, const View<T, 4>& of_dP) const {
    const int first_row = first_row_ + warp_row();
    store<Shape>(dX_rmem_, arg_.scale, device::matrix_of(of_S, blockIdx.z, blockIdx.y), first_row);
    if constexpr (kKeysStay)
      store<Shape>(dV_rmem_, 1.0f, device::matrix_of(of_dP, blockIdx.z, blockIdx.y), first_row);
  }

 private:
  using Scores = typename Shape::Scores;
  using Stage = typename Memory<Shape>::Stage;

  __device__ static int warp_row() { return static_cast<int>(threadIdx.x) / 32 * 16 * Shape::kDown; }

  template <class Tiles>
  __device__ void send(const Tiles& at, Stage& stage) {
    const auto& A = kKeysStay ? arg_.Q : arg_.K;
    const auto& B = kKeysStay ? arg_.dO : arg_.V;
    device::send_tile<Shape::kThreads>(stage.of_S, device::matrix_of(A, blockIdx.z, at.head), at.first, 0);
    device::send_tile<Shape::kThreads>(stage.of_dP, device::matrix_of(B, blockIdx.z, at.head), at.first, 0);
    device::commit_copies();
  }

  /// lse and delta of a query among the columns, for each of the first threads; and where the scores look for
  /// them.
  __device__ OfQuery column_of(const device::QueryTiles& at) const {
    if (threadIdx.x >= Shape::kCols) return {};
    return of_query(device::row_of(arg_.lse, blockIdx.z, at.head),
                    device::row_of(arg_.delta, blockIdx.z, at.head), at.first + threadIdx.x);
  }
  __device__ static void keep_column(Stage& stage, OfQuery column) {
    if (threadIdx.x < Shape::kCols) stage.queries[threadIdx.x] = column;
  }

  /// Where number e of fragment (i, j) of a part stands in the head.
  struct Place {
    int query, key;
  };
  __device__ Place place_of(int first, int first_col, int i, int j, int e) const {
    const int row = first_row_ + warp_row() + 16 * i + FragmentC::row(e),
              col = first + first_col + 8 * j + FragmentC::col(e);
    return kKeysStay ? Place{col, row} : Place{row, col};
  }

  /// Bit 4 · (kDown · j + i) + e is whether number e of fragment (i, j) is kept. Asked before there are
  /// scores, whose registers the generator needs.
  template <class Tiles>
  __device__ std::uint32_t kept_of(const Tiles& at, int first_col) const {
    constexpr int kNumbers = Shape::kDown * Shape::kPart / 2;
    static_assert(kNumbers <= 32);
    std::uint32_t kept = 0;
    for (int n = 0; n < kNumbers; ++n) {
      const Place place = place_of(at.first, first_col, n / 4 % Shape::kDown, n / 4 / Shape::kDown, n % 4);
      const int head = kKeysStay ? at.head : static_cast<int>(blockIdx.y);
      if (arg_.dropout.keeps(static_cast<int>(blockIdx.z), head, place.query, place.key)) kept |= 1u << n;
    }
    return kept;
  }

  /// Lines 10 to 16 of the algorithm, for kPart columns from first_col on.
  template <class Tiles>
  __device__ void attend(const Tiles& at, const Stage& stage, int first_col) {
    const std::uint32_t kept = kDrops ? kept_of(at, first_col) : ~0u;
    Scores S_rmem = {}, dP_rmem = {};
    // Line 10: Sᵀ = K·Qᵀ, or S; and line 13: dPᵀ = V·dOᵀ, or dP.
    multiply<Shape>(smem_.rows.of_S, stage.of_S, warp_row(), first_col, S_rmem);
    multiply<Shape>(smem_.rows.of_dP, stage.of_dP, warp_row(), first_col, dP_rmem);
    const bool all_seen = kKeysStay
                              ? arg_.mask.hides_nothing(at.first, Shape::kCols, first_row_, Shape::kRows)
                              : arg_.mask.hides_nothing(first_row_, Shape::kRows, at.first, Shape::kCols);
    if (all_seen)
      differentiate<false>(at, stage, first_col, kept, S_rmem, dP_rmem);
    else
      differentiate<true>(at, stage, first_col, kept, S_rmem, dP_rmem);
    // Line 12: dV += Pᵀ·dO; and line 16: dK += dSᵀ·Q; or line 15: dQ += dS·K.
    if constexpr (kKeysStay)
      accumulate<Shape>(S_rmem, smem_.scores, warp_row(), stage.of_dP, first_col, dV_rmem_);
    accumulate<Shape>(dP_rmem, smem_.scores, warp_row(), stage.of_S, first_col, dX_rmem_);
  }

  /// Lines 11 and 14: P, or what dropout leaves of it, in place of S, and dS in place of dP.
  template <bool kMasked, class Tiles>
  __device__ void differentiate(const Tiles& at, const Stage& stage, int first_col, std::uint32_t kept,
                                Scores& S, Scores& dP) const {
    const float scale_log2 = arg_.scale * kLog2e;
#pragma unroll
    for (int j = 0; j < Shape::kPart / 8; ++j) {
      float4 two = {};  // lse and delta of the lane's two columns
      if constexpr (kKeysStay)
        two = *reinterpret_cast<const float4*>(&stage.queries[first_col + 8 * j + FragmentC::col(0)]);
#pragma unroll
      for (int i = 0; i < Shape::kDown; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const OfQuery of = !kKeysStay   ? of_rows_[2 * i + e / 2]
                             : e % 2 == 0 ? OfQuery{two.x, two.y}
                                          : OfQuery{two.z, two.w};
          float& P = S[i][j].at[e];
          float& dS = dP[i][j].at[e];
          P = device::exp2_approx(fmaf(P, scale_log2, -of.lse_log2));
          if constexpr (kMasked) {
            const Place place = place_of(at.first, first_col, i, j, e);
            if (arg_.mask.hides(place.query, place.key)) P = 0.0f;
          }
          const bool drops = kDrops && (kept >> (4 * (Shape::kDown * j + i) + e) & 1) == 0;
          const float dA = drops ? 0.0f : kDrops ? dS * arg_.dropout.factor : dS;
          dS = P == 0.0f ? 0.0f : P * (dA - of.delta);  // a weight of 0 has no part, whatever dP holds
          if constexpr (kDrops) P = drops ? 0.0f : P * arg_.dropout.factor;
        }
      }
    }
  }

  const Arguments<T>& arg_;
  Memory<Shape>& smem_;
  const int first_row_;
  OfQuery of_rows_[2 * Shape::kDown] = {};  ///< of the lane's rows, if they are queries
  typename Shape::Sums dX_rmem_ = {};       ///< dK, or dQ
  typename Shape::Sums dV_rmem_ = {};       ///< if keys stay
};

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Shape, bool kDrops>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    keys_kernel(const __grid_constant__ Arguments<typename Shape::T> arg) {
  extern __shared__ uint4 shared_memory[];
  const int first_key = static_cast<int>(blockIdx.x) * Shape::kRows;
  Block<Shape, kDrops> block(arg, first_key, shared_memory);
  const auto group = static_cast<int>(arg.Q.shape[1] / arg.K.shape[1]);
  block.attend_all(device::QueryTiles(arg.mask, first_key, Shape::kRows, Shape::kCols,
                                      static_cast<int>(blockIdx.y), group));
  block.store_sums(arg.dK, arg.dV);
}

/// dQ of a tile of queries of head blockIdx.y of Q in batch blockIdx.z; the last tiles, which have most keys
/// under a causal mask, come first.
template <class Shape, bool kDrops>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAtOnce)
    queries_kernel(const __grid_constant__ Arguments<typename Shape::T> arg) {
  extern __shared__ uint4 shared_memory[];
  const int first_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * Shape::kRows;
  Block<Shape, kDrops> block(arg, first_query, shared_memory);
  const auto head_kv = static_cast<int>(blockIdx.y / (arg.Q.shape[1] / arg.K.shape[1]));
  block.attend_all(device::KeyTiles(arg.mask, first_query, Shape::kRows, Shape::kCols, head_kv));
  block.store_sums(arg.dQ, arg.dQ);
}

constexpr int kDeltaThreads = 128, kDeltaLanes = 16, kDeltaRows = kDeltaThreads / kDeltaLanes;
static_assert(kDeltaLanes * 8 == kMaxDim, "each lane of a row has 8 numbers at most");

/// Eight neighbours of a row, which are read at once.
template <class T>
struct alignas(16) Chunk {
  device::pair_of<T> pairs[4];
};
template <class T>
__device__ Chunk<T> chunk_of(const View<const T, 4>& X, std::int64_t row, int at) {
  return *reinterpret_cast<const Chunk<T>*>(&X(blockIdx.z, blockIdx.y, row, at));
}

/// delta of kDeltaRows queries of head blockIdx.y in batch blockIdx.z, in float32.
template <class T>
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const T, 4> O, View<const T, 4> dO, View<float, 3> delta) {
  const int thread = static_cast<int>(threadIdx.x), at = thread % kDeltaLanes * 8;
  const std::int64_t row = std::int64_t{blockIdx.x} * kDeltaRows + thread / kDeltaLanes;
  float sum = 0.0f;
  if (row < O.shape[2] && at < O.shape[3]) {
    [[maybe_unused]] const Chunk<T> o = chunk_of(O, row, at), d = chunk_of(dO, row, at);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 a = device::to_float(o.pairs[i]), b = device::to_float(d.pairs[i]);
      sum = fmaf(a.y, b.y, fmaf(a.x, b.x, sum));
    }
  }
#pragma unroll
  for (int step = kDeltaLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (at == 0 && row < O.shape[2]) delta(blockIdx.z, blockIdx.y, row) = sum;
}

constexpr int kSinkThreads = 256;

/// dsink of head blockIdx.x: lesson 17's.
__global__ void __launch_bounds__(kSinkThreads)
    sink_kernel(const float* sink, View<const float, 3> lse, View<const float, 3> delta, float* dsink) {
  __shared__ float warp_sums_smem[kSinkThreads / device::kWarpSize];
  const float sum =
      device::sink_gradient<kSinkThreads>(sink[blockIdx.x], lse, delta, blockIdx.x, warp_sums_smem);
  if (threadIdx.x == 0) dsink[blockIdx.x] = sum;
}

// --- On the host ---

template <class T, int kDim, bool kDrops>
void launch(const Arguments<T>& arg) {
  using Keys = Shape<T, Rows::keys, kDim>;
  using Queries = Shape<T, Rows::queries, kDim>;
  const std::int64_t B = arg.Q.shape[0], H = arg.Q.shape[1], H_kv = arg.K.shape[1];
  if (arg.mask.Nk > 0)
    device::launch(keys_kernel<Keys, kDrops>, device::blocks_for(arg.mask.Nk, Keys::kRows), H_kv, B,
                   Keys::kThreads, int{sizeof(Memory<Keys>)}, arg);
  if (arg.mask.Nq > 0)
    device::launch(queries_kernel<Queries, kDrops>, device::blocks_for(arg.mask.Nq, Queries::kRows), H, B,
                   Queries::kThreads, int{sizeof(Memory<Queries>)}, arg);
}

/// All kernels, for both types. The views hold device types.
template <class T>
void backward(const View<const T, 4>& Q, const View<const T, 4>& K, const View<const T, 4>& V,
              const float* sink, const View<const T, 4>& O, const View<const float, 3>& lse,
              const View<const T, 4>& dO, const View<float, 3>& delta, const View<T, 4>& dQ,
              const View<T, 4>& dK, const View<T, 4>& dV, float* dsink, float scale, bool causal,
              std::int64_t window, std::int64_t sinks, float dropout, std::uint64_t seed) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3];
  device::require_groups(H, K.shape[1]);
  device::require_backward_arguments_of_16_bits(Q, K, V, O, lse, dO, delta, dQ, dK, dV, K.shape[1], kMaxDim);
  const device::TileMask mask{device::key_mask_of(Q, K, causal, window, sinks)};
  const Arguments<T> arg{Q,  K,  V,  dO,    lse,  device::read_only(delta),
                         dQ, dK, dV, scale, mask, device::dropout_of(dropout, seed)};
  if (H == 0) return;
  if (B > 0 && Nq > 0) {
    const dim3 grid(device::blocks_for(Nq, kDeltaRows), static_cast<unsigned>(H), static_cast<unsigned>(B));
    delta_kernel<T><<<grid, kDeltaThreads>>>(O, dO, delta);
    CUDA_CHECK(cudaGetLastError());
  }
  const bool drops = arg.dropout.threshold != 0;
  if (B > 0 && D <= 64)
    drops ? launch<T, 64, true>(arg) : launch<T, 64, false>(arg);
  else if (B > 0)
    drops ? launch<T, 128, true>(arg) : launch<T, 128, false>(arg);
  if (sink != nullptr) {
    sink_kernel<<<static_cast<unsigned>(H), kSinkThreads>>>(sink, lse, arg.delta, dsink);
    CUDA_CHECK(cudaGetLastError());
  }
}

using device::on_device;

void attention_backward_bfloat16(View<const bfloat16, 4> Q, View<const bfloat16, 4> K,
                                 View<const bfloat16, 4> V, const float* sink, View<const bfloat16, 4> O,
                                 View<const float, 3> lse, View<const bfloat16, 4> dO, View<float, 3> delta,
                                 View<bfloat16, 4> dQ, View<bfloat16, 4> dK, View<bfloat16, 4> dV,
                                 float* dsink, float scale, bool causal, std::int64_t window,
                                 std::int64_t sinks, float dropout, std::uint64_t seed) {
  backward(on_device(Q), on_device(K), on_device(V), sink, on_device(O), lse, on_device(dO), delta,
           on_device(dQ), on_device(dK), on_device(dV), dsink, scale, causal, window, sinks, dropout, seed);
}
void attention_backward_float16(View<const float16, 4> Q, View<const float16, 4> K, View<const float16, 4> V,
                                const float* sink, View<const float16, 4> O, View<const float, 3> lse,
                                View<const float16, 4> dO, View<float, 3> delta, View<float16, 4> dQ,
                                View<float16, 4> dK, View<float16, 4> dV, float* dsink, float scale,
                                bool causal, std::int64_t window, std::int64_t sinks, float dropout,
                                std::uint64_t seed) {
  backward(on_device(Q), on_device(K), on_device(V), sink, on_device(O), lse, on_device(dO), delta,
           on_device(dQ), on_device(dK), on_device(dV), dsink, scale, causal, window, sinks, dropout, seed);
}

}  // namespace course
