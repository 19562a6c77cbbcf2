#include "cli/staff/bench_run.hpp"

#include <sys/stat.h>

#include "bench_lines.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::kMachine, course::test::kOne;

namespace {

/// Runs a shell script as if it were a benchmark; $lines is where its results go.
BenchmarkRun run_script(const std::string& script, double seconds = 20) {
  const course::test::TemporaryFolder folder;
  const std::filesystem::path program = folder / "benchmark";
  write_file_atomically(program,
                        "#!/bin/sh\n[ \"$1 $2\" = '--flush --lines' ] || exit 9\nlines=$3\n" + script);
  chmod(program.c_str(), 0700);
  return run_benchmark({.program = program,
                        .directory = folder.path(),
                        .scratch = folder / "scratch",
                        .timeout = std::chrono::duration<double>(seconds),
                        .on_progress = {}});
}

}  // namespace

TEST_CASE("runs a benchmark, tells how it ended, and keeps what it measured", "[cli][bench]") {
  const std::string begin = "cat > \"$lines\" <<'END'\n" + std::string(kMachine) + kOne + "END\n";
  const BenchmarkRun whole = run_script(begin + "echo '{\"done\": true}' >> \"$lines\"\n");
  CHECK(whole.problem.empty());
  CHECK(whole.results.measurements.size() == 1);

  const BenchmarkRun failed = run_script(begin + "echo 'a.cu:3: cudaErrorIllegalAddress' >&2\nexit 1\n");
  CHECK_THAT(failed.problem, ContainsSubstring("status 1 after flash2_forward N=1024 D=64: a.cu:3"));
  CHECK(failed.results.measurements.size() == 1);

  CHECK_THAT(run_script(begin + "exit 0\n").problem, ContainsSubstring("status 0"));
  CHECK_THAT(run_script(begin + "kill -SEGV $$\n").problem, ContainsSubstring("signal 11"));
  CHECK_THAT(run_script(begin + "sleep 30\n", 0.3).problem, ContainsSubstring("was stopped"));
}

TEST_CASE("a benchmark that cannot be started is the machine's fault", "[cli][bench]") {
  const course::test::TemporaryFolder folder;
  CHECK_THROWS_AS(run_benchmark({.program = folder / "none",
                                 .directory = folder.path(),
                                 .scratch = folder / "scratch",
                                 .timeout = std::chrono::seconds(5),
                                 .on_progress = {}}),
                  MachineError);
}
