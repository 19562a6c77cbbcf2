#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/gradient_catalogue.hpp"

namespace course::attention_tests {

void add_heads(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  const Int H = p.H(), H_kv = p.H_kv();
  if (H == H_kv || H_kv == 0 || !to.has_P()) return;
  const Int group = H / H_kv;
  if (to.is(Gradient::dQ)) {
    const std::string rule = " Heads that share lie side by side: h_kv is h / (H / H_kv).";
    const auto add = [&](const char* name, const std::function<Int(Int)>& head, const std::string& sentence) {
      to.add(name, {.k_head = head, .v_head = head}, sentence);
      to.add(name, {.k_head = head}, "In K: " + sentence);
      to.add(name, {.v_head = head}, "In V: " + sentence);
    };
    add(
        "heads_modulo", [H_kv](Int h) { return h % H_kv; }, "Head h reads head h % H_kv of K and V." + rule);
    add(
        "kv_head_not_divided", [](Int h) { return h; },
        "Head h reads head h of K and V, which have fewer heads." + rule);
    if (H_kv > 1)
      add(
          "heads_divided_by_h_kv", [H_kv](Int h) { return h / H_kv; },
          "Head h reads head h / H_kv of K and V." + rule);
    return;
  }
  const std::string name = name_of(to.which());
  const std::string rule =
      " " + name + " of head h_kv is the sum over its query heads, h_kv · (H / H_kv) and those that follow.";
  const auto add = [&](const char* mistake, std::function<std::vector<Int>(Int)> heads,
                       const std::string& sentence) {
    to.add(mistake, {.heads_of = std::move(heads)}, sentence + rule);
  };
  add(
      "first_head_of_group_only", [group](Int h_kv) { return std::vector<Int>{h_kv * group}; },
      "Only the first query head of each group counts.");
  add(
      "last_head_of_group_only", [group](Int h_kv) { return std::vector<Int>{h_kv * group + group - 1}; },
      "Only the last query head of each group counts: it replaces what the others have added.");
  add(
      "kv_head_not_multiplied", [](Int h_kv) { return std::vector<Int>{h_kv}; },
      "Only query head h_kv counts.");
  const auto times = static_cast<std::size_t>(group);
  add(
      "first_head_of_group_repeated",
      [group, times](Int h_kv) { return std::vector<Int>(times, h_kv * group); },
      "The first query head of each group counts as often as the group has heads, and the others do not "
      "count.");
  add(
      "kv_head_repeated", [times](Int h_kv) { return std::vector<Int>(times, h_kv); },
      "Query head h_kv counts as often as a group has heads, and no other counts.");
  add(
      "group_ends_too_early",
      [group](Int h_kv) {
        std::vector<Int> heads;
        for (Int h = h_kv * group; h < group; ++h) heads.push_back(h);
        return heads;
      },
      "The loop over query heads ends at head H / H_kv, wherever it began.");
  add(
      "heads_modulo",
      [H, H_kv](Int h_kv) {
        std::vector<Int> heads;
        for (Int h = h_kv; h < H; h += H_kv) heads.push_back(h);
        return heads;
      },
      "The query heads h with h % H_kv = h_kv count.");
  add(
      "groups_overlap",
      [group, H](Int h_kv) {
        std::vector<Int> heads;
        for (Int h = h_kv; h < std::min(h_kv + group, H); ++h) heads.push_back(h);
        return heads;
      },
      "The query heads from h_kv on count, as many as share a head of K and V.");
  add(
      "all_heads_summed",
      [H](Int) {
        std::vector<Int> heads;
        for (Int h = 0; h < H; ++h) heads.push_back(h);
        return heads;
      },
      "All query heads count for every head of K and V.");
  to.add("divided_by_group", {.factor = 1 / static_cast<double>(group)},
         name + " is divided by the number of query heads that share a head; it is their sum, and no mean.");
}

void add_reading(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  if (to.is(Gradient::dsink)) return;
  enum Tensors : unsigned { Q = 1, K = 2, V = 4, dO = 8, O = 16 };
  const std::vector<std::pair<unsigned, const char*>> places{
      {Q, "In Q: "},
      {K, "In K: "},
      {V, "In V: "},
      {dO, "In dO: "},
      {O, "In O: "},
      {K | V, "In K and V: "},
      {Q | K, "In Q and K: "},
      {Q | dO, "In Q and dO: "},
      {dO | O, "In dO and O: "},
      {Q | K | V | dO, "In Q, K, V and dO: "},
  };
  const unsigned used = to.is(Gradient::delta) ? dO | O : to.is(Gradient::dV) ? Q | K | dO : Q | K | V | dO;
  for (const Misreading& how : misreadings())
    for (const auto& [tensors, where] : places) {
      if ((tensors & used) != tensors) continue;
      GradientDeviation wrong;
      bool all_matter = true;
      const auto misread_if = [&](unsigned tensor, const Tensor<float>& x, std::optional<Reader>& field) {
        if ((tensors & tensor) == 0) return;
        all_matter = all_matter && matters(x, how);
        field = misread(x, how);
      };
      misread_if(Q, p.Q, wrong.Q), misread_if(K, p.K, wrong.K), misread_if(V, p.V, wrong.V);
      misread_if(O, p.O, wrong.O);
      misread_if(dO, p.dO, wrong.dO);
      if (!to.is(Gradient::delta) && wrong.dO) {  // delta has been right, or was told of first
        if (!to.is(Gradient::dV)) wrong.dO_in_dP = std::exchange(wrong.dO, std::nullopt);
      }
      if (all_matter) to.add(how.name.c_str(), std::move(wrong), where + how.sentence);
    }
  const auto by_strides_of = [&](const char* name, const Tensor<float>& x, const Tensor<float>& other,
                                 std::optional<Reader> GradientDeviation::*field, const char* sentence) {
    Int reach = 0;  // where all is read from beyond the end, the result says nothing
    for (std::size_t axis = 0; axis < 4; ++axis) reach += (x.shape()[axis] - 1) * other.strides()[axis];
    if (x.strides() == other.strides() || reach >= static_cast<Int>(x.storage().size())) return;
    GradientDeviation wrong;
    wrong.*field = Reader{&x, address_by(other.strides())};
    to.add(name, std::move(wrong), sentence);
  };
  if (to.has_P())
    by_strides_of("strides_of_q", p.K, p.Q, &GradientDeviation::K,
                  "K is read by the strides of Q; it has its own.");
  if (to.has_dS())
    by_strides_of("strides_of_k", p.V, p.K, &GradientDeviation::V,
                  "V is read by the strides of K; it has its own.");
  if (to.is(Gradient::delta)) {
    by_strides_of("strides_of_o", p.dO, p.O, &GradientDeviation::dO,
                  "dO is read by the strides of O; it has its own.");
    by_strides_of("strides_of_do", p.O, p.dO, &GradientDeviation::O,
                  "O is read by the strides of dO; it has its own.");
  } else if (to.has_P()) {
    by_strides_of("strides_of_o", p.dO, p.O,
                  to.is(Gradient::dV) ? &GradientDeviation::dO : &GradientDeviation::dO_in_dP,
                  "dO is read by the strides of O; it has its own.");
  }
}

namespace {

/// What belongs to a query, taken by key: in tiles whose rows are keys, by row.
void add_rows_of_keys(GradientCatalogue& to) {
  const BackwardProblem& p = to.p();
  const auto add = [&](const RowOfPair& row, const std::string& tiles) {
    const auto sentence = [&](const char* what, const char* belongs) {
      return std::string("The pair of query i and key j takes ") + what + " of query j" +
             (tiles.empty() ? "" : ", counted from the beginning of its tile") + ". " + belongs +
             " to the query: to the rows of a tile whose rows are queries, and to the columns where they are "
             "keys." +
             tiles;
    };
    to.add("rows_of_key", {.lse_of_pair = row}, sentence("lse", "It belongs"));
    if (to.is(Gradient::dV)) return;
    to.add("rows_of_key", {.delta_of_pair = row}, sentence("delta", "It belongs"));
    to.add("rows_of_key", {.lse_of_pair = row, .delta_of_pair = row},
           sentence("lse and delta", "They belong"));
  };
  add([](Int, Int j) { return j; }, "");
  for (Int width = 16; width < std::max(p.Nq(), p.Nk()) && width <= 128; width *= 2)
    add([width](Int i, Int j) { return i / width * width + j % width; }, of_query_tiles(width));
}

}  // namespace

void add_rows(GradientCatalogue& to) {
  if (!to.has_P() && !to.is(Gradient::dsink)) return;
  const BackwardProblem& p = to.p();
  const Int H = p.H(), Nq = p.Nq();
  using Row = std::function<Int(Int b, Int h, Int i)>;
  const bool needs_delta = !to.is(Gradient::dV);
  /// (b, h, i) -> the row that is read instead, in shape (B, H, Nq).
  const auto add = [&](const char* name, const Row& row, const std::string& sentence) {
    const RowAddress in_lse = [row, H, Nq, s = p.lse.strides()](Int b, Int h, Int i) {
      const Int n = row(b, h, i);
      return n < 0 ? n : n / Nq / H * s[0] + n / Nq % H * s[1] + n % Nq * s[2];
    };
    to.add(name, {.lse = in_lse}, "lse is read " + sentence);
    if (!needs_delta) return;
    to.add(name, {.delta_row = row}, "delta is read " + sentence);
    to.add(name, {.lse = in_lse, .delta_row = row}, "lse and delta are read " + sentence);
  };
  const std::string rule = " Each query of each head and batch has its own.";
  if (H > 1)
    add(
        "rows_of_head_0", [=](Int b, Int, Int i) { return b * H * Nq + i; },
        "from head 0 by every head." + rule);
  if (p.B() > 1)
    add(
        "rows_of_batch_0", [=](Int, Int h, Int i) { return h * Nq + i; },
        "from batch 0 by every batch." + rule);
  bool first_sees = true;  // else lse is -inf there and delta 0, which says nothing
  for (Int row = 0; row < p.lse.numel(); row += std::max<Int>(Nq, 1))
    first_sees = first_sees && p.lse.at_linear(row) != -kInf;
  if (Nq > 1 && first_sees)
    add(
        "rows_of_row_0", [=](Int b, Int h, Int) { return (b * H + h) * Nq; },
        "from the first row by every query." + rule);
  for (const Int width : tile_widths(Nq)) {
    add(
        "rows_of_first_tile", [=](Int b, Int h, Int i) { return (b * H + h) * Nq + i % width; },
        "from the first tile of queries by every tile." + rule + of_query_tiles(width));
    add(
        "rows_of_tile_begin", [=](Int b, Int h, Int i) { return (b * H + h) * Nq + i / width * width; },
        "from the first row of a tile by all its rows." + rule + of_query_tiles(width));
  }
  if (p.H_kv() > 0 && H > p.H_kv()) {
    const Int group = H / p.H_kv();
    add(
        "rows_of_kv_head", [=](Int b, Int h, Int i) { return (b * H + h / group) * Nq + i; },
        "from head h / (H / H_kv) by query head h." + rule);
  }
  if (to.has_P() && p.Nk() > 1) add_rows_of_keys(to);
  if (p.lse.strides() != row_major_strides(p.lse.shape()))
    to.add("lse_layout_assumed", {.lse = [=](Int b, Int h, Int i) { return (b * H + h) * Nq + i; }},
           "lse is read as if it lay in the order [batch, head, seq] without gaps. Its strides say where its "
           "elements are.");
}

}  // namespace course::attention_tests
