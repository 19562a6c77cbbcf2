#include "grading/build/compiler_messages.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/base/edit_distance.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/build/compile_advice.hpp"
#include "grading/build/compile_errors.hpp"
#include "grading/build/student_code.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownErrors = 5;
constexpr std::size_t kLongestText = 400;  // characters of one error; template types can be endless

std::string read_or_empty(const fs::path& file) {
  try {
    return read_file(file);
  } catch (const std::exception&) {
    return "";
  }
}

/// The function whose name is `entry` but for a letter or two, or nullptr.
const Block* misspelt(const StudentCode& code, const std::string& entry) {
  for (const Block& block : code.blocks())
    if (block.kind == Block::Kind::function && edit_distance(block.name, entry) <= 2) return &block;
  return nullptr;
}

std::string explain_undefined(const std::string& symbol, const Lesson& lesson, const fs::path& source,
                              const StudentCode& code) {
  const std::string file = source.filename().string();
  for (const std::string& entry : lesson.entries) {
    if (!symbol.starts_with("course::" + entry + "(") && symbol != "course::" + entry) continue;
    const std::string declared = parameters_of(StudentCode(read_or_empty(lesson.contract())).text(), entry);
    const Block* const function = code.function_named(entry);
    const std::string here = function == nullptr ? "" : function->parameters;
    std::string text = file + " does not define course::" + entry + declared + " as " +
                       fs::relative(lesson.contract(), lesson.root).string() + " declares it.";
    if (!here.empty()) {
      text += here == declared ? " It has a function like that, but not in namespace course."
                               : " It has " + entry + here + " instead.";
    } else if (const Block* const near = misspelt(code, entry)) {
      text += " It has " + near->name + near->parameters + " instead.";
    }
    return text;
  }
  return file + " uses " + symbol + ", which is declared but defined nowhere.";
}

/// The rewriter hands a launch's arguments on in a pack of this name, which is nowhere in the author's file.
std::string without_our_names(std::string text) {
  constexpr std::string_view kArgument = "'simt_args#";
  for (std::size_t at = text.find(kArgument); at != std::string::npos; at = text.find(kArgument, at)) {
    const std::size_t begin = at + kArgument.size();
    std::size_t end = begin;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end == begin || end - begin > 4 || end == text.size() || text[end] != '\'') break;
    const int number = std::stoi(text.substr(begin, end - begin)) + 1;  // GCC counts from 0
    text.replace(at, end + 1 - at, "argument " + std::to_string(number) + " of the launch");
  }
  return text;
}

std::string shorten(std::string text) {
  text = without_our_names(std::move(text));
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + " ...";
  return text;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// What a message names is the author's word, by `#line`: only the project's files and those beside the
/// source are read, and no device or other thing that never ends.
bool may_quote(const fs::path& file, const fs::path& source, const fs::path& root) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{4} << 20;
  std::error_code error;
  const fs::path real = fs::canonical(file, error), real_root = fs::weakly_canonical(root);
  if (error || !fs::is_regular_file(real, error) || fs::file_size(real, error) > kLargest) return false;
  return is_below(real, real_root) || is_below(real, fs::weakly_canonical(real_root / source).parent_path());
}

/// A line that has room beside its number; of a longer one, what stands around the error's column.
std::string around(const std::string& line, int column) {
  constexpr std::size_t kRoom = 64, kBehind = 16;  // characters
  const auto at = static_cast<std::size_t>(std::max(column, 1));
  if (line.size() <= kRoom || at + kBehind <= kRoom) return line;
  const auto blank = line.find(' ', std::min(at + kBehind, line.size()) - kRoom);
  return blank == std::string::npos || blank >= at ? line : "..." + line.substr(blank);
}

/// Two spaces, the line's number and the line itself, if the file can be read.
std::string excerpt(const CompileError& error, const fs::path& source, const fs::path& root) {
  const fs::path file = fs::path(error.file).is_absolute() ? fs::path(error.file) : root / error.file;
  if (!may_quote(file, source, root)) return "";
  const auto lines = split_lines(read_or_empty(file));
  if (error.line < 1 || static_cast<std::size_t>(error.line) > lines.size()) return "";
  return "\n  " + std::to_string(error.line) + " | " +
         around(lines[static_cast<std::size_t>(error.line) - 1], error.column);
}

/// The author's file, if it may be read and is not so long that somebody made it to keep us busy.
std::string read_source(const fs::path& source, const fs::path& root) {
  constexpr std::size_t kLongest = std::size_t{64} << 10;
  const fs::path file = source.is_absolute() ? source : root / source;
  const std::string text = may_quote(file, source, root) ? read_or_empty(file) : "";
  return text.size() <= kLongest ? text : "";
}

Advice advice_for(const CompileError& error, const StudentCode& code, const Lesson& lesson,
                  const fs::path& source) {
  // nvcc tells of host code in kernels where the standard library has it.
  const bool ours = is_same_file(error.file, source, lesson.root);
  CompileError elsewhere = error;
  elsewhere.line = 0;
  return advise(ours ? error : elsewhere, code, lesson);
}

/// The name in "'end' was not declared in this scope", or "".
std::string undeclared(const CompileError& error) {
  const auto end = error.text.find("' was not declared in this scope");
  return end == std::string::npos || !error.text.starts_with("'") ? "" : error.text.substr(1, end - 1);
}

bool has_word(std::string_view text, std::string_view word) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

/// Whether an earlier error of the author's file has led to this one: it stands in the line that was to
/// declare the name, or in the lambda that then cannot be handed on.
bool follows_from(const CompileError& error, const CompileError& earlier,
                  const std::vector<std::string>& lines) {
  if (earlier.file != error.file) return false;
  if (earlier.text.find("is not captured") != std::string::npos)
    return error.text.find("::<lambda") != std::string::npos;
  const std::string name = undeclared(error);
  return !name.empty() && undeclared(earlier).empty() && earlier.line >= 1 && earlier.line < error.line &&
         static_cast<std::size_t>(earlier.line) <= lines.size() &&
         has_word(lines[static_cast<std::size_t>(earlier.line) - 1], name);
}

void drop_what_follows(std::vector<CompileError>& errors, const std::string& source) {
  const std::vector<std::string> lines = split_lines(source);
  for (auto error = errors.begin(); error != errors.end();) {
    const bool follows = std::any_of(
        errors.begin(), error, [&](const CompileError& one) { return follows_from(*error, one, lines); });
    error = follows ? errors.erase(error) : error + 1;
  }
}

}  // namespace

std::string explain_compiler_output(std::string_view output, const Lesson& lesson, const fs::path& source) {
  const StudentCode code(read_source(source, lesson.root));
  std::vector<std::string> parts;
  std::vector<CompileError> errors = parse_compile_errors(output, source, lesson.root, code.last_line());
  const std::vector<std::string> undefined = parse_undefined_symbols(output);
  const bool all = errors.size() < kMostErrors && undefined.size() < kMostErrors;
  // What the simulator leaves out is the root of the errors around it, and comes first.
  const auto of_feature = [&](const CompileError& error) {
    return advice_for(error, code, lesson, source).rule == "missing_feature";
  };
  if (const auto root = std::find_if(errors.begin(), errors.end(), of_feature); root != errors.end())
    std::rotate(errors.begin(), root, root + 1);
  drop_what_follows(errors, read_source(source, lesson.root));
  for (const CompileError& error : errors) {
    parts.push_back(error.file + ":" + std::to_string(error.line) + ": " + shorten(error.text) +
                    (parts.size() < kShownErrors ? excerpt(error, source, lesson.root) : ""));
    if (parts.size() > 1) continue;
    const std::string sentence = advice_for(error, code, lesson, source).sentence;
    if (!sentence.empty()) parts.back() += "\n" + sentence;  // only the first error is explained
  }
  for (const std::string& symbol : undefined) {
    const std::string text = explain_undefined(symbol, lesson, source, code);
    if (std::find(parts.begin(), parts.end(), text) == parts.end()) parts.push_back(text);
  }
  if (parts.empty()) {  // nothing that we know how to read: the last lines as they are
    const std::vector<std::string> lines = split_lines(output);
    const std::size_t shown = std::min(lines.size(), kShownErrors);
    for (std::size_t i = lines.size() - shown; i < lines.size(); ++i) {
      const auto refusal = parse_refusal(lines[i], source);
      parts.push_back(shorten(lines[i]) + (refusal ? excerpt(*refusal, source, lesson.root) : ""));
    }
  }
  if (parts.empty()) return "The compiler failed without a message.";
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kShownErrors); ++i)
    text += (i == 0 ? "" : "\n") + parts[i];
  if (parts.size() > kShownErrors)
    text +=
        (all ? "\nand " : "\nand at least ") + std::to_string(parts.size() - kShownErrors) + " more errors";
  return text;
}

}  // namespace course::grading
