#include "grading/build/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "grading/build/compiler_text.hpp"
#include "grading/build/effects_words.hpp"

namespace course::grading {
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

/// Whether a line of the table of symbols is that of a virtual function: "_ZN1D1gEv/2 (virtual int D::g())".
/// The word comes first: what comes behind may be any text of the file's, in the types of parameters.
bool is_of_virtual_function(std::string_view line) {
  line.remove_prefix(std::min(line.find('/') + 1, line.size()));
  line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  return line.starts_with(" (virtual ");
}

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

}  // namespace course::grading
