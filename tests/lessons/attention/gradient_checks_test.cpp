// Tests of the checks of backward kernels, with kernels of the host.

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attention/gradient_host_kernel.hpp"
#include "grading/facts/cause.hpp"
#include "grading/facts/poison.hpp"
#include "grading/facts/words.hpp"
#include "grading/testing/run.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "tensor/npy.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What a case says that fails so, with the mistakes that alone explain something in it.
struct Told {
  std::string message;
  std::vector<std::string> mistakes;
};

Told told_by(std::vector<Failure> failures) {
  CaseResult result;
  result.failures = std::move(failures);
  return {to_words(result, likeliest_cause({result})), sole_explanations(result)};
}

Told told(const BackwardKernel& kernel, const BackwardProblem& p) {
  return told_by(failures_of(kernel, p, results(kernel, p)));
}

Told told_by_identity(const BackwardKernel& kernel, const reference::Mask& mask = {}) {
  const BackwardProblem with_Q = identity_in_Q(8, mask, true), with_K = identity_in_K(8, mask, true);
  const auto failure = first_wrong(kernel, with_Q, results(kernel, with_Q), with_K, results(kernel, with_K));
  return failure ? told_by({*failure}) : Told{};
}

}  // namespace

TEST_CASE("all checks pass a right backward kernel", "[attention_tests]") {
  const BackwardKernel kernel = host_kernel();
  attention_tests::check(kernel, small_problem());
  attention_tests::check(kernel, random_problem({2, 2, 70, 70, 32}));
  check_values(kernel, with_gaps(small_problem(), kNan));
  check_same_bits(kernel, small_problem());
  for (const reference::Mask& mask : {reference::Mask{}, kMask}) {
    check_nothing_to_do(kernel, mask);
    check_intermediates(kernel, 8, mask);
    check_intermediates(kernel, 11, mask, true);
  }
  check_refuses_shapes(kernel, random_problem({2, 6, 4, 5, 7, 3}));
  check_refuses_rows(kernel, random_problem({1, 2, 4, 5, 6}));
  check_reports_refused_launch(kernel, small_problem());
  check_differences(kernel, with_gradient(with_sink(random_problem({2, 2, 5, 6, 3, 1}, {.causal = true}))));
}

TEST_CASE("results within the bound of float32 pass, whoever adds them up", "[attention_tests]") {
  // The baseline's worst ways are themselves within twice their error.
  for (const BackwardProblem& p :
       {small_problem(),
        with_gradient(with_dropout(random_problem({1, 2, 20, 30, 8}), 0.5f, 3,
                                   [](Int, Int h, Int i, Int j) { return (i + j + h) % 2 == 0; })),
        with_gradient(random_problem({1, 1, 6, 1, 3}))}) {
    const Backward worst = in_float32(p, expected_of(p));
    CHECK(failures_of(host_kernel(), p, worst).empty());
  }
}

TEST_CASE("a wrong backward kernel is told its mistake by name", "[attention_tests]") {
  const BackwardProblem p = small_problem();
  const auto name = [&](const Deviations& deviations) {
    const auto [message, names] = told(host_kernel(deviations), p);
    CHECK_FALSE(message.empty());
    return names.empty() ? "nothing: " + message : names.front();
  };
  CHECK(name({{Gradient::delta, {.delta = Delta::O_O}}}) == "delta_of_O_squared");
  CHECK(name({{Gradient::dK, {.scores = Scores::delta_ignored}}}) == "delta_missing");
  CHECK(name({{Gradient::dQ, {.factor = 1 / static_cast<double>(p.scale)}}}) == "scale_missing");
  CHECK(name({{Gradient::dV, {.lse_factor = 1.4426950408889634}}}) == "lse_in_base_2");
  CHECK(name({{Gradient::dK, {.heads_of = [](Int h) { return std::vector<Int>{2 * h + 1}; }}}}) ==
        "last_head_of_group_only");
  CHECK(name({{Gradient::dQ,
               {.k_head = [](Int h) { return h % 2; }, .v_head = [](Int h) { return h % 2; }}}}) ==
        "heads_modulo");
  CHECK(name({{Gradient::dV, {.sees = [&](Int i, Int j) { return j <= i + 4; }}}}) == "window_ignored");
  CHECK(name({{Gradient::dsink, {.sink_rows = [](Int b, Int) { return b == 0; }}}}) == "first_batch_only");
  // The first in the order that a mistake explains.
  CHECK(name({{Gradient::dV, {.factor = 0.77}}, {Gradient::dQ, {.left = Matrix::P}}}) == "dq_from_p");
}

TEST_CASE("a backward kernel that drops weights in the wrong place is told so", "[attention_tests]") {
  const BackwardProblem p = with_gradient(
      with_dropout(random_problem({2, 3, 20, 24, 10}, {.causal = true}), 0.25f, 7,
                   [](Int b, Int h, Int i, Int j) { return (5 * b + 7 * h + 11 * i + 13 * j) % 4 != 0; }));
  const auto name = [&](Gradient which, const GradientDeviation& how) {
    const auto names = told(host_kernel({{which, how}}), p).mistakes;
    return names.empty() ? "nothing" : names.front();
  };
  CHECK(told(host_kernel(), p).message.empty());
  CHECK(name(Gradient::dV, {.dropout_in_dV = false}) == "dropout_missing");
  CHECK(name(Gradient::dK, {.dropout_in_dP = false}) == "dropout_missing");
  CHECK(name(Gradient::dQ, {.dropout_in_dP = false, .dropout_in_dS = true}) == "dropout_of_ds");
  check_differences(host_kernel(), with_gradient(with_dropout(
                                       random_problem({1, 2, 4, 5, 3}), 0.5f, 1,
                                       [](Int, Int h, Int i, Int j) { return (i + j + h) % 2 == 0; })));
}

TEST_CASE("a mistake of a lesson's own is told beside those of all", "[attention_tests]") {
  const BackwardProblem p = small_problem();
  BackwardKernel kernel = host_kernel({{Gradient::dQ, {.factor = 0.77}}});
  kernel.own_mistakes = [](const BackwardProblem& of, Gradient which) {
    return Mistakes{deviation("three_quarters", of, which, {.factor = 0.77}, "It is 0.77 times that.")};
  };
  const auto [message, mistakes] = told(kernel, p);
  CHECK_THAT(message, ContainsSubstring("It is 0.77 times that."));
  CHECK(mistakes == std::vector<std::string>{"three_quarters"});
}

TEST_CASE("what was never written is told last, and that", "[attention_tests]") {
  const BackwardProblem p = small_problem();
  Backward got = results(host_kernel({{Gradient::dQ, {.scores = Scores::delta_added}}}), p);
  for (float& x : got.delta.storage()) x = poison<float>();
  CHECK_THAT(told_by(failures_of(host_kernel(), p, got)).message, ContainsSubstring("P ∘ (dP + delta)"));
  got = results(host_kernel(), p);
  for (float& x : got.dK.storage()) x = poison<float>();
  CHECK_THAT(told_by(failures_of(host_kernel(), p, got)).message,
             ContainsSubstring("dK[0, 0, 0, 0] was never written"));
}

TEST_CASE("the intermediates say what went wrong first", "[attention_tests]") {
  for (const reference::Mask& mask : {reference::Mask{}, reference::Mask{.causal = true}}) {
    const auto message = [&](const Deviations& deviations) {
      return told_by_identity(host_kernel(deviations), mask).message;
    };
    CHECK(message({}).empty());
    CHECK_THAT(
        message({{Gradient::delta, {.delta = Delta::dO}}, {Gradient::dV, {.weights = Weights::without_lse}}}),
        ContainsSubstring("the diagonal of O"));
    const GradientDeviation no_lse{.weights = Weights::without_lse};
    const std::string of_P =
        message({{Gradient::dV, no_lse}, {Gradient::dK, no_lse}, {Gradient::dQ, no_lse}});
    CHECK_THAT(of_P, ContainsSubstring("P = exp(S - lse)") && ContainsSubstring("dV should be Pᵀ here") &&
                         ContainsSubstring("lse has to be subtracted first"));
    const std::string of_dS = message({{Gradient::dK, {.scores = Scores::delta_ignored}}});
    CHECK_THAT(of_dS, ContainsSubstring("the mistake is in dS = P ∘ (dP - delta)") &&
                          ContainsSubstring("dK should be dSᵀ"));
    const std::string of_dP = message({{Gradient::dQ, {.V = right(identity_in_K(8, mask, true).K)}}});
    CHECK_THAT(of_dP, ContainsSubstring("Look at dP = dO·Vᵀ") && ContainsSubstring("dQ should be dS ·"));
    CHECK_THAT(message({{Gradient::dQ, {.factor = 0.25}}}),
               ContainsSubstring("0.25 times what it should be, so look at the scale in dQ"));
    // Q is twice the identity here, which dO is: half of dK need not be a matter of the scale.
    CHECK_THAT(message({{Gradient::dK, {.right = right(identity_in_Q(8, mask, true).dO)}}}),
               ContainsSubstring("whether dO, the identity, stands in the place of Q"));
  }
  // A key that the mask hides has no part in dS, whatever dP holds.
  const std::string hidden =
      told_by_identity(host_kernel({{Gradient::dK, {.hidden_counts = true, .scores = Scores::without_P}}}),
                       {.causal = true})
          .message;
  CHECK_THAT(hidden, ContainsSubstring("dS = P ∘ (dP - delta)"));
}

TEST_CASE("`./course run` of a backward lesson reads dout and writes every gradient", "[attention_tests]") {
  const BackwardProblem p = small_problem();
  const test::TemporaryFolder in, out;
  write_npy(in / "q.npy", p.Q), write_npy(in / "k.npy", p.K), write_npy(in / "v.npy", p.V);
  write_npy(in / "dout.npy", p.dO), write_npy(in / "sink.npy", *p.sink);
  const BackwardKernel kernel = host_kernel();
  const auto run = [&](const std::function<void(const Problem&, Forward&)>& forward) {
    RunContext context(in.path(), out.path(), {{"causal", "true"}, {"window", "9"}, {"sinks", "2"}});
    run_attention_backward(
        context, kernel.takes,
        [&](const BackwardProblem& read, Backward& got) { kernel.attend_backward(read, got, {}); }, forward);
  };
  run({});
  CHECK(out.names() ==
        std::set<std::string>{"delta.npy", "dk.npy", "dq.npy", "dsink.npy", "dv.npy", "lse.npy", "o.npy"});
  const Backward64 expected = expected_of(p);
  CHECK(read_npy<float>(out / "dk.npy")(1, 1, 3, 4) == static_cast<float>(expected.dK(1, 1, 3, 4)));
  CHECK(read_npy<float>(out / "lse.npy")(1, 3, 7) == p.lse(1, 3, 7));
  run([](const Problem& of, Forward& got) { got.O = Tensor<float>(of.shape_of_O(), 0.5f); });
  CHECK(read_npy<float>(out / "o.npy")(0, 0, 0, 0) == 0.5f);
  CHECK(read_npy<float>(out / "delta.npy")(1, 3, 7) != static_cast<float>(expected.delta(1, 3, 7)));
}

TEST_CASE("gradcheck draws problems that a right kernel passes, and a wrong one does not",
          "[attention_tests]") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    GradcheckContext right(seed, {});
    gradcheck_attention_backward(right, host_kernel());
    INFO(right.description());
    for (const GradientResult& result : right.results()) {
      INFO(result.message());
      CHECK(result.passed());
    }
    CHECK(right.unused_settings().empty());
  }
  GradcheckContext wrong(3, {{"queries", "4"}, {"keys", "5"}, {"learned_sink", "true"}, {"causal", "false"}});
  gradcheck_attention_backward(wrong, host_kernel({{Gradient::dsink, {.factor = 2}}}));
  CHECK(wrong.results().size() == 4);
  CHECK_FALSE(wrong.results().back().passed());
  CHECK_THAT(wrong.description(), ContainsSubstring("Nq = 4, Nk = 5") && ContainsSubstring("learned sink") &&
                                      !ContainsSubstring("causal"));
  BackwardKernel plain = host_kernel();
  plain.takes = {};
  GradcheckContext masked(1, {{"causal", "true"}});
  CHECK_THROWS_AS(gradcheck_attention_backward(masked, plain), RunError);
}
