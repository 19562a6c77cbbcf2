#include "simt/ptx/machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>

#include "simt/check/checker.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/kernel_print.hpp"
#include "simt/runtime/stored_variables.hpp"
#include "simt/shim/simt_ptx.h"

namespace simt::ptx {
namespace {

/// A number as the bits that an operand of that type has.
std::uint64_t constant_bits(const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::real || operand.type != Type::none) return operand.value;
  const auto value = std::bit_cast<double>(operand.value);
  return type == Type::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : operand.value;
}

Value value_of(const Operand& operand, const Template& from, Type type) {
  Value value;
  value.negated = operand.negated;
  switch (operand.kind) {
    case Operand::Kind::reg:
      value.slot = static_cast<int>(from.registers[operand.reg].slot);
      break;
    case Operand::Kind::integer:
    case Operand::Kind::real:
      value.slot = Value::kConstant;
      value.constant = constant_bits(operand, type);
      break;
    case Operand::Kind::special:
      value.slot = Value::kSpecial;
      value.constant = static_cast<std::uint64_t>(special_register(operand.text));
      break;
    case Operand::Kind::address:
      value = value_of(operand.parts.front(), from, Type::u64);
      value.offset = operand.offset;
      value.wide = operand.parts.front().kind == Operand::Kind::reg &&
                   bits_of(from.registers[operand.parts.front().reg].type) == 64;
      break;
    default:
      break;
  }
  return value;
}

Step step_of(const Template& from, const Instruction& instruction) {
  const Match found = match(from, instruction);
  Step step;
  const Bound bound = bind(found);
  step.act = bound.act;
  step.flags = bound.flags;
  step.mma = bound.mma;
  step.vector = found.vector;
  step.counted = table()[found.row].counted;
  const bool packed =
      !found.types.empty() && (found.types[0] == Type::f16x2 || found.types[0] == Type::bf16x2);
  step.elements = packed ? 2 : 1;
  step.guard_negated = instruction.guard_negated;
  if (instruction.guard >= 0)
    step.guard = static_cast<int>(from.registers[static_cast<std::size_t>(instruction.guard)].slot);
  if (instruction.target >= 0) step.branches = true, step.target = instruction.target;
  const Type type = found.types.empty() ? Type::u32 : found.types.back();  // of what is read, as numbers are
  for (const Operand* operand : found.operands) {
    if (operand != nullptr && operand->kind == Operand::Kind::vector)
      for (const Operand& part : operand->parts) step.values.push_back(value_of(part, from, type));
    else
      step.values.push_back(operand == nullptr ? Value{} : value_of(*operand, from, type));
  }
  return step;
}

void count(const Step& step, BlockRunner& block, std::uintptr_t caller) {
  if (step.counted == Counted::special_function) block.special_functions(1, caller);
  if (step.counted == Counted::float_operation) block.float_operations(step.elements, caller);
}

}  // namespace

Machine::Machine(std::string_view text, const std::vector<AsmOperand>& operands) {
  const Template read = parse(text, operands);
  slots_ = read.slots;
  operand_slots_ = read.operand_slots;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].letter == 'n' || operands[i].letter == 'C')
      constants_.push_back({read.registers[i].slot, operands[i].value});
  for (const Instruction& instruction : read.instructions) {
    steps_.push_back(step_of(read, instruction));
    straight_ = straight_ && !steps_.back().branches;
  }
  single_ = straight_ && steps_.size() == 1 && slots_ == operand_slots_ && steps_.front().guard < 0;
}

void Machine::run(std::uint64_t* operands, BlockRunner& block, std::uintptr_t caller) const {
  // The usual statement is one instruction on the operands themselves, maybe in an inner loop.
  if (single_) {
    const Step& step = steps_.front();
    count(step, block, caller);
    return step.act({operands, block, caller}, step);
  }
  if (slots_ == operand_slots_) return run_steps({operands, block, caller});
  constexpr unsigned kUsual = 64;
  std::uint64_t usual[kUsual];
  std::vector<std::uint64_t> many(slots_ > kUsual ? slots_ : 0);
  std::uint64_t* const slots = slots_ > kUsual ? many.data() : usual;
  std::copy(operands, operands + operand_slots_, slots);
  std::fill(slots + operand_slots_, slots + slots_, 0);
  run_steps({slots, block, caller});
  std::copy(slots, slots + operand_slots_, operands);
}

void Machine::run_steps(const Frame& frame) const {
  const auto holds = [&](const Step& step) {
    return step.guard < 0 || ((frame.slots[step.guard] & 1u) != 0) != step.guard_negated;
  };
  const auto carry_out = [&](const Step& step) {
    count(step, frame.block, frame.caller);
    step.act(frame, step);
  };
  if (straight_) {
    for (const Step& step : steps_)
      if (holds(step)) carry_out(step);
    return;
  }
  for (std::size_t i = 0; i < steps_.size();) {
    const Step& step = steps_[i++];
    if (!holds(step)) continue;
    if (!step.branches) {
      carry_out(step);
      continue;
    }
    const auto target = static_cast<std::size_t>(step.target);
    if (target < i) frame.block.spin_hint();  // it may wait for another thread
    i = target;
  }
}

std::uint64_t Frame::special(std::uint64_t number) const {
  const std::string_view name = special_registers()[number].name;
  const auto axis = [&](const auto& index) -> std::uint64_t {
    return name.back() == 'x' ? index.x : name.back() == 'y' ? index.y : index.z;
  };
  const std::uint64_t lane = block.lane(), bit = std::uint64_t{1} << lane, all = 0xffffffffu;
  if (name.starts_with("tid.")) return axis(block.thread_index());
  if (name.starts_with("ntid.")) return axis(block.launch().block);
  if (name.starts_with("ctaid.")) return axis(block.block_index());
  if (name.starts_with("nctaid.")) return axis(block.launch().grid);
  if (name == "laneid") return lane;
  if (name == "warpid") return block.warp();
  if (name == "nwarpid") return 64;
  if (name == "smid") return 0;
  if (name == "nsmid") return 1;
  if (name == "lanemask_eq") return bit;
  if (name == "lanemask_lt") return bit - 1;
  if (name == "lanemask_le") return bit | (bit - 1);
  if (name == "lanemask_gt") return all & ~(bit | (bit - 1));
  if (name == "lanemask_ge") return all & ~(bit - 1);
  if (name == "dynamic_smem_size") return block.dynamic_shared_bytes();
  const auto time = static_cast<std::uint64_t>(simt_clock());
  return name.ends_with("hi")                            ? time >> 32
         : name.ends_with("64") || name == "globaltimer" ? time
                                                         : time & all;
}

}  // namespace simt::ptx

namespace {

using simt::ptx::AsmOperand;
using simt::ptx::Machine;

/// The operands with the values of constants, which are the same at every use.
std::vector<AsmOperand> given_operands(const std::uint64_t* operands, const char* constraints) {
  std::vector<AsmOperand> given = simt::ptx::operands_of(constraints);
  for (AsmOperand& operand : given) {
    operand.known = true;
    operand.value = *operands;
    if (operand.letter == 'C') operand.text = reinterpret_cast<const char*>(*operands);
    operands += operand.letter == 'q' ? 2 : 1;
  }
  return given;
}

const Machine& prepare(SimtPtx& statement, const std::vector<AsmOperand>& given) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const void* done = __atomic_load_n(&statement.code, __ATOMIC_ACQUIRE))
    return *static_cast<const Machine*>(done);
  auto machine = std::make_unique<Machine>(statement.text, given);
  __atomic_store_n(&statement.code, machine.get(), __ATOMIC_RELEASE);
  simt::stored_variables().leave_out(&statement.code, sizeof statement.code);
  return *machine.release();  // as long as the statement, which is static
}

const Machine& prepare_in_kernel(simt::BlockRunner& block, SimtPtx& statement, const std::uint64_t* operands,
                                 const char* constraints, std::uintptr_t caller) {
  char text[400] = {};
  {
    const std::vector<AsmOperand> given = given_operands(operands, constraints);
    for (const AsmOperand& operand : given)
      if (operand.text != nullptr) simt::note_text(operand.text, simt::kWholeText, caller);
    const simt::check::NothingRecorded guard;
    try {
      return prepare(statement, given);
    } catch (const simt::ptx::PtxError& error) {
      std::strncpy(text, error.what(), sizeof text - 1);
    }
  }
  block.raise(simt::FaultKind::bad_ptx, text);
}

}  // namespace

extern "C" void simt_ptx(SimtPtx* statement, std::uint64_t* operands, const char* constraints) {
  simt::BlockRunner& block = simt::BlockRunner::in_kernel("inline PTX");
  const std::uintptr_t caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
  const void* code = __atomic_load_n(&statement->code, __ATOMIC_ACQUIRE);
  const Machine& machine = code != nullptr
                               ? *static_cast<const Machine*>(code)
                               : prepare_in_kernel(block, *statement, operands, constraints, caller);
  if (!machine.has_constants(operands))
    block.raise(
        simt::FaultKind::bad_ptx,
        "An operand of \"n\" or \"C\" is a constant: every use of the statement brings what the first "
        "has brought. Write \"r\" or \"l\" for a number that changes.");
  simt::check::note_registers(simt::check::Kind::read, operands, machine.operand_bytes(), caller);
  machine.run(operands, block, caller);
  simt::check::note_registers(simt::check::Kind::write, operands, machine.operand_bytes(), caller);
}
