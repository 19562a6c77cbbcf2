#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/gradient_catalogue.hpp"

namespace course::attention_tests {
namespace {

constexpr const char* kHiddenScore0 =
    "Where a query must not see a key, the score counts as 0 here, and P is exp(0 - lse). P has to be 0.";

/// Tiles of queries that are left out, or replace what the others have added.
void add_query_tiles(GradientCatalogue& to, Catalogue& views) {
  const Problem& p = to.p();
  const Int Nq = p.Nq(), past = p.Nk() - Nq;
  for (const Int end : ends_of_whole_tiles(Nq))
    views.add_view(
        "query_tail_missing", [&p, end](Int i, Int j) { return i < end && p.sees(i, j); },
        "The last queries are missing: those from " + std::to_string(end) + " on.");
  for (const Int width : tile_widths(Nq)) {
    const Int last = (Nq - 1) / width * width;
    views.add_view(
        "first_query_tile_only", [&p, width](Int i, Int j) { return i < width && p.sees(i, j); },
        "Only the first " + std::to_string(width) +
            " queries are there: the loop over tiles of queries ends too early.");
    views.add_view(
        "last_query_tile_only", [&p, last](Int i, Int j) { return i >= last && p.sees(i, j); },
        "Only the queries from " + std::to_string(last) +
            " on are there: every tile of queries replaces what the others have added, or the others are "
            "passed by.");
    if (Nq % width == 0)
      views.add_view(
          "last_query_tile_missing", [&p, last](Int i, Int j) { return i < last && p.sees(i, j); },
          "The last tile of queries is missing: the queries from " + std::to_string(last) + " on.");
    if (p.mask.causal && past > 0 && !to.is(Gradient::dQ))  // dQ's loop is over keys
      views.add_view_too(
          "first_query_without_offset",
          [&p, width](Int i, Int j) { return i / width >= j / width && p.sees(i, j); },
          "The loop over queries begins with query j, for a tile that begins with key j. The first query "
          "that sees key j is j - (Nk - Nq)." +
              of_query_tiles(width));
  }
}

void add_key_tiles(GradientCatalogue& to, Catalogue& views) {
  const Problem& p = to.p();
  if (!to.is(Gradient::dQ)) return;
  for (const Int width : tile_widths(p.Nk())) {
    const Int last = (p.Nk() - 1) / width * width;
    views.add_view(
        "last_tile_only", [&p, last](Int i, Int j) { return j >= last && p.sees(i, j); },
        "Only the keys from " + std::to_string(last) +
            " on are there: every tile of keys replaces what the others have added.");
  }
}

/// The causal mask where only the mask of some tiles is wrong, and the tiles that meet are the right ones.
void add_causal_tiles(GradientCatalogue& to, Catalogue& views) {
  const Problem& p = to.p();
  const Int Nq = p.Nq(), offset = p.Nk() - Nq;
  if (!p.mask.causal || p.mask.window != kAllKeys) return;
  bool overflows = false;  // then any finite score is as good as 0
  for (Int i = 0; i < to.p().lse.numel(); ++i) {
    const float lse = to.p().lse.at_linear(i);  // -inf where a query sees no key, which a kernel tells apart
    overflows = overflows || (lse != -kInf && std::exp(-lse) > 1e38f);
  }
  for (const Int width : {64, 32, 128, 16}) {
    // Whether the tiles of a query and a key meet, and whether every query of the one sees every key of the
    // other.
    const auto meet = [=](Int i, Int j) {
      return std::min((i / width + 1) * width, Nq) - 1 + offset >= j / width * width;
    };
    const auto whole = [=](Int i, Int j) {
      return (j / width + 1) * width - 1 <= i / width * width + offset;
    };
    const auto masked = [&](const char* name, auto hidden, const std::string& sentence) {
      for (const bool everywhere : {true, false})
        views.add_view_too(
            name, [=](Int i, Int j) { return meet(i, j) && ((!everywhere && whole(i, j)) || !hidden(i, j)); },
            sentence);
    };
    masked(
        "mask_top_left", [](Int i, Int j) { return j > i; },
        "Query i stands at key i here. It stands at key i + Nk - Nq, so that the last query stands at the "
        "last key.");
    if (!overflows)
      to.add("hidden_keys_score_0", {.hidden_score_0 = true, .empty_row_guarded = true, .reached = meet},
             kHiddenScore0);
    if (offset != 0)
      masked(
          "mask_offset_negated", [=](Int i, Int j) { return j > i - offset; },
          "Query i stands at key i - (Nk - Nq) here. It stands at key i + Nk - Nq.");
    masked(
        "mask_flipped", [=](Int i, Int j) { return j < i + offset; },
        "The causal mask hides the keys before the query's position. It should hide those past it.");
    views.add_view_too(
        "diagonal_tiles_unmasked",
        [=, &p](Int i, Int j) {
          return p.sees(i, j) || (meet(i, j) && j / width * width <= i / width * width + offset);
        },
        "In tiles that the diagonal crosses, keys past the query's position are seen. (tiles of " +
            std::to_string(width) + " queries and as many keys)");
    if (to.is(Gradient::dQ) && offset > 0)
      views.add_view_too(
          "keys_end_without_offset",
          [=, &p](Int i, Int j) {
            return p.sees(i, j) && j / width * width < std::min((i / width + 1) * width, Nq);
          },
          "In dQ, the loop over keys ends at the row of the tile's last query. It should end at that query's "
          "position, Nk - Nq farther." +
              of_query_tiles(width));
  }
}

/// The windowed mask where the query's row is taken for its position, and the tiles that meet are the right
/// ones.
void add_window_top_left(GradientCatalogue& to) {
  const Problem& p = to.p();
  const Int Nq = p.Nq(), Nk = p.Nk(), offset = Nk - Nq;
  if (!p.mask.causal || p.mask.window == kAllKeys || offset == 0) return;
  for (const Int width : {64, 32}) {
    std::set<std::pair<Int, Int>> meeting;
    for (Int i = 0; i < Nq; ++i)
      for (Int j = 0; j < Nk; ++j)
        if (p.sees(i, j)) meeting.emplace(i / width, j / width);
    to.add("mask_top_left",
           {.sees =
                [=, mask = p.mask](Int i, Int j) {
                  return meeting.contains({i / width, j / width}) &&
                         reference::sees(mask, i - offset, j, Nq, Nk);
                }},
           "Query i stands at key i here. It stands at key i + Nk - Nq, so that the last query stands at the "
           "last key.");
  }
}

/// Whether the view lacks the last keys (or queries), in whole tiles, and nothing else: those rows of dK and
/// dV (or dQ) are 0 then, and a pattern says so.
bool leaves_rows_out(const Problem& p, const std::function<bool(Int i, Int j)>& sees, bool keys) {
  const Int rows = keys ? p.Nk() : p.Nq(), others = keys ? p.Nq() : p.Nk();
  Int end = rows;
  for (Int row = 0; row < rows; ++row)
    for (Int other = 0; other < others; ++other) {
      const Int i = keys ? other : row, j = keys ? row : other;
      const bool seen = sees(i, j);
      if (seen != p.sees(i, j)) end = std::min(end, row);
      if (seen && row >= end) return false;
    }
  return end < rows && end % 8 == 0;
}

/// The row that a guard against reading beyond the end repeats.
void add_repeated_rows(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  const bool by_keys = !to.is(Gradient::dQ);
  const Int size = by_keys ? p.Nq() : p.Nk();
  for (const Int width : {16, 32, 64, 128}) {
    const Int extra = (width - size % width) % width;
    if (extra == 0) continue;
    const auto times = [by_keys, size, extra](Int i, Int j) {
      return (by_keys ? i : j) == size - 1 ? 1.0 + static_cast<double>(extra) : 1.0;
    };
    to.add(by_keys ? "last_query_repeated" : "last_key_repeated", {.times = times},
           by_keys
               ? "The last query counts once for every row of its tile that is not there." +
                     of_query_tiles(width)
               : "The last key counts once for every row of its tile that is not there." + of_tiles(width));
  }
}

}  // namespace

std::string of_query_tiles(Int width) {
  return " (That is what tiles of " + std::to_string(width) + " queries give.)";
}

void add_views(GradientCatalogue& to) {
  if (!to.has_P() || to.p().Nq() == 0 || to.p().Nk() == 0) return;
  Catalogue views(to.p(), Which::O);
  add_mask(views);
  add_missing_keys(views);
  add_query_tiles(to, views);
  add_key_tiles(to, views);
  add_causal_tiles(to, views);
  const bool by_keys = !to.is(Gradient::dQ);
  for (const NamedDeviation& one : views.deviations()) {
    if (!one.how.sees || one.how.tail_counts) continue;
    if (leaves_rows_out(to.p(), one.how.sees, by_keys)) continue;
    to.add(one.name.c_str(), {.sees = one.how.sees}, one.sentence);
  }
  if (to.p().mask.causal || to.p().mask.window != kAllKeys)
    to.add("hidden_keys_score_0", {.hidden_score_0 = true, .empty_row_guarded = true}, kHiddenScore0);
  add_window_top_left(to);
  add_repeated_rows(to);
}

}  // namespace course::attention_tests
