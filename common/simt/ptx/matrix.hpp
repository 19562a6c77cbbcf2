#pragma once
/// @file
/// mma, ldmatrix, stmatrix, movmatrix. Included by bindings.cpp alone.

#include <bit>

#include "simt/matrix/instructions.hpp"
#include "simt/ptx/memory.hpp"

namespace simt::ptx {

// --- Products ---

/// The instruction in the flags of a step. n is 8 in all of them.
constexpr unsigned packed(const SimtMma& mma) {
  return unsigned{mma.m} | unsigned{mma.k} << 5 | unsigned{mma.d} << 11 | unsigned{mma.a} << 15 |
         unsigned{mma.b} << 19 | unsigned{mma.c} << 23 | unsigned{mma.saturates} << 27;
}
constexpr SimtMma unpacked_mma(unsigned flags) {
  const auto number = [flags](unsigned at) { return static_cast<SimtNumber>(flags >> at & 15u); };
  return {static_cast<unsigned char>(flags & 31u),
          8,
          static_cast<unsigned char>(flags >> 5 & 63u),
          number(11),
          number(15),
          number(19),
          number(23),
          static_cast<unsigned char>(flags >> 27 & 1u)};
}

inline SimtNumber number_named(std::string_view name) {
  if (name == "f16") return simt_f16;
  if (name == "bf16") return simt_bf16;
  if (name == "tf32") return simt_tf32;
  if (name == "f64") return simt_f64;
  if (name == "e4m3") return simt_e4m3;
  if (name == "e5m2") return simt_e5m2;
  if (name == "s8") return simt_s8;
  if (name == "u8") return simt_u8;
  if (name == "s32") return simt_s32;
  return simt_f32;
}

inline void multiply(const Frame& f, const Step& s) {
  const SimtMma mma = unpacked_mma(s.flags);
  const int register_bytes = mma.a == simt_f64 ? 8 : 4;
  alignas(8) std::byte registers[4][8 * sizeof(double)];  // d, a, b, c
  const matrix::MmaRegisters registers_of_lane = matrix::registers_of(mma);
  const int counts[] = {registers_of_lane.d, registers_of_lane.a, registers_of_lane.b, registers_of_lane.c};
  auto value = static_cast<std::size_t>(counts[0]);
  for (int operand = 1; operand < 4; ++operand)
    for (int i = 0; i < counts[operand]; ++i, ++value) {
      const std::uint64_t bits = f.bits(s[value]);
      std::memcpy(registers[operand] + i * register_bytes, &bits, static_cast<std::size_t>(register_bytes));
    }
  matrix::multiply_together(f.block, mma, registers[0], registers[1], registers[2], registers[3], f.caller);
  for (int i = 0; i < counts[0]; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, registers[0] + i * register_bytes, static_cast<std::size_t>(register_bytes));
    f.set_bits(s[static_cast<std::size_t>(i)], bits);
  }
}

/// The words: sync aligned mMnNkK row col [satfinite] D A B C
inline Bound bind_mma(const Match& m) {
  const std::string_view shape = m.words[2];
  const auto k = static_cast<unsigned char>(shape.ends_with("k4")    ? 4
                                            : shape.ends_with("k8")  ? 8
                                            : shape.ends_with("k16") ? 16
                                                                     : 32);
  const std::size_t types = m.words.size() - 4;
  const SimtMma mma = {static_cast<unsigned char>(shape.starts_with("m8") ? 8 : 16),
                       8,
                       k,
                       number_named(m.words[types]),
                       number_named(m.words[types + 1]),
                       number_named(m.words[types + 2]),
                       number_named(m.words[types + 3]),
                       m.has("satfinite")};
  return {multiply, packed(mma)};
}

// --- Moves ---

inline constexpr unsigned kTransposes = 32, kMatricesShift = 6;

inline matrix::Move move_of(const Step& s) {
  return {static_cast<int>(s.flags >> kMatricesShift), (s.flags & kTransposes) != 0};
}
inline unsigned move_flags(const Match& m) {
  const unsigned matrices = m.has("x4") ? 4 : m.has("x2") ? 2 : 1;
  return memory_flags(m) | (m.has("trans") ? kTransposes : 0) | matrices << kMatricesShift;
}
/// Null for a lane whose address is not looked at: it need not be one.
inline void* row_of(const Frame& f, const Step& s, const Value& v) {
  return static_cast<int>(f.block.lane()) < 8 * move_of(s).matrices ? address_of(f, s, v) : nullptr;
}

inline Bound bind_ldmatrix(const Match& m) {
  return {[](const Frame& f, const Step& s) {
            const matrix::Move move = move_of(s);
            const auto count = static_cast<std::size_t>(move.matrices);
            unsigned to[4];
            matrix::load_matrices(f.block, move, to, row_of(f, s, s[count]), f.caller);
            for (std::size_t i = 0; i < count; ++i) f.set(s[i], to[i]);
          },
          move_flags(m)};
}
inline Bound bind_stmatrix(const Match& m) {
  return {[](const Frame& f, const Step& s) {
            const matrix::Move move = move_of(s);
            unsigned from[4] = {};
            for (int i = 0; i < move.matrices; ++i)
              from[i] = f.get<unsigned>(s[static_cast<std::size_t>(i) + 1]);
            matrix::store_matrices(f.block, move, row_of(f, s, s[0]), from, f.caller);
          },
          move_flags(m)};
}
inline Bound bind_movmatrix(const Match&) {
  return {[](const Frame& f, const Step& s) {
    f.set(s[0], matrix::transpose_matrix(f.block, f.get<unsigned>(s[1]), f.caller));
  }};
}

}  // namespace simt::ptx
