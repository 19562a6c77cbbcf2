#pragma once
/// @file
/// Attention from 16 rows of queries to 16 keys, by one warp: the two products, in 16 bits by tensor cores or
/// in float32 without.
///
///     WarpProducts<T, 128> products(Q_smem, scratch, rows);  // T is __nv_bfloat16, __half or float
///     float scores[P::kLaneRows][P::kLaneKeys] = {};         // a lane's: rows row(i), keys key(j)
///     products.multiply(K_smem, scores);
///     ...                                                    // scores become weights, as in lesson 22
///     products.accumulate(rescale, scores, V_smem);
///
/// kLanesOfRow neighbouring lanes share a row. Nothing here is a barrier for the block. `rows` says how many
/// rows there are: up to 8 of them, float32 leaves the other 8 out. Tensor cores have no smaller product.

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "device/float16.hpp"
#include "device/swizzled_tile.hpp"
#include "device/tensor_core.hpp"

namespace course::device {

inline constexpr int kWarpRows = 16, kWarpKeys = 16;

/// kWarpRows rows of float32, each 16 bytes longer than it needs to be: a column lies in all banks.
template <int kDim>
struct alignas(16) PaddedTile {
  using Number = float;
  static constexpr int kLength = kDim;
  float at[kWarpRows][kDim + 4];

  __device__ const float4& four(int row, int col) const {
    return *reinterpret_cast<const float4*>(&at[row][col]);
  }
  __device__ static std::uint32_t place(int row, int col) {
    return static_cast<std::uint32_t>((row * (kDim + 4) + col) * 4);
  }
};
template <class T, int kDim>  // (kWarpRows, kDim) of Q, (kWarpKeys, kDim) of K or V
using WarpTile = std::conditional_t<sizeof(T) == 4, PaddedTile<kDim>, SwizzledTile<T, kWarpRows, kDim>>;
/// A warp's O in shared memory: row r, dimension d. The rows are longer than they need to be, for the banks.
template <int kDim>
using WarpOutput = float[kWarpRows][kDim + 8];

/// 16 bits. Four lanes share a row of scores; each has 2 rows of 4 keys.
template <class T, int kDim>
class WarpProducts {
 public:
  struct Scratch {};
  static constexpr int kLaneRows = 2, kLaneKeys = 4, kLanesOfRow = 4;
  __device__ static int row(int i) { return FragmentC::row(2 * i); }
  __device__ static int key(int j) { return 8 * (j / 2) + FragmentC::col(j % 2); }

  __device__ WarpProducts(const WarpTile<T, kDim>& Q_smem, Scratch&, int /*rows*/) {
    const OperandA<WarpTile<T, kDim>, Major::k> operand;
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) queries_[k] = operand.read(Q_smem, 0, 16 * k);
  }

  /// scores = Q·Kᵀ, not scaled.
  __device__ void multiply(const WarpTile<T, kDim>& K_smem, float (&scores)[kLaneRows][kLaneKeys]) const {
    const OperandB<WarpTile<T, kDim>, Major::k> keys;
    FragmentC halves[2] = {};
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
      FragmentB<T> left, right;
      keys.read(K_smem, 0, 16 * k, left, right);
      multiply_add(queries_[k], left, halves[0]);
      multiply_add(queries_[k], right, halves[1]);
    }
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i)
      for (int j = 0; j < kLaneKeys; ++j) scores[i][j] = halves[j / 2].at[2 * i + j % 2];
  }

  /// O = rescale · O + P·V.
  __device__ void accumulate(const float (&rescale)[kLaneRows], const float (&P)[kLaneRows][kLaneKeys],
                             const WarpTile<T, kDim>& V_smem) {
    const OperandB<WarpTile<T, kDim>, Major::rows> values;
    const FragmentA<T> weights = {{packed<T>(P[0][0], P[0][1]), packed<T>(P[1][0], P[1][1]),
                                   packed<T>(P[0][2], P[0][3]), packed<T>(P[1][2], P[1][3])}};
#pragma unroll
    for (int d = 0; d < kDim / 8; d += 2) {
#pragma unroll
      for (int e = 0; e < 4; ++e) O_[d].at[e] *= rescale[e / 2], O_[d + 1].at[e] *= rescale[e / 2];
      FragmentB<T> left, right;
      values.read(V_smem, 8 * d, 0, left, right);
      multiply_add(weights, left, O_[d]);
      multiply_add(weights, right, O_[d + 1]);
    }
  }

  __device__ void store(WarpOutput<kDim>& O_smem) const {
#pragma unroll
    for (int d = 0; d < kDim / 8; ++d)
      for (int i = 0; i < kLaneRows; ++i)
        *reinterpret_cast<float2*>(&O_smem[row(i)][8 * d + FragmentC::col(0)]) =
            make_float2(O_[d].at[2 * i], O_[d].at[2 * i + 1]);
  }

 private:
  FragmentA<T> queries_[kDim / 16];
  FragmentC O_[kDim / 8] = {};
};

/// float32. For scores a lane has 8 rows of one key; for O it has all rows, and every 32nd dimension.
template <int kDim>
class WarpProducts<float, kDim> {
 public:
  struct Scratch {
    float P[kWarpRows][kWarpKeys], rescale[kWarpRows];
  };
  static constexpr int kLaneRows = 8, kLaneKeys = 1, kLanesOfRow = 16;
  __device__ static int row(int i) { return 2 * i + FragmentC::lane() / 16; }
  __device__ static int key(int /*j*/) { return FragmentC::lane() % 16; }

  __device__ WarpProducts(const PaddedTile<kDim>& Q_smem, Scratch& scratch, int rows)
      : Q_smem_(Q_smem), scratch_(scratch), all_(rows > kWarpRows / 2) {}

  __device__ void multiply(const PaddedTile<kDim>& K_smem, float (&scores)[kLaneRows][kLaneKeys]) const {
#pragma unroll 4
    for (int d = 0; d < kDim; d += 4) {
      const float4 k = K_smem.four(key(0), d);
      for_rows<kLaneRows>([&](int i) {
        const float4 q = Q_smem_.four(row(i), d);
        scores[i][0] = fmaf(q.w, k.w, fmaf(q.z, k.z, fmaf(q.y, k.y, fmaf(q.x, k.x, scores[i][0]))));
      });
    }
  }

  __device__ void accumulate(const float (&rescale)[kLaneRows], const float (&P)[kLaneRows][kLaneKeys],
                             const PaddedTile<kDim>& V_smem) {
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      scratch_.P[row(i)][key(0)] = P[i][0];
      if (key(0) == 0) scratch_.rescale[row(i)] = rescale[i];
    }
    __syncwarp();  // all weights of the tile are there; they are read before the next tile's barrier
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r)
      for (int c = 0; c < kDim / 32; ++c) O_[r][c] *= scratch_.rescale[r];
#pragma unroll 1
    for (int k = 0; k < kWarpKeys; k += 4) {
#pragma unroll
      for (int c = 0; c < kDim / 32; ++c) {
        const int d = FragmentC::lane() + 32 * c;
        const float v[4] = {V_smem.at[k][d], V_smem.at[k + 1][d], V_smem.at[k + 2][d], V_smem.at[k + 3][d]};
        for_rows<kWarpRows>([&](int r) {
          const float4 p = *reinterpret_cast<const float4*>(&scratch_.P[r][k]);
          O_[r][c] = fmaf(p.w, v[3], fmaf(p.z, v[2], fmaf(p.y, v[1], fmaf(p.x, v[0], O_[r][c]))));
        });
      }
    }
  }

  __device__ void store(WarpOutput<kDim>& O_smem) const {
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r)
      for (int c = 0; c < kDim / 32; ++c) O_smem[r][FragmentC::lane() + 32 * c] = O_[r][c];
  }

 private:
  /// Calls body(0), body(1) ... of kCount rows; those of the second half only if there are such rows.
  template <int kCount, class Body>
  __device__ void for_rows(Body body) const {
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) body(i);
    if (all_) {
#pragma unroll
      for (int i = kCount / 2; i < kCount; ++i) body(i);
    }
  }

  const PaddedTile<kDim>& Q_smem_;
  Scratch& scratch_;
  const bool all_;
  float O_[kWarpRows][kDim / 32] = {};
};

}  // namespace course::device
