// A worker program that cannot be run yet, or not at all.
#include "grading/calls/worker_process.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// A program that becomes the test's worker. As a linker leaves one while it writes, nobody may execute it.
fs::path write_worker(const test::TemporaryFolder& folder) {
  fs::path program = folder / "worker";
  std::ofstream(program) << "#!/bin/sh\nexec '" COURSE_TEST_WORKER "' \"$@\"\n";
  fs::permissions(program, fs::perms::owner_read | fs::perms::owner_write);
  return program;
}

void make_executable(const fs::path& program) {
  fs::permissions(program, fs::perms::owner_exec, fs::perm_options::add);
}

std::chrono::duration<double> time_to_refuse(const fs::path& program, const std::string& why) {
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(
      WorkerProcess(program),
      ContainsSubstring("cannot run the worker program " + program.string()) && ContainsSubstring(why));
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace

TEST_CASE("a worker program that is being linked is waited for") {
  const test::TemporaryFolder folder;
  SessionConfig config = library("misbehave");
  config.worker = write_worker(folder);
  std::jthread linker([&] {
    std::this_thread::sleep_for(1200ms);
    make_executable(config.worker);
  });
  Session session(config);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("a worker program that has long been there and cannot be run is told of at once") {
  const test::TemporaryFolder folder;
  const fs::path program = write_worker(folder);
  fs::last_write_time(program, fs::file_time_type::clock::now() - 2min);
  CHECK(time_to_refuse(program, "Permission denied") < 1s);
  CHECK(time_to_refuse(folder / "nothing", "No such file or directory") < 1s);
}
