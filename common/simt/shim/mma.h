#pragma once
// nvcuda::wmma: matrices of a warp in fragments, with CUDA's names. How a fragment's elements are spread over
// the lanes is the implementation's choice in CUDA. Here each lane of A and B has a piece that lies in a row
// in memory, such that the loads take as many wavefronts as those of ldmatrix; accumulators lie as those of
// mma.sync.

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "simt_matrix.h"

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}

namespace detail {

/// What fragments of an element type hold, and what it is called.
template <class T>
struct Element {
  static_assert(sizeof(T) == 0,
                "wmma fragments hold half, __nv_bfloat16, precision::tf32, signed char, unsigned char, "
                "double, and in accumulators float and int; 4-bit and 1-bit fragments are not simulated");
};
template <class Storage, SimtNumber kNumber, int kCopies = 1>
struct ElementOf {
  using Type = Storage;
  static constexpr SimtNumber number = kNumber;
  static constexpr int copies = kCopies;  ///< of each element of A and B
};
template <>
struct Element<__half> : ElementOf<__half, simt_f16, 2> {};
template <>
struct Element<__nv_bfloat16> : ElementOf<__nv_bfloat16, simt_bf16> {};
template <>
struct Element<precision::tf32> : ElementOf<float, simt_tf32> {};
template <>
struct Element<float> : ElementOf<float, simt_f32> {};
template <>
struct Element<double> : ElementOf<double, simt_f64> {};
template <>
struct Element<signed char> : ElementOf<signed char, simt_s8> {};
template <>
struct Element<unsigned char> : ElementOf<unsigned char, simt_u8> {};
template <>
struct Element<int> : ElementOf<int, simt_s32> {};

/// The elements of one lane, as programs see them: half fragments of A and B have 16 in every shape.
template <class T, int kElements>
struct Fragment {
  using element_type = T;
  static constexpr int num_elements = kElements;
  T x[kElements];
};

template <class T, int kPiece>
inline constexpr int kElements = Element<T>::copies == 1 ? kPiece : 16;

/// An unsigned integer, or four, as wide as a lane's access.
template <int kBytes>
struct Word;
template <>
struct Word<4> {
  typedef unsigned Type __attribute__((may_alias));
};
template <>
struct Word<8> {
  typedef unsigned long long Type __attribute__((may_alias));
};
template <>
struct Word<16> {
  typedef unsigned Type __attribute__((vector_size(16), may_alias));
};

/// One access of that many bytes.
template <int kBytes>
__forceinline__ void move(void* to, const void* from) {
  using Whole = typename Word<kBytes>::Type;
  *static_cast<Whole*>(to) = *static_cast<const Whole*>(from);
}

/// This lane's piece of `kLength` elements a line, of `kLines` lines.
template <int kLines, int kLength, class T, int kElements>
__forceinline__ void load_piece(Fragment<T, kElements>& fragment, const T* matrix, unsigned pitch) {
  constexpr int kPiece = kLines * kLength / 32, kBytes = kPiece * static_cast<int>(sizeof(T));
  constexpr int kStep = kBytes < 16 ? kBytes : 16;
  const unsigned lane = simt_lane();
  const T* const from = matrix + lane % kLines * static_cast<std::size_t>(pitch) + lane / kLines * kPiece;
  for (int at = 0; at < kPiece; at += kStep / static_cast<int>(sizeof(T)))
    move<kStep>(fragment.x + at, from + at);
  for (int i = kPiece; i < kElements; ++i) fragment.x[i] = fragment.x[i % kPiece];
}

/// Calls visit(register, row, column) for every pair of neighbours of this lane in an accumulator.
template <int kRows, int kCols, class Visit>
__forceinline__ void for_each_pair(Visit visit) {
  const unsigned lane = simt_lane();
  for (unsigned pair = 0; pair < kRows * kCols / 64; ++pair)
    visit(2 * pair, lane / 4 + pair % (kRows / 8) * 8, lane % 4 * 2 + pair / (kRows / 8) * 8);
}

/// CUDA's rules for a matrix in memory. It has one for the pitch of these types alone.
template <class T>
__forceinline__ void check_matrix(const T* matrix, unsigned pitch) {
  simt_check(reinterpret_cast<std::uintptr_t>(matrix) % 32 == 0,
             "the matrix of a wmma fragment begins at a multiple of 32 bytes");
  if constexpr (sizeof(T) == 2) simt_check(pitch % 8 == 0, "ldm of 16-bit wmma fragments is a multiple of 8");
  if constexpr (std::is_same_v<T, float>)
    simt_check(pitch % 4 == 0, "ldm of float wmma fragments is a multiple of 4");
}

}  // namespace detail

/// A part of a matrix in the registers of a warp: `num_elements` in each lane, in `x`.
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment;

template <int m, int n, int k, class T, class Layout>
class fragment<matrix_a, m, n, k, T, Layout>
    : public detail::Fragment<typename detail::Element<T>::Type, detail::kElements<T, m * k / 32>> {};
template <int m, int n, int k, class T, class Layout>
class fragment<matrix_b, m, n, k, T, Layout>
    : public detail::Fragment<typename detail::Element<T>::Type, detail::kElements<T, k * n / 32>> {};
template <int m, int n, int k, class T>
class fragment<accumulator, m, n, k, T>
    : public detail::Fragment<typename detail::Element<T>::Type, m * n / 32> {};

template <class Use, int m, int n, int k, class T, class Layout>
__forceinline__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& to,
                                   const typename detail::Element<T>::Type& value) {
  for (auto& element : to.x) element = value;
}

// --- Loads and stores ---

template <int m, int n, int k, class T, class Layout>
__forceinline__ void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout>& a,
                                      const typename detail::Element<T>::Type* matrix, unsigned ldm) {
  constexpr bool kColumns = std::is_same_v<Layout, col_major>;
  detail::check_matrix(matrix, ldm);
  simt_warp_together("wmma::load_matrix_sync");
  detail::load_piece<kColumns ? k : m, kColumns ? m : k>(a, matrix, ldm);
}

template <int m, int n, int k, class T, class Layout>
__forceinline__ void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout>& b,
                                      const typename detail::Element<T>::Type* matrix, unsigned ldm) {
  constexpr bool kColumns = std::is_same_v<Layout, col_major>;
  detail::check_matrix(matrix, ldm);
  simt_warp_together("wmma::load_matrix_sync");
  detail::load_piece<kColumns ? n : k, kColumns ? k : n>(b, matrix, ldm);
}

template <int m, int n, int k, class T>
__forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& c, const T* matrix, unsigned ldm,
                                      layout_t layout) {
  detail::check_matrix(matrix, ldm);
  simt_warp_together("wmma::load_matrix_sync");
  detail::for_each_pair<m, n>([&](unsigned i, unsigned row, unsigned col) {
    if (layout == mem_row_major) {
      detail::move<2 * sizeof(T)>(c.x + i, matrix + row * static_cast<std::size_t>(ldm) + col);
    } else {
      c.x[i] = matrix[row + col * static_cast<std::size_t>(ldm)];
      c.x[i + 1] = matrix[row + (col + 1) * static_cast<std::size_t>(ldm)];
    }
  });
}

template <int m, int n, int k, class T>
__forceinline__ void store_matrix_sync(T* matrix, const fragment<accumulator, m, n, k, T>& d, unsigned ldm,
                                       layout_t layout) {
  detail::check_matrix(matrix, ldm);
  simt_warp_together("wmma::store_matrix_sync");
  detail::for_each_pair<m, n>([&](unsigned i, unsigned row, unsigned col) {
    if (layout == mem_row_major) {
      detail::move<2 * sizeof(T)>(matrix + row * static_cast<std::size_t>(ldm) + col, d.x + i);
    } else {
      matrix[row + col * static_cast<std::size_t>(ldm)] = d.x[i];
      matrix[row + (col + 1) * static_cast<std::size_t>(ldm)] = d.x[i + 1];
    }
  });
}

// --- The product ---

/// d = a b + c. `saturates`: sums of integers are clamped.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class SumD, class SumC>
__forceinline__ void mma_sync(fragment<accumulator, m, n, k, SumD>& d,
                              const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                              const fragment<accumulator, m, n, k, SumC>& c, bool saturates = false) {
  const SimtWmma instruction = {m,
                                n,
                                k,
                                detail::Element<T>::number,
                                detail::Element<SumD>::number,
                                detail::Element<SumC>::number,
                                std::is_same_v<LayoutA, col_major> + 2 * std::is_same_v<LayoutB, col_major>,
                                saturates};
  simt_wmma(instruction, d.x, a.x, b.x, c.x);
}

/// The nearest tf32, of which the lower 13 bits are 0; ties go away from zero.
__forceinline__ float __float_to_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;  // infinite or NaN
  return __uint_as_float((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma
