#pragma once
/// @file
/// Which mistake with ranges of tiles explains a wrong result, for masks with a window and sinks.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/problem.hpp"

namespace course::attention_tests {

/// Adds the views that come from wrong ranges of tiles of so many queries and keys.
class TileMistakes {
 public:
  TileMistakes(const Problem& p, Int tile);

  /// Keys that a tile of queries does not meet: in the forward pass and in dQ.
  void add_keys(Catalogue& to) const;

  /// Queries that a tile of keys does not meet: in dK and dV.
  void add_queries(Catalogue& to) const;

  /// Tiles that are taken for whole though something is hidden in them.
  void add_unmasked(Catalogue& to) const;

  /// Wrong masks of pairs, where the tiles that meet, and those in which nothing is hidden, are the right
  /// ones. They differ by what stays: keys (dK and dV), or queries.
  void add_masked(Catalogue& to, const std::vector<NamedDeviation>& masks, bool by_keys) const;

 private:
  Int down(Int row) const { return row >= 0 ? row / T_ * T_ : -((-row + T_ - 1) / T_) * T_; }

  /// Whether some query of i's tile sees some key of j's.
  bool meets(Int i, Int j) const { return i < p_.Nq() && j < p_.Nk() && meets_[index_of(i, j)]; }
  std::size_t index_of(Int i, Int j) const { return static_cast<std::size_t>(i / T_ * key_tiles_ + j / T_); }

  /// Whether the tile of i visits that of j, by the ranges of a right kernel, or the other way round.
  bool visited(Int i, Int j, bool by_keys) const;

  /// Whether every query of i's tile sees every key of j's.
  bool whole(Int i, Int j) const;

  /// Who is seen, of those that are met.
  void add_seen_if(Catalogue& to, const char* name, std::function<bool(Int i, Int j)> met,
                   const char* sentence) const;

  const Problem& p_;
  const Int T_, offset_, window_;
  const std::string tiles_;
  const Int key_tiles_;
  std::vector<bool> meets_;  ///< for each pair of tiles
};

}  // namespace course::attention_tests
