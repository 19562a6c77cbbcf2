#include <cstdlib>

#include "class_folder.hpp"
#include "classroom/submissions.hpp"
#include "grading/base/machine_error.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::test;
using Catch::Matchers::ContainsSubstring;
using course::grading::MachineError;
using Strings = std::vector<std::string>;
namespace fs = std::filesystem;

TEST_CASE("zips are unpacked, at the top and in a student's folder", "[classroom][submissions][zip]") {
  ClassFolder folder;
  folder.zip(folder.root() / "ada.zip",
             {{"ada/01_vector_add.cu", "add"}, {"ada/.git/online_softmax.cu", "x"}});
  folder.zip(folder.root() / "grace/work.ZIP",
             {{"x/online_softmax.cu", "softmax"}, {"x/foo.cu", "foo"}, {"in.zip", "z"}});
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"ada", "grace"});
  CHECK(students[0].by_lesson.at(1).file == "01_vector_add.cu");
  CHECK(students[0].by_lesson.at(1).handed_in == "2026-11-20 12:00:00");
  CHECK(students[0].by_lesson.size() == 1);
  CHECK(students[1].by_lesson.at(5).file == "work.ZIP/x/online_softmax.cu");
  CHECK(students[1].notes ==
        Strings{"No lesson is called like work.ZIP/x/foo.cu; files are named like 01_vector_add.cu.",
                "Not unpacked, as it is a zip within a zip: work.ZIP/in.zip; hand in the .cu files."});
  CHECK(fs::is_empty(folder.scratch()));
}

TEST_CASE("the class may be a zip, with zips in it", "[classroom][submissions][zip]") {
  ClassFolder folder;
  folder.zip(folder.root() / "inner/grace.zip", {{"vector_add.cu", "grace"}});
  const fs::path whole = folder.beside("autumn.zip");
  folder.zip(whole,
             {{"autumn/ada/vector_add.cu", "ada"}, {"autumn/bo/report.pdf", "x"}, {"autumn/foo.cu", "x"}});
  course::grading::Command command;
  command.arguments = {
      "python3", "-c",
      "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'a').write(sys.argv[2], 'autumn/grace.zip')",
      whole.string(), (folder.root() / "inner/grace.zip").string()};
  REQUIRE(course::grading::run_command(command).ok());
  const auto students = folder.read(whole);
  REQUIRE(names(students) == Strings{"ada", "bo", "grace"});
  CHECK(students[0].by_lesson.at(1).content == "ada");
  CHECK(students[1].by_lesson.empty());
  CHECK(students[2].by_lesson.at(1).content == "grace");
  CHECK(folder.notes.size() == 1);
}

TEST_CASE("without python3, zips are the machine's problem", "[classroom][submissions][zip]") {
  ClassFolder folder;
  folder.zip(folder.root() / "ada.zip", {{"vector_add.cu", "x"}});
  const std::string path = std::getenv("PATH");
  REQUIRE(setenv("PATH", folder.scratch().c_str(), 1) == 0);
  std::string message;
  try {
    folder.read();
  } catch (const MachineError& error) {
    message = error.what();
  }
  setenv("PATH", path.c_str(), 1);
  CHECK_THAT(message, ContainsSubstring("install it with apt-get install python3, or unpack the zips"));
}

TEST_CASE("a link in a zip is not unpacked, and told where the lesson's file should be",
          "[classroom][hostile][zip]") {
  ClassFolder folder;
  folder.zip(folder.root() / "ada.zip",
             {{"@01_vector_add.cu", "/etc/passwd"}, {"../online_softmax.cu", "x"}});
  const Student student = folder.student();
  CHECK(student.by_lesson.size() == 1);
  CHECK(student.by_lesson.at(1).problem == "01_vector_add.cu is a symbolic link; hand in the file itself.");
  CHECK(student.by_lesson.at(1).content.empty());
  CHECK(student.notes ==
        Strings{"../online_softmax.cu leads out of the zip; pack the folder itself, without \"..\" in "
                "a path."});
}

TEST_CASE("a damaged zip costs its student the zip only", "[classroom][hostile][zip]") {
  ClassFolder folder;
  folder.write("ada/work.zip", "PK\x03\x04 nothing");
  folder.write("ada/vector_add.cu", "x");
  folder.write("bo.zip", "");
  fs::create_symlink("/etc/passwd", folder.root() / "ada/link.zip");
  const auto students = folder.read();
  REQUIRE(names(students) == Strings{"ada", "bo"});
  CHECK(students[0].by_lesson.at(1).content == "x");
  CHECK(contains(students[0].notes, "work.zip was not unpacked. It is not a zip, or it is damaged."));
  CHECK(contains(students[1].notes, "bo.zip was not unpacked. It is not a zip, or it is damaged."));
}

TEST_CASE("left out of the zip of a class is told to the student whose it was", "[classroom][hostile][zip]") {
  ClassFolder folder;
  folder.zip(folder.beside("all.zip"), {{"ada/vector_add.cu", "x"},
                                        {"@bo/vector_add.cu", "/etc/passwd"},
                                        {"@king_1_2_vector_add.cu", "/etc/passwd"},
                                        {"@cy_3_assignsubmission_file/foo.cu", "/etc/passwd"}});
  const auto students = folder.read(folder.beside("all.zip"));
  REQUIRE(names(students) == Strings{"ada", "bo", "cy", "king"});
  CHECK(students[0].by_lesson.at(1).problem.empty());
  CHECK_THAT(students[1].by_lesson.at(1).problem, ContainsSubstring("is a symbolic link"));
  CHECK(students[2].id == "3");
  CHECK(students[2].notes.size() == 1);
  CHECK_THAT(students[3].by_lesson.at(1).problem, ContainsSubstring("is a symbolic link"));
}

TEST_CASE("what counts for nobody in the zip of a class is told of whom it is",
          "[classroom][submissions][zip]") {
  ClassFolder folder;
  folder.zip(folder.beside("all.zip"), {{"ada/01_vector_add.pdf", "x"},
                                        {"bo/.x/vector_add.cu", "x"},
                                        {"cy_3_assignsubmission_file/vector_add.cu.txt", "x"},
                                        {"di/vector_add.cu", "x"}});
  const auto students = folder.read(folder.beside("all.zip"));
  REQUIRE(names(students) == Strings{"ada", "bo", "cy", "di"});
  for (std::size_t i = 0; i < 3; ++i) CHECK(students[i].uncounted.size() == 1);
  CHECK(students[3].uncounted.empty());
}

TEST_CASE("whom the zip of a class that is too large cuts off is not graded, and not lost",
          "[classroom][hostile][zip]") {
  ClassFolder folder;
  folder.zip(folder.beside("all.zip"), {{"ada/vector_add.cu", "x"},
                                        {"bo/vector_add.cu", "x"},
                                        {"cy/work.txt", "x"},
                                        {"king_1_2_vector_add.cu", "x"},
                                        {"zoe.zip", "x"}});
  // With smaller limits, the script does the same.
  const fs::path script = folder.beside("small.py");
  course::grading::write_file_atomically(
      script,
      "import sys\nsys.dont_write_bytecode = True\n"
      "sys.path.insert(0, '" +
          folder.unpack_script.parent_path().string() +
          "')\n"
          "import unpack_submissions as script\n"
          "script.CLASS = script.CLASS._replace(whole=script.Size(1, 1 << 20))\nsys.exit(script.main())\n");
  folder.unpack_script = script;
  const auto students = folder.read(folder.beside("all.zip"));
  REQUIRE(names(students) == Strings{"ada", "bo", "cy", "king", "zoe"});
  CHECK(students[0].unreadable.empty());
  CHECK(students[0].by_lesson.at(1).problem.empty());
  for (std::size_t i = 1; i < students.size(); ++i)
    CHECK_THAT(students[i].unreadable, ContainsSubstring("more than 1 files and folders"));
  CHECK(students[1].by_lesson.at(1).unreadable);
  CHECK(students[3].by_lesson.at(1).unreadable);
}
