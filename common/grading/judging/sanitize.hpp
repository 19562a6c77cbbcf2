#pragma once
/// @file
/// A lesson's tests under the four tools of compute-sanitizer.

#include <functional>
#include <string_view>

#include "grading/judging/lesson_check.hpp"
#include "grading/sanitizer/sanitizer.hpp"

namespace course::grading {

/// @brief Runs the tests of a kernel once more under each tool, and adds what it finds to the cases of their
/// report: a finding that is an error fails its case, as one of check mode does. Outputs do not count, and
/// a call that a tool did not see to its end leaves a note. First one worker makes the calls of all cases;
/// only if its log has findings, a second run gives each case a worker and a log of its own, so that each
/// finding belongs to a case. `on_tool` is told which tool comes next; options.on_case counts cases.
/// Cost: seconds for each tool, and about two for each case where one finds something.
/// @throws MachineError if a tool cannot be used here; Interrupted
void sanitize(const Toolchain& toolchain, const KernelBuilds& builds, const CheckOptions& options,
              const Sanitizer& sanitizer, const std::function<void(std::string_view tool)>& on_tool,
              LessonReport& report);

}  // namespace course::grading
