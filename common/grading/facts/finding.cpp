#include "grading/facts/finding.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "simt/classes.hpp"

namespace course::grading {
namespace {

using nlohmann::json;

constexpr const char* kIllegalAddress = "illegal_address";  // which no array has
constexpr const char* kNullPointer = "null_pointer";
constexpr const char* kStackOverflow = "stack_overflow";
constexpr const char* kHostPointer = "host_pointer_in_kernel";
constexpr const char* kDeadlock = "deadlock";

Severity severity_of(const std::string& name) {
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note})
    if (name == simt::to_string(severity)) return severity;
  throw std::invalid_argument("not a severity: " + name);
}

json side_to_json(const simt::FindingSide& side) {
  json calls = json::array();
  for (const simt::SourceCall& call : side.calls)
    calls.push_back(
        {{"file", call.file}, {"line", call.line}, {"function", call.function}, {"text", call.text}});
  return {{"file", side.file},
          {"line", side.line},
          {"block", side.block},
          {"thread", side.thread},
          {"calls", std::move(calls)}};
}

simt::FindingSide side_from_json(const json& value) {
  simt::FindingSide side;
  side.file = value.value("file", "");
  side.line = value.value("line", 0);
  side.block = value.value("block", side.block);
  side.thread = value.value("thread", side.thread);
  for (const json& call : value.value("calls", json::array()))
    side.calls.push_back(
        {call.value("file", ""), call.value("line", 0), call.value("function", ""), call.value("text", "")});
  return side;
}

json waiting_to_json(const simt::WaitingThreads& group) {
  json value = side_to_json(group.where);
  value.update({{"barrier", group.barrier}, {"threads", json::array()}, {"awaited", group.awaited}});
  for (const simt::LanesOfWarp& some : group.threads)
    value["threads"].push_back({{"warp", some.warp}, {"lanes", some.lanes}});
  return value;
}

simt::WaitingThreads waiting_from_json(const json& value) {
  simt::WaitingThreads group{
      side_from_json(value), value.value("barrier", false), {}, value.value("awaited", 0u)};
  for (const json& some : value.value("threads", json::array()))
    group.threads.push_back({some.value("warp", 0u), some.value("lanes", 0u)});
  return group;
}

/// Whether it may come of a barrier that some threads missed. Where threads have left, the barrier stands
/// between what is found and what it meets; where they wait at different ones, nothing is in order any more.
bool follows_from_missed_barrier(const Finding& finding, const Finding& missed) {
  const bool is_race = finding.kind == simt::check::kRace;
  if (!is_missed_barrier(missed) || finding.memory != "shared" || finding.kernel != missed.kernel ||
      !(is_race || finding.kind == simt::check::kUninitialisedRead ||
        finding.kind == simt::check::kMissingSyncwarp))
    return false;
  if (missed.kind != simt::check::kExitedThreads) return true;
  const simt::SourceCall here = finding.here.own(), other = finding.other.own(), barrier = missed.here.own();
  if (barrier.line == 0 || here.file != barrier.file) return false;
  if (finding.kind == simt::check::kUninitialisedRead) return here.line > barrier.line;
  return other.file == here.file && (here.line < barrier.line) != (other.line < barrier.line);
}

bool same_place(const simt::SourceCall& a, const simt::SourceCall& b) {
  return a.line != 0 && a.line == b.line && a.file == b.file;
}

/// Whether a barrier that orders the two sides of the race `told` may order those of `other` as well: there
/// are lines between the sides of both.
bool one_barrier_cures(const Finding& told, const Finding& other) {
  if (told.kind != simt::check::kRace ||
      (other.kind != simt::check::kRace && other.kind != simt::check::kMissingSyncwarp))
    return false;
  const simt::SourceCall a = told.here.own(), b = told.other.own(), c = other.here.own(),
                         d = other.other.own();
  return a.file == b.file && c.file == d.file && a.file == c.file &&
         std::max(std::min(a.line, b.line), std::min(c.line, d.line)) <
             std::min(std::max(a.line, b.line), std::max(c.line, d.line));
}

}  // namespace

Finding note_not_checked(std::string sentence, std::string tool) {
  Finding note;
  note.kind = kNotChecked;
  note.severity = Severity::note;
  note.what = std::move(sentence);
  note.tool = std::move(tool);
  return note;
}

bool same_mistake(const Finding& a, const Finding& b) {
  if (a.kind != b.kind) return false;
  // Threads that left by one return are missing at every barrier behind it.
  if (a.kind == simt::check::kExitedThreads && a.other.line != 0)
    return a.other.line == b.other.line && a.other.file == b.other.file;
  if (a.here.line == 0 || b.here.line == 0) return a.here.line == b.here.line && a.what == b.what;
  const auto same_line = [](const auto& one, const auto& other) {
    return one.line == other.line && one.file == other.file;
  };
  if (same_line(a.here, b.here) && same_line(a.other, b.other)) return true;
  // Either access of a race may be the one that finds the other.
  return a.kind == simt::check::kRace && same_line(a.here, b.other) && same_line(a.other, b.here) &&
         same_line(a.here.own(), b.other.own()) && same_line(a.other.own(), b.here.own());
}

void add_new(std::vector<Finding>& list, const std::vector<Finding>& more) {
  for (const Finding& finding : more) {
    const bool known = std::any_of(list.begin(), list.end(),
                                   [&](const Finding& other) { return same_mistake(finding, other); });
    if (!known) list.push_back(finding);
  }
}

bool may_explain(const Finding& finding) {
  const simt::check::FindingClass* const known = simt::check::find_class(finding.kind);
  return finding.severity == Severity::error || (known != nullptr && known->explains_wrong_results);
}

bool is_stray(const Finding& finding) {
  return finding.kind == simt::check::kOutOfBounds || finding.kind == kIllegalAddress;
}

bool is_own_stray(const Finding& finding) {
  return finding.kind == simt::check::kOutOfBounds && finding.memory.empty();
}

bool is_global_stray(const Finding& finding) {
  return finding.kind == kIllegalAddress ||
         (finding.kind == simt::check::kOutOfBounds && finding.memory == "global");
}

bool is_missed_barrier(const Finding& finding) {
  return finding.kind == simt::check::kExitedThreads || finding.kind == simt::check::kDivergentBarrier ||
         (finding.kind == kDeadlock && std::any_of(finding.waiting.begin(), finding.waiting.end(),
                                                   [](const auto& group) { return group.barrier; }));
}

bool follows_from(const Finding& finding, const Finding& stray) {
  if (follows_from_missed_barrier(finding, stray)) return true;
  if (!is_stray(stray) || stray.here.line == 0) return false;
  // Past the end of a thread's own array lie its other variables, pointers among them; and a compiler that
  // sees such an index may make anything of the loop.
  const bool led_by_own_array = is_own_stray(stray) && finding.kernel == stray.kernel;
  const auto at_its_line = [&](const simt::FindingSide& side) {
    return side.line == stray.here.line && side.file == stray.here.file;
  };
  if (finding.kind == kNullPointer || finding.kind == kStackOverflow) return led_by_own_array;
  if (finding.kind == kIllegalAddress)
    return led_by_own_array || (stray.kind == simt::check::kOutOfBounds && at_its_line(finding.here));
  if (finding.kind == simt::check::kUninitialisedRead || finding.kind == kHostPointer)
    return at_its_line(finding.here);
  // Of an index past its array's type it is not known which memory the array lies in.
  const bool same_memory =
      stray.kind == kIllegalAddress || stray.memory.empty() || finding.memory == stray.memory;
  const bool is_race = finding.kind == simt::check::kRace || finding.kind == simt::check::kMissingSyncwarp;
  return is_race && same_memory && (at_its_line(finding.here) || at_its_line(finding.other));
}

bool follows_from_one(const Finding& finding, const std::vector<Finding>& strays) {
  return std::any_of(strays.begin(), strays.end(),
                     [&](const Finding& stray) { return follows_from(finding, stray); });
}

bool can_wait_for(const Finding& told, const Finding& other) {
  // Threads that have come to different barriers go on doing so.
  if (told.kind == simt::check::kDivergentBarrier && other.kind == told.kind)
    return told.kernel == other.kernel;
  if (told.kernel != other.kernel || told.memory != other.memory || told.memory != "shared") return false;
  const bool both_outside = told.kind == simt::check::kOutOfBounds && other.kind == simt::check::kOutOfBounds;
  return both_outside ? same_place(told.here.own(), other.here.own()) : one_barrier_cures(told, other);
}

std::vector<Finding> reasons_in(const std::vector<Finding>& findings) {
  std::vector<Finding> reasons;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(reasons),
               [&](const Finding& one) { return may_explain(one) && !follows_from_one(one, findings); });
  const auto rank = [](const Finding& one) {
    return is_missed_barrier(one) ? 0 : one.severity == Severity::error ? 1 : 2;
  };
  std::stable_sort(reasons.begin(), reasons.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  std::vector<Finding> first_of_a_cure;
  for (Finding& reason : reasons)
    if (std::none_of(first_of_a_cure.begin(), first_of_a_cure.end(),
                     [&](const Finding& told) { return can_wait_for(told, reason); }))
      first_of_a_cure.push_back(std::move(reason));
  return first_of_a_cure;
}

json finding_to_json(const Finding& finding) {
  json value = side_to_json(finding.here);
  value.update({{"class", finding.kind},
                {"severity", simt::to_string(finding.severity)},
                {"kernel", finding.kernel},
                {"called_from", finding.called_from},
                {"other", nullptr},
                {"memory", finding.memory},
                {"element", finding.element},
                {"what", finding.what},
                {"rule", finding.rule},
                {"fix", finding.fix},
                {"count", finding.count},
                {"message", finding.message()}});
  if (finding.other.line > 0) value["other"] = side_to_json(finding.other);
  for (const simt::WaitingThreads& group : finding.waiting)
    value["waiting"].push_back(waiting_to_json(group));
  if (!finding.tool.empty()) value.update({{"tool", finding.tool}, {"unprinted", finding.unprinted}});
  return value;
}

json findings_to_json(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) list.push_back(finding_to_json(finding));
  return list;
}

Finding finding_from_json(const json& value) {
  Finding finding;
  value.at("class").get_to(finding.kind);
  finding.severity = severity_of(value.value("severity", "error"));
  finding.here = side_from_json(value);
  if (value.contains("other") && !value["other"].is_null()) finding.other = side_from_json(value["other"]);
  for (const json& group : value.value("waiting", json::array()))
    finding.waiting.push_back(waiting_from_json(group));
  finding.kernel = value.value("kernel", "");
  finding.called_from = value.value("called_from", "");
  finding.memory = value.value("memory", "");
  finding.element = value.value("element", "");
  value.at("what").get_to(finding.what);
  finding.rule = value.value("rule", "");
  finding.fix = value.value("fix", "");
  finding.count = value.value("count", finding.count);
  finding.tool = value.value("tool", "");
  finding.unprinted = value.value("unprinted", false);
  return finding;
}

std::vector<Finding> findings_from_json(const json& value) {
  std::vector<Finding> list;
  for (const json& item : value) list.push_back(finding_from_json(item));
  return list;
}

}  // namespace course::grading
