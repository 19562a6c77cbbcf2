#include "cli/one_kernel.hpp"

#include <fmt/core.h>

namespace course::cli {

namespace fs = std::filesystem;
using namespace course::grading;

namespace {

KernelSource kernel_of(const Lesson& lesson, bool solution, const std::string& file) {
  if (solution && !file.empty()) throw UsageError("--solution and --file exclude each other.");
  if (!file.empty() && !fs::is_regular_file(file))
    throw UsageError(fmt::format("There is no file {}.", file));
  return {lesson, !file.empty() ? fs::absolute(file) : solution ? lesson.solution() : lesson.stub()};
}

}  // namespace

KernelSource choose_one_kernel(const Workspace& workspace, const std::string& command,
                               const std::string& lesson, bool solution, const std::string& file) {
  return kernel_of(workspace.select_one(command, lesson), solution, file);
}

std::vector<KernelSource> choose_kernels(const Workspace& workspace, const std::vector<std::string>& lessons,
                                         bool solution, const std::string& file) {
  const std::vector<Lesson> chosen = workspace.select(lessons);
  if (!file.empty() && (chosen.size() != 1 || lessons.empty()))
    throw UsageError("--file needs exactly one lesson.");
  std::vector<KernelSource> kernels;
  for (const Lesson& lesson : chosen) kernels.push_back(kernel_of(lesson, solution, file));
  return kernels;
}

KernelBuilds build_one_kernel(const Terminal& terminal, Workspace& workspace, const KernelSource& kernel,
                              const CheckOptions& options) {
  workspace.make_ready({kernel.lesson});
  terminal.show_progress(kernel.lesson.id() + " compiling", 0, 0);
  KernelQueue queue(workspace.toolchain(), {kernel}, options);
  KernelBuilds builds = queue.take(0);
  terminal.clear_progress();
  return builds;
}

}  // namespace course::cli
