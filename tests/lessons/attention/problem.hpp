#pragma once
/// @file
/// What a test of an attention kernel calls it with.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "reference/attention.hpp"
#include "tensor/float16.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

using Int = std::int64_t;

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr Int kAllKeys = std::numeric_limits<Int>::max();  ///< a window that hides nothing

struct Sizes {
  Int B, H, Nq, Nk, D;
  Int H_kv = 0;  ///< 0: as many as H
};

/// How the elements of a tensor (B, H, N, D) or (B, H, N) lie in memory.
enum class Layout {
  heads_outside,  ///< [batch, head, seq, dim], without gaps
  heads_inside,   ///< [batch, seq, head, dim], without gaps; of rank 3, the heads are side by side
  heads_first,    ///< [head, batch, seq, dim], without gaps
  seq_first,      ///< [seq, batch, head, dim], without gaps
  batch_inside,   ///< [head, seq, batch, dim], without gaps
  batch_last,     ///< [seq, head, batch, dim], without gaps
  packed,         ///< a third of [batch, seq, 3, head, dim]: Q, K or V where one product made them all
  far_apart,      ///< [batch, head, seq, dim], with gaps behind rows of several times their length
  gaps,           ///< [batch, head, seq, dim], with gaps of another size behind every axis
  gaps_of_8,      ///< the same with multiples of 8, so that rows of 16 bits begin at multiples of 16 bytes
  rows_of_4,      ///< the same with rows that begin at multiples of 4 numbers, while heads and batches do not
  heads_of_4,     ///< the same with rows and heads that do, while batches do not
};

/// @throws std::invalid_argument unless the rank is 3 or 4.
Strides strides_of(const Shape& shape, Layout layout);

/// @brief Layouts of so many tensors, for one call after the other: of any two tensors, each is the one that
/// lies in `odd` while the other has no gaps.
std::vector<std::vector<Layout>> every_two_apart(std::size_t tensors, Layout odd);

/// The same elements in another layout; gaps hold `gap`.
Tensor<float> lay_out(const Tensor<float>& dense, Strides strides, float gap = 1000.0f);
Tensor<float> lay_out(const Tensor<float>& dense, Layout layout, float gap = 1000.0f);

/// The same elements, each axis with twice its stride: those of a row do not lie side by side.
Tensor<float> spread(const Tensor<float>& x);
/// The same, with strides that are drawn: each axis with 2 to 9 times its stride, or columns side by side.
Tensor<float> spread(const Tensor<float>& x, Random& random);

/// @brief The same elements, side by side in a row. Strides are multiples of 8, but for that of one axis,
/// which is drawn among those with more than one index.
Tensor<float> off_chunks(const Tensor<float>& x, Random& random);

/// Rounds every element, and the gaps.
void round_to(Tensor<float>& x, Format16 format);

/// Which weights are dropped, and what the others are multiplied by on their way into O.
struct Dropout {
  float p = 0;
  std::uint64_t seed = 0;
  Tensor<float> factors{};  ///< (B, H, Nq, Nk): 0, or 1/(1 - p) where the weight is kept
};

/// Where a drawn problem's arrays may lie, if D is a multiple of 4.
enum class Placed {
  anywhere,
  aligned,  ///< they and their rows begin at multiples of 16 bytes
  dense,    ///< and each is [batch, head, seq, dim] without gaps
};

struct Problem {
  Tensor<float> Q, K, V;  ///< (B, H, Nq, D), (B, H_kv, Nk, D), (B, H_kv, Nk, D)
  float scale;
  reference::Mask mask{};
  std::optional<Tensor<float>> sink{};  ///< (H)
  Layout layout_of_O = Layout::heads_outside;
  Layout layout_of_lse = Layout::heads_outside;  ///< of every result of shape (B, H, Nq)
  std::optional<Dropout> dropout{};              ///< changes O alone; lse, m and l know nothing of it
  /// The type of Q, K, V, O, dO and their gradients, where it has 16 bits. The tensors hold its numbers in
  /// float32, which the references and baselines compute with; whoever calls a kernel converts them.
  std::optional<Format16> format{};
  Placed placed = Placed::anywhere;

  Int B() const { return Q.shape()[0]; }
  Int H() const { return Q.shape()[1]; }
  Int H_kv() const { return K.shape()[1]; }
  Int Nq() const { return Q.shape()[2]; }
  Int Nk() const { return K.shape()[2]; }
  Int D() const { return Q.shape()[3]; }
  Shape shape_of_O() const { return Q.shape(); }
  Shape shape_of_lse() const { return {B(), H(), Nq()}; }
  Shape shape_of_S() const { return {B(), H(), Nq(), Nk()}; }
  bool sees(Int i, Int j) const { return reference::sees(mask, i, j, Nq(), Nk()); }
};

/// @brief The multiply-adds of `products` products of matrices such as Q·Kᵀ and P·V, of keys that are seen.
std::uint64_t multiply_adds_of(const Problem& p, Int products);

/// "B = 2, H = 3, Nq = 70, ... causal", for INFO.
std::string describe(const Problem& p);

/// @brief The reference's results, with all that a problem holds.
reference::Attention attention_of(const Problem& p);

/// @brief Whether the exponential of no score overflows: else many mistakes give NaN. -inf, of hidden keys,
/// may be there.
bool have_ordinary_exponentials(const Tensor<double>& S);

/// Scores of about -3 to 3, and values about 2 instead of 0, so that what is left out shows. The scale is
/// 1/sqrt(D), other than 1 for D = 1, too. Data depend on the case's seed.
Problem random_problem(const Sizes& n, const reference::Mask& mask = {});

/// @brief A multiple of `step` above 64 and up to 128, that no kernel knows beforehand: many kernels take
/// other ways for so many dimensions.
Int many_dimensions(Int step = 1);

/// @brief A sink for every head, from -2 to 2 and no two alike.
Problem with_sink(Problem p);

/// @brief Weights P_ij are dropped where kept(b, h, i, j) is false; the others are multiplied by 1/(1 - p).
Problem with_dropout(Problem p, float probability, std::uint64_t seed,
                     const std::function<bool(Int b, Int h, Int i, Int j)>& kept);

Problem with_layouts(Problem p, Layout Q, Layout K, Layout V, Layout O);

/// @brief Q, K and V rounded to 16 bits; O is of that type, too. Comes after whatever else changes a problem.
Problem in_16_bits(Problem p, Format16 format);

/// @brief The layout with gaps that a kernel of the problem's type must take.
inline Layout layout_with_gaps(const Problem& p) { return p.format ? Layout::gaps_of_8 : Layout::gaps; }

/// @brief All tensors with gaps, which hold `gap` in the inputs.
Problem with_gaps(const Problem& p, float gap = 1000.0f);

// Inputs on which wrong kernels go wrong. What is given must have come from random_problem().

/// @brief Scores of about -25 to 25.
Problem with_large_scores(Problem p);

/// @brief Whole numbers whose products and sums are exact in float32; scores from about -1000 to 1000.
Problem with_whole_scores(Problem p);

/// @brief The largest score is that of the smallest product. In the second head the two lie so far apart that
/// exp of their difference overflows. Needs two heads.
Problem with_negative_scale(Problem p);

/// @brief `shift` is added to every score: 1000 or -1000, say.
Problem with_shifted_scores(Problem p, float shift);

/// @brief `step` times the key's number is added to every score: with a causal mask, what is hidden is above
/// what is seen.
Problem with_growing_scores(Problem p, float step);

/// @brief Scores climb or fall along the keys, by steps of 64, or leap: who takes them relative to another
/// number than the largest of the row, or multiplies what is hidden by 0, has infinities. Learned sinks lie
/// among the scores, or 2000 above or below: above in the last of several heads, and not in the first.
Problem with_steep_scores(Problem p, Random& random);

/// @brief `shift` is added to every score of queries 0, 2, 4 and 6, and subtracted from those of all others:
/// what a row takes from a neighbour is seen in the first queries, and is not what all low rows have in
/// common.
Problem with_opposite_shifts(Problem p, float shift);

/// @brief The scores of query 3, and of the last, are all -inf in the first head; those of query 0 in the
/// last head. Needs at least 4 queries.
Problem with_empty_rows(Problem p);

/// @brief Scores of -inf in every row: of the first `first` keys in the first head (a whole tile and more)
/// and of every third key in the last. Needs two heads of K.
Problem with_keys_of_minus_inf(Problem p, Int first);

/// @brief NaN and infinities in one row of Q, one key and some values, each in a head of its own, at places
/// that depend on the case's seed; the values are among those of the first 31 keys. Needs sizes of at least
/// {2, 3, 30, 40, 20} with as many heads of K as of Q.
Problem with_not_numbers(Problem p);

/// @brief Each column of V has an infinity in the first head and in the last, in a key of its own from the
/// first to the last of all, which depends on the case's seed.
Problem with_infinite_values(Problem p);

/// @brief With the same mask, type and group, and a learned sink where `like` has one, but of sizes that no
/// kernel knows beforehand: two batches or more, and no two sizes of a tensor alike but B and H.
Problem of_other_sizes(const Problem& like);

/// D is a multiple of this.
inline Int step_of_dims(const Problem& p) { return p.format ? 8 : 1; }

/// @brief Up to 20 queries, 40 keys and 16 dimensions more, which no kernel knows beforehand.
Sizes larger(Sizes n);

/// @brief The same, but of one query: a grid for its tiles has one block along them.
Sizes larger_of_one_query(Sizes n);

/// @brief One key has a weight of e^-20 to e^-80, and a value as large as the weight is small: it makes about
/// half of O. In each head of each batch.
Problem with_small_weight(const Sizes& n);

/// @brief NaN in K, and infinity in V, of the keys [first, end), in every head. The results of queries that
/// see none of them must not change.
Problem with_nan_keys(Problem p, Int first, Int end);

}  // namespace course::attention_tests
