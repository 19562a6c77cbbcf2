#include "grading/build/functions_to_hook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grading/build/compiler_text.hpp"

namespace course::grading {
namespace {

/// Whether an operand of a call may be memory: not a value such as _7 or x_2(D), a number, an address, or
/// what the compiler keeps by itself, such as D.134386.
bool may_be_memory(std::string_view operand) {
  if (operand.empty() || std::string_view("&-{+0123456789").find(operand.front()) != std::string_view::npos)
    return false;
  if (operand.find_first_of("*[>") != std::string_view::npos) return true;
  if (operand.ends_with("(D)") || operand.starts_with("D.")) return false;
  const std::size_t digits = operand.find_last_not_of("0123456789");
  return digits == std::string_view::npos || digits + 1 == operand.size() || operand[digits] != '_';
}

/// Whether a statement is a call with an operand that may be memory.
bool hands_over_memory(std::string_view line) {
  if (line.find(" (") == std::string_view::npos) return false;
  const std::string statement = without_literals(without_places(line));
  if (statement.starts_with("__builtin___")) return false;  // a hook
  const std::size_t end = statement.rfind(')');
  if (end == std::string::npos || statement.find(';', end) == std::string::npos) return false;
  std::size_t begin = end;
  for (int depth = 1; depth > 0 && begin > 0;) {
    --begin;
    depth += statement[begin] == ')' ? 1 : statement[begin] == '(' ? -1 : 0;
  }
  if (begin == 0 || statement[begin - 1] != ' ') return false;
  bool found = false;
  for_each_part(std::string_view(statement).substr(begin + 1, end - begin - 1),
                [&](std::string_view operand) { found = found || may_be_memory(operand); });
  const std::size_t equals = statement.find(" = ");
  return found || (equals < begin && may_be_memory(std::string_view(statement).substr(0, equals)));
}

/// Whether a statement stores to the structure that its function returns, which lies in the caller's memory
/// unless it fits into registers. "<retval>_2(D)" is a pointer, whose target has hooks like any other.
bool builds_result(std::string_view line) {
  const std::size_t at = line.find("<retval>");
  return at != std::string_view::npos && !line.substr(at).starts_with("<retval>_") &&
         line.find(" = ", at) != std::string_view::npos;
}

/// The name of a local variable that a line in front of a function's first block declares; "" for none.
std::string_view declared(std::string_view line) {
  if (!line.ends_with(';')) return {};
  line = line.substr(0, std::min(line.size() - 1, line.find('[')));
  return line.substr(line.rfind(' ') + 1);
}

/// The variable of which a statement loads what an index decides: "table" of "_5 = table.at[_3];".
std::string_view indexed_variable(std::string_view statement) {
  constexpr std::string_view kEquals = " = ", kNoVariable[] = {"MEM", "TARGET_MEM_REF"};
  const std::size_t equals = statement.find(kEquals);
  if (equals == std::string_view::npos || statement.find("[_", equals) == std::string_view::npos) return {};
  const std::string_view value = statement.substr(equals + kEquals.size());
  const std::string_view name = value.substr(0, value.find_first_of("*&(.[-"));
  return std::find(std::begin(kNoVariable), std::end(kNoVariable), name) == std::end(kNoVariable)
             ? name
             : std::string_view();
}

/// The names in the assembly of variables that are not local, each between line ends.
std::string names_of_variables(std::string_view assembly) {
  constexpr std::string_view kType = ".type\t", kObject = ", @object";
  std::string names = "\n";
  for_each_line(assembly, [&](std::string_view line) {
    line = trimmed(line);
    if (line.starts_with(kType) && line.ends_with(kObject))
      names.append(line.substr(kType.size(), line.size() - kType.size() - kObject.size())).append("\n");
    return true;
  });
  return names;
}

}  // namespace

// Of a constant, the compiler hooks no loads, wherever an index leads.
FunctionsToHook functions_to_hook(std::string_view dump, std::string_view assembly) {
  FunctionsToHook functions;
  const std::string variables = names_of_variables(assembly);
  const auto may_be_global = [&](std::string_view name) {
    return variables.find(fmt::format("{}{}", name.size(), name)) != std::string::npos ||
           variables.find(fmt::format("\n{}\n", name)) != std::string::npos;
  };
  std::string_view function;
  FunctionsToHook::Names locals;
  bool in_body = false;
  for_each_line(dump, [&](std::string_view line) {
    if (begins_function(line)) {
      function = mangled_name(line);
      locals.clear();
      in_body = false;
    } else if (!in_body) {
      in_body = trimmed(line).starts_with("<bb ");
      locals.emplace(declared(line));
    } else if (builds_result(line)) {
      functions.everywhere.emplace(function);
    } else if (hands_over_memory(line)) {
      functions.with_operands.emplace(function);
    } else if (line.find("[_") != std::string_view::npos) {
      const std::string statement = without_places(line);
      const std::string_view name = indexed_variable(statement);
      if (!name.empty() && (!locals.contains(name) || may_be_global(name)))
        functions.everywhere.emplace(function);
    }
    return true;
  });
  return functions;
}

}  // namespace course::grading
