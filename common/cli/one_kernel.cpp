#include "cli/one_kernel.hpp"

#include <fmt/core.h>

namespace course::cli {

namespace fs = std::filesystem;
using namespace course::grading;

KernelSource choose_one_kernel(const Workspace& workspace, const std::string& command,
                               const std::string& lesson, bool solution, const std::string& file) {
  const Lesson chosen = workspace.select_one(command, lesson);
  if (solution && !file.empty()) throw UsageError("--solution and --file exclude each other.");
  if (!file.empty() && !fs::is_regular_file(file))
    throw UsageError(fmt::format("There is no file {}.", file));
  return {chosen, !file.empty() ? fs::absolute(file) : solution ? chosen.solution() : chosen.stub()};
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
