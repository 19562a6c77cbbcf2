// Tests of lesson 11: O and lse of grouped_query_attention against float64, within twice the error of a plain
// float32 attention; and how often K and V are read.

#include "11_grouped_query/grouped_query.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/check_parts.hpp"
#include "attention/checks.hpp"
#include "attention/deviation.hpp"
#include "attention/drawn.hpp"
#include "attention/mistakes.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/lesson_test.hpp"
#include "grading/testing/listing.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr Int kRowsForOneReading = 64;          // of the contract's cost
constexpr Int kTileRows = 128, kTileKeys = 64;  // of the stub's shapes
constexpr reference::Mask kCausal{.causal = true};

// --- Which mistake of this lesson explains a wrong result ---

Int group_of(const Problem& p) { return p.H() / p.H_kv(); }

/// Where a result stands, or a query: which head of Q, and which query of it.
struct Place {
  Int head, query;
};

/// The rows of a head of K and V can be counted in two ways: query · group + member, or member · Nq + query.
/// Where the row stands in the second order that stands at (head, query) in the first; and the reverse.
Place by_members(const Problem& p, Int head, Int query) {
  const Int group = group_of(p), row = query * group + head % group;
  return {head / group * group + row / p.Nq(), row % p.Nq()};
}
Place by_queries(const Problem& p, Int head, Int query) {
  const Int group = group_of(p), row = head % group * p.Nq() + query;
  return {head / group * group + row % group, row / group};
}

/// Where a row's tile begins, and which query is its last.
struct Tile {
  Int first_row, last_query;
};
Tile tile_of(const Problem& p, Int row) {
  const Int group = group_of(p), first = row / kTileRows * kTileRows;
  return {first, (std::min(first + kTileRows, group * p.Nq()) - 1) / group};
}

/// The right results, taken from other places.
Mistake moved(std::string name, const Problem& p, Which which, std::function<Place(Int head, Int query)> from,
              std::string sentence) {
  const auto wrong = [&p, which, from = std::move(from)] {
    const Tensor<double> right_one = expected_of(p).of(which);
    Tensor<double> x = right_one;
    const Int rows = p.H() * p.Nq(), each = right_one.numel() / (p.B() * rows);
    for (Int b = 0; b < p.B(); ++b)
      for (Int h = 0; h < p.H(); ++h)
        for (Int i = 0; i < p.Nq(); ++i) {
          const Place place = from(h, i);
          const double* source = right_one.data() + (b * rows + place.head * p.Nq() + place.query) * each;
          std::copy(source, source + each, x.data() + (b * rows + h * p.Nq() + i) * each);
        }
    return x;
  };
  return gives(std::move(name), wrong, std::move(sentence));
}

/// Query i of the group's head `member` sees key j if `sees` says so.
Mistake seen_if(std::string name, const Problem& p, Which which,
                std::function<bool(Int member, Int i, Int j)> sees, std::string sentence) {
  const auto wrong = [&p, which, sees = std::move(sees)] {
    Tensor<double> x;
    for (Int member = 0; member < group_of(p); ++member) {  // the model's mask does not know the head
      const auto of_member = [&](Int i, Int j) { return j < p.Nk() && sees(member, i, j); };
      const Tensor<double> all = deviate(p, {.sees = of_member}, which).of(which);
      if (member == 0) x = all;
      const Int each = all.numel() / (p.B() * p.H());
      for (Int n = 0; n < p.B() * p.H(); ++n)
        if (n % p.H() % group_of(p) == member)
          std::copy(all.data() + n * each, all.data() + (n + 1) * each, x.data() + n * each);
    }
    return x;
  };
  return gives(std::move(name), wrong, std::move(sentence));
}

/// A causal mask that takes `query_of(head, query)` for the query.
Mistake masked_by(std::string name, const Problem& p, Which which,
                  const std::function<Int(Int head, Int query)>& query_of, std::string sentence) {
  const auto sees = [&p, query_of](Int member, Int i, Int j) {
    return j <= query_of(member, i) + p.Nk() - p.Nq();
  };
  return seen_if(std::move(name), p, which, sees, std::move(sentence));
}

/// Query i of the group's head `member` sees the keys of the tiles that its tile of rows needs no mask for,
/// and in those that the diagonal crosses the keys that `sees` shows.
Mistake masked_in_tiles(std::string name, const Problem& p, Which which,
                        std::function<bool(Int row, Int first_row, Int i, Int j)> sees,
                        std::string sentence) {
  const auto seen = [&p, sees = std::move(sees)](Int member, Int i, Int j) {
    const Int group = group_of(p), past = p.Nk() - p.Nq(), row = i * group + member;
    const Tile tile = tile_of(p, row);
    const Int all = std::max<Int>(tile.first_row / group + past + 1, 0) / kTileKeys * kTileKeys;
    return j < all ||
           (j / kTileKeys * kTileKeys <= tile.last_query + past && sees(row, tile.first_row, i, j));
  };
  return seen_if(std::move(name), p, which, seen, std::move(sentence));
}

/// Whether all that was written is right.
bool written_is_right(const WrongResult& result) {
  const std::vector<Int>& wrong = result.comparison.wrong;
  return std::all_of(wrong.begin(), wrong.end(), [&](Int i) { return is_poison(result.got.at_linear(i)); });
}

/// Fits if exactly the heads were never written that are not the first of their group, and if the first are
/// right, or wrong.
Mistake first_heads_written(const Problem& p, std::string name, bool right, const std::string& sentence) {
  const Int group = group_of(p);
  list_mistake(name, sentence);
  return {std::move(name), [=](const WrongResult& result) -> std::optional<std::string> {
            if (written_is_right(result) != right) return std::nullopt;
            for (Int i = 0; i < result.got.numel(); ++i)
              if (is_poison(result.got.at_linear(i)) != (result.got.unravel(i)[1] % group != 0))
                return std::nullopt;
            return sentence;
          }};
}

/// Fits if exactly the last rows of every group were never written, from some multiple of 8 on. Joins the
/// mistake of this name that all attention lessons have.
Mistake rows_missing(const Problem& p) {
  const auto explain = [&p](const WrongResult& result, bool query_by_query) -> std::optional<std::string> {
    if (!written_is_right(result)) return std::nullopt;
    const Int group = group_of(p);
    const auto row_of = [&](Int i) {
      const auto at = result.got.unravel(i);
      return query_by_query ? at[2] * group + at[1] % group : at[1] % group * p.Nq() + at[2];
    };
    Int first = group * p.Nq();
    for (Int i = 0; i < result.got.numel(); ++i)
      if (is_poison(result.got.at_linear(i))) first = std::min(first, row_of(i));
    if (first == 0 || first == group * p.Nq() || first % 8 != 0) return std::nullopt;
    if (!query_by_query && first == p.Nq()) return std::nullopt;        // members_missing says so
    if (query_by_query && first == group * group) return std::nullopt;  // member_and_query_exchanged
    for (Int i = 0; i < result.got.numel(); ++i)
      if (is_poison(result.got.at_linear(i)) != (row_of(i) >= first)) return std::nullopt;
    std::string sentence =
        "The last rows of every group were never written: those from row " + std::to_string(first) + " on";
    if (query_by_query && first % group == 0)
      sentence += ", which are query " + std::to_string(first / group) + " on, of every head";
    sentence +=
        ". A head of K and V has a row for every query of every head that reads it, and its tiles lie "
        "along x of the grid";
    if (first == kTileRows)
      sentence += "; and without first_row, every tile stores its rows to the places of the first tile's";
    return sentence + ".";
  };
  const std::string name = "last_queries_missing";
  list_mistake(name, "The last rows of every group were never written: those from row ... on.");
  return {name, [explain](const WrongResult& result) {
            const auto sentence = explain(result, true);
            return sentence ? sentence : explain(result, false);
          }};
}

/// What the mistakes below ask of the last call besides the result that is wrong.
struct LastCall {
  bool overwrote = false;  ///< several blocks wrote the same elements, or something was written past the end
  Forward results{};
  bool explained_by_launch = false;  ///< see what_blocks_did()
};
LastCall last_call;

bool overwrote(const Outcome& outcome) {
  const auto writes = [](const Finding& found) {
    const auto says = [&found](const char* words) { return found.what.find(words) != std::string::npos; };
    return (found.kind == "race" || found.kind == "out_of_bounds") && says(" writes ") && !says(" reads ") &&
           found.memory != "shared";
  };
  return !outcome.violations.empty() || std::any_of(outcome.findings.begin(), outcome.findings.end(), writes);
}

/// Fits if all was written, and some of it by those who should not. What then stands in the outputs may look
/// like another mistake, but nothing says that it is; that mistake and this one together are not told.
Mistake rows_behind_the_last() {
  return {"rows_behind_the_last", [](const WrongResult& result) -> std::optional<std::string> {
            if (!last_call.overwrote || last_call.explained_by_launch) return std::nullopt;
            for (Int i = 0; i < result.got.numel(); ++i)
              if (is_poison(result.got.at_linear(i))) return std::nullopt;
            return "Rows were written over those of other blocks, or past the end: groups overlap, or a row "
                   "past the last of a group, which has no place, is taken for query Nq of its head.";
          }};
}

/// What a grid of (H_kv, B, tiles) leaves of a kernel whose tiles are along x, heads along y and batches
/// along z. With more tiles than batches it reads batches that are not there; check mode tells.
Mistake grid_exchanged(const Problem& p) {
  const Int group = group_of(p), tiles = (group * p.Nq() + kTileRows - 1) / kTileRows;
  const auto written = [&p, group, tiles](const Index& at) {
    const Int row = at[2] * group + at[1] % group;
    return row < p.H_kv() * kTileRows && at[1] / group < p.B() && at[0] < tiles;
  };
  return {
      "grid_exchanged", [written](const WrongResult& result) -> std::optional<std::string> {
        if (!written_is_right(result)) return std::nullopt;
        bool any = false;
        for (const Which which : {Which::lse, Which::O}) {  // NaN that a kernel read may look like poison
          const Tensor<float>& got = last_call.results.of(which);
          for (Int i = 0; i < got.numel(); ++i) {
            const bool there = !is_poison(got.at_linear(i));
            if (there != written(got.unravel(i))) return std::nullopt;
            any = any || there;
          }
        }
        if (!any) return std::nullopt;
        return "These are the blocks that a grid of (H_kv, B, tiles), as in lesson 10, has. This kernel "
               "finds its tile along x, its head along y and its batch along z: the grid is (tiles, H_kv, "
               "B).";
      }};
}

/// Fits if exactly the first `group` queries of every head were written.
Mistake member_and_query_exchanged(const Problem& p) {
  return {"member_and_query_exchanged",
          [group = group_of(p)](const WrongResult& result) -> std::optional<std::string> {
            for (Int i = 0; i < result.got.numel(); ++i)
              if (is_poison(result.got.at_linear(i)) != (result.got.unravel(i)[2] >= group))
                return std::nullopt;
            return "Of every head only the first " + std::to_string(group) +
                   " queries were written, as many as a group has heads: `row / group` and `row % group` are "
                   "exchanged. Row r holds query r / group of the group's head r % group.";
          }};
}

/// Mistakes that show where a group has several tiles of rows.
void add_mistakes_of_tiles(Mistakes& to, const Problem& p, Which which) {
  const Int group = group_of(p), Nk = p.Nk(), past = Nk - p.Nq();
  if (group * p.Nq() <= kTileRows) return;
  to.push_back(only_written(
      "first_tile_of_rows_missing",
      [group](const Index& at) { return at[2] * group + at[1] % group >= kTileRows; },
      "The first 128 rows of every group were never written: no block has the first tile. Tiles count from "
      "0; counted backwards, from gridDim.x - 1."));
  const auto address = [group, strides = p.Q.strides()](Int b, Int h, Int i, Int d) {
    const Int row = (i * group + h % group) % kTileRows;
    return address_by(strides)(b, h / group * group + row % group, row / group, d);
  };
  to.push_back(deviation("first_row_missing", p, which, {.Q = Reader{&p.Q, address}},
                         "Every tile reads the rows of the first: first_row is missing."));
  if (!p.mask.causal) {
    for (const Int full :
         {Int{0}, Nk / kTileKeys * kTileKeys})  // the first loop ends there, too, or does not
      to.push_back(seen_if(
          "tiles_end_at_diagonal", p, which,
          [&p, group, past, full](Int member, Int i, Int j) {
            return j < full || j / kTileKeys * kTileKeys <= tile_of(p, i * group + member).last_query + past;
          },
          "The tiles of keys end at the diagonal although `causal` is false."));
    return;
  }
  to.push_back(seen_if(
      "first_row_twice", p, which,
      [&p, group, past](Int member, Int i, Int j) {
        const Int row = i * group + member;
        const Tile tile = tile_of(p, row);
        return j <= (row + tile.first_row) / group + past &&
               j / kTileKeys * kTileKeys <= tile.last_query + past;
      },
      "The causal mask adds first_row to a row that is counted from the beginning of the group already."));
  to.push_back(masked_in_tiles(
      "first_row_subtracted", p, which,
      [group, past](Int row, Int first_row, Int, Int j) { return j <= (row - first_row) / group + past; },
      "The causal mask subtracts first_row from the row. attend() calls `hidden` with a row that is counted "
      "from the beginning of the group, as rows.query() wants it."));
  if (group > 1)
    to.push_back(seen_if(
        "ranges_by_row", p, which,
        [&p, group, past](Int member, Int i, Int j) {
          const Int first_row = tile_of(p, i * group + member).first_row;
          return j <= i + past || (j / kTileKeys + 1) * kTileKeys <= first_row + past + 1;
        },
        "How many keys a tile sees is taken from its rows, not from their queries. Row r holds query r / "
        "group."));
}

Mistakes mistakes_of_groups(const Problem& p, Which which) {
  Mistakes found;
  if (p.H_kv() == 0 || p.Nq() == 0) return found;
  const auto add = [&](const char* name, Deviation how, const std::string& sentence) {
    found.push_back(deviation(name, p, which, std::move(how), sentence));
  };
  const auto head_stride_of_Q = [&p](const Tensor<float>& x) {
    const Strides& s = x.strides();
    return Reader{&x, address_by({s[0], p.Q.strides()[1], s[2], s[3]})};
  };
  const std::string strides = " read with the distance of the heads of Q; they have their own.";
  const bool in_K = p.K.strides()[1] != p.Q.strides()[1],
             in_V = which == Which::O && p.V.strides()[1] != p.Q.strides()[1];
  if (in_K) add("head_stride_of_q", {.K = head_stride_of_Q(p.K)}, "The heads of K are" + strides);
  if (in_V) add("head_stride_of_q", {.V = head_stride_of_Q(p.V)}, "The heads of V are" + strides);
  if (in_K && in_V)
    add("head_stride_of_q", {.K = head_stride_of_Q(p.K), .V = head_stride_of_Q(p.V)},
        "The heads of K and V are" + strides);

  if (!p.mask.causal)
    add("causal_always", {.sees = [&p](Int i, Int j) { return j <= i + p.Nk() - p.Nq(); }},
        "The causal mask hides keys although `causal` is false.");

  const Int past = p.Nk() - p.Nq();
  if (p.mask.causal) {
    found.push_back(masked_in_tiles(
        "mask_top_left", p, which, [](Int, Int, Int i, Int j) { return j <= i; },
        "The causal mask compares the key with i, the query's number. Query i stands at key i + Nk - Nq."));
    const std::string reversed =
        "The causal mask is reversed: where the diagonal crosses a tile, the keys up to the query's position "
        "are hidden, and those past it are seen. `hidden` is called with the row first, and the key second.";
    found.push_back(masked_in_tiles(
        "mask_reversed", p, which, [past](Int, Int, Int i, Int j) { return j >= i + past; }, reversed));
    found.push_back(masked_in_tiles(
        "mask_reversed", p, which,
        [past, group = group_of(p)](Int row, Int, Int, Int j) { return row <= j / group + past; }, reversed));
  }
  found.push_back(rows_behind_the_last());
  add_mistakes_of_tiles(found, p, which);
  if (p.H_kv() > p.B() || p.B() > (p.H() / p.H_kv() * p.Nq() + kTileRows - 1) / kTileRows)
    found.push_back(grid_exchanged(p));  // else rows_missing says so
  const Int group = group_of(p);
  if (group == 1) return found;
  const std::string name = name_of(which);
  if (group < p.Nq()) found.push_back(member_and_query_exchanged(p));
  found.push_back(moved(
      "first_head_of_q", p, which,
      [group](Int h, Int i) {
        return Place{h / group * group, i};
      },
      "All heads of a group have the " + name +
          " of the group's first: its queries are read for all of them."));
  const auto kv_head = [group](Int h) { return h / group * group; };
  const std::string numbers =
      "Head h reads the head of K and V that has the number of the first head of Q in its group. The groups "
      "are numbered, too: h_kv is h / (H / H_kv).";
  add("kv_head_not_divided", {.k_head = kv_head, .v_head = kv_head}, numbers);
  add("kv_head_not_divided", {.k_head = kv_head}, "In K: " + numbers);
  if (which == Which::O) add("kv_head_not_divided", {.v_head = kv_head}, "In V: " + numbers);
  found.push_back(rows_missing(p));
  found.push_back(first_heads_written(p, "members_missing", true,
                                      "Of every group of heads that share a head of K and V, only the "
                                      "first was computed."));
  found.push_back(first_heads_written(p, "first_head_of_results", false,
                                      "All heads of a group write their " + name +
                                          " to the place of the group's first; nobody writes the others."));
  if (p.mask.causal) {
    found.push_back(masked_in_tiles(
        "masked_by_member", p, which,
        [group, past](Int row, Int, Int, Int j) { return j <= row % group + past; },
        "The causal mask takes row % group for the query. That is the member of the group; the query is row "
        "/ group."));
    found.push_back(masked_by(
        "masked_by_row", p, which, [group](Int h, Int i) { return i * group + h % group; },
        "The causal mask takes a row for a query. Row r holds query r / group, since each query has a row "
        "for every head of its group."));
    found.push_back(masked_by(
        "masked_by_row", p, which, [&p, group](Int h, Int i) { return h % group * p.Nq() + i; },
        "The causal mask takes a row for a query. Row r holds query r % Nq here, since each head of the "
        "group has Nq rows."));
    found.push_back(masked_by(
        "masked_in_other_order", p, which, [&p](Int h, Int i) { return by_queries(p, h, i).query; },
        "The causal mask takes row / group for the query, but the rows are counted head by head: it is "
        "row % Nq."));
    found.push_back(masked_by(
        "masked_in_other_order", p, which, [&p](Int h, Int i) { return by_members(p, h, i).query; },
        "The causal mask takes row % Nq for the query, but the rows are counted query by query: it is "
        "row / group."));
  } else if (p.Nq() > 1) {
    const std::string orders = " One of them counts the rows query by query, and the other head by head.";
    for (const auto& other : {by_members, by_queries})
      found.push_back(moved(
          "orders_differ", p, which, [&p, other](Int h, Int i) { return other(p, h, i); },
          (which == Which::O ? "The rows of O" : "The queries of " + name) +
              " are written in another order than that in which the rows of Q are read." + orders));
  }
  return found;
}

/// What is wrong with the blocks of a launch, if the groups of heads are: mistakes say nothing of calls that
/// leave their arrays, or whose blocks write to the same place.
std::string what_blocks_did(const Problem& p, const Forward& got, const Outcome& outcome) {
  if (p.Q.numel() == 0) return "";
  const auto found = [&outcome](std::string_view kind) {
    return std::any_of(outcome.findings.begin(), outcome.findings.end(),
                       [kind](const Finding& finding) { return finding.kind == kind; });
  };
  const Int group = p.H() / std::max<Int>(p.H_kv(), 1);
  bool all = true, first_group = p.H_kv() > 1;
  for (Int row = 0; row < got.lse.numel(); ++row) {
    const bool written = !is_poison(got.lse.at_linear(row));
    all = all && written;
    first_group = first_group && written == (row / p.Nq() % p.H() < group);
  }
  if (first_group && found("race"))
    return "Only the heads of the first group were written, by the blocks of all groups: the first head of a "
           "block's group is its head of K and V times H / H_kv.";
  const Int tiles = (group * p.Nq() + kTileRows - 1) / kTileRows;
  const auto count = [&](const char* name) {  // of a call that did not come back there are none
    const auto one = outcome.counters.find(name);
    return one == outcome.counters.end() ? Int{0} : one->second;
  };
  const bool for_heads_of_q = count("launches") == 1 && count("blocks") == tiles * p.H() * p.B();
  if (all && for_heads_of_q && group > 1 && !outcome.violations.empty())
    return "The launch has " + std::to_string(p.H()) +
           " blocks along y, as many as there are heads of Q, and they write past the end. A block has a "
           "head of K and V, with the rows of all its heads of Q: there are " +
           std::to_string(p.H_kv()) + ".";
  return "";
}

const Kernel kKernel{.attend =
                         [](const Problem& p, Forward& got, const CallOptions& options) {
                           Outcome outcome = call_with(options, ENTRY(grouped_query_attention), in(p.Q, "Q"),
                                                       in(p.K, "K"), in(p.V, "V"), out(got.O, "O"),
                                                       out(got.lse, "lse"), p.scale, p.mask.causal);
                           last_call = {overwrote(outcome), got, !what_blocks_did(p, got, outcome).empty()};
                           return outcome;
                         },
                     .outputs = {Which::lse, Which::O},
                     .own_mistakes = mistakes_of_groups,
                     .grouped = true,
                     .remark = what_blocks_did,
                     .load_limit = keys_read_for(64),
                     .stores_once = true};

// --- Problems ---

/// Four heads of Q with one query each, two heads of K and V with two keys; one dimension.
Problem problem_of_the_notes() {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  return {Tensor<float>::from({1, 4, 1, 1}, {1, 0, 1, -1}),
          Tensor<float>::from({1, 2, 2, 1}, {0, ln(3), 0, ln(4)}),
          Tensor<float>::from({1, 2, 2, 1}, {4, 8, 10, 20}), 1.0f};
}

/// @brief K is NaN from key `first` on, in every head. Queries that see none of these keys must not change.
Problem with_nan_in_K(Problem p, Int first) {
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H_kv(); ++h)
      for (Int j = first; j < p.Nk(); ++j) p.K(b, h, j, j % p.D()) = kNan;
  return p;
}

/// An axis of one element may have any stride.
Problem with_odd_strides(Problem p, Int stride) {
  for (Tensor<float>* x : {&p.Q, &p.K, &p.V}) {
    Strides strides = x->strides();
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (x->shape()[axis] == 1) strides[axis] = stride;
    *x = lay_out(*x, strides);
  }
  return p;
}

// --- Traffic ---

/// What the contract says about reading, where every row begins at a multiple of 32 bytes.
void require_reading(const Profile& profile, const Problem& p) {
  const Int rows = group_of(p) * p.Nq();
  const auto times = static_cast<std::uint64_t>((rows + kRowsForOneReading - 1) / kRowsForOneReading);
  const std::string how_often =
      times == 1 ? "once" : std::to_string(times) + " times, once for every 64 of its rows,";
  require_loads_at_most(
      profile, bytes_of(p.Q) + times * (bytes_of(p.K) + bytes_of(p.V)),
      "to read Q once, and every head of K and V " + how_often + " for all heads of its group together,");
}

/// Bytes of K and V that are read, counted; nothing where nothing counts. Fails the case if they are more
/// than those of whole heads for each tile of rows: what is read in vain without a mask would hide what is
/// read in vain with one.
std::optional<std::uint64_t> bytes_of_keys_read(const Problem& p) {
  const Outcome outcome = check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return std::nullopt;
  const Int rows = group_of(p) * p.Nq(), of_a_block = std::max<Int>(rows_that_a_block_stores(*profile, p), 1);
  const Int readings = std::clamp<Int>((rows + of_a_block - 1) / of_a_block, (rows + 127) / 128,
                                       (rows + kRowsForOneReading - 1) / kRowsForOneReading);
  require_loads_at_most(
      *profile, bytes_of(p.Q) + static_cast<std::uint64_t>(readings) * (bytes_of(p.K) + bytes_of(p.V)),
      "to read Q once, and every head of K and V once for each of its " + std::to_string(readings) +
          " tiles of rows,");
  return profile->global_load.bytes - std::min(profile->global_load.bytes, bytes_of(p.Q));
}

/// No block does what several could share.
void check_busy_blocks() {
  for (const Sizes& n : {Sizes{1, 8, 70, 24, 8}, unknown_sizes_of_many_heads()}) {
    const Outcome outcome = check(kKernel, random_problem(n), kCounted);
    if (const Profile* profile = profile_of(outcome)) require_busy_blocks(*profile, 0.25);
  }
}

}  // namespace

TEST_CASE("attends from the four heads of the notes to their two heads of keys",
          "[l11][grouped_query][points:1]") {
  check(kKernel, problem_of_the_notes());
}

TEST_CASE("attends where every head of Q has a head of K and V of its own",
          "[l11][grouped_query][points:1]") {
  check(kKernel, random_problem({2, 3, 37, 21, 24}));
  check(kKernel, random_problem({1, 2, 150, 40, 8}));
  check(kKernel, random_problem({1, 2, 70, 70, 8}, kCausal));
}

TEST_CASE("attends with one head of K and V for all, with two, and with as many as Q has",
          "[l11][grouped_query][points:3]") {
  for (const Int H_kv : {1, 2, 4}) check(kKernel, random_problem({1, 4, 20, 40, 16, H_kv}));
  check(kKernel, random_problem({2, 4, 37, 21, 24, 2}));
}

TEST_CASE("attends with groups of 3, 5 and 7 heads, which do not divide a tile",
          "[l11][grouped_query][points:2]") {
  for (const Sizes& n :
       {Sizes{1, 6, 50, 30, 20, 2}, {1, 5, 31, 45, 16, 1}, {1, 14, 9, 37, 8, 2}, {3, 5, 11, 12, 4, 1}})
    check(kKernel, random_problem(n));
}

TEST_CASE("attends with one query, one key, one dimension, and a few", "[l11][grouped_query][points:1]") {
  check(kKernel, random_problem({1, 6, 1, 1, 1, 3}));
  check(kKernel, random_problem({1, 6, 5, 1, 3, 2}));
  check(kKernel, random_problem({3, 3, 1, 7, 2, 1}));
  check(kKernel, random_problem({1, 8, 3, 2, 1, 4}, kCausal));
  check(kKernel, random_problem({1, 4, 31, 33, 5, 2}, kCausal));
  check(kKernel, random_problem({1, 3, 17, 9, 31, 1}));
  for (const Int stride : {0, 1000})
    check(kKernel, with_odd_strides(random_problem({1, 4, 1, 9, 6, 1}), stride));
  check(kKernel, with_odd_strides(random_problem({1, 1, 1, 9, 70, 1}), 0));
}

TEST_CASE("sees the keys up to the query's own position in every head of a group",
          "[l11][grouped_query][points:2]") {
  for (const Sizes& n : {Sizes{2, 4, 40, 40, 16, 2}, {1, 3, 70, 70, 8, 1}, {1, 5, 33, 33, 12, 1}})
    check(kKernel, random_problem(n, kCausal));
}

TEST_CASE("sees the right keys where there are more keys than queries, or fewer",
          "[l11][grouped_query][points:2]") {
  for (const Sizes& n : {Sizes{1, 4, 20, 150, 16, 2},
                         {1, 3, 9, 71, 8, 1},
                         {1, 2, 80, 30, 16, 1},
                         {1, 7, 40, 21, 4, 1},
                         {1, 2, 150, 10, 8, 1}})
    check(kKernel, random_problem(n, kCausal));
}

TEST_CASE("attends around the edges of tiles", "[l11][grouped_query][points:2]") {
  check(kKernel, random_problem({1, 3, 43, 127, 9, 1}, kCausal));  // 129 rows
  check(kKernel, random_problem({1, 3, 42, 129, 7, 1}));           // 126
  check(kKernel, random_problem({1, 4, 32, 128, 8, 1}, kCausal));  // 128
  check(kKernel, random_problem({1, 4, 32, 64, 65, 1}));           // 128
  check(kKernel, random_problem({1, 2, 32, 65, 33, 1}, kCausal));  // 64
  check(kKernel, random_problem({1, 5, 13, 63, 66, 1}));           // 65
}

TEST_CASE("sees all keys without the mask, also from several tiles of rows",
          "[l11][grouped_query][points:1]") {
  for (const Sizes& n :
       {Sizes{1, 4, 100, 150, 8, 1}, {1, 2, 100, 70, 16, 1}, {1, 3, 120, 200, 8, 1}, {2, 2, 140, 90, 4}})
    check(kKernel, random_problem(n));
}

TEST_CASE("attends in 1, 16, 32, 64, 100, 127 and 128 dimensions", "[l11][grouped_query][points:1]") {
  for (const Int D : {1, 16, 32, 64, 100, 127}) check(kKernel, random_problem({1, 2, 15, 33, D, 1}));
  check(kKernel, random_problem({1, 6, 30, 70, 128, 2}, kCausal));
}

TEST_CASE("attends from 300 queries to 300 keys, and from two to 700", "[l11][grouped_query][points:1]") {
  check(kKernel, random_problem({1, 1, 300, 300, 8}, kCausal));
  check(kKernel, random_problem({1, 3, 2, 700, 4, 1}));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l11][grouped_query][points:2]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  const auto check_layouts = [](const Sizes& n, Layout Q, Layout K, Layout V, Layout O) {
    check(kKernel, with_layouts(random_problem(n), Q, K, V, O));
  };
  check_layouts({1, 6, 20, 40, 16, 2}, outside, inside, outside, outside);
  check_layouts({1, 6, 40, 20, 16, 3}, inside, outside, inside, outside);
  check_layouts({2, 4, 17, 45, 24, 2}, inside, inside, inside, inside);
  Problem p = with_layouts(random_problem({1, 6, 23, 30, 8, 2}, kCausal), inside, outside, outside, inside);
  p.layout_of_lse = inside;
  check(kKernel, p);
  check_drawn(kKernel, {.causal = Causal::choice, .grouped = true});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l11][grouped_query][points:1]") {
  check_shifted(kKernel, random_problem({1, 4, 20, 40, 16, 2}));
  check_odd_rows(kKernel, {{.causal = true}, {}});
  const Problem p = random_problem({2, 4, 25, 41, 18, 2});
  for (const float gap : {1000.0f, kNan}) check(kKernel, with_gaps(p, gap));
  check(kKernel, with_gaps(random_problem({2, 2, 35, 41, 66, 1}, kCausal), kNan));
}

TEST_CASE("keeps large scores apart", "[l11][grouped_query][points:1]") {
  check(kKernel, with_large_scores(random_problem({1, 4, 40, 70, 32, 2}, kCausal)));
  check(kKernel, with_whole_scores(random_problem({1, 4, 40, 70, 16, 2})));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    check(kKernel, with_shifted_scores(random_problem({1, 4, 20, 80, 16, 2}), shift));
  }
  INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
  check(kKernel, with_opposite_shifts(random_problem({1, 4, 20, 80, 16, 2}), 1000.0f));
  check(kKernel, with_negative_scale(random_problem({1, 4, 20, 80, 16, 2})));
}

TEST_CASE("gives zeros where a query sees no key, or only scores of -inf", "[l11][grouped_query][points:1]") {
  check(kKernel, with_empty_rows(random_problem({1, 4, 12, 150, 8, 2})));
  const Problem p = with_keys_of_minus_inf(random_problem({1, 4, 12, 150, 8, 2}), 130);
  check(kKernel, p);
  check(kKernel, with_infinite_values(p));  // 0 times an infinity is NaN
  check(kKernel, random_problem({1, 6, 100, 3, 8, 2}, kCausal));
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else", "[l11][grouped_query][points:1]") {
  for (const Int D : {20, 65}) check(kKernel, with_not_numbers(random_problem(larger({2, 6, 40, 50, D, 3}))));
  check(kKernel, with_nan_in_K(random_problem({1, 6, 40, 60, 8, 2}, kCausal), 35));
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l11][grouped_query][points:1]") {
  check_nothing_to_do(kKernel);
  check_nothing_to_do(kKernel, kCausal);
  check(kKernel, random_problem({2, 0, 3, 5, 8, 2}));
  check(kKernel, random_problem({2, 6, 5, 0, 8, 2}));
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l11][grouped_query][points:1]") {
  check_same_bits(kKernel, random_problem({1, 6, 25, 70, 12, 2}, kCausal));
  Sizes unknown = unknown_sizes_of_many_tiles();
  unknown.H_kv = 1;
  check_same_bits(kKernel, random_problem(unknown));
}

TEST_CASE("reads K and V once for all heads of a group where the queries are few",
          "[l11][grouped_query][points:3]") {
  const auto odd = [](std::uint64_t stride) { return static_cast<Int>(case_seed() / stride % 7); };
  for (const Sizes& n : {Sizes{1, 8, 8, 100, 64, 2},  // 32 rows
                         {1, 8, 1, 100, 64, 1},       // 8 rows: one query, as in decoding
                         {2, 14, 9, 30, 32, 2},       // 63 rows
                         // Sizes that no kernel knows beforehand: up to 64 rows.
                         {1, 8, 2 + odd(1), 60 + odd(7), 8 * (2 + odd(49)), 1},
                         {2, 8, 2 + odd(7), 60 + odd(1), 8 * (9 + odd(343)), 2}}) {
    const Problem p = random_problem(n);  // every row begins at a multiple of 32 bytes
    const Outcome outcome = check(kKernel, p, kCounted);
    INFO(describe(p));
    const Profile* profile = profile_of(outcome);
    if (!profile) continue;
    require_reading(*profile, p);
  }
}

TEST_CASE("reads K and V once for every 64 rows where the queries are many",
          "[l11][grouped_query][points:1]") {
  for (const Sizes& n : {Sizes{1, 7, 18, 70, 64, 1},  // 126 rows: 2 times, where each head alone makes 7
                         {1, 8, 32, 30, 64, 4},  // 64 rows, once: not once for every 64 rows of all heads
                         {1, 2, 96, 30, 64, 1}}) {
    const Problem tame = random_problem(n), p = n.H == 8 ? with_growing_scores(tame, 1.0f) : tame;
    const Outcome outcome = check(kKernel, p, kCounted);
    INFO(describe(p));
    const Profile* profile = profile_of(outcome);
    if (!profile) continue;
    require_reading(*profile, p);
    require_busy_lanes(*profile);
    require_busy_warps(*profile);
  }
  check_busy_blocks();
  check_counted(kKernel, {.causal = Causal::choice, .grouped = true},
                [](const Profile& profile, const Problem& p) {
                  const Int times = (group_of(p) * p.Nq() + kRowsForOneReading - 1) / kRowsForOneReading;
                  const Int rows = p.B() * (p.H() * p.Nq() + 2 * times * p.H_kv() * p.Nk());
                  require_loads_at_most(profile, static_cast<std::uint64_t>(rows * most_bytes_of_row(p)),
                                        "to read Q once, and every head of K and V once for every 64 rows of "
                                        "all heads of its group together,");
                  require_tiles_of_queries(profile, p);
                });
}

TEST_CASE("leaves out the keys that no query of a tile sees", "[l11][grouped_query][points:1]") {
  Random random(case_seed());
  const Int N = random.integer(490, 512);
  for (const Sizes& n : {Sizes{1, 2, 256, 256, 8, 1},
                         {1, 1, N, N - random.integer(1, 60), 8 * random.integer(1, 8), 1},
                         {1, 2, 640, 640 + random.integer(1, 20), 8, 1}}) {  // no kernel knows it beforehand
    const auto all = bytes_of_keys_read(random_problem(n)),
               seen = bytes_of_keys_read(random_problem(n, kCausal));
    if (!all || !seen) return;
    INFO(describe(random_problem(n, kCausal)));
    // Tiles of up to 128 queries and keys leave out a quarter or more.
    require(*seen * 4 <= *all * 3,
            "Your code reads " + std::to_string(*seen) + " bytes of K and V, and " + std::to_string(*all) +
                " without the causal mask: tiles of keys that no query of a block sees "
                "should not be loaded at all.");
  }
}

TEST_CASE("reads and writes whole sectors", "[l11][grouped_query][points:1]") {
  Sizes unknown = unknown_sizes_of_whole_sectors();
  unknown.H_kv = 1;
  for (const Sizes& n : {Sizes{1, 8, 16, 96, 64, 2}, unknown}) {
    const Outcome outcome = check(kKernel, random_problem(n), kCounted);
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  }
}

TEST_CASE("refuses heads of K that do not divide those of Q", "[l11][grouped_query][points:2]") {
  check(kKernel, random_problem({1, 6, 4, 5, 8, 3}));
  Random random(case_seed());
  for (const Int H : {Int{6}, random.integer(3, 12), random.integer(3, 12)})
    for (const Int H_kv : other_heads(H, true, random)) {
      Problem p = random_problem({1, H, 4, 5, 8});
      p.K = p.V = Tensor<float>({1, H_kv, 5, 8}, 1.0f);
      require_refused(kKernel, p, results_of(p), "K");
    }
  for (const Int H : {1, 6}) {
    Problem none = random_problem({1, H, 4, 5, 8});
    none.K = none.V = Tensor<float>({1, 0, 5, 8});
    require_refused(kKernel, none, results_of(none), "K");
  }
}

TEST_CASE("refuses shapes that do not fit together", "[l11][grouped_query][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 9, 4, 5, 6, 3}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l11][grouped_query][points:1]") {
  check_refuses_rows(kKernel, random_problem({1, 4, 3, 5, 6, 2}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l11][grouped_query][points:1]") {
  // Several tiles of rows, of dims on both sides of 64; and more heads than a grid has blocks along y.
  check_reports_refused_launch(kKernel, random_problem(larger({1, 4, 70, 20, 8, 2})));
  check_reports_refused_launch(kKernel, random_problem(larger({1, 4, 70, 20, 70, 2})));
  check_reports_refused_launch(kKernel, random_problem({1, 66'000, 1, 1, 1}));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, {.causal = Causal::choice, .grouped = true}, {Which::lse, Which::O},
                [&](const Problem& p, Forward& got) {
                  run.call(ENTRY(grouped_query_attention), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                           out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.causal);
                });
}
