#include "classroom/cohort_numbers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace course::classroom {
namespace {

/// Sums of halves and of lateness' shares are not exact.
constexpr double kRounding = 1e-9;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Calls visit(student index, lesson index, mark) for every mark of the class, students outermost.
template <typename Visit>
void each_mark(const ClassMarks& marks, const Visit& visit) {
  for (std::size_t student = 0; student < marks.students.size(); ++student) {
    const std::vector<LessonMark>& lessons = marks.students[student].lessons;
    const std::size_t count = std::min(lessons.size(), marks.lessons.size());
    for (std::size_t lesson = 0; lesson < count; ++lesson) visit(student, lesson, lessons[lesson]);
  }
}

bool points_are_known(const LessonMark& mark) {
  return mark.standing != Standing::missing && mark.standing != Standing::ungraded;
}

void count(LessonNumbers& numbers, const LessonMark& mark) {
  const auto one_if = [&](Standing standing) { return mark.standing == standing ? std::size_t{1} : 0; };
  numbers.handed_in += 1 - one_if(Standing::missing);
  numbers.known += points_are_known(mark) ? 1 : 0;
  numbers.tested += one_if(Standing::graded);
  numbers.late += mark.late && mark.standing != Standing::missing ? 1 : 0;
  numbers.not_compiled += one_if(Standing::not_compiled);
  numbers.refused += one_if(Standing::refused);
  numbers.missing += one_if(Standing::missing);
  numbers.ungraded += one_if(Standing::ungraded);
  ++numbers.levels[static_cast<std::size_t>(level(mark))];
}

/// How one file did in the cases of one name.
struct Outcome {
  bool open = false, hidden = false;  ///< failed there
};

/// The cases of a file by name, in the order of the tests.
std::vector<std::pair<std::string, Outcome>> outcomes(const LessonMark& mark) {
  std::vector<std::pair<std::string, Outcome>> list;
  std::map<std::string, std::size_t> places;
  for (const CaseMark& one : mark.cases) {
    const auto [place, is_new] = places.emplace(one.name, list.size());
    if (is_new) list.emplace_back(one.name, Outcome{});
    Outcome& outcome = list[place->second].second;
    (one.hidden ? outcome.hidden : outcome.open) |= !one.passed;
  }
  return list;
}

}  // namespace

Level level(const LessonMark& mark) {
  switch (mark.standing) {
    case Standing::graded:
      break;
    case Standing::not_compiled:
    case Standing::refused:
      return Level::stopped;
    case Standing::missing:
      return Level::missing;
    case Standing::ungraded:
      return Level::ungraded;
  }
  if (mark.points >= mark.max_points - kRounding) return Level::all;
  if (mark.points >= mark.max_points / 2 - kRounding) return Level::most;
  return mark.points > kRounding ? Level::some : Level::none;
}

const char* level_words(Level level) {
  switch (level) {
    case Level::all:
      return "all points";
    case Level::most:
      return "at least half";
    case Level::some:
      return "less than half";
    case Level::none:
      return "no points";
    case Level::stopped:
      return "not compiled or refused";
    case Level::missing:
      return "not handed in";
    case Level::ungraded:
      return "not graded yet";
  }
  return "";
}

std::vector<LessonNumbers> lesson_numbers(const ClassMarks& marks) {
  std::vector<LessonNumbers> numbers(marks.lessons.size());
  std::vector<std::vector<double>> reached(marks.lessons.size());
  each_mark(marks, [&](std::size_t, std::size_t lesson, const LessonMark& mark) {
    count(numbers[lesson], mark);
    if (points_are_known(mark)) reached[lesson].push_back(mark.points);
  });
  for (std::size_t lesson = 0; lesson < numbers.size(); ++lesson) {
    LessonNumbers& one = numbers[lesson];
    const std::size_t absent = marks.students.size() - one.handed_in - one.missing;
    one.missing += absent;
    one.levels[static_cast<std::size_t>(Level::missing)] += absent;
    one.mean = mean_of(reached[lesson]);
    one.median = median_of(reached[lesson]);
  }
  return numbers;
}

std::vector<CaseNumbers> failed_cases(const ClassMarks& marks) {
  std::vector<CaseNumbers> list;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places;
  each_mark(marks, [&](std::size_t, std::size_t lesson, const LessonMark& mark) {
    if (mark.standing != Standing::graded) return;
    for (const auto& [name, outcome] : outcomes(mark)) {
      const auto [place, is_new] = places.emplace(std::pair(lesson, name), list.size());
      if (is_new) list.push_back({lesson, name, 0, 0, 0});
      CaseNumbers& numbers = list[place->second];
      ++numbers.tested;
      numbers.failed += outcome.open || outcome.hidden ? 1 : 0;
      numbers.failed_hidden_only += outcome.hidden && !outcome.open ? 1 : 0;
    }
  });
  std::erase_if(list, [](const CaseNumbers& one) { return one.failed == 0; });
  std::stable_sort(list.begin(), list.end(), [](const CaseNumbers& a, const CaseNumbers& b) {
    return a.failed != b.failed ? a.failed > b.failed : a.lesson < b.lesson;
  });
  return list;
}

std::vector<DiagnosisNumbers> diagnoses(const ClassMarks& marks) {
  struct Found {
    std::set<std::size_t> students, lessons;
  };
  std::map<std::string, Found> by_name;
  each_mark(marks, [&](std::size_t student, std::size_t lesson, const LessonMark& mark) {
    if (mark.standing != Standing::graded) return;
    for (const CaseMark& one : mark.cases) {
      for (const std::string& name : one.diagnoses) {
        by_name[name].students.insert(student);
        by_name[name].lessons.insert(lesson);
      }
    }
  });
  std::vector<DiagnosisNumbers> list;
  for (const auto& [name, found] : by_name) {
    list.push_back({name, found.students.size(), {found.lessons.begin(), found.lessons.end()}});
  }
  std::stable_sort(list.begin(), list.end(), [](const DiagnosisNumbers& a, const DiagnosisNumbers& b) {
    return a.students > b.students;
  });
  return list;
}

TotalNumbers total_numbers(const ClassMarks& marks) {
  TotalNumbers numbers;
  for (const grading::Lesson& lesson : marks.lessons) numbers.max_points += lesson.points;
  std::vector<double> totals;
  for (const StudentMarks& student : marks.students) {
    if (has_ungraded(student)) {
      ++numbers.ungraded;
      continue;
    }
    const double total = points(student);
    totals.push_back(total);
    if (numbers.max_points <= 0) continue;
    const double tenths = std::clamp(10 * total / numbers.max_points + kRounding, 0.0, 9.0);
    ++numbers.bins[static_cast<std::size_t>(tenths)];
    numbers.all_points += total >= numbers.max_points - kRounding ? 1 : 0;
  }
  numbers.known = totals.size();
  numbers.mean = mean_of(totals);
  numbers.median = median_of(totals);
  return numbers;
}

std::vector<FileTime> slowest_files(const ClassMarks& marks, std::size_t count) {
  std::vector<FileTime> list;
  each_mark(marks, [&](std::size_t student, std::size_t lesson, const LessonMark& mark) {
    if (mark.seconds > 0) list.push_back({student, lesson, mark.seconds});
  });
  std::stable_sort(list.begin(), list.end(),
                   [](const FileTime& a, const FileTime& b) { return a.seconds > b.seconds; });
  if (list.size() > count) list.resize(count);
  return list;
}

std::size_t hidden_cases(const ClassMarks& marks) {
  std::set<std::pair<std::size_t, std::string>> names;
  each_mark(marks, [&](std::size_t, std::size_t lesson, const LessonMark& mark) {
    for (const CaseMark& one : mark.cases) {
      if (one.hidden) names.emplace(lesson, one.name);
    }
  });
  return names.size();
}

std::size_t files(const ClassMarks& marks) {
  std::size_t sum = 0;
  for (const LessonNumbers& one : lesson_numbers(marks)) sum += one.handed_in;
  return sum;
}

}  // namespace course::classroom
