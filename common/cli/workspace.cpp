#include "cli/workspace.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <sstream>
#include <system_error>

#include "grading/base/subprocess.hpp"
#include "grading/project/gpu_probe.hpp"
#include "simt/report/trace_wish.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// Held while ninja runs: two of them in one folder would build the same files at the same time.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& folder)
      : descriptor_(open((folder / ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
      const std::string why = std::error_code(errno, std::generic_category()).message();
      throw MachineError(
          fmt::format("The build folder {} cannot be written: {}. Make room or give yourself permission, "
                      "or set COURSE_BUILD_DIR to another folder.",
                      folder.string(), why));
    }
    while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) throw_if_interrupted();
  }
  ~BuildLock() { close(descriptor_); }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int descriptor_;
};

/// The bar for ninja's "[3/45] Building CXX object ...".
void show_ninja_line(const Terminal& terminal, const std::string& line) {
  std::size_t done = 0, total = 0;
  if (std::sscanf(line.c_str(), "[%zu/%zu]", &done, &total) == 2) {
    terminal.show_progress("building the course", done, total);
  }
}

/// The end of a build log, indented, so that it is cut at the screen's edge rather than wrapped.
std::string last_lines(const std::string& text, std::size_t count) {
  std::deque<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back("  " + line + "\n");
    if (lines.size() > count) lines.pop_front();
  }
  return std::accumulate(lines.begin(), lines.end(), std::string());
}

}  // namespace

void require_writable(const std::string& option, const std::string& file) {
  if (file.empty() || file == "-") return;
  const fs::path folder = fs::absolute(file).parent_path();
  if (!fs::is_directory(folder))
    throw UsageError(fmt::format("{} {}: there is no folder {}.", option, file, folder.string()));
  if (fs::is_directory(file)) throw UsageError(fmt::format("{} {}: that is a folder.", option, file));
}

void write_result(const std::string& file, const std::string& content) {
  if (file.empty()) return;
  if (file == "-") {
    fmt::print("{}", content);
    return;
  }
  try {
    write_file_atomically(fs::absolute(file), content);
  } catch (const std::system_error& error) {
    throw MachineError(fmt::format("{}.", error.what()));
  }
}

void require_trace_place(const std::string& option, const std::string& place) try {
  (void)simt::report::parse_trace_place(place);
} catch (const std::invalid_argument& error) {
  throw UsageError(fmt::format("{} {}: {}.", option, place, error.what()));
}

Workspace::Workspace(const Terminal& terminal) : terminal_(terminal) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  toolchain_ = Toolchain::read(program.parent_path().parent_path() / "toolchain.json");
  lessons_ = read_lessons(toolchain_.source_dir);
}

std::vector<Lesson> Workspace::select(const std::vector<std::string>& selectors) const {
  return select_lessons(lessons_, selectors.empty() ? std::vector<std::string>{"all"} : selectors);
}

Lesson Workspace::select_one(const std::string& command, const std::string& selector) const {
  const std::vector<Lesson> lessons = select({selector});
  if (lessons.size() != 1) throw UsageError(fmt::format("{} needs exactly one lesson.", command));
  return lessons.front();
}

std::vector<std::string> Workspace::targets_of(const std::vector<Lesson>& lessons) const {
  std::vector<std::string> targets;
  for (const Lesson& lesson : lessons) targets.push_back(lesson.id());
  if (toolchain_.gpu && probe_gpu().answers) targets.emplace_back("course-worker-cuda");
  return targets;
}

void Workspace::make_ready(const std::vector<Lesson>& lessons) { run_ninja(targets_of(lessons)); }

void Workspace::make_export_ready(const std::vector<Lesson>& lessons) {
  std::vector<std::string> targets = targets_of(lessons);
  if (toolchain_.cpu) targets.emplace_back("course_bridge_cpu");
  if (toolchain_.gpu) targets.emplace_back("course_bridge_gpu");
  run_ninja(targets);
}

void Workspace::make_simulator_ready() { run_ninja({"simt-rewrite", "course_simt", "course_simt_program"}); }

void Workspace::make_site_ready() { run_ninja({"export_steps"}); }

void Workspace::make_all() { run_ninja({"all"}); }

void Workspace::run_ninja(const std::vector<std::string>& targets) {
  const char* const made = std::getenv(kMadeVariable);
  if (made != nullptr && made == toolchain_.binary_dir) return;
  const fs::path log = toolchain_.binary_dir / "course.log";
  CommandResult result;
  {
    const BuildLock lock(toolchain_.binary_dir);
    // ninja takes it away if it is ended while CMake writes it anew.
    if (!fs::exists(toolchain_.binary_dir / "build.ninja"))
      throw MachineError(
          "The build has to be configured again. Quit, and run `./course` again, which does that.");
    Command command;
    command.arguments = {toolchain_.ninja.string(), "-C", toolchain_.binary_dir.string()};
    command.arguments.insert(command.arguments.end(), targets.begin(), targets.end());
    command.environment = {"LC_ALL=C"};  // the output is searched for English words
    command.timeout = std::chrono::hours(2);
    command.on_line = [this](const std::string& line) { show_ninja_line(terminal_, line); };
    try {
      result = run_command(command);
    } catch (const std::system_error& error) {
      throw MachineError(fmt::format("{}. Install ninja-build, then run `./course` again.", error.what()));
    }
    terminal_.clear_progress();
  }
  if (result.ok()) {
    toolchain_ = Toolchain::read(toolchain_.binary_dir / "toolchain.json");  // a new lesson may have joined
    return;
  }
  if (result.output.find("No space left on device") != std::string::npos) {
    throw MachineError(
        fmt::format("The disk that holds {} is full. Free some space, or set COURSE_BUILD_DIR to a "
                    "folder on another disk.",
                    toolchain_.binary_dir.string()));
  }
  if (result.output.find("Read-only file system") != std::string::npos ||
      result.output.find("Permission denied") != std::string::npos) {
    throw MachineError(
        fmt::format("The build folder {} cannot be written. Give yourself permission, or set "
                    "COURSE_BUILD_DIR to another folder.",
                    toolchain_.binary_dir.string()));
  }
  std::string where;
  try {
    write_file_atomically(log, result.output);
    where = " The whole output is in " + log.string() + ".";
  } catch (const std::system_error&) {
    where.clear();
  }
  throw MachineError(fmt::format("The course's own programs could not be built.{} Its end:\n{}", where,
                                 last_lines(result.output, 15)));
}

CheckOptions Workspace::choose_backend(const std::string& wanted) const {
  CheckOptions options;
  if (wanted != "cpu" && (wanted == "gpu" || toolchain_.gpu)) {
    if (!toolchain_.gpu) {
      throw MachineError(
          "The GPU backend needs the CUDA toolkit 12.4 or newer. Install it, see that nvcc is on PATH, and "
          "run the command again. --backend cpu needs no GPU.");
    }
    const GpuProbe gpu = probe_gpu();
    if (gpu.answers) {
      options.backend = Backend::gpu;
      const auto& known = toolchain_.gpu->architectures;
      const auto exact = std::find_if(known.begin(), known.end(), [&](const std::string& architecture) {
        return architecture == gpu.architecture || architecture == gpu.architecture + "a";
      });
      options.architectures = {exact == known.end() ? gpu.architecture : *exact};
      return options;
    }
    if (wanted == "gpu") {
      throw MachineError(
          fmt::format("No GPU answers: {}. Install NVIDIA's driver on a machine with a GPU, or use "
                      "--backend cpu.",
                      gpu.why_not));
    }
  }
  if (!toolchain_.cpu) {
    throw MachineError(
        "The simulator needs Boost.Context (on Debian and Ubuntu: sudo apt-get install "
        "libboost-context-dev). Install it and run the command again.");
  }
  return options;
}

}  // namespace course::cli
