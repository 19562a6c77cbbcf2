#include "steps/backward.hpp"

#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

#include "reference/attention_gradients.hpp"

namespace course::steps::backward {
namespace {

using Index = std::int64_t;
using Json = nlohmann::json;

/// What all blocks share.
struct Run {
  explicit Run(const Setting& setting)
      : mask(setting.mask),
        problem(backward::problem()),
        forward(reference::attention(problem.Q, problem.K, problem.V, problem.scale, mask)),
        gradients(reference::attention_gradients(forward, problem.Q, problem.K, problem.V, problem.dO,
                                                 problem.scale)) {}

  reference::Mask mask;
  Problem problem;
  reference::Attention forward;
  reference::AttentionGradients gradients;
};

double element(const Tensor<float>& x, Index row, Index d) { return static_cast<double>(x(0, 0, row, d)); }

/// "1 · 2 + 0.5 · (−1)": a dot product of inputs.
std::string product_of(const Tensor<float>& x, Index row, const Tensor<float>& y, Index other) {
  std::string sum;
  for (Index d = 0; d < kDim; ++d) {
    const std::string left = input(element(x, row, d)), right = after_sign(input(element(y, other, d)));
    sum += (d == 0 ? left : " + " + after_sign(left)) + " · " + right;
  }
  return sum;
}

double dot(const Tensor<float>& x, Index row, const Tensor<float>& y, Index other) {
  double sum = 0;
  for (Index d = 0; d < kDim; ++d) sum += element(x, row, d) * element(y, other, d);
  return sum;
}

std::string pair_of(const char* what, Index tile) {
  return fmt::format("{} {} and {}", what, tile * kTile, tile * kTile + 1);
}

/// The steps of one run, which the three kernels add to.
class Walk {
 public:
  explicit Walk(const Setting& setting) : run_(setting) {
    for (Index i = 0; i < kTiles; ++i) delta_block(i);
    for (Index j = 0; j < kTiles; ++j) keys_block(j);
    for (Index i = 0; i < kTiles; ++i) queries_block(i);
  }

  std::vector<Step> steps() && { return std::move(steps_); }

 private:
  bool sees(Index query, Index key) const { return reference::sees(run_.mask, query, key, kRows, kRows); }

  bool needed(Index query_tile, Index key_tile) const {
    for (Index i = query_tile * kTile; i < (query_tile + 1) * kTile; ++i)
      for (Index j = key_tile * kTile; j < (key_tile + 1) * kTile; ++j)
        if (sees(i, j)) return true;
    return false;
  }

  void add(Step step, Phase phase, std::vector<std::string> says) {
    step.phase = phase;
    step.says = std::move(says);
    steps_.push_back(std::move(step));
  }

  void ask(const std::string& text, const Choice& right, const std::vector<Choice>& wrong) {
    steps_.back().asks = question(text, right, wrong);
  }

  // --- delta = rowsum(dO ∘ O) ---

  void delta_block(Index i) {
    Step step{};
    step.kernel = Kernel::delta;
    step.query_tile = i;
    Column& delta = step.delta.emplace();
    std::vector<std::string> says{"delta = Σ dO · O along each row: one number for each query."};
    for (Index row = 0; row < kTile; ++row) {
      const Index query = i * kTile + row;
      std::string sum;
      for (Index d = 0; d < kDim; ++d) {
        const double up = element(run_.problem.dO, query, d), O = run_.forward.O(0, 0, query, d);
        delta[at(row)] += up * O;
        const std::string left = input(up);
        sum += (d == 0 ? left : " + " + after_sign(left)) + " · " + after_sign(number(O));
      }
      require_near(delta[at(row)], run_.gradients.D(0, 0, query), fmt::format("delta of query {}", query));
      says.push_back(fmt::format("Query {}: {} = {}", query, sum, number(delta[at(row)])));
    }
    const double right = delta[0];
    double of_O = 0, of_dO = 0;
    for (Index d = 0; d < kDim; ++d) {
      of_O += run_.forward.O(0, 0, i * kTile, d) * run_.forward.O(0, 0, i * kTile, d);
      of_dO += element(run_.problem.dO, i * kTile, d);
    }
    add(step, Phase::delta, std::move(says));
    ask(fmt::format("What is delta of query {}?", i * kTile), {right, "Σ dO · O"},
        {{of_O, "Σ O · O"}, {of_dO, "Σ dO, without O"}});
  }

  // --- what both other kernels compute of a pair of tiles ---

  void load_queries(Step& step, Index i) const {
    step.query_tile = i;
    step.lse.emplace();
    step.delta.emplace();
    for (Index row = 0; row < kTile; ++row) {
      (*step.lse)[at(row)] = run_.forward.lse(0, 0, i * kTile + row);
      (*step.delta)[at(row)] = run_.gradients.D(0, 0, i * kTile + row);
    }
  }

  /// The first pair of a query and a key of the tiles that see each other, as rows of their tiles.
  std::pair<Index, Index> first_pair(const Step& step) const {
    for (Index row = 0; row < kTile; ++row)
      for (Index col = 0; col < kTile; ++col)
        if (sees(*step.query_tile * kTile + row, *step.key_tile * kTile + col)) return {row, col};
    throw std::logic_error("no query of the tile sees a key");
  }

  void weights(Step& step) {
    const Index i = *step.query_tile, j = *step.key_tile;
    Tile &S = step.S.emplace(), &P = step.P.emplace();
    for (Index row = 0; row < kTile; ++row)
      for (Index col = 0; col < kTile; ++col) {
        S[at(row)][at(col)] = run_.forward.S(0, 0, i * kTile + row, j * kTile + col);
        P[at(row)][at(col)] = std::exp(S[at(row)][at(col)] - (*step.lse)[at(row)]);
      }
    const auto [row, col] = first_pair(step);
    const Index query = i * kTile + row, key = j * kTile + col;
    const double s = S[at(row)][at(col)], lse = (*step.lse)[at(row)], p = P[at(row)][at(col)];
    add(step, Phase::weights,
        {"S = Q·Kᵀ · scale once more, and P = e^(S − lse): no maximum and no sum, lse has both.",
         fmt::format("Query {}, key {}: ({}) · {} = {}\nP: e^({} − {}) = {}", query, key,
                     product_of(run_.problem.Q, query, run_.problem.K, key), run_.problem.scale, number(s),
                     number(s), after_sign(number(lse)), number(p))});
    ask(fmt::format("What is P of query {} and key {}?", query, key), {p, "e^(S − lse)"},
        {{std::exp(s), "e^S, without lse"}, {std::exp(lse - s), "the inverse, e^(lse − S)"}});
  }

  void gradients(Step& step) {
    const Index i = *step.query_tile, j = *step.key_tile;
    Tile &dP = step.dP.emplace(), &dS = step.dS.emplace();
    for (Index row = 0; row < kTile; ++row)
      for (Index col = 0; col < kTile; ++col) {
        dP[at(row)][at(col)] = dot(run_.problem.dO, i * kTile + row, run_.problem.V, j * kTile + col);
        dS[at(row)][at(col)] = (*step.P)[at(row)][at(col)] * (dP[at(row)][at(col)] - (*step.delta)[at(row)]);
      }
    const auto [row, col] = first_pair(step);
    const Index query = i * kTile + row, key = j * kTile + col;
    const double p = (*step.P)[at(row)][at(col)], up = dP[at(row)][at(col)], delta = (*step.delta)[at(row)];
    const double right = dS[at(row)][at(col)];
    add(step, Phase::gradients,
        {"dP = dO·Vᵀ, and dS = P ∘ (dP − delta): the gradient of the softmax, a row at a time.",
         fmt::format("Query {}, key {}: dP = {} = {}\ndS: {} · ({} − {}) = {}", query, key,
                     product_of(run_.problem.dO, query, run_.problem.V, key), number(up), number(p),
                     number(up), after_sign(number(delta)), number(right))});
    ask(fmt::format("What is dS of query {} and key {}?", query, key), {right, "P · (dP − delta)"},
        {{p * up, "P · dP, without delta"}, {up - delta, "dP − delta, without P"}});
  }

  /// sum += Σ weights(k) · rows(k), with its first number written out.
  void accumulate(Step& step, Phase phase, Rows& sum, const char* name, const std::string& head,
                  const std::function<double(Index row, Index k)>& weight, const Tensor<float>& x,
                  Index first_row, Index first_k) {
    const Rows before = sum;
    for (Index row = 0; row < kTile; ++row)
      for (Index k = 0; k < kTile; ++k)
        for (Index d = 0; d < kDim; ++d) sum[at(row)][at(d)] += weight(row, k) * element(x, first_k + k, d);
    std::string told = number(before[0][0]);
    double exchanged = before[0][0];  // the same with the tile's rows for its columns
    for (Index k = 0; k < kTile; ++k) {
      told +=
          " + " + after_sign(number(weight(0, k))) + " · " + after_sign(input(element(x, first_k + k, 0)));
      exchanged += weight(k, 0) * element(x, first_k + k, 0);
    }
    const double right = sum[0][0];
    add(step, phase, {head, fmt::format("Row {}, first number: {} = {}", first_row, told, number(right))});
    ask(fmt::format("What is the first number of {} in row {} now?", name, first_row),
        {right, "the sum so far, and this tile's part"},
        {{right - before[0][0], "this tile's part alone"},
         {exchanged, "what the tile gives if it is not transposed as it should be"}});
  }

  /// A sum that is complete: times `scale`, it has to be the reference's.
  Rows stored(const Rows& sum, double scale, const Tensor<double>& expected, const char* name,
              Index tile) const {
    Rows result = sum;
    for (Index row = 0; row < kTile; ++row)
      for (Index d = 0; d < kDim; ++d) {
        result[at(row)][at(d)] *= scale;
        require_near(result[at(row)][at(d)], expected(0, 0, tile * kTile + row, d),
                     fmt::format("{} of row {}", name, tile * kTile + row));
      }
    return result;
  }

  std::string scaled(const char* name, Index row, const Rows& before, const Rows& after) const {
    return fmt::format("{} of row {}: {} · {} = {}", name, row, tuple(before[0]), run_.problem.scale,
                       tuple(after[0]));
  }

  void ask_scaled(const char* name, Index row, const Rows& before, const Rows& after) {
    ask(fmt::format("Which first number of {} in row {} is stored?", name, row),
        {after[0][0], "the sum times the scale"},
        {{before[0][0], "the sum without the scale"},
         {after[0][0] * run_.problem.scale, "with the scale twice"}});
  }

  void skip(Step step, Index i, Index j) {
    step.query_tile = i;
    step.key_tile = j;
    add(std::move(step), Phase::skip,
        {fmt::format(
            "Skipped: none of {} sees a key of this pair of tiles. Nothing is loaded, and the sums stay.",
            pair_of("queries", i))});
  }

  // --- dK and dV of a tile of keys ---

  void keys_block(Index j) {
    Step block{};
    block.kernel = Kernel::keys;
    block.key_tile = j;
    block.dV.emplace();
    block.dK.emplace();
    add(block, Phase::load,
        {fmt::format("The block keeps {} with their values. dK = 0 and dV = 0.", pair_of("keys", j))});
    for (Index i = 0; i < kTiles; ++i) {
      if (!needed(i, j)) {
        skip(block, i, j);
        continue;
      }
      Step step = block;
      load_queries(step, i);
      weights(step);
      gradients(step);
      accumulate(
          step, Phase::dV, *step.dV, "dV", "dV += Pᵀ·dO: the sum runs over the queries of the tile.",
          [&](Index key, Index query) { return (*step.P)[at(query)][at(key)]; }, run_.problem.dO, j * kTile,
          i * kTile);
      accumulate(
          step, Phase::dK, *step.dK, "dK", "dK += dSᵀ·Q: the sum runs over the queries of the tile.",
          [&](Index key, Index query) { return (*step.dS)[at(query)][at(key)]; }, run_.problem.Q, j * kTile,
          i * kTile);
      block.dV = step.dV;
      block.dK = step.dK;
    }
    const Rows sum = *block.dK;
    block.dV = stored(*block.dV, 1, run_.gradients.dV, "dV", j);
    block.dK = stored(sum, run_.problem.scale, run_.gradients.dK, "dK", j);
    add(block, Phase::store,
        {"All queries have passed. dV is stored as it is; dK lacks the scale that S has.",
         scaled("dK", j * kTile, sum, *block.dK)});
    ask_scaled("dK", j * kTile, sum, *block.dK);
  }

  // --- dQ of a tile of queries ---

  void queries_block(Index i) {
    Step block{};
    block.kernel = Kernel::queries;
    load_queries(block, i);
    block.dQ.emplace();
    add(block, Phase::load,
        {fmt::format("Another kernel: the block keeps {} with their dO, lse and delta. dQ = 0.",
                     pair_of("queries", i))});
    for (Index j = 0; j < kTiles; ++j) {
      if (!needed(i, j)) {
        skip(block, i, j);
        continue;
      }
      Step step = block;
      step.key_tile = j;
      weights(step);
      gradients(step);
      accumulate(
          step, Phase::dQ, *step.dQ, "dQ", "dQ += dS·K: the sum runs over the keys of the tile.",
          [&](Index query, Index key) { return (*step.dS)[at(query)][at(key)]; }, run_.problem.K, i * kTile,
          j * kTile);
      block.dQ = step.dQ;
    }
    const Rows sum = *block.dQ;
    block.dQ = stored(sum, run_.problem.scale, run_.gradients.dQ, "dQ", i);
    add(block, Phase::store,
        {"All keys have passed. dQ lacks the scale that S has.", scaled("dQ", i * kTile, sum, *block.dQ)});
    ask_scaled("dQ", i * kTile, sum, *block.dQ);
  }

  Run run_;
  std::vector<Step> steps_;
};

const char* name_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::delta:
      return "delta";
    case Kernel::keys:
      return "keys";
    case Kernel::queries:
      return "queries";
  }
  throw std::logic_error("no such kernel");
}

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::delta:
      return "delta";
    case Phase::load:
      return "load";
    case Phase::weights:
      return "weights";
    case Phase::gradients:
      return "gradients";
    case Phase::dV:
      return "dV";
    case Phase::dK:
      return "dK";
    case Phase::dQ:
      return "dQ";
    case Phase::store:
      return "store";
    case Phase::skip:
      return "skip";
  }
  throw std::logic_error("no such phase");
}

Json json_of_step(const Step& step) {
  return {{"kernel", name_of(step.kernel)},
          {"phase", name_of(step.phase)},
          {"query_tile", step.query_tile ? Json(*step.query_tile) : Json()},
          {"key_tile", step.key_tile ? Json(*step.key_tile) : Json()},
          {"lse", json_of(step.lse)},
          {"delta", json_of(step.delta)},
          {"S", json_of(step.S)},
          {"P", json_of(step.P)},
          {"dP", json_of(step.dP)},
          {"dS", json_of(step.dS)},
          {"dV", json_of(step.dV)},
          {"dK", json_of(step.dK)},
          {"dQ", json_of(step.dQ)},
          {"says", step.says},
          {"asks", json_of(step.asks)}};
}

}  // namespace

Problem problem() {
  return {Tensor<float>::from({1, 1, kRows, kDim}, {1.0f, 2.0f, -1.0f, 1.0f, 2.0f, 0.0f, 0.5f, -1.0f}),
          Tensor<float>::from({1, 1, kRows, kDim}, {1.0f, 0.0f, -1.0f, 1.0f, 0.5f, 1.0f, 2.0f, -1.0f}),
          Tensor<float>::from({1, 1, kRows, kDim}, {2.0f, 0.0f, 0.0f, 1.0f, -1.0f, 3.0f, 1.0f, -2.0f}),
          Tensor<float>::from({1, 1, kRows, kDim}, {1.0f, -1.0f, 0.5f, 2.0f, -1.0f, 1.0f, 2.0f, 0.5f}), 0.5};
}

std::vector<Setting> settings() { return {{"all"}, {"causal", {.causal = true}}}; }

std::vector<Step> steps_of(const Setting& setting) { return Walk(setting).steps(); }

Json data() {
  const Problem p = problem();
  Json all{{"rows", kRows},    {"dim", kDim},        {"tile", kTile},
           {"scale", p.scale}, {"Q", matrix(p.Q)},   {"K", matrix(p.K)},
           {"V", matrix(p.V)}, {"dO", matrix(p.dO)}, {"settings", Json::array()}};
  for (const Setting& setting : settings()) {
    Json sees = Json::array(), steps = Json::array(), delta = Json::array();
    for (Index i = 0; i < kRows; ++i) {
      Json row = Json::array();
      for (Index j = 0; j < kRows; ++j) row.push_back(reference::sees(setting.mask, i, j, kRows, kRows));
      sees.push_back(std::move(row));
    }
    for (const Step& step : steps_of(setting)) steps.push_back(json_of_step(step));
    const Run run(setting);
    for (Index i = 0; i < kRows; ++i) delta.push_back(run.gradients.D(0, 0, i));
    all["settings"].push_back({{"name", setting.name},
                               {"sees", std::move(sees)},
                               {"steps", std::move(steps)},
                               {"O", matrix(run.forward.O)},
                               {"delta", std::move(delta)},
                               {"dQ", matrix(run.gradients.dQ)},
                               {"dK", matrix(run.gradients.dK)},
                               {"dV", matrix(run.gradients.dV)}});
  }
  return all;
}

}  // namespace course::steps::backward
