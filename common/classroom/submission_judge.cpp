#include "classroom/submission_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <exception>
#include <system_error>

#include "classroom/course_view.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/build/kernel_build.hpp"
#include "grading/build/kernel_cache.hpp"
#include "grading/confinement/confinement.hpp"
#include "grading/confinement/imports.hpp"
#include "grading/facts/words.hpp"
#include "grading/judging/lesson_check.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// For all tests of a file: one that is slow on purpose must not hold up the others.
constexpr auto kLongest = std::chrono::minutes(10);

FileVerdict without_cases(Standing standing, const std::string& message) {
  FileVerdict verdict;
  verdict.standing = standing;
  verdict.message = message;
  return verdict;
}

/// Whether the text could undo what simt_hide_mode.h does against attributes such as no_sanitize. Of a
/// lesson's file with nothing but CUDA C++ in it, none can.
bool asks_not_to_be_watched(std::string_view content) {
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::string_view rest = content.substr(i);  // a word may go on in the next line
    if (rest.starts_with("\\\r\n"))
      i += 2;
    else if (rest.starts_with("\\\n"))
      ++i;
    else
      text += content[i];
  }
  return text.find("sanitize") != std::string::npos;
}

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether the text has the name with a parenthesis behind it, as a definition has.
bool has_function(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = text.find_first_not_of(" \t\r\n", at + name.size());
    if ((at == 0 || !is_part_of_name(text[at - 1])) && end != std::string_view::npos && text[end] == '(')
      return true;
  }
  return false;
}

/// A sentence if the file has all functions of one other lesson and none of its own; else empty.
std::string explain_other_lesson(std::string_view content, const Lesson& lesson,
                                 const std::vector<Lesson>& lessons) {
  const auto has = [&](const std::string& entry) { return has_function(content, entry); };
  if (std::any_of(lesson.entries.begin(), lesson.entries.end(), has)) return {};
  for (const Lesson& other : lessons)
    if (!other.entries.empty() && std::all_of(other.entries.begin(), other.entries.end(), has))
      return fmt::format("It looks like a file for lesson {}, as it has {}. Hand it in as {}.cu.\n",
                         other.two_digits(), other.entries.front(), other.id());
  return {};
}

/// Why the tests say nothing about the file: this machine, or the tests themselves. Empty if they do.
std::string why_ungraded(const LessonReport& report) {
  for (const CaseResult& result : report.cases)
    if (result.infrastructure) return to_words(result, std::nullopt);
  return report.error;
}

/// @throws MachineError if a failure can have come from a full disk: then no other file can be judged either
void require_space(const fs::path& folder) {
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  if (!unknown && space.available < kCompileFileBytes)
    throw MachineError(
        fmt::format("The disk with the results is full, or nearly: it has less than {} MiB "
                    "left. Make room, then the same command goes on where it stopped.",
                    kCompileFileBytes >> 20));
}

/// Of the names and contents of all files in a folder.
std::string hash_folder(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = hash_file(entry.path());
  ContentHash hash;
  for (const auto& [name, content] : files) hash.add(name).add(content);
  return hash.hex();
}

/// All that a submission is compiled with, and examined by: that is this program.
std::string identity_of(const Toolchain& toolchain, Backend backend) {
  ContentHash hash;
  const auto add_words = [&](const std::vector<std::string>& words) {
    for (const std::string& word : words) hash.add(word);
  };
  hash.add(hash_file("/proc/self/exe")).add(hash_file(toolchain.rewriter));
  if (backend == Backend::cpu) {
    const CpuToolchain& cpu = toolchain.cpu.value();
    hash.add(hash_file(cpu.library)).add(hash_file(cpu.compiler));
    for (const auto& words : {cpu.flags, cpu.check_flags, cpu.link_flags, cpu.check_link_flags})
      add_words(words);
  } else {
    const GpuToolchain& gpu = toolchain.gpu.value();
    hash.add(hash_file(gpu.compiler)).add(hash_file(gpu.host_compiler));
    if (!gpu.ledger.empty()) hash.add(hash_file(gpu.ledger));
    for (const auto& words : {gpu.flags, gpu.link_flags}) add_words(words);
  }
  return hash.add(hash_file(toolchain.worker(backend))).hex();
}

/// The imports without those that `others` has as well.
Imports without(Imports imports, const Imports& others) {
  const auto remove = [](std::vector<std::string>& from, const std::vector<std::string>& names) {
    std::erase_if(from, [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    });
  };
  remove(imports.symbols, others.symbols);
  remove(imports.libraries, others.libraries);
  remove(imports.preemptible, others.preemptible);
  return imports;
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
    hash.add(hash_folder(view_of(lesson)));
    hash.add(isolation_name(sandbox_.isolation())).add(std::to_string(settings_.seed));
    hash.add(settings_.only_cuda ? "only CUDA" : "any words");
    hash.add(settings_.secret_seed ? std::to_string(*settings_.secret_seed) : "no hidden cases");
    known = hash.hex();
  }
  return known;
}

/// Made once for each lesson; submissions get links to its files.
fs::path SubmissionJudge::view_of(const Lesson& lesson) {
  const std::lock_guard lock(views_mutex_);
  fs::path view = folder_ / lesson.id();
  if (!fs::exists(view)) make_course_view(view, lesson, lessons_);
  return view;
}

FileVerdict SubmissionJudge::judge(const Lesson& lesson, const std::string& content) {
  const auto start = std::chrono::steady_clock::now();
  FileVerdict verdict;
  try {
    const ScratchFolder scratch(folder_);
    verdict = judge_in(scratch.path(), lesson, content);
  } catch (const MachineError& problem) {
    require_space(folder_);
    verdict = without_cases(Standing::ungraded, problem.what());
  } catch (const std::system_error& problem) {  // of files of ours; std::filesystem's errors are such, too
    require_space(folder_);
    verdict = without_cases(Standing::ungraded, fmt::format("What its judging needs cannot be written: {}.",
                                                            problem.code().message()));
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& problem) {  // no file may end the grading of the others
    verdict = without_cases(Standing::ungraded,
                            fmt::format("The grader failed at this file, by a mistake of its own: {}. Please "
                                        "report it to the authors of the course.",
                                        problem.what()));
  }
  verdict.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

FileVerdict SubmissionJudge::judge_in(const fs::path& scratch, const Lesson& lesson,
                                      const std::string& content) {
  if (!settings_.only_cuda && asks_not_to_be_watched(content))
    return without_cases(
        Standing::refused,
        "Your file has a word with \"sanitize\" in it. A kernel that is graded must not ask the "
        "compiler to leave out what watches it: remove that attribute or option.");
  const Builds builds = build(scratch, lesson, content);
  if (const std::string why = builds.libraries.why_not_compiled(); !why.empty()) {
    const std::string hint = explain_missing_header(why, lesson);
    return without_cases(Standing::not_compiled, explain_other_lesson(content, lesson, lessons_) + why +
                                                     (hint.empty() ? "" : "\n" + hint));
  }
  if (const std::string why = why_refused(lesson, builds); !why.empty())
    return without_cases(Standing::refused, why);

  std::unique_lock<std::mutex> gpu(gpu_, std::defer_lock);
  const auto free_at = std::chrono::steady_clock::now();
  if (settings_.backend == Backend::gpu) gpu.lock();
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - free_at;
  FileVerdict verdict;
  verdict.standing = Standing::graded;
  verdict.seconds = -waited.count();  // the time for others is no time of this file
  CheckOptions options;
  options.backend = settings_.backend;
  options.scratch = scratch;
  options.longest = kLongest;
  options.confinement = write_confinement(scratch, builds);
  const auto take_cases = [&](std::uint64_t seed, std::vector<CaseResult>& cases) {
    options.seed = seed;
    LessonReport report = check_kernel(toolchain_, lesson, lesson.stub(), builds.libraries, options);
    if (report.too_long) return false;
    if (const std::string why = why_ungraded(report); !why.empty()) throw MachineError(why);
    cases = std::move(report.cases);
    for (CaseResult& result : cases) result.launches.clear();  // large, and of no use here
    return true;
  };
  if (take_cases(settings_.seed, verdict.open) &&
      (!settings_.secret_seed || take_cases(*settings_.secret_seed, verdict.hidden)))
    return verdict;
  return without_cases(
      Standing::refused,
      fmt::format("Its tests took longer than {} minutes all together and were stopped. A right "
                  "kernel takes seconds: look for calls that only just come back in time.",
                  kLongest.count()));
}

/// Made and compiled in `scratch`; for check mode, too, if there is one.
SubmissionJudge::Builds SubmissionJudge::build(const fs::path& scratch, const Lesson& lesson,
                                               const std::string& content) {
  // Whoever the compiler runs as must get to its folders, and need not see what else there is.
  fs::permissions(scratch, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  Builds builds{.course = scratch / "course", .libraries = {}};
  fs::copy(view_of(lesson), builds.course, fs::copy_options::recursive | fs::copy_options::create_hard_links);
  write_file_atomically(builds.course / "submission" / (lesson.id() + ".cu"), content);
  // Each flavour is built in a folder of the same name: the file could ask for the name, and so for the
  // flavour.
  const auto compile = [&](Flavour flavour, const char* output) {
    const fs::path folder = scratch / "kernel";
    fs::create_directory(folder);
    const CompileBox box{
        .sandbox = sandbox_, .course = builds.course, .output = folder, .only_cuda = settings_.only_cuda};
    BuildOutcome outcome =
        build_submission(toolchain_, lesson, box, settings_.backend, flavour, settings_.architectures);
    fs::rename(folder, scratch / output);
    if (outcome.ok()) outcome.library = scratch / output / outcome.library.filename();
    return outcome;
  };
  builds.libraries.run = compile(Flavour::run, "run");
  if (builds.libraries.run.ok() && settings_.backend == Backend::cpu)
    builds.libraries.check = compile(Flavour::check, "check");
  return builds;
}

std::string SubmissionJudge::why_refused(const Lesson& lesson, const Builds& builds) {
  for (const BuildOutcome* build :
       {&builds.libraries.run, builds.libraries.check ? &*builds.libraries.check : nullptr}) {
    if (!build || !build->ok()) continue;
    if (!fs::is_regular_file(fs::symlink_status(build->library)))
      return "The compiler made something that is no library.";
    try {
      Imports imports = read_imports(read_file(build->library));
      if (forbidden_import(imports, settings_.backend).empty()) continue;
      // A compiler that links its own libraries into each kernel brings along what these import.
      imports = without(std::move(imports), imports_of_stub(lesson));
      if (std::string why = forbidden_import(imports, settings_.backend); !why.empty()) return why;
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
  }
  return {};
}

Imports SubmissionJudge::imports_of_stub(const Lesson& lesson) {
  const std::lock_guard lock(mutex_);
  const auto [known, added] = stubs_.try_emplace(lesson.id());
  if (!added) return known->second;
  const ScratchFolder scratch(folder_);
  const Builds builds = build(scratch.path(), lesson, read_file(lesson.stub()));
  if (builds.libraries.run.ok()) known->second = read_imports(read_file(builds.libraries.run.library));
  return known->second;
}

fs::path SubmissionJudge::write_confinement(const fs::path& scratch, const Builds& builds) const {
  SandboxRequest request{.mounts = foreign_compilers(toolchain_),
                         .directory = {.from = builds.course, .to = kCourseInBox}};
  for (const Mount& mount : {request.directory, Mount{.from = toolchain_.worker(settings_.backend)},
                             Mount{.from = builds.libraries.run.library}})
    request.mounts.push_back(mount);
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
