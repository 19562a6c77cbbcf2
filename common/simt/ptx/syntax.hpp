#pragma once
/// @file
/// The template of an asm statement, read: registers, labels and instructions, of which nothing is known yet
/// but how they are written.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simt/ptx/types.hpp"

namespace simt::ptx {

/// What is wrong with a template, in one sentence that says what to do, and where in the template.
class PtxError : public std::runtime_error {
 public:
  PtxError(std::size_t at, const std::string& message) : std::runtime_error(message), offset(at) {}
  std::size_t offset;
};

/// An operand of the asm statement.
struct AsmOperand {
  char way = ' ';              ///< '=' written, '+' read and written, ' ' read
  char letter = 'r';           ///< of its constraint
  const char* text = nullptr;  ///< of a 'C', if it is known
  std::uint64_t value = 0;     ///< of an 'n', if it is known
  bool known = false;
};

/// A register that the template can name. Those of the statement's operands come first.
struct Register {
  std::string name;
  Type type;
  unsigned slot;  ///< where it begins among 8-byte slots
};

/// One operand of an instruction, as it is written.
struct Operand {
  enum class Kind : std::uint8_t { reg, integer, real, special, address, vector, nothing, name };
  Kind kind = Kind::nothing;
  std::size_t at = 0;          ///< in the template
  bool negated = false;        ///< !p
  unsigned reg = 0;            ///< index into Template::registers
  std::uint64_t value = 0;     ///< of an integer; of a real number, its bits
  bool known = true;           ///< false of an 'n' whose value is not known
  Type type = Type::none;      ///< of a real number: f32 or f64, `none` if it can be either
  std::int64_t offset = 0;     ///< [reg + offset]
  std::string_view text;       ///< as written; the name of a label or a special register
  std::vector<Operand> parts;  ///< of a vector; of an address, its base; of d|p, the second
};

struct Instruction {
  std::size_t at = 0;
  int guard = -1;  ///< index of the register in front of it; -1: none
  bool guard_negated = false;
  std::string_view opcode;              ///< as written: "ex2.approx.ftz.f32"
  std::vector<std::string_view> words;  ///< of the opcode: "ex2", "approx", "ftz", "f32"
  std::vector<Operand> operands;
  int target = -1;  ///< of a branch: the index of the instruction that it leads to
};

struct Template {
  /// After the strings of 'C' operands were put in; views point into it.
  std::unique_ptr<const std::string> text;
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  unsigned slots = 0;          ///< of all registers
  unsigned operand_slots = 0;  ///< of those, of the statement's operands
};

/// @brief Reads a template. Escapes of the string literal have been resolved already.
/// @throws PtxError.
Template parse(std::string_view text, const std::vector<AsmOperand>& operands);

/// @brief The operands of a string as simt_ptx() gets it: two characters each.
std::vector<AsmOperand> operands_of(std::string_view constraints);

}  // namespace simt::ptx
