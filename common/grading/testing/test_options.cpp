#include "grading/testing/test_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "grading/base/subprocess.hpp"

namespace course::grading {
namespace {

[[noreturn]] void wrong(const std::string& sentence) { throw std::invalid_argument(sentence); }

template <class T>
T parse(const std::string& name, const std::string& text, const char* wanted) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    wrong(fmt::format("{} wants {}, not \"{}\".", name, wanted, text));
  return value;
}

void set(TestOptions& options, const std::string& name, const std::string& value) {
  if (name == "--kernel") options.kernel = value;
  if (name == "--check-kernel") options.check_kernel = value;
  if (name == "--worker") options.worker = value;
  if (name == "--confinement") options.confinement = value;
  if (name == "--sanitizer") options.sanitizer = value;
  if (name == "--results") options.results = value;
  if (name == "--in") options.in = value;
  if (name == "--out") options.out = value;
  if (name == "--seed") options.seed = parse<std::uint64_t>(name, value, "a whole number");
  if (name == "--seed-file")
    options.seed = parse<std::uint64_t>(name, read_file(value), "a file with a whole number");
  if (name == "--cases") {
    options.cases = parse<std::int64_t>(name, value, "a whole number");
    if (options.cases < 1) wrong("--cases wants at least 1.");
  }
  if (name == "--timeout") {
    options.timeout_seconds = parse<double>(name, value, "a number of seconds");
    if (!(*options.timeout_seconds > 0)) wrong("--timeout wants more than 0 seconds.");
  }
  if (name == "--backend") {
    if (value != "cpu" && value != "gpu") wrong(fmt::format("--backend is cpu or gpu, not \"{}\".", value));
    options.backend = value;
  }
  if (name == "--set") {
    const std::size_t equals = value.find('=');
    if (equals == 0 || equals == std::string::npos)
      wrong(fmt::format("--set wants name=value, not \"{}\".", value));
    options.settings[value.substr(0, equals)] = value.substr(equals + 1);
  }
}

}  // namespace

TestOptions parse_test_options(const std::vector<std::string>& arguments) {
  const auto has = [&](const char* name) {
    return std::find(arguments.begin(), arguments.end(), name) != arguments.end();
  };
  TestOptions options;
  options.run = has("--run");
  options.gradcheck = has("--gradcheck");
  options.list_cases = has("--list-cases");
  options.list_mistakes = has("--list-mistakes");
  if (options.list_cases || options.list_mistakes) {
    if (arguments.size() != 1)
      wrong(
          fmt::format("{} goes with nothing else.", options.list_cases ? "--list-cases" : "--list-mistakes"));
    return options;
  }
  if (options.run && options.gradcheck) wrong("--run and --gradcheck exclude each other.");
  std::vector<std::string> ours = {"--kernel",    "--check-kernel", "--worker",  "--backend",
                                   "--results",   "--seed",         "--timeout", "--confinement",
                                   "--seed-file", "--sanitizer"};
  if (options.run) ours.insert(ours.end(), {"--in", "--out", "--set"});  // --out is also an option of Catch2
  if (options.gradcheck) ours.insert(ours.end(), {"--cases", "--set"});

  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--run" || argument == "--gradcheck") continue;
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (std::find(ours.begin(), ours.end(), name) == ours.end()) {
      options.catch2.push_back(argument);
    } else if (equals != std::string::npos) {
      set(options, name, argument.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      set(options, name, arguments[++i]);
    } else {
      wrong(fmt::format("{} wants a value.", name));
    }
  }
  if ((options.run || options.gradcheck) && !options.catch2.empty())
    wrong(
        fmt::format("--{} does not know \"{}\".", options.run ? "run" : "gradcheck", options.catch2.front()));
  if (options.run && (options.in.empty() || options.out.empty()))
    wrong("--run wants --in DIR and --out DIR.");
  return options;
}

std::filesystem::path find_worker(const std::string& backend, const std::filesystem::path& program) {
  const std::string name = backend == "gpu" ? "course-worker-cuda" : "course-worker-cpu";
  const std::filesystem::path folder = program.parent_path();
  for (const std::filesystem::path& candidate : {folder / name, folder.parent_path() / name})
    if (std::filesystem::exists(candidate)) return candidate;
  wrong(fmt::format("{} is not beside {}: name it with --worker.", name, program.string()));
}

}  // namespace course::grading
