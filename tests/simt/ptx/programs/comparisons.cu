// Comparisons of 16-bit numbers, and those that write a mask or a number.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

using Bits16 = unsigned short;

/// A half as memory holds it. ptxas (CUDA 13.0, sm_90a) takes a `set` of halves to leave 0 above the half that it
/// writes, where the hardware writes the other half as well.
__device__ unsigned stored(Bits16 half) {
  __shared__ volatile Bits16 memory;
  memory = half;
  return memory;
}

/// Predicates of two numbers, also together with a third operand; PQ: of two pairs.
#define P2(op, a, b)                                                                                 \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile("{ .reg .pred p; " op " p, %1, %2; selp.u32 %0, 1, 0, p; }"                         \
                 : "=r"(d)                                                                           \
                 : "h"(a), "h"(b));                                                                  \
    printf(U32, op, d);                                                                              \
  }
#define P3(op, a, b, e)                                                                              \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile("{ .reg .pred p, c; setp.ne.u32 c, %3, 0; " op " p, %1, %2, c; selp.u32 %0, 1, 0, p; }" \
                 : "=r"(d)                                                                           \
                 : "h"(a), "h"(b), "r"(e));                                                          \
    printf(U32, op, d);                                                                              \
  }
#define PQ2(op, a, b)                                                                                \
  {                                                                                                  \
    unsigned d, e;                                                                                   \
    asm volatile("{ .reg .pred p, q; " op " p|q, %2, %3; selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }" \
                 : "=r"(d), "=r"(e)                                                                  \
                 : "r"(a), "r"(b));                                                                  \
    printf("%-32s %u %u\n", op, d, e);                                                               \
  }
#define PQ3(op, a, b, g)                                                                             \
  {                                                                                                  \
    unsigned d, e;                                                                                   \
    asm volatile("{ .reg .pred p, q, c; setp.ne.u32 c, %4, 0; " op " p|q, %2, %3, c; selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }" \
                 : "=r"(d), "=r"(e)                                                                  \
                 : "r"(a), "r"(b), "r"(g));                                                          \
    printf("%-32s %u %u\n", op, d, e);                                                               \
  }
/// What `set` writes: to a word or a half; of halves, of words, of real numbers.
#define WORD_OF_HALVES(op, a, b)                                                                     \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile(op " %0, %1, %2;"                                                                \
                 : "=r"(d)                                                                           \
                 : "h"(a), "h"(b));                                                                  \
    printf(U32, op, d);                                                                              \
  }
#define WORD_OF_FLOATS(op, a, b)                                                                     \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile(op " %0, %1, %2;"                                                                \
                 : "=r"(d)                                                                           \
                 : "f"(a), "f"(b));                                                                  \
    printf(U32, op, d);                                                                              \
  }
#define WORD_OF_DOUBLES(op, a, b)                                                                    \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile(op " %0, %1, %2;"                                                                \
                 : "=r"(d)                                                                           \
                 : "d"(a), "d"(b));                                                                  \
    printf(U32, op, d);                                                                              \
  }
#define HALF_OF_HALVES(op, a, b)                                                                     \
  {                                                                                                  \
    Bits16 d;                                                                                        \
    asm volatile(op " %0, %1, %2;"                                                                   \
                 : "=h"(d)                                                                           \
                 : "h"(a), "h"(b));                                                                  \
    printf(U32, op, stored(d));                                                                      \
  }
#define HALF_OF_FLOATS(op, a, b)                                                                     \
  {                                                                                                  \
    Bits16 d;                                                                                        \
    asm volatile(op " %0, %1, %2;"                                                                \
                 : "=h"(d)                                                                           \
                 : "f"(a), "f"(b));                                                                  \
    printf(U32, op, stored(d));                                                                      \
  }
#define HALF_OF_WORDS(op, a, b)                                                                      \
  {                                                                                                  \
    Bits16 d;                                                                                        \
    asm volatile(op " %0, %1, %2;"                                                                \
                 : "=h"(d)                                                                           \
                 : "r"(a), "r"(b));                                                                  \
    printf(U32, op, stored(d));                                                                      \
  }
#define WORD_OF_HALVES_3(op, a, b, e)                                                                \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile("{ .reg .pred c; setp.ne.u32 c, %3, 0; " op " %0, %1, %2, c; }"                     \
                 : "=r"(d)                                                                           \
                 : "h"(a), "h"(b), "r"(e));                                                          \
    printf(U32, op, d);                                                                              \
  }
#define HALF_OF_HALVES_3(op, a, b, e)                                                                \
  {                                                                                                  \
    Bits16 d;                                                                                        \
    asm volatile("{ .reg .pred c; setp.ne.u32 c, %3, 0; " op " %0, %1, %2, c; }"                     \
                 : "=h"(d)                                                                           \
                 : "h"(a), "h"(b), "r"(e));                                                          \
    printf(U32, op, stored(d));                                                                      \
  }
#define WORD_OF_WORDS_3(op, a, b, e)                                                                 \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile("{ .reg .pred c; setp.ne.u32 c, %3, 0; " op " %0, %1, %2, c; }"                     \
                 : "=r"(d)                                                                           \
                 : "r"(a), "r"(b), "r"(e));                                                          \
    printf(U32, op, d);                                                                              \
  }
#define WORD_OF_FLOATS_3(op, a, b, e)                                                                \
  {                                                                                                  \
    unsigned d;                                                                                      \
    asm volatile("{ .reg .pred c; setp.ne.u32 c, %3, 0; " op " %0, %1, %2, c; }"                     \
                 : "=r"(d)                                                                           \
                 : "f"(a), "f"(b), "r"(e));                                                          \
    printf(U32, op, d);                                                                              \
  }

__global__ void f16(Bits16 a, Bits16 b, Bits16 nan, unsigned pa, unsigned pb) {
  P2("setp.lt.f16", a, b)
  P2("setp.gt.f16", a, b)
  P2("setp.eq.f16", a, nan)
  P2("setp.neu.f16", a, nan)
  P2("setp.nan.f16", nan, b)
  P2("setp.num.f16", a, b)
  P2("setp.eq.f16", (Bits16)0, (Bits16)0x8000)
  P2("setp.gt.f16", (Bits16)1, (Bits16)0)
  P2("setp.gt.ftz.f16", (Bits16)1, (Bits16)0)
  P3("setp.gt.and.f16", a, b, 0)
  P3("setp.lt.or.f16", a, b, 1)
  P3("setp.gt.xor.ftz.f16", a, b, 1)
  PQ2("setp.lt.f16x2", pa, pb)
  PQ2("setp.lt.f16x2", pa, 0x4e6634ccu)
  PQ2("setp.nan.f16x2", 0x7e003c00u, pb)
  R2("set.lt.u32.f16x2", pa, 0x4e6634ccu)
  R2("set.lt.f16x2.f16x2", pa, 0x3e6534ceu)
  PQ2("setp.geu.f16x2", pa, pb)
  PQ3("setp.ge.and.f16x2", pa, pb, 1)
  PQ3("setp.ge.xor.f16x2", pa, pb, 1)
  HALF_OF_HALVES("set.gt.u16.f16", a, b)
  WORD_OF_HALVES("set.gt.s32.f16", a, b)
  WORD_OF_HALVES("set.lt.u32.f16", a, b)
  HALF_OF_HALVES("set.gt.f16.f16", a, b)
  HALF_OF_HALVES_3("set.gt.xor.f16.f16", a, b, 0)
  R2("set.lt.f16x2.f16x2", pa, pb)
  R2("set.lt.u32.f16x2", pa, pb)
  WORD_OF_WORDS_3("set.lt.or.u32.f16x2", pa, pb, 0)
  WORD_OF_WORDS_3("set.ge.and.f16x2.f16x2", pa, pb, 1)
}

__global__ void words(float x, float y, double v, double w, int i, int j) {
  WORD_OF_FLOATS("set.lt.u32.f32", x, y)
  WORD_OF_DOUBLES("set.lt.u32.f64", v, w)
  WORD_OF_FLOATS("set.gtu.s32.f32", x, y)
  WORD_OF_FLOATS_3("set.lt.and.s32.f32", x, y, 0)
  R2("set.le.u32.s32", i, j)
  R2("set.lo.u32.u32", i, j)
  WORD_OF_WORDS_3("set.ne.xor.u32.s32", i, j, 1)
  HALF_OF_FLOATS("set.lt.f16.f32", x, y)
  HALF_OF_WORDS("set.lt.f16.s32", i, j)
  float d;
  asm volatile("set.lt.f32.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
  printf("%-32s %g\n", "set.lt.f32.f32", d);
  asm volatile("set.eq.f32.s32 %0, %1, %2;" : "=f"(d) : "r"(i), "r"(i));
  printf("%-32s %g\n", "set.eq.f32.s32", d);
  unsigned r;
  asm volatile("set.lt.u32.f32 %0, %1, 2.5;" : "=r"(r) : "f"(x));
  printf(U32, "set.lt.u32.f32 of a constant", r);
}

__global__ void bf16(Bits16 a, Bits16 b, Bits16 nan, unsigned pa, unsigned pb) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  P2("setp.lt.bf16", a, b)
  P2("setp.ge.bf16", a, b)
  P2("setp.leu.bf16", a, nan)
  P3("setp.gt.and.bf16", a, b, 1)
  PQ2("setp.lt.bf16x2", pa, pb)
  PQ3("setp.lt.or.bf16x2", pa, pb, 0)
  HALF_OF_HALVES("set.gt.u16.bf16", a, b)
  HALF_OF_HALVES("set.gt.bf16.bf16", a, b)
  WORD_OF_HALVES_3("set.gt.and.u32.bf16", a, b, 1)
  HALF_OF_FLOATS("set.lt.bf16.f32", 1.5f, 2.5f)
  HALF_OF_HALVES_3("set.lt.or.bf16.bf16", a, b, 1)
  R2("set.lt.bf16x2.bf16x2", pa, 0x4fcd3e99u)
  R2("set.lt.bf16x2.bf16x2", pa, pb)
  R2("set.ge.u32.bf16x2", pa, pb)
  WORD_OF_WORDS_3("set.ge.and.bf16x2.bf16x2", pa, pb, 1)
#endif
}

int main() {
  f16<<<1, 1>>>(0x3e66, 0x34cd, 0x7e00, 0x3e6634cdu, 0x34cdbe66u);  // 1.6 and 0.3
  cudaDeviceSynchronize();
  words<<<1, 1>>>(1.5f, 2.5f, 1.5, 2.5, -3, 4);
  cudaDeviceSynchronize();
  bf16<<<1, 1>>>(0x3fcd, 0x3e9a, 0x7fc0, 0x3fcd3e9au, 0x3e9abfcdu);
  return cudaDeviceSynchronize();
}
