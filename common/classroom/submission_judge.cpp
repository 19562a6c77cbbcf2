#include "classroom/submission_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "classroom/course_view.hpp"
#include "grading/confinement.hpp"
#include "grading/imports.hpp"
#include "grading/kernel_build.hpp"
#include "grading/kernel_cache.hpp"
#include "grading/lesson_check.hpp"
#include "grading/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// Where the submission lies in the sandbox, so that messages name it alike on every machine.
constexpr const char* kCourseInBox = "/course";

FileVerdict without_cases(Standing standing, const std::string& message) {
  FileVerdict verdict;
  verdict.standing = standing;
  verdict.message = message;
  return verdict;
}

/// Why the tests say nothing about the file: this machine, or the tests themselves. Empty if they do.
std::string why_ungraded(const LessonReport& report) {
  for (const CaseResult& result : report.cases)
    if (result.infrastructure) return result.message;
  return report.error;
}

/// All that a submission is compiled with.
std::string identity_of(const Toolchain& toolchain, Backend backend) {
  ContentHash hash;
  const auto add_words = [&](const std::vector<std::string>& words) {
    for (const std::string& word : words) hash.add(word);
  };
  if (backend == Backend::cpu) {
    const CpuToolchain& cpu = toolchain.cpu.value();
    hash.add(hash_file(cpu.rewriter)).add(hash_file(cpu.library)).add(hash_file(cpu.compiler));
    add_words(cpu.flags);
    add_words(cpu.check_flags);
  } else {
    hash.add(hash_file(toolchain.gpu.value().compiler));
    add_words(toolchain.gpu->flags);
  }
  return hash.add(hash_file(toolchain.worker(backend))).hex();
}

}  // namespace

/// The libraries of one submission, and the folders that they were made in.
struct SubmissionJudge::Builds {
  fs::path course;  // as the compiler saw it
  KernelBuilds libraries;
};

SubmissionJudge::SubmissionJudge(const Toolchain& toolchain, const Sandbox& sandbox,
                                 std::vector<Lesson> lessons, JudgeSettings settings, fs::path folder)
    : toolchain_(toolchain),
      sandbox_(sandbox),
      lessons_(std::move(lessons)),
      settings_(std::move(settings)),
      folder_(std::move(folder)),
      tools_(identity_of(toolchain, settings_.backend)) {}

std::string SubmissionJudge::conditions(const Lesson& lesson) {
  const std::lock_guard lock(mutex_);
  std::string& known = conditions_[lesson.id()];
  if (known.empty()) {
    const LessonBuild& build = toolchain_.lessons.at(lesson.id());
    ContentHash hash;
    hash.add(lesson.id()).add(tools_).add(hash_file(build.test)).add(hash_file(build.entries));
    hash.add(isolation_name(sandbox_.isolation())).add(std::to_string(settings_.seed));
    hash.add(settings_.secret_seed ? std::to_string(*settings_.secret_seed) : "no hidden cases");
    known = hash.hex();
  }
  return known;
}

/// Made once for each lesson; submissions get links to its files.
fs::path SubmissionJudge::view_of(const Lesson& lesson) {
  const std::lock_guard lock(mutex_);
  fs::path view = folder_ / lesson.id();
  if (!fs::exists(view)) make_course_view(view, lesson, lessons_);
  return view;
}

FileVerdict SubmissionJudge::judge(const Lesson& lesson, const std::string& content) {
  const auto start = std::chrono::steady_clock::now();
  const ScratchFolder scratch(folder_);
  FileVerdict verdict;
  try {
    verdict = judge_in(scratch.path(), lesson, content);
  } catch (const MachineError& problem) {
    verdict = without_cases(Standing::ungraded, problem.what());
  }
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

FileVerdict SubmissionJudge::judge_in(const fs::path& scratch, const Lesson& lesson,
                                      const std::string& content) {
  Builds builds{.course = scratch / "course", .libraries = {}};
  fs::copy(view_of(lesson), builds.course, fs::copy_options::recursive | fs::copy_options::create_hard_links);
  write_file_atomically(builds.course / "submission" / (lesson.id() + ".cu"), content);

  const auto build = [&](Flavour flavour, const char* output) {
    fs::create_directory(scratch / output);
    const CompileBox box{.sandbox = sandbox_, .course = builds.course, .output = scratch / output};
    return build_submission(toolchain_, lesson, box, settings_.backend, flavour, settings_.architectures);
  };
  builds.libraries.run = build(Flavour::run, "run");
  if (!builds.libraries.run.ok()) return without_cases(Standing::not_compiled, builds.libraries.run.message);
  if (settings_.backend == Backend::cpu) builds.libraries.check = build(Flavour::check, "check");
  if (const std::string why = why_refused(builds); !why.empty()) return without_cases(Standing::refused, why);

  std::unique_lock<std::mutex> gpu(gpu_, std::defer_lock);
  if (settings_.backend == Backend::gpu) gpu.lock();
  FileVerdict verdict;
  verdict.standing = Standing::graded;
  CheckOptions options;
  options.backend = settings_.backend;
  options.scratch = scratch;
  options.confinement = write_confinement(scratch, builds);
  const auto take_cases = [&](std::uint64_t seed, std::vector<CaseResult>& cases) {
    options.seed = seed;
    LessonReport report = check_kernel(toolchain_, lesson, lesson.stub(), builds.libraries, options);
    if (const std::string why = why_ungraded(report); !why.empty()) throw MachineError(why);
    cases = std::move(report.cases);
    for (CaseResult& result : cases) result.launches.clear();  // large, and of no use here
  };
  take_cases(settings_.seed, verdict.open);
  if (settings_.secret_seed) take_cases(*settings_.secret_seed, verdict.hidden);
  return verdict;
}

std::string SubmissionJudge::why_refused(const Builds& builds) const {
  for (const BuildOutcome* build :
       {&builds.libraries.run, builds.libraries.check ? &*builds.libraries.check : nullptr}) {
    if (!build || !build->ok()) continue;
    if (!fs::is_regular_file(fs::symlink_status(build->library)))
      return "The compiler made something that is no library.";
    try {
      const std::string why = forbidden_import(read_imports(read_file(build->library)), settings_.backend);
      if (!why.empty()) return why;
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
  }
  return {};
}

fs::path SubmissionJudge::write_confinement(const fs::path& scratch, const Builds& builds) const {
  SandboxRequest request{.mounts = {{.from = builds.course, .to = kCourseInBox},
                                    {.from = toolchain_.worker(settings_.backend)},
                                    {.from = builds.libraries.run.library}},
                         .directory = kCourseInBox};
  if (sandbox_.isolation() == Isolation::process) request.directory = builds.course;
  if (settings_.backend == Backend::cpu) request.mounts.push_back({.from = toolchain_.cpu->library});
  if (builds.libraries.check && builds.libraries.check->ok())
    request.mounts.push_back({.from = builds.libraries.check->library});
  request.gpu = settings_.backend == Backend::gpu;
  Confinement confinement;
  confinement.launcher = sandbox_.launcher(request);
  confinement.one_call = settings_.backend == Backend::cpu;  // a GPU takes long to get ready
  if (request.gpu) confinement.memory_bytes = 0;             // its driver maps the device's memory
  fs::path file = scratch / "confinement.json";
  write_file_atomically(file, to_json(confinement));
  return file;
}

}  // namespace course::classroom
