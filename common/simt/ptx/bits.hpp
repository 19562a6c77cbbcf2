#pragma once
/// @file
/// Logic, shifts and moves of bits, comparisons and selections. Included by bindings.cpp alone.

#include <algorithm>
#include <cstdlib>

#include "simt/ptx/arithmetic.hpp"

namespace simt::ptx {

// --- Counting and finding bits ---

struct Popc {
  template <class T>
  static unsigned of(T a) {
    return static_cast<unsigned>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  static unsigned of(T a) {
    return static_cast<unsigned>(std::countl_zero(a));
  }
};
template <class Op, class T>
void count_bits(const Frame& f, const Step& s) {
  f.set(s[0], Op::of(f.get<T>(s[1])));
}
template <class Op>
Bound bind_bits(const Match& m) {
  return {m.types[0] == Type::b64 ? count_bits<Op, std::uint64_t> : count_bits<Op, std::uint32_t>};
}

template <class T, bool kShiftAmount>
void find_bit(const Frame& f, const Step& s) {
  using U = std::make_unsigned_t<T>;
  const T a = f.get<T>(s[1]);
  const U bits = static_cast<U>(std::is_signed_v<T> && a < T(0) ? ~a : a);
  const auto width = static_cast<unsigned>(8 * sizeof(T)),
             zeros = static_cast<unsigned>(std::countl_zero(bits));
  f.set(s[0], bits == 0 ? 0xffffffffu : kShiftAmount ? zeros : width - 1 - zeros);
}
inline Bound bind_bfind(const Match& m) {
  const bool shift = m.has("shiftamt");
  return for_integer(m.types[0], [shift](auto t) {
    return Bound{shift ? find_bit<decltype(t), true> : find_bit<decltype(t), false>};
  });
}
template <class T>
void reverse_bits(const Frame& f, const Step& s) {
  T from = f.get<T>(s[1]), to = 0;
  for (std::size_t i = 0; i < 8 * sizeof(T); ++i, from = static_cast<T>(from >> 1))
    to = static_cast<T>(to << 1 | (from & 1u));
  f.set(s[0], to);
}
inline Bound bind_brev(const Match& m) {
  return {m.types[0] == Type::b64 ? reverse_bits<std::uint64_t> : reverse_bits<std::uint32_t>};
}

/// Positions and lengths count modulo 256; past the sign bit there is more sign.
template <class T>
void extract_bits(const Frame& f, const Step& s) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned kWidth = 8 * sizeof(T);
  const T a = f.get<T>(s[1]);
  const unsigned position = f.get<std::uint8_t>(s[2]), length = f.get<std::uint8_t>(s[3]);
  U result = 0;
  if (length > 0) {
    const unsigned last = std::min(position + length - 1, kWidth - 1);
    const bool sign = std::is_signed_v<T> && ((static_cast<U>(a) >> last) & 1u) != 0;
    if (position < kWidth) result = static_cast<U>(static_cast<U>(a) >> position);
    if (length < kWidth) {
      const U mask = static_cast<U>((U{1} << length) - 1);
      result = static_cast<U>(result & mask);
    }
    const unsigned taken = position < kWidth ? std::min(length, kWidth - position) : 0;
    if (sign && taken < kWidth) result = static_cast<U>(result | (~U{0} << taken));
  }
  f.set(s[0], static_cast<T>(result));
}
inline Bound bind_bfe(const Match& m) {
  return for_integer(m.types[0], [](auto t) { return Bound{extract_bits<decltype(t)>}; });
}
template <class T>
void insert_bits(const Frame& f, const Step& s) {
  constexpr unsigned kWidth = 8 * sizeof(T);
  const T a = f.get<T>(s[1]), b = f.get<T>(s[2]);
  const unsigned position = f.get<std::uint8_t>(s[3]), length = f.get<std::uint8_t>(s[4]);
  if (position >= kWidth || length == 0) return f.set(s[0], b);
  const T mask = static_cast<T>((length >= kWidth ? ~T{0} : (T{1} << length) - 1) << position);
  f.set(s[0], static_cast<T>((b & ~mask) | (static_cast<T>(a << position) & mask)));
}
inline Bound bind_bfi(const Match& m) {
  return {m.types[0] == Type::b64 ? insert_bits<std::uint64_t> : insert_bits<std::uint32_t>};
}

template <class A, class B>
void dot_of_bytes(const Frame& f, const Step& s) {
  const auto a = f.get<std::uint32_t>(s[1]), b = f.get<std::uint32_t>(s[2]);
  auto sum = f.get<std::uint32_t>(s[3]);
  for (unsigned at = 0; at < 32; at += 8)
    sum += static_cast<std::uint32_t>(static_cast<A>(a >> at) * static_cast<B>(b >> at));
  f.set(s[0], sum);
}
inline Bound bind_dp4a(const Match& m) {
  const bool a = m.types[0] == Type::s32, b = m.types[1] == Type::s32;
  return {a ? (b ? dot_of_bytes<std::int8_t, std::int8_t> : dot_of_bytes<std::int8_t, std::uint8_t>)
            : (b ? dot_of_bytes<std::uint8_t, std::int8_t> : dot_of_bytes<std::uint8_t, std::uint8_t>)};
}

template <class A, class B>
void byte_differences(const Frame& f, const Step& s) {
  const auto a = f.get<std::uint32_t>(s[1]), b = f.get<std::uint32_t>(s[2]);
  auto sum = f.get<std::uint32_t>(s[3]);
  for (unsigned at = 0; at < 32; at += 8)
    sum += static_cast<std::uint32_t>(std::abs(static_cast<A>(a >> at) - static_cast<B>(b >> at)));
  f.set(s[0], sum);
}
inline Bound bind_byte_differences(const Match& m) {
  const bool a = m.types[1] == Type::s32, b = m.types[2] == Type::s32;
  return {
      a ? (b ? byte_differences<std::int8_t, std::int8_t> : byte_differences<std::int8_t, std::uint8_t>)
        : (b ? byte_differences<std::uint8_t, std::int8_t> : byte_differences<std::uint8_t, std::uint8_t>)};
}

// --- Logic and shifts ---

struct And {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a & b; }
};
struct Or {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a | b; }
};
struct Xor {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a ^ b; }
};
template <class Op>
void logic(const Frame& f, const Step& s) {
  f.set_bits(s[0], Op::of(f.bits(s[1]), f.bits(s[2])));
}
template <class Op>
Bound bind_logic(const Match&) {
  return {logic<Op>};
}
inline Bound bind_not(const Match&) {
  return {[](const Frame& f, const Step& s) { f.set_bits(s[0], ~f.bits(s[1])); }};
}
inline Bound bind_lop3(const Match&) {
  return {[](const Frame& f, const Step& s) {
    const auto a = f.get<std::uint32_t>(s[1]), b = f.get<std::uint32_t>(s[2]), c = f.get<std::uint32_t>(s[3]);
    const auto lut = f.get<std::uint8_t>(s[4]);
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 8; ++i)
      if ((lut >> i & 1u) != 0)
        result |= ((i & 4u) != 0 ? a : ~a) & ((i & 2u) != 0 ? b : ~b) & ((i & 1u) != 0 ? c : ~c);
    f.set(s[0], result);
  }};
}
struct Shl {
  template <class T>
  static T of(T a, unsigned by) {
    return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << by);
  }
};
struct Shr {
  template <class T>
  static T of(T a, unsigned by) {
    constexpr auto kLast = static_cast<unsigned>(8 * sizeof(T) - 1);
    if (by > kLast && std::is_unsigned_v<T>) return 0;
    return static_cast<T>(a >> std::min(by, kLast));
  }
};
template <class Op, class T>
void shift(const Frame& f, const Step& s) {
  f.set(s[0], Op::of(f.get<T>(s[1]), f.get<std::uint32_t>(s[2])));
}
template <class Op>
Bound bind_shift(const Match& m) {
  return for_integer(m.types[0], [](auto t) { return Bound{shift<Op, decltype(t)>}; });
}
template <bool kLeft, bool kClamps>
void funnel(const Frame& f, const Step& s) {
  const std::uint64_t both = f.get<std::uint32_t>(s[1]) | f.bits(s[2]) << 32;
  const auto c = f.get<std::uint32_t>(s[3]);
  const unsigned by = kClamps ? std::min(c, 32u) : c & 31u;
  f.set(s[0], static_cast<std::uint32_t>(kLeft ? both << by >> 32 : both >> by));
}
inline Bound bind_shf(const Match& m) {
  const bool clamps = m.has("clamp");
  return {m.has("l") ? (clamps ? funnel<true, true> : funnel<true, false>)
                     : (clamps ? funnel<false, true> : funnel<false, false>)};
}

/// Which byte of {b, a} comes to each of the four places, and whether its sign takes its place.
inline std::uint32_t selector(std::string_view mode, std::uint32_t control) {
  const std::uint32_t c = control & 3u;
  if (mode == "f4e") return 0x3210u + 0x1111u * c;
  if (mode == "b4e") return c == 0 ? 0x5670u : c == 1 ? 0x6701u : c == 2 ? 0x7012u : 0x0123u;
  if (mode == "rc8") return 0x1111u * c;
  if (mode == "ecl") return 0x1000u * 3 + 0x100u * std::max(2u, c) + 0x10u * std::max(1u, c) + c;
  if (mode == "ecr") return 0x1000u * c + 0x100u * std::min(2u, c) + 0x10u * std::min(1u, c);
  if (mode == "rc16") return (c & 1u) != 0 ? 0x3232u : 0x1010u;
  return control;
}
inline constexpr std::string_view kPermuteModes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
inline void permute(const Frame& f, const Step& s) {
  const std::uint64_t bytes = f.get<std::uint32_t>(s[1]) | std::uint64_t{f.get<std::uint32_t>(s[2])} << 32;
  const std::uint32_t choice = selector(kPermuteModes[s.flags], f.get<std::uint32_t>(s[3]));
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t wanted = choice >> (4 * i) & 0xfu;
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (wanted & 7u)) & 0xffu);
    if (s.flags == 0 && (wanted & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;
    result |= byte << (8 * i);
  }
  f.set(s[0], result);
}
inline Bound bind_prmt(const Match& m) {
  const std::string_view mode = m.one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  const auto* const found = std::find(std::begin(kPermuteModes), std::end(kPermuteModes), mode);
  return {permute, static_cast<unsigned>(found - kPermuteModes)};
}

// --- Comparisons and selections ---

enum class Relation : unsigned { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
inline constexpr std::string_view kRelations[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                                  "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class T>
bool compares(Relation relation, T a, T b) {
  const bool unordered = a != a || b != b;
  switch (relation) {
    case Relation::eq:
      return !unordered && a == b;
    case Relation::ne:
      return !unordered && a != b;
    case Relation::lt:
      return a < b;
    case Relation::le:
      return a <= b;
    case Relation::gt:
      return a > b;
    case Relation::ge:
      return a >= b;
    case Relation::equ:
      return unordered || a == b;
    case Relation::neu:
      return a != b;
    case Relation::ltu:
      return unordered || a < b;
    case Relation::leu:
      return unordered || a <= b;
    case Relation::gtu:
      return unordered || a > b;
    case Relation::geu:
      return unordered || a >= b;
    case Relation::num:
      return !unordered;
    case Relation::nan:
      return unordered;
  }
  return false;
}
// Flags: the relation, and how c takes part.
inline constexpr unsigned kWithAnd = 1u << 4, kWithOr = 2u << 4, kWithXor = 3u << 4, kFlushes = 1u << 6;
inline unsigned relation_flags(const Match& m) {
  static constexpr std::pair<std::string_view, unsigned> kOld[] = {
      {"lo", 2}, {"ls", 3}, {"hi", 4}, {"hs", 5}};
  unsigned flags = 0;
  for (unsigned i = 0; i < std::size(kRelations); ++i)
    if (m.has(kRelations[i])) flags = i;
  for (const auto& [word, number] : kOld)
    if (m.has(word)) flags = number;
  return flags |
         (m.has("and")   ? kWithAnd
          : m.has("or")  ? kWithOr
          : m.has("xor") ? kWithXor
                         : 0) |
         (m.has("ftz") ? kFlushes : 0);
}
/// Half and Bfloat16 are not numbers themselves: they say what 16 bits mean.
template <class T>
inline constexpr bool kIsFormat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

/// Compares the operands `first` and its neighbour; of 16-bit numbers, those that begin at bit `at`.
template <class T>
bool compare(const Frame& f, const Step& s, std::size_t first, [[maybe_unused]] unsigned at = 0) {
  const bool flush = (s.flags & kFlushes) != 0;
  const auto number = [&](const Value& value) {
    if constexpr (kIsFormat<T>) {
      const float x = T::to_float(static_cast<std::uint16_t>(f.bits(value) >> at));
      return flush ? flushed16<T>(x) : x;
    } else if constexpr (std::is_same_v<T, float>) {
      return flush ? flushed(f.get<float>(value)) : f.get<float>(value);
    } else {
      return f.get<T>(value);
    }
  };
  return compares(static_cast<Relation>(s.flags & 15u), number(s[first]), number(s[first + 1]));
}
/// The comparison together with c, if the instruction has one.
inline bool with_c(const Frame& f, const Step& s, std::size_t c, bool holds) {
  switch (s.flags & kWithXor) {
    case kWithAnd:
      return holds && f.truth(s[c]);
    case kWithOr:
      return holds || f.truth(s[c]);
    case kWithXor:
      return holds != f.truth(s[c]);
    default:
      return holds;
  }
}
/// Calls `make` with the C++ type by which operands of that type are compared; of 16 bits, with the format.
template <class Make>
Bound for_compared(Type type, Make make) {
  switch (type) {
    case Type::f32:
      return make(float{});
    case Type::f64:
      return make(double{});
    case Type::f16:
    case Type::f16x2:
      return make(Half{});
    case Type::bf16:
    case Type::bf16x2:
      return make(Bfloat16{});
    default:
      return for_integer(type, make);
  }
}
inline bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

/// q is the opposite of p, of pairs the comparison of the upper halves. Single 16-bit numbers have no q.
template <class T, bool kPair>
void set_predicate(const Frame& f, const Step& s) {
  constexpr bool kHasQ = kPair || !kIsFormat<T>;
  constexpr std::size_t kA = kHasQ ? 2 : 1, kC = kA + 2;
  const bool holds = compare<T>(f, s, kA), other = kPair ? compare<T>(f, s, kA, 16) : !holds;
  const bool p = with_c(f, s, kC, holds), q = with_c(f, s, kC, other);
  f.set_bits(s[0], p);
  if constexpr (kHasQ) f.set_bits(s[1], q);
}
inline Bound bind_setp(const Match& m) {
  Bound bound = for_compared(m.types[0], [&](auto t) {
    using T = decltype(t);
    if constexpr (kIsFormat<T>)
      if (is_pair(m.types[0])) return Bound{set_predicate<T, true>};
    return Bound{set_predicate<T, false>};
  });
  bound.flags = relation_flags(m);
  return bound;
}

/// What `set` writes if the comparison holds, of a result of that type.
constexpr std::uint32_t true_value(Type type) {
  switch (type) {
    case Type::f32:
      return 0x3f800000u;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00u;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80u;
    case Type::u16:
    case Type::s16:
      return 0xffffu;
    default:
      return 0xffffffffu;
  }
}
// Flags, beside those of the relation: what stands for true is true_value() of this type.
inline constexpr unsigned kResultShift = 8;
template <class T, bool kPair>
void set_value(const Frame& f, const Step& s) {
  const std::uint32_t yes = true_value(static_cast<Type>(s.flags >> kResultShift));
  std::uint32_t result = with_c(f, s, 3, compare<T>(f, s, 1)) ? yes : 0;
  if constexpr (kPair)
    result = (result & 0xffffu) | (with_c(f, s, 3, compare<T>(f, s, 1, 16)) ? yes << 16 : 0);
  f.set(s[0], result);
}
inline Bound bind_set(const Match& m) {
  Bound bound = for_compared(m.types[1], [&](auto t) {
    using T = decltype(t);
    if constexpr (kIsFormat<T>)
      if (is_pair(m.types[1])) return Bound{set_value<T, true>};
    return Bound{set_value<T, false>};
  });
  bound.flags = relation_flags(m) | static_cast<unsigned>(m.types[0]) << kResultShift;
  return bound;
}
inline Bound bind_selp(const Match&) {
  return {[](const Frame& f, const Step& s) { f.set_bits(s[0], f.bits(f.truth(s[3]) ? s[1] : s[2])); }};
}

// --- Moves ---

inline Bound bind_mov(const Match&) {
  return {[](const Frame& f, const Step& s) { f.set_bits(s[0], f.bits(s[1])); }};
}
/// Flags: bits of a part. A part of 64 bits goes to, or comes from, the second slot of a pair.
inline void pack(const Frame& f, const Step& s) {
  if (s.flags == 64) {
    const std::uint64_t low = f.bits(s[1]), high = f.bits(s[2]);
    f.slots[s[0].slot] = low;
    f.slots[s[0].slot + 1] = high;
    return;
  }
  std::uint64_t whole = 0;
  for (std::size_t i = 1; i < s.values.size(); ++i)
    whole |= (f.bits(s[i]) & ((std::uint64_t{1} << s.flags) - 1)) << (s.flags * (i - 1));
  f.set_bits(s[0], whole);
}
inline void unpack(const Frame& f, const Step& s) {
  const Value& from = s.values.back();
  if (s.flags == 64) {
    const std::uint64_t low = f.slots[from.slot], high = f.slots[from.slot + 1];
    f.set_bits(s[0], low);
    f.set_bits(s[1], high);
    return;
  }
  const std::uint64_t whole = f.bits(from);
  for (std::size_t i = 0; i + 1 < s.values.size(); ++i)
    f.set_bits(s[i], whole >> (s.flags * i) & ((std::uint64_t{1} << s.flags) - 1));
}
inline unsigned part_bits(const Match& m, const Operand& vector) {
  return bits_of(m.types[0]) / static_cast<unsigned>(vector.parts.size());
}
inline Bound bind_pack(const Match& m) { return {pack, part_bits(m, *m.operands[1])}; }
inline Bound bind_unpack(const Match& m) { return {unpack, part_bits(m, *m.operands[0])}; }

}  // namespace simt::ptx
