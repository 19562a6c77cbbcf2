#pragma once
// The instructions that the 32 lanes of a warp execute as one (`.sync.aligned` in PTX): matrix products, and
// moves of 8 x 8 matrices between registers and shared memory. Plain C names, plain types, as in simt_abi.h.
//
// A register is 32 bits wide, that of a double 64. Which element lies in which lane is laid down in the PTX
// ISA, "Matrix Fragments for mma"; a lane's registers are given as an array in the order of their numbers
// there.

#include <cstddef>
#include <cstdint>

extern "C" {

/// Types of matrix elements. tf32 is a float of which only the upper 19 bits count.
enum SimtNumber : unsigned char {
  simt_f16,
  simt_bf16,
  simt_tf32,
  simt_f32,
  simt_f64,
  simt_e4m3,
  simt_e5m2,
  simt_s8,
  simt_u8,
  simt_s32
};

/// `mma.sync.aligned.mMnNkK.row.col.D.A.B.C`: D (m, n) = A (m, k) B (k, n) + C (m, n).
struct SimtMma {
  unsigned char m, n, k;
  SimtNumber d, a, b, c;
  unsigned char saturates;  ///< .satfinite: integer sums are clamped, not wrapped
};

/// The product. `d` may be the same array as `c`. simt::matrix::registers_of() says how many registers a lane
/// has of each.
void simt_mma(SimtMma instruction, void* d, const void* a, const void* b, const void* c);

/// The product of CUDA's wmma fragments, which lie in registers as mma.h of the simulator lays them.
struct SimtWmma {
  unsigned char m, n, k;
  SimtNumber factors, d, c;  ///< factors: A and B
  unsigned char columns;     ///< 1: A is col_major; 2: B is; 3: both are
  unsigned char saturates;
};
void simt_wmma(SimtWmma instruction, void* d, const void* a, const void* b, const void* c);

/// Waits for the whole warp, as loads and stores of fragments do. `name`: of the function, for messages.
void simt_warp_together(const char* name);

/// `ldmatrix.sync.aligned.m8n8.xN(.trans).shared.b16`: reads N = `matrices` = 1, 2 or 4 matrices of 8 rows of
/// 16 bytes. Lane 8 i + r names row r of matrix i: a generic address in shared memory, a multiple of 16.
/// Other lanes' `row` is not looked at. to[i]: elements (l / 4, 2 (l % 4)) and the next one of matrix i, for
/// lane l.
void simt_ldmatrix(unsigned* to, const void* row, int matrices, int transposed);

/// `stmatrix.sync.aligned.m8n8.xN(.trans).shared.b16`: the way back.
void simt_stmatrix(void* row, const unsigned* from, int matrices, int transposed);

/// `movmatrix.sync.aligned.m8n8.trans.b16`: the transpose of one such matrix.
unsigned simt_movmatrix(unsigned from);

}  // extern "C"
