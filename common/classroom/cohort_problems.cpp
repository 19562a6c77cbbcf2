#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "classroom/cohort_html.hpp"
#include "classroom/cohort_numbers.hpp"
#include "classroom/cohort_sections.hpp"
#include "classroom/file_names.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

constexpr std::size_t kStopped = 30, kReasons = 3, kUncounted = 200;

/// The lessons of a student whose mark has this standing.
std::vector<std::size_t> lessons_with(const ClassMarks& marks, const StudentMarks& student,
                                      Standing standing) {
  std::vector<std::size_t> lessons;
  for (std::size_t i = 0; i < std::min(student.lessons.size(), marks.lessons.size()); ++i) {
    if (student.lessons[i].standing == standing) lessons.push_back(i);
  }
  return lessons;
}

/// The reasons of ungraded files, those of most files first.
std::string reasons(const ClassMarks& marks) {
  std::map<std::string, std::size_t> counts;
  for (const StudentMarks& student : marks.students) {
    for (const LessonMark& mark : student.lessons) {
      if (mark.standing == Standing::ungraded) ++counts[headline(mark.message)];
    }
  }
  counts.erase("");
  std::vector<std::pair<std::string, std::size_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string html;
  for (std::size_t i = 0; i < std::min(list.size(), kReasons); ++i) {
    html += fmt::format("<li>{} ({})</li>\n", list[i].first, grading::plural(list[i].second, "file"));
  }
  if (html.empty()) return "";
  return fmt::format("<p>{}:</p>\n<ul>\n{}</ul>\n",
                     list.size() > kReasons ? "The most frequent reasons" : "Reasons", html);
}

std::string standing_words(Standing standing) {
  return standing == Standing::refused ? "refused" : "not compiled";
}

/// The first kStopped files that were not compiled or refused, with the first words of why.
std::string stopped_files(const ClassMarks& marks) {
  std::vector<std::vector<std::string>> rows;
  for (const StudentMarks& student : marks.students) {
    for (std::size_t i = 0; i < std::min(student.lessons.size(), marks.lessons.size()); ++i) {
      const LessonMark& mark = student.lessons[i];
      if (level(mark) != Level::stopped) continue;
      rows.push_back({name_html(student.name), marks.lessons[i].two_digits(), standing_words(mark.standing),
                      headline(mark.message)});
    }
  }
  if (rows.empty()) return "";
  const std::size_t all = rows.size();
  rows.resize(std::min(all, kStopped));
  std::string html = table("stopped-files", "Files that have no points, as no test could run",
                           {{"Student"}, {"Lesson"}, {"What"}, {"First line of why"}}, rows);
  if (all > kStopped) {
    html +=
        paragraph(fmt::format("And {} more; the table of students marks them with C or R.", all - kStopped));
  }
  return html;
}

/// The files that nobody got points for, as no lesson is called so, and what belongs to no student.
std::string uncounted_files(const ClassMarks& marks) {
  std::vector<std::vector<std::string>> rows;
  std::size_t all = 0;
  for (const StudentMarks& student : marks.students) {
    for (const UncountedFile& file : student.uncounted) {
      if (++all > kUncounted) continue;
      rows.push_back({name_html(student.name), name_html(shown(file.file)), escaped(file.why),
                      file.meant.empty() ? "" : escaped(file.meant + ".cu")});
    }
  }
  std::string html;
  if (!rows.empty())
    html = table("uncounted", "Files that counted for no lesson",
                 {{"Student"}, {"File"}, {"Why"}, {"Probably"}}, rows);
  if (all > kUncounted) html += paragraph(fmt::format("And {} more.", all - kUncounted));
  for (const std::string& note : marks.notes) html += paragraph(escaped(note));
  return html;
}

}  // namespace

std::string ungraded_box(const ClassMarks& marks) {
  std::size_t count = 0;
  std::string students;
  for (const StudentMarks& student : marks.students) {
    const std::vector<std::size_t> lessons = lessons_with(marks, student, Standing::ungraded);
    count += lessons.size();
    if (lessons.empty()) continue;
    students += fmt::format("<li>{}: {}</li>\n", name_html(student.name), lesson_list(marks, lessons));
  }
  if (count == 0) return "";
  const std::string content =
      paragraph(
          "This machine failed here, not the students. <strong>Run the same command again:</strong> it "
          "grades what is missing and keeps everything else. Until then these files count in no mean.") +
      "<ul class=\"names\">\n" + students + "</ul>\n" + reasons(marks);
  return fmt::format(
      "<section id=\"ungraded\" class=\"box\" aria-labelledby=\"ungraded-title\">\n"
      "<h2 id=\"ungraded-title\">{} not graded</h2>\n{}</section>\n",
      grading::plural(count, "file") + (count == 1 ? " is" : " are"), content);
}

std::string stopped_section(const ClassMarks& marks) {
  const std::vector<LessonNumbers> numbers = lesson_numbers(marks);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const LessonNumbers& one = numbers[i];
    if (one.not_compiled + one.refused + one.missing + one.late + one.ungraded == 0) continue;
    rows.push_back({lesson_html(marks.lessons[i]), std::to_string(one.not_compiled),
                    std::to_string(one.refused), std::to_string(one.missing), std::to_string(one.late),
                    std::to_string(one.ungraded)});
  }
  return section("stopped", "What went wrong before any test",
                 table_or(marks.students.empty() ? "There are no files."
                                                 : "Nothing: all files came in time and were tested.",
                          "stopped", "Files, by lesson",
                          {{"Lesson"},
                           {"Not compiled", true},
                           {"Refused", true},
                           {"Missing", true},
                           {"Late", true},
                           {"Not graded", true}},
                          rows) +
                     stopped_files(marks) + uncounted_files(marks));
}

}  // namespace course::classroom
