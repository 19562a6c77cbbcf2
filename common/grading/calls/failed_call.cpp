#include "grading/calls/failed_call.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>

#include "grading/calls/protocol.hpp"

namespace course::grading {
namespace {

std::string place(const Progress& progress) {
  if (progress.running) return fmt::format("in {}", progress.entry);
  return "while your file was being loaded, before any function was called";
}

std::string where_to_look(const Progress& progress) {
  return progress.running
             ? ""
             : " Look at the global and static objects of your file: their constructors run then.";
}

std::string describe_signal(int signal, const Progress& progress) {
  const std::string where = place(progress);
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      return fmt::format(
          "Your host code crashed {}: it used memory that it may not touch. A pointer to device memory must "
          "not be dereferenced on the host (copy with cudaMemcpy); look also for null pointers, indices past "
          "the end of an array, and functions that call themselves without end.",
          where);
    case SIGFPE:
      return fmt::format("Your host code crashed {}: it divided an integer by zero.", where);
    case SIGABRT:
      return fmt::format(
          "Your code called abort() {}: a failed assert, an exception that left a destructor or a noexcept "
          "function, or memory that was damaged or freed twice.",
          where);
    case SIGILL:
    case SIGTRAP:
      return fmt::format(
          "Your code stopped {} at an instruction that means \"this cannot happen\", such as "
          "__builtin_trap() or the end of a function that returns nothing.",
          where);
    case SIGKILL:
      return fmt::format(
          "Your code was killed {}. Most likely it asked for more memory than this machine has.", where);
    case SIGSYS:
      return fmt::format(
          "Your code asked the system {} for something that a kernel has no need of, and was ended. Remove "
          "that call.",
          where);
    default:
      return fmt::format("Your code was ended {} by signal {} ({}).", where, signal, strsignal(signal));
  }
}

}  // namespace

std::string describe_death(int wait_status, const Progress& progress) {
  if (WIFSIGNALED(wait_status))
    return describe_signal(WTERMSIG(wait_status), progress) + where_to_look(progress);
  const int code = WEXITSTATUS(wait_status);
  if (code == kExitChannelLost) return describe_broken_channel(progress);
  return fmt::format(
      "Your code ended the whole program {}, with exit status {}. Remove the call of exit() or _exit(): a "
      "function returns, or throws if it cannot do its work.{}",
      place(progress), code, where_to_look(progress));
}

std::string describe_broken_channel(const Progress& progress) {
  return fmt::format(
      "The grader lost its connection to your code {}: something there closes, or writes to, file "
      "descriptors that it "
      "did not open. Close and write only what your own code opened.{}",
      place(progress), where_to_look(progress));
}

std::string describe_timeout(double seconds, const Progress& progress) {
  if (!progress.running)
    return fmt::format("Your file could not be loaded: it was still busy after {:.3g} s and was stopped.{}",
                       seconds, where_to_look(progress));
  return fmt::format(
      "{} never came back: it was still running after {:.3g} s and was stopped. Look for a loop whose "
      "condition never becomes false, or a loop that takes far more steps than it needs, in the host code "
      "and in the kernels.",
      progress.entry, seconds);
}

std::string describe_idle_timeout(double seconds, double used, const Progress& progress) {
  return fmt::format(
      "{} was stopped after {:.3g} s, of which it used a processor for {:.2g} s. Either it waits for what "
      "never comes, or this machine is busy with other work: then try again.{}",
      progress.running ? progress.entry : "Loading your file", seconds, used, where_to_look(progress));
}

std::string describe_hunger(std::uint64_t bytes, const Progress& progress) {
  return fmt::format(
      "Your code held more than {} MiB of memory {} and was stopped. Look for an allocation in a loop, or a "
      "size that is far too large.{}",
      bytes >> 20, place(progress), where_to_look(progress));
}

std::string describe_slow_answers(std::size_t answers, double seconds, std::string_view entry) {
  return fmt::format(
      "{} asked for a result of the device {} times, and its kernels took {:.0f} s to find them. Let kernels "
      "take less time, or ask less often: host code begins again with every answer.",
      entry, answers, seconds);
}

std::string describe_impatience(int timeouts, std::string_view entry) {
  return fmt::format("Skipped: {} was not called, because {} calls before this one never came back.", entry,
                     timeouts);
}

std::string describe_impatience_with_hunger(int calls, std::string_view entry) {
  return fmt::format("Skipped: {} was not called, because {} calls before this one held too much memory.",
                     entry, calls);
}

}  // namespace course::grading
