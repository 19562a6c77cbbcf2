// Rules about punctuation, and about what stands where.

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "grading/base/edit_distance.hpp"
#include "grading/build/advice_rules.hpp"

namespace course::grading::advice {
namespace {

namespace fs = std::filesystem;

std::string number(int line) { return std::to_string(line); }

bool expects_semicolon(const Situation& s) {
  return s.says_one_of({"expected ';'", "expected ',' or ';'", "expected a \";\""});
}

/// True if the line's first word begins a statement, and no expression.
bool begins_statement(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  const std::string_view word = word_before(line, line.find_first_of(" ({", first));
  static constexpr std::array<std::string_view, 13> kBeginnings = {
      "const", "constexpr", "auto",  "if",     "for",      "while",     "return",
      "int",   "bool",      "float", "double", "unsigned", "__shared__"};
  return std::find(kBeginnings.begin(), kBeginnings.end(), word) != kBeginnings.end();
}

/// True if the error is at the first word of its line: then what is missing is missing above.
bool begins_line(const Situation& s) {
  if (s.error.points_at_first_word) return true;
  const auto first = s.line.find_first_not_of(" \t");
  return first != std::string_view::npos && s.error.column == static_cast<int>(first) + 1;
}

/// The function that is open where the line begins, or nullptr.
const Block* open_function(const Situation& s) {
  const Block* found = nullptr;
  for (const Block& block : s.code.blocks())
    if (block.kind == Block::Kind::function && block.head_line < s.error.line && block.holds(s.error.line))
      found = &block;
  return found;
}

/// The last function that ends above the error, or nullptr.
const Block* last_function_above(const Situation& s) {
  const Block* found = nullptr;
  for (const Block& block : s.code.blocks())
    if (block.kind == Block::Kind::function && block.close_line != 0 && block.close_line < s.error.line &&
        (found == nullptr || block.close_line > found->close_line))
      found = &block;
  return found;
}

/// Whether the function's head or body has this word.
bool speaks_of(const Situation& s, const Block& function, std::string_view word) {
  for (int line = function.head_line; line <= function.close_line; ++line)
    if (has_word(s.code.line(line), word)) return true;
  return false;
}

Sentence end_inside_block(const Situation& s) {
  const auto& blocks = s.code.blocks();
  const auto open =
      std::find_if(blocks.begin(), blocks.end(), [](const Block& block) { return block.close_line == 0; });
  if (open == blocks.end()) return std::nullopt;
  return "The '{' on line " + number(open->open_line) +
         " has no '}': that one is missing, or a block further down lacks its own and took it.";
}

/// Where the file that is named has its definition, from a note or from the text.
struct Definition {
  std::string file;  // empty: the author's own
  int line = 0;
};

int number_behind(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  int value = 0;
  if (at == std::string_view::npos) return 0;
  for (auto i = at + words.size(); i < text.size() && text[i] >= '0' && text[i] <= '9' && value < 100'000'000;
       ++i)
    value = 10 * value + (text[i] - '0');
  return value;
}

Definition previous_definition(const Situation& s) {
  constexpr std::string_view kInText = "previous definition at line ";  // nvcc
  Definition found{"", number_behind(s.error.text, kInText)};
  if (found.line != 0) {
    const auto of = s.error.text.find(" of ", s.error.text.find(kInText));
    if (of != std::string::npos) found.file = s.error.text.substr(of + 4, s.error.text.rfind(')') - of - 4);
    return found;
  }
  for (const std::string& line : s.error.details) {
    const auto note = line.find(": note: ");
    const bool previous = line.find("previous", note) != std::string::npos;
    if (note == std::string::npos || !previous) continue;
    const auto colon = line.find(':');
    return {line.substr(0, colon), number_behind(line, line.substr(0, colon + 1))};
  }
  return found;
}

/// The header that lies nearest to `name`, which does not exist; empty if none is near.
std::string nearest_header(const Situation& s, const std::string& name) {
  std::vector<std::string> headers{"<cuda_runtime.h>",       "<cuda_fp16.h>", "<cuda_bf16.h>",
                                   "<cooperative_groups.h>", "<mma.h>",       "<cuda_pipeline.h>"};
  if (!s.lesson.name.empty()) headers.push_back("\"" + s.lesson.name + ".hpp\"");
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(s.lesson.root / "common" / "device", missing))
    headers.push_back("\"device/" + entry.path().filename().string() + "\"");
  std::sort(headers.begin(), headers.end());
  std::pair<std::size_t, std::string> best{4, ""};  // up to three wrong letters
  for (const std::string& header : headers) {
    const std::string bare = header.substr(1, header.size() - 2);
    const bool without_folder = bare.ends_with("/" + name);
    best = std::min(best, {without_folder ? 0 : edit_distance(name, bare), header});
  }
  return best.second;
}

/// The first entry of the lesson that the text names, or "".
std::string entry_in(const Situation& s) {
  for (const std::string& entry : s.lesson.entries)
    if (has_word(s.error.text, entry) || has_word(s.line, entry)) return entry;
  return "";
}

}  // namespace

Sentence missing_brace(const Situation& s) {
  if (s.says("expected '}' at end of input") || s.error.text == "expected a \"}\"" ||
      s.error.text == "expected '}'")
    return end_inside_block(s);
  const bool nvcc = s.says("expected a \";\"") && s.error.pointed_at.starts_with("{") &&
                    s.line.find('(') != std::string_view::npos;
  if (!nvcc &&
      !s.says_one_of({"a function-definition is not allowed here", "function definition is not allowed",
                      "template declaration cannot appear at block scope",
                      "template declaration is not allowed here"}))
    return std::nullopt;
  const Block* const outer = open_function(s);
  if (outer == nullptr) return std::nullopt;
  return "A function cannot begin inside another one: a '}' is missing above line " + number(s.error.line) +
         ", or this function belongs outside of the one that begins on line " + number(outer->head_line) +
         ".";
}

Sentence surplus_brace(const Situation& s) {
  if (s.code.surplus_brace() == 0) return std::nullopt;
  const bool direct = s.says_one_of({"expected declaration before '}'", "extraneous closing brace"}) ||
                      (s.says("expected a declaration") && s.error.pointed_at.starts_with("}"));
  const bool name = s.says_one_of({"was not declared", "does not name a type", "undeclared identifier",
                                   "unknown type name", "is undefined", "has not been declared"});
  for (const Block& block : s.code.blocks()) {
    if (block.kind != Block::Kind::name_space || block.close_line == 0 || block.close_line >= s.error.line)
      continue;
    if (direct || name)
      return "There is one '}' too many above line " + number(s.error.line) + ": the one on line " +
             number(block.close_line) + " already ends namespace " + block.name + ".";
  }
  // In a function that has ended early, statements stand where declarations belong, with names of the
  // function's.
  const bool statement = s.says_one_of({"expected constructor, destructor, or type conversion",
                                        "expected unqualified-id", "this declaration has no storage class"});
  if (const Block* const ended = last_function_above(s);
      ended != nullptr && s.code.function_around(s.error.line) == nullptr &&
      (statement || (name && speaks_of(s, *ended, s.quoted()))))
    return "There is one '}' too many above line " + number(s.error.line) + ": the one on line " +
           number(ended->close_line) + " already ends " + ended->name + ".";
  if (!direct) return std::nullopt;
  return "The '}' on line " + number(s.code.surplus_brace()) + " ends nothing: remove it, or one above it.";
}

Sentence loop_over_pointer(const Situation& s) {
  const bool gnu = (s.says("'begin' was not declared") || s.says("'end' was not declared")) &&
                   s.line.find(" : ") != std::string_view::npos && has_word(s.line, "for");
  if (!gnu && !s.says_one_of({"invalid range expression", "requires a suitable"})) return std::nullopt;
  return "What stands to the right of the colon does not tell how many elements it has, as a pointer does "
         "not. A row of an array stays an array by reference alone, as in for (auto& row : rows).";
}

Sentence missing_semicolon(const Situation& s) {
  const bool no_expression = s.says_one_of({"expected primary-expression before", "expected expression",
                                            "expected an expression"}) &&
                             begins_line(s) && begins_statement(s.line);
  const bool foreign_letter = std::any_of(s.line.begin(), s.line.end(), [](char c) { return c < 0; });
  if (!(expects_semicolon(s) || no_expression) || foreign_letter) return std::nullopt;
  const bool above = begins_line(s) && !s.says_one_of({"expected ';' after", "expected ';' at end"});
  const int at = above ? s.code.line_before(s.error.line) : s.error.line;
  const std::string_view code = s.code.line(at);
  const auto last = code.find_last_not_of(" \t\r");
  if (last == std::string_view::npos) return std::nullopt;
  const bool at_end = above || s.error.column > static_cast<int>(last) + 1 || s.says("before '}'") ||
                      s.says("expected ';' at end") || s.error.pointed_at.starts_with("}");
  if (!at_end)
    return "Something is missing on line " + number(at) +
           ": an operator such as '*', or the ';' that ends a statement.";
  if (code[last] == '}')
    return "The definition that ends on line " + number(at) + " needs a ';' after its '}'.";
  if (code[last] == ';' && above) return std::nullopt;
  return "The statement on line " + number(at) + " needs a ';' at its end.";
}

Sentence wrong_header(const Situation& s) {
  std::string name;
  if (const auto end = s.error.text.find(": No such file or directory"); end != std::string::npos)
    name = s.error.text.substr(0, end);
  else if (s.says_one_of({"' file not found", "cannot open source file"}))
    name = s.quoted();
  if (word_before(s.line, s.line.find('<')) == "include") return "A '#' is missing in front of include.";
  if (name.empty()) return std::nullopt;
  const std::string near = nearest_header(s, name);
  if (!near.empty()) return "No header has that name: is " + near + " meant?";
  return "No header has that name: the course's own are in common/device, and are included as "
         "\"device/NAME.hpp\".";
}

Sentence defined_twice(const Situation& s) {
  if (!s.says_one_of({"redefinition of", "conflicting declaration", "has already been defined",
                      "has already been declared in the current scope"}))
    return std::nullopt;
  const Definition other = previous_definition(s);
  if (s.error.line == 0) return "The name is declared before: keep one of the two, or rename it.";
  if (other.line == 0)
    return "Line " + number(s.error.line) + " declares the name again: remove it, or choose another name.";
  if (other.file.empty() || is_same_file(other.file, s.error.file, s.lesson.root))
    return "Lines " + number(other.line) + " and " + number(s.error.line) +
           " declare the same name: keep one of them, or rename it.";
  return "Line " + number(other.line) + " of " + fs::path(other.file).filename().string() +
         " declares it already: use that one, and remove line " + number(s.error.line) + ".";
}

Sentence outside_namespace(const Situation& s) {
  if (!s.says_one_of({"is ambiguous", "more than one instance of overloaded function"})) return std::nullopt;
  const std::string entry = entry_in(s);
  if (entry.empty()) return std::nullopt;
  return "The " + entry + " of this file is another function than the contract's, course::" + entry +
         ": define it between 'namespace course {' and its '}'.";
}

Sentence other_declaration(const Situation& s) {
  if (!s.says_one_of({"ambiguating new declaration", "distinguished by return type alone",
                      "differ only in their return type", "was declared 'extern' and later 'static'"}))
    return std::nullopt;
  const std::string entry = entry_in(s);
  if (entry.empty()) return std::nullopt;
  return "Begin " + entry + " exactly as lessons/" + s.lesson.id() + "/" + s.lesson.name +
         ".hpp declares it: the same result, and no static.";
}

}  // namespace course::grading::advice
