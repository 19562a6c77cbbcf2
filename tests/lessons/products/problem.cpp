#include "products/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/testing/case.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"

namespace course::products {

using grading::case_seed;

namespace {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Strides row_major(std::int64_t, std::int64_t cols) { return {cols, 1}; }
Strides column_major(std::int64_t rows, std::int64_t) { return {1, rows}; }

Tensor<float> laid_out(const Tensor<float>& dense, Strides strides, float gap) {
  Tensor<float> x(dense.shape(), std::move(strides), gap);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = dense.at_linear(i);
  return x;
}

Tensor<float> in_sectors(const Tensor<float>& dense, Layout layout, Random& random, std::int64_t sector) {
  const std::int64_t gap = sector * random.integer(0, 3);
  const auto up = [=](std::int64_t size) { return (size + sector - 1) / sector * sector + gap; };
  return laid_out(dense, layout(up(dense.shape()[0]), up(dense.shape()[1])), kNotANumber);
}

Problem problem_of(const Tensor<float>& A, const Tensor<float>& B) {
  return {A, B, row_major_strides({A.shape()[0], B.shape()[1]})};
}

Problem random_problem(std::int64_t M, std::int64_t N, std::int64_t K, Layout a, Layout b, Layout c) {
  return {laid_out(uniform({M, K}, -1.0f, 2.0f, case_seed()), a(M, K)),
          laid_out(uniform({K, N}, -2.0f, 1.0f, case_seed() + 1), b(K, N)), c(M, N)};
}

namespace {

constexpr std::int64_t kMostSteps = 1'000'000;  ///< multiply-adds
constexpr std::int64_t kMostDepth = 3000;       ///< steps of k

}  // namespace

std::vector<Problem> drawn_problems(std::int64_t chunk) {
  Random random(case_seed() + 2);
  std::vector<Problem> problems;
  for (int i = 0; i < 4; ++i) {
    // In chunks: along k, or along the other axis.
    const bool a_along_k = random.integer(0, 1) == 1, b_along_k = random.integer(0, 1) == 1;
    const auto size = [&](std::int64_t most, bool in_chunks) {
      const std::int64_t any = drawn::length(random, most);
      return in_chunks ? (any + chunk - 1) / chunk * chunk : any;
    };
    const std::int64_t most = i == 0 ? 25 : 300;  // the first may be deep
    std::int64_t M = size(most, !a_along_k),
                 N = size(std::min<std::int64_t>(most, kMostSteps / M), !b_along_k),
                 K = size(std::clamp<std::int64_t>(kMostSteps / (M * N), 1, kMostDepth),
                          a_along_k || b_along_k);
    const bool is_dense = i == 3 && random.integer(0, 1) == 1;
    if (i == 3) {  // several whole tiles, not as many down as across
      const std::int64_t tile = chunk == 1 ? 128 : 256, of_rows = random.integer(2, 3);
      M = tile * of_rows, N = tile * (5 - of_rows), K = chunk == 1 ? 32 : 16;
    }
    const auto operand = [&](const Tensor<float>& x, bool by_rows) {
      const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
      if (is_dense) return laid_out(x, {cols, 1}, kNotANumber);
      if (chunk == 1) return laid_out(x, drawn::strides(rows, cols, random), kNotANumber);
      const std::int64_t gap = chunk * random.integer(0, 3);
      return laid_out(x, by_rows ? Strides{cols + gap, 1} : Strides{1, rows + gap}, kNotANumber);
    };
    const Problem dense = random_problem(M, N, K);
    Tensor<float> A = operand(drawn::times(dense.A, drawn::factor(random)), a_along_k),
                  B = operand(drawn::times(dense.B, drawn::factor(random)), !b_along_k);
    problems.push_back({std::move(A), std::move(B), is_dense ? Strides{N, 1} : drawn::strides(M, N, random)});
  }
  return problems;
}

std::string describe(const Problem& p) {
  return "M = " + std::to_string(p.M()) + ", N = " + std::to_string(p.N()) +
         ", K = " + std::to_string(p.K()) + "; strides of A " + format_shape(p.A.strides()) + ", of B " +
         format_shape(p.B.strides()) + ", of C " + format_shape(p.c_strides);
}

namespace {

float sum_float32(const Problem& p, std::int64_t i, std::int64_t j, bool fused) {
  float sum = 0.0f;
  for (std::int64_t k = 0; k < p.K(); ++k) {
    const volatile float product = p.A(i, k) * p.B(k, j);  // rounded, whatever the compiler would fuse
    sum = fused ? std::fma(p.A(i, k), p.B(k, j), sum) : sum + product;
  }
  return sum;
}

}  // namespace

Tensor<float> in_order_of_k(const Problem& p, const Tensor<double>& expected) {
  Tensor<float> C({p.M(), p.N()});
  for (std::int64_t i = 0; i < p.M(); ++i) {
    for (std::int64_t j = 0; j < p.N(); ++j) {
      const float fused = sum_float32(p, i, j, true), rounded = sum_float32(p, i, j, false);
      const auto error = [&](float sum) { return std::abs(static_cast<double>(sum) - expected(i, j)); };
      C(i, j) = error(fused) < error(rounded) ? rounded : fused;
    }
  }
  return C;
}

Tensor<double> cost_of_cutting_off(const Problem& p) {
  const auto size = [](const Tensor<float>& x, std::int64_t i, std::int64_t k) {
    const double value = filled(x, i, k);
    return std::isfinite(value) ? std::abs(value) : 0.0;
  };
  Tensor<double> cost = product_of(
      p, 0, p.K(), [&](auto i, auto k) { return size(p.A, i, k); },
      [&](auto k, auto j) { return size(p.B, k, j); });
  const double last_bits = std::ldexp(static_cast<double>((p.K() + 15) / 16), -23);
  for (std::int64_t i = 0; i < cost.numel(); ++i) cost.at_linear(i) *= last_bits;
  return cost;
}

std::uint64_t bytes_of_tiles(const Problem& problem, TileShape tile, std::int64_t element_bytes) {
  const std::int64_t M = problem.M(), N = problem.N(), K = problem.K();
  const std::int64_t across = (N + tile.cols - 1) / tile.cols, down = (M + tile.rows - 1) / tile.rows;
  return static_cast<std::uint64_t>(element_bytes * (M * K * across + K * N * down));
}

void require_tiles_shared(const grading::Outcome& outcome, const Problem& problem, TileShape tile,
                          std::int64_t element_bytes, grading::TestLine where) {
  const std::optional<grading::Profile> profile = grading::profile_if_counted(outcome, where);
  if (!profile) return;
  const std::uint64_t read = profile->global_load.bytes_asked,
                      most = bytes_of_tiles(problem, tile, element_bytes);
  grading::require(
      read <= most,
      "The threads read " + std::to_string(read) + " bytes of A and B in all. With tiles of " +
          std::to_string(tile.rows) + " x " + std::to_string(tile.cols) +
          ", each element of A is read once for every tile across C, and each of B once for every "
          "tile down: " +
          std::to_string(most) + " bytes. What a block has read once, its threads should share.",
      where);
}

void require_register_tile(const grading::Profile& profile, std::int64_t multiply_adds,
                           grading::TestLine where) {
  const std::uint64_t read = profile.shared_load.bytes_asked;
  grading::require(
      read <= static_cast<std::uint64_t>(2 * multiply_adds),
      fmt::format(
          "The threads read {:.1f} bytes of shared memory for each multiply-add. A thread that computes "
          "4 x 4 elements reads 8 floats for 16 of them, 2 bytes each. Keep the floats that a step needs "
          "in registers, and use each of them for a whole row or column of the thread's tile.",
          static_cast<double>(read) / static_cast<double>(multiply_adds)),
      where);
}

double filled(const Tensor<float>& x, std::int64_t row, std::int64_t col) {
  return row < x.shape()[0] && col < x.shape()[1] ? static_cast<double>(x(row, col)) : 0.0;
}

}  // namespace course::products
