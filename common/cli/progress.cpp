#include "cli/progress.hpp"

#include <nlohmann/json.hpp>

#include "grading/kernel_cache.hpp"
#include "grading/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

fs::path progress_file(const fs::path& build_folder, const Lesson& lesson) {
  return build_folder / "progress" / (lesson.id() + ".json");
}

}  // namespace

void save_progress(const fs::path& build_folder, const LessonReport& report) noexcept try {
  const fs::path file = progress_file(build_folder, report.lesson);
  const nlohmann::json record = {{"points", report.points},
                                 {"passed", report.verdict == Verdict::pass},
                                 {"kernel", hash_file(report.source)}};
  fs::create_directories(file.parent_path());
  write_file_atomically(file, record.dump());
} catch (const std::exception&) {
  // Progress is a convenience; the report itself has been given.
}

std::optional<Progress> load_progress(const fs::path& build_folder, const Lesson& lesson) {
  try {
    const auto record = nlohmann::json::parse(read_file(progress_file(build_folder, lesson)));
    return Progress{.points = record.at("points"),
                    .passed = record.at("passed"),
                    .edited_since = record.at("kernel") != hash_file(lesson.stub())};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace course::cli
