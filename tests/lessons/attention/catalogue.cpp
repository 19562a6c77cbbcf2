#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "attention/mistakes.hpp"

namespace course::attention_tests {
namespace {

using grading::Mistake;
using grading::Mistakes;
using grading::WrongResult;

constexpr double kInf64 = std::numeric_limits<double>::infinity();
constexpr double kLog2e = 1.4426950408889634;

/// Collects the mistakes of one problem and one of its results.
class Catalogue {
 public:
  Catalogue(const Problem& p, Which which) : p_(p), which_(which) {}

  void add(Mistake mistake) { patterns_.push_back(std::move(mistake)); }
  void add(const char* name, Deviation how, std::string sentence) {
    deviations_.push_back({name, std::move(how), std::move(sentence)});
  }
  const Problem& p() const { return p_; }
  Which which() const { return which_; }
  std::vector<NamedDeviation> deviations() const { return deviations_; }
  Mistakes mistakes() const {
    Mistakes all;
    for (const NamedDeviation& one : deviations_)
      all.push_back(deviation(one.name, p_, which_, one.how, one.sentence));
    all.insert(all.end(), patterns_.begin(), patterns_.end());
    return by_name(std::move(all));
  }

 private:
  const Problem& p_;
  Which which_;
  std::vector<NamedDeviation> deviations_;
  Mistakes patterns_;
};

std::string of_tiles(Int width) {
  return " (That is what tiles of " + std::to_string(width) + " keys give.)";
}

void add_scores(Catalogue& to) {
  const Problem& p = to.p();
  const auto scale = static_cast<double>(p.scale);
  to.add("scale_missing", {.score_factor = 1 / scale},
         "These are the results of Q·Kᵀ without the scale. It belongs to S, before the softmax.");
  to.add("scale_twice", {.score_factor = scale}, "S is scaled twice.");
  to.add("scale_inverted", {.score_factor = 1 / (scale * scale)},
         "S is divided by the scale; it should be multiplied.");
  to.add("v_for_k", {.K = right(p.V)}, "S is Q·Vᵀ·scale here: V is read where K belongs.");
  if (p.Nk() == p.D())
    to.add("k_not_transposed", {.K = transposed(p.K)},
           "S is Q·K·scale here: K is not transposed. S_ij is the product of row i of Q with row j of K.");
  for (const Int end : ends_of_whole_tiles(p.D()))
    to.add("dim_tail_missing", {.dims = end},
           "The last dimensions are missing from the scores: those from " + std::to_string(end) + " on.");
  to.add("base_2", {.base_2 = true},
         "The softmax is one of powers of 2 here. It should be one of powers of e: expf(x), or exp2f(x * "
         "1.44269504f).");
  for (const bool divided : {false, true})
    to.add("no_maximum", {.maximum = Maximum::none, .empty_is_divided = divided},
           "No maximum was subtracted before the exponential: exp(89) is more than float32 can hold, and "
           "exp(-104) is 0 in it.");
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
}

void add_values(Catalogue& to) {
  const Problem& p = to.p();
  if (to.which() != Which::O) return;
  to.add("k_for_v", {.V = right(p.K)}, "This is P·K: K is read where V belongs.");
  if (p.Nk() == p.D())
    to.add("v_transposed", {.V = transposed(p.V)},
           "This is P·Vᵀ: V is transposed. Row j of V is the value of key j.");
}

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
    to.add(name, {.sees = std::move(sees)}, sentence);
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
        "last "
        "key.");
  if (mask.causal) {
    add("causal_ignored", with([](reference::Mask& m) { m.causal = false; }),
        "Keys behind the query's position are seen.");
    const auto move_edge = [=, &p](Int by) {  // leaves window and sinks as they are
      reference::Mask rest = mask;
      rest.causal = false;
      return [=](Int i, Int j) { return reference::sees(rest, i, j, Nq, Nk) && j <= i + past + by; };
    };
    add("diagonal_hidden", move_edge(-1), "A query does not see the key at its own position; it should.");
    add("key_ahead_seen", move_edge(1), "A query sees the key just behind its position; it must not.");
    for (Int width = 16; width <= 128; width *= 2) {
      const std::string tiles = "tiles of " + std::to_string(width) + " queries and as many keys";
      add(
          "diagonal_tiles_unmasked",
          [=, &p](Int i, Int j) {
            const Int last_query = std::min((i / width + 1) * width, Nq) - 1;
            return p.sees(i, j) || (j > i + past && j < Nk && j / width * width <= last_query + past);
          },
          "In tiles that the diagonal crosses, keys behind the query's position are seen. (" + tiles + ")");
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
    add("window_one_more", with([](reference::Mask& m) { ++m.window; }),
        "The window is one key too long: it counts the query's own position.");
    if (mask.window > 1)
      add("window_one_less", with([](reference::Mask& m) { --m.window; }),
          "The window is one key too short: it counts the query's own position.");
    if (past != 0 && mask.causal)
      add(
          "window_top_left",
          [=](Int i, Int j) { return j <= i + past && (i - j < mask.window || j < mask.sinks); },
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
            "The first keys are seen even behind the query's position. The causal mask hides them, too.");
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
  const Int Nk = to.p().Nk();
  std::set<Int> used;  // so that no two of these explain the same result
  for (const Int end : ends_of_whole_tiles(Nk)) {
    used.insert(end);
    const std::string from = "those from " + std::to_string(end) + " on.";
    if (end > 0) to.add("key_tail_missing", {.end_key = end}, "The last keys are missing: " + from);
    if (to.which() == Which::O)
      to.add("values_missing", {.end_value = end}, "The last keys are missing from the sum over V: " + from);
  }
  for (const Int width : tile_widths(Nk)) {
    if (Nk % width == 0 && used.insert(Nk - width).second)
      to.add("last_tile_missing", {.end_key = Nk - width},
             "The last tile of keys is missing: the keys from " + std::to_string(Nk - width) + " on.");
    if (used.insert(width).second)
      to.add(
          "first_tile_only", {.end_key = width},
          "Only the first " + std::to_string(width) + " keys are there: the loop over tiles ends too early.");
    if (Nk % width != 0)
      to.add(
          "tail_counted", {.tile = width, .tail_counts = true},
          "The last tile of keys reaches beyond Nk, and what lies there counts with a score of 0. It has to "
          "be -inf." +
              of_tiles(width));
  }
}

void add_recurrence(Catalogue& to) {
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
        "by "
        "exp(m_old - m_new).");
    add("sum_of_last_tile", {.of_l = Rescaling::forgotten},
        "l is the sum over the last tile alone; it should be over all.");
    if (to.which() == Which::O)  // elsewhere it is sum_not_rescaled
      add("nothing_rescaled", {.of_O = Rescaling::never, .of_l = Rescaling::never},
          "When a tile raises the maximum m, neither O nor l is multiplied by exp(m_old - m_new).");
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
  for (const Int width : tile_widths(to.p().Nk()))
    to.add("lse_with_m_of_last_tile",
           {.tile = width, .lse = [](const RowEnd& row) { return row.m_tile + std::log(row.l); }},
           "lse takes the maximum of the last tile; it should be that of all keys." + of_tiles(width));
}

void add_sink(Catalogue& to) {
  const Problem& p = to.p();
  if (!p.sink || to.which() == Which::m || to.which() == Which::l) return;
  to.add("sink_ignored", {.sinks_counted = 0},
         to.which() == Which::O ? "exp(sink) is missing from the sum that O is divided by."
                                : "exp(sink) is missing from the sum in lse.");
  to.add("sink_scaled", {.sink_factor = static_cast<double>(p.scale)},
         "The sink is multiplied by the scale. It is a score already.");
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
  if (group > 1 && p.H_kv() > 1)
    to.add("sink_of_kv_head", {.sink_head = [group](Int h) { return h / group; }},
           "Head h takes the sink of its head of K, h / (H / H_kv). There is one for each head of Q.");
}

/// Fits if exactly the rows that no key reaches are wrong, and hold numbers.
Mistake wrong_in_empty_rows(std::string name, std::function<bool(const grading::Index&)> empty,
                            std::string sentence) {
  return {std::move(name), [=](const WrongResult& result) -> std::optional<std::string> {
            const Mistake where = grading::wrong_where("", empty, sentence);
            for (const Int i : result.comparison.wrong)
              if (std::isnan(result.got.at_linear(i))) return std::nullopt;
            return where.explain(result);
          }};
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
  const std::string wanted = to.which() == Which::O || to.which() == Which::l ? "0" : "-inf";
  to.add(
      grading::nan_where("nan_for_empty_row", empty,
                         "Where a query sees no key, or only scores of -inf, the maximum is -inf, too, and "
                         "-inf - -inf is NaN. The result of such a row is " +
                             wanted + "."));
  to.add(
      wrong_in_empty_rows("empty_row_wrong", empty,
                          "Only rows are wrong in which a query sees no key, or only scores of -inf. There "
                          "the result is " +
                              wanted + "."));
  to.add(missing_tail("last_queries_missing", 2, "The last queries, which do not fill a tile, are missing."));
  if (to.which() == Which::O)
    to.add(missing_tail("last_dims_missing", 3, "The last columns of O are missing."));

  const bool is_O = to.which() == Which::O;
  if ((is_O ? p.layout_of_O : p.layout_of_lse) != Layout::heads_inside) return;
  const auto wrong = [&p, which = to.which(), is_O] {
    const Tensor<double> right_one = deviate(p, {}, which).of(which);
    const Strides s = strides_of(right_one.shape(), Layout::heads_inside);
    Tensor<double> x(right_one.shape());
    for (Int i = 0; i < x.numel(); ++i) {
      const auto at = x.unravel(i);
      Int place = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis) place += at[axis] * s[axis];
      x.at_linear(i) = right_one.at_linear(place);
    }
    return x;
  };
  to.add(grading::gives("output_layout_assumed", wrong,
                        std::string(name_of(to.which())) +
                            " is written as if it lay in the order [batch, head, seq" +
                            (is_O ? ", dim]" : "]") + ". Its strides say where an element belongs."));
}

Catalogue catalogue(const Problem& p, Which which) {
  Catalogue to(p, which);
  add_scores(to);
  add_reading(to);
  add_heads(to);
  add_mask(to);
  add_missing_keys(to);
  add_recurrence(to);
  add_division(to);
  add_lse(to);
  add_sink(to);
  add_values(to);
  add_patterns(to);
  return to;
}

}  // namespace

Mistake deviation(std::string name, const Problem& p, Which which, Deviation how, std::string sentence) {
  return grading::gives(
      std::move(name), [&p, which, how = std::move(how)] { return deviate(p, how, which).of(which); },
      std::move(sentence));
}

Mistakes by_name(Mistakes mistakes) {
  std::vector<std::pair<std::string, Mistakes>> groups;
  for (Mistake& mistake : mistakes) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == mistake.name; });
    if (same != groups.end())
      same->second.push_back(std::move(mistake));
    else
      groups.push_back({mistake.name, {mistake}});
  }
  Mistakes merged;
  for (auto& [name, group] : groups)
    merged.push_back({name, [group = std::move(group)](const WrongResult& result) {
                        std::optional<std::string> sentence;
                        for (const Mistake& mistake : group)
                          if ((sentence = mistake.explain(result))) break;
                        return sentence;
                      }});
  return merged;
}

Mistake missing_tail(std::string name, std::size_t axis, std::string sentence) {
  return {
      std::move(name), [axis, sentence = std::move(sentence)](const WrongResult& result) {
        const Int size = result.got.shape()[axis];
        std::vector<Int> wrong(static_cast<std::size_t>(size), 0);
        for (const Int i : result.comparison.wrong)
          ++wrong[static_cast<std::size_t>(result.got.unravel(i)[axis])];
        const Int first =
            std::find_if(wrong.begin(), wrong.end(), [](Int n) { return n > 0; }) - wrong.begin();
        const Int each = size == 0 ? 0 : result.got.numel() / size;
        const bool all = std::all_of(wrong.begin() + first, wrong.end(), [&](Int n) { return n == each; });
        return first > 0 && first < size && first % 8 == 0 && all ? std::optional(sentence) : std::nullopt;
      }};
}

std::vector<Int> tile_widths(Int size) {
  std::vector<Int> widths;
  for (Int width = 8; width <= 256 && width < size; width *= 2) widths.push_back(width);
  return widths;
}

std::vector<Int> ends_of_whole_tiles(Int size) {
  std::vector<Int> ends;
  for (Int tile = 4; tile <= 256; tile *= 2) {
    const Int end = size / tile * tile;
    if (end < size && (ends.empty() || ends.back() != end)) ends.push_back(end);
  }
  return ends;
}

Mistakes mistakes_in(const Problem& p, Which which) { return catalogue(p, which).mistakes(); }

std::vector<NamedDeviation> deviations_in(const Problem& p, Which which) {
  return catalogue(p, which).deviations();
}

}  // namespace course::attention_tests
