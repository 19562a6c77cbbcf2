#pragma once
// Atomic operations on global and shared memory. Blocks run on several operating-system threads, so the
// runtime carries them out by the host's own; all are sequentially consistent, which is stronger than CUDA's
// relaxed ones.

#include <cstring>
#include <type_traits>

#include "simt_abi.h"
#include "simt_bits.h"
#include "simt_qualifiers.h"
#include "simt_vector_types.h"

// What was at `address` before it became EXPRESSION, of `old`, what was there, and of `value`, the operand.
#define SIMT_ATOMIC_UPDATE(TYPE, SCOPE, EXPRESSION)                                                  \
  simt::from_bits<TYPE>(simt_word_update(                                                            \
      address, sizeof(TYPE), SCOPE,                                                                  \
      [](std::uint64_t old_bits, std::uint64_t value_bits) -> std::uint64_t {                        \
        const auto old = simt::from_bits<TYPE>(old_bits), value = simt::from_bits<TYPE>(value_bits); \
        return simt::to_bits(static_cast<TYPE>(EXPRESSION));                                         \
      },                                                                                             \
      simt::to_bits(operand)))
#define SIMT_ATOMIC_EXCHANGE_OF(TYPE, SCOPE) \
  simt::from_bits<TYPE>(simt_word_exchange(address, sizeof(TYPE), SCOPE, simt::to_bits(operand)))

#define SIMT_ATOMIC_OF_SCOPES(NAME, TYPE, DO, ...)                          \
  __forceinline__ TYPE atomic##NAME(TYPE* address, TYPE operand) {          \
    return DO(TYPE, simt_scope_device __VA_OPT__(, ) __VA_ARGS__);          \
  }                                                                         \
  __forceinline__ TYPE atomic##NAME##_system(TYPE* address, TYPE operand) { \
    return DO(TYPE, simt_scope_device __VA_OPT__(, ) __VA_ARGS__);          \
  }                                                                         \
  __forceinline__ TYPE atomic##NAME##_block(TYPE* address, TYPE operand) {  \
    return DO(TYPE, simt_scope_block __VA_OPT__(, ) __VA_ARGS__);           \
  }
#define SIMT_ATOMIC(NAME, TYPE, EXPRESSION) SIMT_ATOMIC_OF_SCOPES(NAME, TYPE, SIMT_ATOMIC_UPDATE, EXPRESSION)
#define SIMT_ATOMIC_EXCHANGE(TYPE) SIMT_ATOMIC_OF_SCOPES(Exch, TYPE, SIMT_ATOMIC_EXCHANGE_OF)

SIMT_ATOMIC(Add, unsigned, old + value)
SIMT_ATOMIC(Add, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
SIMT_ATOMIC(Add, unsigned long long, old + value)
SIMT_ATOMIC(Add, float, old + value)
SIMT_ATOMIC(Add, double, old + value)
SIMT_ATOMIC(Sub, unsigned, old - value)
SIMT_ATOMIC(Sub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
SIMT_ATOMIC_EXCHANGE(unsigned)
SIMT_ATOMIC_EXCHANGE(int)
SIMT_ATOMIC_EXCHANGE(unsigned long long)
SIMT_ATOMIC_EXCHANGE(float)
SIMT_ATOMIC(Min, unsigned, value < old ? value : old)
SIMT_ATOMIC(Min, int, value < old ? value : old)
SIMT_ATOMIC(Min, unsigned long long, value < old ? value : old)
SIMT_ATOMIC(Min, long long, value < old ? value : old)
SIMT_ATOMIC(Max, unsigned, value > old ? value : old)
SIMT_ATOMIC(Max, int, value > old ? value : old)
SIMT_ATOMIC(Max, unsigned long long, value > old ? value : old)
SIMT_ATOMIC(Max, long long, value > old ? value : old)
SIMT_ATOMIC(And, unsigned, old& value)
SIMT_ATOMIC(And, int, old& value)
SIMT_ATOMIC(And, unsigned long long, old& value)
SIMT_ATOMIC(Or, unsigned, old | value)
SIMT_ATOMIC(Or, int, old | value)
SIMT_ATOMIC(Or, unsigned long long, old | value)
SIMT_ATOMIC(Xor, unsigned, old ^ value)
SIMT_ATOMIC(Xor, int, old ^ value)
SIMT_ATOMIC(Xor, unsigned long long, old ^ value)
SIMT_ATOMIC(Inc, unsigned, old >= value ? 0u : old + 1u)
SIMT_ATOMIC(Dec, unsigned, old == 0u || old > value ? value : old - 1u)
#undef SIMT_ATOMIC_EXCHANGE
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_OF_SCOPES
#undef SIMT_ATOMIC_EXCHANGE_OF

// Each of the numbers is added by itself; the access is one. On a GPU, from compute capability 9.0 on.
__forceinline__ float2 atomicAdd(float2* address, float2 value) {
  float2 before;
  simt_atomic_add_floats(&address->x, &value.x, 2, &before.x);
  return before;
}
__forceinline__ float4 atomicAdd(float4* address, float4 value) {
  float4 before;
  simt_atomic_add_floats(&address->x, &value.x, 4, &before.x);
  return before;
}

#define SIMT_ATOMIC_CAS_OPERATION(NAME, TYPE, SCOPE)                                                    \
  __forceinline__ TYPE NAME(TYPE* address, TYPE compare, TYPE value) {                                  \
    return simt::from_bits<TYPE>(                                                                       \
        simt_word_compare(address, sizeof(TYPE), SCOPE, simt::to_bits(compare), simt::to_bits(value))); \
  }
#define SIMT_ATOMIC_CAS(TYPE)                                          \
  SIMT_ATOMIC_CAS_OPERATION(atomicCAS, TYPE, simt_scope_device)        \
  SIMT_ATOMIC_CAS_OPERATION(atomicCAS_system, TYPE, simt_scope_device) \
  SIMT_ATOMIC_CAS_OPERATION(atomicCAS_block, TYPE, simt_scope_block)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned short)
SIMT_ATOMIC_CAS(unsigned long long)
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_CAS_OPERATION
