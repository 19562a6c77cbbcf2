// cvt between all kinds of numbers.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

#define F_TO_R(op, a)                               \
  {                                                 \
    unsigned d;                                     \
    asm volatile(op " %0, %1;" : "=r"(d) : "f"(a)); \
    printf(U32, op, d);                             \
  }
#define F_TO_L(op, a)                               \
  {                                                 \
    unsigned long long d;                           \
    asm volatile(op " %0, %1;" : "=l"(d) : "f"(a)); \
    printf(U64, op, d);                             \
  }
#define R_TO_F(op, a)                               \
  {                                                 \
    float d;                                        \
    asm volatile(op " %0, %1;" : "=f"(d) : "r"(a)); \
    printf(U32, op, __float_as_uint(d));            \
  }
#define L_TO_F(op, a)                               \
  {                                                 \
    float d;                                        \
    asm volatile(op " %0, %1;" : "=f"(d) : "l"(a)); \
    printf(U32, op, __float_as_uint(d));            \
  }
#define F_TO_H(op, a)                               \
  {                                                 \
    unsigned short d;                               \
    asm volatile(op " %0, %1;" : "=h"(d) : "f"(a)); \
    printf(U32, op, d);                             \
  }
#define H_TO_F(op, a)                                                 \
  {                                                                   \
    float d;                                                          \
    asm volatile(op " %0, %1;" : "=f"(d) : "h"((unsigned short)(a))); \
    printf(U32, op, __float_as_uint(d));                              \
  }
#define FF_TO_R(op, a, b)                                       \
  {                                                             \
    unsigned d;                                                 \
    asm volatile(op " %0, %1, %2;" : "=r"(d) : "f"(a), "f"(b)); \
    printf(U32, op, d);                                         \
  }

__global__ void integers(unsigned a, unsigned long long la) {
  R1("cvt.u8.u32", a)
  R1("cvt.s8.u32", a)
  R1("cvt.s32.s8", a)
  R1("cvt.u32.u16", a)
  R1("cvt.sat.u8.s32", a)
  R1("cvt.sat.s8.s32", a) R1("cvt.sat.s16.u32", a) R1("cvt.sat.u32.s32", a) unsigned long long d;
  asm volatile("cvt.s64.s32 %0, %1;" : "=l"(d) : "r"(a));
  printf(U64, "cvt.s64.s32", d);
  asm volatile("cvt.u64.u32 %0, %1;" : "=l"(d) : "r"(a));
  printf(U64, "cvt.u64.u32", d);
  unsigned e;
  asm volatile("cvt.u32.u64 %0, %1;" : "=r"(e) : "l"(la));
  printf(U32, "cvt.u32.u64", e);
  asm volatile("cvt.sat.s32.s64 %0, %1;" : "=r"(e) : "l"(la));
  printf(U32, "cvt.sat.s32.s64", e);
}

__global__ void reals(float a, float large, float tiny, float nan) {
  R_TO_F("cvt.rn.f32.s32", 0xfffffffeu)
  R_TO_F("cvt.rn.f32.u32", 0xfffffffeu)
  R_TO_F("cvt.rz.f32.u32", 0xfffffffeu)
  R_TO_F("cvt.rp.f32.s32", 0x1000001u)
  R_TO_F("cvt.rm.f32.s32", 0x1000001u)
  R_TO_F("cvt.rn.f32.u8", 0x1ffu)
  L_TO_F("cvt.rn.f32.u64", 0xfedcba9876543210ull)
  L_TO_F("cvt.rz.f32.s64", 0xfedcba9876543210ull)
  F_TO_R("cvt.rni.s32.f32", a)
  F_TO_R("cvt.rzi.s32.f32", a)
  F_TO_R("cvt.rmi.s32.f32", -a)
  F_TO_R("cvt.rpi.s32.f32", a)
  F_TO_R("cvt.rni.s32.f32", 2.5f)
  F_TO_R("cvt.rzi.u32.f32", -a)
  F_TO_R("cvt.rzi.s32.f32", large)
  F_TO_R("cvt.rzi.u32.f32", large)
  F_TO_R("cvt.rzi.s32.f32", nan)
  F_TO_L("cvt.rzi.s64.f32", large)
  F_TO_L("cvt.rni.u64.f32", a)
  F_TO_R("cvt.rni.s8.f32", 300.0f)
  F1("cvt.rni.f32.f32", a)
  F1("cvt.rzi.f32.f32", -a)
  F1("cvt.rmi.f32.f32", -a)
  F1("cvt.rpi.f32.f32", a)
  F1("cvt.sat.f32.f32", a)
                  F1("cvt.ftz.f32.f32", tiny) F1("cvt.rni.ftz.f32.f32", tiny) double d;
  asm volatile("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(a));
  printf(U64, "cvt.f64.f32", __double_as_longlong(d));
  float f;
  asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(f) : "d"(1.1));
  printf(U32, "cvt.rn.f32.f64", __float_as_uint(f));
  asm volatile("cvt.rp.f32.f64 %0, %1;" : "=f"(f) : "d"(1.1));
  printf(U32, "cvt.rp.f32.f64", __float_as_uint(f));
  unsigned n;
  asm volatile("cvt.rzi.s32.f64 %0, %1;" : "=r"(n) : "d"(-7.9));
  printf(U32, "cvt.rzi.s32.f64", n);
  asm volatile("cvt.rn.f64.s32 %0, %1;" : "=d"(d) : "r"(n));
  printf(U64, "cvt.rn.f64.s32", __double_as_longlong(d));
}

__global__ void small(float a, float b) {
  F_TO_H("cvt.rn.f16.f32", a)
  F_TO_H("cvt.rz.f16.f32", a)
  F_TO_H("cvt.rn.relu.f16.f32", -a)
  F_TO_H("cvt.rn.bf16.f32", a)
  F_TO_H("cvt.rz.bf16.f32", a)
  F_TO_H("cvt.rn.f16.f32", 70000.0f)
  F_TO_H("cvt.rz.f16.f32", 70000.0f)
  F_TO_H("cvt.rn.f16.f32", 1e-7f)
  H_TO_F("cvt.f32.f16", 0x3e66)
  H_TO_F("cvt.f32.f16", 0x0001)
  H_TO_F("cvt.f32.bf16", 0x3fcd)
  FF_TO_R("cvt.rn.f16x2.f32", a, b)
  FF_TO_R("cvt.rn.bf16x2.f32", a, b)
  FF_TO_R("cvt.rz.bf16x2.f32", a, b)
  FF_TO_R("cvt.rn.relu.bf16x2.f32", -a, b)
  FF_TO_R("cvt.rn.relu.f16x2.f32", -a, b)
  F_TO_R("cvt.rna.tf32.f32", a)
  F_TO_R("cvt.rna.tf32.f32", __uint_as_float(0x3f801000u))
  F_TO_R("cvt.rna.tf32.f32", -b)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  F_TO_R("cvt.rn.tf32.f32", __uint_as_float(0x3f801000u))
  F_TO_R("cvt.rz.tf32.f32", a)
  F_TO_R("cvt.rn.relu.tf32.f32", -a)
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
                      const float values[] = {
                          a, b, 1000.0f, 0.001f, -0.0f, 1e6f, __uint_as_float(0x7fc00000), 17.0f};
  for (int i = 0; i < 8; i += 2) {
    unsigned short bytes;
    unsigned halves;
    asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
                 : "=h"(bytes)
                 : "f"(values[i]), "f"(values[i + 1]));
    asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(bytes));
    printf("%-32s %04x %08x\n", "cvt.rn.satfinite.e4m3x2.f32", bytes, halves);
    asm volatile("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;" : "=h"(bytes) : "r"(halves));
    printf(U32, "cvt e4m3x2.f16x2", bytes);
    asm volatile("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
                 : "=h"(bytes)
                 : "f"(values[i]), "f"(values[i + 1]));
    asm volatile("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(bytes));
    printf("%-32s %04x %08x\n", "cvt.rn.satfinite.e5m2x2.f32", bytes, halves);
    asm volatile("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(bytes) : "r"(halves));
    printf(U32, "cvt e5m2x2.f16x2", bytes);
  }
#endif
  unsigned short h;
  asm volatile("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(2049));
  printf(U32, "cvt.rn.f16.s32", h);
  asm volatile("cvt.rz.f16.u32 %0, %1;" : "=h"(h) : "r"(4099));
  printf(U32, "cvt.rz.f16.u32", h);
  unsigned n;
  asm volatile("cvt.rni.s32.f16 %0, %1;" : "=r"(n) : "h"(static_cast<unsigned short>(0xbe66)));
  printf(U32, "cvt.rni.s32.f16", n);
}

int main() {
  integers<<<1, 1>>>(0xfffffe85u, 0xfedcba9876543210ull);
  reals<<<1, 1>>>(1.7f, 1e20f, 1e-40f, __builtin_nanf(""));
  small<<<1, 1>>>(1.1f, -3.3f);
  return cudaDeviceSynchronize();
}
