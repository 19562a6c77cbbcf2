#include "grading/testing/gradcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "grading/facts/poison.hpp"
#include "grading/facts/positions.hpp"
#include "grading/facts/words.hpp"
#include "tensor/format.hpp"

namespace course::grading {
namespace {

constexpr double kStep = 0x1p-13;

GradcheckFunction& gradcheck_slot() {
  static GradcheckFunction function = nullptr;
  return function;
}

/// Gives an element its value back, however the scope is left.
class Restored {
 public:
  explicit Restored(float& element) : element_(element), value_(element) {}
  ~Restored() { element_ = value_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  float value() const { return value_; }

 private:
  float& element_;
  float value_;
};

double difference_at(Tensor<float>& x, std::int64_t linear, const Loss& loss, double step) {
  float& element = x.at_linear(linear);
  const Restored restored(element);
  const auto value = static_cast<double>(restored.value());
  const double h = std::abs(value) >= 1 && std::isfinite(value) ? std::ldexp(step, std::ilogb(value)) : step;
  const auto above = static_cast<float>(value + h), below = static_cast<float>(value - h);
  const double distance = static_cast<double>(above) - static_cast<double>(below);
  if (!std::isfinite(distance) || !(distance > 0))
    throw std::invalid_argument(fmt::format("x{} is {}, and float32 has no points around it at a step of {}",
                                            format_index(x.unravel(linear)), restored.value(), step));
  element = above;
  const double loss_above = loss();
  element = below;
  const double loss_below = loss();
  const double slope = (loss_above - loss_below) / distance;
  if (!std::isfinite(slope))
    throw std::domain_error(fmt::format("the loss is {} and {} around x{}, which is {}: no differences there",
                                        loss_above, loss_below, format_index(x.unravel(linear)),
                                        restored.value()));
  return slope;
}

std::string number(double value) { return std::isnan(value) ? "NaN" : fmt::format("{:.7g}", value); }

/// How many elements are wrong, and where.
std::string count_text(const GradientResult& result) {
  if (result.total == 1) return {};
  const bool some = result.total < result.elements;
  if (result.wrong == 1 && !some) return " It is the only one that is wrong.";
  std::string text = fmt::format(" {} of {} {} {}", result.wrong, result.total,
                                 some ? "elements that were compared" : "elements",
                                 result.unwritten == result.wrong ? "were never written"
                                 : result.wrong == 1              ? "is wrong"
                                                                  : "are wrong");
  if (result.unwritten > 0 && result.unwritten < result.wrong)
    text += fmt::format(", {} of them never written", result.unwritten);
  return text + (result.where.empty() ? "" : ": " + result.where) + ".";
}

void print_case(std::int64_t number, const GradcheckContext& context) {
  fmt::print("Case {}, seed {}{}{}\n", number, context.seed(), context.description().empty() ? "" : ": ",
             context.description());
  for (const GradientResult& result : context.results()) fmt::print("  {}\n", result.message());
  std::fflush(stdout);  // what goes wrong next is told on stderr
}

/// One case; nothing is printed if a setting was wrong.
GradcheckContext run_case(GradcheckFunction function, std::int64_t number, std::uint64_t seed,
                          const std::map<std::string, std::string>& settings) {
  GradcheckContext context(seed, settings);
  try {
    function(context);
  } catch (const RunError& error) {
    if (!error.usage()) print_case(number, context);
    throw;
  }
  if (const std::vector<std::string> unused = context.unused_settings(); !unused.empty())
    throw RunError(fmt::format("--set {}: this lesson's gradient check has no such setting.", unused.front()),
                   true);
  print_case(number, context);
  if (context.results().empty())
    throw RunError("This lesson's gradient check compares nothing: that is a mistake in the lesson.", false);
  return context;
}

}  // namespace

Tensor<double> central_differences(Tensor<float>& x, const Loss& loss, double step) {
  if (!(step > 0) || !std::isfinite(step))
    throw std::invalid_argument(fmt::format("step is {}, but must be finite and greater than 0", step));
  Tensor<double> gradient(x.shape());
  for (std::int64_t i = 0; i < x.numel(); ++i) gradient.at_linear(i) = difference_at(x, i, loss, step);
  return gradient;
}

std::string GradientResult::message() const {
  if (total == 0) return fmt::format("{} has no elements.", name);
  const std::string looked_at = total < elements ? fmt::format("{} of {} elements", total, elements)
                                : total == 1     ? std::string("1 element")
                                                 : fmt::format("{} elements", total);
  if (all_zero)
    return fmt::format("{} is 0 everywhere, as it should be here ({}): this case says little about it.", name,
                       looked_at);
  if (passed())
    return fmt::format("{} is right: {}, at most {:.1e} from central differences.", name, looked_at, largest);
  const std::string element = name + format_index(worst);
  if (is_poison(got))
    return fmt::format("{} is wrong: {} was never written; central differences give {}.{}", name, element,
                       number(expected), count_text(*this));
  const std::string distance = std::isfinite(largest) ? fmt::format(", which is {} away; {} is allowed",
                                                                    about(largest), about(allowed))
                                                      : "";
  return fmt::format(
      "{} is wrong: {} is {}, but central differences give {}{}.{}", name, element,
      number(format ? fewest_digits(static_cast<double>(got), *format) : static_cast<double>(got)),
      number(expected), distance, count_text(*this));
}

namespace {

/// Compares the elements with what is expected of each.
GradientResult compare_elements(const Elements& elements, const std::vector<double>& expected,
                                std::string_view name, const Tensor<float>& got, GradientBound bound) {
  GradientResult result;
  result.name = name;
  result.total = static_cast<std::int64_t>(elements.size());
  result.elements = got.numel();
  result.format = bound.format;
  double magnitude = 0;
  for (const double want : expected) {
    if (!std::isfinite(want))
      throw std::invalid_argument(fmt::format("the differences for {} are not finite", name));
    magnitude = std::max(magnitude, std::abs(want));
  }
  result.allowed = bound.relative * magnitude + bound.absolute;

  Elements wrong;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const float value = got.at_linear(elements[i]);
    double distance = std::abs(static_cast<double>(value) - expected[i]);
    if (!std::isfinite(distance)) distance = std::numeric_limits<double>::infinity();  // NaN, too
    if (!(distance <= result.allowed)) wrong.push_back(elements[i]);
    result.unwritten += is_poison(value) ? 1 : 0;
    if (i > 0 && distance <= result.largest) continue;
    result.largest = distance;
    result.worst = got.unravel(elements[i]);
    result.got = value;
    result.expected = expected[i];
  }
  result.wrong = static_cast<std::int64_t>(wrong.size());
  result.all_zero = result.total > 0 && wrong.empty() && magnitude <= bound.absolute;
  // Where some were compared, where the others are wrong is not known.
  if (!wrong.empty() && result.total == result.elements)
    result.where = to_words(locate(got.shape(), {}, wrong));
  return result;
}

Elements all_elements(const Tensor<float>& x) {
  Elements all(static_cast<std::size_t>(x.numel()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Elements choose_elements(const Tensor<float>& x, std::size_t most, Random& random) {
  Elements all = all_elements(x);
  if (all.size() <= most) return all;
  std::swap(all[1], all.back());  // the first and the last one stand in front, all others are shuffled
  for (std::size_t i = 2; i < all.size(); ++i)
    std::swap(all[i], all[static_cast<std::size_t>(random.integer(
                          static_cast<std::int64_t>(i), static_cast<std::int64_t>(all.size()) - 1))]);
  std::stable_partition(all.begin(), all.end(),
                        [&](std::int64_t i) { return !std::isfinite(x.at_linear(i)); });
  all.resize(most);
  std::sort(all.begin(), all.end());
  return all;
}

GradientResult compare_gradient(std::string_view name, const Tensor<float>& got,
                                const Tensor<double>& expected, GradientBound bound) {
  if (got.shape() != expected.shape())
    throw std::invalid_argument(fmt::format("{} has shape {}, but the differences have shape {}", name,
                                            format_shape(got.shape()), format_shape(expected.shape())));
  std::vector<double> values;
  for (std::int64_t i = 0; i < expected.numel(); ++i) values.push_back(expected.at_linear(i));
  return compare_elements(all_elements(got), values, name, got, bound);
}

GradientResult check_gradient(std::string_view name, const Tensor<float>& got, Tensor<float>& input,
                              const Loss& loss, GradientBound bound) {
  return compare_gradient(name, got, central_differences(input, loss), bound);
}

GradientResult check_gradient_at(const Elements& elements, std::string_view name, const Tensor<float>& got,
                                 Tensor<float>& input, const Loss& loss, GradientBound bound) {
  if (got.shape() != input.shape())
    throw std::invalid_argument(fmt::format("{} has shape {}, but its input has shape {}", name,
                                            format_shape(got.shape()), format_shape(input.shape())));
  std::vector<double> expected;
  for (const std::int64_t i : elements) expected.push_back(difference_at(input, i, loss, kStep));
  return compare_elements(elements, expected, name, got, bound);
}

void GradcheckContext::compare(std::string_view name, const Tensor<float>& got, Tensor<float>& input,
                               const Loss& loss, GradientBound bound) {
  Random random(seed_ + results_.size());  // its own, so that what is compared changes no other number
  results_.push_back(
      check_gradient_at(choose_elements(got, kMostElements, random), name, got, input, loss, bound));
}

void GradcheckContext::insist(const Outcome& outcome) {
  if (const std::string why = why_not_clean(outcome); !why.empty()) throw RunError(why, false);
}

bool register_gradcheck(GradcheckFunction function) {
  gradcheck_slot() = function;
  return true;
}

GradcheckFunction registered_gradcheck() { return gradcheck_slot(); }

namespace {

/// What none of the cases had, in a sentence; nothing if there is no such thing.
std::string not_looked_at(const std::vector<std::pair<std::string, bool>>& covered) {
  std::vector<std::string> left;
  for (const auto& [what, looked_at] : covered)
    if (!looked_at) left.push_back(what);
  if (left.empty()) return "";
  return fmt::format("Not looked at, since no case had it: {}.\n", fmt::join(left, ", "));
}

std::string verdict(std::int64_t compared, std::int64_t wrong, std::int64_t zero, std::uint64_t first_wrong) {
  if (wrong > 0)
    return fmt::format("{} of {} gradients {} wrong. Add --seed {} --cases 1 to repeat the first such case.",
                       wrong, compared, wrong == 1 ? "is" : "are", first_wrong);
  const std::int64_t right = compared - zero;
  if (right == 0) return "Every gradient is 0 everywhere here: these cases cannot tell a right kernel.";
  std::string text =
      right == 1 ? "The gradient is right." : fmt::format("All {} gradients are right.", right);
  if (zero > 0)
    text = fmt::format("{} of {} gradients {} right; the other{} 0 everywhere, which says little.", right,
                       compared, right == 1 ? "is" : "are", zero == 1 ? " is" : "s are");
  return text;
}

}  // namespace

bool run_gradcheck(GradcheckFunction function, std::uint64_t seed, std::int64_t cases,
                   const std::map<std::string, std::string>& settings) {
  std::int64_t compared = 0, wrong = 0, zero = 0;
  std::uint64_t first_wrong = 0;
  std::vector<std::pair<std::string, bool>> covered;
  for (std::int64_t i = 0; i < cases; ++i) {
    const GradcheckContext context =
        run_case(function, i + 1, seed + static_cast<std::uint64_t>(i), settings);
    covered.resize(context.covered().size());
    for (std::size_t k = 0; k < covered.size(); ++k) {
      covered[k].first = context.covered()[k].first;
      covered[k].second |= context.covered()[k].second;
    }
    for (const GradientResult& result : context.results()) {
      ++compared;
      zero += result.all_zero ? 1 : 0;
      if (result.passed()) continue;
      if (wrong++ == 0) first_wrong = context.seed();
    }
  }
  fmt::print("{}\n{}", verdict(compared, wrong, zero, first_wrong), not_looked_at(covered));
  return wrong == 0;
}

}  // namespace course::grading
