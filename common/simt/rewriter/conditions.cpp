#include "simt/rewriter/conditions.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

namespace simt::rewriter {
namespace {

/// A condition's value; empty when it depends on something that is not known here.
using Value = std::optional<long long>;

/// A macro's value where that is known; 0 for one that is not defined. `architecture` is that of the place.
Value value_of(std::string_view name, int architecture) {
  if (name == "__CUDA_ARCH__") return architecture;
  if (name == "__SIMT__") return 1;
  return std::nullopt;
}

/// Whether a macro is defined, where that is known.
Value is_defined(std::string_view name, int architecture) {
  const Value value = value_of(name, architecture);
  return value ? Value(*value != 0) : std::nullopt;
}

/// Evaluates `#if` expressions over literals, `__CUDA_ARCH__`, `defined`, `!`, `&&`, `||`, comparisons and
/// parentheses. Whatever else occurs makes the value unknown, so a mistake here can only lead to code being
/// judged that need not be.
class Condition {
 public:
  Condition(std::string_view source, std::span<const Token> tokens, int architecture)
      : source_(source), tokens_(tokens), architecture_(architecture) {}

  Value evaluate() {
    const Value value = either();
    return next_ == tokens_.size() && understood_ ? value : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 64;  // nested parentheses; a deeper condition counts as unknown

  bool take(TokenKind kind) {
    if (next_ == tokens_.size() || tokens_[next_].kind != kind) return false;
    ++next_;
    return true;
  }

  Value either() {
    Value left = both();
    while (take(TokenKind::or_or)) {
      const Value right = both();
      if ((left && *left != 0) || (right && *right != 0)) {
        left = 1;
      } else {
        left = left && right ? Value(0) : std::nullopt;
      }
    }
    return left;
  }

  Value both() {
    Value left = comparison();
    while (take(TokenKind::and_and)) {
      const Value right = comparison();
      if ((left && *left == 0) || (right && *right == 0)) {
        left = 0;
      } else {
        left = left && right ? Value(1) : std::nullopt;
      }
    }
    return left;
  }

  Value comparison() {
    const Value left = operand();
    if (next_ == tokens_.size()) return left;
    const std::string sign = clean_text(source_, tokens_[next_]);
    if (sign != "<" && sign != ">" && sign != "<=" && sign != ">=" && sign != "==" && sign != "!=")
      return left;
    ++next_;
    const Value right = operand();
    if (!left || !right) return std::nullopt;
    if (sign == "<") return *left < *right;
    if (sign == ">") return *left > *right;
    if (sign == "<=") return *left <= *right;
    if (sign == ">=") return *left >= *right;
    return sign == "==" ? *left == *right : *left != *right;
  }

  /// Arithmetic is stepped over, not computed.
  Value operand() {
    Value value = unary();
    while (next_ < tokens_.size() && is_arithmetic(tokens_[next_])) {
      ++next_;
      unary();
      value = std::nullopt;
    }
    return value;
  }

  bool is_arithmetic(const Token& token) const {
    if (token.kind == TokenKind::star || token.kind == TokenKind::ampersand) return true;
    const std::string text = clean_text(source_, token);
    return text == "+" || text == "-" || text == "/" || text == "%" || text == "<<" || text == "|" ||
           text == "^";
  }

  Value unary() {
    bool negated = false;
    bool inverted = false;
    while (take(TokenKind::not_sign)) {
      negated = true;
      inverted = !inverted;
    }
    const Value value = primary();
    if (!value || !negated) return value;
    return (*value != 0) != inverted ? 1 : 0;
  }

  Value primary() {
    if (next_ == tokens_.size()) return give_up();
    const Token token = tokens_[next_++];
    const std::string text = clean_text(source_, token);
    if (token.kind == TokenKind::open_paren && depth_ < kDeepest) {
      ++depth_;
      const Value value = either();
      --depth_;
      return take(TokenKind::close_paren) ? value : give_up();
    }
    if (token.kind == TokenKind::number) return number(text);
    if (token.kind != TokenKind::word) return give_up();
    if (text == "true" || text == "false") return text == "true" ? 1 : 0;
    if (text != "defined") {
      const bool is_call = next_ < tokens_.size() && tokens_[next_].kind == TokenKind::open_paren;
      return is_call ? call() : value_of(text, architecture_);
    }
    const bool parenthesised = take(TokenKind::open_paren);
    if (next_ == tokens_.size() || tokens_[next_].kind != TokenKind::word) return give_up();
    const Value value = is_defined(clean_text(source_, tokens_[next_++]), architecture_);
    if (parenthesised && !take(TokenKind::close_paren)) return give_up();
    return value;
  }

  /// Skips the arguments of an unknown function-like macro.
  Value call() {
    int open = 0;
    while (next_ < tokens_.size()) {
      const TokenKind kind = tokens_[next_++].kind;
      if (kind == TokenKind::open_paren) ++open;
      if (kind == TokenKind::close_paren && --open == 0) return std::nullopt;
    }
    return give_up();
  }

  static Value number(const std::string& text) {
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool octal_or_hex = text.size() > 1 && text[0] == '0';
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const bool plain = suffix.find_first_not_of("uUlL") == std::string_view::npos;
    return error == std::errc() && plain && !octal_or_hex ? Value(value) : std::nullopt;
  }

  Value give_up() {
    understood_ = false;
    next_ = tokens_.size();
    return std::nullopt;
  }

  std::string_view source_;
  std::span<const Token> tokens_;
  int architecture_;
  std::size_t next_ = 0;
  int depth_ = 0;
  bool understood_ = true;
};

/// One `#if` ... `#endif` on the way through the file.
struct Conditional {
  bool parent_live;
  bool settled;  // a condition before was true for sure, so the groups that follow are dead
  bool live;     // the current group
};

Value condition_of(const Lexed& file, const Directive& directive) {
  const auto tokens = std::span(file.directive_tokens)
                          .subspan(directive.first_token, directive.last_token - directive.first_token);
  const bool device =
      std::any_of(file.device_code.begin(), file.device_code.end(), [&](const Stretch& stretch) {
        return stretch.begin <= directive.begin && directive.begin < stretch.end;
      });
  const int architecture = device ? file.architecture : 0;
  const auto defined = [&]() -> Value {
    return tokens.size() == 1 ? is_defined(clean_text(file.source, tokens[0]), architecture) : std::nullopt;
  };
  switch (directive.kind) {
    case DirectiveKind::if_:
    case DirectiveKind::elif:
      return Condition(file.source, tokens, architecture).evaluate();
    case DirectiveKind::ifdef:
    case DirectiveKind::elifdef:
      return defined();
    case DirectiveKind::ifndef:
    case DirectiveKind::elifndef: {
      const Value value = defined();
      return value ? Value(*value == 0) : std::nullopt;
    }
    default:
      return 1;  // #else
  }
}

}  // namespace

void drop_dead_code(Lexed& file) {
  std::vector<Conditional> open;
  std::vector<Token> kept;
  bool live = true;
  bool dropped_any = false;
  std::uint32_t from = 0;  // first code token since the last directive
  const auto keep_until = [&](std::uint32_t to) {
    if (!live) {
      if (!dropped_any) kept.assign(file.code.begin(), file.code.begin() + from);
      dropped_any = true;
    } else if (dropped_any) {
      kept.insert(kept.end(), file.code.begin() + from, file.code.begin() + to);
    }
    from = to;
  };
  for (Directive& directive : file.directives) {
    keep_until(directive.code_index);
    directive.code_index = dropped_any ? static_cast<std::uint32_t>(kept.size()) : directive.code_index;
    switch (directive.kind) {
      case DirectiveKind::if_:
      case DirectiveKind::ifdef:
      case DirectiveKind::ifndef: {
        const Value value = condition_of(file, directive);
        const bool parent = live;
        live = parent && value.value_or(1) != 0;
        open.push_back({parent, value.value_or(0) != 0, live});
        break;
      }
      case DirectiveKind::elif:
      case DirectiveKind::elifdef:
      case DirectiveKind::elifndef:
      case DirectiveKind::else_: {
        if (open.empty()) break;
        Conditional& current = open.back();
        const Value value = condition_of(file, directive);
        live = current.live = current.parent_live && !current.settled && value.value_or(1) != 0;
        current.settled |= value.value_or(0) != 0;
        break;
      }
      case DirectiveKind::endif:
        if (open.empty()) break;
        live = open.back().parent_live;
        open.pop_back();
        break;
      default:
        break;
    }
    directive.live = live;
  }
  keep_until(static_cast<std::uint32_t>(file.code.size()));
  if (dropped_any) file.code = std::move(kept);
}

}  // namespace simt::rewriter
