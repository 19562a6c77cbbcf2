// The program that loads and runs a student's code, one call after the other, so that nobody else has to.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "grading/calls/channel.hpp"
#include "grading/calls/channel_listener.hpp"
#include "grading/calls/protocol.hpp"
#include "grading/calls/worker/arrays.hpp"
#include "grading/calls/worker/backend.hpp"
#include "grading/calls/worker/confine.hpp"
#include "grading/calls/worker/exceptions.hpp"
#include "grading/calls/worker/fatal_report.hpp"
#include "grading/calls/worker/fork_on_request.hpp"
#include "grading/calls/worker/kernel_library.hpp"
#include "grading/calls/worker/names.hpp"
#include "grading/confinement/confinement.hpp"

namespace course::grading {
namespace {

std::atomic<bool> forked{false};

Outcome refused(const std::string& message) {
  Outcome outcome;
  outcome.status = Status::refused;
  outcome.message = message;
  return outcome;
}

/// Calls the entry; whatever it throws ends here.
Outcome run_entry(const EntryRecord& entry, void* const* arguments) {
  try {
    const backend::HostCode host_code;
    entry.invoke(arguments);
  } catch (...) {
    return describe_exception(fmt::format("in {}", entry.name));
  }
  Outcome outcome;
  outcome.status = Status::returned;
  return outcome;
}

/// What ended the call: a fault explains an exception and an error that came after it, an exception the
/// latter.
Outcome judge_end(Outcome host, backend::DeviceEnd device, const std::string& pending_error, bool work_aside,
                  const std::string& entry) {
  Outcome outcome = device.outcome.status == Status::returned ? std::move(host) : device.outcome;
  outcome.findings = std::move(device.outcome.findings);
  outcome.counters = std::move(device.outcome.counters);
  outcome.leaks = std::move(device.outcome.leaks);
  outcome.leak_count = device.outcome.leak_count;
  outcome.leak_bytes = device.outcome.leak_bytes;
  outcome.profile = std::move(device.outcome.profile);
  if (outcome.status == Status::returned && !pending_error.empty()) {
    outcome.status = Status::cuda_error;
    outcome.message = fmt::format(
        "A CUDA call in {} failed and nobody looked: {}. Check what every CUDA call returns, and call "
        "cudaGetLastError() after each kernel launch.",
        entry, pending_error);
  } else if (outcome.status == Status::returned && work_aside) {
    outcome.status = Status::cuda_error;
    outcome.message = fmt::format(
        "{} returned with work in a stream that nobody waits for: the default stream does not wait for one "
        "made with cudaStreamNonBlocking. Call cudaStreamSynchronize() for it, or let the default stream "
        "wait for an event in it with cudaStreamWaitEvent().",
        entry);
  }
  if (const std::string limit = backend::limit_behind(outcome.exception_message); !limit.empty())
    outcome.message += "\n" + limit;
  // What the runtime refused explains an error left behind, and often an exception; an error that was handled
  // is none.
  if ((outcome.status == Status::cuda_error || outcome.status == Status::threw) && !device.refusals.empty()) {
    // An entry that throws where CUDA refuses a call does what it should: that is no finding.
    if (outcome.status == Status::threw)
      outcome.message += "\nThe call that was refused: " + device.refusals.back().what;
    else
      for (Finding& refusal : device.refusals) outcome.findings.push_back(std::move(refusal));
  }
  return outcome;
}

void flush_output() {
  std::cout.flush();
  std::fflush(stdout);
}

/// Where an answer goes to, and of which call; see backend::AnswerHandler.
Channel* asking_channel = nullptr;
std::uint64_t asking_call = 0;

/// Without an answer, the device has failed, and the call has ended with that.
void end_with_answer(const std::vector<std::byte>* answer) noexcept {
  ReplyMessage reply;
  reply.id = asking_call;
  reply.outcome = backend::end_call().outcome;  // of the work that the answer comes of
  if (answer != nullptr)
    reply.answer = *answer;
  else
    flush_output();
  asking_channel->send(encode(reply));
  _exit(0);
}

/// Says that a worker is there, or a fork server: `problem` is why it cannot work, or empty.
void greet(Channel& channel, const std::string& problem) {
  ReplyMessage ready;
  ready.ready = true;
  ready.unusable = !problem.empty();
  ready.outcome = refused(problem);
  channel.send(encode(ready));
}

/// Processes that the entry started and that are still there, or were never waited for.
bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

class Worker {
 public:
  explicit Worker(Channel channel) : channel_(std::move(channel)), problem_(backend::start(&report_fatal)) {}

  /// Gives up what a kernel has no need of.
  /// @throws std::system_error
  void confine() {
    if (!problem_.empty()) return;
    const Privileges privileges = backend::prepare_for_confinement();
    grading::confine(privileges);
    loads_nothing_more_ = !privileges.start_threads;
    if (loads_nothing_more_) note_names();
  }

  void greet() { grading::greet(channel_, problem_); }

  /// Serves calls until the grader closes the channel. Returns the exit status.
  int serve() {
    while (auto message = channel_.receive(true)) {
      if (message->descriptors.size() != 2) return kExitChannelLost;
      const CallMessage call = decode_call(message->text);
      reply_ = ReplyMessage{};
      reply_.id = call.id;
      watch_fatal(channel_.fd(), call.id);
      try {
        answer(call, std::move(message->descriptors[0]), std::move(message->descriptors[1]));
      } catch (const std::exception& problem) {  // nothing that the entry threw gets here
        reply_.copied = reply_.reusable = false;
        reply_.outcome = refused(problem.what());
      }
      watch_fatal(-1, 0);
      if (!channel_.send(encode(reply_))) return kExitChannelLost;
    }
    return 0;
  }

 private:
  void answer(const CallMessage& call, Descriptor input, Descriptor output) {
    if (!problem_.empty()) {
      reply_.unusable = true;
      reply_.outcome = refused(problem_);
      return;
    }
    const Mapping results = Mapping::map(output.get(), 0, call.output_bytes, Mapping::Mode::shared);
    backend::configure(call);
    CallArrays arrays(call, input);
    input.close();  // the student's code finds no descriptor of ours but the channel
    output.close();
    asking_channel = &channel_;
    asking_call = call.id;
    backend::begin_load(call, end_with_answer);
    void* library = load_kernel_library(call.library);
    if (loads_nothing_more_) end_loading();
    backend::library_loaded(library);
    const EntryRecord& entry = find_entry(library, call.entry, call.signature);
    ReplyMessage running;
    running.id = call.id;
    running.running = true;
    channel_.send(encode(running));
    run(call, entry, arrays, results);
  }

  void run(const CallMessage& call, const EntryRecord& entry, CallArrays& arrays, const Mapping& results) {
    std::vector<std::vector<std::byte>> values;
    std::vector<void*> arguments;
    for (const ArgumentMessage& argument : call.arguments) {
      std::vector<std::byte>& value = values.emplace_back(argument.bytes);
      if (argument.array) {
        void* const data = arrays.data(*argument.array);
        std::memcpy(value.data(), &data, sizeof data);
      }
      arguments.push_back(value.data());  // moving a vector leaves its elements where they are
    }

    const pid_t self = getpid();
    forked = false;
    backend::begin_call();
    Outcome host = run_entry(entry, arguments.data());
    if (getpid() != self) _exit(0);  // a copy of this process that came back through our code
    flush_output();
    const bool work_aside = backend::has_work_aside();  // before anything is waited for
    const std::string pending_error = backend::take_pending_error();
    backend::DeviceEnd device = backend::end_call();
    const bool works = !device.broken;
    reply_.moves = arrays.moves(device.copies);
    reply_.outcome = judge_end(std::move(host), std::move(device), pending_error, work_aside, call.entry);
    if (forked || has_children()) {
      reply_.outcome = Outcome{};
      reply_.outcome.status = Status::died;
      reply_.outcome.message = fmt::format(
          "Your code started another process in {}, with fork() or something like it. A kernel's host code "
          "has no need of other processes: remove that call.",
          call.entry);
      return;
    }
    if (!works) return;
    arrays.copy_results(results);
    arrays.release();
    reply_.copied = true;
    // What leaked would be found again after the next call, and costs memory.
    reply_.reusable = reply_.outcome.leak_count == 0;
  }

  Channel channel_;
  std::string problem_;
  bool loads_nothing_more_ = false;  ///< beside the kernel
  ReplyMessage reply_;
};

/// The worker is the one to go when memory runs out, and leaves no core file behind.
void give_way() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (std::FILE* score = std::fopen("/proc/self/oom_score_adj", "w")) {
    std::fputs("1000", score);
    std::fclose(score);
  }
}

/// A worker behind a launcher does not end with the grader by itself, when a kernel keeps it: this thread
/// ends it once the grader has gone and nothing is left to wait for.
void end_after_grader(int channel) {
  constexpr auto kTimeToFinish = std::chrono::seconds(20);
  std::thread([=] {
    pollfd hang_up{channel, 0, 0};
    while (poll(&hang_up, 1, -1) < 0 && errno == EINTR) {
    }
    std::this_thread::sleep_for(kTimeToFinish);
    _exit(kExitChannelLost);
  }).detach();
}

/// Starts this program again with all functions of its libraries found at once: later their names are hidden.
void find_all_functions_now(char** arguments) {
  if (std::getenv("LD_BIND_NOW") != nullptr) return;
  setenv("LD_BIND_NOW", "1", 1);
  execv(arguments[0], arguments);
  throw std::system_error(errno, std::generic_category(), "The worker cannot start itself");
}

bool is_channel(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace
}  // namespace course::grading

int main(int argc, char** argv) try {
  using namespace course::grading;
  const bool launched = argc == 3 && std::string_view(argv[1]) == kChannelOption;
  if (!launched && !is_channel(kWorkerChannel)) {
    std::fputs("This program runs kernels for the course's tests, which start it; it does nothing by hand.\n",
               stderr);
    return 2;
  }
  const bool confined = argc == 2 && std::string_view(argv[1]) == kConfinedOption;
  if (confined) find_all_functions_now(argv);
  give_way();
  Channel channel = launched ? connect_to_listener(argv[2]) : Channel(Descriptor(kWorkerChannel));
  if (confined) {
    greet(channel, "");
    if (!fork_on_request(channel)) return 0;
  }
  fcntl(channel.fd(), F_SETFD, FD_CLOEXEC);
  // A crash loses at most the line being printed. The buffer is not the student's, though it prints first.
  static char printed[BUFSIZ];
  std::setvbuf(stdout, printed, _IOLBF, sizeof printed);
  pthread_atfork(
      nullptr, [] { forked = true; }, nullptr);
  if (launched) end_after_grader(channel.fd());
  Worker worker{std::move(channel)};
  if (confined) worker.confine();
  if (confined || launched) worker.greet();
  const int status = worker.serve();
  if (launched) {  // by a tool, which writes what it knows when the program ends as programs do
    backend::finish();
    std::exit(status);
  }
  _exit(status);  // the student's destructors and atexit functions have had their chance to do harm
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
