// The commands that `course` leaves to course-staff, the program beside it, so that a student's first check
// need not wait until they are compiled. course-staff has all commands; there staff/ takes this file's place.

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

/// Becomes course-staff, called as this program was.
[[noreturn]] void become_staff_program() {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path program = own.parent_path() / "course-staff";
  std::string words = grading::read_file("/proc/self/cmdline");  // each ends with a zero
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) arguments.push_back(&words[at]);
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execv(program.c_str(), arguments.data());
  throw grading::MachineError(
      fmt::format("{} is missing. `./course` builds it; use that.", program.string()));
}

}  // namespace

int run_grade(const Terminal&, const GradeArguments&) { become_staff_program(); }
int run_bench(const Terminal&, const BenchArguments&) { become_staff_program(); }
int run_build(const Terminal&, const BuildArguments&) { become_staff_program(); }
int run_export(const Terminal&, const ExportArguments&) { become_staff_program(); }
int run_judge(const Terminal&, const JudgeArguments&) { become_staff_program(); }
int run_test(const Terminal&, const TestArguments&) { become_staff_program(); }

}  // namespace course::cli
