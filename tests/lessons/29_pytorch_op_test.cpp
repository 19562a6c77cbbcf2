// Tests of lesson 29: tensors that a framework lends, with strides and without, from later in their memory,
// in the order of its stream; results described before they are computed; what is saved, and gradients.

#include "29_pytorch_op/pytorch_op.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attention/baseline.hpp"
#include "attention/drawn.hpp"
#include "attention/gradient_baseline.hpp"
#include "attention/gradient_problem.hpp"
#include "attention/problem.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

// --- Tensors as a framework lends them ---

/// What DLTensor says of a tensor, as numbers.
struct Lent {
  std::int64_t device_type = kDLCUDA, code = kDLFloat, bits = 32, lanes = 1;
  bool has_strides = true;
  std::int64_t byte_offset = 0, bytes = 0;
  Shape shape{};
  Strides strides{};
};

Lent lent(const Tensor<float>& x) {
  return {.bytes = static_cast<Int>(4 * x.storage().size()), .shape = x.shape(), .strides = x.strides()};
}

Lent without_strides(Lent x) {
  x.has_strides = false;
  x.strides.assign(x.shape.size(), 0);
  return x;
}

/// The same tensor; without strides, perhaps, where it has no gaps.
Lent with_or_without_strides(Lent lent, const Tensor<float>& x, Random& random) {
  return x.is_contiguous() && random.integer(0, 1) == 0 ? without_strides(std::move(lent)) : lent;
}

Tensor<std::int64_t> numbers_of(const std::vector<Lent>& all) {
  std::vector<std::int64_t> numbers;
  for (const Lent& x : all) {
    const std::array<std::int64_t, 9> head{x.device_type,
                                           0,
                                           x.code,
                                           x.bits,
                                           x.lanes,
                                           static_cast<Int>(x.shape.size()),
                                           x.has_strides ? 1 : 0,
                                           x.byte_offset,
                                           x.bytes};
    numbers.insert(numbers.end(), head.begin(), head.end());
    for (const Shape& axes : {x.shape, x.strides})
      for (std::size_t axis = 0; axis < kLentAxes; ++axis)
        numbers.push_back(axis < axes.size() ? axes[axis] : 0);
  }
  const auto count = static_cast<Int>(numbers.size());
  return Tensor<std::int64_t>::from({count}, std::move(numbers));
}

std::vector<Lent> lent_forward(const Problem& p, const Forward& got) {
  return {lent(p.Q), lent(p.K), lent(p.V), lent(got.O), lent(got.lse)};
}

std::vector<Lent> lent_backward(const BackwardProblem& p, const Backward& got) {
  return {lent(p.Q),  lent(p.K),    lent(p.V),    lent(p.O),   lent(p.lse),
          lent(p.dO), lent(got.dQ), lent(got.dK), lent(got.dV)};
}

/// The same tensor, so many numbers later in a memory that is longer by as many.
Lent later(Lent x, Int before) {
  x.byte_offset = 4 * before;
  x.bytes += 4 * before;
  return x;
}

/// The memory of x, which begins so many numbers later in it.
Tensor<float> memory_of(const Tensor<float>& x, Int before) {
  Tensor<float> memory({before + static_cast<Int>(x.storage().size())}, 3.0f);
  for (std::size_t i = 0; i < x.storage().size(); ++i)
    memory.at_linear(before + static_cast<Int>(i)) = x.storage()[i];
  return memory;
}

/// Takes the result x out of its memory, which holds nothing else.
void take_from(const Tensor<float>& memory, Int before, Tensor<float>& x, const char* name) {
  for (Int i = 0; i < before; ++i)
    require(is_poison(memory(i)), std::string(name) +
                                      " was written in front of its first number. In the memory where it "
                                      "is to go, it begins byte_offset bytes later.");
  for (std::size_t i = 0; i < x.storage().size(); ++i) x.storage()[i] = memory(before + static_cast<Int>(i));
}

/// Strides without gaps, in an order of axes that nobody knows beforehand. The last axis is never the
/// innermost.
Strides any_order(const Shape& shape, Random& random) {
  std::vector<std::size_t> order(shape.size());  // the innermost axis first
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<std::size_t>(random.integer(0, static_cast<Int>(i)))]);
  if (order.front() + 1 == order.size()) std::swap(order.front(), order.back());
  Strides strides(shape.size());
  Int stride = 1;
  for (const std::size_t axis : order) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

/// "strides of Q (...), of K (...)", for INFO.
std::string strides_told(const std::vector<Lent>& all, const std::vector<const char*>& names) {
  std::string told = "strides";
  for (std::size_t i = 0; i < all.size(); ++i)
    told += std::string(i == 0 ? " of " : ", of ") + names[i] + " " + format_shape(all[i].strides);
  return told;
}

const std::vector<const char*> kNamesForward{"Q", "K", "V", "O", "lse"},
    kNamesBackward{"Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV"};

std::vector<Lent> all_without_strides(std::vector<Lent> all) {
  for (Lent& x : all) x = without_strides(std::move(x));
  return all;
}

Forward results_for(const Problem& p) {
  Forward got;
  got.O = Tensor<float>(p.shape_of_O(), strides_of(p.shape_of_O(), p.layout_of_O), 0.0f);
  got.lse = Tensor<float>(p.shape_of_lse(), strides_of(p.shape_of_lse(), p.layout_of_lse), 0.0f);
  return got;
}

Backward results_for(const BackwardProblem& p) {
  Backward got;
  got.dQ = Tensor<float>(p.Q.shape(), strides_of(p.Q.shape(), p.layout_of_dQ), 0.0f);
  got.dK = Tensor<float>(p.K.shape(), strides_of(p.K.shape(), p.layout_of_dK), 0.0f);
  got.dV = Tensor<float>(p.V.shape(), strides_of(p.V.shape(), p.layout_of_dV), 0.0f);
  return got;
}

/// The framework brings all tensors to its own memory, and takes those from `first_result` on back.
void require_framework(const Outcome& outcome, const std::vector<Lent>& all, std::size_t first_result) {
  if (outcome.status != Status::returned || !outcome.profile) return;
  Int bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) bytes += all[i].bytes * (i < first_result ? 1 : 2);
  const auto copied = outcome.counters.find(kCopiedWithin);
  require(
      (copied == outcome.counters.end() ? 0 : copied->second) == bytes,
      "The tensors did not come by the framework of common/device/framework.hpp. Leave the entries as they "
      "are: they hand your operator to it.");
}

Outcome attend(const Problem& p, Forward& got, const std::vector<Lent>& all,
               const CallOptions& options = {}) {
  const Tensor<std::int64_t> numbers = numbers_of(all);
  const Outcome outcome =
      call_with(options, ENTRY(call_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                host_in(numbers, "lent"), out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.causal);
  require_framework(outcome, all, 3);
  return outcome;
}

Outcome attend_backward(const BackwardProblem& p, Backward& got, const std::vector<Lent>& all,
                        const CallOptions& options = {}) {
  const Tensor<std::int64_t> numbers = numbers_of(all);
  const Outcome outcome =
      call_with(options, ENTRY(call_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), in(p.O, "O"),
                in(p.lse, "lse"), in(p.dO, "dO"), host_in(numbers, "lent"), out(got.dQ, "dQ"),
                out(got.dK, "dK"), out(got.dV, "dV"), p.scale, p.mask.causal);
  require_framework(outcome, all, 6);
  return outcome;
}

// --- Mistakes ---

constexpr const char* kStream =
    "It was never written, though a kernel was launched: the framework read the memory before that kernel "
    "had run, or wrote to it afterwards. The kernel is not in the framework's stream, and nothing orders the "
    "two.";
constexpr const char* kStrides =
    "This is what comes of tensors that are read and written as if they were row-major. Their strides say "
    "where the next row and the next head are.";

/// The first numbers of a tensor's memory, as if it were row-major.
Tensor<float> as_row_major(const Tensor<float>& x) {
  Tensor<float> dense(x.shape());
  for (Int i = 0; i < x.numel(); ++i) dense.at_linear(i) = x.storage()[static_cast<std::size_t>(i)];
  return dense;
}

/// What lies in a result's memory after row-major numbers were written there.
Tensor<double> written_row_major(const Tensor<double>& dense, const Tensor<float>& result) {
  Tensor<double> seen(dense.shape());
  for (Int i = 0; i < dense.numel(); ++i)
    seen.at_linear(i) = dense.at_linear(result.offset_of(i) % dense.numel());
  return seen;
}

Mistake stream_ignored(const Outcome& outcome) {
  const auto launches = outcome.counters.find("launches");
  const bool launched = launches != outcome.counters.end() && launches->second > 0;
  return shows(
      "stream_ignored",
      [launched](const Tensor<float>& got) {
        for (Int i = 0; i < got.numel(); ++i)
          if (!is_poison(got.at_linear(i))) return false;
        return launched;
      },
      kStream);
}

void require_forward(const Problem& p, const Forward& got, const Outcome& outcome, const Mistakes& more = {},
                     TestLine where = TestLine::here()) {
  require_ran(outcome, where);
  const reference::Attention exact = attention_of(p);
  const Forward64 expected = expected_of(exact);
  const Forward baseline = in_float32(p, exact).results;
  const auto dropped = [&](Which which) {
    Problem q = p;
    q.Q = as_row_major(p.Q), q.K = as_row_major(p.K), q.V = as_row_major(p.V);
    return written_row_major(expected_of(q).of(which), got.of(which));
  };
  for (const Which which : {Which::lse, Which::O}) {
    Mistakes mistakes = more;
    mistakes.push_back(stream_ignored(outcome));
    if (!p.Q.is_contiguous() || !p.K.is_contiguous() || !p.V.is_contiguous() || !got.O.is_contiguous())
      mistakes.push_back(gives(
          "strides_dropped", [&, which] { return dropped(which); }, kStrides));
    const std::vector<std::string> axes{"batch", "head", "query", "column"};
    const ArrayName name{name_of(which), {axes.begin(), axes.begin() + (which == Which::O ? 4 : 3)}};
    require_matches(got.of(which), name, expected.of(which), baseline.of(which), mistakes, {}, where);
  }
}

void check_forward(const Problem& p, TestLine where = TestLine::here()) {
  Forward got = results_for(p);
  const Outcome outcome = attend(p, got, lent_forward(p, got));
  require_forward(p, got, outcome, {}, where);
}

/// dQ, dK or dV in float64 of a kernel that takes these five for the saved ones.
Tensor<double> gradient_with(const BackwardProblem& p, const std::array<const Tensor<float>*, 4>& saved,
                             Gradient which) {
  const auto& [Q, K, V, O] = saved;
  Tensor<double> gradient(which == Gradient::dQ ? p.Q.shape() : p.K.shape(), 0.0);
  const auto dot = [&](const Tensor<float>& x, const Tensor<float>& y, Int b, Int h, Int i, Int j) {
    double sum = 0;
    for (Int d = 0; d < p.D(); ++d) sum += double{x(b, h, i, d)} * double{y(b, h, j, d)};
    return sum;
  };
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h)
      for (Int i = 0; i < p.Nq(); ++i)
        for (Int j = 0; j < p.Nk(); ++j) {
          if (!p.sees(i, j)) continue;
          const double P = std::exp(dot(*Q, *K, b, h, i, j) * double{p.scale} - double{p.lse(b, h, i)});
          const double dS = P * (dot(p.dO, *V, b, h, i, j) - dot(p.dO, *O, b, h, i, i));
          for (Int d = 0; d < p.D(); ++d) {
            if (which == Gradient::dQ)
              gradient(b, h, i, d) += dS * double{(*K)(b, h, j, d)} * double{p.scale};
            if (which == Gradient::dK)
              gradient(b, h, j, d) += dS * double{(*Q)(b, h, i, d)} * double{p.scale};
            if (which == Gradient::dV) gradient(b, h, j, d) += P * double{p.dO(b, h, i, d)};
          }
        }
  return gradient;
}

void require_backward(const BackwardProblem& p, const Backward& got, const Outcome& outcome,
                      TestLine where = TestLine::here()) {
  require_ran(outcome, where);
  const Backward64 expected = expected_of(p);
  const Backward baseline = in_float32(p, expected);
  for (const Gradient which : {Gradient::dV, Gradient::dK, Gradient::dQ}) {
    Mistakes mistakes{stream_ignored(outcome)};
    const auto exchanged = [&](const char* name, std::array<const Tensor<float>*, 4> saved,
                               const char* which_two) {
      mistakes.push_back(gives(
          name, [&p, saved, which] { return gradient_with(p, saved, which); },
          std::string("This is what comes of ") + which_two +
              " exchanged among the saved tensors: they come back in the order in which they were saved."));
    };
    exchanged("saved_k_and_v", {&p.Q, &p.V, &p.K, &p.O}, "K and V");
    exchanged("saved_q_and_o", {&p.O, &p.K, &p.V, &p.Q}, "Q and O");
    if (p.Nq() == p.Nk()) exchanged("saved_q_and_k", {&p.K, &p.Q, &p.V, &p.O}, "Q and K");
    const auto dropped = [&p, &got, which] {
      BackwardProblem q = p;
      q.dO = as_row_major(p.dO), q.lse = as_row_major(p.lse);
      const Tensor<float> Q = as_row_major(p.Q), K = as_row_major(p.K), V = as_row_major(p.V),
                          O = as_row_major(p.O);
      return written_row_major(gradient_with(q, {&Q, &K, &V, &O}, which), got.of(which));
    };
    if (!p.Q.is_contiguous()) mistakes.push_back(gives("strides_dropped", dropped, kStrides));
    require_matches(got.of(which),
                    {name_of(which), {"batch", "head", which == Gradient::dQ ? "query" : "key", "column"}},
                    expected.of(which), baseline.of(which), mistakes, {}, where);
  }
}

void check_backward(const BackwardProblem& p, TestLine where = TestLine::here()) {
  Backward got = results_for(p);
  const Outcome outcome = attend_backward(p, got, lent_backward(p, got));
  require_backward(p, got, outcome, where);
}

constexpr reference::Mask kCausal{.causal = true};

const std::vector<std::pair<std::string, std::function<void(Lent&)>>> kNoViews{
    {"on the CPU", [](Lent& x) { x.device_type = kDLCPU; }},
    {"of float16", [](Lent& x) { x.bits = 16; }},
    {"of float64", [](Lent& x) { x.bits = 64; }},
    {"of int32", [](Lent& x) { x.code = kDLInt; }},
    {"of two numbers an element", [](Lent& x) { x.lanes = 2; }},
    {"of two numbers of 16 bits an element", [](Lent& x) { x.bits = 16, x.lanes = 2; }},
    {"of four numbers of 8 bits an element", [](Lent& x) { x.bits = 8, x.lanes = 4; }},
    {"of an axis more",
     [](Lent& x) {
       x.shape.push_back(1);
       x.strides.push_back(1);
     }},
    {"of an axis less",
     [](Lent& x) {
       x.shape.pop_back();
       x.strides.pop_back();
     }},
    {"of unsigned numbers", [](Lent& x) { x.code = 1; }},  // these are DLPack's own numbers
    {"of complex numbers", [](Lent& x) { x.code = 5; }},
    {"on the CPU, where kernels can read it", [](Lent& x) { x.device_type = 3; }},
    {"on a device of Vulkan", [](Lent& x) { x.device_type = 7; }},
    {"on a device of AMD", [](Lent& x) { x.device_type = 10; }},
};

}  // namespace

TEST_CASE("describes O as Q is, and lse in float32", "[l29][describe][points:3]") {
  Random random(case_seed());
  struct Type {
    std::int64_t code, bits;
    const char* name;
  };
  for (const Type& type :
       {Type{kDLFloat, 32, "float32"}, Type{kDLBfloat, 16, "bfloat16"}, Type{kDLFloat, 16, "float16"}}) {
    INFO("Q, K and V hold " << type.name);
    // No two sizes are alike, and nobody knows them beforehand.
    const Int B = 2 + random.integer(0, 5), H = 8 + random.integer(0, 5), Nq = 15 + random.integer(0, 9),
              Nk = 26 + random.integer(0, 9), D = 37 + random.integer(0, 9);
    const Lent Q{.code = type.code,
                 .bits = type.bits,
                 .bytes = 0,
                 .shape = {B, H, Nq, D},
                 .strides = {H * Nq * D, D, H * D, 1}};
    Lent K = Q;
    K.shape = {B, H, Nk, D}, K.strides = {H * Nk * D, Nk * D, D, 1};
    const Tensor<std::int64_t> numbers = numbers_of({Q, K, K});
    Tensor<std::int64_t> got({18});
    const Outcome outcome = call(ENTRY(call_describe), host_in(numbers, "lent"), host_out(got, "results"));
    require_ran(outcome);
    require(outcome.counters.at("launches") == 0,
            "Results are described before there are numbers to compute with, but a kernel was launched.");
    const auto word = [&](Int i) { return got.at_linear(i); };
    for (Int i = 0; i < 18; ++i)
      require(!is_poison(word(i)),
              "There should be two results, O and lse, and " + std::to_string(i / 9) + " are described.");
    require(word(0) == type.code && word(1) == type.bits && word(2) == 1,
            std::string("O must have the type of Q, ") + type.name + ", but it is described with kind " +
                std::to_string(word(0)) + " and " + std::to_string(word(1)) + " bits.");
    require(word(9) == kDLFloat && word(10) == 32 && word(11) == 1,
            "lse must be float32 whatever the type of Q, but it is described with kind " +
                std::to_string(word(9)) + " and " + std::to_string(word(10)) + " bits.");
    const auto shape = [&](Int from) {
      Shape sizes;
      for (Int axis = 0; axis < word(from) && axis < kLentAxes; ++axis)
        sizes.push_back(word(from + 1 + axis));
      return sizes;
    };
    require(shape(3) == Q.shape, "O must have the shape of Q, " + format_shape(Q.shape) + ".");
    const Shape of_lse{B, H, Nq};
    require(shape(12) == of_lse,
            "lse must have a number for each row of Q: the shape " + format_shape(of_lse) + ".");
  }
}

TEST_CASE("forward: tensors without strides are row-major", "[l29][forward][points:4]") {
  const Problem p = random_problem({.B = 2, .H = 3, .Nq = 5, .Nk = 9, .D = 8});
  Forward got = results_for(p);
  const Outcome outcome = attend(p, got, all_without_strides(lent_forward(p, got)));
  require_forward(p, got, outcome);
}

TEST_CASE("forward: more rows than a block has threads, causal", "[l29][forward][points:1]") {
  check_forward(random_problem({.B = 1, .H = 2, .Nq = 70, .Nk = 75, .D = 5}, kCausal));
  check_forward(random_problem({.B = 1, .H = 1, .Nq = 7, .Nk = 9, .D = many_dimensions()}, kCausal));
}

namespace {

constexpr Int kTooWide = 129;  // numbers in a row

/// Widths that nothing takes, one of which no kernel knows beforehand.
std::array<Int, 3> no_widths(Random& random) { return {kTooWide, kTooWide + drawn::length(random, 900), 0}; }

/// Sizes that no kernel knows beforehand.
Sizes small_sizes(Random& random) {
  const auto from = [&random](Int least, Int most) { return random.integer(least, most); };
  return larger({.B = from(2, 3), .H = from(2, 4), .Nq = from(2, 9), .Nk = from(2, 9), .D = from(2, 40)});
}

/// Few numbers in a row, with many queries and keys, perhaps; and many numbers in a row.
std::array<Sizes, 2> drawn_sizes(Random& random) {
  const auto from = [&random](Int least, Int most) { return random.integer(least, most); };
  return {{{2, 3, from(4, 90), from(4, 90), from(3, 8)}, {2, 2, from(4, 8), from(4, 8), from(9, 128)}}};
}

/// Problems of which everything is drawn, and whose scores are numbers: no other ones are asked for.
std::vector<Problem> drawn_problems_of_numbers() {
  std::vector<Problem> drawn = drawn_problems({.causal = Causal::choice}, kTooWide - 1, true);
  std::erase_if(drawn, [](const Problem& p) {
    for (const Tensor<float>* x : {&p.Q, &p.K})
      for (Int i = 0; i < x->numel(); ++i)
        if (!(std::abs(x->at_linear(i)) < 1e6f)) return true;
    return false;
  });
  return drawn;
}

}  // namespace

TEST_CASE("forward: any order of axes in memory", "[l29][forward][points:3]") {
  const Problem p = random_problem({.B = 2, .H = 3, .Nq = 6, .Nk = 7, .D = 4});
  check_forward(with_layouts(p, Layout::heads_inside, Layout::heads_inside, Layout::heads_inside,
                             Layout::heads_inside));
  check_forward(with_gaps(p));
  Random random(case_seed());
  bool causal = random.integer(0, 1) == 1;
  for (const Sizes& n : drawn_sizes(random)) {
    Problem any = random_problem(n, {.causal = causal = !causal});
    for (Tensor<float>* x : {&any.Q, &any.K, &any.V}) *x = lay_out(*x, any_order(x->shape(), random));
    Forward got = results_for(any);
    for (Tensor<float>* x : {&got.O, &got.lse}) *x = lay_out(*x, any_order(x->shape(), random));
    const std::vector<Lent> all = lent_forward(any, got);
    INFO("shape of Q " << format_shape(any.Q.shape()) << "; " << strides_told(all, kNamesForward));
    const Outcome outcome = attend(any, got, all);
    require_forward(any, got, outcome);
  }
  for (const Problem& drawn : drawn_problems_of_numbers()) {
    INFO("All of this problem is drawn: " << describe(drawn));
    check_forward(drawn);
  }
  const Problem few = random_problem({.B = 3, .H = 4, .Nq = 5, .Nk = 40, .D = 8});
  for (const Problem& large : {with_large_scores(few), with_growing_scores(few, 3.0f)}) {
    INFO("With large scores: " << describe(large));
    check_forward(large);
  }
}

namespace {

/// Makes all elements along an axis what the first one is, and returns those.
Tensor<float> made_one_along(Tensor<float>& x, std::size_t axis) {
  Shape shape = x.shape();
  shape[axis] = 1;
  Tensor<float> one(shape);
  for (Int b = 0; b < x.shape()[0]; ++b)
    for (Int h = 0; h < x.shape()[1]; ++h)
      for (Int row = 0; row < x.shape()[2]; ++row)
        for (Int d = 0; d < x.shape()[3]; ++d) {
          std::array<Int, 4> first{b, h, row, d};
          first[axis] = 0;
          const float value = x(first[0], first[1], first[2], first[3]);
          x(b, h, row, d) = one(first[0], first[1], first[2], first[3]) = value;
        }
  return one;
}

/// Lends a tensor that has one element along an axis as if it had those of `whole`, all at one place.
Lent expanded(const Tensor<float>& one, const Tensor<float>& whole, std::size_t axis) {
  Lent x = lent(one);
  x.shape = whole.shape();
  x.strides[axis] = 0;
  return x;
}

}  // namespace

TEST_CASE("forward: one head of K and V for all, with strides of 0", "[l29][forward][points:1]") {
  Problem p = random_problem({.B = 2, .H = 3, .Nq = 4, .Nk = 6, .D = 5});
  Problem narrow = p;
  for (Tensor<float> Problem::*X : {&Problem::K, &Problem::V}) {
    narrow.*X = Tensor<float>({2, 1, 6, 5});
    for (Int b = 0; b < 2; ++b)
      for (Int h = 0; h < 3; ++h)
        for (Int j = 0; j < 6; ++j)
          for (Int d = 0; d < 5; ++d) (narrow.*X)(b, 0, j, d) = (p.*X)(b, h, j, d) = (p.*X)(b, 0, j, d);
  }
  Forward got = results_for(p);
  std::vector<Lent> all = lent_forward(narrow, got);
  for (const std::size_t i : {1, 2}) all[i].shape = {2, 3, 6, 5}, all[i].strides = {30, 0, 5, 1};
  const Outcome outcome = attend(narrow, got, all);
  require_forward(p, got, outcome);
  Random random(case_seed());
  for (const Sizes& n : drawn_sizes(random)) {
    Problem any = random_problem(n, {.causal = random.integer(0, 1) == 1}), ones = any;
    Forward of_any = results_for(any);
    std::vector<Lent> lent_ones = lent_forward(any, of_any);
    std::size_t i = 0;
    for (Tensor<float> Problem::*X : {&Problem::Q, &Problem::K, &Problem::V}) {
      const auto axis = static_cast<std::size_t>(random.integer(0, 3));
      ones.*X = made_one_along(any.*X, axis);
      lent_ones[i++] = expanded(ones.*X, any.*X, axis);
    }
    INFO("shape of Q " << format_shape(any.Q.shape()) << "; " << strides_told(lent_ones, kNamesForward));
    const Outcome of_ones = attend(ones, of_any, lent_ones);
    require_forward(any, of_any, of_ones);
  }
}

namespace {

/// With all tensors later in their memory, but so few numbers that the memory of results ends within what a
/// kernel writes from its start.
void check_later(const Problem& p, Random& random) {
  Problem memory = p;
  Forward got = results_for(p), memories;
  std::vector<Lent> all = lent_forward(p, got);
  const std::array tensors{&p.Q, &p.K, &p.V, &std::as_const(got).O, &std::as_const(got).lse};
  std::array<Int, 5> before{};
  for (std::size_t i = 0; i < 5; ++i) {
    before[i] = random.integer(1, 6);
    all[i] = later(with_or_without_strides(all[i], *tensors[i], random), before[i]);
  }
  std::size_t number = 0;
  for (Tensor<float> Problem::*X : {&Problem::Q, &Problem::K, &Problem::V})
    memory.*X = memory_of(p.*X, before[number++]);
  memories.O = memory_of(got.O, before[3]), memories.lse = memory_of(got.lse, before[4]);
  INFO("shape of Q " << format_shape(p.Q.shape()) << "; all begin later in their memory, O and lse "
                     << before[3] << " and " << before[4] << " numbers");
  const Outcome outcome = attend(memory, memories, all);
  require_ran(outcome);
  take_from(memories.O, before[3], got.O, "O");
  take_from(memories.lse, before[4], got.lse, "lse");
  require_forward(p, got, outcome);
}

}  // namespace

TEST_CASE("forward: tensors that begin later in their memory", "[l29][forward][points:2]") {
  const Problem p = random_problem({.B = 1, .H = 2, .Nq = 4, .Nk = 6, .D = 3});
  constexpr Int kBefore = 6;  // numbers
  Problem memory = p, from_start = p;
  Tensor<float> Problem::*const inputs[] = {&Problem::Q, &Problem::K, &Problem::V};
  for (Tensor<float> Problem::*X : inputs) {
    memory.*X = Tensor<float>({kBefore + (p.*X).numel()}, 3.0f);
    for (Int i = 0; i < (p.*X).numel(); ++i) (memory.*X)(kBefore + i) = (p.*X).at_linear(i);
    for (Int i = 0; i < (p.*X).numel(); ++i) (from_start.*X).at_linear(i) = (memory.*X)(i);
  }
  Forward got = results_for(p);
  std::vector<Lent> all = lent_forward(p, got);
  for (const std::size_t i : {0, 1, 2}) all[i] = later(all[i], kBefore);
  const Outcome outcome = attend(memory, got, all);
  // lse is checked first; O of the same mistake is never seen.
  const Mistakes mistakes{gives(
      "offset_dropped", [&] { return expected_of(from_start).lse; },
      "This is what comes of the numbers from the start of the memory: a tensor begins byte_offset bytes "
      "later.")};
  require_forward(p, got, outcome, mistakes);

  Random random(case_seed());
  check_later(p, random);
  for (const Sizes& n : drawn_sizes(random)) check_later(random_problem(n), random);
}

TEST_CASE("forward: refuses what is no view of float32, by name", "[l29][forward][points:2]") {
  const Problem p = random_problem(larger({.B = 2, .H = 3, .Nq = 5, .Nk = 9, .D = 8}));
  const char* const names[] = {"Q", "K", "V", "O", "lse"};
  check_forward(p);
  for (std::size_t i = 0; i < 5; ++i)
    for (const auto& [what, change] : kNoViews) {
      INFO(names[i] << " is " << what);
      Forward got = results_for(p);
      std::vector<Lent> all = lent_forward(p, got);
      change(all[i]);
      require_throws<std::invalid_argument>(attend(p, got, all), names[i]);
    }
}

namespace {

/// Axes that say more than the shapes of other tensors do: of K, that of the keys is for V to fit.
std::vector<std::size_t> axes_to_fit(const std::string& name) {
  if (name == "K") return {0, 1, 3};  // axis 2 says how many keys there are
  return name == "lse" ? std::vector<std::size_t>{0, 1, 2} : std::vector<std::size_t>{0, 1, 2, 3};
}

}  // namespace

TEST_CASE("forward: refuses shapes that do not fit, by name", "[l29][forward][points:1]") {
  Random random(case_seed());
  const Problem p = random_problem(small_sizes(random));
  const char* const names[] = {"Q", "K", "V", "O", "lse"};
  check_forward(p);
  Forward got = results_for(p);
  const std::vector<Lent> fitting = lent_forward(p, got);
  for (std::size_t i = 1; i < 5; ++i)
    for (const Shape& shape : drawn::misfits(fitting[i].shape, axes_to_fit(names[i]), random)) {
      INFO(names[i] << " has the shape " << format_shape(shape) << ", Q " << format_shape(p.Q.shape())
                    << ", K " << format_shape(p.K.shape()));
      std::vector<Lent> all = fitting;
      all[i].shape = shape;
      require_throws<std::invalid_argument>(attend(p, got, all), names[i]);
    }
  check_forward(random_problem({.B = 1, .H = 1, .Nq = 2, .Nk = 3, .D = kTooWide - 1}));
  for (const Int D : no_widths(random)) {
    INFO("D = " << D);
    const Problem wide = random_problem({.B = 1, .H = 1, .Nq = 2, .Nk = 3, .D = D});
    Forward of_wide = results_for(wide);
    require_throws<std::invalid_argument>(attend(wide, of_wide, lent_forward(wide, of_wide)), "Q");
  }
}

TEST_CASE("nothing to do launches nothing; without rows on one side, what is left is 0", "[l29][points:1]") {
  const Sizes no_batches{.B = 0, .H = 2, .Nq = 3, .Nk = 4, .D = 5},
      no_heads{.B = 2, .H = 0, .Nq = 3, .Nk = 4, .D = 5},
      no_queries{.B = 2, .H = 2, .Nq = 0, .Nk = 4, .D = 5}, no_keys{.B = 2, .H = 2, .Nq = 3, .Nk = 0, .D = 5},
      neither{.B = 2, .H = 2, .Nq = 0, .Nk = 0, .D = 5};
  const auto require_none = [](const Outcome& outcome, const std::string& what) {
    require_ran(outcome);
    require(outcome.counters.at("launches") == 0, what + ", but a kernel was launched.");
  };
  for (const Sizes& sizes : {no_batches, no_heads, no_queries, neither}) {
    const Problem p = random_problem(sizes);
    INFO("shape of Q " << format_shape(p.Q.shape()) << ", of K " << format_shape(p.K.shape()));
    Forward got = results_for(p);
    require_none(attend(p, got, lent_forward(p, got)), "There are no rows");
  }
  for (const Sizes& sizes : {no_batches, no_heads, neither}) {
    const BackwardProblem p = with_gradient(random_problem(sizes));
    INFO("shape of Q " << format_shape(p.Q.shape()) << ", of K " << format_shape(p.K.shape()));
    Backward got = results_for(p);
    require_none(attend_backward(p, got, lent_backward(p, got)), "Backward, there are no rows");
  }
  for (const Problem& p : {random_problem(no_keys), with_gaps(random_problem(no_keys))}) check_forward(p);
  for (const Sizes& sizes : {no_queries, no_keys}) {
    const BackwardProblem p = with_gradient(random_problem(sizes));
    check_backward(p);
    check_backward(with_gaps(p));
  }
  check_forward(random_problem({.B = 1, .H = 1, .Nq = 1, .Nk = 1, .D = 1}));
}

TEST_CASE("backward: tensors without strides are row-major", "[l29][backward][points:3]") {
  const BackwardProblem p = with_gradient(random_problem({.B = 2, .H = 2, .Nq = 5, .Nk = 5, .D = 4}));
  Backward got = results_for(p);
  const Outcome outcome = attend_backward(p, got, all_without_strides(lent_backward(p, got)));
  require_backward(p, got, outcome);
  check_backward(with_gradient(random_problem({.B = 1, .H = 1, .Nq = 7, .Nk = 9, .D = many_dimensions()})));
}

namespace {

/// With the axes of most tensors in an order of its own, and once more from any place in memory on. Of the
/// others, some have no strides.
void check_any_order(BackwardProblem any, Random& random) {
  const auto reorder = [&random](Tensor<float>* x) {
    if (random.integer(0, 3) != 0) *x = lay_out(*x, any_order(x->shape(), random));
  };
  const std::array inputs{&any.Q, &any.K, &any.V, &any.O, &any.lse, &any.dO};
  std::ranges::for_each(inputs, reorder);
  Backward got = results_for(any);
  const std::array results{&got.dQ, &got.dK, &got.dV};
  std::ranges::for_each(results, reorder);
  std::vector<Lent> all = lent_backward(any, got);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] =
        with_or_without_strides(all[i], i < inputs.size() ? *inputs[i] : *results[i - inputs.size()], random);
  INFO("shape of Q " << format_shape(any.Q.shape()) << "; " << strides_told(all, kNamesBackward));
  const Outcome outcome = attend_backward(any, got, all);
  require_backward(any, got, outcome);

  BackwardProblem memory = any;
  Backward memories;
  const std::array of_inputs{&memory.Q, &memory.K, &memory.V, &memory.O, &memory.lse, &memory.dO};
  const std::array of_results{&memories.dQ, &memories.dK, &memories.dV};
  std::string told;
  std::vector<Int> before;
  for (std::size_t i = 0; i < all.size(); ++i) {
    before.push_back(random.integer(1, 6));
    all[i] = later(all[i], before[i]);
    told += std::string(i == 0 ? "" : ", ") + kNamesBackward[i] + " " + std::to_string(before[i]);
    if (i < inputs.size())
      *of_inputs[i] = memory_of(*inputs[i], before[i]);
    else
      *of_results[i - inputs.size()] = memory_of(*results[i - inputs.size()], before[i]);
  }
  INFO("All begin so many numbers later in their memory: " << told);
  const Outcome of_later = attend_backward(memory, memories, all);
  require_ran(of_later);
  for (std::size_t i = 0; i < results.size(); ++i)
    take_from(*of_results[i], before[inputs.size() + i], *results[i], kNamesBackward[inputs.size() + i]);
  require_backward(any, got, of_later);
}

}  // namespace

TEST_CASE("backward: any order of axes in memory, from any place on", "[l29][backward][points:2]") {
  Problem p = random_problem({.B = 2, .H = 3, .Nq = 6, .Nk = 7, .D = 4}, kCausal);
  p = with_layouts(p, Layout::heads_inside, Layout::heads_inside, Layout::heads_inside, Layout::heads_inside);
  check_backward(with_gradient(p));
  check_backward(with_gaps(with_gradient(p)));
  Random random(case_seed());
  bool causal = random.integer(0, 1) == 1;
  for (const Sizes& n : drawn_sizes(random))
    check_any_order(with_gradient(random_problem(n, {.causal = causal = !causal})), random);
  for (const Problem& drawn : drawn_problems_of_numbers()) {
    INFO("All of this problem is drawn: " << describe(drawn));
    check_any_order(with_gradient(drawn), random);
  }
}

TEST_CASE("backward: the gradient of a sum is one number with strides of 0", "[l29][backward][points:1]") {
  const Problem forward = random_problem({.B = 2, .H = 2, .Nq = 5, .Nk = 6, .D = 4});
  const BackwardProblem p = with_gradient(forward, Tensor<float>(forward.shape_of_O(), 1.0f));
  Backward got = results_for(p);
  BackwardProblem memory = p;
  memory.dO = Tensor<float>({1}, 1.0f);
  std::vector<Lent> all = lent_backward(p, got);
  all[5].strides = {0, 0, 0, 0}, all[5].bytes = 4;
  const Outcome outcome = attend_backward(memory, got, all);
  require_backward(p, got, outcome);
  Random random(case_seed());
  for (const Sizes& n : drawn_sizes(random)) {
    Problem any = random_problem(n, {.causal = random.integer(0, 1) == 1});
    std::array<std::size_t, 4> axes{};
    for (std::size_t& axis : axes) axis = static_cast<std::size_t>(random.integer(0, 3));
    const std::array ones{made_one_along(any.Q, axes[0]), made_one_along(any.K, axes[1]),
                          made_one_along(any.V, axes[2])};
    Tensor<float> dO = normal(any.shape_of_O(), case_seed() + 3);
    const Tensor<float> one_dO = made_one_along(dO, axes[3]);
    const BackwardProblem of_any = with_gradient(any, dO);
    BackwardProblem memories = of_any;
    memories.Q = ones[0], memories.K = ones[1], memories.V = ones[2], memories.dO = one_dO;
    Backward results = results_for(of_any);
    std::vector<Lent> lent_ones = lent_backward(of_any, results);
    lent_ones[0] = expanded(ones[0], any.Q, axes[0]);
    lent_ones[1] = expanded(ones[1], any.K, axes[1]);
    lent_ones[2] = expanded(ones[2], any.V, axes[2]);
    lent_ones[5] = expanded(one_dO, dO, axes[3]);
    INFO("shape of Q " << format_shape(any.Q.shape()) << "; " << strides_told(lent_ones, kNamesBackward));
    const Outcome of_ones = attend_backward(memories, results, lent_ones);
    require_backward(of_any, results, of_ones);
  }
}

TEST_CASE("backward: refuses what does not fit, by name", "[l29][backward][points:1]") {
  Random random(case_seed());
  const BackwardProblem p = with_gradient(random_problem(small_sizes(random)));
  const char* const names[] = {"Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV"};
  check_backward(p);
  for (std::size_t i = 0; i < 9; ++i) {
    const auto refuses = [&](const std::string& what, const std::function<void(Lent&)>& change) {
      INFO(names[i] << " is " << what);
      Backward got = results_for(p);
      std::vector<Lent> all = lent_backward(p, got);
      change(all[i]);
      require_throws<std::invalid_argument>(attend_backward(p, got, all), names[i]);
    };
    for (const auto& [what, change] : kNoViews) refuses(what, change);
    if (i == 0) continue;
    const Backward got = results_for(p);
    for (const Shape& shape : drawn::misfits(lent_backward(p, got)[i].shape, axes_to_fit(names[i]), random))
      refuses("of shape " + format_shape(shape) + ", Q " + format_shape(p.Q.shape()) + ", K " +
                  format_shape(p.K.shape()),
              [&shape](Lent& x) { x.shape = shape; });
  }
  check_backward(with_gradient(random_problem({.B = 1, .H = 1, .Nq = 2, .Nk = 3, .D = kTooWide - 1})));
  for (const Int D : no_widths(random)) {
    INFO("D = " << D);
    const BackwardProblem wide = with_gradient(random_problem({.B = 1, .H = 1, .Nq = 2, .Nk = 3, .D = D}));
    Backward got = results_for(wide);
    require_throws<std::invalid_argument>(attend_backward(wide, got, lent_backward(wide, got)), "Q");
  }
}

TEST_CASE("both are right in whichever order streams take their turns", "[l29][points:1]") {
  const BackwardProblem p = with_gradient(random_problem({.B = 1, .H = 2, .Nq = 4, .Nk = 5, .D = 3}));
  CallOptions options;
  options.order = Order::reverse;
  Forward O = results_for(static_cast<const Problem&>(p));
  Outcome outcome = attend(p, O, lent_forward(p, O), options);
  require_forward(p, O, outcome);
  Backward got = results_for(p);
  outcome = attend_backward(p, got, lent_backward(p, got), options);
  require_backward(p, got, outcome);
}

TEST_CASE("both report a launch that CUDA refuses", "[l29][points:1]") {
  const BackwardProblem p =
      with_gradient(random_problem(larger({.B = 2, .H = 3, .Nq = 40, .Nk = 40, .D = 2})));
  check_forward(p);
  CallOptions options;
  options.max_grid_x = 1;
  Forward O = results_for(static_cast<const Problem&>(p));
  Outcome outcome = attend(p, O, lent_forward(p, O), options);
  if (!require_refused_launch(outcome)) require_forward(p, O, outcome);
  const BackwardProblem few_queries =  // a block is enough for dQ
      with_gradient(random_problem(larger({.B = 1, .H = 2, .Nq = 4, .Nk = 90, .D = 2})));
  for (const BackwardProblem& q : {p, few_queries}) {
    INFO("backward, shape of Q " << format_shape(q.Q.shape()) << ", of K " << format_shape(q.K.shape()));
    Backward got = results_for(q);
    outcome = attend_backward(q, got, lent_backward(q, got), options);
    if (!require_refused_launch(outcome)) require_backward(q, got, outcome);
  }
}

COURSE_RUN(RunContext& run) {
  Problem p{.Q = run.input<float>("q", {"B", "H", "Nq", "D"}),
            .K = run.input<float>("k", {"B", "H", "Nk", "D"}),
            .V = run.input<float>("v", {"B", "H", "Nk", "D"}),
            .scale = 1.0f};
  p.scale = 1.0f / std::sqrt(static_cast<float>(p.D()));
  p.mask.causal = run.boolean("causal", false);
  Forward got = results_for(p);
  const Tensor<std::int64_t> numbers = numbers_of(lent_forward(p, got));
  run.call(ENTRY(call_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), host_in(numbers, "lent"),
           out(got.O, "O"), out(got.lse, "lse"), p.scale, p.mask.causal);
  run.output("o", got.O);
  run.output("lse", got.lse);
}
