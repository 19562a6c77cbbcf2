#pragma once
/// @file
/// FlashAttention-2's forward pass for a tile of queries, float32: lesson 09's kernel, taken apart so that
/// the masks of the lessons after it can choose which tiles of keys pass by, and what is hidden in them.
///
///     extern __shared__ float4 shared_memory[];
///     ForwardBlock<Shape> block(Q, first_query, scale, shared_memory);   // Algorithm 1, lines 3 to 5
///     for (each tile of keys) block.attend(K, V, first_key);             // lines 7 to 10
///     block.store(O, lse);                                               // lines 12 to 15
///
/// The lines are those of Dao 2023 (arXiv:2307.08691), Algorithm 1.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "device/attention_tile.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// What a block of the forward pass has in shared memory: 86 KB for 128 queries, 64 keys and 64 dimensions,
/// 137 KB for 128. P takes the place of K, which nobody needs once S has been computed.
template <class Shape>
struct ForwardTiles {
  typename Shape::QTile Q;
  union {
    typename Shape::KTile K;
    typename Shape::PTile P;
  };
  typename Shape::VTile V;
};

/// @brief A block's tile of O on its way past the tiles of keys. All Shape::kThreads threads (along x) call
/// the members together, with the same arguments.
template <class Shape>
class ForwardBlock {
 public:
  static constexpr int kSharedBytes = sizeof(ForwardTiles<Shape>);

  /// @brief Lines 3 to 5: the tile of Q that begins at first_query; O = 0. m and l are what each row begins
  /// with: -inf and 0 unless something joins its softmax that is not among the keys. Shapes: Q is (Nq, D), D
  /// at most Shape::kDim. shared_memory: kSharedBytes of it.
  __device__ ForwardBlock(const View<const float, 2>& Q, std::int64_t first_query, float scale,
                          void* shared_memory, float m = -INFINITY, float l = 0.0f)
      : ForwardBlock(first_query, scale, shared_memory, m, l) {
    load_tile<Shape::kThreads>(Q, first_query, 0, smem_.Q);
  }

  /// @brief The same for queries that the caller puts in place: with load_rows() into Q_tile(), before
  /// attend().
  __device__ ForwardBlock(std::int64_t first_query, float scale, void* shared_memory, float m = -INFINITY,
                          float l = 0.0f)
      : smem_(*static_cast<ForwardTiles<Shape>*>(shared_memory)), first_query_(first_query), scale_(scale) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
      m_[i] = m;
      l_[i] = Scores::thread_across() == 0 ? l : 0.0f;  // the 16 threads of a row add theirs at the end
    }
  }

  __device__ typename Shape::QTile& Q_tile() { return smem_.Q; }

  // [attend]
  /// @brief Lines 7 to 10 for the tile of keys that begins at first_key, every one of which all queries see.
  /// Shapes: K, V are (Nk, D). Keys from Nk on are left out.
  __device__ void attend(const View<const float, 2>& K, const View<const float, 2>& V,
                         std::int64_t first_key) {
    multiply_with_keys(K, V, first_key);
    take_in_values();
  }

  /// @brief The same for a tile in which a query does not see every key.
  /// `hidden(query, key)`: whether it does not; row of Q and row of K, counted from their beginnings.
  template <class Hidden>
  __device__ void attend(const View<const float, 2>& K, const View<const float, 2>& V, std::int64_t first_key,
                         Hidden hidden) {
    multiply_with_keys(K, V, first_key);
    hide_scores<Scores>(S_rmem_,
                        [&](int row, int col) { return hidden(first_query_ + row, first_key + col); });
    take_in_values();
  }
  // [attend]

  /// @brief The same with weights that change before they meet V: by `weights`, as PlainWeights. l and lse
  /// are those of the weights as they were.
  template <class Hidden, class Weights>
  __device__ void attend(const View<const float, 2>& K, const View<const float, 2>& V, std::int64_t first_key,
                         Hidden hidden, Weights weights) {
    multiply_with_keys(K, V, first_key);
    hide_scores<Scores>(S_rmem_,
                        [&](int row, int col) { return hidden(first_query_ + row, first_key + col); });
    take_in_values(first_key, weights);
  }

  /// @brief Lines 12 to 15: O and lse of the tile. A query that has seen no key gets O = 0 and lse = -inf.
  /// Shapes: O is (Nq, D), lse is (Nq).
  __device__ void store(const View<float, 2>& O, const View<float, 1>& lse) {
    finish();
    if (Scores::thread_across() == 0) {
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i) {
        const std::int64_t query = first_query_ + Scores::row(i);
        if (query < lse.shape[0]) lse(query) = lse_of_row(i);
      }
    }
    store_tile<Output>(O_rmem_, O, first_query_, 0);
  }

  /// @brief The same for queries that lie anywhere: `O_row(row)` is where that row of the tile's O begins,
  /// and `lse_of(row)` where its lse belongs; nullptr for a row that holds no query. D: numbers in a row of
  /// O.
  template <class RowBegin, class Place>
  __device__ void store(RowBegin O_row, Place lse_of, std::int64_t D) {
    finish();
    if (Scores::thread_across() == 0) {
#pragma unroll
      for (int i = 0; i < Shape::kThreadRows; ++i)
        if (float* lse = lse_of(Scores::row(i))) *lse = lse_of_row(i);
    }
    store_rows<Output>(O_rmem_, O_row, D);
  }

 private:
  using Scores = typename Shape::Scores;
  using Output = typename Shape::Output;

  /// Lines 7 and 8: a tile of K and of V, S = Q·Kᵀ·scale; -inf past the last key.
  __device__ void multiply_with_keys(const View<const float, 2>& K, const View<const float, 2>& V,
                                     std::int64_t first_key) {
    __syncthreads();  // every warp has multiplied with the last P and V: K and V may be overwritten
    load_tile<Shape::kThreads>(K, first_key, 0, smem_.K);
    load_tile<Shape::kThreads>(transposed(V), 0, first_key, smem_.V);
    __syncthreads();  // Q, K and V are complete

    for (auto& row : S_rmem_) {
      for (float& s : row) s = 0.0f;
    }
    multiply_add<Scores>(smem_.Q, smem_.K, S_rmem_);
    for (auto& row : S_rmem_) {
      for (float& s : row) s *= scale_;
    }
    const std::int64_t keys_left = K.shape[0] - first_key;
    if (keys_left < Shape::kBlockN)
      hide_scores<Scores>(S_rmem_, [=](int, int col) { return col >= keys_left; });
  }

  /// Lines 9 and 10: S becomes P = exp(S - m), with m and l those of all keys so far; O = diag(exp(m_old -
  /// m))·O + P·V. Invariant: l = Σ exp(S_j - m) over the thread's columns so far.
  template <class Weights = PlainWeights>
  __device__ void take_in_values(std::int64_t first_key = 0, Weights weights = {}) {
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
      const float m_new = fmaxf(m_[i], max_of_row<Scores>(S_rmem_, i));
      const float base = m_new == -INFINITY ? 0.0f : m_new;  // -inf - -inf would be NaN
      const float rescale = expf(m_[i] - base);
      m_[i] = m_new;
      l_[i] *= rescale;
      for (float& s : S_rmem_[i]) l_[i] += s = expf(s - base);
      for (float& o : O_rmem_[i]) o *= rescale;
#pragma unroll
      for (int j = 0; j < Shape::Scores::kThreadCols; j += 4) {  // four neighbouring keys
        float P[4];
        for (int e = 0; e < 4; ++e) P[e] = S_rmem_[i][j + e];
        weights.keep(first_query_ + Scores::row(i), first_key + Scores::col(j), P);
        for (int e = 0; e < 4; ++e) S_rmem_[i][j + e] = P[e];
      }
    }
    __syncthreads();  // every warp has multiplied with K: P may take its place
    put_tile<Scores>(S_rmem_, smem_.P);
    __syncwarp();  // a warp reads the rows of P that it has written
    multiply_add<Output>(smem_.P, smem_.V, O_rmem_);
  }

  /// Line 12: O = diag(1 / l)·O, with l of whole rows.
  __device__ void finish() {
#pragma unroll
    for (int i = 0; i < Shape::kThreadRows; ++i) {
      l_[i] = sum_warp<Shape::kThreadsAcross>(l_[i]);
      for (float& o : O_rmem_[i]) o = l_[i] == 0.0f ? 0.0f : o / l_[i];  // 0: no key, or only scores of -inf
    }
  }

  /// Line 13; log 0 is -inf.
  __device__ float lse_of_row(int i) const { return m_[i] + logf(l_[i]); }

  ForwardTiles<Shape>& smem_;
  const std::int64_t first_query_;
  const float scale_;
  typename Scores::Accumulator S_rmem_;
  typename Output::Accumulator O_rmem_ = {};
  float m_[Shape::kThreadRows];
  float l_[Shape::kThreadRows] = {};
};

}  // namespace course::device
