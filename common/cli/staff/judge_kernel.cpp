#include "cli/staff/judge_kernel.hpp"

#include "cli/staff/first_check.hpp"
#include "grading/judging/mutant.hpp"

namespace course::cli {

using namespace course::grading;

KernelSource quick_source(const Lesson& lesson, const Variant& variant, const std::filesystem::path& file,
                          Backend backend) {
  KernelSource kernel{lesson, file};
  if (backend == Backend::gpu) return kernel;
  if (run_mode_may_settle(variant)) kernel.purpose = Purpose::outputs;
  kernel.quickly = variant.kind == VariantKind::mutant;
  return kernel;
}

Judgement judge_kernel(const Toolchain& toolchain, KernelQueue& queue, std::size_t index,
                       const KernelSource& kernel, const Variant& variant, CheckOptions options, bool quick) {
  KernelBuilds builds = queue.take(index);
  if (quick && options.backend == Backend::cpu && variant.kind == VariantKind::mutant) {
    if (const std::string name = read_mutant(variant.file).told_by; !name.empty())
      options.only_cases = {name};
    options.enough = [&](const auto& so_far) { return rejected_already(variant, so_far, Backend::cpu); };
  }
  const auto judged = [&]() -> Judgement {
    const LessonReport report = check_kernel(toolchain, kernel.lesson, kernel.file, builds, options);
    const Judgement judgement = judge(variant, report, options.backend);
    if (variant.kind != VariantKind::stub || !judgement.as_expected || options.backend == Backend::gpu)
      return judgement;
    const std::string why = why_notes_differ(report);
    return why.empty() ? judgement : Judgement{false, why};
  };
  const Judgement first = judged();
  if (first.as_expected || kernel.purpose == Purpose::outputs_and_check || !builds.run.ok()) return first;
  queue.take_check(index, builds);
  return judged();
}

}  // namespace course::cli
