#include "simt/matrix/product.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "simt/matrix/numbers.hpp"
#include "simt/matrix/work.hpp"

namespace simt::matrix {
namespace {

constexpr int kMostFactors = 512;  ///< elements of A or B: 16 x 32, 32 x 16
constexpr int kMostSums = 256;     ///< of C: 16 x 16

/// The matrices of one product, unpacked, row by row.
template <class Value>
struct Unpacked {
  alignas(64) Value a[kMostFactors];
  alignas(64) Value b[kMostFactors];
  alignas(64) Value c[kMostSums];
};

struct Shape {
  int m, n, k;
};

/// Where the elements of one operand are and in which order they go into a matrix.
struct Source {
  const Registers& registers;
  SimtNumber number;
  int rows, cols;   ///< of the matrix
  bool by_columns;  ///< the lines of the registers are the matrix's columns
  bool wmma;
};

template <class Value>
void fetch(const Source& source, Value* matrix) {
  std::byte packed[kMostFactors * 4];  // doubles come in 256 at the most
  const int lines = source.by_columns ? source.cols : source.rows;
  const int length = source.by_columns ? source.rows : source.cols, count = lines * length;
  (source.wmma ? collect_pieces : collect_lines)(source.registers, lines, length, bytes_of(source.number),
                                                 packed);
  if (!source.by_columns) return unpack(source.number, packed, count, matrix);
  Value by_columns[kMostFactors];
  unpack(source.number, packed, count, by_columns);
  for (int line = 0; line < lines; ++line)
    for (int i = 0; i < length; ++i) matrix[i * lines + line] = by_columns[line * length + i];
}

/// c += a b for a tile of 8 x 8. The products are summed first, as tensor cores do.
template <class Value>
void multiply_tile(const Shape& shape, const Value* a, const Value* b, Value* c) {
  typedef Value Row __attribute__((vector_size(kTile * sizeof(Value))));
  Row sums[kTile] = {};
  for (int k = 0; k < shape.k; ++k) {
    Row row;
    __builtin_memcpy(&row, b + k * shape.n, sizeof row);
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i) sums[i] += a[i * shape.k + k] * row;
  }
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < kTile; ++j) c[i * shape.n + j] += sums[i][j];
}

int clamped_sum(int sum, int product) {
  const std::int64_t exact = std::int64_t{sum} + product;
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<std::int64_t>(exact, Limits::min(), Limits::max()));
}

template <class Value>
void multiply_all(const Shape& shape, Unpacked<Value>& matrices, bool saturates) {
  for (int row = 0; row < shape.m; row += kTile)
    for (int col = 0; col < shape.n; col += kTile) {
      const Value* const a = matrices.a + row * shape.k;
      Value* const c = matrices.c + row * shape.n + col;
      if constexpr (std::is_same_v<Value, int>) {
        int products[kTile * kTile] = {};
        for (int k = 0; k < shape.k; ++k)
          for (int i = 0; i < kTile; ++i)
            for (int j = 0; j < kTile; ++j)
              products[i * kTile + j] += a[i * shape.k + k] * matrices.b[k * shape.n + col + j];
        for (int i = 0; i < kTile; ++i)
          for (int j = 0; j < kTile; ++j) {
            int& sum = c[i * shape.n + j];
            const int product = products[i * kTile + j];
            sum = saturates ? clamped_sum(sum, product)
                            : static_cast<int>(static_cast<unsigned>(sum) + static_cast<unsigned>(product));
          }
      } else {
        multiply_tile(shape, a, matrices.b + col, c);
      }
    }
}

struct Sums {
  SimtNumber c, d;
  bool saturates;
};

template <class Value>
void multiply_as(const Shape& shape, const Source& a, const Source& b, const Sums& sums,
                 const Operands& operands) {
  Unpacked<Value> matrices;
  std::byte packed[kMostSums * sizeof(Value)];
  const int count = shape.m * shape.n;
  fetch(a, matrices.a);
  fetch(b, matrices.b);
  collect_sums(operands.c, shape.m, shape.n, bytes_of(sums.c), packed);
  unpack(sums.c, packed, count, matrices.c);
  multiply_all(shape, matrices, sums.saturates);
  const auto* result = reinterpret_cast<const std::byte*>(matrices.c);
  if constexpr (std::is_same_v<Value, float>) {
    pack(sums.d, matrices.c, count, packed);
    result = packed;
  }
  hand_back_sums(result, shape.m, shape.n, bytes_of(sums.d), operands.d);
}

void multiply_any(const Shape& shape, const Source& a, const Source& b, const Sums& sums,
                  const Operands& operands) {
  if (a.number == simt_f64) return multiply_as<double>(shape, a, b, sums, operands);
  if (is_integer(a.number)) return multiply_as<int>(shape, a, b, sums, operands);
  multiply_as<float>(shape, a, b, sums, operands);
}

bool is_byte_integer(SimtNumber number) { return number == simt_s8 || number == simt_u8; }
bool is_float8(SimtNumber number) { return number == simt_e4m3 || number == simt_e5m2; }
bool is_sum_of_floats(SimtNumber number) { return number == simt_f16 || number == simt_f32; }

MatrixKind kind_of(SimtNumber factors) {
  switch (factors) {
    case simt_f64:
      return MatrixKind::f64;
    case simt_tf32:
      return MatrixKind::tf32;
    case simt_s8:
    case simt_u8:
      return MatrixKind::integer8;
    case simt_e4m3:
    case simt_e5m2:
      return MatrixKind::float8;
    default:
      return MatrixKind::float16;
  }
}

}  // namespace

bool is_known(const SimtMma& mma) {
  const auto shape = [&](int m, int n, int k) { return mma.m == m && mma.n == n && mma.k == k; };
  if (mma.saturates != 0 && !is_byte_integer(mma.a)) return false;
  if (mma.a == simt_f16 && mma.b == simt_f16) {
    if (!is_sum_of_floats(mma.c) || !is_sum_of_floats(mma.d)) return false;
    return shape(16, 8, 16) || (shape(16, 8, 8) && mma.c == mma.d);
  }
  if (mma.a == simt_bf16 && mma.b == simt_bf16)
    return mma.c == simt_f32 && mma.d == simt_f32 && (shape(16, 8, 16) || shape(16, 8, 8));
  if (mma.a == simt_tf32 && mma.b == simt_tf32)
    return mma.c == simt_f32 && mma.d == simt_f32 && (shape(16, 8, 8) || shape(16, 8, 4));
  if (mma.a == simt_f64 && mma.b == simt_f64)
    return mma.c == simt_f64 && mma.d == simt_f64 &&
           (shape(8, 8, 4) || shape(16, 8, 4) || shape(16, 8, 8) || shape(16, 8, 16));
  if (is_float8(mma.a) && is_float8(mma.b))
    return is_sum_of_floats(mma.c) && mma.c == mma.d && (shape(16, 8, 32) || shape(16, 8, 16));
  if (is_byte_integer(mma.a) && is_byte_integer(mma.b))
    return mma.c == simt_s32 && mma.d == simt_s32 &&
           (shape(16, 8, 32) || shape(16, 8, 16) || shape(8, 8, 16));
  return false;
}

bool is_known(const SimtWmma& wmma) {
  const auto shape = [&](int m, int n, int k) { return wmma.m == m && wmma.n == n && wmma.k == k; };
  const auto sums = [&](SimtNumber number) { return wmma.c == number && wmma.d == number; };
  const bool of_bytes = shape(16, 16, 16) || shape(32, 8, 16) || shape(8, 32, 16);  // and of 16 bits
  switch (wmma.factors) {
    case simt_f16:
      return of_bytes && is_sum_of_floats(wmma.c) && is_sum_of_floats(wmma.d);
    case simt_bf16:
      return of_bytes && sums(simt_f32);
    case simt_s8:
    case simt_u8:
      return of_bytes && sums(simt_s32);
    case simt_tf32:
      return shape(16, 16, 8) && sums(simt_f32);
    case simt_f64:
      return shape(8, 8, 4) && sums(simt_f64);
    default:
      return false;
  }
}

std::string name_of(const SimtMma& mma) {
  return "mma.m" + std::to_string(mma.m) + "n" + std::to_string(mma.n) + "k" + std::to_string(mma.k);
}

std::string name_of(const SimtWmma& wmma) {
  return "w" + name_of(SimtMma{wmma.m, wmma.n, wmma.k, wmma.d, wmma.factors, wmma.factors, wmma.c, 0});
}

std::uint32_t work_of(const SimtMma& mma) {
  return MatrixWork{kind_of(mma.a), static_cast<unsigned>(mma.m * mma.n * mma.k)}.packed();
}

std::uint32_t work_of(const SimtWmma& wmma) {
  return MatrixWork{kind_of(wmma.factors), static_cast<unsigned>(wmma.m * wmma.n * wmma.k)}.packed();
}

void multiply(const SimtMma& mma, const Operands& operands) {
  multiply_any({mma.m, mma.n, mma.k}, {operands.a, mma.a, mma.m, mma.k, false, false},
               {operands.b, mma.b, mma.k, mma.n, true, false}, {mma.c, mma.d, mma.saturates != 0}, operands);
}

void multiply(const SimtWmma& wmma, const Operands& operands) {
  multiply_any({wmma.m, wmma.n, wmma.k},
               {operands.a, wmma.factors, wmma.m, wmma.k, (wmma.columns & 1u) != 0, true},
               {operands.b, wmma.factors, wmma.k, wmma.n, (wmma.columns & 2u) != 0, true},
               {wmma.c, wmma.d, wmma.saturates != 0}, operands);
}

}  // namespace simt::matrix
