#pragma once
/// @file
/// Loads, stores, atomics, fences and asynchronous copies. Included by bindings.cpp alone.

#include "simt/check/checker.hpp"
#include "simt/ptx/bits.hpp"
#include "simt/runtime/block.hpp"

namespace simt::ptx {

// --- Addresses ---

/// Flags of what touches memory.
inline constexpr unsigned kShared = 1, kVolatile = 2, kAcquire = 4, kRelease = 8, kOfBlock = 16;

inline void* address_in(const Frame& f, const Value& v, bool shared) {
  const std::uint64_t base = v.wide || v.slot == Value::kConstant ? f.bits(v) : f.get<std::uint32_t>(v);
  const std::uint64_t address = base + static_cast<std::uint64_t>(v.offset);
  return shared ? f.block.from_shared(address) : reinterpret_cast<void*>(address);
}
inline void* address_of(const Frame& f, const Step& s, const Value& v) {
  return address_in(f, v, (s.flags & kShared) != 0);
}

inline unsigned memory_flags(const Match& m) {
  const bool shared = m.has("shared") || m.has("shared::cta");
  return (shared ? kShared : 0) |
         (m.has("volatile") || m.has("relaxed") || m.has("acquire") || m.has("release") ? kVolatile : 0) |
         (m.has("acquire") || m.has("acq_rel") ? kAcquire : 0) |
         (m.has("release") || m.has("acq_rel") ? kRelease : 0) | (m.has("cta") ? kOfBlock : 0);
}

inline void need_aligned(const Frame& f, const void* address, unsigned bytes) {
  check::need_aligned(f.block, address, bytes, f.caller);
}

/// Tells check mode what is about to be touched.
inline void announce(const Frame& f, const Step& s, check::Kind kind, void* address, unsigned bytes) {
  need_aligned(f, address, bytes);
  if (check::active_recorder != nullptr)  // which gives way itself
    check::note_runtime_access(kind, address, bytes, (s.flags & kVolatile) != 0, f.caller);
  else if ((s.flags & kVolatile) != 0 && kind == check::Kind::read)
    f.block.spin_hint();
}

inline check::FenceScope scope_of(unsigned flags) {
  return (flags & kOfBlock) != 0 ? check::FenceScope::block : check::FenceScope::device;
}
inline void fence(const Frame& f, unsigned flags) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (check::active_recorder != nullptr) check::Checker::get().fence(scope_of(flags), f.caller);
}
inline Bound bind_fence(const Match& m) {
  return {[](const Frame& f, const Step& s) { fence(f, s.flags); }, m.has("cta") ? kOfBlock : 0u};
}
inline Bound bind_nothing(const Match&) {
  return {[](const Frame&, const Step&) {}};
}
inline Bound bind_policy(const Match&) {
  return {[](const Frame& f, const Step& s) { f.set_bits(s[0], 0); }};
}

// --- Loads and stores: one access for a vector ---

template <class T, unsigned kCount>
void load(const Frame& f, const Step& s) {
  void* const from = address_of(f, s, s[kCount]);
  announce(f, s, check::Kind::read, from, sizeof(T) * kCount);
  T values[kCount];
  std::memcpy(values, from, sizeof values);
  for (unsigned i = 0; i < kCount; ++i) f.set(s[i], values[i]);
}
template <class T, unsigned kCount>
void store(const Frame& f, const Step& s) {
  void* const to = address_of(f, s, s[0]);
  announce(f, s, check::Kind::write, to, sizeof(T) * kCount);
  T values[kCount];
  for (unsigned i = 0; i < kCount; ++i) values[i] = f.get<T>(s[1 + i]);
  std::memcpy(to, values, sizeof values);
}

/// A type as it lies in memory. A real number is moved as bits.
inline Type as_stored(Type type) {
  if (type == Type::f32) return Type::u32;
  return type == Type::f64 ? Type::u64 : type;
}
inline Bound bind_load(const Match& m) {
  Bound bound = for_integer(as_stored(m.types[0]), [&](auto t) {
    using T = decltype(t);
    return Bound{m.vector == 4 ? load<T, 4> : m.vector == 2 ? load<T, 2> : load<T, 1>};
  });
  bound.flags = memory_flags(m);
  return bound;
}
inline Bound bind_store(const Match& m) {
  Bound bound = for_integer(as_stored(m.types[0]), [&](auto t) {
    using T = decltype(t);
    return Bound{m.vector == 4 ? store<T, 4> : m.vector == 2 ? store<T, 2> : store<T, 1>};
  });
  bound.flags = memory_flags(m);
  return bound;
}

inline void announce_atomic(const Frame& f, const Step& s, void* address, unsigned bytes,
                            SimtAtomic operation) {
  need_aligned(f, address, bytes);
  f.block.spin_hint();
  if (check::active_recorder != nullptr)
    check::Checker::get().atomic(address, bytes, operation, f.caller, scope_of(s.flags));
}
/// A load or a store that is atomic. In shared memory, check mode knows it by that; elsewhere, as volatile.
inline void announce_strong(const Frame& f, const Step& s, check::Kind kind, void* address, unsigned bytes) {
  if (f.block.is_shared(address))
    return announce_atomic(f, s, address, bytes,
                           kind == check::Kind::read ? simt_atomic_load : simt_atomic_exchange);
  if (check::active_recorder != nullptr) check::Checker::get().note_scope(scope_of(s.flags), f.caller);
  announce(f, s, kind, address, bytes);
}

template <class T>
void atomic_load(const Frame& f, const Step& s) {
  auto* const from = static_cast<T*>(address_of(f, s, s[1]));
  announce_strong(f, s, check::Kind::read, from, sizeof(T));
  f.set(s[0], __atomic_load_n(from, __ATOMIC_SEQ_CST));
  if ((s.flags & kAcquire) != 0) fence(f, s.flags);
}
template <class T>
void atomic_store(const Frame& f, const Step& s) {
  if ((s.flags & kRelease) != 0) fence(f, s.flags);
  auto* const to = static_cast<T*>(address_of(f, s, s[0]));
  announce_strong(f, s, check::Kind::write, to, sizeof(T));
  __atomic_store_n(to, f.get<T>(s[1]), __ATOMIC_SEQ_CST);
}
inline Bound bind_atomic_load(const Match& m) {
  Bound bound = for_integer(as_stored(m.types[0]), [](auto t) { return Bound{atomic_load<decltype(t)>}; });
  bound.flags = memory_flags(m);
  return bound;
}
inline Bound bind_atomic_store(const Match& m) {
  Bound bound = for_integer(as_stored(m.types[0]), [](auto t) { return Bound{atomic_store<decltype(t)>}; });
  bound.flags = memory_flags(m);
  return bound;
}

// --- Atomics ---

struct Exchange {
  template <class T>
  static T of(T, T b) {
    return b;
  }
};
struct Increase {
  template <class T>
  static T of(T a, T b) {
    return a >= b ? T(0) : static_cast<T>(a + 1);
  }
};
struct Decrease {
  template <class T>
  static T of(T a, T b) {
    return a == 0 || a > b ? b : static_cast<T>(a - 1);
  }
};
struct AndBits {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct OrBits {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct XorBits {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

/// Replaces what lies there by change(it), and returns what it was.
template <class Bits, class Change>
Bits update(const Frame& f, const Step& s, void* where, SimtAtomic operation, Change change) {
  if ((s.flags & kRelease) != 0) fence(f, s.flags);
  auto* const at = static_cast<Bits*>(where);
  announce_atomic(f, s, at, sizeof(Bits), operation);
  Bits before = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (
      !__atomic_compare_exchange_n(at, &before, change(before), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  if ((s.flags & kAcquire) != 0) fence(f, s.flags);
  return before;
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;

inline constexpr unsigned kMostElements = 8;

/// Replaces each element at the address by change(it, its b). kReturns: `atom d, [a], b`, else `red [a], b`.
template <class Bits, bool kReturns, class Change>
void update_elements(const Frame& f, const Step& s, SimtAtomic operation, Change change) {
  const std::size_t where = kReturns ? s.vector : 0;
  auto* const at = static_cast<Bits*>(address_of(f, s, s[where]));
  need_aligned(f, at, s.vector * static_cast<unsigned>(sizeof(Bits)));
  Bits b[kMostElements];  // read before any d is written, which may be the same register
  for (unsigned i = 0; i < s.vector; ++i) b[i] = f.get<Bits>(s[where + 1 + i]);
  for (unsigned i = 0; i < s.vector; ++i) {
    const Bits before = update<Bits>(f, s, at + i, operation, [&](Bits old) { return change(old, b[i]); });
    if constexpr (kReturns) f.set(s[i], before);
  }
}

template <class Op, class T, bool kReturns>
void combine(const Frame& f, const Step& s) {
  using Bits = BitsOf<T>;
  const SimtAtomic kind = std::is_same_v<Op, Exchange> ? simt_atomic_exchange : simt_atomic_update;
  update_elements<Bits, kReturns>(f, s, kind, [](Bits old, Bits b) {
    return std::bit_cast<Bits>(Op::template of<T>(std::bit_cast<T>(old), std::bit_cast<T>(b)));
  });
}
template <bool kReturns, class Op>
Bound combine_integers(Type type) {
  switch (type) {
    case Type::s32:
      return {combine<Op, std::int32_t, kReturns>};
    case Type::u64:
    case Type::b64:
      return {combine<Op, std::uint64_t, kReturns>};
    case Type::s64:
      return {combine<Op, std::int64_t, kReturns>};
    default:
      return {combine<Op, std::uint32_t, kReturns>};
  }
}
template <bool kReturns>
Bound bind_combination(const Match& m) {
  const Type type = m.types[0];
  const std::string_view op = m.one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"});
  Bound bound{};
  if (type == Type::f32)
    bound = {combine<Add, float, kReturns>};
  else if (type == Type::f64)
    bound = {combine<Add, double, kReturns>};
  else if (op == "add")
    bound = combine_integers<kReturns, Add>(type);
  else if (op == "min")
    bound = combine_integers<kReturns, Min>(type);
  else if (op == "max")
    bound = combine_integers<kReturns, Max>(type);
  else if (op == "inc")
    bound = combine_integers<kReturns, Increase>(type);
  else if (op == "dec")
    bound = combine_integers<kReturns, Decrease>(type);
  else if (op == "and")
    bound = combine_integers<kReturns, AndBits>(type);
  else if (op == "or")
    bound = combine_integers<kReturns, OrBits>(type);
  else if (op == "xor")
    bound = combine_integers<kReturns, XorBits>(type);
  else
    bound = combine_integers<kReturns, Exchange>(type);
  bound.flags = memory_flags(m);
  return bound;
}
inline Bound bind_atomic(const Match& m) { return bind_combination<true>(m); }
inline Bound bind_reduction(const Match& m) { return bind_combination<false>(m); }

template <class T>
void compare_and_swap(const Frame& f, const Step& s) {
  const T wanted = f.get<T>(s[2]), b = f.get<T>(s[3]);
  f.set(s[0], update<T>(f, s, address_of(f, s, s[1]), simt_atomic_compare,
                        [&](T old) { return old == wanted ? b : old; }));
}
inline Bound bind_cas(const Match& m) {
  const unsigned bits = bits_of(m.types[0]);
  return {bits == 64   ? compare_and_swap<std::uint64_t>
          : bits == 16 ? compare_and_swap<std::uint16_t>
                       : compare_and_swap<std::uint32_t>,
          memory_flags(m)};
}

template <class Op, class Format, class Bits, bool kReturns>
void combine_halves(const Frame& f, const Step& s) {
  update_elements<Bits, kReturns>(f, s, simt_atomic_update, [](Bits old, Bits b) {
    Bits result = on_halves<Format, Op>(0, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b));
    if constexpr (sizeof(Bits) == 4)
      result |= static_cast<Bits>(on_halves<Format, Op>(0, static_cast<std::uint16_t>(old >> 16),
                                                        static_cast<std::uint16_t>(b >> 16)))
                << 16;
    return result;
  });
}
template <class Op, bool kReturns>
Action combination_of_halves(Type type) {
  switch (type) {
    case Type::f16:
      return combine_halves<Op, Half, std::uint16_t, kReturns>;
    case Type::f16x2:
      return combine_halves<Op, Half, std::uint32_t, kReturns>;
    case Type::bf16:
      return combine_halves<Op, Bfloat16, std::uint16_t, kReturns>;
    default:
      return combine_halves<Op, Bfloat16, std::uint32_t, kReturns>;
  }
}
template <bool kReturns>
Bound bind_combination_of_halves(const Match& m) {
  const Type type = m.types[0];
  return {m.has("min")   ? combination_of_halves<Min, kReturns>(type)
          : m.has("max") ? combination_of_halves<Max, kReturns>(type)
                         : combination_of_halves<Add, kReturns>(type),
          memory_flags(m)};
}
inline Bound bind_atomic_half(const Match& m) { return bind_combination_of_halves<true>(m); }
inline Bound bind_reduction_half(const Match& m) { return bind_combination_of_halves<false>(m); }

// --- Addresses of shared memory ---

inline Bound bind_cvta(const Match& m) {
  if (!m.has("shared")) return {[](const Frame& f, const Step& s) { f.set_bits(s[0], f.bits(s[1])); }};
  if (m.has("to"))
    return {[](const Frame& f, const Step& s) {
      f.set_bits(s[0], f.block.to_shared(reinterpret_cast<const void*>(f.bits(s[1]))));
    }};
  return {[](const Frame& f, const Step& s) {
    f.set_bits(s[0], reinterpret_cast<std::uint64_t>(f.block.from_shared(f.bits(s[1]))));
  }};
}
inline Bound bind_isspacep(const Match& m) {
  const std::string_view space = m.one_of({"global", "local", "const"});
  const unsigned which = space.empty() ? 0 : space == "global" ? 1 : 2;
  return {[](const Frame& f, const Step& s) {
            const auto* const address = reinterpret_cast<const void*>(f.bits(s[1]));
            const bool shared = f.block.is_shared(address), own = f.block.is_on_stack(address);
            f.set_bits(s[0], s.flags == 0 ? shared : s.flags == 1 ? !shared && !own : own);
          },
          which};
}

// --- Asynchronous copies ---

inline void copy_asynchronously(const Frame& f, const Step& s) {
  void* const to = address_in(f, s[0], true);
  const void* const from = address_in(f, s[1], false);
  const auto bytes = f.get<std::uint32_t>(s[2]);
  std::uint32_t kept = bytes;
  if (s.flags != 0)
    kept = f.truth(s[3]) ? 0 : bytes;  // ignore-src
  else if (s[3].slot != Value::kNowhere)
    kept = std::min(f.get<std::uint32_t>(s[3]), bytes);
  need_aligned(f, to, bytes);
  need_aligned(f, from, bytes);
  if (kept > 0 && (f.block.is_shared(from) || f.block.is_on_stack(from)))
    f.block.raise(FaultKind::assertion, "cp.async copies from global to shared memory");
  (void)*static_cast<volatile char*>(to);  // a bad address is the fault of this line, not of the wait
  if (kept > 0) (void)*static_cast<const volatile char*>(from);
  f.block.issue_copy({to, from, bytes, bytes - kept}, f.caller);
}
inline Bound bind_cp_async(const Match& m) {
  const bool ignores = table()[m.row].operands.find("ignore") != std::string_view::npos;
  return {copy_asynchronously, ignores};
}
inline Bound bind_commit(const Match&) {
  return {[](const Frame& f, const Step&) { f.block.commit_copies(f.caller); }};
}
inline Bound bind_wait_group(const Match&) {
  return {[](const Frame& f, const Step& s) { f.block.land_copies(f.get<std::uint32_t>(s[0]), f.caller); }};
}
inline Bound bind_wait_all(const Match&) {
  return {[](const Frame& f, const Step&) {
    f.block.commit_copies(f.caller);
    f.block.land_copies(0, f.caller);
  }};
}

}  // namespace simt::ptx
