#include "classroom/class_grader.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "classroom/text.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/stub.hpp"

namespace course::classroom {
namespace {

using Clock = std::chrono::steady_clock;
using grading::Lesson;

/// A file to judge, for all who handed in the same.
struct Task {
  Lesson lesson;
  std::string content;
  std::vector<std::size_t> students;  // who wait for it
  std::optional<FileVerdict> verdict;
};

class ClassGrader {
 public:
  ClassGrader(SubmissionJudge& judge, const VerdictStore& store, const GradeOrder& order)
      : judge_(judge), store_(store), order_(order), left_(order.students.size(), 0) {
    collect_tasks();
  }

  std::vector<StudentMarks> run() {
    std::vector<StudentMarks> all(order_.students.size());
    std::size_t next = 0;  // student whose results are written next
    {
      const std::vector<std::jthread> workers = start_workers();
      for (; next < all.size(); ++next) {
        if (!wait_until([&] { return left_[next] == 0; })) break;
        all[next] = marks_of(next);
        if (order_.on_student) order_.on_student(all[next]);
      }
    }
    if (problem_) std::rethrow_exception(problem_);
    return all;
  }

  std::map<std::string, std::string> run_part() {
    std::erase_if(open_, [this](std::size_t task) { return !order_.part.has(task); });
    {
      const std::vector<std::jthread> workers = start_workers();
      wait_until([this] { return done_ == open_.size(); });
    }
    if (problem_) std::rethrow_exception(problem_);
    std::unique_lock lock(mutex_);
    report(lock);
    std::map<std::string, std::string> ungraded;
    for (const std::size_t index : open_) {
      const Task& task = tasks_[index];
      if (task.verdict->standing == Standing::ungraded)
        ungraded[VerdictStore::name_of(judge_.conditions(task.lesson), task.content)] = task.verdict->message;
    }
    return ungraded;
  }

  std::size_t unjudged() const { return open_.size(); }

 private:
  void collect_tasks();
  std::vector<std::jthread> start_workers() {
    std::vector<std::jthread> workers;
    const std::size_t count = std::min<std::size_t>(std::max(order_.jobs, 1u), open_.size());
    for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
    return workers;
  }
  std::size_t task_of(const Lesson& lesson, const std::string& content);
  void work();
  std::optional<std::size_t> take();
  void finish(std::size_t task, FileVerdict verdict);
  template <class Done>
  bool wait_until(Done done);
  void report(std::unique_lock<std::mutex>& lock);
  StudentMarks marks_of(std::size_t student) const;

  SubmissionJudge& judge_;
  const VerdictStore& store_;
  const GradeOrder& order_;
  std::vector<Task> tasks_;
  std::map<std::pair<int, std::string>, std::size_t> known_;  // task by lesson and content
  std::vector<std::size_t> open_;  // tasks without a verdict, in the order of students

  std::mutex mutex_;  // of all that follows, and of the tasks' verdicts
  std::condition_variable changed_;
  std::size_t taken_ = 0, done_ = 0, ungraded_ = 0;
  std::vector<std::size_t> left_;  // by student: tasks that are not judged yet
  std::string last_;
  std::exception_ptr problem_;
  Clock::time_point start_ = Clock::now();
};

std::size_t ClassGrader::task_of(const Lesson& lesson, const std::string& content) {
  const auto [place, added] = known_.try_emplace({lesson.number, content}, tasks_.size());
  if (added) tasks_.push_back({lesson, content, {}, store_.find(judge_.conditions(lesson), content)});
  return place->second;
}

void ClassGrader::collect_tasks() {
  for (std::size_t i = 0; i < order_.students.size(); ++i) {
    const Student& student = order_.students[i];
    for (const Lesson& lesson : order_.lessons) {
      const auto found = student.by_lesson.find(lesson.number);
      if (found == student.by_lesson.end() || !found->second.problem.empty()) continue;
      const std::size_t task = task_of(lesson, found->second.content);
      if (order_.again && order_.again(student, lesson)) {
        tasks_[task].verdict.reset();
        if (order_.elsewhere) store_.forget(judge_.conditions(lesson), found->second.content);
      }
      tasks_[task].students.push_back(i);
    }
  }
  for (std::size_t task = 0; task < tasks_.size(); ++task) {
    if (tasks_[task].verdict) continue;
    open_.push_back(task);
    for (const std::size_t student : tasks_[task].students) ++left_[student];
  }
}

std::optional<std::size_t> ClassGrader::take() {
  const std::lock_guard lock(mutex_);
  if (problem_ || taken_ == open_.size()) return std::nullopt;
  return open_[taken_++];
}

void ClassGrader::work() {
  while (const auto task = take()) {
    try {
      const auto& [lesson, content, students, verdict] = tasks_[*task];
      finish(*task,
             order_.elsewhere ? order_.elsewhere(*task, lesson, content) : judge_.judge(lesson, content));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
      changed_.notify_all();
    }
  }
}

void ClassGrader::finish(std::size_t index, FileVerdict verdict) {
  Task& task = tasks_[index];
  if (verdict.standing != Standing::ungraded && !order_.elsewhere)
    verdict = store_.keep(judge_.conditions(task.lesson), task.content, verdict);
  const std::lock_guard lock(mutex_);
  task.verdict = std::move(verdict);
  for (const std::size_t student : task.students) --left_[student];
  last_ =
      fmt::format("{} {}", one_line(order_.students[task.students.front()].name), task.lesson.two_digits());
  ++done_;
  if (task.verdict->standing == Standing::ungraded) ++ungraded_;
  changed_.notify_all();
}

/// Waits until enough files are judged. False: the run has come to a problem.
template <class Done>
bool ClassGrader::wait_until(Done done) {
  std::unique_lock lock(mutex_);
  while (!done() && !problem_) {
    report(lock);
    changed_.wait_for(lock, std::chrono::milliseconds(500));
    try {
      grading::throw_if_interrupted();
    } catch (...) {
      problem_ = std::current_exception();
    }
  }
  return !problem_;
}

void ClassGrader::report(std::unique_lock<std::mutex>& lock) {
  if (!order_.on_progress) return;
  GradeProgress progress{
      .done = done_, .total = open_.size(), .ungraded = ungraded_, .seconds_left = 0, .last = last_};
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (done_ > 0)
    progress.seconds_left = elapsed / static_cast<double>(done_) * static_cast<double>(open_.size() - done_);
  lock.unlock();
  order_.on_progress(progress);
  lock.lock();
}

StudentMarks ClassGrader::marks_of(std::size_t index) const {
  const Student& student = order_.students[index];
  StudentMarks marks;
  marks.name = student.name;
  marks.id = student.id;
  marks.notes = student.notes;
  marks.uncounted = student.uncounted;
  for (const Lesson& lesson : order_.lessons) {
    const auto found = student.by_lesson.find(lesson.number);
    if (found == student.by_lesson.end()) {
      marks.lessons.push_back(student.unreadable.empty() ? mark_of_missing(lesson)
                                                         : mark_of_unreadable(lesson, student.unreadable));
      continue;
    }
    const Submission& submission = found->second;
    if (submission.unreadable) {
      marks.lessons.push_back(mark_of_unreadable(lesson, submission.problem));
      continue;
    }
    if (!submission.problem.empty()) {
      FileVerdict refused;
      refused.standing = Standing::refused;
      refused.message = submission.problem;
      marks.lessons.push_back(mark_of(lesson, submission, refused, order_.policy));
      continue;
    }
    const Task& task = tasks_[known_.at({lesson.number, submission.content})];
    marks.lessons.push_back(mark_of(lesson, submission, task.verdict.value(), order_.policy));
    if (task.students.front() != index) marks.lessons.back().seconds = 0;
  }
  return marks;
}

}  // namespace

std::vector<StudentMarks> grade_class(SubmissionJudge& judge, const VerdictStore& store,
                                      const GradeOrder& order) {
  return ClassGrader(judge, store, order).run();
}

std::map<std::string, std::string> judge_part(SubmissionJudge& judge, const VerdictStore& store,
                                              const GradeOrder& order) {
  return ClassGrader(judge, store, order).run_part();
}

std::size_t count_unjudged(SubmissionJudge& judge, const VerdictStore& store, const GradeOrder& order) {
  return ClassGrader(judge, store, order).unjudged();
}

std::map<int, std::set<std::string>> judge_solutions(SubmissionJudge& judge, const VerdictStore& store,
                                                     const GradeOrder& order) {
  GradeOrder solutions{.lessons = {},
                       .students = {},
                       .policy = {},
                       .jobs = order.jobs,
                       .again = {},
                       .on_progress = order.on_progress,
                       .on_student = {},
                       .part = {},
                       .elsewhere = {}};
  Student course;
  course.name = "worked solution";
  for (const Lesson& lesson : order.lessons) {
    if (!std::filesystem::exists(lesson.solution())) continue;
    solutions.lessons.push_back(lesson);
    course.by_lesson[lesson.number].content = grading::page_of(grading::read_file(lesson.solution()));
  }
  solutions.students.push_back(course);
  std::map<int, std::set<std::string>> without_twin;
  const auto give_up = [&](const LessonMark& mark, const std::string& why) {
    // Not kept: next time the machine may have less to do.
    store.forget(judge.conditions(mark.lesson), course.by_lesson.at(mark.lesson.number).content);
    throw grading::MachineError(fmt::format(
        "Nothing can be judged: the worked solution of lesson {} does not pass on this machine. {}",
        mark.lesson.two_digits(), why));
  };
  const StudentMarks marks = grade_class(judge, store, solutions).front();
  for (const LessonMark& mark : marks.lessons) {
    if (mark.standing != Standing::graded) give_up(mark, mark.message);
    for (const CaseMark& one : mark.cases) {
      if (one.passed) continue;
      if (!one.hidden) give_up(mark, fmt::format("\"{}\" says: {}", one.name, one.message));
      without_twin[mark.lesson.number].insert(one.name);
    }
  }
  return without_twin;
}

}  // namespace course::classroom
