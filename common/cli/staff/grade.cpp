#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "classroom/batch_queue.hpp"
#include "classroom/class_grader.hpp"
#include "classroom/class_parts.hpp"
#include "classroom/cluster_run.hpp"
#include "classroom/lesson_choice.hpp"
#include "classroom/results_folder.hpp"
#include "classroom/similarity.hpp"
#include "classroom/text.hpp"
#include "cli/commands.hpp"
#include "cli/staff/cluster_job.hpp"
#include "cli/workspace.hpp"
#include "grading/base/messages.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/build/kernel_cache.hpp"
#include "grading/confinement/sandbox.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::classroom;
using namespace course::grading;

/// "about 3 min left", so that nobody takes it for exact.
std::string time_left(double seconds) {
  if (seconds < 1) return "";
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  if (seconds < 90) return fmt::format(", about {:.0f} s left", std::ceil(seconds / 10) * 10);
  if (minutes < 90) return fmt::format(", about {} min left", minutes);
  return fmt::format(", about {} h {} min left", minutes / 60, minutes % 60);
}

std::optional<std::uint64_t> read_secret_seed(const std::string& word) {
  if (word.empty()) return std::nullopt;
  std::string text = word;
  if (fs::is_regular_file(word)) text = read_file(word);
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; }),
             text.end());
  constexpr std::size_t kMostDigits = 18;
  const bool number =
      !text.empty() && text.size() <= kMostDigits &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!number)
    throw UsageError(
        fmt::format("--secret-seed {}: that is neither a whole number of at most {} digits nor a file that "
                    "holds one.",
                    word, kMostDigits));
  return std::stoull(text);
}

/// Nobody could tell hidden cases from those that students have.
void require_other_seed(const GradeArguments& arguments, const std::optional<std::uint64_t>& secret) {
  if (secret && (*secret == 0 || *secret == arguments.seed))
    throw UsageError(
        fmt::format("--secret-seed {}: that is a seed that students know. Take a large number at random.",
                    arguments.secret_seed));
}

std::string read_table(const std::string& option, const std::string& file) {
  if (file.empty()) return "";
  try {
    return read_file(file);
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("{} {}: {}.", option, file, error.code().message()));
  }
}

/// Those that --lessons names, or all that anybody handed in.
std::vector<Lesson> choose_lessons(const Workspace& workspace, const std::vector<std::string>& words,
                                   const std::vector<Student>& students) {
  if (!words.empty()) return workspace.select(words);
  std::vector<Lesson> lessons;
  for (const Lesson& lesson : workspace.lessons()) {
    const bool handed_in = std::any_of(students.begin(), students.end(), [&](const Student& student) {
      return student.by_lesson.contains(lesson.number);
    });
    if (handed_in) lessons.push_back(lesson);
  }
  if (lessons.empty())
    throw UsageError(
        "There is no file for any lesson in the submissions. Files are called like 01_vector_add.cu.");
  return lessons;
}

/// Which verdicts --regrade takes back: those of students by name, of lessons, or all.
class Regrading {
 public:
  Regrading(const Workspace& workspace, const std::vector<std::string>& words,
            const std::vector<Student>& students) {
    for (const std::string& word : words) {
      const bool is_student = std::any_of(students.begin(), students.end(),
                                          [&](const Student& student) { return student.name == word; });
      if (is_student) {
        students_.insert(word);
        continue;
      }
      try {
        for (const Lesson& lesson : workspace.select({word})) lessons_.insert(lesson.number);
      } catch (const UnknownLesson&) {
        throw UsageError(fmt::format("--regrade {}: there is no student and no lesson of that name.", word));
      }
    }
  }
  bool operator()(const Student& student, const Lesson& lesson) const {
    return students_.contains(student.name) || lessons_.contains(lesson.number);
  }

 private:
  std::set<std::string> students_;
  std::set<int> lessons_;
};

/// Folders for the results, no two the same.
std::vector<std::string> folders_of(const std::vector<Student>& students) {
  std::vector<std::string> folders;
  std::set<std::string> taken;
  for (const Student& student : students) {
    const std::string plain = safe_folder_name(student.name);
    std::string folder = plain;
    for (int number = 2; !taken.insert(folder).second; ++number) folder = fmt::format("{}~{}", plain, number);
    folders.push_back(folder);
  }
  return folders;
}

void print_student(const Terminal& terminal, const StudentMarks& student) {
  const auto ungraded = std::count_if(
      student.lessons.begin(), student.lessons.end(),
      [](const LessonMark& lesson) { return lesson.standing == classroom::Standing::ungraded; });
  terminal.clear_progress();
  const std::string line = fmt::format(
      "  {:>7} of {}  {}{}", format_points(classroom::points(student)), format_points(max_points(student)),
      ungraded > 0 ? fmt::format("({} not graded) ", ungraded) : "", one_line(student.name));
  fmt::print("{}", terminal.paint(ungraded > 0 ? Style::bad : Style::plain, wrap(line, 0, terminal.width())));
  std::fflush(stdout);
}

std::size_t count_ungraded(const ClassMarks& marks) {
  std::size_t count = 0;
  for (const StudentMarks& student : marks.students)
    for (const LessonMark& lesson : student.lessons)
      count += lesson.standing == classroom::Standing::ungraded ? 1 : 0;
  return count;
}

/// Of all that verdicts depend on beside the files, for a run on another machine to compare.
std::string conditions_of(SubmissionJudge& judge, const std::vector<Lesson>& lessons) {
  ContentHash hash;
  for (const Lesson& lesson : lessons) hash.add(judge.conditions(lesson));
  return hash.hex();
}

/// What the runs of this file share, from the arguments to the marks.
class ClassRun {
 public:
  ClassRun(const Terminal& terminal, const GradeArguments& arguments, fs::path scratch)
      : terminal_(terminal), arguments_(arguments), workspace_(terminal), scratch_(std::move(scratch)) {}

  int grade(const ResultsFolder& results);
  int grade_part(const Part& part, const PartFolder& folder);

 private:
  void read_options();
  GradeOrder read_order();
  SubmissionJudge make_judge(const Sandbox& sandbox) const;
  Sandbox make_sandbox() const;
  std::vector<Student> read_students();
  void show(const GradeProgress& progress);
  void show_cluster_notes();
  ClusterOrder cluster_order(const ResultsFolder& results, const GradeOrder& order,
                             const std::string& conditions, std::size_t files);
  void print_uncounted(const ClassMarks& marks) const;
  int finish(const ResultsFolder& results, ClassMarks marks, const ClassFormats& formats);

  const Terminal& terminal_;
  const GradeArguments& arguments_;
  Workspace workspace_;
  fs::path scratch_;
  CheckOptions backend_;
  std::optional<std::uint64_t> secret_seed_;
  std::vector<std::string> notes_;  ///< about what belongs to no student
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();  ///< of the progress, last
  std::mutex mutex_;                                                               ///< of what follows
  std::vector<std::string> cluster_notes_;                                         ///< that are not shown yet
};

std::vector<Student> ClassRun::read_students() {
  const SubmissionOptions options{
      .unpack_script = workspace_.toolchain().source_dir / "common/classroom/unpack_submissions.py",
      .scratch = scratch_,
      .deadline = arguments_.deadline,
      .on_note = [this](const std::string& note) {
        fmt::print("{}", wrap(note, 0, terminal_.width()));
        notes_.push_back(note);
      }};
  try {
    return read_submissions(arguments_.submissions, workspace_.lessons(), options);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

/// A bar where there is a terminal, else a line a minute, for those who look into a log.
void ClassRun::show(const GradeProgress& progress) {
  show_cluster_notes();
  const std::string left = time_left(progress.seconds_left);
  terminal_.show_progress(progress.last + left, progress.done, progress.total);
  const auto now = std::chrono::steady_clock::now();
  if (terminal_.shows_progress() || now - told_ < std::chrono::minutes(1)) return;
  told_ = now;
  fmt::print(stderr, "{} of {} files are judged{}.\n", progress.done, progress.total, left);
  std::fflush(stderr);
}

void ClassRun::show_cluster_notes() {
  std::vector<std::string> notes;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(cluster_notes_);
  }
  if (notes.empty()) return;
  terminal_.clear_progress();
  for (const std::string& note : notes) fmt::print(stderr, "{}", wrap(one_line(note), 0, terminal_.width()));
  std::fflush(stderr);
}

/// What counted for nobody may have been meant to.
void ClassRun::print_uncounted(const ClassMarks& marks) const {
  constexpr std::size_t kShown = 20;
  std::size_t students = 0;
  for (const StudentMarks& student : marks.students) {
    if (student.uncounted.empty() || ++students > kShown) continue;
    fmt::print("{}", wrap(fmt::format("Counted for no lesson: {}: {}", one_line(student.name),
                                      uncounted_list(student.uncounted)),
                          0, terminal_.width()));
  }
  if (students > kShown)
    fmt::print("{} more handed in files that counted for no lesson; index.html lists them.\n",
               plural(students - kShown, "student"));
}

Sandbox ClassRun::make_sandbox() const {
  Sandbox sandbox(arguments_.isolation == "process" ? Isolation::process : Isolation::namespaces,
                  arguments_.as_root);
  sandbox.require_reachable(scratch_);
  return sandbox;
}

/// What is to be judged, and by how many at a time; makes the lessons ready.
GradeOrder ClassRun::read_order() {
  backend_ = workspace_.choose_backend(arguments_.backend);
  GradeOrder order;
  order.students = read_students();
  order.lessons = choose_lessons(workspace_, arguments_.lessons, order.students);
  order.policy.late_share = arguments_.late_percent / 100;
  order.jobs = arguments_.jobs != 0 ? arguments_.jobs : std::max(1u, std::thread::hardware_concurrency());
  order.again = Regrading(workspace_, arguments_.regrade, order.students);
  order.on_progress = [this](const GradeProgress& progress) { show(progress); };
  workspace_.make_ready(order.lessons);
  return order;
}

SubmissionJudge ClassRun::make_judge(const Sandbox& sandbox) const {
  return {workspace_.toolchain(),
          sandbox,
          workspace_.lessons(),
          {.backend = backend_.backend,
           .architectures = backend_.architectures,
           .seed = arguments_.seed,
           .secret_seed = secret_seed_,
           .only_cuda = !arguments_.any_words},
          scratch_};
}

/// What is wrong with the options is said first, whoever grades.
void ClassRun::read_options() {
  secret_seed_ = read_secret_seed(arguments_.secret_seed);
  require_other_seed(arguments_, secret_seed_);
  (void)parse_time(arguments_.deadline);
  if (!arguments_.lessons.empty()) (void)workspace_.select(arguments_.lessons);
}

int ClassRun::grade(const ResultsFolder& results) {
  read_options();
  ClassFormats formats{
      .page_style = read_file(workspace_.toolchain().source_dir / "common/classroom/cohort.css"),
      .page_script = read_file(workspace_.toolchain().source_dir / "common/classroom/cohort.js"),
      .canvas_gradebook = read_table("--canvas", arguments_.canvas),
      .moodle_worksheet = read_table("--moodle", arguments_.moodle),
      .secret_seed = {}};
  const std::unique_ptr<BatchQueue> queue = arguments_.cluster.empty() ? nullptr : make_slurm_queue();
  const Sandbox sandbox = make_sandbox();
  GradeOrder order = read_order();
  formats.secret_seed = secret_seed_;
  SubmissionJudge judge = make_judge(sandbox);
  const VerdictStore store(results.verdicts());
  order.policy.without_twin = judge_solutions(judge, store, order);

  const std::vector<std::string> folders = folders_of(order.students);
  std::size_t written = 0;
  order.on_student = [&](StudentMarks& student) {
    student.folder = folders[written++];
    results.write(student);
    print_student(terminal_, student);
  };
  std::optional<ClusterRun> cluster;
  if (queue) {
    order.jobs = 1;  // it only waits
    order.elsewhere = [&](std::size_t file, const Lesson& lesson, const std::string& content) {
      return cluster.value().wait_for(file, judge.conditions(lesson), content);
    };
    const std::size_t files = count_unjudged(judge, store, order);
    order.again = {};  // their verdicts are forgotten by now
    if (files > 0)
      cluster.emplace(*queue, store,
                      cluster_order(results, order, conditions_of(judge, order.lessons), files));
  }
  ClassMarks marks;
  marks.title = fs::absolute(arguments_.submissions).lexically_normal().stem().string();
  marks.lessons = order.lessons;
  marks.students = grade_class(judge, store, order);
  marks.backend = backend_.backend;
  marks.isolation = arguments_.isolation;
  marks.seed = arguments_.seed;
  marks.has_hidden = formats.secret_seed.has_value();
  marks.notes = notes_;
  show_cluster_notes();
  if (arguments_.similarity)
    export_for_similarity(fs::path(arguments_.out) / "similarity", order.students, order.lessons);
  return finish(results, std::move(marks), formats);
}

ClusterOrder ClassRun::cluster_order(const ResultsFolder& results, const GradeOrder& order,
                                     const std::string& conditions, std::size_t files) {
  constexpr std::size_t kFilesOfTask = 10, kMostTasks = 200;
  ClusterOrder cluster;
  cluster.folder = parts_folder(fs::absolute(arguments_.out).lexically_normal());
  const std::size_t most = arguments_.tasks != 0 ? arguments_.tasks : kMostTasks;
  const std::size_t wanted = arguments_.tasks != 0 ? files : (files + kFilesOfTask - 1) / kFilesOfTask;
  cluster.parts = static_cast<unsigned>(std::min(wanted, most));
  cluster.conditions = conditions;
  cluster.script = cluster_job(arguments_, workspace_.toolchain().binary_dir, order.lessons, secret_seed_,
                               results.verdicts(), cluster.parts);
  cluster.on_note = [this](const std::string& note) {
    const std::lock_guard lock(mutex_);
    cluster_notes_.push_back(note);
  };
  return cluster;
}

int ClassRun::grade_part(const Part& part, const PartFolder& folder) {
  PartState state{.host = host_name(), .conditions = {}};
  try {
    read_options();
    const Sandbox sandbox = make_sandbox();
    GradeOrder order = read_order();
    SubmissionJudge judge = make_judge(sandbox);
    state.conditions = conditions_of(judge, order.lessons);
    write_state(folder.state(), state);
    const VerdictStore store(folder.verdicts());
    judge_solutions(judge, store, order);
    order.part = part;
    order.on_progress = [&](const GradeProgress& progress) {
      show(progress);
      const std::size_t judged = progress.done - progress.ungraded;
      if (judged == state.judged) return;
      state.judged = judged;
      write_state(folder.state(), state);
    };
    state.ungraded = judge_part(judge, store, order);
    state.ended = true;
    write_state(folder.state(), state);
  } catch (const std::exception& problem) {
    state.error = problem.what();
    write_state(folder.state(), state);
    throw;
  }
  terminal_.clear_progress();
  fmt::print("Part {} of {}: {} judged, {} not.\n", part.number, part.count, plural(state.judged, "file"),
             state.ungraded.size());
  return state.ungraded.empty() ? kAllPassed : kSomethingFailed;
}

int ClassRun::finish(const ResultsFolder& results, ClassMarks marks, const ClassFormats& formats) {
  terminal_.clear_progress();
  std::vector<std::string> notes;
  try {
    notes = results.write(marks, formats);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  for (const std::string& note : notes) fmt::print("{}", wrap(note, 0, terminal_.width()));
  print_uncounted(marks);
  const std::size_t ungraded = count_ungraded(marks);
  fmt::print(
      "{}", wrap(fmt::format("{}, {}. {} is the class at a glance.", plural(marks.students.size(), "student"),
                             plural(marks.lessons.size(), "lesson"),
                             (fs::path(arguments_.out) / "index.html").string()),
                 0, terminal_.width()));
  if (ungraded == 0) return kAllPassed;
  fmt::print("{}",
             wrap(fmt::format("{} could not be graded, which is no fault of the students. The same command "
                              "again grades what is left.",
                              plural(ungraded, "file")),
                  0, terminal_.width()));
  return kSomethingFailed;
}

}  // namespace

int run_grade(const Terminal& terminal, const GradeArguments& arguments) try {
  if (arguments.part.empty()) {
    const ResultsFolder results(arguments.out);
    return ClassRun(terminal, arguments, results.scratch()).grade(results);
  }
  if (!arguments.cluster.empty()) throw UsageError("--part and --cluster exclude each other.");
  const Part part = parse_part(arguments.part);
  const PartFolder folder(fs::absolute(arguments.out).lexically_normal(), part);
  return ClassRun(terminal, arguments, folder.scratch()).grade_part(part, folder);
} catch (const std::invalid_argument& error) {
  throw UsageError(error.what());
} catch (const Interrupted&) {
  if (!arguments.cluster.empty()) {
    terminal.clear_progress();
    fmt::print(stderr, "The cluster's tasks are ended; the same command goes on where it stopped.\n");
  }
  throw;
} catch (const std::system_error& error) {
  throw MachineError(
      fmt::format("Grading had to stop: {}. Mend that, then the same command goes on where it "
                  "stopped.",
                  error.what()));
}

}  // namespace course::cli
