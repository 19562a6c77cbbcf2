// Tests of lesson 17: attention_forward and attention_backward against float64, within twice the error of
// plain float32 programs, in every combination of their arguments; and which tiles they load.

#include "17_full_backward/full_backward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/drawn.hpp"
#include "attention/gradient_catalogue.hpp"
#include "attention/gradient_checks.hpp"
#include "attention/tile_mistakes.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

// --- Which mistake with the tiles explains a wrong result ---

/// @brief Wrong masks of pairs: those that all lessons know, and the window and the sinks joined by the wrong
/// word.
std::vector<NamedDeviation> wrong_masks(const Problem& p) {
  Catalogue all(p, Which::O);
  add_mask(all);
  std::vector<NamedDeviation> masks = all.deviations();
  masks.push_back({"either_hides",
                   {.sees =
                        [&p](Int i, Int j) {
                          const Int position = i + p.Nk() - p.Nq();
                          return !(p.mask.causal && j > position) && position - j < p.mask.window &&
                                 j < p.mask.sinks;
                        }},
                   "All keys are hidden that are no sinks, and all that are older than the window. A key is "
                   "hidden only if it is older than the window *and* no sink."});
  return masks;
}

/// @brief What masks and tiles may do to dK and dV (`by_keys`), or to the results of queries.
std::vector<NamedDeviation> tile_mistakes(const Problem& p, bool by_keys) {
  const std::vector<NamedDeviation> masks = wrong_masks(p);
  Catalogue all(p, Which::O);
  for (const NamedDeviation& one : masks)  // what shows the same keys has that name
    if (one.how.sees) all.add_view(one.name.c_str(), one.how.sees, one.sentence);
  for (const Int tile : {64, 32}) {
    const TileMistakes of_tiles(p, tile);
    if (by_keys)
      of_tiles.add_queries(all);
    else
      of_tiles.add_keys(all);
    if (p.Nq() * p.Nk() <= 40'000) of_tiles.add_unmasked(all);
  }
  for (const Int tile : {64, 32}) TileMistakes(p, tile).add_masked(all, masks, by_keys);
  return all.deviations();
}

Mistakes own_forward(const Problem& p, Which which) {
  Mistakes found;
  for (const NamedDeviation& one : tile_mistakes(p, false))
    found.push_back(deviation(one.name, p, which, one.how, one.sentence));
  if (p.sink)
    found.push_back(deviation("sink_twice", p, which, {.sink_factor = 2},
                              "The sum l begins with exp(sink) beside a maximum m of sink. It is relative to "
                              "that maximum, so that it has to begin with exp(sink - sink) = 1."));
  return found;
}

Mistakes own_backward(const BackwardProblem& p, Gradient which) {
  GradientCatalogue found(p, which);
  if (!found.has_P()) return {};
  const bool by_keys = which != Gradient::dQ;
  for (const NamedDeviation& one : tile_mistakes(p, by_keys))
    if (one.how.sees) found.add(one.name.c_str(), {.sees = one.how.sees}, one.sentence);
  const Int sinks = p.mask.sinks;
  if (!by_keys && sinks > 0)
    for (const Int tile : {64, 32})
      found.add("counted_twice",
                {.times =
                     [&p, tile, sinks](Int i, Int j) {
                       const Int first = i / tile * tile + p.Nk() - p.Nq();
                       const Int begin =
                           p.mask.window > first ? 0 : (first - p.mask.window + 1) / tile * tile;
                       return j / tile * tile < sinks && j >= begin ? 2.0 : 1.0;
                     }},
                "Keys count twice: as sinks, and once more in the window. A tile is to be visited once.");
  return found.mistakes();
}

// --- Calls ---

constexpr Takes kTakes{
    .causal = Causal::choice, .window = true, .sinks = true, .sink_array = true, .grouped = true};

Kernel forward_kernel() {
  Kernel kernel{[](const Problem& p, Forward& got, const CallOptions& options) {
                  const auto call = [&](const auto& sink) {
                    return call_with(options, ENTRY(attention_forward), in(p.Q, "Q"), in(p.K, "K"),
                                     in(p.V, "V"), sink, out(got.O, "O"), out(got.lse, "lse"), p.scale,
                                     p.mask.causal, p.mask.window, p.mask.sinks);
                  };
                  return p.sink ? call(in(*p.sink, "sink")) : call(null());
                },
                {Which::lse, Which::O},
                own_forward};
  kernel.grouped = true;
  kernel.load_limit = keys_read_for(64);
  kernel.stores_once = true;
  return kernel;
}
const Kernel kForward = forward_kernel();

const BackwardKernel kBackward{
    .attend_backward =
        [](const BackwardProblem& p, Backward& got, const CallOptions& options) {
          const auto call = [&](const auto& sink, const auto& dsink) {
            return call_with(options, ENTRY(attention_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                             sink, in(p.O, "O"), in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"),
                             out(got.dQ, "dQ"), out(got.dK, "dK"), out(got.dV, "dV"), dsink, p.scale,
                             p.mask.causal, p.mask.window, p.mask.sinks);
          };
          return p.sink ? call(in(*p.sink, "sink"), out(got.dsink, "dsink")) : call(null(), null());
        },
    .takes = kTakes,
    .own_mistakes = own_backward,
    .load_limit = tensors_read_for(64),
    .stores_once = true};

const Kernel kForwardValues = without_check_mode(kForward);
const BackwardKernel kBackwardValues = without_check_mode(kBackward);

void check_values(const Problem& p, TestLine where = TestLine::here()) {
  CallOptions options;
  options.check = CheckMode::never;
  check(kForward, p, options, where);
}

/// Forward, and then backward.
void check_both(const Problem& p, TestLine where = TestLine::here()) {
  check_values(p, where);
  check_values(kBackward, p, where);
}

// --- Problems ---

/// @brief Two queries and two keys with weights 1/2 and 0, 1/4 and 1/2, and 1/2 and 1/4 for the learned sink,
/// ln 2: neither 0 nor 1, so that it shows what is done with it.
Problem problem_of_the_notes() {
  const float ln_2 = std::log(2.0f);
  return {Tensor<float>::from({1, 1, 2, 2}, {ln_2, 1, ln_2, 2}),
          Tensor<float>::from({1, 1, 2, 2}, {2, 0, 1, 1.5f * ln_2}),
          Tensor<float>::from({1, 1, 2, 2}, {4, 0, 2, 6}),
          0.5f,
          {.causal = true},
          Tensor<float>::from({1}, {ln_2})};
}
BackwardProblem gradients_of_the_notes() {
  return with_gradient(problem_of_the_notes(), Tensor<float>::from({1, 1, 2, 2}, {1, 1, 1, 2}));
}

/// @brief Every combination of the masks, learned sinks and groups: `visit(problem)`, 120 times. What needs
/// several tiles gets them; who meets whom in which size changes with `round`.
void each_combination(Int round, const std::function<void(const Problem&)>& visit) {
  const std::vector<Sizes> small{{1, 2, 5, 7, 3}, {2, 2, 9, 6, 2}, {1, 2, 1, 4, 1}, {1, 2, 7, 7, 5}};
  const std::vector<Sizes> large{{1, 2, 9, 140, 4}, {1, 2, 140, 9, 4}, {1, 2, 70, 75, 4}, {1, 2, 130, 20, 4}};
  Int count = round;
  for (const Int window : {kAllKeys, Int{1}, Int{5}, Int{64}, Int{70}})
    for (const Int sinks : {0, 3, 70})
      for (const bool causal : {false, true})
        for (const bool learned : {false, true})
          for (const bool grouped : {false, true}) {
            const Int turn = count++;
            const bool needs_tiles = sinks == 70 || window == 64 || window == 70;
            Sizes n =
                (needs_tiles ? large : small)[static_cast<std::size_t>((turn + turn / 4 + turn / 8) % 4)];
            n.H = grouped ? 2 : 1, n.H_kv = 1;
            const Problem p = random_problem(n, {.causal = causal, .window = window, .sinks = sinks});
            visit(learned ? with_sink(p) : p);
          }
}

/// @brief Random settings for problems of several tiles, of which there are more than one can run.
Problem random_combination(Random& random) {
  const Int group = random.integer(1, 2), H_kv = random.integer(1, 2);
  const Sizes n{1, group * H_kv, random.integer(1, 130), random.integer(1, 140), random.integer(1, 6), H_kv};
  const Problem p =
      random_problem(n, {.causal = random.integer(0, 1) == 1,
                         .window = random.integer(0, 3) == 0 ? kAllKeys : random.integer(1, 150),
                         .sinks = random.integer(0, 1) * random.integer(1, 140)});
  return random.integer(0, 1) == 1 ? with_sink(p) : p;
}

/// A case of tests/reference/golden, which PyTorch computed in float64, and its gradients.
struct Golden {
  const char* name;
  double scale;
  reference::Mask mask;
  bool sink;

  template <class T>
  Tensor<T> array(const char* file) const {
    const auto tests = std::filesystem::path(__FILE__).parent_path().parent_path();
    return read_npy<T>(tests / "reference" / "golden" / name / (std::string(file) + ".npy"));
  }
  Problem problem() const {
    Problem p{array<float>("q"), array<float>("k"), array<float>("v"), static_cast<float>(scale), mask};
    if (sink) p.sink = array<float>("sink");
    return p;
  }
};

// --- Bytes ---

std::uint64_t bytes_of_rows(const Problem& p, Int rows) {
  return static_cast<std::uint64_t>(4 * p.B() * p.D() * rows);
}

/// The launch that stores so many bytes.
std::optional<Profile> find_launch(const Profile& profile, std::uint64_t bytes) {
  for (const simt::LaunchProfile& launch : profile.launches)
    if (launch.total.global_store.bytes_asked == bytes) return make_profile({launch});
  return {};
}
Profile launch_that_stores(const Profile& profile, std::uint64_t bytes, const char* what) {
  if (std::optional<Profile> launch = find_launch(profile, bytes)) return *std::move(launch);
  require(false, std::string("No kernel of yours writes ") + what + ", " + std::to_string(bytes) +
                     " bytes, and nothing else; the contract asks for one.");
  return {};
}

/// Blocks of one launch may make all gradients: those of keys dK and dV, those of queries dQ.
std::optional<Profile> launch_of_all_gradients(const Profile& profile, const Problem& p) {
  return find_launch(profile, 2 * bytes_of(p.K) + bytes_of(p.Q));
}

/// Right, and no tile loaded in vain.
void check_forward_traffic(const Problem& p) {
  const Outcome outcome = check(kForward, p, kCounted);
  INFO(describe(p));
  if (const Profile* profile = profile_of(outcome))
    require_loads_at_most(
        *profile,
        bytes_of_rows(p, p.H() * (p.Nq() + 2 * meetings_of(p).keys)) +
            static_cast<std::uint64_t>(bytes_of_sinks(p)),
        "to load Q once and, for each tile of 64 queries, the tiles of 64 keys that one of them sees "
        "a key of");
}

/// No block does what several could share. The tiles of so many heads are for as many blocks, at least.
void check_busy_blocks(const Sizes& n) {
  const Problem heads = random_problem(n, {.causal = true});
  const Outcome forward = check(kForward, heads, kCounted), backward = check(kBackward, heads, kCounted);
  INFO(describe(heads));
  if (const Profile* profile = profile_of(forward)) require_busy_blocks(*profile, 0.25);
  const Profile* const profile = profile_of(backward);
  if (!profile) return;
  if (const std::optional<Profile> all = launch_of_all_gradients(*profile, heads)) {
    require_busy_blocks(*all, 0.25);
  } else {
    require_busy_blocks(launch_that_stores(*profile, 2 * bytes_of(heads.K), "dK and dV"), 0.25);
    require_busy_blocks(launch_that_stores(*profile, bytes_of(heads.Q), "dQ"), 0.25);
  }
}

Outcome check_backward_traffic(const Problem& forward) {
  const BackwardProblem p = with_gradient(forward);
  const Outcome outcome = check(kBackward, p, kCounted);
  INFO(describe(p));
  const Profile* profile = profile_of(outcome);
  if (!profile) return outcome;
  const auto [by_keys, by_queries, by_delta] = loads_where_tiles_meet(p);
  if (const std::optional<Profile> all = launch_of_all_gradients(*profile, p)) {
    require_loads_at_most(*all, by_keys + by_queries,
                          "in the kernel of dK, dV and dQ, to load what one of dK and dV and one of dQ may,");
  } else {
    require_loads_at_most(launch_that_stores(*profile, 2 * bytes_of(p.K), "dK and dV"), by_keys,
                          "in the kernel of dK and dV, to load K and V once and, for each tile of 64 keys, "
                          "twice Q and dO of the tiles of "
                          "64 queries that see one of them");
    require_loads_at_most(
        launch_that_stores(*profile, bytes_of(p.Q), "dQ"), by_queries,
        "in the kernel of dQ, to load Q and dO once and, for each tile of 64 queries, twice "
        "K and V of the tiles of 64 "
        "keys that one of them sees a key of");
  }
  require_loads_at_most(
      *profile, by_keys + by_queries + by_delta + static_cast<std::uint64_t>(bytes_of_sinks(p)),
      "in all kernels, to load what those of dK and dV and of dQ may, and O and dO for delta,");
  if (!p.sink) require_busy_warps(*profile);  // which that of a learned sink's one number need not be
  return outcome;
}

}  // namespace

// --- Forward ---

TEST_CASE("attends from the two queries of the notes, beside a learned sink",
          "[l17][full_backward][points:1]") {
  const Problem p = problem_of_the_notes();
  check(kForward, p);
  Forward got = results_of(p);
  require_ran(kForwardValues.attend(p, got, {}));
  const Tensor<float> O = Tensor<float>::from({1, 1, 2, 2}, {2, 0, 2, 3});
  require_matches(got.O, "O", O.to<double>(), O, Bound{.floor = 1e-6});
  const Tensor<double> lse = Tensor<double>::from({1, 1, 2}, {std::log(4.0), std::log(8.0)});
  require_matches(got.lse, "lse", lse, lse.to<float>(), Bound{.floor = 1e-6});
}

TEST_CASE("attends in every combination of causal, window, sink tokens, learned sink and groups",
          "[l17][full_backward][points:4]") {
  check(kForward, with_sink(random_problem({1, 1, 7, 70, 4}, {.causal = true, .window = 20, .sinks = 3})));
  each_combination(0, [](const Problem& p) { check_values(p); });
}

namespace {

/// Problems in which one key more, or one sink less, makes another tile, or hides something in one.
std::vector<Problem> problems_at_edges() {
  return {random_problem({1, 1, 64, 65, 4}, {.causal = true, .window = 200}),
          random_problem({1, 1, 4, 70, 4}, {.causal = true, .window = 2, .sinks = 63}),
          random_problem({1, 1, 128, 128, 4}, {.causal = true, .window = 127}),
          random_problem({1, 1, 64, 126, 4}, {.causal = true}),  // the first query misses one key of a tile
          random_problem({1, 1, 4, 1, 4}),
          random_problem({1, 2, 4, 200, 4, 1}, {.causal = true, .window = 1, .sinks = kAllKeys})};
}

}  // namespace

TEST_CASE("attends where both edges, sinks and the last query or key fall into all kinds of places",
          "[l17][full_backward][points:2]") {
  for (const Sizes& n : {Sizes{1, 1, 65, 129, 4}, {1, 1, 64, 128, 4}, {1, 1, 129, 63, 4}, {1, 1, 63, 191, 4}})
    for (const Int window : {63, 65})
      check_values(random_problem(n, {.causal = true, .window = window, .sinks = 65}));
  for (const Problem& p : problems_at_edges()) check_values(p);
  Random random(case_seed());
  for (int i = 0; i < 8; ++i) check_values(random_combination(random));
}

TEST_CASE("loads, forward, the tiles that a query sees a key of, each once",
          "[l17][full_backward][points:2]") {
  check_forward_traffic(random_problem({1, 1, 64, 320, 64}, {.causal = true, .window = 65}));
  check_forward_traffic(random_problem({1, 1, 128, 128, 64}, {.causal = true}));
  check_forward_traffic(random_problem({1, 1, 64, 384, 64}, {.causal = true, .window = 33, .sinks = 66}));
  check_forward_traffic(random_problem({1, 1, 128, 192, 64}, {.causal = false, .window = 1}));
  check_forward_traffic(mostly_hidden());
  check_counted(kForward, kTakes, [](const Profile& profile, const Problem& p) {
    require_loads_what_is_seen(profile, p, 64, 64);
  });
}

// --- Backward ---

TEST_CASE("gives the gradients of the notes' example, and -3 for the sink",
          "[l17][full_backward][points:2]") {
  const BackwardProblem p = gradients_of_the_notes();
  check(kBackward, p);
  Backward got = results_of(p);
  require_ran(kBackwardValues.attend_backward(p, got, {}));
  const auto require_is = [&](Gradient which, const Tensor<double>& expected) {
    require_matches(got.of(which), name_of(which), expected, expected.to<float>(), Bound{.floor = 2e-6});
  };
  require_is(Gradient::delta, Tensor<double>::from({1, 1, 2}, {2, 8}));
  require_is(Gradient::dV, Tensor<double>::from({1, 1, 2, 2}, {0.75, 1, 0.5, 1}));
  require_is(Gradient::dK, Tensor<double>::from({1, 1, 2, 2}, {0, -0.5, 1.5 * std::log(2.0), 3}));
  require_is(Gradient::dQ, Tensor<double>::from({1, 1, 2, 2}, {1, 0, 0.5, 2.25 * std::log(2.0)}));
  require_is(Gradient::dsink, Tensor<double>::from({1}, {-3}));
  // Others, which no kernel has by heart.
  check_values(kBackward, with_sink(random_problem({1, 1, 2, 2, 2}, {.causal = true})));
}

TEST_CASE("recomputes P, and makes dS of it, in every mask", "[l17][full_backward][points:2]") {
  check_intermediates(kBackwardValues, 8);
  check_intermediates(kBackwardValues, 8, {.causal = true}, true);
  check_intermediates(kBackwardValues, 12, {.causal = true, .window = 4, .sinks = 2}, true);
  check_intermediates(kBackwardValues, 12, {.causal = false, .window = 3}, false);
}

TEST_CASE("goes backward in every combination of causal, window, sink tokens, learned sink and groups",
          "[l17][full_backward][points:5]") {
  check(kBackward, with_sink(random_problem({1, 1, 7, 70, 4}, {.causal = true, .window = 20, .sinks = 3})));
  each_combination(1, [](const Problem& p) { check_values(kBackward, p); });
}

TEST_CASE("goes backward where edges, sinks and the last query or key fall into all kinds of places",
          "[l17][full_backward][points:2]") {
  for (const Sizes& n : {Sizes{1, 1, 130, 280, 4},
                         {1, 1, 200, 170, 4},
                         {1, 1, 65, 129, 4},
                         {1, 1, 64, 128, 4},
                         {1, 1, 129, 63, 4}})
    for (const Int window : {63, 100})
      check_values(kBackward, random_problem(n, {.causal = true, .window = window, .sinks = 65}));
  for (const Problem& p : problems_at_edges()) check_values(kBackward, p);
  Random random(case_seed() + 1);
  for (int i = 0; i < 8; ++i) check_values(kBackward, random_combination(random));
}

TEST_CASE("agrees with central differences", "[l17][full_backward][points:2]") {
  Random random(case_seed() + 2);
  for (int i = 0; i < 8; ++i) {
    const Int Nq = random.integer(2, 7), Nk = random.integer(2, 7), H_kv = random.integer(1, 2);
    Problem p = random_problem(
        {random.integer(1, 2), H_kv * random.integer(1, 2), Nq, Nk, random.integer(1, 4), H_kv},
        {.causal = i % 2 == 0,
         .window = i % 4 < 2 ? random.integer(1, 4) : kAllKeys,
         .sinks = random.integer(0, 2)});
    if (i % 3 != 0) p = with_sink(p);
    check_differences(kBackwardValues, with_gradient(p));
  }
}

TEST_CASE("agrees with PyTorch, forward and backward", "[l17][full_backward][points:1]") {
  using reference::Mask;
  for (const Golden& g : {Golden{"causal_more_queries", 0.5, {.causal = true}, false},
                          {"grouped_causal", 0.5, {.causal = true}, false},
                          {"window_not_causal", 0.5, {.window = 3}, false},
                          {"window_more_queries", 0.5, {.causal = true, .window = 4}, false},
                          {"sink_tokens_beyond_keys", 0.5, {.causal = true, .window = 2, .sinks = 50}, false},
                          {"sink_tokens_not_causal", 0.5, {.window = 2, .sinks = 3}, false},
                          {"learned_sink_empty_rows", 0.5, {.causal = true}, true},
                          {"learned_sink_extremes", 0.5, {}, true},
                          {"both_sinks", 0.5, {.causal = true, .window = 3, .sinks = 2}, true},
                          {"everything", 0, {.causal = true, .window = 4, .sinks = 2}, true},
                          {"everything_more_queries", 0, {.causal = true, .window = 3, .sinks = 1}, true}}) {
    INFO("tests/reference/golden/" << g.name);
    Problem forward = g.problem();
    if (g.scale == 0) forward.scale = static_cast<float>(1 / std::sqrt(3.0));
    const BackwardProblem p = with_gradient(forward, g.array<float>("dout"));
    check_values(forward);
    Backward got = results_of(p);
    require_ran(kBackwardValues.attend_backward(p, got, {}));
    require_results(kBackward, p, got);
    const Backward baseline = in_float32(p, expected_of(p));
    for (const auto& [which, file] :
         {std::pair{Gradient::dV, "dv"}, {Gradient::dK, "dk"}, {Gradient::dQ, "dq"}})
      require_matches(got.of(which), name_of(which), g.array<double>(file), baseline.of(which),
                      Bound{.floor = 1e-6});
    if (g.sink)
      require_matches(got.dsink, "dsink", g.array<double>("dsink"), baseline.dsink, Bound{.floor = 1e-6});
  }
}

// --- Arguments ---

TEST_CASE("keeps batches, heads and groups apart", "[l17][full_backward][points:1]") {
  const reference::Mask mask{.causal = true, .window = 30, .sinks = 2};
  check_both(with_sink(random_problem({2, 6, 20, 70, 3, 2}, mask)));
  check_both(with_sink(random_problem({3, 3, 9, 12, 3, 3}, mask)));
  check_both(with_sink(random_problem({2, 4, 70, 9, 2, 1}, {.causal = false, .window = 66})));
}

TEST_CASE("takes 1 to 128 dimensions", "[l17][full_backward][points:1]") {
  const reference::Mask mask{.causal = true, .window = 15, .sinks = 2};
  for (const Int D : {1, 16, 64, 65, 100, 128})
    check_both(with_sink(random_problem({1, 2, 20, 30, D}, mask)));
  check(kBackward, with_sink(random_problem({1, 1, 30, 40, 127}, mask)));
}

TEST_CASE("takes all strides, and leaves alone what lies between the rows",
          "[l17][full_backward][points:2]") {
  const reference::Mask mask{.causal = true, .window = 9, .sinks = 2};
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  Problem p = with_sink(random_problem({2, 4, 20, 24, 8, 2}, mask));
  p.layout_of_lse = inside;
  p = with_layouts(p, outside, inside, outside, inside);
  check_values(p);
  check(kBackward, with_layouts_of_gradients(with_gradient(p), inside, outside, inside, outside, inside));
  p = with_layouts(with_sink(random_problem({2, 2, 20, 24, 8, 1}, mask)), inside, outside, inside, outside);
  check_values(kBackward,
               with_layouts_of_gradients(with_gradient(p), outside, inside, outside, inside, outside));
  const Problem q = with_sink(random_problem({1, 2, 35, 41, 6, 1}, mask));
  check(kForward, with_gaps(q));
  check(kBackward, with_gaps(with_gradient(q)));
  const Problem wide = with_sink(random_problem({1, 2, 35, 41, many_dimensions(), 1}, mask));
  check_values(with_gaps(wide, kNan));
  check_values(kBackward, with_gaps(with_gradient(wide), kNan));
  const Problem shifted = with_sink(random_problem({1, 2, 12, 20, 16, 1}, {.causal = true}));
  check_shifted(kForward, shifted);
  check_shifted(kBackward, with_gradient(shifted));
  check_odd_rows(kForward, {{.causal = true, .window = 4, .sinks = 1}, {}}, with_sink);
  check_odd_rows(kBackward, {{.causal = true, .window = 4, .sinks = 1}, {}}, with_sink);
  check_drawn(kForward, kTakes);
  check_drawn(kBackward);
}

TEST_CASE("takes windows and sinks of any size; one that hides nothing gives the bits of none",
          "[l17][full_backward][points:2]") {
  Random random(case_seed());
  for (const Int D : {random.integer(1, 64), random.integer(65, 128)}) {
    const Problem p = of_many_tiles(D, random);
    check_window_that_hides_nothing(kForward, p);
    check_window_that_hides_nothing(kBackward, with_gradient(p));
  }
  for (const Int Nq : {20, 90})
    for (const Int sinks : {Int{70}, kAllKeys})
      check_both(
          with_sink(random_problem({1, 2, Nq, 70, 4, 1}, {.causal = Nq == 90, .window = 3, .sinks = sinks})));
}

TEST_CASE("gives queries that see no key, and keys that no query sees, no part in anything",
          "[l17][full_backward][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 12, 5, 3}, {1, 2, 140, 20, 2}, {1, 2, 3, 80, 2}}) {
    const Problem p = random_problem(n, {.causal = true, .window = 2, .sinks = 1});
    check_both(p);
    check_both(with_sink(p));
  }
  check(kBackward, with_sink(random_problem({1, 2, 12, 5, 3}, {.causal = true})));
}

TEST_CASE("gives learned sinks their part, however large or small", "[l17][full_backward][points:1]") {
  Problem p = random_problem({2, 4, 12, 20, 4, 2}, {.causal = true, .window = 6, .sinks = 2});
  for (const float sink : {0.0f, 20.0f, -20.0f, -kInf}) {
    INFO("learned sinks of " << sink);
    p.sink = Tensor<float>({p.H()}, sink);
    check_both(p);
  }
  for (const float sink : {kNan, kInf}) {  // of one head
    INFO("learned sinks of " << sink);
    for (const Int D : {4, 65}) {
      Problem one = with_sink(random_problem(larger({1, 2, 7, 12, D, 1}), {.causal = true, .window = 3}));
      (*one.sink)(Random(case_seed()).integer(0, 1)) = sink;
      check_values(one);
    }
  }
  check(kBackward, with_sink(random_problem({3, 2, 300, 3, 2}, {.causal = false})));
  check_values(kBackward, with_sink(random_problem({1, 2, 2048, 3, 8})));
}

TEST_CASE("keeps large scores apart, and gives no weight to scores of -inf",
          "[l17][full_backward][points:1]") {
  const reference::Mask mask{.causal = true, .window = 40, .sinks = 3};
  check_both(with_sink(with_large_scores(random_problem({1, 2, 40, 90, 16}, mask))));
  for (const float shift : {1000.0f, -20000.0f})
    check_both(with_shifted_scores(random_problem({1, 2, 9, 20, 8}, mask), shift));
  check_both(with_scores_of_minus_inf(random_problem({1, 2, 30, 90, 8}, mask), 70));
  check_both(with_sink(with_scores_of_minus_inf(random_problem({1, 2, 30, 90, 8}, mask), 70)));
  // NaN and infinities: all queries see keys 0 to 30, of which the values are no numbers.
  for (const Int D : {20, 65}) {
    check_values(with_not_numbers(
        random_problem(larger({2, 3, 30, 61, D}), {.causal = true, .window = 30, .sinks = 31})));
    check_values(kBackward, with_not_numbers(random_problem(larger({2, 3, 31, 70, D}))));
    check_values(kBackward, with_infinite_products(random_problem(larger({1, 4, 20, 30, D, 2}), mask)));
    check_values(with_small_weight(larger({1, 1, 1, 70, D})));
  }
  for (const Problem& p :
       {random_problem(larger({1, 3, 7, 9, 8})), with_sink(random_problem({1, 3, 7, 9, 8}))})
    check_values(kBackward, with_not_numbers_of_results(with_gradient(p)));
  check_small_weights(kBackward);
}

TEST_CASE("does not look at tiles in which nobody sees anybody", "[l17][full_backward][points:2]") {
  for (const Int D : {4, 65}) {
    // Keys 64 to 255 lie between the sinks and the windows.
    check_both(with_nan_keys(
        random_problem(larger({1, 2, 10, 300, D}), {.causal = true, .window = 20, .sinks = 3}), 64, 256));
    // The sinks end with a tile, and no query sees a key of the next two.
    check_both(with_nan_keys(
        random_problem(larger({1, 1, 64, 320, D}), {.causal = true, .window = 60, .sinks = 64}), 64, 192));
  }
  // Queries 128 to 191 are NaN. With a window of 65 they see keys 64 to 191 and the sinks.
  for (const Int sinks : {0, 64}) {
    Problem p = random_problem({1, 1, 300, 300, 4}, {.causal = true, .window = 65, .sinks = sinks});
    for (Int i = 128; i < 192; ++i) p.Q(0, 0, i, 0) = kNan;
    check_both(p);
  }
}

TEST_CASE("gives 0 without keys, queries or batches", "[l17][full_backward][points:1]") {
  const reference::Mask mask{.causal = true, .window = 3, .sinks = 1};
  check(kForward, with_sink(random_problem({1, 2, 5, 6, 3}, mask)));
  check_nothing_to_do(kForward, mask);
  check(kForward, with_sink(random_problem({2, 2, 5, 0, 8}, mask)));
  check_nothing_to_do(kBackward, mask);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l17][full_backward][points:1]") {
  // Three batches and three tiles of queries and of keys, or more, of which no kernel knows beforehand how
  // many: a sum of two has the same bits in both orders.
  Random random(case_seed());
  const Problem p = with_sink(random_problem(
      {random.integer(3, 4), 2, random.integer(130, 160), random.integer(150, 200), random.integer(3, 9), 1},
      {.causal = true, .window = random.integer(80, 120), .sinks = 4}));
  check_same_bits(kForwardValues, p);
  check_same_bits(kBackwardValues, with_gradient(p));
}

// --- Traffic ---

TEST_CASE("loads, backward, only tiles that meet: the work grows with N times the window",
          "[l17][full_backward][points:2]") {
  check_backward_traffic(random_problem({1, 1, 64, 320, 64}, {.causal = true, .window = 65}));
  check_backward_traffic(random_problem({1, 1, 64, 192, 64}, {.causal = false, .window = 1}));
  check_backward_traffic(random_problem({1, 1, 192, 192, 64}, {.causal = true, .window = 2}));
  check_backward_traffic(mostly_hidden());
  check_counted(kBackward, [](const Profile& profile, const BackwardProblem& p) {
    require_loads_what_meets(profile, p);
    require_stores_outputs_once(kBackward, profile, p);
  });
}

TEST_CASE("loads, backward, the tile of the sinks for all later queries, and once",
          "[l17][full_backward][points:1]") {
  check_backward_traffic(random_problem({1, 1, 64, 320, 64}, {.causal = true, .window = 60, .sinks = 4}));
  check_backward_traffic(random_problem({1, 2, 128, 192, 64, 1}, {.causal = true, .window = 1, .sinks = 64}));
}

TEST_CASE("reads and writes whole sectors, in as many launches as it needs, and writes each result once",
          "[l17][full_backward][points:2]") {
  const reference::Mask mask{.causal = true, .window = 20, .sinks = 3};
  const Problem p = with_sink(random_problem({1, 2, 64, 64, 64, 1}, mask));
  const Outcome forward = check(kForward, p, kCounted);
  require(forward.counters.at("launches") == 1, "The forward pass should be one launch.");
  const Outcome backward = check(kBackward, p, kCounted);
  const Outcome without = check(kBackward, random_problem({1, 1, 5, 6, 8}, mask));
  require(backward.counters.at("launches") <= 4 && without.counters.at("launches") <= 3,
          "The backward pass should be three launches at most, and one more with a learned sink.");
  if (const Profile* profile = profile_of(forward)) {
    require_whole_sectors(*profile);
    require_stores_outputs_once(kForward, *profile, p);
  }
  if (const Profile* profile = profile_of(backward)) {
    require_whole_sectors(*profile);
    require_stores_outputs_once(kBackward, *profile, with_gradient(p));
  }
  // And nothing is added to memory of its own, in sizes that no kernel knows beforehand, of few dimensions
  // and of many.
  Random random(case_seed());
  for (const Int D : {random.integer(5, 40), random.integer(65, 128)}) {
    const BackwardProblem of_tiles = with_gradient(
        random_problem({1, 2, random.integer(30, 80), random.integer(65, 140), D, 1}, {.causal = true}));
    const Outcome unknown = check(kBackward, of_tiles, kCounted);
    INFO(describe(of_tiles));
    if (const Profile* profile = profile_of(unknown))
      require_stores_outputs_once(kBackward, *profile, of_tiles);
  }
  check_busy_blocks({1, 8, 20, 24, 8});
  check_busy_blocks(unknown_sizes_of_many_heads());
}

// --- What is refused ---

TEST_CASE("refuses shapes, groups and rows that do not fit", "[l17][full_backward][points:1]") {
  const reference::Mask mask{.causal = true, .window = 3, .sinks = 1};
  const Problem shapes = random_problem({2, 3, 4, 5, 6, 3}, mask),
                rows = random_problem({1, 2, 4, 5, 6}, mask);
  check_refuses_shapes(kForwardValues, shapes);
  check_refuses_rows(kForwardValues, rows);
  check_refuses_shapes(kBackwardValues, shapes);
  check_refuses_rows(kBackwardValues, rows);
  check_refuses_unread_heads(kForwardValues);
  check_refuses_unread_heads(kBackwardValues);
}

TEST_CASE("refuses a window of less than 1 and sinks of less than 0", "[l17][full_backward][points:1]") {
  const BackwardProblem valid = with_gradient(random_problem({1, 2, 4, 5, 6}, {.causal = true, .window = 2}));
  check_both(valid);
  const auto refuse = [&](Int window, Int sinks, const char* argument) {
    INFO("window = " << window << ", sinks = " << sinks);
    BackwardProblem wrong = valid;
    wrong.mask.window = window, wrong.mask.sinks = sinks;
    require_refused(kForward, wrong, results_of(static_cast<const Problem&>(valid)), argument);
    require_refused(kBackward, wrong, results_of(valid), argument);
  };
  for (const Int window : numbers_below(1)) refuse(window, 1, "window");
  for (const Int sinks : numbers_below(0)) refuse(2, sinks, "sinks");
}

TEST_CASE("reports a launch that CUDA refuses", "[l17][full_backward][points:1]") {
  const reference::Mask mask{.causal = true, .window = 9, .sinks = 1};
  check_both(with_sink(random_problem({1, 2, 5, 5, 2}, mask)));
  check_reports_refused_launch(kForward, random_problem(larger({1, 1, 70, 3, 2}), mask));
  check_reports_refused_launch(kBackward, with_gradient(random_problem(larger({1, 1, 70, 3, 2}), mask)));
  // Of dK and dV alone, and of dsink alone.
  check_reports_refused_launch(kBackward,
                               with_gradient(random_problem(larger_of_one_query({1, 1, 1, 70, 2}), mask)));
  check_reports_refused_launch(
      kBackward, with_gradient(with_sink(random_problem(larger_of_one_query({1, 2, 1, 3, 2}), mask))));
}

COURSE_GRADCHECK(GradcheckContext& check) { gradcheck_attention_backward(check, kBackward); }

COURSE_RUN(RunContext& run) {
  const auto call_forward = [&](const Problem& p, Forward& got) {
    const auto call = [&](const auto& sink) {
      run.call(ENTRY(attention_forward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink, out(got.O, "O"),
               out(got.lse, "lse"), p.scale, p.mask.causal, p.mask.window, p.mask.sinks);
    };
    p.sink ? call(in(*p.sink, "sink")) : call(null());
  };
  const auto call_backward = [&](const BackwardProblem& p, Backward& got) {
    const auto call = [&](const auto& sink, const auto& dsink) {
      run.call(ENTRY(attention_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), sink, in(p.O, "O"),
               in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"), out(got.dQ, "dQ"),
               out(got.dK, "dK"), out(got.dV, "dV"), dsink, p.scale, p.mask.causal, p.mask.window,
               p.mask.sinks);
    };
    p.sink ? call(in(*p.sink, "sink"), out(got.dsink, "dsink")) : call(null(), null());
  };
  run_attention_backward(run, kTakes, call_backward, call_forward);
}
