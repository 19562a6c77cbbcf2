#include "grading/testing/mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "grading/facts/poison.hpp"
#include "grading/testing/listing.hpp"

namespace course::grading {
namespace {

/// A mistake that has one sentence, whatever the result.
Mistake fixed(std::string name, std::function<bool(const WrongResult&)> fits, std::string sentence) {
  list_mistake(name, sentence);
  return {std::move(name),
          [fits = std::move(fits), sentence = std::move(sentence)](const WrongResult& result) {
            return fits(result) ? std::optional(sentence) : std::nullopt;
          }};
}

bool differ(const Tensor<double>& wrong, const Tensor<double>& expected, double allowed) {
  for (std::int64_t i = 0; i < wrong.numel(); ++i) {
    const double a = wrong.at_linear(i), b = expected.at_linear(i);
    if (a != b && !(std::isnan(a) && std::isnan(b)) && !(std::abs(a - b) <= allowed)) return true;
  }
  return false;
}

/// What is right is allowed to differ by `allowed`; numbers that are larger, by as much more.
double allowed_for(double magnitude, const WrongResult& result) {
  const double right = largest_magnitude(result.expected);
  return result.comparison.allowed * (right > 0 ? std::max(1.0, magnitude / right) : 1.0);
}

bool is_what_it_gives(const Tensor<double>& wrong, const WrongResult& result) {
  if (wrong.shape() != result.expected.shape())
    throw std::invalid_argument("a mistake gives another shape than the lesson's reference");
  return differ(wrong, result.expected, result.comparison.allowed) &&
         elements_off(result.got, wrong, allowed_for(largest_magnitude(wrong), result)).empty();
}

/// Whether exactly the elements that satisfy `where` are wrong, and look as `looks` says.
bool wrong_exactly(const std::function<bool(const Index&)>& where, const WrongResult& result,
                   const std::function<bool(float)>& looks) {
  const std::vector<std::int64_t>& wrong = result.comparison.wrong;
  if (static_cast<std::int64_t>(wrong.size()) == result.got.numel()) return false;
  auto next = wrong.begin();
  for (std::int64_t i = 0; i < result.got.numel(); ++i) {
    const bool is_wrong = next != wrong.end() && *next == i;
    if (is_wrong) ++next;
    if (is_wrong != where(result.got.unravel(i))) return false;
    if (is_wrong && !looks(result.got.at_linear(i))) return false;
  }
  return true;
}

/// The factor, if there is one.
std::optional<double> common_factor(const WrongResult& result) {
  std::int64_t largest = -1;
  double most = 0, least = 0;  // magnitudes that say something about a factor
  std::int64_t telling = 0;
  for (std::int64_t i = 0; i < result.expected.numel(); ++i) {
    const double magnitude = std::abs(result.expected.at_linear(i));
    if (!std::isfinite(magnitude) || magnitude <= 10 * result.comparison.allowed) continue;
    least = telling++ == 0 ? magnitude : std::min(least, magnitude);
    if (magnitude > most) {
      most = magnitude;
      largest = i;
    }
  }
  if (telling < 3 || most < 1.5 * least) return std::nullopt;
  const double factor =
      static_cast<double>(result.got.at_linear(largest)) / result.expected.at_linear(largest);
  if (!std::isfinite(factor) || factor == 0) return std::nullopt;
  Tensor<double> scaled(result.expected.shape());
  for (std::int64_t i = 0; i < scaled.numel(); ++i)
    scaled.at_linear(i) = factor * result.expected.at_linear(i);
  return is_what_it_gives(scaled, result) ? std::optional(factor) : std::nullopt;
}

}  // namespace

Mistake gives(std::string name, std::function<Tensor<double>()> wrong, std::string sentence) {
  return fixed(
      std::move(name),
      [wrong = std::move(wrong)](const WrongResult& result) { return is_what_it_gives(wrong(), result); },
      std::move(sentence));
}

Mistake wrong_where(std::string name, std::function<bool(const Index&)> where, std::string sentence) {
  return fixed(
      std::move(name),
      [where = std::move(where)](const WrongResult& result) {
        return wrong_exactly(where, result, [](float) { return true; });
      },
      std::move(sentence));
}

Mistake nan_where(std::string name, std::function<bool(const Index&)> where, std::string sentence) {
  return fixed(
      std::move(name),
      [where = std::move(where)](const WrongResult& result) {
        return wrong_exactly(where, result,
                             [](float value) { return std::isnan(value) && !is_poison(value); });
      },
      std::move(sentence));
}

Mistake unwritten_where(std::string name, std::function<bool(const Index&)> where, std::string sentence) {
  return fixed(
      std::move(name),
      [where = std::move(where)](const WrongResult& result) {
        return wrong_exactly(where, result, [](float value) { return is_poison(value); });
      },
      std::move(sentence));
}

Mistake off_by_a_factor(std::string name, std::string sentence) {
  list_mistake(name, fmt::format(fmt::runtime(sentence), "..."));
  return {std::move(name), [sentence = std::move(sentence)](const WrongResult& result) {
            const std::optional<double> factor = common_factor(result);
            return factor ? std::optional(fmt::format(fmt::runtime(sentence), fmt::format("{:.6g}", *factor)))
                          : std::nullopt;
          }};
}

Mistake shows(std::string name, std::function<bool(const Tensor<float>& got)> pattern, std::string sentence) {
  return fixed(
      std::move(name),
      [pattern = std::move(pattern)](const WrongResult& result) { return pattern(result.got); },
      std::move(sentence));
}

std::vector<Attempt> try_mistakes(const Mistakes& mistakes, const WrongResult& result) {
  if (rehearsing()) {  // some are made without a sentence
    for (const Mistake& mistake : mistakes) list_mistake(mistake.name, "");
    return {};
  }
  std::vector<Attempt> attempts;
  for (const Mistake& mistake : mistakes) {
    std::optional<std::string> sentence = mistake.explain(result);
    if (sentence && sentence->empty()) continue;
    Attempt& attempt =
        attempts.emplace_back(Attempt{mistake.name, std::move(sentence).value_or(""), mistake.ruled_out});
    if (!attempt.sentence.empty() && mistake.other_forms) attempt.other_forms = mistake.other_forms(result);
  }
  return attempts;
}

}  // namespace course::grading
