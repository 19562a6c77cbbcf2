// Where kernels run on this machine: `course doctor` compiles and runs one.

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <system_error>

#include "cli/doctor.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/gpu_probe.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// Adds 0 to 31; with an argument, one thread too many writes behind the array's end.
constexpr const char* kProgram = R"(#include <cuda_runtime.h>
#include <cstdio>

__global__ void number(int* x) { x[threadIdx.x] = threadIdx.x; }

int main(int argc, char**) {
  int numbers[32] = {}, *x = nullptr, sum = 0;
  if (cudaMalloc(&x, sizeof numbers) != cudaSuccess) return 2;
  number<<<1, argc > 1 ? 33 : 32>>>(x);
  if (cudaGetLastError() != cudaSuccess) return 3;
  if (cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
  cudaFree(x);
  for (const int one : numbers) sum += one;
  std::printf("sum %d\n", sum);
}
)";
constexpr const char* kRightOutput = "sum 496\n";
constexpr const char* kMistake = "error: out_of_bounds:";
constexpr const char* kAboutSimulator =
    "kernels on this machine's processor, and tests of lessons without a GPU";
constexpr const char* kAboutCheckMode = "races, accesses out of bounds and other mistakes by their lines";
constexpr const char* kAboutGpu = "kernels run and timed on an NVIDIA GPU; the simulator needs none";

/// The program in a folder of its own. A comment that was never there before keeps it from being found
/// compiled already.
fs::path write_program(const fs::path& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  write_file_atomically(folder / "doctor.cu", fmt::format("{}// {} {}\n", kProgram, getpid(), now));
  return folder / "doctor.cu";
}

CommandResult run(const std::vector<std::string>& words, const std::vector<std::string>& environment = {}) {
  Command command;
  command.arguments = words;
  command.environment = environment;
  command.timeout = std::chrono::minutes(2);
  return run_command(command);
}

/// Why a program that ran did not do what it should.
std::string why_wrong(const CommandResult& result) {
  if (result.timed_out) return "it did not come to its end";
  if (result.signal != 0) return fmt::format("it was ended by signal {}", result.signal);
  std::string said = result.output.substr(0, result.output.find('\n'));
  if (said.empty()) said = "nothing";
  return fmt::format("it ended with status {} and said: {}", result.exit_code, said);
}

/// Compiles the program for the simulator and runs it. Returns why that fails; empty if it does not.
std::string why_simulator_fails(Workspace& workspace, Flavour flavour) try {
  const ScratchFolder folder(workspace.toolchain().binary_dir / "doctor");
  workspace.make_simulator_ready();
  const BuildOutcome build =
      build_program(workspace.toolchain(), {.files = {write_program(folder.path())}}, flavour);
  if (!build.ok()) return "the kernel does not compile: " + build.message;
  if (flavour == Flavour::run) {
    const CommandResult result = run({build.library.string()});
    return result.ok() && result.output == kRightOutput ? "" : why_wrong(result);
  }
  const CommandResult result = run({build.library.string(), "too many"}, {"SIMT_CHECK=1"});
  return result.output.find(kMistake) != std::string::npos
             ? ""
             : "a planted mistake is not found: " + why_wrong(result);
} catch (const MachineError& error) {
  return error.what();
} catch (const std::system_error& error) {
  return error.what();
}

/// The same for the GPU, with the toolkit's compiler.
std::string why_gpu_fails(const Toolchain& toolchain, const GpuProbe& gpu) try {
  const ScratchFolder folder(toolchain.binary_dir / "doctor");
  const fs::path program = folder.path() / "program";
  const CommandResult build =
      run({toolchain.gpu->compiler.string(), "-std=c++20", "-ccbin", toolchain.gpu->host_compiler.string(),
           fmt::format("-gencode=arch=compute_{0},code=sm_{0}", gpu.architecture), "-o", program.string(),
           write_program(folder.path()).string()});
  if (!build.ok()) return "the kernel does not compile: " + why_wrong(build);
  const CommandResult result = run({program.string()});
  return result.ok() && result.output == kRightOutput ? "" : why_wrong(result);
} catch (const std::system_error& error) {
  return error.what();
}

/// Adds what came of a try; `why` is empty if it worked.
bool add_try(Examination& examination, const std::string& part, const std::string& name,
             const std::string& why, const std::string& gives) {
  const bool works = why.empty();
  examination.findings.push_back({part, name, works ? State::fine : State::broken,
                                  works ? "compiled and ran a kernel" : why, works ? "" : gives, ""});
  examination.bug_report.push_back(fmt::format("{} ({}): {}", part, name, works ? "works" : why));
  return works;
}

/// A tool of the toolkit: on PATH, or beside nvcc.
void examine_cuda_tool(const Toolchain& toolchain, const std::string& name, const std::string& gives,
                       Examination& examination) {
  std::string output = output_of({name, "--version"});
  if (output.empty() && toolchain.gpu)
    output = output_of({(toolchain.gpu->compiler.parent_path() / name).string(), "--version"});
  if (output.empty())
    examination.findings.push_back(
        {"GPU", name, State::missing, "not found", gives,
         "put the CUDA toolkit's bin folder on PATH; the tool comes with the toolkit"});
  else
    examination.findings.push_back({"GPU", name, State::fine, version_in(output), "", ""});
}

/// Returns the version of the toolkit, or that there is none.
std::string examine_toolkit(const Toolchain& toolchain, Examination& examination) {
  const std::string nvcc = toolchain.gpu ? toolchain.gpu->compiler.string() : "nvcc";
  const std::string version = version_in(output_of({nvcc, "--version"}));
  Discovery finding{"GPU", "CUDA toolkit", State::fine, version, "", ""};
  if (!toolchain.gpu) {
    finding.state = version.empty()             ? State::missing
                    : is_below(version, "12.4") ? State::too_old
                                                : State::broken;
    finding.detail = version.empty() ? "nvcc is not on PATH" : version + "; the build is without it";
    finding.gives = kAboutGpu;
    finding.remedy =
        "install NVIDIA's CUDA toolkit 12.4 or newer, put nvcc on PATH, and delete the build folder";
  } else if (version.empty()) {
    finding = {
        "GPU", "CUDA toolkit", State::broken, "nvcc does not start", kAboutGpu, "install the toolkit anew"};
  }
  examination.findings.push_back(finding);
  return "CUDA toolkit: " + (version.empty() ? "none" : version);
}

}  // namespace

void examine_simulator(Workspace& workspace, Examination& examination) {
  const std::string part = "Simulator";
  if (!workspace.toolchain().cpu) {
    examination.findings.push_back({part, "run mode", State::missing, "the build found no Boost.Context",
                                    kAboutSimulator, "sudo apt-get install -y libboost-context-dev"});
    examination.bug_report.emplace_back("Simulator: not in this build");
    return;
  }
  examination.simulator =
      add_try(examination, part, "run mode", why_simulator_fails(workspace, Flavour::run), kAboutSimulator);
  examination.check_mode = add_try(examination, part, "check mode",
                                   why_simulator_fails(workspace, Flavour::check), kAboutCheckMode);
}

void examine_gpu(const Toolchain& toolchain, Examination& examination) {
  std::string report = examine_toolkit(toolchain, examination);
  const GpuProbe gpu = probe_gpu();
  if (!gpu.answers) {
    examination.findings.push_back({"GPU", "GPU", State::missing, gpu.why_not, kAboutGpu,
                                    "use a machine with an NVIDIA GPU, and install NVIDIA's driver"});
    examination.bug_report.push_back(report + "; GPU: " + gpu.why_not);
  } else {
    const std::size_t minor = gpu.architecture.size() - 1;
    const std::string detail =
        fmt::format("{}, compute capability {}.{}, {:.1f} GB, driver for CUDA {}", gpu.name,
                    gpu.architecture.substr(0, minor), gpu.architecture.substr(minor),
                    static_cast<double>(gpu.memory_bytes) / 1e9, gpu.driver_cuda);
    examination.findings.push_back({"GPU", "GPU", State::fine, detail, "", ""});
    examination.bug_report.push_back(report + "; GPU: " + detail);
    if (toolchain.gpu)
      examination.gpu = add_try(examination, "GPU", "kernel", why_gpu_fails(toolchain, gpu), kAboutGpu);
  }
  if (!toolchain.gpu) return;
  examine_cuda_tool(toolchain, "compute-sanitizer", "NVIDIA's own search for mistakes, on a GPU",
                    examination);
  examine_cuda_tool(toolchain, "ncu", "the hardware's own counters, on a GPU", examination);
}

}  // namespace course::cli
