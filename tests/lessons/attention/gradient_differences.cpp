#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "attention/check_parts.hpp"
#include "attention/gradient_checks.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

/// Σ dO ∘ O in float64, of the problem as it is when it is called.
Loss loss_of(const Problem& p, const Tensor<float>& dO) {
  return [&p, &dO] {
    const Tensor<double> O = attention_of(p).O;
    double sum = 0;
    for (Int i = 0; i < O.numel(); ++i) sum += static_cast<double>(dO.at_linear(i)) * O.at_linear(i);
    return sum;
  };
}

/// Visits each gradient that has an input: which it is, it, and the input.
template <class Visit>
void each_gradient(BackwardProblem& p, const Backward& got, Visit visit) {
  visit(Gradient::dV, got.dV, p.V);
  visit(Gradient::dK, got.dK, p.K);
  visit(Gradient::dQ, got.dQ, p.Q);
  if (p.sink) visit(Gradient::dsink, got.dsink, *p.sink);
}

/// @brief What may lie between a gradient and differences of the loss. A kernel of 16 bits makes delta of an
/// O that has been rounded, which the loss knows nothing of: as much as that changes the gradient is allowed
/// besides.
GradientBound bound_of(const BackwardProblem& p, Gradient which) {
  if (!p.format) return {};
  GradientBound bound = GradientBound::of(*p.format);
  Problem unrounded = static_cast<const Problem&>(p);
  unrounded.format.reset();
  const Tensor<double> with_rounded_O = expected_of(p).of(which),
                       with_O = expected_of(with_gradient(unrounded, p.dO)).of(which);
  double most = 0;
  for (Int i = 0; i < with_O.numel(); ++i)
    most = std::max(most, std::abs(with_rounded_O.at_linear(i) - with_O.at_linear(i)));
  bound.absolute += most;
  return bound;
}

bool chance(GradcheckContext& check) { return check.random().integer(0, 1) == 1; }

Int positive(GradcheckContext& check, const char* name, Int otherwise) {
  const Int value = check.integer(name, otherwise);
  if (value < 1) throw RunError(std::string("--set ") + name + ": it must be at least 1.", true);
  return value;
}

/// Longer than any tile of the lessons' kernels.
constexpr Int kTile = 64;

/// A random problem, as far as the settings leave it open. Of three cases with seeds that follow each other
/// one is small, one has several tiles of queries and of keys, and one has more queries than keys.
Problem random_case(GradcheckContext& check, const Takes& takes) {
  // All random numbers are drawn whatever is set, so that a setting changes nothing else.
  Random& random = check.random();
  const bool tiles = check.seed() % 3 == 2, rows = check.seed() % 3 == 0;
  const Int B = tiles ? 1 : random.integer(1, 2), groups = random.integer(1, 2),
            group = tiles ? 2 : random.integer(1, 3);
  const Int Nk = tiles ? kTile + random.integer(1, kTile / 4) : random.integer(2, 7),
            Nq = tiles  ? kTile + random.integer(1, kTile / 4)
                 : rows ? Nk + random.integer(1, 3)
                        : random.integer(1, 7),
            D = random.integer(2, 6);
  const reference::Mask mask{.causal = check.seed() % 2 == 1,
                             .window = tiles  ? random.integer(kTile / 2, kTile)
                                       : rows ? random.integer(1, 4)
                                              : kAllKeys,
                             .sinks = tiles || rows ? random.integer(1, 2) : 0};
  const bool sink = (tiles || chance(check)) && takes.sink_array;

  const Int H_kv = takes.grouped ? positive(check, "kv_heads", groups) : 0;
  const Int H = positive(check, "heads", takes.grouped ? H_kv * group : groups);
  if (takes.grouped && H % H_kv != 0) throw RunError("--set kv_heads: it must divide heads.", true);
  const Sizes n{positive(check, "batches", B),  H,
                positive(check, "queries", Nq), positive(check, "keys", Nk),
                positive(check, "dim", D),      takes.grouped ? H_kv : H};
  Problem p{
      check.normal({n.B, n.H, n.Nq, n.D}), check.normal({n.B, n.H_kv, n.Nk, n.D}),
      check.normal({n.B, n.H_kv, n.Nk, n.D}),
      static_cast<float>(check.number("scale", n.D == 1 ? 0.75 : 1.0 / std::sqrt(static_cast<double>(n.D))))};
  p.mask = read_mask(check, takes, mask);
  const bool wants_sink = check.boolean("learned_sink", sink);
  if (wants_sink && !takes.sink_array)
    throw RunError("--set learned_sink: this lesson's kernel takes no learned sink.", true);
  if (wants_sink) p.sink = check.normal({n.H});
  return p;
}

/// Says what of that which a kernel may get wrong is in the case, and what is not.
void say_what_is_covered(GradcheckContext& check, const Takes& takes, const Problem& p) {
  check.covers("more than one key", p.Nk() > 1);
  check.covers("more than one tile of keys", p.Nk() > kTile);
  check.covers("more than one tile of queries", p.Nq() > kTile);
  check.covers("more than one head", p.H() > 1);
  if (takes.grouped) check.covers("heads that share a head of K and V", p.H() > p.H_kv());
  if (takes.causal == Causal::choice) check.covers("a causal mask", p.mask.causal);
  if (takes.window) check.covers("a window", p.mask.window < p.Nk());
  if (takes.sinks) check.covers("sinks beside a window", p.mask.sinks > 0 && p.mask.window < p.Nk());
  if (takes.sink_array) check.covers("a learned sink", p.sink.has_value());
}

}  // namespace

void check_differences(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where) {
  INFO(describe(p));
  Backward got = results_of(p);
  require_ran(kernel.attend_backward(p, got, {}), where);
  if (rehearsing()) return;  // differences know no mistakes
  BackwardProblem changed = p;
  const Loss loss = loss_of(changed, changed.dO);
  each_gradient(changed, got, [&](Gradient which, const Tensor<float>& gradient, Tensor<float>& input) {
    require_gradient(gradient, name_of(which), input, loss, bound_of(p, which), where);
  });
}

void gradcheck_attention_backward(GradcheckContext& check, const BackwardKernel& kernel,
                                  const std::function<Problem(const Problem&)>& change) {
  Problem drawn = random_case(check, kernel.takes);
  if (change) drawn = change(drawn);
  Tensor<float> dO = check.normal(drawn.shape_of_O());
  BackwardProblem p = with_gradient(drawn, std::move(dO));
  check.describe(describe(p));
  say_what_is_covered(check, kernel.takes, drawn);
  Backward got = results_of(p);
  GradcheckContext::insist(kernel.attend_backward(p, got, {}));
  const Loss loss = loss_of(p, p.dO);
  each_gradient(p, got, [&](Gradient which, const Tensor<float>& gradient, Tensor<float>& input) {
    check.compare(name_of(which), gradient, input, loss, bound_of(p, which));
  });
}

}  // namespace course::attention_tests
