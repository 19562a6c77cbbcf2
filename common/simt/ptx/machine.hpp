#pragma once
/// @file
/// A template made ready to run: a list of steps over 8-byte slots, one or two for each register.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simt/ptx/table.hpp"

namespace simt {
class BlockRunner;
}

namespace simt::ptx {

/// Where a step finds an operand, or puts a result. A slot holds a value in its lowest bytes.
struct Value {
  static constexpr int kConstant = -1, kSpecial = -2, kNowhere = -3;
  int slot = kNowhere;
  bool negated = false;
  std::uint64_t constant = 0;  ///< or the number of a special register
  std::int64_t offset = 0;     ///< of an address
  bool wide = false;           ///< of an address: its register has 64 bits
};

/// What a step may touch while it runs.
struct Frame {
  std::uint64_t* slots;
  BlockRunner& block;
  std::uintptr_t caller;  ///< in the kernel, for messages

  std::uint64_t special(std::uint64_t number) const;

  [[gnu::always_inline]] std::uint64_t bits(const Value& value) const {
    if (value.slot >= 0) return slots[value.slot];
    return value.slot == Value::kSpecial ? special(value.constant) : value.constant;
  }
  template <class T>
  T get(const Value& value) const {
    const std::uint64_t all = bits(value);
    T result;
    std::memcpy(&result, &all, sizeof result);
    return result;
  }
  bool truth(const Value& value) const { return ((bits(value) & 1u) != 0) != value.negated; }

  void set_bits(const Value& value, std::uint64_t bits) const {
    if (value.slot >= 0) slots[value.slot] = bits;
  }
  /// A signed integer fills the slot with its sign, for a register that is wider.
  template <class T>
  void set(const Value& value, T result) const {
    if constexpr (std::is_integral_v<T>) {
      set_bits(value, static_cast<std::uint64_t>(result));
    } else {
      std::uint64_t all = 0;
      std::memcpy(&all, &result, sizeof result);
      set_bits(value, all);
    }
  }
};

struct Step;
using Action = void (*)(const Frame& frame, const Step& step);

struct Step {
  Action act = nullptr;
  int guard = -1;  ///< slot of a predicate
  bool guard_negated = false, branches = false;
  int target = 0;
  Counted counted = Counted::nothing;
  unsigned elements = 1;  ///< of a packed type: 2
  unsigned flags = 0;     ///< of the binding's own
  std::uint64_t mma = 0;  ///< of a product: its SimtMma
  unsigned vector = 1;
  std::vector<Value> values;  ///< a vector's parts follow each other

  const Value& operator[](std::size_t i) const { return values[i]; }
};

/// What a binding has to give: the function, and flags for it, or the SimtMma of a product.
struct Bound {
  Action act;
  unsigned flags = 0;
  std::uint64_t mma = 0;
};

/// @brief The function that carries out an instruction.
Bound bind(const Match& match);

class Machine {
 public:
  /// @throws PtxError
  Machine(std::string_view text, const std::vector<AsmOperand>& operands);

  /// `operands`: their slots, before and after.
  void run(std::uint64_t* operands, BlockRunner& block, std::uintptr_t caller) const;
  std::size_t operand_bytes() const { return operand_slots_ * sizeof(std::uint64_t); }
  /// Whether the operands of "n" and "C" are those that the template was read with.
  bool has_constants(const std::uint64_t* operands) const {
    return std::ranges::all_of(constants_, [&](const Constant& c) { return operands[c.slot] == c.value; });
  }

 private:
  struct Constant {
    unsigned slot;
    std::uint64_t value;
  };

  void run_steps(const Frame& frame) const;

  std::vector<Constant> constants_;
  std::vector<Step> steps_;
  unsigned slots_ = 0, operand_slots_ = 0;
  bool straight_ = true;  ///< no branch
  bool single_ = false;   ///< one step without a predicate, and no registers of its own
};

}  // namespace simt::ptx
