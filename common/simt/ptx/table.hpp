#pragma once
/// @file
/// Every instruction that the simulator knows, and which of them a written one is. The table itself is
/// instructions.inc.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simt/ptx/syntax.hpp"

namespace simt::ptx {

/// What check mode counts of an instruction, beside its accesses to memory.
enum class Counted : std::uint8_t { nothing, float_operation, special_function };

/// One row of the table.
struct Entry {
  std::string_view name;       ///< "cp.async"
  std::string_view modifiers;  ///< see instructions.inc
  std::string_view operands;   ///< see instructions.inc
  Counted counted;
  std::string_view section;  ///< of the PTX ISA
  std::string_view what;     ///< what it does, for docs/ptx.md
};
std::span<const Entry> table();

/// An instruction of a template together with its row. Its operands have been checked.
struct Match {
  std::size_t row = 0;
  std::vector<std::string_view> words;  ///< the modifiers, types included
  std::vector<Type> types;              ///< in the order in which they are written
  unsigned vector = 1;                  ///< 2 of .v2
  /// In the order of the table; null: an optional one that is missing.
  std::vector<const Operand*> operands;

  bool has(std::string_view word) const;
  /// The one of these words that is there, or nothing.
  std::string_view one_of(std::initializer_list<std::string_view> words) const;
};

/// @brief Finds the row of an instruction, and holds its operands against it.
/// @throws PtxError for an unknown name or modifier, or operands that do not fit, with the nearest known one.
Match match(const Template& from, const Instruction& instruction);

/// @brief The rows that an opcode such as "ex2.approx.f32" may be, whatever its operands are.
std::vector<std::size_t> rows_of(std::string_view opcode);

/// How a row is written: "ex2.approx{.ftz}.f32 d, a;"
std::string syntax_of(const Entry& entry);

/// @brief Special registers, by their names without '%'. The number of one, or -1.
int special_register(std::string_view name);
struct SpecialRegister {
  std::string_view name;
  Type type;
  std::string_view what;
};
std::span<const SpecialRegister> special_registers();

}  // namespace simt::ptx
