#include "grading/calls/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "grading/calls/agreement.hpp"
#include "grading/calls/checked.hpp"
#include "grading/calls/failed_call.hpp"
#include "grading/calls/image.hpp"
#include "grading/calls/protocol.hpp"
#include "grading/calls/seat.hpp"
#include "grading/calls/shared_memory.hpp"

namespace course::grading {
namespace {

using Clock = std::chrono::steady_clock;

// How long the processes that find answers for a call may take together, in limits of one launch.
constexpr double kLimitsOfAnswers = 4;

// How long check mode may take for a call, instrumented as it is; less after a fault or time-out of run mode,
// which it is likely to share, or once it has timed out itself: a lesson may have many cases.
constexpr double kCheckSeconds = 20, kLaterSeconds = 2, kLeastSeconds = 0.5;

/// The memory of a call: where each array's image lies on the way to the worker, and on the way back.
struct Plan {
  CallMessage message;
  std::vector<const ArrayArgument*> arrays;
  std::vector<std::string> labels;
};

std::string label_of(const ArrayArgument& array, std::size_t position) {
  return array.name.empty() ? fmt::format("argument {}", position + 1) : array.name;
}

/// The array that this input is already, if there is one.
std::optional<std::uint64_t> find_input(const Plan& plan, const ArrayArgument& input) {
  if (input.access != Access::in || input.elements == 0) return {};
  const auto same = std::ranges::find_if(plan.arrays, [&](const ArrayArgument* array) {
    return array->access == Access::in && array->place == input.place && array->input == input.input;
  });
  if (same == plan.arrays.end()) return {};
  return static_cast<std::uint64_t>(same - plan.arrays.begin());
}

Plan make_plan(const std::vector<Argument>& arguments, bool verify_inputs) {
  Plan plan;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ArgumentMessage argument{arguments[i].bytes, {}};
    if (arguments[i].array) argument.array = find_input(plan, *arguments[i].array);
    if (arguments[i].array && !argument.array) {
      const ArrayArgument& array = *arguments[i].array;
      ArrayMessage entry;
      entry.place = array.place;
      entry.offset = plan.message.input_bytes;
      entry.bytes = image_bytes(array);
      entry.data = kGuardBytes;
      entry.data_bytes = data_bytes(array);
      entry.filled = array.access != Access::out;
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
    std::vector<Violation> found = image_violations(*plan.arrays[i], image, plan.labels[i]);
    outcome.violations.insert(outcome.violations.end(), found.begin(), found.end());
    if (plan.arrays[i]->output) read_image(*plan.arrays[i], image);
  }
}

void poison_outputs(const Plan& plan) {
  for (const ArrayArgument* array : plan.arrays)
    if (array->output) poison_output(*array);
}

bool is_small(const Plan& plan) {
  std::size_t bytes = 0;
  for (const ArrayArgument* array : plan.arrays) bytes += data_bytes(*array);
  return bytes <= kSmallCallBytes;
}

/// Whether the call is made in check mode as well, which looks at each access.
bool is_checked(const Plan& plan, CheckMode check) {
  return check == CheckMode::always || (check == CheckMode::if_small && is_small(plan));
}

/// In place of forward, for a call that is not checked: by what it is given, which no kernel knows
/// beforehand.
Order drawn_order(const Plan& plan) {
  constexpr std::size_t kLookedAt = 256;
  std::size_t hash = std::hash<std::uint64_t>()(plan.message.id);
  for (const ArrayArgument* array : plan.arrays) {
    if (array->access == Access::out || array->input == nullptr) continue;
    const std::string_view bytes(reinterpret_cast<const char*>(array->input),
                                 std::min(data_bytes(*array), kLookedAt));
    hash = hash * 31 + std::hash<std::string_view>()(bytes);
  }
  constexpr Order kOrders[] = {Order::forward, Order::reverse, Order::reverse, Order::random};
  return kOrders[hash % std::size(kOrders)];
}

/// The same call for one who watches it. Its outputs come back only if somebody asks for them.
CallMessage message_for_watching(const Plan& plan) {
  CallMessage message = plan.message;
  message.bare = true;
  message.fenced = false;
  message.output_bytes = whole_pages(1);
  for (ArrayMessage& array : message.arrays) array.result.reset();
  return message;
}

CallMessage message_for_checking(const Plan& plan, const SessionConfig& config, double seconds) {
  CallMessage message = message_for_watching(plan);
  message.library = std::filesystem::absolute(config.check_kernel).string();
  message.check = true;
  message.order = Order::forward;  // check mode judges by order, not by luck
  message.launch_seconds = seconds;
  message.output_bytes = 0;
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    if (plan.arrays[i]->access == Access::in) continue;
    message.arrays[i].result = message.output_bytes;
    message.output_bytes += whole_pages(data_bytes(*plan.arrays[i]));
  }
  message.output_bytes = std::max<std::uint64_t>(message.output_bytes, whole_pages(1));
  return message;
}

/// How a call in check mode differs from the same call in run mode, though both returned; empty if it does
/// not.
std::string difference(const Plan& plan, const Descriptor& run_output, const ReplyMessage& run,
                       const CallMessage& check_message, const Descriptor& check_output,
                       const ReplyMessage& check) {
  if (!run.copied) return {};
  if (!check.copied) return "There it left no results.";  // a worker that works brings them
  if (std::string found = disagreement(run.outcome.counters, check.outcome.counters); !found.empty())
    return found;
  HostMoves moves = run.moves;
  moves.variables = check.moves.variables;  // of which run mode knows those alone that were changed
  if (moves != check.moves) return "There it copied something else between the host and the device.";
  const Mapping before =
      Mapping::map(run_output.get(), 0, plan.message.output_bytes, Mapping::Mode::shared_read);
  const Mapping there =
      Mapping::map(check_output.get(), 0, check_message.output_bytes, Mapping::Mode::shared_read);
  const auto result_before = [&](std::size_t i) {
    return before.data() + plan.message.arrays[i].result.value() + kGuardBytes;
  };
  double largest = 0;
  for (std::size_t i = 0; i < plan.arrays.size(); ++i)
    if (check_message.arrays[i].result)
      largest = std::max(largest, largest_number(*plan.arrays[i], result_before(i)));
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    if (!check_message.arrays[i].result) continue;
    if (std::string found =
            disagreement(*plan.arrays[i], result_before(i), there.data() + *check_message.arrays[i].result,
                         plan.labels[i], largest);
        !found.empty())
      return found;
  }
  return {};
}

bool all_on_device(const Plan& plan) {
  return std::ranges::all_of(plan.arrays,
                             [](const ArrayArgument* array) { return array->place == Place::device; });
}

bool is_result_on_device(const ArrayArgument* array) {
  return array->place == Place::device && array->access != Access::in;
}

/// Whether kernels are to compute: some result lies on the device, or there are no arrays at all. An entry
/// whose results, or whose inputs, all lie on the host copies them, and may be handed a pointer to the device
/// by mistake.
bool is_for_kernels(const Plan& plan) {
  const auto has_inputs_on = [&](Place place) {
    return std::ranges::any_of(plan.arrays, [place](const ArrayArgument* array) {
      return array->place == place && array->access != Access::out;
    });
  };
  return plan.arrays.empty() || (std::ranges::any_of(plan.arrays, is_result_on_device) &&
                                 (has_inputs_on(Place::device) || !has_inputs_on(Place::host)));
}

/// Whether the host code of such an entry has nothing to give back itself.
bool gives_to_device_alone(const Plan& plan) {
  return std::ranges::all_of(plan.arrays, [](const ArrayArgument* array) {
    return array->place == Place::device || array->access == Access::in;
  });
}

/// What an entry for kernels left to the host.
std::vector<std::string> computed_by_host(const Plan& plan, const ReplyMessage& reply) {
  if (!is_for_kernels(plan)) return {};
  HostMoves moves = reply.moves;
  if (!all_on_device(plan)) moves.filled.clear();  // the course's code between may copy within the device
  std::vector<std::string> sentences = computed_by_host(moves, plan.message.entry, plan.labels);
  if (std::string sentence = carried_in_variables(reply.moves, plan.message.entry); !sentence.empty())
    sentences.push_back(std::move(sentence));
  const auto launches = reply.outcome.counters.find("launches");
  if (launches == reply.outcome.counters.end()) return sentences;
  if (std::string sentence = too_many_launches(launches->second, plan.message.entry); !sentence.empty())
    sentences.push_back(std::move(sentence));
  return sentences;
}

Finding note_not_watched(const SanitizerRun& run, const std::string& why) {
  return note_not_checked(fmt::format("{} did not see a call to its end: {}", run.tool, why), run.tool);
}

/// Why a tool may have missed something in a call; empty if it has seen all of it.
std::string why_not_watched(const Outcome& outcome) {
  switch (outcome.status) {
    case Status::timeout:
      return "it took too long, which under a tool need not be the kernel's fault.";
    case Status::died:
      return "the process ended in it.";
    case Status::refused:
      return outcome.message.substr(0, outcome.message.find('\n'));
    default:
      return "";
  }
}

/// What a call came to that nobody made: as if one warp had run, since tests divide by these numbers.
Outcome rehearsed() {
  Outcome outcome;
  outcome.status = Status::returned;
  outcome.counters = {{"launches", 1}, {"blocks", 1}, {"threads", 32}};
  return outcome;
}

void tell(const SessionConfig& config, const Outcome& outcome) {
  if (config.on_outcome) config.on_outcome(outcome);
}

}  // namespace

struct Session::State {
  SessionConfig config;
  Seat runner, checker;
  std::uint64_t next_id = 1;

  /// Makes the call. Where its host code goes first, it is made once more for each time that it asks for
  /// bytes of the device.
  ReplyMessage make(Seat& seat, CallMessage message, const Descriptor& input, const Descriptor& output);

  /// Runs the call again in check mode and adds what that finds. A reason of the machine's fails nothing.
  /// `reply`, whose outputs are in `output`, is what run mode came to.
  void check(const Plan& plan, const Descriptor& input, const Descriptor& output, const ReplyMessage& reply,
             Outcome& outcome);

  /// Makes the call for the tool alone. What it finds is in its log; the outcome has but a note.
  Outcome watch(const Plan& plan, const Descriptor& input);
};

ReplyMessage Session::State::make(Seat& seat, CallMessage message, const Descriptor& input,
                                  const Descriptor& output) {
  const Clock::time_point begin = Clock::now();
  std::optional<Outcome> asked;
  std::vector<Violation> violations;
  for (;;) {
    ReplyMessage reply = seat.exchange(config, message, input, output);
    if (asked && reply.outcome.status == Status::returned) {
      if (std::string sentence = done_otherwise(*asked, reply.outcome, message.entry); !sentence.empty())
        violations.push_back({std::move(sentence)});
    }
    if (!reply.answer) {
      std::ranges::move(violations, std::back_inserter(reply.outcome.violations));
      return reply;
    }
    message.answers.push_back(std::move(*reply.answer));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds > kLimitsOfAnswers * message.launch_seconds) {
      seat.count_timeout();
      reply.answer.reset();
      reply.outcome.status = Status::timeout;
      reply.outcome.message = describe_slow_answers(message.answers.size(), seconds, message.entry);
      return reply;
    }
    asked = std::move(reply.outcome);
  }
}

Outcome Session::State::watch(const Plan& plan, const Descriptor& input) {
  const CallMessage message = message_for_watching(plan);
  const Descriptor output = create_memory("course-output", message.output_bytes);
  Outcome outcome = runner.exchange(config, message, input, output).outcome;
  outcome.findings.clear();
  if (const std::string why = why_not_watched(outcome); !why.empty())
    outcome.findings.push_back(note_not_watched(*config.sanitizer, why));
  poison_outputs(plan);
  return outcome;
}

void Session::State::check(const Plan& plan, const Descriptor& input, const Descriptor& run_output,
                           const ReplyMessage& run, Outcome& outcome) {
  outcome.checking = Checking::stopped;
  // Where the process itself ended, it would end again, and tell no more.
  if (outcome.status == Status::died || outcome.status == Status::refused) return;
  if (runner.gave_up()) return;
  const bool likely_to_fail = outcome.status == Status::fault || outcome.status == Status::timeout;
  const bool slow = checker.timed_out_before();
  const double seconds = likely_to_fail && slow   ? kLeastSeconds
                         : likely_to_fail || slow ? kLaterSeconds
                                                  : kCheckSeconds;
  try {
    const CallMessage message = message_for_checking(plan, config, seconds);
    const Descriptor output = create_memory("course-output", message.output_bytes);
    seal_size(output.get());
    ReplyMessage reply = make(checker, message, input, output);
    const bool told = !carried_in_variables(run.moves, message.entry).empty();
    if (config.kernels_only && is_for_kernels(plan) && !told)
      if (std::string sentence = carried_in_variables(reply.moves, message.entry); !sentence.empty())
        outcome.violations.push_back({std::move(sentence)});
    std::ranges::move(reply.outcome.violations, std::back_inserter(outcome.violations));
    const std::string how = difference(plan, run_output, run, message, output, reply);
    add_checked(outcome, std::move(reply.outcome), how);
  } catch (const std::exception& problem) {
    checker.end();
    add_not_checked(outcome, problem.what());
  }
}

Session::Session(SessionConfig config) : state_(std::make_unique<State>()) {
  state_->config = std::move(config);
}
Session::~Session() = default;

const SessionConfig& Session::config() const { return state_->config; }

void Session::finish() {
  if (state_->runner.finish()) return;
  Outcome outcome;
  outcome.findings.push_back(
      note_not_watched(*state_->config.sanitizer, "the worker did not end, and was killed."));
  tell(state_->config, outcome);
}

int Session::worker_pid() const { return state_->runner.pid(); }

Outcome Session::invoke(std::string_view entry, std::string_view signature,
                        const std::vector<Argument>& arguments, const CallOptions& options) try {
  const Clock::time_point start = Clock::now();
  const SessionConfig& config = state_->config;
  if (config.rehearse) return rehearsed();
  double timeout = options.timeout_seconds > 0 ? options.timeout_seconds : config.timeout_seconds;
  if (config.sanitizer) timeout = std::max(timeout, config.timeout_seconds);
  if (state_->runner.timed_out_before()) timeout = std::min(timeout, config.later_timeout_seconds);

  Plan plan = make_plan(arguments, options.verify_inputs);
  plan.message.id = state_->next_id++;
  plan.message.library = std::filesystem::absolute(config.kernel).string();
  plan.message.entry = entry;
  plan.message.signature = signature;
  plan.message.order = options.order;
  plan.message.seed = options.seed;
  plan.message.max_grid_x = options.max_grid_x;
  plan.message.max_memory_bytes = options.max_memory_bytes;
  plan.message.launch_seconds = timeout;
  plan.message.threads = config.confinement ? 1 : 0;
  for (std::size_t i = 0; i < std::min(plan.arrays.size(), options.shifts.size()); ++i)
    plan.message.arrays[i].shift = options.shifts[i];
  const bool checked = is_checked(plan, options.check);
  if (!config.check_kernel.empty() && !checked && options.order == Order::forward)
    plan.message.order = drawn_order(plan);
  plan.message.fenced = config.confinement && !checked;
  plan.message.host_first =
      config.confinement && config.kernels_only && is_for_kernels(plan) && gives_to_device_alone(plan);

  const Descriptor input = make_input(plan);
  if (config.sanitizer) {
    Outcome outcome = state_->watch(plan, input);
    tell(config, outcome);
    return outcome;
  }
  const Descriptor output = create_memory("course-output", plan.message.output_bytes);
  seal_size(output.get());
  ReplyMessage reply = state_->make(state_->runner, plan.message, input, output);
  Outcome outcome = reply.outcome;
  if (reply.copied)
    take_results(plan, output, outcome);
  else
    poison_outputs(plan);
  if (config.kernels_only)
    for (std::string& sentence : computed_by_host(plan, reply))
      outcome.violations.push_back({std::move(sentence)});
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.reordered = plan.message.order != options.order;
  if (!config.check_kernel.empty()) {
    outcome.checking = Checking::left_out;
    if (checked) state_->check(plan, input, output, reply, outcome);
  }
  tell(config, outcome);
  return outcome;
} catch (const std::runtime_error& problem) {  // std::system_error among them
  state_->runner.end();
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
