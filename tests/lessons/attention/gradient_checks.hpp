#pragma once
/// @file
/// Calls of a backward kernel, and the bodies of test cases that lessons 15 to 18 have. What speaks of memory
/// and not of results (require_loads_at_most, require_whole_sectors, bytes_of) is in checks.hpp.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention/checks.hpp"
#include "attention/gradient_baseline.hpp"
#include "attention/gradient_mistakes.hpp"
#include "attention/gradient_problem.hpp"
#include "grading/testing/lesson_test.hpp"

namespace course::attention_tests {

/// What a lesson tells about its backward kernel, once.
struct BackwardKernel {
  /// Calls the entry with the problem's inputs and these results. dsink is to be written only if p.sink.
  std::function<grading::Outcome(const BackwardProblem&, Backward&, const grading::CallOptions&)>
      attend_backward;
  /// What the kernel can do; checks that need a mask or a sink take none that it has not.
  Takes takes{};
  /// Mistakes beyond mistakes_in(); those of the same name join them.
  std::function<grading::Mistakes(const BackwardProblem&, Gradient)> own_mistakes{};
  /// As of Kernel, in checks.hpp.
  std::function<LoadLimit(const Problem&)> load_limit{};
  /// Its results in the order in which they are checked; dsink only where the problem has a sink.
  std::vector<Gradient> outputs{Gradient::delta, Gradient::dV, Gradient::dK, Gradient::dQ, Gradient::dsink};
  Int max_dim = 128;
  /// False: no mistake is named, since many of them give the results that the problem is about.
  bool tells_mistakes = true;
  /// At most three launches, and one more for learned sinks, store each of the outputs once, and nothing
  /// else: asked for in every call that check mode counts.
  bool stores_once = false;
  /// And there are all of them, of delta, of dK and dV, and of dQ, without atomics.
  bool three_launches = false;
};

/// @brief A BackwardKernel::load_limit, for all kernels together: twice what it takes to read Q and dO twice
/// for every so many keys, K and V twice for every so many queries of each head, lse and delta with them, and
/// each tensor once or twice more. D and the edges of tiles may waste some; those that are `padded`, as much
/// as whole tiles take.
std::function<LoadLimit(const Problem&)> tensors_read_for(Int rows, bool padded = false);

/// The same, never in check mode: see checks.hpp.
BackwardKernel without_check_mode(BackwardKernel kernel);

/// @brief That blocks add nothing to what others have stored.
void require_no_atomics(const grading::Profile& profile, TestLine where = TestLine::here());

/// @brief The kernel's outputs, without dsink where the problem has no sink.
std::vector<Gradient> outputs_of(const BackwardKernel& kernel, const BackwardProblem& p);

/// Tensors for a call's results, in the problem's layouts.
Backward results_of(const BackwardProblem& p);

/// @brief Fails the case unless all outputs are right. Tells all that are wrong, in the kernel's order; but
/// those that were never written come after the others.
void require_results(const BackwardKernel& kernel, const BackwardProblem& p, const Backward& got,
                     TestLine where = TestLine::here());

/// @brief What require_results() says; empty if all is right.
std::vector<grading::Failure> failures_of(const BackwardKernel& kernel, const BackwardProblem& p,
                                          const Backward& got);

/// @brief Calls the kernel and checks how it came back and its results. In check mode, too, if the problem
/// has at most kMostTilesChecked tiles.
grading::Outcome check(const BackwardKernel& kernel, const BackwardProblem& p,
                       grading::CallOptions options = {}, TestLine where = TestLine::here());

/// @brief with_gradient(p).
grading::Outcome check(const BackwardKernel& kernel, const Problem& p, grading::CallOptions options = {},
                       TestLine where = TestLine::here());

/// @brief check() without check mode: for what other calls have had checked.
void check_values(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where = TestLine::here());
void check_values(const BackwardKernel& kernel, const Problem& p, TestLine where = TestLine::here());

/// @brief Right with one tensor after the other beginning at no multiple of 16 bytes, as a part of a larger
/// one may.
void check_shifted(const BackwardKernel& kernel, const BackwardProblem& p, TestLine where = TestLine::here());

/// @brief Right in 64 and 128 dimensions, as in checks.hpp.
void check_odd_rows(const BackwardKernel& kernel, const Masks& masks = {{}}, const WideChange& change = {},
                    TestLine where = TestLine::here());

/// @brief Right, and the same bits in every order of blocks and threads.
void check_same_bits(const BackwardKernel& kernel, const BackwardProblem& p,
                     TestLine where = TestLine::here());

/// @brief Right, and the same bits with windows that hide nothing, whatever the sinks.
void check_window_that_hides_nothing(const BackwardKernel& kernel, const BackwardProblem& p,
                                     TestLine where = TestLine::here());

/// @brief Right with weights that are nearly 0: in float32, of one dimension and of many.
void check_small_weights(BackwardKernel kernel, TestLine where = TestLine::here());

/// @brief Without keys dQ is 0, without queries dK and dV are; without batches or heads nothing is launched.
/// With a sink, if the kernel takes one, too.
void check_nothing_to_do(const BackwardKernel& kernel, const reference::Mask& mask = {},
                         TestLine where = TestLine::here());

/// @brief std::invalid_argument that names `argument`.
void require_refused(const BackwardKernel& kernel, const BackwardProblem& p, Backward results,
                     const char* argument, TestLine where = TestLine::here());

/// @brief K, V, O, lse, dO, delta, dQ, dK and dV of shapes that do not fit are refused by name.
/// `valid` is changed one argument at a time; at least two batches, and no two sizes alike.
void check_refuses_shapes(const BackwardKernel& kernel, const Problem& valid,
                          TestLine where = TestLine::here());

/// @brief D of 0 and of more than the kernel's maximum is refused with the name Q, and in 16 bits D that is
/// no multiple of 8; Q, K, V, O, dO, dQ, dK and dV are refused by name where the elements of a row do not lie
/// side by side.
void check_refuses_rows(const BackwardKernel& kernel, const Problem& valid,
                        TestLine where = TestLine::here());

/// @brief Heads of K are refused where Q has none.
void check_refuses_unread_heads(const BackwardKernel& kernel, std::optional<Format16> format = {},
                                TestLine where = TestLine::here());

/// @brief std::runtime_error where CUDA refuses a launch, as in checks.hpp. A call whose launches are
/// accepted all the same must be right.
void check_reports_refused_launch(const BackwardKernel& kernel, const BackwardProblem& p,
                                  grading::CheckMode check_mode = grading::CheckMode::if_small,
                                  TestLine where = TestLine::here());

/// @brief The outputs, delta among them, are stored once, and nothing else is: nothing of Nq · Nk elements,
/// and no partial results.
void require_stores_outputs_once(const BackwardKernel& kernel, const grading::Profile& profile,
                                 const BackwardProblem& p, TestLine where = TestLine::here());

/// Bytes that the parts of a backward pass load where tiles of 64 queries and of 64 keys meet.
struct MeetingLoads {
  std::uint64_t by_keys;     ///< for dK and dV: K and V once, and twice Q and dO of the tiles that meet them
  std::uint64_t by_queries;  ///< for dQ: Q and dO once, and twice K and V of the tiles that meet them
  std::uint64_t by_delta;    ///< O and dO
  std::uint64_t of_all() const { return by_keys + by_queries + by_delta; }
};

/// @brief What the contracts of lessons 15 to 17 allow, with lse and delta of each pair of tiles. In float32,
/// for rows that begin with sectors.
MeetingLoads loads_where_tiles_meet(const BackwardProblem& p);

/// @brief Fails the case if a call loads more than that. Rows may begin and end anywhere in sectors.
void require_loads_what_meets(const grading::Profile& profile, const BackwardProblem& p,
                              TestLine where = TestLine::here());

/// @brief A causal problem with far more queries than keys, of which the first see none: of sizes that no
/// kernel knows beforehand, with rows that begin with sectors.
Problem mostly_blind(bool grouped);

/// @brief Right, and no tile loaded that meets nothing.
void check_meeting_tiles(const BackwardKernel& kernel, const Problem& p, TestLine where = TestLine::here());

// What went wrong first.

/// @brief Calls the kernel with dO, and then K or Q, as multiples of the identity, so that P and dS stand in
/// its results, and tells the first of delta, P, dP and dS that is wrong: which element, what it is and
/// should be, and where to look. n queries, keys and dimensions (n is at most the kernel's maximum).
void check_intermediates(const BackwardKernel& kernel, Int n = 8, const reference::Mask& mask = {},
                         bool sink = false, TestLine where = TestLine::here());

/// @brief What check_intermediates() says of the results of identity_in_Q(n) and identity_in_K(n); nothing if
/// all are right.
std::optional<grading::Failure> first_wrong(const BackwardKernel& kernel, const BackwardProblem& with_Q,
                                            const Backward& got_with_Q, const BackwardProblem& with_K,
                                            const Backward& got_with_K);

// What a gradient is.

/// @brief dQ, dK, dV and dsink against central differences of the loss Σ dO ∘ O, which is computed from the
/// forward pass in float64 alone: no formula of a gradient has any part in it. For small problems.
/// Cost: 4 · (elements of Q, K, V) · B · H · Nq · Nk · D operations.
void check_differences(const BackwardKernel& kernel, const BackwardProblem& p,
                       TestLine where = TestLine::here());

// `./course gradcheck` and `./course run`.

/// @brief COURSE_GRADCHECK of a backward lesson: a random small problem with the settings that the kernel
/// takes (causal, window, sinks, learned_sink, heads, kv_heads, queries, keys, dim), each random by default,
/// and dQ, dK, dV and dsink against central differences. `change` may add what the lesson alone has, such as
/// dropout.
void gradcheck_attention_backward(grading::GradcheckContext& check, const BackwardKernel& kernel,
                                  const std::function<Problem(const Problem&)>& change = {});

/// @brief COURSE_RUN of a backward lesson: read_problem() and dout.npy; o.npy, lse.npy, delta.npy, dq.npy,
/// dk.npy, dv.npy, and dsink.npy with a sink. `forward` computes O and lse with the lesson's own kernel;
/// without it they come from the float64 reference, which is said on stdout.
void run_attention_backward(grading::RunContext& run, const Takes& takes,
                            const std::function<void(const BackwardProblem&, Backward&)>& call,
                            const std::function<void(const Problem&, Forward&)>& forward = {});

}  // namespace course::attention_tests
