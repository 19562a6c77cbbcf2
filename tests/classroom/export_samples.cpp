// Writes one made-up class in every format: export_samples FOLDER
// Names, files and messages hold what breaks careless writers. formats_test.py reads the results with readers
// that know nothing of this project; docs/class_formats.md quotes the plain parts.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "classroom/student_results.hpp"
#include "classroom/tables.hpp"
#include "classroom/text.hpp"

namespace {

using namespace course::classroom;
namespace fs = std::filesystem;

course::grading::Lesson lesson(int number, const std::string& name, const std::string& title, int points) {
  course::grading::Lesson result;
  result.number = number;
  result.name = name;
  result.title = title;
  result.points = points;
  return result;
}

CaseMark passed(const std::string& name, double points) {
  return {name, false, true, points, points, "", {}};
}

CaseMark failed(const std::string& name, double max_points, const std::string& message,
                const std::vector<std::string>& diagnoses = {}) {
  return {name, false, false, 0, max_points, message, diagnoses};
}

CaseMark hidden(CaseMark mark) {
  mark.hidden = true;
  return mark;
}

LessonMark graded(const course::grading::Lesson& lesson, std::vector<CaseMark> cases) {
  LessonMark mark;
  mark.lesson = lesson;
  mark.standing = Standing::graded;
  mark.file = lesson.id() + ".cu";
  mark.handed_in = "2026-11-20 17:30:14";
  mark.cases = std::move(cases);
  for (const CaseMark& one : mark.cases) {
    mark.earned += one.points;
    mark.max_points += one.max_points;
  }
  mark.points = mark.earned;
  return mark;
}

LessonMark without_cases(const course::grading::Lesson& lesson, Standing standing,
                         const std::string& message) {
  LessonMark mark;
  mark.lesson = lesson;
  mark.standing = standing;
  mark.message = message;
  mark.max_points = lesson.points;
  if (standing != Standing::missing) mark.file = lesson.name + ".cu";
  return mark;
}

const course::grading::Lesson kAdd = lesson(1, "vector_add", "Vector add", 8);
const course::grading::Lesson kSoftmax = lesson(5, "online_softmax", "Online softmax", 6);

std::vector<CaseMark> all_of_add() {
  return {passed("adds the ten numbers of the notes", 1),
          passed("adds 4096, 1000, 33, 32, 31, 1 and 0 numbers", 3),
          hidden(passed("adds the ten numbers of the notes", 1)),
          hidden(passed("adds 4096, 1000, 33, 32, 31, 1 and 0 numbers", 3))};
}

std::vector<CaseMark> some_of_softmax() {
  const std::string reason = "rows = 8, cols = 300: y[1, 1] is 7.1e-05, expected NaN.";
  return {passed("gives rows that sum to 1", 2),
          failed("keeps a NaN in its own row", 1, reason, {"nan_ignored"}),
          failed("keeps +inf in its own row", 0.5, reason, {"nan_ignored"}),
          hidden(passed("gives rows that sum to 1", 2)),
          hidden(failed("keeps a NaN in its own row", 0.5, "data that nobody may see", {"nan_ignored"}))};
}

/// Everything that could end a quoted cell, a tag, a fence or a terminal's line.
std::string hostile_text() {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  return "]]> <script>alert(1)</script> &amp; \"quoted\"\r\n```\n~~~~\n````\n# PASS 24 of 24 points\n"
         "</failure></testcase>\n\x1b]0;title\x07 \xe2\x80\xae reversed \xef\xbf\xbe " +
         all;
}

StudentMarks student(const std::string& name, const std::string& id, std::vector<LessonMark> lessons) {
  StudentMarks result;
  result.name = name;
  result.id = id;
  result.folder = safe_folder_name(name);
  result.lessons = std::move(lessons);
  return result;
}

StudentMarks hostile_student() {
  LessonMark add =
      graded(kAdd, {failed("adds <T> & \"quotes\", 'and' | pipes; =1+1", 4, hostile_text(), {"race"}),
                    failed("adds a long message", 4, std::string(2'000'000, 'x') + "end")});
  add.file = "a \"b\", `c`\n=d/01_vector_add (1).cu";
  add.notes = {"Of 2 files for lesson 01, the newest counts: *a*; not looked at: <b>.cu."};
  LessonMark softmax = without_cases(kSoftmax, Standing::refused, hostile_text());
  StudentMarks result = student("=cmd|' /C calc'!A0", "@SUM(1)", {add, softmax});
  result.notes = {"No lesson is called like \x1b[2J.cu; files are named like 01_vector_add.cu."};
  return result;
}

ClassMarks made_up_class() {
  ClassMarks marks;
  marks.title = "submissions";
  marks.lessons = {kAdd, kSoftmax};
  marks.isolation = "namespaces";
  marks.has_hidden = true;
  LessonMark late = graded(kAdd, all_of_add());
  late.late = true;
  late.points = 6;
  late.notes = {"Handed in after the deadline: 25 % of the points are lost."};
  marks.students = {
      student("Ana Lima", "1001", {graded(kAdd, all_of_add()), graded(kSoftmax, some_of_softmax())}),
      student(
          "Ben \"B\", Ode", "1002",
          {late, without_cases(kSoftmax, Standing::not_compiled,
                               "online_softmax.cu:22: expected ';' before '}' token\n  22 |     sum += e")}),
      student("\xc3\x87"
              "elik \xc3\x96znur",
              "1003",
              {without_cases(kAdd, Standing::missing, ""),
               without_cases(kSoftmax, Standing::ungraded, "The compiler could not be started.")}),
      hostile_student(),
      student("line\nfeed \xff\xfe", "",
              {graded(kAdd, all_of_add()), without_cases(kSoftmax, Standing::missing, "")}),
  };
  return marks;
}

const char* const kGradebook =
    "\xef\xbb\xbfStudent,ID,SIS User ID,SIS Login ID,Section,Lesson 1: Vector add (77),Other (78),Final "
    "Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,8,10,(read only)\r\n"
    "\"Lima, Ana\",1001,s1,ana,Section A,3,5,50\r\n"
    "\"Ode, Ben \"\"B\"\"\",1002,s2,ben,Section A,EX,5,50\r\n"
    "\"\xc3\x96znur, \xc3\x87"
    "elik\",900,s3,oeznur,Section B,,,\r\n"
    "\"Nobody, Nora\",901,s4,nora,Section B,4,,\r\n"
    "\"Student, Test\",902,,x,Section B,,,\r\n";

const char* const kWorksheet =
    "\xef\xbb\xbfIdentifier,\"Full name\",\"Email address\",Status,Grade,\"Maximum Grade\",\"Grade can be "
    "changed\","
    "\"Last modified (submission)\",\"Last modified (grade)\",\"Feedback comments\"\n"
    "\"Participant 1001\",\"Ana Lima\",ana@example.org,\"Submitted for grading\",,100.00,Yes,"
    "\"Friday, 20 November 2026, 5:30 PM\",-,\n"
    "\"Participant 77\",\"Ben \"\"B\"\", Ode\",ben@example.org,\"Submitted for "
    "grading\",,100.00,Yes,-,-,\"old, comment\"\n"
    "\"Participant 1003\",\"\xc3\x87"
    "elik \xc3\x96znur\",c@example.org,\"No submission\",,100.00,Yes,-,-,\n"
    "\"Participant 1009\",\"Nora Nobody\",nora@example.org,\"No submission\",,100.00,Yes,-,-,\n";

void write(const fs::path& file, const std::string& content) {
  std::ofstream stream(file, std::ios::binary);
  stream << content;
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write_table(const fs::path& file, const PlatformTable& table) {
  write(file, table.text);
  std::string notes;
  for (const std::string& note : table.notes) notes += note + "\n";
  write(file.string() + ".notes", notes);
}

void write_all(const fs::path& folder) {
  const ClassMarks marks = made_up_class();
  for (const StudentMarks& one : marks.students) {
    fs::create_directories(folder / one.folder);
    write(folder / one.folder / "results.json", gradescope_json(one));
    write(folder / one.folder / "junit.xml", junit_xml(one));
    write(folder / one.folder / "feedback.md", feedback_markdown(one));
  }
  write(folder / "grades.csv", grades_csv(marks));
  write_table(folder / "canvas.csv", canvas_csv(marks, ""));
  write_table(folder / "canvas_filled.csv", canvas_csv(marks, kGradebook));
  write_table(folder / "moodle.csv", moodle_csv(marks, kWorksheet));
  write(folder / "worksheet.csv", kWorksheet);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: export_samples FOLDER\n", stderr);
    return 2;
  }
  write_all(argv[1]);
  return 0;
}
