#include "grading/build/bench_build.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <system_error>

#include "grading/base/subprocess.hpp"
#include "grading/build/kernel_cache.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr auto kBenchTimeout = std::chrono::minutes(10);

/// One program: what it is made from and what was learned on the way.
struct Program {
  const Toolchain& toolchain;
  std::vector<fs::path> sources;
  Arguments options;    // of the compiler, beside those of every kernel
  Arguments libraries;  // for the linker
  fs::path scratch{};
  std::vector<fs::path> inputs{};
  std::string failure{};
};

std::string cache_key(const Program& program) {
  const GpuToolchain& gpu = program.toolchain.gpu.value();
  ContentHash hash;
  hash.add("benchmark").add(program.toolchain.source_dir.string());
  hash.add(identity(gpu.compiler)).add(identity(gpu.host_compiler));
  for (const fs::path& source : program.sources) hash.add(source.string());
  for (const Arguments& words : {gpu.flags, gpu.link_flags, program.options, program.libraries})
    for (const std::string& word : words) hash.add(word);
  return hash.hex();
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back("  " + line);
  std::string result;
  for (std::size_t i = lines.size() - std::min(count, lines.size()); i < lines.size(); ++i)
    result += "\n" + lines[i];
  return result;
}

/// False: program.failure tells why.
/// @throws MachineError if there is no such tool or no space
bool run_tool(Program& program, Arguments arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.directory = program.toolchain.source_dir;
  command.environment = {"LC_ALL=C"};  // messages are searched for English words
  command.timeout = kBenchTimeout;
  const CommandResult result = run_command(command);
  if (result.ok()) return true;
  if (result.output.find("No space left on device") != std::string::npos)
    throw MachineError("The disk is full: the compiler could not write to " +
                       program.scratch.parent_path().string() +
                       ". Free some space, or set COURSE_BUILD_DIR to a folder on another disk.");
  program.failure = result.timed_out ? "Compiling the benchmark took longer than 10 minutes and was stopped."
                                     : "The benchmark does not compile:" + last_lines(result.output, 8);
  return false;
}

bool compile(Program& program, const fs::path& source, const fs::path& object) {
  const GpuToolchain& gpu = program.toolchain.gpu.value();
  const fs::path depfile = object.string() + ".d";
  Arguments command{gpu.compiler, "-ccbin", gpu.host_compiler};
  command.insert(command.end(), gpu.flags.begin(), gpu.flags.end());
  command.insert(command.end(), program.options.begin(), program.options.end());
  command.insert(command.end(), {"-MMD", "-MF", depfile, "-c", source, "-o", object});
  if (!run_tool(program, std::move(command))) return false;
  for (const fs::path& file : read_depfile(depfile))
    program.inputs.push_back(
        (file.is_absolute() ? file : program.toolchain.source_dir / file).lexically_normal());
  return true;
}

/// As kernels are linked, but for what counts their allocations.
bool link(Program& program, const Arguments& objects, const fs::path& output) {
  const GpuToolchain& gpu = program.toolchain.gpu.value();
  Arguments command{gpu.host_compiler, "-o", output};
  command.insert(command.end(), objects.begin(), objects.end());
  for (const std::string& flag : gpu.link_flags)
    if (!flag.starts_with("-Wl,--wrap=")) command.push_back(flag);
  command.insert(command.end(), program.libraries.begin(), program.libraries.end());
  return run_tool(program, std::move(command));
}

bool make(Program& program, const fs::path& output) {
  Arguments objects;
  for (const fs::path& source : program.sources) {
    objects.push_back(program.scratch / (std::to_string(objects.size()) + ".o"));
    if (!compile(program, source, objects.back())) return false;
  }
  return link(program, objects, output);
}

BuildOutcome build(Program program) {
  const auto start = Clock::now();
  const auto started = fs::file_time_type::clock::now();
  BuildOutcome outcome;
  const KernelCache cache(program.toolchain.binary_dir / "kernels");
  const std::string key = cache_key(program);
  try {
    if (const auto found = cache.find(key)) {
      outcome.library = *found;
      outcome.from_cache = true;
    } else {
      const ScratchFolder scratch(cache.folder());
      program.scratch = scratch.path();
      const fs::path output = scratch.path() / "benchmark";
      if (make(program, output))
        outcome.library = cache.publish(key, output, program.inputs, started);
      else
        outcome.message = program.failure;
    }
  } catch (const std::system_error& error) {
    throw MachineError(std::string("The benchmark cannot be built: ") + error.what() + ".");
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

Arguments options_for(const Arguments& architectures, const std::string& lesson) {
  Arguments options{"-I", "common", "-I", "lessons", "-I", "tests/lessons"};
  if (!lesson.empty()) options.insert(options.end(), {"-I", "lessons/" + lesson});
  for (const std::string& architecture : architectures)
    options.insert(options.end(), {"-gencode", "arch=compute_" + architecture + ",code=sm_" + architecture});
  return options;
}

/// Relative to the project's folder if it lies within: there the compiler runs.
fs::path as_compiled(const Toolchain& toolchain, const fs::path& file) {
  const fs::path relative =
      fs::weakly_canonical(file).lexically_relative(fs::weakly_canonical(toolchain.source_dir));
  return relative.empty() || *relative.begin() == ".." ? file : relative;
}

}  // namespace

fs::path benchmark_source(const Lesson& lesson) {
  return lesson.root / "tests" / "lessons" / "bench" / (lesson.id() + "_bench.cu");
}

BuildOutcome build_benchmark(const Toolchain& toolchain, const Lesson& lesson, const fs::path& kernel,
                             const Arguments& architectures) {
  const fs::path source = benchmark_source(lesson);
  const bool needs_cublas = read_file(source).find("<cublas_v2.h>") != std::string::npos;
  BuildOutcome outcome = build({.toolchain = toolchain,
                                .sources = {as_compiled(toolchain, source), as_compiled(toolchain, kernel)},
                                .options = options_for(architectures, lesson.id()),
                                .libraries = needs_cublas ? Arguments{"-lcublas"} : Arguments{}});
  if (needs_cublas && !outcome.ok() && outcome.message.find("cublas") != std::string::npos)
    outcome.message =
        "This lesson is measured beside cuBLAS, and the CUDA toolkit here has none: install it.";
  return outcome;
}

BuildOutcome build_ceilings(const Toolchain& toolchain, const Arguments& architectures) {
  Program program{.toolchain = toolchain,
                  .sources = {"tests/lessons/bench/ceilings.cu"},
                  .options = options_for(architectures, ""),
                  .libraries = {"-lcublas"}};
  const BuildOutcome with_cublas = build(program);
  if (with_cublas.ok() || with_cublas.message.find("cublas") == std::string::npos) return with_cublas;
  program.options.push_back("-DCOURSE_NO_CUBLAS");
  program.libraries.clear();
  return build(program);
}

}  // namespace course::grading
