#pragma once
/// @file
/// mma, ldmatrix, stmatrix, movmatrix. Included by bindings.cpp alone.

#include <bit>

#include "simt/matrix/instructions.hpp"
#include "simt/ptx/memory.hpp"

namespace simt::ptx {

// --- Products ---

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

/// `Register`: what one register holds, 4 bytes, or 8 of doubles.
template <class Register>
void multiply(const Frame& f, const Step& s) {
  const auto mma = std::bit_cast<SimtMma>(s.mma);
  const matrix::MmaRegisters counts = matrix::registers_of(mma);
  Register d[8], a[8], b[8], c[8];  // A of m16n8k16 has 8 doubles
  auto value = static_cast<std::size_t>(counts.d);
  const auto read = [&](Register* registers, int count) {
    for (int i = 0; i < count; ++i) registers[i] = static_cast<Register>(f.bits(s[value++]));
  };
  read(a, counts.a);
  read(b, counts.b);
  read(c, counts.c);
  matrix::multiply_together(f.block, mma, d, a, b, c, f.caller);
  for (int i = 0; i < counts.d; ++i) f.set_bits(s[static_cast<std::size_t>(i)], d[i]);
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
  return {.act = mma.a == simt_f64 ? multiply<std::uint64_t> : multiply<std::uint32_t>,
          .mma = std::bit_cast<std::uint64_t>(mma)};
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
