#pragma once
// The matrix instructions of a warp as functions: what PTX statements and wmma fragments come down to. A
// function takes the registers of one lane, as arrays; all 32 lanes of the warp call it together.

#include "simt_matrix_abi.h"
#include "simt_qualifiers.h"
#include "simt_vector_types.h"

namespace simt {

/// D = A B + C for one instruction, such as kMma<16, 8, 16, simt_f32, simt_bf16, simt_bf16, simt_f32>.
template <int m, int n, int k, SimtNumber d, SimtNumber a, SimtNumber b, SimtNumber c, bool saturates = false>
inline constexpr SimtMma kMma = {m, n, k, d, a, b, c, saturates};

// --- Products, by their names in PTX: mma_m16n8k16_f32_bf16 is
// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 ---

#define SIMT_MMA(NAME, M, N, K, SUM, A, B, Sum, d_count, a_count, b_count)                \
  SIMT_SHIM_INLINE void mma_##NAME(Sum(&d)[d_count], const unsigned(&a)[a_count],         \
                                   const unsigned(&b)[b_count], const Sum(&c)[d_count]) { \
    simt_mma(kMma<M, N, K, SUM, A, B, SUM>, d, a, b, c);                                  \
  }
SIMT_MMA(m16n8k16_f32_f16, 16, 8, 16, simt_f32, simt_f16, simt_f16, float, 4, 4, 2)
SIMT_MMA(m16n8k16_f32_bf16, 16, 8, 16, simt_f32, simt_bf16, simt_bf16, float, 4, 4, 2)
SIMT_MMA(m16n8k16_f16_f16, 16, 8, 16, simt_f16, simt_f16, simt_f16, unsigned, 2, 4, 2)
SIMT_MMA(m16n8k8_f32_f16, 16, 8, 8, simt_f32, simt_f16, simt_f16, float, 4, 2, 1)
SIMT_MMA(m16n8k8_f32_bf16, 16, 8, 8, simt_f32, simt_bf16, simt_bf16, float, 4, 2, 1)
SIMT_MMA(m16n8k8_f16_f16, 16, 8, 8, simt_f16, simt_f16, simt_f16, unsigned, 2, 2, 1)
SIMT_MMA(m16n8k8_f32_tf32, 16, 8, 8, simt_f32, simt_tf32, simt_tf32, float, 4, 4, 2)
SIMT_MMA(m16n8k4_f32_tf32, 16, 8, 4, simt_f32, simt_tf32, simt_tf32, float, 4, 2, 1)
SIMT_MMA(m16n8k32_f32_e4m3, 16, 8, 32, simt_f32, simt_e4m3, simt_e4m3, float, 4, 4, 2)
SIMT_MMA(m16n8k32_f32_e5m2, 16, 8, 32, simt_f32, simt_e5m2, simt_e5m2, float, 4, 4, 2)
SIMT_MMA(m16n8k32_s32_s8, 16, 8, 32, simt_s32, simt_s8, simt_s8, int, 4, 4, 2)
SIMT_MMA(m16n8k16_s32_s8, 16, 8, 16, simt_s32, simt_s8, simt_s8, int, 4, 2, 1)
#undef SIMT_MMA

// --- Matrices of 8 x 8 elements of 16 bits, between registers and shared memory ---

/// ldmatrix .x1, .x2, .x4 by the number of registers. `row` as simt_ldmatrix() says.
template <int kMatrices>
SIMT_SHIM_INLINE void ldmatrix(unsigned (&to)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "ldmatrix loads 1, 2 or 4 matrices");
  simt_ldmatrix(to, row, kMatrices, 0);
}
template <int kMatrices>
SIMT_SHIM_INLINE void ldmatrix_trans(unsigned (&to)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "ldmatrix loads 1, 2 or 4 matrices");
  simt_ldmatrix(to, row, kMatrices, 1);
}

template <int kMatrices>
SIMT_SHIM_INLINE void stmatrix(void* row, const unsigned (&from)[kMatrices]) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "stmatrix stores 1, 2 or 4 matrices");
  simt_stmatrix(row, from, kMatrices, 0);
}
template <int kMatrices>
SIMT_SHIM_INLINE void stmatrix_trans(void* row, const unsigned (&from)[kMatrices]) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "stmatrix stores 1, 2 or 4 matrices");
  simt_stmatrix(row, from, kMatrices, 1);
}

SIMT_SHIM_INLINE unsigned movmatrix(unsigned from) { return simt_movmatrix(from); }

}  // namespace simt
