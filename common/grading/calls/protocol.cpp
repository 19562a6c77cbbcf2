#include "grading/calls/protocol.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grading/calls/channel.hpp"

namespace course::grading {
namespace {

using nlohmann::json;

// A reply must fit one message whatever the student's code throws or leaks.
constexpr std::size_t kMaxTextBytes = 4000;
constexpr std::size_t kMaxListed = 12;
constexpr std::size_t kProfileMargin = 64;  // its key and punctuation

std::string hex(const std::vector<std::byte>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte) >> 4];
    text += kDigits[std::to_integer<std::size_t>(byte) & 15];
  }
  return text;
}

std::vector<std::byte> unhex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string cut(const std::string& text) {
  return text.size() <= kMaxTextBytes ? text : text.substr(0, kMaxTextBytes) + " ...";
}

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// With its lines if there is room for them, else only the totals; without both if not even these fit.
void add_profile(json& value, const Profile& profile) {
  json launches = launches_to_json(profile.launches);
  const std::size_t room = kMaxMessageBytes - std::min(kMaxMessageBytes, dump(value).size() + kProfileMargin);
  if (dump(launches).size() > room)
    for (json& launch : launches) launch["lines"] = json::array();
  if (dump(launches).size() <= room) value["profile"] = std::move(launches);
}

json to_json(const HostMoves& moves) {
  return {{"read", moves.read},     {"filled", moves.filled}, {"to_host", moves.to_host},
          {"shared", moves.shared}, {"asked", moves.asked},   {"variables", moves.variables}};
}

HostMoves moves_from_json(const json& value) {
  HostMoves moves;
  value.at("read").get_to(moves.read);
  value.at("filled").get_to(moves.filled);
  value.at("to_host").get_to(moves.to_host);
  value.at("shared").get_to(moves.shared);
  value.at("asked").get_to(moves.asked);
  value.at("variables").get_to(moves.variables);
  return moves;
}

constexpr std::string_view kPlaces[] = {"device", "host"};

/// Tests divide by these, and the worker may be under a submission's command.
void require_possible(const std::map<std::string, std::int64_t>& counters) {
  const auto count = [&](const char* name) {
    const auto found = counters.find(name);
    return found == counters.end() ? 0 : found->second;
  };
  constexpr std::string_view kCounted[] = {"launches", "blocks", "threads", kCopiedWithin};
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  for (const auto& [name, value] : counters) {
    if (std::find(std::begin(kCounted), std::end(kCounted), name) == std::end(kCounted))
      throw std::invalid_argument("a counter that no worker has");
    if (value < 0 || value > kMost) throw std::invalid_argument("a counter that no call comes to");
  }
  if (count("launches") > 0 && (count("blocks") < 1 || count("threads") < count("blocks")))
    throw std::invalid_argument("a launch has no blocks, or no threads");
}

}  // namespace

std::string encode(const CallMessage& message) {
  json arguments = json::array(), arrays = json::array(), answers = json::array();
  for (const std::vector<std::byte>& answer : message.answers) answers.push_back(hex(answer));
  for (const ArgumentMessage& argument : message.arguments) {
    json value = {{"bytes", hex(argument.bytes)}};
    if (argument.array) value["array"] = *argument.array;
    arguments.push_back(std::move(value));
  }
  for (const ArrayMessage& array : message.arrays) {
    json value = {{"place", kPlaces[static_cast<std::size_t>(array.place)]},
                  {"offset", array.offset},
                  {"bytes", array.bytes},
                  {"data", array.data},
                  {"data_bytes", array.data_bytes},
                  {"shift", array.shift},
                  {"filled", array.filled}};
    if (array.result) value["result"] = *array.result;
    arrays.push_back(std::move(value));
  }
  return dump({{"id", message.id},
               {"library", message.library},
               {"entry", message.entry},
               {"signature", message.signature},
               {"arguments", std::move(arguments)},
               {"arrays", std::move(arrays)},
               {"input_bytes", message.input_bytes},
               {"output_bytes", message.output_bytes},
               {"order", static_cast<int>(message.order)},
               {"seed", message.seed},
               {"max_grid_x", message.max_grid_x},
               {"max_memory_bytes", message.max_memory_bytes},
               {"launch_seconds", message.launch_seconds},
               {"check", message.check},
               {"bare", message.bare},
               {"fenced", message.fenced},
               {"threads", message.threads},
               {"host_first", message.host_first},
               {"answers", std::move(answers)}});
}

CallMessage decode_call(std::string_view text) {
  const json value = json::parse(text);
  CallMessage message;
  value.at("id").get_to(message.id);
  value.at("library").get_to(message.library);
  value.at("entry").get_to(message.entry);
  value.at("signature").get_to(message.signature);
  for (const json& item : value.at("arguments")) {
    ArgumentMessage argument{unhex(item.at("bytes").get<std::string>()), {}};
    if (item.contains("array")) argument.array = item["array"].get<std::uint64_t>();
    message.arguments.push_back(std::move(argument));
  }
  for (const json& item : value.at("arrays")) {
    ArrayMessage array;
    array.place = item.at("place") == "host" ? Place::host : Place::device;
    item.at("offset").get_to(array.offset);
    item.at("bytes").get_to(array.bytes);
    item.at("data").get_to(array.data);
    item.at("data_bytes").get_to(array.data_bytes);
    item.at("shift").get_to(array.shift);
    item.at("filled").get_to(array.filled);
    if (item.contains("result")) array.result = item["result"].get<std::uint64_t>();
    message.arrays.push_back(array);
  }
  value.at("input_bytes").get_to(message.input_bytes);
  value.at("output_bytes").get_to(message.output_bytes);
  message.order = static_cast<Order>(value.at("order").get<int>());
  value.at("seed").get_to(message.seed);
  value.at("max_grid_x").get_to(message.max_grid_x);
  value.at("max_memory_bytes").get_to(message.max_memory_bytes);
  value.at("launch_seconds").get_to(message.launch_seconds);
  value.at("check").get_to(message.check);
  value.at("bare").get_to(message.bare);
  value.at("fenced").get_to(message.fenced);
  value.at("threads").get_to(message.threads);
  value.at("host_first").get_to(message.host_first);
  for (const json& answer : value.at("answers")) message.answers.push_back(unhex(answer.get<std::string>()));
  return message;
}

namespace {

constexpr std::size_t kMostCalls = 16, kMostWaiting = 8;  // of a finding

void shorten(simt::FindingSide& side) {
  if (side.calls.size() > kMostCalls) side.calls.resize(kMostCalls);
  for (simt::SourceCall& call : side.calls)
    for (std::string* text : {&call.file, &call.function, &call.text}) *text = cut(*text);
}

/// As many as a reply holds: of more, those that weigh most, so that no number of notes hides an error.
std::vector<Finding> listed(std::vector<Finding> findings) {
  if (findings.size() <= kMaxListed) return findings;
  std::ranges::stable_sort(findings, {}, &Finding::severity);
  findings.resize(kMaxListed);
  return findings;
}

}  // namespace

std::string encode(const ReplyMessage& message) {
  const Outcome& outcome = message.outcome;
  json leaks = json::array(), findings = json::array();
  for (const Leak& leak : outcome.leaks) {
    if (leaks.size() == kMaxListed) break;
    leaks.push_back({{"bytes", leak.bytes}, {"file", cut(leak.file)}, {"line", leak.line}});
  }
  for (Finding& short_one : listed(outcome.findings)) {
    for (std::string* text : {&short_one.here.file, &short_one.other.file, &short_one.kernel,
                              &short_one.called_from, &short_one.element, &short_one.what})
      *text = cut(*text);
    if (short_one.waiting.size() > kMostWaiting) short_one.waiting.resize(kMostWaiting);
    shorten(short_one.here);
    shorten(short_one.other);
    for (simt::WaitingThreads& group : short_one.waiting) shorten(group.where);
    findings.push_back(finding_to_json(short_one));
  }
  json value = {{"id", message.id},
                {"ready", message.ready},
                {"running", message.running},
                {"unusable", message.unusable},
                {"copied", message.copied},
                {"reusable", message.reusable},
                {"moves", to_json(message.moves)},
                {"status", to_string(outcome.status)},
                {"message", cut(outcome.message)},
                {"exception_type", cut(outcome.exception_type)},
                {"exception_message", cut(outcome.exception_message)},
                {"exception_bases", outcome.exception_bases},
                {"leaks", std::move(leaks)},
                {"leak_count", outcome.leak_count},
                {"leak_bytes", outcome.leak_bytes},
                {"findings", std::move(findings)},
                {"counters", outcome.counters}};
  if (message.answer) value["answer"] = hex(*message.answer);
  if (outcome.profile) add_profile(value, *outcome.profile);
  return dump(value);
}

ReplyMessage decode_reply(std::string_view text) {
  const json value = json::parse(text);
  ReplyMessage message;
  Outcome& outcome = message.outcome;
  value.at("id").get_to(message.id);
  value.at("ready").get_to(message.ready);
  value.at("running").get_to(message.running);
  value.at("unusable").get_to(message.unusable);
  value.at("copied").get_to(message.copied);
  value.at("reusable").get_to(message.reusable);
  if (value.contains("answer")) message.answer = unhex(value["answer"].get<std::string>());
  message.moves = moves_from_json(value.at("moves"));
  outcome.status = status_of(value.at("status").get<std::string>());
  value.at("message").get_to(outcome.message);
  value.at("exception_type").get_to(outcome.exception_type);
  value.at("exception_message").get_to(outcome.exception_message);
  value.at("exception_bases").get_to(outcome.exception_bases);
  for (const json& item : value.at("leaks"))
    outcome.leaks.push_back({item.at("bytes"), item.at("file"), item.at("line")});
  outcome.leak_count = value.at("leak_count");
  outcome.leak_bytes = value.at("leak_bytes");
  outcome.findings = findings_from_json(value.at("findings"));
  value.at("counters").get_to(outcome.counters);
  require_possible(outcome.counters);
  if (outcome.leaks.size() > kMaxListed || outcome.findings.size() > kMaxListed)
    throw std::invalid_argument("more leaks or findings than a worker tells of");
  if (value.contains("profile")) outcome.profile = make_profile(launches_from_json(value["profile"]));
  return message;
}

}  // namespace course::grading
