#pragma once
/// @file
/// What `course doctor` finds out about a machine, and how it is shown.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"
#include "cli/workspace.hpp"

namespace course::cli {

enum class State {
  fine,
  missing,
  too_old,
  broken,  ///< it is there and does not work
};

/// One thing that a machine has or lacks.
struct Discovery {
  std::string part;  ///< "Simulator", the heading that it is shown under
  std::string name;  ///< "check mode"
  State state = State::fine;
  std::string detail;  ///< a version or a reason
  std::string gives;   ///< what it is good for; empty if it is fine
  std::string remedy;  ///< what to do about it, a command where there is one; empty if it is fine
};

struct Examination {
  std::vector<Discovery> findings;
  bool simulator = false, check_mode = false, gpu = false;  ///< kernels have run there
  std::vector<std::string> bug_report;                      ///< lines without the names of users and folders

  bool kernels_run() const { return simulator || gpu; }
};

/// @brief All of it for people: what is missing with what to do, then the block for a bug report.
std::string to_text(const Terminal& terminal, const Examination& examination);

/// @brief The same for programs.
std::string to_json(const Examination& examination);

/// @brief The first number with a dot in what a program prints about itself: "3.25.1"; empty if there is
/// none.
std::string version_in(std::string_view text);

/// @brief Whether a version is below a least one, number by number; one that is not known is not.
bool is_below(const std::string& version, const std::string& least);

/// @brief The text without the paths and names that tell who somebody is: `home` becomes ~, `project` a dot,
/// and the user's name USER.
std::string without_names(std::string text, const std::string& home, const std::string& project,
                          const std::string& user);

/// @brief The operating system, processor, memory and disk; adds a line to the bug report.
void examine_machine(const std::filesystem::path& build, Examination& examination);

/// @brief The programs that build, the libraries, and the packages for grading, site and tests.
void examine_tools(const grading::Toolchain& toolchain, Examination& examination);

/// @brief Compiles and runs a small kernel in the simulator, as it is and in check mode.
void examine_simulator(Workspace& workspace, Examination& examination);

/// @brief CUDA's toolkit and tools, the driver and the first GPU, on which it runs the small kernel.
void examine_gpu(const grading::Toolchain& toolchain, Examination& examination);

/// @brief What a program prints for these words; empty if there is no such program or it fails.
std::string output_of(const std::vector<std::string>& words);

}  // namespace course::cli
