#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "classroom/platform_table.hpp"
#include "classroom/student_results.hpp"
#include "classroom/tables.hpp"
#include "classroom/text.hpp"

namespace course::classroom {
namespace {

constexpr std::size_t kNamedCases = 10;  // of those that failed, in a comment

struct Worksheet {
  std::vector<CsvLine> lines;
  std::size_t identifier = 0, grade = 0;
  std::optional<std::size_t> name, maximum, feedback;
};

/// A piece of the worksheet and what stands there instead.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

Worksheet read_worksheet(const std::string& text) {
  Worksheet sheet;
  sheet.lines = parse_csv_lines(text, guess_separator(text));
  const CsvLine header = sheet.lines.empty() ? CsvLine() : sheet.lines[0];
  const auto identifier = find_column(header, "Identifier"), grade = find_column(header, "Grade");
  if (!identifier || !grade)
    throw std::invalid_argument(
        "This is no grading worksheet of Moodle: its first line lacks the columns Identifier and Grade. Set "
        "Moodle's language to English, download the worksheet under Grading action, and give the file as it "
        "is.");
  sheet.identifier = *identifier;
  sheet.grade = *grade;
  sheet.name = find_column(header, "Full name");
  sheet.maximum = find_column(header, "Maximum grade");
  sheet.feedback = find_column(header, "Feedback comments");
  return sheet;
}

/// "Participant 123" is 123 in the names of Moodle's downloads.
std::string participant_number(const std::string& identifier) {
  const std::string text = trimmed(identifier);
  return text.substr(text.find_last_not_of("0123456789") + 1);
}

RosterRow moodle_row(const Worksheet& sheet, const CsvLine& line) {
  RosterRow row;
  row.ids.push_back(participant_number(cell_text(line, sheet.identifier)));
  for (const char* name : {"ID number", "Username", "Email address"})
    if (const auto column = find_column(sheet.lines[0], name))
      row.ids.push_back(trimmed(cell_text(line, *column)));
  row.name = sheet.name ? cell_text(line, *sheet.name) : cell_text(line, sheet.identifier);
  return row;
}

/// Moodle takes a comment for HTML, and then quotes are harmless.
std::string moodle_escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>')
      result += html_escape(std::string_view(&c, 1));
    else
      result += c;
  }
  return result;
}

std::string lesson_comment(const LessonMark& mark) {
  std::string text = fmt::format("{}: {} of {}", lesson_title(mark.lesson), format_points(mark.points),
                                 format_points(mark.max_points));
  if (mark.late) text += ", late";
  if (!has_cases(mark)) return text + ". " + standing_sentence(mark.standing);
  const std::string failed = failed_names(mark, kNamedCases);
  return text + (failed.empty() ? "." : ". Failed: " + failed + ".");
}

std::string comment(const StudentMarks& student, const std::string& scaled) {
  std::string text = fmt::format("{} of {} points{}.", format_points(points(student)),
                                 format_points(max_points(student)), scaled);
  for (const LessonMark& mark : student.lessons) text += " " + lesson_comment(mark);
  return spreadsheet_safe(moodle_escape(text));
}

Edit replace_cell(const CsvCell& cell, const std::string& text) {
  return {cell.begin, cell.end, format_csv_cell(text)};
}

void fill_line(const Worksheet& sheet, const CsvLine& line, const StudentMarks& student,
               std::vector<Edit>& edits, std::vector<std::string>& notes) {
  const std::string name = one_line(student.name);
  if (has_ungraded(student)) {
    notes.push_back(
        fmt::format("{} has a lesson that is not graded yet: the worksheet's row is left as it was.", name));
    return;
  }
  if (line.cells.size() != sheet.lines[0].cells.size())
    throw std::invalid_argument(
        fmt::format("Line {} of the worksheet has {} cells, but its first line has {}.", line.number,
                    line.cells.size(), sheet.lines[0].cells.size()));
  const double max = max_points(student);
  double grade = points(student);
  std::string scaled;
  if (sheet.maximum && !trimmed(cell_text(line, *sheet.maximum)).empty()) {
    const auto maximum = number_in(cell_text(line, *sheet.maximum));
    if (!maximum) {
      notes.push_back(
          fmt::format("{} cannot be given a grade, since the Maximum grade is \"{}\" and no number.", name,
                      one_line(cell_text(line, *sheet.maximum))));
      return;
    }
    if (!same_points(*maximum, max) && max > 0) {
      grade *= *maximum / max;
      scaled =
          fmt::format(", which makes a grade of {} of {}", format_points(grade), format_points(*maximum));
      const std::string note = fmt::format(
          "The grades are scaled: the worksheet's Maximum grade is {}, and all lessons together have {} "
          "points.",
          format_points(*maximum), format_points(max));
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  edits.push_back(replace_cell(line.cells[sheet.grade], format_points(grade)));
  if (sheet.feedback) edits.push_back(replace_cell(line.cells[*sheet.feedback], comment(student, scaled)));
}

std::string with_edits(const std::string& text, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    result += text.substr(at, edit.begin - at) + edit.text;
    at = edit.end;
  }
  return result + text.substr(at);
}

}  // namespace

PlatformTable moodle_csv(const ClassMarks& marks, const std::string& worksheet) {
  const Worksheet sheet = read_worksheet(worksheet);
  std::vector<RosterRow> roster;
  for (std::size_t row = 1; row < sheet.lines.size(); ++row)
    roster.push_back(moodle_row(sheet, sheet.lines[row]));
  const Entries entries = find_entries(marks, roster, "worksheet");
  PlatformTable table;
  std::vector<Edit> edits;
  for (const auto& [row, student] : entries.by_row)
    fill_line(sheet, sheet.lines[row + 1], *student, edits, table.notes);
  table.notes.insert(table.notes.end(), entries.notes.begin(), entries.notes.end());
  table.text = with_edits(worksheet, std::move(edits));
  return table;
}

}  // namespace course::classroom
