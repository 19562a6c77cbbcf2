// Tests of lesson 16: delta, dQ, dK and dV of grouped_query_backward against float64, within twice the error
// of a plain float32 backward pass; and that the sums over a group's heads never go through memory.

#include "16_grouped_query_backward/grouped_query_backward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attention/check_parts.hpp"
#include "attention/drawn.hpp"
#include "attention/gradient_checks.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

namespace {

constexpr Int kKeysForOneReading = 64;  // of the contract's cost
constexpr reference::Mask kCausal{.causal = true};

// --- Which mistake of this lesson explains a wrong result ---

Int group_of(const BackwardProblem& p) { return p.H() / p.H_kv(); }

/// The sum over the members of every group: member m counts factor(m) times, and deviates by how(m).
Tensor<double> sum_of_members(const BackwardProblem& p, Gradient which,
                              const std::function<double(Int member)>& factor,
                              const std::function<GradientDeviation(Int member)>& how) {
  Tensor<double> sum(shape_of(p, which));
  for (Int member = 0; member < group_of(p); ++member) {
    GradientDeviation one = how(member);
    one.heads_of = [&p, member](Int h_kv) { return std::vector<Int>{h_kv * group_of(p) + member}; };
    const Tensor<double> part = deviate(p, one, which);
    for (Int i = 0; i < sum.numel(); ++i) sum.data()[i] += factor(member) * part.data()[i];
  }
  return sum;
}

/// store() multiplies by the scale what the registers hold, and leaves it there.
Mistake scaled_for_every_head(const BackwardProblem& p) {
  const auto wrong = [&p] {
    const auto factor = [&p](Int member) {
      return std::pow(static_cast<double>(p.scale), static_cast<double>(group_of(p) - 1 - member));
    };
    return sum_of_members(p, Gradient::dK, factor, [](Int) { return GradientDeviation{}; });
  };
  return gives(
      "scaled_for_every_head", wrong,
      "dK is scaled once for every head of the group: store() multiplies the sums by the scale, so it "
      "belongs past the last head.");
}

/// The heads of a group but the first leave out the first `width` queries that the tile of keys is to meet.
Mistake later_heads_begin_late(const BackwardProblem& p, Gradient which, Int width) {
  const auto wrong = [&p, which, width] {
    const auto how = [&p, width](Int member) {
      if (member == 0) return GradientDeviation{};
      return GradientDeviation{.sees = [&p, width](Int i, Int j) {
        const Int seeing = p.mask.causal ? std::max(j / width * width - (p.Nk() - p.Nq()), Int{0}) : 0;
        return i >= seeing / width * width + width && p.sees(i, j);
      }};
    };
    return sum_of_members(
        p, which, [](Int) { return 1.0; }, how);
  };
  return gives(
      "later_heads_begin_late", wrong,
      "Of every group, only the first head meets the first tile of queries: the others begin one tile "
      "later. (That is what tiles of " +
          std::to_string(width) + " queries give.)");
}

/// What is read of the first head of a group for all of them. With one head of K and V that is head 0, which
/// all backward lessons know.
void add_first_heads(Mistakes& to, const BackwardProblem& p, Gradient which) {
  const Int group = group_of(p), H = p.H(), Nq = p.Nq();
  const auto first = [group](Int h) { return h / group * group; };
  const auto add = [&](const char* name, GradientDeviation how, const std::string& what) {
    to.push_back(deviation(name, p, which, std::move(how),
                           "All heads of a group read " + what + " of the group's first."));
  };
  const RowAddress lse = [s = p.lse.strides(), first](Int b, Int h, Int i) {
    return b * s[0] + first(h) * s[1] + i * s[2];
  };
  const auto row = [=](Int b, Int h, Int i) { return (b * H + first(h)) * Nq + i; };
  const auto reader = [first](const Tensor<float>& x) {
    return Reader{&x, [s = x.strides(), first](Int b, Int h, Int i, Int d) {
                    return b * s[0] + first(h) * s[1] + i * s[2] + d * s[3];
                  }};
  };
  add("rows_of_first_head", {.lse = lse}, "lse");
  add("q_of_first_head", {.Q = reader(p.Q)}, "Q");
  add("do_of_first_head", {.dO = reader(p.dO)}, "dO");
  if (which == Gradient::dV) return;
  add("rows_of_first_head", {.delta_row = row}, "delta");
  add("rows_of_first_head", {.lse = lse, .delta_row = row}, "lse and delta");
}

Mistakes mistakes_of_groups(const BackwardProblem& p, Gradient which) {
  Mistakes found;
  if (p.H_kv() == 0 || p.Nq() == 0 || p.Nk() == 0 || which == Gradient::delta) return found;
  if (!p.mask.causal)
    found.push_back(deviation("causal_always", p, which,
                              {.sees = [&p](Int i, Int j) { return j <= i + p.Nk() - p.Nq(); }},
                              "The causal mask hides keys although `causal` is false."));
  const Int group = group_of(p), H_kv = p.H_kv();
  if (group == 1 || which == Gradient::dQ) return found;
  if (which == Gradient::dK) found.push_back(scaled_for_every_head(p));
  for (const Int width : {16, 32, 64, 128})
    if (width < p.Nq()) found.push_back(later_heads_begin_late(p, which, width));
  if (H_kv == 1) return found;
  add_first_heads(found, p, which);
  if (group != H_kv && H_kv * H_kv <= p.H()) {
    const auto heads = [H_kv](Int h_kv) {
      std::vector<Int> all;
      for (Int member = 0; member < H_kv; ++member) all.push_back(h_kv * H_kv + member);
      return all;
    };
    found.push_back(deviation("group_is_h_kv", p, which, {.heads_of = heads},
                              "Every head of K and V sums over H_kv heads of Q; H / H_kv share it."));
  }
  return found;
}

Outcome attend_backward(const BackwardProblem& p, Backward& got, const CallOptions& options) {
  return call_with(options, ENTRY(grouped_query_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                   in(p.O, "O"), in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"), out(got.dQ, "dQ"),
                   out(got.dK, "dK"), out(got.dV, "dV"), p.scale, p.mask.causal);
}

const BackwardKernel kKernel{.attend_backward = attend_backward,
                             .takes = {.causal = Causal::choice, .grouped = true},
                             .own_mistakes = mistakes_of_groups,
                             .load_limit = tensors_read_for(64),
                             .stores_once = true,
                             .three_launches = true};

// --- Problems ---

/// Two heads of Q with one query each, one head of K and V with two keys; one dimension.
BackwardProblem problem_of_the_notes() {
  const auto ln3 = static_cast<float>(std::log(3));
  const Problem p{Tensor<float>::from({1, 2, 1, 1}, {1, -1}), Tensor<float>::from({1, 1, 2, 1}, {0, ln3}),
                  Tensor<float>::from({1, 1, 2, 1}, {4, 8}), 1.0f};
  return with_gradient(p, Tensor<float>::from({1, 2, 1, 1}, {4, 8}));
}

/// Fails the case unless the reference gives the notes' numbers.
void require_of_the_notes(const Tensor<double>& x, const char* name, const std::vector<double>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    require(std::abs(x.data()[i] - numbers[i]) < 1e-6, std::string("The notes are wrong: element ") +
                                                           std::to_string(i) + " of " + name + " is " +
                                                           std::to_string(x.data()[i]) + ".");
}

/// The same problem without sharing: every head of Q has a copy of the head of K and V that it read.
BackwardProblem with_copied_heads(const BackwardProblem& p) {
  Problem copied{p.Q, Tensor<float>({p.B(), p.H(), p.Nk(), p.D()}),
                 Tensor<float>({p.B(), p.H(), p.Nk(), p.D()}), p.scale, p.mask};
  for (Int i = 0; i < copied.K.numel(); ++i) {
    const auto at = copied.K.unravel(i);
    copied.K.data()[i] = p.K(at[0], at[1] / group_of(p), at[2], at[3]);
    copied.V.data()[i] = p.V(at[0], at[1] / group_of(p), at[2], at[3]);
  }
  return with_gradient(copied, p.dO);
}

/// Fails the case unless dK or dV of each head is the sum of those that its heads of Q have alone, up to
/// rounding.
void require_sum_of_heads(const Tensor<float>& got, const Tensor<float>& alone, const char* name) {
  const Int group = alone.shape()[1] / got.shape()[1];
  double largest = 0, off = 0;
  for (Int i = 0; i < got.numel(); ++i) {
    const auto at = got.unravel(i);
    double sum = 0;
    for (Int member = 0; member < group; ++member)
      sum += static_cast<double>(alone(at[0], at[1] * group + member, at[2], at[3]));
    largest = std::max(largest, std::abs(sum));
    off = std::max(off, std::abs(sum - static_cast<double>(got.at_linear(i))));
  }
  require(off <= 2e-6 * largest, std::string(name) + " of a shared head is off by up to " +
                                     std::to_string(off) + " from the sum of " + name +
                                     " over its heads of Q, each with a copy of K and V of its own.");
}

// --- Traffic ---

std::uint64_t loaded_by(const Profile& profile, std::size_t launch) {
  return profile.launches[launch].total.global_load.bytes;
}

/// Fails the case if the kernel of dK and dV (1) or of dQ (2) loads more; a tenth more is allowed.
void require_loads_of(const Profile& profile, std::size_t launch, std::uint64_t bytes,
                      const std::string& what) {
  const std::uint64_t read = loaded_by(profile, launch);
  require(read * 10 <= bytes * 11, "Your kernel of " + std::string(launch == 1 ? "dK and dV" : "dQ") +
                                       " reads " + std::to_string(read) + " bytes, where " +
                                       std::to_string(bytes) + " would do: " + what +
                                       " should not be loaded at all.");
}

/// Fails the case if all kernels together load more than those of dK and dV and of dQ may, and O and dO for
/// delta.
void require_loads_of_all(const Profile& profile, const BackwardProblem& p, std::uint64_t by_keys,
                          std::uint64_t by_queries) {
  require_loads_at_most(
      profile, by_keys + by_queries + bytes_of(p.Q) + bytes_of(p.dO),  // O is as large as Q
      "in all kernels, to load what those of dK and dV and of dQ may, and O and dO for delta,");
}

/// What the contract lets the kernel of dQ load where all queries see all keys.
std::uint64_t bytes_for_queries(const BackwardProblem& p) {
  const auto tiles = static_cast<std::uint64_t>((p.Nq() + 63) / 64),
             group = static_cast<std::uint64_t>(group_of(p));
  return bytes_of(p.Q) + bytes_of(p.dO) + 2 * tiles * group * (bytes_of(p.K) + bytes_of(p.V));
}

/// What the contract lets the kernel of dK and dV load.
std::uint64_t bytes_for_keys(const BackwardProblem& p) {
  const auto tiles = static_cast<std::uint64_t>((p.Nk() + kKeysForOneReading - 1) / kKeysForOneReading);
  return bytes_of(p.K) + bytes_of(p.V) + 2 * tiles * (bytes_of(p.Q) + bytes_of(p.dO));
}

/// @brief Fails the case if that kernel loads more, where every row begins at a multiple of 32 bytes. So many
/// percent more are allowed, since lse and delta of each tile of queries are read, too.
void require_keys_read_once(const Profile& profile, const BackwardProblem& p, std::uint64_t more) {
  const std::uint64_t bytes = bytes_for_keys(p), read = loaded_by(profile, 1);
  require(read * 100 <= bytes * (100 + more),
          "Your kernel of dK and dV reads " + std::to_string(read) +
              " bytes; to read K and V once for all heads " +
              "that share them, and Q and dO twice for every 64 keys, takes " + std::to_string(bytes) + ".");
}

}  // namespace

TEST_CASE("adds up the gradients of the two heads of the notes", "[l16][grouped_query_backward][points:1]") {
  const BackwardProblem p = problem_of_the_notes();
  const double ln3 = std::log(3);
  const Backward64 expected = expected_of(p), alone = expected_of(with_copied_heads(p));
  const reference::AttentionGradients between = gradients_of(p);
  require_of_the_notes(p.exact.O, "O", {7, 5});
  require_of_the_notes(expected.delta, "delta", {28, 40});
  require_of_the_notes(between.dP, "dP", {16, 32, 32, 64});
  require_of_the_notes(between.dS, "dS", {-3, 3, -6, 6});
  require_of_the_notes(alone.dV, "dV of single heads", {1, 3, 6, 2});
  require_of_the_notes(alone.dK, "dK of single heads", {-3, 3, 6, -6});
  require_of_the_notes(expected.dV, "dV", {7, 5});
  require_of_the_notes(expected.dK, "dK", {3, -3});
  require_of_the_notes(expected.dQ, "dQ", {3 * ln3, 6 * ln3});
  Problem moved = p;
  moved.K(0, 0, 0, 0) = 0.01f;
  const Tensor<double> O = attention_of(moved).O;
  require(std::abs(4 * O.data()[0] + 8 * O.data()[1] - 68.030) < 5e-4, "The notes are wrong: the loss.");
  check(kKernel, p);
}

TEST_CASE("sums dK and dV over the heads of Q that share a head of K and V",
          "[l16][grouped_query_backward][points:3]") {
  check_values(kKernel, random_problem({1, 6, 21, 40, 8, 2}));
  check(kKernel, random_problem({1, 6, 30, 17, 8, 3}, kCausal));
  check_values(kKernel, random_problem({1, 4, 20, 33, 4, 1}));
}

TEST_CASE("keeps heads apart that share nothing, and batches", "[l16][grouped_query_backward][points:1]") {
  check_values(kKernel, random_problem({1, 1, 20, 20, 4, 1}));
  check_values(kKernel, random_problem({1, 3, 9, 12, 4, 3}));
  check(kKernel, random_problem({3, 4, 9, 12, 4, 2}, kCausal));
}

TEST_CASE("sums over all tiles of queries of all heads", "[l16][grouped_query_backward][points:1]") {
  check(kKernel, random_problem({1, 4, 150, 40, 4, 2}));
  check_values(kKernel, random_problem({1, 3, 140, 140, 4, 1}, kCausal));
}

TEST_CASE("gives the sum of what the heads of Q give alone", "[l16][grouped_query_backward][points:1]") {
  const BackwardProblem shared = with_gradient(random_problem({1, 6, 40, 70, 8, 2}, kCausal)),
                        copied = with_copied_heads(shared);
  Backward got = results_of(shared), alone = results_of(copied);
  require_ran(attend_backward(shared, got, {.check = CheckMode::never}));
  require_ran(attend_backward(copied, alone, {.check = CheckMode::never}));
  require_results(kKernel, shared, got);
  require_results(kKernel, copied, alone);
  require_sum_of_heads(got.dK, alone.dK, "dK");
  require_sum_of_heads(got.dV, alone.dV, "dV");
}

TEST_CASE("sees the right keys where there are more keys than queries, or fewer",
          "[l16][grouped_query_backward][points:2]") {
  for (const Sizes& n : {Sizes{1, 2, 80, 30, 4, 1}, {1, 4, 20, 150, 4, 2}, {1, 2, 150, 10, 4, 1}})
    check_values(kKernel, random_problem(n, kCausal));
}

TEST_CASE("is right around the edges of tiles", "[l16][grouped_query_backward][points:1]") {
  check_values(kKernel, random_problem({1, 2, 64, 64, 4, 1}, kCausal));
  check(kKernel, random_problem({1, 2, 65, 63, 4, 1}, kCausal));
  check_values(kKernel, random_problem({1, 2, 63, 65, 4, 1}));
  check_values(kKernel, random_problem({1, 2, 129, 128, 4, 1}, kCausal));
  check_values(kKernel, random_problem({1, 3, 1, 1, 1, 1}));
  // One key behind a tile, or before its end, is seen by the last queries alone.
  for (const Sizes& n :
       {Sizes{1, 2, 64, 65, 4, 1}, {1, 2, 3, 65, 4, 1}, {1, 2, 2, 64, 4, 1}, {1, 2, 65, 129, 4, 1}})
    check_values(kKernel, random_problem(n, kCausal));
}

TEST_CASE("is right in 1, 16, 33, 64, 65 and 128 dimensions", "[l16][grouped_query_backward][points:1]") {
  for (const Int D : {1, 16, 33, 64}) check_values(kKernel, random_problem({1, 2, 9, 12, D, 1}));
  check(kKernel, random_problem({1, 2, 9, 12, 65, 1}));
  check_values(kKernel, random_problem({1, 6, 10, 20, 128, 2}, kCausal));
}

TEST_CASE("takes [batch, seq, head, dim] as well as [batch, head, seq, dim], also mixed",
          "[l16][grouped_query_backward][points:1]") {
  const Layout outside = Layout::heads_outside, inside = Layout::heads_inside;
  const Sizes n{2, 4, 12, 20, 8, 2};
  Problem p = with_layouts(random_problem(n, kCausal), inside, inside, inside, inside);
  p.layout_of_lse = inside;
  check(kKernel, p);
  check(kKernel, with_layouts_of_gradients(
                     with_gradient(with_layouts(random_problem(n), outside, inside, outside, inside)),
                     outside, inside, inside, outside, inside));
  check_drawn(kKernel);
}

TEST_CASE("neither reads nor writes what lies between the rows", "[l16][grouped_query_backward][points:1]") {
  check(kKernel, with_gaps(with_gradient(random_problem({2, 4, 13, 21, 18, 2}, kCausal)), kNan));
  check(kKernel, with_gaps(with_gradient(random_problem({1, 4, 13, 21, many_dimensions(), 2}, kCausal))));
  check_shifted(kKernel, with_gradient(random_problem({1, 4, 12, 20, 16, 2}, kCausal)));
  check_odd_rows(kKernel, {kCausal, {}});
}

TEST_CASE("keeps large scores apart, and scores of -inf out", "[l16][grouped_query_backward][points:1]") {
  check_values(kKernel, with_large_scores(random_problem({1, 4, 20, 30, 8, 2}, kCausal)));
  check_values(kKernel, with_shifted_scores(random_problem({1, 2, 70, 70, 8, 1}, kCausal), -20000.0f));
  check(kKernel, with_scores_of_minus_inf(random_problem({1, 4, 12, 80, 8, 2}), 70));
  check_small_weights(kKernel);
  for (const Int D : {20, 65}) {  // and NaN and infinities where they belong
    check_values(kKernel, with_not_numbers(random_problem(larger({2, 3, 31, 70, D}))));
    check_values(kKernel, with_infinite_products(random_problem(larger({1, 4, 20, 30, D, 2}), kCausal)));
  }
  check_values(kKernel, with_not_numbers_of_results(with_gradient(random_problem(larger({1, 3, 7, 9, 8})))));
}

TEST_CASE("is the gradient, by central differences", "[l16][grouped_query_backward][points:1]") {
  check_differences(kKernel, with_gradient(random_problem({1, 4, 3, 4, 2, 2}, kCausal)));
  check_differences(kKernel, with_gradient(random_problem({1, 2, 2, 3, 1, 1})));
}

TEST_CASE("gives 0 without queries or keys, and launches nothing without heads",
          "[l16][grouped_query_backward][points:1]") {
  check_nothing_to_do(kKernel);
}

TEST_CASE("gives the same bits in every order of blocks and threads",
          "[l16][grouped_query_backward][points:2]") {
  check_same_bits(kKernel, with_gradient(random_problem({1, 6, 20, 20, 8, 2}, kCausal)));
  check_same_bits(kKernel, with_gradient(random_problem({1, 2, 40, 140, 8, 1}, kCausal)));  // tiles of keys
  Sizes unknown = unknown_sizes_of_many_tiles();
  unknown.H_kv = 1;
  check_same_bits(kKernel, with_gradient(random_problem(unknown)));
}

TEST_CASE("reads K and V once for all heads that share them, and stores their sums alone",
          "[l16][grouped_query_backward][points:2]") {
  const BackwardProblem p = with_gradient(random_problem({1, 8, 8, 64, 64, 2}));  // rows of whole sectors
  const Outcome outcome = check(kKernel, p, kCounted);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO(describe(p));
  require_keys_read_once(*profile, p, 20);
  require_loads_of_all(*profile, p, bytes_for_keys(p), bytes_for_queries(p));
  require_busy_lanes(*profile);
  require_busy_warps(*profile);

  // Sizes that no kernel knows beforehand: rows of whole sectors, in less than 64 dimensions and in more.
  Random random(case_seed());
  for (const Int D : {8 * random.integer(5, 7), 8 * random.integer(9, 15)}) {
    const Int H_kv = random.integer(1, 2);
    const BackwardProblem drawn = with_gradient(random_problem(
        {1, random.integer(4, 5) * H_kv, random.integer(6, 8), random.integer(56, 64), D, H_kv}));
    const Outcome of_drawn = check(kKernel, drawn, kCounted);
    INFO(describe(drawn));
    if (const Profile* counted = profile_of(of_drawn)) require_keys_read_once(*counted, drawn, 80);
  }

  // No block does what several could share.
  for (const Sizes& n : {Sizes{1, 8, 70, 70, 8, 8}, unknown_sizes_of_many_heads()}) {
    const Outcome of_heads = check(kKernel, with_gradient(random_problem(n)), kCounted);
    if (const Profile* of_blocks = profile_of(of_heads)) require_busy_blocks(*of_blocks, 0.25);
  }
}

TEST_CASE("leaves out the queries that see no key of a tile, in every head",
          "[l16][grouped_query_backward][points:1]") {
  Random random(case_seed());
  for (const Sizes& n :
       {Sizes{1, 4, 256, 64, 32, 1}, Sizes{1, random.integer(2, 3), 256, 64, 8 * random.integer(4, 7),
                                           1}}) {  // no kernel knows it beforehand
    // Queries 192 to 255 see keys 0 to 63; no other query sees any.
    const BackwardProblem p = with_gradient(random_problem(n, kCausal));
    const Outcome outcome = check(kKernel, p, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(p));
    // With tiles of up to 128 queries, half of them are left out.
    const std::uint64_t of_queries = bytes_of(p.Q) + bytes_of(p.dO), of_keys = bytes_of(p.K) + bytes_of(p.V);
    const std::uint64_t by_keys = of_keys + 2 * of_queries / 2,
                        by_queries = of_queries + 2 * 2 * static_cast<std::uint64_t>(p.H()) * of_keys;
    require_loads_of(*profile, 1, by_keys, "queries that see no key of a tile of keys");
    require_loads_of(*profile, 2, by_queries, "keys for queries that see none of them");
    require_loads_of_all(*profile, p, by_keys, by_queries);
  }
  check_meeting_tiles(kKernel, mostly_blind(true));
  check_counted(kKernel, [](const Profile& profile, const BackwardProblem& p) {
    require_loads_what_meets(profile, p);
    require_no_atomics(profile);
  });
}

TEST_CASE("reads and writes whole sectors", "[l16][grouped_query_backward][points:1]") {
  Sizes unknown = unknown_sizes_of_whole_sectors();
  unknown.H_kv = 1;
  for (const Sizes& n : {Sizes{1, 2, 96, 96, 64, 1}, unknown}) {
    const Outcome outcome = check(kKernel, random_problem(n), kCounted);
    if (const Profile* profile = profile_of(outcome)) require_full_use(*profile);
  }
}

TEST_CASE("refuses heads of K that do not divide those of Q", "[l16][grouped_query_backward][points:1]") {
  const Problem valid = random_problem({1, 6, 4, 5, 8, 3});
  check_values(kKernel, valid);
  Random random(case_seed());
  for (const Int H : {Int{6}, random.integer(3, 12)})
    for (const Int H_kv : other_heads(H, true, random)) {
      BackwardProblem wrong = with_gradient(random_problem({1, H, 4, 5, 8}));
      wrong.K = wrong.V = Tensor<float>({1, H_kv, 5, 8}, 1.0f);
      require_refused(kKernel, wrong, results_of(wrong), "K");
    }
  BackwardProblem none = with_gradient(valid);
  none.K = none.V = Tensor<float>({1, 0, 5, 8});
  require_refused(kKernel, none, results_of(none), "K");
  check_refuses_unread_heads(kKernel);
}

TEST_CASE("refuses shapes that do not fit together", "[l16][grouped_query_backward][points:1]") {
  check_refuses_shapes(kKernel, random_problem({2, 9, 4, 5, 6, 3}));
}

TEST_CASE("refuses rows of more than 128 numbers, of none, and such that do not lie side by side",
          "[l16][grouped_query_backward][points:1]") {
  check_refuses_rows(kKernel, random_problem({1, 4, 3, 5, 6, 2}));
}

TEST_CASE("reports a launch that CUDA refuses", "[l16][grouped_query_backward][points:1]") {
  for (const Int D : {8, 70})
    for (const Sizes& n : {larger_of_one_query({1, 4, 1, 70, D, 2}), larger({1, 4, 70, 20, D, 2})})
      check_reports_refused_launch(kKernel, with_gradient(random_problem(n)));
}

COURSE_GRADCHECK(GradcheckContext& check) { gradcheck_attention_backward(check, kKernel); }

COURSE_RUN(RunContext& run) {
  run_attention_backward(run, kKernel.takes, [&](const BackwardProblem& p, Backward& got) {
    run.call(ENTRY(grouped_query_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"), in(p.O, "O"),
             in(p.lse, "lse"), in(p.dO, "dO"), out(got.delta, "delta"), out(got.dQ, "dQ"), out(got.dK, "dK"),
             out(got.dV, "dV"), p.scale, p.mask.causal);
  });
}
