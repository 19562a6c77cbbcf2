#pragma once
/// @file
/// Where code that nobody trusts is compiled and run: with bubblewrap in namespaces of its own, in which
/// there is nothing but what it needs; or, as the weaker way, in an ordinary process.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace course::grading {

enum class Isolation {
  namespaces,  ///< sees no file but those named, no other process, no network
  process,     ///< may read what its user may read
};

/// "namespaces" or "process".
const char* isolation_name(Isolation isolation);

/// A file or folder as it appears in a sandbox.
struct Mount {
  std::filesystem::path from{};  ///< on this machine
  std::filesystem::path to{};    ///< there; as on this machine if empty
  bool writable = false;
  bool device = false;  ///< may be a device file

  const std::filesystem::path& target() const { return to.empty() ? from : to; }
};

/// What one command in a sandbox gets.
struct SandboxRequest {
  std::vector<Mount> mounts{};
  Mount directory{};               ///< where it runs, among the mounts or not
  bool gpu = false;                ///< NVIDIA's devices are there, too
  bool scratch = false;            ///< an empty /tmp in memory; else nothing can be written but the mounts
  std::uint64_t memory_bytes = 0;  ///< of address space; 0: no limit
  std::uint64_t file_bytes = 0;    ///< largest file that it may write; 0: no limit
  std::uint64_t processor_seconds = 0;  ///< 0: no limit
};

class Sandbox {
 public:
  /// @param as_root  the caller is root and has been told to go on: commands run as the user `nobody`
  /// @throws MachineError, in a sentence that says what to do, if this machine cannot do it
  Sandbox(Isolation isolation, bool as_root);

  Isolation isolation() const { return isolation_; }

  /// @brief The words that go before a command, so that it runs in a sandbox. They begin with a program that
  /// is looked up on PATH.
  std::vector<std::string> launcher(const SandboxRequest& request) const;

  /// @brief Why not even a command that does nothing succeeds there; empty if it does. What a command that
  /// failed printed is no evidence, since it may be the words of whom it runs for.
  std::string why_it_fails(const SandboxRequest& request) const;

  /// @brief Makes sure that commands can get to a folder as they are going to run.
  /// @throws MachineError that names the folder and says what to do
  void require_reachable(const std::filesystem::path& folder) const;

  /// @brief Hands a folder of ours and what is in it over to the user that commands run as.
  void give(const std::filesystem::path& folder) const;

 private:
  std::vector<std::string> environment(const SandboxRequest& request) const;
  std::vector<std::string> namespaces(const SandboxRequest& request) const;

  Isolation isolation_;
  bool as_root_;
};

}  // namespace course::grading
