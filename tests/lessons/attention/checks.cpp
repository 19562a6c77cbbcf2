#include "attention/checks.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "attention/check_parts.hpp"
#include "attention/cutting_off.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/case.hpp"
#include "reference/attention_rounding.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

constexpr const char* kLaunch = "launch_for_other_indices";  // the mistake that Kernel::remark tells

Mistakes all_mistakes(const Kernel& kernel, const Problem& p, Which which) {
  if (p.Q.numel() == 0) return {};  // no result has elements
  const std::vector<Which>& without = kernel.without_mistakes;
  if (std::find(without.begin(), without.end(), which) != without.end()) return {};
  Mistakes all = mistakes_in(p, which, kernel.block_attends);
  if (!kernel.own_mistakes) return all;
  for (Mistake& mistake : kernel.own_mistakes(p, which)) all.push_back(std::move(mistake));
  return by_name(std::move(all));
}

std::string shapes(const Kernel& kernel, const Problem& p, const Forward& results) {
  std::string text = "Q " + format_shape(p.Q.shape()) + ", K " + format_shape(p.K.shape()) + ", V " +
                     format_shape(p.V.shape());
  for (const Which which : kernel.outputs)
    text += std::string(", ") + name_of(which) + " " + format_shape(results.of(which).shape());
  return text;
}

}  // namespace

Kernel without_check_mode(Kernel kernel) {
  kernel.attend = [attend = kernel.attend](const Problem& p, Forward& got, CallOptions options) {
    options.check = CheckMode::never;
    return attend(p, got, options);
  };
  return kernel;
}

Forward results_of(const Problem& p) {
  const Shape O = p.shape_of_O(), lse = p.shape_of_lse();
  const Tensor<float> of_rows(lse, strides_of(lse, p.layout_of_lse), 0.0f);
  return {Tensor<float>(O, strides_of(O, p.layout_of_O), 0.0f), of_rows, of_rows, of_rows};
}

namespace {

/// What is wrong with the results; where check mode found errors in the call, where results went; and what
/// the launch says of them.
std::vector<Failure> failures_in(const Kernel& kernel, const Problem& p, const Forward& got,
                                 const Outcome& outcome) {
  const reference::Attention reference = attention_of(p);
  const Forward64 expected = expected_of(reference);
  const Baseline baseline = in_float32(p, reference);
  const CuttingOff cut = p.format ? cutting_off(p, reference) : CuttingOff{};
  std::vector<Result> results;
  for (const Which which : kernel.outputs) {
    results.push_back({{name_of(which), axes_of(got.of(which).shape().size(), "query")},
                       &got.of(which),
                       &expected.of(which),
                       &baseline.results.of(which),
                       [&, which] { return all_mistakes(kernel, p, which); }});
    // A weight of 1 may be off by its last bit, and O by as much of a value, however large that is.
    if (which == Which::O)
      results.back().bound.floor *= std::max(1.0, grading::largest_magnitude(expected.of(which)));
    if (!p.format) continue;
    if (which == Which::lse) results.back().bound.rounding = cut.lse;
    if (which != Which::O) continue;
    Tensor<double> rounding =
        reference::rounding_of_output(reference, p.V, *p.format, p.dropout ? &p.dropout->factors : nullptr);
    for (Int i = 0; i < rounding.numel(); ++i) rounding.at_linear(i) += cut.O.at_linear(i);
    results.back().bound = bound_of_16_bits(p, std::move(rounding));
  }
  std::vector<Failure> failures = failures_of(results);
  const bool wrong = !failures.empty();
  const bool asked = kernel.remark && (wrong || !outcome.findings.empty() || !outcome.violations.empty());
  const std::string remark = asked ? kernel.remark(p, got, outcome) : "";
  if (!remark.empty() && (!wrong || hides_causes(outcome))) {  // the launch is what it is
    failures.push_back(
        {.kind = Failure::Kind::check, .sentence = remark, .explains_findings = hides_causes(outcome)});
    return failures;
  }
  if (!remark.empty())
    for (Failure& failure : failures) failure.attempts.push_back({kLaunch, remark});
  std::vector<Failure> despite;
  for (std::size_t i = 0; i < results.size() && despite.empty(); ++i) {
    std::vector<Misplacement> misplaced = misplacements_in(p, results.size() > 1 && failures.size() == 1);
    if (kernel.own_misplacements)
      for (Misplacement& one : kernel.own_misplacements(p, kernel.outputs[i]))
        misplaced.push_back(std::move(one));
    despite = despite_findings(outcome, {results[i]}, misplaced);
  }
  if (wrote_elsewhere(outcome))  // not to the place of head 0
    for (Failure& failure : failures)
      std::erase_if(failure.attempts, [&](const Attempt& attempt) {
        return !despite.empty() || attempt.mistake == kOnlyHead0 || attempt.mistake == kOnlyBatch0;
      });
  failures.insert(failures.begin(), despite.begin(), despite.end());  // where it went, before its numbers
  return failures;
}

/// A problem that the kernel solved, and which mistakes would have changed its results, as far as they were
/// asked for.
class Solved {
 public:
  Solved(const Kernel& kernel, Problem p) : kernel_(kernel), p_(std::move(p)) {}

  bool contradicts(const std::string& mistake) {
    const auto [known, is_new] = changed_by_.try_emplace(mistake, false);
    if (!is_new) return known->second;
    if (results_.empty()) prepare();
    for (const auto& [right, expected, comparison, mistakes] : results_)
      for (const Mistake& one : mistakes)
        if (one.name == mistake && one.changes && one.changes({right, expected, comparison}))
          known->second = true;
    return known->second;
  }

 private:
  struct Right {
    Tensor<float> result;
    Tensor<double> expected;
    Comparison comparison;
    Mistakes mistakes;
  };

  void prepare() {
    const reference::Attention reference = attention_of(p_);
    const Forward64 expected = expected_of(reference);
    const Baseline baseline = in_float32(p_, reference);
    for (const Which which : kernel_.outputs) {
      const Tensor<float> right = expected.of(which).to<float>();
      results_.push_back(
          {right, expected.of(which),
           compare(right, name_of(which), expected.of(which), baseline.results.of(which), kBound),
           kernel_.own_mistakes(p_, which)});
    }
  }

  const Kernel& kernel_;
  const Problem p_;
  std::vector<Right> results_;
  std::map<std::string, bool> changed_by_;
};

/// The problems that the kernel has solved so far, without the large ones, which tell no more and take long.
std::list<Solved>& solved_so_far() {
  static std::list<Solved> solved;
  return solved;
}

void remember_as_solved(const Kernel& kernel, const Problem& p) {
  constexpr Int kLargest = 1 << 16;
  if (p.Nq() * p.Nk() <= kLargest) solved_so_far().emplace_back(kernel, p);
}

/// Mistakes that explain a failure, but would have made one of a problem that was solved, are contradicted.
void hold_against_solved(std::vector<Failure>& failures) {
  for (Failure& failure : failures)
    for (Attempt& attempt : failure.attempts)
      if (!attempt.sentence.empty() &&
          std::any_of(solved_so_far().begin(), solved_so_far().end(),
                      [&](Solved& one) { return one.contradicts(attempt.mistake); }))
        attempt.sentence.clear();
}

}  // namespace

void require_results(const Kernel& kernel, const Problem& p, const Forward& got, const Outcome& outcome,
                     TestLine where) {
  if (rehearsing()) {  // to know which mistakes there are takes no results
    for (const Which which : kernel.outputs)
      for (const Mistake& mistake : all_mistakes(kernel, p, which)) list_mistake(mistake.name, "");
    if (kernel.remark)
      list_mistake(kLaunch,
                   "The launch has a grid of ... blocks. What was written is what a kernel gives that takes "
                   "blockIdx.x for .... The two have to agree.");
    return;
  }
  std::vector<Failure> failures = failures_in(kernel, p, got, outcome);
  if (kernel.passes_contradict && failures.empty()) remember_as_solved(kernel, p);
  if (kernel.passes_contradict && !failures.empty()) hold_against_solved(failures);
  grading::detail::report(failures, where);
  grading::detail::report(true, {}, where);
}

Int bytes_of_row(const Problem& p) { return ((p.format ? 2 : 4) * p.D() + 31) / 32 * 32; }

std::function<LoadLimit(const Problem&)> keys_read_for(Int queries) {
  return [queries](const Problem& p) -> LoadLimit {
    const Int readings = (p.Nq() + queries - 1) / queries;
    const Int rows = p.B() * p.H() * (p.Nq() + 2 * readings * p.Nk());
    const Int sinks =
        p.sink ? 32 * p.B() * p.H() * readings * queries : 0;  // a sector for each query of a tile
    return {2 * (bytes_of_row(p) * rows + sinks),
            "to read Q twice, and K and V twice for every " + std::to_string(queries) + " queries,"};
  };
}

Int bytes_of_sinks(const Problem& p) { return p.sink ? 32 * p.B() * p.H() * p.Nq() : 0; }

// Each request of a warp, of 32 numbers or more, may begin in a sector that the one before ended in.
Int most_bytes_of_row(const Problem& p) { return bytes_of_row(p) + 32 * ((p.D() + 31) / 32 + 1); }

Int rows_of_tiles(const Problem& p, Int queries_of_a_tile, Int most_keys_of_a_tile) {
  Int most = 0;
  for (Int keys = 16; keys <= most_keys_of_a_tile; keys += 16)
    most = std::max(most, meetings_of(p, queries_of_a_tile, keys).keys);
  return p.B() * p.H() * (p.Nq() + 2 * most);
}

void require_loads_what_is_seen(const Profile& profile, const Problem& p, Int queries_of_a_tile,
                                Int most_keys_of_a_tile, TestLine where) {
  const Int rows = rows_of_tiles(p, queries_of_a_tile, most_keys_of_a_tile);
  require_loads_at_most(profile, static_cast<std::uint64_t>(most_bytes_of_row(p) * rows + bytes_of_sinks(p)),
                        "to load Q once and, for each tile of " + std::to_string(queries_of_a_tile) +
                            " queries, the tiles of " + std::to_string(most_keys_of_a_tile) +
                            " keys in which one of them sees a key,",
                        where);
}

void require_no_bank_conflicts(const Profile& profile, TestLine where) {
  for (const auto& [traffic, verb] :
       {std::pair{&profile.shared_load, "reads"}, {&profile.shared_store, "writes"}})
    require(traffic->conflicts() == 0,
            std::string("Your code ") + verb +
                " shared memory with bank conflicts: " + std::to_string(traffic->wavefronts) +
                " wavefronts where " + std::to_string(traffic->ideal_wavefronts) + " would do.",
            where);
}

void require_tiles_of_queries(const Profile& profile, const Problem& p, TestLine where) {
  constexpr Int kMost = 128;
  const simt::LaunchProfile& launch = profile.launches.at(0);
  const Int blocks = Int{launch.grid[0]} * launch.grid[1] * launch.grid[2],
            wanted = p.B() * p.H_kv() * ((p.H() / p.H_kv() * p.Nq() + kMost - 1) / kMost),
            stored = rows_that_a_block_stores(profile, p);
  require(blocks >= wanted,
          "Your code launched " + std::to_string(blocks) +
              " blocks; with at most 128 rows of O in each, there are " + std::to_string(wanted) +
              " or more.",
          where);
  require(
      stored <= kMost,
      "Your code has a block that stores " + std::to_string(stored) + " rows of O; a block has at most 128.",
      where);
}

void require_load_limit(const std::function<LoadLimit(const Problem&)>& limit, const Problem& p,
                        const Outcome& outcome, TestLine where) {
  const std::optional<Profile> profile = profile_if_counted(outcome, where);
  if (!limit || !profile) return;
  const LoadLimit most = limit(p);
  require_loads_at_most(*profile, static_cast<std::uint64_t>(most.bytes), most.what, where);
}

Sizes unknown_sizes() {
  Random random(case_seed());
  return {random.integer(1, 2), random.integer(1, 3), random.integer(20, 140), random.integer(20, 140),
          random.integer(3, 40)};
}

Sizes unknown_sizes_of_whole_sectors() {
  Random random(case_seed() + 1);
  return {1, random.integer(1, 3), 8 * random.integer(9, 14), 8 * random.integer(9, 14),
          8 * random.integer(6, 10)};
}

Sizes unknown_sizes_of_many_tiles() {
  Random random(case_seed() + 4);
  return {1, random.integer(3, 4), random.integer(130, 160), random.integer(130, 200),
          8 * random.integer(1, 12)};
}

Sizes unknown_sizes_of_many_heads() {
  Random random(case_seed() + 5);
  return {1, random.integer(7, 9), random.integer(20, 80), random.integer(20, 80), 8 * random.integer(1, 6)};
}

Problem mostly_hidden() {
  Random random(case_seed() + 2);
  const Int Nq = random.integer(20, 90), Nk = Nq + random.integer(560, 620);
  Int D = 16 * random.integer(1, 7);
  if (D >= 64) D += 16;  // in 64 dimensions, other cases count
  const Int H_kv = random.integer(1, 2);
  Problem p = random_problem({random.integer(1, 2), H_kv * random.integer(1, 2), Nq, Nk, D, H_kv},
                             {.causal = random.integer(0, 1) == 1,
                              .window = random.integer(2, random.integer(0, 1) == 1 ? 16 : 120),
                              .sinks = random.integer(0, 1) * random.integer(1, 30)});
  return random.integer(0, 1) == 1 ? with_sink(std::move(p)) : p;
}

std::vector<Problem> of_many_blocks() {
  Random random(case_seed() + 3);
  const Int few = random.integer(2, 3), more = few + random.integer(1, 2);
  std::vector<Problem> problems;
  for (const Int blocks : {few, more}) {
    const Int H = (10 + blocks - 1) / blocks, N = 128 * blocks - random.integer(0, 8);
    problems.push_back(random_problem({1, H, N, N, 16 * random.integer(1, 3)}, {.causal = true}));
  }
  return problems;
}

Meetings meetings_of(const Problem& p, Int queries_of_a_tile, Int keys_of_a_tile) {
  Meetings all;
  for (Int first_query = 0; first_query < p.Nq(); first_query += queries_of_a_tile)
    for (Int first_key = 0; first_key < p.Nk(); first_key += keys_of_a_tile) {
      const Int queries = std::min(queries_of_a_tile, p.Nq() - first_query),
                keys = std::min(keys_of_a_tile, p.Nk() - first_key);
      bool meet = false;
      for (Int i = 0; i < queries && !meet; ++i)
        for (Int j = 0; j < keys && !meet; ++j) meet = p.sees(first_query + i, first_key + j);
      if (meet) all.queries += queries, all.keys += keys, ++all.pairs;
    }
  return all;
}

namespace {

/// What holds in every call that check mode counts.
void require_counted(const Kernel& kernel, const Problem& p, const Outcome& outcome, TestLine where) {
  require_load_limit(kernel.load_limit, p, outcome, where);
  const std::optional<Profile> profile = profile_if_counted(outcome, where);
  if (profile) {
    if (kernel.stores_once) require_stores_outputs_once(kernel, *profile, p, where);
    const std::size_t launches = profile->launches.size();
    require(launches < 2,
            "Your code launched " + std::to_string(launches) + " kernels; it should launch one.", where);
  }
  require_on_tensor_cores(outcome, multiply_adds_of(p, kernel.on_tensor_cores), where);
}

}  // namespace

Outcome check(const Kernel& kernel, const Problem& p, CallOptions options, TestLine where) {
  INFO(describe(p));
  if (options.check == CheckMode::if_small && tiles_of(p) > kMostTilesChecked)
    options.check = CheckMode::never;
  Forward got = results_of(p);
  const Outcome outcome = kernel.attend(p, got, options);
  require_ran(outcome, where);
  require_results(kernel, p, got, outcome, where);
  require_counted(kernel, p, outcome, where);
  return outcome;
}

void check_shifted(const Kernel& kernel, const Problem& p, TestLine where) {
  for (const CallOptions& shifted : with_shifted_arrays(3 + (p.sink ? 1 : 0) + kernel.outputs.size())) {
    INFO("Tensors are parts of larger ones: one or more begin at no multiple of 16 bytes");
    check(kernel, p, shifted, where);
  }
}

Problem wide_problem(Int turn, bool grouped, const Masks& masks, const WideChange& change) {
  constexpr std::pair<Int, Int> kLengths[] = {{5, 9}, {9, 5}, {1, 1100}, {7, 7}};
  const auto [Nq, Nk] = kLengths[turn / 2 % 4];
  const auto mask = static_cast<std::size_t>(turn ^ turn / 2) % masks.size();
  const Int H = grouped && Nq != Nk ? 6 : 2;
  const Problem p = random_problem({2, H, Nq, Nk, turn % 2 == 0 ? 64 : 128, 2}, masks[mask]);
  return change && (turn ^ turn / 4) % 2 == 0 ? change(p) : p;
}

std::vector<Problem> problems_of_several_tiles(bool grouped, const Masks& masks) {
  Random random(case_seed() + 18);
  const auto mask = [&] { return masks[static_cast<std::size_t>(random.integer(0, std::ssize(masks) - 1))]; };
  const Int of_128 = random.integer(0, 1) == 0 ? 64 : 128;
  std::vector<Problem> problems;
  for (const Int D : {64, 128}) {
    const Int Nq = random.integer(130, 140), Nk = random.integer(Nq, 150);
    problems.push_back(random_problem({1, 2, Nq, Nk, D, grouped ? 1 : 2}, mask()));
    problems.push_back(random_problem(
        D == of_128 ? Sizes{2, grouped ? 3 : 1, 128, 128, D, 1} : Sizes{2, grouped ? 4 : 2, D, 192 - D, D, 2},
        mask()));
  }
  return problems;
}

void check_odd_rows(const Kernel& kernel, const Masks& masks, const WideChange& change, TestLine where) {
  Int turn = Random(case_seed() + 17).integer(0, 7);
  const auto next = [&] { return wide_problem(turn++, kernel.grouped, masks, change); };
  for (const Layout odd : kOddLayouts)
    for (const std::vector<Layout>& of : every_two_apart(4, odd))
      check(kernel, with_layouts(next(), of[0], of[1], of[2], of[3]), {}, where);
  check_shifted(kernel, next(), where);
  const Problem whole = random_problem({1, kernel.grouped ? 2 : 1, 64, 64, 64, 1}, masks.front());
  check_shifted(kernel, whole, where);
  for (const Problem& p : problems_of_several_tiles(kernel.grouped, masks))
    check(kernel, p, {.check = CheckMode::never}, where);
}

void check_same_bits(const Kernel& kernel, const Problem& p, TestLine where) {
  INFO(describe(p));
  Forward first = results_of(p);
  const Outcome outcome = kernel.attend(p, first, {});
  require_ran(outcome, where);
  require_results(kernel, p, first, outcome, where);
  require_counted(kernel, p, outcome, where);
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.check = CheckMode::never;  // it has been, and finds a race in any order
    options.order = order;
    options.seed = seed++;
    Forward got = results_of(p);
    require_ran(kernel.attend(p, got, options), where);
    INFO(
        "The same call, with blocks, warps and threads in another order; the results must have the same "
        "bits");
    for (const Which which : kernel.outputs)
      require_same_bits(got.of(which), first.of(which), name_of(which), where);
  }
}

Problem of_many_tiles(Int D, Random& random, std::optional<Format16> format) {
  const auto chance = [&] { return random.integer(0, 1) == 1; };
  const Int B = random.integer(1, 2), H_kv = random.integer(1, 3 - B);
  Problem p = random_problem(
      {B, H_kv * random.integer(1, 2), random.integer(130, 150), random.integer(130, 200), D, H_kv},
      {.causal = chance()});
  if (chance()) p = with_sink(std::move(p));
  if (format) p = in_16_bits(std::move(p), *format);
  return chance() ? with_gaps(p) : p;
}

std::vector<reference::Mask> masks_that_hide_no_more(const Problem& p) {
  Random random(case_seed() + 12);
  std::vector<reference::Mask> masks;
  for (const Int window : {p.Nk(), p.Nk() + random.integer(1, 100), kAllKeys - random.integer(1, 100)})
    masks.push_back({.causal = p.mask.causal, .window = window, .sinks = random.integer(0, p.Nk())});
  return masks;
}

void check_window_that_hides_nothing(const Kernel& kernel, const Problem& p, TestLine where) {
  const Kernel unchecked = without_check_mode(kernel);
  Forward all = results_of(p);
  const Outcome outcome = unchecked.attend(p, all, {});
  INFO(describe(p) << ", and the same with a window that hides nothing: results must have the same bits");
  require_ran(outcome, where);
  require_results(kernel, p, all, outcome, where);
  Problem windowed = p;
  for (const reference::Mask& mask : masks_that_hide_no_more(p)) {
    windowed.mask = mask;
    INFO("window = " << mask.window << ", sinks = " << mask.sinks);
    Forward got = results_of(p);
    require_ran(unchecked.attend(windowed, got, {}), where);
    for (const Which which : kernel.outputs)
      require_same_bits(got.of(which), all.of(which), name_of(which), where);
  }
}

void check_nothing_to_do(const Kernel& kernel, const reference::Mask& mask, TestLine where) {
  check(kernel, random_problem({2, 2, 5, 0, 8}, mask), {}, where);
  check(kernel, random_problem({1, 2, 130, 0, 100}, mask), {}, where);
  check(kernel, with_gaps(random_problem({2, 2, 5, 0, 8}, mask)), {}, where);
  for (const Sizes& n : {Sizes{2, 2, 0, 5, 8}, {0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}, {1, 1, 0, 0, 8}}) {
    const Outcome outcome = check(kernel, random_problem(n, mask), {}, where);
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute, so nothing should be launched.", where);
  }
}

std::vector<Int> numbers_below(Int least) {
  Random random(case_seed() + 15);
  return {least - 1, least - 1 - drawn::length(random, 1'000'000), std::numeric_limits<Int>::min()};
}

void require_refused(const Kernel& kernel, const Problem& p, Forward results, const char* argument,
                     TestLine where) {
  INFO(shapes(kernel, p, results));
  require_throws<std::invalid_argument>(kernel.attend(p, results, {}), argument, where);
}

namespace {

void require_refuses_shapes(const Kernel& kernel, const Problem& valid, Random& random, TestLine where) {
  check(kernel, valid, {}, where);
  const Forward good = results_of(valid);
  const auto refuse = [&](auto member, const Shape& shape, const char* name) {
    Problem wrong = valid;
    wrong.*member = ones(shape);
    require_refused(kernel, wrong, good, name, where);
  };
  const Int step = step_of_dims(valid);
  for (const Shape& shape : other_shapes_of_K(valid, kernel.grouped, random)) refuse(&Problem::K, shape, "K");
  for (const Shape& shape : drawn::misfits(valid.V.shape(), random, step)) refuse(&Problem::V, shape, "V");
  for (const Which which : kernel.outputs) {
    const Shape& fits = good.of(which).shape();
    for (const Shape& shape : drawn::misfits(fits, random, fits.size() == 4 ? step : 1)) {
      Forward wrong = good;
      wrong.of(which) = ones(shape);
      require_refused(kernel, valid, wrong, name_of(which), where);
    }
  }
}

void require_refuses_rows(const Kernel& kernel, const Problem& valid, const std::vector<Which>& row_major,
                          Random& random, TestLine where) {
  check(kernel, valid, {}, where);
  for (const Int D : other_dims(valid, kernel.max_dim, random)) {
    Problem wrong = valid;
    for (Tensor<float>* x : {&wrong.Q, &wrong.K, &wrong.V}) {
      Shape shape = x->shape();
      shape[3] = D;
      *x = lay_out(ones(shape), layout_with_gaps(valid));
    }
    require_refused(kernel, wrong, results_of(wrong), "Q", where);
  }
  for (const auto& [member, name] : {std::pair{&Problem::Q, "Q"}, {&Problem::K, "K"}, {&Problem::V, "V"}}) {
    if ((valid.*member).numel() == 0) continue;
    Problem wrong = valid;
    wrong.*member = spread(valid.*member, random);
    require_refused(kernel, wrong, results_of(valid), name, where);
  }
  for (const Which which : row_major) {
    Forward wrong = results_of(valid);
    if (wrong.of(which).numel() == 0) continue;
    wrong.of(which) = spread(wrong.of(which), random);
    require_refused(kernel, valid, wrong, name_of(which), where);
  }
}

}  // namespace

void check_refuses_shapes(const Kernel& kernel, const Problem& valid, TestLine where) {
  Random random = random_of_refusals(valid);
  for (const Problem& p : valid_in_all_sizes(valid)) require_refuses_shapes(kernel, p, random, where);
}

void check_refuses_rows(const Kernel& kernel, const Problem& valid, const std::vector<Which>& row_major,
                        TestLine where) {
  Random random = random_of_refusals(valid);
  for (const Problem& p : valid_in_all_sizes(valid))
    require_refuses_rows(kernel, p, row_major, random, where);
}

void check_refuses_unread_heads(const Kernel& kernel, std::optional<Format16> format, TestLine where) {
  Problem p = random_problem({2, 0, 3, 5, 8});
  p.format = format;
  p.K = p.V = ones({2, 2, 5, 8});
  require_refused(kernel, p, results_of(p), "K", where);
}

void check_reports_refused_launch(const Kernel& kernel, const Problem& p, CheckMode check_mode,
                                  TestLine where) {
  CallOptions options;
  options.max_grid_x = 1;
  options.check = check_mode;
  Forward got = results_of(p);
  constexpr Int kMostBlocks =
      65'535;  // along y or z: with more heads, CUDA may refuse without a limit of ours
  std::optional<Outcome> unlimited;
  if (p.B() * p.H() <= kMostBlocks) unlimited = check(kernel, p, {.check = check_mode}, where);
  const Outcome outcome = kernel.attend(p, got, options);
  if (!require_refused_launch(outcome, unlimited, where)) require_results(kernel, p, got, outcome, where);
}

std::uint64_t bytes_of(const Tensor<float>& x, std::optional<Format16> format) {
  return (format ? 2 : 4) * static_cast<std::uint64_t>(x.numel());
}

void require_stores_outputs_once(const Kernel& kernel, const Profile& profile, const Problem& p,
                                 TestLine where) {
  const Forward results = results_of(p);
  std::uint64_t bytes = 0;
  std::string names;
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
    bytes += bytes_of(results.of(kernel.outputs[i]), kernel.outputs[i] == Which::O ? p.format : std::nullopt);
    names += std::string(i == 0                           ? ""
                         : i + 1 == kernel.outputs.size() ? " and "
                                                          : ", ") +
             name_of(kernel.outputs[i]);
  }
  grading::require_stores(profile, bytes, "to write " + names + " once", where);
}

namespace {

/// Queries of a tile: from the blocks of the launch, each of which has one. Tiles of more than 128 queries,
/// and of less than 64, cost as much as they would.
Int queries_of_a_tile(const Problem& p, const Profile& profile) {
  const simt::LaunchProfile& launch = profile.launches[0];
  const Int blocks = Int{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const Int tiles = std::max<Int>(blocks / (p.B() * p.H()), 1);
  const Int queries = std::max((p.Nq() + tiles - 1) / tiles, rows_that_a_block_stores(profile, p));
  return std::clamp<Int>((queries + 15) / 16 * 16, 64, 128);
}

}  // namespace

Int rows_that_a_block_stores(const Profile& profile, const Problem& p) {
  std::uint64_t bytes = 0;
  for (const simt::LaunchProfile& launch : profile.launches) bytes = std::max(bytes, launch.stores.largest);
  const auto of_a_row = static_cast<std::uint64_t>(4 * (p.D() + 1));
  return static_cast<Int>((bytes + of_a_row - 1) / of_a_row);
}

Int queries_of_a_block(const grading::Profile& profile, const Problem& p) {
  require(profile.launches.size() == 1, "Your code launched " + std::to_string(profile.launches.size()) +
                                            " kernels; it should launch one.");
  const auto& grid = profile.launches[0].grid;
  const Int blocks = Int{grid[0]} * grid[1] * grid[2], heads = p.B() * p.H();
  const Int tiles = std::max<Int>(blocks / heads, 1),
            queries = std::max((p.Nq() + tiles - 1) / tiles, rows_that_a_block_stores(profile, p));
  require(blocks % heads == 0 && queries >= 16 && queries <= 128,
          "Your code launched " + std::to_string(blocks) + " blocks for " + std::to_string(p.Nq()) +
              " queries in each of " + std::to_string(heads) + " heads, and one of them has " +
              std::to_string(queries) +
              "; there should be one for each tile of 16 to 128 queries of a head.");
  return queries;
}

void require_full_use(const Profile& profile, TestLine where) {
  require_whole_sectors(profile, where);
  require_busy_lanes(profile, where);
  require_busy_warps(profile, 2, where);
}

void require_skips_the_future(const Kernel& kernel, const Problem& p, Int most_keys_of_a_tile,
                              TestLine where) {
  const Outcome outcome = check(kernel, p, kCounted, where);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO(describe(p));
  require_stores_outputs_once(kernel, *profile, p, where);
  const Int M = queries_of_a_tile(p, *profile), heads = p.B() * p.H();
  const Int of_Q = heads * p.Nq(), all = heads * ((p.Nq() + M - 1) / M) * p.Nk(),
            rows = rows_of_tiles(p, M, most_keys_of_a_tile);
  const auto bytes = [&p](Int of_rows) { return static_cast<std::uint64_t>(4 * of_rows * p.D()); };
  const std::uint64_t read = profile->global_load.bytes, limit = bytes(rows);
  const auto show = [](std::uint64_t n) { return std::to_string(n); };
  require(read <= limit,
          "Your code reads " + show(read) + " bytes. Q takes " + show(bytes(of_Q)) +
              "; K and V, for each tile of " + std::to_string(M) +
              " queries up to the tile of the last key that one of them sees, take " +
              show(bytes(rows - of_Q)) + ". (All keys for each tile of queries would be " +
              show(bytes(2 * all)) + ".) Which keys do you load that no query of the tile sees?",
          where);
}

}  // namespace course::attention_tests
