#include "classroom/submissions.hpp"

#include <sys/fsuid.h>
#include <unistd.h>

#include "class_folder.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::test;
using Catch::Matchers::ContainsSubstring;
using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each folder is a student, with files at any depth", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("grace/deep/er/05_online_softmax.cu", "softmax");
  folder.write("ada/01_vector_add.cu", "add");
  folder.write("ada/README.txt", "hello");
  fs::create_directory(folder.root() / "linus");
  folder.write(".DS_Store/x.cu", "x");
  folder.write("__MACOSX/ada/x.cu", "x");
  folder.write("readme.txt", "x");
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"ada", "grace", "linus"});
  CHECK(students[0].by_lesson.at(1).content == "add");
  CHECK(students[0].by_lesson.at(1).file == "01_vector_add.cu");
  CHECK(students[0].by_lesson.at(1).handed_in == "2026-11-20 12:00:00");
  CHECK(students[0].by_lesson.size() == 1);
  CHECK(students[0].notes.empty());
  CHECK(students[1].by_lesson.at(5).file == "deep/er/05_online_softmax.cu");
  CHECK(students[2].by_lesson.empty());
  CHECK(folder.notes.empty());
}

TEST_CASE("files that no lesson wants are told", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/foo.cu", "x");
  CHECK(folder.student().notes ==
        Strings{"No lesson is called like foo.cu; files are named like 01_vector_add.cu."});
  folder.write("ada/bar.cu", "x");
  folder.write("ada/vector_add.cu.txt", "x");
  CHECK(folder.student().notes ==
        Strings{"No lesson is called like bar.cu, foo.cu; files are named like 01_vector_add.cu.",
                "Not looked at, as the name does not end in .cu: vector_add.cu.txt; rename it."});
  folder.write("stray.cu", "x");
  folder.read();
  CHECK(
      contains(folder.notes, "stray.cu belongs to no student; put it into a folder of the student's name."));
}

TEST_CASE("the newest of several files counts, and the others are named", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/x.cu", "x");
  folder.write("ada/01_vector_add.cu", "old", noon());
  folder.write("ada/a/vector_add.cu", "new", noon(2));
  folder.write("ada/vector_add-9.cu", "middle", noon(1));
  const Submission submission = folder.student().by_lesson.at(1);
  CHECK(submission.content == "new");
  CHECK(submission.notes ==
        Strings{"Of 3 files for lesson 01, the newest counts: a/vector_add.cu; not looked at: "
                "01_vector_add.cu, vector_add-9.cu."});
}

TEST_CASE("of files of the same time the version counts, then the path", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/vector_add-2.cu", "two");
  folder.write("ada/vector_add-10.cu", "ten");
  folder.write("ada/vector_add.cu", "none");
  CHECK(folder.student().by_lesson.at(1).content == "ten");
  CHECK_THAT(folder.student().by_lesson.at(1).notes.at(0),
             ContainsSubstring("the one with the highest version"));
  folder.write("grace/b/vector_add.cu", "b");
  folder.write("grace/a/vector_add.cu", "a");
  const Submission submission = folder.read().at(1).by_lesson.at(1);
  CHECK(submission.content == "a");
  CHECK_THAT(submission.notes.at(0), ContainsSubstring("the first by name counts"));
}

TEST_CASE("files with the same content count as one, handed in when the first was",
          "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/vector_add.cu", "same", noon());
  folder.write("ada/vector_add-1.cu", "same", noon(3600));
  Submission submission = folder.student("2026-11-20 12:30").by_lesson.at(1);
  CHECK(submission.file == "vector_add-1.cu");
  CHECK(submission.notes.empty());
  CHECK(submission.handed_in == "2026-11-20 12:00:00");
  CHECK_FALSE(submission.late);
  folder.write("ada/vector_add-2.cu", "other", noon(1800));
  submission = folder.student().by_lesson.at(1);
  CHECK(submission.content == "same");
  CHECK(submission.notes ==
        Strings{"Of 3 files for lesson 01, the newest counts: vector_add-1.cu (the same as "
                "vector_add.cu); not looked at: vector_add-2.cu."});
}

TEST_CASE("a file is the same as another if all of its bytes are, and not by a digest that can be met",
          "[classroom][submissions]") {
  // Whoever knows the digest finds 24 bytes in a moment, after which a late file has that of an early one.
  const std::string late =
      "late\n// "
      "\x27\x6d\x1d\x62\x45\x0b\x02\x12\xd5\x50\x71\x1b\xf5\x6f\x32\x3b\x0b\x35\x78\x03\xe3\x08\x24\x09"
      "\n";
  ClassFolder folder;
  folder.write("ada/vector_add.cu", "early\n", noon());
  folder.write("ada/vector_add-1.cu", late, noon(3600));
  const Submission submission = folder.student("2026-11-20 12:30").by_lesson.at(1);
  CHECK(submission.content == late);
  CHECK(submission.handed_in == "2026-11-20 13:00:00");
  CHECK(submission.late);
  CHECK(submission.notes.size() == 1);
}

TEST_CASE("a file is late if it is newer than the deadline", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/vector_add.cu", "x", noon(1));
  CHECK(folder.student("2026-11-20 12:00").by_lesson.at(1).late);
  CHECK(folder.student("2026-11-20T12:00").by_lesson.at(1).late);
  CHECK_FALSE(folder.student("2026-11-20 12:00:01").by_lesson.at(1).late);
  CHECK_FALSE(folder.student().by_lesson.at(1).late);
  for (const char* wrong : {"tomorrow", "2026-11-31 12:00", "2026-11-20", "2026-11-20 25:00",
                            "2026-11-20 12:00:00x", "2026-11-20t12:00", " 2026-11-20 12:0"}) {
    CAPTURE(wrong);
    CHECK_THAT(message_of([&] { folder.read(folder.root(), wrong); }),
               ContainsSubstring("write it like 2026-11-22"));
  }
}

TEST_CASE("Canvas's flat files belong to the student of their prefix", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("lovelaceada_12_345_01_vector_add-2.cu", "add");
  folder.write("lovelaceada_LATE_12_346_online_softmax.cu", "softmax");
  folder.write("lovelaceada_12_347_report.pdf", "pdf");
  folder.write("hoppergrace_13_348_report.pdf", "pdf");
  folder.zip(folder.root() / "turingalan_LATE_14_349_work.zip", {{"work/vector_add.cu", "zipped"}});
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"hoppergrace", "lovelaceada", "turingalan"});
  CHECK(students[0].id == "13");
  CHECK(students[0].by_lesson.empty());
  CHECK(students[1].id == "12");
  CHECK_FALSE(students[1].by_lesson.at(1).late);
  CHECK(students[1].by_lesson.at(5).late);
  CHECK(students[2].by_lesson.at(1).content == "zipped");
  CHECK(students[2].by_lesson.at(1).late);
}

TEST_CASE("Moodle's folders give name and participant, and namesakes stay two", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("Ada King_7_assignsubmission_file/vector_add.cu", "seven");
  folder.write("Ada King_7_assignsubmission_onlinetext/onlinetext.html", "text");
  folder.write("Ada King_8_assignsubmission_file_/vector_add.cu", "eight");
  folder.write("Bo_9_assignsubmission_file_vector_add.cu", "flat");
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"Ada King (7)", "Ada King (8)", "Bo"});
  CHECK(students[0].id == "7");
  CHECK(students[0].by_lesson.at(1).content == "seven");
  CHECK(students[1].by_lesson.at(1).content == "eight");
  CHECK(students[2].by_lesson.at(1).content == "flat");
  folder.write("Ada King (7)/vector_add.cu", "plain");
  CHECK(names(folder.read()) == Strings{"Ada King (7)", "Ada King (7) (2)", "Ada King (8)", "Bo"});
}

TEST_CASE("a folder of the same name around everything is passed through", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("class/ada/vector_add.cu", "x");
  folder.write("class/grace/vector_add.cu", "x");
  CHECK(names(folder.read()) == Strings{"ada", "grace"});
  CHECK(names(folder.read(folder.root() / "")) == Strings{"ada", "grace"});
  folder.write("linus/vector_add.cu", "x");
  CHECK(names(folder.read()) == Strings{"class", "linus"});
}

TEST_CASE("in a copy of the course only the lessons are looked at", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/lessons/01_vector_add/vector_add.cu", "mine");
  folder.write("ada/solutions/01_vector_add/vector_add.cu", "solution", noon(60));
  folder.write("ada/tests/lessons/alternatives/01_vector_add/other.cu", "x", noon(60));
  folder.write("ada/.git/vector_add.cu", "x", noon(60));
  Student student = folder.student();
  CHECK(student.by_lesson.at(1).content == "mine");
  CHECK(student.by_lesson.at(1).notes.empty());
  CHECK(student.notes == Strings{"solutions was not looked into, as it lies beside lessons."});
  fs::remove_all(folder.root() / "ada/lessons");
  CHECK(folder.student().by_lesson.at(1).content == "solution");
}

TEST_CASE("what is no class is told in a sentence", "[classroom][submissions]") {
  ClassFolder folder;
  CHECK_THAT(message_of([&] { folder.read(); }), ContainsSubstring("has no students in it; it should hold"));
  CHECK_THAT(message_of([&] { folder.read(folder.root() / "none"); }),
             ContainsSubstring("There is no folder or zip"));
  folder.write("notes.txt", "x");
  CHECK_THAT(message_of([&] { folder.read(folder.root() / "notes.txt"); }),
             ContainsSubstring("is neither a folder nor"));
  folder.write("broken.zip", "x");
  CHECK_THAT(message_of([&] { folder.read(folder.root() / "broken.zip"); }),
             ContainsSubstring("was not unpacked. It is not a zip, or it is damaged."));
}

TEST_CASE("what cannot be read for want of rights is told", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/vector_add.cu", "secret");
  folder.write("grace/online_softmax.cu", "secret");
  fs::permissions(folder.beside(""), static_cast<fs::perms>(0755));
  fs::permissions(folder.root() / "ada/vector_add.cu", fs::perms::none);
  fs::permissions(folder.root() / "grace", fs::perms::none);
  const bool is_root = geteuid() == 0;  // whom no permission holds back
  if (is_root) setfsuid(65534);
  std::vector<Student> students;
  std::string failure;
  try {
    students = folder.read();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  CAPTURE(failure);
  if (is_root) setfsuid(0);
  fs::permissions(folder.root() / "grace", fs::perms::owner_all);
  CHECK(failure.empty());
  REQUIRE(students.size() == 2);
  CHECK(students[0].by_lesson.at(1).content.empty());
  CHECK(students[0].by_lesson.at(1).problem ==
        "vector_add.cu cannot be read on the grading machine (Permission denied).");
  CHECK(students[0].by_lesson.at(1).unreadable);
  CHECK(students[0].unreadable.empty());
  CHECK(students[1].unreadable ==
        "The student's folder cannot be read on the grading machine (Permission denied).");
  CHECK(students[1].notes == Strings{students[1].unreadable});
}

TEST_CASE("files that count for no lesson are known with the lesson that they probably mean",
          "[classroom][submissions]") {
  ClassFolder folder;
  for (const char* name :
       {"ada/vectoradd.cu", "ada/online_softmax.cu.txt", "ada/flash1_forward.pdf", "ada/report.pdf",
        "ada/work.tar.gz", "ada/.x/01_vector_add.cu", "ada/.git/01_vector_add.cu", "ada/._a.cu"})
    folder.write(name, "x");
  const Student ada = folder.student();
  std::vector<std::string> found;
  for (const UncountedFile& file : ada.uncounted)
    found.push_back(file.file + ": " + file.why + ", " + file.meant);
  CHECK(found == Strings{"vectoradd.cu: no lesson is called so, 01_vector_add",
                         "online_softmax.cu.txt: its name does not end in .cu, 05_online_softmax",
                         ".x: its name begins with a dot, ", "flash1_forward.pdf: a PDF, 08_flash1_forward",
                         "work.tar.gz: an archive that is not unpacked, "});
  CHECK_THAT(ada.notes.back(), ContainsSubstring("as it is an archive that is not unpacked: work.tar.gz"));
}

TEST_CASE("hidden folders are told, in a zip and in the place of a student, too",
          "[classroom][submissions]") {
  ClassFolder folder;
  ClassFolder::zip(folder.root() / "ada.zip", {{".x/vector_add.cu", "x"}, {".git/vector_add.cu", "x"}});
  folder.write(".bo/vector_add.cu", "x");
  const Student ada = folder.student();
  REQUIRE(ada.uncounted.size() == 1);
  CHECK(ada.uncounted[0].file == ".x/vector_add.cu");
  CHECK(ada.uncounted[0].meant == "01_vector_add");
  CHECK(folder.notes ==
        Strings{".bo is not looked into, as its name begins with a dot; rename it if it is a student's."});
}

TEST_CASE("a file of another format is told by what it is", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/01_vector_add.cu", "%PDF-1.7\n");
  CHECK(folder.student().by_lesson.at(1).problem ==
        "01_vector_add.cu is a PDF, whatever its name says; hand in the source itself, saved as UTF-8.");
}

TEST_CASE("results that were written among the submissions are no student's", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/01_vector_add.cu", "add");
  folder.write("results/run.json", "{}");
  folder.write("results/.grading/verdict.cu", "add");
  folder.write("results/ada/feedback.md", "24 of 24 points");
  folder.write("run/run.json", "{}");  // a student may be called so, and have such a file
  CHECK(names(folder.read()) == Strings{"ada", "run"});
  REQUIRE(folder.notes.size() == 1);
  CHECK_THAT(folder.notes[0], ContainsSubstring("results holds results of `course grade`"));
}

TEST_CASE("a student whose folder looks like results, too, is a student", "[classroom][submissions]") {
  ClassFolder folder;
  for (const std::string file : {"01_vector_add.cu", "run.json", ".grading/verdict.json"})
    folder.write("ada/" + file, "{}");
  CHECK(folder.student().by_lesson.size() == 1);
  CHECK(folder.notes.empty());
}

TEST_CASE("a file with the line ends of an old Mac is told by that", "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("ada/01_vector_add.cu", "#include <x>\r\rvoid f() {}\r");
  CHECK(
      folder.student().by_lesson.at(1).problem ==
      "01_vector_add.cu is one long line, as its lines end as on an old Mac (CR); save it with the line ends "
      "of Unix (LF).");
}

TEST_CASE("an upload that is called after a classmate stays with who uploaded it",
          "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("lovelaceada_4711_1_05_online_softmax.cu", "softmax");
  folder.write("mallory_12_2_Ada Lovelace_4711_assignsubmission_file_01_vector_add.cu", "add");
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"lovelaceada", "mallory"});
  CHECK(students[0].by_lesson.count(1) == 0);
  CHECK(students[1].id == "12");
}
