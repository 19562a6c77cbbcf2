#include "classroom/results_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "classroom/class_parts.hpp"
#include "classroom/cohort_page.hpp"
#include "classroom/csv.hpp"
#include "classroom/student_results.hpp"
#include "classroom/tables.hpp"
#include "classroom/text.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;

grading::Descriptor lock_folder(const fs::path& folder) {
  grading::Descriptor lock(open((folder / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (!lock)
    throw grading::MachineError(fmt::format("The folder {} cannot be written: {}.", folder.string(),
                                            std::error_code(errno, std::generic_category()).message()));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw std::invalid_argument(fmt::format(
        "{} is in use: another `./course grade` writes its results there.", folder.parent_path().string()));
  return lock;
}

std::string timings_csv(const ClassMarks& marks) {
  std::vector<std::vector<std::string>> rows{{"student", "lesson", "seconds"}};
  for (const StudentMarks& student : marks.students)
    for (const LessonMark& lesson : student.lessons)
      if (lesson.seconds > 0)
        rows.push_back({spreadsheet_safe(one_line(student.name)), lesson.lesson.two_digits(),
                        fmt::format("{:.2f}", lesson.seconds)});
  return format_csv(rows);
}

std::string run_json(const ClassMarks& marks, const std::optional<std::uint64_t>& secret_seed) {
  nlohmann::ordered_json run;
  run["version"] = 1;
  run["class"] = marks.title;
  run["students"] = marks.students.size();
  for (const grading::Lesson& lesson : marks.lessons) run["lessons"].push_back(lesson.id());
  run["backend"] = grading::backend_name(marks.backend);
  run["isolation"] = marks.isolation;
  run["seed"] = marks.seed;
  if (secret_seed) run["secret_seed"] = *secret_seed;
  return run.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

ResultsFolder::ResultsFolder(const fs::path& folder) : folder_(fs::absolute(folder).lexically_normal()) {
  const fs::path own = folder_ / ".grading";
  try {
    if (fs::exists(folder_) && !fs::is_directory(folder_))
      throw std::invalid_argument(fmt::format("{} is a file; --out wants a folder.", folder_.string()));
    if (fs::exists(folder_) && !fs::exists(own) && !fs::is_empty(folder_))
      throw std::invalid_argument(fmt::format(
          "{} has something else in it. Name a new folder, or one with results.", folder_.string()));
    fs::create_directories(own);
    lock_ = lock_folder(own);
    fs::remove_all(scratch());
    fs::create_directories(scratch());
    make_grading_folders(folder_);
  } catch (const fs::filesystem_error& error) {
    throw grading::MachineError(
        fmt::format("The folder {} cannot be written: {}.", folder_.string(), error.code().message()));
  }
}

ResultsFolder::~ResultsFolder() {
  if (!lock_) return;  // moved from
  std::error_code ignored;
  fs::remove_all(scratch(), ignored);
}

/// By way of our own folder: nothing half-written is ever seen among the results, even after a power cut.
void ResultsFolder::put(const fs::path& file, const std::string& text) const {
  const fs::path whole = scratch() / "result";
  grading::write_file_atomically(whole, text);
  fs::rename(whole, file);
}

void ResultsFolder::write(const StudentMarks& student) const {
  const fs::path folder = folder_ / student.folder;
  fs::create_directories(folder);
  put(folder / "results.json", gradescope_json(student));
  put(folder / "junit.xml", junit_xml(student));
  put(folder / "feedback.md", feedback_markdown(student));
}

std::vector<std::string> ResultsFolder::write(const ClassMarks& marks, const ClassFormats& formats) const {
  const auto write_one = [&](const char* name, const std::string& text) { put(folder_ / name, text); };
  write_one("grades.csv", grades_csv(marks));
  write_one("timings.csv", timings_csv(marks));
  write_one("run.json", run_json(marks, formats.secret_seed));
  fs::permissions(folder_ / "run.json", fs::perms::owner_read | fs::perms::owner_write);
  write_one("index.html", cohort_page(marks, formats.page_style, formats.page_script));
  const PlatformTable canvas = canvas_csv(marks, formats.canvas_gradebook);
  write_one("canvas.csv", canvas.text);
  std::vector<std::string> unmatched = canvas.notes;
  if (!formats.moodle_worksheet.empty()) {
    const PlatformTable moodle = moodle_csv(marks, formats.moodle_worksheet);
    write_one("moodle.csv", moodle.text);
    unmatched.insert(unmatched.end(), moodle.notes.begin(), moodle.notes.end());
  }
  return unmatched;
}

}  // namespace course::classroom
