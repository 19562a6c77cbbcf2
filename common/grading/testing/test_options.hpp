#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace course::grading {

/// The command line of a lesson's test program, without what is Catch2's.
struct TestOptions {
  std::filesystem::path kernel;        ///< library built from the student's file
  std::filesystem::path check_kernel;  ///< the same compiled for check mode; empty: no check mode
  std::filesystem::path worker;        ///< empty: looked for beside the test program
  std::string backend = "cpu";         ///< "cpu" or "gpu"
  std::filesystem::path results;       ///< JSON Lines, one object a case; empty: none
  std::uint64_t seed = 0;  ///< or of --seed-file: a command line can be read by every user of the machine
  std::optional<double> timeout_seconds;
  std::filesystem::path confinement;  ///< file that says how the worker is confined; empty: it is not
  std::filesystem::path sanitizer;    ///< file that says which tool watches the worker; empty: none

  bool list_cases = false, list_mistakes = false;  ///< answers in JSON, without a kernel

  bool run = false;  ///< `./course run`: in, out and settings count, Catch2 does not start
  std::filesystem::path in, out;

  bool gradcheck = false;  ///< `./course gradcheck`: seed, cases and settings count, Catch2 does not start
  std::int64_t cases = 3;

  std::map<std::string, std::string> settings;

  std::vector<std::string> catch2;  ///< everything else, in order
};

/// @brief Takes our options ("--name value" or "--name=value") out of the command line, program name
/// excluded.
/// @throws std::invalid_argument with one sentence if a value is missing or wrong.
TestOptions parse_test_options(const std::vector<std::string>& arguments);

/// @brief The worker program for a backend, beside `program` or one folder up.
/// @throws std::invalid_argument if there is none.
std::filesystem::path find_worker(const std::string& backend, const std::filesystem::path& program);

}  // namespace course::grading
