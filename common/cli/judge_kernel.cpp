#include "cli/judge_kernel.hpp"

#include "grading/mutant.hpp"

namespace course::cli {

using namespace course::grading;

Purpose quick_purpose(const Variant& variant, Backend backend) {
  const bool quick = backend == Backend::cpu && run_mode_may_settle(variant);
  return quick ? Purpose::outputs : Purpose::outputs_and_check;
}

Judgement judge_kernel(const Toolchain& toolchain, KernelQueue& queue, std::size_t index,
                       const KernelSource& kernel, const Variant& variant, CheckOptions options, bool quick) {
  KernelBuilds builds = queue.take(index);
  if (quick && options.backend == Backend::cpu && variant.kind == VariantKind::mutant) {
    options.only_case = read_mutant(variant.file).told_by;
    options.enough = [&](const auto& so_far) { return rejected_already(variant, so_far, Backend::cpu); };
  }
  const auto judged = [&] {
    return judge(variant, check_kernel(toolchain, kernel.lesson, kernel.file, builds, options),
                 options.backend);
  };
  const Judgement first = judged();
  if (first.as_expected || kernel.purpose == Purpose::outputs_and_check || !builds.run.ok()) return first;
  queue.take_check(index, builds);
  return judged();
}

}  // namespace course::cli
