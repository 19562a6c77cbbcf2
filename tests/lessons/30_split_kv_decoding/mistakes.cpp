#include "30_split_kv_decoding/mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "grading/facts/poison.hpp"

namespace course::lesson_30 {

using namespace grading;

namespace {

constexpr double kInf64 = std::numeric_limits<double>::infinity();

const Decoding* current = nullptr;  ///< whose sequences are compared just now

/// K or V read from the pages where token `row` of the sequence is taken for row `at` of `page`.
Reader from_pages(const Tensor<float>& pages, std::function<std::pair<Int, Int>(Int row)> place) {
  return {&pages, [&pages, place = std::move(place)](Int, Int h, Int row, Int d) {
            const auto [page, at] = place(row);
            if (page < 0 || page >= pages.shape()[0]) return kZeroAddress;
            const Int index[] = {page, h, at, d};
            return pages.offset_at(index);
          }};
}

/// How a wrong kernel merges parts.
struct Merging {
  bool weighted = true;     ///< false: every part that has a key counts as much
  bool empty_is_0 = false;  ///< a warp without keys has lse = 0
  bool logarithm = true;    ///< false: lse is the largest of the parts' lse
  bool base = true;         ///< false: lse is the logarithm of the weights' sum alone
  bool guarded = true;      ///< false: where no part has a key, NaN
  bool divided = true;      ///< false: O is the weighted sum
  bool natural = true;      ///< false: lse of the warps is to base 2
  bool natural_m = true;    ///< false: in lse of the warps, m is to base 2
  bool powers = true;       ///< false: the weight of a part is its lse
  bool rows_apart = true;   ///< false: l of a warp is the sum over all of its lanes
};

struct Part {
  Tensor<double> O, lse;
};

/// Makes of l of each row the sum over the rows whose keys other lanes have at the same place. `m` as in the
/// part.
void add_rows_of_all_lanes(const Problem& p, Int group, const Tensor<double>& m, Part& part) {
  const Int rows = p.format ? 8 : 2;  // that a warp's lanes have at a time
  const auto set_of = [&](Int row) {
    const Int head = row / p.Nq(), token = row % p.Nq();
    return std::pair{head / group, (head % group * p.Nq() + token) / rows};
  };
  std::map<std::pair<Int, Int>, double> sums;
  const auto l_of = [&](Int row) {
    const double lse = part.lse.at_linear(row);
    return lse == -kInf64 ? 0.0 : std::exp(lse - m.at_linear(row));
  };
  for (Int row = 0; row < m.numel(); ++row) sums[set_of(row)] += l_of(row);
  for (Int row = 0; row < m.numel(); ++row) {
    const double l = l_of(row), sum = sums[set_of(row)];
    if (l == 0) continue;
    for (Int d = 0; d < p.D(); ++d) part.O.at_linear(row * p.D() + d) *= l / sum;
    part.lse.at_linear(row) = m.at_linear(row) + std::log(sum);
  }
}

/// What a kernel gives that merges so: warps first, then splits.
Forward64 merged(const Problem& p, const Decoding& x, const Merging& how) {
  const auto merge = [&](const std::vector<Part>& parts) {
    Part all{Tensor<double>(p.shape_of_O(), 0.0), Tensor<double>(p.shape_of_lse(), -kInf64)};
    for (Int row = 0; row < all.lse.numel(); ++row) {
      double base = -kInf64, l = 0;
      for (const Part& part : parts) base = std::max(base, part.lse.at_linear(row));
      for (const Part& part : parts) {
        const double lse = part.lse.at_linear(row);
        if (lse == -kInf64) continue;
        const double weight = !how.weighted ? 1.0 : how.powers ? std::exp(lse - base) : lse;
        l += weight;
        for (Int d = 0; d < p.D(); ++d)
          all.O.at_linear(row * p.D() + d) += weight * part.O.at_linear(row * p.D() + d);
      }
      if (l == 0 && how.guarded) continue;
      if (l == 0) l = std::numeric_limits<double>::quiet_NaN();
      if (how.divided)
        for (Int d = 0; d < p.D(); ++d) all.O.at_linear(row * p.D() + d) /= l;
      all.lse.at_linear(row) = (how.base ? base : 0) + (how.logarithm ? std::log(l) : 0);
    }
    return all;
  };
  const Int each = divided_up(divided_up(p.Nk(), kTileKeys), x.cache.splits);
  std::vector<Part> splits;
  for (Int split = 0; split < x.cache.splits; ++split) {
    std::vector<Part> warps;
    for (Int warp = 0; warp < kWarps; ++warp) {
      const auto sees = [=, &p](Int i, Int j) {
        const Int tile = j / kTileKeys;
        return p.sees(i, j) && j < p.Nk() && tile / each == split && tile % each % kWarps == warp;
      };
      const Forward64 part = deviate(p, {.sees = sees});
      warps.push_back({part.O, part.lse});
      if (!how.natural_m)
        warps.back().lse =
            deviate(p, {.sees = sees,
                        .lse =
                            [](const RowEnd& row) {
                              return row.l == 0 ? -kInf64 : row.m / std::log(2.0) + std::log(row.l);
                            }})
                .lse;
      if (!how.rows_apart) {
        const Tensor<double> m =
            deviate(p, {.sees = sees, .lse = [](const RowEnd& row) { return row.m; }}).lse;
        add_rows_of_all_lanes(p, x.group(), m, warps.back());
      }
      if (!how.natural)
        for (double& lse : warps.back().lse.storage()) lse /= std::log(2.0);
      if (!how.empty_is_0) continue;
      for (double& lse : warps.back().lse.storage())
        if (lse == -kInf64) lse = 0;
    }
    splits.push_back(merge(warps));
  }
  Part all = merge(splits);
  Forward64 result;
  result.O = std::move(all.O);
  result.lse = std::move(all.lse);
  return result;
}

/// Fits if O is NaN in exactly these rows of every head.
Mistake nan_rows(const char* name, std::function<bool(Int i)> is_nan, const char* sentence) {
  return shows(
      name,
      [is_nan = std::move(is_nan)](const Tensor<float>& got) {
        bool any = false;
        for (Int e = 0; e < got.numel(); ++e) {
          const float value = got.at_linear(e);
          const bool wanted = is_nan(e / got.shape()[3] % got.shape()[2]);
          if (is_poison(value) || std::isnan(value) != wanted) return false;
          any = any || wanted;
        }
        return any;
      },
      sentence);
}

Mistakes own_mistakes(const Problem& p, Which which) {
  Catalogue all(p, which);
  if (current == nullptr || p.Nk() == 0) return all.mistakes();
  const Decoding& x = *current;
  const Int b = static_cast<Int>(x.number_of(p)), P = x.cache.page_size, Nk = p.Nk();
  const auto add_reading = [&](const char* name, std::function<std::pair<Int, Int>(Int)> place,
                               const char* sentence) {
    for (Int row = 0; row < Nk; ++row) {  // NaN, as no token has it, would also fit whatever else gives NaN
      const auto [page, at] = place(row);
      if (page >= 0 && page < x.K_pages.shape()[0] && std::isnan(x.K_pages(page, 0, at, 0))) return;
    }
    all.add(name, {.K = from_pages(x.K_pages, place), .V = from_pages(x.V_pages, place)}, sentence);
  };
  add_reading(
      "table_ignored",
      [P](Int row) {
        return std::pair{row / P, row % P};
      },
      "Page number t / P of the cache is not page number t / P of the sequence: the table says where that "
      "is.");
  if (b > 0)
    add_reading(
        "table_of_sequence_0",
        [P, &x](Int row) {
          return std::pair<Int, Int>{x.table(0, row / P), row % P};
        },
        "Every sequence reads the pages of sequence 0: each has a row of the table.");
  add_reading(
      "first_tile_of_the_page",
      [P, b, &x](Int row) {
        return std::pair<Int, Int>{x.table(b, row / P), row % kTileKeys};
      },
      "All tiles of a page read its first 16 rows: token t has row t % P of its page.");

  add_reading(
      "column_counts_tiles",
      [P, b, &x](Int row) {
        return std::pair<Int, Int>{x.table(b, row / kTileKeys / P), row % P};
      },
      "The table's columns are counted in tiles: token t lies in the page of column t / P.");

  const Int tiles = divided_up(Nk, kTileKeys), splits = x.cache.splits, each = divided_up(tiles, splits);
  all.add_view_too(
      "splits_rounded_down",
      [=, &p](Int i, Int j) { return p.sees(i, j) && j < tiles / splits * splits * kTileKeys; },
      "The number of tiles of a split is rounded down: the last tiles of the sequence are in no split.");
  all.add_view_too(
      "first_split_alone", [=, &p](Int i, Int j) { return p.sees(i, j) && j < each * kTileKeys; },
      "These are the results of the first split: those of the others are missing.");

  all.add_view_too(
      "last_split_missing",
      [=, &p](Int i, Int j) { return p.sees(i, j) && j < (splits - 1) * each * kTileKeys; },
      "The last split is missing.");

  all.add_view_too(
      "last_tile_missing", [=, &p](Int i, Int j) { return p.sees(i, j) && j < Nk / kTileKeys * kTileKeys; },
      "The number of tiles is rounded down: the last tile, which is not full, is in no split.");

  const auto add_merging = [&](const char* name, const Merging& how, const char* sentence) {
    all.add(gives_about(
        name, [&p, &x, how, which] { return merged(p, x, how).of(which); }, sentence));
  };
  add_merging("merge_unweighted", {.weighted = false},
              "The parts are merged as if they weighed the same: the weight of a part is exp(lse - base).");
  add_merging("empty_part_counted", {.empty_is_0 = true},
              "A part without keys counts: its lse is not 0, but -inf, the logarithm of 0.");
  add_merging("lse_without_base", {.base = false},
              "lse of the merge is the logarithm of the sum of the weights alone: they are relative to the "
              "largest lse.");
  add_merging("merge_of_nothing", {.guarded = false},
              "NaN comes from a split without keys: where all parts are empty, lse - base is -inf - -inf, "
              "and l is 0.");
  if (which == Which::O)
    add_merging("merge_undivided", {.divided = false},
                "O of a merge is not divided by the sum of the weights of its parts.");
  add_merging("lse_base_2", {.natural = false},
              "lse of the warps is a logarithm to base 2, but the merge takes it for a natural one: "
              "multiply it by ln 2.");
  add_merging("m_base_2", {.natural_m = false},
              "In lse of the warps, m is to base 2, and the logarithm of l is natural: multiply m by ln 2.");
  add_merging("lse_is_the_weight", {.powers = false},
              "The weight of a part is its lse: it should be exp(lse - base).");
  if (which == Which::lse)
    add_merging("lse_is_the_largest", {.logarithm = false},
                "lse is the largest lse of the parts: the logarithm of the sum of their weights is missing.");
  const Int group = x.group(), Nq = p.Nq();
  if (group > 1 && Nq > 1 && group * Nq <= kPackedRows) {
    const Address right = address_by(p.Q.strides());
    all.add("rows_packed_by_token",
            {.Q = Reader{&p.Q,
                         [=](Int, Int h, Int i, Int d) {
                           const Int row = h % group * Nq + i;
                           return right(0, h / group * group + row % group, row / group, d);
                         }}},
            "Rows of the group are packed in one order and unpacked in another: row r is head r / Nq of the "
            "group, token r % Nq.");
  }
  if (group > 1 || Nq > 1)
    add_merging("l_of_all_lanes", {.rows_apart = false},
                "l is the sum over all 32 lanes of a warp, and they have different rows: sum over the "
                "kLanesOfRow lanes that share one.");
  if (group > 1 && Nq > 1)
    all.add(gives_about(
        "masked_by_other_packing",
        [&p, group, Nq, which] {
          Forward64 result = expected_of(p);
          for (Int h = 0; h < p.H(); ++h) {
            const Forward64 of_head = deviate(p, {.sees = [=, &p](Int i, Int j) {
                                                const Int row = i * group + h % group;  // token by token
                                                return j < p.Nk() && j <= p.Nk() - Nq + row % Nq;
                                              }});
            for (Int i = 0; i < Nq; ++i) {
              result.lse(0, h, i) = of_head.lse(0, h, i);
              for (Int d = 0; d < p.D(); ++d) result.O(0, h, i, d) = of_head.O(0, h, i, d);
            }
          }
          return result.of(which);
        },
        "Rows of a group are packed token by token, but the mask takes them head by head: it has to ask for "
        "the token of the row that it has."));
  if (Nk > kTileKeys) {
    const auto short_tiles = [&](const Tensor<float>& rows) {
      const Address right = address_by(rows.strides());
      return Reader{&rows, [=](Int batch, Int h, Int row, Int d) {
                      return row % kTileKeys < Nk % kTileKeys ? right(batch, h, row, d) : kZeroAddress;
                    }};
    };
    all.add("tiles_as_short_as_the_last", {.K = short_tiles(p.K), .V = short_tiles(p.V)},
            "Every tile is taken to have length % 16 keys, and zeros after them: that is right for the last "
            "one alone.");
  }
  all.add("log2e_missing", {.score_factor = std::log(2.0)},
          "The powers of 2 lack the factor log2(e): exp(x) is 2 to the power x times log2(e).");
  all.add(gives_about(
      "l_of_one_lane",
      [&p, which] {
        const auto has = [&p](Int j) {  // the lane that tells l and lse
          const Int key = j % kTileKeys;
          return p.format ? key % 8 < 2 : key == 0;
        };
        const Forward64 part = deviate(p, {.sees = [&](Int i, Int j) { return p.sees(i, j) && has(j); }});
        Forward64 result = expected_of(p);
        for (Int row = 0; row < part.lse.numel(); ++row)
          for (Int d = 0; d < p.D(); ++d)
            result.O.at_linear(row * p.D() + d) *=
                std::exp(result.lse.at_linear(row) - part.lse.at_linear(row));
        result.lse = part.lse;
        return result.of(which);
      },
      "l is the sum over the keys of one lane: the kLanesOfRow lanes that share a row have to add theirs."));
  all.add(shows(
      "nan_dropped",
      [&p, which](const Tensor<float>& got) {
        const Forward64 right = expected_of(p);
        const Tensor<double>& expected = right.of(which);
        bool any = false;
        for (Int e = 0; e < got.numel(); ++e) {
          if (!std::isnan(expected.at_linear(e))) continue;
          if (got.at_linear(e) != (which == Which::O ? 0.0f : -kInf)) return false;
          any = true;
        }
        return any;
      },
      "NaN is taken for a part without keys: l > 0 is false for NaN, and fmaxf() ignores it. Ask whether l "
      "is 0."));
  if (which == Which::lse) {  // which these leave right
    all.rule_out("empty_part_divided");
    all.rule_out("stale_values_read");
  }
  if (which == Which::O) {
    all.add(nan_rows(
        "empty_part_divided",
        [&p, each, splits](Int i) {
          std::set<std::pair<Int, Int>> parts;  // that have a key which the query sees
          for (Int j = 0; j < p.Nk(); ++j)
            if (p.sees(i, j)) parts.insert({j / kTileKeys / each, j / kTileKeys % each % kWarps});
          return !parts.empty() && static_cast<Int>(parts.size()) < splits * kWarps;
        },
        "O is NaN where a warp has seen no key: there l is 0, and so is O. 0 / 0 is NaN, and a weight of 0 "
        "does not take that away."));
    if (Nk % kTileKeys == 0)
      all.rule_out("stale_values_read");
    else
      all.add(nan_rows(
          "stale_values_read", [](Int) { return true; },
          "O is NaN: rows of the last page past the last token have been read as values. Their weight is 0, "
          "but 0 times what stands there need not be."));
    if (group > 1 && Nq > 1 && group * Nq <= kPackedRows)
      all.add(gives_about(
          "rows_unpacked_by_token",
          [&p, group, Nq] {
            const Tensor<double> O = expected_of(p).O;
            Tensor<double> wrong(O.shape());
            for (Int h = 0; h < p.H(); ++h)
              for (Int i = 0; i < Nq; ++i) {
                const Int row = h % group * Nq + i;  // goes to head row % group, token row / group
                for (Int d = 0; d < p.D(); ++d)
                  wrong(0, h / group * group + row % group, row / group, d) = O(0, h, i, d);
              }
            return wrong;
          },
          "Rows of the group go to other heads and tokens than they came from: row r is head r / Nq of the "
          "group, token r % Nq."));
  }
  return all.mistakes();
}

}  // namespace

void compare_sequences_of(const Decoding& x) { current = &x; }

Kernel kernel_of_lesson() {
  Kernel kernel{{}, {Which::lse, Which::O}, own_mistakes};
  kernel.grouped = true;
  kernel.max_dim = kMaxDim;
  kernel.own_misplacements = [](const Problem& p, Which) {
    std::vector<Misplacement> found;
    if (p.Nq() > 1)
      found.push_back(
          {shows(
               "only_token_0_written",
               [](const Tensor<float>& got) {  // the merge makes NaN of parts that nobody wrote
                 for (Int i = 0; i < got.numel(); ++i)
                   if (std::isnan(got.at_linear(i)) != (got.unravel(i)[2] > 0)) return false;
                 return true;
               },
               "Only token 0 of each head was written: row r of a group is head r / Nq, token r % Nq."),
           true});
    return found;
  };
  return kernel;
}

}  // namespace course::lesson_30
