#include "grading/seat.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "grading/channel.hpp"
#include "grading/ending.hpp"

namespace course::grading {
namespace {

using Clock = WorkerProcess::Clock;

/// The simulator stops a kernel by itself and can say where it was; the grader steps in this much later.
double grace_seconds(double timeout) { return 0.5 + 0.1 * timeout; }

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

ReplyMessage Seat::exchange(const SessionConfig& config, const CallMessage& call, const Descriptor& input,
                            const Descriptor& output) {
  Answer answer;
  if (worker_) {
    worker_->collect_output();
    worker_->printed().clear();
    answer = ask(*worker_, call, input, output);
  }
  // A worker that was left damaged by an earlier call is not this call's fault: it gets a new one.
  if (!worker_ || (!answer.began && answer.reply.outcome.status == Status::died)) {
    worker_ = std::make_unique<WorkerProcess>(config.worker, config.pass_output_on && !call.check);
    answer = ask(*worker_, call, input, output);
  }
  // Before the results are read: nobody can write to them any more.
  if (!answer.reply.reusable) worker_.reset();
  return std::move(answer.reply);
}

Seat::Answer Seat::ask(WorkerProcess& process, const CallMessage& call, const Descriptor& input,
                       const Descriptor& output) {
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

  const Clock::time_point deadline = Clock::now() + to_duration(timeout + grace_seconds(timeout));
  process.channel().send(encode(call), {input.get(), output.get()});  // wait() notices if nobody is there
  for (;;) {
    switch (process.wait(deadline)) {
      case WorkerProcess::Event::timeout:
        timed_out_before_ = true;
        return end_with(Status::timeout, describe_timeout(timeout, progress));
      case WorkerProcess::Event::ended:
        return end_with(Status::died, describe_death(process.stop(), progress));
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
    if (answer.reply.unusable) throw MachineError(answer.reply.outcome.message);
    if (answer.reply.id != call.id) return end_with(Status::died, describe_broken_channel(progress));
    if (!answer.reply.running) break;
    answer.began = progress.running = true;
  }
  if (answer.reply.outcome.status == Status::timeout) timed_out_before_ = true;
  process.collect_output();
  answer.reply.outcome.printed = process.printed().lines();
  return answer;
}

}  // namespace course::grading
