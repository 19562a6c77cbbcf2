#include "simt/ptx/syntax.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

namespace simt::ptx {
namespace {

/// More than any instruction needs: wgmma has 128 accumulators.
constexpr std::size_t kMostOperands = 512, kMostRegisters = 4096, kMostDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

/// In quotation marks, and in characters that a terminal can show.
std::string quoted(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return "'" + result + "'";
}

/// What the register of an operand is, by its letter.
Type register_type(char letter) {
  switch (letter) {
    case 'h':
      return Type::b16;
    case 'r':
      return Type::b32;
    case 'l':
      return Type::b64;
    case 'q':
      return Type::b128;
    case 'f':
      return Type::f32;
    case 'd':
      return Type::f64;
    default:
      return Type::none;
  }
}

/// The template with the strings of its 'C' operands in place, and a number for `%=`: labels of a statement
/// are its own anyway.
std::string with_strings(std::string_view text, const std::vector<AsmOperand>& operands) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    if (!is_digit(text[i + 1])) {
      if (text[i + 1] == '=') {
        result += '0';
        ++i;
        continue;
      }
      result += text[i];
      result += text[++i];
      continue;
    }
    std::size_t number = 0, end = i + 1;
    for (; end < text.size() && is_digit(text[end]) && number < kMostOperands; ++end)
      number = number * 10 + static_cast<std::size_t>(text[end] - '0');
    if (number < operands.size() && operands[number].letter == 'C' && operands[number].text != nullptr)
      result += operands[number].text;
    else
      result += text.substr(i, end - i);
    i = end - 1;
  }
  return result;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<AsmOperand>& operands) : operands_(operands) {
    result_.text = std::make_unique<const std::string>(with_strings(text, operands));
    text_ = *result_.text;
    for (std::size_t i = 0; i < operands.size(); ++i) add_operand(i);
    result_.operand_slots = result_.slots;
  }

  Template run() {
    scopes_.push_back({});
    statements(false);
    for (const Jump& jump : jumps_) resolve(jump);
    return std::move(result_);
  }

 private:
  struct Name {
    std::string_view name;
    unsigned reg;
  };
  struct Label {
    std::string_view name;
    int target;
  };
  struct Scope {
    std::vector<Name> names;
    std::size_t parent = 0;
    std::vector<Label> labels;
  };
  struct Jump {
    std::size_t instruction, scope;
  };

  [[noreturn]] static void fail(std::size_t at, const std::string& message) { throw PtxError(at, message); }

  void add_operand(std::size_t i) {
    const Type type = register_type(operands_[i].letter);
    result_.registers.push_back({"%" + std::to_string(i), type, result_.slots});
    result_.slots += type == Type::b128 ? 2 : 1;
  }

  // --- Characters ---

  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool at_end() const { return position_ >= text_.size(); }
  void skip_blanks() {
    while (!at_end()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f') {
        ++position_;
      } else if (c == '/' && peek(1) == '/') {
        while (!at_end() && peek() != '\n') ++position_;
      } else if (c == '/' && peek(1) == '*') {
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == std::string_view::npos) fail(position_, "This comment of the PTX has no '*/'.");
        position_ = end + 2;
      } else {
        return;
      }
    }
  }
  bool accept(char c) {
    skip_blanks();
    if (peek() != c || at_end()) return false;
    ++position_;
    return true;
  }
  void expect(char c, const char* where) {
    if (!accept(c))
      fail(position_, std::string("PTX needs a '") + c + "' " + where + ", and here is " + found() + ".");
  }
  /// What stands here, in words.
  std::string found() const {
    if (at_end()) return "the end of the template";
    std::size_t end = position_;
    while (end < text_.size() && (continues_name(text_[end]) || text_[end] == '.' || text_[end] == '%'))
      ++end;
    return quoted(text_.substr(position_, std::max<std::size_t>(end - position_, 1)));
  }
  std::string_view name() {
    const std::size_t begin = position_;
    if (begins_name(peek()))
      while (continues_name(peek())) ++position_;
    return text_.substr(begin, position_ - begin);
  }

  // --- Statements ---

  void statements(bool in_braces) {
    for (;;) {
      skip_blanks();
      if (at_end()) {
        if (in_braces) fail(text_.size(), "A '{' of the PTX has no '}'.");
        return;
      }
      const std::size_t at = position_;
      if (accept(';')) continue;
      if (accept('}')) {
        if (in_braces) return;
        fail(at, "A '}' of the PTX has no '{'.");
      }
      if (accept('{')) {
        block(at);
      } else if (peek() == '.') {
        declaration();
      } else {
        instruction_or_label();
      }
    }
  }

  void block(std::size_t at) {
    if (++depth_ > kMostDepth) fail(at, "Braces of the PTX are nested too deeply.");
    scopes_.push_back({});
    scopes_.back().parent = scope_;
    const std::size_t outer = std::exchange(scope_, scopes_.size() - 1);
    statements(true);
    scope_ = outer;
    --depth_;
  }

  /// `.reg .b32 a, b, r<4>;`
  void declaration() {
    const std::size_t at = position_++;
    const std::string_view what = name();
    if (what != "reg")
      fail(at, "The simulator knows one declaration inside of asm, '.reg', and this is '." +
                   std::string(what) + "'.");
    skip_blanks();
    const std::size_t type_at = position_;
    if (!accept('.')) fail(position_, "'.reg' needs a type, as in '.reg .b32 r;'.");
    const std::string_view type_name = name();
    const std::optional<Type> type = type_named(type_name);
    const bool declarable = type && sort_of(*type) != Sort::predicate && bits_of(*type) >= 16;
    const bool packed =
        type_name.find('x') != std::string_view::npos || type_name == "bf16" || type_name == "tf32";
    if (!type || packed || !(declarable || *type == Type::pred))
      fail(type_at,
           "A register cannot be of type '." + std::string(type_name) +
               "'. Take .pred, .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f16, .f32 or .f64.");
    do {
      skip_blanks();
      const std::size_t name_at = position_;
      accept('%');
      accept('%');
      const std::string_view base = name();
      if (base.empty()) fail(name_at, "'.reg' needs the name of a register, and here is " + found() + ".");
      if (accept('<')) {
        skip_blanks();
        const std::uint64_t count = number_of_registers(name_at);
        expect('>', "after the number of registers");
        for (std::uint64_t i = 0; i < count; ++i)
          declare(std::string(base) + std::to_string(i), *type, name_at);
      } else {
        declare(std::string(base), *type, name_at);
      }
    } while (accept(','));
    expect(';', "after the names of registers");
  }
  std::uint64_t number_of_registers(std::size_t at) {
    std::uint64_t count = 0;
    const char* const end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data() + position_, end, count);
    if (error != std::errc() || count > kMostRegisters)
      fail(at, "This is no number of registers that PTX can have.");
    position_ = static_cast<std::size_t>(rest - text_.data());
    return count;
  }
  void declare(std::string spelled, Type type, std::size_t at) {
    if (result_.registers.size() >= kMostRegisters)
      fail(at, "This asm statement declares too many registers.");
    const auto index = static_cast<unsigned>(result_.registers.size());
    for (const Name& known : scopes_[scope_].names)
      if (result_.registers[known.reg].name == spelled)
        fail(at, "The register " + quoted(spelled) + " is declared twice.");
    result_.registers.push_back({std::move(spelled), type, result_.slots});
    result_.slots += type == Type::b128 ? 2 : 1;
    scopes_[scope_].names.push_back({{}, index});
  }
  int find_register(std::string_view spelled) const {
    for (std::size_t scope = scope_;; scope = scopes_[scope].parent) {
      for (const Name& known : scopes_[scope].names)
        if (result_.registers[known.reg].name == spelled) return static_cast<int>(known.reg);
      if (scope == 0) return -1;
    }
  }

  void instruction_or_label() {
    Instruction instruction;
    instruction.at = position_;
    if (accept('@')) {
      instruction.guard_negated = accept('!');
      skip_blanks();
      const Operand guard = operand();
      if (guard.kind != Operand::Kind::reg || result_.registers[guard.reg].type != Type::pred)
        fail(guard.at, "Behind '@' stands the name of a predicate that '.reg .pred' declares.");
      instruction.guard = static_cast<int>(guard.reg);
      skip_blanks();
    }
    const std::size_t begin = position_;
    if (!begins_name(peek()))
      fail(position_, "An instruction of PTX begins with its name, and here is " + found() + ".");
    while (continues_name(peek()) || peek() == '.' || (peek() == ':' && peek(1) == ':'))
      position_ += peek() == ':' ? 2 : 1;
    instruction.opcode = text_.substr(begin, position_ - begin);
    if (instruction.guard < 0 && instruction.opcode.find('.') == std::string_view::npos && accept(':'))
      return label(instruction.opcode, begin);
    if (instruction.guard < 0) instruction.at = begin;
    split(instruction);
    skip_blanks();
    if (peek() != ';' && !at_end()) {
      do {
        instruction.operands.push_back(operand());
        if (instruction.operands.size() > kMostOperands)
          fail(begin, "This instruction has too many operands.");
      } while (accept(','));
    }
    expect(';', ("after the operands of " + quoted(instruction.opcode)).c_str());
    if (instruction.words.front() == "bra") jumps_.push_back({result_.instructions.size(), scope_});
    result_.instructions.push_back(std::move(instruction));
  }
  static void split(Instruction& instruction) {
    std::string_view rest = instruction.opcode;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      instruction.words.push_back(rest.substr(0, dot));
      rest.remove_prefix(dot + 1);
    }
    instruction.words.push_back(rest);
  }
  void label(std::string_view spelled, std::size_t at) {
    for (const Label& known : scopes_[scope_].labels)
      if (known.name == spelled) fail(at, "The label " + quoted(spelled) + " stands here twice.");
    scopes_[scope_].labels.push_back({spelled, static_cast<int>(result_.instructions.size())});
  }
  void resolve(const Jump& jump) {
    Instruction& branch = result_.instructions[jump.instruction];
    if (branch.operands.size() != 1 || branch.operands[0].kind != Operand::Kind::name)
      fail(branch.at, "'bra' needs the name of a label of this asm statement.");
    const std::string_view wanted = branch.operands[0].text;
    for (std::size_t scope = jump.scope;; scope = scopes_[scope].parent) {
      for (const Label& known : scopes_[scope].labels)
        if (known.name == wanted) {
          branch.target = known.target;
          return;
        }
      if (scope == 0) break;
    }
    fail(branch.operands[0].at, "No label of this asm statement has the name " + quoted(wanted) + ".");
  }

  // --- Operands ---

  Operand operand() {
    if (++depth_ > kMostDepth) fail(position_, "Operands of the PTX are nested too deeply.");
    Operand first = simple_operand();
    if (first.kind == Operand::Kind::reg || first.kind == Operand::Kind::nothing) {
      if (accept('|')) {
        skip_blanks();
        first.parts.push_back(simple_operand());
      }
    }
    --depth_;
    return first;
  }

  Operand simple_operand() {
    skip_blanks();
    Operand result;
    result.at = position_;
    const std::size_t begin = position_;
    const char c = peek();
    if (at_end()) {
      fail(begin, "An operand is missing at the end of the template.");
    } else if (c == '!') {
      ++position_;
      result = simple_operand();
      result.negated = true;
    } else if (c == '{' || c == '[') {
      bracket(result, c == '{' ? '}' : ']');
    } else if (c == '%') {
      percent(result);
    } else if (is_digit(c) || c == '-' || c == '+' || c == '.') {
      number(result);
    } else if (begins_name(c)) {
      word(result);
    } else {
      fail(begin, "An operand of PTX is a register, a number, [an address] or {a vector}, and here is " +
                      found() + ".");
    }
    if (result.kind != Operand::Kind::special) result.text = text_.substr(begin, position_ - begin);
    result.at = begin;
    return result;
  }

  void bracket(Operand& result, char close) {
    ++position_;
    result.kind = close == ']' ? Operand::Kind::address : Operand::Kind::vector;
    do {
      result.parts.push_back(operand());
      if (result.parts.size() > kMostOperands) fail(result.at, "This vector is too long.");
    } while (accept(','));
    if (close == ']') {
      skip_blanks();
      if (peek() == '+' || peek() == '-') {
        const bool minus = peek() == '-';
        ++position_;
        Operand offset;
        skip_blanks();
        offset.at = position_;
        if (peek() == '%')
          percent(offset);
        else
          number(offset);
        if (offset.kind != Operand::Kind::integer)
          fail(offset.at, "Behind the register of an address stands a constant, as in [%0+16].");
        result.offset = static_cast<std::int64_t>(minus ? 0 - offset.value : offset.value);
      }
    }
    expect(close, close == ']' ? "at the end of an address" : "at the end of a vector");
  }

  /// %0, %%laneid, %laneid, or a register whose name begins with %.
  void percent(Operand& result) {
    const std::size_t at = position_++;
    if (peek() == '%') ++position_;
    if (is_digit(peek())) {
      std::size_t index = 0;
      while (is_digit(peek()) && index < kMostOperands)
        index = index * 10 + static_cast<std::size_t>(text_[position_++] - '0');
      if (index >= operands_.size())
        fail(at, "The asm statement has " +
                     (operands_.empty()       ? std::string("no operands")
                      : operands_.size() == 1 ? std::string("one operand, %0")
                                              : "operands %0 to %" + std::to_string(operands_.size() - 1)) +
                     ", and here is %" + std::to_string(index) + ".");
      const AsmOperand& given = operands_[index];
      if (given.letter == 'n') {
        result.kind = Operand::Kind::integer;
        result.value = given.value;
        result.known = given.known;
      } else if (given.letter == 'C') {
        if (given.text != nullptr) fail(at, "The text of a \"C\" operand cannot contain the operand itself.");
        fail(at, "The text of this \"C\" operand is not known here.");
      } else {
        result.kind = Operand::Kind::reg;
        result.reg = static_cast<unsigned>(index);
      }
      return;
    }
    std::string_view spelled = name();
    if (spelled.empty())
      fail(at, "Behind '%' stands the number of an operand or a name, and here is " + found() + ".");
    if (const int reg = find_register(spelled); reg >= 0) {
      result.kind = Operand::Kind::reg;
      result.reg = static_cast<unsigned>(reg);
      return;
    }
    if (peek() == '.' && begins_name(peek(1))) {  // %tid.x
      position_ += 2;
      spelled = text_.substr(static_cast<std::size_t>(spelled.data() - text_.data()), spelled.size() + 2);
    }
    result.kind = Operand::Kind::special;
    result.text = spelled;
  }

  void word(Operand& result) {
    const std::string_view spelled = name();
    if (spelled == "_") return;  // Kind::nothing
    if (spelled == "WARP_SZ") {
      result.kind = Operand::Kind::integer;
      result.value = 32;
      return;
    }
    const int reg = find_register(spelled);
    result.kind = reg >= 0 ? Operand::Kind::reg : Operand::Kind::name;
    if (reg >= 0) result.reg = static_cast<unsigned>(reg);
  }

  void number(Operand& result) {
    const std::size_t at = position_;
    bool minus = false;
    while (peek() == '-' || peek() == '+') {
      minus ^= peek() == '-';
      ++position_;
      skip_blanks();
    }
    const std::size_t begin = position_;
    while (continues_name(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') &&
            (text_[position_ - 1] == 'e' || text_[position_ - 1] == 'E') &&
            !(text_.substr(begin, 2) == "0x" || text_.substr(begin, 2) == "0X")))
      ++position_;
    std::string_view digits = text_.substr(begin, position_ - begin);
    const auto bad = [&] {
      fail(at, quoted(text_.substr(at, std::max<std::size_t>(position_ - at, 1))) + " is no number of PTX.");
    };
    if (digits.size() > 2 && digits[0] == '0' &&
        std::string_view("fFdD").find(digits[1]) != std::string_view::npos) {
      const bool is_double = digits[1] == 'd' || digits[1] == 'D';
      digits.remove_prefix(2);
      std::uint64_t bits = 0;
      if (digits.size() != (is_double ? 16u : 8u) || !read(digits, bits, 16)) bad();
      result.kind = Operand::Kind::real;
      result.type = is_double ? Type::f64 : Type::f32;
      result.value = minus ? bits ^ (std::uint64_t{1} << (is_double ? 63 : 31)) : bits;
      return;
    }
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (!hex && digits.find_first_of(".eE") != std::string_view::npos) {
      double value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size()) bad();
      result.kind = Operand::Kind::real;
      result.value = std::bit_cast<std::uint64_t>(minus ? -value : value);
      return;
    }
    if (digits.ends_with('U') || digits.ends_with('u')) digits.remove_suffix(1);
    int base = 10;
    if (hex)
      base = 16, digits.remove_prefix(2);
    else if (digits.starts_with("0b") || digits.starts_with("0B"))
      base = 2, digits.remove_prefix(2);
    else if (digits.size() > 1 && digits[0] == '0')
      base = 8, digits.remove_prefix(1);
    std::uint64_t value = 0;
    if (!read(digits, value, base)) bad();
    result.kind = Operand::Kind::integer;
    result.value = minus ? 0 - value : value;
  }
  static bool read(std::string_view digits, std::uint64_t& value, int base) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return error == std::errc() && end == digits.data() + digits.size();
  }

  const std::vector<AsmOperand>& operands_;
  Template result_;
  std::string_view text_;
  std::size_t position_ = 0, depth_ = 0, scope_ = 0;
  std::vector<Scope> scopes_;
  std::vector<Jump> jumps_;
};

}  // namespace

Template parse(std::string_view text, const std::vector<AsmOperand>& operands) {
  return Parser(text, operands).run();
}

std::vector<AsmOperand> operands_of(std::string_view constraints) {
  std::vector<AsmOperand> operands;
  for (std::size_t i = 0; i + 1 < constraints.size(); i += 2)
    operands.push_back({constraints[i], constraints[i + 1]});
  return operands;
}

}  // namespace simt::ptx
