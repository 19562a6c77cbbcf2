#include "grading/base/subprocess.hpp"

#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <system_error>

#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;

namespace {

CommandResult shell(const std::string& script, double timeout = 20) {
  Command command;
  command.arguments = {"sh", "-c", script};
  command.timeout = std::chrono::duration<double>(timeout);
  return run_command(command);
}

}  // namespace

TEST_CASE("tells how a program ended and what it said", "[cli][subprocess]") {
  const CommandResult result = shell("echo out; echo err >&2; exit 7");
  CHECK(result.exit_code == 7);
  CHECK(result.output == "out\nerr\n");
  CHECK_FALSE(result.ok());
  CHECK(shell("kill -SEGV $$").signal == SIGSEGV);
  CHECK(shell("true").ok());
}

TEST_CASE("hands on lines as they come", "[cli][subprocess]") {
  std::vector<std::string> lines;
  Command command;
  command.arguments = {"sh", "-c", "printf 'a\\nb'; sleep 0.1; printf 'c\\n'"};
  command.on_line = [&](const std::string& line) { lines.push_back(line); };
  run_command(command);
  CHECK(lines == std::vector<std::string>{"a", "bc"});
}

TEST_CASE("stops a program that runs too long, with all it started", "[cli][subprocess]") {
  const auto start = std::chrono::steady_clock::now();
  const CommandResult result = shell("sleep 20 & sleep 20", 0.2);
  CHECK(result.timed_out);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("stops a program that has said enough", "[cli][subprocess]") {
  bool ready = false;
  Command command;
  command.arguments = {"sh", "-c", "echo ready; sleep 20"};
  command.on_line = [&](const std::string& line) { ready = ready || line == "ready"; };
  command.enough = [&] { return ready; };
  const CommandResult result = run_command(command);
  CHECK(result.stopped);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.ok());
  CHECK(result.output == "ready\n");
}

TEST_CASE("does not wait for what a program leaves behind", "[cli][subprocess]") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(shell("sleep 20 & echo done").output == "done\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("keeps no more output than asked for", "[cli][subprocess]") {
  Command command;
  command.arguments = {"sh", "-c", "yes | head -c 100000"};
  command.output_limit = 1000;
  CHECK(run_command(command).output.size() == 1000);
}

TEST_CASE("gives the program an empty input, its folder and its variables", "[cli][subprocess]") {
  Command command;
  command.arguments = {"sh", "-c", "cat; pwd; echo $COURSE_TEST_VARIABLE $HOME"};
  command.directory = "/";
  command.environment = {"COURSE_TEST_VARIABLE=x", "HOME=/elsewhere"};
  CHECK(run_command(command).output == "/\nx /elsewhere\n");
}

TEST_CASE("a program that is not there is an error with its name", "[cli][subprocess]") {
  Command command;
  command.arguments = {"no-such-program-here"};
  CHECK_THROWS_AS(run_command(command), std::system_error);
  CHECK_THROWS_WITH(run_command(command), Catch::Matchers::ContainsSubstring("no-such-program-here"));
}

TEST_CASE("writes a file whole or not at all", "[cli][subprocess]") {
  const ScratchFolder folder(fs::temp_directory_path());
  const fs::path file = folder.path() / "file";
  write_file_atomically(file, "one");
  write_file_atomically(file, "two");
  CHECK(read_file(file) == "two");
  CHECK_THROWS_AS(write_file_atomically(folder.path() / "none" / "file", "x"), std::system_error);
  fs::create_directory(folder.path() / "taken");
  CHECK_THROWS_AS(write_file_atomically(folder.path() / "taken", "x"), std::system_error);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("a scratch folder goes with everything in it", "[cli][subprocess]") {
  fs::path path;
  {
    const ScratchFolder folder(fs::temp_directory_path());
    path = folder.path();
    write_file_atomically(path / "file", "x");
    CHECK(fs::exists(path / "file"));
  }
  CHECK_FALSE(fs::exists(path));
}
