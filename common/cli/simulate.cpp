#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

void set_environment(const SimulateArguments& arguments) {
  const auto set = [](const char* name, const std::string& value) {
    if (!value.empty()) setenv(name, value.c_str(), 1);
  };
  set("SIMT_ORDER", arguments.order);
  set("SIMT_SEED", arguments.seed);
  set("SIMT_DEVICE", arguments.device);
  set("SIMT_LAUNCH_SECONDS", arguments.seconds);
}

}  // namespace

int run_simulate(const Terminal& terminal, const SimulateArguments& arguments) {
  if (!fs::is_regular_file(arguments.file))
    throw UsageError(fmt::format("There is no file {}.", arguments.file));
  Workspace workspace(terminal);
  if (!workspace.toolchain().cpu)
    throw MachineError(
        "The simulator is not part of this build: it needs Boost.Context (on Debian and Ubuntu: "
        "sudo apt-get install libboost-context-dev). Install it and run `./course` again.");
  workspace.make_simulator_ready();
  const BuildOutcome build = build_program(workspace.toolchain(), fs::absolute(arguments.file));
  if (!build.ok()) {
    fmt::print(stderr, "{}", wrap(build.message, 0, terminal.width()));
    return kSomethingFailed;
  }
  // The program takes the place of this one: its input, its output and its end are its own.
  set_environment(arguments);
  std::vector<std::string> words{arguments.file};
  words.insert(words.end(), arguments.words.begin(), arguments.words.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(build.library.c_str(), argv.data());
  throw MachineError(fmt::format("The program cannot be started: {}.", std::strerror(errno)));
}

}  // namespace course::cli
