#pragma once
/// @file
/// The instructions of simt_matrix_abi.h for those who know the running block and where in the kernel they
/// are: `caller` is an address inside the call, for messages and findings.

#include <cstdint>

#include "simt/shim/simt_matrix_abi.h"

namespace simt {
class BlockRunner;
}

namespace simt::matrix {

void multiply_together(BlockRunner& block, SimtMma instruction, void* d, const void* a, const void* b,
                       const void* c, std::uintptr_t caller);

/// How many registers of 4 bytes, or of 8 for doubles, hold a lane's elements.
struct MmaRegisters {
  int d = 0, a = 0, b = 0, c = 0;
};
MmaRegisters registers_of(const SimtMma& mma);

struct Move {
  int matrices;    ///< 1, 2 or 4
  int transposed;  ///< 1: yes
};
void load_matrices(BlockRunner& block, Move move, unsigned* to, const void* row, std::uintptr_t caller);
void store_matrices(BlockRunner& block, Move move, void* row, const unsigned* from, std::uintptr_t caller);
unsigned transpose_matrix(BlockRunner& block, unsigned from, std::uintptr_t caller);

}  // namespace simt::matrix
