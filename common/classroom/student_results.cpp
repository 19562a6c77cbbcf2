#include "classroom/student_results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "classroom/text.hpp"

namespace course::classroom {
namespace {

using Json = nlohmann::ordered_json;

/// Without the noise that sums of decimal fractions leave in the last digits.
double rounded(double points) { return std::round(points * 1e6) / 1e6; }

std::string standing_explanation(const LessonMark& mark) {
  const std::string message = standing_message(mark);
  return standing_sentence(mark.standing) + (message.empty() ? "" : "\n" + message);
}

/// A test with what all have. An empty explanation means that it passed.
Json gradescope_test(const std::string& name, const std::string& number, double score, double max_score,
                     const std::string& explanation) {
  Json test;
  test["name"] = name;
  test["name_format"] = "text";
  test["number"] = number;
  test["score"] = rounded(score);
  test["max_score"] = rounded(max_score);
  test["status"] = explanation.empty() ? "passed" : "failed";
  if (!explanation.empty()) {
    test["output"] = explanation;
    test["output_format"] = "text";
  }
  return test;
}

void append_gradescope_tests(Json& tests, const LessonMark& mark) {
  const std::string title = lesson_title(mark.lesson);
  if (!has_cases(mark)) {
    Json test = gradescope_test(title, std::to_string(mark.lesson.number), 0, mark.max_points,
                                standing_explanation(mark));
    test["tags"] = {mark.lesson.id(), standing_name(mark.standing)};
    test["visibility"] = "visible";
    tests.push_back(std::move(test));
    return;
  }
  for (std::size_t i = 0; i < mark.cases.size(); ++i) {
    const CaseMark& one = mark.cases[i];
    Json test = gradescope_test(fmt::format("{}: {}", title, case_title(one)),
                                fmt::format("{}.{}", mark.lesson.number, i + 1), one.points, one.max_points,
                                case_explanation(one));
    test["tags"] = {mark.lesson.id()};
    if (one.hidden) test["tags"].push_back("hidden");
    for (const std::string& diagnosis : one.diagnoses) test["tags"].push_back(one_line(diagnosis));
    test["visibility"] = one.hidden ? "after_published" : "visible";
    tests.push_back(std::move(test));
  }
}

std::string gradescope_output(const StudentMarks& student) {
  std::string output =
      fmt::format("{} of {} points.\n", format_points(points(student)), format_points(max_points(student)));
  for (const LessonMark& mark : student.lessons)
    if (mark.standing == Standing::ungraded)
      output += fmt::format("{}: {}\n", lesson_title(mark.lesson), standing_sentence(mark.standing));
  for (const std::string& note : student.notes) output += one_line(note) + "\n";
  for (const LessonMark& mark : student.lessons)
    for (const std::string& note : mark.notes)
      output += fmt::format("{}: {}\n", lesson_title(mark.lesson), one_line(note));
  return output;
}

/// Not shown to students by Gradescope, but exported by it.
Json gradescope_extra(const StudentMarks& student) {
  Json lessons = Json::array();
  for (const LessonMark& mark : student.lessons) {
    Json one;
    one["lesson"] = mark.lesson.id();
    one["standing"] = standing_name(mark.standing);
    one["points"] = mark.standing == Standing::ungraded ? Json() : Json(rounded(mark.points));
    one["max_points"] = rounded(mark.max_points);
    one["late"] = mark.late;
    lessons.push_back(std::move(one));
  }
  return {{"student", one_line(student.name)}, {"id", one_line(student.id)}, {"lessons", std::move(lessons)}};
}

std::string attribute(const char* name, const std::string& value) {
  return fmt::format(" {}=\"{}\"", name, xml_escape(one_line(value)));
}

std::string property(const char* name, const std::string& value) {
  return fmt::format("      <property{}{}/>\n", attribute("name", name), attribute("value", value));
}

/// <failure> or <error>; its message is the explanation's first line.
std::string junit_fault(const char* element, const std::string& type, const std::string& explanation) {
  const std::string first_line = explanation.substr(0, explanation.find('\n'));
  return fmt::format("      <{0}{1}{2}>{3}</{0}>\n", element, attribute("message", cut_text(first_line, 300)),
                     attribute("type", type), xml_escape(explanation));
}

std::string junit_case(const LessonMark& mark, const std::string& name, const std::string& fault) {
  const std::string head =
      fmt::format("    <testcase{}{}", attribute("name", name), attribute("classname", mark.lesson.id()));
  return fault.empty() ? head + "/>\n" : head + ">\n" + fault + "    </testcase>\n";
}

struct JunitCounts {
  std::size_t tests = 0, failures = 0, errors = 0;

  std::string attributes() const {
    return fmt::format(R"( tests="{}" failures="{}" errors="{}" skipped="0")", tests, failures, errors);
  }
};

std::string junit_cases(const LessonMark& mark, JunitCounts& counts) {
  if (!has_cases(mark)) {
    const bool machine = mark.standing == Standing::ungraded;
    counts = {1, machine ? 0u : 1u, machine ? 1u : 0u};
    return junit_case(
        mark, "is graded",
        junit_fault(machine ? "error" : "failure", standing_name(mark.standing), standing_explanation(mark)));
  }
  std::string text;
  for (const CaseMark& one : mark.cases) {
    ++counts.tests;
    std::string fault;
    if (!one.passed) {
      ++counts.failures;
      const std::string type = one.diagnoses.empty() ? "failed" : one.diagnoses[0];
      fault = junit_fault("failure", type, case_explanation(one));
    }
    text += junit_case(mark, case_title(one), fault);
  }
  return text;
}

std::string junit_suite(const LessonMark& mark, JunitCounts& total) {
  JunitCounts counts;
  const std::string cases = junit_cases(mark, counts);
  total.tests += counts.tests;
  total.failures += counts.failures;
  total.errors += counts.errors;
  std::string properties = property("standing", standing_name(mark.standing));
  if (mark.standing != Standing::ungraded) properties += property("points", format_points(mark.points));
  properties += property("max_points", format_points(mark.max_points));
  return fmt::format("  <testsuite{}{}>\n    <properties>\n{}    </properties>\n{}  </testsuite>\n",
                     attribute("name", mark.lesson.id()), counts.attributes(), properties, cases);
}

}  // namespace

std::string lesson_title(const grading::Lesson& lesson) { return lesson.two_digits() + " " + lesson.title; }

std::string case_title(const CaseMark& mark) {
  return one_line(mark.name) + (mark.hidden ? " (hidden data)" : "");
}

std::string case_explanation(const CaseMark& mark) {
  if (mark.passed) return "";
  std::string text = mark.hidden ? "Fails on hidden data of the same kind."
                                 : printable_lines(cut_text(mark.message, kMaxMessage));
  if (text.empty()) text = "The case failed without a message.";
  for (std::size_t i = 0; i < mark.diagnoses.size(); ++i)
    text += (i == 0 ? "\nDiagnosis: " : ", ") + one_line(mark.diagnoses[i]);
  return text;
}

bool has_cases(const LessonMark& mark) { return mark.standing == Standing::graded && !mark.cases.empty(); }

std::string standing_sentence(Standing standing) {
  switch (standing) {
    case Standing::graded:
      return "This lesson has no tests.";
    case Standing::not_compiled:
      return "The file does not compile, so that no test could run.";
    case Standing::refused:
      return "The file is refused, so that no test was run.";
    case Standing::missing:
      return "Nothing was handed in for this lesson.";
    case Standing::ungraded:
      break;
  }
  return "This lesson has not been graded yet. That is no fault of yours: the machine that grades has "
         "failed, and your file will be graded again. Until then 0 points stand here.";
}

std::string standing_message(const LessonMark& mark) {
  // Why a machine failed is for whoever runs it, and may name its folders.
  if (mark.standing == Standing::ungraded) return "";
  return printable_lines(cut_text(mark.message, kMaxMessage));
}

std::string gradescope_json(const StudentMarks& student) {
  Json results;
  results["score"] = rounded(points(student));
  results["output"] = gradescope_output(student);
  results["output_format"] = "text";
  results["visibility"] = "visible";
  results["stdout_visibility"] = "hidden";
  results["tests"] = Json::array();
  for (const LessonMark& mark : student.lessons) append_gradescope_tests(results["tests"], mark);
  results["extra_data"] = gradescope_extra(student);
  return results.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string junit_xml(const StudentMarks& student) {
  JunitCounts total;
  std::string suites;
  for (const LessonMark& mark : student.lessons) suites += junit_suite(mark, total);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites{}{}>\n{}</testsuites>\n",
                     attribute("name", student.name), total.attributes(), suites);
}

}  // namespace course::classroom
