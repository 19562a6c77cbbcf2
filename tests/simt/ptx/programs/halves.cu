// Arithmetic on f16 and bf16, single and in pairs.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

__global__ void f16(unsigned short a, unsigned short b, unsigned pa, unsigned pb) {
  H2("add.f16", a, b)
  H2("add.rn.f16", a, b)
  H2("sub.f16", a, b)
  H2("mul.f16", a, b)
  H2("add.sat.f16", a, b)
  H2("mul.ftz.f16", 0x0001, 0x3c00)
  H3("fma.rn.f16", a, b, a)
  H3("fma.rn.sat.f16", a, b, a)
  H3("fma.rn.relu.f16", a, b, 0xcc00)
  R2("add.f16x2", pa, pb)
  R2("sub.f16x2", pa, pb)
  R2("mul.f16x2", pa, pb)
  R3("fma.rn.f16x2", pa, pb, pa)
  R3("fma.rn.relu.f16x2", pa, pb, 0xcc00cc00u)
  H1("abs.f16", 0xbc00)
  H1("neg.f16", a)
  R1("abs.f16x2", 0xbc00fc00u)
  R1("neg.f16x2", pa)
  H2("min.f16", a, b)
  H2("max.f16", a, b)
  H2("max.f16", 0x7e00, b)
  H2("max.NaN.f16", 0x7e00, b)
  R2("min.f16x2", pa, pb)
  R2("max.f16x2", pa, pb)
  H1("ex2.approx.f16", 0x4000)
  R1("ex2.approx.f16x2", 0x40003c00u)
  H1("tanh.approx.f16", 0x4900)
  R1("tanh.approx.f16x2", 0x4900c900u)
}

__global__ void bf16(unsigned short a, unsigned short b, unsigned pa, unsigned pb) {
  H3("fma.rn.bf16", a, b, a)
  H3("fma.rn.relu.bf16", a, b, 0xc080)
  R3("fma.rn.bf16x2", pa, pb, pa)
  R3("fma.rn.relu.bf16x2", pa, pb, 0xc080c080u)
  H1("abs.bf16", 0xbf80)
  H1("neg.bf16", a)
  R1("abs.bf16x2", 0xbf80ff80u)
  R1("neg.bf16x2", pa)
  H2("min.bf16", a, b)
  H2("max.bf16", a, b)
  R2("min.bf16x2", pa, pb)
  R2("max.bf16x2", pa, pb)
  R2("max.NaN.bf16x2", 0x7fc03f80u, pb)
  H1("ex2.approx.ftz.bf16", 0x4000)
  R1("ex2.approx.ftz.bf16x2", 0x40003f80u)
  H1("tanh.approx.bf16", 0x4120)
  R1("tanh.approx.bf16x2", 0x4120c120u)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  H2("add.bf16", a, b)
  H2("sub.rn.bf16", a, b)
  H2("mul.bf16", a, b)
  R2("add.bf16x2", pa, pb)
  R2("sub.bf16x2", pa, pb)
  R2("mul.rn.bf16x2", pa, pb)
#endif
}

int main() {
  f16<<<1, 1>>>(0x3e66, 0x34cd, 0x3e6634cdu, 0x34cdbe66u);  // 1.6 and 0.3
  bf16<<<1, 1>>>(0x3fcd, 0x3e9a, 0x3fcd3e9au, 0x3e9abfcdu);
  return cudaDeviceSynchronize();
}
