// Lesson 24 with one kernel for dQ, dK and dV: five products in place of seven, as FlashAttention-2 has them.
// Keys stay with a block. What they add to dQ is summed up over its 128 keys, and added in float32 to what
// other blocks add: in no particular order, so that the last bits of dQ differ from run to run.
//
// gives up: gives the same bits in every order of blocks and threads
// gives up: stores each result once, and nothing else, and reads only tiles that meet
// gives up: stores each result once in any sizes

#include "tensor_core_backward.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "device/async_copy.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/chunk.hpp"
#include "device/cuda_check.hpp"
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

/// What the scores need of a query: P = 2^(S·scale·log₂e - lse_log2). A query that sees no key has lse_log2 =
/// +inf, so that its weights are 0.
struct OfQuery {
  float lse_log2, delta;
};
constexpr float kLog2e = 1.44269504f;

/// What the kernels take. Shapes: as the contract. T is a device type.
template <class T>
struct Arguments {
  View<const T, 4> Q, K, V, dO;
  View<const float, 3> lse, delta;
  View<float4, 5> dQ_sums;  ///< (B, H, 16 queries each, 8 dimensions each, lane): fragments of dQ in float32
  View<T, 4> dK, dV;
  float scale;
  device::TileMask mask;
  device::Dropout dropout;
};

/// A block's 128 keys of one head, and what it sums up for them, while tiles of queries go past. Its eight
/// warps share each product as rectangles: S and dP by 32 keys and half of the queries, dK and dV by 32 keys
/// and half of the dimensions, and what is added to dQ by 32 queries and 32 dimensions. So a fragment that is
/// read from shared memory serves 32 rows or columns everywhere. All threads call the members together.
template <class T_, int kDim, bool kDrops>
class Block {
 public:
  using T = T_;
  static constexpr int kWarps = 8, kThreads = 32 * kWarps, kDown = 2;  // fragments below each other
  static constexpr int kRows = 128, kCols = kDim > 64 ? 64 : 128, kPart = 32;
  static_assert(kCols * kDim == 32 * 32 * kWarps);

  using RowTile = device::SwizzledTile<T, kRows, kDim>;
  using ColTile = device::SwizzledTile<T, kCols, kDim>;
  using ScoreTile = device::SwizzledTile<T, kRows, kCols>;
  using Scores = FragmentC[kDown][kPart / 8];  ///< 32 keys, 32 queries
  using Sums = FragmentC[kDown][kDim / 16];    ///< 32 keys, half of the dimensions

  struct Stage {
    ColTile of_S, of_dP;
    alignas(16) OfQuery queries[kCols];
  };
  /// 162 KB of shared memory for 64 dimensions, 161 KB for 128. K and Q make S, V and dO make dP.
  struct Memory {
    struct {
      RowTile of_S, of_dP;
    } rows;
    Stage stages[2];
    ScoreTile P, dS;  ///< (keys, queries)
  };

  __device__ Block(const Arguments<T>& arg, int first_key, void* shared_memory)
      : arg_(arg), smem_(*static_cast<Memory*>(shared_memory)), first_key_(first_key) {}

  /// Lets all tiles of columns go past: while one is attended to, the next is on its way.
  __device__ void attend_all(device::QueryTiles at) {
    if (at.done()) return;
    send<true>(static_cast<int>(blockIdx.y), first_key_, smem_.rows);
    send<false>(at.head, at.first, smem_.stages[0]);
    keep_column(smem_.stages[0], column_of(at));

    for (int step = 0; !at.done(); ++step) {
      device::QueryTiles next = at;
      next.advance(kCols);
      auto &stage = smem_.stages[step % 2], &next_stage = smem_.stages[(step + 1) % 2];
      device::wait_for_copies<0>();
      __syncthreads();  // this tile is complete, and everybody has read the one before: its stage is free
      OfQuery column = {};
      if (!next.done()) {
        send<false>(next.head, next.first, next_stage);
        column = column_of(next);  // on its way, too
      }
      for (int col = 0; col < kCols / 2; col += kPart) score(at, stage, warp() / 4 * (kCols / 2) + col);
      keep_column(next_stage, column);
      __syncthreads();                             // P and dS are complete
      accumulate(smem_.P, stage.of_dP, dV_rmem_);  // line 12: dV += Pᵀ·dO
      accumulate(smem_.dS, stage.of_S, dK_rmem_);  // line 16: dK += dSᵀ·Q
      add_to_dQ(at.head, at.first);                // line 15: dQ += dS·K
      at = next;
    }
  }

  __device__ void store_sums() const {
    store_sum(dK_rmem_, arg_.scale, arg_.dK);
    store_sum(dV_rmem_, 1.0f, arg_.dV);
  }

 private:
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int warp_row() { return warp() % 4 * 32; }          // key, of S, dP, dK and dV
  __device__ static int warp_dim() { return warp() / 4 * (kDim / 2); }  // of dK and dV

  __device__ void store_sum(const Sums& sums, float factor, const View<T, 4>& to) const {
    View<T, 2> half = device::matrix_of(to, blockIdx.z, blockIdx.y);
    half.data += warp_dim();
    half.shape[1] -= warp_dim();
    device::store_fragments(sums, factor, half, first_key_ + warp_row());
  }

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
    return {first_col + 8 * j + FragmentC::col(e), first_key_ + warp_row() + 16 * i + FragmentC::row(e)};
  }

  /// P and dS of the warp's keys and kPart queries of the stage from first_col on: lines 10, 11, 13 and 14.
  __device__ void score(const device::QueryTiles& at, const Stage& stage, int first_col) {
    const std::uint32_t kept = kDrops ? kept_of(at, first_col) : ~0u;
    Scores S_rmem = {}, dP_rmem = {};
    multiply(smem_.rows.of_S, stage.of_S, first_col, S_rmem);     // Sᵀ = K·Qᵀ
    multiply(smem_.rows.of_dP, stage.of_dP, first_col, dP_rmem);  // dPᵀ = V·dOᵀ
    if (arg_.mask.hides_nothing(at.first, kCols, first_key_, kRows))
      differentiate<false>(at.first, stage, first_col, kept, S_rmem, dP_rmem);
    else
      differentiate<true>(at.first, stage, first_col, kept, S_rmem, dP_rmem);
    put(S_rmem, first_col, smem_.P);
    put(dP_rmem, first_col, smem_.dS);
  }

  /// scores += A·Bᵀ, for the warp's rows of A and kPart rows of B from first_col on.
  __device__ static void multiply(const RowTile& A, const ColTile& B, int first_col, Scores& scores) {
    const device::OperandA<RowTile, Major::k> a_of(warp_row());
    const device::OperandB<ColTile, Major::k> b_of;
#pragma unroll
    for (int k = 0; k < kDim; k += 16) {
      FragmentA<T> a[kDown];
#pragma unroll
      for (int i = 0; i < kDown; ++i) a[i] = a_of.read(A, 16 * i, k);
      device::multiply_add(a, b_of, B, first_col, k, scores);
    }
  }

  /// sums += A·X: the warp's keys of A, which has numbers of queries, and its dimensions of X.
  __device__ static void accumulate(const ScoreTile& A, const ColTile& X, Sums& sums) {
    const device::OperandA<ScoreTile, Major::k> a_of(warp_row());
    const device::OperandB<ColTile, Major::rows> b_of;
#pragma unroll
    for (int k = 0; k < kCols; k += 16) {
      FragmentA<T> a[kDown];
#pragma unroll
      for (int i = 0; i < kDown; ++i) a[i] = a_of.read(A, 16 * i, k);
      device::multiply_add(a, b_of, X, warp_dim(), k, sums);
    }
  }

  /// Scores, rounded, become operands of all warps.
  __device__ static void put(const Scores& scores, int first_col, ScoreTile& to) {
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kPart / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
          to.put_two(warp_row() + 16 * i + FragmentC::row(2 * half), first_col + 8 * j + FragmentC::col(0),
                     device::rounded_to<T>(scores[i][j].at[2 * half], scores[i][j].at[2 * half + 1]));
      }
    }
  }

  // [add]
  /// What other blocks add to the same numbers at the same time is not lost.
  __device__ static void add_four(float4& to, const FragmentC& C) {
#if __CUDA_ARCH__ >= 900
    atomicAdd(&to, make_float4(C.at[0], C.at[1], C.at[2], C.at[3]));
#else
    for (int e = 0; e < 4; ++e) atomicAdd(&to.x + e, C.at[e]);
#endif
  }

  /// dQ += dS·K for kCols queries from first_query on. dS lies by keys: as A it is read by columns.
  __device__ void add_to_dQ(int head, int first_query) const {
    constexpr int kAlong = kDim / 32;  // warps beside each other
    const int first_row = warp() / kAlong * 32, first_dim = warp() % kAlong * 32, lane = FragmentC::lane();
    const device::OperandA<ScoreTile, Major::rows> a_of(first_row);
    const device::OperandB<RowTile, Major::rows> b_of;
    FragmentC sums[2][4] = {};
#pragma unroll
    for (int k = 0; k < kRows; k += 16) {
      const FragmentA<T> a[2] = {a_of.read(smem_.dS, 0, k), a_of.read(smem_.dS, 16, k)};
      device::multiply_add(a, b_of, smem_.rows.of_S, first_dim, k, sums);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        add_four(arg_.dQ_sums(blockIdx.z, head, (first_query + first_row) / 16 + i, first_dim / 8 + j, lane),
                 sums[i][j]);
    }
  }
  // [add]

  /// Bit 4 · (kDown · j + i) + e is whether number e of fragment (i, j) is kept. Asked before there are
  /// scores, whose registers the generator needs.
  __device__ std::uint32_t kept_of(const device::QueryTiles& at, int first_col) const {
    return arg_.dropout.template kept_of<kDown * kPart / 2>(
        static_cast<int>(blockIdx.z), at.head,
        [&](int n) { return place_of(at.first + first_col, n / 4 % kDown, n / 4 / kDown, n % 4); });
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
          const OfQuery of = stage.queries[col + e % 2];
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
  const int first_key_;
  Sums dK_rmem_ = {}, dV_rmem_ = {};
};

/// dK and dV of a tile of keys: tile blockIdx.x of head blockIdx.y of K and V in batch blockIdx.z.
template <class Block>
__global__ void __launch_bounds__(Block::kThreads, 1)
    keys_kernel(const __grid_constant__ Arguments<typename Block::T> arg) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  const int first_key = static_cast<int>(blockIdx.x) * Block::kRows;
  Block block(arg, first_key, shared_memory);
  const auto group = static_cast<int>(arg.Q.shape[1] / arg.K.shape[1]);
  block.attend_all(device::QueryTiles(arg.mask, first_key, Block::kRows, Block::kCols,
                                      static_cast<int>(blockIdx.y), group));
  block.store_sums();
}

constexpr int kRoundThreads = 256;

/// dQ = sums · scale, rounded: a warp for each fragment of head blockIdx.y in batch blockIdx.z.
template <class T>
__global__ void __launch_bounds__(kRoundThreads)
    round_kernel(View<float4, 5> sums, float scale, View<T, 4> dQ) {
  const std::int64_t fragment = (std::int64_t{blockIdx.x} * kRoundThreads + threadIdx.x) / 32;
  const std::int64_t below = fragment / sums.shape[3], beside = fragment % sums.shape[3];
  if (below >= sums.shape[2]) return;
  const float4 sum = sums(blockIdx.z, blockIdx.y, below, beside, FragmentC::lane());
  const FragmentC C[1][1] = {{{{sum.x, sum.y, sum.z, sum.w}}}};
  View<T, 2> from_here = device::matrix_of(dQ, blockIdx.z, blockIdx.y);
  from_here.data += 8 * beside;
  from_here.shape[1] -= 8 * beside;
  device::store_fragments(C, scale, from_here, 16 * below);
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

/// Fragments of 16 x 8 sums in device memory, 0 at first.
class FragmentSums {
 public:
  FragmentSums(std::int64_t B, std::int64_t H, std::int64_t below, std::int64_t beside)
      : view_{nullptr,
              {B, H, below, beside, 32},
              {H * below * beside * 32, below * beside * 32, beside * 32, 32, 1}} {
    const std::size_t bytes = static_cast<std::size_t>(B * view_.strides[0]) * sizeof(float4);
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&view_.data), bytes, nullptr));
    CUDA_CHECK(cudaMemsetAsync(view_.data, 0, bytes, nullptr));
  }
  ~FragmentSums() { cudaFreeAsync(view_.data, nullptr); }
  FragmentSums(const FragmentSums&) = delete;
  FragmentSums& operator=(const FragmentSums&) = delete;

  const View<float4, 5>& view() const { return view_; }

 private:
  View<float4, 5> view_;
};

template <class T, int kDim, bool kDrops>
void launch(Arguments<T> arg, const View<T, 4>& dQ) {
  using Keys = Block<T, kDim, kDrops>;
  const std::int64_t B = arg.Q.shape[0], H = arg.Q.shape[1], H_kv = arg.K.shape[1];
  const std::int64_t tiles = device::blocks_for(arg.mask.Nq, Keys::kCols);
  const FragmentSums sums(B, H, tiles * Keys::kCols / 16, kDim / 8);
  arg.dQ_sums = sums.view();
  if (arg.mask.Nk > 0)
    device::launch(keys_kernel<Keys>, device::blocks_for(arg.mask.Nk, Keys::kRows), H_kv, B, Keys::kThreads,
                   int{sizeof(typename Keys::Memory)}, arg);
  if (arg.mask.Nq > 0)
    device::launch(round_kernel<T>, device::blocks_for(sums.view().strides[1], kRoundThreads), H, B,
                   kRoundThreads, 0, sums.view(), arg.scale, dQ);
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
  const device::Dropout decision = device::dropout_of(dropout, seed);
  if (H == 0) return;
  if (B > 0) {
    const Arguments<T> arg{Q, K, V, dO, lse, device::read_only(delta), {}, dK, dV, scale, mask, decision};
    if (Nq > 0)
      device::launch(delta_kernel<T>, device::blocks_for(Nq, kDeltaRows), H, B, kDeltaThreads, 0, O, dO,
                     delta);
    const bool drops = decision.threshold != 0;
    if (D <= 64)
      drops ? launch<T, 64, true>(arg, dQ) : launch<T, 64, false>(arg, dQ);
    else
      drops ? launch<T, 128, true>(arg, dQ) : launch<T, 128, false>(arg, dQ);
  }
  if (sink != nullptr) device::launch_sink_gradient(sink, lse, device::read_only(delta), dsink);
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
