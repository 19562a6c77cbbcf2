#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "attention/check_parts.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/facts/poison.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

std::string number(double x) { return std::isnan(x) ? "NaN" : fmt::format("{:.6g}", x); }

/// "is 0.5", or "was never written".
std::string is_what(float x) {
  return is_poison(x) ? "was never written" : "is " + number(static_cast<double>(x));
}

/// The results of one identity problem, and what they should be.
class Identity {
 public:
  Identity(const BackwardKernel& kernel, const BackwardProblem& p, const Backward& got, Gradient product)
      : kernel_(kernel),
        p_(p),
        got_(got),
        product_(product),
        gradients_(gradients_of(p)),
        expected_(expected_of(p)),
        baseline_(in_float32(p, expected_)) {}

  std::optional<Failure> wrong_delta() {
    if (!compare_one(Gradient::delta)) return {};
    const Int i = worst_ % p_.Nq();
    return told(Gradient::delta,
                fmt::format("delta[{}] {}, it should be {}: dO is the identity here, so that delta, "
                            "rowsum(dO ∘ O), is the diagonal of O. P, dP and dS come later.",
                            i, is_what(got(Gradient::delta)), number(want(Gradient::delta))));
  }

  std::optional<Failure> wrong_P() {
    if (!compare_one(Gradient::dV)) return {};
    const Int j = worst_ / p_.D(), i = worst_ % p_.D();
    const std::string where = fmt::format(
        "dV should be Pᵀ here, because dO is the identity. At P[{}, {}] it {}, it "
        "should be {}{}. ",
        i, j, is_what(got(Gradient::dV)), number(want(Gradient::dV)), hidden(i, j));
    if (const auto factor = common_factor(Gradient::dV))
      return told(Gradient::dV, where + fmt::format("All of dV is {} times what it should be{}.",
                                                    number(*factor), what_gives(*factor)));
    if (compare(got_.of(Gradient::dV), "dV", expected_.of(product_), baseline_.of(product_)).passed)
      return told(Gradient::dV, fmt::format("dV holds what {} should hold.", name_of(product_)));
    return told(
        Gradient::dV,
        where + "Look at P = exp(S - lse), at the product dV = Pᵀ·dO, and at what that product takes for P.");
  }

  std::optional<Failure> wrong_dS() {
    if (!compare_one(product_)) return {};
    const bool by_keys = product_ == Gradient::dK;
    const Int row = worst_ / p_.D(), col = worst_ % p_.D(), i = by_keys ? col : row, j = by_keys ? row : col;
    const double unit = static_cast<double>(p_.scale * kIdentityFactor);
    const double dS = static_cast<double>(got(product_)) / unit, P = p_.exact.P(0, 0, i, j),
                 delta = gradients_.D(0, 0, i);
    const double dP = gradients_.dP(0, 0, i, j), right = gradients_.dS(0, 0, i, j);
    const std::string where = fmt::format(
        "{} should be {} · scale · {} here, because {} is {} times the identity. The array delta is right, "
        "and so is P in dV. ",
        name_of(product_), by_keys ? "dSᵀ" : "dS", kIdentityFactor, by_keys ? "Q" : "K", kIdentityFactor);
    if (const auto factor = common_factor(product_)) {
      std::string suspect = "the scale";
      if (is_identity(*factor))
        suspect +=
            std::string(", or whether dO, the identity, stands in the place of ") + (by_keys ? "Q," : "K,");
      return told(
          product_,
          where +
              fmt::format("Read from {}, dS[{}, {}] is {}, it should be {}: all of {} is {} times what it "
                          "should be, so look at {} in {}.",
                          name_of(product_), i, j, number(dS), number(right), name_of(product_),
                          number(*factor), suspect, by_keys ? "dK = dSᵀ·Q·scale" : "dQ = dS·K·scale"));
    }
    if (is_poison(got(product_))) return comparison_.failure();
    const std::string formula =
        fmt::format("Read from {}, dS[{}, {}] is {}, it should be {}: P is {}, dP is {} and delta is {}{}. ",
                    name_of(product_), i, j, number(dS), number(right), number(P), number(dP), number(delta),
                    hidden(i, j));
    if (const std::string instead = what_stands_there(); !instead.empty())
      return told(product_, where + formula + "These are the elements of " + instead + ", not of dS.");
    if (P == 0 || slip_in_formula())
      return told(product_, where + formula + "So the mistake is in dS = P ∘ (dP - delta).");
    return told(
        product_,
        where + formula +
            fmt::format(
                "If it is P ∘ (dP - delta) of these P and delta, dP[{}, {}] was {}; it should be V[{}, {}], "
                "since dO is the identity. If it is that of these P and dP, delta was {}. Look at "
                "dP = dO·Vᵀ, at dS = P ∘ (dP - delta){}, and at the product {}.",
                i, j, number(dS / P + delta), j, i, number(dP - dS / P),
                by_keys ? "" : ", at P, if it is computed once more for dQ",
                by_keys ? "dK = dSᵀ·Q·scale" : "dQ = dS·K·scale"));
  }

 private:
  /// Whether this result is wrong; then also where most.
  bool compare_one(Gradient which) {
    comparison_ = compare(got_.of(which), name_of(which), expected_.of(which), baseline_.of(which));
    if (comparison_.passed) return false;
    if (never_written(got_.of(which)) || comparison_.wrong.empty()) unwritten_ = true;
    double most = -1;
    for (const Int i : comparison_.wrong) {
      const double off =
          std::abs(static_cast<double>(got_.of(which).at_linear(i)) - expected_.of(which).at_linear(i));
      if (!(off <= most)) worst_ = i, most = std::isnan(off) ? HUGE_VAL : off;
    }
    return true;
  }

  float got(Gradient which) const { return got_.of(which).at_linear(worst_); }
  double want(Gradient which) const { return expected_.of(which).at_linear(worst_); }

  std::string hidden(Int i, Int j) const {
    return p_.sees(i, j) ? "" : fmt::format(" (query {} must not see key {})", i, j);
  }

  WrongResult result(Gradient which) const { return {got_.of(which), expected_.of(which), comparison_}; }

  /// The positive factor between all elements and what they should be, if there is one.
  std::optional<double> common_factor(Gradient which) const {
    const Mistake mistake = off_by_a_factor("", "{}");
    const auto factor = mistake.explain(result(which));
    if (!factor || std::stod(*factor) < 0) return std::nullopt;  // a sign is not a matter of the scale
    return std::stod(*factor);
  }

  /// What multiplies dV by that factor.
  std::string what_gives(double factor) const {
    if (is_scale(factor)) return ": the scale";
    if (std::abs(factor / static_cast<double>(kIdentityFactor) - 1) > 1e-5) return "";
    const char* const multiple = product_ == Gradient::dK ? "Q" : "K";
    return fmt::format(", as it is with {0} in the place of dO: {0} is {1} times the identity here", multiple,
                       kIdentityFactor);
  }

  bool is_scale(double factor) const { return std::abs(factor / static_cast<double>(p_.scale) - 1) < 1e-4; }

  /// Whether that is what the identity gives in the place of its multiple.
  static bool is_identity(double factor) {
    return std::abs(factor * static_cast<double>(kIdentityFactor) - 1) < 1e-5;
  }

  /// The matrix that is taken for dS, if it is one of the others.
  std::string what_stands_there() const {
    if (gives_result({.left = Matrix::P})) return "P";
    if (gives_result({.left = Matrix::dP})) return "dP";
    return gives_result({.left = Matrix::S}) || gives_result({.left = Matrix::products}) ? "S" : "";
  }

  /// Whether a wrong formula for dS, or a wrong delta in it, explains it.
  bool slip_in_formula() const {
    for (const Scores scores : {Scores::delta_ignored, Scores::delta_added, Scores::delta_last,
                                Scores::without_P, Scores::squared, Scores::one_minus_P, Scores::of_sigmoid})
      for (const bool hidden_counts : {false, true})
        if (gives_result({.hidden_counts = hidden_counts, .scores = scores})) return true;
    return gives_result({.delta = Delta::dO}) || gives_result({.delta = Delta::O_O}) ||
           gives_result({.delta_row = [](Int, Int, Int) { return Int{0}; }}) ||
           gives_result({.delta_of_pair = [](Int, Int j) { return j; }});
  }

  bool gives_result(const GradientDeviation& how) const {
    return deviation("", p_, product_, how, "").explain(result(product_)).has_value();
  }

  Failure told(Gradient which, std::string message) {
    Failure failure = comparison_.failure();
    if (unwritten_) return failure;
    failure.kind = Failure::Kind::check;
    failure.sentence = std::move(message);
    Mistakes all = mistakes_in(p_, which);
    if (kernel_.own_mistakes)
      for (Mistake& mistake : kernel_.own_mistakes(p_, which)) all.push_back(std::move(mistake));
    failure.attempts = try_mistakes(by_name(std::move(all)), result(which));
    return failure;
  }

  const BackwardKernel& kernel_;
  const BackwardProblem& p_;
  const Backward& got_;
  const Gradient product_;
  const reference::AttentionGradients gradients_;
  const Backward64 expected_;
  const Backward baseline_;
  Comparison comparison_{};
  Int worst_ = 0;
  bool unwritten_ = false;
};

}  // namespace

std::optional<Failure> first_wrong(const BackwardKernel& kernel, const BackwardProblem& with_Q,
                                   const Backward& got_with_Q, const BackwardProblem& with_K,
                                   const Backward& got_with_K) {
  Identity in_Q(kernel, with_Q, got_with_Q, Gradient::dK), in_K(kernel, with_K, got_with_K, Gradient::dQ);
  for (const auto step : {&Identity::wrong_delta, &Identity::wrong_P, &Identity::wrong_dS})
    for (Identity* one : {&in_Q, &in_K})
      if (std::optional<Failure> failure = (one->*step)()) return failure;
  return std::nullopt;
}

void check_intermediates(const BackwardKernel& kernel, Int n, const reference::Mask& mask, bool sink,
                         TestLine where) {
  const BackwardProblem with_Q = identity_in_Q(n, mask, sink), with_K = identity_in_K(n, mask, sink);
  INFO(describe(with_K));
  Backward got_with_Q = results_of(with_Q), got_with_K = results_of(with_K);
  const Outcome of_Q = kernel.attend_backward(with_Q, got_with_Q, {});
  require_ran(of_Q, where);
  const Outcome of_K = kernel.attend_backward(with_K, got_with_K, {});
  require_ran(of_K, where);
  if (rehearsing()) return require_results(kernel, with_Q, got_with_Q, where);
  const auto found_in = [](const Outcome& outcome) {
    return std::any_of(outcome.findings.begin(), outcome.findings.end(), may_explain);
  };
  if (!found_in(of_Q) && !found_in(of_K))  // what a race leaves behind tells nothing of formulas
    if (const auto failure = first_wrong(kernel, with_Q, got_with_Q, with_K, got_with_K))
      grading::detail::report({*failure}, where);
  require_results(kernel, with_Q, got_with_Q, where);  // and what the identity has not shown
  require_results(kernel, with_K, got_with_K, where);
}

}  // namespace course::attention_tests
