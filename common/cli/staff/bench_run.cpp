#include "cli/staff/bench_run.hpp"

#include <fmt/core.h>

#include <system_error>

#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;
using Clock = std::chrono::steady_clock;

BenchmarkResults read_so_far(const fs::path& lines) {
  return fs::exists(lines) ? parse_benchmark(read_file(lines)) : BenchmarkResults{};
}

/// The last words that a program said on its way out, for a sentence.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// Why the program did not come to its end; empty if it did.
std::string why_incomplete(const CommandResult& result, const BenchmarkResults& results,
                           std::chrono::duration<double> timeout) {
  const std::string after = results.measurements.empty()
                                ? std::string()
                                : fmt::format(" after {} {}", results.measurements.back().series,
                                              results.measurements.back().label);
  if (result.timed_out)
    return fmt::format("It took longer than {:.0f} minutes, and was stopped{}.", timeout.count() / 60, after);
  if (result.signal != 0) return fmt::format("It was ended by signal {}{}.", result.signal, after);
  if (result.exit_code == 0 && results.complete) return "";
  return fmt::format("It ended with status {}{}: {}", result.exit_code, after, last_line(result.output));
}

}  // namespace

BenchmarkRun run_benchmark(const BenchmarkCommand& benchmark) try {
  const ScratchFolder scratch(benchmark.scratch);
  const fs::path lines = scratch.path() / "lines.jsonl";
  Command command;
  command.arguments = {benchmark.program, "--flush", "--lines", lines};
  command.directory = benchmark.directory;
  command.environment = {"NVIDIA_TF32_OVERRIDE=0"};  // float32 stays float32, whatever the shell says
  command.timeout = benchmark.timeout;
  auto next_look = Clock::now();
  command.on_tick = [&] {
    if (!benchmark.on_progress || Clock::now() < next_look) return;
    next_look = Clock::now() + std::chrono::milliseconds(250);
    benchmark.on_progress(read_so_far(lines));
  };
  const CommandResult result = run_command(command);
  BenchmarkRun run{.results = read_so_far(lines)};
  run.problem = why_incomplete(result, run.results, benchmark.timeout);
  return run;
} catch (const std::system_error& error) {
  throw MachineError(fmt::format("The benchmark cannot run: {}.", error.what()));
}

std::optional<GpuReading> read_gpu(const std::string& pci_bus_id) try {
  Command command;
  command.arguments = {"nvidia-smi", "--query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu",
                       "--format=csv,noheader,nounits"};
  if (!pci_bus_id.empty()) command.arguments.push_back("--id=" + pci_bus_id);
  command.timeout = std::chrono::seconds(20);
  const CommandResult result = run_command(command);
  return result.ok() ? parse_gpu_reading(result.output) : std::nullopt;
} catch (const std::system_error&) {
  return std::nullopt;  // there is no nvidia-smi
}

}  // namespace course::cli
