#include "attention/tile_mistakes.hpp"

#include <algorithm>
#include <utility>

namespace course::attention_tests {

TileMistakes::TileMistakes(const Problem& p, Int tile)
    : p_(p),
      T_(tile),
      offset_(p.Nk() - p.Nq()),
      window_(std::min(p.mask.window, p.Nq() + p.Nk())),
      tiles_(" (That is what tiles of " + std::to_string(tile) + " queries and keys give.)"),
      key_tiles_((p.Nk() + tile - 1) / tile) {
  meets_.assign(static_cast<std::size_t>((p.Nq() + tile - 1) / tile * key_tiles_), false);
  for (Int i = 0; i < p.Nq(); ++i)
    for (Int j = 0; j < p.Nk(); ++j)
      if (p.sees(i, j)) meets_[index_of(i, j)] = true;
}

bool TileMistakes::visited(Int i, Int j, bool by_keys) const {
  const Int first_position = down(i) + offset_, sinks = p_.mask.sinks;
  if (by_keys) {
    const Int last_key = std::min(down(j) + T_, p_.Nk()) - 1;
    const Int begin = p_.mask.causal ? down(std::max<Int>(down(j) - offset_, 0)) : 0;
    return down(i) >= begin && (down(j) < sinks || down(i) < last_key + window_ - offset_);
  }
  const Int begin = down(std::max<Int>(first_position - window_ + 1, 0));
  const Int end = p_.mask.causal ? std::min(down(i) + T_, p_.Nq()) + offset_ : p_.Nk();
  return down(j) < end && (down(j) >= begin || down(j) < sinks);
}

bool TileMistakes::whole(Int i, Int j) const {
  const Int first_position = down(i) + offset_, last_key = down(j) + T_ - 1;
  return (!p_.mask.causal || last_key <= first_position) &&
         (first_position + T_ - 1 - down(j) < window_ || last_key < p_.mask.sinks);
}

void TileMistakes::add_masked(Catalogue& to, const std::vector<NamedDeviation>& masks, bool by_keys) const {
  for (const NamedDeviation& one : masks)
    if (one.how.sees)
      to.add_view(
          one.name.c_str(),
          [*this, sees = one.how.sees, by_keys](Int i, Int j) {
            return j < p_.Nk() && visited(i, j, by_keys) && (whole(i, j) || sees(i, j));
          },
          one.sentence);
}

void TileMistakes::add_seen_if(Catalogue& to, const char* name, std::function<bool(Int i, Int j)> met,
                               const char* sentence) const {
  to.add_view(
      name, [&p = p_, met](Int i, Int j) { return p.sees(i, j) && met(i, j); }, sentence + tiles_);
}

void TileMistakes::add_keys(Catalogue& to) const {
  const auto add = [&](const char* name, std::function<bool(Int i, Int j)> met, const char* sentence) {
    add_seen_if(to, name, std::move(met), sentence);
  };
  const auto begin = [*this](Int i) { return down(std::max<Int>(down(i) + offset_ - window_ + 1, 0)); };
  const auto last_begin = [*this](Int i) {
    return down(std::max<Int>(std::min(down(i) + T_, p_.Nq()) + offset_ - window_, 0));
  };
  const Int sinks = p_.mask.sinks;
  add(
      "tiles_of_sinks_missing", [=](Int i, Int j) { return j >= begin(i); },
      "The tiles of the sinks before the window are not visited.");
  add(
      "later_sinks_missing", [=, T = T_](Int i, Int j) { return j < T || j >= begin(i); },
      "Only the first tile of sinks is visited before the window; sinks that lie behind it are missing.");
  add(
      "first_tile_of_window_missing",
      [=, *this](Int i, Int j) {
        return j < begin(i) || j >= begin(i) + T_ || (sinks > 0 && down(j) < std::max(sinks, T_));
      },
      "On the way from the sinks to the window, the first tile of the window is left out.");
  add(
      "early_tiles_missing", [=, *this](Int i, Int j) { return j >= last_begin(i) || down(j) < sinks; },
      "The tiles of keys begin with the window of the tile's last query. The first query's window begins "
      "earlier.");
  add(
      "first_tile_rounded_up",
      [=, *this](Int i, Int j) {
        return j >= down(std::max<Int>(down(i) + offset_ - window_ + 1, 0) + T_ - 1) || down(j) < sinks;
      },
      "The beginning of the window is rounded up to a whole tile, and the keys before that are missing.");
  add(
      "late_tiles_missing",
      [=, *this](Int i, Int j) { return !p_.mask.causal || down(j) <= down(i) + offset_; },
      "The tiles of keys end with the first query's position. The last query sees more.");
}

void TileMistakes::add_queries(Catalogue& to) const {
  const auto add = [&](const char* name, std::function<bool(Int i, Int j)> met, const char* sentence) {
    add_seen_if(to, name, std::move(met), sentence);
  };
  const auto last_key = [*this](Int j) { return std::min(down(j) + T_, p_.Nk()) - 1; };
  const Int sinks = p_.mask.sinks;
  add(
      "sinks_lose_far_queries",
      [=, *this](Int i, Int j) { return down(i) < last_key(j) + window_ - offset_; },
      "The queries of a tile of keys end with the window, also where the tile holds sinks: those are seen by "
      "all later queries.");
  add(
      "sinks_lose_far_queries",
      [=, *this](Int i, Int j) { return last_key(j) < sinks || down(i) < last_key(j) + window_ - offset_; },
      "In a tile of keys that holds sinks and other keys, the sinks lose the queries behind the window.");
  add(
      "far_queries_missing",
      [=, *this](Int i, Int j) { return down(j) < sinks || down(i) < down(j) + window_ - offset_; },
      "The queries of a tile of keys end where the window leaves its first key behind. Its last key is seen "
      "for longer.");
  if (offset_ != 0)
    add(
        "far_queries_missing",
        [=, *this](Int i, Int j) { return down(j) < sinks || down(i) < last_key(j) + window_; },
        "The last query that sees key j is j + window - 1 - (Nk - Nq); the offset is missing.");
  add(
      "early_queries_missing",
      [=, *this](Int i, Int j) { return !p_.mask.causal || down(i) + T_ > last_key(j) - offset_; },
      "The queries of a tile of keys begin with the one at its last key. Its first key is seen earlier.");
}

void TileMistakes::add_unmasked(Catalogue& to) const {
  const Int sinks = p_.mask.sinks;
  const auto add = [&](const char* name, std::function<bool(Int i, Int j)> unmasked, const char* sentence) {
    to.add_view(
        name,
        [*this, unmasked](Int i, Int j) {
          return p_.sees(i, j) || (j < p_.Nk() && meets(i, j) && unmasked(i, j));
        },
        sentence + tiles_);
  };
  const auto whole_ahead = [*this](Int i, Int j) {
    return !p_.mask.causal || down(j) + T_ - 1 <= down(i) + offset_;
  };
  add(
      "window_edge_unmasked",
      [=, *this](Int i, Int j) { return whole_ahead(i, j) && down(i) + offset_ - down(j) < window_; },
      "In tiles that a window begins in, keys older than the window are seen. Nothing is hidden only if the "
      "last query sees the first key, too.");
  add(
      "window_edge_unmasked", [=](Int i, Int j) { return whole_ahead(i, j); },
      "In tiles before the diagonal, keys older than the window are seen.");
  if (sinks > 0)
    add(
        "sinks_never_masked", [=, *this](Int i, Int j) { return whole_ahead(i, j) && down(j) < sinks; },
        "In tiles that hold a sink, all keys are seen. Only the first `sinks` keys are sinks.");
  add(
      "tiles_unmasked", [](Int, Int) { return true; }, "Every key of the tiles that meet is seen.");
}

}  // namespace course::attention_tests
