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

/// A line of the source, and the function that it stands in.
struct SourceCall {
  std::string file{};  ///< as given to the compiler
  int line = 0;
  std::string function{};  ///< its own name, without namespaces, template arguments and parameters
  std::string text{};      ///< of the line, without the spaces around it; empty if the file cannot be read

  /// "kernel.cu:12"
  std::string place() const { return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line); }
  /// The program's own line: one in a .cu file, and not in a header that the program includes.
  bool is_own() const { return file.ends_with(".cu"); }
};

/// One side of a finding: a source line, the thread that was there first, and how it came there.
struct FindingSide {
  std::string file;  ///< source file as given to the compiler; empty if unknown
  int line = 0;      ///< the innermost: where the access or the call itself stands, even if that is a header
  std::array<unsigned, 3> block{}, thread{};
  /// The calls that led there, innermost first: `file` and `line` themselves, the line that called their
  /// function, and so on, up to the kernel. Without what belongs to the simulator and to the system. Empty if
  /// unknown.
  std::vector<SourceCall> calls{};

  /// @brief What the side is told by: the innermost line of the program's own, which is the one to look at
  /// and, mostly, the one to change. A line of a header, if none of the program's led there.
  SourceCall own() const {
    for (const SourceCall& call : calls)
      if (call.is_own()) return call;
    return calls.empty() ? SourceCall{file, line, "", ""} : calls.front();
  }
  /// The program's own line that called the function of own(); line 0 if that is the kernel.
  SourceCall caller() const {
    const SourceCall inner = own();
    for (const SourceCall& call : calls)
      if (call.is_own() && (call.line != inner.line || call.file != inner.file)) return call;
    return {};
  }
  /// True if the place itself lies in a function of a header, which a line of the program's own called.
  bool in_helper() const { return !calls.empty() && !calls.front().is_own() && own().is_own(); }
};

/// Some lanes of a warp, bit by bit.
struct LanesOfWarp {
  unsigned warp = 0;
  std::uint32_t lanes = 0;
};

/// Threads of a block that wait at one place, having come there by the same calls.
struct WaitingThreads {
  FindingSide where;     ///< with the first of them
  bool barrier = false;  ///< for the block; false: for lanes of their warp
  std::vector<LanesOfWarp> threads{};
  /// In an operation of a warp: the lanes that it still waits for, as the first of them has it.
  std::uint32_t awaited = 0;
};

/// One mistake. The same mistake at the same lines is one finding, however many threads make it.
struct Finding {
  std::string kind;  ///< class of bug, a stable identifier: "race", "out_of_bounds", ...
  Severity severity = Severity::error;
  /// "flash2_forward_kernel<AttentionShape<128, 64, 64>>"; empty for host code.
  std::string kernel;
  FindingSide here;  ///< where it shows
  /// "kernel.cu:12", the place of here.own() if `here` lies in a helper; else empty.
  std::string called_from;
  FindingSide other;    ///< the other access or call; line 0 if there is none
  std::string memory;   ///< "shared" or "global"; empty if no memory is involved
  std::string element;  ///< "tile[3][5]"; empty if unknown
  /// Of a deadlock: everybody, those in operations of a warp first.
  std::vector<WaitingThreads> waiting{};
  std::string what;         ///< one sentence: what happened, with places and threads
  std::string rule;         ///< one sentence: the rule that was broken
  std::string fix;          ///< one sentence: what to do
  std::uint64_t count = 1;  ///< how many accesses or calls made it
  std::string tool{};       ///< of NVIDIA, such as "memcheck", which found it; empty: the simulator
  bool unprinted = false;   ///< the tool left reports out: `count` is the least

  /// The whole report on one line: the headline's place, class, places, threads, element, who called the
  /// headline's function, rule and fix.
  std::string message() const {
    std::string text;
    if (here.line != 0) text = here.own().place() + ": ";
    text += std::string(to_string(severity)) + ": " + kind + ": " + what;
    const SourceCall caller = here.caller();
    const std::string from = caller.line != 0 ? caller.place() : here.in_helper() ? "" : called_from;
    const bool of_two = caller.line != 0 && other.line != 0;
    const std::string whose = of_two ? " Line " + std::to_string(here.own().line) + " was called" : " Called";
    if (!from.empty()) text += whose + " from " + from + ".";
    for (const std::string* sentence : {&rule, &fix})
      if (!sentence->empty()) text += " " + *sentence;
    if (!tool.empty())
      text += " (" + tool +
              (count == 1 ? ")" : (unprinted ? ", at least " : ", ") + std::to_string(count) + " times)");
    return text;
  }
};

/// @brief The line that a report of the finding begins with: the program's own where there is one, however
/// deep in helpers the mistake shows. See FindingSide::own().
inline SourceCall headline(const Finding& finding) { return finding.here.own(); }

/// @brief Runs what is queued and returns the findings since the last call: by launch, then in the order in
/// which they were made. The same program and input give the same findings, byte for byte.
std::vector<Finding> take_findings();

/// What check mode remembers of the memory that kernels touch: no more than so much.
inline constexpr unsigned kMostKeptGigabytes = 4;

/// @brief How many accesses since the last call were to memory beyond that, and were not judged.
std::uint64_t take_unwatched_accesses();

}  // namespace simt
