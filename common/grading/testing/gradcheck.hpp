#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/testing/call.hpp"
#include "grading/testing/compare.hpp"
#include "grading/testing/settings.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

/// A number that depends on tensors, in float64. central_differences() changes one of them, an element at a
/// time, so the function must read it anew with every call.
using Loss = std::function<double()>;

/// @brief The gradient of a loss for x: (L(x + h) - L(x - h)) / 2h, element by element.
/// The two points are rounded to float32, and divided by is their exact distance. h is `step` times the power
/// of two at or below |x|, and at least `step`. Every element is restored, also when the loss throws.
/// Shapes: as x, contiguous; x may have any strides, and its gaps are never touched.
/// Error:  h²/6 · L''' of the method, 2⁻⁵³ · |L| / h times the roundings of the loss, and 2⁻²⁴ · |x| · L''
///         where x ± h passes a power of two and is rounded. With inputs, L and its derivatives of about 1
///         the default step, 2⁻¹³, makes them 2e-9, 1e-12 and 6e-8: no more than a float32 kernel loses
///         itself.
/// Domain: a loss in float32 would lose everything: 2⁻²⁴ / h is 5e-4. Where the loss has a kink or a jump
///         within h, the result means nothing.
/// Cost:   2 · numel evaluations of the loss.
/// @throws std::invalid_argument unless step > 0 and x and x ± h are finite, std::domain_error if the loss is
/// not finite there; both name the element.
Tensor<double> central_differences(Tensor<float>& x, const Loss& loss, double step = 0x1p-13);

/// Elements of a tensor, by their linear index.
using Elements = std::vector<std::int64_t>;

/// @brief At most `most` elements of the tensor, in order: all of them if there are no more; else those that
/// are not finite first, the first and the last one, and others by chance, all equally likely.
Elements choose_elements(const Tensor<float>& x, std::size_t most, Random& random);

/// @brief How far a gradient may lie from what the differences give: relative · max|expected| + absolute.
/// An element is measured by the largest one, since a kernel's rounding errors are those of the large terms
/// that cancel in it. For inputs of about 1, a float32 kernel stays below 1e-5 of that and the differences
/// far below; what a wrong formula, index or mask changes is seldom below 1e-1. 1e-3 lies between, with room
/// for approximate exponentials. The absolute part is for gradients that are zero throughout, such as dQ of
/// queries that see one key: there, everything cancels, and rounding errors are all that is left.
///
/// A gradient of 16 bits is off by its own rounding, half a step, and by as much again and again where P, dS
/// or other intermediate results were rounded: with 4 such roundings, 1.7e-2 for bfloat16 and 3e-3 for
/// float16.
struct GradientBound {
  double relative = 1e-3;
  double absolute = 1e-5;
  std::optional<Format16> format{};  ///< the gradient's type; nothing: float32

  /// @brief The bound of gradients of 16 bits.
  static GradientBound of(Format16 format) {
    GradientBound bound;
    bound.relative += 4 * half_step(1.0, format);
    bound.format = format;
    return bound;
  }
};

/// What came of one gradient.
struct GradientResult {
  std::string name;
  std::int64_t total = 0;             ///< elements compared
  std::int64_t elements = 0;          ///< of the whole gradient
  bool all_zero = false;              ///< right and expected are 0 everywhere, as far as the bound can tell
  std::int64_t wrong = 0;             ///< of them; NaN, infinite and never written ones are wrong
  std::int64_t unwritten = 0;         ///< of the wrong ones
  double allowed = 0;                 ///< the largest difference that is right
  double largest = 0;                 ///< the largest difference seen; infinite if an element is not finite
  std::vector<std::int64_t> worst{};  ///< its index, one number an axis; empty if there are no elements
  std::optional<Format16> format{};   ///< of the gradient; nothing: float32
  float got = 0;                      ///< what the gradient has there ...
  double expected = 0;                ///< ... and what the differences give
  std::string where{};                ///< where the wrong elements lie, in words
  bool passed() const { return wrong == 0; }
  /// One sentence if it is right, a few if it is wrong.
  std::string message() const;
};

/// @brief Compares a gradient that a kernel wrote with what central_differences() gave.
/// Shapes: both the same, any strides. Cost: reads each element a few times.
/// @throws std::invalid_argument if the shapes differ or `expected` is not finite (mistakes in the test).
GradientResult compare_gradient(std::string_view name, const Tensor<float>& got,
                                const Tensor<double>& expected, GradientBound bound = {});

/// @brief central_differences() and compare_gradient() in one: `got` should be the gradient of the loss for
/// `input`. In a test case, require_gradient() of lesson_test.hpp does this and fails the case.
GradientResult check_gradient(std::string_view name, const Tensor<float>& got, Tensor<float>& input,
                              const Loss& loss, GradientBound bound = {});

/// @brief The same for some of the elements. Cost: 2 evaluations of the loss for each.
GradientResult check_gradient_at(const Elements& elements, std::string_view name, const Tensor<float>& got,
                                 Tensor<float>& input, const Loss& loss, GradientBound bound = {});

/// @brief One random case of the gradcheck command.
///
/// Everything random in it comes from its seed alone, so that `--seed` with that number and `--cases 1`
/// repeat it. Ask for every setting in every case: others are refused as unknown.
class GradcheckContext : public Settings {
 public:
  GradcheckContext(std::uint64_t seed, std::map<std::string, std::string> settings)
      : Settings(std::move(settings)), seed_(seed), random_(seed) {}

  /// @brief The seed of this case. Cases of one run have seeds that follow each other: seed() % 2 chooses
  /// between two kinds of case so that both occur.
  std::uint64_t seed() const { return seed_; }

  /// @brief Random numbers of this case, and tensors of normally distributed ones; each call gives new ones.
  Random& random() { return random_; }
  Tensor<float> normal(Shape shape, float scale = 1.0f) {
    return course::normal(std::move(shape), random_.bits(), scale);
  }

  /// @brief Says what the case is, such as "2 heads, 5 queries, 7 keys, 4 dimensions, causal". Call it first.
  void describe(std::string_view text) { description_ = text; }

  /// @brief Calls an entry and insists on a clean run.
  /// @throws RunError with what went wrong.
  template <class Function, class... Arguments>
  void call(Entry<Function> entry, const Arguments&... arguments) {
    insist(course::grading::call(entry, arguments...));
  }

  /// @brief Ends the check with what went wrong unless the call was a clean run.
  /// @throws RunError
  static void insist(const Outcome& outcome);

  /// @brief Compares a gradient that the kernel wrote with central differences for `input`.
  /// The loss is float64 and reads `input`, usually Σ dO ∘ O with O from the reference. Of a large gradient,
  /// kMostElements are compared, chosen by the seed. Cost: 2 losses for each element that is compared.
  /// Of a kernel that takes 16 bits, `input` holds the same numbers in float32, which the differences move.
  void compare(std::string_view name, const Tensor<float>& got, Tensor<float>& input, const Loss& loss,
               GradientBound bound = {});
  template <class T>
  requires is_16_bit<T>
  void compare(std::string_view name, const Tensor<T>& got, Tensor<float>& input, const Loss& loss,
               GradientBound bound = GradientBound::of(format_of<T>)) {
    compare(name, widened(got), input, loss, bound);
  }
  static constexpr std::size_t kMostElements = 100;

  /// @brief Says whether the case has something that a kernel may get wrong, "more than one tile of keys".
  /// What no case of a run has is told at its end. Every case names the same things, in the same order.
  void covers(std::string_view what, bool has_it) { covered_.emplace_back(what, has_it); }

  const std::string& description() const { return description_; }
  const std::vector<GradientResult>& results() const { return results_; }
  const std::vector<std::pair<std::string, bool>>& covered() const { return covered_; }

 private:
  std::uint64_t seed_;
  Random random_;
  std::string description_;
  std::vector<GradientResult> results_;
  std::vector<std::pair<std::string, bool>> covered_;
};

using GradcheckFunction = void (*)(GradcheckContext&);

/// @brief Makes a function the one that `--gradcheck` calls for each case; used by COURSE_GRADCHECK.
bool register_gradcheck(GradcheckFunction function);

/// @brief The registered function, or nullptr.
GradcheckFunction registered_gradcheck();

/// @brief Runs `cases` cases with seeds from `seed` on. Prints a line for each case and, indented, one for
/// each of its gradients; then what it came to, and what no case had. Returns whether no gradient is wrong.
/// @throws RunError if the kernel fails, if a case compares nothing, or if a setting is wrong or unknown.
bool run_gradcheck(GradcheckFunction function, std::uint64_t seed, std::int64_t cases,
                   const std::map<std::string, std::string>& settings);

/// @brief Defines what the gradcheck command does for this lesson, one case at a time; one per test file:
/// COURSE_GRADCHECK(GradcheckContext& check) { ... }
#define COURSE_GRADCHECK(parameter)                                  \
  static void course_gradcheck_body(parameter);                      \
  [[maybe_unused]] static const bool course_gradcheck_registered =   \
      ::course::grading::register_gradcheck(&course_gradcheck_body); \
  static void course_gradcheck_body(parameter)

}  // namespace course::grading
