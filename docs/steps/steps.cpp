#include "steps/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace course::steps {
namespace {

using Index = std::int64_t;
using reference::Mask;

constexpr double kInf = std::numeric_limits<double>::infinity();

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

/// The attention to the first `keys` keys. The others get scores of -inf by a further feature, 1 in each
/// query and -inf in these keys. So the mask is that of the whole problem: a shorter K would move every
/// query's position.
reference::Attention attention_to(const Problem& problem, const Mask& mask, Index keys) {
  return reference::attention(
      with_column(problem.Q, [](Index) { return 1.0f; }),
      with_column(problem.K,
                  [&](Index j) { return j < keys ? 0.0f : -std::numeric_limits<float>::infinity(); }),
      with_column(problem.V, [](Index) { return 0.0f; }), problem.scale, mask);
}

State state_after(const Problem& problem, const Mask& mask, Index keys) {
  const reference::Attention a = attention_to(problem, mask, keys);
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

/// The keys that the kernel counts: with tail_not_hidden, also those that are not there.
Index counted(const Setting& setting) { return setting.slip == Slip::tail_not_hidden ? kRows : setting.keys; }

std::string tile(const char* what, Index tile) {
  return fmt::format("{} {} and {}", what, tile * kTile, tile * kTile + 1);
}

/// What all blocks share.
struct Run {
  explicit Run(const Setting& setting_)
      : setting(setting_),
        problem(problem_of(setting)),
        kernel(attention_to(problem, setting.mask, counted(setting))),
        right(attention_to(problem, setting.mask, setting.keys)) {
    for (Index keys = 0; keys <= kRows; keys += kTile)
      states.push_back(state_after(problem, setting.mask, std::min(keys, counted(setting))));
  }

  const Setting& setting;
  Problem problem;
  reference::Attention kernel;  ///< over the keys that the kernel counts
  reference::Attention right;   ///< over the keys that are there
  std::vector<State> states;    ///< before each tile of keys, and after the last
};

/// Walks one tile of queries past the keys.
class Block {
 public:
  Block(const Run& run, Index query_tile, std::vector<Step>& steps)
      : run_(run), slip_(run.setting.slip), tile_(query_tile), steps_(steps) {}

  void walk() {
    load();
    for (Index j = 0; j < kTiles; ++j) attend(j);
    store();
  }

 private:
  Index query(Index row) const { return tile_ * kTile + row; }
  bool sees(Index row, Index key) const { return counts(run_.setting, query(row), key); }

  /// Whether the recurrence is that of the course, so that its states are those of the reference.
  bool recurs_rightly() const { return slip_ == Slip::none || slip_ == Slip::tail_not_hidden; }
  double power(double x) const { return slip_ == Slip::base_2 ? std::exp2(x) : std::exp(x); }
  const char* base() const { return slip_ == Slip::base_2 ? "2" : "e"; }

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
    const State& state = run_.states[at(keys / kTile)];
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

  /// The state that the last step has left, for a step of its own.
  Step go_on(Phase phase, std::optional<Index> key_tile) const {
    Step step = blank(phase, key_tile);
    const Step& last = steps_.back();
    step.m = last.m;
    step.l = last.l;
    step.O = last.O;
    step.result = last.result;
    return step;
  }

  void attend(Index j) {
    const Index last_key = (j + 1) * kTile;
    Step step = go_on(Phase::skip, j);
    Step after = step;
    set_state(after, last_key);
    if (!needed(j)) {
      for (Index row = 0; row < kTile; ++row) check(after, row, step.m, step.l, step.O, last_key);
      step.says = {
          fmt::format("{} are skipped: no query of this tile sees these keys. They are not loaded, "
                      "and m, l and O stay as they are.",
                      tile("Keys", j))};
      steps_.push_back(std::move(step));
      return;
    }
    scores(step, j);
    maximum(step, j);
    rescale(step);
    weights(step, j);
    if (!recurs_rightly()) return;
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
    const std::string where = fmt::format("query {}, {} keys", query(row), keys);
    require_near(m[at(row)], expected.m[at(row)], "m of " + where);
    require_near(l[at(row)], expected.l[at(row)], "l of " + where);
    for (Index d = 0; d < kDim; ++d)
      require_near(O[at(row)][at(d)], expected.O[at(row)][at(d)], "O of " + where);
  }

  /// O / l, as far as there is an l.
  void divide(Step& step) const {
    for (Index row = 0; row < kTile; ++row)
      for (Index d = 0; d < kDim; ++d) step.result[at(row)][at(d)] = step.O[at(row)][at(d)] / step.l[at(row)];
  }

  /// The question that the last step answers.
  void ask(const std::string& text, const Choice& right, const std::vector<Choice>& wrong) {
    if (slip_ == Slip::none) steps_.back().asks = question(text, right, wrong);
  }

  /// The first row of the tile that a question suits; the first of all if it suits none.
  template <class Suits>
  static Index first_row(Suits suits) {
    for (Index row = 0; row < kTile; ++row)
      if (suits(row)) return row;
    return 0;
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
        S[at(row)][at(col)] = run_.kernel.S(0, 0, query(row), j * kTile + col);
    const bool beyond = slip_ == Slip::tail_not_hidden && (j + 1) * kTile > run_.setting.keys;
    add(step,
        fmt::format("{} and their values are loaded, and S = Q·Kᵀ · {}.", tile("Keys", j),
                    run_.problem.scale) +
            (beyond
                 ? fmt::format(" There is no key {0}. Its place holds zeros, so its score is 0, and nothing "
                               "hides it.",
                               run_.setting.keys)
                 : ""),
        [&](Index row) {
          if (sees_none(row, j)) return std::string("sees none of these keys.");
          const std::string all = "S = " + row_of(S, row, j) + ".";
          return row > 0 && !sees_none(0, j) ? all : all + "\n" + dot_product(step, row);
        });
    const Index row = first_row([&](Index r) { return !sees_none(r, j); });
    const Index col = sees(row, j * kTile) ? 0 : 1;
    const double score = S[at(row)][at(col)];
    ask(fmt::format("What is S of query {} and key {}?", query(row), j * kTile + col),
        {score, "q · k · scale"},
        {{score / run_.problem.scale, "the dot product without the scale"},
         {score * run_.problem.scale, "the dot product with the scale twice"}});
  }

  /// The score of a query and the first key of the tile that it sees, written out.
  std::string dot_product(const Step& step, Index row) const {
    const Index col = sees(row, *step.key_tile * kTile) ? 0 : 1, key = *step.key_tile * kTile + col;
    std::string sum;
    for (Index d = 0; d < kDim; ++d) {
      const std::string q = input(static_cast<double>(run_.problem.Q(0, 0, query(row), d)));
      const std::string k = input(static_cast<double>(run_.problem.K(0, 0, key, d)));
      sum += (d == 0 ? q : " + " + after_sign(q)) + " · " + after_sign(k);
    }
    return fmt::format("Key {}: ({}) · {} = {}", key, sum, run_.problem.scale,
                       number((*step.S)[at(row)][at(col)]));
  }

  void maximum(Step& step, Index j) {
    step.phase = Phase::maximum;
    step.m_new = Column{};
    for (Index row = 0; row < kTile; ++row)
      (*step.m_new)[at(row)] = std::max({step.m[at(row)], (*step.S)[at(row)][0], (*step.S)[at(row)][1]});
    add(step, "The maximum takes in the scores of this tile.", [&](Index row) -> std::string {
      const double old = step.m[at(row)], now = (*step.m_new)[at(row)];
      if (now == -kInf) return "no key seen so far; the maximum stays −∞.";
      return old == now ? fmt::format("the maximum stays {}.", number(now))
                        : fmt::format("the maximum rises from {} to {}.", number(old), number(now));
    });
    const Index row = first_row([&](Index r) { return j > 0 && (*step.S)[at(r)] != Column{-kInf, -kInf}; });
    const double old = step.m[at(row)], now = (*step.m_new)[at(row)];
    const Column& S = (*step.S)[at(row)];
    ask(fmt::format("What is m_new of query {}?", query(row)), {now, "the maximum of all scores so far"},
        {{std::max(S[0], S[1]), "the maximum of this tile alone"},
         {old, "the maximum before this tile"},
         {S[1], "the last score"},
         {S[0], "the first score of the tile"}});
  }

  void rescale(Step& step) {
    step.phase = Phase::rescale;
    step.factor = Column{};
    const Column l_before = step.l;
    const Output O_before = step.O;
    for (Index row = 0; row < kTile; ++row) {
      const double factor = power(step.m[at(row)] - subtracted(step, row));
      (*step.factor)[at(row)] = factor;
      step.l[at(row)] *= factor;
      if (slip_ == Slip::output_not_rescaled) continue;
      for (double& o : step.O[at(row)]) o *= factor;
    }
    if (!recurs_rightly()) divide(step);
    const bool any_key = std::any_of(step.m.begin(), step.m.end(), [](double m) { return m != -kInf; });
    const bool forgotten = slip_ == Slip::output_not_rescaled;
    add(step,
        forgotten ? "The factor brings l to the new maximum. O is forgotten: it stays on the old one."
                  : std::string("The factor brings l and O to the new maximum.") +
                        (any_key ? " O / l is the same before and after: the factor cancels." : ""),
        [&](Index row) -> std::string {
          const double m = step.m[at(row)], m_new = (*step.m_new)[at(row)];
          if (m_new == -kInf)
            return "−∞ − (−∞) would be NaN. While m_new is −∞, 0 is subtracted in its place: the factor is "
                   "e^(−∞) = 0, and l and O stay 0.";
          if (m == -kInf)
            return fmt::format("the factor is {}^(−∞ − {}) = 0; l and O were 0 anyway.", base(),
                               after_sign(number(m_new)));
          if (m == m_new)
            return fmt::format("the maximum has stayed, so the factor is {}^0 = 1. l and O stay as they are.",
                               base());
          const std::string factor = number((*step.factor)[at(row)]);
          std::string told =
              fmt::format("the factor is {0}^({1} − {2}) = {0}^({3}) = {4}.\nl: {5} · {4} = {6}\n", base(),
                          number(m), after_sign(number(m_new)), number(m - m_new), factor,
                          number(l_before[at(row)]), number(step.l[at(row)]));
          return told + (forgotten ? fmt::format("O: {} stays", tuple(O_before[at(row)]))
                                   : fmt::format("O: {} · {} = {}", tuple(O_before[at(row)]), factor,
                                                 tuple(step.O[at(row)])));
        });
    ask_factor(step);
  }

  void ask_factor(const Step& step) {
    const auto scales = [&](Index r) { return (*step.factor)[at(r)] != 0 && (*step.factor)[at(r)] != 1; };
    const Index row = first_row(scales);
    const double m = step.m[at(row)], factor = (*step.factor)[at(row)];
    std::vector<Choice> wrong;
    if (scales(row)) wrong.push_back({1 / factor, "the inverse, e^(m_new − m)"});
    wrong.push_back({1, "right only where the maximum has stayed"});
    wrong.push_back({0, "as if nothing had been summed so far"});
    const char* why = m == -kInf ? "e^(m − m_new) with m = −∞, or 0 in the place of NaN" : "e^(m − m_new)";
    ask(fmt::format("By which factor are l and O of query {} multiplied?", query(row)), {factor, why}, wrong);
  }

  void weights(Step& step, Index j) {
    step.phase = Phase::weights;
    Scores& P = step.P.emplace();
    const Column l_before = step.l;
    const Output O_before = step.O;
    for (Index row = 0; row < kTile; ++row) {
      for (Index col = 0; col < kTile; ++col) {
        const double weight = power((*step.S)[at(row)][at(col)] - subtracted(step, row));
        P[at(row)][at(col)] = weight;
        step.l[at(row)] += weight;
        for (Index d = 0; d < kDim; ++d)
          step.O[at(row)][at(d)] += weight * static_cast<double>(run_.problem.V(0, 0, j * kTile + col, d));
      }
      step.m[at(row)] = (*step.m_new)[at(row)];
    }
    if (!recurs_rightly()) divide(step);
    const std::string head = fmt::format("P = {}^(S − m_new). Its sum goes into l, and P·V into O.", base());
    add(step, head, [&](Index row) -> std::string {
      if (sees_none(row, j)) return "every weight is 0; l and O stay as they are.";
      std::string l = number(l_before[at(row)]), O = number(O_before[at(row)][0]);
      for (Index col = 0; col < kTile; ++col) {
        const Index key = j * kTile + col;
        if (!sees(row, key)) continue;
        const std::string weight = number(P[at(row)][at(col)]);
        l += " + " + weight;
        O += " + " + weight + " · " + after_sign(input(static_cast<double>(run_.problem.V(0, 0, key, 0))));
      }
      return fmt::format("P = {}.\nl: {} = {}\nO, first number: {} = {}", row_of(P, row, j), l,
                         number(step.l[at(row)]), O, number(step.O[at(row)][0]));
    });
    const Index row = first_row([&](Index r) { return !sees_none(r, j); });
    const double sum = P[at(row)][0] + P[at(row)][1], factor = (*step.factor)[at(row)];
    std::vector<Choice> wrong;
    if (factor != 0) wrong.push_back({l_before[at(row)] / factor + sum, "l without the factor, and Σ P"});
    wrong.push_back({sum, "Σ P of this tile alone"});
    wrong.push_back({l_before[at(row)], "l as it was; this tile's weights are missing"});
    ask(fmt::format("What is l of query {} with this tile?", query(row)),
        {step.l[at(row)], "the rescaled l, and Σ P"}, wrong);
  }

  void store() {
    Step step = go_on(Phase::store, std::nullopt);
    step.lse = Column{};
    for (Index row = 0; row < kTile; ++row) {
      const double lse = step.m[at(row)] + std::log(step.l[at(row)]);
      (*step.lse)[at(row)] = lse;
      if (!recurs_rightly()) continue;
      const std::string where = fmt::format("query {}, all keys", query(row));
      require_near(lse, run_.kernel.lse(0, 0, query(row)), "lse of " + where);
      for (Index d = 0; d < kDim; ++d)
        require_near(step.result[at(row)][at(d)], run_.kernel.O(0, 0, query(row), d), "O / l of " + where);
    }
    const char* head = "All keys have passed. O / l and lse = m + log l are written to memory, once.";
    add(step, head, [&](Index row) {
      const std::string told = fmt::format(
          "O is divided by l = {}; lse = {} + {} = {}.", number(step.l[at(row)]), number(step.m[at(row)]),
          after_sign(number(std::log(step.l[at(row)]))), number((*step.lse)[at(row)]));
      return slip_ == Slip::none ? told : told + "\n" + right_results(row);
    });
    const double m = step.m[0], log_l = std::log(step.l[0]);
    ask(fmt::format("Which lse of query {} is stored?", query(0)), {(*step.lse)[0], "m + log l"},
        {{log_l, "log l, without m"}, {m + step.l[0], "m + l: the logarithm is missing"}});
  }

  std::string right_results(Index row) const {
    Output O{};
    for (Index d = 0; d < kDim; ++d) O[at(row)][at(d)] = run_.right.O(0, 0, query(row), d);
    return fmt::format("Right would be O / l = {} and lse = {}.", tuple(O[at(row)]),
                       number(run_.right.lse(0, 0, query(row))));
  }

  /// What the exponentials subtract: m_new, or 0 while no key has been seen.
  static double subtracted(const Step& step, Index row) {
    const double m_new = (*step.m_new)[at(row)];
    return m_new == -kInf ? 0 : m_new;
  }

  const Run& run_;
  Slip slip_;
  Index tile_;
  std::vector<Step>& steps_;
};

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
          {"sinks", {true, 2, 1}},
          {"tail", {}, kRows - 1},
          {"output_not_rescaled", {}, kRows, Slip::output_not_rescaled, "all"},
          {"tail_not_hidden", {}, kRows - 1, Slip::tail_not_hidden, "tail"},
          {"base_2", {}, kRows, Slip::base_2, "all"}};
}

Problem problem_of(const Setting& setting) {
  Problem p = problem();
  for (Index j = setting.keys; j < kRows; ++j)
    for (Index d = 0; d < kDim; ++d) p.K(0, 0, j, d) = p.V(0, 0, j, d) = 0.0f;
  return p;
}

bool counts(const Setting& setting, std::int64_t query, std::int64_t key) {
  return key < counted(setting) && reference::sees(setting.mask, query, key, kRows, kRows);
}

std::vector<Step> steps_of(const Setting& setting) {
  const Run run(setting);
  std::vector<Step> steps;
  for (Index i = 0; i < kTiles; ++i) Block(run, i, steps).walk();
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

}  // namespace course::steps
