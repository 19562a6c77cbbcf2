// The way from a lesson's tests through a tool to its findings, with a script in the tool's place and the
// worker of the simulator behind it.
#include "grading/judging/sanitize.hpp"

#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "grading/base/subprocess.hpp"
#include "grading/facts/words.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"
#include "support/temporary_folder.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;

/// Takes its options as compute-sanitizer does, then runs `body`, which has $tool, $log and the worker's
/// command. `run` starts the worker as a child to which no descriptor is passed on.
fs::path write_tool(const fs::path& file, const std::string& body) {
  std::ofstream(file) << R"(#!/bin/sh
if [ "$1" = --help ]; then echo 'Usage: --tool --log-file --print-limit --leak-check'; exit 0; fi
while [ $# -gt 0 ]; do
  case $1 in
    --tool) tool=$2; shift 2 ;;
    --log-file) log=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
say() { echo "========= $*" >> "$log"; }
run() { "$@" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- < /dev/null; }
race() {
  say 'Error: Potential RAW hazard detected at __shared__ 0x4 in block (0,0,0) :'
  say '    Write Thread (0,0,0) at f(int *)+0x2b0 in sample.cu:12'
  say '    Read Thread (32,0,0) at f(int *)+0x390 in sample.cu:13'
}
say COMPUTE-SANITIZER
)" << body << "\n";
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

const std::string kClean = "run \"$@\"; status=$?; say 'ERROR SUMMARY: 0 errors'; exit $status";

/// A lesson whose tests are the sample's, and its kernel a library of kernels/.
class Bench {
 public:
  explicit Bench(const std::string& body, const std::string& only_case = "adds") {
    toolchain_.source_dir = toolchain_.binary_dir = folder_.path();
    toolchain_.cpu = CpuToolchain{};
    toolchain_.cpu->worker = COURSE_TEST_WORKER;
    lesson_.number = 1;
    lesson_.name = "sample";
    lesson_.root = folder_.path();
    toolchain_.lessons[lesson_.id()] = {"", COURSE_TEST_SAMPLE};
    builds_.run.library = fs::path(COURSE_TEST_KERNELS) / "misbehave.so";
    if (!only_case.empty()) options_.only_cases = {only_case};
    tool_ = write_tool(folder_ / "tool", body);
    sanitizer_ = {tool_, read_file(tool_)};
    report = check_kernel(toolchain_, lesson_, folder_ / "sample.cu", builds_, options_);
  }

  void sanitize() {
    grading::sanitize(
        toolchain_, builds_, options_, sanitizer_,
        [this](std::string_view tool) { tools_told += std::string(tool) + " "; }, report);
  }
  std::string why_not() {
    try {
      sanitize();
    } catch (const MachineError& error) {
      return error.what();
    }
    return "it works";
  }
  const CaseResult& only() const {
    REQUIRE(report.cases.size() == 1);
    return report.cases.front();
  }
  std::string message() const { return to_words(only(), std::nullopt); }
  const fs::path& folder() const { return folder_.path(); }

  LessonReport report;
  std::string tools_told;

 private:
  test::TemporaryFolder folder_;
  Toolchain toolchain_;
  Lesson lesson_;
  KernelBuilds builds_;
  CheckOptions options_;
  fs::path tool_;
  Sanitizer sanitizer_;
};

}  // namespace

TEST_CASE("a case in which no tool finds anything stays as it was") {
  Bench bench(kClean);
  bench.sanitize();
  CHECK(bench.tools_told == "memcheck racecheck initcheck synccheck ");
  CHECK(bench.report.tools == std::vector<std::string>{"memcheck", "racecheck", "initcheck", "synccheck"});
  CHECK(bench.report.verdict == Verdict::pass);
  CHECK(bench.report.points == 2);
  CHECK(bench.only().findings.empty());
  CHECK(bench.message().empty());
}

TEST_CASE("a finding of a tool fails the case, whatever the outputs were") {
  Bench bench("run \"$@\"; [ $tool = racecheck ] && race; say 'RACECHECK SUMMARY: 1 hazard'");
  REQUIRE(bench.report.verdict == Verdict::pass);
  bench.sanitize();
  CHECK(bench.report.verdict == Verdict::fail);
  CHECK(bench.report.points == 0);
  REQUIRE(bench.only().findings.size() == 1);
  CHECK(bench.only().findings[0].kind == "race");
  CHECK(bench.only().findings[0].tool == "racecheck");
  CHECK_THAT(bench.message(),
             ContainsSubstring("sample.cu:13: error: race: thread (32,0,0) of block (0,0,0)"));
}

TEST_CASE("a finding belongs to the case whose worker made it") {
  // One worker serves all cases at first. With one for each, the fourth has the finding.
  Bench bench(
      "run \"$@\"; status=$?\n"
      "case $tool:$log in racecheck:*/0001-0001.log|racecheck:*/0004-*.log) race ;; esac\n"
      "say 'ERROR SUMMARY: 0 errors'; exit $status",
      "");
  REQUIRE(bench.report.cases.size() > 10);
  const std::vector<CaseResult> before = bench.report.cases;
  bench.sanitize();
  for (std::size_t i = 0; i < before.size(); ++i) {
    const CaseResult& result = bench.report.cases[i];
    INFO(result.name);
    const auto races = std::count_if(result.findings.begin(), result.findings.end(),
                                     [](const Finding& one) { return one.kind == "race"; });
    // The first has a worker of that name in both runs.
    CHECK(races == (i == 0 || i == 3 ? 1 : 0));
    CHECK(result.passed == (before[i].passed && races == 0));
  }
}

TEST_CASE("a call that ends the process leaves a note, and the case's result is that of the ordinary run") {
  Bench bench(kClean, "ends the program");
  const std::string message = bench.message();
  bench.sanitize();
  CHECK(bench.message() == message);
  REQUIRE(bench.only().findings.size() == 4);
  CHECK(bench.only().findings[0].kind == kNotChecked);
  CHECK(bench.only().findings[0].severity == Severity::note);
  CHECK(bench.only().findings[0].what == "memcheck did not see a call to its end: the process ended in it.");
}

TEST_CASE("a finding that does not come again is told all the same") {
  Bench bench(
      "run \"$@\"; if [ $tool = racecheck ] && [ ! -e \"$0.once\" ]; then touch \"$0.once\"; race; fi\n"
      "say 'ERROR SUMMARY: 0 errors'");
  bench.sanitize();
  REQUIRE(bench.only().findings.size() == 1);
  CHECK_THAT(bench.message(), ContainsSubstring("It was seen in this case or in a later one."));
}

TEST_CASE("the fault that CUDA reports gives way to the line that memcheck names") {
  Bench bench(
      "run \"$@\"; if [ $tool = memcheck ]; then say 'Invalid __global__ read of size 4 bytes'\n"
      "say '    at f(int *)+0x2b0 in sample.cu:20'; say '    by thread (0,0,0) in block (0,0,0)'\n"
      "say '    Access to 0x7f0000000028 is out of bounds'; fi; say 'ERROR SUMMARY: 0 errors'");
  CaseResult& result = bench.report.cases.front();
  result.passed = false;
  const std::string sentence = "A kernel used memory that it may not touch.";
  result.findings = {test::finding("cudaErrorIllegalAddress", 0, Severity::error, sentence)};
  result.failures = {{.kind = Failure::Kind::call, .context = "n = 33", .sentence = sentence, .found = true}};
  bench.sanitize();
  REQUIRE(bench.only().findings.size() == 1);
  CHECK(bench.only().findings[0].kind == "out_of_bounds");
  CHECK_THAT(bench.message(), Catch::Matchers::StartsWith("sample.cu:20: error: out_of_bounds: thread"));
  CHECK(bench.message().find("may not touch") == std::string::npos);
}

TEST_CASE("a tool that never starts the worker is the machine's fault, and is named with what it said") {
  Bench bench("echo 'no permission to profile' >&2; exit 1");
  CHECK_THAT(bench.why_not(), ContainsSubstring("memcheck cannot work here: tool could not be started: no "
                                                "permission to profile"));
  CHECK_THAT(Bench("exit 1").why_not(), ContainsSubstring("it ended before the worker was there"));
}

TEST_CASE("a device that a tool does not know is the machine's fault") {
  Bench bench("[ $tool = racecheck ] && say 'Device not supported. See the manual'; " + kClean);
  CHECK(bench.why_not() == "racecheck cannot work here: Device not supported. See the manual.");
}

TEST_CASE("a tool that dies, or leaves no log that can be read, is no tool that found nothing") {
  const std::string no_summary = "memcheck cannot work here: its log ends without a summary";
  CHECK_THAT(Bench("run \"$@\" & sleep 1; kill -9 $$").why_not(), ContainsSubstring(no_summary));
  CHECK_THAT(Bench("run \"$@\"; head -c 100000 /dev/urandom > \"$log\"").why_not(),
             ContainsSubstring(no_summary));
  CHECK_THAT(Bench("run \"$@\"; : > \"$log\"").why_not(), ContainsSubstring(no_summary));
  CHECK_THAT(Bench("run \"$@\"; rm \"$log\"; mkdir \"$log\"").why_not(), ContainsSubstring(no_summary));
  CHECK_THAT(Bench("run \"$@\"; rm \"$log\"").why_not(),
             ContainsSubstring("memcheck cannot work here: it left no log"));
}

TEST_CASE("of a log that is far too long, the beginning is read") {
  Bench bench(
      "run \"$@\"; race; yes '========= Error: Potential WAW hazard detected at __shared__ 0x0 :' | head -c "
      "50000000 >> \"$log\"");
  const auto start = std::chrono::steady_clock::now();
  bench.sanitize();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  const auto& found = bench.only().findings;
  CHECK(std::any_of(found.begin(), found.end(), [](const Finding& one) {
    return one.what == "memcheck wrote a log of more than 8 MiB; only its beginning was read.";
  }));
  CHECK_FALSE(bench.only().passed);
  CHECK(found.size() < 40);
}

TEST_CASE("calls that take too long under a tool are given up, each with a note") {
  test::TemporaryFolder folder;
  SessionConfig config = library("misbehave");
  config.later_timeout_seconds = config.timeout_seconds = 0.3;
  config.sanitizer = SanitizerRun{
      "memcheck", {write_tool(folder / "tool", kClean), "--tool", "memcheck"}, folder.path(), false};
  Session session(config);
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = misbehave(session, kLoopForever);
    CHECK(outcome.status == Status::timeout);
    REQUIRE(outcome.findings.size() == 1);
    CHECK_THAT(outcome.findings[0].what,
               ContainsSubstring("memcheck did not see a call to its end: it took"));
  }
  const Outcome third = misbehave(session, kNothing);
  CHECK(third.status == Status::timeout);
  CHECK_THAT(third.message, ContainsSubstring("was not called"));
}

TEST_CASE("a worker behind a tool is reached by name and ends with its session") {
  test::TemporaryFolder folder;
  SessionConfig config = library("misbehave");
  config.sanitizer = SanitizerRun{
      "memcheck",
      {write_tool(folder / "tool", "run \"$@\"; echo ended > \"$log.end\""), "--tool", "memcheck"},
      folder.path(),
      false};
  {
    Session session(config);
    CHECK(misbehave(session, kNothing).status == Status::returned);
    CHECK(misbehave(session, kThrowInvalidArgument).status == Status::threw);
    session.finish();
  }
  const std::set<std::string> names = folder.names();
  CHECK(std::count_if(names.begin(), names.end(),
                      [](const std::string& one) { return one.ends_with(".end"); }) == 1);
}

TEST_CASE("compute-sanitizer is found by the variable that names it, and asked for what it knows") {
  test::TemporaryFolder folder;
  const fs::path tool = write_tool(folder / "tool", kClean);
  setenv(kSanitizerVariable, tool.c_str(), 1);
  const Sanitizer found = find_sanitizer(Toolchain{});
  setenv(kSanitizerVariable, "/bin/true", 1);
  CHECK_THROWS_WITH(find_sanitizer(Toolchain{}),
                    ContainsSubstring("names /bin/true, which is no compute-sanitizer"));
  unsetenv(kSanitizerVariable);
  CHECK(found.program == tool);
  CHECK(sanitizer_words(found, "memcheck") == std::vector<std::string>{tool, "--tool", "memcheck",
                                                                       "--print-limit", "1000",
                                                                       "--leak-check", "full"});
  CHECK(sanitizer_words(found, "racecheck") ==
        std::vector<std::string>{tool, "--tool", "racecheck", "--print-limit", "1000"});
}

TEST_CASE("a run under a tool survives its file, and a log's name its case") {
  test::TemporaryFolder folder;
  const SanitizerRun run{"initcheck", {"a", "--b"}, folder.path() / "100%", true};
  fs::create_directory(run.logs);
  write_file_atomically(folder / "run.json", to_json(run));
  const SanitizerRun back = read_sanitizer_run(folder / "run.json");
  CHECK(back.tool == run.tool);
  CHECK(back.words == run.words);
  CHECK(back.logs == run.logs);
  CHECK(back.worker_a_case);
  CHECK_THROWS_WITH(read_sanitizer_run(write_tool(folder / "tool", "")),
                    ContainsSubstring("does not describe a run"));
  const std::vector<std::string> words = launcher_of(run, 12, 3);
  CHECK(words.back() == (folder.path() / "100%%" / "0012-0003.log").string());
  CHECK(case_of_log(run.logs / "0012-0003.log") == 12);
  CHECK(case_of_log("readme.txt") == 0);
  CHECK(fs::exists(run.logs / "0012-0003.log"));
}
