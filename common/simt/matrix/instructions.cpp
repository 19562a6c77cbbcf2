// What one lane brings to an instruction of its warp, and what the first lane to go on does for all; and the
// entry points of simt_matrix_abi.h.

#include "simt/matrix/instructions.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "simt/check/recorder.hpp"
#include "simt/matrix/numbers.hpp"
#include "simt/matrix/product.hpp"
#include "simt/runtime/block.hpp"
#include "simt/shim/simt_matrix_abi.h"

namespace simt::matrix {
namespace {

/// An address inside the call of the function that uses this macro.
#define SIMT_CALLER() (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

using LaneOperands = void* const[32];

/// One lane's registers for a product. Only d is written.
struct ProductRegisters {
  void* d;
  const void *a, *b, *c;
};

template <class Instruction>
void perform_product(std::uint64_t which, LaneOperands& operands) {
  const auto instruction = std::bit_cast<Instruction>(which);
  if (!is_known(instruction))
    BlockRunner::current()->raise(
        FaultKind::assertion,
        (name_of(instruction) + " is an instruction of a GPU, with these types").c_str());
  Operands all;
  for (int lane = 0; lane < 32; ++lane) {
    ProductRegisters registers{};
    if (operands[lane] != nullptr) registers = *static_cast<const ProductRegisters*>(operands[lane]);
    const auto bytes = [](const void* of) { return static_cast<std::byte*>(const_cast<void*>(of)); };
    all.d.of_lane[lane] = bytes(registers.d);
    all.a.of_lane[lane] = bytes(registers.a);
    all.b.of_lane[lane] = bytes(registers.b);
    all.c.of_lane[lane] = bytes(registers.c);
  }
  multiply(instruction, all);
}

SimtNumber factors_of_a(const SimtMma& mma) { return mma.a; }
SimtNumber factors_of_b(const SimtMma& mma) { return mma.b; }
SimtNumber factors_of_a(const SimtWmma& wmma) { return wmma.factors; }
SimtNumber factors_of_b(const SimtWmma& wmma) { return wmma.factors; }

template <class Instruction>
void start_product(BlockRunner& block, const char* name, Instruction instruction, ProductRegisters& registers,
                   std::uintptr_t caller) {
  static_assert(sizeof(Instruction) == sizeof(std::uint64_t));
  const auto bytes = [](int elements, SimtNumber number) {
    return static_cast<std::size_t>(elements / 32 * bytes_of(number));
  };
  const auto& [m, n, k] = std::tie(instruction.m, instruction.n, instruction.k);
  using enum check::Kind;
  check::note_registers(read, registers.a, bytes(m * k, factors_of_a(instruction)), caller);
  check::note_registers(read, registers.b, bytes(k * n, factors_of_b(instruction)), caller);
  check::note_registers(read, registers.c, bytes(m * n, instruction.c), caller);
  block.together(
      {name, std::bit_cast<std::uint64_t>(instruction), work_of(instruction), perform_product<Instruction>},
      &registers, caller);
  check::note_registers(write, registers.d, bytes(m * n, instruction.d), caller);
}

/// A matrix of 8 x 8 elements of 16 bits.
struct Tile {
  std::uint16_t at[8][8];

  /// The register of a lane: two neighbours of a row, or of a column.
  unsigned pair(unsigned lane, bool transposed) const {
    const unsigned line = lane / 4, first = 2 * (lane % 4);
    return transposed ? at[first][line] | static_cast<unsigned>(at[first + 1][line]) << 16
                      : at[line][first] | static_cast<unsigned>(at[line][first + 1]) << 16;
  }
  void set_pair(unsigned lane, bool transposed, unsigned pair) {
    const unsigned line = lane / 4, first = 2 * (lane % 4);
    (transposed ? at[first][line] : at[line][first]) = static_cast<std::uint16_t>(pair);
    (transposed ? at[first + 1][line] : at[line][first + 1]) = static_cast<std::uint16_t>(pair >> 16);
  }
};
constexpr std::size_t kRowBytes = sizeof Tile{}.at[0];
constexpr unsigned kPoison = ~0u;  // of a lane that is not there

struct LoadOperands {
  unsigned* to;
  const void* row;
};

void perform_load(std::uint64_t which, LaneOperands& operands) {
  const auto move = std::bit_cast<Move>(which);
  for (int matrix = 0; matrix < move.matrices; ++matrix) {
    Tile tile;
    for (int row = 0; row < 8; ++row) {
      const auto* lane = static_cast<const LoadOperands*>(operands[8 * matrix + row]);
      if (lane != nullptr)
        std::memcpy(tile.at[row], lane->row, kRowBytes);
      else
        std::memset(tile.at[row], 0xff, kRowBytes);
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      if (const auto* registers = static_cast<const LoadOperands*>(operands[lane]))
        registers->to[matrix] = tile.pair(lane, move.transposed != 0);
  }
}

struct StoreOperands {
  void* row;
  const unsigned* from;
};

void perform_store(std::uint64_t which, LaneOperands& operands) {
  const auto move = std::bit_cast<Move>(which);
  for (int matrix = 0; matrix < move.matrices; ++matrix) {
    Tile tile;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const auto* registers = static_cast<const StoreOperands*>(operands[lane]);
      tile.set_pair(lane, move.transposed != 0, registers != nullptr ? registers->from[matrix] : kPoison);
    }
    for (int row = 0; row < 8; ++row)
      if (const auto* lane = static_cast<const StoreOperands*>(operands[8 * matrix + row]))
        std::memcpy(lane->row, tile.at[row], kRowBytes);
  }
}

void perform_transpose(std::uint64_t, LaneOperands& operands) {
  Tile tile;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto* value = static_cast<const unsigned*>(operands[lane]);
    tile.set_pair(lane, false, value != nullptr ? *value : kPoison);
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (auto* value = static_cast<unsigned*>(operands[lane])) *value = tile.pair(lane, true);
}

/// That one lane moves.
std::size_t bytes_of_registers(Move move) {
  return sizeof(unsigned) * static_cast<std::size_t>(move.matrices);
}

/// Tells of this lane's row, and touches it: a bad address is the fault of the lane that gave it.
void use_row(BlockRunner& block, const void* row, Move move, bool writes, std::uintptr_t caller) {
  const bool mine = static_cast<int>(block.lane()) < 8 * move.matrices;
  block.use_matrix_row(
      {mine ? row : nullptr, static_cast<unsigned>(move.matrices), move.transposed != 0, writes}, caller);
  if (mine) (void)*static_cast<const volatile char*>(row);
}

}  // namespace

void multiply_together(BlockRunner& block, SimtMma instruction, void* d, const void* a, const void* b,
                       const void* c, std::uintptr_t caller) {
  ProductRegisters registers{d, a, b, c};
  start_product(block, "mma.sync", instruction, registers, caller);
}

void load_matrices(BlockRunner& block, Move move, unsigned* to, const void* row, std::uintptr_t caller) {
  use_row(block, row, move, false, caller);
  LoadOperands operands{to, row};
  block.together({"ldmatrix", std::bit_cast<std::uint64_t>(move), 0, perform_load}, &operands, caller);
  check::note_registers(check::Kind::write, to, bytes_of_registers(move), caller);
}

void store_matrices(BlockRunner& block, Move move, void* row, const unsigned* from, std::uintptr_t caller) {
  check::note_registers(check::Kind::read, from, bytes_of_registers(move), caller);
  use_row(block, row, move, true, caller);
  StoreOperands operands{row, from};
  block.together({"stmatrix", std::bit_cast<std::uint64_t>(move), 0, perform_store}, &operands, caller);
}

unsigned transpose_matrix(BlockRunner& block, unsigned from, std::uintptr_t caller) {
  block.together({"movmatrix", 0, 0, perform_transpose}, &from, caller);
  block.tell_exchange(caller);
  return from;
}

MmaRegisters registers_of(const SimtMma& mma) {
  const auto count = [](int elements, SimtNumber number) {
    return number == simt_f64 ? elements / 32 : elements * bytes_of(number) / (32 * 4);
  };
  return {count(mma.m * mma.n, mma.d), count(mma.m * mma.k, mma.a), count(mma.k * mma.n, mma.b),
          count(mma.m * mma.n, mma.c)};
}

}  // namespace simt::matrix

using simt::BlockRunner;
extern "C" {

void simt_mma(SimtMma instruction, void* d, const void* a, const void* b, const void* c) {
  simt::matrix::multiply_together(BlockRunner::in_kernel("mma.sync"), instruction, d, a, b, c, SIMT_CALLER());
}

void simt_wmma(SimtWmma instruction, void* d, const void* a, const void* b, const void* c) {
  constexpr const char* kName = "wmma::mma_sync";
  simt::matrix::ProductRegisters registers{d, a, b, c};
  simt::matrix::start_product(BlockRunner::in_kernel(kName), kName, instruction, registers, SIMT_CALLER());
}

void simt_warp_together(const char* name) {
  char operand = 0;
  const auto nothing = [](std::uint64_t, simt::matrix::LaneOperands&) {};
  BlockRunner::in_kernel(name).together({name, 0, 0, nothing}, &operand, SIMT_CALLER());
}

void simt_ldmatrix(unsigned* to, const void* row, int matrices, int transposed) {
  simt::matrix::load_matrices(BlockRunner::in_kernel("ldmatrix"), {matrices, transposed}, to, row,
                              SIMT_CALLER());
}

void simt_stmatrix(void* row, const unsigned* from, int matrices, int transposed) {
  simt::matrix::store_matrices(BlockRunner::in_kernel("stmatrix"), {matrices, transposed}, row, from,
                               SIMT_CALLER());
}

unsigned simt_movmatrix(unsigned from) {
  return simt::matrix::transpose_matrix(BlockRunner::in_kernel("movmatrix"), from, SIMT_CALLER());
}

}  // extern "C"
