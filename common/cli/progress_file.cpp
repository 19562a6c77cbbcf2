#include "cli/progress_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr auto kPatience = std::chrono::seconds(5);  // another program needs some milliseconds

/// A number that the file may have, or 0 if it has none.
int whole_number(const Json& record, const char* name) {
  const auto found = record.find(name);
  if (found == record.end()) return 0;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > 1'000'000)
    throw std::runtime_error(fmt::format("{} is no number that it can be", name));
  return found->get<int>();
}

LessonProgress from_json(const Json& record) {
  if (!record.is_object()) throw std::runtime_error("a lesson is no object");
  LessonProgress progress;
  progress.passed = record.value("passed", false);
  progress.points = whole_number(record, "points");
  progress.best = whole_number(record, "best");
  progress.checked = record.value("checked", "");
  progress.judged = {record.value("kernel", ""), record.value("tests", "")};
  progress.passed_tests = record.value("passed_tests", progress.judged.tests);  // as older courses mean it
  progress.passes = record.value("passes", std::vector<std::string>());
  progress.cases = whole_number(record, "cases");
  progress.failing = record.value("failing", std::vector<std::string>());
  progress.hints = whole_number(record, "hints");
  return progress;
}

Json to_json(const LessonProgress& progress) {
  Json record = Json::object();
  if (!progress.checked.empty()) {
    record["passed"] = progress.passed;
    record["points"] = progress.points;
    record["best"] = progress.best;
    record["checked"] = progress.checked;
    record["kernel"] = progress.judged.kernel;
    record["tests"] = progress.judged.tests;
    record["cases"] = progress.cases;
    record["failing"] = progress.failing;
    if (progress.passed) {
      record["passed_tests"] = progress.passed_tests;
      record["passes"] = progress.passes;
    }
  }
  record["hints"] = progress.hints;
  return record;
}

/// The file's version. @throws std::runtime_error
std::uint64_t version_of(const Json& document) {
  if (!document.is_object() || !document.contains("version") || !document["version"].is_number_unsigned())
    throw std::runtime_error("it has no version");
  return document["version"].get<std::uint64_t>();
}

/// Whether a person has made the file read-only. Root may write it all the same, and should not.
bool is_read_only(const fs::path& file) {
  std::error_code missing;
  const fs::file_status status = fs::status(file, missing);
  return fs::exists(status) && (status.permissions() & fs::perms::owner_write) == fs::perms::none;
}

/// Renames the file to a name that is free: progress.json.broken, progress.json.broken2 and so on.
Progress set_aside(const fs::path& file) {
  fs::path aside = file.string() + ".broken";
  for (int number = 2; fs::exists(fs::symlink_status(aside)); ++number)
    aside = fmt::format("{}.broken{}", file.string(), number);
  Progress progress;
  std::error_code error;
  fs::rename(file, aside, error);
  progress.kept = !error;
  progress.problem =
      error ? fmt::format("{} is broken, and cannot be renamed: {}. Nothing is remembered until it is gone.",
                          file.string(), error.message())
            : fmt::format("{} was broken, and is now called {}. What you have reached is remembered anew.",
                          file.string(), aside.filename().string());
  return progress;
}

}  // namespace

fs::path progress_file(const fs::path& root) {
  const char* const wanted = std::getenv("COURSE_PROGRESS");
  const fs::path file = wanted != nullptr && *wanted != '\0' ? fs::absolute(wanted) : root / "progress.json";
  std::error_code error;  // a link stays a link: what it leads to is written
  const fs::path target = fs::canonical(file, error);
  return error ? file : target;
}

ProgressFile::ProgressFile(const fs::path& file)
    : file_(file), folder_(open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    held_ = folder_ < 0 || flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    // A folder without locks, as some networks have them, is no reason to remember nothing.
    if (held_ || std::chrono::steady_clock::now() > until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

ProgressFile::~ProgressFile() {
  if (folder_ >= 0) close(folder_);
}

Progress ProgressFile::read() const {
  Progress progress;
  progress.kept = !is_read_only(file_) && access(file_.parent_path().c_str(), W_OK) == 0;
  std::string text;
  try {
    text = read_file(file_);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_file_or_directory) return progress;
    progress.kept = false;
    progress.problem = fmt::format("{}. Nothing is remembered until it can be read.", error.what());
    return progress;
  }
  try {
    const Json document = Json::parse(text);
    if (version_of(document) > kVersion) {
      progress.kept = false;
      progress.problem = fmt::format(
          "{} was written by a newer version of this course. It stays as it is, and nothing is remembered: "
          "update the course, or move the file away.",
          file_.string());
      return progress;
    }
    for (const auto& [id, record] : document.at("lessons").items())
      progress.lessons.emplace(id, from_json(record));
  } catch (const std::exception&) {
    return held_ ? set_aside(file_) : Progress{};
  }
  return progress;
}

std::string ProgressFile::write(const Progress& progress) const {
  const std::string lost = "What you reached just now is not remembered";
  if (!held_)
    return fmt::format("{}: another program has been holding {} for some seconds. Run the command again.",
                       lost, file_.parent_path().string());
  if (is_read_only(file_))
    return fmt::format("{}: {} is read-only. Allow writing with chmod u+w.", lost, file_.string());
  Json document = {{"version", kVersion}, {"lessons", Json::object()}};
  for (const auto& [id, record] : progress.lessons) document["lessons"][id] = to_json(record);
  try {
    write_file_atomically(file_, document.dump(2) + "\n");
    return "";
  } catch (const std::system_error& error) {
    return fmt::format("{}: {}. COURSE_PROGRESS may name another file.", lost, error.what());
  }
}

}  // namespace course::cli
