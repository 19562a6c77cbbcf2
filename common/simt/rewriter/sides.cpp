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

/// A function that the file defines outside of classes.
struct Definition {
  std::uint32_t name;
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

std::vector<Definition> definitions_in(const Sequence& tokens) {
  std::vector<Definition> all;
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    if (tokens.kind(i) != TokenKind::open_brace || tokens.match(i) == kNone) continue;
    if (i > 0 && opens_namespace(tokens, i)) continue;  // look inside
    if (const std::optional<Definition> one = read_head(tokens, head_begin(tokens, i), i))
      all.push_back(*one);
    i = tokens.match(i);
  }
  return all;
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

}  // namespace

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
