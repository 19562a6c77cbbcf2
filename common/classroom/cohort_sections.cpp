#include "classroom/cohort_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "classroom/cohort_html.hpp"
#include "classroom/cohort_numbers.hpp"
#include "grading/base/messages.hpp"
#include "simt/classes.hpp"

namespace course::classroom {
namespace {

constexpr std::size_t kCases = 15, kDiagnoses = 20, kSlowest = 10;

std::string isolation_words(const std::string& isolation) {
  if (isolation == "namespaces") return "Each file ran in a sandbox of its own (isolation: namespaces).";
  if (isolation == "process") {
    return "Each file ran in a process of its own, which is weaker than a sandbox (isolation: process).";
  }
  return isolation.empty() ? "" : "Isolation: " + escaped(isolation) + ".";
}

std::string hidden_words(const ClassMarks& marks) {
  if (!marks.has_hidden) return "There are no hidden cases.";
  return fmt::format("{} ran on data from a secret seed.",
                     grading::plural(hidden_cases(marks), "hidden case"));
}

std::string case_cell(std::size_t failed, std::size_t tested) {
  return fmt::format("{} of {} {}", failed, tested,
                     share_bar(static_cast<double>(failed) / static_cast<double>(tested)));
}

std::string diagnosis_words(const std::string& name) {
  const simt::check::FindingClass* const known = simt::check::find_class(name);
  return known == nullptr ? "A known mistake of the lesson; the student’s feedback.md explains it."
                          : escaped(known->meaning);
}

}  // namespace

std::string facts_line(const ClassMarks& marks) {
  return fmt::format("<p class=\"facts\">{}, {}, {}, graded {}. {} {}</p>\n",
                     grading::plural(marks.students.size(), "student"),
                     grading::plural(marks.lessons.size(), "lesson"), grading::plural(files(marks), "file"),
                     marks.backend == grading::Backend::gpu ? "on a GPU" : "in the simulator, on the CPU",
                     isolation_words(marks.isolation), hidden_words(marks));
}

std::string points_section(const ClassMarks& marks) {
  const TotalNumbers numbers = total_numbers(marks);
  if (numbers.max_points <= 0)
    return section("points", "Points", paragraph("There is nothing to reach points in."));
  if (numbers.known == 0) {
    return section(
        "points", "Points",
        paragraph(numbers.ungraded > 0 ? "No student’s points are known yet." : "There are no students."));
  }
  std::string words =
      fmt::format("Mean {}, median {} of {} points over all lessons. ", one_decimal(numbers.mean),
                  one_decimal(numbers.median), format_points(numbers.max_points));
  words += numbers.all_points == 0   ? "No student has all points."
           : numbers.all_points == 1 ? "1 student has all points."
                                     : fmt::format("{} students have all points.", numbers.all_points);
  words += " A lesson that was not handed in counts as 0.";
  if (numbers.ungraded > 0) {
    words += fmt::format(" Not counted: {} with a file that is not graded.",
                         grading::plural(numbers.ungraded, "student"));
  }
  return section(
      "points", "Points",
      paragraph(words) + "<figure>\n" + histogram(numbers) +
          "<figcaption>Students by the share of all points that they reached, in percent</figcaption>\n"
          "</figure>\n");
}

std::string lessons_section(const ClassMarks& marks) {
  const std::vector<LessonNumbers> numbers = lesson_numbers(marks);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const LessonNumbers& one = numbers[i];
    const std::string none = "–";
    rows.push_back({lesson_html(marks.lessons[i]), std::to_string(one.handed_in),
                    std::to_string(one.levels[static_cast<std::size_t>(Level::all)]),
                    one.known == 0 ? none : one_decimal(one.mean),
                    one.known == 0 ? none : one_decimal(one.median), std::to_string(marks.lessons[i].points),
                    level_bar(one)});
  }
  if (rows.empty()) return section("lessons", "Lessons", paragraph("No lesson was graded."));
  return section(
      "lessons", "Lessons",
      paragraph("Mean and median are those of the files that were handed in; one that does not compile, or "
                "is refused, counts as 0. The bar has the whole class, from all points at its left:") +
          level_key() +
          table("lessons", "Lessons, and what the class reached in them",
                {{"Lesson"},
                 {"Handed in", true},
                 {"All points", true},
                 {"Mean", true},
                 {"Median", true},
                 {"Of", true},
                 {"The class"}},
                rows));
}

std::string cases_section(const ClassMarks& marks) {
  std::vector<CaseNumbers> cases = failed_cases(marks);
  const std::size_t all = cases.size();
  cases.resize(std::min(all, kCases));
  std::vector<Column> columns = {{"Case"}, {"Failed", true}, {"Lesson"}};
  if (marks.has_hidden) columns.insert(columns.begin() + 2, {"Only on hidden data", true});
  std::vector<std::vector<std::string>> rows;
  for (const CaseNumbers& one : cases) {
    rows.push_back({escaped(one.name), case_cell(one.failed, one.tested)});
    if (marks.has_hidden) rows.back().push_back(std::to_string(one.failed_hidden_only));
    rows.back().push_back(lesson_html(marks.lessons[one.lesson]));
  }
  const std::string caption =
      all > kCases ? fmt::format("The {} cases that most students fail, of {} that anyone fails", kCases, all)
                   : "All cases that anyone fails";
  if (rows.empty())
    return section("cases", "Cases that most students fail", paragraph("No case was failed."));
  return section("cases", "Cases that most students fail",
                 paragraph("Of the files whose tests ran: one that does not compile fails no case.") +
                     table("cases", caption, columns, rows));
}

std::string diagnoses_section(const ClassMarks& marks) {
  std::vector<DiagnosisNumbers> list = diagnoses(marks);
  const std::size_t all = list.size();
  list.resize(std::min(all, kDiagnoses));
  std::vector<std::vector<std::string>> rows;
  for (const DiagnosisNumbers& one : list) {
    rows.push_back(
        {fmt::format("<code>{}</code><small>{}</small>", escaped(one.name), diagnosis_words(one.name)),
         std::to_string(one.students), lesson_list(marks, one.lessons)});
  }
  const std::string caption = all > kDiagnoses
                                  ? fmt::format("The {} most frequent of {} diagnoses", kDiagnoses, all)
                                  : "All diagnoses, the most frequent ones first";
  return section("diagnoses", "Diagnoses that most students get",
                 table_or("No mistake was recognised.", "diagnoses", caption,
                          {{"Diagnosis"}, {"Students", true}, {"Lessons"}}, rows));
}

std::string slowest_section(const ClassMarks& marks) {
  std::vector<std::vector<std::string>> rows;
  for (const FileTime& one : slowest_files(marks, kSlowest)) {
    rows.push_back({name_html(marks.students[one.student].name), lesson_html(marks.lessons[one.lesson]),
                    one_decimal(one.seconds)});
  }
  return section("slowest", "Slowest files",
                 table_or("No file took time of its own.", "slowest", "Files that took longest to grade",
                          {{"Student"}, {"Lesson"}, {"Seconds", true}}, rows));
}

}  // namespace course::classroom
