#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/commands.hpp"
#include "cli/nvcc_words.hpp"
#include "cli/workspace.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

void require_arguments(const SimulateArguments& arguments) {
  if (!fs::is_regular_file(arguments.file))
    throw UsageError(fmt::format("There is no file {}.", arguments.file));
  for (const auto& [option, file] : {std::pair("--report", arguments.report), {"--trace", arguments.trace}}) {
    if (file == "-")
      throw UsageError(fmt::format("{} needs a file: standard output is the program's.", option));
    require_writable(option, file);
  }
  if (arguments.at.empty()) return;
  if (arguments.trace.empty()) throw UsageError("--at says what to trace: it needs --trace FILE.");
  require_trace_place("--at", arguments.at);
}

/// What is to be compiled, and how.
/// @throws UsageError for a file, a folder or a name that is none.
ProgramSources sources_of(const SimulateArguments& arguments) {
  ProgramSources sources;
  sources.files.push_back(fs::absolute(arguments.file));
  for (const std::string& file : arguments.also) sources.files.push_back(fs::absolute(file));
  for (const std::string& folder : arguments.include_folders) {
    if (!fs::is_directory(folder)) throw UsageError(fmt::format("-I {}: there is no such folder.", folder));
    sources.include_folders.push_back(fs::absolute(folder));
  }
  for (const std::string& definition : arguments.definitions) sources.flags.push_back("-D" + definition);
  for (const std::string& name : arguments.undefinitions) sources.flags.push_back("-U" + name);
  if (!arguments.architecture.empty()) {
    sources.architecture = architecture_number(arguments.architecture);
    if (sources.architecture == 0)
      throw UsageError(
          fmt::format("--arch {} is no architecture: write it as sm_80.", arguments.architecture));
  }
  sources.standard = arguments.standard;
  if (!sources.standard.empty() && !sources.standard.starts_with("c++") &&
      !sources.standard.starts_with("gnu++"))
    throw UsageError(fmt::format("--std {} is no standard of C++: write it as c++17.", sources.standard));
  return sources;
}

/// Options of nvcc that stay without effect, in a line on stderr. CUDA's own libraries are told apart: a
/// program that needs one does not compile, and its header says why.
void note_ignored(const SimulateArguments& arguments) {
  std::vector<std::string> words = arguments.ignored;
  for (const std::string& library : arguments.libraries) words.push_back("-l" + library);
  if (words.empty()) return;
  fmt::print(stderr, "course: {} {} nothing here.\n", fmt::join(words, ", "),
             words.size() == 1 ? "changes" : "change");
}

Flavour flavour_for(const SimulateArguments& arguments) {
  const bool watched =
      arguments.check || arguments.profile || !arguments.report.empty() || !arguments.trace.empty();
  return watched ? Flavour::check : Flavour::run;
}

void set_environment(const SimulateArguments& arguments, const Toolchain& toolchain) {
  const auto set = [](const char* name, const std::string& value) {
    if (!value.empty()) setenv(name, value.c_str(), 1);
  };
  set("SIMT_ORDER", arguments.order);
  set("SIMT_SEED", arguments.seed);
  set("SIMT_DEVICE", arguments.device);
  set("SIMT_LAUNCH_SECONDS", arguments.seconds);
  set("SIMT_CHECK", arguments.check ? "1" : "");
  set("SIMT_PROFILE", arguments.profile ? "1" : "");
  set("SIMT_REPORT", arguments.report);
  set("SIMT_TRACE", arguments.trace);
  set("SIMT_TRACE_AT", arguments.at);
  set("SIMT_SOURCES", toolchain.source_dir.string());
}

}  // namespace

int run_simulate(const Terminal& terminal, const SimulateArguments& arguments) {
  require_arguments(arguments);
  note_ignored(arguments);
  Workspace workspace(terminal);
  if (!workspace.toolchain().cpu)
    throw MachineError(
        "The simulator is not part of this build: it needs Boost.Context (on Debian and Ubuntu: "
        "sudo apt-get install libboost-context-dev). Install it and run `./course` again.");
  workspace.make_simulator_ready();
  const BuildOutcome build =
      build_program(workspace.toolchain(), sources_of(arguments), flavour_for(arguments));
  if (!build.ok()) {
    fmt::print(stderr, "{}", wrap(build.message, 0, terminal.width()));
    return kSomethingFailed;
  }
  // The program takes the place of this one: its input, its output and its end are its own.
  set_environment(arguments, workspace.toolchain());
  std::vector<std::string> words{fs::path(arguments.file).replace_extension().string()};  // as nvcc -o
  words.insert(words.end(), arguments.words.begin(), arguments.words.end());
  words.insert(words.end(), arguments.arguments.begin(), arguments.arguments.end());
  std::vector<char*> argv;
  std::transform(words.begin(), words.end(), std::back_inserter(argv),
                 [](std::string& word) { return word.data(); });
  argv.push_back(nullptr);
  std::fflush(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // what we ignore, the program would
  execv(build.library.c_str(), argv.data());
  throw MachineError(fmt::format("The program cannot be started: {}.", std::strerror(errno)));
}

}  // namespace course::cli
