#pragma once
/// @file
/// Problems of lesson 14: what its three entries are given.

#include <array>
#include <cstdint>

#include "products/problem.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_14 {

using products::column_major;
using products::laid_out;
using products::Layout;
using products::row_major;

/// What one call of matmul_backward is given.
struct Product {
  Tensor<float> X, W, dY;          // (M, K), (K, N) and (M, N), with strides of their own
  Strides dx_strides, dw_strides;  // of dX and dW

  std::int64_t M() const { return X.shape()[0]; }
  std::int64_t K() const { return X.shape()[1]; }
  std::int64_t N() const { return W.shape()[1]; }
};

Product product_of(const Tensor<float>& X, const Tensor<float>& W, const Tensor<float>& dY);
Product random_product(std::int64_t M, std::int64_t K, std::int64_t N, Layout x = row_major,
                       Layout w = row_major, Layout dy = row_major);

/// What one call of softmax_backward is given.
struct Rows {
  Tensor<float> P, dP;  // (rows, cols), each with a row stride of its own
  std::int64_t ds_row_stride;

  std::int64_t rows() const { return P.shape()[0]; }
  std::int64_t cols() const { return P.shape()[1]; }
};

Rows rows_of(const Tensor<float>& P, const Tensor<float>& dP);

/// Probabilities: each row sums to 1, but for rounding.
Tensor<float> probabilities(std::int64_t rows, std::int64_t cols, std::uint64_t seed);

/// Rows that lie `gap`, 2 * gap and 3 * gap further apart in P, dP and dS than they must.
Rows random_rows(std::int64_t rows, std::int64_t cols, std::int64_t gap = 0);

/// The row of the notes: P is the softmax of (0, ln 4, 0, ln 2).
Rows rows_of_the_notes();

/// What one call of attention_backward is given: a head.
struct Head {
  Tensor<float> Q, K, V, P, dO;  // (Nq, D), (Nk, D), (Nk, D), (Nq, Nk) and (Nq, D)
  float scale;
  std::int64_t gap = 0;              // how much further apart rows lie than they must
  std::array<bool, 7> by_columns{};  // whether Q, K, V, dO, dQ, dK and dV lie by columns

  std::int64_t Nq() const { return Q.shape()[0]; }
  std::int64_t Nk() const { return K.shape()[0]; }
  std::int64_t D() const { return Q.shape()[1]; }
};

/// `between`: how much further apart the rows or columns lie than they must.
Strides strides_of(std::int64_t rows, std::int64_t cols, bool by_columns, std::int64_t between);

Head random_head(std::int64_t Nq, std::int64_t Nk, std::int64_t D, std::int64_t gap = 0,
                 bool by_columns = false);

/// Q, K, V and dO are laid out anew.
Head with_columns(Head p, const std::array<bool, 7>& by_columns);

/// The row of the notes as a query that meets four keys.
Head head_of_the_notes();

/// O of a head, in float64.
Tensor<double> attention(const Tensor<float>& Q, const Tensor<float>& K, const Tensor<float>& V, float scale);

template <class T>
Tensor<T> times(Tensor<T> x, double factor) {
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) *= static_cast<T>(factor);
  return x;
}

}  // namespace course::lesson_14
