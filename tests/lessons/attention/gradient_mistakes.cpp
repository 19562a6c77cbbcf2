#include "attention/gradient_mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "attention/gradient_catalogue.hpp"
#include "grading/testing/listing.hpp"

namespace course::attention_tests {

using grading::Mistake;
using grading::Mistakes;
using grading::WrongResult;

namespace {

/// Whether a deviation may explain the result, judged by one row: no if that row is something else by far
/// more than rounding. Most deviations are found out here, at a fraction of the cost of all rows.
bool may_give(const BackwardProblem& p, const GradientDeviation& how, Gradient which,
              const WrongResult& result, Int row) {
  const std::vector<double> wrong = deviate_in_row(p, how, which, row);
  const auto size = static_cast<Int>(wrong.size());
  double magnitude = 0;
  for (const double x : wrong)
    if (std::isfinite(x)) magnitude = std::max(magnitude, std::abs(x));
  const double far = 100 * result.comparison.allowed + 1e-2 * magnitude;
  for (Int d = 0; d < size; ++d) {
    const auto got = static_cast<double>(result.got.at_linear(row * size + d));
    const double want = wrong[static_cast<std::size_t>(d)];
    if (is_nan_as_expected(result, row * size + d)) continue;
    if (std::isnan(got) != std::isnan(want)) return false;
    if (std::isfinite(got) && std::isfinite(want) && std::abs(got - want) > far) return false;
  }
  return true;
}

}  // namespace

Mistake deviation(std::string name, const BackwardProblem& p, Gradient which, GradientDeviation how,
                  std::string sentence) {
  grading::list_mistake(name, sentence);
  const auto explain = [&p, which, how = std::move(how), name,
                        sentence](const WrongResult& result) -> std::optional<std::string> {
    const std::vector<Int>& off = result.comparison.wrong;
    const Int size = which == Gradient::delta || which == Gradient::dsink ? 1 : p.D();
    if (!off.empty() && !(may_give(p, how, which, result, off.front() / size) &&
                          may_give(p, how, which, result, off.back() / size)))
      return std::nullopt;
    return gives_rounded(
        name, [&] { return deviate(p, how, which); }, sentence, result);
  };
  return {std::move(name), explain};
}

GradientCatalogue::GradientCatalogue(const BackwardProblem& p, Gradient which) : p_(p), which_(which) {
  for (Int i = 0; i < p.dO.numel(); ++i) {
    const float value = p.dO.at_linear(i);
    plain_dO_ = plain_dO_ && (value == 0.0f || value == 1.0f);
  }
  for (Int i = 0; i < p.lse.numel(); ++i) any_empty_row_ = any_empty_row_ || p.lse.at_linear(i) == -kInf;
}

void GradientCatalogue::add(const char* name, GradientDeviation how, std::string sentence) {
  deviations_.push_back({name, how, sentence});
  if (!any_empty_row_ || !has_P()) return;
  how.empty_row_guarded = true;
  deviations_.push_back({name, std::move(how), std::move(sentence)});
}

Mistakes GradientCatalogue::mistakes() const {
  Mistakes all;
  for (const NamedGradientDeviation& one : deviations_)
    all.push_back(deviation(one.name, p_, which_, one.how, one.sentence));
  all.insert(all.end(), patterns_.begin(), patterns_.end());
  return by_name(std::move(all));
}

Mistakes mistakes_in(const BackwardProblem& p, Gradient which) { return catalogue(p, which).mistakes(); }

std::vector<NamedGradientDeviation> deviations_in(const BackwardProblem& p, Gradient which) {
  return catalogue(p, which).deviations();
}

}  // namespace course::attention_tests
