#include "grading/sanitizer/finding_of_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "grading/sanitizer/race.hpp"
#include "simt/classes.hpp"

namespace course::grading {
namespace {

using simt::Finding;
using simt::FindingSide;
using simt::check::Advice;
namespace check = simt::check;

constexpr std::uint64_t kNullPage = 4096;               // below lies what a null pointer with an index gives
constexpr std::uint64_t kFar = std::uint64_t{1} << 30;  // bytes from an allocation; no mere slip of an index

/// CUDA's own headers lie in a folder of this name. Where no folder is told, any other file may be one.
bool is_header_of_cuda(const FindingSide& side, std::string_view source_name) {
  if (side.file.find('/') == std::string::npos) return side.file != source_name;
  return side.file.find("/include/") != std::string::npos;
}

/// Points to the innermost line that is not CUDA's, and to the one in the kernel's file that led there.
void set_place(Finding& finding, const SanitizerReport& report, std::string_view source_name) {
  std::vector<FindingSide> frames{place_of(report.detail("at "))};
  for (const std::string& line : report.details)
    if (line.starts_with("Device Frame:")) frames.push_back(place_of(line));
  std::erase_if(frames, [](const FindingSide& frame) { return frame.line == 0; });
  if (frames.empty()) return;
  const auto in_source = [&](const FindingSide& frame) { return name_of(frame.file) == source_name; };
  auto here = std::find_if_not(frames.begin(), frames.end(), [&](const FindingSide& frame) {
    return is_header_of_cuda(frame, source_name);
  });
  if (here == frames.end()) here = frames.begin();
  finding.here.file = here->file;
  finding.here.line = here->line;
  const auto caller = std::find_if(here, frames.end(), in_source);
  if (caller != here && caller != frames.end())
    finding.called_from = fmt::format("{}:{}", source_name, caller->line);
}

/// Takes "by thread (1,0,0) in block (0,0,0)". Returns who it was.
std::string take_thread(Finding& finding, const SanitizerReport& report) {
  const std::string by = report.detail("by ");
  if (!read_index(by, "thread (", finding.here.thread) || !read_index(by, "block (", finding.here.block))
    return "a thread";
  return fmt::format("thread {} of block {}", index_text(finding.here.thread),
                     index_text(finding.here.block));
}

void tell(Finding& finding, const char* kind, std::string what, const Advice& advice = {"", ""}) {
  finding.kind = kind;
  finding.what = std::move(what);
  finding.rule = advice.rule;
  finding.fix = advice.fix;
}

/// The allocation that is nearest to an address, as far as it is told.
struct Neighbour {
  std::uint64_t begin = 0, bytes = 0;

  explicit Neighbour(const SanitizerReport& report) {
    const std::string text = report.detail("and is ");
    begin = number_of(between(text, "allocation at ", " of size"));
    bytes = number_of(between(text, "of size ", " byte"));
  }
  bool known() const { return begin != 0; }
  bool is_far_from(std::uint64_t address) const {
    return known() && (address + kFar < begin || address > begin + bytes + kFar);
  }
  /// ": at byte 40 of an allocation of 40 bytes"
  std::string clause(std::uint64_t address) const {
    if (!known()) return "";
    if (address >= begin)
      return fmt::format(": at byte {} of an allocation of {} bytes", address - begin, bytes);
    return fmt::format(": {} bytes before an allocation of {} bytes", begin - address, bytes);
  }
};

/// "Invalid __global__ read of size 4 bytes"
void tell_access(Finding& finding, const SanitizerReport& report) {
  const std::string_view head = report.headline;
  const std::uint64_t bytes = number_of(between(head, "of size ", " byte"));
  const char* const verb = head.find("read of") != std::string_view::npos    ? "reads"
                           : head.find("write of") != std::string_view::npos ? "writes"
                                                                             : "atomically updates";
  finding.memory = between(head, "__", "__");
  std::string access = report.detail("Access to ");
  if (access.empty()) access = report.detail("Address ");  // as older versions say it
  const std::uint64_t address = number_of(access);
  const Neighbour neighbour(report);
  const std::string who = take_thread(finding, report);
  const std::string what = fmt::format("{} {} {} bytes of {} memory", who, verb, bytes, finding.memory);
  if (access.find("misaligned") != std::string::npos)
    return tell(finding, check::kMisaligned,
                fmt::format("{} at an address that is not a multiple of {}.", what, bytes),
                check::kMisalignedAddress);
  if (finding.memory != "global")
    return tell(finding, check::kOutOfBounds, what + " out of bounds.", check::kOutOfBoundsShared);
  if (!access.empty() && address < kNullPage)
    return tell(
        finding, "null_pointer",
        fmt::format("{} {} {} bytes through a null pointer (address {:#x}).", who, verb, bytes, address),
        check::kNullPointer);
  if (neighbour.is_far_from(address))
    return tell(finding, "illegal_address",
                fmt::format("{} at address {:#x}, far from every allocation; a pointer to host memory looks "
                            "like this, too.",
                            what, address),
                check::kAddressOfNothing);
  tell(finding, check::kOutOfBounds, fmt::format("{} out of bounds{}.", what, neighbour.clause(address)),
       check::kOutOfBoundsGlobal);
}

/// "Uninitialized __global__ memory read of size 4 bytes"
void tell_uninitialised(Finding& finding, const SanitizerReport& report) {
  finding.memory = between(report.headline, "__", "__");
  const bool shared = finding.memory == "shared";
  const std::string who = take_thread(finding, report);
  tell(finding, check::kUninitialisedRead,
       fmt::format("{} reads {} bytes of {} memory, which {} has written.", who,
                   number_of(between(report.headline, "of size ", " byte")), finding.memory,
                   shared ? "no thread of the block" : "neither the host nor a kernel"),
       shared ? check::kUninitialisedShared : check::kUninitialisedGlobal);
}

/// "Barrier error detected. Divergent thread(s) in block."
void tell_divergent(Finding& finding, const SanitizerReport& report) {
  const bool warp = report.headline.find("in warp") != std::string::npos;
  const std::string who = take_thread(finding, report);
  tell(finding, check::kDivergentBarrier,
       fmt::format("{} waits at this barrier, and other threads of its {} do not come to it.", who,
                   warp ? "warp" : "block"),
       check::kBarrierNotForAll);
}

}  // namespace

bool RefusedCall::is_aftermath() const {
  constexpr std::array kLeftByKernels = {
      "cudaErrorIllegalAddress",     "cudaErrorLaunchTimeout",     "cudaErrorAssert",
      "cudaErrorHardwareStackError", "cudaErrorMisalignedAddress", "cudaErrorInvalidAddressSpace",
      "cudaErrorIllegalInstruction", "cudaErrorInvalidPc",         "cudaErrorLaunchFailure"};
  return std::find(kLeftByKernels.begin(), kLeftByKernels.end(), error) != kLeftByKernels.end();
}

std::optional<RefusedCall> refused_call(const SanitizerReport& report) {
  RefusedCall refused;
  refused.error = between(report.headline, "Program hit ", " (error");
  refused.words = between(report.headline, "due to \"", "\"");
  constexpr std::string_view kCall = "API call to ";
  const std::size_t call = report.headline.find(kCall);
  if (refused.error.empty() || call == std::string::npos) return std::nullopt;
  refused.call = report.headline.substr(call + kCall.size());
  if (refused.call.ends_with('.')) refused.call.pop_back();
  return refused;
}

std::optional<LeakedMemory> leaked_memory(const SanitizerReport& report) {
  if (!report.headline.starts_with("Leaked ")) return std::nullopt;
  LeakedMemory leak{number_of(between(report.headline, "Leaked ", " byte")), ""};
  for (const std::string& line : report.details) {
    if (!line.starts_with("Host Frame:")) continue;
    std::string function(between(line, "Host Frame:", " ["));  // "Host Frame: scale(float*, long) [0x90ae]"
    function.erase(0, function.find_first_not_of(' '));
    // Above the function that allocates stand CUDA's own, some without a name.
    const bool of_cuda = function.starts_with("cuMem") || function.find("cudaMalloc") != std::string::npos;
    if (function.empty() || of_cuda) continue;
    leak.function = function.substr(0, function.find('('));
    break;
  }
  return leak;
}

Finding finding_of_report(const SanitizerReport& report, std::string_view tool,
                          std::string_view source_name) {
  const std::string_view head = report.headline;
  Finding finding;
  if (head.starts_with("Warning")) finding.severity = simt::Severity::warning;
  if (head.starts_with("Info")) finding.severity = simt::Severity::note;
  if (is_race(report)) {
    tell_race(finding, report);
    return finding;
  }
  set_place(finding, report, source_name);
  if (head.starts_with("Invalid __")) {
    tell_access(finding, report);
  } else if (head.starts_with("Uninitialized __")) {
    tell_uninitialised(finding, report);
  } else if (head.starts_with("Barrier error detected. Divergent thread")) {
    tell_divergent(finding, report);
  } else {
    const std::string who = take_thread(finding, report);
    if (head.starts_with("Warp assert"))
      tell(finding, "assertion", who + " failed an assertion.");
    else if (head.starts_with("Trace/breakpoint trap"))
      tell(finding, "trap", who + " executed __trap().");
    else if (head.starts_with("Stack overflow"))
      tell(finding, "stack_overflow", who + " ran out of stack.", check::kStackUsedUp);
    else
      tell(finding, kSanitizerClass,
           fmt::format("{} says: {}{}", tool, head, head.ends_with('.') ? "" : "."));
  }
  return finding;
}

}  // namespace course::grading
