#include "grading/calls/seat.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grading/calls/channel.hpp"
#include "grading/calls/failed_call.hpp"

namespace course::grading {
namespace {

using Clock = WorkerProcess::Clock;

/// The simulator stops a kernel by itself and can say where it was; the grader steps in this much later.
double grace_seconds(double timeout) { return 0.5 + 0.1 * timeout; }

constexpr double kShortestWait = 0.05;  // seconds

/// For what a tool does at the end: looking for leaks, writing its log.
constexpr auto kTimeToFinish = std::chrono::seconds(30);

using ThreadTime = WorkerProcess::ThreadTime;
using ThreadTimes = std::map<pid_t, ThreadTime>;

/// The most that one thread used, and the most that one stood in line. The simulator stops its launches by
/// the first.
ThreadTime most_since(const ThreadTimes& before, const ThreadTimes& now) {
  ThreadTime most;
  for (const auto& [thread, time] : now) {
    const auto known = before.find(thread);
    const ThreadTime begin = known == before.end() ? ThreadTime{} : known->second;
    most.used = std::max(most.used, time.used - begin.used);
    most.queued = std::max(most.queued, time.queued - begin.queued);
  }
  return most;
}

/// Whether the host code of a call may be told that, after what it was told before. An empty answer is a bit:
/// nothing has changed.
bool may_be_told(const CallMessage& call, const std::vector<std::byte>& answer) {
  const auto bits_of = [](const std::vector<std::byte>& one) -> std::uint64_t {
    return one.empty() ? 1 : 8 * one.size();
  };
  std::uint64_t bits = bits_of(answer);
  for (const std::vector<std::byte>& before : call.answers) bits += bits_of(before);
  return call.host_first && bits <= 8 * kFewBytes;
}

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

ReplyMessage Seat::exchange(const SessionConfig& config, const CallMessage& call, const Descriptor& input,
                            const Descriptor& output) {
  const Confinement* const confinement = config.confinement ? &*config.confinement : nullptr;
  Answer answer;
  // Check mode is slow, and may run out of time for no fault of the kernel's: it is asked again.
  const bool fault_of_kernel = !call.check || confinement != nullptr;
  const bool too_slow = timeouts_ >= config.patience, too_hungry = hungry_ >= config.patience_with_hunger;
  gave_up_ = fault_of_kernel && (too_slow || too_hungry);
  if (gave_up_) {
    answer.reply.outcome.status = too_slow ? Status::timeout : Status::died;
    answer.reply.outcome.message = too_slow ? describe_impatience(timeouts_, call.entry)
                                            : describe_impatience_with_hunger(hungry_, call.entry);
    return std::move(answer.reply);
  }
  if (worker_) {
    worker_->collect_output();
    worker_->printed().clear();
    answer = ask(*worker_, config, call, input, output);
  }
  // A worker that was left damaged by an earlier call is not this call's fault: it gets a new one.
  if (!worker_ || (!answer.began && answer.reply.outcome.status == Status::died)) {
    start(config, call);
    answer = ask(*worker_, config, call, input, output);
  }
  // Before the results are read: nobody can write to them any more.
  if (!answer.reply.reusable && config.sanitizer) {
    if (!finish()) answer.reply.outcome.status = Status::died;
  } else if (!answer.reply.reusable || (confinement && confinement->one_call)) {
    worker_.reset();
  }
  return std::move(answer.reply);
}

void Seat::start(const SessionConfig& config, const CallMessage& call) {
  worker_.reset();
  if (config.confinement) {
    if (!server_ || !server_->works())
      server_ = std::make_unique<ForkServer>(config.worker, *config.confinement);
    worker_ = std::make_unique<WorkerProcess>(*server_, config.pass_output_on && !call.check);
    return;
  }
  std::vector<std::string> launcher;
  if (config.sanitizer)
    launcher = launcher_of(*config.sanitizer, config.case_number ? config.case_number() : 0, ++started_);
  worker_ = std::make_unique<WorkerProcess>(config.worker, config.pass_output_on && !call.check, nullptr,
                                            config.sanitizer ? &launcher : nullptr);
}

bool Seat::finish() {
  const bool by_itself = !worker_ || worker_->finish(Clock::now() + kTimeToFinish);
  worker_.reset();
  return by_itself;
}

Seat::Answer Seat::ask(WorkerProcess& process, const SessionConfig& config, const CallMessage& call,
                       const Descriptor& input, const Descriptor& output) {
  Answer answer;
  const double timeout = call.launch_seconds;
  Progress progress{call.entry, false};
  const auto end_with = [&](Status status, const std::string& message) {
    answer.reply = ReplyMessage{};
    answer.reply.outcome.status = status;
    answer.reply.outcome.message = message;
    process.stop();
    answer.reply.outcome.printed = process.printed().lines();
    return answer;
  };

  const double limit = timeout + grace_seconds(timeout);
  const bool may_be_busy = config.busy_factor > 1;
  const ThreadTimes before = may_be_busy ? process.thread_times() : ThreadTimes{};
  const Clock::time_point start = Clock::now();
  Clock::time_point deadline = start + to_duration(limit);
  process.channel().send(encode(call), {input.get(), output.get()});  // wait() notices if nobody is there
  for (;;) {
    switch (process.wait(deadline)) {
      case WorkerProcess::Event::timeout: {
        const ThreadTime time =
            may_be_busy ? most_since(before, process.thread_times()) : ThreadTime{.used = limit};
        const Clock::time_point now = Clock::now(),
                                latest = start + to_duration(config.busy_factor * limit + time.queued);
        if (time.used < limit && now < latest) {
          deadline = std::min(latest, now + to_duration(std::max(limit - time.used, kShortestWait)));
          continue;
        }
        ++timeouts_;
        const double passed = std::chrono::duration<double>(now - start).count();
        return end_with(Status::timeout, time.used < limit / 2
                                             ? describe_idle_timeout(passed, time.used, progress)
                                             : describe_timeout(timeout, progress));
      }
      case WorkerProcess::Event::ended:
        return end_with(Status::died, describe_death(process.stop(), progress));
      case WorkerProcess::Event::too_large:
        ++hungry_;
        return end_with(Status::died, describe_hunger(config.confinement->memory_bytes, progress));
      case WorkerProcess::Event::channel_closed:
        return end_with(Status::died, describe_broken_channel(progress));
      case WorkerProcess::Event::message:
        break;
    }
    const std::optional<Channel::Message> message = process.channel().receive(false);
    try {
      if (!message) continue;
      answer.reply = decode_reply(message->text);
    } catch (const std::exception&) {
      return end_with(Status::died, describe_broken_channel(progress));
    }
    // A confined worker said so when it greeted; what claims it later is the code that it runs.
    if (answer.reply.unusable && !config.confinement) throw MachineError(answer.reply.outcome.message);
    if (answer.reply.unusable || answer.reply.ready || answer.reply.id != call.id ||
        (answer.reply.answer && !may_be_told(call, *answer.reply.answer)))
      return end_with(Status::died, describe_broken_channel(progress));
    if (!answer.reply.running) break;
    if (answer.began) return end_with(Status::died, describe_broken_channel(progress));  // it says so once
    answer.began = progress.running = true;
  }
  if (answer.reply.outcome.status == Status::timeout) ++timeouts_;
  process.collect_output();
  answer.reply.outcome.printed = process.printed().lines();
  return answer;
}

}  // namespace course::grading
