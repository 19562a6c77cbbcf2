#include <algorithm>
#include <array>

#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

constexpr const char* kHowToLaunch = "A launch looks like kernel<<<blocks, threads>>>(arguments);";

bool is_control_word(const Sequence& tokens, std::uint32_t index) {
  static constexpr std::array<std::string_view, 6> kControls = {"if",     "while", "for",
                                                                "switch", "catch", "constexpr"};
  return tokens.is_one_of(index, kControls);
}

/// True for the `)` of `if (...)` and its like, behind which a statement begins.
bool ends_control(const Sequence& tokens, std::uint32_t close) {
  const std::uint32_t open = tokens.match(close);
  return open != kNone && open > 0 && is_control_word(tokens, open - 1);
}

/// Finds the first token of the expression that names the kernel in front of the `<<<` at `launch`: a name,
/// qualified and with template arguments; a parenthesised expression; or an element, member or call result
/// that is a function pointer.
class KernelName {
 public:
  KernelName(const Sequence& tokens, std::uint32_t launch) : tokens_(tokens), launch_(launch) {}

  std::uint32_t begin() const {
    std::uint32_t first = postfix_begin(launch_);
    // In kernel<4, D < 64><<<...>>> the list that the last '>' closes does not begin at the last '<'.
    for (std::uint32_t open = enclosing_angle(first); open != kNone; open = enclosing_angle(first)) {
      first = postfix_begin(open);
    }
    return first;
  }

 private:
  [[noreturn]] void no_name() const {
    tokens_.fail_at(launch_, std::string("There is no kernel name in front of '<<<'. ") + kHowToLaunch);
  }

  /// The first token of the postfix expression that ends in front of `end`.
  std::uint32_t postfix_begin(std::uint32_t end) const {
    std::uint32_t first = end;
    while (true) {
      if (first == 0) no_name();
      const std::uint32_t last = first - 1;
      switch (tokens_.kind(last)) {
        case TokenKind::word:
          if (is_statement_word(tokens_, last)) no_name();
          first = qualified_begin(last);
          break;
        case TokenKind::greater:
          first = tokens_.angle_open(last);
          if (first == kNone || first == 0 || tokens_.kind(first - 1) != TokenKind::word) no_name();
          continue;
        case TokenKind::close_bracket:
          first = tokens_.match(last);
          if (first == kNone) no_name();
          continue;
        case TokenKind::close_paren:
          first = tokens_.match(last);
          if (first == kNone) no_name();
          if (has_callee(first)) continue;
          break;
        default:
          no_name();
      }
      const TokenKind before = first == 0 ? TokenKind::other : tokens_.kind(first - 1);
      const bool joins = before == TokenKind::dot || before == TokenKind::arrow ||
                         before == TokenKind::paste ||
                         (before == TokenKind::scope && first > 1 && qualifies(first - 2));
      if (!joins) {
        if (before == TokenKind::scope) --first;
        return first;
      }
      --first;
    }
  }

  /// Steps over `template` in `traits::template kernel<T>`.
  std::uint32_t qualified_begin(std::uint32_t name) const {
    return name > 0 && tokens_.is(name - 1, "template") ? name - 1 : name;
  }

  bool qualifies(std::uint32_t index) const {
    if (tokens_.kind(index) == TokenKind::greater) return true;
    if (tokens_.kind(index) == TokenKind::close_paren)
      return tokens_.match(index) != kNone && has_callee(tokens_.match(index));
    return tokens_.kind(index) == TokenKind::word && !is_statement_word(tokens_, index);
  }

  /// True if the `(` at `open` belongs to a call, a cast or decltype, so that what is in front of it is part
  /// of the name.
  bool has_callee(std::uint32_t open) const {
    if (open == 0) return false;
    switch (tokens_.kind(open - 1)) {
      case TokenKind::word:
        return !is_statement_word(tokens_, open - 1) && !is_control_word(tokens_, open - 1);
      case TokenKind::greater:
      case TokenKind::close_bracket:
        return true;
      case TokenKind::close_paren:
        return !ends_control(tokens_, open - 1);
      default:
        return false;
    }
  }

  /// A `<` that is still open in front of `first` and follows a name, or kNone. No operator but a comma makes
  /// sense in front of a launch, so what looks like `a < b < kernel<...>` is a template argument list.
  std::uint32_t enclosing_angle(std::uint32_t first) const {
    std::uint32_t closed = 0;
    if (tokens_.kind(launch_ - 1) != TokenKind::greater) return kNone;
    for (std::uint32_t i = first; i-- > 0;) {
      switch (tokens_.kind(i)) {
        case TokenKind::close_paren:
        case TokenKind::close_bracket:
          if (tokens_.match(i) == kNone) return kNone;
          i = tokens_.match(i);
          break;
        case TokenKind::greater:
          ++closed;
          break;
        case TokenKind::less:
          if (closed == 0) return i > 0 && tokens_.kind(i - 1) == TokenKind::word ? i : kNone;
          --closed;
          break;
        case TokenKind::open_paren:
        case TokenKind::open_bracket:
        case TokenKind::open_brace:
        case TokenKind::close_brace:
        case TokenKind::semicolon:
        case TokenKind::colon:
        case TokenKind::question:
        case TokenKind::assign:
        case TokenKind::launch:
          return kNone;
        default:
          break;
      }
    }
    return kNone;
  }

  const Sequence& tokens_;
  std::uint32_t launch_;
};

struct Configuration {
  std::uint32_t close = kNone;  // the first '>' of '>>>'
  std::uint32_t arguments = 1;
  std::uint32_t empty_argument = kNone;  // the token in front of which an argument is missing
};

/// How many '>' follow each other directly from `index` on; '>> >' in front of arguments counts as three.
std::uint32_t run_of_greater(const Sequence& tokens, std::uint32_t index) {
  std::uint32_t end = index + 1;
  while (tokens.kind(end) == TokenKind::greater && tokens.touches_next(end - 1)) ++end;
  const bool third = end == index + 2 && tokens.kind(end) == TokenKind::greater;
  if (third && tokens.kind(end + 1) == TokenKind::open_paren) ++end;
  return end - index;
}

/// Finds the `>>>` of the launch at `launch`. With `templates`, a `<` behind a name opens a template argument
/// list unless what follows shows that it was a comparison; without, every `<` is a comparison.
Configuration scan_configuration(const Sequence& tokens, std::uint32_t launch, bool templates) {
  Configuration found;
  std::uint32_t angles = 0;
  for (std::uint32_t i = launch + 1; i < tokens.size(); ++i) {
    switch (tokens.kind(i)) {
      case TokenKind::open_paren:
      case TokenKind::open_bracket:
      case TokenKind::open_brace:
        if (tokens.match(i) == kNone) return found;
        i = tokens.match(i);
        break;
      case TokenKind::close_paren:
      case TokenKind::close_bracket:
      case TokenKind::close_brace:
      case TokenKind::semicolon:
      case TokenKind::launch:
        return found;
      case TokenKind::less:
        if (templates && tokens.kind(i - 1) == TokenKind::word) ++angles;
        break;
      case TokenKind::and_and:
      case TokenKind::or_or:
      case TokenKind::question:
        angles = 0;
        break;
      case TokenKind::comma:
        if (angles > 0) break;
        ++found.arguments;
        if (i == launch + 1 || tokens.kind(i - 1) == TokenKind::comma) found.empty_argument = i;
        break;
      case TokenKind::greater: {
        const std::uint32_t run = run_of_greater(tokens, i);
        if (run >= 3 && angles < run) {
          found.close = i + std::min(angles, run - 3);
          const bool nothing = found.close == launch + 1;
          if (nothing || tokens.kind(found.close - 1) == TokenKind::comma) found.empty_argument = found.close;
          return found;
        }
        angles -= std::min(angles, run);
        i += run - 1;
        break;
      }
      default:
        break;
    }
  }
  return found;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// The kernel's name as a string; in a macro, with the macro's arguments in place of its parameters.
std::string name_literal(const Sequence& tokens, std::uint32_t first, std::uint32_t last) {
  if (!tokens.has_parameters()) return quoted(tokens.joined(first, last));
  std::string result;
  std::uint32_t from = first;
  const auto add = [&](const std::string& piece) {
    if (!result.empty()) result += ' ';
    result += piece;
  };
  for (std::uint32_t i = first; i < last; ++i) {
    const bool paste = tokens.kind(i) == TokenKind::paste;
    if (!paste && !tokens.is_parameter(i)) continue;
    if (from < i) add(quoted(tokens.joined(from, i) + (paste || tokens.touches_next(i - 1) ? "" : " ")));
    if (!paste) add("#" + tokens.text(i));
    from = i + 1;
  }
  if (from < last) add(quoted(tokens.joined(from, last)));
  return result;
}

/// The bracket that closes the one at `index`; `index` itself if none begins there.
std::uint32_t past_brackets(const Sequence& tokens, std::uint32_t index) {
  const TokenKind kind = tokens.kind(index);
  const bool opens =
      kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace;
  return opens && tokens.match(index) != kNone ? tokens.match(index) : index;
}

/// Whether what looks like an argument may stand in a template argument list: past a '<' that touches a name
/// and is still open, and before a '>'.
bool may_lie_in_angles(const Sequence& tokens, std::uint32_t open, std::uint32_t argument,
                       std::uint32_t close) {
  std::uint32_t angles = 0;
  bool closed_later = false;
  for (std::uint32_t i = open + 1; i < close; ++i) {
    i = past_brackets(tokens, i);
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::less && i < argument && tokens.touches_next(i - 1)) ++angles;
    if (kind == TokenKind::greater && i < argument) angles -= std::min(angles, 1u);
    closed_later = closed_later || (kind == TokenKind::greater && i > argument);
  }
  return angles > 0 && closed_later;
}

/// The end of the launch argument that begins at `first`: its comma, or `close`.
std::uint32_t argument_end(const Sequence& tokens, std::uint32_t first, std::uint32_t close) {
  std::uint32_t i = first;
  for (; i < close && tokens.kind(i) != TokenKind::comma; ++i) i = past_brackets(tokens, i);
  return i;
}

/// Arguments that take their type from the parameter: `NULL`, a literal 0, which may be a pointer, and
/// braces. Where the parameter is known by then, braces see the host's variables; else they take copies
/// along. `kernel` asks for its type. Returns whether a literal 0 is among them.
bool translate_untyped_arguments(Sequence& tokens, std::uint32_t open, std::uint32_t close,
                                 const std::string& kernel) {
  bool any_zero = false;
  for (std::uint32_t first = open + 1, end = 0; first < close; first = end + 1) {
    end = argument_end(tokens, first, close);
    if (may_lie_in_angles(tokens, open, first, close)) continue;
    if (tokens.kind(first) == TokenKind::open_brace && tokens.match(first) == end - 1) {
      const std::string copied = "[=]<class simt_type>() mutable { return simt_type";
      if (tokens.has_directive_between(first, end - 1)) {  // which no second text could have
        tokens.insert(first, "::simt::braced(" + copied);
        tokens.append(end - 1, "; })");
      } else {
        tokens.insert(first, "::simt::braced([&](auto simt_known) { if constexpr (!simt_known) return " +
                                 copied + tokens.joined(first, end) +
                                 "; }; else return [&]<class simt_type>() { return simt_type");
        tokens.append(end - 1, "; }; }(::simt::is_known(" + kernel + ")))");
      }
    } else if (end == first + 1 && tokens.is(first, "NULL")) {
      tokens.replace(first, end, "nullptr");
    } else if (end == first + 1 && tokens.is(first, "0")) {
      tokens.replace(first, end, "::simt::Zero()");
      any_zero = true;
    }
  }
  return any_zero;
}

void check_configuration(const Sequence& tokens, std::uint32_t launch, const Configuration& configuration) {
  if (configuration.close == kNone)
    tokens.fail_at(launch, std::string("This '<<<' has no matching '>>>'. ") + kHowToLaunch);
  if (configuration.close == launch + 1)
    tokens.fail_at(launch, std::string("The launch configuration '<<<>>>' is empty. ") + kHowToLaunch);
  if (configuration.empty_argument != kNone)
    tokens.fail_at(
        configuration.empty_argument,
        std::string("A value is missing beside a comma in this launch configuration. ") + kHowToLaunch);
  if (configuration.arguments > 4)
    tokens.fail_at(
        launch,
        "This launch configuration has " + std::to_string(configuration.arguments) +
            " values; at most 4 are allowed: blocks, threads, bytes of dynamic shared memory, stream.");
}

void rewrite_launch(Sequence& tokens, std::uint32_t launch) {
  const std::uint32_t first = KernelName(tokens, launch).begin();
  if (tokens.is(first, "this") && tokens.kind(first + 1) == TokenKind::arrow && first + 3 == launch &&
      std::binary_search(tokens.file().kernels.begin(), tokens.file().kernels.end(), tokens.text(first + 2)))
    tokens.fail_at(first,
                   "A kernel is not a member of a class, so it has no 'this->'. Launch it by its own name: " +
                       tokens.text(first + 2) + "<<<blocks, threads>>>(arguments);");

  Configuration configuration = scan_configuration(tokens, launch, true);
  if (configuration.close == kNone) configuration = scan_configuration(tokens, launch, false);
  check_configuration(tokens, launch, configuration);

  const std::uint32_t open = configuration.close + 3;
  if (tokens.kind(open) != TokenKind::open_paren)
    tokens.fail_at(configuration.close, std::string("The kernel's arguments are missing after '>>>'; "
                                                    "a kernel without arguments needs '()'. ") +
                                            kHowToLaunch);
  const std::uint32_t close = tokens.match(open);
  if (close == kNone)
    tokens.fail_at(open, "The '(' of this launch's argument list is never closed. Add the missing ')'.");

  const std::string name = tokens.joined(first, launch);
  for (std::uint32_t i = first; i < launch; ++i)
    if (tokens.kind(i) == TokenKind::launch)
      tokens.fail_at(i, "A launch stands inside the name of another kernel. Split this statement into two.");

  tokens.replace(first, launch, "::simt::launch(" + name_literal(tokens, first, launch) + ", ");
  tokens.replace(launch, launch + 1, "::simt::LaunchConfig(");
  const std::string known = "simt_kernel(" + name + ")", call = name + "(simt_args...);",
                    kernel = "[&](auto simt_kernel) -> decltype(" + known + ") { return " + known + "; }",
                    numbers = name + "(::simt::as_number(simt_args)...)";
  const bool zero = translate_untyped_arguments(tokens, open, close, kernel);
  tokens.replace(configuration.close, open,
                 "), " + kernel + ", [&](auto&... simt_args) { " +
                     (zero ? "if constexpr (requires { " + numbers + "; }) " + numbers + "; else " : "") +
                     call + " })");
}

}  // namespace

void uncast_kernels(Sequence& sequence) {
  // node.func = (void*)kernel;
  for (std::uint32_t i = 1; i + 5 < sequence.size(); ++i) {
    const bool member = sequence.kind(i - 1) == TokenKind::dot || sequence.kind(i - 1) == TokenKind::arrow;
    const std::uint32_t open = i + 2, close = i + 5;
    if (member && sequence.is(i, "func") && sequence.kind(i + 1) == TokenKind::assign &&
        sequence.kind(open) == TokenKind::open_paren && sequence.is(open + 1, "void") &&
        sequence.kind(open + 2) == TokenKind::star && sequence.match(open) == close)
      sequence.replace(open, close + 1, "");
  }
  static constexpr std::array<std::string_view, 2> kFunctions = {"cudaLaunchKernel",
                                                                 "cudaLaunchCooperativeKernel"};
  for (std::uint32_t i = 0; i + 6 < sequence.size(); ++i) {
    if (!sequence.is_one_of(i, kFunctions) || sequence.kind(i + 1) != TokenKind::open_paren) continue;
    const bool by_name = sequence.is(i + 2, "reinterpret_cast");
    const std::uint32_t open = by_name ? i + 3 : i + 2,
                        type = sequence.is(open + 1, "const") ? open + 2 : open + 1;
    if (by_name && sequence.kind(open) == TokenKind::less && sequence.is(type, "void") &&
        sequence.kind(type + 1) == TokenKind::star && sequence.kind(type + 2) == TokenKind::greater)
      sequence.replace(i + 2, type + 3, "");
    if (sequence.kind(open) == TokenKind::open_paren && sequence.is(type, "void") &&
        sequence.kind(type + 1) == TokenKind::star && sequence.match(open) == type + 2)
      sequence.replace(open, type + 3, "");
  }
}

void rewrite_launches(Sequence& sequence) {
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    // operator<<<T>(out, x) is a call of operator<< with its template argument.
    if (sequence.kind(i) == TokenKind::launch && (i == 0 || !sequence.is(i - 1, "operator")))
      rewrite_launch(sequence, i);
  }
}

}  // namespace simt::rewriter
