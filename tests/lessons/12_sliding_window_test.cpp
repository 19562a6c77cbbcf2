// Tests of lesson 12: lse and O of sliding_window_attention against float64, within twice the error of a
// plain float32 attention; and which tiles of K and V it loads.

#include "12_sliding_window/sliding_window.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "grading/facts/cause.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/attention.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

reference::Mask window_of(Int keys) { return {.causal = true, .window = keys}; }

// --- Which mistake with the ranges of keys explains a wrong result ---

/// What a tile of queries knows of its keys.
struct Ranges {
  Int first_query, last_query, begin, end, all_begin, all_end;  ///< as the notes name them

  Ranges(const Problem& p, Int query, Int tile_of_queries) {
    const Int offset = p.Nk() - p.Nq(), window = std::min(p.mask.window, p.Nk());
    first_query = query / tile_of_queries * tile_of_queries;
    last_query = std::min(first_query + tile_of_queries, p.Nq()) - 1;
    begin = std::max<Int>(first_query + offset - window + 1, 0);
    end = last_query + offset + 1;
    all_begin = last_query + offset - window + 1;
    all_end = first_query + offset + 1;
  }
};

Int round_down(Int key, Int tile) { return key / tile * tile; }
Int round_up(Int key, Int tile) { return (std::max<Int>(key, 0) + tile - 1) / tile * tile; }

/// Mistakes that need tiles to show, for tiles of M queries and N keys.
class RangeMistakes {
 public:
  RangeMistakes(const Problem& p, Int M, Int N)
      : p_(p),
        M_(M),
        N_(N),
        offset_(p.Nk() - p.Nq()),
        window_(std::min(p.mask.window, p.Nk())),
        ranges_(ranges_of_queries(p, M)),
        tiles_(" (That is what tiles of " + std::to_string(M) + " queries and " + std::to_string(N) +
               " keys give.)") {}

  void add_all_unmasked(Catalogue& to) const {
    add_unmasked(
        to, "tiles_unmasked", [](const Ranges&, Int) { return true; },
        "Every key of the tiles that pass by is seen: nothing is hidden in them.");
    const Int N = N_;
    add_unmasked(
        to, "seen_by_some",
        [N](const Ranges& r, Int first_key) {
          return r.all_begin - (r.last_query - r.first_query) <= first_key && first_key + N <= r.end;
        },
        "A tile needs no mask if all queries see all of its keys: it lies in [all_begin, all_end). Here it "
        "has none where it lies in [begin, end), the keys that some query sees.");
  }

  void add_diagonal_unmasked(Catalogue& to) const {
    const Int N = N_;
    const std::string sentence =
        "In tiles that the diagonal crosses, keys past the query's position are seen. A tile needs no mask "
        "only if its last key is seen by the first query, too.";
    add_unmasked(
        to, "diagonal_tiles_unmasked",
        [](const Ranges& r, Int first_key) { return r.all_begin <= first_key; }, sentence);
    add_unmasked(
        to, "diagonal_tiles_unmasked",
        [N](const Ranges& r, Int first_key) { return r.all_begin <= first_key && first_key + N <= r.end; },
        sentence);
    add_unmasked(
        to, "diagonal_tiles_unmasked",
        [](const Ranges& r, Int first_key) { return r.all_begin <= first_key && first_key < r.all_end; },
        sentence);
  }

  void add_edge_unmasked(Catalogue& to) const {
    const Int N = N_;
    const std::string sentence =
        "In tiles that a window begins in, keys older than the window are seen. A tile needs no mask only if "
        "its first key is seen by the last query, too.";
    add_unmasked(
        to, "window_edge_unmasked",
        [N](const Ranges& r, Int first_key) { return first_key + N <= r.all_end; }, sentence);
    add_unmasked(
        to, "window_edge_unmasked",
        [N](const Ranges& r, Int first_key) {
          return r.all_begin - (r.last_query - r.first_query) <= first_key && first_key + N <= r.all_end;
        },
        sentence);
    add_unmasked(
        to, "window_edge_unmasked",
        [N](const Ranges& r, Int first_key) { return first_key == round_down(r.begin, N); }, sentence);
  }

  void add_whole_one_key_early(Catalogue& to) const {
    const Int N = N_;
    add_unmasked(
        to, "all_begin_one_early",
        [N](const Ranges& r, Int first_key) {
          return r.all_begin - 1 <= first_key && first_key + N <= r.all_end;
        },
        "all_begin is one key early: a tile that begins there has no mask, and the last query sees a key "
        "that is older than its window.");
  }

  void add_whole_if_either(Catalogue& to) const {
    to.add_view_too(
        "whole_if_either",
        [&p = p_, ranges = ranges_of(), passes = passing(), N = N_](Int i, Int j) {
          const Ranges& r = ranges(i);
          const Int first_key = round_down(j, N);
          return p.sees(i, j) || (passes(i, j) && (r.all_begin <= first_key || first_key + N <= r.all_end));
        },
        "A tile is taken as whole where no query finds its first key too old, or where none finds its last "
        "key past its "
        "own position. It takes both: elsewhere keys older than the window are seen, or keys past the "
        "query's position." +
            tiles_);
  }

  void add_missing_tiles(Catalogue& to) const {
    const Int N = N_;
    if (p_.mask.window > Int{1} << 62)
      add_missing(
          to, "window_overflows",
          [offset = offset_, long_one = p_.mask.window](const Ranges& r, Int j) {
            const auto position = static_cast<std::uint64_t>(r.first_query + offset);
            return j >= static_cast<Int>(position - static_cast<std::uint64_t>(long_one) + 1);
          },
          "A sum with a window of nearly 2^63 keys was too large, or too small, for 64 bits. A window of Nk "
          "keys sees just as many.");
    add_missing(
        to, "first_tile_rounded_up", [N](const Ranges& r, Int j) { return j >= round_up(r.begin, N); },
        "The beginning of the window is rounded up to a whole tile, and the keys before that are missing. "
        "The tile in which the window begins has to be loaded, too.");
    add_missing(
        to, "begin_one_key_late", [N](const Ranges& r, Int j) { return j >= round_down(r.begin + 1, N); },
        "begin is one key late: where the first query's window begins with the last key of a tile, that tile "
        "is left out.");
    add_missing(
        to, "first_tile_rounded_to_nearest",
        [N](const Ranges& r, Int j) { return j >= round_down(r.begin + N / 2, N); },
        "The beginning of the window is rounded to the nearest tile: where that is the next one, the keys "
        "before it are missing. The tile in which the window begins has to be loaded, too.");
    add_missing(
        to, "ends_after_a_mask",
        [N](const Ranges& r, Int j) {
          Int first_key = round_down(r.begin, N);
          while (first_key < r.end && r.all_begin <= first_key && first_key + N <= r.all_end) first_key += N;
          return j < first_key + N;
        },
        "Tiles after the first one that needs a mask are missing: the loop ends there.");
    add_missing(
        to, "early_tiles_missing",
        [N](const Ranges& r, Int j) { return j >= round_down(std::max<Int>(r.all_begin, 0), N); },
        "The tiles of keys begin with the window of the tile's last query. The first query's window begins "
        "earlier.");
    add_missing(
        to, "late_tiles_missing", [N](const Ranges& r, Int j) { return j < round_up(r.all_end, N); },
        "The tiles of keys end with the first query's position. The last query sees more.");
    add_missing(
        to, "last_key_missing", [N](const Ranges& r, Int j) { return j < round_up(r.end - 1, N); },
        "The range of keys ends one key early: where the last query stands at the first key of a tile, that "
        "tile is left out.");
    add_missing(
        to, "stepped_by_queries",
        [N, M = M_](const Ranges& r, Int j) { return (j - round_down(r.begin, N)) % std::max(M, N) < N; },
        "Tiles of keys are left out: the loop goes on by more keys than a tile has. Perhaps it steps by the "
        "queries of a tile.");
    if (offset_ != 0)
      add_missing(
          to, "begin_without_offset",
          [first_key = begin_without_offset()](const Ranges& r, Int j) { return j >= first_key(r); },
          kBeginWithoutOffset);
  }

  /// Ranges that begin or end a tile away, which may leave nothing to see.
  void add_moved_ranges(Catalogue& to) const {
    const Int N = N_;
    const auto add = [&](const char* name, auto still_there, const std::string& sentence) {
      to.add(name,
             {.sees = [&p = p_, ranges = ranges_of(), still_there](
                          Int i, Int j) { return p.sees(i, j) && still_there(ranges(i), j); }},
             sentence + tiles_);
    };
    add(
        "range_one_tile_late", [N](const Ranges& r, Int j) { return j >= round_down(r.begin, N) + N; },
        "The tiles of keys begin one tile late: the tile in which the window begins is left out.");
    add(
        "range_one_tile_short",
        [N](const Ranges& r, Int j) { return j < round_down(std::max<Int>(r.end - 1, 0), N); },
        "The tiles of keys end one tile early: the last tile, in which the last query stands, is left out.");
    if (offset_ != 0)
      add(
          "end_without_offset", [N](const Ranges& r, Int j) { return j < round_up(r.last_query + 1, N); },
          "The end of the range of keys is that of a query that stands at key i. It stands at key i + Nk - "
          "Nq.");
    if (to.which() != Which::O) return;
    const auto add_early = [&](const char* name, auto first_key, const char* sentence) {
      to.add(grading::gives(
          name, [*this, first_key] { return with_early_values(first_key); }, sentence + tiles_));
    };
    const char* const early =
        "Tiles before the window are loaded, and hidden: their values are infinite here, and 0 times "
        "infinity is NaN. The first tile has to be the one that holds key `begin`.";
    add_early(
        "range_begins_early", [](const Ranges&) { return Int{0}; }, early);
    add_early(
        "range_begins_early", [N](const Ranges& r) { return std::max<Int>(round_down(r.begin, N) - N, 0); },
        early);
    if (offset_ > 0) add_early("begin_without_offset", begin_without_offset(), kBeginWithoutOffset);
  }

  /// Wrong masks of the tiles that pass by and are not whole.
  void add_masks(Catalogue& to) const {
    const auto add = [&, passes = passing(), ranges = ranges_of(), N = N_](
                         const char* name, std::function<bool(Int i, Int j)> sees, const char* sentence) {
      const auto whole = [=](Int i, Int j) {
        const Ranges& r = ranges(i);
        return r.all_begin <= round_down(j, N) && round_down(j, N) + N <= r.all_end;
      };
      to.add_view_too(
          name, [=](Int i, Int j) { return passes(i, j) && (whole(i, j) || sees(i, j)); }, sentence);
    };
    Catalogue masks(p_, to.which());
    add_mask(masks);
    for (const NamedDeviation& mask : masks.deviations())
      if (mask.how.sees) add(mask.name.c_str(), mask.how.sees, mask.sentence.c_str());
    const Int M = M_, offset = offset_, window = window_;
    add(
        "window_of_the_tile",
        [=, ranges = ranges_of()](Int i, Int j) { return j <= i + offset && j >= ranges(i).begin; },
        "All queries of a tile have the window of the first. Each has its own: its first key moves along "
        "with it.");
    add(
        "mask_of_the_first_query", [&p = p_, M](Int i, Int j) { return p.sees(round_down(i, M), j); },
        "The mask asks what the tile's first query sees, for all of its queries: hidden(query, key) gets the "
        "number of each.");
    if (offset != 0)
      add(
          "future_edge_without_offset", [=](Int i, Int j) { return j <= i && j > i + offset - window; },
          "Keys past key i are hidden, as if query i stood there. It stands at key i + Nk - Nq, where its "
          "window is counted from.");
    add(
        "half_a_window", [=](Int i, Int j) { return j <= i + offset && j > i + offset - window / 2; },
        "The window is half as long as it should be. It holds `window` keys: the query's own and older "
        "ones.");
    if (p_.mask.window >= p_.Nk())
      add(
          "long_window_unmasked", [](Int, Int) { return true; },
          "Nothing is hidden where the window has Nk keys or more. Such a window holds all of the past; keys "
          "past the query's position stay hidden.");
    else
      to.rule_out("long_window_unmasked");
    add(
        "window_reversed", [=](Int i, Int j) { return j <= i + offset - window; },
        "The window is reversed: its keys are hidden, and older ones are seen.");
    for (const Int reach : {window - 1, window / 2})  // all of it to either side, or half
      add(
          "window_on_both_sides", [=](Int i, Int j) { return std::abs(i + offset - j) <= reach; },
          "The window reaches past the query's position as well. It holds the query's own key and older "
          "ones.");
    add(
        "mask_inverted", [&p = p_](Int i, Int j) { return !p.sees(i, j); },
        "The mask is the wrong way round: the keys that a query sees are hidden, and the others are seen. "
        "hidden(query, key) is true where the key is to be hidden.");
    add(
        "query_and_key_exchanged", [=](Int i, Int j) { return i <= j + offset && i > j + offset - window; },
        "The mask takes the key for the query and the query for the key: hidden(query, key) gets the query "
        "first.");
    add(
        "key_counted_from_its_tile",
        [=, N = N_](Int i, Int j) { return j % N <= i + offset && j % N > i + offset - window; },
        "The mask counts keys from the beginning of their tile. hidden(query, key) gets the key's number, "
        "which is counted from the beginning of K already.");
    add(
        "first_query_added_again", [&p = p_, M](Int i, Int j) { return p.sees(i + i / M * M, j); },
        "The mask adds the tile's first query to the query's number, which is counted from the beginning of "
        "Q already.");
  }

  /// Two mistakes at once, of the mask or of the range of keys, in different places. Their names say both.
  /// Where only one of them shows, the result has to be what that one gives, and says nothing of the other.
  void add_pairs(Catalogue& to) const {
    const std::vector<Part> parts = parts_of_masks_and_ranges();
    const auto sentence_of = [&to](const std::string& name) -> std::string {
      for (const NamedDeviation& one : to.deviations())
        if (one.name == name && !one.sentence.empty()) return one.sentence;
      return "";
    };
    const auto view_of = [&](const std::vector<Part>& wrong) {
      std::vector<bool> view;
      const auto sees = with(wrong);
      for (Int i = 0; i < p_.Nq(); ++i)
        for (Int j = 0; j < p_.Nk(); ++j) view.push_back(sees(i, j));
      return view;
    };
    const std::vector<bool> right = view_of({});
    for (auto a = parts.begin(); a != parts.end(); ++a)
      for (auto b = a + 1; b != parts.end(); ++b) {
        if (a->place == b->place) continue;
        const std::vector<bool> both = view_of({*a, *b}), of_a = view_of({*a}), of_b = view_of({*b});
        const std::string name = std::string(a->name) + "_and_" + b->name;
        std::string sentence;
        const bool both_show = of_a != right && of_b != right && both != of_a && both != of_b;
        if (const std::string of_first = sentence_of(a->name), of_second = sentence_of(b->name);
            both_show && !of_first.empty() && !of_second.empty())
          sentence = std::string(grading::kTwoThings) + " One: " + of_first + " The other: " + of_second;
        to.add_view(name.c_str(), with({*a, *b}), sentence);
      }
  }

 private:
  /// One thing that a mask or a range of keys may get wrong.
  struct Part {
    const char* name;
    enum Place { position, future_edge, past_edge, begin, end } place;
    Int by = 0;                                            ///< so far is the edge moved
    std::function<bool(const Ranges&, Int j)> there = {};  ///< of a range: whether key j is still loaded
  };

  std::vector<Part> parts_of_masks_and_ranges() const {
    const Int N = N_;
    std::vector<Part> parts{
        {"diagonal_hidden", Part::future_edge, -1},
        {"key_ahead_seen", Part::future_edge, 1},
        {"window_one_more", Part::past_edge, -1},
        {"window_one_less", Part::past_edge, 1},
        {"window_ignored", Part::past_edge, -p_.Nk() - p_.Nq()},
        {"first_tile_rounded_up", Part::begin, 0,
         [N](const Ranges& r, Int j) { return j >= round_up(r.begin, N); }},
        {"early_tiles_missing", Part::begin, 0,
         [N](const Ranges& r, Int j) { return j >= round_down(std::max<Int>(r.all_begin, 0), N); }},
        {"last_key_missing", Part::end, 0,
         [N](const Ranges& r, Int j) { return j < round_up(r.end - 1, N); }},
        {"late_tiles_missing", Part::end, 0,
         [N](const Ranges& r, Int j) { return j < round_up(r.all_end, N); }},
    };
    parts.push_back({"mask_top_left", Part::position, -offset_});
    parts.push_back(
        {"begin_without_offset", Part::begin, 0,
         [first_key = begin_without_offset()](const Ranges& r, Int j) { return j >= first_key(r); }});
    parts.push_back({"end_without_offset", Part::end, 0,
                     [N](const Ranges& r, Int j) { return j < round_up(r.last_query + 1, N); }});
    return parts;
  }

  /// What is seen if all of these are wrong.
  std::function<bool(Int i, Int j)> with(std::vector<Part> wrong) const {
    return [=, passes = passing(), ranges = ranges_of(), N = N_, offset = offset_, window = window_](Int i,
                                                                                                     Int j) {
      const Ranges& r = ranges(i);
      Int position = i + offset, last = position, first = position - window + 1;
      for (const Part& part : wrong) {
        if (part.there && !part.there(r, j)) return false;
        if (part.place == Part::position) last += part.by, first += part.by;
        if (part.place == Part::future_edge) last += part.by;
        if (part.place == Part::past_edge) first += part.by;
      }
      const Int tile = round_down(j, N);
      const bool whole = r.all_begin <= tile && tile + N <= r.all_end;
      return passes(i, j) && (whole || (first <= j && j <= last));
    };
  }

  /// O where the values of keys that lie in tiles before the window, from first_key(ranges) on, are
  /// multiplied by a weight of 0.
  template <class FirstKey>
  Tensor<double> with_early_values(FirstKey first_key) const {
    Tensor<double> O = attention_of(p_).O;
    for (Int b = 0; b < p_.B(); ++b)
      for (Int h = 0; h < p_.H(); ++h)
        for (Int i = 0; i < p_.Nq(); ++i) {
          const Ranges ranges(p_, i, M_);
          for (Int j = first_key(ranges); j < std::min(round_down(ranges.begin, N_), p_.Nk()); ++j)
            for (Int d = 0; d < p_.D(); ++d) O(b, h, i, d) += 0.0 * static_cast<double>(p_.V(b, h, j, d));
        }
    return O;
  }

  static constexpr const char* kBeginWithoutOffset =
      "The first tile of keys is that of a query that stands at key i. It stands at key i + Nk - Nq.";

  /// The first key of the tile with which a query would begin that stands at key i.
  std::function<Int(const Ranges&)> begin_without_offset() const {
    return [N = N_, window = window_](const Ranges& r) {
      return round_down(std::max<Int>(r.first_query - window + 1, 0), N);
    };
  }

  /// Those of each query's tile.
  std::function<const Ranges&(Int i)> ranges_of() const {
    return [all = ranges_](Int i) -> const Ranges& { return (*all)[static_cast<std::size_t>(i)]; };
  }

  /// Whether key j lies in a tile that passes by query i.
  std::function<bool(Int i, Int j)> passing() const {
    return [all = ranges_, N = N_, Nk = p_.Nk()](Int i, Int j) {
      const Ranges& r = (*all)[static_cast<std::size_t>(i)];
      return j >= round_down(r.begin, N) && j < std::min(round_up(r.end, N), Nk);
    };
  }

  template <class StillThere>
  void add_missing(Catalogue& to, const char* name, StillThere still_there,
                   const std::string& sentence) const {
    to.add_view_too(
        name,
        [&p = p_, ranges = ranges_of(), still_there](Int i, Int j) {
          return p.sees(i, j) && still_there(ranges(i), j);
        },
        sentence + tiles_);
  }

  template <class TakenAsWhole>
  void add_unmasked(Catalogue& to, const char* name, TakenAsWhole taken_as_whole,
                    const std::string& sentence) const {
    to.add_view_too(
        name,
        [&p = p_, ranges = ranges_of(), passes = passing(), N = N_, taken_as_whole](Int i, Int j) {
          return p.sees(i, j) || (passes(i, j) && taken_as_whole(ranges(i), round_down(j, N)));
        },
        sentence + tiles_);
  }

  static std::shared_ptr<const std::vector<Ranges>> ranges_of_queries(const Problem& p, Int M) {
    std::vector<Ranges> all;
    for (Int i = 0; i < p.Nq(); ++i) all.emplace_back(p, i, M);
    return std::make_shared<const std::vector<Ranges>>(std::move(all));
  }

  const Problem& p_;
  const Int M_, N_, offset_, window_;
  const std::shared_ptr<const std::vector<Ranges>> ranges_;
  const std::string tiles_;
};

Mistakes own_mistakes(const Problem& p, Which which) {
  Catalogue own(p, which);
  add_mask(own);  // what shows the same keys has that name, and so on downwards
  const Int offset = p.Nk() - p.Nq(), window = std::min(p.mask.window, p.Nk());
  if (const Int limited = std::min(window, p.Nq()); limited < window)
    own.add_view_too(
        "window_limited_by_queries",
        [=, &p](Int i, Int j) { return p.sees(i, j) && i + offset - j < limited; },
        "The window is limited to Nq keys, the number of queries. No query sees more than Nk: that is the "
        "limit.");
  if (offset != 0)
    own.add_view_too(
        "offset_negated", [=](Int i, Int j) { return j <= i - offset && j > i - offset - window; },
        "Query i stands at key i + Nq - Nk here. It stands at key i + Nk - Nq.");
  if (const Int short_one = static_cast<std::int32_t>(p.mask.window); short_one < p.mask.window)
    own.add_view(
        "window_in_32_bits", [=, &p](Int i, Int j) { return p.sees(i, j) && i + offset - j < short_one; },
        "The window is cut to its last 32 bits, which say " + std::to_string(short_one) + ". It has 64.");
  std::vector<RangeMistakes> tilings;
  for (const Int M : {128, 64, 32})
    for (const Int N : {64, 32}) tilings.emplace_back(p, M, N);
  for (const auto add : {&RangeMistakes::add_all_unmasked, &RangeMistakes::add_diagonal_unmasked,
                         &RangeMistakes::add_edge_unmasked, &RangeMistakes::add_whole_one_key_early,
                         &RangeMistakes::add_whole_if_either, &RangeMistakes::add_missing_tiles,
                         &RangeMistakes::add_moved_ranges, &RangeMistakes::add_masks})
    for (const RangeMistakes& tiling : tilings) (tiling.*add)(own);
  if (!rehearsing()) tilings.front().add_pairs(own);  // they are no mistakes of their own
  return own.mistakes();
}

const Kernel kKernel{.attend =
                         [](const Problem& p, Forward& got, const CallOptions& options) {
                           return call_with(options, ENTRY(sliding_window_attention), in(p.Q, "Q"),
                                            in(p.K, "K"), in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"),
                                            p.scale, p.mask.window);
                         },
                     .outputs = {Which::lse, Which::O},
                     .own_mistakes = own_mistakes,
                     .passes_contradict = true,
                     .load_limit = keys_read_for(16),
                     .block_attends = true,
                     .stores_once = true};

/// Four queries that all score 0, ln 3, 0 and ln 4 with the four keys, and see two of them.
Problem problem_of_the_notes() {
  const float ln_3 = std::log(3.0f), ln_4 = std::log(4.0f);
  return {Tensor<float>::from({1, 1, 4, 2}, {1, 0, 1, 1, 1, 0, 1, -1}),
          Tensor<float>::from({1, 1, 4, 2}, {0, 0, ln_3, 0, 0, 0, ln_4, 0}),
          Tensor<float>::from({1, 1, 4, 2}, {8, 0, 0, 4, 4, 0, 9, 5}), 1.0f, window_of(2)};
}

/// Without check mode: for problems that differ from others in numbers alone.
void check_values(const Problem& p) {
  CallOptions options;
  options.check = CheckMode::never;
  check(kKernel, p, options);
}

// --- Bytes of K and V ---

/// Bytes of K and V that a call has loaded: all but Q, which is read once.
std::uint64_t bytes_of_keys(const Profile& profile, const Problem& p) {
  const std::uint64_t loaded = profile.global_load.bytes;
  return loaded - std::min(loaded, bytes_of(p.Q));
}

/// Which keys a tile of queries loads: from the tile of 64 keys that holds `begin` to that before `end`.
struct Loaded {
  Int begin, end;
};
using Loads = std::function<Loaded(const Ranges&)>;

Loaded seen_keys(const Ranges& r) { return {r.begin, r.end}; }

/// @brief Bytes of K and V in the tiles of 64 keys that tiles of M queries load, for all of them.
std::uint64_t bytes_of_tiles(const Problem& p, Int M, const Loads& loads = seen_keys) {
  Int keys = 0;
  for (Int query = 0; query < p.Nq(); query += M) {
    const auto [begin, end] = loads(Ranges(p, query, M));
    const Int first = round_down(std::max<Int>(begin, 0), 64);
    keys += std::max<Int>(std::min(round_up(end, 64), p.Nk()) - first, 0);
  }
  return static_cast<std::uint64_t>(4 * 2 * p.B() * p.H() * p.D() * keys);
}

/// A wrong range of keys, known by the bytes that it loads.
struct WrongRange {
  const char* sentence;
  Loads loads;
};

std::vector<WrongRange> wrong_ranges(Int M, Int Nk) {
  return {
      {"As many as if the range began one key early, with the key before the first query's window.",
       [](const Ranges& r) { return Loaded(r.begin - 1, r.end); }},
      {"As many as if the range began a whole tile early. It begins with the tile that holds key `begin`.",
       [](const Ranges& r) { return Loaded(r.begin - 64, r.end); }},
      {"As many as if `begin` were rounded down to a multiple of the queries of a tile. It has to be one of "
       "the keys of a tile.",
       [M](const Ranges& r) { return Loaded(round_down(r.begin, M), r.end); }},
      {"As many as if every tile of queries began with key 0.",
       [](const Ranges& r) { return Loaded(0, r.end); }},
      {"As many as if the range ended one key late: no query sees key `end`, and the loop ends before it.",
       [](const Ranges& r) { return Loaded(r.begin, r.end + 1); }},
      {"As many as if every tile of queries went on to the last key, past its own last position.",
       [Nk](const Ranges& r) { return Loaded(r.begin, Nk); }},
      {"As many as if every tile of queries loaded all keys.", [Nk](const Ranges&) { return Loaded(0, Nk); }},
  };
}

/// A wrong range is named if no other one loads as much in every problem.
void require_only_seen_tiles(const std::vector<Problem>& problems) {
  std::vector<std::string> reasons;
  std::vector<std::string> possible;  // what explains the bytes of all problems so far
  for (const Problem& p : problems) {
    INFO(describe(p));
    const Outcome outcome = check(kKernel, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    const Int queries = queries_of_a_block(*profile, p);
    reasons.push_back(reads_too_much(*profile,
                                     static_cast<std::uint64_t>(4 * p.D() * rows_of_tiles(p, queries, 64)),
                                     "to read Q once, and for each tile of " + std::to_string(queries) +
                                         " queries the tiles of 64 keys in which one of them sees a key,"));
    std::vector<std::string> fitting;
    for (const WrongRange& range : wrong_ranges(queries, p.Nk()))
      if (bytes_of_keys(*profile, p) == bytes_of_tiles(p, queries, range.loads))
        fitting.push_back(range.sentence);
    if (&p == &problems.front()) possible = fitting;
    std::erase_if(possible, [&](const std::string& one) {
      return std::find(fitting.begin(), fitting.end(), one) == fitting.end();
    });
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    INFO(describe(problems[i]));
    require(reasons[i].empty(), reasons[i] + (possible.size() == 1 ? " " + possible.front() : ""));
  }
}

}  // namespace

TEST_CASE("attends from the four queries of the notes to two keys each", "[l12][sliding_window][points:1]") {
  check(kKernel, problem_of_the_notes());
}

TEST_CASE("keeps several batches and heads apart", "[l12][sliding_window][points:1]") {
  check(kKernel, random_problem({2, 3, 40, 40, 16}, window_of(7)));
  check_values(random_problem({3, 1, 50, 70, 20}, window_of(33)));
}

TEST_CASE("gives each query the value at its own position where the window is one key",
          "[l12][sliding_window][points:1]") {
  check(kKernel, random_problem({1, 2, 20, 20, 8}, window_of(1)));
  check_values(random_problem({1, 1, 200, 200, 4}, window_of(1)));
  check_values(random_problem({1, 1, 70, 203, 4}, window_of(1)));
}

TEST_CASE("takes windows as long as a tile, and one key more or less", "[l12][sliding_window][points:3]") {
  // The first query stands at key 190: all 64 see keys 64 to 127, a tile that needs no mask.
  check(kKernel, random_problem({1, 1, 64, 254, 4}, window_of(250)));
  for (const Int window : {2, 15, 16, 17, 31, 32, 33})
    check(kKernel, random_problem({1, 1, 50, 50, 8}, window_of(window)));
  for (const Int window : {64, 65, 66, 129, 130})  // 129: from key 64 on
    check_values(random_problem({1, 1, 40, 232, 4}, window_of(window)));
  for (const Int window : {63, 127, 190, 191, 192})  // 192: the last query's window begins at key 128
    check_values(random_problem({1, 1, 128, 320, 4}, window_of(window)));
  check_values(random_problem({1, 1, 150, 215, 4}, window_of(100)));  // query 127 stands at key 192
  for (const Int window : {2, 63, 65, 66})
    check_values(random_problem({1, 1, 200, 200, 4}, window_of(window)));
  for (const Int window : {300, 1000})  // of many tiles
    check_values(random_problem({1, 1, 40, 1100, 4}, window_of(window)));
}

TEST_CASE("is causal attention where the window is as long as the sequence, or longer than any",
          "[l12][sliding_window][points:2]") {
  const Int most = std::numeric_limits<Int>::max();
  check(kKernel, random_problem({1, 1, 90, 90, 4}, window_of(90)));
  for (const Int window : {Int{80}, Int{91}, (Int{1} << 32) + 1, Int{1} << 31, Int{1} << 62, most})
    check_values(random_problem({1, 1, 90, 90, 4}, window_of(window)));
  for (const Int window : {Int{1} << 32, Int{1} << 62, most - 1}) {
    check_values(random_problem({1, 1, 30, 150, 4}, window_of(window)));
    check_values(random_problem({1, 1, 150, 30, 4}, window_of(window)));
  }
}

TEST_CASE("attends from 1 to 300 queries, around the edges of tiles", "[l12][sliding_window][points:1]") {
  check(kKernel, random_problem({2, 3, 1, 1, 1}, window_of(3)));
  check(kKernel, random_problem({1, 2, 2, 2, 3}, window_of(2)));
  check(kKernel, random_problem({1, 2, 33, 33, 5}, window_of(9)));
  for (const Int N : {127, 128, 129}) check_values(random_problem({1, 1, N, N, 4}, window_of(3)));
  check_values(random_problem({1, 1, 300, 300, 4}, window_of(50)));
}

TEST_CASE("lets the last query stand at the last key where there are more keys than queries",
          "[l12][sliding_window][points:2]") {
  for (const Int window : {1, 5, 20, 64})
    check(kKernel, random_problem({1, 1, 20, 31, 8}, window_of(window)));
  for (const Int window : {20, 100}) {
    check_values(random_problem({1, 1, 140, 301, 4}, window_of(window)));
    check_values(random_problem({1, 2, 1, 150, 4}, window_of(window)));
  }
}

TEST_CASE("gives 0 and -inf to the first queries where there are fewer keys, since they see none",
          "[l12][sliding_window][points:2]") {
  for (const Int window : {1, 5, 20, 64})
    check(kKernel, random_problem({1, 1, 31, 20, 8}, window_of(window)));
  for (const Int window : {20, 100}) {
    check_values(random_problem({1, 1, 300, 140, 4}, window_of(window)));
    check_values(random_problem({1, 2, 150, 1, 4}, window_of(window)));
  }
}

TEST_CASE("attends in 1 to 128 dimensions", "[l12][sliding_window][points:1]") {
  for (const Int D : {1, 16, 32, 64, 65, 100}) check_values(random_problem({1, 1, 50, 60, D}, window_of(20)));
  check(kKernel, random_problem({1, 1, 100, 100, 128}, window_of(30)));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l12][sliding_window][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(kKernel,
        with_layouts(random_problem({2, 2, 20, 40, 16}, window_of(12)), outside, inside, outside, outside));
  check(kKernel,
        with_layouts(random_problem({1, 3, 40, 20, 16}, window_of(12)), inside, outside, inside, outside));
  Problem p = with_layouts(random_problem({2, 2, 37, 45, 24}, window_of(12)), inside, inside, inside, inside);
  p.layout_of_lse = inside;
  check(kKernel, p);
  check_drawn(kKernel, {.causal = Causal::always, .window = true});
}

TEST_CASE("takes any strides of axes with one element", "[l12][sliding_window][points:1]") {
  Problem p = random_problem({1, 2, 1, 45, 100}, window_of(30));
  p.Q = lay_out(p.Q, {0, 100, 0, 1});
  p.K = lay_out(p.K, {0, 4500, 100, 1});
  check(kKernel, p);
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l12][sliding_window][points:1]") {
  check_shifted(kKernel, random_problem({1, 2, 20, 40, 16}, window_of(9)));
  check_odd_rows(kKernel, {window_of(3), window_of(kAllKeys)});
  check(kKernel, with_gaps(random_problem({2, 2, 35, 41, 18}, window_of(9))));
  check_values(with_gaps(random_problem({1, 2, 35, 41, many_dimensions()}, window_of(9)), kNan));
}

TEST_CASE("keeps large scores apart", "[l12][sliding_window][points:1]") {
  check_values(with_large_scores(random_problem({1, 2, 70, 70, 32}, window_of(25))));
  check_values(with_whole_scores(random_problem({1, 2, 70, 70, 16}, window_of(25))));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    check_values(with_shifted_scores(random_problem({1, 2, 40, 50, 16}, window_of(25)), shift));
  }
  INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
  check_values(with_opposite_shifts(random_problem({1, 2, 40, 50, 16}, window_of(25)), 1000.0f));
  check_values(with_negative_scale(random_problem({1, 2, 70, 70, 32}, window_of(25))));
}

TEST_CASE("gives no weight to scores of -inf, and zeros where there are no others",
          "[l12][sliding_window][points:1]") {
  check_values(with_empty_rows(random_problem({1, 2, 12, 150, 8}, window_of(90))));
  check_values(with_keys_of_minus_inf(random_problem({1, 2, 150, 150, 8}, window_of(70)), 130));
  // A query that sees all keys: 0 times an infinity is NaN.
  check_values(
      with_infinite_values(with_keys_of_minus_inf(random_problem({1, 2, 1, 150, 8}, window_of(150)), 130)));
}

TEST_CASE("keeps NaN in K from queries that do not see it", "[l12][sliding_window][points:2]") {
  const auto with_nan_at = [](Problem p, Int key) {
    p.K(0, 0, key, 1) = kNan;
    return p;
  };
  for (const Int key : {0, 40, 99})  // too old for most queries; in the future for many; for all but one
    check_values(with_nan_at(random_problem({1, 1, 100, 100, 8}, window_of(20)), key));
  // These keys are older than every window, and lie in tiles of 16, 32, 48 or 64 keys that nobody needs: not
  // even their values are read.
  for (const Int D : {8, 65}) {
    check(kKernel, with_nan_keys(random_problem(larger({1, 1, 40, 300, D}), window_of(50)), 0, 128));
    check_values(with_nan_keys(random_problem(larger({1, 1, 200, 328, D}), window_of(65)), 0, 48));
  }
}

TEST_CASE("lets NaN and infinities go where they must", "[l12][sliding_window][points:1]") {
  Problem p = random_problem({1, 4, 4, 50, 20}, window_of(30));  // all queries see keys 20 to 46
  for (Int j = 0; j < p.Nk(); ++j) p.K(0, 0, j, 0) = std::abs(p.K(0, 0, j, 0)) + 0.5f;
  p.Q(0, 0, 1, 0) = kInf;
  p.Q(0, 0, 2, 5) = kNan;
  p.K(0, 1, 21, 3) = kNan;
  p.V(0, 2, 30, 4) = kNan, p.V(0, 2, 46, 7) = kInf;
  check(kKernel, p);
  for (const Int D : {20, 65})  // all see keys 0 to 30, of which the values are no numbers
    check_values(with_not_numbers(random_problem(larger({2, 3, 30, 61, D}), window_of(110))));
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l12][sliding_window][points:1]") {
  check(kKernel, random_problem({1, 2, 5, 6, 8}, window_of(3)));
  check_nothing_to_do(kKernel, window_of(3));
  check(kKernel, random_problem({1, 1, 5, 0, 8}, window_of(Int{1} << 62)));
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l12][sliding_window][points:1]") {
  check_same_bits(kKernel, random_problem({1, 1, 30, 150, 20}, window_of(100)));
  check_same_bits(kKernel, random_problem(unknown_sizes_of_many_tiles(), window_of(150)));
}

TEST_CASE("loads only tiles of keys that the window reaches", "[l12][sliding_window][points:3]") {
  Random random(case_seed());
  const Int Nq = random.integer(65, 190), Nk = Nq + random.integer(130, 190);
  const Sizes unknown{random.integer(1, 2), random.integer(1, 2), Nq, Nk, 8 * random.integer(1, 16)};
  // D = 8: a row is a sector. The windows of tiles of 128 queries begin at a tile of 64 keys, odd or even, in
  // the middle of one; and where some queries see nothing.
  require_only_seen_tiles(
      {random_problem({1, 1, 256, 384, 8}, window_of(65)), random_problem({1, 1, 256, 384, 8}, window_of(1)),
       with_growing_scores(random_problem({1, 1, 256, 384, 8}, window_of(65)), 1.0f),
       random_problem({1, 1, 256, 384, 8}, window_of(20)), random_problem({1, 1, 256, 128, 8}, window_of(20)),
       // Sizes that no kernel knows beforehand.
       random_problem(unknown, window_of(random.integer(1, 60))),
       random_problem({1, 1, 40, random.integer(350, 400), 8 * random.integer(1, 16)},
                      window_of(random.integer(66, 140)))});
  check_counted(kKernel, {.causal = Causal::always, .window = true},
                [](const Profile& profile, const Problem& p) {
                  const Int queries = std::clamp<Int>(rows_that_a_block_stores(profile, p), 16, 128);
                  require_loads_what_is_seen(profile, p, queries, 64);
                });
}

TEST_CASE("reads twice the bytes of K and V for twice the queries and keys",
          "[l12][sliding_window][points:2]") {
  std::uint64_t bytes[2] = {};
  for (int i = 0; i < 2; ++i) {
    const Int N = i == 0 ? 320 : 640;
    const Problem p = random_problem({1, 1, N, N, 8}, window_of(48));
    const Outcome outcome = check(kKernel, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    bytes[i] = bytes_of_keys(*profile, p);
  }
  const double ratio = static_cast<double>(bytes[1]) / static_cast<double>(bytes[0]);
  require(
      ratio > 1.8 && ratio < 2.2,
      "With a window of 48 keys, your code reads " + std::to_string(bytes[0]) +
          " bytes of K and V for 320 queries and keys, and " + std::to_string(bytes[1]) +
          " for 640; it should be twice as many, since each tile of queries sees as many keys as before.");
}

TEST_CASE("reads and writes whole sectors", "[l12][sliding_window][points:1]") {
  for (const Sizes& n : {Sizes{1, 2, 64, 128, 64}, unknown_sizes_of_whole_sectors()}) {
    const Outcome outcome = check(kKernel, random_problem(n, window_of(30)), kCounted);
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  }
}

TEST_CASE("refuses a window of less than one key", "[l12][sliding_window][points:1]") {
  Problem p = random_problem({1, 2, 4, 5, 6}, window_of(1));
  check(kKernel, p);
  for (const Int window : numbers_below(1)) {
    INFO("window = " << window);
    p.mask.window = window;
    Forward results = results_of(p);
    require_throws<std::invalid_argument>(kKernel.attend(p, results, {}), "window");
  }
  Problem nothing = random_problem({1, 2, 0, 5, 6}, window_of(1));
  nothing.mask.window = 0;
  Forward results = results_of(nothing);
  require_throws<std::invalid_argument>(kKernel.attend(nothing, results, {}), "window");
}

TEST_CASE("refuses shapes and rows that do not fit", "[l12][sliding_window][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 3, 4, 5, 6}, window_of(2)));
  check_refuses_rows(kKernel, random_problem({1, 2, 4, 5, 6}, window_of(2)));
}

TEST_CASE("reports a launch that CUDA refuses", "[l12][sliding_window][points:1]") {
  check(kKernel, random_problem({1, 1, 30, 40, 8}, window_of(5)));
  for (const Int D : {8, 70})
    check_reports_refused_launch(kKernel, random_problem(larger({2, 2, 130, 40, D}), window_of(5)));
  check_reports_refused_launch(kKernel, random_problem({1, 66'000, 1, 1, 1}, window_of(1)));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::always, .window = true}, {Which::lse, Which::O},
                [&](const Problem& p, Forward& got) {
                  run.call(ENTRY(sliding_window_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                           out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.window);
                });
}
