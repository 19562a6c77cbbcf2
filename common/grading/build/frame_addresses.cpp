#include "grading/build/frame_addresses.hpp"

#include <algorithm>
#include <vector>

#include "grading/build/compiler_text.hpp"

namespace course::grading {
namespace {

constexpr std::string_view kStackEnd = "%rsp", kFramePlace = "%rbp";

/// "%rax" of "%eax", and "%xmm0" of "%ymm0": who writes to a part of a register ends what was in it.
std::string whole_register(std::string_view name) {
  if (name.starts_with("%ymm")) return "%xmm" + std::string(name.substr(4));
  if (name.starts_with("%xmm")) return std::string(name);
  std::string letters(name.substr(1));
  if (letters.starts_with('r') && letters.size() > 1 && letters[1] <= '9')  // r8d
    return "%" + letters.substr(0, letters.find_first_of("dwb"));
  if (letters.starts_with('r') || letters.starts_with('e')) letters.erase(0, 1);
  if (letters.size() == 3 && letters.ends_with('l')) letters.pop_back();                  // sil
  if (letters.size() == 2 && (letters[1] == 'l' || letters[1] == 'h')) letters[1] = 'x';  // al
  return "%r" + letters;
}

/// Of "\t.long\t.L4-.L2", the first.
std::string_view label_in(std::string_view directive) {
  const std::string_view labels = trimmed(directive.substr(directive.find('\t')));
  return labels.substr(0, labels.find_first_of("-+"));
}

bool is_whole(std::string_view name) { return name == whole_register(name); }

}  // namespace

FrameAddresses::FrameAddresses(std::string_view assembly) {
  for_each_line(assembly, [&](std::string_view line) {
    const std::string_view code = trimmed(line);
    if (begins_with_any(code, {".long\t.L", ".quad\t.L"})) in_tables_.emplace(label_in(code));
    if (code.starts_with(".uleb128\t.L")) catches_.emplace(label_in(code));
    return true;
  });
  do {
    changed_ = false;
    for_each_line(assembly, [&](std::string_view line) {
      pass(trimmed(line));
      return true;
    });
  } while (changed_);
}

FrameAddresses::Kept FrameAddresses::kept_in(std::string_view holder) const {
  if (holder == kStackEnd) return Kept::place;
  const auto known = now_.find(holder);
  return known == now_.end() ? Kept::nothing : known->second;
}

/// Of "8(%rsp,%rax,4)", what it is the address of.
FrameAddresses::Kept FrameAddresses::place_of(std::string_view operand) const {
  const std::size_t open = operand.find('(');
  if (open == std::string_view::npos || !operand.ends_with(')')) return Kept::nothing;
  Kept place = Kept::nothing;
  bool has_index = false, is_base = true;
  for_each_part(operand.substr(open + 1, operand.size() - open - 2), [&](std::string_view part) {
    if (part.starts_with('%')) {
      place = std::max(place, kept_in(part));
      has_index = has_index || !is_base;
    }
    is_base = false;
  });
  return place == Kept::place && has_index ? Kept::moved : place;
}

/// Whether it is a known place of the frame, where the compiler keeps a register for later.
bool FrameAddresses::is_slot(std::string_view holder) const {
  return holder.ends_with("(%rsp)") || (holder.ends_with("(%rbp)") && kept_in(kFramePlace) == Kept::place);
}

void FrameAddresses::keep(std::string_view holder, Kept kept) {
  if (holder == kStackEnd) return forget_slots();
  const bool is_register = holder.starts_with('%');
  if (!is_register && !is_slot(holder)) return;
  const std::string name = is_register ? whole_register(holder) : std::string(holder);
  if (kept == Kept::nothing || (is_register && !is_whole(holder)))
    now_.erase(name);
  else
    now_.insert_or_assign(name, kept);
}

/// From here on, nothing is known of the lines before.
void FrameAddresses::begin(bool reached) {
  now_.clear();
  reached_ = reached;
}

void FrameAddresses::forget_slots() {
  std::erase_if(now_, [](const auto& known) { return known.first.ends_with("(%rsp)"); });
}

/// What a function that is called may leave in registers.
void FrameAddresses::call() {
  std::erase_if(now_, [](const auto& known) {
    return begins_with_any(known.first,
                           {"%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11", "%xmm"});
  });
}

/// What is so on both ways. Returns whether that is less than `state` was.
bool FrameAddresses::meet(State& state, const State& other) {
  bool changed = false;
  for (auto known = state.begin(); known != state.end();) {
    const auto there = other.find(known->first);
    if (there == other.end()) {
      known = state.erase(known);
      changed = true;
      continue;
    }
    changed = changed || known->second < there->second;
    known->second = std::max(known->second, there->second);
    ++known;
  }
  return changed;
}

void FrameAddresses::jump(const std::string& label) {
  if (!reached_) return;  // as far as is known yet
  const auto [at, is_new] = at_labels_.try_emplace(label, now_);
  constexpr std::size_t kMostKept = 2'000'000;  // lesson 24 keeps 17,588
  if (is_new) kept_ += now_.size();
  if (kept_ > kMostKept) throw TooMuchToRead();
  changed_ = is_new || meet(at->second, now_) || changed_;
}

void FrameAddresses::compute(std::string_view name, std::string_view text) {
  if (begins_with_any(name, {".", "cmp", "test", "comis", "ucomis", "vcomis", "vucomis"}) || name == "bt")
    return;
  std::vector<std::string_view> operands;
  for_each_part(text, [&](std::string_view operand) { operands.push_back(operand); });
  if (begins_with_any(name, {"push", "pop"})) forget_slots();
  if (name.starts_with("push")) return;
  if (operands.size() < 2 &&
      begins_with_any(name, {"cltq", "cwtl", "cqto", "cltd", "mul", "imul", "div", "idiv"}))
    return keep("%rax", Kept::nothing), keep("%rdx", Kept::nothing);
  if (operands.empty()) return;
  const std::string_view from = operands.front(), to = operands.back();
  if (name.starts_with("xchg")) keep(from, Kept::nothing);
  if (name.starts_with("lea")) return keep(to, place_of(from));
  if (begins_with_any(name, {"mov", "vmov"}))
    return keep(to, operands.size() == 2 ? kept_in(from) : Kept::nothing);
  const Kept before = kept_in(to);
  if (name.starts_with("cmov"))
    return keep(to, std::min(before, kept_in(from)) == Kept::nothing ? Kept::nothing
                                                                     : std::max(before, kept_in(from)));
  const bool is_sum = begins_with_any(name, {"add", "inc", "dec", "and", "or"});
  const bool is_difference = name.starts_with("sub") && kept_in(from) == Kept::nothing;
  const Kept most = std::max(before, is_sum ? kept_in(from) : Kept::nothing);
  keep(to, (is_sum || is_difference) && most != Kept::nothing ? Kept::moved : Kept::nothing);
}

void FrameAddresses::pass(std::string_view code) {
  if (code.ends_with(':')) {
    const std::string_view label = code.substr(0, code.size() - 1);
    const auto arrive = [&](std::string_view by) {
      const auto known = at_labels_.find(by);
      if (known == at_labels_.end()) return;
      if (reached_)
        meet(now_, known->second);
      else
        now_ = known->second;
      reached_ = true;
    };
    arrive(label);
    if (in_tables_.contains(label)) arrive(by_table_);
    if (catches_.contains(label)) begin(true);
    return;
  }
  const std::size_t gap = code.find_first_of(" \t");
  const std::string_view name = code.substr(0, gap);
  const std::string_view operands = gap == std::string_view::npos ? "" : trimmed(code.substr(gap));
  if (code.starts_with(".type\t")) {
    by_table_ = "*" + std::string(operands.substr(0, operands.find_first_of(",.")));
    begin(operands.find(".cold") == std::string_view::npos);
  } else if (name == "notrack" || (name == "jmp" && operands.starts_with('*'))) {
    jump(by_table_);
    begin(false);
  } else if (name.starts_with('j')) {
    jump(std::string(operands));
    if (name == "jmp") begin(false);
  } else if (name.starts_with("call")) {
    call();
  } else if (name == "ret") {
    begin(false);
  } else {
    compute(name, operands);
  }
}

}  // namespace course::grading
