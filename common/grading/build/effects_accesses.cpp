#include "grading/build/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grading/build/compiler_text.hpp"
#include "grading/build/effects_words.hpp"
#include "grading/confinement/imports.hpp"

namespace course::grading {
namespace {

std::set<std::string_view> functions_of(std::string_view dump) {
  std::set<std::string_view> names;
  for_each_line(dump, [&](std::string_view line) {
    if (begins_function(line)) names.insert(mangled_name(line));
    return true;
  });
  return names;
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
