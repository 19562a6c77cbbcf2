#include <nlohmann/json.hpp>
#include <stdexcept>

#include "classroom/csv.hpp"
#include "classroom/roster.hpp"
#include "classroom/student_results.hpp"
#include "classroom/tables.hpp"
#include "support/catch.hpp"

namespace {

using namespace course::classroom;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

course::grading::Lesson lesson(int number, const std::string& name, const std::string& title) {
  course::grading::Lesson result;
  result.number = number;
  result.name = name;
  result.title = title;
  result.points = 4;
  return result;
}

const course::grading::Lesson kAdd = lesson(1, "vector_add", "Vector add");
const course::grading::Lesson kSoftmax = lesson(5, "online_softmax", "Online softmax");

LessonMark without_cases(const course::grading::Lesson& lesson, Standing standing) {
  LessonMark mark;
  mark.lesson = lesson;
  mark.standing = standing;
  mark.max_points = 4;
  return mark;
}

/// `reached` of the cases pass, the others fail with the messages in turn; 1 point each.
LessonMark graded(const course::grading::Lesson& lesson, int reached,
                  const std::vector<std::string>& messages = {}) {
  LessonMark mark = without_cases(lesson, Standing::graded);
  for (int i = 0; i < reached; ++i) mark.cases.push_back({"passes", false, true, 1, 1, "", {}});
  for (const std::string& message : messages)
    mark.cases.push_back({"fails", false, false, 0, 1, message, {}});
  mark.earned = mark.points = reached;
  return mark;
}

StudentMarks student(const std::string& name, const std::string& id, std::vector<LessonMark> lessons = {}) {
  StudentMarks result;
  result.name = name;
  result.id = id;
  result.lessons = std::move(lessons);
  return result;
}

ClassMarks class_of(std::vector<StudentMarks> students) {
  ClassMarks marks;
  marks.lessons = {kAdd};
  marks.students = std::move(students);
  return marks;
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

std::optional<std::size_t> row_of(const StudentMarks& one, const std::vector<RosterRow>& rows) {
  return match_students({one}, rows)[0].row;
}

const std::string kWorksheet = "Identifier,Full name,Grade,Maximum Grade,Feedback comments\r\n";

}  // namespace

TEST_CASE("points are added without lessons that nobody could grade") {
  LessonMark ungraded = without_cases(kSoftmax, Standing::ungraded);
  ungraded.points = 3;  // whatever stands there means nothing
  const StudentMarks one = student("Ana", "", {graded(kAdd, 3, {"x"}), ungraded});
  CHECK(points(one) == 3);
  CHECK(max_points(one) == 8);
  CHECK(format_points(12) == "12");
  CHECK(format_points(12.5) == "12.5");
  CHECK(format_points(100) == "100");
  CHECK(format_points(1.0 / 3) == "0.33");
  CHECK(format_points(-0.001) == "0");
}

TEST_CASE(
    "grades.csv has the files that counted for nobody in the row of the lesson that they probably mean") {
  StudentMarks one = student("Ana", "7", {without_cases(kAdd, Standing::missing), graded(kSoftmax, 1)});
  one.uncounted = {{"vectoradd.cu", "no lesson is called so", kAdd.id()},
                   {"=x.7z", "an archive", ""},
                   {"softmx.cu", "no lesson is called so", kSoftmax.id()}};
  ClassMarks marks;
  marks.students = {one};
  const std::string table = grades_csv(marks);
  CHECK_THAT(table, ContainsSubstring(",not_counted\r\n") || ContainsSubstring(",not_counted\n"));
  CHECK_THAT(table, ContainsSubstring("vectoradd.cu, probably " + kAdd.id() + ".cu; '=x.7z"));
  CHECK_THAT(table, ContainsSubstring("softmx.cu, probably " + kSoftmax.id() + ".cu"));
}

TEST_CASE("Gradescope's score is what counts, not what was earned") {
  LessonMark late = graded(kAdd, 4);
  late.points = 2.8;
  late.notes = {"30 % are lost."};
  const auto json = nlohmann::json::parse(gradescope_json(student("Ana", "7", {late})));
  CHECK(json["score"].get<double>() == Approx(2.8));
  CHECK_THAT(json["output"].get<std::string>(), ContainsSubstring("30 % are lost."));
  CHECK(json["tests"].size() == 4);
  CHECK(json["tests"][2]["number"] == "1.3");
  CHECK(json["tests"][2]["name"] == "01 Vector add: passes");
  CHECK_FALSE(json.contains("max_score"));
  CHECK_FALSE(json.contains("execution_time"));
}

TEST_CASE("a lesson without cases is one test with the reason") {
  for (const Standing standing :
       {Standing::missing, Standing::not_compiled, Standing::refused, Standing::ungraded}) {
    LessonMark mark = without_cases(kAdd, standing);
    mark.message = "the reason";
    const auto json = nlohmann::json::parse(gradescope_json(student("Ana", "7", {mark})));
    REQUIRE(json["tests"].size() == 1);
    const auto& test = json["tests"][0];
    CHECK(test["score"] == 0);
    CHECK(test["max_score"] == 4);
    CHECK(test["status"] == "failed");
    // Why a machine failed is nothing for students.
    const bool tells_reason = test["output"].get<std::string>().find("the reason") != std::string::npos;
    CHECK(tells_reason == (standing != Standing::ungraded));
    const bool blames_machine =
        json["output"].get<std::string>().find("no fault of yours") != std::string::npos;
    CHECK(blames_machine == (standing == Standing::ungraded));
    CHECK(json["extra_data"]["lessons"][0]["points"].is_null() == (standing == Standing::ungraded));
  }
}

TEST_CASE("hidden cases are told by name and diagnosis only") {
  LessonMark mark = graded(kAdd, 0);
  mark.cases = {{"adds", true, false, 0, 1, "secret 41", {"race"}}};
  const StudentMarks one = student("Ana", "7", {mark});
  for (const std::string& text : {gradescope_json(one), junit_xml(one), feedback_markdown(one)}) {
    CHECK_THAT(text, ContainsSubstring("adds") && ContainsSubstring("race"));
    CHECK_THAT(text, !ContainsSubstring("secret") && !ContainsSubstring("41"));
  }
}

TEST_CASE("JUnit counts failures and errors apart") {
  const std::string xml = junit_xml(
      student("Ana", "7", {graded(kAdd, 2, {"x", "y"}), without_cases(kSoftmax, Standing::ungraded)}));
  CHECK_THAT(xml,
             ContainsSubstring(R"(<testsuites name="Ana" tests="5" failures="2" errors="1" skipped="0">)"));
  CHECK_THAT(xml, ContainsSubstring(R"(<testsuite name="01_vector_add" tests="4" failures="2" errors="0")"));
  CHECK_THAT(junit_xml(student("Ana", "", {without_cases(kAdd, Standing::missing)})),
             ContainsSubstring(R"(failures="1")") && ContainsSubstring(R"(type="missing")"));
}

TEST_CASE("feedback folds cases with the same message and fences it safely") {
  const std::string text = feedback_markdown(
      student("Ana *L*", "7", {graded(kAdd, 1, {"same\n```\n# no", "same\n```\n# no", "other"})}));
  CHECK_THAT(text, ContainsSubstring("# Feedback for Ana \\*L\\*\n"));
  CHECK_THAT(text, ContainsSubstring("````text\nsame\n```\n# no\n````\n"));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in the same way:"));
  CHECK(text.find("same\n") == text.rfind("same\n"));
  CHECK_THAT(text, ContainsSubstring("1 of 4 cases passed."));
  CHECK_THAT(text, ContainsSubstring("./course check 01 --file FILE"));
}

TEST_CASE("feedback takes no heading and no list from what a name begins with, after blanks either") {
  LessonMark mark = graded(kAdd, 1, {"x"});
  mark.notes = {" # 56 of 56 points.zip was not unpacked.",
                "      1. graded by hand",
                "  - and so on",
                "2.5 hours",
                "www.example.org and http://a.org",
                "@all"};
  const std::string text = feedback_markdown(student("Ana", "7", {mark}));
  CHECK_THAT(text, ContainsSubstring("- \\# 56 of 56") && ContainsSubstring("- 1\\. graded") &&
                       ContainsSubstring("- \\- and") && ContainsSubstring("- 2\\.5 hours") &&
                       ContainsSubstring("- www\\.example.org and http\\://a.org") &&
                       ContainsSubstring("- \\@all"));
}

TEST_CASE("feedback passes over perfect lessons and quotes no file name that a shell would read") {
  LessonMark odd = graded(kSoftmax, 1, {"x"});
  odd.file = "a; rm -r b.cu";
  const std::string text = feedback_markdown(student("Ana", "7", {graded(kAdd, 4), odd}));
  CHECK_THAT(text, !ContainsSubstring("## 01 Vector add") && !ContainsSubstring("check 01"));
  CHECK_THAT(text, ContainsSubstring("./course check 05 --file FILE"));
  CHECK_THAT(text, !ContainsSubstring("--file a; rm"));
}

TEST_CASE("a student is found by id, by login and by name in either order") {
  const std::vector<RosterRow> rows = {{{"11", "s1", "ana"}, "Lima, Ana"},
                                       {{"12", "s2", "ben@example.org"}, "Ode, Ben"},
                                       {{"13", "", ""},
                                        "\xc3\x96znur, \xc3\x87"
                                        "elik"}};
  CHECK(row_of(student("anything", "12"), rows) == 1u);
  CHECK(row_of(student("anything", "S2"), rows) == 1u);
  CHECK(row_of(student("ben", ""), rows) == 1u);
  CHECK(row_of(student("Ana Lima", ""), rows) == 0u);
  CHECK(row_of(student("limaana", "99"), rows) == 0u);
  CHECK(row_of(student("Ana Lima (99)", "99"), rows) == 0u);
  CHECK(row_of(student("\xc3\xb6znur\xc3\xa7"
                       "elik",
                       ""),
               rows) == 2u);
  CHECK_FALSE(row_of(student("", ""), rows));
  CHECK_FALSE(row_of(student("Ana", ""), {}));
}

TEST_CASE("nobody gets a row that fits two") {
  const std::vector<RosterRow> rows = {{{"11"}, "Ana Lima"}, {{"12"}, "Ana Lima"}};
  CHECK_FALSE(row_of(student("Ana Lima", ""), rows));
  const auto both =
      match_students({student("Ana Lima", ""), student("ana lima", "")}, {{{"11"}, "Ana Lima"}});
  CHECK_FALSE(both[0].row);
  CHECK_FALSE(both[1].row);
  const auto sure = match_students({student("x", "11"), student("Ana Lima", "")}, {{{"11"}, "Ana Lima"}});
  CHECK(sure[0].row == 0u);
  CHECK_THAT(sure[1].problem, ContainsSubstring("another student"));
  // Of two ids that fit one row, each in its own column, none is surer: a student may have chosen one.
  const auto ids = match_students({student("Bo", "1001"), student("Mo", "55")}, {{{"55", "1001"}, "Bo"}});
  CHECK_FALSE(ids[0].row);
  CHECK_FALSE(ids[1].row);
  // One who is called like another's login is no surer than one who has the other's name.
  const auto named =
      match_students({student("ada", ""), student("Ada Lovelace", "")}, {{{"11", "ada"}, "Lovelace, Ada"}});
  CHECK_FALSE(named[0].row);
  CHECK_FALSE(named[1].row);
}

TEST_CASE("canvas.csv keeps the gradebook's identities and cells that must not change") {
  const ClassMarks marks = class_of({student("Ana Lima", "11", {graded(kAdd, 3, {"x"})}),
                                     student("Ben Ode", "12", {without_cases(kAdd, Standing::ungraded)}),
                                     student("Zoe Unknown", "", {graded(kAdd, 4)})});
  const PlatformTable table = canvas_csv(marks,
                                         "Student;ID;SIS Login ID;Section;Vector add (5)\n"
                                         "    Points Possible;;;;10\n"
                                         "Lima, Ana;11;ana;A;1\nOde, Ben;12;ben;A;2\nPoe, Ida;13;ida;A;\n");
  CHECK(parse_csv(table.text) ==
        std::vector<CsvRow>{{"Student", "ID", "SIS Login ID", "Section", "Vector add (5)"},
                            {"    Points Possible", "", "", "", "4"},
                            {"Lima, Ana", "11", "ana", "A", "3"},
                            {"Ode, Ben", "12", "ben", "A", "2"},
                            {"Poe, Ida", "13", "ida", "A", ""}});
  CHECK_THAT(joined(table.notes), ContainsSubstring("Zoe Unknown has no row in the gradebook"));
  CHECK_THAT(joined(table.notes), ContainsSubstring("Poe, Ida"));
  CHECK_THAT(joined(table.notes), ContainsSubstring("has 10 points, here 4"));
  CHECK_THROWS_WITH(canvas_csv(marks, "a,b\n1,2\n"), ContainsSubstring("no gradebook of Canvas"));
}

TEST_CASE("nobody's name is the line of the points possible") {
  const ClassMarks marks = class_of({student("Max POINTS Possible", "11", {graded(kAdd, 3, {"x"})})});
  const std::vector<CsvRow> rows = parse_csv(canvas_csv(marks, "").text);
  CHECK(rows[1][0] == "    Points Possible");
  CHECK(rows[2][0] == "Max POINTS\xc2\xa0Possible");
  const PlatformTable table = canvas_csv(marks,
                                         "Student,ID,SIS Login ID,Section,Vector add (5)\n"
                                         "    Points Possible,,,,4\n\"Points Possible, Max\",11,max,A,1\n");
  CHECK(parse_csv(table.text)[2] == CsvRow{"Points Possible, Max", "11", "max", "A", "3"});
}

TEST_CASE("an ungraded lesson is an empty cell, never 0") {
  const ClassMarks marks = class_of({student("Ana", "11", {without_cases(kAdd, Standing::ungraded)})});
  CHECK(parse_csv(grades_csv(marks))[1][4].empty());
  CHECK(parse_csv(canvas_csv(marks, "").text)[2][5].empty());
  const std::string row = "Participant 11,Ana,,4.00,\r\n";
  CHECK(moodle_csv(marks, kWorksheet + row).text == kWorksheet + row);
}

TEST_CASE("Moodle's worksheet gets the sum, scaled only where its maximum is another") {
  const ClassMarks marks = class_of({student("Ana Lima", "11", {graded(kAdd, 3, {"x"})})});
  const PlatformTable same = moodle_csv(marks, kWorksheet + "Participant 11,\"x, y\",,\"4,00\",\r\n");
  CHECK(same.text == kWorksheet +
                         "Participant 11,\"x, y\",3,\"4,00\",3 of 4 points. 01 Vector add: 3 of 4. "
                         "Failed: fails.\r\n");
  CHECK(same.notes.empty());
  const PlatformTable scaled = moodle_csv(marks, kWorksheet + "Participant 9,Ana Lima,,100,\r\n");
  CHECK(parse_csv(scaled.text)[1][2] == "75");
  CHECK_THAT(parse_csv(scaled.text)[1][4], ContainsSubstring("a grade of 75 of 100"));
  CHECK_THAT(joined(scaled.notes), ContainsSubstring("The grades are scaled"));
  const PlatformTable words = moodle_csv(marks, kWorksheet + "Participant 11,Ana,,Good,\r\n");
  CHECK(parse_csv(words.text)[1][2].empty());
  CHECK_THAT(joined(words.notes), ContainsSubstring("\"Good\" and no number"));
}

TEST_CASE("a worksheet that is none is refused") {
  CHECK_THROWS_WITH(moodle_csv(class_of({}), "a,b\n"), ContainsSubstring("Identifier and Grade"));
  CHECK_THROWS_WITH(moodle_csv(class_of({}), ""), ContainsSubstring("Identifier and Grade"));
  const ClassMarks marks = class_of({student("Ana", "11", {graded(kAdd, 4)})});
  CHECK_THROWS_WITH(moodle_csv(marks, kWorksheet + "Participant 11,Ana\r\n"), ContainsSubstring("Line 2"));
}

TEST_CASE("an empty class has tables without rows") {
  CHECK(parse_csv(grades_csv(class_of({}))).size() == 1);
  CHECK(parse_csv(canvas_csv(class_of({}), "").text)[1][5] == "4");
  CHECK_THAT(feedback_markdown(student("", "")), ContainsSubstring("0 of 0 points"));
  CHECK(nlohmann::json::parse(gradescope_json(student("", "")))["tests"].empty());
}
