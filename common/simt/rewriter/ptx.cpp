// Inline PTX: `asm volatile("..." : "=f"(y) : "f"(x) : "memory")` becomes
// `SIMT_PTX("..." , ::simt::inline_ptx::out<'f'>(y) , ::simt::inline_ptx::in<'f'>(x) )`, see simt_ptx.h. What
// the template says is checked here if it is written out; if macros make it, the runtime does so at the
// statement's first use.

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

#include "simt/ptx/table.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

constexpr std::string_view kLetters = "hrlqfdnC";

/// A label such as the name in `asm("name")` after a declaration, or nothing at all, which any compiler
/// understands.
bool is_harmless(const Sequence& tokens, std::uint32_t open) {
  for (std::uint32_t i = open + 1; tokens.kind(i) == TokenKind::literal; ++i) {
    const std::string text = tokens.text(i);
    for (std::size_t c = 1; c + 1 < text.size(); ++c) {
      const bool label = (text[c] >= 'a' && text[c] <= 'z') || (text[c] >= 'A' && text[c] <= 'Z') ||
                         (text[c] >= '0' && text[c] <= '9') || text[c] == '_';
      if (!label) return false;
    }
  }
  return tokens.kind(open + 1) == TokenKind::literal;
}

/// A template that is put together of string literals, and where each of its characters stands in the source.
struct Text {
  std::string characters;
  std::vector<std::uint32_t> places;

  void add(char character, std::uint32_t place) {
    characters += character;
    places.push_back(place);
  }
  std::uint32_t place_of(std::size_t offset) const { return places[std::min(offset, places.size() - 1)]; }
};

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/// What an escape sequence stands for; `i` is at the character after the backslash, then at its last one.
char escaped(std::string_view source, std::size_t& i) {
  constexpr std::string_view kNames = "abfnrtv", kMeanings = "\a\b\f\n\r\t\v";
  const char c = source[i];
  if (const std::size_t at = kNames.find(c); at != std::string_view::npos) return kMeanings[at];
  const int base = c == 'x' ? 16 : 8;
  if (c != 'x' && digit_of(c) >= 8) return c;
  int value = 0;
  std::size_t next = c == 'x' ? i + 1 : i;
  for (; next < source.size() && digit_of(source[next]) < base && value < 256; ++next)
    value = value * base + digit_of(source[next]);
  i = next - 1;
  return static_cast<char>(value);
}

/// Adds what a literal says. False: it is one of those whose characters nobody counts here.
bool add_literal(const Sequence& tokens, std::uint32_t index, Text& text) {
  const Token& token = tokens[index];
  std::string_view source = tokens.file().lexed.source.substr(token.begin, token.end - token.begin);
  if (token.spliced || !token.closed) return false;
  if (source.starts_with("R\"")) {
    const std::size_t open = source.find('(');
    if (open == std::string_view::npos || source.size() < 2 * open) return false;
    for (std::size_t i = open + 1; i + open < source.size(); ++i)
      text.add(source[i], token.begin + static_cast<std::uint32_t>(i));
    return true;
  }
  if (source.size() < 2 || source.front() != '"') return false;
  source.remove_suffix(1);
  for (std::size_t i = 1; i < source.size(); ++i) {
    const auto place = token.begin + static_cast<std::uint32_t>(i);
    if (source[i] == '\\' && i + 1 < source.size())
      text.add(escaped(source, ++i), place);
    else
      text.add(source[i], place);
  }
  return true;
}

class Statement {
 public:
  Statement(Sequence& tokens, std::uint32_t word, std::uint32_t open)
      : tokens_(tokens), word_(word), open_(open) {
    close_ = tokens.match(open);
    if (close_ == kNone)
      tokens.fail_at(open, "The '(' of this asm statement is never closed. Add the missing ')'.");
    find_colons();
  }

  void rewrite() {
    const std::uint32_t first_colon = colons_.empty() ? close_ : colons_.front();
    if (first_colon == open_ + 1) tokens_.fail_at(open_, "The template of this asm statement is missing.");
    tokens_.replace(word_, open_ + 1, "SIMT_PTX(");
    for (std::size_t i = 0; i < colons_.size(); ++i) {
      const bool new_token = i == 0 || colons_[i] != colons_[i - 1];  // '::' is one token and two colons
      if (new_token) tokens_.replace(colons_[i], colons_[i] + 1, "");
      const std::uint32_t end = i + 1 < colons_.size() ? colons_[i + 1] : close_;
      if (colons_[i] + 1 >= end) continue;
      if (i < 2) rewrite_operands(colons_[i] + 1, end, i == 0);
      if (i == 2) check_clobbers(colons_[i] + 1, end);
      if (i > 2) tokens_.fail_at(colons_[i], "PTX has no asm statement that jumps to labels of C++.");
    }
    check_template(first_colon);
  }

 private:
  void find_colons() {
    for (std::uint32_t i = open_ + 1; i < close_; ++i) {
      const TokenKind kind = tokens_.kind(i);
      if (kind == TokenKind::colon) colons_.push_back(i);
      if (kind == TokenKind::scope) colons_.insert(colons_.end(), 2, i);
      const bool bracket =
          kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace;
      if (bracket && tokens_.match(i) != kNone) i = tokens_.match(i);
    }
  }

  /// `"=f"(y), "+r"(x)`
  void rewrite_operands(std::uint32_t begin, std::uint32_t end, bool outputs) {
    for (std::uint32_t i = begin; i < end;) {
      if (tokens_.kind(i) == TokenKind::open_bracket)
        tokens_.fail_at(i, "nvcc knows no names for the operands of asm. Count them: %0, %1 and so on.");
      const std::uint32_t open = i + 1;
      if (tokens_.kind(i) != TokenKind::literal || tokens_.kind(open) != TokenKind::open_paren)
        tokens_.fail_at(
            i,
            "An operand of asm is written as a letter in quotation marks and a value in parentheses, such as "
            "\"r\"(x); write it out where a macro stands for it.");
      rewrite_constraint(i, outputs);
      i = tokens_.match(open) + 1;
      if (i < end && tokens_.kind(i) != TokenKind::comma)
        tokens_.fail_at(i, "A comma is missing between two operands of this asm statement.");
      if (i < end) tokens_.replace(i, i + 1, "");
      ++i;
    }
  }

  void rewrite_constraint(std::uint32_t at, bool output) {
    std::string text = tokens_.text(at);
    const std::string written = text;
    text = text.size() >= 2 ? text.substr(1, text.size() - 2) : "";
    char way = ' ';
    if (!text.empty() && (text.front() == '=' || text.front() == '+')) way = text.front(), text.erase(0, 1);
    if (!text.empty() && text.front() == '&') text.erase(0, 1);
    if (text.size() != 1 || kLetters.find(text.front()) == std::string_view::npos)
      tokens_.fail_at(at, "The operand " + written +
                              " of this asm statement is none of PTX, which has \"h\" for 16-bit integers, "
                              "\"r\" for 32, \"l\" "
                              "for 64 and \"q\" for 128 bits, \"f\" for float, \"d\" for double, \"n\" for "
                              "constants and \"C\" for "
                              "constant strings.");
    if (output && (way == ' ' || text == "n" || text == "C"))
      tokens_.fail_at(
          at,
          "The operand " + written +
              " of this asm statement stands among its results, which begin with '=' or '+', as in \"=r\".");
    if (!output && way != ' ')
      tokens_.fail_at(
          at, "The operand " + written +
                  " of this asm statement stands among its inputs. Results come after the first colon.");
    const std::string kind = way == '=' ? "out" : way == '+' ? "inout" : "in";
    tokens_.replace(at, at + 1, ", ::simt::inline_ptx::" + kind + "<'" + text + "'>");
    operands_.push_back({way, text.front()});
  }

  void check_clobbers(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i)
      if (tokens_.kind(i) == TokenKind::literal && tokens_.text(i) != "\"memory\"")
        tokens_.fail_at(i, "nvcc knows one word here, \"memory\", and this is " + tokens_.text(i) + ".");
    tokens_.replace(begin, end, "");
  }

  void check_template(std::uint32_t end) const {
    Text text;
    for (std::uint32_t i = open_ + 1; i < end; ++i)
      if (tokens_.kind(i) != TokenKind::literal || !add_literal(tokens_, i, text)) return;
    for (const ptx::AsmOperand& operand : operands_)
      if (operand.letter == 'C') return;
    if (text.characters.empty()) return;
    try {
      const ptx::Template read = ptx::parse(text.characters, operands_);
      for (const ptx::Instruction& instruction : read.instructions) (void)ptx::match(read, instruction);
    } catch (const ptx::PtxError& error) {
      fail(tokens_.file(), text.place_of(error.offset), error.what());
    }
  }

  Sequence& tokens_;
  std::uint32_t word_, open_, close_;
  std::vector<std::uint32_t> colons_;
  std::vector<ptx::AsmOperand> operands_;
};

/// A word that may hide `__device__`: a macro of the file, or one of a header by the looks of it.
bool may_be_qualifier(const Sequence& sequence, std::uint32_t index) {
  const std::string word = sequence.text(index);
  if (word == "__device__" || word == "__global__") return true;
  const std::vector<std::string>& macros = sequence.file().macros;
  if (std::binary_search(macros.begin(), macros.end(), word)) return true;
  return word.find('_') != std::string::npos &&
         std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; });
}

/// Knows of each `{` that is open whether it belongs to code for the device. Assembly elsewhere is the
/// host's.
class OpenBraces {
 public:
  explicit OpenBraces(const Sequence& sequence) : sequence_(sequence) {}

  /// Goes on to the next token.
  void pass(std::uint32_t index) {
    switch (sequence_.kind(index)) {
      case TokenKind::open_brace:
        device_.push_back((!device_.empty() && device_.back()) || begins_device_code(index));
        break;
      case TokenKind::close_brace:
        if (!device_.empty()) device_.pop_back();
        break;
      default:
        break;
    }
  }
  bool in_host_function() const { return !device_.empty() && !device_.back(); }

 private:
  bool begins_device_code(std::uint32_t brace) const {
    for (std::uint32_t i = brace; i-- > 0;) {
      const TokenKind kind = sequence_.kind(i);
      if (kind == TokenKind::semicolon || kind == TokenKind::open_brace || kind == TokenKind::close_brace)
        return false;
      if (kind == TokenKind::word && may_be_qualifier(sequence_, i)) return true;
    }
    return false;
  }

  const Sequence& sequence_;
  std::vector<bool> device_;
};

}  // namespace

void rewrite_inline_asm(Sequence& sequence) {
  OpenBraces braces(sequence);
  static constexpr std::array<std::string_view, 4> kQualifiers = {"volatile", "__volatile__", "__volatile",
                                                                  "inline"};
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    braces.pass(i);
    if (sequence[i].word != Word::inline_asm) continue;
    if (!sequence.is_macro() && braces.in_host_function()) continue;
    std::uint32_t open = i + 1;
    while (sequence.is_one_of(open, kQualifiers)) ++open;
    if (sequence.is(open, "goto"))
      sequence.fail_at(open, "PTX has no asm statement that jumps to labels of C++.");
    if (sequence.kind(open) != TokenKind::open_paren || is_harmless(sequence, open)) continue;
    Statement(sequence, i, open).rewrite();
    i = open;
  }
}

}  // namespace simt::rewriter
