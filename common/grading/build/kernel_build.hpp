#pragma once
/// @file
/// From a lesson's .cu file to a library that a worker can load, in well under two seconds, or not at all
/// when nothing has changed since last time.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "grading/base/machine_error.hpp"
#include "grading/confinement/sandbox.hpp"
#include "grading/project/lesson.hpp"
#include "grading/project/toolchain.hpp"

namespace course::grading {

struct BuildOutcome {
  std::filesystem::path library;  ///< what to load; empty if the kernel does not compile
  std::string message;            ///< why it does not compile, for its author
  bool from_cache = false;
  double seconds = 0.0;
  bool ok() const { return !library.empty(); }
};

/// @brief Compiles `source` as the kernel of `lesson` and links it with the lesson's table of entry points.
///
/// The library is kept under `kernels` in the build folder and found again as long as the source, everything
/// it includes, the flags and the compiler are what they were. May be called from several threads and
/// processes at once: a library appears there whole or not at all. What was not used for longest goes when
/// the folder outgrows 256 MB.
/// @param flavour        how to compile for the simulator; each flavour is a library of its own
/// @param architectures  GPU only: for which to compile, e.g. {"90a"}; empty: all that the build names
/// @throws MachineError, Interrupted
BuildOutcome build_kernel(const Toolchain& toolchain, const Lesson& lesson,
                          const std::filesystem::path& source, Backend backend,
                          Flavour flavour = Flavour::run, const std::vector<std::string>& architectures = {});

/// @brief build_kernel() for several kernels of one lesson and the simulator. Those whose includes are the
/// same are compiled as one file, which takes a fraction of the time; each still has a library of its own,
/// with its own code and debug information of its own file. What cannot be joined, or does not compile so, is
/// compiled alone.
/// @return an outcome for each source, in their order
/// @throws MachineError, Interrupted
std::vector<BuildOutcome> build_kernels(const Toolchain& toolchain, const Lesson& lesson,
                                        const std::vector<std::filesystem::path>& sources, Flavour flavour);

/// Where a submission, which nobody trusts, is compiled.
struct CompileBox {
  const Sandbox& sandbox;
  std::filesystem::path
      course;  ///< stands for the project's folder: what the lesson's kernels may include, and `submission`
  std::filesystem::path output;  ///< empty folder for what is made, which the compiler may write to
  bool only_cuda = true;         ///< refuses a file with words in it that are no CUDA C++
};

/// Where the course's folder is in a sandbox, so that messages name files alike on every machine.
inline constexpr const char* kCourseInBox = "/course";

/// @brief What compilers that do not lie in /usr consist of: a sandbox has nothing else of the system.
/// Programs that they made need their libraries, too.
std::vector<Mount> foreign_compilers(const Toolchain& toolchain);

/// The most that compiling a submission may take.
inline constexpr std::uint64_t kCompileMemoryBytes = std::uint64_t{4} << 30, kCompileFileBytes = 256 << 20,
                               kCompileSeconds = 60;

/// @brief Compiles box.course/submission/NN_name.cu in the sandbox, as build_kernel() would. Nothing is kept
/// for another time; the library is in box.output.
/// @throws MachineError, Interrupted
BuildOutcome build_submission(const Toolchain& toolchain, const Lesson& lesson, const CompileBox& box,
                              Backend backend, Flavour flavour,
                              const std::vector<std::string>& architectures);

/// What a program is made of, with absolute paths.
struct ProgramSources {
  std::vector<std::filesystem::path> files{};  ///< one of them with main(); what ends in .cu is CUDA
  std::vector<std::filesystem::path> include_folders{};
  std::vector<std::string> flags{};  ///< for the compiler: -D, -U
  std::string standard{};            ///< "c++17"; empty: C++20, and C++17 for what does not compile as that
  int architecture = 0;              ///< `__CUDA_ARCH__` in device code; 0: the simulator's default
};

/// @brief Compiles a CUDA program with a main() of its own into a program for the simulator.
/// Kept and found again as the libraries are; BuildOutcome::library is the program.
/// @throws MachineError, Interrupted
BuildOutcome build_program(const Toolchain& toolchain, const ProgramSources& sources,
                           Flavour flavour = Flavour::run);

}  // namespace course::grading
