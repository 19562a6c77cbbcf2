#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "attention/gradient_catalogue.hpp"
#include "grading/facts/poison.hpp"

namespace course::attention_tests {
namespace {

/// What is read by `strides` from a buffer that was written row by row.
Tensor<double> read_by(const Tensor<double>& written, const Strides& strides) {
  Tensor<double> x(written.shape());
  for (Int i = 0; i < x.numel(); ++i) {
    const auto index = x.unravel(i);
    Int place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) place += index[axis] * strides[axis];
    x.data()[i] = written.data()[place];
  }
  return x;
}

Layout layout_of(const BackwardProblem& p, Gradient which) {
  switch (which) {
    case Gradient::delta:
      return p.layout_of_delta;
    case Gradient::dV:
      return p.layout_of_dV;
    case Gradient::dK:
      return p.layout_of_dK;
    case Gradient::dQ:
      return p.layout_of_dQ;
    case Gradient::dsink:
      break;
  }
  return Layout::heads_outside;
}

bool has_nan(const grading::WrongResult& result) {
  for (Int i = 0; i < result.got.numel(); ++i)
    if (std::isnan(result.got.at_linear(i)) && !std::isnan(result.expected.at_linear(i))) return true;
  return false;
}

/// A NaN where none can come from what the mistake speaks of.
std::optional<std::string> contradicted_by_nan(const grading::WrongResult& result) {
  if (has_nan(result)) return std::nullopt;
  return "";
}

/// None where some has to come from what the mistake speaks of. More may come of something else.
std::optional<std::string> contradicted_without_nan(const grading::WrongResult& result) {
  if (!has_nan(result)) return std::nullopt;
  return "";
}

/// The queries that fill the last tile up get no weight of 0: all of dK and dV is NaN. dV tells it from a NaN
/// in delta.
void add_rows_past_the_end(GradientCatalogue& to) {
  if (!to.is(Gradient::dK) && !to.is(Gradient::dV)) return;
  if (!have_ordinary_exponentials(to.p().exact.S)) return;
  constexpr Int kWidest = 16;  // every tile has a multiple of so many queries
  if (to.p().Nq() % kWidest == 0) return to.add({"nan_past_the_last_query", contradicted_by_nan});
  if (to.is(Gradient::dK)) return to.add({"nan_past_the_last_query", contradicted_without_nan});
  to.add(
      {"nan_past_the_last_query", [](const grading::WrongResult& result) -> std::optional<std::string> {
         for (Int i = 0; i < result.got.numel(); ++i)
           if (!std::isnan(result.got.at_linear(i))) return std::nullopt;
         return "The last tile is not full: it has rows past the last query. If lse is taken as -inf there, "
                "exp(S - lse) is infinite, and infinity times 0 is NaN. P is 0 there.";
       }});
}

/// NaN of -inf - -inf, in all hidden pairs or only where a kernel goes.
void add_empty_rows(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  if (!to.has_P()) return;
  bool any = false;
  for (Int i = 0; i < p.lse.numel(); ++i) any = any || p.lse.at_linear(i) == -kInf;
  if (!any) {
    to.add({"nan_for_empty_row", contradicted_by_nan});
    add_rows_past_the_end(to);
    return;
  }
  const std::string sentence =
      "Where a query sees no key, lse is -inf, and -inf - -inf is NaN. P is 0 there, whatever lse says.";
  to.add("nan_for_empty_row", {.empty_row_divided = true}, sentence);
  if (!to.is(Gradient::dQ)) {
    for (Int width = 16; width <= 128; width *= 2)
      to.add("nan_for_empty_row",
             {.empty_row_divided = true,
              .reached =
                  [&p, width](Int i, Int j) {  // tiles in which the last query sees the first key
                    const Int last = std::min((i / width + 1) * width, p.Nq()) - 1;
                    return p.sees(last, j / width * width);
                  }},
             sentence);
    return;
  }
  to.add(grading::nan_where(
      "nan_for_empty_row", [&p](const grading::Index& at) { return p.lse(at[0], at[1], at[2]) == -kInf; },
      sentence));
}

/// Rows at the end that nobody writes, or that hold 0.
void add_last_rows(GradientCatalogue& to, const std::string& name, bool by_keys) {
  const auto add = [&](bool written, const std::string& sentence) {
    const grading::Mistake tail =
        missing_tail(by_keys ? "last_keys_missing" : "last_queries_missing", 2, sentence);
    to.add({tail.name, [=](const grading::WrongResult& result) -> std::optional<std::string> {
              for (const Int i : result.comparison.wrong)
                if (grading::is_poison(result.got.at_linear(i)) == written) return std::nullopt;
              return tail.explain(result);
            }});
  };
  const std::string rows = by_keys ? "keys" : "queries", size = by_keys ? "Nk" : "Nq";
  add(false, "No block writes the last rows of " + name + ". The grid needs one for each tile of the " +
                 size + " " + rows + ", rounded up; or it has one, which ends or stores nothing.");
  const BackwardProblem& p = to.p();
  const std::string nobody = to.is(Gradient::delta) ? "nothing was added to them."
                             : !by_keys             ? "no key has added to them."
                             : p.mask.causal && p.Nk() > p.Nq()
                                 ? "no query has added to them. The first query that sees key j is "
                                   "j - (Nk - Nq)."
                                 : "no query has added to them.";
  add(true, "The last rows of " + name + " are 0: " + nobody);
}

/// Heads, or batches, at the end that nobody writes.
void add_last_heads(GradientCatalogue& to, const std::string& name, bool by_keys) {
  const auto unwritten = [](const grading::WrongResult& result, std::size_t axis) -> Int {
    Int first = result.got.shape()[axis], count = 0;
    for (const Int i : result.comparison.wrong) {
      if (!grading::is_poison(result.got.at_linear(i))) return 0;
      first = std::min(first, result.got.unravel(i)[axis]);
      ++count;
    }
    const Int each = result.got.numel() / result.got.shape()[axis];
    return count == each * (result.got.shape()[axis] - first) ? first : 0;
  };
  to.add({"heads_missing", [=](const grading::WrongResult& result) -> std::optional<std::string> {
            const Int head = unwritten(result, 1), batch = unwritten(result, 0);
            if (head > 0)
              return "No block writes the heads of " + name + " from " + std::to_string(head) +
                     " on. The grid needs blocks for every head of " + (by_keys ? "K" : "Q") +
                     "; or it has them, and they end or store nothing.";
            if (batch > 0)
              return "No block writes " + name + " of the batches from " + std::to_string(batch) +
                     " on. The grid needs blocks for every batch; or it has them, and they end or store "
                     "nothing.";
            return std::nullopt;
          }});
}

}  // namespace

void add_sink(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  if (!to.is(Gradient::dsink) || !p.sink) return;
  const std::string rule = " dsink is -Σ exp(sink - lse) · delta, over all queries of all batches.";
  const auto add = [&](const char* name, GradientDeviation how, const std::string& sentence) {
    to.add(name, std::move(how), sentence + rule);
  };
  const auto term = [&](const char* name, std::function<double(double, double, double)> sink_term,
                        const std::string& sentence) {
    add(name, {.sink_term = std::move(sink_term)}, sentence);
  };
  add("dsink_sign", {.factor = -1}, "dsink has the opposite sign.");
  term(
      "delta_missing", [](double sink, double lse, double) { return std::exp(sink - lse); },
      "dsink is the sum of the sink's weights alone here: the factor delta is missing.");
  term(
      "sink_weight_missing", [](double, double, double delta) { return delta; },
      "dsink is the sum of delta alone here: the sink's weight is missing.");
  term(
      "lse_left_out", [](double sink, double, double delta) { return std::exp(sink) * delta; },
      "The sink's weight is exp(sink) here: lse has to be subtracted first.");
  term(
      "sink_without_exp", [](double sink, double lse, double delta) { return (sink - lse) * delta; },
      "The sink's weight is sink - lse here, without the exponential.");
  term(
      "weight_of_keys",
      [](double sink, double lse, double delta) { return (1 - std::exp(sink - lse)) * delta; },
      "The weight of all keys, 1 - exp(sink - lse), is taken for that of the sink.");
  term(
      "base_2", [](double sink, double lse, double delta) { return std::exp2(sink - lse) * delta; },
      "The sink's weight is exp2(sink - lse) here; its base is e.");
  add("dsink_scaled", {.factor = static_cast<double>(p.scale)},
      "dsink is multiplied by the scale. The sink is not scaled, and neither is its gradient.");
  const Int B = p.B(), Nq = p.Nq(), H = p.H();
  if (B > 1) {
    add("first_batch_only", {.sink_rows = [](Int b, Int) { return b == 0; }}, "Only the first batch counts.");
    add("last_batch_only", {.sink_rows = [B](Int b, Int) { return b == B - 1; }},
        "Only the last batch counts: it replaces what the others have added.");
    add("dsink_is_a_mean", {.factor = 1 / static_cast<double>(B)},
        "dsink is divided by the number of batches.");
  }
  if (Nq > 1)
    add("dsink_is_a_mean", {.factor = 1 / static_cast<double>(Nq)},
        "dsink is divided by the number of queries.");
  if (Nq > 1 && B > 1)
    add("dsink_is_a_mean", {.factor = 1 / static_cast<double>(Nq * B)},
        "dsink is divided by the number of queries and batches.");
  for (const Int end : ends_of_whole_tiles(Nq))
    if (end > 0)
      add("query_tail_missing", {.sink_rows = [end](Int, Int i) { return i < end; }},
          "The last queries are missing: those from " + std::to_string(end) + " on.");
  for (const Int width : tile_widths(Nq)) {
    const Int last = (Nq - 1) / width * width;
    if (Nq > width && Nq / width * width != width)  // else query_tail_missing says so
      add("first_query_tile_only", {.sink_rows = [width](Int, Int i) { return i < width; }},
          "Only the first " + std::to_string(width) + " queries of each batch count.");
    add("last_query_tile_only", {.sink_rows = [last](Int, Int i) { return i >= last; }},
        "Only the queries from " + std::to_string(last) + " on count.");
  }
  if (Nq > 1)
    for (const Int threads : {256, 128, 64, 32})
      add("dsink_of_one_thread", {.sink_rows = [threads](Int, Int i) { return i % threads == 0; }},
          "Only one query in " + std::to_string(threads) +
              " counts, that of thread 0: the threads' sums have to be added.");
  if (H > 1)
    add("sink_of_head_0", {.sink_head = [](Int) { return Int{0}; }}, "Every head takes the sink of head 0.");
  const Int group = p.H_kv() == 0 ? 1 : H / p.H_kv();
  if (group > 1 && p.H_kv() > 1)
    add("sink_of_kv_head", {.sink_head = [group](Int h) { return h / group; }},
        "Head h takes the sink of its head of K, h / (H / H_kv). There is one for each head of Q.");
}

void add_output(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  const Gradient which = to.which();
  const std::string name = name_of(which);
  add_empty_rows(to);
  to.add("added_twice", {.factor = 2}, name + " is twice what it should be: something is added twice.");
  if (which == Gradient::dsink) return;
  const bool by_keys = which == Gradient::dV || which == Gradient::dK;
  add_last_rows(to, name, by_keys);
  add_last_heads(to, name, by_keys);
  if (which == Gradient::delta) {
    if (p.layout_of_delta != Layout::heads_inside) return;
  } else {
    if (!to.plain_dO())
      to.add(missing_tail("last_dims_missing", 3, "The last columns of " + name + " are missing."));
    if ((by_keys ? p.Nk() : p.Nq()) == p.D() && !to.plain_dO())
      to.add(grading::gives(
          "output_transposed", [&p, which] { return deviate(p, {}, which).transposed(2, 3).contiguous(); },
          name + " is transposed: rows and columns of each head are exchanged."));
  }
  const auto other = [&](const char* mistake, Gradient instead) {
    if (shape_of(p, instead) == shape_of(p, which))
      to.add(grading::gives(
          mistake, [&p, instead] { return deviate(p, {}, instead); },
          name + " holds what " + name_of(instead) + " should hold."));
  };
  if (which == Gradient::dK) other("dv_for_dk", Gradient::dV), other("dq_for_dk", Gradient::dQ);
  if (which == Gradient::dV) other("dk_for_dv", Gradient::dK);
  if (which == Gradient::dQ) other("dk_for_dq", Gradient::dK);
  if (layout_of(p, which) != Layout::heads_inside) return;
  to.add(grading::gives(
      "output_layout_assumed",
      [&p, which] {
        const Tensor<double> right = deviate(p, {}, which);
        return read_by(right, strides_of(right.shape(), Layout::heads_inside));
      },
      name + " is written as if it lay in the order [batch, head, seq" +
          (which == Gradient::delta ? "]" : ", dim]") + ". Its strides say where an element belongs."));
}

}  // namespace course::attention_tests
