#include <fmt/format.h>

#include <algorithm>

#include "classroom/student_results.hpp"
#include "classroom/text.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

/// The text in one line, with a backslash before all that Markdown would take for a sign, at its begin as
/// well.
std::string inline_markdown(std::string_view text) {
  constexpr std::string_view kSigns = "\\`*[]<>|~&$@";
  constexpr std::string_view kSignsAtBegin = "#+-=";
  std::string line = one_line(text);
  line.erase(0, line.find_first_not_of(' '));  // five of them would begin a block of code
  std::string result;
  bool number = true;  // only digits so far: a point after them makes a numbered list
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    // Between letters, as in vector_add, it is an underscore.
    const bool emphasis = c == '_' && (at == 0 || at + 1 == line.size() || !is_alphanumeric(line[at - 1]) ||
                                       !is_alphanumeric(line[at + 1]));
    const bool list = at > 0 && number && (c == '.' || c == ')');
    const std::string_view rest = std::string_view(line).substr(at);
    const std::string before = line.substr(at - std::min<std::size_t>(at, 3), std::min<std::size_t>(at, 3));
    const bool link = rest.starts_with("://") || (c == '.' && grading::ascii_lower(before) == "www");
    if (emphasis || list || link || kSigns.find(c) != std::string_view::npos ||
        (at == 0 && kSignsAtBegin.find(c) != std::string_view::npos))
      result += '\\';
    result += c;
    number = number && c >= '0' && c <= '9';
  }
  return result;
}

/// A block that shows the lines as they are. Its fence is longer than any run of backticks in it.
std::string block(const std::string& lines) {
  std::size_t longest = 2, run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}{}\n\n", fence, lines, lines.ends_with('\n') ? "" : "\n", fence);
}

std::string of_points(double reached, double of) {
  const std::string max = format_points(of);
  return fmt::format("{} of {} point{}", format_points(reached), max, max == "1" ? "" : "s");
}

/// A few words for the table of lessons.
std::string outcome(const LessonMark& mark) {
  switch (mark.standing) {
    case Standing::not_compiled:
      return "does not compile";
    case Standing::refused:
      return "refused";
    case Standing::missing:
      return "not handed in";
    case Standing::ungraded:
      return "not graded yet, through no fault of yours";
    case Standing::graded:
      break;
  }
  return fmt::format("{} of {} passed{}", passed_cases(mark), grading::plural(mark.cases.size(), "case"),
                     mark.late ? ", late" : "");
}

std::string lessons_table(const StudentMarks& student) {
  std::string text = "| lesson | points | of | result |\n|---|---|---|---|\n";
  for (const LessonMark& mark : student.lessons) {
    text += fmt::format("| {} | {} | {} | {} |\n", inline_markdown(lesson_title(mark.lesson)),
                        mark.standing == Standing::ungraded ? "?" : format_points(mark.points),
                        format_points(mark.max_points), outcome(mark));
  }
  return text + "\n";
}

std::string bullets(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "- " + inline_markdown(sentence) + "\n";
  return text.empty() ? "" : text + "\n";
}

std::string case_line(const CaseMark& one) {
  return fmt::format("{} ({})", inline_markdown(one.name), of_points(one.points, one.max_points));
}

bool fails_alike(const CaseMark& a, const CaseMark& b) {
  return a.message == b.message && a.diagnoses == b.diagnoses;
}

/// The case with its message, and the names of those that fail in the same way.
std::string failure(const CaseMark& first, const std::vector<const CaseMark*>& others) {
  std::string text = fmt::format("### {}\n\n{}", case_line(first), block(case_explanation(first)));
  if (others.empty()) return text;
  text += fmt::format("and {} {} in the same way:\n\n", grading::plural(others.size(), "more case"),
                      others.size() == 1 ? "fails" : "fail");
  for (const CaseMark* other : others) text += "- " + case_line(*other) + "\n";
  return text + "\n";
}

std::string open_failures(const LessonMark& mark) {
  std::vector<std::vector<const CaseMark*>> ways;
  for (const CaseMark& one : mark.cases) {
    if (one.passed || one.hidden) continue;
    const auto known = std::find_if(ways.begin(), ways.end(),
                                    [&](const auto& way) { return fails_alike(*way.front(), one); });
    if (known == ways.end())
      ways.push_back({&one});
    else
      known->push_back(&one);
  }
  std::string text;
  for (const auto& way : ways) text += failure(*way.front(), {way.begin() + 1, way.end()});
  return text;
}

std::string hidden_failures(const LessonMark& mark) {
  std::string text;
  for (const CaseMark& one : mark.cases) {
    if (one.passed || !one.hidden) continue;
    text += fmt::format("- {}: fails on hidden data of the same kind.", case_line(one));
    for (std::size_t i = 0; i < one.diagnoses.size(); ++i)
      text += (i == 0 ? " Diagnosis: " : ", ") + inline_markdown(one.diagnoses[i]);
    text += "\n";
  }
  return text.empty() ? "" : "### Hidden data\n\n" + text + "\n";
}

bool is_perfect(const LessonMark& mark) {
  return has_cases(mark) && passed_cases(mark) == mark.cases.size() && mark.points >= mark.max_points;
}

std::string file_line(const LessonMark& mark) {
  if (mark.file.empty()) return "";
  std::string text = "Your file: " + inline_markdown(mark.file);
  if (!mark.handed_in.empty()) text += ", handed in " + inline_markdown(mark.handed_in);
  return text + (mark.late ? ", late.\n\n" : ".\n\n");
}

std::string lesson_section(const LessonMark& mark) {
  if (is_perfect(mark) && mark.notes.empty()) return "";
  const bool ungraded = mark.standing == Standing::ungraded;
  std::string text = fmt::format("## {}: {}\n\n", inline_markdown(lesson_title(mark.lesson)),
                                 ungraded ? "not graded yet" : of_points(mark.points, mark.max_points));
  text += file_line(mark) + bullets(mark.notes);
  if (!has_cases(mark)) {
    const std::string message = standing_message(mark);
    return text + standing_sentence(mark.standing) + "\n\n" + (message.empty() ? "" : block(message));
  }
  text += fmt::format("{} of {} passed.\n\n", passed_cases(mark), grading::plural(mark.cases.size(), "case"));
  return text + open_failures(mark) + hidden_failures(mark);
}

/// The file's name where a shell takes it as it is.
std::string file_argument(const LessonMark& mark) {
  const bool plain = std::all_of(mark.file.begin(), mark.file.end(), [](char c) {
    return is_alphanumeric(c) || std::string_view("._/").find(c) != std::string_view::npos;
  });
  return plain && !mark.file.empty() ? mark.file : "FILE";
}

std::string how_to_check(const StudentMarks& student) {
  std::string commands;
  for (const LessonMark& mark : student.lessons)
    if (!is_perfect(mark))
      commands += fmt::format("./course check {} --file {}\n", mark.lesson.two_digits(), file_argument(mark));
  if (commands.empty()) return "";
  return "## How to check your work\n\nIn the course's folder, with FILE for your own file where it "
         "stands:\n\n" +
         block(commands);
}

std::string total(const StudentMarks& student) {
  std::string without;
  for (const LessonMark& mark : student.lessons)
    if (mark.standing == Standing::ungraded)
      without += (without.empty() ? ", without " : " and ") + inline_markdown(lesson_title(mark.lesson));
  return fmt::format("**{}**{}.\n\n", of_points(points(student), max_points(student)),
                     without.empty() ? "" : without + ", not graded yet");
}

}  // namespace

std::string feedback_markdown(const StudentMarks& student) {
  std::string text = fmt::format("# Feedback for {}\n\n", inline_markdown(student.name));
  text += total(student) + lessons_table(student) + bullets(student.notes);
  for (const LessonMark& mark : student.lessons) text += lesson_section(mark);
  text += how_to_check(student);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace course::classroom
