#include "attention/check_parts.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "drawn/drawn.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/case.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

/// Whether all of it is 0, or all -inf, as where no tile was taken in: then many mistakes would give the
/// same.
/// Not for lesson 08's m and l, which begin so: there, that says that no tile has written them back.
bool took_nothing_in(const Result& result) {
  const Tensor<float>& x = *result.got;
  if (result.name.name == "m" || result.name.name == "l") return false;
  const float first = x.at_linear(0);
  if (first != 0.0f && first != -std::numeric_limits<float>::infinity()) return false;
  for (Int i = 0; i < x.numel(); ++i)
    if (x.at_linear(i) != first) return false;
  return true;
}

}  // namespace

Bound bound_of_16_bits(const Problem& p, Tensor<double> rounding) {
  Bound bound = kBound;
  bound.format = p.format;
  bound.rounding = std::move(rounding);
  return bound;
}

bool never_written(const Tensor<float>& x) {
  for (Int i = 0; i < x.numel(); ++i)
    if (!grading::is_poison(x.at_linear(i))) return false;
  return x.numel() > 0;
}

std::vector<Failure> failures_of(std::vector<Result> results) {
  std::stable_partition(results.begin(), results.end(),
                        [](const Result& result) { return !never_written(*result.got); });
  std::vector<Failure> failures;
  std::set<std::string> explaining, of_all_results;
  bool one_is_right = false;
  for (const Result& result : results) {
    const Comparison comparison =
        compare(*result.got, result.name, *result.expected, *result.baseline, result.bound);
    one_is_right = one_is_right || comparison.passed;
    if (comparison.passed) continue;
    Failure& failure = failures.emplace_back(comparison.failure());
    if (never_written(*result.got) || comparison.wrong.empty()) continue;
    Mistakes mistakes = result.mistakes();
    if (took_nothing_in(result))  // which contradicts what would have left it right, and explains nothing
      std::erase_if(mistakes, [](const Mistake& one) { return !one.ruled_out; });
    for (const Mistake& one : mistakes)
      if (one.of_all_results) of_all_results.insert(one.name);
    if (!explaining.empty())
      std::erase_if(mistakes, [&](const Mistake& one) { return !explaining.contains(one.name); });
    failure.attempts = try_mistakes(mistakes, {*result.got, *result.expected, comparison});
    for (const Attempt& attempt : failure.attempts)
      if (!attempt.sentence.empty()) explaining.insert(attempt.mistake);
  }
  for (Failure& failure : failures)
    for (Attempt& attempt : failure.attempts)
      if (one_is_right && of_all_results.contains(attempt.mistake)) attempt.sentence.clear();
  return failures;
}

bool wrote_elsewhere(const Outcome& outcome) {
  return std::any_of(outcome.violations.begin(), outcome.violations.end(),
                     [](const Violation& one) { return one.misplaced; });
}

bool hides_causes(const Outcome& outcome) {
  const std::vector<Finding> reasons = reasons_in(outcome.findings);
  return !std::all_of(reasons.begin(), reasons.end(), is_stray);
}

std::vector<Failure> despite_findings(const Outcome& outcome, const std::vector<Result>& results,
                                      const std::vector<Misplacement>& misplaced) {
  const auto explains = [](const Finding& one) { return may_explain(one); };
  const bool found =
      std::any_of(outcome.findings.begin(), outcome.findings.end(), explains) || wrote_elsewhere(outcome);
  const bool hidden = hides_causes(outcome);
  if (!found) return {};
  for (const Result& result : results) {
    const Comparison comparison =
        compare(*result.got, result.name, *result.expected, *result.baseline, result.bound);
    if (comparison.passed || comparison.wrong.empty()) continue;
    for (const Misplacement& one : misplaced) {
      if (!(one.alone ? found : hidden)) continue;
      if (const auto sentence = one.mistake.explain({*result.got, *result.expected, comparison}))
        return {{.kind = Failure::Kind::check,
                 .sentence = result.name.name + ": " + *sentence,
                 .explains_findings = true}};
    }
  }
  return {};
}

std::vector<std::string> axes_of(std::size_t rank, const char* row) {
  std::vector<std::string> axes{"batch", "head", row, "column"};
  axes.resize(std::min(axes.size(), rank));
  return axes;
}

std::vector<Int> other_heads(Int H, bool grouped, Random& random) {
  std::vector<Int> fewer;
  for (Int H_kv = 0; H_kv < H; ++H_kv)
    if (!grouped || H_kv == 0 || H % H_kv != 0) fewer.push_back(H_kv);
  return {fewer[static_cast<std::size_t>(random.integer(0, std::ssize(fewer) - 1))],
          H + random.integer(1, 2 * H)};
}

std::vector<Shape> other_shapes_of_K(const Problem& p, bool grouped, Random& random) {
  std::vector<Shape> others = drawn::misfits({p.B(), p.H_kv(), p.D()}, random, step_of_dims(p));
  std::erase_if(others, [&](const Shape& one) { return one[0] == p.B() && one[2] == p.D(); });
  for (const Int H_kv : other_heads(p.H(), grouped, random)) others.push_back({p.B(), H_kv, p.D()});
  if (!grouped && p.H() > 1) others.push_back({p.B(), 1, p.D()});
  for (Shape& shape : others) shape.insert(shape.begin() + 2, p.Nk());
  return others;
}

Random random_of_refusals(const Problem& valid) {
  return Random(case_seed() + (valid.format == Format16::float16 ? 14 : 13));
}

std::vector<Problem> valid_in_all_sizes(const Problem& valid) {
  const Problem other = of_other_sizes(valid);
  std::vector<Problem> all{valid, other};
  for (const auto& [B, Nq] : {std::pair{Int{0}, other.Nq()}, {other.B(), Int{0}}}) {
    Problem& empty = all.emplace_back(other);
    empty.Q = Tensor<float>({B, other.H(), Nq, other.D()});
    empty.K = empty.V = Tensor<float>({B, other.H_kv(), other.Nk(), other.D()});
  }
  return all;
}

std::vector<Int> other_dims(const Problem& valid, Int max_dim, Random& random) {
  const Int step = step_of_dims(valid), most = max_dim / step;
  std::vector<Int> others{0, step * (most + 1), step * random.integer(most + 2, 300 / step)};
  if (step > 1) others.push_back(step * random.integer(0, most - 1) + random.integer(1, step - 1));
  return others;
}

Tensor<float> ones(Shape shape) { return Tensor<float>(std::move(shape), 1.0f); }

Int tiles_of(const Problem& p) {
  const auto tiles = [](Int size) { return (size + 63) / 64; };
  return p.B() * p.H() * tiles(p.Nq()) * tiles(p.Nk());
}

namespace {

/// Asks for the setting, so that it does not count as unknown, and refuses every value but the default.
void refuse_setting(Settings& settings, const char* name, Int otherwise) {
  if (settings.integer(name, otherwise) != otherwise)
    throw RunError(std::string("--set ") + name + ": this lesson's kernel has no " + name + ".", true);
}

}  // namespace

reference::Mask read_mask(Settings& settings, const Takes& takes, const reference::Mask& defaults) {
  reference::Mask mask;
  mask.causal = settings.boolean(
      "causal", takes.causal == Causal::always || (takes.causal == Causal::choice && defaults.causal));
  if (mask.causal && takes.causal == Causal::never)
    throw RunError("--set causal: this lesson's kernel has no causal mask; every query sees every key.",
                   true);
  if (!mask.causal && takes.causal == Causal::always)
    throw RunError("--set causal: this lesson's kernel is always causal.", true);
  if (takes.window) {
    mask.window = settings.integer("window", defaults.window);
    if (mask.window < 1) throw RunError("--set window: the window must be at least 1.", true);
  } else {
    refuse_setting(settings, "window", mask.window);
  }
  if (takes.sinks) {
    mask.sinks = settings.integer("sinks", defaults.sinks);
    if (mask.sinks < 0) throw RunError("--set sinks: the sinks must not be negative.", true);
  } else {
    refuse_setting(settings, "sinks", 0);
  }
  return mask;
}

}  // namespace course::attention_tests
