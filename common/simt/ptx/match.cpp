// Which row of the table an instruction is, whether its operands fit, and, if not, what comes nearest.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "simt/ptx/table.hpp"

namespace simt::ptx {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view text, char separator) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// --- Modifiers ---

/// One item of a row's modifiers.
struct Item {
  bool optional = false, is_type = false, has_vector = false;
  bool needs_vector = false;  ///< it cannot do without one
  Words choices;
};

std::vector<Item> items_of(std::string_view modifiers) {
  std::vector<Item> items;
  while (!modifiers.empty()) {
    const char open = modifiers.front();
    const char close = open == '[' ? ']' : open == '(' ? ')' : open == '<' ? '>' : '\0';
    Item item;
    std::size_t end = 0;
    if (close == '\0') {
      end = std::min(modifiers.find(' '), modifiers.size());
      item.choices = {modifiers.substr(0, end)};
    } else {
      end = modifiers.find(close);
      item.optional = open == '[';
      item.is_type = open == '<';
      item.choices = split(modifiers.substr(1, end - 1), item.is_type ? ' ' : '|');
      ++end;
      if (end < modifiers.size() && (modifiers[end] == 'v' || modifiers[end] == 'V')) {
        item.has_vector = true;
        item.needs_vector = modifiers[end++] == 'V';
      }
    }
    items.push_back(std::move(item));
    modifiers.remove_prefix(std::min(end + 1, modifiers.size()));
  }
  return items;
}

/// The length that .v2, .v4 or, where 16-bit numbers are added to memory, .v8 says; 0: the word is none of
/// them.
unsigned vector_length(std::string_view word, const Item& item, std::string_view type) {
  if (word == "v2") return 2;
  if (word == "v4") return 4;
  return word == "v8" && item.needs_vector && bits_of(*type_named(type)) == 16 ? 8 : 0;
}

class WordMatcher {
 public:
  WordMatcher(std::vector<Item> items, const Words& words, std::size_t first)
      : items_(std::move(items)), words_(words), first_(first) {}

  bool fits(Match& result) { return step(0, first_, result); }

 private:
  bool step(std::size_t item, std::size_t word, Match& result) {
    if (item == items_.size()) return word == words_.size();
    const Item& wanted = items_[item];
    const bool may_be_vector =
        wanted.has_vector && word + 1 < words_.size() && contains(wanted.choices, words_[word + 1]);
    if (const unsigned length = may_be_vector ? vector_length(words_[word], wanted, words_[word + 1]) : 0) {
      result.vector = length;
      result.types.push_back(*type_named(words_[word + 1]));
      if (step(item + 1, word + 2, result)) return true;
      result.types.pop_back();
      result.vector = 1;
    }
    if (!wanted.needs_vector && word < words_.size() && contains(wanted.choices, words_[word])) {
      if (wanted.is_type) result.types.push_back(*type_named(words_[word]));
      if (step(item + 1, word + 1, result)) return true;
      if (wanted.is_type) result.types.pop_back();
    }
    return wanted.optional && step(item + 1, word, result);
  }

  std::vector<Item> items_;
  const Words& words_;
  std::size_t first_;
};

// --- What comes nearest ---

/// How many characters have to be put in, left out, replaced, or exchanged with their neighbour.
unsigned edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i - 1]) == lower(b[j - 1]); };
  std::vector<unsigned> before_last, last, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = static_cast<unsigned>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (same(i, j) ? 0u : 1u), last[j] + 1, row[j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j);
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

struct Near {
  unsigned cost = std::numeric_limits<unsigned>::max();
  std::string spelled;
};

/// The spelling of a row that is nearest to the words from `first` on.
Near nearest_modifiers(std::vector<Item> items, const Words& words, std::size_t first) {
  const std::size_t count = words.size() - first;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!std::exchange(items[i].has_vector, false)) continue;
    Item vector;
    vector.optional = !items[i].needs_vector;
    vector.choices = {"v2", "v4"};
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(i++), std::move(vector));
  }
  // best[j]: for the items so far, after j of the words.
  std::vector<Near> best(count + 1);
  best[0] = {0, ""};
  for (std::size_t j = 1; j <= count; ++j)
    best[j] = {best[j - 1].cost + static_cast<unsigned>(words[first + j - 1].size()) + 1, ""};
  for (const Item& item : items) {
    std::vector<Near> next(count + 1);
    for (std::size_t j = 0; j <= count; ++j) {
      const auto offer = [&](unsigned cost, std::string spelled) {
        if (cost < next[j].cost) next[j] = {cost, std::move(spelled)};
      };
      if (item.optional)
        offer(best[j].cost, best[j].spelled);
      else
        offer(best[j].cost + static_cast<unsigned>(item.choices.front().size()) + 1,
              best[j].spelled + "." + std::string(item.choices.front()));
      if (j == 0) continue;
      const std::string_view word = words[first + j - 1];
      offer(next[j - 1].cost + static_cast<unsigned>(word.size()) + 1, next[j - 1].spelled);
      for (const std::string_view choice : item.choices)
        offer(best[j - 1].cost + 2 * edit_distance(word, choice),
              best[j - 1].spelled + "." + std::string(choice));
    }
    best = std::move(next);
  }
  return best.back();
}

Near nearest(const Words& words) {
  Near best;
  for (const Entry& entry : table()) {
    const auto of_name = static_cast<std::size_t>(std::count(entry.name.begin(), entry.name.end(), '.')) + 1;
    const std::size_t taken = std::min(of_name, words.size());
    std::string written;
    for (std::size_t i = 0; i < taken; ++i) written += (i == 0 ? "" : ".") + std::string(words[i]);
    const unsigned of_names = 4 * edit_distance(written, entry.name);
    if (of_names >= best.cost) continue;
    Near near = nearest_modifiers(items_of(entry.modifiers), words, taken);
    near.cost += of_names;
    near.spelled.insert(0, entry.name);
    if (near.cost < best.cost) best = std::move(near);
  }
  return best;
}

/// What the simulator does not have, though GPUs do.
struct Later {
  std::string_view begins, feature;
};
constexpr Later kLater[] = {{"mapa", "clusters of blocks"},
                            {"getctarank", "clusters of blocks"},
                            {"barrier.cluster", "clusters of blocks"},
                            {"st.async", "clusters of blocks"},
                            {"red.async", "clusters of blocks"},
                            {"clusterlaunchcontrol", "clusters of blocks"},
                            {"mbarrier", "barriers in shared memory"},
                            {"fence.mbarrier_init", "barriers in shared memory"},
                            {"cp.async.mbarrier", "barriers in shared memory"},
                            {"cp.async.bulk", "bulk copies"},
                            {"cp.reduce.async.bulk", "bulk copies"},
                            {"tensormap", "bulk copies"},
                            {"fence.proxy", "bulk copies and warpgroup products"},
                            {"wgmma", "warpgroup products"},
                            {"setmaxnreg", "registers that warpgroups hand over"},
                            {"tcgen05", "tensor memory"},
                            {"multimem", "memory of several devices"}};

[[noreturn]] void fail_unknown(const Instruction& instruction) {
  for (const Later& later : kLater) {
    const Words begins = split(later.begins, '.');
    if (begins.size() <= instruction.words.size() &&
        std::equal(begins.begin(), begins.end(), instruction.words.begin()))
      throw PtxError(instruction.at,
                     "'" + std::string(instruction.opcode) + "' belongs to " + std::string(later.feature) +
                         ", which the simulator does not have. If the program has a way for older GPUs, "
                         "choose it with -arch=sm_80 or lower.");
  }
  const auto named = [&](const Entry& entry) {
    const Words name = split(entry.name, '.');
    return name.size() <= instruction.words.size() &&
           std::equal(name.begin(), name.end(), instruction.words.begin());
  };
  const bool known = std::any_of(table().begin(), table().end(), named);
  const std::string opcode(instruction.opcode);
  throw PtxError(instruction.at,
                 (known ? "The simulator knows no form '" + opcode + "' of this PTX instruction"
                        : "The simulator does not know the PTX instruction '" + opcode + "'") +
                     ". The nearest one that it knows is '" + nearest(instruction.words).spelled + "'.");
}

// --- Operands ---

/// One operand of a row.
struct Slot {
  std::string_view name, spec;
  bool written = false, optional = false, paired = false, is_address = false;
};

std::vector<Slot> slots_of(std::string_view operands) {
  std::vector<Slot> slots;
  for (std::string_view word : split(operands, ' ')) {
    Slot slot;
    if (word.ends_with('?')) slot.optional = true, word.remove_suffix(1);
    if (word.starts_with('|')) slot.paired = true, word.remove_prefix(1);
    if (word.starts_with('[')) {
      slot.is_address = true;
      slot.name = word.substr(1, word.size() - 2);
    } else {
      const std::size_t mark = word.find_first_of("=:");
      slot.name = word.substr(0, mark);
      slot.written = word[mark] == '=';
      slot.spec = word.substr(mark + 1);
    }
    slots.push_back(slot);
  }
  return slots;
}

std::string listed(const std::vector<Slot>& slots) {
  std::string text;
  for (const Slot& slot : slots) {
    const std::string name = slot.is_address ? "[" + std::string(slot.name) + "]" : std::string(slot.name);
    const std::string with = (text.empty() ? "" : slot.paired ? "|" : ", ") + name;
    text += slot.optional ? "{" + with + "}" : with;
  }
  return text;
}

class OperandCheck {
 public:
  OperandCheck(const Template& from, const Instruction& instruction, Match& match)
      : from_(from),
        instruction_(instruction),
        match_(match),
        slots_(slots_of(table()[match.row].operands)) {}

  /// False: another row with the same modifiers may fit; why() says what is wrong.
  bool fits() {
    if (!assign()) return false;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (match_.operands[i] != nullptr && !check(slots_[i], *match_.operands[i])) return false;
    return true;
  }
  const PtxError& why() const { return *why_; }

 private:
  bool fail(std::size_t at, const std::string& message) {
    if (!why_) why_.emplace(at, message);
    return false;
  }
  std::string opcode() const { return "'" + std::string(instruction_.opcode) + "'"; }

  /// Gives each operand its slot.
  bool assign() {
    const std::size_t given = instruction_.operands.size();
    std::size_t needed = 0, possible = 0;
    for (const Slot& slot : slots_)
      if (!slot.paired) ++possible, needed += !is_optional(slot);
    if (given < needed || given > possible)
      return fail(instruction_.at,
                  opcode() + " takes " + (slots_.empty() ? "no operands" : "the operands " + listed(slots_)) +
                      ", and here " + (given == 1 ? "is 1" : "are " + std::to_string(given)) + ".");
    std::size_t extra = given - needed, next = 0;
    const Operand* last = nullptr;
    for (const Slot& slot : slots_) {
      const Operand* operand = nullptr;
      if (slot.paired) {
        const bool pair = last != nullptr && last->kind != Operand::Kind::vector &&
                          last->kind != Operand::Kind::address && !last->parts.empty();
        if (pair) operand = &last->parts.front();
        if (!pair && !slot.optional)
          return fail(last->at, opcode() + " takes the operands " + listed(slots_) +
                                    ": a '|' and a predicate are missing.");
      } else if (!is_optional(slot) || extra > 0) {
        if (is_optional(slot)) --extra;
        operand = last = &instruction_.operands[next++];
        const bool pairs = &slot != &slots_.back() && (&slot + 1)->paired;
        if (!pairs && (last->kind == Operand::Kind::reg || last->kind == Operand::Kind::nothing) &&
            !last->parts.empty())
          return fail(last->at,
                      "Operand '" + std::string(slot.name) + "' of " + opcode() + " is no pair of results.");
      }
      match_.operands.push_back(operand);
    }
    return true;
  }
  /// A cache policy is there if and only if the modifier says so.
  bool is_optional(const Slot& slot) const {
    return slot.optional && !(slot.name == "policy" && match_.has("L2::cache_hint"));
  }

  bool check(const Slot& slot, const Operand& operand) {
    if (slot.name == "policy" && !match_.has("L2::cache_hint"))
      return fail(operand.at, "A cache policy needs the modifier .L2::cache_hint in " + opcode() + ".");
    if (slot.is_address) return check_address(slot, operand);
    std::string_view spec = slot.spec;
    if (spec == "label") return true;
    if (spec.starts_with('#')) return check_constant(slot, operand, spec.substr(1));
    if (spec.starts_with('{')) return check_vector(slot, operand, spec.substr(1, spec.size() - 2));
    return check_value(slot, operand, spec);
  }

  bool check_address(const Slot& slot, const Operand& operand) {
    if (operand.kind != Operand::Kind::address)
      return fail(operand.at, wanted(slot) + " an address in brackets, as in [%0].");
    const Operand& base = operand.parts.front();
    if (operand.parts.size() != 1 || (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::integer))
      return fail(base.at, wanted(slot) + " one register, or a register and a constant, in its brackets.");
    if (base.kind == Operand::Kind::integer) return true;
    const Type type = from_.registers[base.reg].type;
    const unsigned bits = bits_of(type);
    if (sort_of(type) == Sort::real || (bits != 32 && bits != 64))
      return fail(base.at, wanted(slot) + " a register of 32 or 64 bits in its brackets, and " +
                               described(base) + ".");
    if (bits == 32 && !in_shared(slot))
      return fail(base.at, "An address of " +
                               std::string(in_global(slot) ? "global memory" : "no particular memory") +
                               " has 64 bits, and " + described(base) + ". Pass the pointer as an \"l\".");
    return true;
  }
  /// The state space of an address: the first one of a copy is shared, the second global.
  bool in_shared(const Slot& slot) const {
    const bool shared = match_.has("shared") || match_.has("shared::cta");
    return shared && !(match_.has("global") && &slot != &slots_.front());
  }
  bool in_global(const Slot& slot) const { return match_.has("global") && !in_shared(slot); }

  bool check_constant(const Slot& slot, const Operand& operand, std::string_view allowed) {
    if (operand.kind != Operand::Kind::integer)
      return fail(operand.at, wanted(slot) + " a constant: a number, or an operand of \"n\".");
    if (allowed.empty() || !operand.known) return true;
    for (const std::string_view value : split(allowed, ','))
      if (value == std::to_string(operand.value)) return true;
    return fail(operand.at, wanted(slot) + " " + (allowed == "16" ? "16" : "4, 8 or 16") + ", and here is " +
                                std::to_string(static_cast<std::int64_t>(operand.value)) + ".");
  }

  bool check_vector(const Slot& slot, const Operand& operand, std::string_view spec) {
    std::size_t count = match_.vector;
    if (const std::size_t star = spec.find('*'); star != std::string_view::npos) {
      count = static_cast<std::size_t>(spec[star + 1] - '0');
      spec = spec.substr(0, star);
    } else if (count == 1) {
      return check_value(slot, operand, spec);
    }
    if (operand.kind != Operand::Kind::vector || operand.parts.size() != count)
      return fail(operand.at, wanted(slot) + " a vector of " + std::to_string(count) + " in braces, as in {" +
                                  (count == 2   ? "%0, %1"
                                   : count == 4 ? "%0, %1, %2, %3"
                                                : "%0, %1, ...") +
                                  "}.");
    for (const Operand& part : operand.parts)
      if (!check_value(slot, part, spec)) return false;
    return true;
  }

  bool check_value(const Slot& slot, const Operand& operand, std::string_view spec) {
    const bool may_negate = spec.starts_with('!'), may_be_special = spec == "special";
    const bool wider = spec.ends_with('w');
    if (may_negate) spec.remove_prefix(1);
    if (wider) spec.remove_suffix(1);
    Type type;
    if (may_be_special)
      type = match_.types[0];
    else if (spec.size() == 1)
      type = match_.types[static_cast<std::size_t>(spec[0] - '0')];
    else
      type = *type_named(spec);
    if (operand.negated && !may_negate)
      return fail(operand.at,
                  "Operand '" + std::string(slot.name) + "' of " + opcode() + " cannot be negated.");
    const std::string needs = wanted(slot) + " of type ." + std::string(name_of(type));
    switch (operand.kind) {
      case Operand::Kind::nothing:
        if (slot.written) return true;
        return fail(operand.at, needs + ", and '_' has no value.");
      case Operand::Kind::reg:
        if (takes(type, from_.registers[operand.reg].type, wider)) return true;
        return fail(operand.at, needs + ", and " + described(operand) + ".");
      case Operand::Kind::special: {
        const int number = special_register(operand.text);
        if (number < 0)
          return fail(operand.at, "The simulator knows no special register '%" + std::string(operand.text) +
                                      "'; the nearest one is '%" + nearest_special(operand.text) + "'.");
        if (!may_be_special)
          return fail(operand.at, "A special register can be read with 'mov' alone: mov.u32 r, %" +
                                      std::string(operand.text) + ";");
        if (takes(type, special_registers()[static_cast<std::size_t>(number)].type, false)) return true;
        return fail(operand.at,
                    needs + ", and '%" + std::string(operand.text) + "' is of type ." +
                        std::string(name_of(special_registers()[static_cast<std::size_t>(number)].type)) +
                        ".");
      }
      case Operand::Kind::integer:
        if (slot.written) return fail(operand.at, needs + ", and a number cannot be written to.");
        if (sort_of(type) == Sort::real)
          return fail(operand.at,
                      needs + ": write a number with a point, such as 1.0, or its bits, such as 0f3F800000.");
        if (type == Type::pred) return fail(operand.at, needs + ": a register that '.reg .pred' declares.");
        return true;
      case Operand::Kind::real:
        if (slot.written) return fail(operand.at, needs + ", and a number cannot be written to.");
        if ((type == Type::f32 || type == Type::f64) && (operand.type == Type::none || operand.type == type))
          return true;
        if (type == Type::b32 && operand.type == Type::f32) return true;
        if (type == Type::b64 && operand.type == Type::f64) return true;
        return fail(operand.at, needs + ", and '" + std::string(operand.text) + "' is a real number.");
      case Operand::Kind::name:
        return fail(operand.at,
                    "No '.reg' of this asm statement declares '" + std::string(operand.text) + "'.");
      case Operand::Kind::address:
      case Operand::Kind::vector:
        break;
    }
    return fail(operand.at, needs + ", and here is '" + std::string(operand.text) + "'.");
  }

  std::string wanted(const Slot& slot) const {
    return "Operand '" + std::string(slot.name) + "' of " + opcode() + " is";
  }
  /// "'%1' is a register of type .b64"
  std::string described(const Operand& operand) const {
    return "'" + std::string(operand.text) + "' is a register of type ." +
           std::string(name_of(from_.registers[operand.reg].type));
  }
  static std::string nearest_special(std::string_view name) {
    const auto nearer = [&](const SpecialRegister& a, const SpecialRegister& b) {
      return edit_distance(a.name, name) < edit_distance(b.name, name);
    };
    return std::string(
        std::min_element(special_registers().begin(), special_registers().end(), nearer)->name);
  }

  const Template& from_;
  const Instruction& instruction_;
  Match& match_;
  std::vector<Slot> slots_;
  std::optional<PtxError> why_;
};

// --- What the pattern of a row cannot say ---

/// Bits are equal or not; .lo, .ls, .hi and .hs are the relations of unsigned integers.
void check_relation(const Instruction& instruction, const Match& match) {
  const Type type = match.types.back();
  const bool of_bits = type == Type::b16 || type == Type::b32 || type == Type::b64;
  const bool of_signed = type == Type::s16 || type == Type::s32 || type == Type::s64;
  const std::string_view of_unsigned = match.one_of({"lo", "ls", "hi", "hs"});
  const std::string_view relation =
      of_unsigned.empty() ? match.one_of({"lt", "le", "gt", "ge"}) : of_unsigned;
  if (relation.empty() || !(of_bits || (of_signed && !of_unsigned.empty()))) return;
  throw PtxError(instruction.at, "There is no '." + std::string(relation) + "' of type ." +
                                     std::string(name_of(type)) + " in '" +
                                     std::string(table()[match.row].name) +
                                     "': bits are .eq or .ne, and .lo, .ls, .hi and .hs compare unsigned "
                                     "integers.");
}

void check_combination(const Instruction& instruction, const Match& match) {
  const std::string_view name = table()[match.row].name;
  if (match.types.empty()) return;
  const Type type = match.types[0];
  if (name == "setp" || name == "set") check_relation(instruction, match);
  if (match.vector * bits_of(type) > 128)
    throw PtxError(instruction.at, "A load or store moves at most 16 bytes; '" +
                                       std::string(instruction.opcode) + "' would move " +
                                       std::to_string(match.vector * bits_of(type) / 8) + ".");
  const std::string_view op = match.one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"});
  if ((name != "atom" && name != "red") || op.empty() || match.has("noftz")) return;
  const bool bits = sort_of(type) == Sort::bits, real = sort_of(type) == Sort::real;
  const bool of_bits = op == "and" || op == "or" || op == "xor" || op == "exch";
  const bool counts = op == "inc" || op == "dec";
  if (of_bits != bits || (real && op != "add") || (counts && type != Type::u32) ||
      (op == "add" && type == Type::s64))
    throw PtxError(instruction.at,
                   "There is no '." + std::string(op) + "' of type ." + std::string(name_of(type)) + " in '" +
                       std::string(name) +
                       "': .and, .or, .xor and .exch take .b32 or .b64, .inc and .dec take .u32, .add "
                       "takes .u32, .s32, .u64, .f32 or .f64, .min and .max take integers.");
}

}  // namespace

bool Match::has(std::string_view word) const { return contains(words, word); }

std::string_view Match::one_of(std::initializer_list<std::string_view> candidates) const {
  for (const std::string_view word : candidates)
    if (has(word)) return word;
  return {};
}

Match match(const Template& from, const Instruction& instruction) {
  std::optional<PtxError> why;
  for (std::size_t row = 0; row < table().size(); ++row) {
    const Words name = split(table()[row].name, '.');
    if (name.size() > instruction.words.size() ||
        !std::equal(name.begin(), name.end(), instruction.words.begin()))
      continue;
    Match result;
    result.row = row;
    if (!WordMatcher(items_of(table()[row].modifiers), instruction.words, name.size()).fits(result)) continue;
    result.words.assign(instruction.words.begin() + static_cast<std::ptrdiff_t>(name.size()),
                        instruction.words.end());
    OperandCheck check(from, instruction, result);
    if (check.fits()) {
      check_combination(instruction, result);
      return result;
    }
    if (!why) why = check.why();
  }
  if (why) throw PtxError(*why);
  fail_unknown(instruction);
}

std::vector<std::size_t> rows_of(std::string_view opcode) {
  std::vector<std::size_t> rows;
  const Words words = split(opcode, '.');
  for (std::size_t row = 0; row < table().size(); ++row) {
    const Words name = split(table()[row].name, '.');
    Match unused;
    if (name.size() <= words.size() && std::equal(name.begin(), name.end(), words.begin()) &&
        WordMatcher(items_of(table()[row].modifiers), words, name.size()).fits(unused))
      rows.push_back(row);
  }
  return rows;
}

std::string syntax_of(const Entry& entry) {
  std::string text(entry.name);
  for (const Item& item : items_of(entry.modifiers)) {
    std::string choices;
    for (const std::string_view choice : item.choices)
      choices += (choices.empty() ? "." : "|.") + std::string(choice);
    if (item.has_vector && item.needs_vector) {
      const bool has_v8 = std::any_of(item.choices.begin(), item.choices.end(), [&](std::string_view type) {
        return vector_length("v8", item, type) != 0;
      });
      text += has_v8 ? "(.v2|.v4|.v8)" : "(.v2|.v4)";
    } else if (item.has_vector) {
      text += "{.v2|.v4}";
    }
    text += item.optional ? "{" + choices + "}" : item.choices.size() > 1 ? "(" + choices + ")" : choices;
  }
  const std::string operands = listed(slots_of(entry.operands));
  return text + (operands.empty() ? "" : " " + operands) + ";";
}

}  // namespace simt::ptx
