#pragma once
/// @file
/// Products of 16 x 8 x 16 on tensor cores: one function an instruction, and a type for each role.
///
/// A warp multiplies together. Its lanes hold A (16 x 16), B (16 x 8) and C (16 x 8) in pieces called
/// fragments: with group = lane / 4 and pair = 2 * (lane % 4), a lane has
///
///     A: rows group and group + 8, columns pair, pair + 1, pair + 8 and pair + 9
///     B: rows pair, pair + 1, pair + 8 and pair + 9, column group
///     C: rows group and group + 8, columns pair and pair + 1
///
/// `./course draw 21 --fragments` draws them. PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point
/// type".

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "device/async_copy.hpp"
#include "device/float16.hpp"

namespace course::device {

// [fragments]
/// A lane's part of A. Register r holds row group + 8 * (r % 2), columns pair + 8 * (r / 2) and the next.
template <class T>
struct FragmentA {
  std::uint32_t reg[4];
};

/// A lane's part of B. Register r holds rows pair + 8 * r and the next, column group.
template <class T>
struct FragmentB {
  std::uint32_t reg[2];
};

/// A lane's part of C, in float32: at[i] is the element at row(i), col(i).
struct FragmentC {
  float at[4];

  __device__ static int row(int i) { return lane() / 4 + 8 * (i / 2); }
  __device__ static int col(int i) { return 2 * (lane() % 4) + i % 2; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
};
// [fragments]

/// @brief Two numbers in one register, the first in its lower half.
template <class T>
__device__ std::uint32_t packed(T first, T second) {
  return word_of(pair_of<T>{first, second});
}
/// @brief The same, of two floats that are rounded to T.
template <class T>
__device__ std::uint32_t packed(float first, float second) {
  return word_of(rounded_to<T>(first, second));
}
/// @brief The two numbers of a register.
template <class T>
__device__ pair_of<T> unpacked(std::uint32_t word) {
  const auto first = static_cast<unsigned short>(word & 0xffff);
  const auto second = static_cast<unsigned short>(word >> 16);
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return {__ushort_as_bfloat16(first), __ushort_as_bfloat16(second)};
  else
    return {__ushort_as_half(first), __ushort_as_half(second)};
}

/// @brief C += A·B, by all 32 lanes of a warp together.
///
/// The 16 products of an element, and its old value, are added with more bits than float32 has, and the sum
/// is cut off, not rounded: nothing may depend on its last bit.
/// Cost: one instruction for 2048 multiply-adds, where an ordinary one does 32.
template <class T>
__device__ void multiply_add(const FragmentA<T>& a, const FragmentB<T>& b, FragmentC& c) {
  // [mma]
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c.at[0]), "+f"(c.at[1]), "+f"(c.at[2]), "+f"(c.at[3])
        : "r"(a.reg[0]), "r"(a.reg[1]), "r"(a.reg[2]), "r"(a.reg[3]), "r"(b.reg[0]), "r"(b.reg[1]));
  // [mma]
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c.at[0]), "+f"(c.at[1]), "+f"(c.at[2]), "+f"(c.at[3])
        : "r"(a.reg[0]), "r"(a.reg[1]), "r"(a.reg[2]), "r"(a.reg[3]), "r"(b.reg[0]), "r"(b.reg[1]));
}

/// @brief Four matrices of 8 x 8 numbers of 16 bits, from shared memory into a register each.
///
/// A row of a matrix is 16 bytes. Lanes 8i to 8i + 7 give the addresses of the rows of matrix i, multiples of
/// 16. Lane l gets, of each matrix, the numbers 2 * (l % 4) and the next of row l / 4, which is what A wants
/// of a matrix that lies row by row.
/// Cost: 4 wavefronts, if the 8 rows of each matrix lie in 32 different banks.
__device__ inline void load_matrices(std::uint32_t row_address, std::uint32_t (&matrices)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row_address)
               : "memory");
}
/// @brief The same, with rows and columns of each matrix exchanged on the way: lane l gets the numbers l / 4
/// of rows 2 * (l % 4) and the next.
__device__ inline void load_matrices_transposed(std::uint32_t row_address, std::uint32_t (&matrices)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row_address)
               : "memory");
}

/// @brief C(row, col) = first and C(row, col + 1) = second, rounded to C's type, of columns that C has: what
/// a lane does with the neighbours in a fragment of C. Both at once where they lie side by side, at a
/// multiple of their size. The row exists, col is even.
template <class T>
__device__ void write_two(float first, float second, const View<T, 2>& C, std::int64_t row,
                          std::int64_t col) {
  const bool at_once = C.strides[1] == 1 && C.strides[0] % 2 == 0 &&
                       reinterpret_cast<std::uintptr_t>(C.data) % sizeof(pair_of<T>) == 0;
  T* const to = C.data + row * C.strides[0] + col * C.strides[1];
  if (at_once && col + 1 < C.shape[1]) {
    *reinterpret_cast<pair_of<T>*>(to) = rounded_to<T>(first, second);
  } else {
    if (col < C.shape[1]) to[0] = rounded_to<T>(first);
    if (col + 1 < C.shape[1]) to[C.strides[1]] = rounded_to<T>(second);
  }
}

}  // namespace course::device
