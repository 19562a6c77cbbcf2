#pragma once
/// @file
/// What the build knows about compiling and running kernels, as CMake wrote it to toolchain.json.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace course::grading {

/// Where kernels run: in the simulator or on a GPU.
enum class Backend { cpu, gpu };

/// "cpu" or "gpu".
const char* backend_name(Backend backend);

/// How a kernel is compiled.
enum class Flavour {
  run,    ///< for its outputs: fast
  quick,  ///< for its outputs: compiled sooner, and slower
  check,  ///< for diagnoses and counters: every access is seen; in the simulator alone
};

struct CpuToolchain {
  std::filesystem::path compiler;
  std::vector<std::string> flags;        ///< of Flavour::run
  std::vector<std::string> quick_flags;  ///< of Flavour::quick
  std::vector<std::string> check_flags;  ///< of Flavour::check
  std::vector<std::string> link_flags, check_link_flags;
  std::vector<std::string> fast_link_flags;  ///< beside those, where there is much to link: a fast linker
  std::filesystem::path library;             ///< libsimt.so
  std::filesystem::path worker;
  std::filesystem::path bridge;           ///< from Python to entries; made for `./course export` alone
  std::filesystem::path program_support;  ///< object that goes into standalone programs
  /// Folders that hold the preludes precompiled; empty if the compiler has no use for them.
  std::filesystem::path prelude, quick_prelude, check_prelude;

  const std::vector<std::string>& compile_flags(Flavour flavour) const {
    return flavour == Flavour::check ? check_flags : flavour == Flavour::quick ? quick_flags : flags;
  }
  const std::vector<std::string>& link_flags_of(Flavour flavour) const {
    return flavour == Flavour::check ? check_link_flags : link_flags;
  }
  const std::filesystem::path& prelude_of(Flavour flavour) const {
    return flavour == Flavour::check ? check_prelude : flavour == Flavour::quick ? quick_prelude : prelude;
  }
};

struct GpuToolchain {
  std::filesystem::path compiler;  ///< nvcc
  std::filesystem::path host_compiler;
  std::vector<std::string> flags;        ///< of Flavour::run
  std::vector<std::string> quick_flags;  ///< of Flavour::quick
  std::vector<std::string> link_flags;
  std::vector<std::string> architectures;  ///< e.g. "80", "90a"
  std::filesystem::path ledger;            ///< object that counts device allocations; may be empty
  std::filesystem::path worker;
  std::filesystem::path bridge;  ///< as CpuToolchain::bridge

  const std::vector<std::string>& compile_flags(Flavour flavour) const {
    return flavour == Flavour::quick ? quick_flags : flags;
  }
};

/// What the build makes for one lesson.
struct LessonBuild {
  std::filesystem::path entries;  ///< object with the table of entry points
  std::filesystem::path test;     ///< test program
};

struct Toolchain {
  std::filesystem::path source_dir, binary_dir, ninja, ctest;
  std::filesystem::path rewriter;  ///< simt-rewrite
  std::optional<CpuToolchain> cpu;
  std::optional<GpuToolchain> gpu;
  std::map<std::string, LessonBuild> lessons;  ///< by folder name, e.g. "01_vector_add"

  const std::filesystem::path& worker(Backend backend) const;

  /// @throws std::runtime_error with a sentence that names the file if it is missing or not as CMake writes
  /// it.
  static Toolchain read(const std::filesystem::path& file);
};

}  // namespace course::grading
