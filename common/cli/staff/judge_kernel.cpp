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

std::optional<Judgement> judge_kernel(const Toolchain& toolchain, KernelQueue& queue, std::size_t index,
                                      const KernelSource& kernel, const Variant& variant,
                                      CheckOptions options, bool quick) {
  const KernelBuilds builds = queue.take(index);
  if (quick && options.backend == Backend::cpu && variant.kind == VariantKind::mutant) {
    if (const std::string name = read_mutant(variant.file).told_by; !name.empty())
      options.only_cases = {name};
    options.enough = [&](const auto& so_far) { return rejected_already(variant, so_far, Backend::cpu); };
  }
  const LessonReport report = check_kernel(toolchain, kernel.lesson, kernel.file, builds, options);
  Judgement judgement = judge(variant, report, options.backend);
  if (variant.kind == VariantKind::stub && judgement.as_expected && options.backend == Backend::cpu) {
    const std::string why = why_notes_differ(report);
    if (!why.empty()) judgement = {false, why};
  }
  if (!judgement.as_expected && kernel.purpose == Purpose::outputs && builds.run.ok()) return std::nullopt;
  return judgement;
}

}  // namespace course::cli
