#pragma once
/// @file
/// The products that tensor cores know, for the registers of a whole warp.

#include <string>

#include "simt/matrix/fragments.hpp"
#include "simt/shim/simt_matrix_abi.h"

namespace simt::matrix {

/// The registers of all operands. `d` may be `c`.
struct Operands {
  Registers d, a, b, c;
};

/// Whether that is an instruction of some GPU. Source: PTX ISA, "mma", with the shapes of sm_80 to sm_90.
bool is_known(const SimtMma& instruction);
bool is_known(const SimtWmma& instruction);

/// "mma.m16n8k16"
std::string name_of(const SimtMma& instruction);
std::string name_of(const SimtWmma& instruction);

/// For counters, of the instruction: see MatrixWork.
std::uint32_t work_of(const SimtMma& instruction);
std::uint32_t work_of(const SimtWmma& instruction);

/// D = A B + C. Sums of floats are kept in float, those of doubles in double, products of integers in int.
/// Cost: about 0.2 µs for m16n8k16.
void multiply(const SimtMma& instruction, const Operands& operands);
void multiply(const SimtWmma& instruction, const Operands& operands);

}  // namespace simt::matrix
