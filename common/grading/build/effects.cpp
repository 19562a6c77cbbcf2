#include "grading/build/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grading/build/compiler_text.hpp"
#include "grading/confinement/imports.hpp"

namespace course::grading {
namespace {

std::string_view first_word(std::string_view line) { return line.substr(0, line.find_first_of(" \t:;,(")); }

/// A name as it may be shown: hostile ones are long, and hold what a terminal obeys.
std::string shown(std::string_view name) {
  constexpr std::size_t kMostShown = 60;
  std::string text(name.substr(0, kMostShown));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

/// Directives that g++ and clang write, beside those that begin with .cfi_.
const std::set<std::string_view>& directives() {
  static const std::set<std::string_view> all{
      ".file",    ".loc",         ".text",       ".data",     ".bss",     ".section",   ".globl",
      ".hidden",  ".local",       ".comm",       ".type",     ".size",    ".align",     ".p2align",
      ".balign",  ".byte",        ".value",      ".2byte",    ".short",   ".long",      ".4byte",
      ".quad",    ".8byte",       ".string",     ".ascii",    ".asciz",   ".zero",      ".skip",
      ".set",     ".weak",        ".ident",      ".uleb128",  ".sleb128", ".protected", ".internal",
      ".addrsig", ".addrsig_sym", ".tbss",       ".tdata",    ".octa",    ".float",     ".double",
      ".single",  ".pushsection", ".popsection", ".previous", ".base64"};
  return all;
}

/// Directives that put bytes where they stand.
bool is_data(std::string_view directive) {
  static const std::set<std::string_view> all{
      ".byte",  ".value", ".2byte", ".short", ".long",   ".4byte",  ".quad",    ".8byte",   ".string",
      ".ascii", ".asciz", ".octa",  ".float", ".double", ".single", ".uleb128", ".sleb128", ".base64"};
  return all.contains(directive);
}

/// The bytes that g++ writes in front of a call for the address of a `__shared__` variable, to make it
/// longer.
bool is_padding_of_call(std::string_view line) { return line == ".value\t0x6666" || line == ".byte\t0x66"; }

/// Instructions that no compiler makes of CUDA C++, by the beginning of their names: calls of the system,
/// what tells the time or the machine, and stores that go past the processor's caches. Masked and gathering
/// ones are not among them: run mode vectorises loops with these.
bool is_forbidden_instruction(std::string_view word) {
  static constexpr std::string_view kBeginnings[] = {
      "syscall",  "sysenter", "sysret",   "int",      "iret",   "hlt",    "rdtsc",   "rdpmc",   "cpuid",
      "rdrand",   "rdseed",   "xgetbv",   "xsave",    "xrstor", "fxsave", "fxrstor", "rdpkru",  "wrpkru",
      "rdfsbase", "wrfsbase", "rdgsbase", "wrgsbase", "movnt",  "vmovnt", "maskmov", "clflush", "clwb",
      "movdir",   "enqcmd",   "xbegin",   "xtest",    "umwait", "tpause", "lret",    "ljmp",    "lcall"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

/// Whether a `.section` line, or one of the short forms, makes code follow.
bool begins_code(std::string_view word, std::string_view line) {
  if (word == ".text") return true;
  if (word != ".section" && word != ".pushsection") return false;
  if (line.find(".text") != std::string_view::npos) return true;
  const std::size_t flags = line.find(",\"");
  return flags != std::string_view::npos &&
         line.substr(flags, line.find('"', flags + 2) - flags).find('x') != std::string_view::npos;
}

bool begins_section(std::string_view word) {
  return word == ".text" || word == ".data" || word == ".bss" || word == ".section" || word == ".pushsection";
}

/// Whether a `.section` line begins what compilers write of CUDA C++, or what no tool knows, whose name has
/// no dot in front. Of others, linkers or loaders take orders: of .gnu.lto_*, code to compile in place of
/// this one.
bool is_usual_section(std::string_view word, std::string_view line) {
  if (word != ".section" && word != ".pushsection") return true;
  static constexpr std::string_view kUsual[] = {
      ".text", ".data", ".bss", ".rodata", ".tdata", ".tbss", ".init_array", ".fini_array", ".ctors",
      ".dtors", ".eh_frame", ".gcc_except_table", ".note.GNU-stack", ".note.gnu.property", ".comment",
      // of clang
      ".llvm_addrsig", ".linker-options"};
  std::string_view name = trimmed(line.substr(word.size()));
  if (name.find('(') != std::string_view::npos) return false;  // see is_own_section()
  if (name.starts_with('"')) name.remove_prefix(1);
  if (!name.starts_with('.') || name.starts_with(".debug_")) return true;
  return std::any_of(std::begin(kUsual), std::end(kUsual), [&](std::string_view usual) {
    const std::string_view rest = name.substr(std::min(usual.size(), name.size()));
    return name.starts_with(usual) && (rest.empty() || rest.find_first_of(".,\" \t") == 0);
  });
}

/// The name that a line gives a place, by a label, or `.set`, or `.comm`; "" if it gives none.
std::string_view defined_name(std::string_view word, std::string_view line) {
  if (line.substr(word.size()).starts_with(':')) return word;
  return word == ".set" || word == ".comm" ? first_word(trimmed(line.substr(word.size()))) : "";
}

bool is_reserved(std::string_view name) { return name.starts_with("simt_") || name.starts_with("course_"); }

/// Whether the compiler calls functions of such a name by itself, where it watches code.
bool is_for_hooks(std::string_view name) {
  return name.starts_with("__tsan_") || name.starts_with("__sanitizer_") || name.starts_with("__ubsan_");
}

std::set<std::string_view> functions_of(std::string_view dump) {
  std::set<std::string_view> names;
  for_each_line(dump, [&](std::string_view line) {
    if (begins_function(line)) names.insert(mangled_name(line));
    return true;
  });
  return names;
}

/// Whether a `.section` line begins notes, by its name or its type, which may be a number: of a kernel's
/// module they tell the simulator which accesses begin basic blocks. The two that compilers write are none.
bool begins_notes(std::string_view word, std::string_view line) {
  if (word != ".section" && word != ".pushsection") return false;
  const std::string_view section = trimmed(line.substr(word.size()));
  if (section == ".note.GNU-stack,\"\",@progbits" || section == ".note.gnu.property,\"a\"") return false;
  constexpr std::string_view kNote = "note";
  for (std::size_t at = section.find(kNote); at != std::string_view::npos; at = section.find(kNote, at + 1)) {
    const std::size_t end = at + kNote.size();
    if ((at == 0 || !is_part_of_name(section[at - 1])) &&
        (end == section.size() || !is_part_of_name(section[end])))
      return true;
  }
  for (std::size_t at = section.find(','); at < section.size() - 1; ++at)
    if (std::string_view("@%\"").find(section[at]) != std::string_view::npos &&
        std::isdigit(static_cast<unsigned char>(section[at + 1])) != 0)
      return true;
  return false;
}

/// A function of the compiler that a statement calls, and what stands behind its name.
struct BuiltinCall {
  std::string_view name, arguments;
};

/// "__builtin_memcpy" with " (a, b, 64);" of "__builtin_memcpy (a, b, 64);".
std::vector<BuiltinCall> builtins_of(std::string_view statement) {
  constexpr std::string_view kBuiltin = "__builtin_";
  std::vector<BuiltinCall> calls;
  for (std::size_t i = statement.find(kBuiltin); i != std::string_view::npos;) {
    std::size_t end = i;
    while (end < statement.size() && is_part_of_name(statement[end])) ++end;
    if (statement.substr(end).starts_with(" ("))
      calls.push_back({statement.substr(i, end - i), statement.substr(end)});
    i = statement.find(kBuiltin, end);
  }
  return calls;
}

/// "simt_lane" of "_3 = simt_lane ();", for that beginning.
std::string_view called(std::string_view beginning, std::string_view statement) {
  for (std::size_t at = statement.find(beginning); at != std::string_view::npos;
       at = statement.find(beginning, at + 1)) {
    if (at > 0 && is_part_of_name(statement[at - 1])) continue;
    std::size_t end = at;
    while (end < statement.size() && is_part_of_name(statement[end])) ++end;
    if (statement.substr(end).starts_with(" (")) return statement.substr(at, end - at);
  }
  return {};
}

std::string in_a_register(std::string_view variable) {
  return fmt::format(
      "Your file gives {} a register, or another name for the assembler. Leave out asm that is no part of "
      "CUDA.",
      variable);
}

/// Whether a line of the assembly has the function that finds handlers of exceptions called, or its address
/// loaded, by code. It stores to where it is told; the compiler only tells the unwinder where it is.
bool calls_personality(std::string_view word, std::string_view line) {
  return !word.starts_with('.') && line.find("__gxx_personality_v0") != std::string_view::npos &&
         !word.starts_with("DW.ref.");
}

/// Directives with texts in quotation marks, or such that some names must stand in.
bool has_texts(std::string_view directive) {
  static const std::set<std::string_view> all{".string", ".ascii", ".asciz",   ".base64",
                                              ".file",   ".ident", ".section", ".pushsection"};
  return all.contains(directive);
}

/// Whether what stands behind an '@' is not the kind of a relocation, such as PLT, but a version of a name.
bool is_version(std::string_view word, std::string_view behind) {
  if (word == ".section" || word == ".pushsection" || word == ".type") return false;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::find_if_not(behind.begin(), behind.end(), is_letter);
  return end == behind.begin() ||
         (end != behind.end() && (is_part_of_name(*end) || *end == '.' || *end == '@'));
}

/// What a line has that ends its statement early, or makes something else of it, in the eyes of the
/// assembler: compilers write none of that, but a section or a function may be called so. "" if nothing.
std::string unlike_a_statement(std::string_view word, std::string_view line, bool may_comment) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const std::size_t begin = ++i;
      while (i < line.size() && line[i] != '"') i += line[i] == '\\' ? 2 : 1;
      const std::string_view text = line.substr(begin, std::min(i, line.size()) - begin);
      const auto is_ascii = [](char letter) { return static_cast<unsigned char>(letter) < 0x80; };
      // Of other letters, clang puts names in quotation marks.
      if (!has_texts(word) && std::all_of(text.begin(), text.end(), is_ascii))
        return "a name in quotation marks.";
    } else if (c == '#') {
      if (may_comment || i == 0) return {};
      return "a name that begins a comment.";
    } else if (c == ';') {
      return "several statements on a line.";
    } else if (c == '=' || c == '\'' || c == '\\' || line.substr(i).starts_with("/*")) {
      return fmt::format("a name with the character {} in it.", c);
    } else if (c == '@' && is_version(word, line.substr(i + 1))) {
      return "a name with a version.";
    }
  }
  return {};
}

std::string calls_the_simulator(std::string_view name) {
  return fmt::format("Your file calls {}, a function of the simulator's own. Call what CUDA has.",
                     shown(name));
}

/// Whether a statement of the compiler's dump is asm, with results or operands or text of its own. One that
/// only orders memory is none.
bool is_assembly(std::string_view line) {
  const std::string code = without_literals(line);
  const std::size_t at = code.find("__asm__");
  if (at == std::string::npos || (at > 0 && is_part_of_name(code[at - 1]))) return false;
  std::string words;
  for (const char c : line.substr(line.find("__asm__")))
    if (c != ' ') words += c;
  return words != "__asm____volatile__(\"\":::\"memory\");";
}

/// Whose code a statement is of.
enum class Author { student, header_of_course, header_of_system };

/// Builtins that compute with what they are handed and touch no memory, without "__builtin_". Those of
/// floating point may have an f or l behind them, those of integers an l or ll.
bool computes_only(std::string_view name) {
  static const std::set<std::string_view> all{
      // bits
      "bswap16", "bswap32", "bswap64", "bswap128", "clz", "clrsb", "ctz", "ffs", "parity", "popcount",
      // numbers, besides those of the C library
      "cexpi", "finite", "iceil", "ifloor", "irint", "iround", "isfinite", "isinf", "isinf_sign", "isnan",
      "isnormal", "lceil", "lfloor", "llceil", "llfloor", "powi", "signbit",
      // of the host's processor: what the course's half-precision numbers are made of
      "ia32_pause", "ia32_vcvtph2ps", "ia32_vcvtph2ps256", "ia32_vcvtps2ph", "ia32_vcvtps2ph256",
      // what the compiler may take for granted
      "assume_aligned", "constant_p", "expect", "expect_with_probability", "object_size", "prefetch", "trap",
      "unreachable"};
  for (int suffix = 0; suffix <= 2 && !name.empty(); ++suffix) {
    if (all.contains(name)) return true;
    if (name.back() != 'l' && (name.back() != 'f' || suffix > 0)) return false;
    name.remove_suffix(1);
  }
  return false;
}

/// What the compiler writes by itself where an exception passes through, and its hooks.
bool is_put_in(std::string_view name) {
  return name == "eh_copy_values" || name == "eh_filter" || name == "eh_pointer" || name == "unwind_resume" ||
         name.starts_with("__tsan_") || name.starts_with("__ubsan_handle_") ||
         name.starts_with("__sanitizer_");
}

/// Whether check mode may miss what a call of the compiler's does to memory. It is a list of what is allowed:
/// of the compiler's thousands of builtins, many touch memory, and some move the stack.
bool touches_unseen(const BuiltinCall& call, Author author) {
  constexpr std::string_view kBuiltin = "__builtin_";
  const std::string_view name = call.name.substr(kBuiltin.size());
  if (computes_only(name) || is_put_in(name)) return false;
  if (name == "return_address") return !call.arguments.starts_with(" (0)");  // of a caller: read by its frame
  // The standard library prints numbers with these, to memory of its own.
  if (name == "alloca" || name == "va_start") return author != Author::header_of_system;
  if (name == "va_end") return false;
  // Those of headers are the library's own way to copy, and not inlined where their size is not known.
  const std::string_view plain = name.starts_with("__") ? name.substr(2) : name;
  for (const std::string_view of_bytes : {"mem", "str", "stp", "bc", "bz"})
    if (plain.starts_with(of_bytes)) return author == Author::student;
  return !is_library_function(name);  // which is called in the end, and has a guard
}

/// An atomic builtin, which the compiler makes a hook of unless it has an order of memory that there is not;
/// or what g++ makes of such a builtin. "" if the statement has none.
std::string_view atomic_without_hook(std::string_view statement) {
  for (const std::string_view beginning : {"__atomic_", "__sync_", ".ATOMIC_"})
    for (std::size_t at = statement.find(beginning); at != std::string_view::npos;
         at = statement.find(beginning, at + 1)) {
      std::size_t end = at + beginning.size();
      while (end < statement.size() && is_part_of_name(statement[end])) ++end;
      const bool begins = at == 0 || (!is_part_of_name(statement[at - 1]) && statement[at - 1] != ':');
      if (begins && statement.substr(end).starts_with(" (")) return statement.substr(at, end - at);
    }
  return {};
}

constexpr std::string_view kDigits = "0123456789";

/// Takes a number off the end of a text; false if none is there.
bool drop_number(std::string_view& text) {
  const std::size_t digits = text.size() - (text.find_last_not_of(kDigits) + 1);
  text.remove_suffix(digits);
  return digits > 0;
}

/// A statement, read from its beginning. Each function says whether what it names is next, and goes past it.
class Reading {
 public:
  explicit Reading(std::string_view statement) : rest_(statement) {}

  bool text(std::string_view words) {
    if (!rest_.starts_with(words)) return false;
    rest_.remove_prefix(words.size());
    return true;
  }
  bool number() {
    return some([](char c) { return kDigits.find(c) != std::string_view::npos; });
  }
  /// Letters of a name and whatever else is in `more`, as many as there are, at least one.
  bool name(std::string_view more = "") {
    return some([more](char c) { return is_part_of_name(c) || more.find(c) != std::string_view::npos; });
  }
  void past_all_but(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_of(characters), rest_.size()));
  }
  std::string_view rest() const { return rest_; }

 private:
  template <class Predicate>
  bool some(Predicate wanted) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), wanted);
    const auto count = static_cast<std::size_t>(end - rest_.begin());
    rest_.remove_prefix(count);
    return count > 0;
  }

  std::string_view rest_;
};

/// Whether the statement copies or fills so many bytes as the compiler knows, which so makes loads and
/// stores:
/// `__builtin_memcpy (to, from, 16);`. The headers of the prelude have none: see simt_prelude.h.
bool is_copy_of_known_size(std::string_view statement) {
  for (const std::string_view name : {"__builtin_memcpy (", "__builtin_memmove (", "__builtin_memset ("}) {
    const std::size_t at = statement.find(name);
    if (at == std::string_view::npos) continue;
    const std::string_view arguments = statement.substr(at + name.size());
    for (std::size_t end = 0; (end = arguments.find(");", end)) != std::string_view::npos; ++end)
      if (std::string_view before = arguments.substr(0, end); drop_number(before) && before.ends_with(", "))
        return true;
  }
  return false;
}

/// Whether the statement calls a virtual function of the standard library that takes memory and how much of
/// it: no guard stands before such a call. The facet's functions for one character, of which std::endl is
/// made, take no memory. Such a call is `OBJ_TYPE_REF(_1;(const struct ctype)_2->7) (_2, _3, _4)`.
bool calls_stream_buffer(std::string_view statement) {
  constexpr std::string_view kVirtualCall = "OBJ_TYPE_REF(";
  const std::size_t last = statement.rfind(',');
  const std::size_t second =
      last == 0 || last == statement.npos ? statement.npos : statement.rfind(',', last - 1);
  if (second == statement.npos) return false;
  for (std::size_t at = 0; (at = statement.find(kVirtualCall, at)) != std::string_view::npos; ++at) {
    Reading reading(statement.substr(at + kVirtualCall.size()));
    reading.past_all_but("()");
    if (!reading.text("(")) continue;
    reading.text("const ");
    if (!reading.text("struct ")) continue;
    if (reading.text("basic_")) {
      if (!reading.name()) continue;
    } else if (reading.text("ctype") || reading.text("codecvt") || reading.text("collate")) {
      reading.name();
    } else {
      continue;
    }
    const std::size_t left = statement.size() - second;  // with two commas
    if (reading.text(")") && reading.rest().size() >= left) return true;
  }
  return false;
}

/// Whether a statement touches no memory. The one function without hooks in a file that is honest is the
/// simulator's own, which tells the names of a kernel's parameters: it has these statements and no others.
bool touches_nothing(std::string_view line) {
  const std::string statement = without_places(line);
  const auto is = [&statement](auto... parts) {
    Reading reading(statement);
    return (parts(reading) && ...) && reading.rest().empty();
  };
  const auto text = [](std::string_view words) { return [words](Reading& r) { return r.text(words); }; };
  const auto number = [](Reading& r) { return r.number(); };
  const auto member = [](Reading& r) { return r.name("."); };
  const auto element = [](Reading& r) { return r.name(".[]"); };
  const auto to_the_end = [](std::string_view words) {
    return [words](Reading& r) { return r.rest().ends_with(words) && r.text(r.rest()); };
  };
  return statement.empty() || is(text("<bb "), to_the_end("")) || is(text("else")) || is(text("return;")) ||
         is(text("goto "), to_the_end("")) || is(text("if (_"), number, text(" != 0)")) ||
         is(text("if (_"), number, text(" == 0)")) ||
         is(text("_"), number, text(" = simt_wants_names ();")) ||
         is(text("_"), number, text(" = parameters#"), number, text(".address;")) ||
         is(member, text("["), number, text("] = parameters#"), number, text("."), element, text(";")) ||
         is(text("simt_name_pointer ("), to_the_end(");")) ||
         is(member, text(" ={v} {CLOBBER"), to_the_end("};"));
}

/// Whether a function's attributes, which `#pragma GCC optimize` becomes as well, change the options that it
/// is compiled with: from -O2 on, the compiler makes loads of calls where no hook is. The headers have one
/// such function, whose options add no loads; see simt_names.h.
bool is_compiled_otherwise(std::string_view attributes) {
  constexpr std::string_view kOfHeaders = R"(optimize ("trivial-auto-var-init=pattern", "lifetime-dse=0"))";
  std::string others(attributes);
  if (const std::size_t at = others.find(kOfHeaders); at != std::string::npos)
    others.erase(at, kOfHeaders.size());
  others = without_literals(others);
  return others.find("optimize (") != std::string::npos || others.find("target") != std::string::npos;
}

/// The first of a function's attributes that could make other code of it than check mode knows how to watch,
/// such as calls by a thunk; "" if it has none. It is a list of what is allowed, without the one of the
/// headers; "fn" is "fn spec", what the standard library's functions do to their arguments.
std::string foreign_attribute(std::string_view attributes) {
  static const std::set<std::string_view> usual{
      "abi_tag",       "aligned",      "access",         "alloc_align", "alloc_size",
      "always_inline", "artificial",   "assume_aligned", "cold",        "const",
      "constructor",   "deprecated",   "destructor",     "fn",          "flatten",
      "format",        "format_arg",   "gnu_inline",     "hot",         "leaf",
      "malloc",        "maybe_unused", "nodiscard",      "noinline",    "nonnull",
      "noreturn",      "nothrow",      "optimize",       "pure",        "returns_nonnull",
      "sentinel",      "unused",       "used",           "visibility",  "warn_unused_result",
      "weak"};
  constexpr std::string_view kBegin = "__attribute__((";
  std::string found;
  const std::string all = without_literals(attributes);
  for_each_part(std::string_view(all).substr(kBegin.size(), all.rfind("))") - kBegin.size()),
                [&](std::string_view attribute) {
                  const std::string_view name = first_word(attribute);
                  if (found.empty() && !usual.contains(name) && !name.starts_with("no_sanitize"))
                    found = shown(name);
                });
  return found;
}

/// What is wrong in the body of a function, or at its end; "" if nothing is.
class FunctionReader {
 public:
  FunctionReader(const CompilerDumps& dumps, std::string_view source)
      : with_accesses_(functions_of(dumps.accesses)),
        with_blocks_(functions_of(dumps.blocks)),
        in_source_(fmt::format("[{}:", source)) {}

  std::string read(std::string_view line) {
    if (begins_function(line)) {
      const std::string_view name = mangled_name(line);
      watched_ = with_accesses_.contains(name) && with_blocks_.contains(name);
      in_body_ = false;
      return {};
    }
    if (line.starts_with("__attribute__")) {
      if (line.find("no_sanitize") != std::string_view::npos) watched_ = false;
      if (is_compiled_otherwise(line))
        return "Your file has a function compiled with other options than the rest, in which check mode does "
               "not see all accesses to memory. Leave out optimize and target, as attributes and as pragmas.";
      if (const std::string name = foreign_attribute(line); !name.empty())
        return fmt::format(
            "Your file has a function with the attribute {}. Leave out attributes that are no part of CUDA.",
            name);
    }
    if (line.starts_with('}')) in_body_ = false;
    in_body_ = in_body_ || trimmed(line).starts_with("<bb ");
    if (!in_body_ && line.find(" __asm__ (") != std::string_view::npos) return in_a_register("a variable");
    if (in_body_ && is_assembly(line) && author_of(trimmed(line)) == Author::student)
      return "Your file has an asm statement, which is for the processor that the simulator runs on. Leave "
             "out asm that is no PTX.";
    if (in_body_ && !watched_ && !touches_nothing(line))
      return "Your file takes a function out of check mode's sight. Leave out attributes that are no part of "
             "CUDA.";
    if (calls_stream_buffer(line))
      return "Your file calls functions of a stream buffer, or of a facet, whose accesses to memory "
             "check mode cannot see. Index arrays, and print with printf or a stream.";
    if (line.find("__") == std::string_view::npos && line.find(".ATOMIC_") == std::string_view::npos)
      return {};
    const std::string code = without_literals(line);
    std::string_view unseen = in_body_ ? atomic_without_hook(code) : std::string_view();
    const Author author = is_copy_of_known_size(line) ? Author::student : author_of(trimmed(line));
    for (const BuiltinCall& call : builtins_of(code))
      if (unseen.empty() && touches_unseen(call, author)) unseen = call.name;
    if (unseen.empty()) return {};
    return fmt::format(
        "Your file uses {}, whose accesses to memory check mode cannot see. Use what CUDA has: index "
        "arrays, and leave out builtins and intrinsics of the host's compiler.",
        shown(unseen));
  }

 private:
  /// By the place in the source that a statement begins with. A path from the root is one of the system's.
  Author author_of(std::string_view statement) const {
    if (statement.starts_with(in_source_)) return Author::student;
    return statement.starts_with("[/") ? Author::header_of_system : Author::header_of_course;
  }

  std::set<std::string_view> with_accesses_, with_blocks_;
  std::string in_source_;
  bool watched_ = true, in_body_ = false;
};

/// Whether it is the name of a function that the compiler writes by itself, which moves the pointer to an
/// object and then is the virtual function: of a class with several bases, or virtual ones.
bool is_thunk(std::string_view name) {
  return name.starts_with("_ZTh") || name.starts_with("_ZTv") || name.starts_with("_ZTc");
}

/// Whether a line of the table of symbols is that of a virtual function: "_ZN1D1gEv/2 (virtual int D::g())".
/// The word comes first: what comes behind may be any text of the file's, in the types of parameters.
bool is_of_virtual_function(std::string_view line) {
  line.remove_prefix(std::min(line.find('/') + 1, line.size()));
  line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  return line.starts_with(" (virtual ");
}

/// "_ZN1D1gEv" of the thunk "_ZThn8_N1D1gEv".
std::string function_of_thunk(std::string_view name) {
  name.remove_prefix(3);
  const auto drop_through = [&](int underscores) {
    for (; underscores > 0; --underscores) name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  };
  const auto drop_offset = [&] { drop_through(name.starts_with('v') ? 2 : 1); };
  if (name.starts_with('c')) {
    name.remove_prefix(1);
    drop_offset();
  }
  drop_offset();
  return fmt::format("_Z{}", name.substr(0, name.find('.')));
}

/// Whether a macro of the simulator's, which has arguments, stands in a line of a header.
bool has_own_macro(std::string_view line) {
  constexpr std::string_view kBeginning = "SIMT_";
  for (std::size_t at = line.find(kBeginning); at != line.npos; at = line.find(kBeginning, at + 1))
    if (const auto end =
            std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), is_part_of_name);
        end != line.end() && *end == '(')
      return true;
  return false;
}

/// "common/simt/shim/mma.h" of a line of an assembly's table of files, `.file 7 "common/simt/shim/mma.h"`.
std::string_view named_file(std::string_view line) {
  const std::string_view path = line.substr(std::min(line.find('"'), line.size() - 1) + 1);
  return path.substr(0, path.find('"'));
}

/// "simt_lane" of "call\tsimt_lane@PLT"; "" if no such name stands there.
std::string_view own_name(std::string_view line) {
  constexpr std::string_view kBeginning = "simt_";
  for (std::size_t at = line.find(kBeginning); at != std::string_view::npos;
       at = line.find(kBeginning, at + 1)) {
    if (at > 0 && is_part_of_name(line[at - 1])) continue;
    const auto end =
        std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), is_part_of_name);
    return line.substr(at, static_cast<std::size_t>(end - line.begin()) - at);
  }
  return {};
}

/// A function for hooks that is called in the compiler's dump of the pass before it hooks accesses. What it
/// calls there by itself has __builtin_ in front.
std::string_view hook_by_hand(std::string_view line) {
  for (const std::string_view beginning :
       {"__tsan_", "__builtin___tsan_", "__sanitizer_cov_", "__ubsan_handle_"}) {
    if (line.find(beginning) == std::string_view::npos) continue;
    const std::string code = without_literals(line);
    if (const std::string_view name = called(beginning, code);
        !name.empty() && !name.ends_with("___tsan_init"))
      return line.substr(line.find(name), name.size());
  }
  return {};
}

}  // namespace

std::string foreign_assembly(std::string_view assembly) {
  std::string found;
  bool code = false, by_hand = false;
  const bool may_comment = assembly.find("\t.ident\t\"GCC: (") == std::string_view::npos;  // as clang does
  for_each_line(assembly, [&](std::string_view line) {
    line = trimmed(line);
    const std::string_view word = first_word(line);
    if (line.starts_with("#APP") || line.starts_with("#NO_APP")) {
      by_hand = line.starts_with("#APP");
    } else if (by_hand && !line.empty() &&
               !line.starts_with('#')) {  // an empty one only orders what is around it
      found = "an asm statement, which is for the processor that the simulator runs on.";
    } else if (is_reserved(defined_name(word, line))) {
      found = "a function or variable by a name that begins with simt_ or course_.";
    } else if (is_for_hooks(defined_name(word, line))) {
      found = "a function or variable by a name that begins as those of the compiler's hooks do.";
    } else if (is_library_function(defined_name(word, line))) {
      found = fmt::format("a function or variable by the name {}, which the C library has.",
                          defined_name(word, line));
    } else if (line.ends_with("@gnu_indirect_function")) {
      found = "a function that chooses another when it is loaded.";
    } else if (word.starts_with('.') && !line.substr(word.size()).starts_with(':')) {
      if (begins_section(word)) code = begins_code(word, line);
      if (!directives().contains(word) && !word.starts_with(".cfi_"))
        found = fmt::format("the directive {} for the assembler.", shown(word));
      else if (code && is_data(word) && !is_padding_of_call(line))
        found = "data among its instructions.";
      else if (begins_notes(word, line))
        found = "a section of notes for the loader.";
      else if (!is_usual_section(word, line))
        found = "a section that the linker takes orders from.";
    } else if (is_forbidden_instruction(word)) {
      found = fmt::format("the instruction {}, which no CUDA C++ becomes.", shown(word));
    } else if (calls_personality(word, line)) {
      found = "a call of __gxx_personality_v0, which belongs to the C++ library.";
    }
    if (found.empty()) found = unlike_a_statement(word, line, may_comment);
    return found.empty();
  });
  if (found.empty()) return {};
  return fmt::format("Your file has {} Leave out asm, attributes and intrinsics that are no part of CUDA.",
                     found);
}

namespace {

/// Pointers to dynamic shared memory have such labels, as SIMT_LABEL_OF_DYNAMIC says. Check mode makes sure
/// that what is called so is one.
constexpr std::string_view kLabelOfDynamic = "*dynamic_shared.";

/// Each symbol has such a line in the compiler's table, and no function's body has one: in there, the line
/// ends of texts are written as "\n".
constexpr std::string_view kVisibility = "\n  Visibility:";

/// Whether a line of the compiler's table of symbols goes on with what is told of a symbol.
bool is_about_symbol(std::string_view line) { return line.empty() || line.starts_with("  "); }

/// Whether a line tells what a symbol is: "  Type: function definition". It stands below the symbol's own,
/// and for an assembler it is no line, so that none of a name's can look like it.
bool tells_type(std::string_view line) {
  for (const std::string_view kind : {"  Type: function", "  Type: variable"})
    if (line.starts_with(kind)) {
      const std::string_view behind = line.substr(kind.size());
      return behind.empty() || (behind.size() > 1 && behind[0] == ' ' && is_part_of_name(behind[1]));
    }
  return false;
}

/// Whether a name of the assembler may have such a letter.
bool is_of_symbol(char c) {
  return is_part_of_name(c) || c == '.' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether what the table tells of a symbol's section names none of the file's: there is none, or that of
/// `__managed__`, or the compiler has made it of the name of a function. So it does for virtual functions of
/// several bases: " section:.text._ZN1D1gEv (implicit_section) virtual". What the file names has no such
/// word behind it, and no name with a bracket is one for foreign_assembly().
bool is_own_section(std::string_view line) {
  constexpr std::string_view kSection = " section:", kManaged = "simt_managed", kOfFunction = ".text._Z";
  const std::size_t at = line.find(kSection);
  if (at == std::string_view::npos) return true;
  const std::string_view section = line.substr(at + kSection.size());
  if (section == kManaged) return true;
  const auto end = std::find_if_not(section.begin() + std::min(kOfFunction.size(), section.size()),
                                    section.end(), is_of_symbol);
  return section.starts_with(kOfFunction) &&
         section.substr(static_cast<std::size_t>(end - section.begin())).starts_with(" (implicit_section)");
}

/// A symbol's line of the table without the address that g++ up to 12 has at its end.
std::string_view without_address(std::string_view line) {
  constexpr std::string_view kAddress = ") @0x";
  const std::size_t address = line.rfind(kAddress);
  const bool has_address =
      address != std::string_view::npos &&
      line.find_first_not_of("0123456789abcdef", address + kAddress.size()) == std::string_view::npos;
  return has_address ? line.substr(0, address + 1) : line;
}

/// Whether a symbol's line of the table is that of a label which the compiler has made up, such as
/// "*.Lubsan_data7/5 (__ubsan_data *.Lubsan_data7)": its name says so, too, as no declaration's can.
bool is_made_by_compiler(std::string_view line) {
  if (!line.starts_with("*.")) return false;
  const std::string_view label = line.substr(0, line.find('/'));
  const std::string_view name = without_address(line.substr(label.size()));
  // Behind a function's name stand its parameters: no text of a type's, in which that name may be, too.
  const std::size_t function = name.rfind(fmt::format("::{}(", label));
  if (function != std::string_view::npos && name.find('"', function) == std::string_view::npos) return true;
  return name.ends_with(fmt::format("{})", label)) ||
         name.substr(std::min(name.find(' '), name.size())) == " (<anonymous>)";
}

/// Whether a symbol's line is that of a label which a file, or a header of the C library, may give a
/// function: a name as any other, and neither that of a thunk nor of the simulator's own.
bool is_label_of_a_file(std::string_view line) {
  const std::string_view label = line.substr(1, std::min(line.find('/'), line.size()) - 1);
  return std::ranges::all_of(label, is_part_of_name) && !label.starts_with("_ZT") && own_name(label).empty();
}

std::string names_for_assembler(std::string_view line) {
  return fmt::format(
      "Your file gives the assembler a name or a section of its own: \"{}\". Leave out asm and "
      "attributes that are no part of CUDA.",
      shown(trimmed(line)));
}

/// Whether a line of the table is one that the compiler has begun itself, and puts nothing into a section
/// that the file names. A symbol has the line "_Z1fv/7 (void f())", up to g++ 12 with an address at its end,
/// " @0x7f64f375a100". A name that the file gives comes behind an asterisk.
bool is_of_table(std::string_view line) {
  if (line.starts_with(kVisibility.substr(1))) return is_own_section(line);
  if (is_about_symbol(line)) return true;
  line = without_address(line);
  if (!line.ends_with(')')) return false;
  if (!line.starts_with('*')) return line.front() != '#' && line.front() != '/';  // the assembler's comments
  return *std::find_if_not(line.begin() + 1, line.end(), is_of_symbol) == '/';
}

/// Where assembly stands in a header of the simulator's.
class PlaceInHeader {
 public:
  explicit PlaceInHeader(const OwnHeaders& headers) : headers_(headers) {}

  /// What a .file directive tells.
  void add_file(std::string_view number, std::string_view path) {
    if (const std::string* header = find_header(path, headers_))
      for_each_line(*header, [&lines = files_[number]](std::string_view line) {
        lines.push_back(line);
        return true;
      });
  }
  /// What a .loc directive tells.
  void go_to(std::string_view file, std::string_view line) {
    leave();
    const auto found = files_.find(file);
    if (found == files_.end()) return;
    std::from_chars(line.data(), line.data() + line.size(), number_);
    if (number_ > 0) lines_ = &found->second;
  }
  void leave() { lines_ = nullptr, number_ = 0; }

  /// Whether the header itself calls that function there. A call in several lines stands at one of them, and
  /// what a macro calls, where the macro stands.
  bool calls(std::string_view name) const {
    for (const std::size_t number : {number_ - 1, number_, number_ + 1})
      if (line(number).find(name) != std::string_view::npos) return true;
    return has_own_macro(line(number_));
  }

 private:
  std::string_view line(std::size_t number) const {
    const bool exists = lines_ != nullptr && number - 1 < lines_->size();
    return exists ? (*lines_)[number - 1] : std::string_view();
  }

  const OwnHeaders& headers_;
  std::map<std::string_view, std::vector<std::string_view>> files_;  // their lines, by their numbers
  const std::vector<std::string_view>* lines_ = nullptr;
  std::size_t number_ = 0;
};

}  // namespace

std::string_view table_of_symbols(std::string_view dump) {
  constexpr std::string_view kTable = "\nSymbol table:\n";
  const std::size_t begin = dump.find(kTable);
  if (begin == std::string_view::npos) return {};
  dump.remove_prefix(begin + kTable.size());
  // A name may look like the end of the table, or like a body, but not take lines out of what follows.
  std::size_t end = dump.rfind(kVisibility);
  while (end != std::string_view::npos && dump.substr(end).starts_with("\n  "))
    end = dump.find('\n', end + 1);
  return dump.substr(0, end);
}

std::string foreign_names(std::string_view table) {
  std::string found;
  std::string_view symbol;
  bool below_symbol = false;
  for_each_line(table, [&](std::string_view line) {
    if (!line.starts_with(' ')) symbol = line;
    if (line.starts_with("  Type: variable") && symbol.starts_with('*') && !is_made_by_compiler(symbol) &&
        !symbol.starts_with(kLabelOfDynamic))
      found = in_a_register(shown(symbol.substr(1, symbol.find('/') - 1)));
    else if (line.starts_with("  Type: function") && symbol.starts_with(kLabelOfDynamic))
      found = names_for_assembler(symbol);
    else if (line.starts_with('*') && !line.starts_with(kLabelOfDynamic) && !is_made_by_compiler(line) &&
             !is_label_of_a_file(line))
      found = names_for_assembler(line);
    else if (is_thunk(line) && !is_of_virtual_function(line))
      found =
          fmt::format("Your file has a function called {}, as the compiler's own are. Give it another name.",
                      shown(line.substr(0, line.find('/'))));
    else if (line.starts_with('*') && is_for_hooks(line.substr(1)))
      found = calls_the_simulator(line.substr(1, line.find('/') - 1));
    else if (!is_of_table(line) || (below_symbol && !tells_type(line)))
      found = names_for_assembler(line);
    below_symbol = !is_about_symbol(line);
    return found.empty();
  });
  return found;
}

std::string names_past_wrappers(std::string_view code) {
  const bool is_object = code.starts_with("\x7f\x45LF");  // with debuggers' texts, which look as names do
  for (const std::string_view prefix : {"__real_", "__wrap_"})
    for (std::size_t at = code.find(prefix); at != std::string_view::npos; at = code.find(prefix, at + 1)) {
      if (at > 0 && (is_part_of_name(code[at - 1]) || code[at - 1] == '"'))
        continue;  // a part of one, or a text
      std::size_t end = at;
      while (end < code.size() && is_part_of_name(code[end])) ++end;
      if (is_object && code.substr(at, end - at).find("cuda") == std::string_view::npos) continue;
      return fmt::format(
          "Your file names {}, and names that begin with {} are the linker's. Give it another name.",
          shown(code.substr(at, end - at)), prefix);
    }
  return {};
}

std::string calls_of_the_simulator(std::string_view assembly, const OwnHeaders& headers) {
  PlaceInHeader place(headers);
  std::string_view function;
  std::set<std::string_view> defined;
  // What a thunk has taken in of its function stands on no line of a header; that function is examined
  // itself.
  std::vector<std::pair<std::string_view, std::string_view>> in_thunks;
  std::string found;
  for_each_line(assembly, [&](std::string_view line) {
    line = trimmed(line);
    const std::string_view word = first_word(line);
    const std::string_view behind = trimmed(line.substr(word.size()));
    if (word == ".file") {
      place.add_file(first_word(behind), named_file(line));
    } else if (word == ".loc") {
      const std::string_view file = first_word(behind);
      place.go_to(file, first_word(trimmed(behind.substr(file.size()))));
    } else if (word == ".type") {  // a function begins
      place.leave();
      function = first_word(behind);
    } else if (word == "call" && is_thunk(function)) {
      if (const std::string_view name = own_name(line); !name.empty()) in_thunks.emplace_back(function, name);
    } else if (!has_texts(word)) {
      if (const std::string_view name = own_name(line);
          !name.empty() && !(word == "call" && place.calls(name)))
        found = calls_the_simulator(name);
    }
    if (const std::string_view name = defined_name(word, line); !name.empty()) defined.insert(name);
    return found.empty();
  });
  for (const auto& [thunk, name] : in_thunks)
    if (found.empty() && !defined.contains(function_of_thunk(thunk))) found = calls_the_simulator(name);
  return found;
}

std::string unseen_accesses(const CompilerDumps& dumps, std::string_view source) {
  FunctionReader reader(dumps, source);
  std::string found;
  for_each_line(dumps.blocks, [&](std::string_view line) {
    if (const std::string_view name = hook_by_hand(line); !name.empty()) found = calls_the_simulator(name);
    return found.empty();
  });
  if (!found.empty()) return found;
  for_each_line(dumps.optimized, [&](std::string_view line) {
    found = reader.read(line);
    return found.empty();
  });
  return found;
}

}  // namespace course::grading
