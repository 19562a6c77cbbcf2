// Tests of lesson 24: gradients of attention from 16-bit inputs against float64, within twice the error of plain
// float32 programs and what rounding P, dS and the results to 16 bits costs.

#include "24_tensor_core_backward/tensor_core_backward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attention/dropout.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/float16.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr std::uint64_t kSeed = 0x0123456789abcdefu;  // both halves count
constexpr Format16 kFormats[] = {Format16::bfloat16, Format16::float16};

// --- Calls ---

constexpr Takes kTakes{.causal = Causal::choice,
                       .window = true,
                       .sinks = true,
                       .sink_array = true,
                       .grouped = true,
                       .sixteen_bits = true};

float dropout_of(const Problem& p) { return p.dropout ? p.dropout->p : 0.0f; }
std::uint64_t seed_of(const Problem& p) { return p.dropout ? p.dropout->seed : kSeed; }

template <class T>
constexpr auto entry() {
  if constexpr (std::is_same_v<T, bfloat16>)
    return ENTRY(attention_backward_bfloat16);
  else
    return ENTRY(attention_backward_float16);
}

/// Calls `run(entry, arguments...)` with the problem's tensors in T, and converts what it wrote.
template <class T, class Run>
auto in_type(const BackwardProblem& p, Backward& got, Run run) {
  Tensor<T> dQ = got.dQ.to<T>(), dK = got.dK.to<T>(), dV = got.dV.to<T>();
  const auto call = [&](const auto& sink, const auto& dsink) {
    return run(entry<T>(), in(p.Q.to<T>(), "Q"), in(p.K.to<T>(), "K"), in(p.V.to<T>(), "V"), sink,
               in(p.O.to<T>(), "O"), in(p.lse, "lse"), in(p.dO.to<T>(), "dO"), out(got.delta, "delta"), out(dQ, "dQ"),
               out(dK, "dK"), out(dV, "dV"), dsink, p.scale, p.mask.causal, p.mask.window, p.mask.sinks,
               dropout_of(p), seed_of(p));
  };
  auto outcome = p.sink ? call(in(*p.sink, "sink"), out(got.dsink, "dsink")) : call(null(), null());
  got.dQ = dQ.template to<float>(), got.dK = dK.template to<float>(), got.dV = dV.template to<float>();
  return outcome;
}

Outcome call_backward(const BackwardProblem& p, Backward& got, const CallOptions& options) {
  const auto run = [&](const auto&... arguments) { return call_with(options, arguments...); };
  return p.format == Format16::float16 ? in_type<float16>(p, got, run) : in_type<bfloat16>(p, got, run);
}

const BackwardKernel kBackward{call_backward, kTakes};

Problem problem(const Sizes& n, Format16 format, const reference::Mask& mask = {}) {
  return in_16_bits(random_problem(n, mask), format);
}

}  // namespace

TEST_CASE("gives the gradients of one head, in both types, up to a whole tile and beyond",
          "[l24][tensor_core_backward][points:4]") {
  for (const Format16 format : kFormats) {
    check(kBackward, problem({1, 1, 5, 7, 8}, format));
    check_values(kBackward, problem({1, 1, 70, 130, 64}, format));
    check_values(kBackward, problem({1, 1, 150, 40, 128}, format));
  }
}
TEST_CASE("scratch", "[l24][tensor_core_backward][points:4]") {
  for (const Format16 format : kFormats) {
    check_values(kBackward, in_16_bits(with_sink(random_problem({2, 4, 140, 300, 40, 2}, {.causal = true, .window = 90, .sinks = 3})), format));
    check_values(kBackward, in_16_bits(random_problem({1, 2, 300, 140, 72}, {.causal = true}), format));
    check_values(kBackward, in_16_bits(attention_tests::dropped(random_problem({1, 4, 30, 40, 16, 2}, {.causal = true}), 0.3f, kSeed, decision_of), format));
    check_values(kBackward, in_16_bits(attention_tests::dropped(random_problem({1, 4, 30, 40, 88, 2}, {.causal = true}), 0.3f, kSeed, decision_of), format));
  }
}
