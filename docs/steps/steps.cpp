#include "steps/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace course::steps {
namespace {

using Index = std::int64_t;
using Json = nlohmann::json;
using reference::Mask;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// m, l, O and O / l of all queries when some of the keys have passed.
struct State {
  std::array<double, kRows> m{}, l{};
  std::array<std::array<double, kDim>, kRows> O{}, result{};
  std::array<double, kRows> lse{};
};

/// @brief x with one more column.
/// Shapes: x is (1, 1, kRows, kDim), the result (1, 1, kRows, kDim + 1).
template <class Column>
Tensor<float> with_column(const Tensor<float>& x, Column column) {
  Tensor<float> wider({1, 1, kRows, kDim + 1});
  for (Index row = 0; row < kRows; ++row) {
    for (Index d = 0; d < kDim; ++d) wider(0, 0, row, d) = x(0, 0, row, d);
    wider(0, 0, row, kDim) = column(row);
  }
  return wider;
}

/// The state after the first `keys` keys. Those that have not passed yet get scores of -inf by a further
/// feature, 1 in each query and -inf in these keys. So the mask is that of the whole problem: a shorter K
/// would move every query's position.
State state_after(const Problem& problem, const Mask& mask, Index keys) {
  const reference::Attention a = reference::attention(
      with_column(problem.Q, [](Index) { return 1.0f; }),
      with_column(problem.K,
                  [&](Index j) { return j < keys ? 0.0f : -std::numeric_limits<float>::infinity(); }),
      with_column(problem.V, [](Index) { return 0.0f; }), problem.scale, mask);
  State state;
  for (Index i = 0; i < kRows; ++i) {
    double m = -kInf;
    for (Index j = 0; j < kRows; ++j) m = std::max(m, a.S(0, 0, i, j));
    const double lse = a.lse(0, 0, i), l = lse == -kInf ? 0 : std::exp(lse - m);
    state.m[at(i)] = m;
    state.l[at(i)] = l;
    state.lse[at(i)] = lse;
    for (Index d = 0; d < kDim; ++d) {
      state.result[at(i)][at(d)] = a.O(0, 0, i, d);
      state.O[at(i)][at(d)] = l * a.O(0, 0, i, d);
    }
  }
  return state;
}

void require_near(double a, double b, const char* what, Index query, Index keys) {
  if (a == b || std::abs(a - b) <= 1e-12) return;
  throw std::logic_error(fmt::format("the recurrence gives {} = {}, but the reference {}: query {}, {} keys",
                                     what, a, b, query, keys));
}

std::string join(const std::vector<std::string>& parts, const char* last) {
  std::string all;
  for (std::size_t i = 0; i < parts.size(); ++i)
    all += (i == 0 ? "" : i + 1 == parts.size() ? last : ", ") + parts[i];
  return all;
}

template <std::size_t N>
std::string tuple(const std::array<double, N>& values) {
  std::vector<std::string> parts;
  for (const double value : values) parts.push_back(number(value));
  return "(" + join(parts, ", ") + ")";
}

/// A number behind a sign: in brackets if it has one of its own.
std::string behind_sign(const std::string& text) { return text.rfind("−", 0) == 0 ? "(" + text + ")" : text; }

/// A number of Q, K or V, without needless zeros.
std::string input(double value) { return (value < 0 ? "−" : "") + fmt::format("{:g}", std::abs(value)); }

std::string tile(const char* what, Index tile) {
  return fmt::format("{} {} and {}", what, tile * kTile, tile * kTile + 1);
}

/// Walks one tile of queries past the keys.
class Block {
 public:
  Block(const Problem& problem, const Mask& mask, const reference::Attention& whole,
        const std::vector<State>& states, Index query_tile, std::vector<Step>& steps)
      : problem_(problem), mask_(mask), whole_(whole), states_(states), tile_(query_tile), steps_(steps) {}

  void run() {
    load();
    for (Index j = 0; j < kTiles; ++j) attend(j);
    store();
  }

 private:
  Index query(Index row) const { return tile_ * kTile + row; }
  bool sees(Index row, Index key) const { return reference::sees(mask_, query(row), key, kRows, kRows); }

  /// Whether any query of the tile sees any key of that tile.
  bool needed(Index key_tile) const {
    for (Index row = 0; row < kTile; ++row)
      for (Index col = 0; col < kTile; ++col)
        if (sees(row, key_tile * kTile + col)) return true;
    return false;
  }

  Step blank(Phase phase, std::optional<Index> key_tile) const {
    Step step{};
    step.phase = phase;
    step.query_tile = tile_;
    step.key_tile = key_tile;
    return step;
  }

  /// m, l, O and O / l as they are after the first `keys` keys.
  void set_state(Step& step, Index keys) const {
    const State& state = states_[at(keys / kTile)];
    for (Index row = 0; row < kTile; ++row) {
      step.m[at(row)] = state.m[at(query(row))];
      step.l[at(row)] = state.l[at(query(row))];
      step.O[at(row)] = state.O[at(query(row))];
      step.result[at(row)] = state.result[at(query(row))];
    }
  }

  /// Adds the sentence of each query to the step, and the step to the list.
  template <class Sentence>
  void add(Step step, const std::string& head, Sentence of_row) {
    step.says = {head};
    for (Index row = 0; row < kTile; ++row)
      step.says.push_back(fmt::format("Query {}: {}", query(row), of_row(row)));
    steps_.push_back(std::move(step));
  }

  void load() {
    Step step = blank(Phase::load, std::nullopt);
    set_state(step, 0);
    step.says = {fmt::format("The block loads {}. No key has passed yet: m = −∞, l = 0 and O = 0.",
                             tile("queries", tile_))};
    steps_.push_back(std::move(step));
  }

  void attend(Index j) {
    const Index first_key = j * kTile, last_key = first_key + kTile;
    Step step = blank(Phase::skip, j);
    set_state(step, first_key);
    const Step before = step;
    Step after = step;
    set_state(after, last_key);
    if (!needed(j)) {
      for (Index row = 0; row < kTile; ++row) check(after, row, before.m, before.l, before.O, last_key);
      step.says = {
          fmt::format("{} are skipped: no query of this tile sees these keys. They are not loaded, "
                      "and m, l and O stay as they are.",
                      tile("Keys", j))};
      steps_.push_back(std::move(step));
      return;
    }
    scores(step, j);
    maximum(step, after.m);
    rescale(step);
    weights(step, j);
    for (Index row = 0; row < kTile; ++row) check(after, row, step.m, step.l, step.O, last_key);
    // What the page shows between two tiles is the reference itself.
    Step& last = steps_.back();
    last.m = after.m;
    last.l = after.l;
    last.O = after.O;
    last.result = after.result;
  }

  void check(const Step& expected, Index row, const Column& m, const Column& l, const Output& O,
             Index keys) const {
    require_near(m[at(row)], expected.m[at(row)], "m", query(row), keys);
    require_near(l[at(row)], expected.l[at(row)], "l", query(row), keys);
    for (Index d = 0; d < kDim; ++d)
      require_near(O[at(row)][at(d)], expected.O[at(row)][at(d)], "O", query(row), keys);
  }

  /// The numbers of a row of the tile, but for hidden keys, which are named.
  std::string row_of(const Scores& x, Index row, Index key_tile) const {
    std::vector<std::string> numbers;
    std::string hidden;
    for (Index col = 0; col < kTile; ++col) {
      const Index key = key_tile * kTile + col;
      if (sees(row, key))
        numbers.push_back(number(x[at(row)][at(col)]));
      else
        hidden = fmt::format(" (key {} is hidden)", key);
    }
    return join(numbers, " and ") + hidden;
  }

  bool sees_none(Index row, Index key_tile) const {
    return !sees(row, key_tile * kTile) && !sees(row, key_tile * kTile + 1);
  }

  void scores(Step& step, Index j) {
    step.phase = Phase::scores;
    Scores& S = step.S.emplace();
    for (Index row = 0; row < kTile; ++row)
      for (Index col = 0; col < kTile; ++col)
        S[at(row)][at(col)] = whole_.S(0, 0, query(row), j * kTile + col);
    add(step,
        fmt::format("{} and their values are loaded, and S = Q·Kᵀ · {}.", tile("Keys", j), problem_.scale),
        [&](Index row) {
          if (sees_none(row, j)) return std::string("sees none of these keys.");
          const std::string all = "S = " + row_of(S, row, j) + ".";
          return row > 0 && !sees_none(0, j) ? all : all + "\n" + dot_product(step, row);
        });
  }

  /// The score of a query and the first key of the tile that it sees, written out.
  std::string dot_product(const Step& step, Index row) const {
    const Index col = sees(row, *step.key_tile * kTile) ? 0 : 1, key = *step.key_tile * kTile + col;
    std::string sum;
    for (Index d = 0; d < kDim; ++d) {
      const std::string q = input(static_cast<double>(problem_.Q(0, 0, query(row), d)));
      const std::string k = input(static_cast<double>(problem_.K(0, 0, key, d)));
      sum += (d == 0 ? q : " + " + behind_sign(q)) + " · " + behind_sign(k);
    }
    return fmt::format("Key {}: ({}) · {} = {}", key, sum, problem_.scale,
                       number((*step.S)[at(row)][at(col)]));
  }

  void maximum(Step& step, const Column& m_new) {
    step.phase = Phase::maximum;
    step.m_new = Column{};
    for (Index row = 0; row < kTile; ++row)
      (*step.m_new)[at(row)] = std::max({step.m[at(row)], (*step.S)[at(row)][0], (*step.S)[at(row)][1]});
    for (Index row = 0; row < kTile; ++row)
      require_near((*step.m_new)[at(row)], m_new[at(row)], "m", query(row), (*step.key_tile + 1) * kTile);
    add(step, "The maximum takes in the scores of this tile.", [&](Index row) -> std::string {
      const double old = step.m[at(row)], now = (*step.m_new)[at(row)];
      if (now == -kInf) return "no key seen so far; the maximum stays −∞.";
      return old == now ? fmt::format("the maximum stays {}.", number(now))
                        : fmt::format("the maximum rises from {} to {}.", number(old), number(now));
    });
  }

  void rescale(Step& step) {
    step.phase = Phase::rescale;
    step.factor = Column{};
    const Column l_before = step.l;
    const Output O_before = step.O;
    for (Index row = 0; row < kTile; ++row) {
      const double factor = std::exp(step.m[at(row)] - base(step, row));
      (*step.factor)[at(row)] = factor;
      step.l[at(row)] *= factor;
      for (double& o : step.O[at(row)]) o *= factor;
    }
    const bool any_key = std::any_of(step.m.begin(), step.m.end(), [](double m) { return m != -kInf; });
    add(step,
        std::string("The factor brings l and O to the new maximum.") +
            (any_key ? " O / l is the same before and after: the factor cancels." : ""),
        [&](Index row) -> std::string {
          const double m = step.m[at(row)], m_new = (*step.m_new)[at(row)];
          if (m_new == -kInf)
            return "−∞ − (−∞) would be NaN. While m_new is −∞, 0 is subtracted in its place: the factor is "
                   "e^(−∞) = 0, and l and O stay 0.";
          if (m == -kInf)
            return fmt::format("the factor is e^(−∞ − {}) = 0; l and O were 0 anyway.",
                               behind_sign(number(m_new)));
          if (m == m_new)
            return "the maximum has stayed, so the factor is e^0 = 1. l and O stay as they are.";
          const std::string factor = number((*step.factor)[at(row)]);
          return fmt::format("the factor is e^({} − {}) = e^({}) = {}.\nl: {} · {} = {}\nO: {} · {} = {}",
                             number(m), behind_sign(number(m_new)), number(m - m_new), factor,
                             number(l_before[at(row)]), factor, number(step.l[at(row)]),
                             tuple(O_before[at(row)]), factor, tuple(step.O[at(row)]));
        });
  }

  void weights(Step& step, Index j) {
    step.phase = Phase::weights;
    Scores& P = step.P.emplace();
    const Column l_before = step.l;
    const Output O_before = step.O;
    for (Index row = 0; row < kTile; ++row) {
      for (Index col = 0; col < kTile; ++col) {
        const double weight = std::exp((*step.S)[at(row)][at(col)] - base(step, row));
        P[at(row)][at(col)] = weight;
        step.l[at(row)] += weight;
        for (Index d = 0; d < kDim; ++d)
          step.O[at(row)][at(d)] += weight * static_cast<double>(problem_.V(0, 0, j * kTile + col, d));
      }
      step.m[at(row)] = (*step.m_new)[at(row)];
    }
    add(step, "P = e^(S − m_new). Its sum goes into l, and P·V into O.", [&](Index row) -> std::string {
      if (sees_none(row, j)) return "every weight is 0; l and O stay as they are.";
      std::string l = number(l_before[at(row)]), O = number(O_before[at(row)][0]);
      for (Index col = 0; col < kTile; ++col) {
        const Index key = j * kTile + col;
        if (!sees(row, key)) continue;
        const std::string weight = number(P[at(row)][at(col)]);
        l += " + " + weight;
        O += " + " + weight + " · " + behind_sign(input(static_cast<double>(problem_.V(0, 0, key, 0))));
      }
      return fmt::format("P = {}.\nl: {} = {}\nO, first number: {} = {}", row_of(P, row, j), l,
                         number(step.l[at(row)]), O, number(step.O[at(row)][0]));
    });
  }

  void store() {
    Step step = blank(Phase::store, std::nullopt);
    set_state(step, kRows);
    step.lse = Column{};
    for (Index row = 0; row < kTile; ++row) {
      const double lse = states_.back().lse[at(query(row))];
      require_near(lse, whole_.lse(0, 0, query(row)), "lse", query(row), kRows);
      for (Index d = 0; d < kDim; ++d)
        require_near(step.result[at(row)][at(d)], whole_.O(0, 0, query(row), d), "O / l", query(row), kRows);
      (*step.lse)[at(row)] = lse;
    }
    add(step, "All keys have passed. O / l and lse = m + log l are written to memory, once.", [&](Index row) {
      return fmt::format("O is divided by l = {}; lse = {} + {} = {}.", number(step.l[at(row)]),
                         number(step.m[at(row)]), number(std::log(step.l[at(row)])),
                         number((*step.lse)[at(row)]));
    });
  }

  /// What the exponentials subtract: m_new, or 0 while no key has been seen.
  static double base(const Step& step, Index row) {
    const double m_new = (*step.m_new)[at(row)];
    return m_new == -kInf ? 0 : m_new;
  }

  const Problem& problem_;
  const Mask& mask_;
  const reference::Attention& whole_;
  const std::vector<State>& states_;
  Index tile_;
  std::vector<Step>& steps_;
};

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "load";
    case Phase::scores:
      return "scores";
    case Phase::maximum:
      return "maximum";
    case Phase::rescale:
      return "rescale";
    case Phase::weights:
      return "weights";
    case Phase::store:
      return "store";
    case Phase::skip:
      return "skip";
  }
  throw std::logic_error("no such phase");
}

Json json_of(double value) { return value == -kInf ? Json("-inf") : Json(value); }

template <class T, std::size_t N>
Json json_of(const std::array<T, N>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

/// Shapes: x is (1, 1, rows, cols).
template <class T>
Json matrix(const Tensor<T>& x) {
  Json rows = Json::array();
  for (Index i = 0; i < x.shape()[2]; ++i) {
    Json row = Json::array();
    for (Index d = 0; d < x.shape()[3]; ++d) row.push_back(json_of(static_cast<double>(x(0, 0, i, d))));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json json_of(const Step& step) {
  Json result = Json::array();
  for (Index row = 0; row < kTile; ++row)
    result.push_back(step.l[at(row)] == 0 ? Json() : json_of(step.result[at(row)]));
  return {{"phase", name_of(step.phase)},
          {"query_tile", step.query_tile},
          {"key_tile", step.key_tile ? Json(*step.key_tile) : Json()},
          {"S", json_of(step.S)},
          {"m", json_of(step.m)},
          {"m_new", json_of(step.m_new)},
          {"factor", json_of(step.factor)},
          {"P", json_of(step.P)},
          {"l", json_of(step.l)},
          {"O", json_of(step.O)},
          {"result", std::move(result)},
          {"lse", json_of(step.lse)},
          {"says", step.says}};
}

}  // namespace

Problem problem() {
  // In most rows the maximum rises once or twice after the first tile, in some tiles it stays.
  return {Tensor<float>::from({1, 1, kRows, kDim},
                              {
                                  -1.0f, 1.5f,  0.0f,  1.0f,   //
                                  1.0f,  0.5f,  0.0f,  0.0f,   //
                                  -1.0f, -0.5f, -0.5f, 1.5f,   //
                                  0.5f,  0.5f,  0.5f,  1.5f,   //
                                  1.0f,  -1.0f, -1.0f, 1.5f,   //
                                  1.5f,  1.5f,  -0.5f, -1.0f,  //
                                  1.5f,  -1.0f, -0.5f, 1.5f,   //
                                  0.5f,  0.0f,  -0.5f, 1.5f,   //
                              }),
          Tensor<float>::from({1, 1, kRows, kDim},
                              {
                                  0.0f,  0.0f,  0.5f,  -0.5f,  //
                                  -0.5f, -0.5f, 1.0f,  0.5f,   //
                                  0.0f,  0.5f,  -0.5f, 1.0f,   //
                                  1.0f,  0.0f,  0.0f,  -0.5f,  //
                                  0.0f,  0.0f,  -0.5f, 1.0f,   //
                                  1.5f,  0.0f,  -0.5f, -1.0f,  //
                                  0.5f,  0.5f,  0.0f,  1.0f,   //
                                  -1.0f, 0.0f,  -1.0f, 1.5f,   //
                              }),
          Tensor<float>::from({1, 1, kRows, kDim},
                              {
                                  2.0f,  0.0f,  -1.0f, 1.0f,   //
                                  0.0f,  1.0f,  2.0f,  -2.0f,  //
                                  -2.0f, 3.0f,  1.0f,  0.0f,   //
                                  1.0f,  -1.0f, 0.0f,  3.0f,   //
                                  0.0f,  2.0f,  -3.0f, 1.0f,   //
                                  3.0f,  1.0f,  1.0f,  -1.0f,  //
                                  -1.0f, 0.0f,  2.0f,  2.0f,   //
                                  1.0f,  -2.0f, 0.0f,  4.0f,   //
                              }),
          0.5};
}

std::vector<Setting> settings() {
  constexpr Index kNoWindow = Mask{}.window;
  return {{"all", {false, kNoWindow, 0}},
          {"causal", {true, kNoWindow, 0}},
          {"window", {true, 2, 0}},
          {"sinks", {true, 2, 1}}};
}

std::vector<Step> steps_of(const Problem& problem, const Mask& mask) {
  const reference::Attention whole =
      reference::attention(problem.Q, problem.K, problem.V, problem.scale, mask);
  std::vector<State> states;
  for (Index keys = 0; keys <= kRows; keys += kTile) states.push_back(state_after(problem, mask, keys));
  std::vector<Step> steps;
  for (Index i = 0; i < kTiles; ++i) Block(problem, mask, whole, states, i, steps).run();
  return steps;
}

std::optional<std::size_t> first_rescale(const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].phase != Phase::rescale) continue;
    for (const double factor : *steps[i].factor)
      if (factor != 0 && factor != 1) return i;
  }
  return std::nullopt;
}

Json data() {
  const Problem p = problem();
  Json all{{"rows", kRows},    {"dim", kDim},      {"tile", kTile},    {"scale", p.scale},
           {"Q", matrix(p.Q)}, {"K", matrix(p.K)}, {"V", matrix(p.V)}, {"settings", Json::array()}};
  for (const Setting& setting : settings()) {
    const Mask& mask = setting.mask;
    Json sees = Json::array(), lse = Json::array(), steps = Json::array();
    const reference::Attention a = reference::attention(p.Q, p.K, p.V, p.scale, mask);
    for (Index i = 0; i < kRows; ++i) {
      Json row = Json::array();
      for (Index j = 0; j < kRows; ++j) row.push_back(reference::sees(mask, i, j, kRows, kRows));
      sees.push_back(std::move(row));
      lse.push_back(json_of(a.lse(0, 0, i)));
    }
    const std::vector<Step> all_steps = steps_of(p, mask);
    for (const Step& step : all_steps) steps.push_back(json_of(step));
    const std::optional<std::size_t> rescale = first_rescale(all_steps);
    all["settings"].push_back({{"name", setting.name},
                               {"causal", mask.causal},
                               {"window", mask.window == Mask{}.window ? Json() : Json(mask.window)},
                               {"sinks", mask.sinks},
                               {"sees", std::move(sees)},
                               {"steps", std::move(steps)},
                               {"first_rescale", rescale ? Json(*rescale) : Json()},
                               {"O", matrix(a.O)},
                               {"lse", std::move(lse)}});
  }
  return all;
}

std::string script() {
  return "// Written by docs/steps/export_steps.cpp.\nwindow.flashSteps = " + data().dump(-1, ' ', true) +
         ";\n";
}

std::string table() {
  std::string text =
      "| keys | S | m | e^(m_old − m) | P = e^(S − m) | l | O | O / l |\n|---|---|---|---|---|---|---|---|\n";
  constexpr std::size_t kRow = 0;  // query 0
  for (const Step& step : steps_of(problem(), settings()[0].mask)) {
    if (step.query_tile != 0) break;
    const auto row = [&](const std::string& keys, const std::string& S, const std::string& factor,
                         const std::string& P, const std::string& result) {
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", keys, S, number(step.m[kRow]),
                          factor, P, number(step.l[kRow]), tuple(step.O[kRow]), result);
    };
    if (step.phase == Phase::load) row("none", "", "", "", "");
    if (step.phase == Phase::weights) {
      const auto pair = [](const Column& x) { return number(x[0]) + ", " + number(x[1]); };
      row(fmt::format("{}, {}", *step.key_tile * kTile, *step.key_tile * kTile + 1), pair((*step.S)[kRow]),
          number((*step.factor)[kRow]), pair((*step.P)[kRow]), tuple(step.result[kRow]));
    }
    if (step.phase == Phase::store)
      text += fmt::format("| stored | | | | | | lse = {} | {} |\n", number((*step.lse)[kRow]),
                          tuple(step.result[kRow]));
  }
  return text;
}

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const std::string digits = fmt::format("{:.3f}", std::abs(value));
  return (value < 0 && digits != "0.000" ? "−" : "") + digits;
}

}  // namespace course::steps
