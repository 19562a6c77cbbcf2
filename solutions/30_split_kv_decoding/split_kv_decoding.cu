// Lesson 30: decoding. The keys of a sequence are split over blocks, and over the warps of a block; all heads
// of a group share what is read; partial results are merged by their lse (lesson 05), in a fixed order.

#include "split_kv_decoding.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "device/async_copy.hpp"
#include "device/attention_arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/exp2.hpp"
#include "device/float16.hpp"
#include "device/key_mask.hpp"
#include "device/reduce.hpp"
#include "device/views.hpp"
#include "device/warp_products.hpp"

namespace course {

using device::WarpProducts;
using device::WarpTile;

// --- Sizes ---

// [shape]
constexpr int kRows = kPackedRows, kKeys = kTileKeys;
static_assert(kRows == device::kWarpRows && kKeys == device::kWarpKeys);
constexpr int kWarps = 4, kThreads = 32 * kWarps, kStages = 2;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.693147181f;

/// A warp has keys of its own, and at the end a result of its own.
template <class T, int kDim>
union WarpMemory {
  struct {
    WarpTile<T, kDim> K, V;
  } stages[kStages];
  device::WarpOutput<kDim> O;  // at the end, not divided
};
// [shape]

// --- The softmax of a tile: m and l ---

// [fold]
/// Of the keys so far, for each row of the lane, as in lesson 22; l is the sum over the lane's own keys.
template <class P>
struct RowSums {
  float m_log2[P::kLaneRows], l[P::kLaneRows];
  int last_key[P::kLaneRows];  // that the row sees, or -1
};

/// Scores become weights. l is rescaled to the new maximum; the caller multiplies O by `rescale`.
template <class P>
__device__ void fold_scores(float to_log2, int first_key, float (&scores)[P::kLaneRows][P::kLaneKeys],
                            RowSums<P>& rows, float (&rescale)[P::kLaneRows]) {
#pragma unroll
  for (int i = 0; i < P::kLaneRows; ++i) {
    float largest = -INFINITY;
#pragma unroll
    for (int j = 0; j < P::kLaneKeys; ++j) {
      if (first_key + P::key(j) > rows.last_key[i]) scores[i][j] = -INFINITY;
      largest = fmaxf(largest, scores[i][j]);
    }
    const float grown = fmaxf(rows.m_log2[i], device::max_warp<P::kLanesOfRow>(largest) * to_log2);
    rescale[i] = device::exp2_approx(rows.m_log2[i] - grown);
    rows.m_log2[i] = grown;
    rows.l[i] *= rescale[i];
#pragma unroll
    for (int j = 0; j < P::kLaneKeys; ++j) {
      scores[i][j] = device::exp2_approx(fmaf(scores[i][j], to_log2, -grown));
      rows.l[i] += scores[i][j];
    }
  }
}
// [fold]

// --- Merging ---

// [merge]
struct Merged {
  float O, lse;
};

/// One number of O, and lse, over the keys of all parts, in the order of the parts. A part without keys has
/// lse = -inf and O = 0.
template <class Lse, class Output>
__device__ Merged merge(int parts, Lse lse_of, Output O_of) {
  // TODO 4: how much does a part weigh? What if no part has a key?
  // stub| (void)parts, (void)lse_of, (void)O_of;
  // stub| return {0.0f, 0.0f};
  float base = -INFINITY, l = 0.0f, O = 0.0f;
  for (int part = 0; part < parts; ++part) base = fmaxf(base, lse_of(part));
#pragma unroll 4
  for (int part = 0; part < parts; ++part) {
    const float lse = lse_of(part), weight = lse == -INFINITY ? 0.0f : expf(lse - base);
    l += weight;
    O = fmaf(weight, O_of(part), O);
  }
  return l == 0.0f ? Merged{0.0f, -INFINITY} : Merged{O / l, base + logf(l)};
  // [done]
}
// [merge]

// --- The kernels ---

// [arguments]
template <class T>
struct Arguments {
  View<const T, 4> Q, K_pages, V_pages;
  View<const std::int32_t, 2> table;
  const std::int32_t* lengths;
  View<T, 4> O;
  View<float, 3> lse;
  View<float, 5> partial_O;
  View<float, 4> partial_lse;
  float scale;
  int Nq, group, D, page_size;
};

/// Where row `row` of a group lies in Q and in the results.
struct Query {
  int head, token;
};
__device__ Query query_of(int head_kv, int row, int group, int Nq) {
  // TODO 5: heads of a group follow each other in Q. The rows of one head come first.
  // stub| return {head_kv * group + row % group, 0 * Nq};
  return {head_kv * group + row / Nq, row % Nq};
  // [done]
}

/// Tiles first, first + 1 ... end - 1.
struct Range {
  int first, end;
};
__device__ Range tiles_of_split(int length, int split, int splits) {
  // TODO 1: the same number of tiles for each split, as far as they go.
  // stub| return {0, split + length + splits == 0};
  const int tiles = (length + kKeys - 1) / kKeys, each = (tiles + splits - 1) / splits;
  return {min(split * each, tiles), min((split + 1) * each, tiles)};
  // [done]
}
// [arguments]

// [send]
/// Starts copies of rows into a tile: row_of(line) is the address of one, which has D numbers. Rows from
/// `lines` on become zeros. All of kLanes threads call this, each with its own `lane`.
template <int kLanes, class AnyTile, class RowOf>
__device__ void send_rows(AnyTile& tile, int lane, int lines, int D, RowOf row_of) {
  constexpr int kNumbers = 16 / sizeof(typename AnyTile::Number), kChunks = AnyTile::kLength / kNumbers;
#pragma unroll 4
  for (int first = 0; first < kRows * kChunks; first += kLanes) {
    const int line = (first + lane) / kChunks, at = (first + lane) % kChunks * kNumbers;
    const bool inside = line < lines && at < D;
    device::copy_async(device::shared_address(&tile) + AnyTile::place(line, at), row_of(line) + at, inside);
  }
}
// [send]

// [split]
template <class T, int kDim>
struct Shared {
  WarpTile<T, kDim> Q;
  WarpMemory<T, kDim> warp[kWarps];
  typename WarpProducts<T, kDim>::Scratch scratch[kWarps];
  float share[kWarps][kRows], lse[kWarps][kRows];  // of each warp; share is 1 / l, or 0
};

/// O and lse of kRows rows of a group over the keys of split blockIdx.x, into partial_O and partial_lse. The
/// warps take the split's tiles in turns.
template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) split_kernel(Arguments<T> arg) {
  using P = WarpProducts<T, kDim>;
  extern __shared__ __align__(1024) uint4 shared_memory[];
  auto& smem = *reinterpret_cast<Shared<T, kDim>*>(shared_memory);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int split = static_cast<int>(blockIdx.x), splits = static_cast<int>(gridDim.x);
  const int head_kv = static_cast<int>(blockIdx.y % arg.K_pages.shape[1]);
  const int first_row = static_cast<int>(blockIdx.y / arg.K_pages.shape[1]) * kRows;
  const int rows_left = arg.group * arg.Nq - first_row, batch = static_cast<int>(blockIdx.z);
  const int room = static_cast<int>(arg.table.shape[1]) * arg.page_size, length = arg.lengths[batch];
  bool readable = length <= room;
  const Range tiles = tiles_of_split(min(max(length, 0), readable ? room : 0), split, splits);
  auto& mine = smem.warp[warp];

  // [fetch]
  /// Starts the copies of the warp's tile number t, if there is one.
  const auto fetch = [&](int t) {
    const int tile = tiles.first + t * kWarps + warp;
    if (tile < tiles.end) {
      // TODO 2: which page, which row of it, how many keys? `readable` is to tell if there is no such page.
      // stub| const int page = 0, token = 0 * tile, keys = 0;
      const int page = arg.table(batch, tile * kKeys / arg.page_size), token = tile * kKeys % arg.page_size;
      const bool exists = page >= 0 && page < arg.K_pages.shape[0];
      const int keys = exists ? length - tile * kKeys : 0;
      readable = readable && exists;
      // [done]
      auto& stage = mine.stages[t % kStages];
      const T* const K = &arg.K_pages(page, head_kv, token, 0);
      const T* const V = &arg.V_pages(page, head_kv, token, 0);
      send_rows<32>(stage.K, lane, keys, arg.D, [&](int key) { return K + key * arg.K_pages.strides[2]; });
      send_rows<32>(stage.V, lane, keys, arg.D, [&](int key) { return V + key * arg.V_pages.strides[2]; });
    }
    device::commit_copies();
  };
  // [fetch]

  send_rows<kThreads>(smem.Q, thread, rows_left, arg.D, [&](int row) {
    const Query query = query_of(head_kv, first_row + row, arg.group, arg.Nq);
    return &arg.Q(batch, query.head, query.token, 0);
  });
  device::commit_copies();
  fetch(0);
  device::wait_for_copies<1>();
  __syncthreads();  // Q is complete
  P products(smem.Q, smem.scratch[warp], rows_left);
  RowSums<P> rows;
#pragma unroll
  for (int i = 0; i < P::kLaneRows; ++i) {
    rows.m_log2[i] = -FLT_MAX, rows.l[i] = 0.0f;
    // TODO 6: the last token stands at the last key. Up to which key does the row's token see?
    // stub| rows.last_key[i] = length - 1;
    const int row = first_row + P::row(i), token = query_of(head_kv, row, arg.group, arg.Nq).token;
    rows.last_key[i] = P::row(i) < rows_left ? length - arg.Nq + token : -1;
    // [done]
  }
  const float to_log2 = fmaxf(arg.scale * kLog2e, FLT_MIN);  // 0 · -inf would be NaN

  // [step]
  for (int t = 0; tiles.first + t * kWarps + warp < tiles.end; ++t) {
    device::wait_for_copies<0>();
    __syncwarp();  // the warp's tile t is complete; and all lanes have read tile t - 1: its stage is free
    fetch(t + 1);
    const auto& stage = mine.stages[t % kStages];
    float scores[P::kLaneRows][P::kLaneKeys] = {}, rescale[P::kLaneRows];
    products.multiply(stage.K, scores);
    fold_scores<P>(to_log2, (tiles.first + t * kWarps + warp) * kKeys, scores, rows, rescale);
    products.accumulate(rescale, scores, stage.V);
  }
  // [step]

  __syncwarp();  // all lanes have read their tiles: O may take their place
  products.store(mine.O);
#pragma unroll
  for (int i = 0; i < P::kLaneRows; ++i) {
    // TODO 3: what are 1 / l and lse of the warp's keys? l is spread over lanes; m is to base 2.
    // stub| const float share = 0.0f, lse = 0.0f * rows.l[i];
    const float l = device::sum_warp<P::kLanesOfRow>(rows.l[i]);
    const float share = l == 0.0f ? 0.0f : 1.0f / l;
    const float lse = l == 0.0f ? -INFINITY : rows.m_log2[i] * kLn2 + logf(l);
    // [done]
    if (P::key(0) == 0) {
      smem.share[warp][P::row(i)] = readable ? share : NAN;
      smem.lse[warp][P::row(i)] = readable ? lse : NAN;
    }
  }
  __syncthreads();  // the parts of all warps are complete
  for (int i = thread; i < kRows * kDim; i += kThreads) {
    const int row = i / kDim, d = i % kDim;
    if (row >= rows_left || d >= arg.D) continue;
    const Merged all = merge(
        kWarps, [&](int part) { return smem.lse[part][row]; },
        [&](int part) { return smem.warp[part].O[row][d] * smem.share[part][row]; });
    const Query query = query_of(head_kv, first_row + row, arg.group, arg.Nq);
    arg.partial_O(split, batch, query.head, query.token, d) = all.O;
    if (d == 0) arg.partial_lse(split, batch, query.head, query.token) = all.lse;
  }
}
// [split]

// [merge_kernel]
/// A thread for each number of O.
template <class T>
__global__ void __launch_bounds__(kThreads) merge_kernel(Arguments<T> arg) {
  const std::int64_t H = arg.O.shape[1], i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t d = i % arg.D, token = i / arg.D % arg.Nq, head = i / arg.D / arg.Nq % H,
                     batch = i / arg.D / arg.Nq / H;
  if (batch >= arg.O.shape[0]) return;
  const Merged all = merge(
      static_cast<int>(arg.partial_O.shape[0]),
      [&](int split) { return arg.partial_lse(split, batch, head, token); },
      [&](int split) { return arg.partial_O(split, batch, head, token, d); });
  arg.O(batch, head, token, d) = device::rounded_to<T>(all.O);
  if (d == 0) arg.lse(batch, head, token) = all.lse;
}
// [merge_kernel]

// --- On the host ---

// [choose]
std::int64_t choose_splits(std::int64_t blocks, std::int64_t tiles, std::int64_t multiprocessors) {
  // TODO 7: the share of busy places for n splits; then the least n that is good enough.
  // stub| return blocks + tiles + multiprocessors > 0 ? 1 : 0;
  const std::int64_t most = std::clamp<std::int64_t>(tiles / kLeastTiles, 1, kMostSplits);
  const auto busy = [&](std::int64_t n) {
    const std::int64_t places = multiprocessors * kBlocksAtOnce, rounds = (n * blocks + places - 1) / places;
    return static_cast<double>(n * blocks) / static_cast<double>(rounds * places);
  };
  double best = 0.0;
  for (std::int64_t n = 1; n <= most; ++n) best = std::max(best, busy(n));
  std::int64_t n = 1;
  while (busy(n) < 0.95 * best) ++n;
  return n;
  // [done]
}
// [choose]

// [launch]
template <class T, int kDim>
void launch(const Arguments<T>& arg) {
  constexpr int kSharedBytes = sizeof(Shared<T, kDim>);
  const auto kernel = split_kernel<T, kDim>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const std::int64_t tiles_of_rows = (std::int64_t{arg.group} * arg.Nq + kRows - 1) / kRows;
  const dim3 grid(static_cast<unsigned>(arg.partial_O.shape[0]),
                  static_cast<unsigned>(arg.K_pages.shape[1] * tiles_of_rows),
                  static_cast<unsigned>(arg.Q.shape[0]));
  kernel<<<grid, kThreads, kSharedBytes>>>(arg);
  CUDA_CHECK(cudaGetLastError());
  const std::int64_t numbers = arg.Q.shape[0] * arg.Q.shape[1] * arg.Q.shape[2] * arg.Q.shape[3];
  merge_kernel<T><<<static_cast<unsigned>((numbers + kThreads - 1) / kThreads), kThreads>>>(arg);
  CUDA_CHECK(cudaGetLastError());
}

/// The views are of device types.
template <class T>
void decode(const View<const T, 4>& Q, const View<const T, 4>& K_pages, const View<const T, 4>& V_pages,
            const View<const std::int32_t, 2>& table, const std::int32_t* lengths, const View<T, 4>& O,
            const View<float, 3>& lse, const View<float, 5>& partial_O, const View<float, 4>& partial_lse,
            float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3],
                     splits = partial_O.shape[0];
  device::require_paged_arguments(Q, K_pages, V_pages, table, O, kTileKeys,
                                  sizeof(T) == 4 ? kMaxDimFloat32 : kMaxDim);
  device::require_shape("lse", lse, {B, H, Nq});
  if (splits < 1 || splits > kMaxSplits)
    throw std::invalid_argument("partial_O must have 1 to " + std::to_string(kMaxSplits) +
                                " splits, but it has " + std::to_string(splits) + ".");
  device::require_shape("partial_O", partial_O, {splits, B, H, Nq, D});
  device::require_shape("partial_lse", partial_lse, {splits, B, H, Nq});
  device::require_scale(scale);
  if (B == 0 || H == 0 || Nq == 0) return;
  const Arguments<T> arg{Q,
                         K_pages,
                         V_pages,
                         table,
                         lengths,
                         O,
                         lse,
                         partial_O,
                         partial_lse,
                         scale,
                         static_cast<int>(Nq),
                         static_cast<int>(H / K_pages.shape[1]),
                         static_cast<int>(D),
                         static_cast<int>(K_pages.shape[2])};
  if (D <= 64) return launch<T, 64>(arg);
  if (D <= 128) return launch<T, 128>(arg);
  if constexpr (sizeof(T) == 2) launch<T, 256>(arg);
}
// [launch]

// --- The entries: a name for each type ---

using device::on_device;

void decode_bfloat16(View<const bfloat16, 4> Q, View<const bfloat16, 4> K_pages,
                     View<const bfloat16, 4> V_pages, View<const std::int32_t, 2> table,
                     const std::int32_t* lengths, View<bfloat16, 4> O, View<float, 3> lse,
                     View<float, 5> partial_O, View<float, 4> partial_lse, float scale) {
  decode(on_device(Q), on_device(K_pages), on_device(V_pages), table, lengths, on_device(O), lse, partial_O,
         partial_lse, scale);
}
void decode_float16(View<const float16, 4> Q, View<const float16, 4> K_pages, View<const float16, 4> V_pages,
                    View<const std::int32_t, 2> table, const std::int32_t* lengths, View<float16, 4> O,
                    View<float, 3> lse, View<float, 5> partial_O, View<float, 4> partial_lse, float scale) {
  decode(on_device(Q), on_device(K_pages), on_device(V_pages), table, lengths, on_device(O), lse, partial_O,
         partial_lse, scale);
}
void decode_float32(View<const float, 4> Q, View<const float, 4> K_pages, View<const float, 4> V_pages,
                    View<const std::int32_t, 2> table, const std::int32_t* lengths, View<float, 4> O,
                    View<float, 3> lse, View<float, 5> partial_O, View<float, 4> partial_lse, float scale) {
  decode(Q, K_pages, V_pages, table, lengths, O, lse, partial_O, partial_lse, scale);
}

}  // namespace course
