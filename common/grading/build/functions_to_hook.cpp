#include "grading/build/functions_to_hook.hpp"

#include <algorithm>
#include <optional>

#include "grading/build/compiler_text.hpp"

namespace course::grading {
namespace {

constexpr std::string_view kDecimalDigits = "0123456789", kNumber = "D.";

/// Whether a name ends as those of the compiler's values do: x_2.
bool looks_like_value(std::string_view name) {
  const std::size_t last = name.find_last_not_of(kDecimalDigits);
  return last != std::string_view::npos && last + 1 != name.size() && name[last] == '_';
}

/// The names in a dump with numbers, such as "one_1D.7", that look like values and are none.
FunctionsToHook::Names misleading_names(std::string_view dump) {
  FunctionsToHook::Names names;
  for (std::size_t at = dump.find(kNumber); at != std::string_view::npos; at = dump.find(kNumber, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_part_of_name(dump[begin - 1])) --begin;
    if (const std::string_view name = dump.substr(begin, at - begin); looks_like_value(name))
      names.emplace(name);
  }
  return names;
}

/// Whether an operand of a call may be memory: not a value such as _7 or x_2(D), a number, an address, or
/// what the compiler keeps by itself, such as D.134386. `variables` are called as values are.
bool may_be_memory(std::string_view operand, const FunctionsToHook::Names& variables) {
  if (operand.empty() || std::string_view("&-{+0123456789").find(operand.front()) != std::string_view::npos)
    return false;
  if (operand.find_first_of("*[>") != std::string_view::npos) return true;
  if (operand.ends_with("(D)") || operand.starts_with(kNumber)) return false;
  return !looks_like_value(operand) || operand.find('.') != std::string_view::npos ||
         variables.contains(operand);
}

/// What stands in the last brackets of a line, if there is a blank before them, as before the parameters of a
/// function and the operands of a call.
std::optional<std::string_view> in_last_brackets(std::string_view line) {
  const std::size_t end = line.rfind(')');
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  for (int depth = 1; depth > 0 && begin > 0;) {
    --begin;
    depth += line[begin] == ')' ? 1 : line[begin] == '(' ? -1 : 0;
  }
  if (begin == 0 || line[begin - 1] != ' ') return std::nullopt;
  return line.substr(begin + 1, end - begin - 1);
}

/// The operands of a statement that is a call: "_2, *_3" of "_1 = f (_2, *_3);". Nothing of any other.
std::optional<std::string_view> operands_of(std::string_view statement) {
  return statement.find(';', std::min(statement.rfind(')'), statement.size())) == std::string_view::npos
             ? std::nullopt
             : in_last_brackets(statement);
}

constexpr std::string_view kEquals = " = ";

/// Whether a statement is a call with an operand that may be memory.
bool hands_over_memory(std::string_view line, const FunctionsToHook::Names& variables) {
  if (line.find(" (") == std::string_view::npos) return false;
  const std::string text = without_literals(without_places(line));
  const std::string_view statement = text;
  if (statement.starts_with("__builtin___")) return false;  // a hook
  const std::optional<std::string_view> operands = operands_of(statement);
  if (!operands) return false;
  bool found = false;
  for_each_part(*operands,
                [&](std::string_view operand) { found = found || may_be_memory(operand, variables); });
  const std::size_t equals = statement.find(kEquals);
  return found || (equals < static_cast<std::size_t>(operands->data() - statement.data()) &&
                   may_be_memory(statement.substr(0, equals), variables));
}

/// Whether a statement stores to the structure that its function returns, which lies in the caller's memory
/// unless it fits into registers. "<retval>_2(D)" is a pointer, whose target has hooks like any other.
bool builds_result(std::string_view line) {
  const std::size_t at = line.find("<retval>");
  return at != std::string_view::npos && !line.substr(at).starts_with("<retval>_") &&
         line.find(" = ", at) != std::string_view::npos;
}

/// The name of a local variable that a line in front of a function's first block declares; "" for none. One
/// that is static lies where no frame is.
std::string_view declared(std::string_view line) {
  line = trimmed(line);
  if (!line.ends_with(';') || line.starts_with("static ") || line.starts_with("extern ")) return {};
  line = line.substr(0, std::min(line.size() - 1, line.find('[')));
  return line.substr(line.rfind(' ') + 1);
}

/// The variable that a reference leads into, by its name and number, which no other has: "ownD.7" of
/// "ownD.7.atD.8[_3]" and of "MEM[(const struct RowsD.9 &)&ownD.7].atD.8[_3]".
std::string_view variable_of(std::string_view reference) {
  constexpr std::string_view kAddress = ")&";
  if (const std::size_t at = reference.rfind(kAddress); at != std::string_view::npos)
    reference.remove_prefix(at + kAddress.size());
  const std::size_t number = reference.find(kNumber);
  return number == std::string_view::npos
             ? reference
             : reference.substr(0, reference.find_first_not_of(kDecimalDigits, number + kNumber.size()));
}

/// Finds the functions that reach past the compiler's hooks, in its dump of the pass that sets them. It sets
/// none where it takes the variable for a constant, or has made it itself, wherever an index leads from
/// there.
class UnhookedAccesses {
 public:
  explicit UnhookedAccesses(FunctionsToHook::Names& functions) : functions_(functions) {}

  void take(std::string_view line) {
    if (begins_function(line)) {
      function_ = mangled_name(line);
      locals_.clear();
      in_body_ = false;
    } else if (!in_body_) {
      in_body_ = trimmed(line).starts_with("<bb ");
      if (line.starts_with("__attribute__")) return;
      const std::string code = without_literals(line);  // types may have texts of the file's in them
      locals_.emplace(declared(code));
      add_parameters(code);
    } else {
      take_statement(trimmed(line));
    }
  }

 private:
  /// Those of "floatD.4 course::foldD.5 (floatD.4 xD.6, floatD.4 yD.7)".
  void add_parameters(std::string_view line) {
    const std::optional<std::string_view> parameters =
        line.ends_with(')') ? in_last_brackets(line) : std::nullopt;
    if (!parameters) return;
    for_each_part(*parameters, [&](std::string_view parameter) {
      locals_.emplace(parameter.substr(parameter.rfind(' ') + 1));
    });
  }

  void take_statement(std::string_view line) {
    if (line.empty() || line.starts_with('#') || computes_address(line)) return;
    if (line.starts_with("__builtin___tsan_")) {  // the hook of the statement that follows
      read_ = read_ || line.find("read") != std::string_view::npos;
      written_ = written_ || line.find("write") != std::string_view::npos;
      return;
    }
    if (line.find_first_of("[.") != std::string_view::npos && !goes_by_hooks(without_literals(line)))
      functions_.emplace(function_);
    read_ = written_ = false;
  }

  /// Whether what a statement reaches by an index, or stores to, or loads as volatile, has the hooks that
  /// stood before it.
  bool goes_by_hooks(std::string_view statement) const {
    constexpr std::string_view kVolatile = " ={v} ";
    const bool is_volatile = statement.find(kVolatile) != std::string_view::npos;
    const std::string_view equals_sign = is_volatile ? kVolatile : kEquals;
    const std::size_t equals = statement.find(equals_sign);
    if (equals == std::string_view::npos || operands_of(statement)) return true;
    const std::string_view target = statement.substr(0, equals),
                           source = statement.substr(equals + equals_sign.size());
    // What is constant and not volatile has no load: the compiler knows it.
    const bool stores = is_indexed(target) || is_outside(target),
               loads = is_indexed(source) || (is_volatile && is_outside(source));
    return (written_ || !stores) && (read_ || !loads);
  }

  /// Whether a reference leads to a variable that is no local one of the function.
  bool is_outside(std::string_view reference) const {
    return reference.find(kNumber) != std::string_view::npos && !locals_.contains(variable_of(reference));
  }

  /// Whether a statement is such as "_3 = &_2->atD.7[_1];", which often stands behind a hook or before one.
  static bool computes_address(std::string_view statement) {
    const std::size_t equals = statement.find(kEquals);
    return statement.starts_with('_') && equals != std::string_view::npos &&
           statement.substr(equals + kEquals.size()).starts_with('&');
  }

  /// Whether a reference has an index, and leads into what is no local variable of the function.
  bool is_indexed(std::string_view reference) const {
    return reference.find('[') != std::string_view::npos && !reference.starts_with('&') &&
           !locals_.contains(variable_of(reference));
  }

  FunctionsToHook::Names& functions_;
  FunctionsToHook::Names locals_;
  std::string_view function_;
  bool in_body_ = false, read_ = false, written_ = false;
};

}  // namespace

FunctionsToHook functions_to_hook(const CompilerDumps& dumps) {
  FunctionsToHook functions;
  const FunctionsToHook::Names variables = misleading_names(dumps.accesses);
  std::string_view function;
  bool in_body = false;
  for_each_line(dumps.optimized, [&](std::string_view line) {
    if (begins_function(line)) {
      function = mangled_name(line);
      in_body = false;
    } else if (!in_body) {
      in_body = trimmed(line).starts_with("<bb ");
    } else if (builds_result(line)) {
      functions.everywhere.emplace(function);
    } else if (hands_over_memory(line, variables)) {
      functions.with_operands.emplace(function);
    }
    return true;
  });
  UnhookedAccesses unhooked(functions.everywhere);
  for_each_line(dumps.accesses, [&](std::string_view line) {
    unhooked.take(line);
    return true;
  });
  return functions;
}

}  // namespace course::grading
