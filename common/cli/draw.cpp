// A picture of what one block of a lesson's kernel touched, and the same in words.

#include <fmt/core.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <vector>

#include "cli/kernel_trace.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

// Enough for five tiles of keys of lesson 09; the trace then takes some 100 MB for a moment.
constexpr std::size_t kMostSteps = 40000;

/// @throws MachineError
void require_python() try {
  Command command;
  command.arguments = {"python3", "-c", "import sys; sys.exit(sys.version_info < (3, 9))"};
  if (!run_command(command).ok())
    throw MachineError("Pictures are drawn by Python 3.9 or newer; python3 here is older.");
} catch (const std::system_error&) {
  throw MachineError(
      "Pictures are drawn by python3, which this machine does not have; install it with apt-get install "
      "python3.");
}

/// Runs a program of common/draw that writes a picture; gives what it shows in words, a paragraph a line.
/// @throws UsageError, MachineError
std::string draw_with(const Toolchain& toolchain, const std::string& program, const fs::path& picture,
                      const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = {"python3", "-B", (toolchain.source_dir / "common/draw" / program).string(), "--out",
                       picture.string()};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  const CommandResult result = run_command(command);
  if (result.exit_code == kWrongUsage) throw UsageError(result.output);
  if (!result.ok()) throw MachineError("The picture cannot be drawn:\n" + result.output);
  return result.output;
}

/// Draws a trace, or one of its steps.
/// @throws UsageError, MachineError
std::string draw_trace(const Toolchain& toolchain, const fs::path& trace, const fs::path& picture,
                       const std::string& step) {
  std::vector<std::string> arguments = {trace.string()};
  if (!step.empty()) arguments.insert(arguments.end(), {"--step", step});
  return draw_with(toolchain, "draw_trace.py", picture, arguments);
}

void open_picture(const Terminal& terminal, const std::string& file) try {
  Command command;
  command.arguments = {"xdg-open", file};
  if (!run_command(command).ok())
    fmt::print(
        stderr, "{}",
        wrap(fmt::format("xdg-open cannot open {}; open it in a browser.", file), 0, terminal.width()));
} catch (const std::system_error&) {
  fmt::print(
      stderr, "{}",
      wrap(fmt::format("xdg-open is not installed; open {} in a browser.", file), 0, terminal.width()));
}

}  // namespace

int run_draw(const Terminal& terminal, const DrawArguments& arguments) {
  require_python();
  const Workspace workspace(terminal);
  const Toolchain toolchain = workspace.toolchain();
  const ScratchFolder scratch(toolchain.binary_dir / "kernels");
  const fs::path picture = scratch.path() / "picture.svg";
  std::string words, name;
  if (arguments.fragments) {
    constexpr int kOperandLesson = 22;  // its picture shows how fragments of C become one of A
    const bool operand = workspace.select_one("draw", arguments.trace.lesson).number == kOperandLesson;
    name = operand ? "operand" : "fragments";
    words = draw_with(toolchain, "fragments.py", picture,
                      operand ? std::vector<std::string>{"--operand"} : std::vector<std::string>{});
  } else {
    const auto traced = trace_kernel(terminal, "draw", arguments.trace, kMostSteps);
    if (!traced) return kSomethingFailed;
    name = traced->lesson.id();
    const fs::path trace = scratch.path() / "trace.json";
    write_result(trace.string(), traced->json);
    words = draw_trace(toolchain, trace, picture, arguments.step);
  }
  const std::string svg = read_file(picture);

  const std::string out = arguments.trace.out.empty() ? name + ".svg" : arguments.trace.out;
  write_result(out, svg);
  if (out == "-") return kAllPassed;
  constexpr double kKibibyte = 1024;
  fmt::print("{}\n{}", wrap(words, 0, terminal.width()),
             wrap(fmt::format("The picture is in {} ({:.1f} KiB).", out,
                              static_cast<double>(svg.size()) / kKibibyte),
                  0, terminal.width()));
  (void)std::fflush(stdout);
  if (arguments.open && isatty(STDOUT_FILENO) != 0) open_picture(terminal, out);
  return kAllPassed;
}

}  // namespace course::cli
