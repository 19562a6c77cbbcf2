// Tests of lesson 10: O and lse of causal_attention against float64, within twice the error of a plain
// float32 attention; and that the keys which no query of a tile sees are not even loaded.

#include "10_causal/causal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attention/checks.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr reference::Mask kCausal{.causal = true};

Problem causal_problem(const Sizes& n) { return random_problem(n, kCausal); }

// --- Which well-known mistake explains a wrong result ---

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
  Views(const Problem& p, Which which) : p_(p), which_(which) {
    known_[view_of([&p](Int i, Int j) { return p.sees(i, j); })] = "";
    known_.emplace(view_of([](Int, Int) { return false; }), "");  // could be anything
    for (const NamedDeviation& one : deviations_in(p, which))
      if (one.how.sees) known_.emplace(view_of(one.how.sees), one.name);
  }

  void add(const char* name, const std::function<bool(Int i, Int j)>& sees, std::string sentence) {
    const Int Nk = p_.Nk();
    const auto in_range = [sees, Nk](Int i, Int j) { return j < Nk && sees(i, j); };
    if (known_.emplace(view_of(in_range), name).first->second != name) return;
    mistakes.push_back(deviation(name, p_, which_, {.sees = in_range}, std::move(sentence)));
  }

  /// The same, also if an earlier name has the view: other problems tell the two apart.
  void add_too(const char* name, const std::function<bool(Int i, Int j)>& sees, std::string sentence) {
    const Int Nk = p_.Nk();
    const auto in_range = [sees, Nk](Int i, Int j) { return j < Nk && sees(i, j); };
    if (view_of(in_range) != view_of([this](Int i, Int j) { return p_.sees(i, j); }))
      mistakes.push_back(deviation(name, p_, which_, {.sees = in_range}, std::move(sentence)));
  }

  Mistakes mistakes;

 private:
  std::vector<bool> view_of(const std::function<bool(Int i, Int j)>& sees) const {
    std::vector<bool> view;
    for (Int i = 0; i < p_.Nq(); ++i)
      for (Int j = 0; j < p_.Nk(); ++j) view.push_back(sees(i, j));
    return view;
  }

  const Problem& p_;
  Which which_;
  std::map<std::vector<bool>, std::string> known_;
};

/// What the two ranges and the mask may be instead.
Mistakes own_mistakes(const Problem& p, Which which) {
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
      "hidden, and "
      "those past it are seen. `hidden` is called with the query first, and the key second.";
  add_too("mask_reversed", reversed, [](const Tiling& t) {
    return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j >= i + t.past); };
  });
  add_too("mask_reversed", reversed, [](const Tiling& t) {
    return [t](Int i, Int j) { return j < t.full_end(i) || (j < t.end(i) && j >= i - t.past); };
  });
  add_too("position_unsigned",
          "Queries that stand before key 0 see every key of their tiles: their position is below 0, and was "
          "compared as "
          "an unsigned number.",
          [&p](const Tiling& t) {
            return [t, &p](Int i, Int j) { return p.sees(i, j) || (i + t.past < 0 && j < t.end(i)); };
          });
  add_too(
      "only_first_diagonal_tile",
      "Of the tiles that the diagonal crosses only the first is visited. With 128 queries and 64 keys in a "
      "tile it "
      "crosses two or three.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) { return p.sees(i, j) && j < t.full_end(i) + t.N; };
      });
  add_too(
      "every_second_diagonal_tile",
      "Every second tile that the diagonal crosses is missing: the loop steps by the queries of a tile, not "
      "by its "
      "keys.",
      [&p](const Tiling& t) {
        return [t, &p](Int i, Int j) {
          return p.sees(i, j) && (j < t.full_end(i) || (j - t.full_end(i)) / t.N % 2 == 0);
        };
      });
  add_too("only_last_tile_masked",
          "Only the last tile of keys is masked, and in those before it keys past the query's position are "
          "seen. The "
          "diagonal crosses several tiles.",
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

const Kernel kKernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                       return call_with(options, ENTRY(causal_attention), in(p.Q, "Q"), in(p.K, "K"),
                                        in(p.V, "V"), out(got.O, "O"), out(got.lse, "lse"), p.scale);
                     },
                     {Which::lse, Which::O},
                     own_mistakes,
                     false,
                     128,
                     {},
                     {},
                     [](const Problem& p, const Forward& got, const Outcome& outcome) {
                       return axes_exchanged("hbt", p, got, outcome);
                     }};

// --- Problems ---

/// Four queries and four keys whose scores are the logarithms of 1, 2, 5 and 8, whoever asks.
Problem problem_of_the_notes() {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  return {Tensor<float>::from({1, 1, 4, 1}, {1, 1, 1, 1}),
          Tensor<float>::from({1, 1, 4, 1}, {0, ln(2), ln(5), ln(8)}),
          Tensor<float>::from({1, 1, 4, 1}, {6, 3, 12, 1}), 1.0f, kCausal};
}

Problem last_queries_of(Problem p, Int count) {
  Tensor<float> Q({p.B(), p.H(), count, p.D()});
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < count; ++i)
        for (Int d = 0; d < p.D(); ++d) Q(b, h, i, d) = p.Q(b, h, p.Nq() - count + i, d);
  p.Q = std::move(Q);
  return p;
}

/// The scores of keys that a query does not see are larger by far than those that it sees.
Problem with_large_scores_ahead(Problem p) {
  p.scale = 1.0f;
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h) {
      for (Int i = 0; i < p.Nq(); ++i) p.Q(b, h, i, 0) = 1.0f;
      for (Int j = 0; j < p.Nk(); ++j) p.K(b, h, j, 0) = 20.0f * static_cast<float>(j);
    }
  return p;
}

/// NaN in K alone, from key `first` on.
Problem with_nan_in_k(Problem p, Int first) {
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int j = first; j < p.Nk(); ++j) p.K(b, h, j, 0) = kNan;
  return p;
}

// --- What the contract says about memory ---

/// Tiles of queries of a head: from the blocks of the launch, each of which has one. Tiles of more than 128
/// queries, and less than 64, cost as much as they would.
Int queries_of_a_tile(const Problem& p, const simt::LaunchProfile& launch) {
  const Int blocks = Int{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const Int tiles = std::max<Int>(blocks / (p.B() * p.H()), 1);
  return std::clamp<Int>(round_up((p.Nq() + tiles - 1) / tiles, 16), 64, 128);
}

void require_skips_the_future(const Problem& p) {
  const Outcome outcome = check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO(describe(p));
  const Int M = queries_of_a_tile(p, profile->launches[0]), past = p.Nk() - p.Nq();
  Int keys = 0, all = 0;
  for (Int first = 0; first < p.Nq(); first += M, all += p.Nk())
    keys += std::min(p.Nk(), round_up(std::min(first + M, p.Nq()) + past, 64));
  const auto bytes = [&p](Int rows) { return static_cast<std::uint64_t>(4 * p.B() * p.H() * rows * p.D()); };
  const std::uint64_t read = profile->global_load.bytes, limit = bytes(p.Nq() + 2 * keys);
  const auto show = [](std::uint64_t n) { return std::to_string(n); };
  require(read <= limit, "Your code reads " + show(read) + " bytes. Q takes " + show(bytes(p.Nq())) +
                             "; K and V, for each tile of " + std::to_string(M) +
                             " queries up to the tile of the last key that one of them sees, take " +
                             show(bytes(2 * keys)) + ". (All keys for each tile of queries would be " +
                             show(bytes(2 * all)) +
                             ".) Which keys do you load that no query of the tile sees?");
}

}  // namespace

TEST_CASE("attends from the four queries of the notes to the keys up to their own",
          "[l10][causal][points:1]") {
  check(kKernel, problem_of_the_notes());
}

TEST_CASE("lets a query see its own key and those before it", "[l10][causal][points:2]") {
  for (const Sizes& n : {Sizes{2, 2, 1, 1, 1}, {1, 1, 3, 3, 2}, {1, 1, 31, 31, 5}, {1, 1, 65, 65, 16}})
    check(kKernel, causal_problem(n));
}

TEST_CASE("attends around the edges of tiles, and with several of them", "[l10][causal][points:3]") {
  for (const Int N : {200, 63, 64, 128, 129}) check(kKernel, causal_problem({1, 1, N, N, 8}));
}

TEST_CASE("keeps several batches and heads apart", "[l10][causal][points:1]") {
  check(kKernel, causal_problem({2, 3, 40, 40, 37}));
}

TEST_CASE("attends in 64, 100, 127 and 128 dimensions", "[l10][causal][points:1]") {
  check(kKernel, causal_problem({1, 1, 45, 50, 64}));
  check(kKernel, causal_problem({1, 1, 70, 70, 100}));
  check(kKernel, causal_problem({1, 1, 50, 45, 127}));
  check(kKernel, causal_problem({1, 2, 20, 20, 128}));

  Problem p = causal_problem({1, 2, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 100, 0, 1});  // an axis of one element may have any stride
  check(kKernel, p);
}

TEST_CASE("lets the last query stand beside the last key where there are more keys",
          "[l10][causal][points:3]") {
  // In the first two, the diagonal leaves tiles of 64 keys at their last key and at their first.
  for (const Sizes& n :
       {Sizes{1, 1, 130, 192, 8}, {1, 1, 130, 131, 8}, {1, 2, 40, 90, 12}, {1, 1, 64, 256, 8}})
    check(kKernel, causal_problem(n));
  check(kKernel, last_queries_of(problem_of_the_notes(), 2));
}

TEST_CASE("attends from one query to many keys, as in decoding", "[l10][causal][points:2]") {
  check(kKernel, causal_problem({1, 2, 1, 150, 16}));
  check(kKernel, causal_problem({1, 1, 1, 500, 4}));
}

TEST_CASE("gives 0 to queries that see no key where there are fewer keys", "[l10][causal][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 20, 7, 12},
                         {1, 1, 90, 60, 8},
                         {1, 1, 200, 60, 8},  // a whole tile of queries sees nothing
                         {1, 1, 256, 128, 8},
                         {1, 1, 130, 129, 8},
                         {1, 1, 130, 1, 4}})
    check(kKernel, causal_problem(n));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l10][causal][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(kKernel, with_layouts(causal_problem({2, 2, 20, 40, 16}), outside, inside, outside, inside));
  check(kKernel, with_layouts(causal_problem({1, 3, 40, 20, 16}), inside, outside, inside, outside));
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l10][causal][points:1]") {
  check(kKernel, with_gaps(causal_problem({2, 2, 35, 41, 18})));
  check(kKernel, with_gaps(causal_problem({1, 2, 41, 35, 18}), kNan));
}

TEST_CASE("keeps large scores apart, and those that a query does not see away", "[l10][causal][points:2]") {
  check(kKernel, with_large_scores(causal_problem({1, 2, 40, 40, 32})));
  check(kKernel, with_whole_scores(causal_problem({1, 1, 70, 80, 16})));
  for (const float shift : {1000.0f, -1000.0f})
    check(kKernel, with_shifted_scores(causal_problem({1, 1, 40, 20, 16}), shift));
  check(kKernel, with_opposite_shifts(causal_problem({1, 1, 40, 20, 16}), 1000.0f));
  check(kKernel, with_large_scores_ahead(causal_problem({1, 1, 70, 70, 8})));
}

TEST_CASE("gives zeros where all scores of a row are -inf, and no weight to a score of -inf",
          "[l10][causal][points:1]") {
  check(kKernel, with_empty_rows(causal_problem({1, 2, 12, 30, 8})));
  check(kKernel, with_keys_of_minus_inf(causal_problem({1, 2, 80, 80, 8}), 70));
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else", "[l10][causal][points:1]") {
  check(kKernel, with_not_numbers(causal_problem({2, 3, 30, 64, 20})));  // all see keys 0 to 34
}

TEST_CASE("keeps what the future holds away from the past", "[l10][causal][points:2]") {
  check(kKernel, with_nan_in_k(causal_problem({1, 1, 40, 40, 8}), 25));
  check(kKernel, with_nan_in_k(causal_problem({1, 1, 129, 129, 8}), 128));
  // No query before the 128th sees these, and none of its tile: not even V is read.
  check(kKernel, with_nan_keys(causal_problem({1, 1, 150, 150, 8}), 128, 150));
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l10][causal][points:1]") {
  check_nothing_to_do(kKernel, kCausal);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l10][causal][points:1]") {
  check_same_bits(kKernel, causal_problem({2, 2, 130, 66, 8}));
}

TEST_CASE("loads no keys that no query of the tile sees", "[l10][causal][points:4]") {
  require_skips_the_future(causal_problem({1, 1, 300, 300, 8}));
  require_skips_the_future(causal_problem({1, 1, 128, 320, 8}));
  require_skips_the_future(causal_problem({1, 1, 256, 128, 8}));
}

TEST_CASE("launches one kernel, with blocks for every tile, that writes O and lse once, in whole sectors",
          "[l10][causal][points:2]") {
  const Problem p = causal_problem({1, 2, 144, 144, 16});
  const Outcome outcome = check(kKernel, p, kCounted);
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == 1,
          "Your code launched " + std::to_string(launches) + " kernels; one should do everything.");
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  const simt::LaunchProfile& launch = profile->launches[0];
  const Int blocks = Int{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  require(blocks >= 4, launch.kernel + " has " + std::to_string(blocks) +
                           " blocks for 2 heads of 144 queries; tiles of 128 queries make 4.");
  require_stores_outputs_once(kKernel, *profile, p);
  require_whole_sectors(*profile);
}

TEST_CASE("refuses shapes that do not fit together", "[l10][causal][points:1]") {
  check_refuses_shapes(kKernel, causal_problem({2, 3, 4, 7, 6}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l10][causal][points:1]") {
  check_refuses_rows(kKernel, causal_problem({1, 2, 4, 7, 6}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l10][causal][points:1]") {
  check(kKernel, causal_problem({1, 1, 5, 8, 7}));
  check_reports_refused_launch(kKernel, causal_problem({1, 66'000, 1, 1, 1}));
  check_reports_refused_launch(kKernel, causal_problem({66'000, 1, 1, 1, 1}));
  check_reports_refused_launch(kKernel, causal_problem({1, 1, 200, 200, 8}));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::always}, {Which::lse, Which::O}, [&](const Problem& p, Forward& got) {
    run.call(ENTRY(causal_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
             out(got.lse, "lse"), p.scale);
  });
}
