#pragma once
// Atomic operations on global and shared memory. Blocks run on several operating-system threads, so they are
// the host's own atomics; all are sequentially consistent, which is stronger than CUDA's relaxed ones.

#include <cstring>
#include <type_traits>

#include "simt_abi.h"
#include "simt_qualifiers.h"
#include "simt_vector_types.h"

// An atomic operation is told first, by TELL, and then carried out: *address becomes EXPRESSION of `old`,
// what was there, and of `value`. It is written out for each type, so that nothing of a file's own runs
// between the two.
#define SIMT_ATOMIC_UPDATE(TYPE, CLASS, TELL, EXPRESSION)                                                  \
  TELL(address, sizeof(TYPE), CLASS);                                                                      \
  TYPE old;                                                                                                \
  __atomic_load(address, &old, __ATOMIC_SEQ_CST);                                                          \
  for (;;) {                                                                                               \
    TYPE next = EXPRESSION;                                                                                \
    if (__atomic_compare_exchange(address, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break; \
  }

#define SIMT_ATOMIC_OPERATION(NAME, TYPE, CLASS, TELL, EXPRESSION) \
  __forceinline__ TYPE atomic##NAME(TYPE* address, TYPE value) {   \
    SIMT_ATOMIC_UPDATE(TYPE, CLASS, TELL, EXPRESSION)              \
    return old;                                                    \
  }
#define SIMT_ATOMIC_OF_SCOPES(NAME, TYPE, CLASS, EXPRESSION)                 \
  SIMT_ATOMIC_OPERATION(NAME, TYPE, CLASS, simt_atomic, EXPRESSION)          \
  SIMT_ATOMIC_OPERATION(NAME##_system, TYPE, CLASS, simt_atomic, EXPRESSION) \
  SIMT_ATOMIC_OPERATION(NAME##_block, TYPE, CLASS, simt_atomic_of_block, EXPRESSION)
#define SIMT_ATOMIC(NAME, TYPE, EXPRESSION) SIMT_ATOMIC_OF_SCOPES(NAME, TYPE, simt_atomic_update, EXPRESSION)
#define SIMT_ATOMIC_EXCHANGE(TYPE) SIMT_ATOMIC_OF_SCOPES(Exch, TYPE, simt_atomic_exchange, ((void)old, value))

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
#undef SIMT_ATOMIC_OPERATION

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

#define SIMT_ATOMIC_CAS_OPERATION(NAME, TYPE, TELL)                                                   \
  __forceinline__ TYPE NAME(TYPE* address, TYPE compare, TYPE value) {                                \
    TELL(address, sizeof(TYPE), simt_atomic_compare);                                                 \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return compare; /* the exchange wrote what it found there */                                      \
  }
#define SIMT_ATOMIC_CAS(TYPE)                                    \
  SIMT_ATOMIC_CAS_OPERATION(atomicCAS, TYPE, simt_atomic)        \
  SIMT_ATOMIC_CAS_OPERATION(atomicCAS_system, TYPE, simt_atomic) \
  SIMT_ATOMIC_CAS_OPERATION(atomicCAS_block, TYPE, simt_atomic_of_block)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned short)
SIMT_ATOMIC_CAS(unsigned long long)
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_CAS_OPERATION
