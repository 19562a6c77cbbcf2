// Tests of lesson 22: O and lse of attention_forward_bfloat16 and _float16 against float64 on the same
// inputs, within what rounding P and O to 16 bits costs; and how they go about memory and tensor cores.

#include "22_tensor_core_attention/tensor_core_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/check_parts.hpp"
#include "attention/checks.hpp"
#include "attention/cutting_off.hpp"
#include "attention/drawn.hpp"
#include "attention/golden.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/attention_rounding.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr Format16 kBoth[] = {Format16::bfloat16, Format16::float16};

// --- Calls ---

/// Calls the entry of the problem's type: `call(entry, arguments...)`. Results are widened to float32.
template <class T, class Function, class Call>
void attend_with(const Call& call, Entry<Function> entry, const Problem& p, Forward& got) {
  Tensor<T> O = narrowed<T>(got.O);
  const auto attend = [&](const auto& sink) {
    call(entry, in(narrowed<T>(p.Q), "Q"), in(narrowed<T>(p.K), "K"), in(narrowed<T>(p.V), "V"), sink,
         out(O, "O"), out(got.lse, "lse"), p.scale, p.mask.causal, p.mask.window, p.mask.sinks);
  };
  if (p.sink)
    attend(in(*p.sink, "sink"));
  else
    attend(null());
  got.O = widened(O);
}
template <class Call>
void attend_with(const Call& call, const Problem& p, Forward& got) {
  if (p.format == Format16::bfloat16)
    attend_with<bfloat16>(call, ENTRY(attention_forward_bfloat16), p, got);
  else
    attend_with<float16>(call, ENTRY(attention_forward_float16), p, got);
}

Outcome attend(const Problem& p, Forward& got, const CallOptions& options) {
  Outcome outcome;
  attend_with([&](auto entry, auto&&... arguments) { outcome = call_with(options, entry, arguments...); }, p,
              got);
  return outcome;
}

// --- Mistakes of this lesson's own ---

/// V where the key that each weight meets is another one, `at` of its number; past the last key there are
/// zeros.
Reader values_of_keys(const Problem& p, std::function<Int(Int key)> at) {
  const Address right = address_by(p.V.strides());
  return {&p.V, [right, at = std::move(at), Nk = p.Nk()](Int b, Int h, Int row, Int d) {
            const Int key = at(row);
            return key < Nk ? right(b, h, key, d) : kZeroAddress;
          }};
}

/// V where keys and dims of each tile of 64 x 64 are exchanged.
Reader values_untransposed(const Problem& p) {
  const Address right = address_by(p.V.strides());
  return {&p.V, [right, Nk = p.Nk(), D = p.D()](Int b, Int h, Int row, Int d) {
            const Int key = row / 64 * 64 + d, dim = row % 64;
            return key < Nk && dim < D ? right(b, h, key, dim) : kZeroAddress;
          }};
}

/// Wrong ranges of tiles of keys: which a block of queries visits, and which a warp's queries take for whole.
void add_wrong_tiles(const Problem& p, Catalogue& all) {
  const Int M = queries_of_a_block(p.D()), N = keys_of_a_tile(p.D()), offset = p.Nk() - p.Nq();
  const Int window = std::min(p.mask.window, std::max<Int>(p.Nk(), 1)), sinks = p.mask.sinks;
  const auto down = [N](Int key) { return key / N * N; };
  const auto up = [N](Int key) { return (key + N - 1) / N * N; };

  const auto add_missing = [&](const char* name, auto visits, const char* sentence) {
    all.add_view_too(
        name, [=, &p](Int i, Int j) { return p.sees(i, j) && visits(i, j); }, sentence);
  };
  const auto first_seen = [=](Int i) { return std::max<Int>(i / M * M + offset - window + 1, 0); };
  const auto seen_end = [=, causal = p.mask.causal, Nq = p.Nq(), Nk = p.Nk()](Int i) {
    return causal ? std::max<Int>(std::min((i / M + 1) * M, Nq) + offset, 0) : Nk;
  };
  add_missing(
      "first_tile_rounded_up", [=](Int i, Int j) { return j >= up(first_seen(i)) || down(j) < sinks; },
      "The beginning of the window is rounded up to a whole tile, and the keys before that are missing.");
  add_missing(
      "last_tile_rounded_down", [=](Int i, Int j) { return j < down(seen_end(i)); },
      "The end of the keys is rounded down to a whole tile: those of the last tile are missing.");
  add_missing(
      "tiles_of_sinks_missing", [=](Int i, Int j) { return j >= down(first_seen(i)); },
      "The tiles of the sinks before the window are not visited.");

  const auto add_unmasked = [&](const char* name, auto begins, auto ends, const char* sentence) {
    const Int W = M / 4;  // queries of a warp
    const auto whole = [=, &p](Int i, Int j) {
      const Int first = i / W * W + offset, last = first + W - 1;
      return j >= begins(std::max<Int>(last - window + 1, 0)) && j < down(p.Nk()) &&
             (!p.mask.causal || j < ends(std::max<Int>(first + 1, 0)));
    };
    all.add_view_too(
        name, [=, &p](Int i, Int j) { return p.sees(i, j) || whole(i, j); }, sentence);
  };
  add_unmasked(
      "window_tile_unmasked", down, down,
      "The tile in which the window of a warp's last query begins is taken for whole: some of its keys "
      "are too old for later queries.");
  add_unmasked(
      "diagonal_tile_unmasked", up, up,
      "The tile on the diagonal is taken for whole: it has keys that the first queries of the warp do "
      "not see.");
}

Mistakes own_mistakes(const Problem& p, Which which) {
  Catalogue all(p, which);
  add_wrong_tiles(p, all);
  all.add("log2e_missing", {.score_factor = std::log(2.0)},
          "The powers of 2 lack the factor log2(e): exp(x) is 2 to the power x times log2(e).");
  if (which == Which::O) {
    all.add("p_halves_exchanged", {.V = values_of_keys(p, [](Int key) { return key ^ 8; })},
            "Of each 16 keys, the weights of the first 8 meet the values of the last 8: as A, the fragment "
            "of the left 8 columns comes first.");
    if (p.D() == 64)
      all.add("v_untransposed", {.V = values_untransposed(p)},
              "In each tile, keys and dimensions of V are exchanged: V's lines lie along the columns of the "
              "product, not along the keys that are summed over.");
    const Int N = keys_of_a_tile(p.D());
    for (const Int ahead : {-1, 1})
      if (p.Nk() > N && p.mask.window >= p.Nk() && p.mask.sinks == 0 && !p.mask.causal)
        all.add(
            ahead < 0 ? "values_of_the_tile_before" : "values_of_the_next_tile",
            {.V = values_of_keys(p, [=](Int key) { return std::max(key + ahead * N, key % N); })},
            "The weights of a tile meet the values of another one: K and V of tile t are both in stage t % "
            "kStages.");
  }
  return all.mistakes();
}

Kernel kernel_of_lesson() {
  Kernel kernel{
      [](const Problem& p, Forward& got, const CallOptions& options) { return attend(p, got, options); },
      {Which::lse, Which::O},
      own_mistakes};
  kernel.grouped = true;
  kernel.max_dim = kMaxDim;
  kernel.load_limit = keys_read_for(64);
  kernel.on_tensor_cores = 2;
  kernel.stores_once = true;
  return kernel;
}
const Kernel kKernel = kernel_of_lesson();

/// Right, with a block for each tile of queries.
Outcome check(const Problem& p, const CallOptions& options = {}, TestLine where = TestLine::here()) {
  const Outcome outcome = attention_tests::check(kKernel, p, options, where);
  const Int M = queries_of_a_block(p.D()), tiles = p.B() * p.H() * ((p.Nq() + M - 1) / M);
  const std::int64_t blocks = outcome.counters.at("blocks");
  require(blocks == tiles,
          "The launch had " + std::to_string(blocks) + " blocks; with " + std::to_string(M) +
              " queries of a head for each, it should have " + std::to_string(tiles) + ".",
          where);
  return outcome;
}
/// Without check mode, which takes many times as long: for what other calls have had checked.
void check_values(const Problem& p, TestLine where = TestLine::here()) {
  check(p, {.check = CheckMode::never}, where);
}
void check_values_in_both(const Problem& p, TestLine where = TestLine::here()) {
  for (const Format16 format : kBoth) check_values(in_16_bits(p, format), where);
}

Problem bf16(Problem p) { return in_16_bits(std::move(p), Format16::bfloat16); }
Problem fp16(Problem p) { return in_16_bits(std::move(p), Format16::float16); }

/// Keys of whole tiles that some query of a block sees, and the block's queries, of all blocks of a head.
std::uint64_t bytes_to_load(const Problem& p) {
  const Meetings meetings = meetings_of(p, queries_of_a_block(p.D()), keys_of_a_tile(p.D()));
  return static_cast<std::uint64_t>(2 * p.B() * p.H() * p.D() * (p.Nq() + 2 * meetings.keys) +
                                    bytes_of_sinks(p));
}

template <class Number>
std::string show(Number n) {
  return std::to_string(n);
}

void require_loads(const Profile& profile, const Problem& p) {
  require_loads_at_most(
      profile, bytes_to_load(p),
      "to load Q once and, for each block of queries, the tiles of keys that one of them sees");
}

/// @brief The same for any problem: beside O, only what pads tiles passes through registers on its way to
/// shared memory.
void require_few_stores_to_shared_memory(const Profile& profile, const Problem& p) {
  const Int D = p.D() <= 64    ? 64
                : p.D() <= 128 ? 128
                               : 256,
            M = queries_of_a_block(p.D()), N = keys_of_a_tile(p.D());
  const Int tiles = p.B() * p.H() * ((p.Nq() + M - 1) / M);
  const Meetings meetings = meetings_of(p, M, N);
  const Int zeros =
      tiles * M * D - p.Q.numel() + 2 * p.B() * p.H() * (meetings.pairs * N * D - meetings.keys * p.D());
  require(profile.shared_store.bytes_asked <= static_cast<std::uint64_t>(2 * (tiles * M * D + zeros)),
          "Threads store " + show(profile.shared_store.bytes_asked) +
              " bytes to shared memory. Q, K and V need not pass through registers, and P need not leave "
              "them.");
}

/// The profile, or nullptr where nothing is counted.
const Profile* require_traffic(const Problem& p) {
  const Outcome outcome = check(p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return nullptr;
  INFO(describe(p));
  require(outcome.counters.at("launches") == 1, "The forward pass should be one launch.");
  require_loads(*profile, p);
  require_stores_outputs_once(kKernel, *profile, p);
  return profile;
}

}  // namespace

TEST_CASE("attends from 20 queries to 70 keys, in both types", "[l22][tensor_core_attention][points:3]") {
  for (const Format16 format : kBoth) check(in_16_bits(random_problem({1, 1, 20, 70, 64}), format));
}

TEST_CASE("attends from 1 to 300 queries to as many keys", "[l22][tensor_core_attention][points:2]") {
  for (const Int N : {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300})
    check_values_in_both(random_problem({1, 1, N, N, 8}));
}

TEST_CASE("attends in 8 to 256 dimensions", "[l22][tensor_core_attention][points:3]") {
  check(bf16(random_problem({1, 1, 40, 75, 128})));
  check(fp16(random_problem({1, 1, 70, 40, 256})));
  for (const Int D : {8, 16, 32, 40, 64, 72, 136, 248})
    for (const bool causal : {false, true})
      check_values(in_16_bits(random_problem({1, 1, 70, 75, D}, {.causal = causal}),
                              D % 16 == 0 ? Format16::bfloat16 : Format16::float16));
}

TEST_CASE("keeps batches, heads and groups apart", "[l22][tensor_core_attention][points:1]") {
  const reference::Mask mask{.causal = true, .window = 30, .sinks = 2};
  check(bf16(with_sink(random_problem({2, 4, 20, 70, 8, 2}, mask))));
  check_values(fp16(random_problem({3, 3, 9, 12, 16, 1})));
}

TEST_CASE(
    "lets the last query stand beside the last key, and the first ones see none if there are fewer keys",
    "[l22][tensor_core_attention][points:2]") {
  check(bf16(random_problem({1, 1, 90, 60, 16}, {.causal = true})));
  for (const Sizes& n : {Sizes{1, 1, 130, 192, 8},
                         {1, 1, 130, 131, 8},
                         {1, 1, 64, 256, 8},
                         {1, 1, 300, 60, 8},
                         {1, 1, 256, 128, 8},
                         {1, 1, 1, 150, 16}})
    check_values_in_both(random_problem(n, {.causal = true}));
  for (const Sizes& n : {Sizes{1, 2, 12, 5, 8}, {1, 2, 140, 20, 8}, {1, 2, 3, 80, 8}})
    check_values_in_both(with_sink(random_problem(n, {.causal = true, .window = 2, .sinks = 1})));
}

TEST_CASE("attends in every combination of causal, window, sink tokens, learned sink and groups",
          "[l22][tensor_core_attention][points:4]") {
  check(bf16(with_sink(random_problem({1, 2, 70, 200, 8, 1}, {.causal = true, .window = 20, .sinks = 3}))));
  Int turn = 0;
  for (const Int window : {kAllKeys, Int{1}, Int{5}, Int{64}, Int{150}})
    for (const Int sinks : {0, 3, 70})
      for (const bool causal : {false, true}) {
        const Sizes sizes[] = {{1, 2, 9, 200, 8, 1}, {1, 1, 200, 90, 8}, {1, 1, 150, 210, 8}};
        const Problem p =
            random_problem(sizes[turn % 3], {.causal = causal, .window = window, .sinks = sinks});
        check_values(in_16_bits(turn / 2 % 2 == 0 ? with_sink(p) : p, kBoth[turn % 2]));
        ++turn;
      }
}

TEST_CASE("attends where the edges of windows and of sinks fall into all kinds of places",
          "[l22][tensor_core_attention][points:2]") {
  for (const Int window : {63, 64, 65, 127, 128, 129, 193})
    check_values(bf16(random_problem({1, 1, 140, 330, 8}, {.causal = true, .window = window, .sinks = 65})));
  for (const Int window : {64, 191, 192})
    check_values(bf16(random_problem({1, 1, 256, 320, 8}, {.causal = window == 64, .window = window})));
  check_values(bf16(random_problem({1, 1, 20, 70, 8}, {.causal = true, .window = 69})));  // hides one key
  for (const Int sinks : {Int{1} << 32, kAllKeys - 1})  // more than any keys
    check_values_in_both(random_problem({1, 1, 20, 70, 8}, {.causal = true, .window = 2, .sinks = sinks}));
  Random random(case_seed());
  for (int i = 0; i < 8; ++i)
    check_values(fp16(random_problem({1, 1, random.integer(1, 280), random.integer(1, 280), 8},
                                     {.causal = random.integer(0, 1) == 1,
                                      .window = random.integer(1, 300),
                                      .sinks = random.integer(0, 1) * random.integer(1, 280)})));
}

TEST_CASE("gives learned sinks their part, however large or small",
          "[l22][tensor_core_attention][points:1]") {
  Problem p = random_problem({1, 2, 12, 7, 8}, {.causal = true});
  for (const float sink : {0.0f, 20.0f, -20.0f, -kInf}) {
    INFO("learned sinks of " << sink);
    p.sink = Tensor<float>({p.H()}, sink);
    check_values_in_both(p);
  }
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], and parts of larger arrays",
          "[l22][tensor_core_attention][points:2]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  const reference::Mask mask{.causal = true, .window = 9, .sinks = 2};
  check_values(
      bf16(with_layouts(random_problem({2, 4, 20, 24, 8, 2}, mask), outside, inside, outside, inside)));
  Problem p = with_layouts(random_problem({2, 2, 20, 24, 16, 1}, mask), inside, outside, inside, outside);
  p.layout_of_lse = inside;
  check_values(fp16(p));
  check(bf16(with_sink(random_problem(larger({1, 2, 20, 24, 8, 1}), mask))),
        {.shifts = {0, 0, 0, 4, 0, 4}});  // sink and lse
  check(with_gaps(bf16(random_problem({1, 2, 35, 41, 40, 1}, mask))));
  check(with_gaps(fp16(random_problem({1, 2, 35, 41, many_dimensions(8), 1}, mask)), kNan));
  check_drawn(kKernel, kTakesAll);
  Int D = 64;  // those of 64, 128 and 256 may have ways of their own, and queries that are as many as keys
  bool is_square = false;
  for (const std::vector<Layout>& of : every_two_apart(4, Layout::gaps_of_8)) {
    const Sizes n = is_square ? Sizes{2, 2, 7, 7, D, 2} : Sizes{2, 6, 5, 9, D, 2};
    const Problem wide = with_sink(random_problem(n, {.causal = true, .window = 4, .sinks = 1}));
    check_values_in_both(with_layouts(wide, of[0], of[1], of[2], of[3]));
    D = D == 256 ? 64 : 2 * D;
    is_square = !is_square;
  }
  for (const Problem& several : problems_of_several_tiles(true)) check_values_in_both(several);
}

TEST_CASE("keeps large scores apart, and gives no weight to scores of -inf",
          "[l22][tensor_core_attention][points:2]") {
  check_values_in_both(with_large_scores(random_problem({1, 2, 40, 150, 32})));
  for (const Int D : {64, 128}) {  // for one query there may be another way
    const Problem one = random_problem({2, 2, 1, 1100, D});
    check_values_in_both(one);
    check_values_in_both(with_growing_scores(one, 0.5f));
  }
  for (const float shift : {1000.0f, 16'000.0f, -16'000.0f})
    check_values(bf16(with_shifted_scores(random_problem({1, 2, 20, 100, 16}), shift)));
  check_values_in_both(with_empty_rows(random_problem({1, 2, 12, 150, 8})));
  check_values_in_both(with_keys_of_minus_inf(random_problem({2, 2, 12, 150, 8}), 130));
  // The first tile of keys has no score but -inf, and the next one scores that are far below 0.
  check_values(
      bf16(with_keys_of_minus_inf(with_shifted_scores(random_problem({1, 2, 12, 150, 8}), -1000.0f), 64)));
  for (const Int D : {16, 72}) {
    Problem p = random_problem(larger({1, 1, 20, 70, D}), {.causal = true});
    for (const float scale : {0.0f, 1.0f, 1e-30f}) {
      p.scale = scale;
      check_values(bf16(p));
    }
    check_values(bf16(with_small_weight(larger({1, 1, 1, 70, D}))));
  }
}

TEST_CASE("lets NaN and infinities go where they must, and nowhere else",
          "[l22][tensor_core_attention][points:1]") {
  for (const Int D : {24, 72}) {
    check_values_in_both(with_not_numbers(random_problem(larger({2, 3, 31, 90, D}))));
    check_values_in_both(with_not_numbers(
        random_problem(larger({2, 3, 30, 61, D}), {.causal = true, .window = 30, .sinks = 31})));
  }
  for (const float sink : {kNan, kInf}) {
    for (const Int D : {8, 72}) {
      Problem p = with_sink(random_problem(larger({1, 3, 20, 80, D}), {.causal = true, .window = 10}));
      (*p.sink)(Random(case_seed()).integer(0, 2)) = sink;  // one head
      check_values(fp16(p));
    }
  }
  for (const Int D : {8, 72}) {
    // Keys 64 to 255 lie between the sinks and the windows: nobody looks at their tiles.
    check_values(with_nan_keys(
        bf16(random_problem(larger({1, 2, 10, 300, D}), {.causal = true, .window = 20, .sinks = 3})), 64,
        256));
    // The sinks end with a tile, and no query sees a key of the next two.
    check_values(with_nan_keys(
        fp16(random_problem(larger({1, 1, 64, 320, D}), {.causal = true, .window = 60, .sinks = 64})), 64,
        192));
  }
  // Queries of the second block are NaN: the first one's and the third one's are not.
  Problem p = random_problem({1, 1, 300, 300, 8}, {.causal = true, .window = 65, .sinks = 64});
  for (Int i = 128; i < 256; ++i) p.Q(0, 0, i, 0) = kNan;
  check_values(bf16(p));
}

TEST_CASE("gives the bits of no window for one that hides nothing, and the same in every order",
          "[l22][tensor_core_attention][points:1]") {
  check_same_bits(kKernel, bf16(with_sink(random_problem({1, 2, 140, 70, 8, 1}, {.causal = true}))));
  check_same_bits(kKernel, fp16(random_problem(unknown_sizes_of_many_tiles())));
  Random random(case_seed());
  for (const Format16 format : kBoth)
    for (const bool is_wide : {false, true})
      check_window_that_hides_nothing(
          kKernel,
          of_many_tiles(8 * (is_wide ? random.integer(9, 32) : random.integer(1, 8)), random, format));
}

TEST_CASE("agrees with PyTorch's float64 on numbers of 16 bits", "[l22][tensor_core_attention][points:1]") {
  for (const Golden& g : golden_cases_of_16_bits()) {
    INFO("tests/reference/golden_16_torch/" << g.name);
    const Problem& p = g.problem;
    Forward got = results_of(p);
    require_ran(kKernel.attend(p, got, {.check = CheckMode::never}));
    const reference::Attention exact = attention_of(p);
    const Forward baseline = in_float32(p, exact).results;
    const CuttingOff cut = cutting_off(p, exact);
    require_matches(got.lse, "lse", g.result("lse"), baseline.lse, Bound{.floor = 1e-6, .rounding = cut.lse});
    Tensor<double> rounding = reference::rounding_of_output(exact, p.V, *p.format);
    for (Int i = 0; i < rounding.numel(); ++i) rounding.at_linear(i) += cut.O.at_linear(i);
    require_matches(got.O, "O", g.result("o"), baseline.O,
                    Bound{.floor = 1e-6, .rounding = std::move(rounding), .format = p.format});
  }
}

TEST_CASE("gives 0 without keys, and launches nothing without queries",
          "[l22][tensor_core_attention][points:1]") {
  for (const Sizes& n : {Sizes{2, 2, 5, 0, 8}, {1, 1, 130, 0, 128}}) {
    const Problem p = with_sink(random_problem(n));
    check_values_in_both(p);
    check(with_gaps(bf16(p)));
  }
  for (const Sizes& n : {Sizes{2, 2, 0, 5, 8}, {0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}}) {
    const Outcome outcome = check(bf16(random_problem(n)));
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute, so nothing should be launched.");
  }
}

TEST_CASE("loads the tiles of keys that a query sees, each once, and writes O and lse once",
          "[l22][tensor_core_attention][points:3]") {
  require_traffic(bf16(random_problem({1, 1, 128, 192, 64})));
  require_traffic(fp16(with_growing_scores(random_problem({1, 1, 128, 192, 64}), 1.0f)));
  require_traffic(bf16(random_problem({1, 1, 256, 256, 64}, {.causal = true})));
  require_traffic(bf16(random_problem({1, 1, 64, 448, 64}, {.causal = true, .window = 65, .sinks = 66})));
  for (const Format16 format : kBoth) require_traffic(in_16_bits(mostly_hidden(), format));
  check_counted(kKernel, kTakesAll, [](const Profile& profile, const Problem& p) {
    require_loads_what_is_seen(profile, p, queries_of_a_block(p.D()), keys_of_a_tile(p.D()));
    require_few_stores_to_shared_memory(profile, p);
  });
  // What a block loads is its work: those with most keys begin first.
  for (const Problem& many_blocks : of_many_blocks()) {
    const Profile* const profile = require_traffic(bf16(many_blocks));
    INFO(describe(many_blocks));
    if (!profile) return;
    require_largest_first(*profile);
    require_busy_blocks(*profile, 0.25);
  }
}

namespace {

constexpr Int kTilesCounted = 3;

/// @brief Nothing but O passes through registers on its way to shared memory, with one barrier a tile.
void require_tiles_in_place(const Outcome& outcome, const Profile& profile, const Problem& p) {
  INFO(describe(p));
  require_few_stores_to_shared_memory(profile, p);
  const Int pairs = meetings_of(p, queries_of_a_block(p.D()), keys_of_a_tile(p.D())).pairs;
  const Int blocks = outcome.counters.at("blocks"), tiles = p.B() * p.H() * pairs,
            warps = outcome.counters.at("threads") / 32 / blocks;
  require(meetings(profile) <= static_cast<std::uint64_t>(warps * (tiles + 2 * blocks)),
          "Warps wait at barriers " + show(meetings(profile)) + " times. " + show(warps) +
              " warps in each of " + show(blocks) + " blocks meet " + show(tiles) +
              " tiles in all: one barrier for each tile, and two more for each block, will do.");
}

/// @brief Several heads or batches, of sizes that no kernel knows beforehand; D: of whole tiles, which are
/// nearly full without a window.
Problem of_several_heads(Int D, bool has_window, Random& random) {
  const Int M = queries_of_a_block(D), N = keys_of_a_tile(D), B = random.integer(1, 2),
            H = B == 2 ? random.integer(1, 2) : random.integer(2, 3);
  if (!has_window)
    return random_problem({B, H, M - random.integer(1, 7), kTilesCounted * N - random.integer(1, 7),
                           D - 8 * random.integer(0, 1)},
                          {.causal = random.integer(0, 1) == 1});
  const Int dims = 8 * random.integer(D == 64 ? 1 : D / 16 + 1, D / 8);
  return random_problem({B, H, random.integer(1, M + 20), random.integer(4 * N, 5 * N), dims, 1},
                        {.causal = random.integer(0, 1) == 1,
                         .window = random.integer(N, 2 * N),
                         .sinks = random.integer(0, 1) * random.integer(1, N)});
}

}  // namespace

TEST_CASE("has no bank conflicts, multiplies whole tiles on tensor cores, and meets once a tile",
          "[l22][tensor_core_attention][points:2]") {
  Random random(case_seed());
  for (const Int D : {64, 128, 256}) {
    const Int M = queries_of_a_block(D), N = keys_of_a_tile(D);
    const Problem p = bf16(random_problem({1, 1, M, kTilesCounted * N, D}));
    const Outcome outcome = check(p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_no_bank_conflicts(*profile);
    require_tiles_in_place(outcome, *profile, p);
    INFO(describe(p));
    const auto products = static_cast<std::uint64_t>(2 * M * kTilesCounted * N * D);
    require(profile->matrix_float16 == products, "Tensor cores do " + show(profile->matrix_float16) +
                                                     " multiply-adds; whole tiles take " + show(products) +
                                                     ".");
    require_loads(*profile, p);  // so that tiles are shared: operands may not come from global memory
    require_tensor_cores(*profile);
    require_busy_warps(*profile);
    const bool has_window_in_bf16 = random.integer(0, 1) == 1;
    for (const Format16 format : kBoth) {
      const bool has_window = (format == Format16::bfloat16) == has_window_in_bf16;
      const Problem other = in_16_bits(of_several_heads(D, has_window, random), format);
      const Outcome of_other = check(other, kCounted);
      INFO(describe(other));
      const Profile* counted = profile_of(of_other);
      if (!counted) return;
      require_tiles_in_place(of_other, *counted, other);
      if (!has_window) require_no_bank_conflicts(*counted);
    }
  }
}

TEST_CASE("refuses shapes, rows and numbers that do not fit", "[l22][tensor_core_attention][points:2]") {
  for (const Format16 format : {Format16::bfloat16, Format16::float16}) {
    check_refuses_shapes(kKernel, in_16_bits(random_problem({2, 3, 4, 5, 8, 3}), format));
    const Problem valid = in_16_bits(random_problem({1, 2, 4, 5, 16}), format);
    check_refuses_rows(kKernel, valid);
    check_refuses_unread_heads(kKernel, format);
    const auto refuse = [&](auto change, const char* argument) {
      Problem wrong = valid;
      change(wrong);
      require_refused(kKernel, wrong, results_of(valid), argument);
    };
    for (const Int window : numbers_below(1)) refuse([=](Problem& p) { p.mask.window = window; }, "window");
    for (const Int sinks : numbers_below(0)) refuse([=](Problem& p) { p.mask.sinks = sinks; }, "sinks");
    Random random = random_of_refusals(valid);
    for (const float scale : {-std::abs(drawn::factor(random)), kNan, kInf})
      refuse([scale](Problem& p) { p.scale = scale; }, "scale");
    constexpr Int kTooMany = (Int{1} << 30) + 1;  // of no batches, without memory
    const std::tuple<Int, Int, const char*> too_many[] = {{kTooMany, 5, "Q"}, {5, kTooMany, "K"}};
    for (const auto& [Nq, Nk, name] : too_many) {
      const Problem wrong = in_16_bits(random_problem({0, 1, Nq, Nk, 8}), format);
      require_refused(kKernel, wrong, results_of(wrong), name);
    }
    const Problem other = of_other_sizes(valid);
    for (const auto& [member, name] : {std::pair{&Problem::Q, "Q"}, {&Problem::K, "K"}, {&Problem::V, "V"}}) {
      Problem wrong = other;
      wrong.*member = off_chunks(other.*member, random);
      INFO("A stride of " << name << " is no multiple of 8");
      require_refused(kKernel, wrong, results_of(other), name);
    }
    {
      Forward wrong = results_of(other);
      wrong.O = off_chunks(wrong.O, random);
      INFO("A stride of O is no multiple of 8");
      require_refused(kKernel, other, wrong, "O");
    }
    const char* const rows[] = {"Q", "K", "V", "O"};
    const auto past = static_cast<std::uint32_t>(2 * random.integer(1, 7));
    for (std::size_t array = 0; array < 4; ++array) {
      INFO(rows[array] << " begins " << past << " bytes past a multiple of 16");
      Forward got = results_of(valid);
      require_throws<std::invalid_argument>(kKernel.attend(valid, got, with_shifted_array(4, array, past)),
                                            rows[array]);
    }
  }
}

TEST_CASE("reports a launch that CUDA refuses", "[l22][tensor_core_attention][points:1]") {
  check_values(bf16(random_problem({1, 2, 5, 6, 8})));
  for (const Format16 format : {Format16::bfloat16, Format16::float16})
    for (const Int D : {8, 40, 72, 136})
      check_reports_refused_launch(kKernel, in_16_bits(random_problem(larger({1, 2, 5, 6, D})), format));
}

COURSE_RUN(RunContext& run) {
  run_attention(run, kTakesAll, kKernel.outputs, [&](const Problem& p, Forward& got) {
    attend_with([&](auto entry, auto&&... arguments) { run.call(entry, arguments...); }, p, got);
  });
}
