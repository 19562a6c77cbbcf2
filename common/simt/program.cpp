// Linked into a CUDA program with a main() of its own: takes the simulator's settings from the environment
// before main() begins, and reports what went wrong when the program ends.
//
//   SIMT_ORDER           forward, reverse or random
//   SIMT_SEED            for the random order
//   SIMT_DEVICE          t4, rtx4090, a100 or h200
//   SIMT_LAUNCH_SECONDS  after which a kernel counts as endless
//
// In a program that is compiled for check mode:
//
//   SIMT_CHECK=1         finds mistakes and prints them to stderr
//   SIMT_PROFILE=1       counts memory traffic and prints tables to stderr
//   SIMT_REPORT=FILE     writes findings and counts as JSON
//   SIMT_TRACE=FILE      writes the accesses of one block as JSON
//   SIMT_TRACE_AT        which: launch,x,y,z or launch,x,y,z,warp; 0,0,0,0 if not set
//   SIMT_TRACE_STEPS     after how many warp instructions to stop; 10000 if not set
//   SIMT_SOURCES         folder that names of source files start from, if they are not absolute
//
// Exit status: the program's own; 1 in place of 0 if a kernel failed or an error was found. A program that
// crashes or calls abort() or _exit() is reported on as well; one that is killed is not.

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "simt/control.hpp"
#include "simt/report/ending.hpp"
#include "simt/report/json.hpp"
#include "simt/report/text.hpp"
#include "simt/report/trace_wish.hpp"
#include "simt/shim/cuda_runtime_api.h"

namespace {

namespace fs = std::filesystem;
using simt::report::TextStyle;

struct Wishes {
  bool check = false, profile = false;
  fs::path report, sources;
  std::optional<simt::report::TraceWish> trace;

  bool need_check_mode() const { return check || profile || !report.empty() || trace; }
  bool judge() const { return check || !report.empty(); }
};

/// Made on first use, because this file's code begins before its variables are there, and never destroyed.
Wishes& wishes() {
  static auto* const all = new Wishes;
  return *all;
}

/// Lies behind the program's `__shared__` variables, because this file is linked last: an index past their
/// end then hits this and not what the C library keeps behind a thread's variables.
[[gnu::used]] thread_local unsigned char room_behind_shared_memory[64 * 1024];

double launch_seconds = simt::Settings{}.launch_seconds;

pid_t owner = 0;  // a child that the program forks has nothing to report

/// How the program ends. One that gives up need not tidy up: no leaks, no error that nobody looked at.
enum class Manner { tidy, abrupt };

void print(const std::string& text) { std::fputs(text.c_str(), stderr); }
void print(const simt::Fault& fault) { std::fprintf(stderr, "simulator: %s\n", fault.message.c_str()); }

/// False: it could not be written, and stderr says why.
bool write_file(const fs::path& file, const std::string& content) {
  std::FILE* const stream = std::fopen(file.c_str(), "w");
  const bool written =
      stream != nullptr && std::fwrite(content.data(), 1, content.size(), stream) == content.size();
  const bool closed = stream != nullptr && std::fclose(stream) == 0;
  if (!written || !closed) std::perror(("simulator: cannot write " + file.string()).c_str());
  return written && closed;
}

void say_what_never_ran(std::size_t dropped) {
  if (dropped == 0) return;
  std::fprintf(stderr,
               "simulator: %zu queued operation%s never ran: the program ended before anything waited for "
               "%s. Call cudaDeviceSynchronize().\n",
               dropped, dropped == 1 ? "" : "s", dropped == 1 ? "it" : "them");
}

/// A program that only takes long is told how to go on.
void say_time_limit(const std::vector<simt::Fault>& faults) {
  if (std::none_of(faults.begin(), faults.end(),
                   [](const simt::Fault& fault) { return fault.kind == "endless_loop"; }))
    return;
  std::fprintf(stderr,
               "simulator: a launch may take %g s of processor time. If it only takes long, --seconds N "
               "(SIMT_LAUNCH_SECONDS=N) allows more, and a smaller input needs less.\n",
               launch_seconds);
}

/// What check mode keeps is bounded.
void say_what_was_not_watched() {
  const std::uint64_t accesses = simt::take_unwatched_accesses();
  if (accesses == 0) return;
  std::fprintf(
      stderr,
      "simulator: check mode keeps 32 bytes for each 4 that kernels touch, and no more than %u GB: %llu "
      "accesses to the memory beyond were not judged. Try a smaller input.\n",
      simt::kMostKeptGigabytes, static_cast<unsigned long long>(accesses));
}

/// Counts are of little use to a program that is wrong.
void mention_findings(std::size_t count) {
  if (count == 0) return;
  std::fprintf(stderr, "simulator: %zu mistake%s found meanwhile: --check (SIMT_CHECK=1) shows %s.\n", count,
               count == 1 ? " was" : "s were", count == 1 ? "it" : "them");
}

/// Why a trace has no steps.
std::string explain_empty_trace(const simt::Trace& trace, std::size_t launches) {
  if (launches <= trace.request.launch)
    return "launch " + std::to_string(trace.request.launch) + " was asked for, and there were " +
           std::to_string(launches) + ", counted from 0";
  if (trace.kernel.empty()) return "the program is not compiled for check mode, or that launch never ran";
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (trace.request.block[axis] >= trace.grid[axis])
      return "the grid of " + trace.kernel + " has no such block";
  return "that block of " + trace.kernel + " has no such warp, or it touched nothing";
}

bool write_trace(std::size_t launches) {
  if (!wishes().trace) return true;
  const simt::Trace trace = simt::take_trace();
  if (trace.steps.empty())
    std::fprintf(stderr, "simulator: the trace is empty: %s.\n",
                 explain_empty_trace(trace, launches).c_str());
  return write_file(wishes().trace->file, simt::report::trace_json(trace)) && !trace.steps.empty();
}

/// Adds the findings to those that have been printed, and prints them. They take the place of the faults that
/// they tell of. True: no error is among them.
bool report_findings(std::vector<simt::Fault>& faults, Manner manner, const TextStyle& style,
                     std::vector<simt::Finding>& findings) {
  simt::report::Remains remains;
  remains.findings = simt::take_findings();
  remains.faults = std::move(faults);
  const bool device_works = cudaDeviceSynchronize() == cudaSuccess;  // after a fault, nothing can be freed
  if (manner == Manner::tidy && device_works) {
    remains.live = simt::live_allocations();
    remains.error_pending = cudaPeekAtLastError() != cudaSuccess;
  }
  simt::report::Ending ending = simt::report::sum_up(std::move(remains));
  faults = std::move(ending.faults);
  if (wishes().check) print(simt::report::findings_text(ending.findings, style));
  findings.insert(findings.end(), ending.findings.begin(), ending.findings.end());
  return std::none_of(findings.begin(), findings.end(),
                      [](const simt::Finding& finding) { return finding.severity == simt::Severity::error; });
}

/// Counts and accesses, as far as they were asked for. True: every file was written.
bool report_traffic(const std::vector<simt::Finding>& findings, const TextStyle& style) {
  if (!wishes().need_check_mode()) return true;
  bool written = true;
  const std::size_t launches = simt::take_launches().size();
  const std::vector<simt::LaunchProfile> profiles = simt::take_profiles();
  if (wishes().profile && profiles.empty() && launches > 0) {
    print("simulator: nothing was counted: the program is not compiled for check mode.\n");
  } else if (wishes().profile) {
    print("\n" + simt::report::profile_text(profiles, wishes().sources, style));
  }
  if (!wishes().report.empty())
    written = write_file(wishes().report, simt::report::report_json(findings, profiles));
  return write_trace(launches) && written;
}

/// False: the program was wrong, or what it was to leave behind could not be written. `findings` are those
/// that have been printed.
bool report(Manner manner, std::vector<simt::Finding> findings = {}) {
  static bool done = false;
  if (done || getpid() != owner) return true;
  done = true;
  std::fflush(stdout);  // what the program itself has to say comes first
  const std::size_t dropped = simt::drop_pending();
  std::vector<simt::Fault> faults = simt::take_faults();
  bool good =
      std::none_of(faults.begin(), faults.end(), [](const simt::Fault& fault) { return fault.in_kernel; });
  const TextStyle style = TextStyle::of_stream(STDERR_FILENO);
  const std::vector<simt::Fault> all_faults = faults;
  if (wishes().judge()) good = report_findings(faults, manner, style, findings) && good;
  if (wishes().need_check_mode() && !wishes().judge()) mention_findings(simt::take_findings().size());
  for (const simt::Fault& fault : faults) print(fault);
  say_time_limit(all_faults);
  say_what_never_ran(dropped);
  say_what_was_not_watched();
  return report_traffic(findings, style) && good;
}

[[noreturn]] void end_process(int status) {
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

void at_exit(int status, void*) {
  if (!report(status == 0 ? Manner::tidy : Manner::abrupt) && status == 0) {
    std::fflush(nullptr);
    end_process(1);
  }
}

void at_quick_exit() { report(Manner::abrupt); }

/// The program is about to die by a signal, inside its handler: whatever can still be said is worth a try.
void at_crash(const simt::Fault& fault) {
  std::vector<simt::Finding> findings;
  if (wishes().judge()) findings.push_back(simt::report::finding_of(fault));
  if (wishes().check) {
    print(simt::report::findings_text(findings, TextStyle::of_stream(STDERR_FILENO)));
  } else {
    print(fault);
  }
  if (!wishes().need_check_mode()) return;
  std::signal(SIGALRM, [](int) { end_process(128 + SIGABRT); });
  alarm(5);  // the crash may have left a lock behind
  report(Manner::abrupt, std::move(findings));
  alarm(0);
}

simt::Order order_named(const std::string& name) {
  if (name == "forward") return simt::Order::forward;
  if (name == "reverse") return simt::Order::reverse;
  if (name == "random") return simt::Order::random;
  throw std::invalid_argument("SIMT_ORDER is '" + name + "'; it can be forward, reverse or random");
}

/// Empty if it is not set; a path that stays right when the program changes its folder.
fs::path path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? fs::path() : fs::absolute(value);
}

bool is_on(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

void configure_from_environment() {
  simt::Settings settings;
  settings.goes_on_alone = true;
  if (const char* order = std::getenv("SIMT_ORDER")) settings.order = order_named(order);
  if (const char* seed = std::getenv("SIMT_SEED")) settings.seed = std::strtoull(seed, nullptr, 10);
  if (const char* device = std::getenv("SIMT_DEVICE")) settings.device = device;
  if (const char* seconds = std::getenv("SIMT_LAUNCH_SECONDS")) settings.launch_seconds = std::atof(seconds);
  launch_seconds = settings.launch_seconds;
  wishes() = {.check = is_on("SIMT_CHECK"),
              .profile = is_on("SIMT_PROFILE"),
              .report = path_in("SIMT_REPORT"),
              .sources = path_in("SIMT_SOURCES"),
              .trace = simt::report::trace_wish()};
  settings.check = wishes().need_check_mode();
  simt::configure(settings);
  if (wishes().trace) simt::start_trace(wishes().trace->request);
}

struct Program {
  Program() {
    owner = getpid();
    try {
      configure_from_environment();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "simulator: %s.\n", error.what());
      end_process(2);
    }
    simt::set_fatal_handler(at_crash);
    on_exit(at_exit, nullptr);
    std::at_quick_exit(at_quick_exit);
  }
};

// Before every other object of the program, so that the report comes after the last of their destructors,
// which may free device memory.
__attribute__((init_priority(101))) const Program program;

}  // namespace

// In place of libc's, for calls of the program: the report must not be lost.
extern "C" void _exit(int status) {
  const bool good = report(Manner::abrupt);
  end_process(status == 0 && !good ? 1 : status);
}
extern "C" void _Exit(int status) noexcept { _exit(status); }

// Also in place of libc's: the system does not fault on managed memory that is closed to host code while a
// kernel may use it; it refuses the call.
namespace {
template <class Function>
Function libc_has(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
}  // namespace
extern "C" {
[[gnu::weak]] std::size_t fread(void* to, std::size_t bytes, std::size_t count, std::FILE* file) {
  static const auto real = libc_has<decltype(&fread)>("fread");
  simt::host_uses(to, bytes * count, true);
  return real(to, bytes, count, file);
}
[[gnu::weak]] std::size_t fwrite(const void* from, std::size_t bytes, std::size_t count, std::FILE* file) {
  static const auto real = libc_has<decltype(&fwrite)>("fwrite");
  simt::host_uses(from, bytes * count, false);
  return real(from, bytes, count, file);
}
[[gnu::weak]] ssize_t read(int file, void* to, std::size_t bytes) {
  static const auto real = libc_has<decltype(&read)>("read");
  simt::host_uses(to, bytes, true);
  return real(file, to, bytes);
}
[[gnu::weak]] ssize_t write(int file, const void* from, std::size_t bytes) {
  static const auto real = libc_has<decltype(&write)>("write");
  simt::host_uses(from, bytes, false);
  return real(file, from, bytes);
}
}
