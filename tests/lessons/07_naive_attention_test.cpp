// Tests of lesson 07: S, P and O of naive_attention against float64, in this order, so that the first wrong
// step is told; within twice the error of a plain float32 attention.

#include "07_naive_attention/naive_attention.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "07_naive_attention/mistakes.hpp"
#include "attention/check_parts.hpp"
#include "attention/checks.hpp"
#include "attention/drawn.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/attention.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;
using namespace course::lesson_07;

namespace {

constexpr auto kAttention = ENTRY(naive_attention);
constexpr Int kTile = 32;  // rows and columns of the smallest tile that the contract's cost allows

struct Steps {
  Tensor<float> S, P, O;
};

/// What lesson 07 writes besides O has layouts of its own.
struct StepLayouts {
  Layout S = Layout::heads_outside, P = Layout::heads_outside;
};

// --- Calls and checks ---

Steps steps_of(const Problem& p, const StepLayouts& layouts = {}) {
  const Shape scores{p.B(), p.H(), p.Nq(), p.Nk()}, output{p.B(), p.H(), p.Nq(), p.D()};
  return {Tensor<float>(scores, strides_of(scores, layouts.S), 0.0f),
          Tensor<float>(scores, strides_of(scores, layouts.P), 0.0f),
          Tensor<float>(output, strides_of(output, p.layout_of_O), 0.0f)};
}

Outcome attend(const Problem& p, Steps& got, const CallOptions& options = {}) {
  return call_with(options, kAttention, in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(got.S, "S"),
                   out(got.P, "P"), out(got.O, "O"), p.scale);
}

/// What is told of S even where check mode found errors: it is no race that gives it.
std::vector<Misplacement> misplacements_in_S(const Problem& p, const reference::Attention& expected) {
  std::vector<Misplacement> found = misplacements_in(p);
  for (const Int tile : {32, 64, 128}) {
    const Int down = (p.Nq() + tile - 1) / tile, across = (p.Nk() + tile - 1) / tile;
    if (std::abs(down - across) > 1)  // or it leaves out no more than who forgets the last tile
      found.push_back({tiles_exchanged(p, tile)});
  }
  found.push_back({softmax_in_place(expected)});
  return found;
}

/// S first, then P, then O: the case ends with the first that is wrong.
void require_steps(const Steps& got, const Problem& p, const Outcome& outcome) {
  const reference::Attention expected = attention_of(p);
  const Baseline baseline = in_float32(p, expected);
  const Result S{"S", &got.S, &expected.S, &baseline.S, [] { return Mistakes{}; }};
  std::vector<Failure> failures = despite_findings(outcome, {S}, misplacements_in_S(p, expected));
  if (!failures.empty()) {
    const Comparison comparison = compare(got.S, "S", expected.S, baseline.S);
    Failure numbers = comparison.failure();
    if (!comparison.wrong.empty())
      numbers.attempts = try_mistakes(mistakes_in_S(p, expected), {got.S, expected.S, comparison});
    failures.insert(failures.begin(), numbers);
    grading::detail::report(failures, TestLine::here());
  }
  require_matches(got.S, "S", expected.S, baseline.S, mistakes_in_S(p, expected));
  require_matches(got.P, "P", expected.P, baseline.P, mistakes_in_P(p, expected));
  require_matches(got.O, "O", expected.O, baseline.results.O, mistakes_in_O(p, expected));
}

/// What the contract says about memory, in every call that is counted, since a kernel may tell the problems
/// apart. Where rows do not begin at multiples of 32 bytes, or tiles have edges, `waste` times as much may be
/// read.
void require_traffic(const Profile& profile, const Problem& p, std::uint64_t waste) {
  const auto tiles = [](Int size) { return (size + kTile - 1) / kTile; };
  const Int heads = p.B() * p.H(), Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  const Int row = bytes_of_row(p), row_of_scores = (4 * Nk + 31) / 32 * 32;
  const auto scores_bytes = static_cast<std::uint64_t>(4 * heads * Nq * Nk);
  const auto output_bytes = static_cast<std::uint64_t>(4 * heads * Nq * D);
  const auto require_written = [](const simt::LaunchProfile& launch, std::uint64_t bytes, const char* what) {
    const std::uint64_t written = launch.total.global_store.bytes_asked;
    require(written == bytes, launch.kernel + " writes " + std::to_string(written) + " bytes; " + what +
                                  " once takes " + std::to_string(bytes) + ".");
  };
  const auto require_read = [waste](const simt::LaunchProfile& launch, Int bytes, const char* what) {
    require_loads_at_most(make_profile({launch}), waste * static_cast<std::uint64_t>(bytes),
                          "in " + launch.kernel + ", " + what + (waste > 1 ? " and as much again," : ""));
  };
  const simt::LaunchProfile &scores = profile.launches[0], &softmax = profile.launches[1],
                            &output = profile.launches[2];
  require_written(scores, scores_bytes, "to write every score");
  require_read(scores, heads * row * (Nq * tiles(Nk) + Nk * tiles(Nq)),
               "to read Q once for every 32 keys, and K once for every 32 queries, as tiles of 32 x 32 do,");
  require_written(softmax, scores_bytes, "to write every weight");
  require_read(softmax, 3 * heads * Nq * row_of_scores, "to read S three times (maximum, sum, output),");
  require_written(output, output_bytes, "to write O");
  require_read(
      output, heads * (Nq * row_of_scores * tiles(D) + Nk * row * tiles(Nq)),
      "to read P once for every 32 columns of O, and V once for every 32 queries, as tiles of 32 x 32 do,");
}

Outcome check_into(Steps got, const Problem& p, std::uint64_t waste = 2, const CallOptions& options = {}) {
  INFO(describe(p));
  const Outcome outcome = attend(p, got, options);
  require_ran(outcome);
  require_steps(got, p, outcome);
  if (p.Q.numel() == 0 || p.Nk() == 0) return outcome;
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == 3, "Your code launched " + std::to_string(launches) +
                             " kernels; it should launch three: for S, for P and for O.");
  if (const auto profile = profile_if_counted(outcome)) require_traffic(*profile, p, waste);
  return outcome;
}

Outcome check(const Problem& p, const StepLayouts& layouts = {}, std::uint64_t waste = 2,
              const CallOptions& options = {}) {
  return check_into(steps_of(p, layouts), p, waste, options);
}

/// Of rows of whole fours: multiples of 4, but for one axis.
Strides strides_with_odd(std::size_t odd_axis, const Shape& shape, Random& random) {
  Strides strides{0, 0, 0, 1};
  for (std::size_t axis = 3; axis-- > 0;)
    strides[axis] = (strides[axis + 1] * shape[axis + 1] + 3) / 4 * 4 + 4 * random.integer(0, 2) +
                    (axis == odd_axis ? 1 + 2 * random.integer(0, 1) : 0);
  return strides;
}

/// In one tensor at a time, batches, heads or rows begin anywhere, and the others are dense: who copies four
/// numbers at a time has to ask each of them for all of its strides.
void check_odd_strides() {
  Random random(case_seed() + 1);
  for (const std::size_t axis : {0, 1, 2}) {
    const Int side = 4 * random.integer(1, 5);  // as many queries as keys, whose strides still differ
    const Sizes n{axis == 0 ? 2 : 1, axis == 1 ? 2 : 1, side, side, 64 * random.integer(1, 2)};
    const Problem dense = random_problem(n);
    const auto odd = [&](const Tensor<float>& x) { return strides_with_odd(axis, x.shape(), random); };
    for (Tensor<float> Problem::*const input : {&Problem::Q, &Problem::K, &Problem::V}) {
      Problem p = dense;
      p.*input = lay_out(p.*input, odd(p.*input));
      check(p);
    }
    for (Tensor<float> Steps::*const result : {&Steps::S, &Steps::P, &Steps::O}) {
      Steps got = steps_of(dense);
      got.*result = lay_out(got.*result, odd(got.*result));
      check_into(std::move(got), dense);
    }
  }
}

/// Whole tiles, which may have a fast path, several of queries or of keys, of which one problem is dense,
/// with scores whose exponentials overflow.
void check_whole_tiles() {
  Random random(case_seed() + 2);
  const auto layout = [&] {
    constexpr Layout kLayouts[] = {Layout::heads_inside, Layout::far_apart, Layout::gaps};
    return kLayouts[random.integer(0, 2)];
  };
  const bool is_first_dense = random.integer(0, 1) == 1;
  for (const bool is_first : {true, false}) {
    const Int Nq = is_first ? 256 : 128, Nk = 384 - Nq;
    const Problem p =
        with_opposite_shifts(random_problem({2, 2, Nq, Nk, 64 * random.integer(1, 2)}), 1000.0f);
    if (is_first == is_first_dense)
      check(p);
    else
      check(with_layouts(p, layout(), layout(), layout(), layout()), {.S = layout(), .P = layout()});
  }
}

/// Two queries and three keys with products that are logarithms of whole numbers.
Problem problem_of_the_notes() {
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  return {Tensor<float>::from({1, 1, 2, 2}, {2, 0, 0, 2}),
          Tensor<float>::from({1, 1, 3, 2}, {0, 0, ln(2), ln(3), ln(5), 0}),
          Tensor<float>::from({1, 1, 3, 2}, {8, 0, 16, 5, 0, 10}), 0.5f};
}

void require_refused(const Problem& p, Steps got, const char* argument) {
  INFO("Q " << format_shape(p.Q.shape()) << ", K " << format_shape(p.K.shape()) << ", V "
            << format_shape(p.V.shape()) << ", S " << format_shape(got.S.shape()) << ", P "
            << format_shape(got.P.shape()) << ", O " << format_shape(got.O.shape()));
  require_throws<std::invalid_argument>(attend(p, got), argument);
}

}  // namespace

TEST_CASE("attends from the two queries of the notes to their three keys",
          "[l07][naive_attention][points:1]") {
  check(problem_of_the_notes());
}

TEST_CASE("keeps several batches and heads apart", "[l07][naive_attention][points:2]") {
  check(random_problem({2, 3, 5, 7, 4}));  // small enough for check mode to name what heads do to each other
  check(random_problem({2, 3, 70, 90, 37}));
  check(random_problem({3, 2, 33, 20, 64}));
  check(random_problem({1, 3, 20, 300, 8}));  // one row of tiles, and so long that two of them may be missing
}

TEST_CASE("attends with as many keys as dimensions, and as many queries",
          "[l07][naive_attention][points:2]") {
  // A matrix that should have been transposed has the right shape here.
  check(random_problem({1, 2, 48, 48, 48}));
  check(random_problem({1, 2, 40, 48, 48}));
}

TEST_CASE("attends with one query, one key, one dimension, and a few", "[l07][naive_attention][points:2]") {
  for (const Sizes& n : {Sizes{2, 3, 1, 1, 1},
                         {2, 3, 5, 1, 3},
                         {2, 3, 1, 7, 2},
                         {1, 4, 3, 2, 1},
                         {1, 2, 31, 33, 5},
                         {1, 2, 17, 9, 31}})
    check(random_problem(n));

  Problem p = random_problem({1, 2, 1, 33, 100});
  p.Q = lay_out(p.Q, {0, 100, 0, 1});  // an axis of one element may have any stride
  check(p);
}

TEST_CASE("attends around the edges of tiles", "[l07][naive_attention][points:2]") {
  for (const Sizes& n : {Sizes{1, 1, 130, 127, 65},
                         {1, 1, 127, 129, 63},
                         {1, 1, 128, 128, 64},
                         {1, 1, 63, 65, 33},
                         {1, 1, 64, 32, 32},
                         {1, 1, 65, 31, 16},
                         {1, 1, 150, 260, 5}})
    check(random_problem(n));
}

TEST_CASE("attends in 128 and 127 dimensions", "[l07][naive_attention][points:1]") {
  check(random_problem({1, 2, 45, 50, 128}));
  check(random_problem({1, 2, 50, 45, 127}));
}

TEST_CASE("attends to 300 and to 1500 keys", "[l07][naive_attention][points:2]") {
  check(random_problem({1, 2, 3, 300, 8}));
  check(random_problem({1, 1, 5, 1500, 4}));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l07][naive_attention][points:2]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  check(with_layouts(random_problem({2, 3, 20, 40, 16}), outside, inside, outside, outside));
  check(with_layouts(random_problem({2, 3, 40, 20, 16}), inside, outside, inside, outside));
  check(with_layouts(random_problem({2, 3, 37, 45, 24}), inside, inside, inside, inside));

  const Problem p = random_problem({2, 3, 20, 40, 16});  // S and P, too, have strides of their own
  check(p, {.S = inside});
  check(p, {.P = Layout::gaps});
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l07][naive_attention][points:2]") {
  const StepLayouts apart{.S = Layout::gaps, .P = Layout::gaps};
  Problem p = random_problem({2, 2, 35, 41, 18});
  p.layout_of_O = Layout::gaps;
  check(p, apart);
  for (const float gap : {1000.0f, kNan}) check(with_gaps(p, gap), apart);
  for (const CallOptions& shifted : with_shifted_arrays(6)) {
    INFO("Tensors are parts of larger ones: one or more begin at no multiple of 16 bytes");
    check(random_problem({1, 2, 20, 40, 16}), {}, 2, shifted);
  }
  for (std::size_t array = 0; array < 6; ++array) {
    INFO("The same with whole tiles, which may have a fast path");
    check(random_problem({1, 1, 128, 128, 32}), {}, 2, with_shifted_array(6, array, 8));
  }
  Random random(case_seed());
  constexpr Layout kLayouts[] = {Layout::heads_outside, Layout::heads_inside, Layout::heads_first,
                                 Layout::gaps};
  for (const Problem& drawn : drawn_problems({}, kMaxDim, false)) {
    const auto layout = [&] { return kLayouts[random.integer(0, 3)]; };
    check(drawn, {.S = layout(), .P = layout()});
  }
  check_odd_strides();
  check_whole_tiles();
}

TEST_CASE("keeps large scores apart", "[l07][naive_attention][points:3]") {
  check(with_large_scores(random_problem({1, 2, 40, 70, 32})));
  check(with_whole_scores(random_problem({1, 2, 40, 70, 16})));
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f}) {
    INFO("about " << shift << " added to every score");
    check(with_shifted_scores(random_problem({1, 2, 20, 40, 16}), shift));
  }
  INFO("about 1000 added to every score of queries 0, 2, 4 and 6, and -1000 to those of the others");
  check(with_opposite_shifts(random_problem({1, 2, 20, 40, 16}), 1000.0f));
}

TEST_CASE("gives zeros where all scores of a row are -inf", "[l07][naive_attention][points:2]") {
  check(with_empty_rows(random_problem({1, 2, 12, 150, 8})));
}

TEST_CASE("gives no weight to a score of -inf beside others", "[l07][naive_attention][points:1]") {
  const Problem p = with_keys_of_minus_inf(random_problem({1, 2, 12, 150, 8}), 130);
  check(p);
  check(with_infinite_values(p));  // 0 times an infinity is NaN
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l07][naive_attention][points:2]") {
  for (const Int D : {20, 65})
    check(with_infinite_values(with_not_numbers(random_problem(larger({2, 3, 40, 50, D})))));
}

TEST_CASE("gives 0 without keys, and launches nothing without queries", "[l07][naive_attention][points:2]") {
  check(random_problem({2, 2, 5, 0, 8}));
  check(with_gaps(random_problem({2, 2, 5, 0, 8})));
  check(random_problem({1, 2, 130, 0, 100}));
  for (const Sizes& n : {Sizes{2, 2, 0, 5, 8}, {0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}, {1, 1, 0, 0, 8}}) {
    const Outcome outcome = check(random_problem(n));
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute, so nothing should be launched.");
  }
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l07][naive_attention][points:1]") {
  for (const Problem& p :
       {random_problem({1, 2, 140, 150, 20}), random_problem(unknown_sizes_of_many_tiles())}) {
    Steps first = steps_of(p);
    const Outcome outcome = attend(p, first);
    require_ran(outcome);
    require_steps(first, p, outcome);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Steps got = steps_of(p);
      require_ran(attend(p, got, options));
      INFO(
          "The same call, with blocks, warps and threads in another order; the results must have the same "
          "bits");
      require_same_bits(got.S, first.S, "S");
      require_same_bits(got.P, first.P, "P");
      require_same_bits(got.O, first.O, "O");
    }
  }
}

TEST_CASE("writes S and P once, and reads them as often as promised", "[l07][naive_attention][points:3]") {
  const Problem p = random_problem({1, 2, 48, 96, 64});  // every row begins at a multiple of 32 bytes
  const Outcome outcome = check(p, {}, 1);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  for (const simt::LaunchProfile& launch : profile->launches) {
    const auto blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    require(blocks >= 2, launch.kernel + " has only " + std::to_string(blocks) +
                             " block for 2 heads: every head of every batch should have blocks of its own.");
  }
  require_busy_blocks(*profile, 0.5);
  require_busy_lanes(*profile);
  // Not of softmax: a large block has more to combine than its few warps with columns have to load.
  require_busy_warps(make_profile({profile->launches[0], profile->launches[2]}));
}

TEST_CASE("reads and writes whole sectors", "[l07][naive_attention][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 48, 96, 64}, unknown_sizes_of_whole_sectors()}) {
    const Outcome outcome = check(random_problem(n), {}, 2, kCounted);
    if (const Profile* profile = profile_of(outcome)) require_whole_sectors(*profile);
  }
}

namespace {

void check_refuses_shapes(const Problem& p, Random& random) {
  check(p);
  const Steps good = steps_of(p);
  const auto tensor = [](Shape shape) { return Tensor<float>(std::move(shape), 1.0f); };
  const auto with = [&](auto member, Shape shape) {
    Problem wrong = p;
    wrong.*member = tensor(std::move(shape));
    return wrong;
  };
  const auto results_with = [&](auto member, Shape shape) {
    Steps wrong = good;
    wrong.*member = tensor(std::move(shape));
    return wrong;
  };
  const auto others = [&](const Tensor<float>& x) { return drawn::misfits(x.shape(), random); };
  for (const Shape& shape : other_shapes_of_K(p, false, random))
    require_refused(with(&Problem::K, shape), good, "K");
  for (const Shape& shape : others(p.V)) require_refused(with(&Problem::V, shape), good, "V");
  for (const Shape& shape : others(good.S)) {
    require_refused(p, results_with(&Steps::S, shape), "S");
    require_refused(p, results_with(&Steps::P, shape), "P");
  }
  for (const Shape& shape : others(good.O)) require_refused(p, results_with(&Steps::O, shape), "O");
}

}  // namespace

TEST_CASE("refuses shapes that do not fit together", "[l07][naive_attention][points:2]") {
  const Problem p = random_problem({2, 3, 4, 5, 6});
  Random random = random_of_refusals(p);
  check_refuses_shapes(p, random);
  check_refuses_shapes(of_other_sizes(p), random);
  check_refuses_shapes(random_problem({2, 3, 0, 5, 6}), random);
  check_refuses_shapes(random_problem({2, 3, 4, 0, 6}), random);
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l07][naive_attention][points:1]") {
  const Problem p = random_problem({1, 2, 4, 5, 6});
  check(p);
  Random random = random_of_refusals(p);
  for (const Int D : other_dims(p, kMaxDim, random)) {
    Problem wrong{Tensor<float>({1, 2, 4, D}), Tensor<float>({1, 2, 5, D}), Tensor<float>({1, 2, 5, D}),
                  1.0f};
    require_refused(wrong, steps_of(wrong), "Q");
  }
  for (const Problem& dense : {of_other_sizes(p), random_problem({1, 2, 1, 2, 2})}) {
    for (const auto& [member, name] : {std::pair{&Problem::Q, "Q"}, {&Problem::K, "K"}, {&Problem::V, "V"}}) {
      Problem wrong = dense;
      wrong.*member = spread(dense.*member, random);
      require_refused(wrong, steps_of(dense), name);
    }
    for (const auto& [member, name] : {std::pair{&Steps::S, "S"}, {&Steps::P, "P"}, {&Steps::O, "O"}}) {
      Steps wrong = steps_of(dense);
      wrong.*member = spread(wrong.*member, random);
      require_refused(dense, wrong, name);
    }
  }
}

TEST_CASE("reports a launch that CUDA refuses", "[l07][naive_attention][points:1]") {
  // More heads than a grid has blocks along y or z; and, in the simulator, a grid of one block along x. Whose
  // launches are accepted all the same, must be right.
  struct Refused {
    Sizes sizes;
    CheckMode check_mode = CheckMode::if_small;
  };
  // The last two may refuse the first or the second launch alone. Who asks after all three has let the others
  // read what was never written, which check mode would tell.
  for (const auto& [sizes, check_mode] : {Refused{larger({1, 1, 200, 150, 8})},
                                          {{1, 1, 200, 0, 8}},
                                          {{1, 66'000, 1, 1, 1}},
                                          {{1, 1, 1, 200, 8}, CheckMode::never},
                                          {{1, 1, 100, 100, 8}, CheckMode::never}}) {
    const Problem p = random_problem(sizes);
    CallOptions options;
    options.max_grid_x = 1;
    options.check = check_mode;
    Steps got = steps_of(p);
    std::optional<Outcome> unlimited;
    if (p.H() <= 65'535) require_ran(unlimited.emplace(attend(p, got, {.check = check_mode})));
    const Outcome outcome = attend(p, got, options);
    if (!require_refused_launch(outcome, unlimited)) require_steps(got, p, outcome);
  }
}

COURSE_RUN(RunContext& run) {
  const Problem p = read_problem(run, {});
  Steps steps = steps_of(p);
  run.call(kAttention, in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), out(steps.S, "S"), out(steps.P, "P"),
           out(steps.O, "O"), p.scale);
  run.output("s", steps.S);
  run.output("p", steps.P);
  run.output("o", steps.O);
}
