// Tests of lesson 18: attention_forward and attention_backward with dropout against float64, within twice the
// error of plain float32 programs. Which weights are dropped is computed here once more.

#include "18_dropout/dropout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attention/drawn.hpp"
#include "attention/dropout.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr std::uint64_t kSeed = 0x0123456789abcdefu;  // both halves count

Problem dropped(const Problem& p, float dropout, std::uint64_t seed = kSeed) {
  return attention_tests::dropped(p, dropout, seed, decision_of);
}

// --- Which mistake with dropout explains a wrong result ---

/// What comes of hiding the weights that are to be dropped: a softmax over those that are left.
Forward64 hidden_instead(const Problem& p) {
  const reference::Attention right = attention_of(p);
  Forward64 wrong = expected_of(right);
  const Int D = p.D();
  for (Int row = 0; row < wrong.lse.numel(); ++row) {
    double dropped_sum = 0;
    for (Int j = 0; j < p.Nk(); ++j)
      if (p.dropout->factors.at_linear(row * p.Nk() + j) == 0.0f)
        dropped_sum += right.P.at_linear(row * p.Nk() + j);
    wrong.lse.at_linear(row) += std::log(1 - dropped_sum);
    for (Int d = 0; d < D; ++d) wrong.O.at_linear(row * D + d) /= 1 - dropped_sum;
  }
  return wrong;
}

Mistakes own_forward(const Problem& p, Which which) {
  Mistakes found;
  if (!p.dropout || p.dropout->p == 0.0f) return found;
  if (which == Which::lse) {
    found.push_back(gives(
        "dropped_in_l", [&p] { return hidden_instead(p).lse; },
        "lse is that of the weights that are kept. Dropout comes after the softmax: l and lse know nothing "
        "of it."));
    return found;
  }
  for (WrongFactors& one : wrong_factors(p))
    found.push_back(gives(
        one.name,
        [&p, factors = std::move(one.factors)] {
          Problem wrong = p;
          wrong.dropout->factors = factors;
          return attention_of(wrong).O;
        },
        std::move(one.sentence)));
  return found;
}

Tensor<double> scaled_delta(const BackwardProblem& p) {
  Tensor<double> delta({p.B(), p.H(), p.Nq()});
  const Tensor<float> dO = p.dO.contiguous();
  for (Int n = 0; n < p.exact.O.numel(); ++n)
    delta.at_linear(n / p.D()) += static_cast<double>(dO.at_linear(n)) * p.exact.O.at_linear(n) /
                                  (1 - static_cast<double>(p.dropout->p));
  return delta;
}

Mistakes own_backward(const BackwardProblem& p, Gradient which) {
  Mistakes found;
  if (!p.dropout || p.dropout->p == 0.0f || which == Gradient::dsink) return found;
  if (which == Gradient::delta) {
    found.push_back(gives(
        "delta_scaled", [&p] { return scaled_delta(p); },
        "delta is multiplied by 1/(1 - dropout), which O holds already: delta is rowsum(dO ∘ O)."));
    return found;
  }
  for (WrongFactors& one : wrong_factors(p))
    if (std::string(one.name) != "nothing_dropped")  // has a name already
      found.push_back(deviation(one.name, p, which, {.factors = std::move(one.factors)}, one.sentence));
  if (p.B() * p.H() == 1 && which != Gradient::dV) {
    const Tensor<float>& factors = p.dropout->factors;
    found.push_back(deviation(
        "dropped_is_hidden", p, which,
        {.sees = [&p, &factors](Int i,
                                Int j) { return p.sees(i, j) && factors.at_linear(i * p.Nk() + j) != 0.0f; }},
        "What is dropped has dS = 0 here, as if it were hidden. Its dP is 0, and its dS is "
        "-P · delta."));
  }
  return found;
}

// --- Calls ---

constexpr Takes kTakes{
    .causal = Causal::choice, .window = true, .sinks = true, .sink_array = true, .grouped = true};

float dropout_of(const Problem& p) { return p.dropout ? p.dropout->p : 0.0f; }
std::uint64_t seed_of(const Problem& p) { return p.dropout ? p.dropout->seed : kSeed; }

Kernel forward_kernel() {
  Kernel kernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                  const auto call = [&](const auto& sink) {
                    return call_with(options, ENTRY(attention_forward), in(p.Q, "Q"), in(p.K, "K"),
                                     in(p.V, "V"), sink, out(got.O, "O"), out(got.lse, "lse"), p.scale,
                                     p.mask.causal, p.mask.window, p.mask.sinks, dropout_of(p), seed_of(p));
                  };
                  return p.sink ? call(in(*p.sink, "sink")) : call(null());
                },
                {Which::lse, Which::O},
                own_forward};
  kernel.grouped = true;
  kernel.load_limit = keys_read_for(64);
  kernel.stores_once = true;
  return kernel;
}
const Kernel kForward = forward_kernel();

const BackwardKernel kBackward{
    .attend_backward =
        [](const BackwardProblem& p, Backward& got, const CallOptions& options) {
          const auto call = [&](const auto& sink, const auto& dsink) {
            return call_with(options, ENTRY(attention_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                             sink, in(p.O, "O"), in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"),
                             out(got.dQ, "dQ"), out(got.dK, "dK"), out(got.dV, "dV"), dsink, p.scale,
                             p.mask.causal, p.mask.window, p.mask.sinks, dropout_of(p), seed_of(p));
          };
          return p.sink ? call(in(*p.sink, "sink"), out(got.dsink, "dsink")) : call(null(), null());
        },
    .takes = kTakes,
    .own_mistakes = own_backward,
    .load_limit = tensors_read_for(64),
    .stores_once = true};

constexpr CallOptions unchecked() {
  CallOptions options;
  options.check = CheckMode::never;
  return options;
}

/// Forward and backward, without check mode: once for each kind of call is enough.
void check_forward(const Problem& p, TestLine where = TestLine::here()) {
  check(kForward, p, unchecked(), where);
}
void check_both(const Problem& p, TestLine where = TestLine::here()) {
  check_forward(p, where);
  check_values(kBackward, p, where);
}

Forward forward_of(const Problem& p) {
  Forward got = results_of(p);
  require_ran(kForward.attend(p, got, unchecked()));
  return got;
}
Backward backward_of(const BackwardProblem& p) {
  Backward got = results_of(p);
  require_ran(kBackward.attend_backward(p, got, unchecked()));
  return got;
}

// --- Problems ---

/// @brief Two queries and two keys with weights 1/2 and 1/2, 1/4 and 3/4. With dropout = 1/2, seed 19 drops
/// the second weight, and no other.
Problem problem_of_the_notes() {
  return dropped({Tensor<float>::from({1, 1, 2, 2}, {2, 0, 0, 2}),
                  Tensor<float>::from({1, 1, 2, 2}, {2, 0, 2, std::log(3.0f)}),
                  Tensor<float>::from({1, 1, 2, 2}, {4, 0, 2, 6}), 0.5f},
                 0.5f, 19);
}

const reference::Mask kMask{.causal = true, .window = 30, .sinks = 3};

// --- What was dropped, read off the results ---

constexpr Int kShown = 64;  // queries, keys and dimensions
constexpr float kShownDropout = 0.25f;

/// Which weights were kept, of shape (2, 2, kShown, kShown): batch, head, query, key.
using Kept = Tensor<char>;

/// For each of 2 batches and 2 heads.
Tensor<float> ones() { return Tensor<float>({2, 2, kShown, kShown}, 1.0f); }
Tensor<float> identities() {
  Tensor<float> x({2, 2, kShown, kShown});
  for (Int n = 0; n < 4 * kShown; ++n) x.at_linear(n * kShown + n % kShown) = 1.0f;
  return x;
}

/// All scores are 0, so that every weight is 1/kShown. K is the identity.
Problem problem_that_shows(Tensor<float> V, std::uint64_t seed) {
  return dropped({Tensor<float>({2, 2, kShown, kShown}), identities(), std::move(V), 1.0f}, kShownDropout,
                 seed);
}

Kept positive(const Tensor<float>& x) {
  Kept kept(x.shape());
  for (Int n = 0; n < x.numel(); ++n) kept.at_linear(n) = x.at_linear(n) > 0.0f;
  return kept;
}

/// V is the identity, so that O is P ∘ Z.
Kept kept_forward(std::uint64_t seed) {
  return positive(forward_of(problem_that_shows(identities(), seed)).O);
}

struct KeptBackward {
  Kept by_dV, by_dQ;
};

/// dO is the identity, so that dV is (P ∘ Z)ᵀ. V is 1, so that dP is Z, and dQ = dS·K = (Z - delta)/kShown:
/// less than 0 where Z is 0, since delta, a mean of Z, is near 1.
KeptBackward kept_backward(std::uint64_t seed) {
  const Backward got = backward_of(with_gradient(problem_that_shows(ones(), seed), identities()));
  return {positive(got.dV.transposed(2, 3)), positive(got.dQ)};
}

/// @brief Fails the case unless the fates of two weights have as little to do with each other as chance
/// gives. The pairs are those of one in `x` and one in `y`, `step` farther along an axis; no weight is in
/// two. Alike are two with probability p² + (1 - p)². Of n independent pairs, the share of those that are
/// alike has a standard deviation of sqrt(q · (1 - q) / n), and may be five of these off.
void require_independent(const Kept& x, const Kept& y, std::size_t axis, Int step, const char* neighbours) {
  Int pairs = 0, alike = 0;
  std::array<Int, 4> at{};
  auto& [b, h, i, j] = at;
  for (b = 0; b < 2; ++b)
    for (h = 0; h < 2; ++h)
      for (i = 0; i < kShown; ++i)
        for (j = 0; j < kShown; ++j) {
          if (step > 0 && at[axis] / step % 2 == 1) continue;
          std::array<Int, 4> other = at;
          other[axis] += step;
          ++pairs, alike += x(b, h, i, j) == y(other[0], other[1], other[2], other[3]) ? 1 : 0;
        }
  const double p = kShownDropout, q = p * p + (1 - p) * (1 - p), n = static_cast<double>(pairs);
  const double share = static_cast<double>(alike) / n, bound = 5 * std::sqrt(q * (1 - q) / n);
  require(std::abs(share - q) <= bound,
          fmt::format("Of {} pairs of weights, of {}, {:.1f} % are dropped or kept together. If they were "
                      "independent, it would be {:.1f} %, and hardly ever {:.1f} % more or less.",
                      pairs, neighbours, 100 * share, 100 * q, 100 * bound));
}

/// The first weight that two kernels do not agree on.
void require_same(const Kept& kept, const Kept& forward, const char* who) {
  Int wrong = 0;
  std::string first;
  for (Int n = 0; n < kept.numel(); ++n) {
    if (kept.at_linear(n) == forward.at_linear(n)) continue;
    if (wrong++ == 0)
      first = fmt::format("query {}, key {}, head {}, batch {}: {} there, {} in the forward pass",
                          n / kShown % kShown, n % kShown, n / kShown / kShown % 2, n / kShown / kShown / 2,
                          kept.at_linear(n) ? "kept" : "dropped", forward.at_linear(n) ? "kept" : "dropped");
  }
  require(wrong == 0,
          fmt::format("{} comes from other weights than O: {} of {} have another fate. The first is {}.", who,
                      wrong, kept.numel(), first));
}

}  // namespace

// --- Forward ---

TEST_CASE("drops one weight of the notes' example, and doubles the others", "[l18][dropout][points:2]") {
  const Problem p = problem_of_the_notes();
  check(kForward, p);
  const Forward got = forward_of(p);
  const Tensor<float> O = Tensor<float>::from({1, 1, 2, 2}, {4, 0, 5, 9});
  require_matches(got.O, "O", O.to<double>(), O, Bound{.floor = 4e-6});
  const Tensor<double> lse = Tensor<double>::from({1, 1, 2}, {2 + std::log(2.0), std::log(4.0)});
  require_matches(got.lse, "lse", lse, lse.to<float>(), Bound{.floor = 1e-6});
  check_forward(dropped(random_problem({1, 1, 2, 2, 2}), 0.5f, 19));  // which no kernel has by heart
}

TEST_CASE("leaves the mean of O as it is: with query 1 of the notes, (2.5, 4.5)",
          "[l18][dropout][points:1]") {
  constexpr Int kQueries = 512;
  Problem p = problem_of_the_notes();
  p.Q = Tensor<float>({1, 1, kQueries, 2});
  for (Int i = 0; i < kQueries; ++i) p.Q(0, 0, i, 1) = 2.0f;
  const Forward got = forward_of(dropped(p, 0.5f));
  double sums[2] = {0, 0}, zeros = 0;
  for (Int i = 0; i < kQueries; ++i) {
    for (int d = 0; d < 2; ++d) sums[d] += static_cast<double>(got.O(0, 0, i, d));
    if (got.O(0, 0, i, 0) == 0.0f) ++zeros;
  }
  require(std::abs(zeros / kQueries - 0.25) <= 5 * std::sqrt(0.25 * 0.75 / kQueries),
          fmt::format(
              "Both keys are dropped for {:.1f} % of {} queries. Each is dropped in half of the cases, so "
              "that it should be about 25 %.",
              100 * zeros / kQueries, kQueries));
  // O is 0, (2, 0), (3, 9) or (5, 9), each with probability 1/4: variances of 3.25 and 20.25.
  const double mean[2] = {2.5, 4.5}, deviation_of_one[2] = {std::sqrt(3.25), 4.5};
  for (int d = 0; d < 2; ++d) {
    const double bound = 5 * deviation_of_one[d] / std::sqrt(double{kQueries}), is = sums[d] / kQueries;
    require(std::abs(is - mean[d]) <= bound,
            fmt::format(
                "The mean of O[0, 0, i, {}] over {} queries that are alike is {:.2f}. Without dropout it is "
                "{}, and with it hardly ever {:.2f} more or less.",
                d, kQueries, is, mean[d], bound));
  }
}

TEST_CASE("drops the weights whose words are below the threshold, whatever the probability",
          "[l18][dropout][points:2]") {
  for (const float dropout : {0.1f, 0.25f, 0.5f, 0.9f, 0.999f, 1.0f - 0x1p-24f})
    check_forward(dropped(random_problem({1, 1, 37, 70, 3}), dropout));
}

namespace {

/// Checks a problem whose dropout · 2³² lies so far above one of the words, one for which that is a float32.
void check_above_a_word(double above, const std::function<bool(std::uint32_t)>& wanted,
                        TestLine where = TestLine::here()) {
  constexpr Int kQueries = 37, kKeys = 70;
  for (Int n = 0; n < kQueries * kKeys; ++n) {
    const std::uint32_t word = word_of(decision_of(0, 0, n / kKeys, n % kKeys), kSeed);
    if (!wanted(word)) continue;
    const auto dropout = static_cast<float>(std::ldexp(word + above, -32));
    require(std::ldexp(double{dropout}, 32) == word + above,
            "The probability has more digits than a float32.");
    return check_both(dropped(random_problem({1, 1, kQueries, kKeys, 3}), dropout), where);
  }
  FAIL("None of the words is as wanted: this case needs another seed.");
}

}  // namespace

TEST_CASE("compares words with the threshold to the last bit", "[l18][dropout][points:1]") {
  check_above_a_word(0, [](std::uint32_t word) { return word % 256 == 0; });  // kept: it is the threshold
  // Dropped, by 1: neither as float32 nor by its upper 24 bits is it less.
  check_above_a_word(
      1, [](std::uint32_t word) { return word >> 26 != 0 && word >> 31 == 0 && word % 256 == 127; });
  check_above_a_word(0.5, [](std::uint32_t word) { return word >> 23 == 0; });  // kept: it is rounded down to
}

TEST_CASE("decides for each head and each batch anew", "[l18][dropout][points:1]") {
  check_forward(dropped(random_problem({2, 3, 70, 9, 3}), 0.3f));
  check_forward(dropped(random_problem({1, 3, 9, 21, 3}), 0.3f));
  check_forward(dropped(random_problem({3, 1, 9, 21, 3}), 0.3f));
}

TEST_CASE("decides for each of many queries and keys anew", "[l18][dropout][points:1]") {
  check_forward(dropped(random_problem({1, 1, 300, 4, 1}), 0.3f));
  check_forward(dropped(random_problem({1, 1, 4, 1100, 1}), 0.3f));
}

TEST_CASE("decides for each head of Q, also where several read the same keys", "[l18][dropout][points:1]") {
  check_forward(dropped(random_problem({2, 4, 9, 21, 3, 2}), 0.3f));
  check_forward(dropped(random_problem({1, 6, 9, 21, 3, 2}), 0.3f));
}

TEST_CASE("takes seeds of 64 bits, and drops other weights with each", "[l18][dropout][points:1]") {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 32, ~std::uint64_t{0}})
    check_forward(dropped(random_problem({1, 2, 9, 21, 3}), 0.4f, seed));
}

TEST_CASE("drops a quarter of the weights, and no two for the same reason", "[l18][dropout][points:1]") {
  const Kept kept = kept_forward(kSeed);
  // The share of n independent weights has a standard deviation of sqrt(p · (1 - p) / n).
  const double p = kShownDropout, n = static_cast<double>(kept.numel());
  const double share = static_cast<double>(std::ranges::count(kept.storage(), 0)) / n;
  const double bound = 5 * std::sqrt(p * (1 - p) / n);
  require(
      std::abs(share - p) <= bound,
      fmt::format("{:.1f} % of {} weights are dropped. With dropout = {} it should be {} %, and hardly ever "
                  "{:.1f} % more or less.",
                  100 * share, kept.numel(), p, 100 * p, 100 * bound));
  require_independent(kept, kept, 0, 1, "the same query and key in two batches");
  require_independent(kept, kept, 1, 1, "the same query and key in two heads");
  require_independent(kept, kept, 2, 1, "neighbouring queries and the same key");
  for (const Int step : {1, 2, 4}) require_independent(kept, kept, 3, step, "the same query and keys nearby");
  require_independent(kept, kept_forward(kSeed + 1), 0, 0, "the same place with neighbouring seeds");
  require_independent(kept, kept_forward(kSeed + (std::uint64_t{1} << 32)), 0, 0,
                      "the same place with seeds that differ in bit 32");
}

TEST_CASE("gives what nothing is dropped from the same bits as an ordinary pass, whatever the seed",
          "[l18][dropout][points:2]") {
  check_both(dropped(random_problem({1, 1, 5, 9, 3}), 0.5f));
  // With one key and a score of 0, the weight is 1: O is V, and dV is dO.
  Problem one = random_problem({1, 1, 1, 1, 7});
  one.Q = Tensor<float>({1, 1, 1, 7});
  const BackwardProblem one_back = with_gradient(one);
  require_same_bits(forward_of(one).O, one.V, "O");
  require_same_bits(backward_of(one_back).dV, one_back.dO, "dV");
  // In sizes that no kernel knows beforehand. 2⁻⁴⁰ of 2³² words is less than one word, and 1/(1 - 2⁻⁴⁰)
  // rounds to 1.
  Random random(case_seed());
  for (const Int D : {random.integer(1, 64), random.integer(65, 128)}) {
    Problem p = of_many_tiles(D, random);
    if (D > 64) p.mask.window = random.integer(70, 120), p.mask.sinks = random.integer(0, 9);
    const BackwardProblem plain = with_gradient(p);
    check_both(p);
    const Forward all = forward_of(p);
    const Backward gradients = backward_of(plain);
    for (const float dropout : {0.0f, 0x1p-40f}) {
      BackwardProblem q = plain;
      q.dropout = Dropout{dropout, random.bits()};
      if (D <= 64) q.mask = masks_that_hide_no_more(p).front();
      INFO(describe(p) << ", dropout = " << dropout << ", seed = " << q.dropout->seed
                       << ", window = " << q.mask.window);
      const Forward got = forward_of(q);
      for (const Which which : {Which::lse, Which::O})
        require_same_bits(got.of(which), all.of(which), name_of(which));
      const Backward got_back = backward_of(q);
      for (const Gradient which : outputs_of(kBackward, plain))
        require_same_bits(got_back.of(which), gradients.of(which), name_of(which));
    }
  }
}

TEST_CASE("gives the gradients of the notes' example: the dropped weight has its part in dS",
          "[l18][dropout][points:2]") {
  const BackwardProblem p =
      with_gradient(problem_of_the_notes(), Tensor<float>::from({1, 1, 2, 2}, {1, 1, 1, 2}));
  check(kBackward, p);
  const Backward got = backward_of(p);
  const auto require_is = [&](Gradient which, const Tensor<double>& expected) {
    require_matches(got.of(which), name_of(which), expected, expected.to<float>(), Bound{.floor = 4e-6});
  };
  const double ln_3 = std::log(3.0);
  require_is(Gradient::delta, Tensor<double>::from({1, 1, 2}, {4, 23}));
  require_is(Gradient::dV, Tensor<double>::from({1, 1, 2, 2}, {1.5, 2, 1.5, 3}));
  require_is(Gradient::dK, Tensor<double>::from({1, 1, 2, 2}, {2, -3.75, -2, 3.75}));
  require_is(Gradient::dQ, Tensor<double>::from({1, 1, 2, 2}, {0, -ln_3, 0, 1.875 * ln_3}));
  check_values(kBackward,
               dropped(random_problem({1, 1, 2, 2, 2}), 0.5f, 19));  // which no kernel has by heart
}

TEST_CASE("asks three kernels the same question, and gets the same answers", "[l18][dropout][points:1]") {
  const Kept forward = kept_forward(kSeed);
  const auto is_kept = [](char kept) { return kept != 0; };
  require(!std::ranges::all_of(forward.storage(), is_kept), "The forward pass drops no weight.");
  const auto [by_dV, by_dQ] = kept_backward(kSeed);
  require_same(by_dV, forward, "dV");
  require_same(by_dQ, forward, "dQ");
}

TEST_CASE("goes backward through the weights that the forward pass has kept", "[l18][dropout][points:2]") {
  check(kBackward, dropped(random_problem({1, 1, 7, 70, 4}, kMask), 0.3f));
  for (const float dropout : {0.1f, 0.9f})
    check_values(kBackward, dropped(random_problem({1, 1, 70, 75, 3}), dropout));
  check_values(kBackward, dropped(random_problem({2, 3, 9, 21, 3}), 0.3f));
}

TEST_CASE("goes backward through those of each head of Q that reads a head of K",
          "[l18][dropout][points:2]") {
  check_values(kBackward, dropped(random_problem({2, 4, 9, 21, 3, 2}), 0.3f));
  check_values(kBackward, dropped(random_problem({1, 6, 70, 9, 3, 2}), 0.3f));
}

TEST_CASE("agrees with central differences", "[l18][dropout][points:1]") {
  Random random(case_seed());
  for (int i = 0; i < 4; ++i) {
    const Int H_kv = random.integer(1, 2);
    const Problem p = random_problem({random.integer(1, 2), H_kv * random.integer(1, 2), random.integer(2, 6),
                                      random.integer(2, 9), random.integer(1, 4), H_kv},
                                     {.causal = i % 2 == 0});
    check_differences(kBackward, with_gradient(dropped(p, 0.3f, random.bits())));
  }
}

// --- With all that lesson 17 has ---

namespace {

Problem with_drawn_dropout(const Problem& p, Random& random) {
  return dropped(p, drawn_dropout(random), random.bits());
}

}  // namespace

TEST_CASE("drops weights beside masks, sinks and groups, in all strides and dimensions",
          "[l18][dropout][points:2]") {
  const Problem p = dropped(with_sink(random_problem({2, 4, 20, 24, 8, 2}, kMask)), 0.25f);
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check_both(with_layouts(p, outside, inside, outside, inside));
  Problem apart = with_gaps(p, kNan);
  apart.layout_of_lse = inside;
  check_forward(apart);
  const Problem wide = dropped(with_sink(random_problem({1, 4, 20, 24, many_dimensions(), 2}, kMask)), 0.25f);
  check_values(kBackward, with_gaps(with_gradient(wide), kNan));
  const Problem shifted = dropped(random_problem({1, 2, 12, 20, 16, 1}, {.causal = true}), 0.25f);
  check_shifted(kForward, shifted);
  check_shifted(kBackward, with_gradient(shifted));
  const auto with_dropout = [](const Problem& plain) { return dropped(with_sink(plain), 0.25f); };
  check_odd_rows(kForward, {{.causal = true, .window = 4, .sinks = 1}, {}}, with_dropout);
  check_odd_rows(kBackward, {{.causal = true, .window = 4, .sinks = 1}, {}}, with_dropout);
  apart = with_layouts(p, inside, outside, inside, outside);
  apart.layout_of_lse = inside;
  check_values(kBackward,
               with_layouts_of_gradients(with_gradient(apart), outside, inside, outside, inside, inside));
  check(kBackward, dropped(with_sink(random_problem({1, 1, 300, 4, 2})), 0.25f));
  check_values(kBackward, dropped(with_sink(random_problem({1, 2, 2048, 4, 2})), 0.25f));
  check_both(dropped(with_sink(random_problem({1, 2, 130, 140, 2, 1}, kMask)), 0.25f));
  check_both(
      dropped(random_problem({1, 1, 140, 60, 2}, {.causal = true}), 0.25f));  // queries that see no key
  for (const Int D : {1, 65, 128}) check_both(dropped(random_problem({1, 1, 9, 14, D}), 0.25f));
  for (const Problem& at_an_edge :
       {random_problem({1, 1, 128, 128, 2}, {.causal = true, .window = 127}),
        random_problem({1, 1, 64, 126, 2}, {.causal = true}),  // the first query misses one key of a tile
        random_problem({1, 1, 65, 129, 2}, {.causal = true, .window = 63, .sinks = 65}),
        random_problem({1, 1, 129, 63, 2}, {.causal = true, .window = 65, .sinks = 65}),
        random_problem({1, 1, 4, 70, 2}, {.causal = true, .window = 2, .sinks = 63}),
        random_problem({1, 1, 140, 75, 2}, {.causal = false, .window = 1, .sinks = 1})})
    check_both(dropped(at_an_edge, 0.25f));
  for (const Int D : {20, 65}) {  // NaN and infinities go where they must
    check_both(dropped(with_not_numbers(random_problem(larger({2, 3, 31, 70, D}))), 0.25f));
    check_values(kBackward,
                 with_infinite_products(dropped(random_problem(larger({1, 4, 20, 30, D, 2}), kMask), 0.25f)));
    check_forward(with_small_weight(larger({1, 1, 1, 70, D})));
    for (const float value : {kNan, kInf}) {
      Problem of_sink = with_sink(random_problem(larger({2, 3, 20, 40, D}), kMask));
      (*of_sink.sink)(Random(case_seed()).integer(0, 2)) = value;  // of one head
      check_forward(dropped(of_sink, 0.25f));
    }
  }
  for (const Problem& q :
       {random_problem(larger({1, 3, 7, 9, 8})), with_sink(random_problem({1, 3, 7, 9, 8}))})
    check_values(kBackward, with_not_numbers_of_results(with_gradient(dropped(q, 0.25f))));
  check_small_weights(kBackward);
  check_drawn(kForward, kTakes, with_drawn_dropout);
  check_drawn(kBackward, with_drawn_dropout);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l18][dropout][points:1]") {
  // Three batches and three tiles of queries and of keys, or more, of which no kernel knows beforehand how
  // many: a sum of two has the same bits in both orders.
  Random random(case_seed());
  const Problem p = dropped(with_sink(random_problem({random.integer(3, 4), 2, random.integer(130, 160),
                                                      random.integer(150, 200), random.integer(3, 9), 1})),
                            0.25f);
  check_same_bits(without_check_mode(kForward), p);
  check_same_bits(without_check_mode(kBackward), with_gradient(p));
}

namespace {

/// Fails the case if a call with dropout loads more than one without.
void require_loads_as_without(const Outcome& with, const Outcome& without) {
  const Profile *dropped = profile_of(with), *all = profile_of(without);
  if (!dropped || !all) return;
  const std::uint64_t read = dropped->global_load.bytes, most = all->global_load.bytes;
  require(read * 100 <= most * 102,
          fmt::format("Your code reads {} bytes with dropout, and {} without. Which weights are dropped is "
                      "stored nowhere: who needs to know computes it.",
                      read, most));
}

}  // namespace

TEST_CASE("reads no more bytes than without dropout, and stores nothing but the results",
          "[l18][dropout][points:1]") {
  const Problem p = dropped(random_problem({1, 1, 128, 128, 64}), 0.25f);
  const Outcome forward = check(kForward, p, kCounted);
  if (const Profile* profile = profile_of(forward)) {
    require_loads_at_most(*profile, bytes_of(p.Q) + 2 * (bytes_of(p.K) + bytes_of(p.V)),
                          "to load Q once, and K and V for every 64 queries,");
    require_stores_outputs_once(kForward, *profile, p);
    require_full_use(*profile);
  }
  const Outcome backward = check(kBackward, p, kCounted);
  if (const Profile* profile = profile_of(backward)) {
    // delta: O and dO; dK and dV: K and V, and twice Q and dO for each of two tiles; dQ: the other way round.
    const std::uint64_t tensors = 2 + 2 * (2 + 2 * 4), lse_and_delta = 65536;
    require_loads_at_most(*profile, tensors * bytes_of(p.Q) + lse_and_delta,
                          "to load what lesson 17 loads backward");
    require_stores_outputs_once(kBackward, *profile, with_gradient(p));
    require_full_use(*profile);
  }
  const Problem of_whole_rows = dropped(random_problem(unknown_sizes_of_whole_sectors()), 0.25f);
  for (const Outcome& outcome :
       {check(kForward, of_whole_rows, kCounted), check(kBackward, of_whole_rows, kCounted)})
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  // So many heads are for as many blocks, at least.
  for (const Sizes& n : {Sizes{1, 8, 20, 24, 8}, unknown_sizes_of_many_heads()}) {
    const Problem heads = dropped(random_problem(n), 0.25f);
    for (const Outcome& outcome : {check(kForward, heads, kCounted), check(kBackward, heads, kCounted)})
      if (const Profile* profile = profile_of(outcome))
        for (const simt::LaunchProfile& launch : profile->launches)
          if (launch.total.global_store.bytes_asked >= bytes_of(heads.Q))  // all but delta
            require_busy_blocks(make_profile({launch}), 0.25);
  }
  // Nothing is added to memory of its own, in sizes that no kernel knows beforehand, of many dimensions.
  Random random(case_seed());
  const Problem wide = dropped(
      random_problem({1, 1, random.integer(30, 80), random.integer(65, 140), random.integer(65, 128)}),
      0.25f);
  const Outcome of_wide = check(kBackward, wide, kCounted);
  if (const Profile* profile = profile_of(of_wide))
    require_stores_outputs_once(kBackward, *profile, with_gradient(wide));
  // A bit for each weight, stored by whomever, would be a ninth of what is loaded here, and more than the
  // arguments of a launch may have.
  const Problem narrow = random_problem({1, 1, 512, 512, 8}), narrow_dropped = dropped(narrow, 0.25f);
  const Outcome of_narrow = check(kForward, narrow_dropped, kCounted);
  if (const Profile* profile = profile_of(of_narrow))
    require_loads_at_most(*profile, bytes_of(narrow.Q) + 8 * (bytes_of(narrow.K) + bytes_of(narrow.V)),
                          "to load Q once, and K and V for every 64 queries,");
  require_loads_as_without(of_narrow, check(kForward, narrow, kCounted));
  const Problem few = random_problem({1, 1, 128, 128, 8});
  require_loads_as_without(check(kBackward, dropped(few, 0.25f), kCounted), check(kBackward, few, kCounted));
}

namespace {

/// What lesson 17 loads where tiles meet.
void check_masked_traffic(const Problem& p) {
  const Meetings meetings = meetings_of(p);
  const auto heads = static_cast<std::uint64_t>(p.B() * p.H()),
             queries = heads * static_cast<std::uint64_t>(meetings.queries),
             keys = heads * static_cast<std::uint64_t>(meetings.keys),
             row = 4 * static_cast<std::uint64_t>(p.D());
  const std::uint64_t of_queries = bytes_of(p.Q), of_keys = bytes_of(p.K) + bytes_of(p.V),
                      of_sinks = static_cast<std::uint64_t>(bytes_of_sinks(p));
  const Outcome forward = check(kForward, p, kCounted);
  if (const Profile* profile = profile_of(forward))
    require_loads_at_most(*profile, of_queries + 2 * row * keys + of_sinks,
                          "to load Q once, and the tiles of K and V that hold a key that is seen,");
  const Outcome backward = check(kBackward, p, kCounted);
  if (const Profile* profile = profile_of(backward)) {
    // O and dO; K and V, Q and dO twice; Q and dO, K twice and V; with each pair, lse and delta.
    constexpr std::uint64_t kLseAndDelta = 192;
    require_loads_at_most(
        *profile, 4 * of_queries + of_keys + (4 * row + kLseAndDelta) * queries + 3 * row * keys + of_sinks,
        "to load what lesson 17 loads backward");
  }
}

}  // namespace

TEST_CASE("leaves out the tiles that lesson 17 leaves out", "[l18][dropout][points:1]") {
  const reference::Mask window_of_2{.causal = true, .window = 2}, window_of_65{.causal = true, .window = 65},
      with_sinks{.causal = true, .window = 60, .sinks = 4};
  for (const Problem& p :
       {random_problem({1, 1, 192, 192, 64}, window_of_2), random_problem({1, 1, 64, 320, 64}, window_of_65),
        random_problem({1, 1, 64, 320, 64}, with_sinks), mostly_hidden()})
    check_masked_traffic(dropped(p, 0.25f));
  check_masked_traffic(mostly_hidden());
  check_counted(
      kForward, kTakes,
      [](const Profile& profile, const Problem& p) {
        require_loads_what_is_seen(profile, p, 64, 64);
        require_stores_outputs_once(kForward, profile, p);
      },
      with_drawn_dropout);
  check_counted(
      kBackward,
      [](const Profile& profile, const BackwardProblem& p) {
        require_loads_what_meets(profile, p);
        require_stores_outputs_once(kBackward, profile, p);
      },
      with_drawn_dropout);
}

TEST_CASE("refuses a dropout that is not from 0 to below 1, and what lesson 17 refuses",
          "[l18][dropout][points:1]") {
  const BackwardProblem valid = with_gradient(random_problem({1, 2, 4, 5, 6}));
  check_both(dropped(valid, 0.5f));
  for (const float dropout : refused_dropouts()) {
    INFO("dropout = " << dropout);
    BackwardProblem wrong = valid;
    wrong.dropout = Dropout{dropout, kSeed};
    require_refused(kForward, wrong, results_of(static_cast<const Problem&>(valid)), "dropout");
    require_refused(kBackward, wrong, results_of(valid), "dropout");
  }
  const auto refuse = [&](const reference::Mask& mask, const char* argument) {
    BackwardProblem wrong = valid;
    wrong.mask = mask;
    require_refused(kForward, wrong, results_of(static_cast<const Problem&>(valid)), argument);
    require_refused(kBackward, wrong, results_of(valid), argument);
  };
  for (const Int window : numbers_below(1)) refuse({.window = window}, "window");
  for (const Int sinks : numbers_below(0)) refuse({.sinks = sinks}, "sinks");
  const Problem shapes = random_problem({2, 3, 4, 5, 6, 3}, kMask),
                rows = random_problem({1, 2, 4, 5, 6}, kMask);
  check_refuses_shapes(kForward, shapes);
  check_refuses_rows(kForward, rows);
  check_refuses_shapes(kBackward, shapes);
  check_refuses_rows(kBackward, rows);
  check_refuses_unread_heads(kForward);
  check_refuses_unread_heads(kBackward);
}

TEST_CASE("launches nothing where there is nothing to do, and reports a launch that CUDA refuses",
          "[l18][dropout][points:1]") {
  check_both(dropped(with_sink(random_problem({1, 2, 5, 5, 2}, kMask)), 0.25f));
  check_nothing_to_do(kForward, kMask);
  check_forward(with_sink(random_problem({2, 2, 5, 0, 8}, kMask)));
  check_nothing_to_do(kBackward, kMask);
  check_reports_refused_launch(kForward, random_problem(larger({1, 1, 70, 3, 2}), kMask));
  check_reports_refused_launch(kBackward, with_gradient(random_problem(larger({1, 1, 70, 3, 2}), kMask)));
  // Of dK and dV alone, and of dsink alone.
  check_reports_refused_launch(kBackward,
                               with_gradient(random_problem(larger_of_one_query({1, 1, 1, 70, 2}), kMask)));
  check_reports_refused_launch(
      kBackward, with_gradient(with_sink(random_problem(larger_of_one_query({1, 2, 1, 3, 2}), kMask))));
}

COURSE_GRADCHECK(GradcheckContext& check) {
  const double dropout = check.number("dropout", 0.3);
  const auto seed = static_cast<std::uint64_t>(check.integer("seed", static_cast<Int>(check.seed())));
  if (!(dropout >= 0 && dropout < 1))
    throw RunError("--set dropout: it must be at least 0 and less than 1.", true);
  gradcheck_attention_backward(
      check, kBackward, [&](const Problem& p) { return dropped(p, static_cast<float>(dropout), seed); });
}

COURSE_RUN(RunContext& run) {
  const auto dropout = static_cast<float>(run.number("dropout", 0.1));
  const auto seed = static_cast<std::uint64_t>(run.integer("seed", 0));
  const auto call_forward = [&](const Problem& p, Forward& got) {
    const auto call = [&](const auto& sink) {
      run.call(ENTRY(attention_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink, out(got.O, "O"),
               out(got.lse, "lse"), p.scale, p.mask.causal, p.mask.window, p.mask.sinks, dropout, seed);
    };
    p.sink ? call(in(*p.sink, "sink")) : call(null());
  };
  const auto call_backward = [&](const BackwardProblem& p, Backward& got) {
    const auto call = [&](const auto& sink, const auto& dsink) {
      run.call(ENTRY(attention_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink, in(p.O, "O"),
               in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"), out(got.dQ, "dQ"),
               out(got.dK, "dK"), out(got.dV, "dV"), dsink, p.scale, p.mask.causal, p.mask.window,
               p.mask.sinks, dropout, seed);
    };
    p.sink ? call(in(*p.sink, "sink"), out(got.dsink, "dsink")) : call(null(), null());
  };
  run_attention_backward(run, kTakes, call_backward, call_forward);
}
