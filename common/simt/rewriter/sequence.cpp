#include "simt/rewriter/sequence.hpp"

#include <algorithm>
#include <array>

#include "simt/rewriter/rewriter.hpp"

namespace simt::rewriter {
namespace {

bool opens(TokenKind kind) {
  return kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace;
}
bool closes(TokenKind kind) {
  return kind == TokenKind::close_paren || kind == TokenKind::close_bracket || kind == TokenKind::close_brace;
}
TokenKind opener_of(TokenKind closer) {
  if (closer == TokenKind::close_paren) return TokenKind::open_paren;
  return closer == TokenKind::close_bracket ? TokenKind::open_bracket : TokenKind::open_brace;
}

}  // namespace

void fail(const File& file, std::uint32_t offset, const std::string& message) {
  const std::string_view before = file.lexed.source.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw RewriteError(file.name, static_cast<int>(line), message);
}

Sequence::Sequence(File& file) : file_(file), tokens_(file.lexed.code) {
  match_brackets(file.lexed.directives);
}

Sequence::Sequence(File& file, const Directive& define) : file_(file), is_macro_(true) {
  tokens_ = std::span(file.lexed.directive_tokens)
                .subspan(define.first_token, define.last_token - define.first_token);
  std::uint32_t next = 1;  // behind the name
  if (kind(1) == TokenKind::open_paren && touches_next(0)) {
    has_parameters_ = true;
    for (next = 2; next < size() && kind(next) != TokenKind::close_paren; ++next) {
      if (kind(next) == TokenKind::word) parameters_.push_back(text(next));
      if (kind(next) == TokenKind::ellipsis && kind(next - 1) != TokenKind::word)
        parameters_.push_back("__VA_ARGS__");
    }
    ++next;
  }
  tokens_ = tokens_.subspan(std::min(next, size()));
  match_brackets({});
}

bool Sequence::is(std::uint32_t index, std::string_view text) const {
  if (index >= size()) return false;
  const Token& token = tokens_[index];
  if (token.spliced) return clean_text(file_.lexed.source, token) == text;
  return file_.lexed.source.substr(token.begin, token.end - token.begin) == text;
}

bool Sequence::is_one_of(std::uint32_t index, std::span<const std::string_view> texts) const {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) { return is(index, text); });
}

bool Sequence::is_parameter(std::uint32_t index) const {
  if (!has_parameters_ || kind(index) != TokenKind::word) return false;
  return std::find(parameters_.begin(), parameters_.end(), text(index)) != parameters_.end();
}

namespace {

/// Matches the brackets of code with preprocessor conditionals in it. Each branch of a conditional continues
/// from its `#if`, and the code behind it from its first live branch; a bracket that another branch leaves
/// open ends where its counterpart in the first branch does. So in `#if A` `f(1,` `#else` `f(2,` `#endif`
/// `x)` both have their match.
class BracketMatcher {
 public:
  explicit BracketMatcher(std::span<const Token> tokens)
      : tokens_(tokens), matches_(tokens.size(), kNone), below_(tokens.size(), kNone) {}

  void token(std::uint32_t index) {
    next_ = index + 1;
    const TokenKind kind = tokens_[index].kind;
    if (opens(kind)) {
      below_[index] = top_;
      top_ = index;
    } else if (closes(kind) && top_ != kNone && tokens_[top_].kind == opener_of(kind)) {
      matches_[index] = top_;
      if (matches_[top_] == kNone) matches_[top_] = index;
      top_ = below_[top_];
    }
  }

  void directive(const Directive& directive) {
    switch (directive.kind) {
      case DirectiveKind::if_:
      case DirectiveKind::ifdef:
      case DirectiveKind::ifndef:
        conditionals_.push_back({.at_start = top_, .first = next_, .branch = next_, .live = directive.live});
        break;
      case DirectiveKind::elif:
      case DirectiveKind::elifdef:
      case DirectiveKind::elifndef:
      case DirectiveKind::else_:
        if (conditionals_.empty()) break;
        end_branch();
        conditionals_.back().live = directive.live;
        conditionals_.back().branch = next_;
        top_ = conditionals_.back().at_start;
        break;
      case DirectiveKind::endif:
        if (conditionals_.empty()) break;
        end_branch();
        if (conditionals_.back().has_end) top_ = conditionals_.back().at_end;
        conditionals_.pop_back();
        break;
      default:
        break;
    }
  }

  std::vector<std::uint32_t> finish() {
    for (const auto& [open, counterpart] : counterparts_)
      if (matches_[open] == kNone) matches_[open] = matches_[counterpart];
    return std::move(matches_);
  }

 private:
  struct Conditional {
    std::uint32_t at_start;        // the innermost open bracket at `#if`
    std::uint32_t first;           // its first token
    std::uint32_t branch;          // the first token of the current branch
    std::uint32_t at_end = kNone;  // the innermost open bracket behind the first live branch
    bool has_end = false;
    bool live;  // the current branch
  };

  void end_branch() {
    Conditional& current = conditionals_.back();
    if (!current.live) return;
    if (!current.has_end) {
      current.at_end = top_;
      current.has_end = true;
      return;
    }
    std::uint32_t other = current.at_end;
    for (std::uint32_t open = top_; open != kNone && open >= current.branch; open = below_[open]) {
      if (other == kNone || other < current.first || tokens_[other].kind != tokens_[open].kind) break;
      counterparts_.emplace_back(open, other);
      other = below_[other];
    }
  }

  std::span<const Token> tokens_;
  std::vector<std::uint32_t> matches_;
  std::vector<std::uint32_t>
      below_;  // the open brackets are a list through this, so that a state is one index
  std::uint32_t top_ = kNone;
  std::uint32_t next_ = 0;
  std::vector<Conditional> conditionals_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      counterparts_;  // a bracket, and the one that ends where it does
};

}  // namespace

void Sequence::match_brackets(std::span<const Directive> directives) {
  BracketMatcher matcher(tokens_);
  auto directive = directives.begin();
  for (std::uint32_t i = 0; i < size(); ++i) {
    for (; directive != directives.end() && directive->code_index <= i; ++directive)
      matcher.directive(*directive);
    matcher.token(i);
  }
  matches_ = matcher.finish();
}

std::uint32_t Sequence::angle_open(std::uint32_t index) const {
  std::uint32_t open = 0;
  for (std::uint32_t i = index;; --i) {
    switch (kind(i)) {
      case TokenKind::greater:
        ++open;
        break;
      case TokenKind::less:
        if (--open == 0) return i;
        break;
      case TokenKind::close_paren:
      case TokenKind::close_bracket:
      case TokenKind::close_brace:
        if (match(i) == kNone) return kNone;
        i = match(i);
        break;
      case TokenKind::open_paren:
      case TokenKind::open_bracket:
      case TokenKind::open_brace:
      case TokenKind::semicolon:
      case TokenKind::launch:
        return kNone;
      default:
        break;
    }
    if (i == 0) return kNone;
  }
}

std::uint32_t Sequence::angle_close(std::uint32_t index) const {
  std::uint32_t open = 0;
  for (std::uint32_t i = index; i < size(); ++i) {
    const TokenKind kind = tokens_[i].kind;
    if (kind == TokenKind::less) ++open;
    if (kind == TokenKind::greater && --open == 0) return i;
    if (kind == TokenKind::semicolon || kind == TokenKind::launch || closes(kind)) return kNone;
    if (opens(kind)) {
      if (match(i) == kNone) return kNone;
      i = match(i);
    }
  }
  return kNone;
}

bool Sequence::touches_next(std::uint32_t index) const {
  if (index + 1 >= size()) return false;
  std::size_t position = tokens_[index].end;
  while (position < tokens_[index + 1].begin) {
    const std::size_t length = splice_length(file_.lexed.source, position);
    if (length == 0) return false;
    position += length;
  }
  return true;
}

std::string Sequence::piece(std::uint32_t index) const {
  if (!tokens_[index].closed)
    fail_at(index, "A quotation mark opens a text here that does not end on this line. Add the missing one.");
  std::string result = text(index);
  if (result.find('\n') != std::string::npos)
    fail_at(
        index,
        "A string of several lines cannot stand in a kernel's name or in the declaration of shared memory. "
        "Give it a name of its own first.");
  return result;
}

std::string Sequence::joined(std::uint32_t first, std::uint32_t last) const {
  std::string result;
  for (std::uint32_t i = first; i < last; ++i) {
    result += piece(i);
    if (i + 1 < last && !touches_next(i)) result += ' ';
  }
  return result;
}

std::string Sequence::line_breaks(std::uint32_t begin, std::uint32_t end) const {
  const std::string_view source = file_.lexed.source;
  std::string result;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (source[i] != '\n') continue;
    if (is_macro_) result += " \\";
    if (i > begin && source[i - 1] == '\r') result += '\r';
    result += '\n';
  }
  return result;
}

const Directive* Sequence::directive_in(std::uint32_t begin, std::uint32_t end) const {
  if (is_macro_) return nullptr;
  const auto& directives = file_.lexed.directives;
  const auto inside =
      std::partition_point(directives.begin(), directives.end(),
                           [&](const Directive& directive) { return directive.begin < begin; });
  return inside != directives.end() && inside->begin < end ? &*inside : nullptr;
}

bool Sequence::has_directive_between(std::uint32_t first, std::uint32_t last) const {
  return directive_in(tokens_[first].begin, tokens_[last].begin) != nullptr;
}

void Sequence::replace(std::uint32_t first, std::uint32_t last, std::string text) {
  const std::uint32_t begin = tokens_[first].begin;
  const std::uint32_t end = tokens_[last - 1].end;
  if (const Directive* inside = directive_in(begin, end))
    fail(file_, inside->begin,
         "A preprocessor directive stands in the middle of what has to be translated as one piece. "
         "Put whole statements between '#if' and '#endif'.");
  file_.edits.push_back({begin, end, std::move(text) + line_breaks(begin, end)});
}

void Sequence::insert(std::uint32_t index, std::string text) {
  file_.edits.push_back({tokens_[index].begin, tokens_[index].begin, std::move(text)});
}

void Sequence::append(std::uint32_t index, std::string text) {
  file_.edits.push_back({tokens_[index].end, tokens_[index].end, std::move(text)});
}

bool is_statement_word(const Sequence& sequence, std::uint32_t index) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "return", "else",    "do",  "throw", "co_return", "co_yield", "co_await", "case",
      "goto",   "default", "new", "and",   "or",        "not",      "if",       "while"};
  return sequence.is_one_of(index, kWords);
}

}  // namespace simt::rewriter
