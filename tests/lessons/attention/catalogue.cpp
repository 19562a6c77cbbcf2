#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "attention/catalogue.hpp"
#include "grading/testing/listing.hpp"

namespace course::attention_tests {
namespace {

using grading::Mistake;
using grading::Mistakes;
using grading::WrongResult;

constexpr double kInf64 = std::numeric_limits<double>::infinity();

void add_scores(Catalogue& to) {
  const Problem& p = to.p();
  const auto scale = static_cast<double>(p.scale);
  to.add("scale_missing", {.scale = 1},
         "These are the results of Q·Kᵀ without the scale. It belongs to S, before the softmax.");
  to.add("scale_twice", {.scale = scale * scale}, "S is scaled twice.");
  if (scale != 0)
    to.add("scale_inverted", {.scale = 1 / scale}, "S is divided by the scale; it should be multiplied.");
  if (scale > 0)
    to.add("scale_root", {.scale = std::sqrt(scale)},
           "S is multiplied by the root of the scale. The scale itself belongs there: where it is 1/√D, the "
           "root is in it already.");
  if (const double root = 1 / std::sqrt(static_cast<double>(p.D())); std::abs(root - scale) > 1e-3 * scale)
    to.add(
        "scale_from_dim", {.scale = root},
        "The scores are multiplied by 1/√D here. They have to be multiplied by the argument `scale`, which "
        "may be something else.");
  to.add(
      "scale_on_output", {.scale = 1, .factor_of_O = to.which() == Which::O ? scale : 1},
      "The scale is missing from S, and O is multiplied by it. It belongs to S alone, before the softmax.");
  to.add("log2e_with_expf", {.score_factor = kLog2e},
         "The scores are multiplied by log2(e), as exp2f() wants them, but the exponential is expf(). Take "
         "exp2f(), or leave log2(e) out.");
  to.add("v_for_k", {.K = right(p.V)}, "S is Q·Vᵀ·scale here: V is read where K belongs.");
  to.add("k_and_v_exchanged", {.K = right(p.V), .V = right(p.K)},
         "K and V have changed places: S is Q·Vᵀ·scale, and P is multiplied with K.");
  to.of_all_results("k_and_v_exchanged");
  if (p.Nq() == p.Nk() && p.H() == p.H_kv())
    to.add("q_and_k_exchanged", {.Q = right(p.K), .K = right(p.Q)},
           "Q and K have changed places: S is K·Qᵀ·scale.");
  if (p.Nk() == p.D())
    to.add(
        "k_not_transposed", {.K = transposed(p.K)},
        "S is Q·K·scale here; it should be Q·Kᵀ·scale: S_ij is the product of row i of Q with row j of K.");
  if (to.which() != Which::m)  // all m of 0 say no_maximum
    to.add("scores_are_0", {.dims = 0},
           "All scores are 0: the scale is 0, as it is where an int holds it, or nothing is added to S.");
  for (const Int end : ends_of_whole_tiles(p.D()))
    if (end > 0)
      to.add("dim_tail_missing", {.dims = end},
             "The last dimensions are missing from the scores: those from " + std::to_string(end) + " on.");
  to.add("base_2", {.base_2 = true},
         "The softmax is one of powers of 2 here. It should be one of powers of e: expf(x), or exp2f(x * "
         "1.44269504f).");
  for (const bool divided : {false, true})
    to.add("no_maximum", {.maximum = Maximum::none, .empty_is_divided = divided},
           "No maximum was subtracted before the exponential: exp(89) is more than float32 can hold, and "
           "exp(-104) is 0 in it.");
  if (to.which() == Which::O || to.which() == Which::lse)  // m and l show it where O is right
    to.of_all_results("no_maximum");
}

void add_reading(Catalogue& to) {
  const Problem& p = to.p();
  const bool has_V = to.which() == Which::O;
  for (const Misreading& how : misreadings()) {
    const bool in_Q = matters(p.Q, how), in_K = matters(p.K, how), in_V = has_V && matters(p.V, how);
    const auto add = [&](bool Q, bool K, bool V, const char* where) {
      if ((Q && !in_Q) || (K && !in_K) || (V && !in_V)) return;
      Deviation wrong;
      if (Q) wrong.Q = misread(p.Q, how);
      if (K) wrong.K = misread(p.K, how);
      if (V) wrong.V = misread(p.V, how);
      to.add(how.name.c_str(), std::move(wrong), where + how.sentence);
    };
    add(true, false, false, "In Q: ");
    add(false, true, false, "In K: ");
    add(false, false, true, "In V: ");
    add(true, true, false, "In Q and K: ");
    add(false, true, true, "In K and V: ");
    add(true, true, true, "In Q, K and V: ");
  }
  if (p.K.strides() != p.Q.strides())
    to.add("strides_of_q", {.K = Reader{&p.K, address_by(p.Q.strides())}},
           "K is read by the strides of Q; it has its own.");
  if (has_V && p.V.strides() != p.K.strides())
    to.add("strides_of_k", {.V = Reader{&p.V, address_by(p.K.strides())}},
           "V is read by the strides of K; it has its own.");
  if (p.V.strides() != p.K.strides())
    to.add("strides_of_v", {.K = Reader{&p.K, address_by(p.V.strides())}},
           "K is read by the strides of V; it has its own.");
}

/// Every tile of keys is that at key 0.
void add_first_tiles(Catalogue& to) {
  const Problem& p = to.p();
  for (const Int width : tile_widths(p.Nk())) {
    const auto first_tile_of = [width](const Tensor<float>& x) {
      return Reader{&x, [s = x.strides(), width](Int b, Int h, Int row, Int d) {
                      return b * s[0] + h * s[1] + row % width * s[2] + d * s[3];
                    }};
    };
    to.add("keys_of_first_tile", {.K = first_tile_of(p.K)},
           "Every tile gets the keys of the first tile." + of_tiles(width));
    if (to.which() == Which::O)
      to.add("values_of_first_tile", {.V = first_tile_of(p.V)},
             "Every tile of keys meets the values of the first tile." + of_tiles(width));
  }
}

void add_values(Catalogue& to) {
  const Problem& p = to.p();
  if (to.which() != Which::O) return;
  to.add("k_for_v", {.V = right(p.K)}, "This is P·K: K is read where V belongs.");
  if (p.Nk() == p.D())
    to.add("v_transposed", {.V = transposed(p.V)},
           "This is P·Vᵀ: V is transposed. Row j of V is the value of key j.");
}

void add_recurrence(Catalogue& to) {
  to.add("m_begins_at_0", {.first_m = 0},
         "The exponentials of these rows are relative to a number far above all scores of the row, so that "
         "they are 0. m, or the maximum of a tile, may begin with a finite number, as 0, where the maximum "
         "of no scores is -inf; or it takes in what is no score of the row.");
  const std::string all_nan =  // elsewhere it says nothing
      to.p().scale == 0 || !have_ordinary_exponentials(attention_of(to.p()).S)
          ? ""
          : "Every row is NaN. That is what exp(m_new - m_old) gives: at the first tile m_old is -inf, the "
            "factor +inf, and +inf times 0 is NaN. The factor is exp(m_old - m_new). Or m, l or O never "
            "begins: with -inf, 0 and 0.";
  constexpr Rescaling kOfMinusInf = Rescaling::inverse_of_minus_inf;
  if (to.which() == Which::O) {
    to.add("rescaled_by_the_inverse", {.of_O = kOfMinusInf, .of_l = kOfMinusInf}, all_nan);
    to.add("output_rescaled_by_the_inverse", {.of_O = kOfMinusInf},
           all_nan.empty()
               ? ""
               : "Every row of O is NaN, though lse is right: O is divided by exp(m_old - m_new), or "
                 "multiplied by its inverse. At the first tile m_old is -inf and the factor 0, and 0 / 0 "
                 "is NaN. O is multiplied by that factor, as l is.");
  } else {
    to.add("rescaled_by_the_inverse", {.of_l = kOfMinusInf}, all_nan);
  }
  for (const Int width : tile_widths(to.p().Nk())) {
    const auto add = [&](const char* name, Deviation how, const std::string& sentence) {
      how.tile = width;
      to.add(name, std::move(how), sentence + of_tiles(width));
    };
    if (to.which() == Which::O) {
      add("output_not_rescaled", {.of_O = Rescaling::never},
          "When a tile raises the maximum m, what O holds so far stands on the old one: it has to be "
          "multiplied by exp(m_old - m_new).");
      add("output_of_last_tile", {.of_O = Rescaling::forgotten},
          "O holds the last tile alone: every tile replaces what the others left.");
      add("local_softmax", {.of_O = Rescaling::never, .division = Division::by_tile},
          "Every tile has a softmax of its own, and they are added: each divides by its own sum.");
      add("last_tile_only", {.of_O = Rescaling::forgotten, .of_l = Rescaling::forgotten},
          "O and l hold the last tile alone: every tile replaces what the others left.");
      add("rescaled_by_the_inverse", {.of_O = Rescaling::inverse},
          "O is multiplied by exp(m_new - m_old); it should be exp(m_old - m_new).");
    }
    add("rescaled_by_the_inverse", {.of_O = Rescaling::inverse, .of_l = Rescaling::inverse},
        "O and l are multiplied by exp(m_new - m_old); it should be exp(m_old - m_new).");
    add("rescaled_by_the_inverse", {.of_l = Rescaling::inverse},
        "l is multiplied by exp(m_new - m_old); it should be exp(m_old - m_new).");
    add("sum_not_rescaled", {.of_l = Rescaling::never},
        "When a tile raises the maximum m, the sum l so far stands on the old one: it has to be multiplied "
        "by exp(m_old - m_new).");
    add("factor_truncated", {.of_O = Rescaling::truncated, .of_l = Rescaling::truncated},
        "The factor exp(m_old - m_new) lies between 0 and 1, and here it is 0 wherever m has grown: a "
        "variable of type int holds it. It has to be a float.");
    add("base_2", {.base_2_of_P = true},
        "P has powers of 2 here. It should have powers of e: expf(x), or exp2f(x * 1.44269504f).");
    add("sum_of_last_tile", {.of_l = Rescaling::forgotten},
        "l is the sum over the last tile alone; it should be over all.");
    if (to.which() == Which::O)  // elsewhere it is sum_not_rescaled
      add("nothing_rescaled", {.of_O = Rescaling::never, .of_l = Rescaling::never},
          "When a tile raises the maximum m, neither O nor l is multiplied by exp(m_old - m_new), or m is "
          "m_new already where that is computed, and it is 1.");
    if (to.which() == Which::O || to.which() == Which::lse)
      to.add(overflowing_deviation(
          "running_maximum_forgotten", to.p(), to.which(),
          {.tile = width, .maximum = Maximum::of_tile_rescaled},
          "m is the maximum of a tile of keys alone: it forgets the old maximum. The new m is the larger of "
          "both. Where scores fall from tile to tile, exp(m_old - m_new) is infinite here." +
              of_tiles(width)));
    if (to.which() == Which::m)
      add("maximum_of_last_tile", {.maximum = Maximum::of_tile},
          "m is the maximum of the last tile of keys alone: it forgets the old maximum. The new m is the "
          "larger of the old one and the tile's.");
    else
      add("local_maxima", {.maximum = Maximum::of_tile},
          "Every tile has a maximum of its own, and their exponentials are used together: they stand on "
          "different bases.");
  }
}

void add_division(Catalogue& to) {
  if (to.which() != Which::O) return;
  to.add("not_divided", {.division = Division::none}, "O was never divided by l.");
  to.add("divided_twice", {.division = Division::twice}, "O is divided by l twice.");
  to.add("scale_again", {.factor_of_O = static_cast<double>(to.p().scale)},
         "O is scaled; the scale belongs to S alone.");
}

void add_lse(Catalogue& to) {
  if (to.which() != Which::lse) return;
  const auto add = [&](const char* name, std::function<double(const RowEnd&)> lse, const char* sentence) {
    to.add(name, {.lse = [lse](const RowEnd& row) { return row.l == 0 ? -kInf64 : lse(row); }}, sentence);
  };
  add(
      "lse_without_m", [](const RowEnd& row) { return std::log(row.l); },
      "lse is log(l) here: the maximum m, which the exponentials were relative to, is missing.");
  add(
      "lse_without_l", [](const RowEnd& row) { return row.m; }, "lse is m here: log(l) is missing.");
  add(
      "l_for_lse", [](const RowEnd& row) { return row.l; }, "lse is l here; it should be m + log(l).");
  add(
      "lse_without_log", [](const RowEnd& row) { return row.m + row.l; },
      "lse is m + l here; it should be m + log(l).");
  add(
      "lse_minus", [](const RowEnd& row) { return row.m - std::log(row.l); },
      "lse is m - log(l) here; it should be m + log(l).");
  add(
      "lse_in_base_2", [](const RowEnd& row) { return (row.m + std::log(row.l)) * kLog2e; },
      "lse is a logarithm to base 2 here; it should be the natural one: times 0.693147181f.");
  add(
      "lse_m_in_base_2", [](const RowEnd& row) { return row.m * kLog2e + std::log(row.l); },
      "lse adds an m to base 2 to a natural logarithm of l: that m has to be multiplied by 0.693147181f.");
  add(
      "lse_log2_of_l", [](const RowEnd& row) { return row.m + std::log2(row.l); },
      "lse takes the logarithm of l to base 2; it should be the natural one, logf().");
  to.add("base_2", {.base_2 = true, .lse = [](const RowEnd& row) { return row.m + std::log2(row.l); }},
         "The softmax is one of powers of 2 here. It should be one of powers of e: expf(x), or exp2f(x * "
         "1.44269504f).");
  add(
      "lse_overflows",
      [](const RowEnd& row) {
        const auto in_float32 = [](double x) { return static_cast<double>(static_cast<float>(x)); };
        return std::log(in_float32(in_float32(std::exp(row.m)) * row.l));
      },
      "exp(m) stands in the logarithm of lse: exp(89) is more than float32 can hold, and exp(-104) is 0 in "
      "it. log(exp(m) * l) is m + log(l), which needs no exp(m).");
  for (const Int width : tile_widths(to.p().Nk()))
    to.add("lse_with_m_of_last_tile",
           {.tile = width, .lse = [](const RowEnd& row) { return row.m_tile + std::log(row.l); }},
           "lse takes the maximum of the last tile; it should be that of all keys." + of_tiles(width));
}

void add_sink(Catalogue& to) {
  const Problem& p = to.p();
  if (!p.sink || to.which() == Which::m || to.which() == Which::l) return;
  to.add(
      "sink_ignored", {.sinks_counted = 0},
      (to.which() == Which::O ? "exp(sink) is missing from the sum that O is divided by."
                              : "exp(sink) is missing from the sum in lse.") +
          std::string(" A row begins with both, m = sink and l = 1: one of them alone leaves the sink out."));
  to.add("sink_scaled", {.sink_factor = static_cast<double>(p.scale)},
         "The sink is multiplied by the scale. It is a score already.");
  to.add("sink_negated", {.sink_factor = -1}, "The sink counts with the opposite sign.");
  to.add("sink_in_base_2", {.sink_factor = kLog2e},
         "The sink is multiplied by log2(e), as powers of 2 want it. The powers here are those of e.");
  to.add("sink_not_relative", {.sink_relative = false},
         "exp(sink) is added to l, which is relative to the maximum m: it has to be exp(sink - m).");
  std::set<Int> used{1};
  for (const Int width : tile_widths(p.Nk())) {
    const Int tiles = (p.Nk() + width - 1) / width;
    if (used.insert(tiles).second)
      to.add("sink_in_every_tile", {.sinks_counted = tiles},
             "The sink is counted once for every tile; it should be once for the row." + of_tiles(width));
  }
  const Int group = p.H_kv() == 0 ? 1 : p.H() / p.H_kv();
  if (p.H() > 1)
    to.add("sink_of_head_0", {.sink_head = [](Int) { return Int{0}; }},
           "Every head takes the sink of head 0.");
  if (p.H() > 1)
    for (const Int queries : {128, 64})
      to.add(
          "sink_of_tile", {.sink_of = [queries](Int i) { return i / queries; }},
          "The sink is chosen by the tile of queries: those of tile t take sink[t], in every head. There is "
          "one for each head.");
  if (group > 1 && p.H_kv() > 1)
    to.add("sink_of_kv_head", {.sink_head = [group](Int h) { return h / group; }},
           "Head h takes the sink of its head of K, h / (H / H_kv). There is one for each head of Q.");
}

/// Fits if exactly the rows that no key reaches are wrong, and hold numbers.
Mistake wrong_in_empty_rows(std::string name, std::function<bool(const grading::Index&)> empty,
                            std::string sentence) {
  grading::list_mistake(name, sentence);
  return {std::move(name), [=](const WrongResult& result) -> std::optional<std::string> {
            const Mistake where = grading::wrong_where("", empty, sentence);
            for (const Int i : result.comparison.wrong)
              if (std::isnan(result.got.at_linear(i))) return std::nullopt;
            return where.explain(result);
          }};
}

/// Which element stands in the place of each if all went where these strides say; nothing if that is outside
/// of the result.
std::optional<std::vector<Int>> sources_of(const Shape& shape, const Strides& right, const Strides& used) {
  const Tensor<float> x(shape, right, 0.0f);
  const auto place_of = [&x](Int i, const Strides& strides) {
    const std::vector<Int> at = x.unravel(i);
    return std::inner_product(at.begin(), at.end(), strides.begin(), Int{0});
  };
  std::map<Int, Int> element_at;
  for (Int i = 0; i < x.numel(); ++i) element_at[place_of(i, used)] = i;
  std::vector<Int> sources;
  for (Int i = 0; i < x.numel(); ++i) {
    const auto found = element_at.find(place_of(i, right));
    if (found == element_at.end()) return std::nullopt;
    sources.push_back(found->second);
  }
  return sources;
}

/// Results that go where other strides than their own say.
void add_output_strides(Catalogue& to) {
  const Problem& p = to.p();
  const bool is_O = to.which() == Which::O;
  const Shape shape = is_O ? p.shape_of_O() : p.shape_of_lse();
  const Layout layout = is_O ? p.layout_of_O : p.layout_of_lse;
  const auto add = [&](const char* name, const Strides& used, const std::string& sentence) {
    std::optional<std::vector<Int>> sources = sources_of(shape, strides_of(shape, layout), used);
    if (!sources) return;
    if (std::is_sorted(sources->begin(), sources->end()))
      return to.rule_out(name);  // all are in their places
    const auto wrong = [&p, which = to.which(), sources = *std::move(sources)] {
      const Tensor<double> right_one = deviate(p, {}, which).of(which);
      Tensor<double> x(right_one.shape());
      for (Int i = 0; i < x.numel(); ++i)
        x.at_linear(i) = right_one.at_linear(sources[static_cast<std::size_t>(i)]);
      return x;
    };
    to.add(grading::gives(name, wrong, sentence));
  };
  if (layout == Layout::heads_inside)
    add("output_layout_assumed", strides_of(shape, Layout::heads_outside),
        std::string(name_of(to.which())) + " is written as if it lay in the order [batch, head, seq" +
            (is_O ? ", dim]" : "]") + ". Its strides say where an element belongs.");
  if (is_O)
    add("strides_of_q_for_output", p.Q.strides(), "O is written by the strides of Q; it has its own.");
}

void add_patterns(Catalogue& to) {
  const Problem& p = to.p();
  const auto empty = [&p](const grading::Index& at) {
    const auto q = right(p.Q), k = right(p.K);
    if (p.sink && static_cast<double>((*p.sink)(at[1])) != -kInf64) return false;
    for (Int j = 0; j < p.Nk(); ++j) {
      if (!p.sees(at[2], j)) continue;
      double S = 0;
      for (Int d = 0; d < p.D(); ++d)
        S += q(at[0], at[1], at[2], d) * k(at[0], at[1] / (p.H() / p.H_kv()), j, d);
      if (S * static_cast<double>(p.scale) != -kInf64) return false;
    }
    return true;
  };
  const std::string wanted =
      std::string(name_of(to.which())) +
      (to.which() == Which::O || to.which() == Which::l ? " has to be 0" : " has to be -inf");
  to.add(
      grading::nan_where("nan_for_empty_row", empty,
                         "Where a query sees no key, or only scores of -inf, the maximum is -inf, too, and "
                         "-inf - -inf is NaN. In such a row " +
                             wanted + "."));
  if (to.which() != Which::m)
    to.add(  // any m that is too large says nothing of why
        wrong_in_empty_rows(
            "empty_row_wrong", empty,
            "Only rows are wrong in which a query sees no key, or only scores of -inf. There " + wanted +
                "."));
  if (p.H() > 1) to.add(only_head_0_written());
  if (p.B() > 1) to.add(only_batch_0_written());
  for (const Int tile : {64, 128})
    if (p.Nq() > tile)
      to.add(only_written(
          "first_tile_of_queries_missing", [tile](const grading::Index& at) { return at[2] >= tile; },
          "The first " + std::to_string(tile) +
              " queries were never written: no block has the first tile, or its block returns before it "
              "stores."));
  to.add(missing_tail("last_queries_missing", 2, kLastQueriesMissing, kLastQueriesEmpty));
  if (to.which() == Which::O)
    to.add(missing_tail("last_dims_missing", 3, "The last columns of O are missing: those from {} on."));
  add_output_strides(to);
}

}  // namespace

Catalogue catalogue(const Problem& p, Which which, bool block_attends) {
  Catalogue to(p, which);
  add_scores(to);
  add_reading(to);
  add_first_tiles(to);
  add_heads(to);
  add_mask(to);
  add_missing_keys(to);
  if (!block_attends) {
    add_recurrence(to);
    add_division(to);
    add_lse(to);
  }
  add_sink(to);
  add_values(to);
  add_patterns(to);
  return to;
}

Mistakes mistakes_in(const Problem& p, Which which, bool block_attends) {
  return catalogue(p, which, block_attends).mistakes();
}

std::vector<NamedDeviation> deviations_in(const Problem& p, Which which) {
  return catalogue(p, which).deviations();
}

}  // namespace course::attention_tests
