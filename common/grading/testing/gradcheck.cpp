#include "grading/testing/gradcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "grading/facts/poison.hpp"
#include "grading/facts/positions.hpp"
#include "tensor/format.hpp"

namespace course::grading {
namespace {

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
  if (result.wrong == 1) return " It is the only one that is wrong.";
  std::string text = fmt::format(" {} of {} elements {}", result.wrong, result.total,
                                 result.unwritten == result.wrong ? "were never written" : "are wrong");
  if (result.unwritten > 0 && result.unwritten < result.wrong)
    text += fmt::format(", {} of them never written", result.unwritten);
  return text + ": " + result.where + ".";
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
  if (passed())
    return fmt::format("{} is right: {}, at most {:.1e} from central differences.", name,
                       total == 1 ? std::string("1 element") : fmt::format("{} elements", total), largest);
  const std::string element = name + format_index(worst);
  if (is_poison(got))
    return fmt::format("{} is wrong: {} was never written; central differences give {}.{}", name, element,
                       number(expected), count_text(*this));
  const std::string distance =
      std::isfinite(largest) ? fmt::format(", which is {:.2g} away; {:.2g} is allowed", largest, allowed)
                             : "";
  return fmt::format("{} is wrong: {} is {}, but central differences give {}{}.{}", name, element,
                     number(static_cast<double>(got)), number(expected), distance, count_text(*this));
}

GradientResult compare_gradient(std::string_view name, const Tensor<float>& got,
                                const Tensor<double>& expected, GradientBound bound) {
  if (got.shape() != expected.shape())
    throw std::invalid_argument(fmt::format("{} has shape {}, but the differences have shape {}", name,
                                            format_shape(got.shape()), format_shape(expected.shape())));
  GradientResult result;
  result.name = name;
  result.total = got.numel();
  double magnitude = 0;
  for (std::int64_t i = 0; i < result.total; ++i) {
    const double want = expected.at_linear(i);
    if (!std::isfinite(want))
      throw std::invalid_argument(fmt::format("the differences for {} are not finite", name));
    magnitude = std::max(magnitude, std::abs(want));
  }
  result.allowed = bound.relative * magnitude + bound.absolute;

  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < result.total; ++i) {
    const float value = got.at_linear(i);
    double distance = std::abs(static_cast<double>(value) - expected.at_linear(i));
    if (!std::isfinite(distance)) distance = std::numeric_limits<double>::infinity();  // NaN, too
    if (!(distance <= result.allowed)) wrong.push_back(i);
    result.unwritten += is_poison(value) ? 1 : 0;
    if (i > 0 && distance <= result.largest) continue;
    result.largest = distance;
    result.worst = got.unravel(i);
    result.got = value;
    result.expected = expected.at_linear(i);
  }
  result.wrong = static_cast<std::int64_t>(wrong.size());
  if (!wrong.empty()) result.where = to_words(locate(got.shape(), {}, wrong));
  return result;
}

GradientResult check_gradient(std::string_view name, const Tensor<float>& got, Tensor<float>& input,
                              const Loss& loss, GradientBound bound) {
  return compare_gradient(name, got, central_differences(input, loss), bound);
}

void GradcheckContext::insist(const Outcome& outcome) {
  if (const std::string why = why_not_clean(outcome); !why.empty()) throw RunError(why, false);
}

bool register_gradcheck(GradcheckFunction function) {
  gradcheck_slot() = function;
  return true;
}

GradcheckFunction registered_gradcheck() { return gradcheck_slot(); }

bool run_gradcheck(GradcheckFunction function, std::uint64_t seed, std::int64_t cases,
                   const std::map<std::string, std::string>& settings) {
  std::int64_t compared = 0, wrong = 0;
  std::uint64_t first_wrong = 0;
  for (std::int64_t i = 0; i < cases; ++i) {
    const GradcheckContext context =
        run_case(function, i + 1, seed + static_cast<std::uint64_t>(i), settings);
    for (const GradientResult& result : context.results()) {
      ++compared;
      if (result.passed()) continue;
      if (wrong++ == 0) first_wrong = context.seed();
    }
  }
  if (wrong == 0)
    fmt::print("{}\n", compared == 1 ? "The gradient is right."
                                     : fmt::format("All {} gradients are right.", compared));
  else
    fmt::print("{} of {} gradients {} wrong. Add --seed {} --cases 1 to repeat the first such case.\n", wrong,
               compared, wrong == 1 ? "is" : "are", first_wrong);
  return wrong == 0;
}

}  // namespace course::grading
