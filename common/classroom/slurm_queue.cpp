// Slurm: sbatch takes a job array, squeue tells what is left of it, scancel ends it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "classroom/batch_queue.hpp"
#include "classroom/text.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using grading::CommandResult;
using grading::MachineError;

CommandResult ask(std::vector<std::string> words) {
  grading::Command command;
  command.arguments = std::move(words);
  command.environment = {"LC_ALL=C"};
  command.timeout = std::chrono::minutes(2);
  try {
    return grading::run_command(command);
  } catch (const std::system_error&) {
    throw MachineError(fmt::format(
        "{} is not on PATH: --cluster slurm runs where Slurm's commands are (Debian's package slurm-client).",
        command.arguments.front()));
  }
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

class SlurmQueue : public BatchQueue {
 public:
  SlurmQueue() {
    for (const char* program : {"sbatch", "squeue", "scancel"}) ask({program, "--version"});
  }

  std::string submit(const fs::path& script, const std::set<unsigned>& parts) override {
    // The variables SBATCH_PARTITION and their like count more than the script, and less than these options.
    const CommandResult result =
        ask({"sbatch", "--parsable", fmt::format("--array={}", fmt::join(parts, ",")),
             "--chdir=" + script.parent_path().string(), "--output=%a.log", "--open-mode=append",
             script.string()});
    const std::string job = result.output.substr(0, result.output.find_first_of(";\n"));  // "12;cluster"
    if (!result.ok() || !is_number(job))
      throw MachineError(fmt::format("Slurm does not take the job: {}", one_line(result.output)));
    return job;
  }

  std::optional<std::set<unsigned>> unfinished(const std::string& job) override {
    const CommandResult result = ask({"squeue", "--noheader", "--array", "--format=%K", "--jobs=" + job});
    // Slurm forgets jobs that ended some minutes ago.
    if (!result.ok() && result.output.find("Invalid job id") != std::string::npos)
      return std::set<unsigned>();
    if (!result.ok()) return std::nullopt;
    std::set<unsigned> parts;
    std::istringstream lines(result.output);
    for (std::string line; lines >> line;)
      if (is_number(line)) parts.insert(static_cast<unsigned>(std::stoul(line)));
    return parts;
  }

  void cancel(const std::string& job) noexcept override {
    if (!is_number(job)) return;
    // Not by run_command(), which starts nothing once a signal has arrived.
    if (std::system(("scancel " + job + " >/dev/null 2>&1").c_str()) != 0) return;  // it has ended
  }
};

}  // namespace

std::unique_ptr<BatchQueue> make_slurm_queue() { return std::make_unique<SlurmQueue>(); }

}  // namespace course::classroom
