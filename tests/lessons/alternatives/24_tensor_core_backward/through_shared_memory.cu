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
#include "device/chunk.hpp"
#include "device/dropout.hpp"
#include "device/exp2.hpp"
#include "device/float16.hpp"
#include "device/fragments.hpp"
#include "device/full_attention.hpp"
#include "device/masked_tiles.hpp"
#include "device/reduce.hpp"
#include "device/sink_gradient.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"

namespace course {

using device::FragmentA;
using device::FragmentC;
using device::Major;

// --- A block ---

/// What stays with a block: its rows of the scores. The others go past as columns.
enum class Rows { keys, queries };

/// What the scores need of a query: P = 2^(S·scale·log₂e - lse_log2). Where lse is -inf, lse_log2 is +inf,
/// so that the weights are 0.
struct OfQuery {
  float lse_log2, delta;
};
constexpr float kLog2e = 1.44269504f;

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

/// A block's rows of one head, and what it sums up for them: 128 rows stay, and tiles of kCols columns go
/// past. A warp has registers for 16 or 32 rows of its sums and for kPart columns of S and of dP at a time.
/// All threads call the members together.
template <class T_, Rows kRowsAre, int kDim, bool kDrops>
class Block {
 public:
  using T = T_;
  static constexpr bool kKeysStay = kRowsAre == Rows::keys;
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

  struct Stage {
    ColTile of_S, of_dP;
    alignas(16) OfQuery queries[kCols];  ///< if they are the columns
  };
  /// 66 KB of shared memory for 64 dimensions, 98 or 130 KB for 128. K and Q make S, V and dO make dP.
  struct Memory {
    struct {
      RowTile of_S, of_dP;
    } rows;
    Stage stage;
    ScoreTile scores;  ///< a warp's rows are its own
  };

  __device__ Block(const Arguments<T>& arg, int first_row, void* shared_memory)
      : arg_(arg), smem_(*static_cast<Memory*>(shared_memory)), first_row_(first_row) {}

  /// Lets all tiles of columns go past, one after the other.
  template <class Tiles>
  __device__ void attend_all(Tiles at) {
    if (at.done()) return;
    send<kKeysStay>(static_cast<int>(blockIdx.y), first_row_, smem_.rows);
    if constexpr (!kKeysStay)
      for (int r = 0; r < 2 * kDown; ++r)
        of_rows_[r] = of_query(static_cast<int>(blockIdx.y), first_row_ + warp_row() + FragmentC::row(2 * r));
    for (; !at.done(); at.advance(kCols)) {
      __syncthreads();  // everybody has read the tile before
      send<!kKeysStay>(at.head, at.first, smem_.stage);
      if constexpr (kKeysStay) keep_column(smem_.stage, column_of(at));
      device::wait_for_copies<0>();
      __syncthreads();  // this tile is complete
      for (int col = 0; col < kCols; col += kPart) attend(at, smem_.stage, col);
    }
  }

  /// dK and dV, or dQ.
  __device__ void store_sums(const View<T, 4>& of_S, const View<T, 4>& of_dP) const {
    const int first_row = first_row_ + warp_row();
    device::store_fragments(dX_rmem_, arg_.scale, device::matrix_of(of_S, blockIdx.z, blockIdx.y), first_row);
    if constexpr (kKeysStay)
      device::store_fragments(dV_rmem_, 1.0f, device::matrix_of(of_dP, blockIdx.z, blockIdx.y), first_row);
  }

 private:
  __device__ static int warp_row() { return static_cast<int>(threadIdx.x) / 32 * 16 * kDown; }

  /// Sends for a tile of K and of V, or of Q and of dO.
  template <bool kKeys, class Tiles>
  __device__ void send(int head, int first, Tiles& to) const {
    const auto& of_S = kKeys ? arg_.K : arg_.Q;
    const auto& of_dP = kKeys ? arg_.V : arg_.dO;
    device::send_tile<kThreads>(to.of_S, device::matrix_of(of_S, blockIdx.z, head), first, 0);
    device::send_tile<kThreads>(to.of_dP, device::matrix_of(of_dP, blockIdx.z, head), first, 0);
    device::commit_copies();
  }

  /// lse and delta of a query, or what takes the place of those of a query that is not there.
  __device__ OfQuery of_query(int head, int query) const {
    if (query >= arg_.mask.Nq) return {INFINITY, 0.0f};
    const float lse = arg_.lse(blockIdx.z, head, query);
    return {lse == -INFINITY ? INFINITY : lse * kLog2e, arg_.delta(blockIdx.z, head, query)};
  }

  /// The same of a query among the columns, for each of the first threads; and where the scores look for it.
  __device__ OfQuery column_of(const device::QueryTiles& at) const {
    const auto thread = static_cast<int>(threadIdx.x);
    return thread < kCols ? of_query(at.head, at.first + thread) : OfQuery{};
  }
  __device__ static void keep_column(Stage& stage, OfQuery column) {
    if (threadIdx.x < kCols) stage.queries[threadIdx.x] = column;
  }

  /// The query and the key that number e of fragment (i, j) belongs to.
  __device__ device::QueryAndKey place_of(int first_col, int i, int j, int e) const {
    const int row = first_row_ + warp_row() + 16 * i + FragmentC::row(e);
    const int col = first_col + 8 * j + FragmentC::col(e);
    return kKeysStay ? device::QueryAndKey{col, row} : device::QueryAndKey{row, col};
  }

  /// Lines 10 to 16 of the algorithm, for kPart columns of the stage from first_col on.
  template <class Tiles>
  __device__ void attend(const Tiles& at, const Stage& stage, int first_col) {
    const std::uint32_t kept = kDrops ? kept_of(at, first_col) : ~0u;
    Scores S_rmem = {}, dP_rmem = {};
    // Line 10: Sᵀ = K·Qᵀ, or S; and line 13: dPᵀ = V·dOᵀ, or dP.
    multiply(smem_.rows.of_S, stage.of_S, first_col, S_rmem);
    multiply(smem_.rows.of_dP, stage.of_dP, first_col, dP_rmem);
    const bool all_seen = kKeysStay ? arg_.mask.hides_nothing(at.first, kCols, first_row_, kRows)
                                    : arg_.mask.hides_nothing(first_row_, kRows, at.first, kCols);
    if (all_seen)
      differentiate<false>(at.first, stage, first_col, kept, S_rmem, dP_rmem);
    else
      differentiate<true>(at.first, stage, first_col, kept, S_rmem, dP_rmem);
    // Line 12: dV += Pᵀ·dO; and line 16: dK += dSᵀ·Q; or line 15: dQ += dS·K.
    if constexpr (kKeysStay) accumulate(S_rmem, stage.of_dP, first_col, dV_rmem_);
    accumulate(dP_rmem, stage.of_S, first_col, dX_rmem_);
  }

  /// scores += A·Bᵀ, for the warp's rows of A and kPart rows of B from first_col on.
  __device__ static void multiply(const RowTile& A, const ColTile& B, int first_col, Scores& scores) {
    const device::OperandA<RowTile, Major::k> a_of(warp_row());
    const device::OperandB<ColTile, Major::k> b_of;
#pragma unroll kUnrolled  // more would take registers for more addresses
    for (int k = 0; k < kDim; k += 16) {
      FragmentA<T> a[kDown];
#pragma unroll
      for (int i = 0; i < kDown; ++i) a[i] = a_of.read(A, 16 * i, k);
      device::multiply_add(a, b_of, B, first_col, k, scores);
    }
  }

  /// sums += scores·X, for the rows of X from first_col on: by way of the warp's rows of a tile.
  __device__ void accumulate(const Scores& scores, const ColTile& X, int first_col, Sums& sums) const {
    __syncwarp();  // all lanes have read what the warp wrote last
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kPart / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
          smem_.scores.put_two(
              warp_row() + 16 * i + FragmentC::row(2 * half), 8 * j + FragmentC::col(0),
              device::rounded_to<T>(scores[i][j].at[2 * half], scores[i][j].at[2 * half + 1]));
      }
    }
    __syncwarp();  // the warp's rows are complete
    const device::OperandA<ScoreTile, Major::k> a_of(warp_row());
    const device::OperandB<ColTile, Major::rows> b_of;
#pragma unroll
    for (int k = 0; k < kPart; k += 16) {
      FragmentA<T> a[kDown];
#pragma unroll
      for (int i = 0; i < kDown; ++i) a[i] = a_of.read(smem_.scores, 16 * i, k);
      device::multiply_add(a, b_of, X, 0, first_col + k, sums);
    }
  }

  /// Bit 4 · (kDown · j + i) + e is whether number e of fragment (i, j) is kept. Asked before there are
  /// scores, whose registers the generator needs.
  template <class Tiles>
  __device__ std::uint32_t kept_of(const Tiles& at, int first_col) const {
    const int head = kKeysStay ? at.head : static_cast<int>(blockIdx.y);
    return arg_.dropout.template kept_of<kDown * kPart / 2>(static_cast<int>(blockIdx.z), head, [&](int n) {
      return place_of(at.first + first_col, n / 4 % kDown, n / 4 / kDown, n % 4);
    });
  }

  /// Lines 11 and 14: P, or what dropout leaves of it, in place of S, and dS in place of dP.
  template <bool kMasked>
  __device__ void differentiate(int first, const Stage& stage, int first_col, std::uint32_t kept, Scores& S,
                                Scores& dP) const {
    const float scale_log2 = arg_.scale * kLog2e;
#pragma unroll
    for (int j = 0; j < kPart / 8; ++j) {
      const int col = first_col + 8 * j + FragmentC::col(0);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const OfQuery of = kKeysStay ? stage.queries[col + e % 2] : of_rows_[2 * i + e / 2];
          float& P = S[i][j].at[e];
          float& dS = dP[i][j].at[e];
          P = device::exp2_approx(fmaf(P, scale_log2, -of.lse_log2));
          if (kMasked && arg_.mask.hides(place_of(first + first_col, i, j, e))) P = 0.0f;
          const bool drops = kDrops && (kept >> (4 * (kDown * j + i) + e) & 1) == 0;
          const float dA = drops ? 0.0f : kDrops ? dS * arg_.dropout.factor : dS;
          dS = P == 0.0f ? 0.0f : P * (dA - of.delta);  // a weight of 0 has no part, whatever dP holds
          if constexpr (kDrops) P = drops ? 0.0f : P * arg_.dropout.factor;
        }
      }
    }
  }

  const Arguments<T>& arg_;
  Memory& smem_;
  const int first_row_;
  OfQuery of_rows_[2 * kDown] = {};  ///< of the lane's rows, if they are queries
  Sums dX_rmem_ = {};                ///< dK, or dQ
  Sums dV_rmem_ = {};                ///< if keys stay
};

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Block>
__global__ void __launch_bounds__(Block::kThreads, Block::kBlocksAtOnce)
    keys_kernel(const __grid_constant__ Arguments<typename Block::T> arg) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  const int first_key = static_cast<int>(blockIdx.x) * Block::kRows;
  Block block(arg, first_key, shared_memory);
  const auto group = static_cast<int>(arg.Q.shape[1] / arg.K.shape[1]);
  block.attend_all(device::QueryTiles(arg.mask, first_key, Block::kRows, Block::kCols,
                                      static_cast<int>(blockIdx.y), group));
  block.store_sums(arg.dK, arg.dV);
}

/// dQ of a tile of queries of head blockIdx.y of Q in batch blockIdx.z; the last tiles, which have most keys
/// under a causal mask, come first.
template <class Block>
__global__ void __launch_bounds__(Block::kThreads, Block::kBlocksAtOnce)
    queries_kernel(const __grid_constant__ Arguments<typename Block::T> arg) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  const int first_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * Block::kRows;
  Block block(arg, first_query, shared_memory);
  const auto head_kv = static_cast<int>(blockIdx.y / (arg.Q.shape[1] / arg.K.shape[1]));
  block.attend_all(device::KeyTiles(arg.mask, first_query, Block::kRows, Block::kCols, head_kv));
  block.store_sums(arg.dQ, arg.dQ);
}

constexpr int kDeltaThreads = 128, kDeltaLanes = 16, kDeltaRows = kDeltaThreads / kDeltaLanes;
static_assert(kDeltaLanes * 8 == kMaxDim, "each lane of a row has 8 numbers at most");

/// delta of kDeltaRows queries of head blockIdx.y in batch blockIdx.z, in float32.
template <class T>
__global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(View<const T, 4> O, View<const T, 4> dO, View<float, 3> delta) {
  const int thread = static_cast<int>(threadIdx.x), at = thread % kDeltaLanes * 8;
  const std::int64_t row = std::int64_t{blockIdx.x} * kDeltaRows + thread / kDeltaLanes;
  float sum = 0.0f;
  if (row < O.shape[2] && at < O.shape[3]) {
    [[maybe_unused]] const auto o = device::chunk_at(&O(blockIdx.z, blockIdx.y, row, at)),
                                d = device::chunk_at(&dO(blockIdx.z, blockIdx.y, row, at));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 a = device::to_float(o.pairs[i]), b = device::to_float(d.pairs[i]);
      sum = fmaf(a.y, b.y, fmaf(a.x, b.x, sum));
    }
  }
  sum = device::sum_warp<kDeltaLanes>(sum);
  if (at == 0 && row < O.shape[2]) delta(blockIdx.z, blockIdx.y, row) = sum;
}

// --- On the host ---

template <class T, int kDim, bool kDrops>
void launch(const Arguments<T>& arg) {
  using Keys = Block<T, Rows::keys, kDim, kDrops>;
  using Queries = Block<T, Rows::queries, kDim, kDrops>;
  const std::int64_t B = arg.Q.shape[0], H = arg.Q.shape[1], H_kv = arg.K.shape[1];
  if (arg.mask.Nk > 0)
    device::launch(keys_kernel<Keys>, device::blocks_for(arg.mask.Nk, Keys::kRows), H_kv, B, Keys::kThreads,
                   int{sizeof(typename Keys::Memory)}, arg);
  if (arg.mask.Nq > 0)
    device::launch(queries_kernel<Queries>, device::blocks_for(arg.mask.Nq, Queries::kRows), H, B,
                   Queries::kThreads, int{sizeof(typename Queries::Memory)}, arg);
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
  if (B > 0 && Nq > 0)
    device::launch(delta_kernel<T>, device::blocks_for(Nq, kDeltaRows), H, B, kDeltaThreads, 0, O, dO, delta);
  const bool drops = arg.dropout.threshold != 0;
  if (B > 0 && D <= 64)
    drops ? launch<T, 64, true>(arg) : launch<T, 64, false>(arg);
  else if (B > 0)
    drops ? launch<T, 128, true>(arg) : launch<T, 128, false>(arg);
  if (sink != nullptr) device::launch_sink_gradient(sink, lse, arg.delta, dsink);
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
