#pragma once
// Each macro runs one instruction on operands of one kind and prints it with its result. Integers and 16-bit
// numbers are printed as bits; what a GPU only approximates, with five digits.
#include <cstdio>

#define U32 "%-32s %08x\n"
#define U64 "%-32s %016llx\n"
#define R1(op, a)                                   \
  {                                                 \
    unsigned d;                                     \
    asm volatile(op " %0, %1;" : "=r"(d) : "r"(a)); \
    printf(U32, op, d);                             \
  }
#define R2(op, a, b)                                            \
  {                                                             \
    unsigned d;                                                 \
    asm volatile(op " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); \
    printf(U32, op, d);                                         \
  }
#define R3(op, a, b, c)                                                     \
  {                                                                         \
    unsigned d;                                                             \
    asm volatile(op " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    printf(U32, op, d);                                                     \
  }
#define R4(op, a, b, c, e)                                                              \
  {                                                                                     \
    unsigned d;                                                                         \
    asm volatile(op " %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "r"(e)); \
    printf(U32, op, d);                                                                 \
  }
#define L1(op, a)                                   \
  {                                                 \
    unsigned long long d;                           \
    asm volatile(op " %0, %1;" : "=l"(d) : "l"(a)); \
    printf(U64, op, d);                             \
  }
#define L2(op, a, b)                                            \
  {                                                             \
    unsigned long long d;                                       \
    asm volatile(op " %0, %1, %2;" : "=l"(d) : "l"(a), "l"(b)); \
    printf(U64, op, d);                                         \
  }
#define L3(op, a, b, c)                                                     \
  {                                                                         \
    unsigned long long d;                                                   \
    asm volatile(op " %0, %1, %2, %3;" : "=l"(d) : "l"(a), "l"(b), "l"(c)); \
    printf(U64, op, d);                                                     \
  }
#define H1(op, a)                                                     \
  {                                                                   \
    unsigned short d;                                                 \
    asm volatile(op " %0, %1;" : "=h"(d) : "h"((unsigned short)(a))); \
    printf(U32, op, d);                                               \
  }
#define H2(op, a, b)                                                                                \
  {                                                                                                 \
    unsigned short d;                                                                               \
    asm volatile(op " %0, %1, %2;" : "=h"(d) : "h"((unsigned short)(a)), "h"((unsigned short)(b))); \
    printf(U32, op, d);                                                                             \
  }
#define H3(op, a, b, c)                                                                           \
  {                                                                                               \
    unsigned short d;                                                                             \
    asm volatile(op " %0, %1, %2, %3;"                                                            \
                 : "=h"(d)                                                                        \
                 : "h"((unsigned short)(a)), "h"((unsigned short)(b)), "h"((unsigned short)(c))); \
    printf(U32, op, d);                                                                           \
  }
#define F1(op, a)                                   \
  {                                                 \
    float d;                                        \
    asm volatile(op " %0, %1;" : "=f"(d) : "f"(a)); \
    printf(U32, op, __float_as_uint(d));            \
  }
#define F2(op, a, b)                                            \
  {                                                             \
    float d;                                                    \
    asm volatile(op " %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); \
    printf(U32, op, __float_as_uint(d));                        \
  }
#define F3(op, a, b, c)                                                     \
  {                                                                         \
    float d;                                                                \
    asm volatile(op " %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)); \
    printf(U32, op, __float_as_uint(d));                                    \
  }
#define D1(op, a)                                   \
  {                                                 \
    double d;                                       \
    asm volatile(op " %0, %1;" : "=d"(d) : "d"(a)); \
    printf(U64, op, __double_as_longlong(d));       \
  }
#define D2(op, a, b)                                            \
  {                                                             \
    double d;                                                   \
    asm volatile(op " %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); \
    printf(U64, op, __double_as_longlong(d));                   \
  }
#define D3(op, a, b, c)                                                     \
  {                                                                         \
    double d;                                                               \
    asm volatile(op " %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c)); \
    printf(U64, op, __double_as_longlong(d));                               \
  }
/// An approximation.
#define A1(op, a)                                   \
  {                                                 \
    float d;                                        \
    asm volatile(op " %0, %1;" : "=f"(d) : "f"(a)); \
    printf("%-32s %.5g\n", op, d);                  \
  }
