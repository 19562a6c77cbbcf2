#include "grading/confinement/sandbox.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <system_error>

#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kNobody = 65534;  // the same number on all Linux systems

/// How many processes a compiler and its parts may be; others of the same user count as well.
constexpr int kMaxProcesses = 512;

/// Programs and libraries of the system. Where /bin and the like are links, they are links there as well.
void add_system(std::vector<std::string>& words) {
  words.insert(words.end(), {"--ro-bind", "/usr", "/usr"});
  for (const char* name : {"bin", "lib", "lib64", "lib32", "sbin"}) {
    const fs::path path = fs::path("/") / name;
    std::error_code missing;
    const fs::file_status status = fs::symlink_status(path, missing);
    if (fs::is_symlink(status))
      words.insert(words.end(), {"--symlink", fs::read_symlink(path).string(), path.string()});
    else if (fs::is_directory(status))
      words.insert(words.end(), {"--ro-bind", path.string(), path.string()});
  }
  words.insert(words.end(), {"--perms", "0755", "--dir", "/etc"});
  // Where libraries outside of the usual folders are, and what a link such as /usr/bin/c++ leads to.
  for (const char* path : {"/etc/ld.so.cache", "/etc/alternatives"})
    words.insert(words.end(), {"--ro-bind-try", path, path});
}

/// What NVIDIA's driver looks for.
void add_gpu(std::vector<std::string>& words) {
  words.insert(words.end(), {"--proc", "/proc", "--ro-bind", "/sys", "/sys", "--dev", "/dev"});
  for (const auto& entry : fs::directory_iterator("/dev")) {
    const std::string path = entry.path().string();
    if (path.starts_with("/dev/nvidia")) words.insert(words.end(), {"--dev-bind", path, path});
  }
}

/// The folders above the mounts. Those that bubblewrap makes by itself are open to nobody but their owner.
void add_parents(std::vector<std::string>& words, const std::vector<Mount>& mounts) {
  std::set<fs::path> folders;  // sorted: a folder comes before what is in it
  for (const Mount& mount : mounts)
    for (fs::path path = mount.target().parent_path(); path != path.root_path(); path = path.parent_path())
      folders.insert(path);
  for (const fs::path& folder : folders)
    words.insert(words.end(), {"--perms", "0755", "--dir", folder.string()});
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "it said nothing";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Runs a command that does nothing behind the launcher. Returns why that fails, or an empty string.
std::string why_it_fails_behind(const std::vector<std::string>& launcher,
                                const std::vector<std::string>& words = {"true"}) {
  Command command;
  command.arguments = launcher;
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.environment = {"LC_ALL=C"};
  command.timeout = std::chrono::seconds(20);
  try {
    const CommandResult result = run_command(command);
    return result.ok() ? "" : last_line(result.output);
  } catch (const std::system_error& error) {
    return error.code() == std::errc::no_such_file_or_directory ? launcher.front() + " is not installed"
                                                                : error.what();
  }
}

}  // namespace

const char* isolation_name(Isolation isolation) {
  return isolation == Isolation::namespaces ? "namespaces" : "process";
}

Sandbox::Sandbox(Isolation isolation, bool as_root) : isolation_(isolation), as_root_(as_root) {
  const bool root = geteuid() == 0;
  if (root && !as_root)
    throw MachineError(
        "Grading as root is refused, since root's processes know no limits. Grade as another user, or add "
        "--as-root: submissions then run as the user nobody.");
  if (!root && as_root) throw MachineError("--as-root is for root alone; you are not root.");
  const std::string why = why_it_fails({.mounts = {}, .directory = {.from = "/"}, .scratch = true});
  if (why.empty()) return;
  if (isolation == Isolation::process)
    throw MachineError(
        fmt::format("Submissions cannot be run as another user: {}. Install util-linux.", why));
  throw MachineError(
      fmt::format("The sandbox does not work on this machine: {}. It needs bubblewrap (Debian and Ubuntu: "
                  "sudo apt-get install "
                  "bubblewrap) and a system that lets users make namespaces. --isolation process does "
                  "without: submissions then "
                  "may read all files that their user may read.",
                  why));
}

std::string Sandbox::why_it_fails(const SandboxRequest& request) const {
  return why_it_fails_behind(launcher(request));
}

std::vector<std::string> Sandbox::launcher(const SandboxRequest& request) const {
  std::vector<std::string> words;
  if (request.memory_bytes != 0 || request.file_bytes != 0 || request.processor_seconds != 0) {
    words = {"prlimit", "--core=0", fmt::format("--nproc={}", kMaxProcesses)};
    if (request.memory_bytes != 0) words.push_back(fmt::format("--as={}", request.memory_bytes));
    if (request.file_bytes != 0) words.push_back(fmt::format("--fsize={}", request.file_bytes));
    if (request.processor_seconds != 0) words.push_back(fmt::format("--cpu={}", request.processor_seconds));
  }
  const std::vector<std::string> box =
      isolation_ == Isolation::namespaces ? namespaces(request) : environment(request);
  words.insert(words.end(), box.begin(), box.end());
  if (!as_root_ && isolation_ == Isolation::namespaces) return words;
  words.push_back("setpriv");
  if (as_root_)
    words.insert(words.end(),
                 {fmt::format("--reuid={}", kNobody), fmt::format("--regid={}", kNobody), "--clear-groups"});
  words.insert(words.end(), {"--no-new-privs", "--pdeathsig=KILL", "--"});
  return words;
}

/// Of a plain process: its folder, and none of our variables but those that find a GPU's libraries. As in
/// namespaces, LD_BIND_NOW is set: a worker needs it, and would otherwise start itself a second time.
std::vector<std::string> Sandbox::environment(const SandboxRequest& request) const {
  std::vector<std::string> words{"env",
                                 "-i",
                                 "--chdir=" + request.directory.from.string(),
                                 "LC_ALL=C",
                                 "LD_BIND_NOW=1",
                                 "PATH=/usr/local/bin:/usr/bin:/bin"};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name)) words.push_back(fmt::format("{}={}", name, value));
  return words;
}

std::vector<std::string> Sandbox::namespaces(const SandboxRequest& request) const {
  std::vector<std::string> words{"bwrap",
                                 "--unshare-pid",
                                 "--unshare-net",
                                 "--unshare-ipc",
                                 "--unshare-uts",
                                 "--unshare-cgroup-try",
                                 "--die-with-parent",
                                 "--new-session",
                                 "--clearenv",
                                 "--setenv",
                                 "LC_ALL",
                                 "C",
                                 "--setenv",
                                 "LD_BIND_NOW",
                                 "1",
                                 "--setenv",
                                 "PATH",
                                 "/usr/bin:/bin",
                                 "--hostname",
                                 "sandbox"};
  // Process 1, at whose end all others end, must be one that nobody there can attack, and that bubblewrap may
  // end when its own parent is gone. As root that is another process of bubblewrap, since nobody's may not be
  // ended by a root without capabilities.
  if (as_root_)  // a user namespace would know no user but root; these are given up by setpriv
    words.insert(words.end(), {"--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"});
  else
    words.insert(words.end(), {"--unshare-user", "--cap-drop", "ALL", "--as-pid-1"});
  add_system(words);
  if (request.gpu) add_gpu(words);
  if (request.scratch) words.insert(words.end(), {"--perms", "1777", "--tmpfs", "/tmp"});
  add_parents(words, request.mounts);
  for (const Mount& mount : request.mounts) {
    const char* how = mount.device ? "--dev-bind" : mount.writable ? "--bind" : "--ro-bind";
    words.insert(words.end(), {how, mount.from.string(), mount.target().string()});
  }
  words.insert(words.end(), {"--remount-ro", "/", "--chdir", request.directory.target().string(), "--"});
  return words;
}

void Sandbox::require_reachable(const fs::path& folder) const {
  if (isolation_ == Isolation::namespaces || !as_root_) return;  // a mount needs no way to it
  const SandboxRequest anywhere{.mounts = {}, .directory = {.from = "/"}};
  if (why_it_fails_behind(launcher(anywhere), {"test", "-x", folder.string()}).empty()) return;
  throw MachineError(
      fmt::format("The user nobody, as whom submissions run, cannot get to {}. Let others enter the folders "
                  "above it (chmod o+x), "
                  "name a folder for the results elsewhere, or leave --isolation process out.",
                  folder.string()));
}

void Sandbox::give(const fs::path& folder) const {
  if (!as_root_) return;
  const auto hand_over = [](const fs::path& path) {
    if (lchown(path.c_str(), kNobody, kNobody) != 0)
      throw MachineError(fmt::format("{} cannot be handed over to the user nobody.", path.string()));
  };
  hand_over(folder);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) hand_over(entry.path());
}

}  // namespace course::grading
