#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

using Words = std::vector<std::string>;

void add(Words& words, std::string word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
}

bool is_access(const Sequence& tokens, std::uint32_t index) {
  return tokens.kind(index) == TokenKind::dot || tokens.kind(index) == TokenKind::arrow;
}

/// A word that is a variable's name there, and not a member's.
bool is_variable(const Sequence& tokens, std::uint32_t index) {
  return tokens.kind(index) == TokenKind::word && !is_access(tokens, index - 1) &&
         tokens.kind(index - 1) != TokenKind::scope;
}

std::uint32_t behind_template_arguments(const Sequence& tokens, std::uint32_t index) {
  const bool open = tokens.kind(index) == TokenKind::less && tokens.angle_close(index) != kNone;
  return open ? tokens.angle_close(index) + 1 : index;
}

/// `reinterpret_cast<T*>(pointer)` or `static_cast<T*>(pointer)`, both names alone.
struct Cast {
  std::string class_name;  // "Tiles" of ns::Tiles<32>*; empty if that is no cast to a class
  std::string target;      // T
  std::uint32_t pointer = kNone;
};

Cast read_cast(const Sequence& tokens, std::uint32_t begin) {
  static constexpr std::array<std::string_view, 2> kCasts = {"reinterpret_cast", "static_cast"};
  if (tokens.kind(begin) != TokenKind::word || !tokens.is_one_of(begin, kCasts)) return {};
  const std::uint32_t end = behind_template_arguments(tokens, begin + 1);
  if (end == begin + 1 || tokens.kind(end) != TokenKind::open_paren) return {};
  const std::uint32_t star = end - 2;
  if (tokens.kind(star) != TokenKind::star || star == begin + 2) return {};
  Cast cast;
  cast.target = tokens.joined(begin + 2, star);
  for (std::uint32_t i = begin + 2; i < star; i = behind_template_arguments(tokens, i + 1))
    if (tokens.kind(i) == TokenKind::word && !tokens.is(i, "const")) cast.class_name = tokens.text(i);
  if (tokens.kind(end + 1) == TokenKind::word && tokens.match(end) == end + 2) cast.pointer = end + 1;
  return cast;
}

/// What functions of the file call an object of that class that they get by reference or pointer.
Words parameters_of_class(const Sequence& tokens, const std::string& class_name) {
  Words names;
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    if (tokens.kind(i) != TokenKind::word || !tokens.is(i, class_name)) continue;
    std::uint32_t mark = behind_template_arguments(tokens, i + 1);
    while (tokens.is(mark, "const")) ++mark;
    if (tokens.kind(mark) != TokenKind::ampersand && tokens.kind(mark) != TokenKind::star) continue;
    const TokenKind behind = tokens.kind(mark + 2);
    if (tokens.kind(mark + 1) == TokenKind::word &&
        (behind == TokenKind::comma || behind == TokenKind::close_paren))
      add(names, tokens.text(mark + 1));
  }
  return names;
}

/// "SIMT_NAME_MEMBER(smem, ., K); " for each K that the file writes as `object.K` or `object->K`, whatever it
/// is: the compiler knows whether it is a member. `objects`: what the object is called, here and in other
/// functions.
std::string member_names(const Sequence& tokens, const std::string& variable, const Words& objects) {
  Words members;
  std::string access;
  for (std::uint32_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!is_variable(tokens, i) || !is_access(tokens, i + 1) || tokens.kind(i + 2) != TokenKind::word)
      continue;
    if (tokens.is(i + 2, "template") || tokens.is(i + 2, "operator")) continue;
    const std::string object = tokens.text(i);
    if (std::find(objects.begin(), objects.end(), object) == objects.end()) continue;
    if (access.empty() || object == variable) access = tokens.text(i + 1);
    add(members, tokens.text(i + 2));
  }
  std::string names;
  for (const std::string& member : members)
    names += "SIMT_NAME_MEMBER(" + variable + ", " + access + ", " + member + "); ";
  return names;
}

/// Names the members of what the cast makes of its pointer, by the first of the object's names.
void name_target(Sequence& tokens, const Cast& cast, const Words& objects) {
  if (objects.empty()) return;
  std::string members = member_names(tokens, objects.front(), objects);
  if (members.empty()) return;
  members.resize(members.size() - 2);
  tokens.insert(cast.pointer, "SIMT_SEEN_AS(");
  tokens.append(cast.pointer, ", " + objects.front() + ", " + members + ", " + cast.target + ")");
}

/// True if the name at `index` is that of a parameter, `void* name`, the nearest declaration in front of it.
bool is_void_parameter(const Sequence& tokens, std::uint32_t index) {
  const std::string name = tokens.text(index);
  for (std::uint32_t i = index; i-- > 2;) {
    if (tokens.kind(i) != TokenKind::word || !tokens.is(i, name)) continue;
    const TokenKind behind = tokens.kind(i + 1);
    if (behind == TokenKind::open_bracket && tokens.match(i + 1) == i + 2) return false;  // name[]
    if ((behind == TokenKind::comma || behind == TokenKind::close_paren) &&
        tokens.kind(i - 1) == TokenKind::star && tokens.is(i - 2, "void"))
      return true;
  }
  return false;
}

/// The declarations of one statement, `type a = x, *b = y;`: those that have a value.
struct Variable {
  std::uint32_t name;
  std::uint32_t value;  // the tokens [value, end)
  std::uint32_t end;
};

/// The variable that [first, end) declares; `type`: it begins with a type and is not a further declarator.
bool read_variable(const Sequence& tokens, std::uint32_t first, std::uint32_t end, bool type,
                   Variable& found) {
  std::uint32_t assign = first;
  for (; assign < end && tokens.kind(assign) != TokenKind::assign; ++assign)
    if (const TokenKind kind = tokens.kind(assign);
        (kind == TokenKind::open_paren || kind == TokenKind::open_bracket) && tokens.match(assign) != kNone)
      assign = tokens.match(assign);
  if (assign >= end) return false;
  bool may_refer = false;
  for (std::uint32_t i = first; i < assign; ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::dot || kind == TokenKind::arrow || kind == TokenKind::other) return false;
    may_refer |= kind == TokenKind::star || kind == TokenKind::ampersand || tokens.is(i, "auto");
  }
  std::uint32_t name = kNone;
  if (type) {
    if (tokens.kind(first) == TokenKind::word && may_refer) name = declared_name(tokens, first, assign);
  } else if (tokens.kind(assign - 1) == TokenKind::word) {
    name = assign - 1;
  }
  found = {name, assign + 1, end};
  return name != kNone;
}

/// All variables with a value that the statement [first, end) declares; none if it is no declaration.
std::vector<Variable> read_variables(const Sequence& tokens, std::uint32_t first, std::uint32_t end) {
  static constexpr std::array<std::string_view, 8> kOthers = {"for",    "switch", "using",         "typedef",
                                                              "extern", "goto",   "static_assert", "delete"};
  std::vector<Variable> variables;
  if (first >= end || is_statement_word(tokens, first) || tokens.is_one_of(first, kOthers)) return variables;
  for (std::uint32_t i = first, begin = first; i <= end; ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace) {
      if (tokens.match(i) == kNone) return variables;
      i = tokens.match(i);
    } else if (kind == TokenKind::less && tokens.angle_close(i) != kNone) {
      i = tokens.angle_close(i);
    } else if (i == end || kind == TokenKind::comma) {
      Variable variable{};
      if (read_variable(tokens, begin, i, begin == first, variable))
        variables.push_back(variable);
      else if (begin == first)
        return variables;
      begin = i + 1;
    }
  }
  return variables;
}

/// Finds views in the order of the text, so that what is made of a view is one, too.
class Views {
 public:
  Views(Sequence& tokens, Words memory) : tokens_(tokens), names_(memory.begin(), memory.end()) {}

  /// The statement [first, end), which a ';' ends.
  void statement(std::uint32_t first, std::uint32_t end) {
    if (tokens_.has_directive_between(first, end)) return;
    std::string names;
    for (const Variable& variable : read_variables(tokens_, first, end)) {
      if (!is_of_memory(variable.value, variable.end)) continue;
      const std::string name = tokens_.text(variable.name);
      names_.insert(name);
      Words objects = {name};
      for (std::uint32_t i = variable.value; i < variable.end; ++i) {
        const Cast cast = read_cast(tokens_, i);
        if (cast.pointer == kNone) continue;
        declared_.insert(cast.pointer);
        for (std::string& object : parameters_of_class(tokens_, cast.class_name)) add(objects, object);
      }
      const std::string members = member_names(tokens_, name, objects);
      names += members.empty() ? "SIMT_NAME_VIEW(" + name + "); " : members;
    }
    if (names.empty()) return;
    names.pop_back();
    tokens_.append(end, " " + names);
  }

  /// A cast that stands behind no name, as in `attend(*reinterpret_cast<Tiles*>(memory))`: the object is
  /// called what the function that gets it calls it.
  void cast(std::uint32_t index) {
    const Cast cast = read_cast(tokens_, index);
    if (cast.pointer == kNone || declared_.contains(cast.pointer) ||
        !names_.contains(tokens_.text(cast.pointer)))
      return;
    name_target(tokens_, cast, parameters_of_class(tokens_, cast.class_name));
  }

 private:
  bool is_of_memory(std::uint32_t first, std::uint32_t end) const {
    for (std::uint32_t i = first; i < end; ++i)
      if (is_variable(tokens_, i) && names_.contains(tokens_.text(i))) return true;
    return false;
  }

  Sequence& tokens_;
  std::set<std::string> names_;       // of dynamic shared memory and of the views so far
  std::set<std::uint32_t> declared_;  // the pointers of casts that declarations name
};

}  // namespace

void name_views(Sequence& sequence, std::vector<std::string> memory, std::uint32_t first,
                std::uint32_t last) {
  Views views(sequence, std::move(memory));
  std::vector<std::uint32_t> closing;  // of the brackets around the token
  std::uint32_t begin = first;         // of the statement
  for (std::uint32_t i = first; i < last && i < sequence.size(); ++i) {
    while (!closing.empty() && closing.back() <= i) closing.pop_back();
    switch (sequence.kind(i)) {
      case TokenKind::open_paren:
      case TokenKind::open_bracket:
      case TokenKind::open_brace:
        if (sequence.match(i) != kNone) closing.push_back(sequence.match(i));
        if (sequence.kind(i) == TokenKind::open_brace) begin = i + 1;
        break;
      case TokenKind::close_brace:
        begin = i + 1;
        break;
      case TokenKind::semicolon: {
        const bool in_parentheses =
            !closing.empty() && sequence.kind(closing.back()) != TokenKind::close_brace;
        if (!in_parentheses) views.statement(begin, i);
        begin = i + 1;
        break;
      }
      default:
        break;
    }
  }
  for (std::uint32_t i = first; i < last && i < sequence.size(); ++i) views.cast(i);
}

void name_handed_on(Sequence& sequence) {
  for (std::uint32_t i = 3; i < sequence.size(); ++i) {
    const Cast cast = read_cast(sequence, i);
    if (cast.pointer == kNone) continue;
    const std::uint32_t before = sequence.kind(i - 1) == TokenKind::star ? i - 2 : i - 1;
    const std::uint32_t name = before - 1;
    const bool declares = sequence.kind(before) == TokenKind::assign;  // auto& name = *static_cast...
    const bool initialises =                                           // : name(*static_cast...
        sequence.kind(before) == TokenKind::open_paren &&
        (sequence.kind(name - 1) == TokenKind::colon || sequence.kind(name - 1) == TokenKind::comma);
    if (sequence.kind(name) != TokenKind::word || !(declares || initialises)) continue;
    if (!is_void_parameter(sequence, cast.pointer)) continue;
    Words objects = {sequence.text(name)};
    for (std::string& object : parameters_of_class(sequence, cast.class_name)) add(objects, object);
    name_target(sequence, cast, objects);
  }
}

}  // namespace simt::rewriter
