#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "14_gradients/mistakes.hpp"

namespace course::lesson_14 {

using namespace grading;

namespace {

/// A matrix as a wrong product sees it: 0 outside, as tiles with zeros hold it.
struct Seen {
  const Tensor<float>* x;
  bool transposed = false;

  double operator()(std::int64_t row, std::int64_t col) const {
    if (transposed) std::swap(row, col);
    return row < x->shape()[0] && col < x->shape()[1] ? static_cast<double>((*x)(row, col)) : 0.0;
  }
};

/// (rows, cols) of A·B.
Tensor<double> seen_product(std::int64_t rows, std::int64_t cols, Seen A, Seen B) {
  const std::int64_t depth = A.x->shape()[A.transposed ? 0 : 1];
  Tensor<double> C({rows, cols});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t k = 0; k < depth; ++k) C(i, j) += A(i, k) * B(k, j);
  return C;
}

/// The factor that should be the transpose of x, if only its shape was exchanged: with the strides of x, or
/// those of a matrix of that shape without gaps. What lies outside of x counts as 0.
Tensor<float> reshaped(const Tensor<float>& x, bool dense) {
  const std::int64_t rows = x.shape()[1], cols = x.shape()[0];
  const Strides strides = dense ? Strides{cols, 1} : x.strides();
  const auto storage = x.storage();
  Tensor<float> read({rows, cols});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) {
      const auto place = static_cast<std::size_t>(i * strides[0] + j * strides[1]);
      read(i, j) = place < storage.size() ? storage[place] : 0.0f;
    }
  return read;
}

/// What a product with x that is not transposed may be: one with x as it is, or, where that has another
/// shape, one with x reshaped.
Mistake not_transposed(const Tensor<float>& x, Mistake as_it_is, const std::string& name,
                       std::function<Tensor<double>(const Tensor<float>&)> product) {
  const std::string sentence =
      name +
      " has the shape of its transpose, but its elements lie elsewhere. To transpose, "
      "exchange the strides, too: device::transposed(" +
      name + ").";
  return {as_it_is.name, [=, &x](const WrongResult& result) -> std::optional<std::string> {
            if (const auto told = as_it_is.explain(result)) return told;
            for (const bool dense : {true, false}) {
              const Mistake one = gives(
                  "", [&] { return product(reshaped(x, dense)); }, sentence);
              if (const auto told = one.explain(result)) return told;
            }
            return std::nullopt;
          }};
}

/// What both gradients can have wrong.
Mistakes mistakes_in_tiles(std::int64_t rows, std::int64_t cols) {
  Mistakes mistakes;
  std::set<std::pair<std::int64_t, std::int64_t>> whole;
  for (const std::int64_t tile : {32, 64, 128}) {
    const std::int64_t tiled_rows = rows / tile * tile, tiled_cols = cols / tile * tile;
    if (tiled_rows * tiled_cols > 0 && (tiled_rows < rows || tiled_cols < cols) &&
        whole.emplace(tiled_rows, tiled_cols).second)
      mistakes.push_back(unwritten_where(
          "ragged_tiles_missing",
          [=](const Index& index) { return index[0] >= tiled_rows || index[1] >= tiled_cols; },
          "All whole tiles are right, and what is left at the lower and right edge was never written: the "
          "number of tiles has to be rounded up."));
  }
  mistakes.push_back(off_by_a_factor("factor", "Every element is {} times what it should be."));
  return mistakes;
}

}  // namespace

Mistakes mistakes_in_dx(const Product& p) {
  const std::int64_t M = p.M(), K = p.K();
  Mistakes mistakes = mistakes_in_tiles(M, K);
  const auto product = [&](const char* name, Seen A, Seen B, const char* sentence) {
    mistakes.push_back(gives(
        name, [=] { return seen_product(M, K, A, B); }, sentence));
  };
  const std::size_t not_transposed_at = mistakes.size();
  const Seen Xt{&p.X, true}, W{&p.W}, Wt{&p.W, true}, dY{&p.dY}, dYt{&p.dY, true};
  product(
      "w_not_transposed", dY, W,
      "This is dY·W: W is not transposed. A column of dX belongs to a row of W, and the sum goes over the "
      "columns of both dY and W.");
  product("dy_transposed", dYt, Wt, "This is dYᵀ·Wᵀ: dY must stay as it is. Its rows are those of dX.");
  product("transposes_swapped", dYt, W, "This is dYᵀ·W: the wrong one of the two is transposed.");
  product("transposed_result", W, dYt,
          "This is W·dYᵀ, the transpose of dX: a product transposed exchanges its factors.");
  product("x_for_w", dY, Xt, "This is dY·Xᵀ: dX does not depend on X at all. The other factor is W.");
  product("gradients_exchanged", Xt, dY, "This is dW.");
  Mistake& as_it_is = mistakes[not_transposed_at];
  as_it_is = not_transposed(p.W, as_it_is, "W", [&p, M, K](const Tensor<float>& W_reshaped) {
    return seen_product(M, K, Seen{&p.dY}, Seen{&W_reshaped});
  });
  return mistakes;
}

Mistakes mistakes_in_dw(const Product& p) {
  const std::int64_t K = p.K(), N = p.N();
  Mistakes mistakes = mistakes_in_tiles(K, N);
  const auto product = [&](const char* name, Seen A, Seen B, const char* sentence) {
    mistakes.push_back(gives(
        name, [=] { return seen_product(K, N, A, B); }, sentence));
  };
  const std::size_t not_transposed_at = mistakes.size();
  const Seen X{&p.X}, Xt{&p.X, true}, Wt{&p.W, true}, dY{&p.dY}, dYt{&p.dY, true};
  product(
      "x_not_transposed", X, dY,
      "This is X·dY: X is not transposed. A row of dW belongs to a column of X, and the sum goes over the "
      "rows of both X and dY.");
  product("dy_transposed", Xt, dYt, "This is Xᵀ·dYᵀ: dY must stay as it is. Its columns are those of dW.");
  product("transposes_swapped", X, dYt, "This is X·dYᵀ: the wrong one of the two is transposed.");
  product("transposed_result", dYt, X,
          "This is dYᵀ·X, the transpose of dW: X and dY are exchanged. A product transposed exchanges its "
          "factors.");
  product("w_for_x", Wt, dY, "This is Wᵀ·dY: dW does not depend on W at all. The other factor is X.");
  product("gradients_exchanged", dY, Wt, "This is dX.");
  Mistake& as_it_is = mistakes[not_transposed_at];
  as_it_is = not_transposed(p.X, as_it_is, "X", [&p, K, N](const Tensor<float>& X_reshaped) {
    return seen_product(K, N, Seen{&X_reshaped}, Seen{&p.dY});
  });
  return mistakes;
}

}  // namespace course::lesson_14
