// Tests of lesson 24: gradients of attention from 16-bit inputs against float64, within twice the error of
// plain float32 programs and what rounding P, dS and the results to 16 bits costs.

#include "24_tensor_core_backward/tensor_core_backward.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "attention/check_parts.hpp"
#include "attention/drawn.hpp"
#include "attention/dropout.hpp"
#include "attention/golden.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/attention_rounding.hpp"
#include "tensor/float16.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr std::uint64_t kSeed = 0x0123456789abcdefu;  // both halves count
constexpr Format16 kFormats[] = {Format16::bfloat16, Format16::float16};

// --- Calls ---

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
               in(p.O.to<T>(), "O"), in(p.lse, "lse"), in(p.dO.to<T>(), "dO"), out(got.delta, "delta"),
               out(dQ, "dQ"), out(dK, "dK"), out(dV, "dV"), dsink, p.scale, p.mask.causal, p.mask.window,
               p.mask.sinks, dropout_of(p), seed_of(p));
  };
  auto outcome = p.sink ? call(in(*p.sink, "sink"), out(got.dsink, "dsink")) : call(null(), null());
  got.dQ = dQ.template to<float>(), got.dK = dK.template to<float>(), got.dV = dV.template to<float>();
  return outcome;
}

Outcome call_backward(const BackwardProblem& p, Backward& got, const CallOptions& options) {
  const auto run = [&](const auto&... arguments) { return call_with(options, arguments...); };
  return p.format == Format16::float16 ? in_type<float16>(p, got, run) : in_type<bfloat16>(p, got, run);
}

// --- Mistakes with fragments ---

/// What comes of P and dS that enter the last products in other places: where(row, col) is whose number
/// stands in a row and column of A. Rows are keys for dV and dK, and queries for dQ.
template <class Where>
Tensor<double> misplaced(const BackwardProblem& p, Gradient which, Where where) {
  const bool keys_are_rows = which != Gradient::dQ;
  const Tensor<double>& scores = which == Gradient::dV ? p.exact.P : gradients_of(p).dS;
  const Tensor<float>& X = which == Gradient::dV ? p.dO : which == Gradient::dK ? p.Q : p.K;
  const double scale = which == Gradient::dV ? 1 : static_cast<double>(p.scale);
  Tensor<double> sums(keys_are_rows ? p.K.shape() : p.Q.shape());
  for (Int n = 0; n < p.B() * p.H(); ++n) {
    const Int b = n / p.H(), h = n % p.H(), h_kv = h / (p.H() / p.H_kv());
    for (Int row = 0; row < (keys_are_rows ? p.Nk() : p.Nq()); ++row)
      for (Int col = 0; col < (keys_are_rows ? p.Nq() : p.Nk()); ++col) {
        const auto [from_row, from_col] = where(row, col);
        const Int i = keys_are_rows ? from_col : from_row, j = keys_are_rows ? from_row : from_col;
        if (i >= p.Nq() || j >= p.Nk()) continue;
        const double factor =
            which == Gradient::dV && p.dropout ? static_cast<double>(p.dropout->factors(b, h, i, j)) : 1.0;
        for (Int d = 0; d < p.D(); ++d)
          sums(b, keys_are_rows ? h_kv : h, row, d) +=
              scale * factor * scores(b, h, i, j) *
              static_cast<double>(X(b, keys_are_rows ? h : h_kv, col, d));
      }
  }
  return sums;
}

Tensor<double> rounded_delta(const BackwardProblem& p) {
  Tensor<double> delta = expected_of(p).delta;
  for (double& x : delta.storage()) x = rounded(x, *p.format);
  return delta;
}

// --- Mistakes with tiles ---

/// @brief Who sees whom in a kernel that takes a tile for whole, and asks no mask, if one of its queries sees
/// all of its keys: the first (of_first) or the last.
GradientDeviation taken_for_whole(const BackwardProblem& p, Gradient which, bool of_first) {
  const bool keys_stay = which != Gradient::dQ;
  const Int queries = keys_stay ? 64 : 128, keys = keys_stay ? 128 : p.D() <= 64 ? 64 : 32;
  return {.sees = [=, &p](Int i, Int j) {
    const Int query = i / queries * queries + (of_first ? 0 : queries - 1),
              position = query + p.Nk() - p.Nq();
    const Int first_key = j / keys * keys, last_key = first_key + keys - 1;
    return p.sees(i, j) || (query < p.Nq() && last_key < p.Nk() && (!p.mask.causal || last_key <= position) &&
                            (position - first_key < p.mask.window || last_key < p.mask.sinks));
  }};
}

void add_mistakes_with_tiles(Mistakes& to, const BackwardProblem& p, Gradient which) {
  if (p.mask.causal)
    to.push_back(deviation(
        "diagonal_tile_unmasked", p, which, taken_for_whole(p, which, false),
        "Tiles on the diagonal are taken for whole: the last query sees all keys, and the first ones do not. "
        "A tile is whole if its first and its last query see all keys."));
  if (p.mask.window != kAllKeys)
    to.push_back(deviation(
        "window_tile_unmasked", p, which, taken_for_whole(p, which, true),
        "Tiles at the far edge of the window are taken for whole: the first query sees all keys, and for the "
        "last ones some are too old. A tile is whole if its first and its last query see all keys."));
}

Mistakes own_mistakes(const BackwardProblem& p, Gradient which) {
  Mistakes found;
  if (which == Gradient::dsink) return found;
  if (which == Gradient::delta) {
    found.push_back(gives(
        "delta_in_16_bits", [&p] { return rounded_delta(p); },
        "delta is rounded to 16 bits. It is subtracted from dP, which is near it: it stays in float32."));
    return found;
  }
  add_mistakes_with_tiles(found, p, which);
  if (which != Gradient::dV)
    found.push_back(deviation("zero_times_infinity", p, which, {.hidden_counts = true},
                              "Where P is 0, dS is 0, whatever dP holds; but 0 times an infinity is NaN."));
  for (WrongFactors& one : wrong_factors(p))
    if (std::string(one.name) != "nothing_dropped")  // has a name already
      found.push_back(deviation(one.name, p, which, {.factors = std::move(one.factors)}, one.sentence));
  using Where = std::pair<Int, Int>;
  found.push_back(gives(
      "fragments_exchanged",
      [&p, which] { return misplaced(p, which, [](Int row, Int col) {
                      return Where{row, col ^ 8};
                    }); },
      "The two fragments of scores that make an operand are exchanged: the left one has the first 8 of 16 "
      "columns."));
  found.push_back(gives(
      "registers_exchanged",
      [&p, which] {
        return misplaced(p, which, [](Int row, Int col) {
          return Where{(row & ~Int{8}) | (col & 8), (col & ~Int{8}) | (row & 8)};
        });
      },
      "Registers 1 and 2 of the operand that is made of scores are exchanged: the second register is 8 rows "
      "further, the third 8 columns."));
  return found;
}

const BackwardKernel kBackward{call_backward, kTakesAll, own_mistakes, tensors_read_for(64, true)};

Problem problem(const Sizes& n, Format16 format, const reference::Mask& mask = {}) {
  return in_16_bits(random_problem(n, mask), format);
}

/// The problem with lesson 18's dropout; before in_16_bits().
Problem dropped(const Problem& p, float dropout, std::uint64_t seed = kSeed) {
  return attention_tests::dropped(p, dropout, seed, decision_of);
}

/// Checks problems in one type and the other, in turn.
class InTurn {
 public:
  void check(const Problem& p, TestLine where = TestLine::here()) {
    check_values(kBackward, in_16_bits(p, kFormats[count_++ % 2]), where);
  }

 private:
  std::size_t count_ = 0;
};

/// Checks the problem in both types.
void check_both_types(const Problem& p, TestLine where = TestLine::here()) {
  for (const Format16 format : kFormats) check_values(kBackward, in_16_bits(p, format), where);
}

const reference::Mask kMask{.causal = true, .window = 30, .sinks = 3};

}  // namespace

// --- One head ---

TEST_CASE("gives the gradients of one head, in both types", "[l24][tensor_core_backward][points:3]") {
  for (const Format16 format : kFormats) check(kBackward, problem({1, 1, 5, 7, 8}, format));
  for (const Sizes& n : {Sizes{1, 1, 1, 1, 8}, {1, 1, 16, 16, 16}, {1, 1, 64, 128, 64}, {1, 1, 70, 130, 64}})
    check_both_types(random_problem(n));
}

TEST_CASE("gets delta, then P, dP and dS right", "[l24][tensor_core_backward][points:2]") {
  check(kBackward, problem({1, 1, 33, 9, 24}, Format16::bfloat16));
  check_both_types(random_problem({1, 1, 9, 150, 8}));
}

TEST_CASE("meets tiles of 64 and of 128 with edges in all places", "[l24][tensor_core_backward][points:1]") {
  InTurn in_turn;
  for (const Sizes& n : {Sizes{1, 1, 63, 127, 8},
                         {1, 1, 65, 129, 8},
                         {1, 1, 129, 65, 8},
                         {1, 1, 128, 31, 80},
                         {1, 1, 33, 257, 80}})
    in_turn.check(random_problem(n));
}

TEST_CASE("takes multiples of 8 dimensions up to 128", "[l24][tensor_core_backward][points:2]") {
  InTurn in_turn;
  for (const Int D : {8, 24, 56, 64, 72, 120, 128}) in_turn.check(random_problem({1, 1, 20, 40, D}, kMask));
  check(kBackward, problem({1, 1, 70, 40, 128}, Format16::bfloat16, kMask));
}

TEST_CASE("agrees with central differences, and with PyTorch's gradients",
          "[l24][tensor_core_backward][points:1]") {
  Random random(case_seed());
  for (int i = 0; i < 4; ++i) {
    const Int H_kv = random.integer(1, 2);
    check_differences(kBackward, with_gradient(problem({random.integer(1, 2), H_kv * random.integer(1, 2),
                                                        random.integer(2, 6), random.integer(2, 9), 8, H_kv},
                                                       kFormats[i % 2], {.causal = i < 2})));
  }
  // And with PyTorch's gradients, whose delta is of an O of 16 bits, as the kernel's.
  for (const Golden& g : golden_cases_of_16_bits()) {
    if (!g.gradients || g.problem.D() > kMaxDim) continue;
    INFO("tests/reference/golden_16_torch/" << g.name);
    const BackwardProblem p = with_gradient(g.problem, g.dO);
    Backward got = results_of(p);
    require_ran(kBackward.attend_backward(p, got, {.check = CheckMode::never}));
    const reference::AttentionGradients exact = gradients_of(p);
    const Backward baseline = in_float32(p, expected_of(exact));
    const auto rounding = reference::rounding_of_gradients(exact, p.exact, p.Q, p.K, p.dO,
                                                           static_cast<double>(p.scale), *p.format);
    const auto compare = [&](Gradient which, const char* file, const Tensor<double>& of_operands) {
      require_matches(got.of(which), name_of(which), g.result(file), baseline.of(which),
                      Bound{.floor = 1e-6, .rounding = of_operands, .format = p.format});
    };
    compare(Gradient::dQ, "dq_of_rounded_o", rounding.dQ);
    compare(Gradient::dK, "dk_of_rounded_o", rounding.dK);
    compare(Gradient::dV, "dv", rounding.dV);
    if (p.sink)
      require_matches(got.dsink, "dsink", g.result("dsink_of_rounded_o"), baseline.dsink,
                      Bound{.floor = 1e-6});
  }
}

// --- Masks, groups, sinks, dropout ---

TEST_CASE("hides what a causal mask, a window and sink tokens hide",
          "[l24][tensor_core_backward][points:2]") {
  check(kBackward, problem({1, 1, 70, 140, 8}, Format16::bfloat16, kMask));
  InTurn in_turn;
  for (const Sizes& n : {Sizes{1, 1, 130, 280, 8}, {1, 1, 280, 130, 8}, {1, 1, 128, 128, 72}})
    for (const reference::Mask& mask : {reference::Mask{.causal = true},
                                        {.causal = true, .window = 63, .sinks = 65},
                                        {.causal = true, .window = 65},
                                        {.causal = false, .window = 100},
                                        {.causal = false, .window = 1, .sinks = 1}})
      in_turn.check(random_problem(n, mask));
  for (const Sizes& n : {Sizes{1, 1, 64, 126, 8}, {1, 1, 128, 254, 8}})
    in_turn.check(random_problem(n, {.causal = true}));  // the first query misses one key of a tile
  for (const Int window : {63, 127})                     // one key short of the whole tile
    in_turn.check(
        random_problem({1, 1, 128, 128, window == 63 ? 8 : 72}, {.causal = false, .window = window}));
  in_turn.check(random_problem({1, 1, 256, 256, 8}, {.causal = true, .window = 1, .sinks = 127}));
  for (const Int sinks : {Int{1} << 32, kAllKeys - 1})  // more than any keys
    in_turn.check(random_problem({1, 1, 20, 30, 8}, {.causal = true, .window = 2, .sinks = sinks}));
}

TEST_CASE("adds up dK and dV over the heads of a group", "[l24][tensor_core_backward][points:2]") {
  check(kBackward, problem({2, 4, 9, 21, 8, 2}, Format16::float16));
  check_both_types(random_problem({1, 6, 70, 20, 16, 2}, kMask));
  check_both_types(random_problem({1, 3, 140, 9, 80, 1}));
}

TEST_CASE("gives learned sinks their gradient", "[l24][tensor_core_backward][points:2]") {
  check(kBackward, in_16_bits(with_sink(random_problem({2, 2, 9, 12, 8, 1}, kMask)), Format16::bfloat16));
  check_both_types(with_sink(random_problem({2, 2, 150, 40, 16}, {.causal = true})));
  InTurn in_turn;
  in_turn.check(with_sink(random_problem({1, 2, 2048, 3, 8})));
  Problem p = random_problem({2, 4, 12, 20, 8, 2}, {.causal = true, .window = 6, .sinks = 2});
  for (const float sink : {20.0f, -20.0f, -kInf}) {
    INFO("learned sinks of " << sink);
    p.sink = Tensor<float>({p.H()}, sink);
    in_turn.check(p);
  }
}

TEST_CASE("drops the weights that lesson 18 drops", "[l24][tensor_core_backward][points:2]") {
  check(kBackward, in_16_bits(dropped(random_problem({1, 2, 9, 21, 8, 1}, kMask), 0.3f), Format16::bfloat16));
  check_both_types(dropped(random_problem({2, 2, 70, 75, 16, 1}), 0.25f));
  check_both_types(dropped(with_sink(random_problem({1, 2, 40, 140, 88}, kMask)), 0.25f));
}

TEST_CASE("gives queries that see no key, and keys that no query sees, no part in anything",
          "[l24][tensor_core_backward][points:1]") {
  InTurn in_turn;
  for (const Sizes& n : {Sizes{1, 2, 12, 5, 8}, {1, 2, 140, 20, 8}, {1, 2, 3, 80, 8}}) {
    const Problem p = random_problem(n, {.causal = true, .window = 2, .sinks = 1});
    in_turn.check(p);
    check_both_types(with_sink(p));
  }
  check(kBackward, problem({1, 2, 12, 5, 8}, Format16::bfloat16, {.causal = true}));
}

// --- Large numbers, infinities and NaN ---

TEST_CASE("keeps large scores apart, and does not look at tiles in which nobody sees anybody",
          "[l24][tensor_core_backward][points:1]") {
  for (const Problem& p : {with_scores_of_minus_inf(random_problem({1, 2, 30, 90, 8}, kMask), 70),
                           with_sink(with_scores_of_minus_inf(random_problem({1, 2, 30, 90, 8}, kMask), 70))})
    check_values(kBackward, in_16_bits(p, Format16::bfloat16));  // float16 cannot hold such keys
  check_both_types(with_sink(with_large_scores(random_problem({1, 2, 40, 90, 16}, kMask))));
  for (const float shift : {1000.0f, -1000.0f})
    check_both_types(with_shifted_scores(random_problem({1, 2, 9, 20, 8}, kMask), shift));
  for (const Int D : {8, 72})
    check_both_types(with_nan_keys(
        random_problem(larger({1, 1, 10, 400, D}), {.causal = true, .window = 20, .sinks = 3}), 128, 256));
  // A weight that is nearly 0 and decides, which float16 does not have.
  BackwardKernel kernel = kBackward;
  kernel.tells_mistakes = false;
  for (const Int D : {8, 72})
    check_values(kernel, in_16_bits(with_small_weight(larger({1, 1, 1, 70, D})), Format16::bfloat16));
  // Queries 256 to 383 are NaN. With a window of 129 they see keys 128 to 383, and the sinks.
  InTurn in_turn;
  for (const Int sinks : {0, 128}) {
    Problem p = random_problem({1, 1, 390, 390, 8}, {.causal = true, .window = 129, .sinks = sinks});
    for (Int i = 256; i < 384; ++i) p.Q(0, 0, i, 0) = kNan;
    in_turn.check(p);
  }
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l24][tensor_core_backward][points:1]") {
  for (const Int D : {24, 72}) check_both_types(with_not_numbers(random_problem(larger({2, 3, 31, 70, D}))));
  // Where the weight is 0, dS is 0, whatever the value is.
  for (const Int D : {8, 72}) {
    Problem p = random_problem(larger({1, 2, 40, 50, D}), {.causal = true});
    p.V(0, 0, p.Nk() - 1, 3) = kInf;  // seen by the last query alone
    p.V(0, 0, 30, 0) = kNan;
    p.V(0, 1, 30, 0) = kInf;  // and so is delta of those who see it
    check_both_types(p);
    check_both_types(dropped(p, 0.25f));
    p = dropped(random_problem(larger({1, 4, 20, 30, D, 2}), kMask), 0.25f);
    check_values(kBackward, with_infinite_products(in_16_bits(p, Format16::bfloat16)));
  }
  for (const Format16 format : kFormats)
    for (const Problem& p :
         {random_problem(larger({1, 3, 7, 9, 8})), with_sink(random_problem({1, 3, 7, 9, 8}))})
      check_values(kBackward, with_not_numbers_of_results(with_gradient(in_16_bits(p, format))));
  // dP is about 80,000, more than float16 can hold; dS, its difference from delta times P, is not.
  Problem p = random_problem({1, 1, 20, 20, 8});
  for (float& x : p.V.storage()) x *= 50.0f;
  const auto dO = [&](float least) {
    Tensor<float> numbers(p.Q.shape());
    for (Int n = 0; n < numbers.numel(); ++n) numbers.at_linear(n) = least + static_cast<float>(n % 7);
    return numbers;
  };
  check_values(kBackward, with_gradient(in_16_bits(p, Format16::float16), dO(100.0f)));
  // dV is infinite, a sum of about 200,000.
  p = random_problem({1, 1, 20, 2, 8});
  for (float& x : p.V.storage()) x *= 0.01f;
  check_values(kBackward, with_gradient(in_16_bits(p, Format16::float16), dO(20'000.0f)));
}

// --- Memory ---

namespace {

Problem with_drawn_dropout(const Problem& p, Random& random) {
  return random.integer(0, 1) == 0 ? p : dropped(p, drawn_dropout(random), random.bits());
}

/// Rows, heads and batches of 16-bit results begin anywhere, or the arrays; lse and delta begin at no
/// multiple of 16 bytes.
void check_results_beside_pairs(Random& random) {
  const Format16 with_odd_heads = kFormats[static_cast<std::size_t>(random.integer(0, 1))];
  for (const Format16 format : kFormats)
    for (const bool is_shifted : {false, true}) {
      const Int D = is_shifted ? 8 * random.integer(1, 12) : 64 * random.integer(1, 2);
      const Sizes n{2, 2, random.integer(5, 20), random.integer(5, 20), D};
      const BackwardProblem p = with_gradient(problem(n, format, kMask));
      INFO(describe(p) << "; results begin, or their rows, heads and batches do, at no multiple of 16 bytes");
      Backward got = results_of(p);
      CallOptions options{.check = CheckMode::never};
      const auto past = [&random] { return static_cast<std::uint32_t>(2 * random.integer(1, 7)); };
      if (is_shifted) options.shifts = {0, 0, 0, 0, 4, 0, 4, past(), past(), past()};
      for (const Gradient which : {Gradient::dQ, Gradient::dK, Gradient::dV}) {
        const Shape shape = shape_of(p, which);
        const Int row = p.D() + (is_shifted ? 8 : random.integer(1, 15)),
                  head = shape[2] * row + (format == with_odd_heads ? 1 : 0),
                  batch = shape[1] * head + (format == with_odd_heads ? 0 : 1);
        got.of(which) = Tensor<float>(shape, {batch, head, row, 1}, 0.0f);
      }
      require_ran(kBackward.attend_backward(p, got, options));
      require_results(kBackward, p, got);
    }
}

}  // namespace

TEST_CASE("takes both layouts, and leaves alone what lies between the rows",
          "[l24][tensor_core_backward][points:2]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  for (const Format16 format : kFormats) {
    Problem p = with_sink(random_problem({2, 4, 20, 24, 16, 2}, kMask));
    p.layout_of_lse = inside;
    p = in_16_bits(with_layouts(p, outside, inside, outside, inside), format);
    check_values(kBackward,
                 with_layouts_of_gradients(with_gradient(p), inside, outside, inside, outside, inside));
  }
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Format16 format : kFormats)
    for (const Int D : {8 * random.integer(1, 3), many_dimensions(8)}) {
      const Problem p =
          with_sink(random_problem({2, 4, random.integer(5, 20), random.integer(5, 20), D, 2}, kMask));
      INFO("Rows, heads and batches have gaps between them, those of dQ, dK and dV of any lengths");
      BackwardProblem apart = with_gaps(with_gradient(in_16_bits(p, format)));
      apart.layout_of_dQ = apart.layout_of_dK = apart.layout_of_dV = Layout::gaps;
      check_values(kBackward, apart);
    }
  check_results_beside_pairs(random);
  check_drawn(kBackward, with_drawn_dropout);
  bool in_128 = false, is_square = false;  // which may have ways of their own
  for (const std::vector<Layout>& of : every_two_apart(8, Layout::gaps_of_8)) {
    in_128 = !in_128;
    if (in_128) is_square = !is_square;
    const Int D = in_128 ? 128 : 64;
    const Problem wide = random_problem(is_square ? Sizes{2, 2, 7, 7, D, 2} : Sizes{2, 6, 5, 9, D, 2},
                                        {.causal = true, .window = 4, .sinks = 1});
    const Problem p = in_16_bits(with_layouts(dropped(with_sink(wide), 0.25f), of[0], of[1], of[2], of[3]),
                                 kFormats[static_cast<std::size_t>(random.integer(0, 1))]);
    check_values(kBackward,
                 with_layouts_of_gradients(with_gradient(p), of[4], of[5], of[6], of[7], p.layout_of_lse));
  }
  InTurn in_turn;
  for (const Problem& p : problems_of_several_tiles(true)) in_turn.check(p);
}

namespace {

/// Of sizes that no kernel can know beforehand, with few dimensions, but so many at least, and with many; one
/// in each type.
std::vector<Problem> problems_of_unknown_sizes(Int fewest = 8) {
  Random random(case_seed());
  std::vector<Problem> problems;
  for (const Int D : {8 * random.integer(fewest / 8, 8), 8 * random.integer(9, 16)})
    problems.push_back(random_problem({1, 2, random.integer(65, 124), random.integer(65, 124), D, 1}));
  const bool exchanged = random.integer(0, 1) == 1;
  for (std::size_t i = 0; i < problems.size(); ++i)
    problems[i] = in_16_bits(std::move(problems[i]), kFormats[exchanged ? 1 - i : i]);
  return problems;
}

/// For D of at most 64: what stays with a block, once; the tiles of the others that meet it, with lse and
/// delta, which several threads need.
void require_meeting_tiles(const Profile& profile, const Problem& p, Int bytes_of_row) {
  const Int of_keys = meetings_of(p, 64, 128).queries, of_queries = meetings_of(p, 128, 64).keys;
  // delta: O and dO; dK and dV: K and V, Q and dO that meet them; dQ: Q and dO, K and V that meet them.
  const Int rows = 2 * p.H_kv() * p.Nk() + p.H() * (4 * p.Nq() + 2 * of_keys + 2 * of_queries);
  constexpr Int kLseAndDelta = 96;
  require_loads_at_most(
      profile,
      static_cast<std::uint64_t>(p.B() * (bytes_of_row * rows + kLseAndDelta * p.H() * of_keys) +
                                 bytes_of_sinks(p)),
      "to load what stays once, and of the others the tiles that meet,");
}

}  // namespace

TEST_CASE("stores each result once, and nothing else, and reads only tiles that meet",
          "[l24][tensor_core_backward][points:1]") {
  // A window of 2: keys 0 to 127 meet the first three tiles of 64 queries, keys 128 to 255 the last two.
  const Problem p = problem({1, 1, 256, 256, 64}, Format16::bfloat16, {.causal = true, .window = 2});
  const Outcome outcome = check(kBackward, p, kCounted);
  require(outcome.counters.at("launches") <= 3, "The backward pass should be three launches at most.");
  if (const Profile* profile = profile_of(outcome)) {
    require_stores_outputs_once(kBackward, *profile, with_gradient(p));
    require_no_atomics(*profile);
    require_meeting_tiles(*profile, p, 2 * p.D());
    require_busy_warps(*profile);
  }
}

TEST_CASE("stores each result once in any sizes", "[l24][tensor_core_backward][points:1]") {
  BackwardKernel counted = kBackward;
  counted.stores_once = true;
  for (const Problem& p : problems_of_unknown_sizes()) {
    for (const Problem& one : {dropped(with_sink(p), 0.25f), p}) {
      const Outcome outcome = check(counted, one, kCounted);
      if (const Profile* profile = profile_of(outcome)) require_no_atomics(*profile);
    }
  }
  const Problem hidden = in_16_bits(mostly_hidden(), Format16::float16);
  const Outcome of_hidden = check(counted, hidden, kCounted);
  INFO(describe(hidden));
  if (const Profile* profile = profile_of(of_hidden)) require_meeting_tiles(*profile, hidden, 2 * hidden.D());
  check_counted(
      counted,
      [](const Profile& profile, const BackwardProblem& p) {
        require_no_atomics(profile);
        if (p.D() <= 64) require_meeting_tiles(profile, p, most_bytes_of_row(p));
      },
      with_drawn_dropout);
}

TEST_CASE("makes all products on tensor cores", "[l24][tensor_core_backward][points:2]") {
  for (const auto& [D, format] : {std::pair{Int{64}, Format16::bfloat16}, {Int{128}, Format16::float16}}) {
    const Problem p = problem({1, 1, 128, 128, D}, format);
    const Outcome outcome = check(kBackward, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(p));
    // S, dP, dV, dK and dQ, and for a kernel of dQ alone S and dP once more.
    const auto product = static_cast<std::uint64_t>(p.Nq() * p.Nk() * D);
    require(profile->matrix_float16 == 5 * product || profile->matrix_float16 == 7 * product,
            "Tensor cores do " + std::to_string(profile->matrix_float16) +
                " multiply-adds; five products take " + std::to_string(5 * product) +
                ", and the seven of a pass with a kernel for dQ " + std::to_string(7 * product) + ".");
    require_tensor_cores(*profile);
  }
  // With few dimensions, what a score takes besides is no small part of the whole.
  Random random(case_seed() + 1);
  for (Problem ragged : problems_of_unknown_sizes(32)) {
    ragged.mask.causal = random.integer(0, 1) == 1;
    if (random.integer(0, 1) == 1) ragged = dropped(with_sink(ragged), 0.25f);
    const Outcome outcome = check(kBackward, ragged, kCounted);
    INFO(describe(ragged));
    require_on_tensor_cores(outcome, multiply_adds_of(ragged, 5));
    if (const Profile* profile = profile_of(outcome)) require_tensor_cores(*profile);
  }
}

namespace {

/// Keys of the second half are those of the first, but for the sign of number 7, which is large and which no
/// query looks at: dQ[..., 7] is a sum of pairs that cancel each other, whose last bits show in which order
/// they were added.
Problem with_cancelling_keys(Problem p) {
  const Int half = p.Nk() / 2;
  for (Int i = 0; i < p.Nq(); ++i) p.Q(0, 0, i, 7) = 0.0f;
  for (Int j = 0; j < half; ++j) {
    for (Int d = 0; d < p.D(); ++d) {
      p.K(0, 0, half + j, d) = p.K(0, 0, j, d) *= d == 7 ? 1000.0f : 1.0f;
      p.V(0, 0, half + j, d) = p.V(0, 0, j, d);
    }
    p.K(0, 0, half + j, 7) *= -1.0f;
  }
  return p;
}

}  // namespace

TEST_CASE("gives the same bits in every order of blocks and threads",
          "[l24][tensor_core_backward][points:1]") {
  // Many batches and three blocks of keys, of sizes that no kernel knows beforehand: a sum of two has the
  // same bits in both orders.
  Random random(case_seed());
  const Problem p = random_problem(
      {random.integer(5, 6), 2, random.integer(65, 90), random.integer(257, 300), 16, 1}, {.causal = true});
  check_same_bits(without_check_mode(kBackward),
                  with_gradient(in_16_bits(dropped(with_sink(p), 0.25f), Format16::bfloat16)));
  check_same_bits(kBackward,
                  with_gradient(in_16_bits(with_cancelling_keys(random_problem({1, 1, 16, 512, 8})),
                                           Format16::bfloat16)));
  // Those with most tiles begin first.
  for (const Problem& many : of_many_blocks()) {
    const Problem many_blocks = in_16_bits(many, Format16::bfloat16);
    const Outcome of_many = check(kBackward, many_blocks, kCounted);
    INFO(describe(many_blocks));
    const Profile* profile = profile_of(of_many);
    if (!profile) return;
    require_largest_first(*profile);
    require_busy_blocks(*profile, 0.25);
    // So that it is not others that load more than they need.
    require_meeting_tiles(*profile, many_blocks, 2 * many_blocks.D());
  }
}

// --- What is refused ---

namespace {

void check_refuses(Format16 format) {
  check_refuses_shapes(kBackward, problem({2, 3, 4, 5, 16, 3}, format, kMask));
  const Problem forward = problem({1, 2, 4, 5, 16}, format, kMask);
  check_refuses_rows(kBackward, forward);
  check_refuses_unread_heads(kBackward, format);
  const BackwardProblem valid = with_gradient(forward);
  const BackwardProblem other = with_gradient(of_other_sizes(forward));
  Random random = random_of_refusals(forward);
  const auto past = static_cast<std::uint32_t>(2 * random.integer(1, 7));
  const std::tuple<std::size_t, Tensor<float> BackwardProblem::*, const char*> rows[] = {
      {0, &BackwardProblem::Q, "Q"}, {1, &BackwardProblem::K, "K"},   {2, &BackwardProblem::V, "V"},
      {3, &BackwardProblem::O, "O"}, {5, &BackwardProblem::dO, "dO"},
  };
  for (const auto& [array, member, name] : rows) {
    {
      BackwardProblem wrong = other;
      wrong.*member = off_chunks(other.*member, random);
      INFO("A stride of " << name << " is no multiple of 8");
      require_refused(kBackward, wrong, results_of(other), name);
    }
    INFO(name << " begins " << past << " bytes past a multiple of 16");
    Backward got = results_of(valid);
    require_throws<std::invalid_argument>(
        kBackward.attend_backward(valid, got, with_shifted_array(6, array, past)), name);
  }
  const auto refuse = [&](const char* argument, auto change) {
    BackwardProblem wrong = valid;
    change(wrong);
    require_refused(kBackward, wrong, results_of(valid), argument);
  };
  for (const Int window : numbers_below(1))
    refuse("window", [=](BackwardProblem& p) { p.mask.window = window; });
  for (const Int sinks : numbers_below(0)) refuse("sinks", [=](BackwardProblem& p) { p.mask.sinks = sinks; });
  for (const float dropout : refused_dropouts())
    refuse("dropout", [=](BackwardProblem& p) { p.dropout = Dropout{dropout, kSeed}; });
  constexpr Int kTooMany = (Int{1} << 30) + 1;  // of no batches, without memory
  const std::tuple<Int, Int, const char*> too_many[] = {{kTooMany, 5, "Q"}, {5, kTooMany, "K"}};
  for (const auto& [Nq, Nk, name] : too_many) {
    const BackwardProblem wrong = with_gradient(problem({0, 1, Nq, Nk, 8}, format));
    require_refused(kBackward, wrong, results_of(wrong), name);
  }
}

}  // namespace

TEST_CASE("refuses shapes, rows, windows, sinks and dropouts that do not fit; gives 0 where there is nothing",
          "[l24][tensor_core_backward][points:2]") {
  for (const Format16 format : kFormats) check_refuses(format);
  for (const Sizes& n : {Sizes{2, 2, 5, 0, 8}, {2, 2, 0, 5, 8}, {0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}}) {
    const BackwardProblem p =
        with_gradient(in_16_bits(with_sink(random_problem(n, kMask)), Format16::bfloat16));
    check(kBackward, p);
    check(kBackward, with_gaps(p));
  }
  for (const Sizes& n : {Sizes{0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}, {1, 1, 0, 0, 8}})
    require(check(kBackward, problem(n, Format16::bfloat16)).counters.at("launches") == 0,
            "There is nothing to compute, so nothing should be launched.");
}

TEST_CASE("reports a launch that CUDA refuses", "[l24][tensor_core_backward][points:1]") {
  check_values(kBackward, problem({1, 2, 5, 6, 8}, Format16::bfloat16));
  for (const Format16 format : kFormats)
    for (const Problem& p : {random_problem(larger({1, 1, 70, 3, 8})),
                             random_problem(larger_of_one_query({1, 1, 1, 140, 8})),  // dK and dV alone
                             with_sink(random_problem(larger_of_one_query({1, 2, 1, 3, 8})))})  // dsink alone
      check_reports_refused_launch(kBackward, with_gradient(in_16_bits(p, format)));
}

COURSE_GRADCHECK(GradcheckContext& check) {
  const double dropout = check.number("dropout", 0);
  const auto seed = static_cast<std::uint64_t>(check.integer("seed", static_cast<Int>(check.seed())));
  if (!(dropout >= 0 && dropout < 1))
    throw RunError("--set dropout: it must be at least 0 and less than 1.", true);
  gradcheck_attention_backward(check, kBackward, [&](const Problem& p) {
    return in_16_bits(attention_tests::dropped(p, static_cast<float>(dropout), seed, decision_of),
                      Format16::bfloat16);
  });
}

COURSE_RUN(RunContext& run) {
  const auto dropout = static_cast<float>(run.number("dropout", 0));
  const auto seed = static_cast<std::uint64_t>(run.integer("seed", 0));
  run_attention_backward(run, kTakesAll, [&](const BackwardProblem& problem, Backward& got) {
    BackwardProblem p = problem;
    p.dropout = Dropout{dropout, seed};
    const auto call = [&](const auto&... arguments) {
      run.call(arguments...);
      return 0;
    };
    p.format == Format16::float16 ? in_type<float16>(p, got, call) : in_type<bfloat16>(p, got, call);
  });
}
