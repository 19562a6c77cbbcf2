#include "cli/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "cli/progress_file.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/build/kernel_cache.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

constexpr std::size_t kMostPasses = 16;  // that are remembered of a lesson

/// Folders of tests/lessons whose files the test includes: the tests of several lessons share them.
std::vector<fs::path> shared_folders(const fs::path& test) {
  std::vector<fs::path> folders;
  const std::string text = read_file(test), opening = "#include \"";
  for (std::size_t at = 0; (at = text.find(opening, at)) != std::string::npos;) {
    at += opening.size();
    const fs::path included = text.substr(at, text.find('"', at) - at);
    const fs::path folder = test.parent_path() / included.parent_path();
    const bool known = std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (included.has_parent_path() && !known && fs::is_directory(folder)) folders.push_back(folder);
  }
  return folders;
}

std::vector<fs::path> judging_files(const Lesson& lesson) {
  const fs::path test = lesson.root / "tests/lessons" / (lesson.id() + "_test.cpp");
  std::vector<fs::path> files{lesson.folder() / "lesson.json", lesson.contract(), test};
  for (const fs::path& folder : shared_folders(test)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const fs::path& file = entry.path();
      const bool source = file.extension() == ".cpp" || file.extension() == ".hpp";
      if (source && !file.stem().string().ends_with("_test")) files.push_back(file);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string hash_tests(const Lesson& lesson) try {
  ContentHash hash;
  for (const fs::path& file : judging_files(lesson))
    hash.add(file.lexically_relative(lesson.root).string()).add(read_file(file));
  return hash.hex();
} catch (const std::exception&) {
  return "";
}

/// Universal time, as "2026-11-23T09:30:00Z".
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::string text(std::size("2026-11-23T09:30:00Z") - 1, ' ');
  std::strftime(text.data(), text.size() + 1, "%FT%TZ", &parts);
  return text;
}

}  // namespace

Fingerprint fingerprint(const Lesson& lesson) { return {hash_file(lesson.stub()), hash_tests(lesson)}; }

bool is_pristine(const Lesson& lesson, const fs::path& file) try {
  return !fs::exists(lesson.solution()) || read_file(file) == lesson.pristine_stub();
} catch (const std::runtime_error&) {  // a file that cannot be read is nobody's stub
  return false;
}

Progress load_progress(const fs::path& file) { return ProgressFile(file).read(); }

std::string update_progress(const fs::path& file, const std::function<void(Progress&)>& change) {
  ProgressFile kept(file);
  Progress progress = kept.read();
  if (!progress.problem.empty() && !progress.kept) return progress.problem;
  change(progress);
  const std::string failure = kept.write(progress);
  return failure.empty() ? progress.problem : failure;
}

void record_check(Progress& progress, const LessonReport& report, const Fingerprint& judged,
                  const std::string& identity) {
  LessonProgress& record = progress.lessons[report.lesson.id()];
  if (report.verdict == Verdict::pass) {
    record.passed = true;
    record.passed_tests = judged.tests;
    std::erase(record.passes, identity);
    if (!identity.empty()) record.passes.push_back(identity);
    if (record.passes.size() > kMostPasses) record.passes.erase(record.passes.begin());
  } else if (record.passed_tests != judged.tests) {
    record.passed = false;  // the tests that it passed are not those of the lesson any more
  }
  const bool known = report.verdict == Verdict::pass && report.cases.empty();  // passed_before()
  if (!known) record.cases = static_cast<int>(report.cases.size());
  record.failing.clear();
  for (const CaseResult& result : report.cases)
    if (!result.passed) record.failing.push_back(result.name);
  record.points = report.points;
  record.best = std::max(record.best, report.points);
  record.checked = now();
  record.judged = judged;
}

std::string identify(const Toolchain& toolchain, const Lesson& lesson, Backend backend,
                     const KernelBuilds& builds) {
  std::vector<fs::path> files{toolchain.lessons.at(lesson.id()).test, toolchain.worker(backend),
                              builds.run.library};
  if (backend == Backend::cpu && toolchain.cpu) files.push_back(toolchain.cpu->library);
  if (builds.check && builds.check->ok()) files.push_back(builds.check->library);
  ContentHash hash;
  hash.add(backend_name(backend)).add(builds.check_problem);
  for (const fs::path& file : files) {
    const std::string content = hash_file(file);
    if (content.empty()) return "";
    hash.add(content);
  }
  return hash.hex();
}

bool has_passed(const Progress& progress, const Lesson& lesson, const std::string& identity) {
  const auto found = progress.lessons.find(lesson.id());
  if (identity.empty() || found == progress.lessons.end()) return false;
  const std::vector<std::string>& passes = found->second.passes;
  return std::find(passes.begin(), passes.end(), identity) != passes.end();
}

LessonReport passed_before(const Lesson& lesson, const fs::path& file) {
  LessonReport report;
  report.lesson = lesson;
  report.source = file;
  report.verdict = Verdict::pass;
  report.compiled = true;
  report.points = lesson.points;
  return report;
}

void tell_problem(const Terminal& terminal, const std::string& problem) {
  if (problem.empty()) return;
  std::fflush(stdout);  // what was said before comes first
  terminal.clear_progress();
  fmt::print(stderr, "{}", wrap("course: " + problem, 0, terminal.width()));
}

Standing standing_of(const Lesson& lesson, const Progress& progress) {
  Standing standing;
  const auto found = progress.lessons.find(lesson.id());
  if (found != progress.lessons.end()) standing.record = found->second;
  const LessonProgress& record = standing.record;
  const bool checked = !record.checked.empty();
  const std::string kernel = hash_file(lesson.stub());
  standing.begun = checked || !is_pristine(lesson, lesson.stub());
  standing.edited_since = checked && record.judged.kernel != kernel;
  standing.tests_changed = record.passed && record.passed_tests != hash_tests(lesson);
  return standing;
}

const Lesson* lesson_at(const std::vector<Lesson>& lessons, const Progress& progress) {
  const Lesson* first = nullptr;
  for (const Lesson& lesson : lessons) {
    const auto found = progress.lessons.find(lesson.id());
    if (found != progress.lessons.end() && found->second.passed) continue;
    if (standing_of(lesson, progress).begun) return &lesson;
    if (first == nullptr) first = &lesson;
  }
  return first;
}

}  // namespace course::cli
