// Lesson 24 without tensor cores: a thread has a row, of K for dK and dV, of Q for dQ, and computes in
// float32. What it meets lies in shared memory, a tile at a time. P and dS need not be rounded to 16 bits so,
// which the products on tensor cores ask for.
//
// gives up: makes all products on tensor cores

#include "tensor_core_backward.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/async_copy.hpp"
#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/dropout.hpp"
#include "device/float16.hpp"
#include "device/full_attention.hpp"
#include "device/masked_tiles.hpp"
#include "device/reduce.hpp"
#include "device/sink_gradient.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"

namespace course {

constexpr int kRows = 128, kCols = 64;  // rows of a block, a thread for each; rows that they meet at once

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

/// Calls use(d, number) for all numbers of a line.
template <class Tile, class Use>
__device__ void each_number(const Tile& tile, int line, Use use) {
  for (int at = 0; at < Tile::kLength; at += 8) {
    const uint4 chunk = tile.chunk(line, at);
    const std::uint32_t words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
    for (int i = 0; i < 4; ++i) {
      const float2 two = device::to_float(device::unpacked<typename Tile::Number>(words[i]));
      use(at + 2 * i, two.x);
      use(at + 2 * i + 1, two.y);
    }
  }
}

template <class T, int kDim>
struct Memory {
  device::SwizzledTile<T, kRows, kDim> rows;
  device::SwizzledTile<T, kCols, kDim> of_S, of_dP;
  float lse[kCols], delta[kCols];  ///< of the queries, if they go past
};

/// A thread's row, of K and V or of Q and dO, and what it sums up. All threads call the members together.
template <class T, int kDim, bool kKeysStay>
class Row {
 public:
  __device__ Row(const Arguments<T>& arg, int first_row, void* shared_memory)
      : arg_(arg),
        smem_(*static_cast<Memory<T, kDim>*>(shared_memory)),
        first_row_(first_row),
        row_(first_row + static_cast<int>(threadIdx.x)) {
    take(kKeysStay ? arg_.K : arg_.Q, of_S_);
    take(kKeysStay ? arg_.V : arg_.dO, of_dP_);
    if (!kKeysStay && row_ < arg_.mask.Nq) {
      lse_ = arg_.lse(blockIdx.z, blockIdx.y, row_);
      delta_ = arg_.delta(blockIdx.z, blockIdx.y, row_);
    }
  }

  template <class Tiles>
  __device__ void meet_all(Tiles at) {
    for (; !at.done(); at.advance(kCols)) {
      __syncthreads();  // everybody has met the last ones
      const auto& A = kKeysStay ? arg_.Q : arg_.K;
      const auto& B = kKeysStay ? arg_.dO : arg_.V;
      device::send_tile<kRows>(smem_.of_S, device::matrix_of(A, blockIdx.z, at.head), at.first, 0);
      device::send_tile<kRows>(smem_.of_dP, device::matrix_of(B, blockIdx.z, at.head), at.first, 0);
      const int col = static_cast<int>(threadIdx.x);
      if (kKeysStay && col < kCols && at.first + col < arg_.mask.Nq) {
        smem_.lse[col] = arg_.lse(blockIdx.z, at.head, at.first + col);
        smem_.delta[col] = arg_.delta(blockIdx.z, at.head, at.first + col);
      }
      device::commit_copies();
      device::wait_for_copies<0>();
      __syncthreads();  // these are there
      for (int other = 0; other < kCols; ++other) meet(at.head, at.first, other);
    }
  }

  __device__ void store(const View<T, 4>& of_S, const View<T, 4>& of_dP) const {
    const View<T, 2> X = device::matrix_of(of_S, blockIdx.z, blockIdx.y);
    const View<T, 2> Y = device::matrix_of(of_dP, blockIdx.z, blockIdx.y);
    if (row_ >= X.shape[0]) return;
    for (int d = 0; d < X.shape[1]; ++d) {
      X(row_, d) = device::rounded_to<T>(dX_[d] * arg_.scale);
      if (kKeysStay) Y(row_, d) = device::rounded_to<T>(dV_[d]);
    }
  }

 private:
  /// The thread's row of X, by way of shared memory.
  __device__ void take(const View<const T, 4>& X, float* row) {
    __syncthreads();  // everybody has taken what was there
    device::send_tile<kRows>(smem_.rows, device::matrix_of(X, blockIdx.z, blockIdx.y), first_row_, 0);
    device::commit_copies();
    device::wait_for_copies<0>();
    __syncthreads();  // all rows are there
    each_number(smem_.rows, static_cast<int>(threadIdx.x), [&](int d, float x) { row[d] = x; });
  }

  __device__ void meet(int head, int first, int other) {
    const device::QueryAndKey at =
        kKeysStay ? device::QueryAndKey{first + other, row_} : device::QueryAndKey{row_, first + other};
    if (arg_.mask.hides(at)) return;
    const float lse = kKeysStay ? smem_.lse[other] : lse_, delta = kKeysStay ? smem_.delta[other] : delta_;
    float S = 0.0f, dP = 0.0f;
    each_number(smem_.of_S, other, [&](int d, float x) { S += x * of_S_[d]; });
    each_number(smem_.of_dP, other, [&](int d, float x) { dP += x * of_dP_[d]; });
    const float P = device::weight_of(S * arg_.scale, lse);
    const int batch = static_cast<int>(blockIdx.z), q_head = kKeysStay ? head : static_cast<int>(blockIdx.y);
    const float factor = arg_.dropout.threshold == 0                           ? 1.0f
                         : arg_.dropout.keeps(batch, q_head, at.query, at.key) ? arg_.dropout.factor
                                                                               : 0.0f;
    const float dS = device::score_gradient(P, factor == 0.0f ? 0.0f : dP * factor, delta);
    each_number(smem_.of_S, other, [&](int d, float x) { dX_[d] += dS * x; });
    if (kKeysStay) each_number(smem_.of_dP, other, [&](int d, float x) { dV_[d] += P * factor * x; });
  }

  const Arguments<T>& arg_;
  Memory<T, kDim>& smem_;
  const int first_row_, row_;
  float lse_ = 0.0f, delta_ = 0.0f;  ///< of the row, if it is a query
  float of_S_[kDim], of_dP_[kDim];
  float dX_[kDim] = {}, dV_[kDim] = {};  ///< dK or dQ; dV
};

template <class T, int kDim>
__global__ void __launch_bounds__(kRows) keys_kernel(const __grid_constant__ Arguments<T> arg) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  const int first_key = static_cast<int>(blockIdx.x) * kRows;
  Row<T, kDim, true> row(arg, first_key, shared_memory);
  row.meet_all(device::QueryTiles(arg.mask, first_key, kRows, kCols, static_cast<int>(blockIdx.y),
                                  static_cast<int>(arg.Q.shape[1] / arg.K.shape[1])));
  row.store(arg.dK, arg.dV);
}

template <class T, int kDim>
__global__ void __launch_bounds__(kRows) queries_kernel(const __grid_constant__ Arguments<T> arg) {
  extern __shared__ __align__(1024) uint4 shared_memory[];
  const int first_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;  // those with most keys first
  Row<T, kDim, false> row(arg, first_query, shared_memory);
  row.meet_all(device::KeyTiles(arg.mask, first_query, kRows, kCols,
                                static_cast<int>(blockIdx.y / (arg.Q.shape[1] / arg.K.shape[1]))));
  row.store(arg.dQ, arg.dQ);
}

/// A warp for each row.
template <class T>
__global__ void __launch_bounds__(128)
    delta_kernel(View<const T, 4> O, View<const T, 4> dO, View<float, 3> delta) {
  const std::int64_t row = std::int64_t{blockIdx.x} * 4 + threadIdx.x / 32;
  float sum = 0.0f;
  for (std::int64_t d = threadIdx.x % 32; row < O.shape[2] && d < O.shape[3]; d += 32)
    sum += device::to_float(O(blockIdx.z, blockIdx.y, row, d)) *
           device::to_float(dO(blockIdx.z, blockIdx.y, row, d));
  sum = device::sum_warp(sum);
  if (threadIdx.x % 32 == 0 && row < O.shape[2]) delta(blockIdx.z, blockIdx.y, row) = sum;
}

template <class T, int kDim>
void launch(const Arguments<T>& arg) {
  constexpr int kBytes = sizeof(Memory<T, kDim>);
  if (arg.mask.Nk > 0)
    device::launch(keys_kernel<T, kDim>, device::blocks_for(arg.mask.Nk, kRows), arg.K.shape[1],
                   arg.Q.shape[0], kRows, kBytes, arg);
  if (arg.mask.Nq > 0)
    device::launch(queries_kernel<T, kDim>, device::blocks_for(arg.mask.Nq, kRows), arg.Q.shape[1],
                   arg.Q.shape[0], kRows, kBytes, arg);
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
  if (B > 0 && Nq > 0) device::launch(delta_kernel<T>, device::blocks_for(Nq, 4), H, B, 128, 0, O, dO, delta);
  if (B > 0 && D <= 16)
    launch<T, 16>(arg);
  else if (B > 0 && D <= 64)
    launch<T, 64>(arg);
  else if (B > 0)
    launch<T, 128>(arg);
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
