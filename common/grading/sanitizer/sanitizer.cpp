#include "grading/sanitizer/sanitizer.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/toolchain.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

struct Option {
  std::string_view tool;  ///< empty: of all
  const char* name;
  const char* value;
};

/// Those that make a tool report most, and once.
constexpr Option kOptions[] = {
    {"", "--target-processes", "application-only"},
    {"", "--print-limit", "1000"},
    {"", "--strip-paths", "no"},
    {"memcheck", "--leak-check", "full"},
    // An index that misses its array by more than a little must not hit the next one.
    {"memcheck", "--padding", "4096"},
    {"racecheck", "--racecheck-report", "all"},
};

/// What it says of its options; nothing if there is no such program, or it is another one.
std::optional<std::string> help_of(const std::string& program) try {
  Command command;
  command.arguments = {program, "--help"};
  command.timeout = std::chrono::minutes(1);
  const CommandResult result = run_command(command);
  if (!result.ok() || result.output.find("--tool") == std::string::npos) return std::nullopt;
  return result.output;
} catch (const std::system_error&) {
  return std::nullopt;
}

/// A per cent sign begins a sequence of its own in the name of a log.
std::string escaped(const std::string& path) {
  std::string result;
  for (const char letter : path) result += letter == '%' ? std::string("%%") : std::string(1, letter);
  return result;
}

}  // namespace

Sanitizer find_sanitizer(const Toolchain& toolchain) {
  const char* const named = std::getenv(kSanitizerVariable);
  if (named != nullptr && *named != '\0') {
    if (const auto help = help_of(named)) return {named, *help};
    throw MachineError(fmt::format("{} names {}, which is no compute-sanitizer that can be run.",
                                   kSanitizerVariable, named));
  }
  std::vector<fs::path> candidates;
  if (toolchain.gpu) {
    std::error_code none;
    const fs::path nvcc = toolchain.gpu->compiler, real = fs::weakly_canonical(nvcc, none);
    candidates = {nvcc.parent_path() / "compute-sanitizer", real.parent_path() / "compute-sanitizer",
                  real.parent_path().parent_path() / "compute-sanitizer" / "compute-sanitizer"};
  }
  candidates.emplace_back("compute-sanitizer");
  for (const fs::path& candidate : candidates)
    if (const auto help = help_of(candidate)) return {candidate, *help};
  throw MachineError(
      "--sanitize needs compute-sanitizer, which is neither beside nvcc nor on PATH. Install the whole CUDA "
      "toolkit; or leave --sanitize out and use --backend cpu, where check mode looks for the same "
      "mistakes.");
}

std::vector<std::string> sanitizer_words(const Sanitizer& sanitizer, std::string_view tool) {
  std::vector<std::string> words{sanitizer.program, "--tool", std::string(tool)};
  for (const Option& option : kOptions)
    if ((option.tool.empty() || option.tool == tool) && sanitizer.help.find(option.name) != std::string::npos)
      words.insert(words.end(), {option.name, option.value});
  return words;
}

std::vector<std::string> launcher_of(const SanitizerRun& run, int case_number, int worker_number) {
  const fs::path log = run.logs / fmt::format("{:04}-{:04}.log", case_number, worker_number);
  write_file_atomically(log, "");
  std::vector<std::string> words = run.words;
  words.insert(words.end(), {"--log-file", escaped(log)});
  return words;
}

int case_of_log(const fs::path& log) {
  int case_number = 0, worker_number = 0;
  const std::string name = log.filename();
  return std::sscanf(name.c_str(), "%d-%d.log", &case_number, &worker_number) == 2 ? case_number : 0;
}

std::string to_json(const SanitizerRun& run) {
  return nlohmann::json{{"tool", run.tool},
                        {"words", run.words},
                        {"logs", run.logs.string()},
                        {"worker_a_case", run.worker_a_case}}
      .dump();
}

SanitizerRun read_sanitizer_run(const fs::path& file) try {
  const nlohmann::json value = nlohmann::json::parse(read_file(file));
  return {value.at("tool"), value.at("words"), value.at("logs").get<std::string>(),
          value.at("worker_a_case")};
} catch (const nlohmann::json::exception& error) {
  throw std::runtime_error(
      fmt::format("{} does not describe a run under a tool: {}.", file.string(), error.what()));
}

}  // namespace course::grading
