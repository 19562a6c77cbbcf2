#pragma once
/// @file
/// A model of wrong backward kernels in float64: what a kernel with a well-known mistake would give.

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "attention/deviation.hpp"
#include "attention/gradient_baseline.hpp"
#include "attention/gradient_problem.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// How a kernel gets P from a score and lse.
enum class Weights {
  exp,           ///< exp(S - lse)
  base_2,        ///< exp2(S - lse)
  without_lse,   ///< exp(S), which overflows as float32 does
  lse_added,     ///< exp(S + lse)
  lse_divides,   ///< exp(S) / lse
  unnormalised,  ///< exp(S - m), where m is the largest score of the row
};

/// What a kernel takes for delta.
enum class Delta {
  dO_O,       ///< rowsum(dO ∘ O)
  zero,       ///< 0
  dO,         ///< rowsum(dO)
  O,          ///< rowsum(O)
  O_O,        ///< rowsum(O ∘ O)
  dO_dO,      ///< rowsum(dO ∘ dO)
  mean,       ///< rowsum(dO ∘ O) / D
  scaled,     ///< rowsum(dO ∘ O) · scale
  lane_0,     ///< the sum over the dimensions 0, 32, 64, ... alone
  step_1,     ///< each lane goes on by 1: dimension d counts d + 1 times, at most 32
  all_lanes,  ///< each of 32 lanes has all dimensions: 32 · rowsum(dO ∘ O)
  negated,
};

/// What a kernel makes of P, dP and delta.
enum class Scores {
  right,          ///< P ∘ (dP - delta)
  delta_ignored,  ///< P ∘ dP
  delta_added,    ///< P ∘ (dP + delta)
  delta_last,     ///< P ∘ dP - delta
  without_P,      ///< dP - delta
  exchanged,      ///< P ∘ (delta - dP)
  squared,        ///< P ∘ P ∘ (dP - delta)
  one_minus_P,    ///< P ∘ (1 - P) ∘ (dP - delta)
  of_sigmoid,     ///< P ∘ (1 - P) ∘ dP: the diagonal of the softmax's derivative alone
};

enum class Matrix {
  P,
  dP,
  dS,
  products,  ///< Q·Kᵀ, not scaled, also where the mask hides it
  S,         ///< the same, scaled
};

/// What an accumulator holds when the next tile comes that is to be computed in it.
enum class Leftover {
  nothing,  ///< 0
  sum,      ///< the sum of the tile before
  result,   ///< what was made of it in its place: P of S, dS of dP
};

/// Element i of row (b, h) of lse or delta as a kernel reads it.
using RowAddress = std::function<Int(Int b, Int h, Int i)>;

/// The query whose number a kernel takes for the pair of query i and key j; it takes 0 for a query that is
/// not there, and gives such a pair no weight if it is lse.
using RowOfPair = std::function<Int(Int i, Int j)>;

/// How a backward kernel deviates from the right one; by default it does not. Several fields may be set at
/// once. It is asked for one result at a time: `left`, `right` and `factor` speak of that result.
struct GradientDeviation {
  static constexpr Int kAll = std::numeric_limits<Int>::max();

  // What is read.
  std::optional<Reader> Q{}, K{}, V{}, dO{}, O{};
  std::optional<Reader> dO_in_dP{};  ///< instead of dO, in dO·Vᵀ alone
  /// Where in the storage of p.lse; what lies outside of it is NaN.
  RowAddress lse{};
  /// The index (in shape (B, H, Nq), row-major) of the row whose delta enters dS.
  RowAddress delta_row{};
  std::function<Int(Int i)> delta_query{};       ///< the query whose O and dO delta of query i is made of
  RowOfPair lse_of_pair{}, delta_of_pair{};      ///< instead of query i
  std::function<Int(Int h)> k_head{}, v_head{};  ///< h_kv of a query head, for dQ
  /// The query heads that dK and dV of a head sum over; K and V are those of h_kv.
  std::function<std::vector<Int>(Int h_kv)> heads_of{};
  std::optional<Reader> right{};  ///< instead of dO in dV = Pᵀ·dO, Q in dK = dSᵀ·Q, K in dQ = dS·K

  // P, dP, delta and dS.
  double score_factor = 1;  ///< on top of the scale, in the S that is recomputed
  double lse_factor = 1;
  Int dims_of_S = kAll, dims_of_dP = kAll, dims_of_delta = kAll;  ///< sums over dims [0, dims)
  Int first_dim_of_delta = 0;                                     ///< and delta's from this one on
  /// In tiles of so many queries and keys, S or dP lies where its transpose belongs. 0: it does not.
  Int S_exchanged = 0, dP_exchanged = 0;
  /// What S and dP begin with in each tile but the first of so many queries, for dK and dV, or keys, for dQ.
  Int kept_tile = 0;
  Leftover kept_S = Leftover::nothing, kept_dP = Leftover::nothing;
  Int delta_of_tile = 0;  ///< delta is Σ P·dP over the tile of so many keys that key j is in. 0: it is not
  std::function<bool(Int i, Int j)> sees{};  ///< instead of the mask
  /// A pair counts so many times, whether it is right to be counted or not.
  std::function<double(Int i, Int j)> times{};
  bool hidden_score_0 = false;     ///< keys that the mask hides count, with a score of 0
  bool empty_row_guarded = false;  ///< weights are 0 where lse is -inf, whatever else is wrong
  bool empty_row_divided = false;  ///< a hidden score, -inf, meets lse = -inf, and P is NaN instead of 0
  bool hidden_counts = false;      ///< where P is 0, dS is what the formula says
  /// The hidden pairs that these speak of, where the kernel does not compute all of them.
  std::function<bool(Int i, Int j)> reached{};
  Weights weights = Weights::exp;
  Delta delta = Delta::dO_O;  ///< in dS, and in the result delta
  Scores scores = Scores::right;

  // Dropout.
  std::optional<Tensor<float>> factors{};           ///< instead of the problem's
  bool dropout_in_dP = true, dropout_in_dV = true;  ///< false: as if nothing were dropped there
  bool dropout_in_dS = false;                       ///< dS is multiplied by the factors, too

  // The product.
  std::optional<Matrix> left{};  ///< instead of P in dV, of dS in dK and dQ
  bool left_transposed = false;  ///< element (j, i) of it instead of (i, j); only for as many keys as queries
  double factor = 1;             ///< on the result

  // dsink_h = -Σ term(sink_h, lse_i, delta_i).
  std::function<double(double sink, double lse, double delta)> sink_term{};  ///< exp(sink - lse) · delta
  std::function<Int(Int h)> sink_head{};                                     ///< whose sink head h takes
  std::function<bool(Int b, Int i)> sink_rows{};                             ///< which rows it sums over
};

/// @brief What a kernel that deviates so gives for one result.
/// Cost: 6 to 8 · B · H · Nq · Nk · D operations in float64.
Tensor<double> deviate(const BackwardProblem& p, const GradientDeviation& how, Gradient wanted);

/// @brief One row of that: D numbers of dQ, dK or dV, or one of delta or dsink. Rows are counted through all
/// batches and heads. Cost: that of reading one head, and 6 to 8 · N · D operations.
std::vector<double> deviate_in_row(const BackwardProblem& p, const GradientDeviation& how, Gradient wanted,
                                   Int row);

}  // namespace course::attention_tests
