#include "attention/gradient_catalogue.hpp"
#include "attention/catalogue.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace course::attention_tests {
namespace {

constexpr double kLn2 = 0.6931471805599453;

/// What delta is, and what of it enters dS.
void add_delta(GradientCatalogue& to) {
  if (!to.is(Gradient::delta) && !to.has_dS()) return;
  const auto add = [&](const char* name, Delta delta, const char* sentence) {
    to.add(name, {.delta = delta},
           std::string(sentence) + " delta is rowsum(dO ∘ O), the sum over d of dO_id · O_id.");
  };
  add("delta_of_dO", Delta::dO, "delta is the row sum of dO alone here.");
  add("delta_of_O", Delta::O, "delta is the row sum of O alone here.");
  add("delta_of_O_squared", Delta::O_O, "delta is rowsum(O ∘ O) here.");
  if (!to.plain_dO()) add("delta_of_dO_squared", Delta::dO_dO, "delta is rowsum(dO ∘ dO) here.");
  if (to.p().D() > 1) {
    add("delta_is_a_mean", Delta::mean, "delta is divided by D here: it is a sum, and no mean.");
    add("delta_of_lane_0", Delta::lane_0,
        "delta has only every 32nd dimension, those of lane 0: the lanes' sums have to be added.");
    add("delta_steps_by_1", Delta::step_1,
        "Every lane goes on by one dimension, so that most count several times: a lane's next is 32 "
        "further.");
  }
  add("delta_of_all_lanes", Delta::all_lanes,
      "delta is 32 times what it should be here: every lane has the sum of the whole row, and then the "
      "lanes' sums are added.");
  if (to.is(Gradient::delta)) {
    for (const Int width : {4, 8, 16, 32})
      if (to.p().Nq() > 1)
        to.add("delta_of_the_first_warp", {.delta_query = [width](Int i) { return i / width * width; }},
               "delta of all queries of a block is that of its first: every warp sums the row of the first "
               "warp's query. Each warp has a query of its own.");
    if (to.p().Nq() > 1)
      to.add("delta_of_query_0", {.delta_query = [](Int) { return Int{0}; }},
             "delta of every query is that of query 0: its rows of O and dO are read for all of them.");
    for (const char* name : {"rows_of_row_0", "rows_of_first_tile", "rows_of_tile_begin"})
      to.add({name, [](const grading::WrongResult&) { return std::nullopt; }});  // nor who reads it
    add("delta_negated", Delta::negated, "delta has the opposite sign here.");
    to.add({"delta_added", [](const grading::WrongResult&) { return std::nullopt; }});  // dS is not to blame
  }
  if (to.is(Gradient::delta)) add("delta_scaled", Delta::scaled, "delta is multiplied by the scale here.");
  if (to.plain_dO()) return;
  const Int D = to.p().D();
  std::set<Int> ends{D - 1, 32};  // 32: every lane takes one
  for (const Int end : ends_of_whole_tiles(D)) ends.insert(end);
  for (const Int end : ends)
    if (end > 0 && end < D)
      to.add("dim_tail_missing", {.dims_of_delta = end},
             end == D - 1
                 ? "The last dimension is missing from delta."
                 : "The last dimensions are missing from delta: those from " + std::to_string(end) + " on.");
  if (D > 1)
    to.add("first_dim_missing", {.first_dim_of_delta = 1}, "The first dimension is missing from delta.");
}

/// Accumulators of S and dP that are set to 0 before the loop over tiles alone.
void add_kept(GradientCatalogue& to) {
  if (!to.has_P()) return;
  const bool by_keys = !to.is(Gradient::dQ);
  const std::string tiles = by_keys ? "queries" : "keys";
  for (const Int width : tile_widths(by_keys ? to.p().Nq() : to.p().Nk())) {
    if (width < 32) continue;
    for (const Leftover S : {Leftover::result, Leftover::sum, Leftover::nothing})
      for (const Leftover dP : {Leftover::result, Leftover::sum, Leftover::nothing}) {
        const bool of_S = S != Leftover::nothing, of_dP = dP != Leftover::nothing;
        if ((!of_S && !of_dP) || (of_dP && !to.has_dS())) continue;
        const std::string sums = of_S && of_dP ? "S and dP begin" : of_S ? "S begins" : "dP begins";
        to.add(
            "sums_not_begun_again", {.kept_tile = width, .kept_S = S, .kept_dP = dP},
            "From the second tile of " + tiles + " on, " + sums +
                " with what the tile before has left. The accumulators have to be set to 0 for each tile.");
      }
  }
}

/// Tiles in which a matrix lies where its transpose belongs.
void add_exchanged(GradientCatalogue& to, const char* name, Int GradientDeviation::*tile,
                   const std::string& matrix, const std::string& rows) {
  if (to.plain_dO()) return;  // the identity: it is a product with V or K that is not transposed
  const Int size = std::max(to.p().Nq(), to.p().Nk());
  for (Int width = 16; width <= 128; width *= 2) {
    GradientDeviation how;
    how.*tile = width;
    to.add(name, std::move(how),
           "In each tile, " + matrix +
               " lies where its transpose belongs: pair (i, j) gets what pair (j, i) "
               "should have. Here the rows of a tile are " +
               rows + ".");
    if (width >= size) break;  // wider tiles give the same
  }
}

/// S, and P from it.
void add_weights(GradientCatalogue& to) {
  if (!to.has_P()) return;
  const BackwardProblem& p = to.p();
  const auto scale = static_cast<double>(p.scale);
  const std::string rule = " P should be exp(S - lse), with S = Q·Kᵀ·scale.";
  to.add("lse_left_out", {.weights = Weights::without_lse},
         "P is exp(S) here: lse has to be subtracted first." + rule);
  to.add("lse_added", {.weights = Weights::lse_added}, "P is exp(S + lse) here." + rule);
  to.add("lse_divides", {.weights = Weights::lse_divides},
         "P is exp(S) / lse here: lse is the logarithm of the sum that P is divided by." + rule);
  to.add(
      "p_unnormalised", {.weights = Weights::unnormalised},
      "P is exp(S - m) here, with the row's maximum m: it has to be divided by the row's sum, and lse does "
      "both at once." +
          rule);
  const std::string base = " Base e everywhere, or base 2 everywhere: exp2f(S·log2 e - lse·log2 e).";
  to.add("base_2", {.weights = Weights::base_2}, "P is exp2(S - lse) here." + base);
  to.add("exp_of_base_2", {.score_factor = kLog2e, .lse_factor = kLog2e},
         "P is exp((S - lse)·log2 e) here: scores and lse are multiplied by log2 e = 1.44 for exp2f, but the "
         "exponential is one of base e." +
             base);
  to.add("lse_in_base_2", {.lse_factor = kLog2e},
         "lse is multiplied by log2 e = 1.44, but the exponential is one of base e." + base);
  to.add(
      "lse_not_in_base_2", {.lse_factor = kLn2},
      "P is exp2(S·log2 e - lse) here, which is exp(S - lse·ln 2): lse is in another base than the scores." +
          base);
  to.add(
      "score_not_in_base_2", {.score_factor = kLn2},
      "P is exp2(S - lse·log2 e) here, which is exp(S·ln 2 - lse): the scores are in another base than lse." +
          base);
  to.add("scale_missing_in_s", {.score_factor = 1 / scale},
         "S is recomputed without the scale. It has to be the S of the forward pass." + rule);
  to.add("scale_twice_in_s", {.score_factor = scale}, "S is scaled twice where it is recomputed." + rule);
  const Reader right_of_dQ = right(p.K);
  const auto in_S = [&](GradientDeviation how) {
    if (to.is(Gradient::dQ)) how.right = right_of_dQ;  // K is right in the product
    return how;
  };
  to.add("v_for_k_in_s", in_S({.K = right(p.V)}), "S is Q·Vᵀ·scale here: V is read where K belongs." + rule);
  if (p.Nk() == p.D() && !to.plain_dO())  // with Q or K the identity, it is S transposed
    to.add("k_not_transposed_in_s", in_S({.K = transposed(p.K)}),
           "S is Q·K·scale here: K is not transposed." + rule);
  add_exchanged(to, "s_exchanged", &GradientDeviation::S_exchanged, "S",
                to.is(Gradient::dQ) ? "queries: S = Q·Kᵀ" : "keys: Sᵀ = K·Qᵀ");
  for (const Int end : ends_of_whole_tiles(p.D()))
    if (end > 0)
      to.add("dim_tail_missing", {.dims_of_S = end},
             "The last dimensions are missing from S: those from " + std::to_string(end) + " on.");
}

/// dP and dS.
void add_scores(GradientCatalogue& to) {
  if (!to.has_dS()) return;
  const BackwardProblem& p = to.p();
  const std::string rule = " It should be P ∘ (dP - delta).";
  const auto add = [&](const char* name, Scores scores, const char* sentence) {
    to.add(name, {.scores = scores}, sentence + rule);
  };
  add("delta_missing", Scores::delta_ignored, "dS is P ∘ dP here: delta is not subtracted.");
  add("delta_added", Scores::delta_added, "dS is P ∘ (dP + delta) here.");
  add("ds_negative", Scores::exchanged, "dS has the opposite sign: it is P ∘ (delta - dP) here.");
  add("p_twice_in_ds", Scores::squared, "dS is P ∘ P ∘ (dP - delta) here.");
  add("one_minus_p_in_ds", Scores::one_minus_P,
      "dS is P ∘ (1 - P) ∘ (dP - delta) here. delta stands for what the other keys do: the factor 1 - P has "
      "no place.");
  add("ds_of_diagonal_alone", Scores::of_sigmoid,
      "dS is P ∘ (1 - P) ∘ dP here, which leaves out what a score does to the weights of other keys.");
  const auto where_P_is_0 = [&](const char* name, Scores scores, const char* sentence) {
    add(name, scores, sentence);
    to.add(name, {.hidden_counts = true, .scores = scores}, sentence + rule);
    for (Int width = 16; width <= 128; width *= 2)
      to.add(name,
             {.hidden_counts = true,
              .reached =
                  [&p, width](Int i, Int j) {
                    const Int i0 = i / width * width, j0 = j / width * width;
                    for (Int row = i0; row < std::min(i0 + width, p.Nq()); ++row)
                      for (Int col = j0; col < std::min(j0 + width, p.Nk()); ++col)
                        if (p.sees(row, col)) return true;
                    return false;
                  },
              .scores = scores},
             sentence + rule);
  };
  if (p.mask.causal || p.mask.window != kAllKeys) {
    where_P_is_0("delta_after_p", Scores::delta_last,
                 "dS is P ∘ dP - delta here: delta is subtracted after the product with P.");
    where_P_is_0("p_missing_in_ds", Scores::without_P, "dS is dP - delta here, without the product with P.");
  } else {
    add("delta_after_p", Scores::delta_last,
        "dS is P ∘ dP - delta here: delta is subtracted after the product with P.");
    add("p_missing_in_ds", Scores::without_P, "dS is dP - delta here, without the product with P.");
  }
  const std::string product = " It should be dO·Vᵀ.";
  to.add("o_for_do", {.dO_in_dP = right(p.O)}, "dP is O·Vᵀ here: O is read where dO belongs." + product);
  to.add("q_for_do", {.dO_in_dP = right(p.Q)}, "dP is Q·Vᵀ here: Q is read where dO belongs." + product);
  if (p.V.shape() == p.Q.shape())
    to.add("v_for_do", {.dO_in_dP = right(p.V)}, "dP is V·Vᵀ here: V is read where dO belongs." + product);
  to.add("k_for_v_in_dp", {.V = right(p.K)}, "dP is dO·Kᵀ here: K is read where V belongs." + product);
  add_exchanged(to, "dp_exchanged", &GradientDeviation::dP_exchanged, "dP",
                to.is(Gradient::dQ) ? "queries: dP = dO·Vᵀ" : "keys: dPᵀ = V·dOᵀ");
  std::vector<Int> widths = tile_widths(p.Nk());
  widths.push_back(std::max<Int>(p.Nk(), 1));  // one tile has all: wrong only where delta is NaN or infinite
  for (const Int width : widths)
    to.add(
        "delta_of_a_tile", {.delta_of_tile = width},
        "What is subtracted from dP is the sum of P ∘ dP over one tile of keys. It has to be over all keys "
        "of the row: delta." +
            of_tiles(width));
  if (p.Nk() == p.D() && !to.plain_dO())
    to.add("v_not_transposed_in_dp", {.V = transposed(p.V)},
           "dP is dO·V here: V is not transposed." + product);
  for (const Int end : ends_of_whole_tiles(p.D()))
    if (end > 0)
      to.add("dim_tail_missing", {.dims_of_dP = end},
             "The last dimensions are missing from dP: those from " + std::to_string(end) + " on.");
}

/// S where dS belongs, in all tiles that a kernel goes to.
void add_scores_for_gradients(GradientCatalogue& to, const char* name, const std::string& of_scores,
                              const std::string& of_products) {
  const BackwardProblem& p = to.p();
  const Int Nq = p.Nq(), offset = p.Nk() - Nq;
  for (const Matrix matrix : {Matrix::products, Matrix::S})
    for (const Int width : {64, 32, 128}) {
      GradientDeviation how{.left = matrix};
      if (p.mask.causal)
        how.reached = [=, by_keys = to.is(Gradient::dK)](Int i, Int j) {
          const Int first_query = i / width * width, first_key = j / width * width;
          return by_keys ? first_query >= std::max(first_key - offset, Int{0}) / width * width
                         : first_key < std::min(first_query + width, Nq) + offset;
        };
      to.add(name, std::move(how), matrix == Matrix::S ? of_scores : of_products);
      if (!p.mask.causal) break;
    }
}

/// The last product of each result.
void add_products(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  const auto scale = static_cast<double>(p.scale);
  const auto left = [&](const char* name, Matrix matrix, const std::string& sentence) {
    to.add(name, {.left = matrix}, sentence);
  };
  const auto right_one = [&](const char* name, const Tensor<float>& x, const std::string& sentence) {
    to.add(name, {.right = right(x)}, sentence);
  };
  const bool same_shape = p.Q.shape() == p.K.shape();
  if (to.is(Gradient::dV)) {
    const std::string rule = " It should be Pᵀ·dO.";
    left("dv_from_dp", Matrix::dP, "dV is dPᵀ·dO here." + rule);
    left("dv_from_ds", Matrix::dS, "dV is dSᵀ·dO here." + rule);
    right_one("o_for_do", p.O, "dV is Pᵀ·O here: O is read where dO belongs." + rule);
    if (!to.plain_dO()) right_one("q_for_do", p.Q, "dV is Pᵀ·Q here: Q is read where dO belongs." + rule);
    if (same_shape) right_one("v_for_do", p.V, "dV is Pᵀ·V here: V is read where dO belongs." + rule);
    to.add("dv_scaled", {.factor = scale}, "dV is Pᵀ·dO·scale here." + rule);
  }
  if (to.is(Gradient::dK)) {
    const std::string rule = " It should be dSᵀ·Q·scale.";
    left("dk_from_p", Matrix::P, "dK is Pᵀ·Q·scale here." + rule);
    left("dk_from_dp", Matrix::dP, "dK is dPᵀ·Q·scale here." + rule);
    add_scores_for_gradients(to, "dk_from_s", "dK is Sᵀ·Q·scale here." + rule,
                             "dK is (Q·Kᵀ)ᵀ·Q·scale here." + rule);
    right_one("do_for_q", p.dO, "dK is dSᵀ·dO·scale here: dO is read where Q belongs." + rule);
    right_one("o_for_q", p.O, "dK is dSᵀ·O·scale here: O is read where Q belongs." + rule);
    if (same_shape) right_one("k_for_q", p.K, "dK is dSᵀ·K·scale here: K is read where Q belongs." + rule);
  }
  if (to.is(Gradient::dQ)) {
    const std::string rule = " It should be dS·K·scale.";
    left("dq_from_p", Matrix::P, "dQ is P·K·scale here." + rule);
    left("dq_from_dp", Matrix::dP, "dQ is dP·K·scale here." + rule);
    add_scores_for_gradients(to, "dq_from_s", "dQ is S·K·scale here." + rule,
                             "dQ is (Q·Kᵀ)·K·scale here." + rule);
    right_one("v_for_k", p.V, "dQ is dS·V·scale here: V is read where K belongs." + rule);
    if (same_shape) right_one("q_for_k", p.Q, "dQ is dS·Q·scale here: Q is read where K belongs." + rule);
  }
  if (to.has_dS()) {
    const std::string name = name_of(to.which());
    to.add("scale_missing", {.factor = 1 / scale},
           name + " lacks the scale: S is Q·Kᵀ·scale, so the scale is a factor of its gradients, too.");
    to.add("scale_twice", {.factor = scale},
           name + " is scaled twice. The scale is a factor of it once, in dS or in the end.");
    to.add("scale_inverted", {.factor = 1 / (scale * scale)},
           name + " is divided by the scale; it should be multiplied.");
    to.add("scale_with_log2e", {.factor = kLog2e},
           name +
               " is multiplied by scale · log2 e, the factor of scores for exp2f; the gradient's is the "
               "scale alone.");
    to.add("scale_with_ln2", {.factor = kLn2},
           name + " is multiplied by scale · ln 2; its factor is the scale alone.");
  }
  if (to.has_P() && p.Nq() == p.Nk()) {
    const bool of_P = to.is(Gradient::dV), of_dQ = to.is(Gradient::dQ);
    to.add(of_dQ ? "ds_transposed" : "not_transposed", {.left_transposed = true},
           of_P ? "dV is P·dO here: P has to be transposed. A query's row of P is a column of Pᵀ."
           : of_dQ
               ? "dQ is dSᵀ·K·scale here: dS must not be transposed."
               : "dK is dS·Q·scale here: dS has to be transposed. A query's row of dS is a column of dSᵀ.");
  }
}

/// Dropout, where the problem has it.
void add_dropout(GradientCatalogue& to) {
  if (!to.p().dropout || !to.has_P()) return;
  if (to.is(Gradient::dV)) {
    to.add("dropout_missing", {.dropout_in_dV = false},
           "dV takes the weights as they are before dropout. The forward pass multiplied V by P after it.");
    return;
  }
  to.add("dropout_missing", {.dropout_in_dP = false},
         "Nothing is dropped from dP: where the forward pass dropped a weight, dP is 0, and elsewhere it is "
         "multiplied by 1/(1 - p).");
  to.add("dropout_of_ds", {.dropout_in_dP = false, .dropout_in_dS = true},
         "dS is dropped here, delta included. Dropout belongs to dP: dS = P ∘ (dP ∘ factors - delta), and a "
         "dropped weight still has its part in the softmax.");
  to.add("dropout_in_ds_too", {.dropout_in_dS = true},
         "Dropout is applied to dP and once more to dS. It belongs to dP alone.");
}

}  // namespace

GradientCatalogue catalogue(const BackwardProblem& p, Gradient which) {
  GradientCatalogue to(p, which);
  add_delta(to);
  add_kept(to);
  add_weights(to);
  add_scores(to);
  add_products(to);
  add_dropout(to);
  add_views(to);
  add_heads(to);
  add_reading(to);
  add_rows(to);
  add_sink(to);
  add_output(to);
  return to;
}

}  // namespace course::attention_tests
