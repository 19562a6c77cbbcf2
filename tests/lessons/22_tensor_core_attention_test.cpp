// Tests of lesson 22: O and lse of attention_forward_bfloat16 and _float16 against float64 on the same inputs,
// within what rounding P and O to 16 bits costs; and how they go about memory and tensor cores.

#include "22_tensor_core_attention/tensor_core_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/checks.hpp"
#include "attention/tile_mistakes.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr Format16 kBoth[] = {Format16::bfloat16, Format16::float16};

// --- Calls ---

template <class T, class Function>
Outcome attend(Entry<Function> entry, const Problem& p, Forward& got, const CallOptions& options) {
  Tensor<T> O = narrowed<T>(got.O);
  const auto call = [&](const auto& sink) {
    return call_with(options, entry, in(narrowed<T>(p.Q), "Q"), in(narrowed<T>(p.K), "K"),
                     in(narrowed<T>(p.V), "V"), sink, out(O, "O"), out(got.lse, "lse"), p.scale,
                     p.mask.causal, p.mask.window, p.mask.sinks);
  };
  const Outcome outcome = p.sink ? call(in(*p.sink, "sink")) : call(null());
  got.O = widened(O);
  return outcome;
}

Outcome attend(const Problem& p, Forward& got, const CallOptions& options) {
  return p.format == Format16::bfloat16
             ? attend<bfloat16>(ENTRY(attention_forward_bfloat16), p, got, options)
             : attend<float16>(ENTRY(attention_forward_float16), p, got, options);
}

Mistakes own_mistakes(const Problem&, Which) { return {}; }

Kernel kernel_of_lesson() {
  Kernel kernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                  return attend(p, got, options);
                },
                {Which::lse, Which::O},
                own_mistakes};
  kernel.grouped = true;
  kernel.max_dim = kMaxDim;
  return kernel;
}
const Kernel kKernel = kernel_of_lesson();

void check(const Problem& p, TestLine where = TestLine::here()) {
  attention_tests::check(kKernel, p, {}, where);
}
/// Without check mode, which takes many times as long: for what other calls have had checked.
void check_values(const Problem& p, TestLine where = TestLine::here()) {
  attention_tests::check(kKernel, p, {.check = CheckMode::never}, where);
}
void check_values_in_both(const Problem& p, TestLine where = TestLine::here()) {
  for (const Format16 format : kBoth) check_values(in_16_bits(p, format), where);
}

Problem bf16(Problem p) { return in_16_bits(std::move(p), Format16::bfloat16); }
[[maybe_unused]] Problem fp16(Problem p) { return in_16_bits(std::move(p), Format16::float16); }

}  // namespace

TEST_CASE("attends from 1 to 300 queries to as many keys", "[l22][tensor_core_attention][points:2]") {
  check(bf16(random_problem({1, 1, 20, 70, 16})));
  for (const Int N : {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300}) check_values_in_both(random_problem({1, 1, N, N, 8}));
}
TEST_CASE("masks", "[l22][tensor_core_attention][points:2]") {
  for (const Int D : {8, 16, 40, 64, 72, 128, 136, 256})
    for (const bool causal : {false, true})
      check_values(bf16(with_sink(random_problem({1, 2, 70, 90, D, 1}, {.causal = causal, .window = 40, .sinks = 5}))));
}
