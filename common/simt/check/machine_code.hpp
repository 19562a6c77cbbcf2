#pragma once
/// @file
/// Reads machine code of x86-64, as far as counting its arithmetic asks: how long an instruction is, whether
/// it computes with float, and what it calls.

#include <cstddef>
#include <cstdint>

namespace simt::check {

struct MachineInstruction {
  enum class Does : std::uint8_t {
    other,
    add,  ///< or subtracts floats
    multiply,
    fused,    ///< multiplies and adds floats
    special,  ///< divides floats, or takes a root
    call,     ///< of `target`
    call_by,  ///< of what the pointer at `target` holds
    jump,     ///< to `target`, in any case
    jump_by,  ///< to what the pointer at `target` holds: a stub of the linker's
    leaves    ///< returns, or jumps to a place that it computes
  };
  unsigned bytes = 0;  ///< 0: not understood
  unsigned floats =
      1;  ///< of arithmetic with floats: how many it computes at a time, more if they are packed
  Does does = Does::other;
  std::uintptr_t target = 0;
};

/// The instruction at that address. Source: Intel SDM, volume 2, chapter 2 and appendix A; without AVX-512.
MachineInstruction decode(const std::uint8_t* code);

}  // namespace simt::check
