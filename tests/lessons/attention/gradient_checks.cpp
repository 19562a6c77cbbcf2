#include "attention/gradient_checks.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "attention/check_parts.hpp"
#include "drawn/drawn.hpp"
#include "reference/attention_rounding.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

Mistakes all_mistakes(const BackwardKernel& kernel, const BackwardProblem& p, Gradient which) {
  Mistakes all = mistakes_in(p, which);
  if (!kernel.own_mistakes) return all;
  for (Mistake& mistake : kernel.own_mistakes(p, which)) all.push_back(std::move(mistake));
  return by_name(std::move(all));
}

/// What can be said of a result whose delta is wrong: what may have made delta wrong, too.
Mistakes mistakes_of_delta_too(const BackwardKernel& kernel, const BackwardProblem& p, Gradient which) {
  std::set<std::string> of_delta;
  for (const Mistake& mistake : all_mistakes(kernel, p, Gradient::delta)) of_delta.insert(mistake.name);
  Mistakes mistakes = all_mistakes(kernel, p, which);
  std::erase_if(mistakes, [&](const Mistake& mistake) { return !of_delta.contains(mistake.name); });
  return mistakes;
}

std::string shapes(const BackwardKernel& kernel, const BackwardProblem& p, const Backward& results) {
  std::string text;
  for (const auto& [name, x] : {std::pair{"Q ", &p.Q},
                                {", K ", &p.K},
                                {", V ", &p.V},
                                {", O ", &p.O},
                                {", lse ", &p.lse},
                                {", dO ", &p.dO}})
    text += name + format_shape(x->shape());
  for (const Gradient which : outputs_of(kernel, p))
    text += std::string(", ") + name_of(which) + " " + format_shape(results.of(which).shape());
  return text;
}

}  // namespace

std::vector<Gradient> outputs_of(const BackwardKernel& kernel, const BackwardProblem& p) {
  std::vector<Gradient> outputs = kernel.outputs;
  if (!p.sink) std::erase(outputs, Gradient::dsink);
  return outputs;
}

BackwardKernel without_check_mode(BackwardKernel kernel) {
  kernel.attend_backward = [attend = kernel.attend_backward](const BackwardProblem& p, Backward& got,
                                                             CallOptions options) {
    options.check = CheckMode::never;
    return attend(p, got, options);
  };
  return kernel;
}

Backward results_of(const BackwardProblem& p) {
  const auto empty = [&](Gradient which, Layout layout) {
    const Shape shape = shape_of(p, which);
    return Tensor<float>(shape, strides_of(shape, layout), 0.0f);
  };
  return {empty(Gradient::delta, p.layout_of_delta), empty(Gradient::dV, p.layout_of_dV),
          empty(Gradient::dK, p.layout_of_dK), empty(Gradient::dQ, p.layout_of_dQ),
          Tensor<float>(shape_of(p, Gradient::dsink))};
}

std::vector<Failure> failures_of(const BackwardKernel& kernel, const BackwardProblem& p,
                                 const Backward& got) {
  if (rehearsing()) {
    for (const Gradient which : outputs_of(kernel, p))
      for (const Mistake& mistake : all_mistakes(kernel, p, which)) list_mistake(mistake.name, "");
    return {};
  }
  const reference::AttentionGradients reference = gradients_of(p);
  const Backward64 expected = expected_of(reference);
  const Backward baseline = in_float32(p, expected);
  reference::RoundingOfGradients rounding;
  if (p.format)
    rounding =
        reference::rounding_of_gradients(reference, p.exact, p.Q, p.K, p.dO, static_cast<double>(p.scale),
                                         *p.format, p.dropout ? &p.dropout->factors : nullptr);
  const std::vector<Gradient> outputs = outputs_of(kernel, p);
  const bool delta_is_wrong =
      std::find(outputs.begin(), outputs.end(), Gradient::delta) != outputs.end() &&
      !compare(got.delta, {name_of(Gradient::delta), {}}, expected.delta, baseline.delta, kBound).passed;
  std::vector<Result> results;
  for (const Gradient which : outputs) {
    const bool of_keys = which == Gradient::dK || which == Gradient::dV;
    std::vector<std::string> axes{"head"};
    if (which != Gradient::dsink) axes = axes_of(got.of(which).shape().size(), of_keys ? "key" : "query");
    results.push_back({{name_of(which), std::move(axes)},
                       &got.of(which),
                       &expected.of(which),
                       &baseline.of(which),
                       [&, which] {
                         if (!kernel.tells_mistakes) return Mistakes{};
                         return delta_is_wrong && which != Gradient::dV  // which alone needs no delta
                                    ? mistakes_of_delta_too(kernel, p, which)
                                    : all_mistakes(kernel, p, which);
                       }});
    if (!p.format || which == Gradient::delta || which == Gradient::dsink) continue;  // which are float32
    results.back().bound = bound_of_16_bits(p, which == Gradient::dQ   ? rounding.dQ
                                               : which == Gradient::dK ? rounding.dK
                                                                       : rounding.dV);
  }
  return failures_of(std::move(results));
}

void require_results(const BackwardKernel& kernel, const BackwardProblem& p, const Backward& got,
                     TestLine where) {
  grading::detail::report(failures_of(kernel, p, got), where);
  grading::detail::report(true, {}, where);
}

std::function<LoadLimit(const Problem&)> tensors_read_for(Int rows, bool padded) {
  return [rows, padded](const Problem& p) -> LoadLimit {
    const auto tiles = [rows](Int size) { return (size + rows - 1) / rows; };
    const Int Nq = padded ? rows * tiles(p.Nq()) : p.Nq(), Nk = padded ? rows * tiles(p.Nk()) : p.Nk();
    const Int of_tensors = 4 * (Nq * tiles(Nk) + Nk * tiles(Nq) + Nq) + 2 * Nk,
              of_lse_and_delta = Nq * (tiles(Nk) + 2);
    constexpr Int kBytesOfBoth = 64;  // a sector each, of which a thread may need one number alone
    const Int of_sinks = p.sink ? 32 * 32 * p.H() : 0;  // a sector for each warp of a block
    return {2 * p.B() * p.H() * (bytes_of_row(p) * of_tensors + kBytesOfBoth * of_lse_and_delta) + of_sinks,
            "to read Q, dO, K and V four times for every " + std::to_string(rows) + " rows that they meet,"};
  };
}

namespace {

/// Blocks may add to dQ what their keys give, as in Algorithm 2: tiles of 32 keys, or of more.
void require_few_additions(const Profile& profile, const BackwardProblem& p, TestLine where) {
  constexpr Int kKeys = 32;
  const auto most = bytes_of(p.Q) * static_cast<std::uint64_t>((p.Nk() + kKeys - 1) / kKeys);
  require(profile.global_atomic.bytes_asked <= most,
          "Atomic operations on global memory add " + std::to_string(profile.global_atomic.bytes_asked) +
              " bytes; blocks with " + std::to_string(kKeys) + " keys each add " + std::to_string(most) +
              " to dQ.",
          where);
}

}  // namespace

void require_no_atomics(const Profile& profile, TestLine where) {
  require(profile.global_atomic.requests == 0,
          "There are atomic operations on global memory; every element of a result has one owner.", where);
}

namespace {

/// What holds in every call that check mode counts.
void require_counted(const BackwardKernel& kernel, const BackwardProblem& p, const Outcome& outcome,
                     TestLine where) {
  require_load_limit(kernel.load_limit, p, outcome, where);
  const std::optional<Profile> profile = profile_if_counted(outcome, where);
  if (!kernel.stores_once || !profile) return;
  require_stores_outputs_once(kernel, kernel.three_launches ? *profile : *outcome.profile, p, where);
  const std::size_t launches = profile->launches.size();
  const bool has_heads = p.B() * p.H() > 0;
  const bool all_due = kernel.three_launches && has_heads && p.Nq() * p.Nk() > 0;
  // Of delta and dQ, of dK and dV, and of dsink, as far as there is something to write.
  const std::size_t most = (has_heads && p.Nq() > 0 ? 2u : 0u) + (has_heads && p.Nk() > 0 ? 1u : 0u) +
                           (p.sink && p.H() > 0 ? 1u : 0u);
  constexpr const char* kCounts[] = {"none", "one", "two", "three", "four"};
  require(launches <= most && (launches == most || !all_due),
          "Your code launched " + std::to_string(launches) + " kernels; it should launch " + kCounts[most] +
              (kernel.three_launches ? "" : " at most") + ": of delta, of dK and dV, and of dQ" +
              (p.sink ? ", and of dsink" : "") + ", as far as there is something to write.",
          where);
  if (kernel.three_launches)
    require_no_atomics(*profile, where);
  else
    require_few_additions(*profile, p, where);
}

}  // namespace

Outcome check(const BackwardKernel& kernel, const BackwardProblem& p, CallOptions options, TestLine where) {
  INFO(describe(p));
  if (options.check == CheckMode::if_small && tiles_of(p) > kMostTilesChecked)
    options.check = CheckMode::never;
  Backward got = results_of(p);
  const Outcome outcome = kernel.attend_backward(p, got, options);
  require_ran(outcome, where);
  require_results(kernel, p, got, where);
  require_counted(kernel, p, outcome, where);
  return outcome;
}

Outcome check(const BackwardKernel& kernel, const Problem& p, CallOptions options, TestLine where) {
  return check(kernel, with_gradient(p), options, where);
}

void check_values(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where) {
  CallOptions options;
  options.check = CheckMode::never;
  check(kernel, p, options, where);
}

void check_values(const BackwardKernel& kernel, const Problem& p, TestLine where) {
  check_values(kernel, with_gradient(p), where);
}

namespace {

MeetingLoads loads_where_tiles_meet(const BackwardProblem& p, Int bytes_of_row) {
  const Meetings meetings = meetings_of(p);
  const auto rows = [&](Int count) { return static_cast<std::uint64_t>(p.B() * bytes_of_row * count); };
  // lse and delta, which several threads need, beside 4 · D numbers of each query
  const auto of_lse = static_cast<std::uint64_t>(4 * p.B() * p.H() * 32 * meetings.queries);
  return {.by_keys = rows(p.H_kv() * 2 * p.Nk() + p.H() * 4 * meetings.queries) + of_lse,
          .by_queries = rows(p.H() * (2 * p.Nq() + 4 * meetings.keys)),
          .by_delta = rows(p.H() * 2 * p.Nq())};
}

}  // namespace

MeetingLoads loads_where_tiles_meet(const BackwardProblem& p) { return loads_where_tiles_meet(p, 4 * p.D()); }

void require_loads_what_meets(const Profile& profile, const BackwardProblem& p, TestLine where) {
  // In layouts of any kind, lse and delta of a query may take a sector each, where dQ is made, too.
  const Int of_lse = 64 * p.B() * p.H() * p.Nq();
  const std::uint64_t most = loads_where_tiles_meet(p, most_bytes_of_row(p)).of_all() +
                             static_cast<std::uint64_t>(of_lse + bytes_of_sinks(p));
  require_loads_at_most(
      profile, most, "to load O and dO for delta, what stays once, and twice the tiles that meet it,", where);
}

Problem mostly_blind(bool grouped) {
  Random random(case_seed() + 9);
  const Int Nk = random.integer(66, 100), H_kv = random.integer(1, 2);
  const Sizes n{random.integer(1, 2),          H_kv * (grouped ? random.integer(1, 2) : 1),
                Nk + random.integer(140, 200), Nk,
                8 * random.integer(1, 16),     H_kv};
  return random_problem(n, {.causal = true});
}

void check_meeting_tiles(const BackwardKernel& kernel, const Problem& forward, TestLine where) {
  const BackwardProblem p = with_gradient(forward);
  const Outcome outcome = check(kernel, p, kCounted, where);
  INFO(describe(p));
  if (const Profile* profile = profile_of(outcome))
    require_loads_at_most(*profile, loads_where_tiles_meet(p).of_all(),
                          "to load O and dO for delta, what stays once, and twice the tiles that meet it,",
                          where);
}

void check_shifted(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where) {
  constexpr std::size_t kInputs = 6;  // Q, K, V, O, lse and dO
  for (const CallOptions& shifted :
       with_shifted_arrays(kInputs + (p.sink ? 1 : 0) + outputs_of(kernel, p).size())) {
    INFO("Tensors are parts of larger ones: one or more begin at no multiple of 16 bytes");
    check(kernel, p, shifted, where);
  }
}

void check_odd_rows(const BackwardKernel& kernel, const Masks& masks, const WideChange& change,
                    TestLine where) {
  Int turn = Random(case_seed() + 17).integer(0, 7);
  const auto next = [&] { return wide_problem(turn++, kernel.takes.grouped, masks, change); };
  for (const Layout odd : kOddLayouts)
    for (const std::vector<Layout>& of : every_two_apart(8, odd)) {
      const Problem p = with_layouts(next(), of[0], of[1], of[2], of[3]);
      check(kernel, with_layouts_of_gradients(with_gradient(p), of[4], of[5], of[6], of[7], p.layout_of_lse),
            {}, where);
    }
  check_shifted(kernel, with_gradient(next()), where);
  const Problem whole = random_problem({1, kernel.takes.grouped ? 2 : 1, 64, 64, 64, 1}, masks.front());
  check_shifted(kernel, with_gradient(whole), where);
  for (const Problem& p : problems_of_several_tiles(kernel.takes.grouped, masks))
    check_values(kernel, p, where);
}

void check_same_bits(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where) {
  INFO(describe(p));
  Backward first = results_of(p);
  const Outcome outcome = kernel.attend_backward(p, first, {});
  require_ran(outcome, where);
  require_results(kernel, p, first, where);
  require_counted(kernel, p, outcome, where);
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.check = CheckMode::never;  // it has been, and finds a race in any order
    options.order = order;
    options.seed = seed++;
    Backward got = results_of(p);
    require_ran(kernel.attend_backward(p, got, options), where);
    INFO(
        "The same call, with blocks, warps and threads in another order; the results must have the same "
        "bits");
    for (const Gradient which : outputs_of(kernel, p))
      require_same_bits(got.of(which), first.of(which), name_of(which), where);
  }
}

void check_window_that_hides_nothing(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where) {
  const BackwardKernel unchecked = without_check_mode(kernel);
  Backward all = results_of(p);
  INFO(describe(p) << ", and the same with a window that hides nothing: results must have the same bits");
  require_ran(unchecked.attend_backward(p, all, {}), where);
  require_results(kernel, p, all, where);
  BackwardProblem windowed = p;
  for (const reference::Mask& mask : masks_that_hide_no_more(p)) {
    windowed.mask = mask;
    INFO("window = " << mask.window << ", sinks = " << mask.sinks);
    Backward got = results_of(p);
    require_ran(unchecked.attend_backward(windowed, got, {}), where);
    for (const Gradient which : outputs_of(kernel, p))
      require_same_bits(got.of(which), all.of(which), name_of(which), where);
  }
}

void check_small_weights(BackwardKernel kernel, TestLine where) {
  kernel.tells_mistakes = false;  // one weight decides
  for (const Sizes& n : {Sizes{1, 1, 1, 3, 1}, larger({1, 1, 1, 3, 1}), larger({1, 1, 1, 70, 65})})
    check_values(kernel, with_small_weight(n), where);
}

void check_nothing_to_do(const BackwardKernel& kernel, const reference::Mask& mask, TestLine where) {
  const std::vector<Sizes> some{{2, 2, 5, 0, 8}, {1, 2, 130, 0, 100}, {2, 2, 0, 5, 8}, {1, 2, 0, 130, 100}};
  for (const Sizes& n : some) check(kernel, random_problem(n, mask), {}, where);
  for (const Sizes& n : {Sizes{2, 2, 5, 0, 8}, {2, 2, 0, 5, 8}})
    check(kernel, with_gaps(with_gradient(random_problem(n, mask))), {}, where);
  for (const Sizes& n : {Sizes{0, 2, 3, 5, 8}, {2, 0, 3, 5, 8}, {1, 1, 0, 0, 8}}) {
    const Outcome outcome = check(kernel, random_problem(n, mask), {}, where);
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute, so nothing should be launched.", where);
  }
  if (!kernel.takes.sink_array) return;
  for (const Sizes& n : some) check(kernel, with_sink(random_problem(n, mask)), {}, where);
  check(kernel, with_sink(random_problem({0, 2, 3, 5, 8}, mask)), {}, where);  // dsink is 0
}

void require_refused(const BackwardKernel& kernel, const BackwardProblem& p, Backward results,
                     const char* argument, TestLine where) {
  INFO(shapes(kernel, p, results));
  require_throws<std::invalid_argument>(kernel.attend_backward(p, results, {}), argument, where);
}

namespace {

void require_refuses_shapes(const BackwardKernel& kernel, const Problem& valid, Random& random,
                            TestLine where) {
  const BackwardProblem all = with_gradient(valid);
  check(kernel, all, {}, where);
  const Backward good = results_of(all);
  const auto refuse = [&](auto member, const Shape& shape, const char* name) {
    BackwardProblem wrong = all;
    wrong.*member = ones(shape);
    require_refused(kernel, wrong, good, name, where);
  };
  const Int step = step_of_dims(valid);
  for (const Shape& shape : other_shapes_of_K(valid, kernel.takes.grouped, random))
    refuse(&BackwardProblem::K, shape, "K");
  const std::pair<Tensor<float> BackwardProblem::*, const char*> inputs[] = {
      {&BackwardProblem::V, "V"}, {&BackwardProblem::O, "O"}, {&BackwardProblem::dO, "dO"}};
  for (const auto& [member, name] : inputs)
    for (const Shape& shape : drawn::misfits((all.*member).shape(), random, step))
      refuse(member, shape, name);
  for (const Shape& shape : drawn::misfits(all.lse.shape(), random))
    refuse(&BackwardProblem::lse, shape, "lse");
  for (const Gradient which : kernel.outputs) {
    if (which == Gradient::dsink) continue;  // a pointer, without a shape
    const Shape& fits = good.of(which).shape();
    for (const Shape& shape : drawn::misfits(fits, random, fits.size() == 4 ? step : 1)) {
      Backward wrong = good;
      wrong.of(which) = ones(shape);
      require_refused(kernel, all, wrong, name_of(which), where);
    }
  }
}

void require_refuses_rows(const BackwardKernel& kernel, const Problem& valid, Random& random,
                          TestLine where) {
  const BackwardProblem all = with_gradient(valid);
  check(kernel, all, {}, where);
  for (const Int D : other_dims(valid, kernel.max_dim, random)) {
    BackwardProblem wrong = all;
    for (Tensor<float>* x : {&wrong.Q, &wrong.K, &wrong.V, &wrong.O, &wrong.dO}) {
      Shape shape = x->shape();
      shape[3] = D;
      *x = lay_out(ones(shape), layout_with_gaps(valid));
    }
    require_refused(kernel, wrong, results_of(wrong), "Q", where);
  }
  const auto refuse = [&](auto member, const char* name) {
    if ((all.*member).numel() == 0) return;
    BackwardProblem wrong = all;
    wrong.*member = spread(all.*member, random);
    require_refused(kernel, wrong, results_of(all), name, where);
  };
  refuse(&BackwardProblem::Q, "Q"), refuse(&BackwardProblem::K, "K"), refuse(&BackwardProblem::V, "V");
  refuse(&BackwardProblem::O, "O"), refuse(&BackwardProblem::dO, "dO");
  for (const Gradient which : {Gradient::dQ, Gradient::dK, Gradient::dV}) {
    Backward wrong = results_of(all);
    if (wrong.of(which).numel() == 0) continue;
    wrong.of(which) = spread(wrong.of(which), random);
    require_refused(kernel, all, wrong, name_of(which), where);
  }
}

}  // namespace

void check_refuses_shapes(const BackwardKernel& kernel, const Problem& valid, TestLine where) {
  Random random = random_of_refusals(valid);
  for (const Problem& p : valid_in_all_sizes(valid)) require_refuses_shapes(kernel, p, random, where);
}

void check_refuses_rows(const BackwardKernel& kernel, const Problem& valid, TestLine where) {
  Random random = random_of_refusals(valid);
  for (const Problem& p : valid_in_all_sizes(valid)) require_refuses_rows(kernel, p, random, where);
}

void check_refuses_unread_heads(const BackwardKernel& kernel, std::optional<Format16> format,
                                TestLine where) {
  BackwardProblem p = with_gradient(random_problem({2, 0, 3, 5, 8}));
  p.format = format;
  p.K = p.V = ones({2, 2, 5, 8});
  require_refused(kernel, p, results_of(p), "K", where);
}

void check_reports_refused_launch(const BackwardKernel& kernel, const BackwardProblem& p,
                                  CheckMode check_mode, TestLine where) {
  CallOptions options;
  options.max_grid_x = 1;
  options.check = check_mode;
  Backward got = results_of(p);
  constexpr Int kMostBlocks =
      65'535;  // along y or z: with more heads, CUDA may refuse without a limit of ours
  std::optional<Outcome> unlimited;
  if (p.B() * p.H() <= kMostBlocks) unlimited = check(kernel, p, {.check = check_mode}, where);
  const Outcome outcome = kernel.attend_backward(p, got, options);
  if (!require_refused_launch(outcome, unlimited, where)) require_results(kernel, p, got, where);
}

void require_stores_outputs_once(const BackwardKernel& kernel, const Profile& profile,
                                 const BackwardProblem& p, TestLine where) {
  const Backward results = results_of(p);
  const std::vector<Gradient> outputs = outputs_of(kernel, p);
  std::uint64_t bytes = 0;
  std::string names;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_float = outputs[i] == Gradient::delta || outputs[i] == Gradient::dsink;
    bytes += bytes_of(results.of(outputs[i]), is_float ? std::nullopt : p.format);
    names += std::string(i == 0 ? "" : i + 1 == outputs.size() ? " and " : ", ") + name_of(outputs[i]);
  }
  grading::require_stores(profile, bytes, "to write " + names + " once", where);
}

}  // namespace course::attention_tests
