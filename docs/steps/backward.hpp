#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/attention.hpp"
#include "steps/words.hpp"
#include "tensor/tensor.hpp"

/// The data of the page docs/steps_backward.md: FlashAttention-2, backward, as the three kernels of lesson 15
/// do it, on a case that is small enough to read.
namespace course::steps::backward {

inline constexpr std::int64_t kRows = 4;  ///< queries, and as many keys
inline constexpr std::int64_t kDim = 2;   ///< numbers in a query, key or value
inline constexpr std::int64_t kTile = 2;  ///< queries in a tile of queries, and keys in a tile of keys
inline constexpr std::int64_t kTiles = kRows / kTile;

/// One head of one batch, and the gradient dO of its output. Multiples of 1/2 with a scale of 1/2.
struct Problem {
  Tensor<float> Q, K, V, dO;  ///< (1, 1, kRows, kDim)
  double scale;
};

/// The case of the page.
Problem problem();

/// All keys, or causal.
struct Setting {
  std::string name;
  reference::Mask mask{};
};
std::vector<Setting> settings();

/// The kernels, one after the other: delta; dK and dV of a tile of keys; dQ of a tile of queries.
enum class Kernel { delta, keys, queries };

/// What a step does. `skip` stands for all steps of a pair of tiles of which no query sees a key.
enum class Phase { delta, load, weights, gradients, dV, dK, dQ, store, skip };

using Column = std::array<double, kTile>;                  ///< a number for each query of the tile
using Tile = std::array<Column, kTile>;                    ///< [query][key]
using Rows = std::array<std::array<double, kDim>, kTile>;  ///< [row of the tile][d]

/// What a block holds after a step. Empty is what it does not hold (yet, or any longer).
struct Step {
  Kernel kernel;
  Phase phase;
  std::optional<std::int64_t> query_tile, key_tile;
  std::optional<Column> lse, delta;  ///< of the tile of queries
  std::optional<Tile> S, P, dP, dS;
  std::optional<Rows> dV, dK, dQ;  ///< sums so far; dK and dQ without the scale until they are stored
  /// What the step does, in words: first for the tile, then a sum that is written out.
  std::vector<std::string> says;
  std::optional<Question> asks;  ///< what the step answers
};

/// @brief The steps of all blocks of the three kernels, one after the other. S, P, lse and delta are those of
/// the reference; what is stored has to be its dQ, dK and dV within 1e-12.
/// @throws std::logic_error, naming tensor and row, if it is not.
std::vector<Step> steps_of(const Setting& setting);

/// Everything that the page shows. -inf is the string "-inf", and what a block does not hold is null.
nlohmann::json data();

}  // namespace course::steps::backward
