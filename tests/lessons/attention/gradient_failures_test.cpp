// Each check of backward kernels must be able to fail.

#include <cmath>

#include "attention/gradient_host_kernel.hpp"
#include "grading/facts/poison.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;

TEST_CASE("check fails a wrong result", "[attention_tests][!shouldfail]") {
  attention_tests::check(host_kernel({{Gradient::dK, {.factor = 2}}}), small_problem());
}

TEST_CASE("check_intermediates fails a wrong result", "[attention_tests][!shouldfail]") {
  check_intermediates(host_kernel({{Gradient::dK, {.scores = Scores::delta_added}}}));
}

TEST_CASE("check_differences fails a wrong gradient of the sink", "[attention_tests][!shouldfail]") {
  check_differences(host_kernel({{Gradient::dsink, {.factor = -1}}}),
                    with_gradient(with_sink(random_problem({1, 2, 5, 6, 3}))));
}

TEST_CASE("check_differences fails a dQ that is off by a hundredth", "[attention_tests][!shouldfail]") {
  check_differences(host_kernel({{Gradient::dQ, {.factor = 0.99}}}),
                    with_gradient(random_problem({1, 2, 5, 6, 3})));
}

TEST_CASE("check_nothing_to_do fails where nothing is launched in vain", "[attention_tests][!shouldfail]") {
  BackwardKernel kernel = host_kernel();
  kernel.attend_backward = [right = kernel.attend_backward](const BackwardProblem& p, Backward& got,
                                                            const CallOptions& options) {
    Outcome outcome = right(p, got, options);
    outcome.counters["launches"] = 3;
    return outcome;
  };
  check_nothing_to_do(kernel);
}

TEST_CASE("check_nothing_to_do fails where dK is not cleared without queries",
          "[attention_tests][!shouldfail]") {
  BackwardKernel kernel = host_kernel();
  kernel.attend_backward = [right = kernel.attend_backward](const BackwardProblem& p, Backward& got,
                                                            const CallOptions& options) {
    const Outcome outcome = right(p, got, options);
    if (p.Nq() == 0)
      for (float& x : got.dK.storage()) x = poison<float>();
    return outcome;
  };
  check_nothing_to_do(kernel);
}

TEST_CASE("check_refuses_shapes fails a kernel that takes everything", "[attention_tests][!shouldfail]") {
  check_refuses_shapes(host_kernel({}, false), random_problem({2, 3, 4, 5, 6}));
}

TEST_CASE("check_refuses_rows fails a kernel that takes everything", "[attention_tests][!shouldfail]") {
  check_refuses_rows(host_kernel({}, false), random_problem({1, 2, 4, 5, 6}));
}

TEST_CASE("check_same_bits fails a kernel that depends on the order", "[attention_tests][!shouldfail]") {
  BackwardKernel kernel = host_kernel();
  kernel.attend_backward = [right = kernel.attend_backward](const BackwardProblem& p, Backward& got,
                                                            const CallOptions& options) {
    const Outcome outcome = right(p, got, options);
    if (options.order == Order::random) got.dV.at_linear(3) = std::nextafter(got.dV.at_linear(3), 100.0f);
    return outcome;
  };
  check_same_bits(kernel, small_problem());
}

TEST_CASE("check_reports_refused_launch fails a kernel that returns with nothing done",
          "[attention_tests][!shouldfail]") {
  BackwardKernel kernel = host_kernel();
  kernel.attend_backward = [right = kernel.attend_backward](const BackwardProblem& p, Backward& got,
                                                            const CallOptions& options) {
    const Outcome outcome = right(p, got, options);
    if (options.max_grid_x == 1)
      for (float& x : got.dQ.storage()) x = poison<float>();
    return outcome;
  };
  check_reports_refused_launch(kernel, small_problem());
}

TEST_CASE("stores of another size than the outputs fail", "[attention_tests][!shouldfail]") {
  Profile profile;
  profile.global_store.bytes_asked = 4 * 2 * 4 * 20 * 24;  // a matrix of Nq · Nk for each head
  require_stores_outputs_once(host_kernel(), profile, small_problem());
}
