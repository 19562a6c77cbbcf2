#pragma once
/// @file
/// NVIDIA's compute-sanitizer: where it is, and how it is asked to watch a worker.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

struct Toolchain;

/// Its tools, in the order in which they run.
inline constexpr std::array<std::string_view, 4> kSanitizerTools{"memcheck", "racecheck", "initcheck",
                                                                 "synccheck"};

/// Variable of the environment that names another program to run in its place. With it, tests of what is
/// around the tools need no GPU.
inline constexpr const char* kSanitizerVariable = "COURSE_COMPUTE_SANITIZER";

struct Sanitizer {
  std::filesystem::path program;
  std::string help;  ///< what it prints when asked for its options, which differ between versions
};

/// @brief Finds it beside nvcc, or else on PATH.
/// @throws MachineError that says what to install
Sanitizer find_sanitizer(const Toolchain& toolchain);

/// @brief The words that go before the command line of a program that the tool is to watch. Options that this
/// version does not know are left out.
std::vector<std::string> sanitizer_words(const Sanitizer& sanitizer, std::string_view tool);

/// One run of a lesson's tests under one tool.
struct SanitizerRun {
  std::string tool;
  std::vector<std::string> words;  ///< see sanitizer_words()
  std::filesystem::path logs;      ///< folder for the logs, one a worker
  bool worker_a_case = false;  ///< false: one worker serves one case after the other, which is much faster
};

/// @brief The words before the command line of a worker whose first call is made by that case. Makes its log,
/// so that one that the tool did not write is seen to be empty.
/// @throws std::system_error
std::vector<std::string> launcher_of(const SanitizerRun& run, int case_number, int worker_number);

/// @brief The number of the case from the name of a log; 0 if it is none.
int case_of_log(const std::filesystem::path& log);

std::string to_json(const SanitizerRun& run);

/// @throws std::runtime_error that names the file if it does not hold what to_json() writes.
SanitizerRun read_sanitizer_run(const std::filesystem::path& file);

}  // namespace course::grading
