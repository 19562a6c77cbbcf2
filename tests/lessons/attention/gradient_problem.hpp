#pragma once
/// @file
/// What a test of the backward pass of attention calls a kernel with.

#include "attention/problem.hpp"
#include "reference/attention.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// A problem of the forward pass, and what the backward pass gets from elsewhere. Made by with_gradient();
/// whoever changes Q, K, V, scale, mask or sink afterwards has an O and an lse that do not belong to them.
struct BackwardProblem : Problem {
  Tensor<float> dO;   ///< (B, H, Nq, D)
  Tensor<float> O;    ///< (B, H, Nq, D), in layout_of_O: the reference's, rounded to float32
  Tensor<float> lse;  ///< (B, H, Nq), in layout_of_lse: the reference's, rounded to float32
  Layout layout_of_delta = Layout::heads_outside, layout_of_dQ = Layout::heads_outside,
         layout_of_dK = Layout::heads_outside, layout_of_dV = Layout::heads_outside;
  /// The forward pass in float64; of a problem of 16 bits, O is the one that the kernel is handed, so that
  /// what its rounding does to delta is right.
  reference::Attention exact{};
};

/// @brief A random dO, with values about 1 instead of 0, so that what is left out shows; O and lse in the
/// problem's layouts; results in the layouts of what they are gradients of, delta in that of lse.
/// Takes whatever problem.hpp makes. Infinities and NaN: the reference gives a key of weight 0 no part in a
/// gradient, but a kernel's products make 0 · inf = NaN of an infinity in Q or K. So with_empty_rows() and
/// with_keys_of_minus_inf() are fair only to kernels that select; with_scores_of_minus_inf() and masks that
/// leave rows empty are fair to all. with_not_numbers() is fair without a mask, with_nan_keys() where whole
/// tiles are hidden.
BackwardProblem with_gradient(const Problem& p);

/// @brief The same with a given dO of shape (B, H, Nq, D). A problem of 16 bits has dO and O of its type.
BackwardProblem with_gradient(const Problem& p, Tensor<float> dO);

/// @brief Other layouts for what a forward problem does not have. dO keeps its elements.
BackwardProblem with_layouts_of_gradients(BackwardProblem p, Layout dO, Layout dQ, Layout dK, Layout dV,
                                          Layout delta);

/// @brief All inputs and results with gaps, which hold `gap` in the inputs.
BackwardProblem with_gaps(const BackwardProblem& p, float gap = 1000.0f);

/// @brief Scores that are -inf in float32, while all of Q and K is finite: of the first `first` keys in the
/// first head and of every third key in the last. Needs two heads of K, more keys than `first`, and what
/// random_problem() made. In float64 those scores are below -1e38, and their weights 0.
Problem with_scores_of_minus_inf(Problem p, Int first);

/// @brief dO of one query, and the values of all keys that have no part in its O, hidden or dropped, are so
/// large that dP of the two is infinite in float32. All gradients are finite. float16 has no such numbers.
BackwardProblem with_infinite_products(Problem p);

/// @brief NaN in O, in dO and in lse, each in a row of a head of its own. Needs three heads of K, at least 2
/// queries, and no mask.
BackwardProblem with_not_numbers_of_results(BackwardProblem p);

// What shows the intermediates, which no kernel writes: one batch, one head, and n queries, n keys and n
// dimensions. dO is the identity, so that dV is Pᵀ, dP is Vᵀ and delta the diagonal of O.

/// K is this times the identity, or Q is: Q·Kᵀ is then the other matrix times this.
inline constexpr float kIdentityFactor = 2.0f;

/// @brief K is the identity times kIdentityFactor: dQ is dS · scale · kIdentityFactor.
BackwardProblem identity_in_K(Int n, const reference::Mask& mask = {}, bool sink = false);

/// @brief Q is the identity times kIdentityFactor: dK is dSᵀ · scale · kIdentityFactor.
BackwardProblem identity_in_Q(Int n, const reference::Mask& mask = {}, bool sink = false);

}  // namespace course::attention_tests
