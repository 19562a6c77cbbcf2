#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "class_folder.hpp"
#include "classroom/safe_files.hpp"
#include "classroom/submissions.hpp"
#include "grading/base/descriptor.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::test;
using Catch::Matchers::ContainsSubstring;
using course::grading::Descriptor;
using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// What the only student of the class reads about the file for lesson 01.
std::string problem_of(const ClassFolder& folder) {
  const Submission submission = folder.student().by_lesson.at(1);
  CHECK(submission.content.empty());
  return submission.problem;
}

/// The lesson's file in the folder of the only student.
fs::path lesson_file(const ClassFolder& folder) {
  fs::create_directories(folder.root() / "ada");
  return folder.root() / "ada/01_vector_add.cu";
}

}  // namespace

TEST_CASE("a link in place of a file is not followed", "[classroom][hostile]") {
  ClassFolder folder;
  fs::create_symlink("/etc/passwd", lesson_file(folder));
  CHECK(problem_of(folder) == "01_vector_add.cu is a symbolic link; hand in the file itself.");
}

TEST_CASE("a named pipe in place of a file is not waited for", "[classroom][hostile]") {
  ClassFolder folder;
  REQUIRE(mkfifo(lesson_file(folder).c_str(), 0600) == 0);
  CHECK(problem_of(folder) == "01_vector_add.cu is a named pipe; hand in an ordinary file.");
}

TEST_CASE("a socket in place of a file is not opened", "[classroom][hostile]") {
  ClassFolder folder;
  const std::string path = lesson_file(folder).string();
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(problem_of(folder) == "01_vector_add.cu is a socket; hand in an ordinary file.");
}

TEST_CASE("a folder in place of a file is told, and what lies in it found", "[classroom][hostile]") {
  ClassFolder folder;
  fs::create_directories(lesson_file(folder));
  CHECK(problem_of(folder) == "01_vector_add.cu is a folder; hand in a file of this name.");
  folder.write("ada/01_vector_add.cu/vector_add.cu", "x");
  CHECK(folder.student().by_lesson.at(1).content == "x");
}

TEST_CASE("what becomes a pipe, a link or a folder after it was listed is not read", "[classroom][hostile]") {
  ClassFolder folder;
  REQUIRE(mkfifo((folder.root() / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("/etc/passwd", folder.root() / "link");
  fs::create_directory(folder.root() / "folder");
  folder.write("file", "x");
  const Descriptor here = open_folder(AT_FDCWD, {folder.root().string()});
  REQUIRE(here);
  const auto why = [&](const std::string& name) {
    FileContent result;
    const Descriptor file = open_regular(here.get(), name, result);
    CHECK(static_cast<bool>(file) == result.problem.empty());
    CHECK_FALSE(result.unreadable);
    return result.problem;
  };
  CHECK_THAT(why("pipe"), ContainsSubstring("is a named pipe"));
  CHECK_THAT(why("link"), ContainsSubstring("is a symbolic link"));
  CHECK_THAT(why("folder"), ContainsSubstring("is a folder"));
  CHECK(why("file").empty());
}

TEST_CASE("a file that turns into a pipe and back is never waited for", "[classroom][hostile]") {
  ClassFolder folder;
  const fs::path file = lesson_file(folder);
  const std::string pipe = folder.beside("pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  folder.write("ada/01_vector_add.cu", "x");
  const std::string text = folder.beside("text").string();
  fs::copy_file(file, text);
  std::jthread swapping([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      (void)syscall(SYS_renameat2, AT_FDCWD, pipe.c_str(), AT_FDCWD, file.c_str(), RENAME_EXCHANGE);
    }
  });
  for (int round = 0; round < 200; ++round) {
    const Submission submission = folder.student().by_lesson.at(1);
    REQUIRE((submission.content == "x") == submission.problem.empty());
  }
}

TEST_CASE("a file may have 1 MiB and no more", "[classroom][hostile]") {
  ClassFolder folder;
  folder.write("ada/01_vector_add.cu", std::string(kMiB, 'x'));
  CHECK(folder.student().by_lesson.at(1).content.size() == kMiB);
  folder.write("ada/01_vector_add.cu", std::string(kMiB + 1, 'x'));
  CHECK(problem_of(folder) == "01_vector_add.cu is larger than 1 MiB; hand in the source alone.");
}

TEST_CASE("an empty file and one that is no text are told", "[classroom][hostile]") {
  ClassFolder folder;
  folder.write("ada/01_vector_add.cu", "");
  CHECK(problem_of(folder) == "01_vector_add.cu is empty.");
  folder.write("ada/01_vector_add.cu", std::string("a\0b", 3));
  CHECK(problem_of(folder) == "01_vector_add.cu is not a text, as it has NUL bytes; save it as UTF-8.");
}

TEST_CASE("a file that can be read counts before a newer one that cannot", "[classroom][hostile]") {
  ClassFolder folder;
  folder.write("ada/vector_add.cu", "x", noon());
  folder.write("ada/vector_add-1.cu", "", noon(5));
  const Submission submission = folder.student().by_lesson.at(1);
  CHECK(submission.content == "x");
  CHECK(submission.problem.empty());
  CHECK(submission.notes ==
        Strings{"Of 2 files for lesson 01, the one that can be read counts: vector_add.cu; not "
                "looked at: vector_add-1.cu."});
}

TEST_CASE("links to folders are not followed, so that no loop is walked", "[classroom][hostile]") {
  ClassFolder folder;
  folder.write("ada/vector_add.cu", "x");
  fs::create_symlink(".", folder.root() / "ada/loop");
  fs::create_symlink(folder.root(), folder.root() / "ada/up");
  fs::create_symlink("ada", folder.root() / "bo");
  fs::create_symlink("/etc/passwd", folder.root() / "passwd");
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"ada", "bo"});
  CHECK(students[0].by_lesson.at(1).notes.empty());
  CHECK(students[0].notes ==
        Strings{"Not followed, as it is a symbolic link: loop, up; hand in what it points to."});
  CHECK(students[1].by_lesson.empty());
  CHECK_THAT(students[1].notes.at(0), ContainsSubstring("The student's folder is a symbolic link"));
  CHECK(folder.notes == Strings{"passwd is neither a folder nor a file and is not looked at."});
}

TEST_CASE("folders are looked into sixteen deep", "[classroom][hostile]") {
  ClassFolder folder;
  std::string deep = "ada/";
  for (int i = 0; i < 16; ++i) deep += "d/";
  folder.write(deep + "vector_add.cu", "x");
  CHECK(folder.student().by_lesson.at(1).content == "x");
  CHECK(folder.student().notes.empty());
  for (int i = 0; i < 200; ++i) deep += "d/";
  folder.write(deep + "online_softmax.cu", "x");
  const Student student = folder.student();
  CHECK(student.by_lesson.size() == 1);
  CHECK(student.notes == Strings{"Folders that lie more than 16 deep were not looked into."});
}

TEST_CASE("of very many files the first ones are looked at, the upper folders before the lower",
          "[classroom][hostile]") {
  ClassFolder folder;
  folder.write("ada/zzz/vector_add.cu", "x");
  fs::create_directories(folder.root() / "ada/aaa/aaa");
  const Descriptor many = open_folder(AT_FDCWD, {(folder.root() / "ada/aaa/aaa").string()});
  for (int i = 0; i < 10'100; ++i) {
    const Descriptor file(
        openat(many.get(), std::to_string(i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    REQUIRE(file);
  }
  const Student student = folder.student();
  CHECK(student.by_lesson.at(1).content == "x");
  CHECK(student.notes ==
        Strings{"There are more than 10000 files and folders; only the first ones were looked at."});
  const Names first = names_in(many.get(), 3);
  CHECK(first.names == Strings{"0", "1", "10"});
  CHECK(first.cut);
}

TEST_CASE("a student's name may be anything", "[classroom][hostile]") {
  ClassFolder folder;
  const Strings wanted{"...", "-rf", "=cmd|' ' C calc'!A0", "a\nb", "\xff\xfe", "\xe5\xa7\x93\xe5\x90\x8d"};
  for (const std::string& name : wanted) folder.write(name + "/vector_add.cu", name);
  const auto students = folder.read();
  Strings sorted = wanted;
  std::sort(sorted.begin(), sorted.end());
  REQUIRE(names(students) == sorted);
  for (const Student& student : students) CHECK(student.by_lesson.at(1).content == student.name);
}

TEST_CASE("file names with line feeds stay on one line in sentences", "[classroom][hostile]") {
  ClassFolder folder;
  folder.write("ada/a\nPASS\n.cu", "x");
  CHECK(folder.student().notes ==
        Strings{"No lesson is called like a\\nPASS\\n.cu; files are named like 01_vector_add.cu."});
}
