#pragma once
/// @file
/// A model of wrong attention kernels in float64: what a kernel with a well-known mistake would give.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "attention/baseline.hpp"
#include "attention/problem.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// Where a kernel looks for element d of a row of one batch and head; right or wrong.
using Address = std::function<Int(Int b, Int h, Int row, Int d)>;

Address address_by(const Strides& strides);

/// An address that no element has: what is read there is 0, as tiles hold it outside of a matrix.
inline constexpr Int kZeroAddress = std::numeric_limits<Int>::min();

/// A tensor read by addresses; what lies outside of it is NaN.
struct Reader {
  const Tensor<float>* x;
  Address address;
  double operator()(Int b, Int h, Int row, Int d) const;
};

Reader right(const Tensor<float>& x);

/// @brief The matrix of each head transposed: rows and dims exchanged. Only where there are as many of both.
Reader transposed(const Tensor<float>& x);

/// A way to misread a tensor.
struct Misreading {
  std::string name, sentence;
  std::function<Address(const Tensor<float>& x)> address;
};

/// "head_ignored", "batch_ignored", "head_stride_wrong", "layout_assumed", ...
const std::vector<Misreading>& misreadings();

Reader misread(const Tensor<float>& x, const Misreading& how);

/// Whether it makes a difference in this layout.
bool matters(const Tensor<float>& x, const Misreading& how);

/// What becomes of a sum over earlier tiles when the next tile comes.
enum class Rescaling {
  right,                 ///< times exp(m_old - m_new)
  never,                 ///< kept as it is
  inverse,               ///< times exp(m_new - m_old), but for the 0 of the first tile
  inverse_of_minus_inf,  ///< the same also there, where that is inf · 0
  truncated,             ///< times that factor as an integer: 0, or 1 where m stays as it is
  forgotten,             ///< replaced by the sum over the next tile
};

enum class Maximum {
  running,           ///< of all keys so far
  of_tile,           ///< of each tile, with exponentials relative to it and nothing rescaled
  of_tile_rescaled,  ///< of each tile, rescaled as float32 does: where it falls by 89, the factor is infinite
  none,              ///< 0, with exponentials that overflow and vanish as those of float32 do
};

enum class Division { by_l, none, twice, by_tile };  ///< by_tile: each tile's part by that tile's own sum

/// What has become of a row when its last key is done, without the sink. m_tile and l_tile are those of the
/// last tile that has keys to see.
struct RowEnd {
  double m, l, m_tile, l_tile;
};

/// How a kernel deviates from the right one; by default it does not. Several fields may be set at once.
struct Deviation {
  static constexpr Int kAll = std::numeric_limits<Int>::max();

  // What is read.
  std::optional<Reader> Q{}, K{}, V{};
  std::function<Int(Int h)> k_head{}, v_head{};  ///< h_kv of a query head

  // Scores.
  std::optional<double> scale{};             ///< instead of the argument
  double score_factor = 1;                   ///< on top of the scale
  Int dims = kAll;                           ///< sums over dims [0, dims)
  std::function<bool(Int i, Int j)> sees{};  ///< instead of the mask; also asked for keys from Nk on
  bool hidden_score_0 = false;               ///< keys that the mask hides count, with a score of 0
  Int end_value = kAll;                      ///< from here on, keys are left out of the sum over V alone

  // The recurrence.
  Int tile = 0;              ///< keys at once; 0: all
  bool tail_counts = false;  ///< the last tile is filled up with keys of score 0 and value 0
  bool tail_is_0 = false;    ///< even where a query is infinite: the scores were set to 0
  bool base_2 = false;       ///< powers of 2 instead of e
  bool base_2_of_P = false;  ///< the same in P, but not in what rescales
  Maximum maximum = Maximum::running;
  double first_m = -std::numeric_limits<double>::infinity();  ///< what m begins with
  Rescaling of_O = Rescaling::right, of_l = Rescaling::right;

  // The end of a row.
  Division division = Division::by_l;
  double factor_of_O = 1;
  bool empty_is_divided = false;               ///< 0/0 is not caught where all exponentials vanish
  std::function<double(const RowEnd&)> lse{};  ///< replaces log Σ exp; gets the sink in l and m

  // The learned sink.
  double sink_factor = 1;                 ///< 0.125: scaled by that, like a score
  Int sinks_counted = 1;                  ///< exp(sink) so many times in l; 0: left out
  bool sink_relative = true;              ///< false: exp(sink) instead of exp(sink - m)
  std::function<Int(Int h)> sink_head{};  ///< whose sink head h takes
  std::function<Int(Int i)> sink_of{};    ///< whose sink query i takes, in every head
};

/// @brief What a kernel that deviates so gives. O stays empty, of shape (0), unless it is `wanted`.
/// Cost: 4 · B · H · Nq · Nk · D operations in float64; half of it without O.
Forward64 deviate(const Problem& p, const Deviation& how, Which wanted = Which::O);

/// @brief One row of that: D numbers of O, or one of the others. Rows are counted through all batches and
/// heads. Cost: that of reading K and V of one head, and 4 · Nk · D operations.
std::vector<double> deviate_in_row(const Problem& p, const Deviation& how, Which wanted, Int row);

/// @brief The results of a kernel whose scores are `S(b, h, i, j)`; -inf says hidden.
/// Cost: that of S, and 4 · B · H · Nq · Nk · D operations in float64.
Forward64 from_scores(const Problem& p, const std::function<double(Int b, Int h, Int i, Int j)>& S);

}  // namespace course::attention_tests
