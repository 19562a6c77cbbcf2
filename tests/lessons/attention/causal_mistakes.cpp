#include "attention/causal_mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attention/baseline.hpp"
#include "attention/catalogue.hpp"

namespace course::attention_tests {
namespace {

using grading::gives;
using grading::Mistakes;

Int round_down(Int x, Int step) { return x < 0 ? 0 : x / step * step; }
Int round_up(Int x, Int step) { return round_down(x + step - 1, step); }

/// Tiles of M queries and N keys, and what their ranges are made of.
struct Tiling {
  Int M, N, Nq, past;
  Int first_query(Int i) const { return round_down(i, M); }
  Int last_query(Int i) const { return std::min(first_query(i) + M, Nq) - 1; }
  /// Where the tiles end that all queries beside i see wholly, and those that one of them sees a key of.
  Int full_end(Int i) const { return round_down(first_query(i) + past + 1, N); }
  Int end(Int i) const { return round_up(last_query(i) + past + 1, N); }
};

/// O or lse where query i counts key j so many times; 0 hides it, and so does the mask.
Tensor<double> counted(const Problem& p, Which which, const std::function<double(Int i, Int j)>& times) {
  const reference::Attention right = attention_of(p);
  Tensor<double> result(which == Which::O ? p.shape_of_O() : p.shape_of_lse());
  double* to = result.data();
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i) {
        double l = 0;
        std::vector<double> O(static_cast<std::size_t>(p.D()));
        for (Int j = 0; j < p.Nk(); ++j) {
          const double weight = p.sees(i, j) ? times(i, j) * right.P(b, h, i, j) : 0;
          if (weight == 0) continue;
          l += weight;
          for (Int d = 0; d < p.D(); ++d)
            O[static_cast<std::size_t>(d)] += weight * static_cast<double>(p.V(b, h, j, d));
        }
        if (which != Which::O) *to++ = right.lse(b, h, i) + std::log(l);
        if (which == Which::O)
          for (const double o : O) *to++ = l == 0 ? 0 : o / l;
      }
  return result;
}

/// O where a hidden key has the weight 0, and its value is multiplied by it.
Tensor<double> with_hidden_values(const Problem& p) {
  Tensor<double> O = attention_of(p).O;
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i)
        for (Int j = 0; j < p.Nk(); ++j)
          for (Int d = 0; d < p.D() && !p.sees(i, j); ++d)
            O(b, h, i, d) += 0.0 * static_cast<double>(p.V(b, h, j, d));
  return O;
}

/// Collects views, which say what each query sees, by name; those that an earlier name has are left out.
class Views {
 public:
  Views(const Problem& p, Which which)
      : p_(p), which_(which), shown_(view_of(p, [&p](Int i, Int j) { return p.sees(i, j); })) {
    known_[shown_] = "";
    known_.emplace(view_of(p_, [](Int, Int) { return false; }), "");  // could be anything
    for (const NamedDeviation& one : deviations_in(p, which))
      if (one.how.sees) known_.emplace(view_of(p_, one.how.sees), one.name);
  }

  void add(const char* name, const std::function<bool(Int i, Int j)>& sees, std::string sentence) {
    const Int Nk = p_.Nk();
    const auto in_range = [sees, Nk](Int i, Int j) { return j < Nk && sees(i, j); };
    if (known_.emplace(view_of(p_, in_range), name).first->second != name) return;
    mistakes.push_back(deviation(name, p_, which_, {.sees = in_range}, std::move(sentence)));
  }

  /// The same, also if an earlier name has the view: other problems tell the two apart.
  void add_too(const char* name, const std::function<bool(Int i, Int j)>& sees, std::string sentence) {
    const Int Nk = p_.Nk();
    const auto in_range = [sees, Nk](Int i, Int j) { return j < Nk && sees(i, j); };
    if (differs_from_shown(in_range))
      mistakes.push_back(deviation(name, p_, which_, {.sees = in_range}, std::move(sentence)));
  }

  Mistakes mistakes;

 private:
  bool differs_from_shown(const std::function<bool(Int i, Int j)>& sees) const {
    auto shown = shown_.begin();
    for (Int i = 0; i < p_.Nq(); ++i)
      for (Int j = 0; j < p_.Nk(); ++j)
        if (sees(i, j) != static_cast<bool>(*shown++)) return true;
    return false;
  }

  const Problem& p_;
  Which which_;
  View shown_;  ///< by the mask
  std::map<View, std::string> known_;
};

}  // namespace

Mistakes causal_mistakes(const Problem& p, Which which) {
  Views views(p, which);
  const Int Nq = p.Nq(), past = p.Nk() - Nq;
  views.add_too(
      "offset_twice", [=](Int i, Int j) { return j <= i + 2 * past; },
      "Query i stands at key i + 2·(Nk - Nq) here: the offset is added twice.");
  views.add(
      "offset_negated", [=](Int i, Int j) { return j <= i - past; },
      "Query i stands at key i + Nq - Nk here. It stands at key i + Nk - Nq.");
  using Seen = std::function<std::function<bool(Int i, Int j)>(const Tiling&)>;
  const auto add = [&](const char* name, const std::string& sentence, const Seen& seen) {
    for (const Int M : {128, 64})
      for (const Int N : {64, 32, 16, 128})
        views.add(name, seen({M, N, Nq, past}),
                  sentence + " (That is what tiles of " + std::to_string(M) + " queries and " +
                      std::to_string(N) + " keys give.)");
  };
  const auto add_too = [&](const char* name, const std::string& sentence, const Seen& seen) {
    for (const Int M : {128, 64})
      for (const Int N : {64, 32}) views.add_too(name, seen({M, N, Nq, past}), sentence);
  };
  add("diagonal_tiles_unmasked",
      "In tiles that the diagonal crosses, keys past the query's position are seen.",
      [](const Tiling& t) { return [t](Int i, Int j) { return j < t.end(i); }; });
  add("diagonal_tiles_missing",
      "Tiles that the diagonal crosses are left out; queries see a part of their keys.",
      [](const Tiling& t) { return [t](Int i, Int j) { return j < t.full_end(i); }; });
  add_too("mask_top_left",
          "The mask compares the key with i, the query's number. Query i stands at key i + Nk - Nq.",
          [](const Tiling& t) {
            return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j <= i); };
          });
  add_too(
      "mask_top_left",  // and so does the range that needs no mask
      "Query i stands at key i here. It stands at key i + Nk - Nq, so that the last query stands at the last "
      "key.",
      [](const Tiling& t) {
        return [t](Int i, Int j) {
          return j < round_down(t.first_query(i) + 1, t.N) || (j < t.end(i) && j <= i);
        };
      });
  const std::string reversed =
      "The mask is reversed: where the diagonal crosses a tile, the keys up to the query's position are "
      "hidden, and those past it are seen. `hidden` is called with the query first, and the key second.";
  add_too("mask_reversed", reversed, [](const Tiling& t) {
    return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j >= i + t.past); };
  });
  add_too("mask_reversed", reversed, [](const Tiling& t) {
    return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j >= i - t.past); };
  });
  add_too("position_unsigned",
          "Queries that stand before key 0 see every key of their tiles: their position is below 0, and was "
          "compared as an unsigned number.",
          [&p](const Tiling& t) {
            return [t, &p](Int i, Int j) { return p.sees(i, j) || (i + t.past < 0 && j < t.end(i)); };
          });
  add_too(
      "only_first_diagonal_tile",
      "Of the tiles that the diagonal crosses only the first is visited. With 128 queries and 64 keys in a "
      "tile it crosses two or three.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) { return p.sees(i, j) && j < t.full_end(i) + t.N; };
      });
  add_too(
      "every_second_diagonal_tile",
      "Every second tile that the diagonal crosses is missing: the loop steps by the queries of a tile, not "
      "by its keys.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) {
          return p.sees(i, j) && (j < t.full_end(i) || (j - t.full_end(i)) / t.N % 2 == 0);
        };
      });
  add_too("only_last_tile_masked",
          "Only the last tile of keys is masked, and in those before it keys past the query's position are "
          "seen. The diagonal crosses several tiles.",
          [&p](const Tiling& t) {
            return [t, &p](Int i, Int j) {
              return p.sees(i, j) || j < round_down(t.last_query(i) + t.past, t.N);
            };
          });
  add("last_query_for_all", "All queries of a tile see what its last query sees.",
      [](const Tiling& t) { return [t](Int i, Int j) { return j <= t.last_query(i) + t.past; }; });
  add("first_query_for_all", "All queries of a tile see what its first query sees.",
      [](const Tiling& t) { return [t](Int i, Int j) { return j <= t.first_query(i) + t.past; }; });
  add("full_by_last_query",
      "A tile of keys is not masked because the last query sees all of it. The first one has to.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) {
          return p.sees(i, j) || j < round_down(t.last_query(i) + t.past + 1, t.N);
        };
      });
  add("full_tile_too_far",
      "A tile is taken as seen by all queries although the first query does not see its last key: the range "
      "without a mask is one key too long.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) {
          return p.sees(i, j) || j < round_down(t.first_query(i) + t.past + 2, t.N);
        };
      });
  add("last_key_missing",
      "Where the last key that a tile of queries sees is the first of a tile of keys, that tile is left out: "
      "the range of keys ends one too early.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) { return p.sees(i, j) && j < round_up(t.last_query(i) + t.past, t.N); };
      });
  add("last_masked_tile_missing",
      "The last tile that the diagonal crosses is left out where the last query does not see all of it.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) {
          return p.sees(i, j) && j < round_down(t.last_query(i) + t.past + 1, t.N);
        };
      });
  add("first_masked_tile_missing",
      "The first tile that the diagonal crosses is left out: the second loop has to begin where the first "
      "ended.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) { return p.sees(i, j) && round_down(j, t.N) != t.full_end(i); };
      });
  add("row_for_query", "The mask compares the row within the tile, not the query.", [](const Tiling& t) {
    return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j <= i % t.M + t.past); };
  });
  add("column_for_key", "The mask compares the column within the tile, not the key.", [](const Tiling& t) {
    return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j % t.N <= i + t.past); };
  });
  add("range_without_offset",
      "The ranges of keys are those of a query i that stands at key i; only the mask knows that it stands at "
      "key i + Nk - Nq.",
      [&p](const Tiling& t) {
        return [t = Tiling{t.M, t.N, t.Nq, 0}, &p](Int i, Int j) {
          return j < t.full_end(i) || (j < t.end(i) && p.sees(i, j));
        };
      });

  Mistakes found = std::move(views.mistakes);
  for (const Int M : {128, 64})
    for (const Int N : {64, 32, 16, 128}) {
      const Tiling t{M, N, Nq, past};
      if (t.full_end(Nq - 1) > 0)
        found.push_back(gives(
            "tiles_counted_twice",
            [=, &p] {
              return counted(p, which, [t](Int i, Int j) { return j < t.full_end(i) ? 2.0 : 1.0; });
            },
            "The tiles that all queries see are taken in twice: the second loop has to begin where the first "
            "ended."));
    }
  if (which == Which::O)
    found.push_back(gives(
        "future_loaded", [&p] { return with_hidden_values(p); },
        "Values that no query of the tile sees are multiplied by a weight of 0, and 0 times infinity is NaN: "
        "their tile should not even be loaded."));
  return found;
}

}  // namespace course::attention_tests
