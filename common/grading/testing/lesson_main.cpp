// main() of every lesson's test program: Catch2 with a kernel library to test, and results as JSON Lines.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define COURSE_CATCH3 1
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#define COURSE_CATCH3 0
#endif

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grading/calls/session.hpp"
#include "grading/facts/outcome.hpp"
#include "grading/facts/results.hpp"
#include "grading/testing/case.hpp"
#include "grading/testing/gradcheck.hpp"
#include "grading/testing/listing.hpp"
#include "grading/testing/run.hpp"
#include "grading/testing/test_options.hpp"

/// Catch2's main(), which its library brings compiled: under --wrap=main, the linker calls it so, and ours
/// first.
extern "C" int __real_main(int argc, char** argv);

namespace course::grading {
namespace {

constexpr int kExitFailed = 1, kExitUsage = 2, kExitMachine = 3;
constexpr int kCatchUsage = 255;          // Catch2's own for a command line that it does not understand
constexpr std::size_t kMaxFailures = 20;  // of a case
constexpr double kSanitizedSeconds = 30;  // of a call under a tool, which makes kernels slow
constexpr double kBusyFactor = 4;         // other programs may take the processors from the simulator

/// What the whole run came to.
struct Tally {
  int cases = 0, failed = 0;
  bool infrastructure = false;
  std::string results_problem;
};
Tally tally;
std::filesystem::path results_file;
bool worker_a_case = false;  // so that what a tool logs belongs to one case

#if COURSE_CATCH3
using ListenerBase = Catch::EventListenerBase;
using AssertionResult = void;
std::string tag_text(const Catch::Tag& tag) { return static_cast<std::string>(tag.original); }
const Catch::TestCaseInfo& info_of(const Catch::TestCaseHandle& test) { return test.getTestCaseInfo(); }
#else
using ListenerBase = Catch::TestEventListenerBase;
using AssertionResult = bool;
const std::string& tag_text(const std::string& tag) { return tag; }
const Catch::TestCaseInfo& info_of(const Catch::TestCase& test) { return test; }
#endif

int points_of(const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    if (!tag.starts_with("points:")) continue;
    int points = 0;
    std::from_chars(tag.data() + 7, tag.data() + tag.size(), points);
    return points;
  }
  return 0;
}

/// A failed assertion in words: those of the checks in lesson_test.hpp are for students already.
std::string sentence(const Catch::AssertionResult& result) {
  const std::string message(result.getMessage());
  switch (result.getResultType()) {
    case Catch::ResultWas::ThrewException:
      return current_case().infrastructure ? message : "The test was ended by an exception: " + message;
    case Catch::ResultWas::FatalErrorCondition:
      return "The test program itself crashed: " + message;
    case Catch::ResultWas::ExpressionFailed:
      return fmt::format("Expected {}; got {}.", std::string(result.getExpression()),
                         result.getExpandedExpression());
    default:
      return message;
  }
}

/// What the assertion was about, with what the test was doing before it.
Failure failure_of(const Catch::AssertionStats& stats) {
  Failure failure{.kind = Failure::Kind::test};
  if (failure_to_come())
    failure = *std::exchange(failure_to_come(), std::nullopt);
  else
    failure.sentence = sentence(stats.assertionResult);
  std::set<std::string> told;  // nested calls may say the same
  for (const Catch::MessageInfo& info : stats.infoMessages)
    if (info.type == Catch::ResultWas::Info && told.insert(info.message).second)
      failure.context += (failure.context.empty() ? "" : ", ") + info.message;
  if (failure.kind == Failure::Kind::values && calls_of_case().reordered)
    failure.context +=
        (failure.context.empty() ? "" : ", ") + std::string("blocks, warps and threads in another order");
  failure.in_other_call = calls_of_case().only_others_found;
  return failure;
}

/// Writes one line of results as each case ends.
class JsonLinesListener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    ++case_number();
    current_case() = CaseResult{};
    current_case().name = info.name;
    for (const auto& tag : info.tags) current_case().tags.push_back(std::string(tag_text(tag)));
    current_case().points = points_of(current_case().tags);
    failure_to_come().reset();
    calls_of_case() = {};
    start_ = std::chrono::steady_clock::now();
  }

  AssertionResult assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (result.isOk()) return AssertionResult(true);
    add(failure_of(stats));
    return AssertionResult(true);
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (rehearsing()) {
      if (stats.totals.assertions.failed == 0) return;
      ++tally.failed;
      for (const Failure& failure : current_case().failures)
        fmt::print(stderr, "{}: {}\n", current_case().name, failure.sentence);
      return;
    }
    if (worker_a_case) default_session().finish();
    CaseResult& result = current_case();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    result.seed = case_seed();
    result.passed = stats.totals.assertions.failed == 0 && stats.totals.assertions.total() > 0;
    if (stats.totals.assertions.total() == 0)
      add({.kind = Failure::Kind::test, .sentence = "This test case checks nothing."});
    if (result.passed && calls_of_case().was_to_throw && !calls_of_case().returned) {
      result.passed = false;
      add({.kind = Failure::Kind::test,
           .sentence = "This test asks for an exception, and never for a call that returns: code that always "
                       "throws would pass it."});
    }
    ++tally.cases;
    // What calls left behind comes last.
    std::stable_partition(result.failures.begin(), result.failures.end(),
                          [](const Failure& one) { return one.kind != Failure::Kind::effects; });
    fail_if_found(result);
    if (!result.passed) {
      ++tally.failed;
      fmt::print(stderr, "{}: seed {}\n", result.name, result.seed);
    }
    tally.infrastructure |= result.infrastructure;
    if (results_file.empty()) return;
    try {
      append_result(results_file, result);
    } catch (const std::exception& problem) {
      tally.results_problem = problem.what();
    }
  }

 private:
  /// A case may check many things, and a leak in a loop is told once.
  static void add(Failure failure) {
    std::vector<Failure>& failures = current_case().failures;
    const bool known = failure.kind == Failure::Kind::effects &&
                       std::any_of(failures.begin(), failures.end(),
                                   [&](const Failure& one) { return one.way() == failure.way(); });
    if (!known && failures.size() < kMaxFailures) failures.push_back(std::move(failure));
  }

  std::chrono::steady_clock::time_point start_;
};

int run_on_arrays(const TestOptions& options) {
  if (!registered_run()) throw RunError("This lesson has nothing to run on arrays of your own.", true);
  RunContext context(options.in, options.out, options.settings);
  registered_run()(context);
  for (const std::string& name : context.unused_settings())
    throw RunError(fmt::format("--set {}: this lesson has no such setting.", name), true);
  return 0;
}

int check_gradients(const TestOptions& options) {
  if (!registered_gradcheck()) throw RunError("This lesson has no gradients to check.", true);
  return run_gradcheck(registered_gradcheck(), options.seed, options.cases, options.settings) ? 0
                                                                                              : kExitFailed;
}

/// Does what no test case is about, and says what went wrong.
int run_mode(const TestOptions& options) {
  try {
    return options.run ? run_on_arrays(options) : check_gradients(options);
  } catch (const RunError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return error.usage() ? kExitUsage : kExitFailed;
  } catch (const MachineError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kExitMachine;
  } catch (const std::exception& error) {
    fmt::print(stderr, "The run was ended by an exception: {}\n", error.what());
    return kExitFailed;
  }
}

/// Prints the cases; none of them runs.
int list_cases() {
  std::vector<ListedCase> cases;
  for (const auto& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    const Catch::TestCaseInfo& info = info_of(test);
    ListedCase one{info.name};
    for (const auto& tag : info.tags) one.tags.push_back(std::string(tag_text(tag)));
    one.points = points_of(one.tags);
    cases.push_back(std::move(one));
  }
  fmt::print("{}", to_json_line(cases));
  return 0;
}

int run_catch(std::string program, std::vector<std::string> words) {
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return __real_main(static_cast<int>(arguments.size()) - 1, arguments.data());
}

/// Rehearses all cases and prints the mistakes that they know.
int list_mistakes(const char* program) {
  begin_rehearsal();
  run_catch(program, {"--out", "/dev/null"});
  if (tally.failed > 0) {
    fmt::print(stderr, "A case cannot be rehearsed, so that the list would lack what it knows.\n");
    return kExitMachine;
  }
  fmt::print("{}", to_json_line(rehearsed_mistakes()));
  return 0;
}

int run_tests(const char* program, const TestOptions& options) {
  const int result = run_catch(program, options.catch2);
  if (!tally.results_problem.empty()) {
    fmt::print(stderr, "{}\n", tally.results_problem);
    return kExitMachine;
  }
  if (tally.infrastructure) return kExitMachine;
  if (tally.cases > 0) return tally.failed > 0 ? kExitFailed : 0;
  return result == kCatchUsage ? kExitUsage : result;  // of a listing, or of no case chosen
}

int main_of_lesson(int argc, char** argv) {
  TestOptions options;
  bool for_user = false;  // `./course run` and `gradcheck`: no tests
  try {
    options = parse_test_options({argv + 1, argv + argc});
    if (options.list_cases) return list_cases();
    if (options.list_mistakes) return list_mistakes(argv[0]);
    for_user = options.run || options.gradcheck;
    if (!options.kernel.empty()) {
      SessionConfig config;
      config.kernel = options.kernel;
      if (!for_user) config.check_kernel = options.check_kernel;
      config.worker = options.worker.empty()
                          ? find_worker(options.backend, std::filesystem::read_symlink("/proc/self/exe"))
                          : options.worker;
      config.pass_output_on = for_user;
      config.kernels_only = !for_user && !host_may_compute();
      config.on_outcome = record;
      config.case_number = [] { return case_number(); };
      if (options.backend == "cpu") config.busy_factor = kBusyFactor;
      if (!options.confinement.empty()) {
        config.confinement = read_confinement(options.confinement);
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // code that nobody trusts does not outlive the grader
      }
      if (!options.sanitizer.empty()) {
        config.sanitizer = read_sanitizer_run(options.sanitizer);
        config.timeout_seconds = config.later_timeout_seconds = kSanitizedSeconds;
        findings_only() = true;
        worker_a_case = config.sanitizer->worker_a_case;
      }
      if (options.timeout_seconds) config.timeout_seconds = *options.timeout_seconds;
      configure_default_session(config);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kExitUsage;
  }
  set_base_seed(options.seed);
  results_file = options.results;
  const int status = for_user ? run_mode(options) : run_tests(argv[0], options);
  if (!options.sanitizer.empty()) default_session().finish();
  end_default_session();
  return status;
}

}  // namespace
}  // namespace course::grading

namespace {
using course::grading::JsonLinesListener;
CATCH_REGISTER_LISTENER(JsonLinesListener)
}  // namespace

extern "C" int __wrap_main(int argc, char** argv) { return course::grading::main_of_lesson(argc, argv); }
