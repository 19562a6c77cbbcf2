#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/attention.hpp"
#include "steps/words.hpp"
#include "tensor/tensor.hpp"

/// The data of the page docs/steps.md: FlashAttention-2, forward, on a case that is small enough to read.
namespace course::steps {

inline constexpr std::int64_t kRows = 8;  ///< queries, and as many keys
inline constexpr std::int64_t kDim = 4;   ///< numbers in a query, key or value
inline constexpr std::int64_t kTile = 2;  ///< queries in a tile of queries, and keys in a tile of keys
inline constexpr std::int64_t kTiles = kRows / kTile;

/// One head of one batch. Multiples of 1/2 with a scale of 1/2, so that three decimals show a score exactly.
struct Problem {
  Tensor<float> Q, K, V;  ///< (1, 1, kRows, kDim)
  double scale;
};

/// The case of the page.
Problem problem();

/// A mistake of the kernel that the page can show. The reports on the page are those of lesson 09's mutants.
enum class Slip {
  none,
  output_not_rescaled,  ///< O keeps what it holds when the maximum rises
  tail_not_hidden,      ///< the place past the last key counts as a key with a score of 0
  base_2,               ///< exp2 where exp belongs, without log2 e
};

/// A position of the page's switches, as far as it means something.
struct Setting {
  std::string name;
  reference::Mask mask{};
  std::int64_t keys = kRows;  ///< with fewer than kRows, the last tile of keys reaches past them
  Slip slip = Slip::none;
  std::string right{};  ///< with a slip, the setting that has the right numbers
};

/// All keys; causal; causal with a window (lesson 12); that with a sink token (lesson 13); one key less than
/// its tiles hold. Then a setting for each slip, named as the mutant of lesson 09.
std::vector<Setting> settings();

/// The problem of a setting: K and V are 0 past the last key, as in shared memory.
Problem problem_of(const Setting& setting);

/// What a step does. `skip` stands for the four steps of a tile of keys that no query of the tile sees.
enum class Phase { load, scores, maximum, rescale, weights, store, skip };

using Column = std::array<double, kTile>;                    ///< a number for each query of the tile
using Scores = std::array<Column, kTile>;                    ///< [query][key]
using Output = std::array<std::array<double, kDim>, kTile>;  ///< [query][d]

/// What a block holds after a step. Empty is what it does not hold (yet, or any longer).
struct Step {
  Phase phase;
  std::int64_t query_tile;
  std::optional<std::int64_t> key_tile;  ///< none in `load` and `store`
  std::optional<Scores> S, P;
  Column m, l;
  std::optional<Column> m_new, factor;  ///< the maximum with this tile, and exp(m - m_new)
  Output O;                             ///< not divided by l
  Output result;                        ///< O / l; means nothing where l is 0
  std::optional<Column> lse;
  /// What the step does, in words: first for the tile, then for each query. What is written out with
  /// numbers stands on lines of its own.
  std::vector<std::string> says;
  std::optional<Question> asks;  ///< what the step answers
};

/// Whether the setting's kernel counts a key for a query: with tail_not_hidden, also one that is not there.
bool counts(const Setting& setting, std::int64_t query, std::int64_t key);

/// @brief The steps of all tiles of queries, one tile after the other, in the order of lesson 09's loop.
/// Every state between two tiles of keys is what reference::attention gives for the keys so far. The
/// recurrence of m, l and O has to lead from each to the next within 1e-12. With a slip, the states are
/// what the wrong recurrence gives.
/// @throws std::logic_error, naming queries and keys, if a right recurrence does not lead there.
std::vector<Step> steps_of(const Setting& setting);

/// The first step in which a factor is neither 0 nor 1, from 0; none if there is no such step.
std::optional<std::size_t> first_rescale(const std::vector<Step>& steps);

/// Everything that the page shows: the problem, and for each setting its mask, its steps and its results.
/// -inf is the string "-inf", and what a block does not hold is null.
nlohmann::json data();

/// data() and backward::data() as a script that sets window.flashSteps and window.flashBackward; ASCII.
std::string script();

/// The running state of query 0 with all keys, a row for each tile of keys, as a Markdown table.
std::string table();

}  // namespace course::steps
