#include "cli/progress.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::TemporaryFolder;

namespace {

/// A project with lessons on nothing, whose tests share a folder.
struct Project {
  TemporaryFolder folder;
  std::vector<Lesson> lessons;

  explicit Project(int count = 1) {
    fs::create_directories(folder / "tests/lessons/shared");
    write(folder / "tests/lessons/shared/checks.hpp", "shared");
    write(folder / "tests/lessons/shared/checks_test.cpp", "a test of the checks");
    for (int number = 1; number <= count; ++number) {
      Lesson lesson;
      lesson.number = number;
      lesson.name = "none";
      lesson.root = folder.path();
      write(lesson.folder() / "lesson.json", "{}");
      write(lesson.contract(), "contract");
      write(lesson.stub(), "stub\n");
      write(lesson.solution(), "stub\n");
      write(test_of(lesson), "#include \"grading/lesson_test.hpp\"\n#include \"shared/checks.hpp\"\n");
      lessons.push_back(lesson);
    }
  }

  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    write_file_atomically(file, text);
  }
  static fs::path test_of(const Lesson& lesson) {
    return lesson.root / "tests/lessons" / (lesson.id() + "_test.cpp");
  }
  fs::path file() const { return folder / "progress.json"; }

  /// Saves a verdict on the files as they are; returns what went wrong.
  std::string check(const Lesson& lesson, Verdict verdict, int points) const {
    LessonReport report;
    report.lesson = lesson;
    report.verdict = verdict;
    report.points = points;
    return update_progress(file(),
                           [&](Progress& progress) { record_check(progress, report, fingerprint(lesson)); });
  }
  Standing standing(const Lesson& lesson) const { return standing_of(lesson, load_progress(file())); }
  int at() const {
    const Progress progress = load_progress(file());
    const Lesson* const lesson = lesson_at(lessons, progress);
    return lesson == nullptr ? 0 : lesson->number;
  }
};

std::string show_hint(const fs::path& file, const std::string& id) {
  return update_progress(file, [&](Progress& progress) { ++progress.lessons[id].hints; });
}

int hints_in(const fs::path& file, const std::string& id) {
  const Progress progress = load_progress(file);
  CHECK(progress.problem.empty());
  const auto found = progress.lessons.find(id);
  return found == progress.lessons.end() ? 0 : found->second.hints;
}

/// Runs the function in a process of its own.
template <class Function>
pid_t start(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    function();
    _exit(0);
  }
  return child;
}

}  // namespace

TEST_CASE("what was reached is read back from another run", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  CHECK(load_progress(project.file()).lessons.empty());
  CHECK(project.check(lesson, Verdict::pass, 24).empty());
  CHECK(show_hint(project.file(), lesson.id()).empty());

  const LessonProgress record = load_progress(project.file()).lessons.at(lesson.id());
  CHECK(record.passed);
  CHECK(record.points == 24);
  CHECK(record.best == 24);
  CHECK(record.hints == 1);
  CHECK(record.judged.kernel.size() == 32);
  CHECK(record.judged.tests.size() == 32);
  CHECK(record.checked.size() == std::string("2026-11-23T09:30:00Z").size());
  CHECK(project.folder.names() == std::set<std::string>{"lessons", "progress.json", "solutions", "tests"});
}

TEST_CASE("a pass stays a pass after a later experiment", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  project.check(lesson, Verdict::fail, 3);
  CHECK_FALSE(project.standing(lesson).passed());
  project.check(lesson, Verdict::pass, 24);
  project.check(lesson, Verdict::error, 0);
  const Standing standing = project.standing(lesson);
  CHECK(standing.passed());
  CHECK(standing.points() == 24);
  CHECK(standing.record.points == 0);
  CHECK(standing.record.best == 24);
  CHECK(project.at() == 0);
}

TEST_CASE("a pass ends when other tests are failed", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  project.check(lesson, Verdict::pass, 24);
  Project::write(lesson.contract(), "another contract");
  CHECK(project.standing(lesson).tests_changed);
  project.check(lesson, Verdict::fail, 5);
  CHECK_FALSE(project.standing(lesson).tests_changed);
  CHECK_FALSE(project.standing(lesson).passed());
  CHECK(project.standing(lesson).points() == 5);
}

TEST_CASE("what passed is known again, the latest of it", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  const auto check = [&](Verdict verdict, const std::string& identity) {
    LessonReport report;
    report.lesson = lesson;
    report.verdict = verdict;
    CHECK(update_progress(project.file(), [&](Progress& progress) {
            record_check(progress, report, fingerprint(lesson), identity);
          }).empty());
  };
  const auto known = [&](const std::string& identity) {
    return has_passed(load_progress(project.file()), lesson, identity);
  };
  CHECK_FALSE(known("a"));
  check(Verdict::pass, "a");
  check(Verdict::fail, "b");
  CHECK(known("a"));
  CHECK_FALSE(known("b"));
  CHECK_FALSE(known(""));
  for (int i = 0; i < 40; ++i) check(Verdict::pass, std::to_string(i));
  CHECK_FALSE(known("a"));
  CHECK(known("39"));
  CHECK(known("30"));
}

TEST_CASE("the cases that failed last are remembered by name", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  LessonReport report;
  report.lesson = lesson;
  report.verdict = Verdict::fail;
  report.cases.resize(3);
  report.cases[0].passed = report.cases[2].passed = true;
  report.cases[1].name = "adds a lot";
  update_progress(project.file(),
                  [&](Progress& progress) { record_check(progress, report, fingerprint(lesson)); });
  const LessonProgress record = load_progress(project.file()).lessons.at(lesson.id());
  CHECK(record.cases == 3);
  CHECK(record.failing == std::vector<std::string>{"adds a lot"});
}

TEST_CASE("a file that was edited since its check shows", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  CHECK_FALSE(project.standing(lesson).begun);
  Project::write(lesson.stub(), "my kernel");
  CHECK(project.standing(lesson).begun);
  CHECK_FALSE(project.standing(lesson).edited_since);
  project.check(lesson, Verdict::pass, 24);
  CHECK_FALSE(project.standing(lesson).edited_since);
  Project::write(lesson.stub(), "my better kernel");
  CHECK(project.standing(lesson).edited_since);
  CHECK(project.standing(lesson).passed());
}

TEST_CASE("a pass under other tests is to be checked again", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  const fs::path shared = project.folder / "tests/lessons/shared";
  for (const fs::path& file : {Project::test_of(lesson), lesson.contract(), lesson.folder() / "lesson.json",
                               shared / "checks.hpp", shared / "new.cpp"}) {
    CAPTURE(file);
    project.check(lesson, Verdict::pass, 24);
    CHECK(project.standing(lesson).passed());
    Project::write(file, "#include \"shared/checks.hpp\"\nsomething else in " + file.string());
    CHECK(project.standing(lesson).tests_changed);
    CHECK_FALSE(project.standing(lesson).passed());
  }
}

TEST_CASE("what judges nothing may change", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  project.check(lesson, Verdict::pass, 24);
  Project::write(lesson.folder() / "README.md", "notes");
  Project::write(project.folder / "tests/lessons/shared/checks_test.cpp", "another test of the checks");
  CHECK(project.standing(lesson).passed());
}

TEST_CASE("a failed lesson is not to be checked again because its tests changed", "[cli][progress]") {
  const Project project;
  const Lesson& lesson = project.lessons.front();
  project.check(lesson, Verdict::fail, 3);
  Project::write(lesson.contract(), "another contract");
  CHECK_FALSE(project.standing(lesson).tests_changed);
}

TEST_CASE("the student is at the first unfinished lesson that was begun, else at the first",
          "[cli][progress]") {
  const Project project(4);
  CHECK(project.at() == 1);
  project.check(project.lessons[0], Verdict::pass, 1);
  CHECK(project.at() == 2);
  Project::write(project.lessons[2].stub(), "my kernel");
  CHECK(project.at() == 3);
  project.check(project.lessons[1], Verdict::fail, 0);
  CHECK(project.at() == 2);
  for (const Lesson& lesson : project.lessons) project.check(lesson, Verdict::pass, 1);
  CHECK(project.at() == 0);
}

TEST_CASE("a broken file is renamed, never overwritten", "[cli][progress]") {
  const Project project;
  int number = 0;
  for (const std::string text :
       {"", "{", "[]", "{\"version\": 1}", "{\"version\": \"1\", \"lessons\": {}}",
        "{\"version\": 1, \"lessons\": {\"01_none\": 5}}",
        "{\"version\": 1, \"lessons\": {\"01_none\": {\"points\": -3}}}",
        "{\"version\": 1, \"lessons\": {\"01_none\": {\"points\": 1e300}}}",
        "{\"version\": 1, \"lessons\": {\"01_none\": {\"kernel\": 5}}}", "\xff\xfe"}) {
    CAPTURE(text);
    Project::write(project.file(), text);
    const std::string problem = project.check(project.lessons.front(), Verdict::pass, 24);
    const std::string name =
        ++number == 1 ? "progress.json.broken" : fmt::format("progress.json.broken{}", number);
    CHECK_THAT(problem, ContainsSubstring("was broken, and is now called " + name + "."));
    CHECK(read_file(project.folder / name) == text);
    CHECK(load_progress(project.file()).lessons.at("01_none").points == 24);
  }
}

TEST_CASE("a file of a newer course stays as it is", "[cli][progress]") {
  const Project project;
  const std::string newer = "{\"version\": 2, \"lessons\": []}\n";
  Project::write(project.file(), newer);
  CHECK_THAT(project.check(project.lessons.front(), Verdict::pass, 24), ContainsSubstring("newer version"));
  const Progress progress = load_progress(project.file());
  CHECK_THAT(progress.problem, ContainsSubstring("newer version"));
  CHECK_FALSE(progress.kept);
  CHECK(read_file(project.file()) == newer);
}

TEST_CASE("a file that may not be written is read and told about", "[cli][progress]") {
  const Project project;
  project.check(project.lessons.front(), Verdict::fail, 3);
  fs::permissions(project.file(), fs::perms::owner_read);
  CHECK_THAT(project.check(project.lessons.front(), Verdict::pass, 24), ContainsSubstring("is read-only"));
  const Progress progress = load_progress(project.file());
  CHECK(progress.problem.empty());
  CHECK_FALSE(progress.kept);
  CHECK(progress.lessons.at("01_none").points == 3);
}

TEST_CASE("a folder that is not there, and a folder in place of the file, are told about",
          "[cli][progress]") {
  const TemporaryFolder folder;
  CHECK_THAT(show_hint(folder / "none/progress.json", "01_none"), ContainsSubstring("is not remembered"));
  CHECK_FALSE(load_progress(folder / "none/progress.json").kept);
  fs::create_directory(folder / "progress.json");
  CHECK_THAT(show_hint(folder / "progress.json", "01_none"), ContainsSubstring("Nothing is remembered"));
  CHECK(folder.names() == std::set<std::string>{"progress.json"});
}

TEST_CASE("COURSE_PROGRESS names the file, and a link stays one", "[cli][progress]") {
  const TemporaryFolder folder;
  const char* const set = std::getenv("COURSE_PROGRESS");
  const std::string before = set == nullptr ? "" : set;
  setenv("COURSE_PROGRESS", "", 1);
  CHECK(progress_file(folder.path()) == folder / "progress.json");
  write_file_atomically(folder / "elsewhere.json", "{\"version\": 1, \"lessons\": {}}");
  fs::create_symlink("elsewhere.json", folder / "link.json");
  setenv("COURSE_PROGRESS", (folder / "link.json").c_str(), 1);
  CHECK(show_hint(progress_file("/"), "01_none").empty());
  setenv("COURSE_PROGRESS", before.c_str(), 1);
  CHECK(fs::is_symlink(folder / "link.json"));
  CHECK(hints_in(folder / "elsewhere.json", "01_none") == 1);
}

TEST_CASE("two programs that save at the same time lose nothing", "[cli][progress]") {
  const TemporaryFolder folder;
  const fs::path file = folder / "progress.json";
  constexpr int kEach = 40;
  std::vector<pid_t> children;
  for (const char* id : {"01_one", "02_two"}) {
    children.push_back(start([&] {
      for (int i = 0; i < kEach; ++i) {
        if (!show_hint(file, id).empty() || !show_hint(file, "03_both").empty()) _exit(1);
      }
    }));
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(hints_in(file, "01_one") == kEach);
  CHECK(hints_in(file, "02_two") == kEach);
  CHECK(hints_in(file, "03_both") == 2 * kEach);
}

TEST_CASE("a program that is killed while it saves leaves a whole file", "[cli][progress]") {
  const TemporaryFolder folder;
  const fs::path file = folder / "progress.json";
  CHECK(show_hint(file, "01_one").empty());
  int last = 1;
  for (int round = 0; round < 25; ++round) {
    const pid_t child = start([&] {
      for (;;) show_hint(file, "01_one");
    });
    std::this_thread::sleep_for(std::chrono::microseconds(20'000 + 1'700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const int now = hints_in(file, "01_one");
    CHECK(now >= last);
    last = now;
  }
  CHECK(last > 25);
}

TEST_CASE("a program that holds the file for ever keeps no other waiting", "[cli][progress]") {
  const TemporaryFolder folder;
  const fs::path file = folder / "progress.json";
  CHECK(show_hint(file, "01_one").empty());
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = start([&] {
    update_progress(file, [&](Progress&) {
      if (write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    });
  });
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK_THAT(show_hint(file, "01_one"), ContainsSubstring("another program has been holding"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  CHECK(show_hint(file, "01_one").empty());
  CHECK(hints_in(file, "01_one") == 2);
}
