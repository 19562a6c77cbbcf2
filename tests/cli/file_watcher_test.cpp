#include "cli/file_watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace course::cli;
using namespace std::chrono_literals;
using course::test::TemporaryFolder;

namespace {

void write(const fs::path& file, const std::string& content) { std::ofstream(file) << content; }

/// What becomes of the file: what the watcher says, in order, until it has said so many things, or nothing
/// for `patience`.
std::vector<Change> changes(FileWatcher& watcher, std::size_t count = 1,
                            std::chrono::milliseconds patience = 10s) {
  std::vector<Change> told;
  auto deadline = FileWatcher::Clock::now() + patience;
  while (told.size() < count && FileWatcher::Clock::now() < deadline) {
    const auto until = std::min(watcher.due().value_or(deadline), deadline);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - FileWatcher::Clock::now());
    pollfd waiting{watcher.descriptor(), POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    watcher.read_events();
    if (const auto change = watcher.settle(FileWatcher::Clock::now())) {
      told.push_back(*change);
      deadline = FileWatcher::Clock::now() + patience;
    }
  }
  return told;
}

/// All that is said within a time in which an event would have been noticed.
std::vector<Change> all_changes(FileWatcher& watcher) { return changes(watcher, 100, 400ms); }

const std::vector<Change> kNothing, kSaved{Change::saved}, kUnchanged{Change::unchanged},
    kMissing{Change::missing};

/// A lesson's folder with a file in it.
struct Lesson {
  TemporaryFolder folder;
  fs::path home = folder.path() / "lesson", file = home / "kernel.cu";
  Lesson() {
    fs::create_directory(home);
    write(file, "first");
  }
};

}  // namespace

TEST_CASE("a file that is written in place is saved", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  write(lesson.file, "second");
  CHECK(all_changes(watcher) == kSaved);
  CHECK(watcher.is_as_seen());
}

TEST_CASE("a file that another one takes the place of is saved", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  for (const std::string content : {"second", "third"}) {
    write(lesson.home / "kernel.cu.tmp", content);
    fs::rename(lesson.home / "kernel.cu.tmp", lesson.file);
    CHECK(all_changes(watcher) == kSaved);
  }
}

TEST_CASE("a file that is renamed to a backup and written anew is saved once", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  write(lesson.home / "4913", "");  // whether the folder can be written, as one editor finds out
  fs::remove(lesson.home / "4913");
  fs::rename(lesson.file, lesson.home / "kernel.cu~");
  write(lesson.file, "second");
  fs::remove(lesson.home / "kernel.cu~");
  CHECK(all_changes(watcher) == kSaved);
}

TEST_CASE("a file that is deleted and made again is saved", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  fs::remove(lesson.file);
  write(lesson.file, "second");
  CHECK(all_changes(watcher) == kSaved);
}

TEST_CASE("several writes without a pause are one save", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  for (int i = 0; i < 20; ++i) write(lesson.file, "content " + std::to_string(i));
  CHECK(all_changes(watcher) == kSaved);
}

TEST_CASE("a file that is written without end is looked at all the same", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  write(lesson.file, "content");
  watcher.read_events();
  const auto latest = watcher.due().value() - FileWatcher::kQuiet + FileWatcher::kLongest;
  for (int i = 0; FileWatcher::Clock::now() < latest; ++i) {
    write(lesson.file, "content " + std::to_string(i));
    watcher.read_events();
    REQUIRE(watcher.due().value() <= latest);
  }
  CHECK(watcher.settle(latest) == Change::saved);
}

TEST_CASE("a file that is not quiet yet is not looked at", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  CHECK_FALSE(watcher.due().has_value());
  write(lesson.file, "second");
  watcher.read_events();
  REQUIRE(watcher.due().has_value());
  CHECK_FALSE(watcher.settle(*watcher.due() - 1ms).has_value());
  CHECK(watcher.settle(*watcher.due()) == Change::saved);
  CHECK_FALSE(watcher.due().has_value());
}

TEST_CASE("a touch, and a save of the same content, change nothing", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  REQUIRE(utimensat(AT_FDCWD, lesson.file.c_str(), nullptr, 0) == 0);  // as touch does
  CHECK(all_changes(watcher) == kUnchanged);
  write(lesson.file, "first");
  CHECK(all_changes(watcher) == kUnchanged);
}

TEST_CASE("other files in the folder mean nothing", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  for (const char* name : {"4913", ".kernel.cu.swp", ".kernel.cu.swx", "kernel.cu~", "#kernel.cu#",
                           "kernel.hpp", "kernel.cu.kept", "KERNEL.CU"}) {
    write(lesson.home / name, "x");
    fs::remove(lesson.home / name);
  }
  fs::create_symlink("somebody@host.1", lesson.home / ".#kernel.cu");
  CHECK(all_changes(watcher) == kNothing);
}

TEST_CASE("a file that is missing is told once, and is saved when it comes back", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  fs::remove(lesson.file);
  CHECK(all_changes(watcher) == kMissing);
  CHECK_FALSE(watcher.is_there());
  write(lesson.file, "first");
  CHECK(all_changes(watcher) == kUnchanged);
  CHECK(watcher.is_there());
  fs::remove(lesson.file);
  CHECK(all_changes(watcher) == kMissing);
  write(lesson.file, "second");
  CHECK(all_changes(watcher) == kSaved);
}

TEST_CASE("a folder that goes and comes back is watched again", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  fs::remove_all(lesson.home);
  CHECK(changes(watcher) == kMissing);
  fs::create_directory(lesson.home);
  write(lesson.file, "second");
  auto told = all_changes(watcher);
  REQUIRE_FALSE(told.empty());
  CHECK(told.back() == Change::saved);
  write(lesson.file, "third");
  CHECK(all_changes(watcher) == kSaved);
}

TEST_CASE("a folder that is moved away and replaced is watched again", "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  fs::rename(lesson.home, lesson.folder.path() / "elsewhere");
  CHECK(changes(watcher) == kMissing);
  write(lesson.folder.path() / "elsewhere" / "kernel.cu", "not this one");
  CHECK(all_changes(watcher) == kNothing);
  fs::create_directories(lesson.home);
  write(lesson.file, "second");
  CHECK(changes(watcher).back() == Change::saved);
}

TEST_CASE("a folder two levels of which are missing is found from above", "[cli][watch]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "lessons" / "01" / "kernel.cu";
  FileWatcher watcher(file);
  CHECK_FALSE(watcher.is_there());
  fs::create_directories(file.parent_path());
  write(file, "first");
  auto told = all_changes(watcher);
  REQUIRE_FALSE(told.empty());
  CHECK(told.back() == Change::saved);
}

TEST_CASE("a save of the file that a link stands for is a save", "[cli][watch]") {
  const Lesson lesson;
  const fs::path link = lesson.folder.path() / "link.cu";
  fs::create_symlink(lesson.file, link);
  FileWatcher watcher(link);
  write(lesson.file, "second");
  CHECK(all_changes(watcher) == kSaved);
}

TEST_CASE("a content that differs from the one that was looked at is noticed without an event",
          "[cli][watch]") {
  const Lesson lesson;
  FileWatcher watcher(lesson.file);
  CHECK(watcher.is_as_seen());
  write(lesson.file, "second");
  CHECK_FALSE(watcher.is_as_seen());
  watcher.look_again();
  CHECK(changes(watcher) == kSaved);
  CHECK(watcher.is_as_seen());
}
