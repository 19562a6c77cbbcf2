// What `course doctor` looks at before it runs a kernel: the machine, programs, libraries, packages.

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "cli/doctor.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/confinement/sandbox.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// The rest of the first line that begins with these words.
std::string line_of(const fs::path& file, const std::string& begin) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return line.substr(begin.size());
  return "";
}

std::string system_name() {
  std::string name = line_of("/etc/os-release", "PRETTY_NAME=");
  std::erase(name, '"');
  return name.empty() ? "Linux" : name;
}

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

double memory_bytes(const std::string& name) {
  std::istringstream value(line_of("/proc/meminfo", name + ":"));
  double kilobytes = 0;
  value >> kilobytes;
  return kilobytes * 1024;
}

std::string install_line(const std::string& package) {
  return fs::exists("/usr/bin/apt-get") ? "sudo apt-get install -y " + package
                                        : "install it with your package manager; Debian calls it " + package;
}

/// A line of `scripts/setup.sh GROUP --status`.
struct Package {
  bool there;
  std::string name, gives;
};

std::vector<Package> packages_of(const fs::path& project, const std::string& group) {
  std::istringstream lines(output_of({"sh", (project / "scripts/setup.sh").string(), group, "--status"}));
  std::vector<Package> packages;
  for (std::string line; std::getline(lines, line);) {
    Package package;
    std::istringstream words(line);
    std::string state;
    words >> state >> package.name;
    package.there = state == "there";
    std::getline(words >> std::ws, package.gives);
    packages.push_back(package);
  }
  return packages;
}

/// The packages of a group that are not in the sets before: those that are there on one line.
void examine_packages(const fs::path& project, const std::string& part, const std::string& group,
                      std::set<std::string>& seen, Examination& examination) {
  std::string there;
  std::vector<Discovery> missing;
  for (const Package& package : packages_of(project, group)) {
    if (!seen.insert(package.name).second) continue;
    if (package.there)
      there += (there.empty() ? "" : ", ") + package.name;
    else
      missing.push_back(
          {part, package.name, State::missing, "not installed", package.gives, install_line(package.name)});
  }
  if (!there.empty()) examination.findings.push_back({part, "packages", State::fine, there, "", ""});
  examination.findings.insert(examination.findings.end(), missing.begin(), missing.end());
}

/// A program that must have a version; `least` may be empty.
std::string examine_program(const std::string& name, const std::string& program, const std::string& least,
                            const std::string& gives, const std::string& package, Examination& examination) {
  const std::string output = output_of({program, "--version"});
  const std::string version = version_in(output.substr(0, output.find('\n')));
  Discovery finding{"Programs", name, State::fine, version, "", ""};
  if (output.empty()) {
    finding = {"Programs", name, State::missing, "it does not start", gives, install_line(package)};
  } else if (is_below(version, least)) {
    finding = {"Programs",     name,
               State::too_old, fmt::format("{}; {} or newer is needed", version, least),
               gives,          install_line(package)};
  }
  examination.findings.push_back(finding);
  return name + " " + (version.empty() ? "none" : version);
}

nlohmann::json read_facts(const fs::path& build) {
  try {
    return nlohmann::json::parse(read_file(build / "facts.json"));
  } catch (const std::exception&) {
    return nlohmann::json::object();  // a build from before there was this file
  }
}

void examine_libraries(const nlohmann::json& facts, Examination& examination) {
  const nlohmann::json libraries = facts.value("libraries", nlohmann::json::object());
  std::string versions;
  for (const auto& [library, version] : libraries.items())
    if (const auto text = version.get<std::string>(); !text.empty())
      versions += (versions.empty() ? "" : ", ") + library + " " + text;
  examination.findings.push_back({"Programs", "libraries", State::fine, versions, "", ""});
  examination.bug_report.push_back(versions);
}

void examine_sandbox(Examination& examination) {
  try {
    const Sandbox sandbox(Isolation::namespaces, geteuid() == 0);
    examination.findings.push_back({"Grading a class", "sandbox", State::fine, "works", "", ""});
    examination.bug_report.emplace_back("Sandbox: works");
  } catch (const MachineError& error) {
    examination.findings.push_back({"Grading a class", "sandbox", State::broken, error.what(),
                                    "submissions that cannot reach anything else", ""});
    examination.bug_report.push_back(std::string("Sandbox: ") + error.what());
  }
}

/// PyTorch, which takes seconds to import: its version is asked of what pip has installed.
void examine_pytorch(Examination& examination) {
  const std::string version =
      version_in(output_of({"python3", "-c", "import importlib.metadata as m; print(m.version('torch'))"}));
  Discovery finding{"Python packages of kernels", "PyTorch", State::fine, version, "", ""};
  if (version.empty())
    finding = {"Python packages of kernels",
               "PyTorch",
               State::missing,
               "not installed",
               "tensors and gradients in packages of `./course export`; nothing else needs it",
               "pip install torch"};
  examination.findings.push_back(finding);
}

}  // namespace

std::string output_of(const std::vector<std::string>& words) {
  Command command;
  command.arguments = words;
  command.environment = {"LC_ALL=C"};
  command.timeout = std::chrono::seconds(30);
  try {
    const CommandResult result = run_command(command);
    return result.ok() ? result.output : "";
  } catch (const std::system_error&) {
    return "";
  }
}

void examine_machine(const fs::path& build, Examination& examination) {
  utsname kernel{};
  uname(&kernel);
  const std::string system = fmt::format("{}, Linux {}, {}", system_name(), kernel.release, kernel.machine);
  const std::string cores = fmt::format("{} cores", std::thread::hardware_concurrency());
  std::string processor = line_of("/proc/cpuinfo", "model name");
  processor.erase(0, std::min(processor.find_first_not_of("\t :"), processor.size()));
  const std::string memory = gigabytes(memory_bytes("MemTotal"));
  std::error_code unknown;
  const fs::space_info disk = fs::space(build, unknown);
  const auto add = [&](const char* name, const std::string& detail) {
    examination.findings.push_back({"Machine", name, State::fine, detail, "", ""});
  };
  add("system", system);
  add("processor", processor.empty() ? cores : cores + ", " + processor);
  add("memory", memory + ", free " + gigabytes(memory_bytes("MemAvailable")));
  if (!unknown) add("disk of the build", "free " + gigabytes(static_cast<double>(disk.available)));
  examination.bug_report.push_back(fmt::format("{}, {}, {}", system, cores, memory));
}

void examine_tools(const Toolchain& toolchain, Examination& examination) {
  const nlohmann::json facts = read_facts(toolchain.binary_dir);
  examination.bug_report.front() =
      fmt::format("course {}, {}, {} build", facts.value("version", "of unknown version"),
                  examination.bug_report.front(), facts.value("build_type", "unknown"));
  const bool gnu = facts.value("compiler_id", "GNU") == "GNU";
  std::string versions =
      examine_program(gnu ? "g++" : "compiler", facts.value("compiler", "c++"), gnu ? "12" : "",
                      "compiling the course and your kernels", "g++", examination);
  versions += ", " + examine_program("CMake", facts.value("cmake", "cmake"), "3.25", "configuring the build",
                                     "cmake", examination);
  versions += ", " + examine_program("Ninja", toolchain.ninja.string(), "", "running the build",
                                     "ninja-build", examination);
  versions += ", " + examine_program("Python", "python3", "3.9", "the site, zips of submissions, tests",
                                     "python3", examination);
  examination.bug_report.push_back(versions);
  examine_libraries(facts, examination);
  std::set<std::string> seen{"python3"};
  for (const Package& package : packages_of(toolchain.source_dir, "check")) seen.insert(package.name);
  examine_packages(toolchain.source_dir, "Grading a class", "grade", seen, examination);
  examine_sandbox(examination);
  examine_packages(toolchain.source_dir, "The site", "docs", seen, examination);
  examine_packages(toolchain.source_dir, "All tests", "test", seen, examination);
  examine_pytorch(examination);
}

}  // namespace course::cli
