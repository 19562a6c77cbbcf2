// Which side a function of the file is for: nvcc takes one without a word that says so for the host alone.

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

/// A function that the file defines.
struct Definition {
  std::uint32_t name, body = kNone;
  bool device = false, kernel = false;  // as its head says
  bool certain = true;                  // nothing in its head could say more: no macro, no constexpr
};

/// Whether it may be a macro that stands for other words: one of the file's, or by its spelling.
bool may_be_macro(const Sequence& tokens, std::uint32_t index) {
  const std::string text = tokens.text(index);
  const std::vector<std::string>& macros = tokens.file().macros;
  if (std::binary_search(macros.begin(), macros.end(), text)) return true;
  return text.size() > 1 &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::islower(c); });
}

/// What the head that begins at `begin`, of the `{` at `brace`, defines; nothing if that is no function.
std::optional<Definition> read_head(const Sequence& tokens, std::uint32_t begin, std::uint32_t brace) {
  static constexpr std::array<std::string_view, 5> kOthers = {"namespace", "operator", "struct", "class",
                                                              "enum"};
  Definition found{kNone};
  for (std::uint32_t i = begin; i < brace; ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::less && tokens.angle_close(i) != kNone) {
      i = tokens.angle_close(i);
    } else if (kind == TokenKind::open_bracket && tokens.match(i) != kNone) {
      i = tokens.match(i);
    } else if (kind == TokenKind::assign || kind == TokenKind::colon) {
      return std::nullopt;
    } else if (kind == TokenKind::open_paren) {
      const bool named =
          i > begin && tokens.kind(i - 1) == TokenKind::word && tokens.kind(i - 2) != TokenKind::scope;
      if (!named || tokens.match(i) == kNone) return std::nullopt;
      found.name = i - 1;
      found.body = brace;
      return found;
    } else if (kind == TokenKind::word) {
      if (is_attribute_word(tokens, i) && tokens.match(i + 1) != kNone) {
        i = tokens.match(i + 1);
        continue;
      }
      if (tokens.is_one_of(i, kOthers)) return std::nullopt;
      found.kernel = found.kernel || tokens[i].word == Word::global;
      found.device = found.device || found.kernel || tokens.is(i, "__device__");
      const bool is_name = tokens.kind(i + 1) == TokenKind::open_paren;
      if (!is_name && (may_be_macro(tokens, i) || tokens.is(i, "constexpr") || tokens.is(i, "consteval")))
        found.certain = false;
    }
  }
  return std::nullopt;
}

bool opens_namespace(const Sequence& tokens, std::uint32_t brace) {
  if (tokens.kind(brace - 1) == TokenKind::literal) return true;  // extern "C" {
  for (std::uint32_t i = head_begin(tokens, brace); i < brace; ++i)
    if (tokens.is(i, "namespace")) return true;
  return false;
}

/// The functions that are defined between the tokens `first` and `last`, without a look into them: those of
/// classes, or the others.
void collect(const Sequence& tokens, std::uint32_t first, std::uint32_t last, bool members,
             std::vector<Definition>& found, bool in_class = false) {
  for (std::uint32_t i = first; i < last; ++i) {
    if (tokens.kind(i) != TokenKind::open_brace || tokens.match(i) == kNone) continue;
    if (i > 0 && opens_namespace(tokens, i)) continue;  // look inside
    const std::uint32_t close = tokens.match(i);
    if (i > 0 && !holds_statements(tokens, i)) {
      if (members) collect(tokens, i + 1, close, true, found, true);
    } else if (const auto one = read_head(tokens, head_begin(tokens, i), i); one && members == in_class) {
      found.push_back(*one);
    }
    i = close;
  }
}

std::vector<Definition> definitions_in(const Sequence& tokens) {
  std::vector<Definition> found;
  collect(tokens, 0, tokens.size(), false, found);
  return found;
}

std::vector<Definition> members_in(const Sequence& tokens) {
  std::vector<Definition> found;
  collect(tokens, 0, tokens.size(), true, found);
  return found;
}

/// Names of functions that one of the definitions has, and no other declaration of the file: not one that
/// `counts` leaves out, and no variable or parameter.
template <class Counts>
std::vector<Definition> only(const Sequence& tokens, const std::vector<Definition>& all, Counts counts) {
  std::vector<Definition> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Definition& one) { return one.certain && counts(one); });
  std::erase_if(found, [&](const Definition& one) {
    const std::string name = tokens.text(one.name);
    if (may_be_macro(tokens, one.name)) return true;
    for (const Definition& other : all)
      if (other.name != one.name && tokens.is(other.name, name) && !(other.certain && counts(other)))
        return true;
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
      if (tokens.kind(i) != TokenKind::word || !tokens.is(i, name) || !looks_declared(tokens, i)) continue;
      const bool defined =
          std::any_of(all.begin(), all.end(), [&](const Definition& other) { return other.name == i; });
      if (!defined) return true;
    }
    return false;
  });
  return found;
}

const Definition* named(const Sequence& tokens, const std::vector<Definition>& some, std::uint32_t index) {
  const auto found = std::find_if(some.begin(), some.end(), [&](const Definition& one) {
    return tokens.is(one.name, tokens.text(index));
  });
  return found == some.end() ? nullptr : &*found;
}

std::string line_of(const Sequence& tokens, std::uint32_t index) {
  const std::string_view before = tokens.file().lexed.source.substr(0, tokens[index].begin);
  return std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

/// Whether the word at `index` is called there, and is nothing's member.
bool is_call(const Sequence& tokens, std::uint32_t index) {
  const TokenKind before = tokens.kind(index - 1);
  if (before == TokenKind::dot || before == TokenKind::arrow || before == TokenKind::scope) return false;
  std::uint32_t behind = index + 1;
  if (tokens.kind(behind) == TokenKind::less) {
    behind = tokens.angle_close(behind);
    if (behind == kNone) return false;
    ++behind;
  }
  return tokens.kind(behind) == TokenKind::open_paren;
}

/// The name in front of a launch, template arguments left out; kNone if it is none.
std::uint32_t launched(const Sequence& tokens, std::uint32_t launch) {
  std::uint32_t name = launch - 1;
  if (tokens.kind(name) == TokenKind::greater) {
    name = tokens.angle_open(name);
    if (name == kNone || name == 0) return kNone;
    --name;
  }
  return tokens.kind(name) == TokenKind::word ? name : kNone;
}

/// The `{` of the lambda whose capture begins at `open`, if it is for the host alone; else kNone.
std::uint32_t body_of_host_lambda(const Sequence& tokens, std::uint32_t open) {
  static constexpr std::array<std::string_view, 4> kNotAlone = {"__device__", "__host__", "constexpr",
                                                                "consteval"};
  if (open == 0 || tokens.kind(open) != TokenKind::open_bracket || tokens.match(open) == kNone) return kNone;
  const TokenKind before = tokens.kind(open - 1);
  const bool is_index = before == TokenKind::close_paren || before == TokenKind::close_bracket ||
                        before == TokenKind::open_bracket || before == TokenKind::greater ||
                        (before == TokenKind::word && !is_statement_word(tokens, open - 1));
  if (is_index || tokens.kind(open + 1) == TokenKind::open_bracket) return kNone;
  bool has_parameters = false;
  for (std::uint32_t i = tokens.match(open) + 1; i < tokens.size(); ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::open_brace) return tokens.match(i) == kNone ? kNone : i;
    if (tokens.is_one_of(i, kNotAlone)) return kNone;
    if (kind == TokenKind::open_paren && tokens.match(i) != kNone && !has_parameters) {
      i = tokens.match(i);
      has_parameters = true;
    } else if (kind == TokenKind::less && tokens.angle_close(i) != kNone) {
      i = tokens.angle_close(i);
    } else if (kind != TokenKind::word && kind != TokenKind::arrow && kind != TokenKind::scope &&
               kind != TokenKind::star && kind != TokenKind::ampersand) {
      return kNone;
    }
  }
  return kNone;
}

/// Whether its `{` begins statements for sure, and no initialiser of a constructor's.
bool begins_body(const Sequence& tokens, const Definition& one) {
  const std::uint32_t close = tokens.match(one.name + 1);
  for (std::uint32_t i = close + 1; i < one.body; ++i)
    if (tokens.kind(i) == TokenKind::colon || tokens.is(i, "requires")) return false;
  return close != kNone;
}

}  // namespace

void guard_host_functions(Sequence& sequence, const DeclaredElsewhere& elsewhere) {
  const auto guard = [&](std::uint32_t body, const std::string& name) {
    sequence.append(body, " ::simt::host_function(\"" + name + ", which has no __device__\");");
  };
  const std::vector<Definition> alone =
      only(sequence, definitions_in(sequence), [](const Definition& one) { return !one.device; });
  const auto is_alone = [&](const Definition& one) {
    const auto is_it = [&](const Definition& other) { return other.body == one.body; };
    return std::any_of(alone.begin(), alone.end(), is_it) &&
           !(elsewhere && elsewhere(sequence.text(one.name)));
  };
  // Whatever else declares it: a kernel of a lesson launches nothing.
  const auto launches = [&](const Definition& one) {
    for (std::uint32_t i = one.body; i < sequence.match(one.body); ++i)
      if (sequence.kind(i) == TokenKind::launch) return true;
    return false;
  };
  std::vector<Definition> for_host = members_in(sequence);
  for (const Definition& one : definitions_in(sequence))
    if (is_alone(one) || launches(one)) for_host.push_back(one);
  for (const Definition& one : for_host) {
    if (one.device || !one.certain || may_be_macro(sequence, one.name) || !begins_body(sequence, one))
      continue;
    guard(one.body, sequence.text(one.name) + "()");
    for (std::uint32_t i = one.body; i < sequence.match(one.body); ++i)
      if (const std::uint32_t body = body_of_host_lambda(sequence, i); body != kNone) guard(body, "a lambda");
  }
}

void check_sides(const Sequence& sequence, const DeclaredElsewhere& elsewhere) {
  const std::vector<Definition> all = definitions_in(sequence);
  const auto for_host = only(sequence, all, [](const Definition& one) { return !one.device; });
  const auto no_kernels = only(sequence, all, [](const Definition& one) { return !one.kernel; });
  const auto refused = [&](const std::vector<Definition>& some, std::uint32_t name) {
    const Definition* const one = named(sequence, some, name);
    return one == nullptr || (elsewhere && elsewhere(sequence.text(name))) ? nullptr : one;
  };
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence.kind(i) == TokenKind::launch) {
      const std::uint32_t name = launched(sequence, i);
      if (const Definition* const one = name == kNone ? nullptr : refused(no_kernels, name))
        sequence.fail_at(i, "Only a kernel can be launched, and " + sequence.text(name) + ", on line " +
                                line_of(sequence, one->name) + ", has no __global__ in front.");
      continue;
    }
    const std::uint32_t body = device_body(sequence, i);
    if (body == kNone) continue;
    const bool kernel = sequence[i].word == Word::global;
    for (std::uint32_t k = body; k < sequence.match(body); ++k) {
      if (sequence.kind(k) != TokenKind::word || !is_call(sequence, k)) continue;
      if (const Definition* const one = refused(for_host, k))
        sequence.fail_at(k, sequence.text(k) + " is for the host alone, and nvcc refuses it in " +
                                (kernel ? "a kernel" : "a __device__ function") +
                                ": write __device__ in front of it, on line " + line_of(sequence, one->name) +
                                ".");
    }
  }
}

}  // namespace simt::rewriter
