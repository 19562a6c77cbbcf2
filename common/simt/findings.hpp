#pragma once
/// @file
/// What check mode finds: mistakes of a kernel, each tied to the source lines that made it.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

enum class Severity {
  error,    ///< the program is wrong, whatever it printed
  warning,  ///< the program relies on what CUDA does not promise, or wastes what it waits for
  note,     ///< worth knowing; the result is the same
};

/// @brief "error", "warning" or "note".
inline const char* to_string(Severity severity) {
  constexpr const char* kNames[] = {"error", "warning", "note"};
  return kNames[static_cast<int>(severity)];
}

/// One side of a finding: a source line, and the thread that was there first.
struct FindingSide {
  std::string file;  ///< source file as given to the compiler; empty if unknown
  int line = 0;
  std::array<unsigned, 3> block{}, thread{};
};

/// One mistake. The same mistake at the same lines is one finding, however many threads make it.
struct Finding {
  std::string kind;  ///< class of bug, a stable identifier: "race", "out_of_bounds", ...
  Severity severity = Severity::error;
  std::string kernel;       ///< as written at the launch; empty for host code
  FindingSide here;         ///< where it shows
  std::string called_from;  ///< "kernel.cu:12", which led there, where `here` lies in a header; else empty
  FindingSide other;        ///< the other access or call; line 0 if there is none
  std::string memory;       ///< "shared" or "global"; empty if no memory is involved
  std::string element;      ///< "tile[3][5]"; empty if unknown
  std::string what;         ///< one sentence: what happened, with places and threads
  std::string rule;         ///< one sentence: the rule that was broken
  std::string fix;          ///< one sentence: what to do
  std::uint64_t count = 1;  ///< how many accesses or calls made it
  std::string tool{};       ///< of NVIDIA, such as "memcheck", which found it; empty: the simulator
  bool unprinted = false;   ///< the tool left reports out: `count` is the least

  /// The whole report on one line: class, places, threads, element, rule and fix.
  std::string message() const {
    std::string text;
    if (here.line != 0)
      text = here.file.substr(here.file.rfind('/') + 1) + ":" + std::to_string(here.line) + ": ";
    text += std::string(to_string(severity)) + ": " + kind + ": " + what;
    if (!called_from.empty()) text += " Called from " + called_from + ".";
    for (const std::string* sentence : {&rule, &fix})
      if (!sentence->empty()) text += " " + *sentence;
    if (!tool.empty())
      text += " (" + tool +
              (count == 1 ? ")" : (unprinted ? ", at least " : ", ") + std::to_string(count) + " times)");
    return text;
  }
};

/// @brief Runs what is queued and returns the findings since the last call: by launch, then in the order in
/// which they were made. The same program and input give the same findings, byte for byte.
std::vector<Finding> take_findings();

}  // namespace simt
