// Tests of lesson 21: which lane holds what, and products of 16-bit matrices against float64, within twice
// the error of a float32 sum in the order of k.

#include "21_tensor_cores/tensor_cores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
#include "reference/matmul.hpp"
#include "tensor/float16.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::products;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Calls check(T()) for both types of 16 bits.
template <class Check>
void for_both_types(Check check) {
  check(bfloat16{});
  check(float16{});
}

// --- Problems ---

constexpr Layout by_rows = row_major, by_columns = column_major;

/// The same problem, its numbers rounded to T.
template <class T>
Problem in_type(Problem p) {
  p.A = p.A.template to<T>().template to<float>();
  p.B = p.B.template to<T>().template to<float>();
  return p;
}

Problem sixteen_bit_problem(std::int64_t M, std::int64_t N, std::int64_t K, Layout a = by_rows,
                            Layout b = by_rows, Layout c = row_major) {
  return random_problem(M, N, K, a, b, c);
}

/// A(i, k) = rows_step * i + k and so on: the numbers name their place. All of them, up to 256, are exact in
/// both types.
Tensor<float> places(std::int64_t rows, std::int64_t cols, Strides strides) {
  Tensor<float> x({rows, cols}, std::move(strides), 1000.0f);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) x(row, col) = static_cast<float>(row * cols + col);
  return x;
}

Problem problem_of_places(Layout a = by_rows, Layout b = by_rows) {
  return {places(16, 16, a(16, 16)), places(16, 8, b(16, 8)), {8, 1}};
}

// --- Fragments ---

/// What a lane has of a matrix, as the contract counts: number `i` of lane `lane` is the element at
/// place(lane, i).
using Place = std::pair<std::int64_t, std::int64_t>;
template <class Where>
Tensor<double> held_of(const Tensor<float>& matrix, std::int64_t numbers, Where where) {
  Tensor<double> held({32, numbers});
  for (std::int64_t lane = 0; lane < 32; ++lane)
    for (std::int64_t i = 0; i < numbers; ++i) {
      const auto [row, col] = where(lane, i / 2, i % 2);
      held(lane, i) = static_cast<double>(matrix(row, col));
    }
  return held;
}
Place place_in_a(std::int64_t lane, std::int64_t r, std::int64_t half) {
  return {lane / 4 + 8 * (r % 2), 2 * (lane % 4) + 8 * (r / 2) + half};
}
Place place_in_b(std::int64_t lane, std::int64_t r, std::int64_t half) {
  return {2 * (lane % 4) + 8 * r + half, lane / 4};
}

Mistakes mistakes_of_a(const Tensor<float>& A) {
  const auto if_held = [&A](const char* name, auto where, const char* sentence) {
    return gives(
        name, [=, &A] { return held_of(A, 8, where); }, sentence);
  };
  return {
      if_held(
          "a_registers_exchanged",
          [](auto lane, auto r, auto half) { return place_in_a(lane, r % 2 * 2 + r / 2, half); },
          "Registers 1 and 2 of A are exchanged: the second register is 8 rows further, the third 8 "
          "columns."),
      if_held(
          "a_transposed",
          [](auto lane, auto r, auto half) {
            const auto [row, col] = place_in_a(lane, r, half);
            return Place{col, row};
          },
          "Rows and columns of A are exchanged: lane / 4 counts rows, lane % 4 counts pairs of columns."),
      if_held(
          "a_pairs_apart",
          [](auto lane, auto r, auto half) {
            return Place{lane / 4 + 8 * (r % 2), lane % 4 + 8 * (r / 2) + 4 * half};
          },
          "The two numbers of a register of A lie side by side in a row: columns 2 * (lane % 4) and the "
          "next."),
      if_held(
          "a_pairs_overlap",
          [](auto lane, auto r, auto half) {
            return Place{lane / 4 + 8 * (r % 2), lane % 4 + 8 * (r / 2) + half};
          },
          "Neighbouring lanes share a number of A: their pairs begin one column apart. They begin two apart, "
          "at column 2 * (lane % 4)."),
      if_held(
          "a_halves_exchanged", [](auto lane, auto r, auto half) { return place_in_a(lane, r, 1 - half); },
          "The two numbers of each register of A are exchanged: the first is in the lower half."),
      if_held(
          "a_in_fours",
          [](auto lane, auto r, auto half) {
            return Place{lane / 4 + 8 * (r % 2), 4 * (lane % 4) + 2 * (r / 2) + half};
          },
          "Each lane holds four neighbours of a row of A. It holds a pair, and another one 8 columns "
          "further."),
  };
}

Mistakes mistakes_of_b(const Tensor<float>& B) {
  const auto if_held = [&B](const char* name, auto where, const char* sentence) {
    return gives(
        name, [=, &B] { return held_of(B, 4, where); }, sentence);
  };
  return {
      if_held(
          "b_along_rows",
          [](auto lane, auto r, auto half) {
            return Place{lane / 4 + 8 * r, 2 * (lane % 4) + half};
          },
          "The fragment of B has its pairs along rows, as that of A. B's pairs lie along k, too, which for B "
          "is down a column."),
      if_held(
          "b_pairs_apart",
          [](auto lane, auto r, auto half) {
            return Place{lane % 4 + 8 * r + 4 * half, lane / 4};
          },
          "The two numbers of a register of B lie below each other: rows 2 * (lane % 4) and the next."),
      if_held(
          "b_pairs_overlap",
          [](auto lane, auto r, auto half) {
            return Place{lane % 4 + 8 * r + half, lane / 4};
          },
          "Neighbouring lanes share a number of B: their pairs begin one row apart. They begin two apart, at "
          "row 2 * (lane % 4)."),
      if_held(
          "b_halves_exchanged", [](auto lane, auto r, auto half) { return place_in_b(lane, r, 1 - half); },
          "The two numbers of each register of B are exchanged: the first is in the lower half."),
      if_held(
          "b_in_fours",
          [](auto lane, auto r, auto half) {
            return Place{4 * (lane % 4) + 2 * r + half, lane / 4};
          },
          "Each lane holds four neighbours of a column of B. It holds a pair, and another one 8 rows "
          "further."),
  };
}

/// What C holds if its element (i, j) went to another place.
Mistakes mistakes_of_c(const Tensor<double>& expected) {
  const auto moved = [&expected](const char* name, auto from, const char* sentence) {
    return gives(
        name,
        [=, &expected] {
          Tensor<double> C({16, 8});
          for (std::int64_t i = 0; i < 16; ++i)
            for (std::int64_t j = 0; j < 8; ++j) {
              const auto [row, col] = from(i, j);
              C(i, j) = expected(row, col);
            }
          return C;
        },
        sentence);
  };
  return {
      moved(
          "c_rows_side_by_side",
          [](auto i, auto j) {
            return Place{i / 2 + i % 2 * 8, j};
          },
          "The lane's two rows of C lie side by side. They lie 8 rows apart: lane / 4 and lane / 4 + 8."),
      moved(
          "c_columns_apart",
          [](auto i, auto j) {
            return Place{i, 2 * (j % 4) + j / 4};
          },
          "The lane's two columns of C lie 4 apart. They lie side by side: 2 * (lane % 4) and the next."),
      moved(
          "c_numbers_exchanged",
          [](auto i, auto j) {
            return Place{i % 8 + 8 * (j % 2), j - j % 2 + i / 8};
          },
          "Numbers 1 and 2 of the lane's four are exchanged: the second is the next column, the third 8 rows "
          "further."),
      off_by_a_factor("factor", "Every element of C is {} times what it should be."),
  };
}

template <class T>
auto fragments_entry() {
  if constexpr (std::is_same_v<T, bfloat16>)
    return ENTRY(multiply_fragments_bfloat16);
  else
    return ENTRY(multiply_fragments_float16);
}

template <class T>
void check_fragments(const Problem& p, const Strides& of_a_held = {8, 1}, const Strides& of_b_held = {4, 1}) {
  INFO(name_of(format_of<T>) << "; strides of A " << format_shape(p.A.strides()) << ", of B "
                             << format_shape(p.B.strides()) << ", of C " << format_shape(p.c_strides));
  Tensor<float> C({16, 8}, p.c_strides, -1000.0f);
  Tensor<T> A_held({32, 8}, of_a_held, T(0.0)), B_held({32, 4}, of_b_held, T(0.0));
  const Outcome outcome = call(fragments_entry<T>(), in(p.A.to<T>(), "A"), in(p.B.to<T>(), "B"), out(C, "C"),
                               out(A_held, "A_held"), out(B_held, "B_held"));
  require_ran(outcome);
  const Tensor<double> of_a = held_of(p.A, 8, place_in_a), of_b = held_of(p.B, 4, place_in_b);
  require_matches(A_held, {"A_held", {"lane", "number"}}, of_a, of_a.to<float>(), mistakes_of_a(p.A));
  require_matches(B_held, {"B_held", {"lane", "number"}}, of_b, of_b.to<float>(), mistakes_of_b(p.B));
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  require_matches(C.contiguous(), "C", expected, in_order_of_k(p, expected), mistakes_of_c(expected));
  const std::int64_t launches = outcome.counters.at("launches"), threads = outcome.counters.at("threads");
  require(launches == 1 && threads == 32, "The product takes one launch of 32 threads, but there were " +
                                              std::to_string(launches) + " launches of " +
                                              std::to_string(threads) + " threads in all.");
  require_on_tensor_cores(outcome, static_cast<std::uint64_t>(p.M() * p.N() * p.K()));
}

// --- The product ---

/// Well-known mistakes of the product. The problem must outlive them.
Mistakes mistakes_of_product(const Problem& p) {
  const std::int64_t K = p.K(), depth = (K + kBlockDepth - 1) / kBlockDepth * kBlockDepth;
  const std::int64_t slabs = depth / kBlockDepth;
  const auto a = [&p](std::int64_t i, std::int64_t k) { return filled(p.A, i, k); };
  const auto b = [&p](std::int64_t k, std::int64_t j) { return filled(p.B, k, j); };
  Mistakes mistakes;
  const auto add = [&](const char* name, std::int64_t begin, std::int64_t end, auto read_a, auto read_b,
                       const char* sentence) {
    mistakes.push_back(gives(
        name, [=, &p] { return product_of(p, begin, end, read_a, read_b); }, sentence));
  };
  /// Only the steps of k for which `takes` is true.
  const auto only = [&](const char* name, auto takes, const char* sentence) {
    std::int64_t taken = 0;
    for (std::int64_t k = 0; k < K; ++k) taken += takes(k) ? 1 : 0;
    if (taken == K || taken == 0) return;  // nothing is missing; or everything is, which has many causes
    add(
        name, 0, K, [=](auto i, auto k) { return takes(k) ? a(i, k) : 0.0; },
        [=](auto k, auto j) { return takes(k) ? b(k, j) : 0.0; }, sentence);
  };
  only(
      "first_slab_only", [](auto k) { return k < kBlockDepth; },
      "Only the first kBlockDepth steps of k are in C: the loop has to go on.");
  only(
      "last_slab_missing", [=](auto k) { return k < (slabs - 1) * kBlockDepth; },
      "The last slab of k is missing: the loop goes on while there is any slab left, also one that is not "
      "full.");
  only(
      "first_step_only", [](auto k) { return k % kBlockDepth < 16; },
      "Of each kBlockDepth steps of k, only the first 16 are in C: a stage has kBlockDepth / 16 products "
      "along k.");
  only(
      "step_ahead", [](auto k) { return k >= 16; },
      "The first 16 steps of k are missing: each round multiplies the fragments that it has just read, not "
      "those of the round before.");
  only(
      "last_step_missing", [](auto k) { return k % kBlockDepth < kBlockDepth - 16; },
      "Of each kBlockDepth steps of k, the last 16 are missing.");
  only(
      "second_half_of_k_missing", [](auto k) { return k % 16 < 8; },
      "Of each 16 steps of k, only the first 8 are in C: a fragment holds two halves, 8 steps of k apart.");
  only(
      "every_second_slab", [](auto k) { return k / kBlockDepth % 2 == 0; },
      "Every second slab of k is missing.");

  add(
      "first_step_repeated", 0, depth,
      [=](auto i, auto k) { return a(i, k / kBlockDepth * kBlockDepth + k % 16); },
      [=](auto k, auto j) { return b(k / kBlockDepth * kBlockDepth + k % 16, j); },
      "The first 16 steps of each slab are multiplied again and again: each product along k reads 16 steps "
      "further.");
  /// Each 8 x 8 square of A, and of B, transposed where that is so.
  const bool a_along_k = p.A.strides()[1] == 1, b_along_k = p.B.strides()[0] == 1;
  const auto with_squares = [&](const char* name, bool of_a, bool of_b, const char* sentence) {
    const auto square = [](std::int64_t x, std::int64_t y, bool exchanged) {
      return exchanged ? x / 8 * 8 + y % 8 : x;
    };
    if (of_a || of_b)
      add(
          name, 0, depth, [=](auto i, auto k) { return a(square(i, k, of_a), square(k, i, of_a)); },
          [=](auto k, auto j) { return b(square(k, j, of_b), square(j, k, of_b)); }, sentence);
  };
  with_squares("trans_missing", !a_along_k, !b_along_k,
               "Each 8 x 8 square of an operand whose lines do not lie along k is transposed: there, "
               "ldmatrix needs .trans.");
  with_squares("trans_needless", a_along_k, b_along_k,
               "Each 8 x 8 square of an operand whose lines lie along k is transposed: there, ldmatrix takes "
               "no .trans.");

  /// The element whose chunk stands where one would look without the swizzle: (its line, its place in it).
  const auto unswizzled = [](std::int64_t line, std::int64_t at) { return at ^ line % 8 * 8; };
  const auto a_astray = [=](std::int64_t i, std::int64_t k) {
    return a_along_k ? a(i, unswizzled(i, k)) : a(unswizzled(k, i), k);
  };
  const auto b_astray = [=](std::int64_t k, std::int64_t j) {
    return b_along_k ? b(unswizzled(j, k), j) : b(k, unswizzled(k, j));
  };
  add("swizzled_on_one_side", 0, depth, a_astray, b_astray,
      "The chunks of 16 bytes are exchanged on one side alone: copies and ldmatrix have to agree on where a "
      "chunk lies.");
  add(
      "b_transposed", 0, depth, a, [=](auto k, auto j) { return b(j, k); },
      "B is read as if it were transposed: B[j][k] was taken where B[k][j] is needed.");
  /// Number x of a square of 16 x 16 whose quarters beside the diagonal are exchanged; y is the other axis.
  const auto exchanged = [](std::int64_t x, std::int64_t y) { return x / 16 * 16 + x % 8 + y % 16 / 8 * 8; };
  const auto a_exchanged = [=](auto i, auto k) { return a(exchanged(i, k), exchanged(k, i)); };
  const auto b_exchanged = [=](auto k, auto j) { return b(exchanged(k, j), exchanged(j, k)); };
  add("registers_of_both_exchanged", 0, depth, a_exchanged, b_exchanged,
      "The second and third register are exchanged, of A and of B: A's four matrices come in the order of "
      "B's, and B's in that of A's.");
  add("registers_of_a_exchanged", 0, depth, a_exchanged, b,
      "The second and third register of A are exchanged: the second is 8 rows further, the third 8 steps of "
      "k.");
  add("registers_of_b_exchanged", 0, depth, a, b_exchanged,
      "The second and third register of B are exchanged: the second is 8 steps of k further, the third 8 "
      "columns.");
  /// Where one looks if a step along a line is half as long as it should be. `at` counts along the line.
  const auto half_as_far = [](std::int64_t at) {
    return at / 64 * 64 + (at % 16 / 8 ^ at % 64 / 16) * 8 + at % 8;
  };
  add(
      "steps_half_as_long", 0, depth,
      [=](auto i, auto k) { return a_along_k ? a(i, half_as_far(k)) : a(half_as_far(i), k); },
      [=](auto k, auto j) { return b_along_k ? b(half_as_far(k), j) : b(k, half_as_far(j)); },
      "Along a line, reads go on by half as much as they should: a number has 2 bytes, so that 16 numbers "
      "further is the address ^ 32.");
  /// Numbers 0 and 2 of a fragment stored where 0 and 1 belong, 1 and 3 where 2 and 3 do.
  const bool by_columns_of_c = p.c_strides[0] == 1;
  const auto sums = [=](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += a(i, k) * b(k, j);
    return sum;
  };
  mistakes.push_back(gives(
      "numbers_of_c_exchanged",
      [=, M = p.M(), N = p.N()] {
        Tensor<double> C({M, N});
        for (std::int64_t i = 0; i < M; ++i)
          for (std::int64_t j = 0; j < N; ++j) {
            std::int64_t row = by_columns_of_c ? j : i, col = by_columns_of_c ? i : j;
            const std::int64_t half = row % 16 / 8, odd = col % 2;
            row += 8 * (odd - half), col += half - odd;
            C(i, j) = by_columns_of_c ? sums(col, row) : sums(row, col);
          }
        return C;
      },
      "Numbers 1 and 2 of each fragment of C are exchanged: the first two lie in one row, the last two 8 "
      "rows further."));
  mistakes.push_back(wrong_where(
      "lower_rows_wrong", [](const Index& index) { return index[0] % 16 >= 8; },
      "Of each 16 rows of C, the last 8 are wrong: numbers 2 and 3 of a fragment lie 8 rows below 0 and 1."));
  mistakes.push_back(wrong_where(
      "odd_columns_wrong", [](const Index& index) { return index[1] % 2 == 1; },
      "Every second column of C is wrong: a lane has two neighbours in each row."));
  mistakes.push_back(wrong_where(
      "second_fragment_of_b_wrong", [](const Index& index) { return index[1] % 16 >= 8; },
      "Of each 16 columns of C, the last 8 are wrong: one ldmatrix.x4 gives two fragments of B."));
  mistakes.push_back(off_by_a_factor("factor", "Every element is {} times what it should be."));
  return mistakes;
}

/// In float32 a sum of many products uses bits that no number of 16 bits has.
template <class T>
Mistake sums_in_16_bits() {
  return shows(
      "sums_in_16_bits",
      [](const Tensor<float>& got) {
        bool any = false;  // of a C that is 0 throughout nothing can be said
        for (std::int64_t i = 0; i < got.numel(); ++i) {
          if (std::isnan(got.at_linear(i))) continue;
          if (static_cast<float>(T(got.at_linear(i))) != got.at_linear(i)) return false;
          any = any || got.at_linear(i) != 0.0f;
        }
        return any;
      },
      "Every element of C is a number of 16 bits: sums have to stay in float32 until the last product has "
      "been added.");
}

template <class T, class Result>
auto matmul_entry() {
  if constexpr (std::is_same_v<T, bfloat16>) {
    if constexpr (std::is_same_v<Result, float>)
      return ENTRY(matmul_bfloat16_to_float32);
    else
      return ENTRY(matmul_bfloat16);
  } else {
    if constexpr (std::is_same_v<Result, float>)
      return ENTRY(matmul_float16_to_float32);
    else
      return ENTRY(matmul_float16);
  }
}

template <class T, class Result>
Outcome multiply(const Problem& p, Tensor<Result>& C, const CallOptions& options = {}) {
  return call_with(options, matmul_entry<T, Result>(), in(p.A.to<T>(), "A"), in(p.B.to<T>(), "B"),
                   out(C, "C"));
}

/// Of a C by columns, the transposed product is computed.
TileShape tile_of(const Problem& p) {
  return p.c_strides[0] == 1 ? TileShape{kBlockCols, kBlockRows} : TileShape{kBlockRows, kBlockCols};
}

std::int64_t blocks_of(const Problem& p, TileShape tile) {
  return (p.M() + tile.rows - 1) / tile.rows * ((p.N() + tile.cols - 1) / tile.cols);
}

template <class T, class Result>
Tensor<Result> check_product(const Problem& any, const CallOptions& options = {},
                             Outcome* outcome = nullptr) {
  const Problem p = in_type<T>(any);
  INFO(name_of(format_of<T>) << (std::is_same_v<Result, float> ? " to float32; " : "; ") << describe(p));
  Tensor<Result> C({p.M(), p.N()}, p.c_strides, Result(-1000.0f));
  const Outcome ran = multiply<T>(p, C, options);
  require_ran(ran);
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  Mistakes mistakes = mistakes_of_product(p);
  if (std::is_same_v<Result, float> && p.K() > 16 && p.M() * p.N() > 8)
    mistakes.push_back(sums_in_16_bits<T>());
  Bound bound;
  bound.rounding = cost_of_cutting_off(p);
  require_matches(C.contiguous(), "C", expected, in_order_of_k(p, expected), mistakes, bound);
  const std::int64_t launches = ran.counters.at("launches"), blocks = ran.counters.at("blocks");
  require(launches == (p.M() * p.N() > 0),
          "Your code launched " + std::to_string(launches) + " kernels for " + std::to_string(p.M() * p.N()) +
              " elements of C; it should launch " + (p.M() * p.N() > 0 ? "one." : "none."));
  TileShape tile = tile_of(p);
  // A C whose strides are both 1 is row-major as well.
  if (p.c_strides == Strides{1, 1} && blocks != blocks_of(p, tile)) tile = {kBlockRows, kBlockCols};
  require(blocks == blocks_of(p, tile), "The launch had " + std::to_string(blocks) + " blocks; C has " +
                                            std::to_string(blocks_of(p, tile)) + " tiles.");
  require_on_tensor_cores(ran, static_cast<std::uint64_t>(p.M() * p.N() * p.K()));
  require_tiles_shared(ran, p, tile, 2);
  if (outcome != nullptr) *outcome = ran;
  return C;
}

/// Both types, into float32.
void check_both(const Problem& p) {
  for_both_types([&](auto type) { check_product<decltype(type), float>(p); });
}

/// And into their own type.
void check_all(const Problem& p) {
  check_both(p);
  for_both_types([&](auto type) { check_product<decltype(type), decltype(type)>(p); });
}

constexpr Layout kLayouts[] = {by_rows, by_columns};

// --- Counters ---

void require_counters(const Problem& p, const Profile& profile, const Outcome& outcome) {
  const TileShape tile = tile_of(p);
  const std::int64_t tiles = blocks_of(p, tile);
  require_loads_at_most(profile, bytes_of_tiles(p, tile, 2),
                        "With tiles of " + std::to_string(tile.rows) + " x " + std::to_string(tile.cols) +
                            ", each element of A is read once for every tile across C, and "
                            "each of B once for every tile down");
  const simt::GlobalTraffic& global = profile.global_load;
  require(10 * global.sectors <= 11 * global.ideal_sectors,
          "When a warp sends for A or B, it touches " + std::to_string(global.sectors) +
              " sectors in all, where " + std::to_string(global.ideal_sectors) +
              " would do: let neighbouring threads send for neighbouring chunks of a line.");
  const std::int64_t slabs = (p.K() - 1) / kBlockDepth + 1;
  const Problem whole =
      sixteen_bit_problem((p.M() + tile.rows - 1) / tile.rows * tile.rows,
                          (p.N() + tile.cols - 1) / tile.cols * tile.cols, slabs * kBlockDepth);
  const auto bytes = [&](const Problem& of) { return bytes_of_tiles(of, tile, 2); };
  // C may take that way, and zeros where A and B have ended.
  require(profile.shared_store.bytes_asked <=
              static_cast<std::uint64_t>(4 * whole.M() * whole.N()) + bytes(whole) - bytes(p),
          "Threads store " + std::to_string(profile.shared_store.bytes_asked) +
              " bytes to shared memory. Send for A and B with copy_async(): nothing has to pass through "
              "registers.");
  const simt::SharedTraffic& load = profile.shared_load;
  require(load.conflicts() == 0,
          "ldmatrix takes " + std::to_string(load.wavefronts) + " passes through the banks in all, where " +
              std::to_string(load.ideal_wavefronts) +
              " would do: 8 lines of 16 bytes must lie in 32 different banks, for A and "
              "for B.");
  const auto products =
      static_cast<std::uint64_t>(tiles * kBlockRows / 16 * (kBlockCols / 8) * slabs * (kBlockDepth / 16));
  require(profile.matrix_float16 == 2048 * products,
          "Tensor cores do " + std::to_string(profile.matrix_float16) + " multiply-adds; whole tiles take " +
              std::to_string(2048 * products) + ".");
  const auto warps = static_cast<std::uint64_t>(outcome.counters.at("threads") / 32);
  require(meetings(profile) <= static_cast<std::uint64_t>(slabs + 2) * warps,
          meetings_told(profile, warps) + ", but K = " + std::to_string(p.K()) + " needs at most " +
              std::to_string(slabs + 2) + ": one a slab will do.");
  require_tensor_cores(profile);
  require_busy_warps(profile);
  require_busy_blocks(profile, 1.0 / static_cast<double>(tiles));
}

/// @brief Of so many rows and columns, or of so many columns and rows where C is column-major, so that tiles
/// have as much of them.
Problem problem_in_sectors(std::int64_t rows, std::int64_t cols, std::int64_t K,
                           std::array<Layout, 3> layouts, Random& random) {
  const auto [a, b, c] = layouts;
  const bool by_columns_of_c = c == column_major;
  const std::int64_t M = by_columns_of_c ? cols : rows, N = by_columns_of_c ? rows : cols;
  const Problem dense = sixteen_bit_problem(M, N, K);
  const std::int64_t gap = random.integer(0, 5);
  constexpr std::int64_t kSector = 16;  // numbers
  return {in_sectors(dense.A, a, random, kSector), in_sectors(dense.B, b, random, kSector),
          c(M + gap, N + gap)};
}

}  // namespace

TEST_CASE("fragments: each lane holds the elements of the notes", "[l21][multiply_fragments][points:3]") {
  for_both_types([](auto type) { check_fragments<decltype(type)>(problem_of_places()); });
}

TEST_CASE("fragments: multiplies any numbers, by rows and by columns",
          "[l21][multiply_fragments][points:2]") {
  for_both_types([](auto type) {
    using T = decltype(type);
    for (const Layout a : {row_major, column_major})
      for (const Layout b : {row_major, column_major})
        check_fragments<T>(in_type<T>(random_problem(16, 8, 16, a, b, b)));
    Random random(case_seed());
    const auto strides = [&](std::int64_t rows, std::int64_t cols) {
      return drawn::strides(rows, cols, random);
    };
    for (int i = 0; i < 2; ++i) {
      INFO("All strides are drawn");
      const Problem dense = random_problem(16, 8, 16);
      const Problem any{laid_out(dense.A, strides(16, 16), kNan), laid_out(dense.B, strides(16, 8), kNan),
                        strides(16, 8)};
      check_fragments<T>(in_type<T>(any), strides(32, 8), strides(32, 4));
    }
  });
}

TEST_CASE("fragments: refuses other shapes than 16 x 8 x 16", "[l21][multiply_fragments][points:1]") {
  for_both_types([](auto type) {
    using T = decltype(type);
    check_fragments<T>(problem_of_places());
    const auto refused = [](Shape a, Shape b, Shape c, Shape a_held, Shape b_held, const char* argument) {
      INFO(name_of(format_of<T>) << "; A: shape " << format_shape(a) << "; B: shape " << format_shape(b)
                                 << "; C: shape " << format_shape(c) << "; A_held: shape "
                                 << format_shape(a_held) << "; B_held: shape " << format_shape(b_held));
      const Tensor<T> A(a, T(1.0)), B(b, T(1.0));
      Tensor<float> C(c);
      Tensor<T> A_held(a_held), B_held(b_held);
      require_throws<std::invalid_argument>(call(fragments_entry<T>(), in(A, "A"), in(B, "B"), out(C, "C"),
                                                 out(A_held, "A_held"), out(B_held, "B_held")),
                                            argument);
    };
    refused({16, 8}, {16, 8}, {16, 8}, {32, 8}, {32, 4}, "A");
    refused({16, 16}, {8, 16}, {16, 8}, {32, 8}, {32, 4}, "B");
    refused({16, 16}, {16, 8}, {8, 16}, {32, 8}, {32, 4}, "C");
    refused({16, 16}, {16, 8}, {16, 8}, {32, 4}, {32, 4}, "A_held");
    refused({16, 16}, {16, 8}, {16, 8}, {32, 8}, {32, 8}, "B_held");
    // Each array longer or shorter along one axis, by what no kernel knows beforehand.
    Random random(case_seed());
    const char* const names[] = {"A", "B", "C", "A_held", "B_held"};
    for (std::size_t array = 0; array < std::size(names); ++array)
      for (const std::size_t axis : {0, 1})
        for (const int sign : {-1, 1}) {
          std::array<Shape, 5> shapes{Shape{16, 16}, {16, 8}, {16, 8}, {32, 8}, {32, 4}};
          shapes[array][axis] += sign * random.integer(1, 3);
          refused(shapes[0], shapes[1], shapes[2], shapes[3], shapes[4], names[array]);
        }
  });
}

TEST_CASE("multiplies 16 x 8 x 16 numbers that name their place", "[l21][matmul][points:2]") {
  for (const Layout a : kLayouts)
    for (const Layout b : kLayouts) check_both(problem_of_places(a, b));
}

TEST_CASE("multiplies with K of one step, a slab, several, and their neighbours", "[l21][matmul][points:3]") {
  for (const std::int64_t K : {64, 16, 8, 24, 72, 192, 296})  // lines along k: whole chunks
    check_product<float16, float>(sixteen_bit_problem(33, 41, K, by_rows, by_columns));
  for (const std::int64_t K : {1, 63, 65, 129, 191})
    check_product<bfloat16, float>(sixteen_bit_problem(40, 48, K, by_columns, by_rows));
}

TEST_CASE("multiplies matrices of sizes that tiles do not divide", "[l21][matmul][points:3]") {
  for (const auto& [M, N, K] : {std::array<std::int64_t, 3>{128, 256, 64},
                                {67, 248, 40},
                                {129, 264, 24},
                                {1, 296, 72},
                                {150, 8, 72},
                                {8, 776, 8},
                                {1100, 304, 8}})
    check_product<bfloat16, float>(sixteen_bit_problem(M, N, K));
  check_product<float16, float>(sixteen_bit_problem(136, 257, 8, by_columns, by_columns));
  // Its C is row-major and column-major: it may have one block, or two.
  check_product<float16, float>(sixteen_bit_problem(200, 1, 8, by_rows, by_columns));
  Random random(case_seed());  // for sizes of several tiles that no kernel knows beforehand
  check_all(
      sixteen_bit_problem(random.integer(130, 200), 8 * random.integer(33, 40), 8 * random.integer(1, 6)));
}

TEST_CASE("multiplies matrices by rows and by columns, into rows and into columns",
          "[l21][matmul][points:4]") {
  for (const Layout a : kLayouts)
    for (const Layout b : kLayouts) {
      check_product<bfloat16, float>(sixteen_bit_problem(72, 80, 88, a, b, row_major));
      check_product<float16, float>(sixteen_bit_problem(24, 136, 40, a, b, column_major));
      check_product<bfloat16, float>(sixteen_bit_problem(48, 48, 48, a, b, row_major));
    }
}

TEST_CASE("rounds C to 16 bits, once", "[l21][matmul][points:2]") {
  for (const Layout c : {row_major, column_major}) {
    check_product<bfloat16, bfloat16>(sixteen_bit_problem(70, 88, 104, by_rows, by_rows, c));
    check_product<float16, float16>(sixteen_bit_problem(72, 91, 104, by_columns, by_columns, c));
  }
}

TEST_CASE("multiplies parts of larger matrices, and leaves what lies between the elements of C",
          "[l21][matmul][points:2]") {
  const Problem p = random_problem(64, 48, 40);
  const auto sliced = [](const Tensor<float>& x, Strides strides) {
    return laid_out(x, std::move(strides), kNan);
  };
  check_product<bfloat16, float>({sliced(p.A, {64, 1}), sliced(p.B, {104, 1}), {50, 1}});
  check_product<float16, float>({sliced(p.A, {1, 72}), sliced(p.B, {1, 80}), {100, 2}});
  check_product<bfloat16, bfloat16>({sliced(p.A, {48, 1}), sliced(p.B, {56, 1}), {49, 1}});
  check_product<float16, float16>({sliced(p.A, {40, 1}), sliced(p.B, {48, 1}), {3, 201}});
  check_product<bfloat16, bfloat16>({sliced(p.A, {40, 1}), sliced(p.B, {48, 1}), {1, 69}});
  check_product<bfloat16, bfloat16>({p.A, p.B, {52, 1}}, with_shifted_array(3, 2, 2));
  check_product<float16, float>({p.A, p.B, {52, 1}}, with_shifted_array(3, 2, 4));
  // Whole tiles, which may have a fast path.
  check_product<bfloat16, bfloat16>(sixteen_bit_problem(kBlockRows, kBlockCols, 16),
                                    with_shifted_array(3, 2, 2));
  check_product<float16, float>(
      sixteen_bit_problem(kBlockCols, kBlockRows, 16, by_rows, by_rows, column_major),
      with_shifted_array(3, 2, 4));
  for_both_types([](auto type) {
    check_product<decltype(type), decltype(type)>(
        sixteen_bit_problem(kBlockRows, kBlockCols, 2 * kBlockDepth, by_rows, by_columns));
  });
  check_product<bfloat16, bfloat16>(
      sixteen_bit_problem(2 * kBlockRows, 2 * kBlockCols, kBlockDepth, by_rows, by_columns));
  check_product<bfloat16, float>(sixteen_bit_problem(2 * kBlockRows, 2 * kBlockCols, 3 * kBlockDepth));
  check_product<float16, float>(sixteen_bit_problem(3 * kBlockCols, 2 * kBlockRows, 2 * kBlockDepth,
                                                    by_columns, by_rows, column_major));
  for (const Problem& drawn : drawn_problems(8)) check_all(drawn);
}

TEST_CASE("makes C zero for K = 0, and launches nothing for an empty C", "[l21][matmul][points:1]") {
  check_all(sixteen_bit_problem(35, 136, 8));
  Problem p = sixteen_bit_problem(35, 136, 0);
  check_all(p);
  p.c_strides = {2, 2 * 35 + 3};
  check_all(p);
  check_all(sixteen_bit_problem(0, 8, 8));
  check_all(sixteen_bit_problem(5, 0, 8));
}

TEST_CASE("keeps NaN and infinities in their own row and column", "[l21][matmul][points:1]") {
  Problem p = sixteen_bit_problem(70, 80, 56);
  p.A(3, 49) = kNan;
  p.A(69, 0) = kInf;
  p.A(11, 4) = kInf, p.A(11, 40) = -kInf;  // inf - inf is NaN, or not, by the signs of B
  p.B(30, 74) = -kInf;
  p.B(0, 64) = kNan;
  check_all(p);
}

TEST_CASE("adds long sums in float32, which 16 bits could not hold", "[l21][matmul][points:2]") {
  for_both_types([](auto type) {
    using T = decltype(type);
    CallOptions options;
    options.check = CheckMode::never;  // which other cases have, and it would take long
    check_product<T, float>(sixteen_bit_problem(16, 24, 1000), options);
    // All products are positive, and the sums pass 65504, the largest number of float16.
    const Problem p{uniform({17, 504}, 8.0f, 16.0f, case_seed()),
                    uniform({504, 16}, 8.0f, 16.0f, case_seed() + 1),
                    {16, 1}};
    check_product<T, float>(p, options);
    check_product<T, T>(p, options);
  });
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l21][matmul][points:1]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Problem& p :
       {sixteen_bit_problem(140, 32, 72),
        sixteen_bit_problem(random.integer(20, 280), 8 * random.integer(2, 36), 8 * random.integer(6, 16))}) {
    const Tensor<float> first = check_product<bfloat16, float>(p);
    for (const Order order : {Order::reverse, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = order_seed();
      require_same_bits(check_product<bfloat16, float>(p, options), first, "C");
    }
  }
}

TEST_CASE("reads A and B once a tile, without bank conflicts, and waits once a slab",
          "[l21][matmul][points:4]") {
  const auto count_as = [](const Problem& p, auto type, auto result) {
    Outcome outcome;
    check_product<decltype(type), decltype(result)>(p, {.check = CheckMode::always}, &outcome);
    INFO(describe(p));
    if (const Profile* profile = profile_of(outcome)) require_counters(p, *profile, outcome);
  };
  Random random(case_seed());  // for sizes, strides and types that no kernel knows beforehand
  std::int64_t any = random.integer(0, 3);
  const auto count = [&](std::int64_t rows, std::int64_t cols, std::int64_t K,
                         const std::array<Layout, 3>& layouts) {
    const Problem p = problem_in_sectors(rows, cols, K, layouts, random);
    switch (any++ % 4) {
      case 0:
        return count_as(p, bfloat16(), bfloat16());
      case 1:
        return count_as(p, float16(), float16());
      case 2:
        return count_as(p, bfloat16(), float());
      default:
        return count_as(p, float16(), float());
    }
  };
  std::vector<std::array<Layout, 3>> all;
  for (const Layout c : {row_major, column_major}) {
    for (const Layout a : kLayouts)
      for (const Layout b : kLayouts) {
        all.push_back({a, b, c});
        std::array sizes{kBlockRows, kBlockCols, 3 * kBlockDepth};
        sizes[static_cast<std::size_t>(random.integer(0, 2))] -= 8;
        count(sizes[0], sizes[1], sizes[2], all.back());
      }
    any += random.integer(0, 3);
  }
  const auto any_layouts = static_cast<std::size_t>(random.integer(0, 7));
  count(2 * kBlockRows, kBlockCols, kBlockDepth, all[any_layouts]);  // two tiles
  // A tile that is nearly full, and so deep that its rows alone have more bytes than C; and one with fewer
  // rows, which have more bytes than C and the zeros below them.
  count(kBlockRows - 8 * random.integer(1, 2), kBlockCols - 8 * random.integer(1, 2),
        12 * kBlockDepth - 8 * random.integer(1, 2), all[any_layouts]);
  const std::int64_t few = 8 * random.integer(11, 12), of_zeros = kBlockRows - few;
  const std::int64_t slabs = 4 * kBlockRows * kBlockCols / (2 * (few - of_zeros) * kBlockDepth) + 1;
  count(few, kBlockCols, slabs * kBlockDepth, all[7 - any_layouts]);
}

namespace {

/// What the entry for A and B of T, and C of Result, must refuse.
template <class T, class Result>
void check_refuses() {
  INFO(name_of(format_of<T>) << (std::is_same_v<Result, float> ? " to float32" : ""));
  check_product<T, Result>(sixteen_bit_problem(3, 8, 8));
  const auto refused = [](Shape a, Strides a_strides, Shape b, Strides b_strides, Shape c,
                          const char* argument, const CallOptions& options = {}) {
    INFO("A: shape " << format_shape(a) << ", strides " << format_shape(a_strides) << "; B: shape "
                     << format_shape(b) << ", strides " << format_shape(b_strides) << "; C: shape "
                     << format_shape(c));
    const Tensor<T> A(a, a_strides, T(1.0)), B(b, b_strides, T(1.0));
    Tensor<Result> C(c);
    require_throws<std::invalid_argument>(
        call_with(options, matmul_entry<T, Result>(), in(A, "A"), in(B, "B"), out(C, "C")), argument);
  };
  refused({3, 8}, {8, 1}, {7, 8}, {8, 1}, {3, 8}, "B");
  refused({3, 8}, {9, 1}, {8, 8}, {8, 1}, {3, 8}, "A");
  refused({3, 8}, {16, 2}, {8, 8}, {8, 1}, {3, 8}, "A");
  refused({3, 8}, {8, 1}, {8, 8}, {1, 12}, {3, 8}, "B");
  refused({3, 7}, {8, 1}, {7, 8}, {8, 1}, {3, 8}, "A");
  refused({3, 8}, {8, 1}, {8, 7}, {8, 1}, {3, 7}, "B");
  refused({3, 0}, {8, 1}, {8, 8}, {8, 1}, {3, 8}, "B");
  refused({0, 8}, {9, 1}, {8, 8}, {8, 1}, {0, 8}, "A");
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t M = random.integer(2, 90), N = 8 * random.integer(2, 12), K = 8 * random.integer(2, 12);
  for_misfits(M, N, K, random, [&](const Shape& b, const Shape& c, const char* argument) {
    refused({M, K}, {K, 1}, b, {b[1], 1}, c, argument);
  });
  const auto less = [&] { return random.integer(1, 7); };  // than a chunk
  refused({M, K}, {K + less(), 1}, {K, N}, {N, 1}, {M, N}, "A");
  refused({M, K}, {2 * K, 2}, {K, N}, {N, 1}, {M, N}, "A");
  refused({N, K}, {1, N + less()}, {K, N}, {N, 1}, {N, N}, "A");
  refused({M, K}, {K, 1}, {K, N}, {N + less(), 1}, {M, N}, "B");
  refused({M, K}, {K, 1}, {K, N}, {1, K + less()}, {M, N}, "B");
  const std::int64_t shorter_K = K - less(), shorter_N = N - less();
  refused({M, shorter_K}, {K, 1}, {shorter_K, N}, {N, 1}, {M, N}, "A");
  refused({M, K}, {K, 1}, {K, shorter_N}, {N, 1}, {M, shorter_N}, "B");
  refused({shorter_N, K}, {1, N}, {K, N}, {N, 1}, {shorter_N, N}, "A");
  refused({N, shorter_K}, {1, N}, {shorter_K, N}, {1, K}, {N, N}, "B");
  for (const std::size_t array : {0, 1}) {
    const char* const name = array == 0 ? "A" : "B";
    for (const std::uint32_t bytes : {8u, static_cast<std::uint32_t>(2 * less())}) {
      INFO(name << " begins " << bytes << " bytes past a multiple of 16");
      refused({M, K}, {K, 1}, {K, N}, {N, 1}, {M, N}, name, with_shifted_array(2, array, bytes));
    }
  }
  // Of two tiles, for which one block is not enough, by rows and by columns.
  for (const Layout layout : kLayouts) {
    const auto length = [&] { return 8 * random.integer(1, 7); };
    const Problem p =
        in_type<T>(sixteen_bit_problem(kBlockRows + length(), length(), length(), layout, layout));
    INFO(describe(p));
    Tensor<Result> C({p.M(), p.N()});
    CallOptions one_block;
    one_block.check = CheckMode::never;  // which other cases have
    one_block.max_grid_x = 1;
    require_refused_launch(multiply<T>(p, C, one_block));
  }
}

}  // namespace

TEST_CASE("refuses what does not fit or cannot be copied 16 bytes at a time, and reports a refused launch",
          "[l21][matmul][points:1]") {
  for_both_types([](auto type) {
    check_refuses<decltype(type), float>();
    check_refuses<decltype(type), decltype(type)>();
  });
}

COURSE_RUN(RunContext& run) {
  const auto run_in = [&](auto type) {
    using T = decltype(type);
    const auto A = run.input<T>("A", {"M", "K"}), B = run.input<T>("B", {"K", "N"});
    Tensor<T> C({A.shape()[0], B.shape()[1]});
    run.call(matmul_entry<T, T>(), in(A, "A"), in(B, "B"), out(C, "C"));
    run.output("C", C);
  };
  if (run.input_format("A") == Format16::float16)
    run_in(float16{});
  else
    run_in(bfloat16{});
}
