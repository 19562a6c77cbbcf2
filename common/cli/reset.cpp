#include <fmt/core.h>

#include <system_error>

#include "cli/commands.hpp"
#include "cli/workspace.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// The stub that the course gives. It is made of the solution, since git's last commit may be the student's,
/// and a course that came as an archive has no git.
std::string make_stub(const Lesson& lesson) try {
  return lesson.pristine_stub();
} catch (const std::runtime_error& error) {
  throw MachineError(
      fmt::format("The stub is made of the solution: {}. That file is part of the course: get it back from "
                  "where the course came from.",
                  error.what()));
}

/// Gives the file a second name that is free, NAME.kept, NAME.kept2 and so on, and returns it.
fs::path keep(const fs::path& file) {
  for (int number = 1;; ++number) {
    const fs::path kept = file.string() + ".kept" + (number == 1 ? "" : std::to_string(number));
    std::error_code error;
    fs::create_hard_link(file, kept, error);
    if (error && error != std::errc::file_exists) {  // not every file system has links
      error.clear();
      fs::copy_file(file, kept, fs::copy_options::none, error);
    }
    if (!error) return kept;
    if (error != std::errc::file_exists)
      throw MachineError(fmt::format("{} cannot be kept as {}: {}. Nothing was changed.", file.string(),
                                     kept.filename().string(), error.message()));
  }
}

}  // namespace

int run_reset(const Terminal& terminal, const ResetArguments& arguments) {
  const Workspace workspace(terminal);
  const Lesson lesson = workspace.select_one("reset", arguments.lesson);
  const std::string stub = make_stub(lesson);
  const fs::path file = lesson.stub();
  const std::string name = file.lexically_relative(lesson.root).string();
  const bool there = fs::exists(file);
  if (there && read_file(file) == stub) {
    fmt::print("{}",
               wrap(fmt::format("{} is the stub already; nothing was changed.", name), 0, terminal.width()));
    return kAllPassed;
  }
  const fs::path kept = there ? keep(file) : fs::path();
  try {
    write_file_atomically(file, stub);
  } catch (const std::system_error& error) {
    if (there) fs::remove(kept);  // it may be the same file under another name, and would change with it
    throw MachineError(fmt::format("{}. Nothing was changed.", error.what()));
  }
  std::string words = fmt::format("{} is the stub again.", name);
  if (there) words += fmt::format(" Your file is kept as {}.", kept.lexically_relative(lesson.root).string());
  fmt::print("{}", wrap(words, 0, terminal.width()));
  return kAllPassed;
}

}  // namespace course::cli
