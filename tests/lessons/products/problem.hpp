#pragma once
/// @file
/// What the tests of matrix products share: problems with strides of their own, and what float32 may lose.

#include <cstdint>
#include <string>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::products {

/// What one call is given.
struct Problem {
  Tensor<float> A, B;  ///< (M, K) and (K, N), with strides of their own
  Strides c_strides;   ///< of C

  std::int64_t M() const { return A.shape()[0]; }
  std::int64_t N() const { return B.shape()[1]; }
  std::int64_t K() const { return A.shape()[1]; }
};

using Layout = Strides (*)(std::int64_t rows, std::int64_t cols);
Strides row_major(std::int64_t rows, std::int64_t cols);
Strides column_major(std::int64_t rows, std::int64_t cols);

/// The same elements, elsewhere. What lies between them holds `gap`, by default far from all data, so that it
/// shows.
Tensor<float> laid_out(const Tensor<float>& dense, Strides strides, float gap = 1000.0f);

/// The same, in rows or columns that begin with sectors of so many numbers, close together or further apart,
/// with NaN between them.
Tensor<float> in_sectors(const Tensor<float>& dense, Layout layout, Random& random, std::int64_t sector = 8);

/// A row-major C.
Problem problem_of(const Tensor<float>& A, const Tensor<float>& B);

/// Uniform numbers from the seed of the test case, A from -1 to 2, B from -2 to 1.
Problem random_problem(std::int64_t M, std::int64_t N, std::int64_t K, Layout a = row_major,
                       Layout b = row_major, Layout c = row_major);

/// @brief Four products of which everything is drawn at once, from the case's seed: sizes up to 300, those of
/// the last of whole tiles, and strides of any kind, with NaN between the elements. `chunk`: along one axis
/// the elements of A lie side by side, as many as a multiple of this, which the other stride is, too; so with
/// B.
std::vector<Problem> drawn_problems(std::int64_t chunk = 1);

/// @brief Calls `refused(b, c, argument)` with shapes of B and of C that do not fit beside an A of (M, K) and
/// each other: one is wrong at a time, by numbers that nobody knows beforehand, and it is the argument.
template <class Refused>
void for_misfits(std::int64_t M, std::int64_t N, std::int64_t K, Random& random, Refused refused) {
  for (const Shape& b : drawn::misfits({K, N}, {0}, random)) refused(b, Shape{M, b[1]}, "B");
  for (const Shape& c : drawn::misfits({M, N}, random)) refused(Shape{K, N}, c, "C");
}

/// Sizes and strides, in words.
std::string describe(const Problem& problem);

/// @brief C as float32 gives it in the order of k, with fused multiply-adds or without, whichever loses more.
/// Shapes: `expected`, the product in float64, and the result are (M, N).
Tensor<float> in_order_of_k(const Problem& problem, const Tensor<double>& expected);

/// What each element may lose, besides, because tensor cores cut off where float32 rounds: the last bit of a
/// sum that is at most Σ|a · b|, in each 16 steps of k.
Tensor<double> cost_of_cutting_off(const Problem& problem);

/// A tile of C: rows and columns.
struct TileShape {
  std::int64_t rows, cols;
};

/// Of A and B, where each element of A is read once for every tile across C, and each of B once for every
/// tile down.
std::uint64_t bytes_of_tiles(const Problem& problem, TileShape tile, std::int64_t element_bytes = 4);

/// @brief Fails the case if check mode counted the call, and its threads read more than that. Holds for every
/// size, since a kernel may tell them apart.
void require_tiles_shared(const grading::Outcome& outcome, const Problem& problem, TileShape tile,
                          std::int64_t element_bytes = 4,
                          grading::TestLine where = grading::TestLine::here());

/// @brief Fails the case unless threads read at most 2 bytes of shared memory for each of so many
/// multiply-adds, those at the edges of tiles among them, as threads do that compute 4 x 4 elements.
void require_register_tile(const grading::Profile& profile, std::int64_t multiply_adds,
                           grading::TestLine where = grading::TestLine::here());

/// The element of x as a tile holds it: 0 outside.
double filled(const Tensor<float>& x, std::int64_t row, std::int64_t col);

/// @brief Σ a(i, k) · b(k, j) over begin <= k < end, where a and b say what was read as A[i][k] and B[k][j]:
/// the product of a wrong kernel.
template <class ReadA, class ReadB>
Tensor<double> product_of(const Problem& problem, std::int64_t begin, std::int64_t end, ReadA a, ReadB b) {
  Tensor<double> C({problem.M(), problem.N()});
  for (std::int64_t i = 0; i < problem.M(); ++i)
    for (std::int64_t j = 0; j < problem.N(); ++j)
      for (std::int64_t k = begin; k < end; ++k) C(i, j) += a(i, k) * b(k, j);
  return C;
}

}  // namespace course::products
