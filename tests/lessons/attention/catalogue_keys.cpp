#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "attention/catalogue.hpp"

namespace course::attention_tests {

void add_heads(Catalogue& to) {
  const Problem& p = to.p();
  const Int H = p.H(), H_kv = p.H_kv();
  if (H == H_kv || H_kv == 0) return;
  const auto add = [&](const char* name, const std::function<Int(Int)>& head, const std::string& sentence) {
    to.add(name, {.k_head = head, .v_head = head}, sentence);
    to.add(name, {.k_head = head}, "In K: " + sentence);
    to.add(name, {.v_head = head}, "In V: " + sentence);
  };
  const std::string rule = " Heads that share lie side by side: h_kv is h / (H / H_kv).";
  add(
      "heads_modulo", [H_kv](Int h) { return h % H_kv; }, "Head h reads head h % H_kv of K and V." + rule);
  add(
      "kv_head_not_divided", [](Int h) { return h; },
      "Head h reads head h of K and V, which have fewer heads." + rule);
  if (H_kv > 1)
    add(
        "heads_divided_by_h_kv", [H_kv](Int h) { return h / H_kv; },
        "Head h reads head h / H_kv of K and V." + rule);
}

void add_mask(Catalogue& to) {
  const Problem& p = to.p();
  const reference::Mask& mask = p.mask;
  const Int Nq = p.Nq(), Nk = p.Nk(), past = Nk - Nq;
  const auto add = [&](const char* name, std::function<bool(Int, Int)> sees, const std::string& sentence) {
    to.add_view(name, std::move(sees), sentence);
  };
  const auto with = [Nq, Nk, mask](auto change) {
    reference::Mask other = mask;
    change(other);
    return [=](Int i, Int j) { return reference::sees(other, i, j, Nq, Nk); };
  };
  const auto shifted = [Nq, Nk, mask](Int by) {
    return [=](Int i, Int j) { return reference::sees(mask, i + by, j, Nq, Nk); };
  };
  const bool windowed = mask.window < kAllKeys;
  if (!mask.causal && !windowed) return;

  to.add("hidden_keys_score_0", {.hidden_score_0 = true},
         "Keys that a query must not see count with a score of 0. exp(0) is 1: their score has to be -inf.");
  if (past != 0)
    add("mask_top_left", shifted(-past),
        "Query i stands at key i here. It stands at key i + Nk - Nq, so that the last query stands at the "
        "last key.");
  if (mask.causal) {
    add("causal_ignored", with([](reference::Mask& m) { m.causal = false; }),
        "Keys past the query's position are seen.");
    const auto move_edge = [=, &p](Int by) {  // leaves window and sinks as they are
      reference::Mask rest = mask;
      rest.causal = false;
      return [=](Int i, Int j) { return reference::sees(rest, i, j, Nq, Nk) && j <= i + past + by; };
    };
    add("diagonal_hidden", move_edge(-1), "A query does not see the key at its own position; it should.");
    add("key_ahead_seen", move_edge(1), "A query sees the key just past its position; it must not.");
    for (Int width = 16; width <= 128; width *= 2) {
      const std::string tiles = "tiles of " + std::to_string(width) + " queries and as many keys";
      add(
          "diagonal_tiles_unmasked",
          [=, &p](Int i, Int j) {
            const Int last_query = std::min((i / width + 1) * width, Nq) - 1;
            return p.sees(i, j) || (j > i + past && j < Nk && j / width * width <= last_query + past);
          },
          "In tiles that the diagonal crosses, keys past the query's position are seen. (" + tiles + ")");
      add(
          "diagonal_tiles_missing",
          [=, &p](Int i, Int j) {
            return p.sees(i, j) && (j / width + 1) * width - 1 <= i / width * width + past;
          },
          "Tiles that the diagonal crosses are left out; queries see a part of their keys. (" + tiles + ")");
    }
  }
  if (windowed) {
    add("window_ignored", with([](reference::Mask& m) { m.window = kAllKeys; }),
        "Keys older than the window are seen.");
    if (mask.causal)
      for (const Int by : {-1, 1})
        add("position_off_by_one", shifted(by),
            by < 0 ? "Every query sees what the query before it should see: its position is one too small."
                   : "Every query sees what the query past it should see: its position is one too large.");
    add("window_one_more", with([](reference::Mask& m) { ++m.window; }),
        "The window is one key too long: the query's own key is one of its keys, and the oldest is one too "
        "many.");
    const std::array windows{mask.window, std::min(mask.window, Nk)};  // some limit it to all keys first
    for (const Int window : windows)
      add("window_one_less", with([window](reference::Mask& m) { m.window = window - 1; }),
          "The window is one key too short: its oldest key is missing.");
    if (past != 0 && mask.causal)
      for (const Int window : windows)
        add(
            "window_top_left",
            [=](Int i, Int j) { return j <= i + past && (i - j < window || j < mask.sinks); },
            "The window is counted from key i. It is counted from key i + Nk - Nq, the query's position.");
    if (mask.sinks > 0) {
      add("sinks_ignored", with([](reference::Mask& m) { m.sinks = 0; }),
          "The first keys, which are seen whatever the window, are missing.");
      add("sinks_one_more", with([](reference::Mask& m) { ++m.sinks; }),
          "One key too many counts as a sink.");
      if (mask.sinks > 1)
        add("sinks_one_less", with([](reference::Mask& m) { --m.sinks; }),
            "One key too few counts as a sink.");
      if (mask.causal)
        add(
            "sinks_ahead_seen", [=, &p](Int i, Int j) { return p.sees(i, j) || j < mask.sinks; },
            "The first keys are seen even past the query's position. The causal mask hides them, too.");
      for (const Int width : tile_widths(Nk))  // found when the sinks' tile reaches into the window's
        add(
            "sinks_hide_the_window",
            [=, &p](Int i, Int j) { return p.sees(i, j) && (j < mask.sinks || j >= width); },
            "Keys of the window in the first tile are left out: that tile is used for the sinks alone." +
                of_tiles(width));
    }
  }
}

void add_missing_keys(Catalogue& to) {
  const Problem& p = to.p();
  const Int Nk = p.Nk();
  const auto keys_before = [&p](Int end) {
    return [&p, end](Int i, Int j) { return j < end && p.sees(i, j); };
  };
  const auto any_is_seen = [&p, Nk](const auto& sees) {
    for (Int i = 0; i < p.Nq(); ++i)
      for (Int j = 0; j < Nk; ++j)
        if (sees(i, j)) return true;
    return false;
  };
  for (const Int end : ends_of_whole_tiles(Nk)) {
    const std::string from = "those from " + std::to_string(end) + " on.";
    to.add_view("key_tail_missing", keys_before(end), "The last keys are missing: " + from);
    if (to.which() == Which::O && any_is_seen(keys_before(end)))  // else O is 0, and a stub's is, too
      to.add("values_missing", {.end_value = end}, "The last keys are missing from the sum over V: " + from);
  }
  if (tile_widths(Nk).empty())  // all keys lie in the first tile
    for (const char* const name : {"first_tile_only", "every_second_tile"}) to.rule_out(name);
  for (const Int width : tile_widths(Nk)) {
    if (Nk % width == 0)
      to.add_view("last_tile_missing", keys_before(Nk - width),
                  "The last tile of keys is missing: the keys from " + std::to_string(Nk - width) + " on.");
    to.add_view(
        "first_tile_only", keys_before(width),
        "Only the first " + std::to_string(width) + " keys are there: the loop over tiles ends too early.");
    to.add_view_too(
        "every_second_tile", [&p, width](Int i, Int j) { return j / width % 2 == 0 && p.sees(i, j); },
        "Every second tile of keys is missing: the loop steps by more keys than a tile holds. (That is what "
        "a step of " +
            std::to_string(2 * width) + " keys with tiles of " + std::to_string(width) + " gives.)");
    if (const Int end = std::min((p.Nq() + width - 1) / width * width, Nk); true)
      to.add_view_too(
          "keys_end_with_queries", keys_before(end),
          "The keys from " + std::to_string(end) +
              " on are missing: the loop over the keys ends with Nq, the number of queries. It has to "
              "end with Nk.");
  }
  for (const bool set_to_0 : {false, true})
    for (Int width = 8; width <= 256 && Nk > 0; width *= 2)  // also those wider than all keys
      if (Nk % width != 0)
        to.add(
            "tail_counted", {.tile = width, .tail_counts = true, .tail_is_0 = set_to_0},
            "The last tile of keys reaches beyond Nk, and what lies there counts with a score of 0. It has "
            "to be -inf." +
                of_tiles(width));
}

}  // namespace course::attention_tests
