#include "grading/build/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "grading/build/compiler_text.hpp"
#include "grading/build/effects_words.hpp"
#include "grading/confinement/imports.hpp"

namespace course::grading {
namespace {

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

bool is_reserved(std::string_view name) { return name.starts_with("simt_") || name.starts_with("course_"); }

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

/// Whether a line of the assembly has the function that finds handlers of exceptions called, or its address
/// loaded, by code. It stores to where it is told; the compiler only tells the unwinder where it is.
bool calls_personality(std::string_view word, std::string_view line) {
  return !word.starts_with('.') && line.find("__gxx_personality_v0") != std::string_view::npos &&
         !word.starts_with("DW.ref.");
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

}  // namespace course::grading
