#include <fmt/format.h>

#include <stdexcept>

#include "classroom/platform_table.hpp"
#include "classroom/student_results.hpp"
#include "classroom/tables.hpp"
#include "classroom/text.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

/// A gradebook as Canvas exports it.
struct Gradebook {
  std::vector<CsvLine> lines;
  std::size_t identity_columns = 0;                           // those up to Section
  std::vector<std::optional<std::size_t>> assignment_column;  // of each lesson
  const CsvLine* points_possible = nullptr;
  std::vector<const CsvLine*> students;
};

std::string without_canvas_id(const std::string& header) {
  const std::size_t open = header.rfind(" (");
  const bool numbered = open != std::string::npos && header.ends_with(')') &&
                        header.find_first_not_of("0123456789", open + 2) == header.size() - 1;
  return numbered ? header.substr(0, open) : header;
}

std::optional<std::size_t> find_assignment(const CsvLine& header, std::size_t from,
                                           const grading::Lesson& lesson) {
  const std::string title = letters_only(lesson.title), name = letters_only(lesson.name);
  for (std::size_t column = from; column < header.cells.size(); ++column) {
    std::string found = letters_only(without_canvas_id(trimmed(header.cells[column].text)));
    if (found.starts_with("lesson")) found.erase(0, 6);
    const std::string number = std::to_string(lesson.number);
    if (found.starts_with(lesson.two_digits()))
      found.erase(0, 2);
    else if (found.starts_with(number))
      found.erase(0, number.size());
    if (!found.empty() && (found == title || found == name)) return column;
  }
  return {};
}

constexpr const char* kPointsPossible = "    Points Possible";  ///< the first cell of Canvas's second line

Gradebook read_gradebook(const ClassMarks& marks, const std::string& text) {
  Gradebook gradebook;
  gradebook.lines = parse_csv_lines(text, guess_separator(text));
  const auto section = gradebook.lines.empty() ? std::nullopt : find_column(gradebook.lines[0], "Section");
  if (!section || !find_column(gradebook.lines[0], "ID"))
    throw std::invalid_argument(
        "This is no gradebook of Canvas: its first line lacks the columns ID and Section. Export one under "
        "Grades, Export, and give the file as it is.");
  gradebook.identity_columns = *section + 1;
  for (const grading::Lesson& lesson : marks.lessons)
    gradebook.assignment_column.push_back(
        find_assignment(gradebook.lines[0], gradebook.identity_columns, lesson));
  for (const CsvLine& line : gradebook.lines) {
    if (&line == &gradebook.lines[0]) continue;
    if (trimmed(cell_text(line, 0)) == trimmed(kPointsPossible))
      gradebook.points_possible = &line;
    else if (!trimmed(cell_text(line, 0)).empty())  // without a name it is Canvas's row about hidden grades
      gradebook.students.push_back(&line);
  }
  return gradebook;
}

/// Canvas takes each line for that of the points possible whose first cell has these words.
std::string canvas_name(const std::string& name) {
  std::string shown = spreadsheet_safe(one_line(name));
  const std::string words = grading::ascii_lower(trimmed(kPointsPossible));
  constexpr std::string_view kNoBreak = "\xc2\xa0";
  for (std::size_t at = 0; (at = grading::ascii_lower(shown).find(words, at)) != std::string::npos;)
    shown.replace(shown.find(' ', at), 1, kNoBreak);
  return shown;
}

RosterRow canvas_row(const CsvLine& header, const CsvLine& line) {
  RosterRow row;
  for (const char* name : {"ID", "SIS User ID", "SIS Login ID", "Integration ID"})
    if (const auto column = find_column(header, name)) row.ids.push_back(trimmed(cell_text(line, *column)));
  const auto last = find_column(header, "LastName"), first = find_column(header, "FirstName");
  row.name = last && first ? cell_text(line, *last) + ", " + cell_text(line, *first) : cell_text(line, 0);
  return row;
}

std::string canvas_points(const LessonMark& mark, const std::string& before) {
  const bool excused = grading::ascii_lower(trimmed(before)) == "ex";
  return excused || mark.standing == Standing::ungraded ? spreadsheet_safe(before) : points_cell(mark);
}

CsvRow with_identity(const Gradebook& gradebook, const CsvLine& line) {
  CsvRow row;
  for (std::size_t column = 0; column < gradebook.identity_columns; ++column)
    row.push_back(spreadsheet_safe(cell_text(line, column)));
  return row;
}

std::string before(const Gradebook& gradebook, const CsvLine& line, std::size_t lesson) {
  const auto column = gradebook.assignment_column[lesson];
  return column ? cell_text(line, *column) : "";
}

void append_header(const ClassMarks& marks, const Gradebook& gradebook, std::vector<CsvRow>& rows,
                   std::vector<std::string>& notes) {
  CsvRow titles = with_identity(gradebook, gradebook.lines[0]), possible(gradebook.identity_columns);
  possible[0] = kPointsPossible;
  for (std::size_t lesson = 0; lesson < marks.lessons.size(); ++lesson) {
    const std::string title = lesson_title(marks.lessons[lesson]);
    const std::string max = format_points(lesson_max_points(marks, lesson));
    titles.push_back(spreadsheet_safe(before(gradebook, gradebook.lines[0], lesson)));
    possible.push_back(max);
    if (titles.back().empty()) {
      titles.back() = spreadsheet_safe(title);
      notes.push_back(fmt::format(
          "The gradebook has no assignment \"{}\": Canvas will ask whether to create it.", title));
    } else if (gradebook.points_possible != nullptr) {
      const auto there = number_in(before(gradebook, *gradebook.points_possible, lesson));
      if (there && !same_points(*there, lesson_max_points(marks, lesson)))
        notes.push_back(
            fmt::format("In Canvas the assignment \"{}\" has {} points, here {}: set it to {} in Canvas.",
                        title, format_points(*there), max, max));
    }
  }
  rows.push_back(std::move(titles));
  rows.push_back(std::move(possible));
}

PlatformTable fill_gradebook(const ClassMarks& marks, const std::string& text) {
  const Gradebook gradebook = read_gradebook(marks, text);
  PlatformTable table;
  std::vector<CsvRow> rows;
  append_header(marks, gradebook, rows, table.notes);
  std::vector<RosterRow> roster;
  for (const CsvLine* line : gradebook.students) roster.push_back(canvas_row(gradebook.lines[0], *line));
  const Entries entries = find_entries(marks, roster, "gradebook");
  for (std::size_t i = 0; i < gradebook.students.size(); ++i) {
    const CsvLine& line = *gradebook.students[i];
    const auto entry = entries.by_row.find(i);
    CsvRow row = with_identity(gradebook, line);
    for (std::size_t lesson = 0; lesson < marks.lessons.size(); ++lesson) {
      const std::string there = before(gradebook, line, lesson);
      row.push_back(entry == entries.by_row.end() ? spreadsheet_safe(there)
                                                  : canvas_points(entry->second->lessons[lesson], there));
    }
    rows.push_back(std::move(row));
  }
  table.notes.insert(table.notes.end(), entries.notes.begin(), entries.notes.end());
  table.text = format_csv(rows);
  return table;
}

}  // namespace

PlatformTable canvas_csv(const ClassMarks& marks, const std::string& gradebook) {
  if (!gradebook.empty()) return fill_gradebook(marks, gradebook);
  std::vector<CsvRow> rows = {{"Student", "ID", "SIS User ID", "SIS Login ID", "Section"},
                              {kPointsPossible, "", "", "", ""}};
  for (std::size_t lesson = 0; lesson < marks.lessons.size(); ++lesson) {
    rows[0].push_back(spreadsheet_safe(lesson_title(marks.lessons[lesson])));
    rows[1].push_back(format_points(lesson_max_points(marks, lesson)));
  }
  for (const StudentMarks& student : marks.students) {
    CsvRow& row = rows.emplace_back(
        CsvRow{canvas_name(student.name), spreadsheet_safe(one_line(student.id)), "", "", ""});
    for (const LessonMark& mark : student.lessons) row.push_back(points_cell(mark));
  }
  return {format_csv(rows), {}};
}

}  // namespace course::classroom
