#pragma once
/// @file
/// The commands of `course`. Each returns its exit status; see ExitStatus.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace course::cli {

struct CheckArguments {
  std::vector<std::string> lessons;
  bool solution = false;
  bool verbose = false;
  std::string backend = "auto";
  std::string file;  ///< judged in place of the student's own
  std::string json;  ///< where the report goes; "-" is standard output
};
int run_check(const Terminal& terminal, const CheckArguments& arguments);

struct ListArguments {
  bool json = false;
};
int run_list(const Terminal& terminal, const ListArguments& arguments);

struct RunArguments {
  std::string lesson;
  std::string in, out;
  std::vector<std::string> settings;  ///< "name=value"
  bool solution = false;
  std::string backend = "auto";
  std::string file;
};
int run_run(const Terminal& terminal, const RunArguments& arguments);

struct BuildArguments {
  std::vector<std::string> lessons;
  bool solution = false;
  std::string backend = "cpu";
};
int run_build(const Terminal& terminal, const BuildArguments& arguments);

struct JudgeArguments {
  std::vector<std::string> lessons;
  std::vector<std::string>
      only;  ///< "stub", "solution", "mutant", "alternative", or "mutant/NAME", "alternative/NAME"
  std::string backend = "auto";
};
int run_judge(const Terminal& terminal, const JudgeArguments& arguments);

struct SimulateArguments {
  std::string file;
  std::string order, seed, device, seconds;  ///< as for the simulator's settings; empty: its default
  std::vector<std::string> words;            ///< the program's own arguments
};
/// @brief Compiles a CUDA program that has a main() and becomes it. Returns only if that fails.
int run_simulate(const Terminal& terminal, const SimulateArguments& arguments);

struct TestArguments {
  std::string filter;  ///< regular expression on the names of tests; empty: all
};
int run_test(const Terminal& terminal, const TestArguments& arguments);

}  // namespace course::cli
