// Lesson 22: FlashAttention-2 on tensor cores (arXiv:2307.08691, Algorithm 1): S and P stay in registers, and
// so does O; K and V come by asynchronous copies, a tile ahead.

#include "tensor_core_attention.hpp"

#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "device/async_copy.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/exp2.hpp"
#include "device/float16.hpp"
#include "device/key_mask.hpp"
#include "device/read_again.hpp"
#include "device/reduce.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"
#include "device/views.hpp"

namespace course {

using device::BlockNow;
using device::FragmentA;
using device::FragmentB;
using device::FragmentC;

// --- Sizes ---

// [shape]
constexpr int kWarps = 4, kThreads = 32 * kWarps, kStages = 2;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.693147181f;

/// What a block works on. Queries, keys and values have kDim numbers; where Q has fewer, they end with zeros.
template <class T_, int kDim_>
struct Shape {
  using T = T_;
  static constexpr int kDim = kDim_;
  static constexpr int kBlockM = queries_of_a_block(kDim), kBlockN = keys_of_a_tile(kDim);
  static constexpr int kWarpM = kBlockM / kWarps;                                     // queries of a warp
  static constexpr int kDown = kWarpM / 16, kAcross = kBlockN / 8, kDeep = kDim / 8;  // fragments
  static constexpr bool kQueriesStay = kDim <= 64;  // in registers; wider, they are read for each tile

  using QTile = device::SwizzledTile<T, kBlockM, kDim>;
  using KTile = device::SwizzledTile<T, kBlockN, kDim>;
  struct Shared {
    QTile Q;  // O at the end
    KTile K[kStages], V[kStages];
  };
  using Scores = FragmentC[kDown][kAcross];  // S, then P: (kWarpM, kBlockN)
  using Output = FragmentC[kDown][kDeep];    // (kWarpM, kDim)
};
// [shape]

// --- Which tiles of keys a block meets, and when ---

// [tiles]
/// The tiles of keys of which some query of a block sees one: those of the sinks, then those of the windows.
struct KeyTiles {
  int count = 0;

  __device__ KeyTiles(const device::KeyMask& mask, int first_query, int block_m, int block_n) {
    // TODO 1: which tiles does some query see? Until then, all come.
    // stub| count = (mask.Nk + block_n - 1) / block_n;
    const int first_position = first_query + mask.offset();
    const int last_position = min(first_query + block_m, mask.Nq) - 1 + mask.offset();
    const int end = mask.causal ? max(last_position + 1, 0) : mask.Nk, tiles = (end + block_n - 1) / block_n;
    const int begin = min(max(first_position - mask.window + 1, 0) / block_n, tiles);
    sinks_ = min((min(mask.sinks, end) + block_n - 1) / block_n, begin);
    skipped_ = begin - sinks_;
    count = tiles - skipped_;
    // [done]
  }

  /// The number of the tile that comes as number t.
  __device__ int operator[](int t) const { return t < sinks_ ? t : t + skipped_; }

 private:
  int sinks_ = 0, skipped_ = 0;  // tiles
};
// [tiles]

// --- What a warp does with a tile ---

// [queries]
/// The warp's queries as A.
template <class S>
class Queries {
  using T = typename S::T;

 public:
  /// All of Q_smem has landed.
  __device__ Queries(const typename S::QTile& Q_smem, int warp_row) : Q_smem_(Q_smem), operand_(warp_row) {
    if constexpr (S::kQueriesStay) {
#pragma unroll
      for (int i = 0; i < S::kDown; ++i) {
#pragma unroll
        for (int k = 0; k < S::kDim / 16; ++k) held_[i][k] = operand_.read(Q_smem, 16 * i, 16 * k);
      }
    }
  }
  __device__ FragmentA<T> operator()(int i, int k) const {
    if constexpr (S::kQueriesStay)
      return held_[i][k];
    else
      return operand_.read(Q_smem_, 16 * i, 16 * k);
  }

 private:
  const typename S::QTile& Q_smem_;
  device::OperandA<typename S::QTile, device::Major::k> operand_;
  FragmentA<T> held_[S::kQueriesStay ? S::kDown : 1][S::kQueriesStay ? S::kDim / 16 : 1];
};
// [queries]

// [scores]
/// scores = Q·Kᵀ, not scaled.
template <class S>
__device__ void multiply_with_keys(const Queries<S>& queries, const typename S::KTile& K_smem,
                                   typename S::Scores& scores) {
  // TODO 2: for every 16 steps along D, all products of the warp's queries and the tile's keys.
  const device::OperandB<typename S::KTile, device::Major::k> keys;
#pragma unroll
  for (int k = 0; k < S::kDim / 16; ++k) {
    FragmentA<typename S::T> a[S::kDown];
#pragma unroll
    for (int i = 0; i < S::kDown; ++i) a[i] = queries(i, k);
#pragma unroll
    for (int j = 0; j < S::kAcross; j += 2) {
      FragmentB<typename S::T> left, right;
      keys.read(K_smem, 8 * j, 16 * k, left, right);
#pragma unroll
      for (int i = 0; i < S::kDown; ++i) {
        device::multiply_add(a[i], left, scores[i][j]);
        device::multiply_add(a[i], right, scores[i][j + 1]);
      }
    }
  }
  // [done]
}

/// -inf for every key that a query does not see. The scores' first elements are those of these two.
template <class S>
__device__ void hide(const device::KeyMask& mask, int first_query, int first_key,
                     typename S::Scores& scores) {
  // TODO 3: is anything hidden? If so: which query is the lane's row, and which keys are its columns?
  const int first_position = first_query + mask.offset(), last_position = first_position + S::kWarpM - 1;
  const int last_key = first_key + S::kBlockN - 1;
  if (last_key < mask.Nk && (!mask.causal || last_key <= first_position) &&
      last_position - first_key < mask.window)
    return;  // nothing is hidden
  const auto hide_if = [&](auto hides) {
#pragma unroll
    for (int i = 0; i < S::kDown; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const device::KeysOfQuery keys(mask, first_query + 16 * i + FragmentC::row(2 * half),
                                       first_key + FragmentC::col(0));
#pragma unroll
        for (int j = 0; j < S::kAcross; ++j) {
#pragma unroll
          for (int e = 0; e < 2; ++e)
            if (hides(keys, 8 * j + e)) scores[i][j].at[2 * half + e] = -INFINITY;
        }
      }
    }
  };
  hide_if([](const device::KeysOfQuery& keys, int key) { return keys.ahead(key); });
  if (mask.has_window()) hide_if([](const device::KeysOfQuery& keys, int key) { return keys.too_old(key); });
  // [done]
}
// [scores]

// [fold]
/// Of the keys so far, for each row of the lane: m_log2 is the largest score · to_log2, the same in the four
/// lanes of a row; l = Σ 2^(score·to_log2 - m_log2) over the lane's own keys. While there is none, l is 0,
/// and m_log2 the least finite number: from -inf, no score of -inf could be subtracted.
template <class S>
struct RowSums {
  float m_log2[S::kDown][2], l[S::kDown][2];

  __device__ RowSums() {
#pragma unroll
    for (int i = 0; i < S::kDown; ++i)
      for (int half = 0; half < 2; ++half) m_log2[i][half] = -FLT_MAX, l[i][half] = 0.0f;
  }
};

/// Scores become weights, beside the largest so far; l and O are rescaled to it.
template <class S>
__device__ void fold_scores(float to_log2, typename S::Scores& scores, RowSums<S>& rows,
                            typename S::Output& O) {
  // TODO 4: for each row, the largest score, of which four lanes have parts; then l and O, rescaled to it.
  float rescale[S::kDown][2];
  bool grows = false;
#pragma unroll
  for (int i = 0; i < S::kDown; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = -INFINITY;
#pragma unroll
      for (int j = 0; j < S::kAcross; ++j)
        largest = fmaxf(largest, fmaxf(scores[i][j].at[2 * half], scores[i][j].at[2 * half + 1]));
      const float grown = fmaxf(rows.m_log2[i][half], device::max_warp<4>(largest) * to_log2);
      rescale[i][half] = device::exp2_approx(rows.m_log2[i][half] - grown);
      rows.m_log2[i][half] = grown;
      rows.l[i][half] *= rescale[i][half];
      grows |= rescale[i][half] < 1.0f;
    }
  }
  // A factor of 1 changes nothing: a wide O is left alone if no row of the warp has a new maximum.
  if (S::kDim <= 64 || __any_sync(device::kFullMask, grows)) {
#pragma unroll
    for (int i = 0; i < S::kDown; ++i) {
#pragma unroll
      for (int d = 0; d < S::kDeep; ++d)
        for (int e = 0; e < 4; ++e) O[i][d].at[e] *= rescale[i][e / 2];
    }
  }
  // [done]
#pragma unroll
  for (int i = 0; i < S::kDown; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // TODO 5: the weights, with one multiply-add and one power each; they are summed as they are.
      float sum = 0.0f;  // of the tile: a sum of sums is more exact than one in a row
#pragma unroll
      for (int j = 0; j < S::kAcross; ++j) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          float& score = scores[i][j].at[e];
          score = device::exp2_approx(fmaf(score, to_log2, -rows.m_log2[i][half]));
          sum += score;
        }
      }
      rows.l[i][half] += sum;
      // [done]
    }
  }
}
// [fold]

// [accumulate]
/// O += P·V. P never leaves the registers: two neighbouring fragments of C are one of A, rounded.
template <class S>
__device__ void accumulate(const typename S::Scores& P, const typename S::KTile& V_smem,
                           typename S::Output& O) {
  // TODO 6: for every 16 keys, P as A times the values of these keys.
  const device::OperandB<typename S::KTile, device::Major::rows> values;  // V's lines lie along D
#pragma unroll
  for (int k = 0; k < S::kBlockN / 16; ++k) {
    FragmentA<typename S::T> p[S::kDown];
#pragma unroll
    for (int i = 0; i < S::kDown; ++i) p[i] = device::operand_of<typename S::T>(P[i][2 * k], P[i][2 * k + 1]);
#pragma unroll
    for (int d = 0; d < S::kDeep; d += 2) {
      FragmentB<typename S::T> left, right;
      values.read(V_smem, 8 * d, 16 * k, left, right);
#pragma unroll
      for (int i = 0; i < S::kDown; ++i) {
        device::multiply_add(p[i], left, O[i][d]);
        device::multiply_add(p[i], right, O[i][d + 1]);
      }
    }
  }
  // [done]
}
// [accumulate]

// [finish]
/// Divides O by l, beside a learned sink, which is -inf if there is none; returns lse of the warp's rows that
/// exist, and leaves O in the tile.
template <class S>
__device__ void finish(RowSums<S>& rows, typename S::Output& O, float sink, int first_query, int warp_row,
                       typename S::QTile& O_smem, const View<float, 1>& lse) {
#pragma unroll
  for (int i = 0; i < S::kDown; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + 16 * i + FragmentC::row(2 * half);
      float share = 0.0f, row_lse = sink;  // of a row that saw nothing
      // TODO 7: add up l over the four lanes of the row, and the sink. What are lse and the factor of O?
      const float l = device::sum_warp<4>(rows.l[i][half]), m = rows.m_log2[i][half] * kLn2;
      if (l != 0.0f) {  // NaN is not 0, either
        const float base = fmaxf(m, sink), rescale = expf(m - base);
        const float sum = fmaf(l, rescale, expf(sink - base));
        share = rescale / sum;
        row_lse = base + logf(sum);
      }
      // [done]
      if (FragmentC::col(0) == 0 && first_query + row < lse.shape[0]) lse(first_query + row) = row_lse;
#pragma unroll
      for (int d = 0; d < S::kDeep; ++d)
        O_smem.put_two(row, 8 * d + FragmentC::col(0),
                       device::rounded_to<typename S::T>(O[i][d].at[2 * half] * share,
                                                         O[i][d].at[2 * half + 1] * share));
    }
  }
}
// [finish]

// --- The kernel ---

// [kernel]
template <class T>
struct Arguments {
  View<const T, 4> Q, K, V;
  const float* sink;
  View<T, 4> O;
  View<float, 3> lse;
  float scale;
  device::KeyMask mask;
  unsigned group;  ///< heads of Q for each of K and V
};

/// Whose work this is. It is read again whenever one is made: throughout the loop, S and O leave no
/// registers for what follows from it.
template <class S>
struct Place {
  const unsigned head = BlockNow::x(), batch = BlockNow::z();
  const int thread = static_cast<int>(device::ThreadNow::x()), warp_row = thread / 32 * S::kWarpM;

  // TODO 8: which queries are the block's, and which head of K and V do they read?
  // stub| __device__ int first_query() const { return 0; }
  // stub| __device__ unsigned head_kv(unsigned /*group*/) const { return 0; }
  __device__ int first_query() const { return static_cast<int>(gridDim.y - 1 - BlockNow::y()) * S::kBlockM; }
  __device__ unsigned head_kv(unsigned group) const { return head / group; }
  // [done]
};

/// O and lse of a block of queries: of head blockIdx.x in batch blockIdx.z, the last ones first. With a
/// causal mask these see most keys: what takes longest does not begin last.
template <class S>
__global__ void __launch_bounds__(kThreads, 2) attention_kernel(Arguments<typename S::T> arg) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  auto& smem = *reinterpret_cast<typename S::Shared*>(shared_memory);
  const Place<S> before;
  const int first_query = before.first_query();
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * S::kWarpM;
  const float to_log2 = fmaxf(arg.scale * kLog2e, FLT_MIN);  // 0 · -inf would be NaN
  const KeyTiles tiles(arg.mask, first_query, S::kBlockM, S::kBlockN);

  /// Sends for a tile of K and of V, if there is one.
  const auto fetch = [&](int t) {
    if (t < tiles.count) {
      const Place<S> now;
      const unsigned head = now.head_kv(arg.group);
      const std::int64_t key = std::int64_t{tiles[t]} * S::kBlockN;
      auto &K_smem = smem.K[t % kStages], &V_smem = smem.V[t % kStages];
      device::send_tile<kThreads>(K_smem, device::matrix_of(arg.K, now.batch, head), key, 0, now.thread);
      device::send_tile<kThreads>(V_smem, device::matrix_of(arg.V, now.batch, head), key, 0, now.thread);
    }
    device::commit_copies();
  };

  device::send_tile<kThreads>(smem.Q, device::matrix_of(arg.Q, before.batch, before.head), first_query, 0);
  device::commit_copies();
  fetch(0);
  device::wait_for_copies<1>();
  __syncthreads();  // Q is complete
  const Queries<S> queries(smem.Q, warp_row);
  RowSums<S> rows;
  typename S::Output O = {};

  // [step]
  for (int t = 0; t < tiles.count; ++t) {
    // TODO 9: wait for tile t, and send for the next one. Who must have finished with what before that?
    device::wait_for_copies<0>();
    __syncthreads();  // tile t is complete; and everybody has read tile t - 1: its stage is free
    fetch(t + 1);
    // [done]
    typename S::Scores scores = {};
    multiply_with_keys<S>(queries, smem.K[t % kStages], scores);
    hide<S>(arg.mask, first_query + warp_row, tiles[t] * S::kBlockN, scores);
    fold_scores<S>(to_log2, scores, rows, O);
    accumulate<S>(scores, smem.V[t % kStages], O);
  }
  // [step]

  const Place<S> after;
  const int row = after.warp_row, query = after.first_query();
  const float sink = arg.sink == nullptr ? -INFINITY : arg.sink[after.head];
  __syncwarp();  // the other lanes have read these rows of Q: O may take their place
  finish<S>(rows, O, sink, query, row, smem.Q, device::row_of(arg.lse, after.batch, after.head));
  __syncwarp();  // the rows of O that the warp has are complete
  const auto to = device::matrix_of(arg.O, after.batch, after.head);
  device::store_lines<S::kWarpM>(smem.Q, row, to, query + row);
}
// [kernel]

// --- On the host ---

// [launch]
template <class S>
void launch(const Arguments<typename S::T>& arg) {
  constexpr int kSharedBytes = sizeof(typename S::Shared);
  const auto kernel = attention_kernel<S>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const dim3 grid(static_cast<unsigned>(arg.Q.shape[1]),
                  static_cast<unsigned>((arg.mask.Nq - 1) / S::kBlockM + 1),
                  static_cast<unsigned>(arg.Q.shape[0]));
  kernel<<<grid, kThreads, kSharedBytes>>>(arg);
  CUDA_CHECK(cudaGetLastError());
}

/// The views are of device types.
template <class T>
void attention_forward(const View<const T, 4>& Q, const View<const T, 4>& K, const View<const T, 4>& V,
                       const float* sink, const View<T, 4>& O, const View<float, 3>& lse, float scale,
                       bool causal, std::int64_t window, std::int64_t sinks) {
  device::require_groups(Q.shape[1], K.shape[1]);
  device::require_attention_arguments_of_16_bits(Q, K, V, O, K.shape[1], kMaxDim);
  device::require_shape("lse", lse, {Q.shape[0], Q.shape[1], Q.shape[2]});
  device::require_scale(scale);
  const device::KeyMask mask = device::key_mask_of(Q, K, causal, window, sinks);
  if (Q.shape[0] == 0 || Q.shape[1] == 0 || Q.shape[2] == 0) return;
  const Arguments<T> arg{Q, K, V, sink, O, lse, scale, mask, static_cast<unsigned>(Q.shape[1] / K.shape[1])};
  if (Q.shape[3] <= 32)
    launch<Shape<T, 32>>(arg);
  else if (Q.shape[3] <= 64)
    launch<Shape<T, 64>>(arg);
  else if (Q.shape[3] <= 128)
    launch<Shape<T, 128>>(arg);
  else
    launch<Shape<T, 256>>(arg);
}
// [launch]

// --- The entries: a name for each type ---

using device::on_device;

void attention_forward_bfloat16(View<const bfloat16, 4> Q, View<const bfloat16, 4> K,
                                View<const bfloat16, 4> V, const float* sink, View<bfloat16, 4> O,
                                View<float, 3> lse, float scale, bool causal, std::int64_t window,
                                std::int64_t sinks) {
  attention_forward(on_device(Q), on_device(K), on_device(V), sink, on_device(O), lse, scale, causal, window,
                    sinks);
}
void attention_forward_float16(View<const float16, 4> Q, View<const float16, 4> K, View<const float16, 4> V,
                               const float* sink, View<float16, 4> O, View<float, 3> lse, float scale,
                               bool causal, std::int64_t window, std::int64_t sinks) {
  attention_forward(on_device(Q), on_device(K), on_device(V), sink, on_device(O), lse, scale, causal, window,
                    sinks);
}

}  // namespace course
