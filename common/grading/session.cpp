#include "grading/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "grading/case.hpp"
#include "grading/ending.hpp"
#include "grading/image.hpp"
#include "grading/protocol.hpp"
#include "grading/shared_memory.hpp"
#include "grading/worker_process.hpp"

namespace course::grading {
namespace {

using Clock = WorkerProcess::Clock;

/// The simulator stops a kernel by itself and can say where it was; the grader steps in this much later.
double grace_seconds(double timeout) { return 0.5 + 0.1 * timeout; }

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// The memory of a call: where each array's image lies on the way to the worker, and on the way back.
struct Plan {
  CallMessage message;
  std::vector<const ArrayArgument*> arrays;
  std::vector<std::string> labels;
};

std::string label_of(const ArrayArgument& array, std::size_t position) {
  return array.name.empty() ? fmt::format("argument {}", position + 1) : array.name;
}

Plan make_plan(const std::vector<Argument>& arguments, bool verify_inputs) {
  Plan plan;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ArgumentMessage argument{arguments[i].bytes, {}};
    if (arguments[i].array) {
      const ArrayArgument& array = *arguments[i].array;
      ArrayMessage entry;
      entry.place = array.place;
      entry.offset = plan.message.input_bytes;
      entry.bytes = image_bytes(array);
      entry.data = kGuardBytes;
      plan.message.input_bytes += entry.bytes;
      if (array.access != Access::in || verify_inputs) {
        entry.result = plan.message.output_bytes;
        plan.message.output_bytes += entry.bytes;
      }
      argument.array = plan.arrays.size();
      plan.message.arrays.push_back(entry);
      plan.arrays.push_back(&array);
      plan.labels.push_back(label_of(array, i));
    }
    plan.message.arguments.push_back(std::move(argument));
  }
  // Shared memory of zero bytes cannot be mapped.
  plan.message.input_bytes = std::max<std::uint64_t>(plan.message.input_bytes, whole_pages(1));
  plan.message.output_bytes = std::max<std::uint64_t>(plan.message.output_bytes, whole_pages(1));
  return plan;
}

/// Inputs, poison and guards, sealed: nobody can change them any more, the grader included.
Descriptor make_input(const Plan& plan) {
  Descriptor memory = create_memory("course-input", plan.message.input_bytes);
  {
    const Mapping mapping = Mapping::map(memory.get(), 0, plan.message.input_bytes, Mapping::Mode::shared);
    for (std::size_t i = 0; i < plan.arrays.size(); ++i)
      fill_image(*plan.arrays[i], mapping.data() + plan.message.arrays[i].offset);
  }
  seal_contents(memory.get());
  return memory;
}

void take_results(const Plan& plan, const Descriptor& output, Outcome& outcome) {
  const Mapping mapping =
      Mapping::map(output.get(), 0, plan.message.output_bytes, Mapping::Mode::shared_read);
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    if (!plan.message.arrays[i].result) continue;
    const std::byte* image = mapping.data() + *plan.message.arrays[i].result;
    std::vector<std::string> found = image_violations(*plan.arrays[i], image, plan.labels[i]);
    outcome.violations.insert(outcome.violations.end(), found.begin(), found.end());
    if (plan.arrays[i]->output) read_image(*plan.arrays[i], image);
  }
}

void poison_outputs(const Plan& plan) {
  for (const ArrayArgument* array : plan.arrays)
    if (array->output) poison_output(*array);
}

}  // namespace

struct Session::State {
  SessionConfig config;
  std::unique_ptr<WorkerProcess> worker;
  std::uint64_t next_id = 1;
  bool timed_out_before = false;

  /// Sends the call and waits for its reply. Whatever else happens becomes a reply, too.
  ReplyMessage exchange(const Plan& plan, const Descriptor& input, const Descriptor& output, double timeout);

 private:
  /// What a worker answered, or how it ended.
  struct Answer {
    ReplyMessage reply;
    bool began = false;  ///< the entry was called
  };
  Answer ask(WorkerProcess& process, const Plan& plan, const Descriptor& input, const Descriptor& output,
             double timeout);
};

ReplyMessage Session::State::exchange(const Plan& plan, const Descriptor& input, const Descriptor& output,
                                      double timeout) {
  if (worker) {
    worker->collect_output();
    worker->printed().clear();
    Answer answer = ask(*worker, plan, input, output, timeout);
    // A worker that was left damaged by an earlier call is not this call's fault: it gets a new one.
    if (answer.began || answer.reply.outcome.status != Status::died) return std::move(answer.reply);
  }
  worker = std::make_unique<WorkerProcess>(config.worker, config.pass_output_on);
  return ask(*worker, plan, input, output, timeout).reply;
}

Session::State::Answer Session::State::ask(WorkerProcess& process, const Plan& plan, const Descriptor& input,
                                           const Descriptor& output, double timeout) {
  Answer answer;
  Progress progress{plan.message.entry, false};
  const auto end_with = [&](Status status, const std::string& message) {
    answer.reply = ReplyMessage{};
    answer.reply.outcome.status = status;
    answer.reply.outcome.message = message;
    process.stop();
    answer.reply.outcome.printed = process.printed().lines();
    return answer;
  };

  const Clock::time_point deadline = Clock::now() + to_duration(timeout + grace_seconds(timeout));
  process.channel().send(encode(plan.message),
                         {input.get(), output.get()});  // wait() notices if nobody is there
  for (;;) {
    switch (process.wait(deadline)) {
      case WorkerProcess::Event::timeout:
        timed_out_before = true;
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
    if (answer.reply.id != plan.message.id) return end_with(Status::died, describe_broken_channel(progress));
    if (!answer.reply.running) break;
    answer.began = progress.running = true;
  }
  if (answer.reply.outcome.status == Status::timeout) timed_out_before = true;
  process.collect_output();
  answer.reply.outcome.printed = process.printed().lines();
  return answer;
}

Session::Session(SessionConfig config) : state_(std::make_unique<State>()) {
  state_->config = std::move(config);
}
Session::~Session() = default;

const SessionConfig& Session::config() const { return state_->config; }

int Session::worker_pid() const {
  return state_->worker && !state_->worker->ended() ? state_->worker->pid() : -1;
}

Outcome Session::invoke(std::string_view entry, std::string_view signature,
                        const std::vector<Argument>& arguments, const CallOptions& options) try {
  const Clock::time_point start = Clock::now();
  const SessionConfig& config = state_->config;
  double timeout = options.timeout_seconds > 0 ? options.timeout_seconds : config.timeout_seconds;
  if (state_->timed_out_before) timeout = std::min(timeout, config.later_timeout_seconds);

  Plan plan = make_plan(arguments, options.verify_inputs);
  plan.message.id = state_->next_id++;
  plan.message.library = std::filesystem::absolute(config.kernel).string();
  plan.message.entry = entry;
  plan.message.signature = signature;
  plan.message.order = options.order;
  plan.message.seed = options.seed;
  plan.message.max_grid_x = options.max_grid_x;
  plan.message.launch_seconds = timeout;

  const Descriptor input = make_input(plan);
  const Descriptor output = create_memory("course-output", plan.message.output_bytes);
  seal_size(output.get());
  ReplyMessage reply = state_->exchange(plan, input, output, timeout);
  if (!reply.reusable)
    state_->worker.reset();  // before the results are read: nobody can write to them any more

  Outcome outcome = std::move(reply.outcome);
  if (reply.copied)
    take_results(plan, output, outcome);
  else
    poison_outputs(plan);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  record(outcome);
  return outcome;
} catch (const std::runtime_error& problem) {  // std::system_error among them
  state_->worker.reset();
  current_case().infrastructure = true;
  throw MachineError(problem.what());
}

namespace {
std::unique_ptr<Session>& session_slot() {
  static std::unique_ptr<Session> session;
  return session;
}
}  // namespace

Session& default_session() {
  if (!session_slot())
    throw MachineError(
        "no kernel to test: name its library with --kernel, and the worker program with --worker");
  return *session_slot();
}

void configure_default_session(SessionConfig config) {
  session_slot() = std::make_unique<Session>(std::move(config));
}

void end_default_session() { session_slot().reset(); }

}  // namespace course::grading
